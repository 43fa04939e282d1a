/** Polls the health of every executor and signer of this process and records the answers. */
import type { Logger } from 'pino';
import { Gauge } from 'prom-client';
import type { Executor, ExecutorDescriptor, ExecutorHealth } from '../../domain/executor.ts';
import type { Signer, SignerDescriptor } from '../../domain/signer.ts';
import type { Temporal } from '../../platform/temporal.ts';
import { countTurns, type TurnCounter } from '../../platform/loop.ts';
import { within } from '../../platform/time-limit.ts';
import type { Database } from '../../prisma/client.ts';
import { readIdentity } from '../../signers/identity.ts';
import { clearOrphans, saveExecutorHealth, saveObservedIdentity } from '../../store/registry.ts';

/** Time limit for the answer of an executor or signer. */
const ANSWER_LIMIT_MS = 5_000;
/**
 * Milliseconds until the next refresh when a refresh was not fully recorded. A process that has
 * just started on a busy machine may not reach the database; until it does, its executors and
 * signers are missing from the lists.
 */
const REPEAT_MS = 1_000;

/** What this process alone finds; the database has what all of them find together. */
const unreachable = new Gauge({
  name: 'svc_executor_unreachable',
  help: 'Whether the last health check by this process found an executor down.',
  labelNames: ['executor_key'],
});

export interface HealthRefresherOptions {
  readonly db: Database;
  readonly executors: {
    list(): readonly ExecutorDescriptor[];
    get(key: string): Executor | undefined;
  };
  readonly signers: {
    list(): readonly SignerDescriptor[];
    get(key: string): Signer | null | undefined;
  };
  /** Reports whether workers poll the task queue of a team's own executor. */
  readonly temporal: Pick<Temporal, 'hasPollers'>;
  readonly intervalSeconds: number;
  /** Must identify this process only: its answers are compared with those of other processes. */
  readonly checkedBy: string;
  /**
   * Receives the signers' addresses at every refresh; must itself limit how often it calls chains.
   */
  readonly balances?: {
    refresh(
      signers: readonly { readonly signer_key: string; readonly address: string }[],
    ): Promise<void>;
  };
  readonly log: Logger;
}

export interface HealthRefresher {
  /** Refreshes immediately and then at every interval; a second call changes nothing. */
  start(): void;
  /** Stops after the running refresh. */
  stop(): Promise<void>;
  /** Refreshes everything once; returns whether all was recorded. Faults are only logged. */
  refreshOnce(): Promise<boolean>;
}

/**
 * Creates the refresher, the only writer of `observed_signer_address`. A record that fails is
 * repeated in the next refresh.
 */
export function createHealthRefresher(options: HealthRefresherOptions): HealthRefresher {
  let timer: NodeJS.Timeout | undefined;
  let current: Promise<void> = Promise.resolve();
  let running = false;
  let turns: TurnCounter | undefined;
  const down = new Set<string>();
  const refreshOnce = (): Promise<boolean> => refresh(options, down);
  const turn = (): void => {
    turns?.started();
    current = refreshOnce().then((recorded) => {
      if (recorded) turns?.succeeded();
      else turns?.failed();
      const pauseMs = options.intervalSeconds * 1_000;
      if (running) timer = setTimeout(turn, recorded ? pauseMs : Math.min(pauseMs, REPEAT_MS));
    });
  };
  return {
    start: () => {
      if (running) return;
      running = true;
      turns = countTurns('health');
      // After a stop the earlier refresh may still run; two refreshes must not run at the same
      // time.
      void current.then(() => {
        if (running) turn();
      });
    },
    stop: async () => {
      running = false;
      clearTimeout(timer);
      await current;
      turns?.ended();
    },
    refreshOnce,
  };
}

/** `down`: keys of the executors that the log has as down. */
async function refresh(options: HealthRefresherOptions, down: Set<string>): Promise<boolean> {
  const { db, executors, signers, checkedBy: by, intervalSeconds, log } = options;
  // Two turns: a process that cannot reach an executor must not call it down between two checks of
  // one that can, and what a process found that has died since must not stand for long.
  const turnSeconds = intervalSeconds + ANSWER_LIMIT_MS / 1_000;
  const standsSeconds = 2 * turnSeconds;
  const recorded = (what: Record<string, string>, work: Promise<void>): Promise<boolean> =>
    work.then(
      () => true,
      (error: unknown) => {
        log.warn({ ...what, err: error }, 'a health refresh was not recorded');
        return false;
      },
    );
  const descriptors = signers.list();
  const addresses: { readonly signer_key: string; readonly address: string }[] = [];
  const done = await Promise.all([
    ...executors.list().map((descriptor) =>
      recorded(
        { executor_key: descriptor.executor_key },
        healthOf(options, descriptor).then((health) => {
          const { executor_key } = descriptor;
          unreachable.set({ executor_key }, health.state === 'down' ? 1 : 0);
          logChange(log, down, { executor_key, ...health });
          return saveExecutorHealth(db, descriptor, { state: health.state, by, standsSeconds });
        }),
      ),
    ),
    ...descriptors.map((descriptor) =>
      recorded(
        { signer_key: descriptor.signer_key },
        addressOf(signers.get(descriptor.signer_key), log).then((address) => {
          if (address !== null) addresses.push({ signer_key: descriptor.signer_key, address });
          return saveObservedIdentity(db, descriptor, address);
        }),
      ),
    ),
    recorded(
      { step: 'orphans' },
      clearOrphans(
        db,
        descriptors.map((descriptor) => descriptor.signer_key),
        3 * turnSeconds,
      ),
    ),
  ]);
  if (options.balances !== undefined)
    await recorded({ step: 'balances' }, options.balances.refresh(addresses));
  return !done.includes(false);
}

/** An executor's health, with the error of a health check that failed. */
type Health = ExecutorHealth & { readonly err?: unknown };

async function healthOf(
  { executors, temporal }: HealthRefresherOptions,
  descriptor: ExecutorDescriptor,
): Promise<Health> {
  const { executor_key, task_queue } = descriptor;
  if (task_queue !== undefined) {
    const polled = await within(temporal.hasPollers(task_queue), ANSWER_LIMIT_MS).catch(() => null);
    if (polled === null) return { state: 'unknown' };
    return polled
      ? { state: 'up' }
      : { state: 'down', detail: `no worker polls the task queue ${task_queue}` };
  }
  const executor = executors.get(executor_key);
  if (executor === undefined) return { state: 'unknown' };
  const limit = new AbortController();
  try {
    return await within(executor.health({ signal: limit.signal }), ANSWER_LIMIT_MS);
  } catch (error) {
    return { state: 'down', err: error };
  } finally {
    limit.abort();
  }
}

/** Logs why an executor goes down, once until it is up again. */
function logChange(
  log: Logger,
  down: Set<string>,
  { executor_key, state, detail, err }: Health & { readonly executor_key: string },
): void {
  if (state === 'up') {
    if (down.delete(executor_key)) log.info({ executor_key, state }, 'an executor is up again');
  } else if (state === 'down' && !down.has(executor_key)) {
    down.add(executor_key);
    log.warn({ executor_key, state, detail, err }, 'an executor is down');
  }
}

/**
 * Returns the address that the signer reports now; null when it has none, does not answer, or
 * reports no valid address.
 */
async function addressOf(signer: Signer | null | undefined, log: Logger): Promise<string | null> {
  if (signer === null || signer === undefined) return null;
  const { signer_key, chain_family } = signer.descriptor;
  try {
    const address = await within(signer.identity(), ANSWER_LIMIT_MS);
    if (address === null || chain_family !== 'evm') return null;
    const reading = readIdentity(address);
    if (!reading.ok)
      log.warn({ signer_key, problem: reading.problem }, 'a signer returned an invalid identity');
    return reading.ok ? reading.address : null;
  } catch (error) {
    log.warn({ signer_key, err: error }, 'a signer did not return its identity');
    return null;
  }
}
