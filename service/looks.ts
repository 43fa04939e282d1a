/**
 * Lets workers read signer identities and balances for an API process, which opens no signers and
 * no venue credentials.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { IdentityFault, SignerFault } from '../domain/signer.ts';
import type { Database } from '../prisma/client.ts';
import {
  forgetLook,
  readLookAnswer,
  requestLook,
  type Look,
  type LookAnswer,
} from '../store/requested-looks.ts';

const POLL_MS = 100;
/**
 * Milliseconds. A worker sees the request within half a second, and gives a signer four seconds to
 * answer.
 */
const IDENTITY_LIMIT_MS = 5_000;
/**
 * Milliseconds. A worker gives a venue ten seconds to answer, and calls a venue at most once a
 * second.
 */
const BALANCES_LIMIT_MS = 13_000;

export interface Looks {
  /**
   * Returns the signer's live address, as a worker read it. Throws the same faults as the signer.
   */
  identity(signerKey: string): Promise<string | null>;
  /** Requests that a worker fetch and store the balances; rejects if no worker did. */
  balances(venueKey: string): Promise<void>;
}

export function createLooks(db: Database): Looks {
  return {
    identity: async (subject) => {
      const answer = await answerOf(db, { kind: 'signer_identity', subject }, IDENTITY_LIMIT_MS);
      if (answer === null)
        throw new SignerFault(
          'SIGNER_UNREACHABLE',
          `no worker looked at signer ${subject} in time`,
        );
      if (answer.ok) return answer.address;
      throw answer.fault === 'invalid'
        ? new IdentityFault(answer.message)
        : new SignerFault('SIGNER_UNREACHABLE', answer.message);
    },
    balances: async (subject) => {
      const answer = await answerOf(db, { kind: 'balances', subject }, BALANCES_LIMIT_MS);
      if (answer === null) throw new Error(`no worker fetched the balances of ${subject} in time`);
      if (!answer.ok) throw new Error(answer.message);
    },
  };
}

/** Returns a worker's answer; null if no worker answers in time. */
async function answerOf(db: Database, look: Look, limitMs: number): Promise<LookAnswer | null> {
  const until = performance.now() + limitMs;
  const id = await requestLook(db, look);
  try {
    for (;;) {
      const answer = await readLookAnswer(db, id);
      if (answer !== null || performance.now() >= until) return answer;
      await pause(POLL_MS);
    }
  } finally {
    // If this fails, a worker deletes the request later.
    await forgetLook(db, id).catch(() => undefined);
  }
}
