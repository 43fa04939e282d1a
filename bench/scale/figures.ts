/** The figures of a point, and the file that a run writes. */
import { z } from 'zod';
import { median } from '../stats.ts';

/** Each figure: its title and unit. "A movement": over all movements of the batch. */
export const FIGURES = {
  perSecond: { title: 'movements completed', unit: '1/s' },
  p50Ms: { title: 'approval to end of a batch, p50', unit: 'ms' },
  p99Ms: { title: 'approval to end of a batch, p99', unit: 'ms' },
  aloneMs: { title: 'approval to end, one alone', unit: 'ms' },
  cpuMs: { title: 'CPU a movement: workers, APIs, Postgres', unit: 'ms' },
  cpuWorkersMs: { title: 'CPU a movement, workers', unit: 'ms' },
  cpuApisMs: { title: 'CPU a movement, APIs', unit: 'ms' },
  cpuPostgresMs: { title: 'CPU a movement, Postgres', unit: 'ms' },
  cpuTemporalMs: { title: 'CPU a movement, Temporal', unit: 'ms' },
  idleCores: { title: 'CPU while nothing happens: workers, APIs, Postgres', unit: 'cores' },
  workerMb: { title: 'memory of the largest worker at most', unit: 'MB' },
  apiMb: { title: 'memory of the largest API at most', unit: 'MB' },
  postgresMb: { title: 'memory of Postgres at the end', unit: 'MB' },
  walBytes: { title: 'WAL a movement, without whole pages', unit: 'B' },
  lockWaitMs: { title: 'waits for locks a movement', unit: 'ms' },
  mostUngranted: { title: 'locks not granted at most', unit: '' },
  members: { title: 'members of multixacts a movement', unit: '' },
  transactions: { title: 'transactions a movement', unit: '' },
  connections: { title: 'connections of the service', unit: '' },
  roundTripMs: { title: 'an empty statement', unit: 'ms' },
  workflowTasks: { title: 'workflow tasks a movement', unit: '' },
  dispatches: { title: 'activities that the server dispatches a movement', unit: '' },
} as const satisfies Record<string, { readonly title: string; readonly unit: string }>;

export type FigureName = keyof typeof FIGURES;
export const FIGURE_NAMES = Object.keys(FIGURES) as readonly FigureName[];

/** One value of each figure. */
export type Measured = Readonly<Record<FigureName, number>>;

export interface PointResult {
  readonly name: string;
  /** One entry a round. */
  readonly rounds: readonly Measured[];
}

export interface ScaleResult {
  readonly movements: number;
  readonly short: boolean;
  /** Row: names of its points, the first of which the others are compared with. */
  readonly rows: readonly { readonly row: string; readonly points: readonly string[] }[];
  readonly points: readonly PointResult[];
  /** Jobs a second of the hand-written workflow, once a round. */
  readonly handWritten: readonly number[];
}

// JSON has no NaN; what could not be measured is null there.
const measured = z
  .record(z.enum(FIGURE_NAMES), z.number().nullable())
  .transform((figures) =>
    Object.fromEntries(FIGURE_NAMES.map((name) => [name, figures[name] ?? Number.NaN])),
  );
const file = z.object({
  points: z.array(z.object({ name: z.string(), rounds: z.array(measured).min(1) })).min(1),
});

/**
 * Returns the median of each figure of the first point in a file that a run wrote.
 *
 * @throws ZodError for another file.
 */
export function firstPointOf(text: string): { readonly name: string; readonly costs: Measured } {
  const [first] = file.parse(JSON.parse(text)).points;
  if (first === undefined) throw new Error('the file has no points');
  return { name: first.name, costs: medians(first.rounds) };
}

function medians(rounds: readonly Readonly<Record<string, number>>[]): Measured {
  const entries = FIGURE_NAMES.map(
    (name) => [name, median(rounds.map((each) => each[name] ?? Number.NaN))] as const,
  );
  return Object.fromEntries(entries) as Measured;
}
