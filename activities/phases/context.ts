/** What every phase has at hand, and the execution context it gives to an executor. */
import type { Logger } from 'pino';
import type {
  CallOptions,
  CompletionAssurance,
  ExecutionContext,
  Executor,
  ExecutorDescriptor,
  SubmitJournal,
} from '../../domain/executor.ts';
import { ExecutorFault } from '../../domain/executor.ts';
import type { ChainAssets } from '../../domain/plan/tokens.ts';
import type { Signer } from '../../domain/signer.ts';
import type { Unhurried } from '../failures.ts';
import type { Database } from '../../prisma/client.ts';
import {
  readTransactions,
  readUnknownNonces,
  releaseNonce,
  type Account,
} from '../../store/evm-transactions.ts';
import type { PhaseRow } from '../../store/phases.ts';

/** Checks a sign request against the plan; null is a pass, a text says what differs. */
export type SignRequestCheck = (
  row: PhaseRow,
  amount: string,
  call: CallOptions,
) => Promise<string | null>;

export interface PhaseDependencies extends Unhurried {
  readonly db: Database;
  readonly log: Logger;
  /** `describe` knows every registered executor, `get` those that this process can call itself. */
  readonly executors: {
    get(key: string): Executor | undefined;
    describe(key: string): ExecutorDescriptor | undefined;
  };
  readonly signers: { get(key: string): Signer | undefined };
  readonly checkSignRequest: SignRequestCheck;
  /**
   * How long looks at what became of a send may tell nothing before a person is asked; 15 minutes
   * when left out.
   */
  readonly unansweredSeconds?: number;
  /**
   * Longest that a phase chained to another may take before its own activity has to do it; a second
   * when left out.
   */
  readonly soonMs?: number;
  /** The chains of the venues file, and which token is which asset. */
  readonly chains: ChainAssets;
}

/**
 * `<movement_id>:<node_key>:<attempt>`: never built from anything of Temporal's, which a reset
 * would renew.
 */
export function idempotencyKey(
  row: Pick<PhaseRow, 'movement_id' | 'node_key' | 'attempt'>,
): string {
  return `${row.movement_id}:${row.node_key}:${row.attempt}`;
}

export async function contextOf(
  deps: PhaseDependencies,
  row: PhaseRow,
  amount: string,
): Promise<ExecutionContext> {
  const signer = await signerOf(deps, row);
  const prior = {
    ...(row.external_ref === null ? {} : { external_ref: row.external_ref }),
    ...(row.prepared_action === null ? {} : { prepared_action: row.prepared_action }),
    ...(row.output === null ? {} : { output: row.output }),
  };
  return {
    movement_id: row.movement_id,
    node_key: row.node_key,
    attempt: row.attempt,
    idempotency_key: idempotencyKey(row),
    action_type: row.node.action_type,
    asset: row.node.asset,
    amount,
    config: row.node.config,
    input_params: row.plan.input_params,
    intent: { ...row.plan.intent },
    completion_assurance: assuranceOf(row),
    ...(signer === null ? {} : { signer }),
    ...(Object.keys(prior).length === 0 ? {} : { prior }),
    ...(row.matched === null ? {} : { matched: matchedOf(row.matched) }),
  };
}

/** What has to be shown of the node before it is completed. */
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

async function signerOf(
  deps: PhaseDependencies,
  row: PhaseRow,
): Promise<NonNullable<ExecutionContext['signer']> | null> {
  const binding = row.node.signer_binding;
  if (binding === null) return null;
  const signer = deps.signers.get(binding.signer_key);
  if (signer === undefined)
    throw new ExecutorFault(
      'unreachable',
      'SIGNER_MISSING',
      `signer ${binding.signer_key} is not registered in this worker`,
    );
  const address = await signer.identity();
  return {
    signer_key: binding.signer_key,
    chain_family: signer.descriptor.chain_family,
    address: address ?? '',
  };
}

/** The submit's durable memory for this attempt. */
export function journalOf(deps: PhaseDependencies, row: PhaseRow): SubmitJournal {
  const owner = { movement_id: row.movement_id, node_key: row.node_key, attempt: row.attempt };
  return {
    transactions: () => readTransactions(deps.db, owner),
    releaseNonce: (transaction) => releaseNonce(deps.db, owner, transaction),
    ...(row.restored
      ? {
          unknownNonces: (account: Account, count: number) =>
            readUnknownNonces(deps.db, account, count),
        }
      : {}),
  };
}
