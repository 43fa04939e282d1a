/** What every phase has at hand, and the execution context it gives to an executor. */
import type { Logger } from 'pino';
import type {
  CompletionAssurance,
  ExecutionContext,
  Executor,
  ExecutorDescriptor,
} from '../../domain/executor.ts';
import { ExecutorFault } from '../../domain/executor.ts';
import type { Differences } from '../../domain/send/clocks.ts';
import { sendKey } from '../../domain/send/key.ts';
import type { Signer } from '../../domain/signer.ts';
import type { Signing } from '../../domain/signing.ts';
import type { Unhurried } from '../failures.ts';
import { readTransactions } from '../../store/evm-transactions.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { signerOnRecord, termsOf } from '../requirements/list.ts';
import type { RequirementSources } from '../requirements/requirement.ts';
import { addressOf, type Purpose } from './signer-address.ts';

export interface PhaseDependencies extends Unhurried, RequirementSources {
  readonly log: Logger;
  /** `describe` knows every registered executor, `get` those that this process can call itself. */
  readonly executors: {
    get(key: string): Executor | undefined;
    describe(key: string): ExecutorDescriptor | undefined;
  };
  readonly signing: Signing;
  /** How far other clocks are from this host; none is measured when left out. */
  readonly clocks?: { readonly differences: Differences };
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
}

/**
 * `<movement_id>:<node_key>:<attempt>`: never built from anything of Temporal's, which a reset
 * would renew.
 */
export function idempotencyKey(
  row: Pick<PhaseRow, 'movement_id' | 'node_key' | 'attempt'>,
): string {
  return sendKey(row.movement_id, row);
}

/**
 * @throws ExecutorFault `unreachable` where the bound signer does not tell its address, with the
 *   code of its {@link SignerFault} or `SIGNER_MISSING`; `rejected` where what is prepared may not
 *   be sent, as what the node requires says.
 */
export async function contextOf(
  deps: PhaseDependencies,
  row: PhaseRow,
  amount: string,
  purpose: Purpose,
): Promise<ExecutionContext> {
  const signer = await signerOf(deps, row, purpose);
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
    ...(await termsOf(deps, row, { purpose, amount, signer })),
  };
}

/** What has to be shown of the node before it is completed. */
export function assuranceOf({ node, plan }: Pick<PhaseRow, 'node' | 'plan'>): CompletionAssurance {
  return node.completion_assurance ?? plan.completion_policy.completion_assurance;
}

export function matchedOf({
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
  purpose: Purpose,
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
  return {
    signer_key: binding.signer_key,
    chain_family: signer.descriptor.chain_family,
    address: await addressFor(deps, row, signer, purpose),
  };
}

async function addressFor(
  deps: PhaseDependencies,
  row: PhaseRow,
  signer: Signer,
  purpose: Purpose,
): Promise<string> {
  try {
    return await addressOf(signer, purpose);
  } catch (error) {
    const signed = purpose === 'look' ? await signedBy(deps, row) : null;
    if (signed !== null) return signed;
    throw error;
  }
}

/** Whose signature the attempt has; null where nothing is stored. */
async function signedBy(deps: PhaseDependencies, row: PhaseRow): Promise<string | null> {
  const [transaction] = await readTransactions(deps.db, ownerOf(row));
  return transaction?.from ?? signerOnRecord(deps, row);
}

/** The attempt whose transactions are meant. */
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
