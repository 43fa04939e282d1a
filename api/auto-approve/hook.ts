/**
 * Decides whether a new movement needs a person's approval. An edition or a third party may provide
 * another hook.
 */
import type { Logger } from 'pino';
import type { Evaluation } from '../../domain/auto-approve/result.ts';
import type { CompiledPlan } from '../../domain/plan/types.ts';
import type { BindingProblem, Transition } from '../../domain/transition.ts';
import type { Database } from '../../prisma/client.ts';

/** A movement that is about to be created. */
export interface Candidate {
  /** Null when the request is not authenticated. */
  readonly client_id: string | null;
  readonly strategy_id: string;
  readonly plan: CompiledPlan;
  /** The bindings of the first nodes. */
  readonly required: NonNullable<Transition['require']>;
  /** The bindings that this process lacks. */
  readonly missing: readonly BindingProblem[];
}

/**
 * Reads the facts for its decision and writes nothing, since a preview calls the hook too. The
 * write of the movement checks the approval again.
 */
export type AutoApproveHook = (
  candidate: Candidate,
  deps: { readonly db: Database; readonly log: Logger },
) => Promise<Evaluation>;
