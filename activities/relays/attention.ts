/**
 * Signals to runs why their movements need a person, when only the database has the reason: an
 * approval that expires soon, an executor that is down, a blocked nonce lane. So the Temporal UI
 * can find these runs.
 */
import type { Logger } from 'pino';
import type { SignalledAttention } from '../../domain/attention-reasons.ts';
import { attentionWorkflowId, movementWorkflowId, type EndedBadly } from '../../domain/messages.ts';
import { SKIPPED, startLoop, type Loop } from '../../platform/loop.ts';
import type { Temporal } from '../../platform/temporal.ts';
import type { Database } from '../../prisma/client.ts';
import type { Leases } from './leases.ts';
import {
  noteAttention,
  readEndedBadly,
  readReasonsForRuns,
  type ReasonForRun,
} from '../../store/attention.ts';

/** Most movements that are signalled; any others show only in the API. */
const MOST = 5_000;
/** Signals that are under way at the same time. */
const AT_ONCE = 16;
const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 600_000;
const REST = 4;
/** While nothing changes, Temporal's list is read only once in this many reads of the database. */
const SETTLED_TURNS = 16;
/** The same while no run has to show a reason: then a run can only show one that is over. */
const QUIET_TURNS = 160;
export const ATTENTION_LEASE = 'attention';

/**
 * Compares the reasons in the database with those that the runs show, and signals the differences.
 * For a movement whose run is closed, starts or ends a separate run (workflows/attention.ts).
 * Temporal's list of runs is the only record of what was signalled, so a lost signal is repeated.
 */
export function startAttentionTeller(options: {
  readonly db: Database;
  readonly temporal: Pick<Temporal, 'tell' | 'showEnded' | 'listShownReasons'>;
  readonly log: Logger;
  readonly pauseMs: number;
  /** The worker that holds the lease signals for all workers, so that no run is signalled twice. */
  readonly leases: Pick<Leases, 'under'>;
}): Loop {
  const { db, temporal, log } = options;
  const signalled = new Map<
    string,
    { readonly reason: string | null; pauseMs: number; until: number }
  >();
  // A run of an older worker does not show the signal; such a run is signalled less and less often.
  const isDue = (id: string, reason: string | null): boolean => {
    const before = signalled.get(id);
    const now = performance.now();
    if (before !== undefined && before.reason === reason && now < before.until) return false;
    const pauseMs =
      before?.reason === reason ? Math.min(before.pauseMs * 2, LONGEST_PAUSE_MS) : FIRST_PAUSE_MS;
    signalled.set(id, { reason, pauseMs, until: now + pauseMs });
    return true;
  };
  let restUntil = 0;
  // The needs at the time when every run last showed its need, and until when this is assumed
  // unchanged.
  let settled = { needed: 'nothing is known', until: 0 };
  const turn = options.leases.under(ATTENTION_LEASE, async () => {
    const began = performance.now();
    const known = await readReasonsForRuns(db, MOST);
    const endedBadly = await readEndedBadly(db, MOST);
    await noteAttention(db, known, endedBadly);
    const wanted = signature(neededOf(known, endedBadly));
    // These queries are slow with many movements, so the loop rests for four fifths of the time.
    restUntil = performance.now() + REST * (performance.now() - began);
    if (wanted === settled.needed && began < settled.until) return;
    // The runs are read before the database: a reason that appears in between is signalled in the
    // next turn.
    const shown = await temporal.listShownReasons();
    const [open, ended] = [await readReasonsForRuns(db, MOST), await readEndedBadly(db, MOST)];
    const needed = neededOf(open, ended);
    restUntil = performance.now() + REST * (performance.now() - began);
    // When a limit is reached, some reasons were not read, so no reason that a run shows may be
    // cleared.
    const all = open.size < MOST && ended.size < MOST;
    const each = all ? [...shown.keys(), ...needed.keys()] : [...needed.keys()];
    // A stuck run cannot show another reason; a signal would only lengthen its history.
    const ids = each.filter((id) => needed.get(id)?.stuck !== true);
    const differing = new Set(ids.filter((id) => shown.get(id) !== needed.get(id)?.reason));
    for (const id of signalled.keys()) if (!differing.has(id)) signalled.delete(id);
    const found = signature(needed);
    // A run may show a signalled reason only after this list was read, and the reason may be over
    // by then. So the long pause needs two lists in a row that differ in nothing.
    const isQuiet = needed.size === 0 && settled.needed === found && settled.until > 0;
    const turns = isQuiet ? QUIET_TURNS : SETTLED_TURNS;
    const until = differing.size > 0 ? 0 : began + turns * options.pauseMs;
    settled = { needed: found, until };
    const changed = [...differing].filter((id) => isDue(id, needed.get(id)?.reason ?? null));
    const say = (id: string): Promise<void> => {
      const need = needed.get(id);
      if (need?.ended !== undefined) return temporal.showEnded(need.ended);
      return temporal.tell(id, need === undefined ? null : signalOf(need));
    };
    for (let at = 0; at < changed.length; at += AT_ONCE)
      await Promise.all(changed.slice(at, at + AT_ONCE).map(say));
  });
  return startLoop({
    name: 'attention teller',
    pauseMs: options.pauseMs,
    log,
    // A rest is no turn that succeeded: the lease is returned after failures in a row.
    work: async () => (performance.now() < restUntil ? SKIPPED : turn()),
  });
}

/** The reason that a run has to show; `ended` is set for a movement whose own run is closed. */
type Need = NonNullable<SignalledAttention> & {
  readonly stuck?: boolean;
  readonly ended?: EndedBadly;
};

function signalOf({ reason, node_key }: Need): NonNullable<SignalledAttention> {
  return { reason, node_key };
}

/** Returns the needs, keyed by the id of the run that has to show each. */
function neededOf(
  open: ReadonlyMap<string, ReasonForRun>,
  ended: ReadonlyMap<string, EndedBadly>,
): ReadonlyMap<string, Need> {
  return new Map<string, Need>([
    ...[...open].map(([id, need]) => [movementWorkflowId(id), need] as const),
    ...[...ended].map(
      ([id, each]) =>
        [
          attentionWorkflowId(id),
          { reason: each.reason, node_key: each.node_key, ended: each },
        ] as const,
    ),
  ]);
}

/** Returns a text that is equal for equal needs. */
function signature(needed: ReadonlyMap<string, Need>): string {
  return JSON.stringify([...needed].map(([id, { reason, node_key }]) => [id, reason, node_key]));
}
