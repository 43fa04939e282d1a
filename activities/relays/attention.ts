/**
 * Tells runs why their movements need a person where only the database knows: an approval that is
 * nearly over, an executor that is away, a lane that is blocked. The Temporal UI then finds them.
 */
import type { Logger } from 'pino';
import type { SignalledAttention } from '../../domain/attention-reasons.ts';
import { attentionWorkflowId, movementWorkflowId, type EndedBadly } from '../../domain/messages.ts';
import { startLoop, type Loop } from '../../platform/loop.ts';
import type { Temporal } from '../../platform/temporal.ts';
import type { Database } from '../../prisma/client.ts';
import type { Leases } from './leases.ts';
import { noteAttention, readEndedBadly, readTold } from '../../store/attention.ts';

/** Movements that are told of; what is beyond shows in the API alone until these are dealt with. */
const MOST = 5_000;
/** Signals that are under way at a time. */
const AT_ONCE = 16;
const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 600_000;
const REST = 4;
/** The runs' index is asked so much more seldom than the database while nothing changes. */
const SETTLED_TURNS = 16;
export const ATTENTION_LEASE = 'attention';

/**
 * Compares what is true with what the runs show, and signals the difference; of a movement whose
 * own run is closed a run beside it is started or ended (workflows/attention.ts). The runs' own
 * index is the only record of what was told, so whatever gets lost is told again.
 */
export function startAttentionTeller(options: {
  readonly db: Database;
  readonly temporal: Pick<Temporal, 'tell' | 'showEnded' | 'listShownReasons'>;
  readonly log: Logger;
  readonly pauseMs: number;
  /** Of one worker for all: runs need not be told twice. */
  readonly leases: Pick<Leases, 'under'>;
}): Loop {
  const { db, temporal, log } = options;
  const told = new Map<
    string,
    { readonly reason: string | null; pauseMs: number; until: number }
  >();
  // One that was told and does not show it (an older worker has the run) is told ever more seldom.
  const isDue = (id: string, reason: string | null): boolean => {
    const before = told.get(id);
    const now = performance.now();
    if (before !== undefined && before.reason === reason && now < before.until) return false;
    const pauseMs =
      before?.reason === reason ? Math.min(before.pauseMs * 2, LONGEST_PAUSE_MS) : FIRST_PAUSE_MS;
    told.set(id, { reason, pauseMs, until: now + pauseMs });
    return true;
  };
  let restUntil = 0;
  // What was needed when the runs last showed exactly that, and until when that is taken for true.
  let settled = { needed: 'nothing is known', until: 0 };
  return startLoop({
    name: 'attention teller',
    pauseMs: options.pauseMs,
    log,
    work: options.leases.under(ATTENTION_LEASE, async () => {
      const began = performance.now();
      if (began < restUntil) return;
      const known = await readTold(db, MOST);
      await noteAttention(db, known);
      const asked = signature(neededOf(known, await readEndedBadly(db, MOST)));
      // Many movements make it slow; it takes no more than a fifth of the time.
      restUntil = performance.now() + REST * (performance.now() - began);
      if (asked === settled.needed && began < settled.until) return;
      // In this order: what becomes true in between is told the next time.
      const shown = await temporal.listShownReasons();
      const [open, ended] = [await readTold(db, MOST), await readEndedBadly(db, MOST)];
      const needed = neededOf(open, ended);
      restUntil = performance.now() + REST * (performance.now() - began);
      // Of those beyond the limit nothing is known.
      const all = open.size < MOST && ended.size < MOST;
      const ids = all ? [...shown.keys(), ...needed.keys()] : [...needed.keys()];
      const differing = new Set(ids.filter((id) => shown.get(id) !== needed.get(id)?.reason));
      for (const id of told.keys()) if (!differing.has(id)) told.delete(id);
      const until = differing.size > 0 ? 0 : began + SETTLED_TURNS * options.pauseMs;
      settled = { needed: signature(needed), until };
      const changed = [...differing].filter((id) => isDue(id, needed.get(id)?.reason ?? null));
      const say = (id: string): Promise<void> => {
        const need = needed.get(id) ?? null;
        return need?.ended === undefined ? temporal.tell(id, need) : temporal.showEnded(need.ended);
      };
      for (let at = 0; at < changed.length; at += AT_ONCE)
        await Promise.all(changed.slice(at, at + AT_ONCE).map(say));
    }),
  });
}

/** What a run is to show, and of a movement whose own run is closed what else is shown of it. */
type Need = NonNullable<SignalledAttention> & { readonly ended?: EndedBadly };

/** By the id of the run that is to show it. */
function neededOf(
  open: ReadonlyMap<string, NonNullable<SignalledAttention>>,
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

/** Equal for what is to be told alike. */
function signature(needed: ReadonlyMap<string, Need>): string {
  return JSON.stringify([...needed].map(([id, { reason, node_key }]) => [id, reason, node_key]));
}
