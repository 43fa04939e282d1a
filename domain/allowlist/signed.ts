/**
 * Whom a signature would pay, read from what is to be signed and not from what its executor says of
 * it.
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
 * The payees of a sign request: whom a plain transaction sends the chain's coin, whom a standard
 * call sends a token, and whatever typed data names as one. Other calldata is the business of its
 * action type's own check.
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
  // Anything but zeros before the address is not canonical; as it stands it is no address and
  // matches nothing.
  return [/^0{24}/.test(argument) ? `0x${argument.slice(24)}` : `0x${argument}`];
}
