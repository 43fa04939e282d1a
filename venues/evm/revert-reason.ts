/** Reads a contract's reason for a revert, if it can be read. */
import { BaseError, decodeErrorResult, isHex, parseAbi, RpcRequestError, type Hex } from 'viem';

/**
 * Errors of contracts that transfers can meet: Solidity's two built-in errors (the language's
 * documentation, "Panic via assert and Error via require"), the standard errors of tokens
 * (ERC-6093), and those of OpenZeppelin's contracts 5 for a paused, guarded or wrapped token.
 */
const KNOWN = parseAbi([
  'error Error(string)',
  'error Panic(uint256)',
  'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
  'error ERC20InvalidSender(address sender)',
  'error ERC20InvalidReceiver(address receiver)',
  'error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)',
  'error ERC20InvalidApprover(address approver)',
  'error ERC20InvalidSpender(address spender)',
  'error EnforcedPause()',
  'error OwnableUnauthorizedAccount(address account)',
  'error AccessControlUnauthorizedAccount(address account, bytes32 neededRole)',
  'error SafeERC20FailedOperation(address token)',
  'error AddressEmptyCode(address target)',
]);

/** Solidity's codes of `Panic(uint256)` that a transfer can meet. */
const PANICS: Readonly<Record<string, string>> = {
  '1': 'an assertion failed',
  '17': 'an arithmetic overflow',
  '18': 'a division by zero',
};

const MOST = 200;

/**
 * Returns the reason in the revert data of a library's error, at most 200 characters: a text, a
 * known error with its arguments, or the selector of an unknown error. Null if the error has no
 * data.
 */
export function revertReason(error: unknown): string | null {
  const data = revertData(error);
  return data === null ? null : readReason(data).slice(0, MOST);
}

/**
 * Returns the reason in revert data: a text, a known error, or the selector of an unknown error.
 */
export function readReason(data: Hex): string {
  try {
    const { errorName, args } = decodeErrorResult({ abi: KNOWN, data });
    const [first] = (args ?? []) as readonly unknown[];
    if (errorName === 'Error') return String(first);
    if (errorName === 'Panic') return PANICS[String(first)] ?? `panic ${String(first)}`;
    return `${errorName}(${((args ?? []) as readonly unknown[]).map(String).join(', ')})`;
  } catch {
    return `an error of its own, ${data.slice(0, 10)}`;
  }
}

/** Returns the revert data: endpoints return the bytes, some of them wrapped in an object. */
function revertData(error: unknown): Hex | null {
  if (!(error instanceof BaseError)) return null;
  const rpc = error.walk((inner) => inner instanceof RpcRequestError);
  const data: unknown = rpc instanceof RpcRequestError ? rpc.data : null;
  const bytes =
    typeof data === 'object' && data !== null && 'data' in data ? (data.data as unknown) : data;
  return isHex(bytes) && bytes.length >= 10 ? bytes : null;
}
