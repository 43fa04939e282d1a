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
import { SignerFault, type Signer } from '../../domain/signer.ts';
import type { Signing } from '../../domain/signing.ts';
import type { Unhurried } from '../failures.ts';
import { readTransactions } from '../../store/evm-transactions.ts';
import { readPlanNodes, type PhaseRow } from '../../store/phases.ts';
import { bridgeTerms, type PathSources } from './bridge-path.ts';
import { perpSignerOf, perpTerms } from './perp-terms.ts';

export interface PhaseDependencies extends Unhurried, PathSources {
  readonly log: Logger;
  /** `describe` knows every registered executor, `get` those that this process can call itself. */
  readonly executors: {
    get(key: string): Executor | undefined;
    describe(key: string): ExecutorDescriptor | undefined;
  };
  readonly signers: { get(key: string): Signer | undefined };
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
 * What a context is for, which says how its signer's address is found. `send`: asked of the signer
 * afresh, since it decides whose nonce is claimed and who has to sign. `prepare`: as it was a
 * moment ago. `look`: the same, and where the signer does not tell it, as what was signed shows
 * it; a signer that is down must not hide what became of a send.
 */
export type Purpose = 'prepare' | 'send' | 'look';

/**
 * @throws ExecutorFault `unreachable` where the bound signer does not tell its address, with the
 *   code of its {@link SignerFault} or `SIGNER_MISSING`; `rejected` where what is prepared may not
 *   be sent, as {@link bridgeTerms} and {@link perpTerms} say.
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
    ...(await minterOf(deps, row, purpose)),
    ...(await bridgeTerms(deps, row, purpose === 'prepare')),
    ...(await perpTerms(deps, row, { prepares: purpose === 'prepare', amount, signer })),
  };
}

/** Whoever signs the plan's mint of a burn that only one account may bring, before it is burnt. */
async function minterOf(
  deps: PhaseDependencies,
  row: PhaseRow,
  purpose: Purpose,
): Promise<Pick<ExecutionContext, 'minter'>> {
  const { action_type, config } = row.node;
  if (purpose === 'look' || action_type !== 'cctp_burn') return {};
  if (typeof config['destination_caller'] !== 'string') return {};
  const nodes = await readPlanNodes(deps.db, row.movement_id);
  const keys = new Set(
    nodes
      .filter(
        (node) => node.action_type === 'cctp_mint' && node.config['burn_from'] === row.node_key,
      )
      .map(({ signer_binding }) => signer_binding?.signer_key ?? ''),
  );
  const [signer_key] = keys;
  if (signer_key === undefined) return {};
  const signer = deps.signers.get(signer_key);
  if (signer === undefined || keys.size > 1)
    throw new ExecutorFault(
      'unreachable',
      'SIGNER_MISSING',
      `whoever mints what ${row.node_key} burns is not one signer of this worker`,
    );
  return { minter: { signer_key, address: await addressOf(deps, row, signer, purpose) } };
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
    address: await addressOf(deps, row, signer, purpose),
  };
}

async function addressOf(
  deps: PhaseDependencies,
  row: PhaseRow,
  signer: Signer,
  purpose: Purpose,
): Promise<string> {
  try {
    return (await (purpose === 'send' ? signer.identity() : signer.recentIdentity())) ?? '';
  } catch (error) {
    const signed = purpose === 'look' ? await signedBy(deps, row) : null;
    if (signed !== null) return signed;
    const { signer_key } = signer.descriptor;
    // What is no fault of a backend's own words might say anything.
    const [code, why] =
      error instanceof SignerFault
        ? [error.code, error.message]
        : ['SIGNER_UNREACHABLE', 'it does not tell its address'];
    throw new ExecutorFault('unreachable', code, `signer ${signer_key}: ${why}`, { cause: error });
  }
}

/** Whose signature the attempt has; null where nothing is stored. */
async function signedBy(deps: PhaseDependencies, row: PhaseRow): Promise<string | null> {
  const [transaction] = await readTransactions(deps.db, ownerOf(row));
  return transaction?.from ?? perpSignerOf(deps, row);
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
