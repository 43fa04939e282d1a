/**
 * One read of an account's ledger for many who look at it at once. A read costs 20 of the 1,200
 * that the venue answers an address in a minute (docs/perps-venue-facts.md 7), and each node under
 * way looks for its row in the same ledger.
 */
import { ExecutorFault, type CallOptions } from '../../domain/executor.ts';
import { deadline } from '../../platform/deadline.ts';

/** A read that began no longer ago counts for others' looks; one's own are further apart. */
export const FRESH_MS = 4_000;
const HOUR_MS = 3_600_000;
const WAIT_MS = 10_000;

/** The code of the fault by which the venue says that it is asked too much. */
export const RATE_LIMITED = 'VENUE_RATE_LIMITED';

/** A line of an account's ledger. */
export interface LedgerRow {
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly hash: string;
  readonly delta: Readonly<Record<string, unknown>> & { readonly type: string };
}

/** What a read told; not `whole` where it ended at what was wanted. */
export interface LedgerRead {
  readonly rows: readonly LedgerRow[];
  readonly whole: boolean;
}

type Read = (
  user: string,
  since: number,
  call: CallOptions,
  isWanted: (row: LedgerRow) => boolean,
) => Promise<LedgerRead>;

interface Kept {
  /** When it was asked for, in milliseconds. */
  readonly begun: number;
  readonly since: number;
  readonly rows: readonly LedgerRow[];
}

/**
 * Rows since a time, of a read that began at most `freshMs` ago. Whose read fails fails alone, and
 * who waited for it asks anew; only that the venue is asked too much is told to them all.
 */
export function sharedLedger(read: Read, freshMs: number) {
  const kept = new Map<string, Kept>();
  /** Ends with what went wrong, if anything did. */
  const reading = new Map<string, Promise<unknown>>();
  return async (
    user: string,
    since: number,
    call: CallOptions,
    isWanted: (row: LedgerRow) => boolean,
  ): Promise<readonly LedgerRow[]> => {
    const key = user.toLowerCase();
    for (;;) {
      const known = kept.get(key);
      if (known !== undefined && known.since <= since && Date.now() - known.begun < freshMs)
        return known.rows.filter(({ time }) => time >= since);
      const other = reading.get(key);
      if (other === undefined) break;
      const problem = await waited(other, call);
      if (problem instanceof ExecutorFault && problem.code === RATE_LIMITED) throw problem;
    }
    // From the whole hour on: who looks for something of about the same time finds it there, too.
    const from = since - (since % HOUR_MS);
    const begun = Date.now();
    const own = read(key, from, call, isWanted);
    const settled = own.then(
      () => undefined,
      (error: unknown) => error,
    );
    reading.set(key, settled);
    try {
      const { rows, whole } = await own;
      if (whole) kept.set(key, { begun, since: from, rows });
      return rows.filter(({ time }) => time >= since);
    } finally {
      reading.delete(key);
    }
  };
}

async function waited(other: Promise<unknown>, call: CallOptions): Promise<unknown> {
  const limit = deadline(call.signal, WAIT_MS);
  try {
    return await Promise.race([other, limit.over]);
  } catch (error) {
    throw new ExecutorFault(
      'timeout',
      'VENUE_UNREACHABLE',
      'the perps venue: another look at the same ledger did not end in time',
      { cause: error },
    );
  } finally {
    limit.clear();
  }
}
