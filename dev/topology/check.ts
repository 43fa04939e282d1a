/**
 * `npm run topology -- --check`: each process is killed with a movement under way, both databases
 * fail over, and what operators look at is there.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { panelQueries } from '../../tools/monitoring/dashboards.ts';
import { createMover, type Mover } from './movements.ts';
import type { Topology } from './topology.ts';

/** A movement takes seconds; one whose process was killed takes as long as that is noticed. */
const MOVEMENT_MS = 300_000;
/** Figures are up to 5 s old, and a rate needs two of them. */
const FIGURES_MS = 90_000;
const POLL_MS = 1_000;
/** Between the start of a movement and the kill, so that some nodes are sent and some are not. */
const UNDER_WAY_MS = 400;
/** How long a killed process stays down. */
const DOWN_MS = 1_000;
/** What the topology has of the needs of panels (tools/monitoring/panels.ts). */
const OFFERED: readonly string[] = [
  ...['always', 'chain', 'postgres-standby', 'remote-executor', 'server'],
];

/** Returns what is wrong, or null. */
export type Step = () => Promise<string | null>;

/** Runs the steps one after the other and prints a line for each; returns how many failed. */
export async function runSteps(
  steps: Iterable<readonly [string, Step]>,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<number> {
  let passed = 0;
  let failed = 0;
  for (const [name, step] of steps) {
    signal.throwIfAborted();
    const started = Date.now();
    const fault = await step().catch((error: unknown) => {
      signal.throwIfAborted();
      return error instanceof Error ? error.message : String(error);
    });
    const seconds = ((Date.now() - started) / 1_000).toFixed(1);
    say(fault === null ? `✓ ${name} (${seconds} s)` : `✗ ${name} (${seconds} s): ${fault}`);
    if (fault === null) passed += 1;
    else failed += 1;
  }
  say(`${String(passed)} passed, ${String(failed)} failed`);
  return failed;
}

/** Checks a running topology; returns the number of failures. */
export async function checkTopology(
  topology: Topology,
  signal: AbortSignal,
  say: (line: string) => void,
): Promise<number> {
  const mover = createMover(topology.apiBase, topology.keys.admin, signal);
  const steps: (readonly [string, Step])[] = [
    ['a movement through haproxy', () => completes(mover, mover.start())],
    ...topology
      .names()
      .map((name): readonly [string, Step] => [
        `a movement while ${name} is killed and started again`,
        () => survives(mover, signal, () => killed(topology, name, signal)),
      ]),
    ...(['fund', 'temporal'] as const).flatMap((database): readonly (readonly [string, Step])[] => [
      [
        `a movement while the ${database} database fails over`,
        () => survives(mover, signal, () => topology.failOver(database)),
      ],
      [
        `the old primary of ${database} becomes the standby`,
        () => topology.rejoin(database).then(() => null),
      ],
    ]),
    ['a movement afterwards', () => completes(mover, mover.start())],
    ...figures(topology, signal),
  ];
  return runSteps(steps, say, signal);
}

function figures(topology: Topology, signal: AbortSignal): readonly (readonly [string, Step])[] {
  const { prometheus } = topology;
  if (prometheus === null)
    return [['Prometheus', () => Promise.resolve('there is no Prometheus on this machine')]];
  const offered = panelQueries().filter(({ needs }) =>
    needs.every((need) => OFFERED.includes(need)),
  );
  const eventually = async (look: () => Promise<string | null>): Promise<string | null> => {
    const deadline = Date.now() + FIGURES_MS;
    for (;;) {
      const fault = await look();
      if (fault === null || Date.now() > deadline) return fault;
      await sleep(POLL_MS, undefined, { signal });
    }
  };
  return [
    [
      'every process is scraped',
      () => eventually(async () => (await prometheus.downTargets()).join('; ') || null),
    ],
    ...offered.map(({ dashboard, panel, query }): readonly [string, Step] => [
      `${dashboard}: ${panel}`,
      () =>
        eventually(async () =>
          (await prometheus.series(query)) > 0 ? null : `no series for ${query}`,
        ),
    ]),
  ];
}

async function survives(
  mover: Mover,
  signal: AbortSignal,
  disturb: () => Promise<void>,
): Promise<string | null> {
  const id = await mover.start();
  await sleep(UNDER_WAY_MS, undefined, { signal });
  await disturb();
  return completes(mover, Promise.resolve(id));
}

async function killed(topology: Topology, name: string, signal: AbortSignal): Promise<void> {
  await topology.kill(name);
  await sleep(DOWN_MS, undefined, { signal });
  await topology.restart(name);
}

async function completes(mover: Mover, started: Promise<string>): Promise<string | null> {
  const id = await started;
  const state = await mover.restOf(id, MOVEMENT_MS);
  return state === 'COMPLETED' ? null : `${id} is ${state}`;
}
