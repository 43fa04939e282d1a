import { readEvmAddress, sameEvmAddress } from '../../platform/evm-address.ts';
import { identityState, readIdentity } from '../../signers/identity.ts';

const A = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const B = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
const ZERO = `0x${'0'.repeat(40)}`;

describe('an EVM address', () => {
  it('is read in its checksummed form from any single case', () => {
    for (const text of [A, A.toLowerCase(), `0x${A.slice(2).toUpperCase()}`])
      expect(readEvmAddress(text)).toEqual({ ok: true, address: A });
  });

  test.each([
    ['', 'malformed'],
    [A.slice(2), 'malformed'],
    [`${A}0`, 'malformed'],
    [` ${A}`, 'malformed'],
    ['0xg0997970C51812dc3A010C7d01b50e0d17dc79C8', 'malformed'],
    [A.replace('C5', 'c5'), 'checksum'],
    [ZERO, 'zero'],
  ])('%p is refused as %s', (text, problem) => {
    expect(readEvmAddress(text)).toEqual({ ok: false, problem });
  });

  it('equals itself in any case and nothing else', () => {
    expect(sameEvmAddress(A, A.toLowerCase())).toBe(true);
    expect(sameEvmAddress(A, B)).toBe(false);
    expect(sameEvmAddress('', '')).toBe(false);
  });
});

describe('a pin', () => {
  it('is normalised, and refused when malformed, mistyped or zero', () => {
    expect(readIdentity(A.toLowerCase())).toEqual({ ok: true, address: A });
    expect(readIdentity('0x12')).toEqual({ ok: false, problem: 'malformed' });
    expect(readIdentity(A.replace('C5', 'c5'))).toEqual({ ok: false, problem: 'malformed' });
    expect(readIdentity(ZERO)).toEqual({ ok: false, problem: 'zero' });
  });
});

describe('the identity state', () => {
  test.each([
    ['evm', A, A.toLowerCase(), 'match'],
    ['evm', A, B, 'mismatch'],
    ['evm', ZERO, ZERO, 'mismatch'],
    ['evm', 'nonsense', 'nonsense', 'mismatch'],
    ['evm', null, A, 'unpinned'],
    ['evm', null, null, 'unpinned'],
    ['evm', A, null, 'unobserved'],
    ['solana', A, A, 'not_applicable'],
  ] as const)(
    'of %s with pin %s and observation %s is %s',
    (chain_family, expected, observed, state) => {
      expect(identityState({ chain_family, expected, observed })).toBe(state);
    },
  );
});
