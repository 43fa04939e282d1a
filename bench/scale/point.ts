/** One measurement of one point. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { movementWorkflowId } from '../../domain/messages.ts';
import { historyCosts } from '../costs/history.ts';
import { connectApi, type BenchApi, type CreatedMovement } from '../load/api.ts';
import { forEach } from '../load/each.ts';
import { measureAlone, measureBatch, type Batch } from '../load/measure.ts';
import { allSeen, movementSide, type MovementSide } from '../load/movements.ts';
import { quiet } from '../load/quiet.ts';
import { poolVenue } from '../pools.ts';
import type { BenchStack } from '../stack.ts';
import { median, quantile } from '../stats.ts';
import { chain, chainFrom, type TemplateBody } from '../templates.ts';
import { deploy, ROLES, type Deployment } from './deployment.ts';
import type { Measured } from './figures.ts';
import { nameOf, type Point } from './matrix.ts';
import { connections, latencies, readCounters, roundTrips, startSampler } from './sampler.ts';

const NODES = 3;
/**
 * Movements of each worker before the clock starts, so that compilers, caches and connections are
 * warm: each connection plans a statement anew for its first five calls.
 */
const WARM_UP = 120;
/** The same with slow executors, where nothing is judged by CPU. */
const WARM_UP_SLOW = 40;
const ALONE = 5;
/** Movements that wait are made so many at a time: their runs start more slowly. */
const AT_ONCE = 1_000;
/** A session reports its commits after ten seconds without work. */
const COMMITS_KNOWN_MS = 11_000;

export interface PointContext {
  readonly stack: BenchStack;
  readonly client: Client;
  /** Movements of a batch. */
  readonly movements: number;
  readonly short: boolean;
  /** Movements that wait for an approval now; a point makes or ends as many as it needs. */
  readonly open: CreatedMovement[];
  /** Keys of templates that are registered. */
  readonly registered: Set<string>;
}

/** Starts the processes of a point, measures, and stops them. */
export async function measurePoint(context: PointContext, point: Point): Promise<Measured> {
  process.stderr.write(`  ${nameOf(point)}\n`);
  const deployment = await deploy(context.stack, point);
  const apis = deployment.apiPorts.map((port) => connectApi(port));
  try {
    return await measureOn(context, point, deployment, apis);
  } finally {
    await Promise.all(apis.map((api) => api.close()));
    await deployment.stop();
  }
}

async function measureOn(
  context: PointContext,
  point: Point,
  deployment: Deployment,
  apis: readonly BenchApi[],
): Promise<Measured> {
  const { stack, client, movements, short } = context;
  const { pool } = stack;
  const side = await prepareSide(context, point, apis);
  const lens = { pool, cpu: (): Record<string, number> => deployment.cpu() };
  await measureBatch(lens, side, short ? movements : warmUpOf(point));
  const alone = await measureAlone(side, Math.min(ALONE, movements));
  const ids = await side.prepare(movements);
  await quiet(lens);
  const idleCores = await measureIdle(deployment, short);
  const before = await readCounters(pool);
  const stopSampler = await startSampler(stack.settings.databaseUrl);
  const { looks, batch } = await watched(lens, side, ids);
  const waits = await stopSampler();
  await sleep(short ? 0 : COMMITS_KNOWN_MS);
  const after = await readCounters(pool);
  const [one = ''] = ids;
  const history = await historyCosts(client, movementWorkflowId(one));
  const memory = deployment.memory();
  return {
    ...speedOf(batch, await latencies(pool, ids)),
    aloneMs: median(alone),
    idleCores,
    workerMb: memory.worker,
    apiMb: memory.api,
    postgresMb: memory.postgres,
    walBytes: (after.wal - before.wal) / movements,
    lockWaitMs: waits.waitMs / movements,
    mostUngranted: waits.mostUngranted,
    members: (after.members - before.members) / movements,
    transactions: (after.commits - before.commits - looks) / movements,
    connections: await connections(pool),
    roundTripMs: median(await roundTrips(deployment.databaseUrl)),
    workflowTasks: history.workflow_tasks,
    dispatches: history.dispatches,
  };
}

function warmUpOf({ workers, slots }: Point): number {
  return workers * (slots === null ? WARM_UP : WARM_UP_SLOW);
}

/** Registers what the point runs, and brings it to as many open movements as it says. */
async function prepareSide(
  context: PointContext,
  point: Point,
  apis: readonly BenchApi[],
): Promise<MovementSide> {
  const templates = templatesOf(point);
  const api = inTurns(apis, templates);
  await register(context, api, templates);
  await bringTo(context, point.open, api);
  const [template] = templates;
  if (template === undefined) throw new RangeError('a point needs at least one pool');
  return movementSide({ api, pool: context.stack.pool, client: context.client, template });
}

type Speed =
  | 'perSecond'
  | 'p50Ms'
  | 'p99Ms'
  | 'cpuMs'
  | 'cpuWorkersMs'
  | 'cpuApisMs'
  | 'cpuPostgresMs'
  | 'cpuTemporalMs';

function speedOf(batch: Batch, times: readonly number[]): Pick<Measured, Speed> {
  const { workers = 0, apis = 0, postgres = 0, temporal = 0 } = batch.cpuByPart;
  return {
    perSecond: batch.perSecond,
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
    cpuMs: workers + apis + postgres,
    cpuWorkersMs: workers,
    cpuApisMs: apis,
    cpuPostgresMs: postgres,
    cpuTemporalMs: temporal,
  };
}

/** Measures movements that exist, and counts the looks at them, each a transaction. */
async function watched(
  lens: Parameters<typeof measureBatch>[0],
  side: MovementSide,
  ids: readonly string[],
): Promise<{ readonly looks: number; readonly batch: Batch }> {
  let looks = 0;
  const batch = await measureBatch(
    lens,
    {
      ...side,
      prepare: () => Promise.resolve(ids),
      done: (of) => {
        looks += 1;
        return side.done(of);
      },
    },
    ids.length,
  );
  return { looks, batch };
}

/** Cores that are busy while nothing is to do; meanwhile all sessions report their commits. */
async function measureIdle(deployment: Deployment, short: boolean): Promise<number> {
  const used = (): number => {
    const cpu = deployment.cpu();
    return ROLES.filter((role) => role !== 'temporal').reduce((sum, role) => sum + cpu[role], 0);
  };
  const [before, since] = [used(), performance.now()];
  await sleep(short ? 1_000 : COMMITS_KNOWN_MS);
  return (used() - before) / (performance.now() - since);
}

/** One template a pool; the slow executors' movements draw in the same way. */
function templatesOf({ pools, slots }: Point): readonly TemplateBody[] {
  const action = slots === null ? 'instant' : 'unhurried';
  return Array.from({ length: pools }, (_, index) =>
    chainFrom(poolVenue(index + 1), action, NODES),
  );
}

/** All APIs in turn; a create of the first template is of each of them in turn. */
function inTurns(apis: readonly BenchApi[], templates: readonly TemplateBody[]): BenchApi {
  let turn = 0;
  const next = (): BenchApi => {
    turn += 1;
    const api = apis[turn % apis.length];
    if (api === undefined) throw new RangeError('a point needs at least one API');
    return api;
  };
  let created = 0;
  return {
    register: (template) => next().register(template),
    create: (template) => {
      if (template !== templates[0]) return next().create(template);
      created += 1;
      return next().create(templates[created % templates.length] ?? template);
    },
    approve: (movement) => next().approve(movement),
    reject: (movement) => next().reject(movement),
    close: async () => undefined,
  };
}

async function register(
  { registered }: PointContext,
  api: BenchApi,
  templates: readonly TemplateBody[],
): Promise<void> {
  for (const template of [...templates, WAITING]) {
    const { template_key } = template;
    if (registered.has(template_key)) continue;
    const reasons = await api.register(template);
    if (reasons.length > 0) throw new Error(`${template_key}: ${reasons.join(', ')}`);
    registered.add(template_key);
  }
}

/** What waits draws from no pool of those that are measured. */
const WAITING = chain('instant', NODES);

/** Makes or ends movements that wait until there are as many as the point says. */
async function bringTo(
  { open, stack, short }: PointContext,
  level: number,
  api: BenchApi,
): Promise<void> {
  const apart = Math.abs(level - open.length);
  if (apart > 0 && !short)
    process.stderr.write(`    from ${String(open.length)} to ${String(level)} that wait\n`);
  for (let left = level - open.length; left !== 0; left = level - open.length) {
    if (left > 0) {
      const some = [...Array(Math.min(left, AT_ONCE)).keys()];
      open.push(...(await forEach(some, () => api.create(WAITING))));
    } else {
      const some = open.splice(Math.max(level, open.length - AT_ONCE));
      await forEach([...some.keys()], async (index) => {
        const movement = some[index];
        if (movement !== undefined) await api.reject(movement);
      });
    }
    await allSeen(stack.pool);
  }
}
