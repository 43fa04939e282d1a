/**
 * Hands committed commands to Temporal in the background, from a bounded queue in memory. A command
 * that is lost here is only late: the relay sends wakes until the command is applied.
 */
import type { Logger } from 'pino';
import type { Temporal, Wake } from './temporal.ts';

export interface HandOver {
  /** Returns immediately; the wake is sent when its turn comes. */
  send(wake: Wake): void;
  /**
   * Accepts no more wakes and sends the queued ones while Temporal accepts them, for some seconds
   * at most; a relay sends the rest when their leases end.
   */
  stop(): Promise<void>;
}

/** Leases that keep the relay from sending the same commands meanwhile; see store/commands.ts. */
export interface CommandLeases {
  /**
   * Keeps the leases of queued commands for `seconds` more. Returns the commands that are still
   * leased: the others were applied or taken by a relay.
   */
  keep(commandIds: readonly string[], seconds: number): Promise<readonly string[]>;
  /** Notes that Temporal has accepted these commands. */
  taken(commandIds: readonly string[]): Promise<void>;
}

interface Job {
  readonly wake: Wake;
  readonly call: () => Promise<void>;
  /**
   * When the command's lease ends, as far as this process knows; until then no relay sends the
   * command.
   */
  heldUntil: number;
}

/** Maximum queue length. The relay takes the commands beyond it. */
const QUEUE_LIMIT = 10_000;
/** Milliseconds assumed left of a new command's lease of two seconds (prisma/functions). */
const BORN_WITH_MS = 1_500;
const TICK_MS = 500;
/** A lease is renewed when less than this is left, in milliseconds. */
const RENEW_MS = 1_000;
/** Assumed jobs per second on a slow machine. */
const SLOWEST_PACE = 20;
const SHORTEST_SECONDS = 5;
/** Maximum lease in seconds: how long commands of a dead process may have to wait. */
const LONGEST_SECONDS = 30;
/**
 * Milliseconds without success after which leases are no longer renewed: the relay, in another
 * process, may succeed.
 */
const PATIENCE_MS = 10_000;
/** Maximum milliseconds for which a stop still sends queued commands. */
export const FLUSH_MS = 10_000;
/** Maximum number of ids in one statement. */
const MOST_IDS = 1_000;

export function createHandOver(options: {
  readonly temporal: Pick<Temporal, 'wake'>;
  readonly log: Logger;
  readonly concurrency?: number;
  /** Binds a call, which runs later, to the trace that is active when the call is requested. */
  readonly bind?: ((work: () => Promise<void>) => () => Promise<void>) | undefined;
  readonly leases?: CommandLeases;
}): HandOver {
  const { temporal, log, concurrency = 16, bind = (work) => work, leases } = options;
  let wakes: Job[] = [];
  let starts: Job[] = [];
  const active = new Set<Promise<void>>();
  const keeper = leases === undefined ? null : createKeeper(leases, log, () => [wakes, starts]);
  let closed = false;
  let stopped = false;
  let failed = false;

  const next = (): void => {
    while (!stopped && active.size < concurrency) {
      const job = wakes.shift() ?? starts.shift();
      if (job === undefined) return;
      const work = job.call().then(
        () => keeper?.took(job.wake.commandId),
        (error: unknown) => {
          failed = true;
          log.debug(
            { err: error, ...job.wake },
            'a wake was not delivered; the relay sends it again',
          );
        },
      );
      active.add(work);
      void work.finally(() => {
        active.delete(work);
        next();
      });
    }
  };
  const drop = (lost: ReadonlySet<Job>): void => {
    wakes = wakes.filter((job) => !lost.has(job));
    starts = starts.filter((job) => !lost.has(job));
  };
  keeper?.onLost(drop);
  return {
    send(wake) {
      const queue = wake.kind === 'create' ? starts : wakes;
      if (closed || queue.length >= QUEUE_LIMIT) return;
      const heldUntil = performance.now() + BORN_WITH_MS;
      queue.push({ wake, call: bind(() => temporal.wake(wake)), heldUntil });
      next();
      keeper?.follow();
    },
    async stop() {
      closed = true;
      failed = false;
      const end = performance.now() + FLUSH_MS;
      while (active.size > 0 && !failed && performance.now() < end) await Promise.race(active);
      stopped = true;
      await Promise.allSettled([...active]);
      await keeper?.stop();
    },
  };
}

/** Renews leases of queued commands, and notes which commands Temporal has accepted. */
function createKeeper(
  leases: CommandLeases,
  log: Logger,
  queues: () => readonly (readonly Job[])[],
) {
  const taken: string[] = [];
  let lose: (lost: ReadonlySet<Job>) => void = () => undefined;
  let lastGood = performance.now();
  let timer: NodeJS.Timeout | undefined;
  let turn: Promise<void> | undefined;
  let stopped = false;

  const note = async (): Promise<void> => {
    while (taken.length > 0) await leases.taken(taken.splice(0, MOST_IDS));
  };
  const renew = async (): Promise<void> => {
    const now = performance.now();
    if (now - lastGood > PATIENCE_MS) return;
    const queued = queues().flat();
    const seconds = Math.min(
      LONGEST_SECONDS,
      Math.max(SHORTEST_SECONDS, queued.length / SLOWEST_PACE),
    );
    const ending = queued.filter(
      ({ wake, heldUntil }) => wake.commandId !== null && heldUntil - now < RENEW_MS,
    );
    for (let at = 0; at < ending.length; at += MOST_IDS) {
      const some = ending.slice(at, at + MOST_IDS);
      const ids = some.flatMap(({ wake }) => wake.commandId ?? []);
      const startedAt = performance.now();
      const kept = new Set(await leases.keep(ids, seconds));
      const isKept = ({ wake }: Job): boolean => kept.has(wake.commandId ?? '');
      for (const job of some) if (isKept(job)) job.heldUntil = startedAt + seconds * 1_000;
      lose(new Set(some.filter((job) => !isKept(job))));
    }
  };
  const tick = async (): Promise<void> => {
    await Promise.all(
      [note(), renew()].map((work) =>
        // A lease that is not renewed ends, and then the relay sends the command.
        work.catch((error: unknown) => log.debug({ err: error }, 'leases were not renewed')),
      ),
    );
  };
  const follow = (): void => {
    if (stopped || timer !== undefined) return;
    // The queue was empty until now: failures before that do not count.
    if (turn === undefined) lastGood = Math.max(lastGood, performance.now());
    timer = setTimeout(() => {
      turn = tick().finally(() => {
        timer = undefined;
        const more = taken.length > 0 || queues().some((queue) => queue.length > 0);
        if (more) follow();
        else turn = undefined;
      });
    }, TICK_MS);
    // No caller waits for a lease, so the timer must not keep the process running.
    timer.unref();
  };
  return {
    follow,
    onLost: (then: (lost: ReadonlySet<Job>) => void) => void (lose = then),
    took(commandId: string | null): void {
      lastGood = performance.now();
      if (commandId === null) return;
      taken.push(commandId);
      follow();
    },
    async stop(): Promise<void> {
      stopped = true;
      clearTimeout(timer);
      await turn;
      await note().catch(() => undefined);
    },
  };
}
