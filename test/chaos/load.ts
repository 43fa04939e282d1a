/** The mix of a run under its storm: movements, capital transfers, and what strikes meanwhile. */
import { EXECUTOR_PHASES } from '../../domain/executor.ts';
import { TRANSFER_PHASES } from '../../dev/simulators/paper-venue/faults.ts';
import { readHoldings, watchHoldings, type Watched } from '../support/holdings.ts';
import type { Caller } from './caller.ts';
import { transfer, type CapitalLife } from './capital.ts';
import { live, plansOf, POLICY_STRATEGY, type Life } from './life.ts';
import { dice } from './random.ts';
import type { Receiver } from './receiver.ts';
import { seconds } from './report.ts';
import type { Run } from './run-stack.ts';
import type { Strike } from './schedule.ts';
import { createStorm, liveThrough, type Storm } from './storm.ts';
import type { MixedTemplate } from './templates.ts';

/** What the venue does to its answers meanwhile. */
export const VENUE_FAULTS = {
  lose_answer_rate: 0.2,
  latency_ms: 50,
  processing_ms: 300,
  phases: [...EXECUTOR_PHASES, ...TRANSFER_PHASES],
};
/** Capital transfers beside the movements. */
export const TRANSFERS_A_MOVEMENT = 0.25;
/** Between two looks at what movements hold. */
const WATCH_MS = 1_000;

/** Who acts in a run, and on what. */
export interface Stage {
  readonly run: Run;
  readonly caller: Caller;
  readonly receiver: Receiver;
  readonly signal: AbortSignal;
}

export interface StormPlan {
  readonly lives: readonly Life[];
  readonly capitalLives: readonly CapitalLife[];
  readonly strikes: readonly Strike[];
  /** How many kills the lives are spread over. */
  readonly kills: number;
  readonly seed: number;
  readonly onKill: (total: number) => void;
}

export interface Lived {
  readonly storm: Storm;
  readonly stormSeconds: number;
  /** What movements held meanwhile. */
  readonly watched: Watched;
}

/** Leads all lives through the storm; every part is up afterwards, and the network is healed. */
export async function liveInStorm(stage: Stage, plan: StormPlan): Promise<Lived> {
  const { run, caller, receiver, signal } = stage;
  const { lives, capitalLives, strikes, kills, seed, onKill } = plan;
  const started = Date.now();
  const storm = createStorm({ stack: run.parts, strikes, signal, onKill });
  const around = { caller, signal, seed, callbackUrl: receiver.url };
  const pace = { storm, kills, signal };
  const over = new AbortController();
  const lived = Promise.all([
    storm
      .run()
      .finally(() => over.abort())
      .then(() => seconds(started)),
    liveThrough(lives, pace, (life) => live(life, around)),
    liveThrough(capitalLives, pace, (life) => transfer(life, around)),
    run.disturb?.(dice(seed, 'network'), over.signal),
  ]);
  const watching = watchHoldings(() => readHoldings(run.query, plansOf(lives)), lived, WATCH_MS);
  const [stormSeconds] = await lived;
  return { storm, stormSeconds, watched: await watching };
}

/** A policy that approves every plan of the mix, in a window that the run cannot fill. */
export async function registerPolicy(
  caller: Caller,
  mix: readonly MixedTemplate[],
  windowHours: number,
): Promise<void> {
  const { body: self } = await caller.call('GET', '/whoami');
  const answer = await caller.call('POST', '/auto-approve-policies', {
    body: {
      client_id: self['client_id'],
      strategy_id: POLICY_STRATEGY,
      allowed_templates: mix.map(({ key }) => ({ template_key: key })),
      allowed_assets: ['USDC'],
      window_hours: windowHours,
      max_amount_per_window: '1000000',
    },
  });
  if (answer.status !== 201 && answer.status !== 409)
    throw new Error(`the policy was refused: ${JSON.stringify(answer.body)}`);
}
