/**
 * Finds runs that cannot go on, because their workflow tasks fail again and again, or no worker
 * takes them or their calls, and keeps the table from which `attention_of` shows them. Signals no
 * run: a signal to a stuck run only lengthens its history.
 */
import type { Logger } from 'pino';
import { verdictOfRun, type RunVerdict } from '../../domain/stuck-runs.ts';
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
  const turn = createTurn(options);
  return startLoop({
    name: 'stuck runs',
    pauseMs: Math.min(LONGEST_PAUSE_MS, sweepIdleSeconds * 1_000),
    log,
    work: leases.under(STUCK_LEASE, turn),
  });
}

/**
 * Returns the work of one turn after another; called when the process starts. Throws the first
 * fault once all was looked at.
 */
export function createTurn(options: Omit<StuckRunOptions, 'leases'>): () => Promise<void> {
  const { db, log, now = () => performance.now() } = options;
  let from = START;
  let mustRepeat = false;
  let steadyAt = now() + STEADY_MS;
  let lastLooks = now();
  return async () => {
    // Without looks for so long, as before this process took the lease over, it has not seen
    // whether Temporal was away.
    if (now() - lastLooks > STEADY_MS) steadyAt = now() + STEADY_MS;
    const isSteady = now() >= steadyAt;
    const { at, known, owners, next } = await readPages(options, from);
    let faults = 0;
    const outcomes = await settleEach(owners, AT_ONCE, async (owner) => {
      // Each call may take its whole time limit while Temporal does not answer.
      if (faults >= AT_ONCE) return [];
      try {
        return [await look(options, owner)];
      } catch (error) {
        faults += 1;
        throw error;
      }
    });
    lastLooks = now();
    const isAway = faults > 0 && faults >= Math.min(AT_ONCE, owners.length);
    if (isAway) steadyAt = now() + STEADY_MS;
    // The next turn repeats these pages, but once: runs whose looks always fail hide no others.
    mustRepeat = isAway && !mustRepeat;
    if (!mustRepeat) from = next;
    const looks = outcomes
      .flatMap((each) => (each.status === 'fulfilled' ? each.value : []))
      .map((each) => (isSteady && !isAway ? each : withoutPollers(each)));
    await store(db, { at, known }, looks);
    for (const { owner, verdict } of looks)
      if (typeof verdict === 'object' && !known.some(({ id }) => id === owner.id))
        log.warn({ ...owner, cause: verdict.cause }, 'a run cannot go on');
    throwFirst(outcomes);
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
}

async function look(
  { temporal, sweepIdleSeconds }: Omit<StuckRunOptions, 'leases'>,
  owner: RunOwner,
): Promise<Look> {
  const { kind, id } = owner;
  const of = kind === 'movement' ? { movementId: id } : { transferId: id };
  const open = await temporal.lookAtRun(of);
  // Without an open run none is stuck; the sweeper starts another.
  if (open === null) return { owner, runId: '', verdict: 'goes_on' };
  const noWorkerMs = sweepIdleSeconds * NO_WORKER * 1_000;
  return { owner, runId: open.runId, verdict: verdictOfRun(open, noWorkerMs) };
}

/** Returns the look with what it proves where pollers that are missing prove nothing. */
function withoutPollers(each: Look): Look {
  const { verdict } = each;
  const isUnproven = typeof verdict === 'object' && verdict.cause === 'no_worker';
  return isUnproven ? { ...each, verdict: 'unclear' } : each;
}

async function store(db: Database, { at, known }: Known, looks: readonly Look[]): Promise<void> {
  const stuck = looks.flatMap(({ owner: { kind, id }, runId, verdict }): readonly StuckRow[] =>
    typeof verdict === 'object' ? [{ kind, id, run_id: runId, ...verdict }] : [],
  );
  await noteStuckRuns(db, at, stuck);
  const goOn = looks.filter(({ verdict }) => verdict === 'goes_on').map(({ owner }) => owner.id);
  const ended = known.filter((each) => each.ended).map(({ id }) => id);
  const knownIds = new Set(known.map(({ id }) => id));
  await removeStuckRuns(db, at, [...goOn.filter((id) => knownIds.has(id)), ...ended]);
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
