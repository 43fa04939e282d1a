/**
 * Limits how many callers work at the same time. Further callers wait in order of arrival, up to a
 * maximum number and time. When a caller is refused, its work has not started.
 */

/**
 * Why a caller was refused: too many callers wait (`full`), it waited too long (`late`), or it has
 * disconnected (`left`).
 */
export type TurnedAwayReason = 'full' | 'late' | 'left';

export class TurnedAway extends Error {
  override readonly name = 'TurnedAway';
  readonly reason: TurnedAwayReason;
  constructor(reason: TurnedAwayReason) {
    super(`the request was refused before it started: ${reason}`);
    this.reason = reason;
  }
}

/** A caller that may disconnect, as a response: `closed` is true once it has emitted `close`. */
export interface Leaver {
  readonly closed: boolean;
  once(event: 'close', then: () => void): unknown;
  off(event: 'close', then: () => void): unknown;
}

/** Gives the place to the next waiting caller; a second call does nothing. */
export type Leave = () => void;

export interface Turnstile {
  /**
   * Waits for a place; rejects with {@link TurnedAway}, also if the caller disconnects before it
   * has a place. Listens to the caller only while it waits.
   */
  enter(caller?: Leaver): Promise<Leave>;
  readonly inside: number;
  readonly waiting: number;
}

export interface TurnstileOptions {
  readonly places: number;
  /** Maximum number of waiting callers. */
  readonly waiting?: number;
  readonly waitMs: number;
}

interface Waiter {
  readonly letIn: () => void;
}

export function createTurnstile({
  places,
  waiting: room = Infinity,
  waitMs,
}: TurnstileOptions): Turnstile {
  /**
   * Waiting callers in order of arrival; a Set, since a caller that gives up leaves from the
   * middle.
   */
  const queue = new Set<Waiter>();
  let inside = 0;

  const place = (): Leave => {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      inside -= 1;
      next();
    };
  };

  const next = (): void => {
    for (const waiter of queue) {
      if (inside >= places) return;
      queue.delete(waiter);
      inside += 1;
      waiter.letIn();
    }
  };

  const wait = (caller: Leaver | undefined): Promise<Leave> =>
    new Promise((resolve, reject) => {
      const giveUp = (reason: TurnedAwayReason): void => {
        settle();
        queue.delete(waiter);
        reject(new TurnedAway(reason));
      };
      const leave = (): void => {
        giveUp('left');
      };
      const timer = setTimeout(giveUp, waitMs, 'late' satisfies TurnedAwayReason);
      const settle = (): void => {
        clearTimeout(timer);
        caller?.off('close', leave);
      };
      const waiter: Waiter = {
        letIn: () => {
          settle();
          resolve(place());
        },
      };
      caller?.once('close', leave);
      queue.add(waiter);
    });

  return {
    enter: (caller) => {
      if (caller?.closed === true) return Promise.reject(new TurnedAway('left'));
      if (inside < places) {
        inside += 1;
        return Promise.resolve(place());
      }
      if (queue.size >= room) return Promise.reject(new TurnedAway('full'));
      return wait(caller);
    },
    get inside() {
      return inside;
    },
    get waiting() {
      return queue.size;
    },
  };
}
