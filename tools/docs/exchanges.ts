/** Builds the table of docs/venues.md of what the service can do at each exchange. */
import type { Dialect } from '../../venues/cex/dialect.ts';
import { DIALECTS } from '../../venues/cex/dialects/index.ts';
import { between } from './between.ts';

/** Returns `page` with the table up to date. Throws when the page has no place for it. */
export function withExchanges(page: string): string {
  return between(page, 'exchanges', exchangeTable());
}

type Column = readonly [title: string, cell: (dialect: Dialect) => string];

const COLUMNS: readonly Column[] = [
  [
    'a lost withdrawal is found by',
    ({ search }) => (search.by === 'client_id' ? 'our client id' : 'what is new in its list'),
  ],
  [
    'sent again by itself',
    ({ withdrawals }) => (withdrawals.same_key_safe ? 'yes, under the same id' : 'never'),
  ],
  ['settles within', ({ withdrawals }) => `${String(withdrawals.settle_seconds)} s`],
  [
    'transfers between accounts',
    ({ transfers }) => (transfers === null ? 'no' : `found within ${settled(transfers)}`),
  ],
  ['cancel', ({ cancelWithdrawal }) => (cancelWithdrawal === undefined ? 'no' : 'yes')],
  ['fee', ({ fee_after_send }) => (fee_after_send ? 'known afterwards' : 'known before a send')],
  ['address book', bookOf],
  ['pools, own key', ({ account_types }) => codes(account_types.own)],
  ["pools, master's key", ({ account_types }) => codes(account_types.sub)],
  ['requests of a key', ({ growing_nonce }) => (growing_nonce ? 'one at a time' : 'at once')],
  ['sandbox', ({ sandbox_fault }) => (sandbox_fault === undefined ? 'yes' : 'no')],
  ['codes that prove a refusal', ({ refusals }) => String(Object.keys(refusals).length)],
];

function settled({ settle_seconds }: { readonly settle_seconds: number }): string {
  return `${String(settle_seconds)} s`;
}

function bookOf({ addressBook, book_enforced }: Dialect): string {
  if (addressBook !== undefined) return 'read';
  return book_enforced ? 'enforced by it alone' : 'not shown';
}

function codes(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.map((name) => `\`${name}\``).join(', ');
}

/** One row for each capability or guarantee, one column for each exchange. */
function exchangeTable(): readonly string[] {
  const exchanges = [...DIALECTS];
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [
    row(['', ...exchanges.map(([exchange]) => `\`${exchange}\``)]),
    row(['---', ...exchanges.map(() => '---')]),
    ...COLUMNS.map(([title, cell]) => row([title, ...exchanges.map(([, each]) => cell(each))])),
  ];
}
