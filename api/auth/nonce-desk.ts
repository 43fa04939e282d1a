/** Takes request nonces for many requests in one statement. */
import { gather } from '../../platform/gather.ts';
import type { KeyNonce, TakenNonce } from '../../store/request-nonces.ts';

export interface NonceDesk {
  /** Returns the key's caller and whether the nonce was new; null when the key is not active. */
  take(nonces: KeyNonce): Promise<TakenNonce>;
}

/** Maximum number of statements at the same time, and of nonces in one statement. */
const STATEMENTS = 2;
const PAIRS = 256;

/** Returns a desk over `takeAll`, which takes distinct pairs and returns results in order. */
export function createNonceDesk(
  takeAll: (nonces: readonly KeyNonce[]) => Promise<readonly TakenNonce[]>,
): NonceDesk {
  const serve = async (nonces: readonly KeyNonce[]): Promise<readonly TakenNonce[]> => {
    // One statement cannot distinguish the same pair twice: the first request takes the nonce, the
    // others are replays.
    const firsts = new Map<string, KeyNonce>();
    for (const each of nonces) if (!firsts.has(idOf(each))) firsts.set(idOf(each), each);
    const answers = await takeAll([...firsts.values()]);
    const taken = new Map([...firsts.keys()].map((id, index) => [id, answers[index] ?? null]));
    return nonces.map((each) => {
      const answer = taken.get(idOf(each)) ?? null;
      return answer === null || firsts.get(idOf(each)) === each
        ? answer
        : { ...answer, fresh: false };
    });
  };
  return { take: gather({ calls: STATEMENTS, most: PAIRS, serve }) };
}

const idOf = ({ key_id, nonce }: KeyNonce): string => `${key_id} ${nonce}`;
