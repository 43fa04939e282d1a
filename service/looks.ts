/**
 * Lets workers read signer identities, balances and claims for an API process, which opens no
 * signers and no venue credentials.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { ClaimReader, NamedClaim, ReadClaim } from '../domain/claim-reader.ts';
import { ExecutorFault } from '../domain/executor.ts';
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

/**
 * Milliseconds. A worker sees the request within half a second, and gives a venue twelve seconds to
 * show its record.
 */
const CLAIM_LIMIT_MS = 15_000;

export interface Looks {
  /**
   * Returns the signer's live address, as a worker read it. Throws the same faults as the signer.
   */
  identity(signerKey: string): Promise<string | null>;
  /** Requests that a worker fetch and store the balances; rejects if no worker did. */
  balances(venueKey: string): Promise<void>;
  /**
   * Returns what the venue shows of the claim, as a worker read it.
   *
   * @throws ExecutorFault `unreachable` if no worker could read it in time.
   */
  claim(venueKey: string, named: NamedClaim): Promise<ReadClaim>;
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
    claim: async (subject, question) => {
      const answer = await answerOf(db, { kind: 'claim', subject, question }, CLAIM_LIMIT_MS);
      if (answer?.ok === true && answer.claim !== undefined) return answer.claim;
      throw new ExecutorFault(
        'unreachable',
        'VENUE_UNREACHABLE',
        answer?.ok === false ? answer.message : `no worker read records of ${subject} in time`,
      );
    },
  };
}

/**
 * Returns the readers for an API process: where credentials are needed, a worker is requested to
 * read. Venues that the venues file does not name are read nowhere.
 */
export function claimReaders(
  readers: readonly ClaimReader[],
  looks: Pick<Looks, 'claim'>,
): readonly ClaimReader[] {
  return readers.map((reader) => {
    const { venues } = reader;
    if (venues === null) return reader;
    return {
      ...reader,
      read: async (named) => {
        const venue = named.config['venue'];
        if (typeof venue === 'string' && venues.includes(venue)) return looks.claim(venue, named);
        throw new ExecutorFault('rejected', 'VENUE_NOT_BOUND', 'its account is not bound here');
      },
    };
  });
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
