/**
 * Finds runs that cannot go on, because their workflow tasks or activities fail again and again, or
 * no worker takes them, and those that cannot be looked at; keeps the table from which
 * `attention_of` shows them. Signals no run: a signal to a stuck run only lengthens its history.
 */
import type { Logger } from 'pino';
import {
  verdictOfRun,
  type FailingCall,
  type LookTerms,
  type RunVerdict,
} from '../../domain/stuck-runs.ts';
import { settleEach, throwFirst } from '../../platform/at-once.ts';
import { startLoop, type Loop } from '../../platform/loop.ts';
import type { Temporal } from '../../platform/temporal.ts';
import type { Database } from '../../prisma/client.ts';
import {
  FIRST_ID,
  noteStuckRuns,
  readSuspects,
  removeStuckRuns,
  renewStuckRuns,
  type RunOwner,
  type StuckRow,
  type Suspects,
} from '../../store/stuck-runs.ts';
import { listOpen, listOpenTransfers, type WaitingPlace } from '../../store/sweeps.ts';
import type { Leases } from './leases.ts';

export const STUCK_LEASE = 'stuck-runs';
/** Most of each list that one turn reads; the next turn goes on behind them. */
const BATCH = 100;
/** Calls of Temporal that are under way at the same time. */
const AT_ONCE = 4;
/** How long a command is left to its run, in units of `sweepIdleSeconds`. */
const UNREAD = 4;
/** How long a task or a call may wait while no worker polls, in units of `sweepIdleSeconds`. */
const NO_WORKER = 8;
/**
 * Rows that no turn renews expire after an hour. With this pause and short turns, 10,000 stuck runs
 * are looked at in half of that time.
 */
const LONGEST_PAUSE_MS = 15_000;
/**
 * Milliseconds after the start of this process, after Temporal was away, and after as long without
 * looks, in which a queue without pollers proves nothing: the workers, this one among them, may
 * only start to poll.
 */
const STEADY_MS = 120_000;
/**
 * Milliseconds for which looks at a run fail in a row, while Temporal answers for others, before a
 * person hears of it: a part of Temporal that is away fails the run's tasks and signals, too.
 */
const NOT_SEEN_MS = 600_000;
/** Most runs of which something is remembered from one turn to the next. */
const MOST_REMEMBERED = 10_000;

/** What a run's looks leave for the next one. */
interface Remembered {
  /** Number of the turn whose look failed; 0: the last look did not. */
  readonly failedIn: number;
  /** Time of the first of the looks that failed in a row; null: the last look did not fail. */
  readonly failedSince: number | null;
  /** As `before` of {@link LookTerms}. */
  readonly failing: FailingCall | null;
}

export interface StuckRunOptions {
  readonly db: Database;
  readonly temporal: Pick<Temporal, 'lookAtRun'>;
  readonly log: Logger;
  /** The worker that holds the lease looks for all. */
  readonly leases: Pick<Leases, 'under'>;
  readonly sweepIdleSeconds: number;
  /** Milliseconds of a clock that never goes back; absent: `performance.now`. */
  readonly now?: () => number;
}

/**
 * Starts the loop. A turn looks at runs whose commands stay unread, at those that were stuck, and
 * at a page of all open ones, so that a stuck run without a command is found too.
 */
export function startStuckRuns(options: StuckRunOptions): Loop {
  const { log, leases, sweepIdleSeconds } = options;
  return startLoop({
    name: 'stuck runs',
    pauseMs: Math.min(LONGEST_PAUSE_MS, sweepIdleSeconds * 1_000),
    log,
    work: leases.under(STUCK_LEASE, createTurn(options)),
  });
}

/**
 * Returns the work of one turn after another; called when the process starts. A turn throws the
 * first fault of its looks when Temporal was away, that is when none of them got an answer, nor one
 * more at the run that answered last. A run that no process can look at is logged, stored after
 * {@link NOT_SEEN_MS}, and no reason to return the lease. If no other has answered yet, the turn
 * fails: the loop sees nothing then, and whether another process would is not known.
 */
export function createTurn(options: Omit<StuckRunOptions, 'leases'>): () => Promise<void> {
  const { db, log, now = () => performance.now() } = options;
  let from = START;
  let mustRepeat = false;
  let steadyAt = now() + STEADY_MS;
  let lastLooks = now();
  let turns = 0;
  /** Whose run was the last to be seen. */
  let seenLast: RunOwner | null = null;
  const memory = new Map<string, Remembered>();
  return async () => {
    turns += 1;
    // Without looks for so long, as before this process took the lease over, it has not seen
    // whether Temporal was away.
    if (now() - lastLooks > STEADY_MS) steadyAt = now() + STEADY_MS;
    const isSteady = now() >= steadyAt;
    const { at, known, owners, next } = await readPages(options, from);
    // Those whose looks always fail come last, and in turn, so that they hide no others.
    const failedIn = ({ id }: RunOwner): number => memory.get(id)?.failedIn ?? 0;
    const inOrder = [...owners].sort((left, right) => failedIn(left) - failedIn(right));
    let seen = 0;
    let leftOut = 0;
    let faultsInRow = 0;
    const outcomes = await settleEach(inOrder, AT_ONCE, async (owner) => {
      // Each call may take its whole time limit while Temporal does not answer.
      if (faultsInRow >= AT_ONCE) {
        leftOut += 1;
        return [];
      }
      const before = memory.get(owner.id)?.failing ?? null;
      try {
        const found = await look(options, owner, { isSteady, before });
        seen += 1;
        seenLast = owner;
        faultsInRow = 0;
        const failing = found.failing?.call === before?.call ? before : found.failing;
        if (failing === null) memory.delete(owner.id);
        else memory.set(owner.id, { failedIn: 0, failedSince: null, failing });
        return [found];
      } catch (error) {
        faultsInRow += 1;
        const failedSince = memory.get(owner.id)?.failedSince ?? now();
        memory.set(owner.id, { failedIn: turns, failedSince, failing: before });
        throw error;
      }
    });
    // No look removes the entry of a run that has ended since.
    for (const id of memory.keys()) if (memory.size > MOST_REMEMBERED) memory.delete(id);
    lastLooks = now();
    if (seen === 0 && faultsInRow > 0 && seenLast !== null) {
      // All runs of these pages may be in a part of Temporal that is away by itself.
      const [again] = await settleEach([seenLast], 1, (owner) =>
        look(options, owner, { isSteady, before: null }),
      );
      if (again?.status === 'fulfilled') seen += 1;
    }
    const isAway = seen === 0 && faultsInRow > 0;
    if (isAway) steadyAt = now() + STEADY_MS;
    // The next turn repeats these pages, but once: runs whose looks always fail hide no others.
    mustRepeat = (isAway || leftOut > 0) && !mustRepeat;
    if (!mustRepeat) from = next;
    const isNotSeen = ({ id }: RunOwner): boolean => {
      const last = memory.get(id);
      // What failed while all of Temporal was away says nothing of a single run.
      const since = Math.max(last?.failedSince ?? Infinity, steadyAt);
      return last?.failedIn === turns && now() - since >= NOT_SEEN_MS;
    };
    const answered = outcomes.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
    const looks = [...answered, ...inOrder.filter(isNotSeen).map(notSeen)];
    await store(db, { at, known }, looks);
    for (const { owner, verdict } of looks)
      if (typeof verdict === 'object' && !known.some(({ id }) => id === owner.id))
        log.warn({ ...owner, cause: verdict.cause }, 'a run cannot go on');
    if (isAway) throwFirst(outcomes);
    for (const [index, each] of outcomes.entries())
      if (each.status === 'rejected')
        log.warn({ ...inOrder[index], err: each.reason as unknown }, 'a run was not looked at');
  };
}

type Known = Pick<Suspects, 'at' | 'known'>;

/** Behind what each list goes on. */
interface Cursors {
  readonly unread: string;
  readonly known: string;
  readonly transfer: string;
  readonly open: WaitingPlace | null;
}

const START: Cursors = { unread: FIRST_ID, known: FIRST_ID, transfer: FIRST_ID, open: null };

/** Returns whose runs to look at, each once, and where the next turn goes on. */
async function readPages(
  { db, sweepIdleSeconds }: Pick<StuckRunOptions, 'db' | 'sweepIdleSeconds'>,
  from: Cursors,
): Promise<Known & { readonly owners: readonly RunOwner[]; readonly next: Cursors }> {
  const bounds = { seconds: sweepIdleSeconds * UNREAD, limit: BATCH };
  const { at, unread, known } = await readSuspects(db, from, bounds);
  const open = await listOpen(db, from.open, BATCH);
  const transfers = (await listOpenTransfers(db))
    .map(({ transfer_id }) => transfer_id)
    .filter((id) => id > from.transfer)
    .slice(0, BATCH);
  const working = open.movements.filter(({ waits_for_person }) => !waits_for_person);
  const owners: readonly RunOwner[] = [
    ...known.filter(({ ended }) => !ended).map(({ kind, id }) => ({ kind, id })),
    ...[...unread, ...working.map(({ movement_id }) => movement_id)].map(movement),
    ...transfers.map(transfer),
  ];
  const each = new Map(owners.map((owner) => [owner.id, owner]));
  const next = {
    unread: nextAfter(unread),
    known: nextAfter(known.map(({ id }) => id)),
    transfer: nextAfter(transfers),
    open: open.next,
  };
  return { at, known, owners: [...each.values()], next };
}

interface Look {
  readonly owner: RunOwner;
  readonly runId: string;
  readonly verdict: RunVerdict;
  readonly failing: FailingCall | null;
}

async function look(
  { temporal, sweepIdleSeconds }: Omit<StuckRunOptions, 'leases'>,
  owner: RunOwner,
  terms: Omit<LookTerms, 'noWorkerMs'>,
): Promise<Look> {
  const { kind, id } = owner;
  const of = kind === 'movement' ? { movementId: id } : { transferId: id };
  const open = await temporal.lookAtRun(of);
  // Without an open run none is stuck; the sweeper starts another.
  if (open === null) return { owner, runId: '', verdict: 'goes_on', failing: null };
  const noWorkerMs = sweepIdleSeconds * NO_WORKER * 1_000;
  const { runId, failing } = open;
  return { owner, runId, verdict: verdictOfRun(open, { ...terms, noWorkerMs }), failing };
}

/** What looks that always fail leave of a run. The log has the fault of each. */
function notSeen(owner: RunOwner): Look {
  return { owner, runId: '', verdict: { cause: 'not_seen', message: null }, failing: null };
}

async function store(db: Database, { at, known }: Known, looks: readonly Look[]): Promise<void> {
  const stuck = looks.flatMap(({ owner: { kind, id }, runId, verdict }): readonly StuckRow[] =>
    typeof verdict === 'object' ? [{ kind, id, run_id: runId, ...verdict }] : [],
  );
  await noteStuckRuns(db, at, stuck);
  const causes = new Map(known.map(({ id, cause }) => [id, cause]));
  const goOn = looks.filter(({ owner: { id }, verdict }) =>
    // Whatever the look found, the run is seen again.
    causes.get(id) === 'not_seen' ? typeof verdict === 'string' : verdict === 'goes_on',
  );
  const ids = goOn.map(({ owner }) => owner.id).filter((id) => causes.has(id));
  const ended = known.filter((each) => each.ended).map(({ id }) => id);
  await removeStuckRuns(db, at, [...ids, ...ended]);
  await renewStuckRuns(db, at);
}

function movement(id: string): RunOwner {
  return { kind: 'movement', id };
}

function transfer(id: string): RunOwner {
  return { kind: 'capital_transfer', id };
}

/** Returns the id behind which the next page starts: the first one again after a short page. */
function nextAfter(ids: readonly string[]): string {
  return ids.length < BATCH ? FIRST_ID : (ids.at(-1) ?? FIRST_ID);
}
