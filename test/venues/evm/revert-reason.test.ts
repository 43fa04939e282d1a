/** What people read when a contract refuses. */
import { encodeErrorResult, parseAbi, RpcRequestError, type Hex } from 'viem';
import { readReason, revertReason } from '../../../venues/evm/revert-reason.ts';

const ABI = parseAbi([
  'error Error(string)',
  'error Panic(uint256)',
  'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
  'error EnforcedPause()',
  'error UnknownError(uint256)',
]);
const HOLDER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const encoded = (errorName: string, args: readonly unknown[]): Hex =>
  encodeErrorResult({ abi: ABI, errorName, args } as Parameters<typeof encodeErrorResult>[0]);

const refused = (data: unknown): RpcRequestError =>
  new RpcRequestError({
    body: {},
    url: 'https://node.example/secret',
    error: { code: 3, message: 'execution reverted', data },
  });

test.each([
  [
    'Blacklistable: account is blacklisted',
    encoded('Error', ['Blacklistable: account is blacklisted']),
  ],
  ['an arithmetic overflow', encoded('Panic', [17n])],
  ['panic 81', encoded('Panic', [81n])],
  [
    `ERC20InsufficientBalance(${HOLDER}, 5, 7)`,
    encoded('ERC20InsufficientBalance', [HOLDER, 5n, 7n]),
  ],
  ['EnforcedPause()', encoded('EnforcedPause', [])],
])('reads %s', (reason, data) => {
  expect(readReason(data)).toBe(reason);
  expect(revertReason(refused(data))).toBe(reason);
  // As some nodes wrap it.
  expect(revertReason(refused({ data }))).toBe(reason);
});

test('an unknown error shows its selector, and cut bytes do no harm', () => {
  const data = encoded('UnknownError', [1n]);
  expect(readReason(data)).toBe(`an error of its own, ${data.slice(0, 10)}`);
  const cut = encoded('Error', ['no']).slice(0, 20) as Hex;
  expect(readReason(cut)).toBe('an error of its own, 0x08c379a0');
});

test('no data is no reason, and a long one is cut', () => {
  for (const nothing of [undefined, null, '0x', '0x12', 7, {}])
    expect(revertReason(refused(nothing))).toBeNull();
  expect(revertReason(new Error('other'))).toBeNull();
  expect(revertReason(refused(encoded('Error', ['x'.repeat(5_000)])))).toHaveLength(200);
});
