/** `npm run topology`: the service as it is deployed, every part a process on this machine. */
import { setMaxListeners } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { report } from '../bootstrap/progress.mjs';
import { takeSignals } from '../stack/foreground.ts';
import { ALERT_SETTINGS, checkAlerts, rulesForCheck } from './alert-run.ts';
import { checkTopology } from './check.ts';
import { PROXY_NAMES } from './network.ts';
import { readTopologyOptions, type TopologyOptions } from './options.ts';
import { findPrograms } from './programs.ts';
import { ROLL_OUT_SETTINGS, rollOut } from './roll-out.ts';
import type { TopologyStart } from './start.ts';
import { Topology } from './topology.ts';

/** What a check needs of the service: its calls are many, and what stands still is found soon. */
const CHECK_SETTINGS = { SVC_RATE_LIMIT_ENABLED: 'false', SVC_SWEEP_IDLE_SECONDS: '5' };

let topology: Topology | null = null;
const foreground = takeSignals(() => topology?.hurry());
process.exitCode = await main(readTopologyOptions(process.argv.slice(2)));
process.exit();

async function main(options: TopologyOptions): Promise<number> {
  const { signal } = foreground;
  // Every call and every pause of a check listens to it.
  setMaxListeners(0, signal);
  const found = await findPrograms();
  if (typeof found === 'string') {
    report(`The topology cannot run here: ${found}.`);
    return 1;
  }
  // Settings of a developer's own service must not reach this one. Only now: one names promtool.
  for (const name of Object.keys(process.env))
    if (name.startsWith('SVC_')) delete process.env[name];
  const dataDir = mkdtempSync(join(tmpdir(), 'topology-'));
  let status = 1;
  try {
    topology = await Topology.start({
      dataDir,
      basePort: options.basePort,
      programs: found,
      ...forTask(options.task),
      log: report,
      signal,
    });
    for (const name of PROXY_NAMES)
      if (options.networkMs > 0) await topology.network.slow(name, options.networkMs);
    status = await run(topology, options);
  } catch (error) {
    if (foreground.status === null)
      report(`\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  }
  report('\nStopping …');
  await topology?.stop();
  const keep = options.keep || (status !== 0 && foreground.status === null);
  if (keep) report(`Logs and data: ${dataDir}`);
  else rmSync(dataDir, { recursive: true, force: true, maxRetries: 3 });
  // Once everything runs, a signal is the usual way to end this command, not a failure.
  return options.task === 'stay' && status === 0 ? 0 : (foreground.status ?? status);
}

/** Rules and settings of the service that a task needs. */
function forTask(task: TopologyOptions['task']): Pick<TopologyStart, 'rules' | 'env'> {
  switch (task) {
    case 'stay':
      return {};
    case 'check':
      return { env: CHECK_SETTINGS };
    case 'alerts':
      return { rules: rulesForCheck(), env: { ...CHECK_SETTINGS, ...ALERT_SETTINGS } };
    case 'roll-out':
      return { env: { ...CHECK_SETTINGS, ...ROLL_OUT_SETTINGS } };
  }
}

async function run(running: Topology, options: TopologyOptions): Promise<number> {
  const { signal } = foreground;
  process.stdout.write(`${table(running)}\n`);
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  switch (options.task) {
    case 'check':
      return (await checkTopology(running, signal, say)) === 0 ? 0 : 1;
    case 'alerts':
      return (await checkAlerts(running, signal, say)) === 0 ? 0 : 1;
    case 'roll-out':
      return (await rollOut(running, signal, say)) === 0 ? 0 : 1;
    case 'stay': {
      const { seconds } = options;
      const over = seconds === null ? [] : [sleep(seconds * 1_000, undefined, { ref: false })];
      await Promise.race([foreground.stopped, ...over]);
      return 0;
    }
  }
}

/** What runs where, in the order of the start. */
function table(running: Topology): string {
  const rows = [
    ['process', 'address', 'pid'],
    ...running.parts().map(({ name, address, pid }) => [name, address, String(pid ?? 'down')]),
  ];
  const lines = rows.map(([name = '', address = '', pid = '']) =>
    `${name.padEnd(20)}${address.padEnd(18)}${pid}`.trimEnd(),
  );
  return ['', ...lines, '', `API: ${running.apiBase}, keys: ${running.dataDir}/clients`].join('\n');
}
