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

/** States in which a movement waits for a person, so that its run has nothing to do. */
const WAITING: readonly string[] = ['PENDING_APPROVAL', 'WAITING_MANUAL_ACTION'];

export interface StuckRunOptions {
  readonly db: Database;
  readonly temporal: Pick<Temporal, 'lookAtRun'>;
  readonly log: Logger;
  /** The worker that holds the lease looks for all. */
  readonly leases: Pick<Leases, 'under'>;
  readonly sweepIdleSeconds: number;
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
    pauseMs: Math.max(1_000, sweepIdleSeconds * 1_000),
    log,
    work: leases.under(STUCK_LEASE, turn),
  });
}

/** Returns the work of one turn after another. Throws the first fault once all was looked at. */
export function createTurn(options: Omit<StuckRunOptions, 'leases'>): () => Promise<void> {
  const { db, log } = options;
  const next = createSuspects(options);
  return async () => {
    const { at, known, owners } = await next();
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
    const looks = outcomes.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
    await store(db, { at, known }, looks);
    for (const { owner, verdict } of looks)
      if (typeof verdict === 'object' && !known.some(({ id }) => id === owner.id))
        log.warn({ ...owner, cause: verdict.cause }, 'a run cannot go on');
    throwFirst(outcomes);
  };
}

type Known = Pick<Suspects, 'at' | 'known'>;

/** Returns a function that returns whose runs to look at next, each once. */
function createSuspects({
  db,
  sweepIdleSeconds,
}: Pick<StuckRunOptions, 'db' | 'sweepIdleSeconds'>): () => Promise<
  Known & { readonly owners: readonly RunOwner[] }
> {
  const after = { unread: FIRST_ID, known: FIRST_ID, transfer: FIRST_ID };
  let place: WaitingPlace | null = null;
  return async () => {
    const bounds = { seconds: sweepIdleSeconds * UNREAD, limit: BATCH };
    const { at, unread, known } = await readSuspects(db, after, bounds);
    const open = await listOpen(db, place, BATCH);
    const transfers = (await listOpenTransfers(db))
      .map(({ transfer_id }) => transfer_id)
      .filter((id) => id > after.transfer)
      .slice(0, BATCH);
    place = open.next;
    after.unread = nextAfter(unread);
    after.known = nextAfter(known.map(({ id }) => id));
    after.transfer = nextAfter(transfers);
    const working = open.movements.filter(({ state }) => !WAITING.includes(state));
    const owners: readonly RunOwner[] = [
      ...known.filter(({ ended }) => !ended).map(({ kind, id }) => ({ kind, id })),
      ...[...unread, ...working.map(({ movement_id }) => movement_id)].map(movement),
      ...transfers.map(transfer),
    ];
    const each = new Map(owners.map((owner) => [owner.id, owner]));
    return { at, known, owners: [...each.values()] };
  };
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

async function store(db: Database, { at, known }: Known, looks: readonly Look[]): Promise<void> {
  const stuck = looks.flatMap(({ owner: { kind, id }, runId, verdict }): readonly StuckRow[] =>
    typeof verdict === 'object' ? [{ kind, id, run_id: runId, ...verdict }] : [],
  );
  await noteStuckRuns(db, at, stuck);
  const goOn = looks.filter(({ verdict }) => verdict === 'goes_on').map(({ owner }) => owner.id);
  const ended = known.filter((each) => each.ended).map(({ id }) => id);
  const knownIds = new Set(known.map(({ id }) => id));
  await removeStuckRuns(db, at, [...goOn.filter((id) => knownIds.has(id)), ...ended]);
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
