/** A background job that repeats until it is stopped, whether or not single runs fail. */
import type { Logger } from 'pino';
import { Counter, Gauge } from 'prom-client';

/** The loops of the service, as its metrics name them. */
export const LOOPS = [
  'agent wallet tender',
  'attention teller',
  'audit sealer',
  'balances',
  'callback relay',
  'clocks',
  'command relay',
  'console feed',
  'counts',
  'draining builds',
  'health',
  'lane tender',
  'late looks',
  'leases',
  'nonces',
  'proposal expirer',
  'requested looks',
  'retention',
  'scout',
  'stuck runs',
  'sweeper',
  'sweeper of those that wait',
  'transfer relay',
  'watch of the access to Temporal',
] as const;
export type LoopName = (typeof LOOPS)[number];

/**
 * What `work` returns when it did not look for any: it rests, its turn has not come, or another
 * process has its lease. Such a turn takes no failure back: else a process that returns its lease
 * because its work fails would seem mended. One that looked and found nothing has succeeded.
 */
export const SKIPPED = 'skipped' as const;

interface Counted {
  readonly loop: LoopName;
  /** Time of the first failure since the last success, by `performance.now()`. */
  failingSince: number | null;
}

const counted = new Set<Counted>();
const failures = new Counter({
  name: 'svc_loop_failures_total',
  help: 'Turns of a background loop that failed.',
  labelNames: ['loop'],
});
// It registers itself, and its values are computed for each page of metrics.
new Gauge({
  name: 'svc_loop_failing_seconds',
  help: 'For how long turns of a background loop have failed and none succeeded; 0 after a success.',
  labelNames: ['loop'],
  collect() {
    this.reset();
    const longest = new Map<LoopName, number>();
    for (const { loop, failingSince } of counted) {
      const seconds = failingSince === null ? 0 : (performance.now() - failingSince) / 1_000;
      longest.set(loop, Math.max(seconds, longest.get(loop) ?? 0));
    }
    for (const [loop, seconds] of longest) this.set({ loop }, seconds);
  },
});

/** Counts the turns of one loop in the metrics. */
export interface TurnCounter {
  succeeded(): void;
  failed(): void;
  /** The loop has ended: the metrics no longer show for how long it fails. */
  ended(): void;
}

/** Starts to count for a loop. Of several loops with one name the metrics show the worst. */
export function countTurns(loop: LoopName): TurnCounter {
  const own: Counted = { loop, failingSince: null };
  counted.add(own);
  // Without a value of 0 before it, Prometheus would not see the first failure.
  failures.inc({ loop }, 0);
  return {
    succeeded: () => {
      own.failingSince = null;
    },
    failed: () => {
      failures.inc({ loop });
      own.failingSince ??= performance.now();
    },
    ended: () => {
      counted.delete(own);
    },
  };
}

export interface Loop {
  /**
   * Starts the next run now, or right after the current one. For callers who know that work is due.
   */
  poke(): void;
  stop(): Promise<void>;
}

/**
 * Calls `work` repeatedly, with `pauseMs` between the end of one run and the start of the next. A
 * poke ends the pause, and a run that returns true (more to do) is followed immediately. A failed
 * run is logged and counted, and the next run comes after the pause.
 */
export function startLoop(options: {
  readonly name: LoopName;
  /** What this loop is for, where several have its name; for the log. */
  readonly of?: string;
  readonly pauseMs: number;
  readonly log: Logger;
  readonly work: () => Promise<boolean | typeof SKIPPED | void>;
}): Loop {
  const { name, of } = options;
  const turns = countTurns(name);
  let stopped = false;
  let poked = false;
  let wake: () => void = () => undefined;
  const run = async (): Promise<void> => {
    while (!stopped) {
      let more = false;
      poked = false;
      try {
        const outcome = await options.work();
        if (outcome !== SKIPPED) turns.succeeded();
        more = outcome === true;
      } catch (error) {
        turns.failed();
        options.log.warn(
          { err: error, loop: of === undefined ? name : `${name} of ${of}` },
          'a background run failed and is repeated',
        );
        // A poke would start the same failing work again, so a failed run always waits for the
        // pause.
        poked = false;
      }
      if (more || stopped || poked) continue;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, options.pauseMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  };
  const done = run();
  return {
    poke() {
      poked = true;
      wake();
    },
    async stop() {
      stopped = true;
      wake();
      await done;
      turns.ended();
    },
  };
}
