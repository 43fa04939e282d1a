/** A background job that runs again and again until it is stopped, whatever a single run does. */
import type { Logger } from 'pino';

export interface Loop {
  /** Something is known to be due: the next run begins now, or right after the one under way. */
  poke(): void;
  stop(): Promise<void>;
}

/**
 * Calls `work` with `pauseMs` between the end of one run and the start of the next, unless it is
 * poked before; a run that answers true had more to do and is followed at once. A failing run is
 * logged and the next comes after the pause.
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
        // What pokes finds the same due again: a fault is not followed at once.
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
