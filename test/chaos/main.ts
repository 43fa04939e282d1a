/**
 * `npm run chaos`: movements run while API, worker, Temporal and Postgres are killed again and
 * again and the venue loses a fifth of its answers. Ends with exit status 0 only if nothing
 * contradicts anything afterwards.
 */
import { setMaxListeners } from 'node:events';
import { takeSignals } from '../../dev/stack/foreground.ts';
import type { Stack } from '../../dev/stack/stack.ts';
import { TRANSFER_PHASES } from '../../dev/simulators/paper-venue/faults.ts';
import { EXECUTOR_PHASES } from '../../domain/executor.ts';
import { bridgeWeather } from './bridge-run.ts';
import { createCaller, type Caller } from './caller.ts';
import { planTransfers, transfer } from './capital.ts';
import { runAtDesk } from './desk-run.ts';
import { failOver } from './failover.ts';
import { figures } from './figures.ts';
import { gather } from './gather.ts';
import { contradictions } from './invariants.ts';
import { live, newLife, plansOf, POLICY_STRATEGY } from './life.ts';
import { readOptions, type RunOptions } from './options.ts';
import { perpWeather } from './perp-run.ts';
import { comesToRest, endAll, lastEvidence, retryFailed } from './quiet.ts';
import { dice } from './random.ts';
import { readHoldings, watchHoldings } from '../support/holdings.ts';
import { startReceiver } from './receiver.ts';
import { conclude, say, seconds } from './report.ts';
import { startRunStack, type Run } from './run-stack.ts';
import { planStrikes } from './schedule.ts';
import { writeScripts } from './scripts.ts';
import { rollingRestart } from './rolling.ts';
import { createStorm, liveThrough } from './storm.ts';
import { registerTemplates, type MixedTemplate } from './templates.ts';

const VENUE_FAULTS = {
  lose_answer_rate: 0.2,
  latency_ms: 50,
  processing_ms: 300,
  phases: [...EXECUTOR_PHASES, ...TRANSFER_PHASES],
};
/** Capital transfers beside the movements. */
const TRANSFERS_A_MOVEMENT = 0.25;
/** Between two looks at what movements hold. */
const WATCH_MS = 1_000;
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
    run = await startRunStack(signal, say, lane);
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

function laneOf({ bridges, perps }: RunOptions) {
  if (bridges) return { lane: 'bridges', where: ' across bridges', what: bridgeWeather } as const;
  if (perps) return { lane: 'perps', where: ' at the perps venue', what: perpWeather } as const;
  return { lane: 'mix', where: '', what: weather } as const;
}

/** The whole run on a stack that is up; answers the number of contradictions. */
async function weather(stack: Run, options: RunOptions, signal: AbortSignal): Promise<number> {
  const started = Date.now();
  const { seed } = options;
  const caller = createCaller(stack.apiUrl, stack.stack.keys.admin, signal);
  const { mix, leftOut } = await registerTemplates(caller, stack.stack.chain);
  await registerPolicy(caller, mix);
  const receiver = await startReceiver(dice(seed, 'receiver'));
  try {
    await stack.venueFaults({ ...VENUE_FAULTS, seed });
    const lives = writeScripts(dice(seed, 'scripts'), options.movements, mix).map((script) =>
      newLife(script, seed),
    );
    const storm = createStorm({
      stack: stack.parts,
      strikes: planStrikes(dice(seed, 'strikes'), options.kills),
      signal,
      onKill: (total) => {
        if (total % 10 !== 0) return;
        say(
          `  ${total} kills, ${lives.filter((life) => life.movement_id !== null).length} movements after ${seconds(started)} s`,
        );
      },
    });
    const capitalLives = planTransfers(
      dice(seed, 'transfers'),
      Math.ceil(options.movements * TRANSFERS_A_MOVEMENT),
      seed,
    );
    const around = { caller, signal, seed, callbackUrl: receiver.url };
    const pace = { storm, kills: options.kills, signal };
    const lived = Promise.all([
      storm.run().then(() => seconds(started)),
      liveThrough(lives, pace, (life) => live(life, around)),
      liveThrough(capitalLives, pace, (life) => transfer(life, around)),
    ]);
    const watching = watchHoldings(
      () => readHoldings(stack.query, plansOf(lives)),
      lived,
      WATCH_MS,
    );
    const [stormSeconds] = await lived;
    const watched = await watching;
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

/** A policy that approves every plan of the mix, in a window that the run cannot fill. */
async function registerPolicy(caller: Caller, mix: readonly MixedTemplate[]): Promise<void> {
  const { body: self } = await caller.call('GET', '/whoami');
  const answer = await caller.call('POST', '/auto-approve-policies', {
    body: {
      client_id: self['client_id'],
      strategy_id: POLICY_STRATEGY,
      allowed_templates: mix.map(({ key }) => ({ template_key: key })),
      allowed_assets: ['USDC'],
      window_hours: 24,
      max_amount_per_window: '1000000',
    },
  });
  if (answer.status !== 201 && answer.status !== 409)
    throw new Error(`the policy was refused: ${JSON.stringify(answer.body)}`);
}
