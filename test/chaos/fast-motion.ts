/**
 * `npm run chaos -- --topology --fast-motion`: the same load round after round, and between two
 * rounds the service's clock moves hours ahead. Memory must stay flat, and tables bounded.
 *
 * Only the database's clock moves, by which the service decides. Processes, Temporal, venue and
 * chain go on in real time.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { SERVICE_PROCESSES } from '../../dev/topology/service.ts';
import { eventually } from '../support/eventually.ts';
import { auditFaults } from './audit.ts';
import { createCaller } from './caller.ts';
import { planTransfers, type CapitalLife } from './capital.ts';
import type { CallbackRow, Evidence } from './evidence.ts';
import { moveClock, readSample } from './fast-samples.ts';
import { fastMotionFaults, fastMotionFigures, type Sample } from './fast-sums.ts';
import { gather } from './gather.ts';
import { contradictions } from './invariants.ts';
import { newLife, type Life } from './life.ts';
import {
  liveInStorm,
  registerPolicy,
  TRANSFERS_A_MOVEMENT,
  VENUE_FAULTS,
  type Stage,
} from './load.ts';
import type { RunOptions } from './options.ts';
import { comesToRest, endAll, lastEvidence, retryFailed } from './quiet.ts';
import { dice } from './random.ts';
import { startReceiver } from './receiver.ts';
import { conclude, say } from './report.ts';
import type { Run } from './run-stack.ts';
import { planStrikes } from './schedule.ts';
import { writeScripts } from './scripts.ts';
import { registerTemplates, type MixedTemplate } from './templates.ts';
import { TOPOLOGY_WEIGHTS } from './topology.ts';

/** Rows are kept as short as settings allow; what is looked at now and then is looked at soon. */
export const FAST_SETTINGS = {
  SVC_COMMAND_RETENTION_DAYS: '1',
  SVC_CALLBACK_RETENTION_DAYS: '1',
  SVC_REGISTRY_HEALTH_INTERVAL_SECONDS: '2',
} as const;

const HOUR_MS = 3_600_000;
/** The longest that a policy may have: no movement leaves it during the run. */
const WINDOW_HOURS = 720;
/** Share of the time for the rounds; the rest is for the start, and for the end with its checks. */
const ROUNDS_SHARE = 0.7;
const REST_MS = 180_000;
/** Longer than the pause of the loops that remove rows, so that each has had a turn. */
const SHORTEST_ROUND_MS = 75_000;
/** After a jump, until the health of executors and signers is fresh by the new time. */
const FRESH_MS = 10_000;
/** The longest that balances take to be read anew; processes connect again first. */
const BALANCES_FRESH_MS = 120_000;

/** What is killed: not the service, whose memory is measured. */
const VICTIMS: Readonly<Record<string, number>> = Object.fromEntries(
  Object.entries(TOPOLOGY_WEIGHTS).filter(
    ([name]) => !SERVICE_PROCESSES.some((each) => each === name),
  ),
);

/** What a run in fast motion has come to know. */
interface Known {
  readonly lives: Life[];
  readonly capitalLives: CapitalLife[];
  readonly samples: Sample[];
  /** Every callback as it was last, also those whose rows were removed. */
  readonly callbacks: Map<string, CallbackRow>;
  readonly found: Set<string>;
}

/** The whole run on a topology that is up; returns the number of contradictions. */
export async function fastMotion(
  run: Run,
  options: RunOptions,
  signal: AbortSignal,
): Promise<number> {
  const caller = createCaller(run.apiUrl, run.stack.keys.admin, signal);
  const { mix } = await registerTemplates(caller, run.stack.chain);
  await registerPolicy(caller, mix, WINDOW_HOURS);
  const receiver = await startReceiver(dice(options.seed, 'receiver'));
  const stage: Stage = { run, caller, receiver, signal };
  const known: Known = {
    lives: [],
    capitalLives: [],
    samples: [],
    callbacks: new Map(),
    found: new Set(),
  };
  try {
    await playRounds(stage, options, { known, mix });
    const evidence = await lastOf(stage, known);
    const found = [
      ...known.found,
      ...contradictions(evidence),
      ...caller.complaints.map((each) => `answers: ${each}`),
      ...fastMotionFaults(known.samples, options.hours),
      ...(await auditFaults(run.stack, run.stack.databaseUrl)),
    ];
    say(['', ...fastMotionFigures(known.samples, options.hours), ''].join('\n'));
    return conclude(found);
  } finally {
    await receiver.close();
  }
}

async function playRounds(
  stage: Stage,
  options: RunOptions,
  { known, mix }: { readonly known: Known; readonly mix: readonly MixedTemplate[] },
): Promise<void> {
  const started = performance.now();
  const limitMs = options.minutes * 60_000 * ROUNDS_SHARE;
  let share = 0;
  for (let round = 0; share < 1; round += 1) {
    const roundEnds = performance.now() + SHORTEST_ROUND_MS;
    // What waited for a person has waited through the jump.
    await endAll(known.lives, stage.run, stage.caller, restOf(stage));
    await playRound(stage, options, { known, mix, round });
    await sleep(Math.max(0, roundEnds - performance.now()), undefined, { signal: stage.signal });
    await keepCallbacks(stage.run, known);
    const at = { hours: share * options.hours, movements: known.lives.length };
    known.samples.push(await readSample(stage.run, at));
    const { samples } = known;
    say(`  ${samples.length} rounds, ${at.movements} movements, ${at.hours.toFixed(1)} hours`);
    share = Math.min(1, (performance.now() - started) / limitMs);
    await moveClock(stage.run, share * options.hours * HOUR_MS);
    await sleep(FRESH_MS, undefined, { signal: stage.signal });
    await balancesAreFresh(stage.run);
  }
}

/** An approval by a balance from before the jump is refused: its snapshot is too old. */
async function balancesAreFresh({ query }: Run): Promise<void> {
  await eventually(
    async () => {
      const [row] = await query<{ old: number }>(
        `SELECT count(*)::int AS old FROM balance_snapshots
         WHERE fetched_at < svc_now() - interval '1 minute'`,
      );
      return row?.old === 0 ? true : null;
    },
    { what: () => 'balances to be read after the clock has moved', timeoutMs: BALANCES_FRESH_MS },
  );
}

async function playRound(
  stage: Stage,
  { seed, movements, kills }: RunOptions,
  of: { readonly known: Known; readonly mix: readonly MixedTemplate[]; readonly round: number },
): Promise<void> {
  const { run, caller, receiver } = stage;
  const { known, mix, round } = of;
  const drawn = (purpose: string) => dice(seed, `${purpose} ${round}`);
  const lives = writeScripts(drawn('scripts'), movements, mix, known.lives.length).map((script) =>
    newLife(script, seed),
  );
  const transfers = Math.ceil(movements * TRANSFERS_A_MOVEMENT);
  const first = known.capitalLives.length;
  const capitalLives = planTransfers(drawn('transfers'), transfers, seed, first);
  known.lives.push(...lives);
  known.capitalLives.push(...capitalLives);
  receiver.rage();
  await run.venueFaults({ ...VENUE_FAULTS, seed: seed + round });
  const strikes = planStrikes(drawn('strikes'), kills, VICTIMS);
  const plan = { lives, capitalLives, strikes, kills, seed: seed + round, onKill: () => undefined };
  const { watched } = await liveInStorm(stage, plan);
  for (const each of watched.found) known.found.add(`watched: ${each}`);
  await run.venueFaults(null);
  receiver.calm();
  let restless = await comesToRest(run, restOf(stage));
  if (restless === '' && (await retryFailed(lives, run, caller)) > 0)
    restless = await comesToRest(run, restOf(stage));
  if (restless !== '') known.found.add(`round ${round} did not come to rest: ${restless}`);
}

const restOf = ({ signal }: Stage) => ({ delivers: true, limitMs: REST_MS, signal });

/** Everything is brought to its end; the callbacks are all that there ever were. */
async function lastOf(stage: Stage, known: Known): Promise<Evidence> {
  const { run, caller, receiver } = stage;
  const { lives, capitalLives } = known;
  const restless = await endAll(lives, run, caller, restOf(stage));
  if (restless !== '') say(`  not at its end: ${restless}`);
  return lastEvidence(async () => {
    await keepCallbacks(run, known);
    const seen = { lives, capitalLives, received: receiver.received, delivers: true };
    const evidence = await gather(run, { ...seen, over: true });
    return { ...evidence, callbacks: [...known.callbacks.values()] };
  });
}

async function keepCallbacks({ query }: Run, { callbacks }: Known): Promise<void> {
  const rows = await query<CallbackRow>(
    'SELECT event_id::text, movement_id::text, event_type, sequence, status, last_error FROM callbacks',
  );
  for (const row of rows) callbacks.set(row.event_id, row);
}
