/** What a run in fast motion must show of memory and tables, from samples taken at rest. */
import { median } from '../../bench/stats.ts';

/** What a process of the service takes. */
export interface ProcessSample {
  /** Null while it is down. */
  readonly pid: number | null;
  readonly mib: number;
}

export interface TableSample {
  readonly rows: number;
  readonly bytes: number;
}

/** One look at the service at rest, at the end of a round. */
export interface Sample {
  /** How far the service's clock has moved. */
  readonly hours: number;
  /** Movements that callers have created. */
  readonly movements: number;
  readonly processes: Readonly<Record<string, ProcessSample>>;
  readonly tables: Readonly<Record<string, TableSample>>;
}

/** With fewer samples the thirds of a run say nothing. */
export const LEAST_SAMPLES = 6;
const MOST_MEMORY_PERCENT = 115;
const MOST_ROWS = 1.5;
/** So many rows more are chance: a table of a few rows may double. */
const FEW_ROWS = 20;

/** Tables that keep rows of every movement or transfer for good. They may grow with those alone. */
export const GROW_WITH_MOVEMENTS: ReadonlySet<string> = new Set([
  'approval_decisions',
  'artifacts',
  'audit_events',
  'audit_seals',
  'authorizations',
  'budget_reservations',
  'capital_transfer_events',
  'capital_transfers',
  'evm_transactions',
  'movement_approval_rules',
  'movement_approval_standings',
  'movement_approvals',
  'movement_metadata',
  'movement_nodes',
  'movement_other_assets',
  'movement_plans',
  'movements',
  'node_attempts',
  'payment_claims',
  'payments',
  'reservations',
  'timeline_events',
]);

/** Hours that tables keep rows which are then removed; other bounded tables keep none. */
export const KEPT_HOURS: Readonly<Record<string, number>> = {
  callbacks: 24,
  commands: 24,
  console_events: 1,
  dashboard_sessions: 30 * 24,
  nonce_registry: 1,
};

/** The last two thirds of the samples; the first one is the start. */
function thirds(samples: readonly Sample[]): {
  readonly middle: readonly Sample[];
  readonly last: readonly Sample[];
} {
  const third = Math.floor(samples.length / 3);
  return { middle: samples.slice(-2 * third, -third), last: samples.slice(-third) };
}

/** Returns whether a run this long fills a table before its middle, so that it must not grow. */
function isJudged(table: string, hours: number): boolean {
  return (KEPT_HOURS[table] ?? 0) <= hours / 2;
}

/** Returns what memory and tables contradict, of a run whose clock moved so many hours. */
export function fastMotionFaults(samples: readonly Sample[], hours: number): readonly string[] {
  if (samples.length < LEAST_SAMPLES)
    return [`${samples.length} rounds say nothing; give it more --minutes`];
  return [...memoryFaults(samples), ...tableFaults(samples, hours)];
}

function memoryFaults(samples: readonly Sample[]): readonly string[] {
  const { middle, last } = thirds(samples);
  return namesIn(samples, 'processes').flatMap((name) => {
    const pids = new Set(samples.map(({ processes }) => processes[name]?.pid ?? null));
    if (pids.size !== 1 || pids.has(null))
      return [`${name} did not run all the time: its memory says nothing`];
    const of = (some: readonly Sample[]): number =>
      median(some.map(({ processes }) => processes[name]?.mib ?? Number.NaN));
    const [before, after] = [of(middle), of(last)];
    // A sample without the process is no number, which is a fault too.
    return after * 100 <= before * MOST_MEMORY_PERCENT
      ? []
      : [`${name} takes ${after.toFixed(0)} MiB, in the third before ${before.toFixed(0)}`];
  });
}

function tableFaults(samples: readonly Sample[], hours: number): readonly string[] {
  return namesIn(samples, 'tables').flatMap((table) => {
    if (GROW_WITH_MOVEMENTS.has(table)) return growthFaults(samples, table);
    if (!isJudged(table, hours)) return [];
    const { middle, last } = thirds(samples);
    const of = (some: readonly Sample[]): number => median(some.map(rowsOf(table)));
    const [before, after] = [of(middle), of(last)];
    return after <= Math.max(before * MOST_ROWS, before + FEW_ROWS)
      ? []
      : [`${table} has ${after} rows, in the third before ${before}`];
  });
}

/** Rows a movement must be about the same in both thirds. */
function growthFaults(samples: readonly Sample[], table: string): readonly string[] {
  const third = Math.floor(samples.length / 3);
  const [from, between, end] = [-2 * third - 1, -third - 1, -1].map((at) => samples.at(at));
  if (from === undefined || between === undefined || end === undefined) return [];
  const grown = (first: Sample, then: Sample): { rows: number; movements: number } => ({
    rows: rowsOf(table)(then) - rowsOf(table)(first),
    movements: then.movements - first.movements,
  });
  const [before, after] = [grown(from, between), grown(between, end)];
  const due = (before.rows / before.movements) * after.movements;
  return after.rows <= Math.max(due * MOST_ROWS, due + FEW_ROWS)
    ? []
    : [
        `${table} grew by ${after.rows} rows with ${after.movements} movements, in the third before by ${before.rows} with ${before.movements}`,
      ];
}

/** Returns what the run shows, as lines of `name  value`. */
export function fastMotionFigures(samples: readonly Sample[], hours: number): readonly string[] {
  const { middle, last } = thirds(samples);
  const groups = [samples.slice(0, 1), middle, last];
  const through = (of: (sample: Sample) => number, digits = 0): string =>
    groups.map((some) => median(some.map(of)).toFixed(digits)).join(' → ');
  const processes = namesIn(samples, 'processes').map((name) => {
    const mib = through((sample) => sample.processes[name]?.mib ?? Number.NaN);
    return `${name}: ${mib} MiB`;
  });
  const tables = namesIn(samples, 'tables').flatMap((table) => {
    if ((samples.at(-1)?.tables[table]?.rows ?? 0) === 0) return [];
    const rows = through(rowsOf(table));
    const mb = through((sample) => (sample.tables[table]?.bytes ?? 0) / 1e6, 1);
    return `${table}: ${rows} rows, ${mb} MB${kindOf(table, hours)}`;
  });
  return ['first round → middle third → last third', ...processes, ...tables];
}

function kindOf(table: string, hours: number): string {
  if (GROW_WITH_MOVEMENTS.has(table)) return '; grows with movements';
  return isJudged(table, hours)
    ? ''
    : `; kept for ${KEPT_HOURS[table] ?? 0} hours, which is too long for this run to judge`;
}

const rowsOf =
  (table: string) =>
  ({ tables }: Sample): number =>
    tables[table]?.rows ?? 0;

function namesIn(samples: readonly Sample[], of: 'processes' | 'tables'): readonly string[] {
  return [...new Set(samples.flatMap((sample) => Object.keys(sample[of])))].sort();
}
