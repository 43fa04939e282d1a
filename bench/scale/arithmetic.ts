/** What a rate of movements takes, from what one movement takes. */
import { number, table } from '../report.ts';
import type { Measured } from './figures.ts';

/** What one movement takes, as measured. */
export type Costs = Pick<
  Measured,
  | 'aloneMs'
  | 'cpuWorkersMs'
  | 'cpuApisMs'
  | 'cpuPostgresMs'
  | 'cpuTemporalMs'
  | 'walBytes'
  | 'transactions'
  | 'workflowTasks'
  | 'dispatches'
>;

/** What is not measured here: goals, and properties of what would be rented. */
export interface Assumptions {
  /** Movements a second. */
  readonly perSecond: number;
  /** Share of everything rented that is busy at that rate. */
  readonly busy: number;
  /** Cores that one process can use: a worker has threads beside its main one, an API has none. */
  readonly workerCores: number;
  readonly apiCores: number;
  /** Of the largest Postgres primary: cores, and WAL that it and its standby write, in MB/s. */
  readonly primaryCores: number;
  readonly primaryWalMb: number;
  /** Connections of a process to Postgres. */
  readonly poolSize: number;
  /** Milliseconds for which a transaction keeps its connection. */
  readonly transactionMs: number;
  /** Milliseconds for which a movement keeps the row of its pool locked, over all transactions. */
  readonly poolLockMs: number;
  /** Milliseconds for which a send keeps its nonce lane to itself. */
  readonly laneMs: number;
  /** Milliseconds of a write of a run's state, in which its history shard does nothing else. */
  readonly shardWriteMs: number;
  /** Milliseconds from a poll that gets a task to the next poll. */
  readonly pollMs: number;
}

const ASSUMPTIONS: Assumptions = {
  perSecond: 1_000,
  busy: 0.5,
  workerCores: 2,
  apiCores: 1,
  primaryCores: 32,
  primaryWalMb: 100,
  poolSize: 20,
  transactionMs: 3,
  poolLockMs: 6,
  laneMs: 50,
  shardWriteMs: 5,
  pollMs: 5,
};

export interface Needs {
  readonly workerCores: number;
  readonly apiCores: number;
  readonly postgresCores: number;
  readonly temporalCores: number;
  readonly workers: number;
  readonly apis: number;
  /** MB a second and GB a day. */
  readonly walMb: number;
  readonly walGbADay: number;
  /** Deployments with a Postgres primary each, between which movements are divided. */
  readonly cells: number;
  readonly historyShards: number;
  readonly workflowPollers: number;
  readonly activityPollers: number;
  /** Connections that the processes open, and those that a pooler needs to the servers. */
  readonly connections: number;
  readonly pooledConnections: number;
  /** Fewest pools that the movements draw from, and fewest nonce lanes of as many sends. */
  readonly pools: number;
  readonly lanes: number;
  readonly inFlight: number;
}

/** Returns what the assumed rate takes: cores as rented, not as used, and everything else whole. */
export function needsOf(costs: Costs, assumed: Assumptions = ASSUMPTIONS): Needs {
  const { perSecond, busy } = assumed;
  /** How many of a thing are busy that is taken for `ms` by each of so many a movement. */
  const taken = (ms: number, aMovement = 1): number => (perSecond * aMovement * ms) / 1_000;
  const rented = (used: number): number => used / busy;
  const postgresCores = rented(taken(costs.cpuPostgresMs));
  const walMb = (perSecond * costs.walBytes) / 1e6;
  const workers = whole(rented(taken(costs.cpuWorkersMs)) / assumed.workerCores);
  const apis = whole(rented(taken(costs.cpuApisMs)) / assumed.apiCores);
  // The start and the signal of an approval; start and end of each task.
  const writes = 2 + 2 * costs.workflowTasks + 2 * costs.dispatches;
  return {
    workerCores: rented(taken(costs.cpuWorkersMs)),
    apiCores: rented(taken(costs.cpuApisMs)),
    postgresCores,
    temporalCores: rented(taken(costs.cpuTemporalMs)),
    workers,
    apis,
    walMb,
    walGbADay: (walMb * 86_400) / 1_000,
    cells: Math.max(
      whole(postgresCores / assumed.primaryCores),
      whole(rented(walMb) / assumed.primaryWalMb),
    ),
    historyShards: powerOfTwo(rented(taken(assumed.shardWriteMs, writes))),
    workflowPollers: whole(rented(taken(assumed.pollMs, costs.workflowTasks))),
    activityPollers: whole(rented(taken(assumed.pollMs, costs.dispatches))),
    connections: (workers + apis) * assumed.poolSize,
    pooledConnections: whole(rented(taken(assumed.transactionMs, costs.transactions))),
    pools: whole(rented(taken(assumed.poolLockMs))),
    lanes: whole(rented(taken(assumed.laneMs))),
    inFlight: whole(taken(costs.aloneMs)),
  };
}

/** The next whole number, at least 1; what a division of floats adds beyond it does not count. */
function whole(value: number): number {
  return Math.max(1, Math.ceil(value - 1e-9));
}

function powerOfTwo(value: number): number {
  return 2 ** Math.ceil(Math.log2(whole(value)));
}

/** Each need: its title and unit. */
const TITLES: Readonly<Record<keyof Needs, string>> = {
  workerCores: 'cores of workers',
  apiCores: 'cores of APIs',
  postgresCores: 'cores of Postgres',
  temporalCores: "cores of Temporal's server",
  workers: 'workers',
  apis: 'APIs',
  walMb: 'WAL, MB/s without whole pages',
  walGbADay: 'WAL, GB a day without whole pages',
  cells: 'cells, each with a Postgres primary',
  historyShards: 'history shards',
  workflowPollers: 'pollers of workflow tasks',
  activityPollers: 'pollers of activities',
  connections: 'connections of the processes',
  pooledConnections: 'connections behind a pooler',
  pools: 'pools at least',
  lanes: 'nonce lanes at least, if each movement sends on a chain',
  inFlight: 'movements under way',
};

/** Returns the needs as a table for people, with what was assumed. */
export function renderNeeds(
  { name, costs }: { readonly name: string; readonly costs: Costs },
  assumed: Assumptions = ASSUMPTIONS,
): string {
  const needs = needsOf(costs, assumed);
  const rows = table([`for ${String(assumed.perSecond)} movements a second`, '']);
  for (const key of Object.keys(TITLES) as (keyof Needs)[])
    rows.push([TITLES[key], number(needs[key])]);
  const said = Object.entries(assumed).map(([key, value]) => `${key} ${String(value)}`);
  return [`from: ${name}`, rows.toString(), `assumed: ${said.join(', ')}`].join('\n');
}
