/**
 * `npm run chaos -- --topology`: the storm of the mix over a whole deployment. Every part is killed
 * at least once, both databases fail over, and the network between them is slow and ends
 * connections.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PROXY_NAMES, type Network, type ProxyName } from '../../dev/topology/network.ts';
import { BASE_PORT } from '../../dev/topology/ports.ts';
import { findPrograms } from '../../dev/topology/programs.ts';
import type { DatabaseName } from '../../dev/topology/start.ts';
import { Topology } from '../../dev/topology/topology.ts';
import type { Dice } from './random.ts';
import { ASKS_SOON, runOn, SETTINGS, type Run } from './run-stack.ts';
import { planStrikes, strikeOn, type Strike } from './schedule.ts';
import type { Parts } from './storm.ts';
import { createTeam, teamExecutor } from './team.ts';

/** A topology that a person runs has the standard ports. */
const PORTS_FROM = BASE_PORT + 500;
const [DELAY_MS, JITTER_MS] = [5, 2];
/** Share of the connections that end with their next answer, while a proxy loses. */
const LOST_SHARE = 0.2;
const LOSES_MS = 1_000;

/** Victims that stand for a fail-over; when they come back, the old primary is the standby. */
const FAILOVERS: Readonly<Record<string, DatabaseName>> = {
  'fund database': 'fund',
  'temporal database': 'temporal',
};
const VENUE = 'paper-venue';

/** What is killed, by weight. Prometheus is left out: no movement depends on it. */
export const TOPOLOGY_WEIGHTS = {
  'api-1': 2,
  'api-2': 2,
  'worker-1': 4,
  'worker-2': 4,
  haproxy: 1,
  pgbouncer: 1,
  toxiproxy: 1,
  'temporal-history': 1,
  'temporal-matching': 1,
  'temporal-frontend': 1,
  'temporal-worker': 1,
  [VENUE]: 1,
  chain: 1,
  team: 2,
  'fund database': 1,
  'temporal database': 1,
} as const;

/** Plans one strike on each part, in an order that is drawn, and then others by weight. */
export function topologyStrikes(dice: Dice, kills: number): readonly Strike[] {
  const left: string[] = Object.keys(TOPOLOGY_WEIGHTS);
  const each: Strike[] = [];
  while (left.length > 0) {
    const victim = dice.pick(left);
    left.splice(left.indexOf(victim), 1);
    each.push(strikeOn(dice, [victim]));
  }
  return [...each, ...planStrikes(dice, kills - each.length, TOPOLOGY_WEIGHTS)];
}

/**
 * Starts a topology and a team's worker for a run of the mix, with `settings` of the service beside
 * those of every run. Its parts stay down when killed.
 */
export async function startTopologyRun(
  signal: AbortSignal,
  log: (line: string) => void,
  settings: Readonly<Record<string, string>> = {},
): Promise<Run> {
  const programs = await findPrograms();
  if (typeof programs === 'string') throw new Error(`there is no topology here: ${programs}`);
  const dataDir = mkdtempSync(join(tmpdir(), 'fault-run-'));
  let topology: Topology;
  try {
    topology = await Topology.start({
      dataDir,
      basePort: PORTS_FROM,
      programs,
      env: { ...SETTINGS, ...ASKS_SOON, ...settings },
      more: { executors: [teamExecutor(dataDir)] },
      log,
      signal,
    });
  } catch (error) {
    rmSync(dataDir, { recursive: true, force: true });
    throw error;
  }
  const stack = topology.asStack();
  const team = createTeam(dataDir, stack.temporalAddress);
  try {
    await team.start();
  } catch (error) {
    await topology.stop();
    throw error;
  }
  let faults: object | null = null;
  const parts: Parts = {
    kill: async (name) => {
      const database = FAILOVERS[name];
      if (database !== undefined) return topology.failOver(database);
      return name === 'team' ? team.kill() : topology.kill(name);
    },
    startChild: async (name) => {
      const database = FAILOVERS[name];
      if (database !== undefined) return topology.rejoin(database);
      if (name === 'team') return team.start();
      await topology.restart(name);
      // The venue forgets its faults with its process.
      if (name === VENUE && faults !== null) await run.venueFaults(faults);
    },
  };
  const run: Run = runOn(stack, team, {
    parts,
    strikes: topologyStrikes,
    disturb: (dice, over) => disturb(topology.network, dice, over),
  });
  return {
    ...run,
    venueFaults: (wanted) => {
      faults = wanted;
      return run.venueFaults(wanted);
    },
  };
}

/** Delays everything, and now and then ends connections, until `over` aborts. */
async function disturb(network: Network, dice: Dice, over: AbortSignal): Promise<void> {
  // A toxiproxy that answers too late has taken the change nevertheless.
  const set = (change: Promise<void>): Promise<void> => change.catch(() => undefined);
  for (const name of PROXY_NAMES) await set(network.slow(name, DELAY_MS, JITTER_MS));
  while (!over.aborted) {
    await sleep(dice.between(500, 4_000), undefined, { signal: over }).catch(() => undefined);
    await set(endConnections(network, dice.pick(PROXY_NAMES), dice));
  }
  for (const name of PROXY_NAMES) await network.heal(name);
}

async function endConnections(network: Network, name: ProxyName, dice: Dice): Promise<void> {
  if (dice.chance(0.5)) return network.reset(name);
  try {
    await network.lose(name, LOST_SHARE);
    await sleep(LOSES_MS);
  } finally {
    await network.heal(name);
  }
}
