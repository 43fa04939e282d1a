/**
 * Hands committed commands to Temporal in the background: bounded, wakes before starts, and
 * forgetful. What is lost here is only speed, for the relay wakes until a command is applied.
 */
import type { Logger } from 'pino';
import type { Temporal, Wake } from './temporal.ts';

export interface HandOver {
  /** Returns at once; the wake is sent when its turn comes. */
  send(wake: Wake): void;
  /** Waits for what is under way and drops what is still queued. */
  stop(): Promise<void>;
}

interface Job {
  readonly wake: Wake;
  readonly call: () => Promise<void>;
}

/** More than this many waiting is a burst that the relay serves as well. */
const QUEUE_LIMIT = 10_000;

export function createHandOver(options: {
  readonly temporal: Pick<Temporal, 'wake'>;
  readonly log: Logger;
  readonly concurrency?: number;
  /** Ties the call, which is made when its turn comes, to what is going on when it is asked for. */
  readonly bind?: ((work: () => Promise<void>) => () => Promise<void>) | undefined;
}): HandOver {
  const { temporal, log, concurrency = 16, bind = (work) => work } = options;
  const wakes: Job[] = [];
  const starts: Job[] = [];
  const active = new Set<Promise<void>>();
  let stopped = false;

  const next = (): void => {
    while (!stopped && active.size < concurrency) {
      const job = wakes.shift() ?? starts.shift();
      if (job === undefined) return;
      const work = job.call().catch((error: unknown) => {
        log.debug(
          { err: error, ...job.wake },
          'a wake was not delivered; the relay sends it again',
        );
      });
      active.add(work);
      void work.finally(() => {
        active.delete(work);
        next();
      });
    }
  };
  return {
    send(wake) {
      const queue = wake.kind === 'create' ? starts : wakes;
      if (stopped || queue.length >= QUEUE_LIMIT) return;
      queue.push({ wake, call: bind(() => temporal.wake(wake)) });
      next();
    },
    async stop() {
      stopped = true;
      await Promise.allSettled([...active]);
    },
  };
}
