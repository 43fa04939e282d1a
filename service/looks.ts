/** How an API process that opens no signers and no venue credentials has workers look for it. */
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
/** A worker sees a request within half a second, and gives a signer four. */
const IDENTITY_LIMIT_MS = 5_000;
/** It gives a venue ten, and asks it once a second at most. */
const BALANCES_LIMIT_MS = 13_000;

export interface Looks {
  /** The signer's live address as a worker found it; throws as the signer itself would. */
  identity(signerKey: string): Promise<string | null>;
  /** Has a worker fetch and store them; rejects where none did. */
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

/** Null where no worker answers in time. */
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
    // A worker drops what is left behind.
    await forgetLook(db, id).catch(() => undefined);
  }
}
