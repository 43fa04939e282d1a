/** A background job that repeats until it is stopped, whether or not single runs fail. */
import type { Logger } from 'pino';

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
 * run is logged, and the next run comes after the pause.
 */
export function startLoop(options: {
  readonly name: string;
  readonly pauseMs: number;
  readonly log: Logger;
  readonly work: () => Promise<boolean | void>;
}): Loop {
  let stopped = false;
  let poked = false;
  let wake: () => void = () => undefined;
  const run = async (): Promise<void> => {
    while (!stopped) {
      let more = false;
      poked = false;
      try {
        more = (await options.work()) === true;
      } catch (error) {
        options.log.warn(
          { err: error, loop: options.name },
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
    },
  };
}
