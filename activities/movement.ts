/** The activities of a movement, built from explicit dependencies. */
import { advance } from '../domain/actions/advance.ts';
import { expire } from '../domain/actions/approval.ts';
import type { MovementActivities } from '../domain/messages.ts';
import { loadMovement, readEnd } from '../store/phases.ts';
import { applyTransition } from '../store/transition.ts';
import { forHistory } from './failures.ts';
import { startHeartbeat } from './phases/call.ts';
import type { PhaseDependencies } from './phases/context.ts';
import { observe } from './phases/observe.ts';
import { preflight } from './phases/preflight.ts';
import { prepare } from './phases/prepare.ts';
import { recover } from './phases/recover.ts';
import { submit } from './phases/submit.ts';

/** Each is safe to run again: it first returns what the database already records. */
export function createMovementActivities(deps: PhaseDependencies): MovementActivities {
  return {
    load: ({ movement_id, run_id }) => loadMovement(deps.db, movement_id, run_id),
    async decide(args) {
      const end = args.ended ? await readEnd(deps.db, args.movement_id) : { reservation: 'none' as const, spent: false };
      const outcome = await applyTransition(deps.db, advance(args, end.reservation, end.spent));
      return { applied: outcome.ok, version: outcome.head?.version ?? args.version };
    },
    async expire({ movement_id }) {
      // Refused when an approval came first or the database's clock is behind: the run loads and sees.
      await applyTransition(deps.db, expire(movement_id));
    },
    preflight: (args) => beating(deps, () => preflight(deps, args)),
    prepare: (args) => beating(deps, () => prepare(deps, args)),
    submit: (args) => beating(deps, () => submit(deps, args)),
    observe: (args) => beating(deps, () => observe(deps, args)),
    recover: (args) => beating(deps, () => recover(deps, args)),
  };
}

/** Beats while a phase works, so that a worker that died is noticed in seconds and a slow executor is not taken for one. */
async function beating<T>(deps: PhaseDependencies, work: () => Promise<T>): Promise<T> {
  const heartbeat = startHeartbeat();
  try {
    return await work();
  } catch (error) {
    throw forHistory(error, deps.log);
  } finally {
    heartbeat.stop();
  }
}
