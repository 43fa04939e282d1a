/**
 * Reads signers' addresses, venues' balances and claims at venues for API processes, which have no
 * access to them. Every answer is read after its request, as if the API process had read it itself.
 */
import type { Logger } from 'pino';
import { settleEach } from '../../platform/at-once.ts';
import type { BalanceDesk } from '../../platform/balance-desk.ts';
import { SKIPPED, startLoop, type Loop } from '../../platform/loop.ts';
import { within } from '../../platform/time-limit.ts';
import type { ClaimReader } from '../../domain/claim-reader.ts';
import { IdentityFault, type Signer } from '../../domain/signer.ts';
import type { Database } from '../../prisma/client.ts';
import {
  answerLooks,
  takeLooks,
  type Look,
  type LookAnswer,
  type TakenLook,
} from '../../store/requested-looks.ts';

const MOST = 50;
const AT_ONCE = 10;
/** Time limit for a signer's answer: shorter than the requesting process waits. */
const IDENTITY_LIMIT_MS = 4_000;
/** Time limit for reading a claim at its venue: shorter than the requesting process waits. */
const CLAIM_LIMIT_MS = 12_000;
/**
 * Seconds that a worker keeps a request, longer than a fetch of balances takes; then another worker
 * may take it.
 */
const TAKEN_SECONDS = 15;

export interface LookOptions {
  readonly db: Database;
  readonly log: Logger;
  readonly signers: {
    list(): readonly { readonly signer_key: string }[];
    get(key: string): Signer | undefined;
  };
  readonly desk: BalanceDesk;
  /** Those that need credentials are used. */
  readonly claims: readonly ClaimReader[];
  readonly pauseMs: number;
}

/** Starts the loop. Many processes may run it: only one worker at a time takes a request. */
export function startLooks(options: LookOptions): Loop {
  const { db, log, signers, desk, claims, pauseMs } = options;
  const known = {
    signers: signers.list().map(({ signer_key }) => signer_key),
    venues: desk.venues.map(({ venue_key }) => venue_key),
    claims: claims.flatMap(({ venues }) => venues ?? []),
  };
  const running = new Set<Promise<unknown>>();
  /** Faults of writing answers that have failed no turn yet. */
  const unwritten: unknown[] = [];
  /** Whether the newest answers could not all be written. */
  let isUnwritten = false;
  const loop = startLoop({
    name: 'requested looks',
    pauseMs,
    log,
    work: async () => {
      const taken = await takeLooks(db, { known, atMost: MOST, seconds: TAKEN_SECONDS });
      // Not awaited, so that a slow venue does not delay a signer's answer.
      const looking = settleEach([...bySubject(taken).values()], AT_ONCE, async (same) => {
        const [first] = same;
        if (first === undefined) return;
        const answer = await answerTo(options, first);
        if (!answer.ok) {
          const { look_id, kind, subject } = first;
          log.warn({ look_id, kind, subject, fault: answer.message }, 'a requested look failed');
        }
        await answerLooks(
          db,
          same.map(({ look_id }) => look_id),
          answer,
        ).catch((error: unknown) => {
          const { look_id, kind, subject } = first;
          log.warn({ err: error, look_id, kind, subject }, 'a requested look was not answered');
          throw error;
        });
      })
        .then((outcomes) => {
          if (outcomes.length === 0) return;
          const faults = outcomes.filter((outcome) => outcome.status === 'rejected');
          isUnwritten = faults.length > 0;
          unwritten.push(...faults.map(({ reason }): unknown => reason));
        })
        .finally(() => running.delete(looking));
      running.add(looking);
      // The looks of this turn go on. A look whose answer was not
      // written is made again once its claim has expired, while its caller waits.
      const [fault] = unwritten.splice(0);
      if (fault !== undefined) throw fault;
      // A turn that writes no answer does not show that answers can be written again.
      return isUnwritten ? SKIPPED : taken.length === MOST;
    },
  });
  return {
    poke: () => loop.poke(),
    stop: async () => {
      await loop.stop();
      await Promise.all(running);
    },
  };
}

/** Groups equal requests: one look answers all of them, since each was made before the look. */
function bySubject(taken: readonly TakenLook[]): ReadonlyMap<string, readonly TakenLook[]> {
  const found = new Map<string, TakenLook[]>();
  for (const look of taken) {
    const key = `${look.kind} ${look.subject} ${JSON.stringify(look.question ?? null)}`;
    const same = found.get(key);
    if (same === undefined) found.set(key, [look]);
    else same.push(look);
  }
  return found;
}

async function answerTo({ signers, desk, claims }: LookOptions, look: Look): Promise<LookAnswer> {
  const { kind, subject } = look;
  const unknown = { ok: false, fault: 'failed', message: `${subject} is not known here` } as const;
  try {
    if (kind === 'balances') {
      const refreshed = desk.refresh(subject, { since: performance.now() });
      if (refreshed === null) return unknown;
      await refreshed;
      return { ok: true, address: null };
    }
    if (look.kind === 'claim') {
      const { question } = look;
      const reader = claims.find(
        ({ action_types, venues }) =>
          action_types.includes(question.action_type) && venues?.includes(subject) === true,
      );
      if (reader === undefined) return unknown;
      const claim = await reader.read(question, AbortSignal.timeout(CLAIM_LIMIT_MS));
      return { ok: true, address: null, claim };
    }
    const signer = signers.get(subject);
    if (signer === undefined) return unknown;
    return { ok: true, address: await within(signer.identity(), IDENTITY_LIMIT_MS) };
  } catch (error) {
    const fault = error instanceof IdentityFault ? 'invalid' : 'failed';
    return { ok: false, fault, message: error instanceof Error ? error.message : String(error) };
  }
}
