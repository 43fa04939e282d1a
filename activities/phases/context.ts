/** The dependencies of every phase, and the execution context that an executor gets. */
import type { Logger } from 'pino';
import type {
  CompletionAssurance,
  ExecutionContext,
  Executor,
  ExecutorDescriptor,
} from '../../domain/executor.ts';
import type { PhaseArgs } from '../../domain/messages.ts';
import type { Differences } from '../../domain/send/clocks.ts';
import { sendKey } from '../../domain/send/key.ts';
import type { Signing } from '../../domain/signing.ts';
import type { Unhurried } from '../failures.ts';
import type { Leaves } from '../leaving.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { termsOf } from '../requirements/list.ts';
import type { Purpose, RequirementSources } from '../requirements/requirement.ts';
import { addressOf, signerOf } from './signer.ts';

/**
 * The node with which a chain of phases continues. The write that makes the node ready reads it
 * too, and the chain uses that row once, at once.
 */
export interface Ahead {
  readonly args: PhaseArgs;
  /** Returns whether the chain has time for the node. */
  readonly soon: () => boolean;
  /** The node as the write that made it ready left it; null when that write did not read it. */
  row: PhaseRow | null;
}

export interface PhaseDependencies extends Unhurried, Leaves, RequirementSources {
  readonly log: Logger;
  /** `describe` knows all registered executors, `get` those that this process can call. */
  readonly executors: {
    get(key: string): Executor | undefined;
    describe(key: string): ExecutorDescriptor | undefined;
  };
  readonly signing: Signing;
  /** The venues whose nodes run on a task queue of the venue; none when left out. */
  readonly queuedVenues?: ReadonlySet<string>;
  /**
   * Differences between the clocks of database and venues and this host's clock; when left out,
   * clocks are not compared.
   */
  readonly clocks?: { readonly differences: Differences };
  /** Seconds without an answer about a send after which a person has to decide. */
  readonly unansweredSeconds?: number;
  /** Seconds after which a person must know that a node waits for its venue. */
  readonly venueWaitAttentionSeconds?: number;
  /**
   * Time limit of a chain of phases, in milliseconds; after it each phase has its own activity.
   * 1000 when left out.
   */
  readonly soonMs?: number;
  /** The next node of a chain; absent outside a chain and at its last node. */
  readonly ahead?: Ahead | undefined;
}

/**
 * Builds the execution context of the node.
 *
 * @throws ExecutorFault as {@link signerOf} and the node's requirements do.
 */
export async function contextOf(
  deps: RequirementSources,
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

/** Returns what must be proven before the node completes: the node's own setting or the plan's. */
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

/** Returns the key of the attempt that the row holds. */
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
