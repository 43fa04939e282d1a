/** Which runs are signalled to leave their build: by the workers' loop, and by `fundadmin runs`. */
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { register } from 'prom-client';
import { startBuildDrainer } from '../../activities/relays/builds.ts';
import type { Build, LeaveBuild } from '../../domain/builds.ts';
import { createLeaver } from '../../platform/leaving-runs.ts';
import { SKIPPED } from '../../platform/loop.ts';
import type { BuildState, BuildStatus, Builds, RunId } from '../../platform/temporal-builds.ts';
import { drainBuild } from '../../tools/runs/drain.ts';
import { promoteBuild } from '../../tools/runs/promote.ts';
import { eventually } from '../support/eventually.ts';

type Statuses = Readonly<Record<string, BuildStatus>>;
const STATUS: Statuses = { c: 'current', b: 'draining', a: 'drained' };

/**
 * A server with open runs of builds; `leaves` says which signals a run follows. `workers`: the
 * builds whose workers poll. `ramped`: a ramp is set, of which no build's status need say so.
 * `takers`: where new runs start.
 */
function server(
  leaves: (run: RunId) => boolean = () => true,
  {
    statuses = STATUS,
    workers = ['a', 'b', 'c'],
    ramped = Object.values(statuses).includes('ramping'),
    takers = [of('c')],
  }: {
    readonly statuses?: Statuses;
    readonly workers?: readonly (string | null)[];
    readonly ramped?: boolean;
    readonly takers?: readonly (Build | null)[];
  } = {},
) {
  const open: Record<string, string[]> = { c: ['m1'], b: ['m2', 'm3'], a: [] };
  const signals: (LeaveBuild & { readonly workflowId: string })[] = [];
  const runIds = new Map<string, string>();
  const promoted: (readonly [string | null, number | null])[] = [];
  let isRamped = ramped;
  const builds: Builds = {
    list: () =>
      Promise.resolve(
        Object.entries(statuses).map(([build, status]): BuildState => ({
          deployment: 'd',
          build,
          status,
        })),
      ),
    countOpen: ({ build }) => Promise.resolve(open[build]?.length ?? 0),
    listOpen: ({ build }, limit) =>
      Promise.resolve(
        (open[build] ?? [])
          .slice(0, limit)
          .map((workflowId) => ({ workflowId, runId: runIds.get(workflowId) ?? 'first' })),
      ),
    isRamped: () => Promise.resolve(isRamped),
    takers: () => Promise.resolve(takers),
    hasWorker: (_deployment, build) => Promise.resolve(workers.includes(build)),
    leave: (run, order) => {
      signals.push({ ...order, workflowId: run.workflowId });
      if (leaves(run))
        open[order.build] = (open[order.build] ?? []).filter((id) => id !== run.workflowId);
      return Promise.resolve();
    },
    wayOut: () => Promise.resolve('restart'),
    promote: (_deployment, build, ramp) => {
      promoted.push([build, ramp]);
      // As the server: a build that becomes the current one is ramped no more.
      if (ramp === 0 || (ramp === null && build !== null && statuses[build] === 'ramping'))
        isRamped = false;
      return Promise.resolve();
    },
  };
  return { builds, signals, promoted, open, runIds };
}

const OPTIONS = { by: null, dryRun: false, waitSeconds: 30, pauseMs: 1 } as const;
const log = pino({ level: 'silent' });
const of = (build: string) => ({ deployment: 'd', build });

async function figures(): Promise<string> {
  return register.getSingleMetricAsString('svc_build_open_runs');
}

test('the loop signals the runs of a draining build alone, and shows how many are open', async () => {
  const { builds, signals } = server();
  let holds = true;
  const loop = startBuildDrainer({
    temporal: { builds },
    build: of('c'),
    log,
    leases: { under: (_lease, work) => () => (holds ? work() : Promise.resolve(SKIPPED)) },
    pauseMs: 10,
  });
  try {
    await eventually(() => Promise.resolve(signals.length === 2 ? true : null));
    await eventually(async () =>
      (await figures()).includes('{deployment="d",build="b",status="draining"} 0') ? true : null,
    );
    expect(await figures()).toContain('{deployment="d",build="c",status="current"} 1');
    // Another worker holds the lease: its figures are those that count.
    holds = false;
    await eventually(async () => ((await figures()).includes('build="c"') ? null : true));
  } finally {
    await loop.stop();
  }
  expect(signals).toEqual(
    ['m2', 'm3'].map((workflowId) => ({ ...of('b'), by: 'restart', workflowId })),
  );
});

test('a run that comes late to a drained build is signalled, and none of another build', async () => {
  const { builds, signals, open } = server(() => true, {
    statuses: { f: 'created', e: 'inactive', d: 'ramping', c: 'current', a: 'drained' },
  });
  for (const build of ['a', 'd', 'e', 'f']) open[build] = [`on ${build}`];
  const loop = startBuildDrainer({
    temporal: { builds },
    build: of('c'),
    log,
    leases: { under: (_lease, work) => work },
    pauseMs: 10,
  });
  try {
    await eventually(async () =>
      (await figures()).includes('{deployment="d",build="a",status="drained"} 0') ? true : null,
    );
  } finally {
    await loop.stop();
  }
  expect(signals).toEqual([{ ...of('a'), by: 'restart', workflowId: 'on a' }]);
});

test('the figures go when they cannot be read, and no run is sent where no worker is', async () => {
  const { builds, signals } = server(() => true, { workers: ['b'] });
  let answers = true;
  const list: Builds['list'] = (name) =>
    answers ? builds.list(name) : Promise.reject(new Error('no answer'));
  const loop = startBuildDrainer({
    temporal: { builds: { ...builds, list } },
    build: of('c'),
    log,
    leases: { under: (_lease, work) => work },
    pauseMs: 10,
  });
  try {
    await eventually(async () => ((await figures()).includes('build="b"') ? true : null));
    await sleep(50);
    answers = false;
    await eventually(async () => ((await figures()).includes('build="b"') ? null : true));
  } finally {
    await loop.stop();
  }
  expect(signals).toEqual([]);
});

test('the figures stay when only what follows them fails', async () => {
  const { builds } = server();
  const loop = startBuildDrainer({
    temporal: {
      builds: { ...builds, takers: () => Promise.reject(new Error('no answer')) },
    },
    build: of('c'),
    log,
    leases: { under: (_lease, work) => work },
    pauseMs: 10_000,
  });
  try {
    await eventually(async () => ((await figures()).includes('build="b"') ? true : null));
    // The turn has failed by now.
    await sleep(50);
    expect(await figures()).toContain('{deployment="d",build="b",status="draining"} 2');
  } finally {
    await loop.stop();
  }
});

test('no run is sent where a ramping build has no workers', async () => {
  const { builds, signals } = server(() => true, {
    statuses: { c: 'current', r: 'ramping', b: 'draining' },
    workers: ['b', 'c'],
    takers: [of('c'), of('r')],
  });
  await expect(drainBuild(builds, of('b'), OPTIONS)).rejects.toThrow(/of the build r polls/);
  const loop = startBuildDrainer({
    temporal: { builds },
    build: of('c'),
    log,
    leases: { under: (_lease, work) => work },
    pauseMs: 10,
  });
  try {
    await eventually(async () => ((await figures()).includes('build="r"') ? true : null));
    await sleep(50);
  } finally {
    await loop.stop();
  }
  expect(signals).toEqual([]);
});

test('a run is signalled once, however often its build is drained', async () => {
  const { builds, signals } = server(() => false);
  const leave = createLeaver(builds);
  expect(await leave({ ...of('b'), by: 'continue' })).toEqual({ signalled: 2, failed: 0 });
  expect(await leave({ ...of('b'), by: 'continue' })).toEqual({ signalled: 0, failed: 0 });
  expect(signals.map(({ workflowId }) => workflowId)).toEqual(['m2', 'm3']);
});

test('a signal that failed is repeated', async () => {
  const { builds, signals } = server(() => false);
  let fails = true;
  const leave = createLeaver({
    ...builds,
    leave: async (run, order) => {
      if (fails && run.workflowId === 'm2') throw new Error('no answer');
      await builds.leave(run, order);
    },
  });
  expect(await leave({ ...of('b'), by: 'continue' })).toEqual({ signalled: 2, failed: 1 });
  fails = false;
  expect(await leave({ ...of('b'), by: 'continue' })).toEqual({ signalled: 1, failed: 0 });
  expect(signals.map(({ workflowId }) => workflowId)).toEqual(['m3', 'm2']);
});

test('a run that came back to its build by continuing is restarted', async () => {
  const { builds, signals, runIds } = server(() => false);
  const leave = createLeaver(builds);
  await leave({ ...of('b'), by: 'continue' });
  runIds.set('m3', 'second');
  await leave({ ...of('b'), by: 'continue' });
  expect(signals.map(({ workflowId, by }) => [workflowId, by])).toEqual([
    ['m2', 'continue'],
    ['m3', 'continue'],
    ['m3', 'restart'],
  ]);
});

test('many runs that cannot leave hide none behind them', async () => {
  const { builds, signals, open } = server(({ workflowId }) => workflowId === 'last');
  open['b'] = [...Array.from({ length: 1_000 }, (_, at) => `stuck-${String(at)}`), 'last'];
  const leave = createLeaver(builds);
  await leave({ ...of('b'), by: 'restart' });
  expect(await leave({ ...of('b'), by: 'restart' })).toEqual({ signalled: 1, failed: 0 });
  expect(signals.at(-1)).toMatchObject({ workflowId: 'last' });
});

test('a drain goes on until no run is left, also one that the server counts late', async () => {
  const { builds, signals, open } = server(({ workflowId }) => workflowId !== 'm3');
  let counts = 0;
  const late: Builds = {
    ...builds,
    countOpen: (build) => {
      counts += 1;
      // m3 leaves after its send, and only then the server lists m4.
      if (counts === 3) open['b'] = [];
      if (counts === 4) open['b'] = ['m4'];
      return builds.countOpen(build);
    },
  };
  expect(await drainBuild(late, of('b'), { ...OPTIONS, by: 'continue' })).toEqual({
    ...of('b'),
    by: 'continue',
    dry_run: false,
    found: 2,
    left: 0,
    signalled: 3,
    failed: 0,
  });
  expect(signals.map(({ workflowId }) => workflowId)).toEqual(['m2', 'm3', 'm4']);
});

test('a drain refuses an unknown build, and to send runs where no worker is', async () => {
  const { builds, signals } = server(() => true, { workers: ['b'] });
  await expect(drainBuild(builds, of('x'), OPTIONS)).rejects.toThrow(/has registered the build x/);
  await expect(drainBuild(builds, of('b'), OPTIONS)).rejects.toThrow(/of the build c polls/);
  expect(signals).toEqual([]);
});

const PROMOTED_AGAIN: Partial<Builds> = {
  list: () => Promise.resolve([{ ...of('b'), status: 'current' }]),
  takers: () => Promise.resolve([of('b')]),
};
const WITHOUT_WORKERS: Partial<Builds> = { hasWorker: () => Promise.resolve(false) };

test.each([
  ['its build is promoted again', PROMOTED_AGAIN, /the build b, which is current/],
  ['the workers of the next build are gone', WITHOUT_WORKERS, /of the build c polls/],
])('a drain ends after the round in which %s', async (_case, change, refused) => {
  const { builds, signals, open, runIds } = server();
  const calls: Builds = {
    ...builds,
    leave: async (run, order) => {
      await builds.leave(run, order);
      // Another run of the movement starts on the build.
      open['b'] = [...(open['b'] ?? []), run.workflowId];
      runIds.set(run.workflowId, `run ${String(signals.length)}`);
      Object.assign(calls, change);
    },
  };
  const drained = drainBuild(calls, of('b'), { ...OPTIONS, waitSeconds: 1 });
  await expect(drained).rejects.toThrow(refused);
  expect(signals.map(({ workflowId }) => workflowId)).toEqual(['m2', 'm3']);
});

test('a drain ends with its time, and says what is left', async () => {
  const { builds } = server(() => false);
  const drained = await drainBuild(builds, of('b'), { ...OPTIONS, waitSeconds: 0 });
  expect(drained).toMatchObject({ by: 'restart', found: 2, left: 2, signalled: 2 });
});

test('a dry run signals nothing, and the current build is not drained', async () => {
  const { builds, signals } = server();
  const counted = await drainBuild(builds, of('b'), { ...OPTIONS, dryRun: true });
  expect(counted).toMatchObject({ dry_run: true, found: 2, left: 2, signalled: 0 });
  await expect(drainBuild(builds, of('c'), OPTIONS)).rejects.toThrow(/Promote another build/);
  expect(signals).toEqual([]);
});

test('a build to which some of the new runs go is not drained: they would come back', async () => {
  const { builds, signals } = server(() => true, { statuses: { c: 'ramping', b: 'current' } });
  await expect(drainBuild(builds, of('c'), OPTIONS)).rejects.toThrow(/c, which is ramping/);
  expect(signals).toEqual([]);
});

test('only a build that workers have registered is promoted', async () => {
  const { builds, promoted } = server(() => true, { workers: ['a', 'b', null] });
  const to = (build: string | null, ramp: number | null = null) =>
    promoteBuild(builds, { deployment: 'd', build, ramp });
  await expect(to('x')).rejects.toThrow(/No worker of d has registered the build x.*c, b, a/);
  expect(await to('a')).toMatchObject({ build: 'a', was: 'drained' });
  expect(await to('b', 20)).toMatchObject({ ramp: 20, was: 'draining' });
  expect(await to(null)).toMatchObject({ build: null, was: null });
  expect(promoted).toEqual([
    ['a', null],
    ['b', 20],
    [null, null],
  ]);
});

test('a build whose workers have gone is not promoted', async () => {
  const { builds, promoted } = server(() => true, { workers: ['c'] });
  const to = (build: string | null) => promoteBuild(builds, { deployment: 'd', build, ramp: null });
  await expect(to('a')).rejects.toThrow(/of the build a polls now/);
  await expect(to(null)).rejects.toThrow(/without a build polls now/);
  expect(promoted).toEqual([]);
});

test('the way back from a ramp ends it, and does not promote the current build again', async () => {
  const statuses = { c: 'ramping', b: 'current', a: 'drained' } as const;
  const to = async (build: string, ramp: number | null) => {
    const { builds, promoted } = server(() => true, { statuses });
    await promoteBuild(builds, { deployment: 'd', build, ramp });
    return promoted;
  };
  expect(await to('b', null)).toEqual([[null, 0]]);
  expect(await to('a', null)).toEqual([
    ['a', null],
    [null, 0],
  ]);
  expect(await to('c', null)).toEqual([['c', null]]);
  expect(await to('c', 0)).toEqual([['c', 0]]);
  await expect(to('a', 0)).rejects.toThrow(/no share of the new runs/);
});

test('a ramp to workers without a build ends as well, although no build shows it', async () => {
  const { builds, promoted } = server(() => true, { ramped: true });
  await promoteBuild(builds, { deployment: 'd', build: 'c', ramp: null });
  expect(promoted).toEqual([[null, 0]]);
});

test('a build of a deployment whose name has changed is drained to where new runs start', async () => {
  const takers = [{ deployment: 'renamed', build: 'n' }];
  // The server goes on calling it the current build of its deployment.
  const { builds, signals } = server(() => true, { workers: ['n'], takers });
  expect(await drainBuild(builds, of('c'), OPTIONS)).toMatchObject({ found: 1, left: 0 });
  expect(signals.map(({ workflowId }) => workflowId)).toEqual(['m1']);

  const gone = server(() => true, { workers: ['c', null], takers });
  await expect(drainBuild(gone.builds, of('c'), OPTIONS)).rejects.toThrow(/of the build n polls/);
  for (const more of [of('c'), null]) {
    const shared = server(() => true, { workers: ['n', 'c'], takers: [...takers, more] });
    await expect(drainBuild(shared.builds, of('c'), OPTIONS)).rejects.toThrow(
      /--deployment <new name>/,
    );
    expect(shared.signals).toEqual([]);
  }
  expect(gone.signals).toEqual([]);
});
