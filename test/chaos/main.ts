/**
 * `npm run chaos`: movements run while API, worker, Temporal and Postgres are killed again and
 * again and the venue loses a fifth of its answers. Ends with exit status 0 only if nothing
 * contradicts anything afterwards.
 */
import { setMaxListeners } from 'node:events';
import { takeSignals } from '../../dev/stack/foreground.ts';
import type { Stack } from '../../dev/stack/stack.ts';
import { bridgeWeather } from './bridge-run.ts';
import { createCaller } from './caller.ts';
import { planTransfers } from './capital.ts';
import { runAtDesk } from './desk-run.ts';
import { failOver } from './failover.ts';
import { FAST_SETTINGS, fastMotion } from './fast-motion.ts';
import { figures } from './figures.ts';
import { gather } from './gather.ts';
import { contradictions } from './invariants.ts';
import { newLife } from './life.ts';
import { liveInStorm, registerPolicy, TRANSFERS_A_MOVEMENT, VENUE_FAULTS } from './load.ts';
import { readOptions, type RunOptions } from './options.ts';
import { perpWeather } from './perp-run.ts';
import { comesToRest, endAll, lastEvidence, retryFailed } from './quiet.ts';
import { dice } from './random.ts';
import { startReceiver } from './receiver.ts';
import { conclude, say, seconds } from './report.ts';
import { startRunStack, type Run } from './run-stack.ts';
import { planStrikes } from './schedule.ts';
import { writeScripts } from './scripts.ts';
import { rollingRestart } from './rolling.ts';
import { registerTemplates } from './templates.ts';
import { startTopologyRun } from './topology.ts';

/** The window of the policy's budget; the run is over before it. */
const WINDOW_HOURS = 24;
/** After the storm, how long movements may take to come to rest. */
const REST_MS = 180_000;

// What somebody has set for a service of their own is nothing to this run.
for (const name of Object.keys(process.env)) if (name.startsWith('SVC_')) delete process.env[name];

let run: Run | null = null;
let rolled: Stack | null = null;
const foreground = takeSignals(() => (run?.stack ?? rolled)?.hurry());
process.exitCode = await main(readOptions(process.argv.slice(2)));
process.exit();

async function main(options: RunOptions): Promise<number> {
  const limit = AbortSignal.timeout(options.minutes * 60_000);
  const signal = AbortSignal.any([foreground.signal, limit]);
  // Every call and every pause of every movement listens to it.
  setMaxListeners(0, signal);
  let clean = false;
  try {
    if (options.rolling || options.failover) {
      const [name, atDesk] = options.rolling
        ? (['Rolling restart', rollingRestart] as const)
        : (['Fail-over', failOver] as const);
      say(`${name} under ${options.movements} movements`);
      const found = await runAtDesk({ options, signal, say }, (stack) => (rolled = stack), atDesk);
      clean = found === 0;
      return clean ? 0 : 1;
    }
    const { lane, where, what } = laneOf(options);
    say(
      `Fault run: ${options.movements} movements${where}, at least ${options.kills} kills, seed ${options.seed}`,
    );
    run = options.topology
      ? await startTopologyRun(signal, say, options.fastMotion ? FAST_SETTINGS : {})
      : await startRunStack(signal, say, lane);
    clean = (await what(run, options, signal)) === 0;
  } catch (error) {
    if (limit.aborted) say(`\nThe run was not over after ${options.minutes} minutes.`);
    else if (foreground.status === null)
      say(`\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  } finally {
    const keep = (options.keep || !clean) && foreground.status === null;
    await run?.close(keep);
    if (keep && run !== null) say(`Logs and data: ${run.stack.dataDir}`);
  }
  return foreground.status ?? (clean ? 0 : 1);
}

function laneOf({ bridges, perps, topology, fastMotion: isFast }: RunOptions) {
  if (bridges) return { lane: 'bridges', where: ' across bridges', what: bridgeWeather } as const;
  if (perps) return { lane: 'perps', where: ' at the perps venue', what: perpWeather } as const;
  if (isFast)
    return { lane: 'mix', where: ' a round over the topology', what: fastMotion } as const;
  const where = topology ? ' over the topology' : '';
  return { lane: 'mix', where, what: weather } as const;
}

/** The whole run on a stack that is up; answers the number of contradictions. */
async function weather(stack: Run, options: RunOptions, signal: AbortSignal): Promise<number> {
  const started = Date.now();
  const { seed } = options;
  const caller = createCaller(stack.apiUrl, stack.stack.keys.admin, signal);
  const { mix, leftOut } = await registerTemplates(caller, stack.stack.chain);
  await registerPolicy(caller, mix, WINDOW_HOURS);
  const receiver = await startReceiver(dice(seed, 'receiver'));
  try {
    await stack.venueFaults({ ...VENUE_FAULTS, seed });
    const lives = writeScripts(dice(seed, 'scripts'), options.movements, mix).map((script) =>
      newLife(script, seed),
    );
    const capitalLives = planTransfers(
      dice(seed, 'transfers'),
      Math.ceil(options.movements * TRANSFERS_A_MOVEMENT),
      seed,
    );
    const plan = stack.strikes ?? planStrikes;
    const { storm, stormSeconds, watched } = await liveInStorm(
      { run: stack, caller, receiver, signal },
      {
        lives,
        capitalLives,
        strikes: plan(dice(seed, 'strikes'), options.kills),
        kills: options.kills,
        seed,
        onKill: (total) => {
          if (total % 10 !== 0) return;
          say(
            `  ${total} kills, ${lives.filter((life) => life.movement_id !== null).length} movements after ${seconds(started)} s`,
          );
        },
      },
    );
    const venue = await stack.venueFaults(null);
    receiver.calm();
    say(`  the storm is over after ${stormSeconds} s`);
    const rest = { delivers: true, limitMs: REST_MS, signal };
    let restless = await comesToRest(stack, rest);
    const retried = restless === '' ? await retryFailed(lives, stack, caller) : 0;
    if (retried > 0) restless = await comesToRest(stack, rest);
    if (restless !== '') say(`  not at rest after ${REST_MS / 1_000} s: ${restless}`);
    const known = { lives, capitalLives, received: receiver.received, delivers: true };
    const atRest = await lastEvidence(() => gather(stack, { ...known, over: false }));
    // Now, since what callers and receiver know goes on growing.
    const foundAtRest = contradictions(atRest);
    const waited = atRest.movements.filter(({ ended }) => !ended).length;
    restless = await endAll(lives, stack, caller, rest);
    if (restless !== '') say(`  not at its end after ${REST_MS / 1_000} s: ${restless}`);
    const evidence = await lastEvidence(() => gather(stack, { ...known, over: true }));
    const { kills, downMs, failedStarts } = storm;
    const templates = mix.map(({ key }) => key);
    const storms = { stormSeconds, kills, downMs, failedStarts };
    const facts = {
      ...storms,
      seed,
      seconds: seconds(started),
      repeats: caller.repeats,
      venue,
      retried,
      waited,
      looks: watched.looks,
    };
    const found = [
      ...new Set([
        ...watched.found.map((each) => `watched: ${each}`),
        ...foundAtRest,
        ...contradictions(evidence),
        ...caller.complaints.map((each) => `answers: ${each}`),
      ]),
    ];
    say(['', ...figures({ ...facts, templates, leftOut }, evidence), ''].join('\n'));
    return conclude(found);
  } finally {
    await receiver.close();
  }
}
