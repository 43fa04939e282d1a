/**
 * `npm run topology -- --roll-out`: a release goes out while movements are under way. Both builds
 * work at the same time, the old one is emptied, and the way back is the same.
 */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { workflowBundle } from '../../activities/bundle.ts';
import { readCorpus, replayRecordings } from '../../test/replay/corpus.ts';
import { settingsOf } from '../../test/support/builds.ts';
import {
  compatibleBundle,
  GATE_DETAILS,
  incompatibleBundle,
} from '../../test/support/changed-bundle.ts';
import { eventually } from '../../test/support/eventually.ts';
import { layOutChanged } from '../../test/upgrade/builds.ts';
import { setFaults } from './alerts.ts';
import { createBuildTool, type BuildTool } from './build-tool.ts';
import { runSteps, type Step } from './check.ts';
import { createLoad, type Load, type Moved } from './roll-out-load.ts';
import { dynamicConfigFile } from './temporal.ts';
import type { Topology } from './topology.ts';

/** Settings of the service: all processes start as build a. */
export const ROLL_OUT_SETTINGS = settingsOf('a');

/** How soon Temporal sees that a build has no open runs; its default is minutes. */
const DRAINAGE = [
  'matching.wv.VersionDrainageStatusVisibilityGracePeriod:\n  - value: 10s\n',
  'matching.wv.VersionDrainageStatusRefreshInterval:\n  - value: 5s\n',
].join('');
/** Longer than by default, if the server has not read {@link DRAINAGE}. */
const DRAINED_MS = 480_000;
/** Lists and counts of runs lag. */
const LISTED_MS = 60_000;
/** Of each kind of movement that stays where it is. */
const PARKED = 3;
/** How long the venue takes for the movements that are observed for long. */
const OBSERVED_MS = 120_000;
/**
 * How long a send under way is held back: the calls that drain a build take less, and the venue's
 * executor waits 5 s for an answer.
 */
const HELD_MS = 4_000;
const SENDING = ['SUBMITTING'] as const;
const OBSERVED = ['SUBMITTED', 'OBSERVING'] as const;
const SHARE = 50;

/** What the steps work on. */
interface Scene {
  readonly topology: Topology;
  readonly tool: BuildTool;
  readonly load: Load;
  readonly say: (line: string) => void;
  /** Movements that wait: for an approval, and at a gate. */
  readonly unapproved: Moved[];
  readonly gated: Moved[];
}

/** Rolls build b out and back on a topology of build a; returns how many steps failed. */
export async function rollOut(
  topology: Topology,
  signal: AbortSignal,
  say: (line: string) => void,
): Promise<number> {
  const { apiUrl, keys } = topology.asStack();
  const tool = createBuildTool(topology);
  const load = createLoad(apiUrl, keys.admin);
  const over = new AbortController();
  try {
    const scene: Scene = { topology, tool, load, say, unapproved: [], gated: [] };
    return await runSteps(stepsOf(scene, over), say, signal);
  } finally {
    over.abort();
    await tool.close();
  }
}

/** `over` ends the movements that are created all the time. */
function stepsOf(scene: Scene, over: AbortController): readonly (readonly [string, Step])[] {
  let trickle: Promise<void> = Promise.resolve();
  return [
    ['build a takes the runs', () => takesRuns(scene)],
    [
      'movements wait on build a: for approvals, at gates, at the venue',
      () => {
        trickle = scene.load.trickle(over.signal);
        return park(scene);
      },
    ],
    ['worker-2 restarts as build b, whose bundle differs', () => becomesB(scene)],
    ['both builds are at work', () => bothWork(scene)],
    ['build b is promoted, and build a emptied by continue while it sends', () => toB(scene)],
    ['new runs start on build b', () => startsOnB(scene)],
    ['Temporal has build a as drained', () => becomesDrained(scene, 'a')],
    ['movements of build a go on on build b', () => goesOn(scene, 'b')],
    ['build a is promoted again with runs open on build b', () => back(scene)],
    ['build b is emptied by continue', () => empties(scene, 'b')],
    ['movements of build b go on on build a', () => goesOn(scene, 'a')],
    [
      'each movement is COMPLETED, and was paid exactly once by one send',
      async () => {
        over.abort();
        await trickle;
        return allPaid(scene);
      },
    ],
    ['Temporal has build b as drained', () => becomesDrained(scene, 'b')],
    ['the histories of the corpus replay on build b', () => replays(compatibleBundle)],
    ['the corpus refuses a build whose commands come in another order', refusesIncompatible],
  ];
}

async function takesRuns({ topology, tool, say }: Scene): Promise<null> {
  appendFileSync(dynamicConfigFile(topology.dataDir), `\n${DRAINAGE}`);
  // It keeps the builds, and reads its settings at the start.
  await topology.kill('temporal-worker');
  await topology.restart('temporal-worker');
  // The server has to have seen a worker of the build.
  await eventually(() => tool.promote('a').then(() => true), {
    timeoutMs: LISTED_MS,
    what: () => 'build a to be promoted',
  });
  await shown(tool, say);
  return null;
}

async function park({ topology, load, unapproved, gated, tool, say }: Scene): Promise<null> {
  for (let count = 0; count < 2 * PARKED; count += 1) gated.push(await load.toGate());
  for (let count = 0; count < 2 * PARKED; count += 1) unapproved.push(await load.create());
  await setFaults(topology.ports.venue, { processing_ms: OBSERVED_MS });
  try {
    for (let count = 0; count < PARKED; count += 1) await underWay(load, OBSERVED);
  } finally {
    await setFaults(topology.ports.venue, null);
  }
  await shown(tool, say);
  return null;
}

async function underWay(load: Load, states: readonly string[]): Promise<Moved> {
  const moved = await load.create();
  await load.approve(moved);
  await load.nodeReaches(moved, states);
  return moved;
}

/** The service of build b: the same programs, with workflow code that differs harmlessly. */
async function becomesB({ topology }: Scene): Promise<null> {
  const main = await layOutChanged(join(topology.dataDir, 'build-b'), compatibleBundle);
  await topology.replace('worker-2', (spec) => ({
    ...spec,
    args: [main, 'worker'],
    env: { ...spec.env, ...settingsOf('b') },
  }));
  return null;
}

async function bothWork({ tool, load, gated, say }: Scene): Promise<null> {
  await eventually(() => tool.promote('b', SHARE).then(() => true), {
    timeoutMs: LISTED_MS,
    what: () => 'build b to get a share of the new runs',
  });
  for (let count = 0; count < 2 * PARKED; count += 1) gated.push(await load.toGate());
  await eventually(
    async () => {
      const listed = await tool.builds();
      const open = ['a', 'b'].map((build) => listed.get(build)?.open_runs ?? 0);
      return open.every((count) => count > 0) ? true : null;
    },
    { timeoutMs: LISTED_MS, what: () => 'open runs on both builds' },
  );
  await shown(tool, say);
  // From here on, what starts until the promotion starts on a.
  await tool.promote('b', 0);
  return null;
}

/** Build b is promoted, and a emptied, before the venue has answered what a sends. */
async function toB(scene: Scene): Promise<string | null> {
  const { topology, tool, load } = scene;
  await setFaults(topology.ports.venue, { hold_ms: HELD_MS, phases: ['submit'] });
  let sends = 0;
  let fault: string | null = null;
  try {
    const sent = await Promise.all(Array.from({ length: PARKED }, () => underWay(load, SENDING)));
    await tool.promote('b');
    sends = await load.countIn(sent, SENDING);
    fault = await empties(scene, 'a');
  } finally {
    await setFaults(topology.ports.venue, null);
  }
  return sends > 0 ? fault : 'no send was under way when build b was promoted';
}

/** Waits until the movement has an open run that stays on the build. */
async function comesTo(build: string, { movement }: Moved, tool: BuildTool): Promise<void> {
  const { movement_id } = movement;
  await eventually(async () => ((await tool.isOn(build, movement_id)) ? true : null), {
    timeoutMs: LISTED_MS,
    what: () => `${movement_id} to have a run on build ${build}`,
  });
}

async function newRunsOn(scene: Scene, build: string): Promise<Moved> {
  const { tool, load, gated, say } = scene;
  const moved = await load.toGate();
  gated.push(moved);
  await comesTo(build, moved, tool);
  await shown(tool, say);
  return moved;
}

async function startsOnB(scene: Scene): Promise<string | null> {
  const { movement } = await newRunsOn(scene, 'b');
  const details = await scene.tool.detailsOf(movement.movement_id);
  return details.includes(withoutNode(GATE_DETAILS[1]))
    ? null
    : `the code of build b does not run: ${details}`;
}

const withoutNode = (details: string): string => details.replace('${node}', '');

async function empties({ tool, say }: Scene, build: string): Promise<string | null> {
  const { by, left, failed } = await tool.drain(build);
  await shown(tool, say);
  return by === 'continue' && left === 0 && failed === 0
    ? null
    : `${String(left)} runs are left, ${String(failed)} signals failed, by ${by}`;
}

async function becomesDrained({ tool }: Scene, build: string): Promise<null> {
  let last = '';
  await eventually(
    async () => {
      const listed = (await tool.builds()).get(build);
      last = JSON.stringify(listed);
      return listed?.status === 'drained' && listed.open_runs === 0 ? true : null;
    },
    { timeoutMs: DRAINED_MS, everyMs: 2_000, what: () => `build ${build} to be drained: ${last}` },
  );
  return null;
}

/** On b half of what waits goes on, so that the other half is there when a comes back. */
async function goesOn(scene: Scene, build: string): Promise<string | null> {
  const { tool, load, gated, unapproved } = scene;
  const [first] = gated;
  if (first === undefined) return 'no movement is at a gate';
  await comesTo(build, first, tool);
  const isLast = build === 'a';
  const half = (waiting: readonly Moved[]): number =>
    isLast ? waiting.length : Math.ceil(waiting.length / 2);
  for (const moved of gated.splice(0, half(gated))) await load.resume(moved);
  for (const moved of unapproved.splice(0, half(unapproved))) await load.approve(moved);
  return null;
}

async function back(scene: Scene): Promise<string | null> {
  const { tool } = scene;
  const open = (await tool.builds()).get('b')?.open_runs ?? 0;
  await tool.promote('a');
  await newRunsOn(scene, 'a');
  return open > 0 ? null : 'no run was open on build b';
}

async function allPaid({ topology, load, say }: Scene): Promise<string | null> {
  const { chain, paperVenueUrl } = topology.asStack();
  const found = [...load.faults, ...(await load.unpaid({ chain, paperVenueUrl }))];
  say(`  ${String(load.all.length)} movements`);
  return found.length === 0 ? null : found.slice(0, 10).join('; ');
}

async function replays(change: (code: string) => string): Promise<string | null> {
  const faults = await replayRecordings(readCorpus(), change(workflowBundle().code));
  const names = Object.keys(faults);
  return names.length === 0 ? null : `${names.join(', ')}: ${Object.values(faults)[0] ?? ''}`;
}

async function refusesIncompatible(): Promise<string | null> {
  const corpus = readCorpus();
  const faults = await replayRecordings(corpus, incompatibleBundle(workflowBundle().code));
  const found = Object.values(faults).filter((fault) => /nondeterminism/i.test(fault));
  return found.length > 0 ? null : `${String(corpus.size)} histories replay on it`;
}

/** Says how many runs are open on each build. */
async function shown(tool: BuildTool, say: (line: string) => void): Promise<void> {
  const builds = [...(await tool.builds()).values()].map(
    ({ build, status, open_runs }) => `${build} (${status}) ${String(open_runs)}`,
  );
  say(`  open runs: ${builds.sort().join(', ')}`);
}
