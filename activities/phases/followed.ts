/**
 * Follows on the chain the payments that were signed for a team's own executor: whoever has signed
 * bytes can send them at any time. An answer that contradicts the chain is not believed.
 */
import { termsIn, type RequirementTerms } from '../../domain/actions/terms.ts';
import { isDeepStrictEqual } from 'node:util';
import {
  ExecutorFault,
  type CallOptions,
  type ExecutionContext,
  type ExecutionResult,
} from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import { compare, readDecimal } from '../../domain/money.ts';
import type { PhaseResult } from '../../domain/messages.ts';
import { SYSTEM_ACTOR } from '../../domain/roles.ts';
import { TERMS, type SignedLook, type SignedNode } from '../../domain/signing.ts';
import { noteAuthorizationMined } from '../../store/authorizations.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { applyTransition } from '../../store/transition.ts';
import { repeatable } from '../leaving.ts';
import { amountOf } from './amount.ts';
import { assuranceOf, contextOf, ownerOf, type PhaseDependencies } from './context.ts';
import { journalOf } from './journal.ts';
import type { CallOutcome, Question } from './phase.ts';
import { reported } from './settle.ts';

/** Returns whether the service follows on the chain what was signed for the node's executor. */
export function isFollowed(
  { executors }: Pick<PhaseDependencies, 'executors'>,
  row: PhaseRow,
): boolean {
  const { executor_key } = row.node.executor_binding;
  if (executors.describe(executor_key)?.kind === 'local') return false;
  return row.sign_request !== null || signatureMayBeLost(row);
}

/** Returns whether a restore may have lost the record of what was signed for the node. */
function signatureMayBeLost({ restored, state, node, sign_request }: PhaseRow): boolean {
  return (
    restored &&
    node.signer_binding !== null &&
    (state === 'READY' || state === 'SUBMITTING' || state === 'UNKNOWN') &&
    sign_request?.kind !== 'evm_transaction'
  );
}

/** Returns the facts of plan and registry that decide which payment may be signed for the node. */
export function signedNode(
  { executors }: Pick<PhaseDependencies, 'executors'>,
  row: PhaseRow,
  context: Pick<ExecutionContext, 'amount' | 'matched' | keyof RequirementTerms>,
): SignedNode {
  const { intent, input_params } = row.plan;
  const executor = executors.describe(row.node.executor_binding.executor_key);
  // Only a local executor's prepared terms count: a team's executor chooses its own fields and
  // names.
  const terms = executor?.kind === 'local' ? row.prepared_action?.[TERMS] : undefined;
  return {
    node: row.node,
    intent,
    input_params,
    amount: context.amount,
    ...termsIn(context),
    executor,
    ...(terms === undefined ? {} : { prepared_terms: terms }),
    ...(context.matched === undefined ? {} : { matched: context.matched }),
    ...(row.output === null ? {} : { output: row.output }),
  };
}

/**
 * Returns the input of the executor's call about its send. If a payment was signed for the
 * executor, looks at the chain first. While the chain shows no payment, the executor is not called
 * and `conclude` gets the chain's answer. With `observes` the executor is not called either,
 * because `observe` follows.
 */
export async function askAfterSend(
  deps: PhaseDependencies,
  row: PhaseRow,
  phase: SignedLook['phase'],
  conclude: (outcome: CallOutcome) => Promise<PhaseResult>,
  { observes = false } = {},
): Promise<Question | PhaseResult> {
  const seen = await seenOf(deps, row, phase);
  if (!('row' in seen)) return conclude(seen);
  if (!observes || !isFollowed(deps, row)) return seen;
  const { external_ref, output } = seen.row;
  return conclude({
    answer: {
      next_state: 'OBSERVING',
      ...(external_ref === null ? {} : { external_ref }),
      ...(output === null ? {} : { output }),
    },
  });
}

/**
 * Returns what the chain shows of the payment that was signed for the node's executor. Writes only
 * what the journal writes.
 */
export function lookAtChain(
  deps: Pick<PhaseDependencies, 'executors' | 'signing'>,
  { row, context }: Pick<Question, 'row' | 'context'>,
  look: Pick<SignedLook, 'request' | 'phase' | 'journal'>,
  call: CallOptions,
): Promise<ExecutionResult> {
  const of = { ...look, from: context.signer?.address ?? '', assurance: assuranceOf(row) };
  return deps.signing.settle(signedNode(deps, row, context), of, call);
}

async function seenOf(
  deps: PhaseDependencies,
  row: PhaseRow,
  phase: SignedLook['phase'],
): Promise<Question | CallOutcome> {
  try {
    const context = await contextOf(deps, row, amountOf(row) ?? '0', 'look');
    if (!isFollowed(deps, row)) return { row, context };
    if (row.sign_request === null || signatureMayBeLost(row))
      return { answer: { next_state: 'UNKNOWN', error_message: FORGOTTEN } };
    const look = { request: row.sign_request, phase, journal: journalOf(deps, row) };
    const settled = await repeatable(deps, (options) =>
      lookAtChain(deps, { row, context }, look, options),
    );
    if (settled.next_state !== 'COMPLETED') return { answer: keepingReference(row, settled) };
    const mined = await noteMined(deps, row, keepingReference(row, settled));
    return { row: mined, context: await contextOf(deps, mined, context.amount, 'look') };
  } catch (error) {
    if (error instanceof ExecutorFault) return { fault: error };
    throw error;
  }
}

const FORGOTTEN =
  'the database was restored and may have lost a signature made for the executor; the signature can still be used';

/** Returns the answer with the executor's own reference, or else the transaction's hash. */
function keepingReference(row: PhaseRow, answer: ExecutionResult): ExecutionResult {
  return row.external_ref === null ? answer : { ...answer, external_ref: row.external_ref };
}

/** Output fields that only the chain sets; an executor's values for them are ignored. */
const FACTS = [
  'tx_hash',
  'block_number',
  'fee_amount',
  'fee_asset',
  'requested_amount',
  'submitted_amount',
  'destination_address',
  'source_chain_id',
  'destination_chain_id',
  'mint_recipient',
  'max_fee',
  'message',
  'from_address',
  'guid',
  'packet',
] as const;

/** Stores the chain's facts of the payment on the node, for the call of its executor. */
async function noteMined(
  deps: PhaseDependencies,
  row: PhaseRow,
  settled: ExecutionResult,
): Promise<PhaseRow> {
  const { output: facts = {}, external_ref = null } = settled;
  const before = row.output ?? {};
  const output = { ...before, ...facts };
  // Compares every fact: a stored value may come from the executor instead of the chain.
  const known =
    FACTS.every((name) => isDeepStrictEqual(before[name], facts[name])) &&
    row.external_ref === external_ref;
  const { tx_hash } = facts;
  if (row.sign_request?.kind === 'evm_typed_data' && typeof tx_hash === 'string')
    await noteAuthorizationMined(deps.db, ownerOf(row), tx_hash);
  if (!known) {
    const outcome = await applyTransition(deps.db, {
      movement_id: row.movement_id,
      nodes: [
        {
          node_key: row.node_key,
          from: row.state,
          moves: [],
          attempt: row.attempt,
          epoch: row.epoch,
          set: reported({ ...settled, output }),
        },
      ],
      timeline: [
        {
          event_type: 'transaction_mined',
          message:
            'What was signed for its executor is mined; the executor is called for the result',
          actor: SYSTEM_ACTOR,
          node_key: row.node_key,
          attempt: row.attempt,
          data: { tx_hash: tx_hash ?? null, block_number: facts['block_number'] ?? null },
        },
      ],
    });
    if (!outcome.ok)
      throw new ExecutorFault('server_error', 'NODE_CHANGED', 'the node has changed meanwhile');
  }
  return { ...row, output, external_ref };
}

/**
 * Returns the executor's outcome, checked against the mined payment: the executor may report the
 * result of the payment, but not that nothing was paid.
 */
export function heldToChain(
  deps: PhaseDependencies,
  row: PhaseRow,
  outcome: CallOutcome,
): CallOutcome {
  if (!isFollowed(deps, row) || 'fault' in outcome || outcome.answer === null) return outcome;
  const { answer } = outcome;
  const { next_state, error_message = 'no reason stated' } = answer;
  if (next_state === 'FAILED' || next_state === 'READY') {
    const message = `what was signed is mined, and the executor says ${next_state}: ${error_message}`;
    return { fault: new ExecutorFault('protocol', 'CHAIN_CONTRADICTED', message) };
  }
  return answer.output === undefined
    ? outcome
    : { answer: { ...answer, output: withFacts(answer.output, row.output ?? {}) } };
}

function withFacts(answered: JsonObject, kept: JsonObject): JsonObject {
  const facts = FACTS.flatMap((name) => (name in kept ? [[name, kept[name]] as const] : []));
  const received = lesser(answered['received_amount'], kept['received_amount']);
  return {
    ...kept,
    ...answered,
    ...Object.fromEntries(facts),
    ...(received === undefined ? {} : { received_amount: received }),
  } as JsonObject;
}

/**
 * Returns the executor's amount if it is not more than the chain's, else the chain's: an executor
 * may report that less arrived than was paid, never more.
 */
function lesser(answered: unknown, paid: JsonObject[string] | undefined) {
  const [one, other] = [readDecimal(answered), readDecimal(paid)];
  return one !== null && other !== null && compare(one, other) <= 0 ? one : paid;
}

/** Removes from an answer the fields that only the chain sets; used while nothing is mined. */
export function withoutFacts(answer: ExecutionResult): ExecutionResult {
  if (answer.output === undefined) return answer;
  const kept = Object.entries(answer.output).filter(
    ([name]) => name !== 'received_amount' && !(FACTS as readonly string[]).includes(name),
  );
  return { ...answer, output: Object.fromEntries(kept) };
}
