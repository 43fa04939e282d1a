/**
 * The payees of a signature, read from what is to be signed and not from what its executor reports.
 */
import type { SignRequest } from '../executor.ts';
import { isObject } from '../json.ts';
import { payeesIn } from './payees.ts';

/**
 * `transfer(address,uint256)` and `transferFrom(address,address,uint256)`: which word of the
 * arguments is paid.
 */
const PAYEE_WORD: Readonly<Record<string, number>> = { a9059cbb: 0, '23b872dd': 1 };
const SELECTOR = 8;
const WORD = 64;

/**
 * The payees of a sign request: the target of a plain transaction, the payee of a standard token
 * call, and payees that typed data names. Other calldata is checked by its action type.
 */
export function signedPayees({ kind, payload }: SignRequest): readonly string[] {
  if (kind === 'evm_typed_data') {
    const message = payload['message'];
    return isObject(message) ? payeesIn(message, 'evm_like', ['to']) : [];
  }
  const { to, data } = payload;
  const call = typeof data === 'string' ? data.replace(/^0x/i, '').toLowerCase() : '';
  return call === '' ? [typeof to === 'string' ? to : ''] : tokenPayee(call);
}

/** The chain that a transaction is for; null where the request does not say. */
export function signedChain({ kind, payload }: SignRequest): number | null {
  const { chain_id } = payload;
  return kind === 'evm_transaction' && typeof chain_id === 'number' ? chain_id : null;
}

function tokenPayee(call: string): readonly string[] {
  const word = PAYEE_WORD[call.slice(0, SELECTOR)];
  if (word === undefined) return [];
  const from = SELECTOR + word * WORD;
  const argument = call.slice(from, from + WORD);
  // Non-zero bytes before the address are not canonical; the result is no address and matches
  // nothing.
  return [/^0{24}/.test(argument) ? `0x${argument.slice(24)}` : `0x${argument}`];
}
