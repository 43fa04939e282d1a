/**
 * Shares one read of an account's ledger among callers. A read has weight 20, and the venue allows
 * an IP address a weight of 1,200 in a minute (docs/perps-venue-facts.md 7). Every active node
 * reads the same ledger.
 */
import { ExecutorFault, type CallOptions } from '../../domain/executor.ts';
import { deadline } from '../../platform/deadline.ts';

/**
 * Maximum age of another caller's read, in milliseconds. Each caller reads less often than this.
 */
export const FRESH_MS = 4_000;
const HOUR_MS = 3_600_000;
const WAIT_MS = 10_000;

/** Fault code when the venue rate-limits us. */
export const RATE_LIMITED = 'VENUE_RATE_LIMITED';

/** A row of an account's ledger. */
export interface LedgerRow {
  /** Time of the row, in milliseconds since 1970. */
  readonly time: number;
  readonly hash: string;
  readonly delta: Readonly<Record<string, unknown>> & { readonly type: string };
}

/** The rows of a read; `whole` is false if the read stopped at the wanted row. */
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

interface SharedRead {
  /** Start of the read, in milliseconds since 1970; so is `since`. */
  readonly started: number;
  readonly since: number;
  readonly rows: readonly LedgerRow[];
}

/**
 * Returns a function that returns the rows since a time, from a read that started at most `freshMs`
 * ago. A failed read fails only its own caller, and waiting callers read again; only a rate limit
 * fails all of them.
 */
export function sharedLedger(read: Read, freshMs: number) {
  const kept = new Map<string, SharedRead>();
  /** Reads under way, by account; each resolves to the error of the read, or undefined. */
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
      if (known !== undefined && known.since <= since && Date.now() - known.started < freshMs)
        return known.rows.filter(({ time }) => time >= since);
      const other = reading.get(key);
      if (other === undefined) break;
      const problem = await waited(other, call);
      if (problem instanceof ExecutorFault && problem.code === RATE_LIMITED) throw problem;
    }
    // Reads from the full hour, so that callers with slightly different times share the read.
    const from = since - (since % HOUR_MS);
    const started = Date.now();
    const own = read(key, from, call, isWanted);
    const settled = own.then(
      () => undefined,
      (error: unknown) => error,
    );
    reading.set(key, settled);
    try {
      const { rows, whole } = await own;
      if (whole) kept.set(key, { started, since: from, rows });
      return rows.filter(({ time }) => time >= since);
    } finally {
      reading.delete(key);
    }
  };
}

async function waited(other: Promise<unknown>, call: CallOptions): Promise<unknown> {
  const limit = deadline(call, WAIT_MS);
  try {
    return await Promise.race([other, limit.over]);
  } catch (error) {
    throw new ExecutorFault(
      'timeout',
      'VENUE_UNREACHABLE',
      'the perps venue: another read of the same ledger did not end in time',
      { cause: error },
    );
  } finally {
    limit.clear();
  }
}
