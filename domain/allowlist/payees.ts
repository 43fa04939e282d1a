/** Finds payees in what people and executors write. */
import { isObject, type JsonObject, type JsonValue } from '../json.ts';

/** Which values count as an address: any value, or only values that look like an EVM address. */
export type Taken = 'any' | 'evm_like';
/**
 * `evm_whole`: inside an object about a payee, in a field with an unclear name, only a complete EVM
 * address counts.
 */
type Counts = Taken | 'evm_whole';

/** Names of fields that hold an address: in lower case, without `_` and `-`, in the singular. */
const ADDRESS_NAMES: readonly string[] = [
  'destinationaddress',
  'recipientaddress',
  'receiveraddress',
  'beneficiaryaddress',
  'payeeaddress',
  'payoutaddress',
  'withdrawaladdress',
  'withdrawaddress',
  'toaddress',
  'toaddr',
  'destaddress',
  'destinationaddr',
  'dstaddress',
  'targetaddress',
  'receivingaddress',
  'recipientaddr',
  'destinationwallet',
  'recipientwallet',
  'payoutwallet',
  'mintrecipient',
];
/** Names of fields that hold the payee's address, or only the payee's name. */
const PARTY_NAMES: readonly string[] = [
  'destination',
  'recipient',
  'receiver',
  'beneficiary',
  'payee',
];

/** An EVM address, also padded to 32 bytes, or the beginning of one. */
const EVM_LIKE = /^0x([0-9a-f]{0,42}|0{24}[0-9a-f]{40})$/i;
const EVM_WHOLE = /^0x(0{24})?[0-9a-f]{40}$/i;
/** Names of fields, in an object about a payee, that do not hold the paid address. */
const NOT_PAID = /token|contract|asset|coin|hash|from|sender|source/i;

/** Returns every payee in an object, at any depth. `more`: additional names of payee fields. */
export function payeesIn(
  value: JsonObject,
  taken: Taken,
  more: readonly string[] = [],
): readonly string[] {
  const meaning = (name: string): Taken | null => {
    if (ADDRESS_NAMES.some((known) => names(name, known))) return taken;
    return [...PARTY_NAMES, ...more].some((known) => names(name, known)) ? 'evm_like' : null;
  };
  const within = (known: Counts | null, name: string): Counts | null => {
    if (known === null || name.toLowerCase() === 'address') return known;
    return NOT_PAID.test(name) ? null : 'evm_whole';
  };
  const inside = (held: JsonValue, known: Counts | null): readonly string[] => {
    if (held === null) return [];
    if (isObject(held)) {
      return Object.entries(held).flatMap(([name, each]) =>
        inside(each, meaning(name) ?? within(known, name)),
      );
    }
    if (Array.isArray(held))
      return (held as readonly JsonValue[]).flatMap((each) => inside(each, known));
    if (known === null) return [];
    const text = String(held as string | number | boolean);
    return known === 'any' || (known === 'evm_like' ? EVM_LIKE : EVM_WHOLE).test(text)
      ? [text]
      : [];
  };
  return inside(value, null);
}

function names(name: string, known: string): boolean {
  const plain = name.toLowerCase().replace(/[_-]/g, '');
  return plain === known || plain === `${known}s` || plain === `${known}es`;
}
