/**
 * Takes nonces for many requests in one statement: while one is under way the next requests gather, so
 * that under load the cost of a statement is shared, and alone a request waits for nobody.
 */
import type { AskedNonce, TakenNonce } from '../../store/nonces.ts';

export interface NonceDesk {
  /** Who the key is now and whether the nonce was new; null when the key is not active. */
  take(asked: AskedNonce): Promise<TakenNonce>;
}

interface Waiting {
  readonly asked: AskedNonce;
  readonly resolve: (taken: TakenNonce) => void;
  readonly reject: (error: unknown) => void;
}

/** Statements under way at once, and pairs in one. */
const STATEMENTS = 2;
const PAIRS = 256;

/** `takeAll` answers distinct pairs in their order. */
export function createNonceDesk(takeAll: (asked: readonly AskedNonce[]) => Promise<readonly TakenNonce[]>): NonceDesk {
  const queue: Waiting[] = [];
  let active = 0;

  const next = (): void => {
    if (active >= STATEMENTS || queue.length === 0) return;
    active += 1;
    void serve(queue.splice(0, PAIRS)).finally(() => {
      active -= 1;
      next();
    });
  };

  const serve = async (batch: readonly Waiting[]): Promise<void> => {
    // The same pair twice in one statement could not be told apart: the first has it, the others are replays.
    const firsts = new Map<string, Waiting>();
    for (const each of batch) {
      const id = `${each.asked.key_id} ${each.asked.nonce}`;
      if (!firsts.has(id)) firsts.set(id, each);
    }
    try {
      const order = [...firsts.keys()];
      const answers = await takeAll([...firsts.values()].map((each) => each.asked));
      const taken = new Map(order.map((id, index) => [id, answers[index] ?? null]));
      for (const each of batch) {
        const id = `${each.asked.key_id} ${each.asked.nonce}`;
        const answer = taken.get(id) ?? null;
        each.resolve(answer === null || firsts.get(id) === each ? answer : { ...answer, fresh: false });
      }
    } catch (error) {
      for (const each of batch) each.reject(error);
    }
  };

  return {
    take: (asked) =>
      new Promise((resolve, reject) => {
        queue.push({ asked, resolve, reject });
        next();
      }),
  };
}
