/** Messages as the published contracts pack them, written here by another encoder. */
import fc from 'fast-check';
import { encodePacked, type Hex } from 'viem';
import { differs, readMessage, type BurnMessage } from '../../../venues/burn-mint/message.ts';

const uint32 = fc.nat({ max: 0xffff_ffff });
const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
const bytes32 = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`);

const message: fc.Arbitrary<BurnMessage> = fc.record({
  source_domain: uint32,
  destination_domain: uint32,
  nonce: bytes32,
  sender: bytes32,
  destination_messenger: bytes32,
  destination_caller: bytes32,
  min_finality: uint32,
  finality_executed: uint32,
  burn_token: bytes32,
  mint_recipient: bytes32,
  amount: uint256,
  message_sender: bytes32,
  max_fee: uint256,
  fee_executed: uint256,
  expiration_block: uint256,
});

/** As `MessageV2._formatMessageForRelay` and `BurnMessageV2._formatMessageForRelay` pack them. */
function pack(of: BurnMessage, { version = 1, hook = '0x' as Hex } = {}): Hex {
  const body = encodePacked(
    [
      'uint32',
      'bytes32',
      'bytes32',
      'uint256',
      'bytes32',
      'uint256',
      'uint256',
      'uint256',
      'bytes',
    ],
    [
      version,
      of.burn_token,
      of.mint_recipient,
      of.amount,
      of.message_sender,
      of.max_fee,
      of.fee_executed,
      of.expiration_block,
      hook,
    ],
  );
  return encodePacked(
    [
      'uint32',
      'uint32',
      'uint32',
      'bytes32',
      'bytes32',
      'bytes32',
      'bytes32',
      'uint32',
      'uint32',
      'bytes',
    ],
    [
      version,
      of.source_domain,
      of.destination_domain,
      of.nonce,
      of.sender,
      of.destination_messenger,
      of.destination_caller,
      of.min_finality,
      of.finality_executed,
      body,
    ],
  );
}

test('every message is read back field by field', () => {
  fc.assert(
    fc.property(message, (of) => {
      expect(readMessage(pack(of))).toEqual({ ok: true, message: of });
      expect(readMessage(pack(of).toUpperCase().replace('0X', '0x'))).toEqual({
        ok: true,
        message: of,
      });
    }),
  );
});

test('a text that is shorter, longer, of another version or no hex is refused', () => {
  fc.assert(
    fc.property(message, fc.nat({ max: 2 * 376 - 1 }), (of, cut) => {
      const whole = pack(of);
      const problemOf = (text: string): string => {
        const reading = readMessage(text);
        return reading.ok ? '' : reading.problem;
      };
      expect(problemOf(whole.slice(0, 2 + cut))).toMatch(/whole bytes|has [0-9]+ bytes/);
      expect(problemOf(`${whole}00`)).toBe('the message carries a hook');
      expect(problemOf(pack(of, { hook: '0xdeadbeef' }))).toBe('the message carries a hook');
      expect(problemOf(pack(of, { version: 0 }))).toBe('the message is of version 0');
      expect(problemOf(`${whole.slice(0, -1)}g`)).toBe(
        'the message is not hex text of whole bytes',
      );
    }),
  );
});

describe('what the attester may change', () => {
  const emitted: BurnMessage = {
    source_domain: 6,
    destination_domain: 0,
    nonce: `0x${'00'.repeat(32)}`,
    sender: `0x${'11'.repeat(32)}`,
    destination_messenger: `0x${'22'.repeat(32)}`,
    destination_caller: `0x${'00'.repeat(32)}`,
    min_finality: 1_000,
    finality_executed: 0,
    burn_token: `0x${'33'.repeat(32)}`,
    mint_recipient: `0x${'44'.repeat(32)}`,
    amount: 1_000_000n,
    message_sender: `0x${'55'.repeat(32)}`,
    max_fee: 500n,
    fee_executed: 0n,
    expiration_block: 0n,
  };
  const attested: BurnMessage = {
    ...emitted,
    nonce: `0x${'66'.repeat(32)}`,
    finality_executed: 1_000,
    fee_executed: 500n,
    expiration_block: 9_000n,
  };

  test('is nonce, finality, fee up to the most allowed, and expiration', () => {
    expect(differs(attested, emitted)).toBeNull();
  });

  test.each([
    ['source_domain', 7],
    ['destination_domain', 1],
    ['sender', `0x${'12'.repeat(32)}`],
    ['destination_messenger', `0x${'23'.repeat(32)}`],
    ['destination_caller', `0x${'01'.repeat(32)}`],
    ['min_finality', 2_000],
    ['burn_token', `0x${'34'.repeat(32)}`],
    ['mint_recipient', `0x${'45'.repeat(32)}`],
    ['amount', 1_000_001n],
    ['message_sender', `0x${'56'.repeat(32)}`],
    ['max_fee', 501n],
  ])('is not %s', (field, value) => {
    expect(differs({ ...attested, [field]: value }, emitted)).toContain(field);
  });

  test('is no fee above what the burn allows, nor all of it, and no message without a nonce', () => {
    expect(differs({ ...attested, fee_executed: 501n }, emitted)).toContain('fee');
    const all = { ...emitted, max_fee: 1_000_000n };
    expect(differs({ ...attested, max_fee: 1_000_000n, fee_executed: 1_000_000n }, all)).toContain(
      'takes the whole',
    );
    expect(differs({ ...attested, nonce: emitted.nonce }, emitted)).toBe(
      'the message has no nonce',
    );
  });
});
