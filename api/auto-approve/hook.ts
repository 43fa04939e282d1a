/**
 * Who decides whether a new movement needs a person. An edition or a third party may bring another
 * hook.
 */
import type { Logger } from 'pino';
import type { Evaluation } from '../../domain/auto-approve/result.ts';
import type { CompiledPlan } from '../../domain/plan/types.ts';
import type { BindingProblem, Transition } from '../../domain/transition.ts';
import type { Database } from '../../prisma/client.ts';

/** A movement that is about to be created. */
export interface Candidate {
  /** Null where the request is not authenticated. */
  readonly client_id: string | null;
  readonly strategy_id: string;
  readonly plan: CompiledPlan;
  /** The bindings of the first nodes. */
  readonly required: NonNullable<Transition['require']>;
  /** The bindings that this process does not have. */
  readonly missing: readonly BindingProblem[];
}

/**
 * Reads what it decides by and writes nothing, since a preview calls it too. The write checks its
 * approval again.
 */
export type AutoApproveHook = (
  candidate: Candidate,
  deps: { readonly db: Database; readonly log: Logger },
) => Promise<Evaluation>;
