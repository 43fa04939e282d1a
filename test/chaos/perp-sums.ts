/** Whether perps venue and chain did what the movements requested, each once. */
import { amountOf, unitsOf } from '../support/bridge-books.ts';

export const KINDS = ['deposit', 'withdrawal', 'top_up'] as const;
export type PerpKind = (typeof KINDS)[number];

/** What one movement requested. */
export interface PerpRequest {
  readonly key: string;
  readonly kind: PerpKind;
  /** In units of the asset; no other movement has it. */
  readonly amount: string;
}
export type PerpOutput = Readonly<Record<string, unknown>>;

/** A row of the master's ledger, as the venue shows it. */
export interface PerpRow {
  readonly hash: string;
  readonly delta: PerpOutput;
}
/** A call of the venue that requested an action. */
export interface PerpCall {
  readonly body: string;
  readonly nonce: number;
  readonly admitted: boolean;
}

/** Everything at one time; balances in the token's smallest units. */
export interface PerpBooksAt {
  readonly rows: readonly PerpRow[];
  readonly calls: readonly PerpCall[];
  readonly master: bigint;
  readonly sub: bigint;
  readonly wallet: bigint;
  readonly treasury: bigint;
}

/** Units that the venue takes out of every withdrawal. */
const FEE = unitsOf('1');

/** Everything that does not add up, in words. */
export function perpContradictions(
  lives: readonly PerpRequest[],
  outputs: ReadonlyMap<string, PerpOutput | null>,
  before: PerpBooksAt,
  after: PerpBooksAt,
): readonly string[] {
  const rows = after.rows.slice(before.rows.length);
  const calls = after.calls.slice(before.calls.length);
  const owners = new Map<PerpRow, string[]>(rows.map((row) => [row, []]));
  const found: string[] = [];
  for (const life of lives) {
    const output = outputs.get(life.key) ?? null;
    if (output === null) found.push(`${life.key}: it has no output`);
    const own = rows.filter((row) => isOf(row, life));
    for (const row of own) owners.get(row)?.push(life.key);
    const [row] = own;
    if (row === undefined || own.length > 1)
      found.push(`${life.key}: the ledger has ${own.length} rows of it`);
    else if (output !== null && !tellsTheSame(row, life, output))
      found.push(
        `${life.key}: its record says ${JSON.stringify(output)}, the ledger ${JSON.stringify(row)}`,
      );
  }
  for (const [row, keys] of owners)
    if (keys.length !== 1)
      found.push(`the row ${JSON.stringify(row)} is that of ${keys.join(', ') || 'no movement'}`);
  return [...found, ...calledOnce(lives, calls), ...addsUp(lives, before, after)];
}

const TYPES: Readonly<Record<PerpKind, string>> = {
  deposit: 'deposit',
  withdrawal: 'withdraw',
  top_up: 'send',
};
/** By type and amount, which no other movement has; nonce or hash are compared afterwards. */
function isOf({ delta }: PerpRow, { kind, amount }: PerpRequest): boolean {
  if (delta['type'] !== TYPES[kind]) return false;
  const requested = unitsOf(amount);
  if (kind === 'withdrawal') return unitsOf(String(delta['usdc'])) + FEE === requested;
  return unitsOf(String(delta[kind === 'deposit' ? 'usdc' : 'amount'])) === requested;
}

function tellsTheSame({ hash, delta }: PerpRow, { kind, amount }: PerpRequest, output: PerpOutput) {
  const received = unitsOf(amount) - (kind === 'withdrawal' ? FEE : 0n);
  if (unitsOf(String(output['received_amount'])) !== received) return false;
  switch (kind) {
    case 'deposit':
      return output['ledger_hash'] === hash && output['tx_hash'] === hash;
    case 'withdrawal':
      return output['ledger_hash'] === hash && Number(output['nonce']) * 1_000 === delta['nonce'];
    case 'top_up':
      return output['ledger_hash'] === hash && output['nonce'] === delta['nonce'];
  }
}

/** Each nonce has one body and was admitted once; there are as many as movements. */
function calledOnce(lives: readonly PerpRequest[], calls: readonly PerpCall[]): readonly string[] {
  const found: string[] = [];
  const nonces = new Set(calls.map(({ nonce }) => nonce));
  for (const nonce of nonces) {
    const own = calls.filter((call) => call.nonce === nonce);
    const bodies = new Set(own.map(({ body }) => body)).size;
    const admitted = own.filter((call) => call.admitted).length;
    if (bodies !== 1 || admitted !== 1)
      found.push(`nonce ${String(nonce)}: ${bodies} bodies, ${admitted} of them admitted`);
  }
  const signed = lives.filter(({ kind }) => kind !== 'deposit').length;
  return nonces.size === signed
    ? found
    : [...found, `${nonces.size} nonces were sent for ${signed} movements`];
}

function addsUp(
  lives: readonly PerpRequest[],
  before: PerpBooksAt,
  after: PerpBooksAt,
): readonly string[] {
  const of = (kind: PerpKind) => lives.filter((life) => life.kind === kind);
  const sum = (kind: PerpKind) => of(kind).reduce((all, { amount }) => all + unitsOf(amount), 0n);
  const [into, out, up] = [sum('deposit'), sum('withdrawal'), sum('top_up')];
  const expected = {
    wallet: before.wallet - into,
    master: before.master + into - out - up,
    sub: before.sub + up,
    treasury: before.treasury + out - FEE * BigInt(of('withdrawal').length),
  };
  return (['wallet', 'master', 'sub', 'treasury'] as const).flatMap((name) =>
    after[name] === expected[name]
      ? []
      : [`${name} has ${amountOf(after[name])} and should have ${amountOf(expected[name])}`],
  );
}
