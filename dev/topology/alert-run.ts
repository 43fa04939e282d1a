/**
 * `npm run topology -- --alerts`: brings about the fault of each alert, waits until Prometheus says
 * that it fires, heals the fault and waits until it is quiet.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ALERT_FAULTS, type AlertFault, type Scene } from './alerts.ts';
import { runSteps, type Step } from './check.ts';
import { createMover } from './movements.ts';
import { shippedRules, type Prometheus } from './prometheus.ts';
import type { Topology } from './topology.ts';

export { ALERT_SETTINGS } from './alerts.ts';

const FIRES_MS = 180_000;
/** Longer than the windows of {@link shortened}, after which a counter is quiet again. */
const QUIET_MS = 240_000;
const POLL_MS = 1_000;

/** Returns the shipped rules as the check runs them, by file name. */
export function rulesForCheck(): ReadonlyMap<string, string> {
  return new Map([...shippedRules()].map(([name, text]) => [name, shortened(text)]));
}

/**
 * Returns rules that fire at once and look back over half a minute, with the lower bounds of
 * {@link ALERT_FAULTS}. Everything else stays as it is shipped.
 */
export function shortened(text: string): string {
  return text
    .split(/^(?= *- alert: )/m)
    .map(lowered)
    .join('')
    .replace(/^( *(?:for|keep_firing_for)): \S+$/gm, '$1: 0s')
    .replace(/\[\d+[smhd]\]/g, '[30s]')
    .replace(/\boffset \d+[smhd]\b/g, 'offset 30s');
}

function lowered(block: string): string {
  const name = /^ *- alert: (\S+)$/m.exec(block)?.[1] ?? '';
  const fault = ALERT_FAULTS[name];
  if (fault === undefined || !('bring' in fault) || fault.shorter === undefined) return block;
  const [shipped, shorter] = fault.shorter;
  if (!block.includes(shipped)) throw new Error(`the rule of ${name} has no ${shipped}`);
  return block.replaceAll(shipped, shorter);
}

/** Returns the names of the alerts in the text of a rule file. */
export function alertsIn(text: string): readonly string[] {
  return [...text.matchAll(/^ *- alert: (\S+)$/gm)].map(([, name = '']) => name);
}

/** Checks the alerts of a topology that runs {@link rulesForCheck}; returns how many failed. */
export async function checkAlerts(
  topology: Topology,
  signal: AbortSignal,
  say: (line: string) => void,
): Promise<number> {
  const { prometheus } = topology;
  if (prometheus === null) {
    say('✗ there is no Prometheus on this machine');
    return 1;
  }
  const mover = createMover(topology.apiBase, topology.keys.admin, signal);
  const scene: Scene = { topology, mover, signal };
  const names = [...shippedRules().values()].flatMap(alertsIn);
  const steps: (readonly [string, Step])[] = [];
  for (const name of names) {
    const fault = ALERT_FAULTS[name];
    if (fault === undefined)
      steps.push([name, () => Promise.resolve('dev/topology/alerts.ts has no fault for it')]);
    else if ('why' in fault) say(`- ${name}: held by its unit tests alone; ${fault.why}`);
    else if ('always' in fault) steps.push([name, () => alreadyFires(prometheus, name)]);
    else steps.push([name, () => firesAndEnds({ name, fault, scene, prometheus })]);
  }
  return runSteps(steps, say, signal);
}

async function alreadyFires(prometheus: Prometheus, name: string): Promise<string | null> {
  return (await prometheus.firing()).has(name) ? null : 'it does not fire';
}

async function firesAndEnds(options: {
  readonly name: string;
  readonly fault: AlertFault;
  readonly scene: Scene;
  readonly prometheus: Prometheus;
}): Promise<string | null> {
  const { name, fault, scene, prometheus } = options;
  const becomes = async (fires: boolean, limitMs: number): Promise<boolean> => {
    for (const deadline = Date.now() + limitMs; ;) {
      if ((await prometheus.firing()).has(name) === fires) return true;
      if (Date.now() > deadline) return false;
      await sleep(POLL_MS, undefined, { signal: scene.signal });
    }
  };
  // An alert that an earlier fault left behind would prove nothing.
  if (!(await becomes(false, QUIET_MS))) return 'it fires before its fault';
  let fired = false;
  try {
    await fault.bring(scene);
    fired = await becomes(true, FIRES_MS);
  } finally {
    await fault.heal(scene);
  }
  if (!fired) return 'it did not fire';
  return (await becomes(false, QUIET_MS)) ? null : 'it still fires after its fault was healed';
}
