/** Writes a comparison with an exchange's books as CSV (RFC 4180). */
import type { Difference, ReconciledLine } from '../../domain/reconcile/match.ts';
import type { OurRecord, VenueRecord } from '../../domain/reconcile/records.ts';

/** A line with one of its records, or with none. */
interface Entry extends Pick<ReconciledLine, 'verdict' | 'differences' | 'ours'> {
  readonly record: VenueRecord | null;
}

/** The fields that both sides have: `our_<field>`, then `<field>`. */
const BOTH = [
  'asset',
  'amount',
  'fee',
  'network',
  'address',
  'tag',
  'transaction',
  'source',
  'destination',
] as const satisfies readonly (keyof OurRecord & keyof VenueRecord)[];

type Column = readonly [name: string, value: (entry: Entry) => string | number | null | undefined];

const COLUMNS: readonly Column[] = [
  ['verdict', ({ verdict }) => verdict],
  ['differences', ({ differences }) => differences.map(asText).join('; ')],
  ['kind', ({ ours, record }) => (ours ?? record)?.kind],
  ['movement_id', ({ ours }) => ours?.movement_id],
  ['node_key', ({ ours }) => ours?.node_key],
  ['attempt', ({ ours }) => ours?.attempt],
  ['transfer_id', ({ ours }) => ours?.transfer_id],
  ['our_state', ({ ours }) => ours?.state],
  ['our_since', ({ ours }) => ours?.since],
  ['client_id', ({ ours, record }) => ours?.client_id ?? record?.client_id],
  ['record_id', ({ record }) => record?.id],
  ['record_at', ({ record }) => record?.at],
  ['record_status', ({ record }) => record?.status],
  ...BOTH.flatMap((field): readonly Column[] => [
    [`our_${field}`, ({ ours }) => ours?.[field]],
    [field, ({ record }) => record?.[field]],
  ]),
];

/** Returns the header, and a line for each record; one of ours without a record has a line too. */
export function linesAsCsv(lines: readonly ReconciledLine[]): string {
  const entries = lines.flatMap(({ records, ...line }): readonly Entry[] =>
    records.length === 0
      ? [{ ...line, record: null }]
      : records.map((record) => ({ ...line, record })),
  );
  const rows = [
    COLUMNS.map(([name]) => name),
    ...entries.map((entry) => COLUMNS.map(([, value]) => String(value(entry) ?? ''))),
  ];
  return rows.map((cells) => `${cells.map(cellOf).join(',')}\r\n`).join('');
}

function asText({ field, ours, theirs }: Difference): string {
  return `${field}: ours ${ours ?? 'none'}, theirs ${theirs ?? 'none'}`;
}

/**
 * Returns the text of a cell. Others choose some of these texts, and a spreadsheet runs what begins
 * with one of these characters as a formula.
 */
function cellOf(value: string): string {
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
