/** Refuses a send that arrives a second time while its caller may still wait for the first. */
import { ExecutorFault } from '../../../domain/executor.ts';

/**
 * Remembers the send until `until`, in milliseconds since 1970: later copies of it start nothing.
 *
 * @throws ExecutorFault `protocol` `SEND_REPEATED` for a known send. It is no refusal: the first
 *   one may be under way.
 */
export type SendGuard = (send: string, until: number) => void;

/** Returns a guard of this process; a restart forgets it. `now` as in `Date.now`. */
export function createSendGuard(now: () => number = Date.now): SendGuard {
  const known = new Map<string, number>();
  return (send, until) => {
    for (const [each, end] of known) if (end < now()) known.delete(each);
    if (known.has(send))
      throw new ExecutorFault(
        'protocol',
        'SEND_REPEATED',
        'this send has arrived before and may be under way: read what became of it',
      );
    known.set(send, until);
  };
}
