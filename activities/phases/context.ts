/** The dependencies of every phase, and the execution context that an executor gets. */
import type { Logger } from 'pino';
import type {
  CompletionAssurance,
  ExecutionContext,
  Executor,
  ExecutorDescriptor,
} from '../../domain/executor.ts';
import type { Differences } from '../../domain/send/clocks.ts';
import { sendKey } from '../../domain/send/key.ts';
import type { Signing } from '../../domain/signing.ts';
import type { Unhurried } from '../failures.ts';
import type { Leaves } from '../leaving.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { termsOf } from '../requirements/list.ts';
import type { Purpose, RequirementSources } from '../requirements/requirement.ts';
import { addressOf, signerOf } from './signer.ts';

export interface PhaseDependencies extends Unhurried, Leaves, RequirementSources {
  readonly log: Logger;
  /** `describe` knows every registered executor, `get` those that this process can call itself. */
  readonly executors: {
    get(key: string): Executor | undefined;
    describe(key: string): ExecutorDescriptor | undefined;
  };
  readonly signing: Signing;
  /** How far other clocks are from this host; none is measured when left out. */
  readonly clocks?: { readonly differences: Differences };
  /** How long looks at a send may stay without an answer before a person has to decide. */
  readonly unansweredSeconds?: number;
  /**
   * Time limit of a chain of phases, after which the next has its own activity; 1 s when left out.
   */
  readonly soonMs?: number;
}

/** @throws ExecutorFault as {@link signerOf} and as the node's requirements do. */
export async function contextOf(
  deps: PhaseDependencies,
  row: PhaseRow,
  amount: string,
  purpose: Purpose,
): Promise<ExecutionContext> {
  const completion_assurance = assuranceOf(row);
  const matched = row.matched === null ? {} : { matched: matchedOf(row.matched) };
  const prior = {
    ...(row.external_ref === null ? {} : { external_ref: row.external_ref }),
    ...(row.prepared_action === null ? {} : { prepared_action: row.prepared_action }),
    ...(row.output === null ? {} : { output: row.output }),
  };
  const signer = await signerOf(deps, row, purpose);
  return {
    movement_id: row.movement_id,
    node_key: row.node_key,
    attempt: row.attempt,
    idempotency_key: sendKey(row.movement_id, row),
    action_type: row.node.action_type,
    asset: row.node.asset,
    amount,
    config: row.node.config,
    input_params: row.plan.input_params,
    intent: { ...row.plan.intent },
    completion_assurance,
    ...(signer === null ? {} : { signer }),
    ...(Object.keys(prior).length === 0 ? {} : { prior }),
    ...matched,
    ...(await termsOf(deps, row, {
      purpose,
      amount,
      signer,
      addressOf: (other) => addressOf(other, purpose),
    })),
  };
}

/** What must be proven before the node completes. */
export function assuranceOf({ node, plan }: Pick<PhaseRow, 'node' | 'plan'>): CompletionAssurance {
  return node.completion_assurance ?? plan.completion_policy.completion_assurance;
}

function matchedOf({
  node_key,
  external_ref,
  output,
}: NonNullable<PhaseRow['matched']>): NonNullable<ExecutionContext['matched']> {
  return {
    node_key,
    ...(external_ref === null ? {} : { external_ref }),
    ...(output === null ? {} : { output }),
  };
}

/** The key of the row's attempt. */
export function ownerOf({
  movement_id,
  node_key,
  attempt,
}: Pick<PhaseRow, 'movement_id' | 'node_key' | 'attempt'>): {
  readonly movement_id: string;
  readonly node_key: string;
  readonly attempt: number;
} {
  return { movement_id, node_key, attempt };
}
