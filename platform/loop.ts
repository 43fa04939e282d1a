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
 * because its work fails would seem mended. One that looked and found nothing has succeeded, unless
 * what failed before is due only later.
 */
export const SKIPPED = 'skipped' as const;

interface Counted {
  readonly loop: LoopName;
  readonly now: () => number;
  /** When the turn that now runs started; null between turns. */
  started: number | null;
  /** Times of the first and the last failure since the last success. */
  failing: { readonly since: number; readonly last: number } | null;
}

/** Milliseconds after which a further failure has nothing to do with the one before it. */
export const APART_MS = 15 * 60_000;

const counted = new Set<Counted>();
const failures = new Counter({
  name: 'svc_loop_failures_total',
  help: 'Turns of a background loop that failed.',
  labelNames: ['loop'],
});
// The gauges register themselves, and their values are computed at each scrape.
new Gauge({
  name: 'svc_loop_failing_seconds',
  help: 'Time from the first to the last failed turn of a background loop; 0 after a success.',
  labelNames: ['loop'],
  collect() {
    showLongest(this, ({ failing }) => (failing === null ? 0 : failing.last - failing.since));
  },
});
// A turn that waits for an answer that never comes neither fails nor succeeds.
new Gauge({
  name: 'svc_loop_turn_seconds',
  help: 'Time for which the turn of a background loop that now runs has lasted; 0 between turns.',
  labelNames: ['loop'],
  collect() {
    showLongest(this, ({ started, now }) => (started === null ? 0 : now() - started));
  },
});

/** Sets the gauge for each name to the longest time of the loops with that name. */
function showLongest(gauge: Gauge<'loop'>, millisecondsOf: (each: Counted) => number): void {
  gauge.reset();
  const longest = new Map<LoopName, number>();
  for (const each of counted)
    longest.set(each.loop, Math.max(millisecondsOf(each), longest.get(each.loop) ?? 0));
  for (const [loop, milliseconds] of longest) gauge.set({ loop }, milliseconds / 1_000);
}

/** Returns the names of the loops of this process whose turn now runs. */
export function loopsAtWork(): readonly LoopName[] {
  const names = [...counted].filter(({ started }) => started !== null).map(({ loop }) => loop);
  return [...new Set(names)].sort();
}

/** Counts the turns of one loop in the metrics. */
export interface TurnCounter {
  /** A turn starts. It lasts until it has succeeded, failed or been skipped. */
  started(): void;
  succeeded(): void;
  failed(): void;
  skipped(): void;
  /** The loop has ended: the gauges no longer show it. */
  ended(): void;
}

/**
 * Starts to count for a loop. Of several loops with one name the metrics show the worst. Failures
 * far apart do not add up: the loop may have skipped its turns in between. `pauseMs` is the pause
 * after a failed turn.
 */
export function countTurns(
  loop: LoopName,
  {
    pauseMs = 0,
    now = () => performance.now(),
  }: { readonly pauseMs?: number; readonly now?: () => number } = {},
): TurnCounter {
  const own: Counted = { loop, now, started: null, failing: null };
  const apartMs = Math.max(APART_MS, 2 * pauseMs);
  counted.add(own);
  // Without a value of 0 before it, Prometheus would not see the first failure.
  failures.inc({ loop }, 0);
  return {
    started: () => {
      own.started = now();
    },
    succeeded: () => {
      own.started = null;
      own.failing = null;
    },
    skipped: () => {
      own.started = null;
    },
    failed: () => {
      own.started = null;
      failures.inc({ loop });
      const last = now();
      const before = own.failing;
      const isFirst = before === null || last - before.last > apartMs;
      own.failing = { since: isFirst ? last : before.since, last };
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
  /** Whether `work` logs its own faults, so that a failed run is only counted. */
  readonly logsFaults?: boolean;
  readonly work: () => Promise<boolean | typeof SKIPPED | void>;
}): Loop {
  const { name, of, pauseMs, logsFaults = false } = options;
  const turns = countTurns(name, { pauseMs });
  let stopped = false;
  let poked = false;
  let wake: () => void = () => undefined;
  const run = async (): Promise<void> => {
    while (!stopped) {
      let more = false;
      poked = false;
      turns.started();
      try {
        const outcome = await options.work();
        if (outcome === SKIPPED) turns.skipped();
        else turns.succeeded();
        more = outcome === true;
      } catch (error) {
        turns.failed();
        if (!logsFaults)
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
        const timer = setTimeout(resolve, pauseMs);
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
