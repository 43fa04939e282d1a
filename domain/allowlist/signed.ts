/**
 * Reads the payees of a signature from the data to be signed, not from what the executor reports.
 */
import type { SignRequest } from '../executor.ts';
import { isObject } from '../json.ts';
import { payeesIn } from './payees.ts';

/**
 * Which argument word is the payee of `transfer(address,uint256)` and
 * `transferFrom(address,address,uint256)`, by function selector.
 */
const PAYEE_WORD: Readonly<Record<string, number>> = { a9059cbb: 0, '23b872dd': 1 };
const SELECTOR = 8;
const WORD = 64;

/**
 * Returns the payees of a sign request: the target of a plain transaction, the payee of a standard
 * token call, or payees named in typed data. Rules of the action type check other calldata.
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

/** Returns the chain of the transaction; null if the request does not name a chain. */
export function signedChain({ kind, payload }: SignRequest): number | null {
  const { chain_id } = payload;
  return kind === 'evm_transaction' && typeof chain_id === 'number' ? chain_id : null;
}

function tokenPayee(call: string): readonly string[] {
  const word = PAYEE_WORD[call.slice(0, SELECTOR)];
  if (word === undefined) return [];
  const from = SELECTOR + word * WORD;
  const argument = call.slice(from, from + WORD);
  // Non-zero bytes before the address are not canonical. The result is then no address, so no
  // allowlist row matches.
  return [/^0{24}/.test(argument) ? `0x${argument.slice(24)}` : `0x${argument}`];
}
