/**
 * `cctp.burn`: burns on one chain what is to be minted on another, and waits until that is signed
 * for. What could keep the mint from happening is asked before anything is burnt.
 */
import type { Address, Hash, Hex } from 'viem';
import {
  ExecutorFault,
  type CallOptions,
  type ExecutionContext,
  type ExecutionResult,
  type Executor,
  type ExecutorDescriptor,
  type SubmitJournal,
} from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import { fromBaseUnits } from '../../domain/money.ts';
import { ACT_EXECUTOR } from '../evm/act-executor.ts';
import type { EvmCall } from '../evm/call.ts';
import { finalizedNumber, type EvmConnection } from '../evm/client.ts';
import { requireBalance, requireCode, requireGas, unsignedOf } from '../evm/draft.ts';
import { failWhenRejected } from '../evm/errors.ts';
import { quoteGas, type GasQuote } from '../evm/fees.ts';
import { checkChains } from '../evm/health.ts';
import { baseUnits, readSigner } from '../evm/plan.ts';
import { requireAllowance } from '../evm/require-allowance.ts';
import { requireSameEntries } from '../evm/same-entries.ts';
import { sendSigned, stillUnderWay } from '../evm/send-signed.ts';
import { settleAct } from '../evm/settle.ts';
import { padded } from '../evm/words.ts';
import { attestedBurn } from './attestation.ts';
import { ASK_EVERY_SECONDS } from './attester.ts';
import { burnCall, burnOn } from './burn-act.ts';
import { ANYBODY, type BurnMessage } from './message.ts';
import {
  burnRefusal,
  entriesOf,
  readBurnPlan,
  rejected,
  type BurnPlan,
  type Lane,
} from './plan.ts';
import { requireFee, requireLane } from './route.ts';

export const CCTP_BURN_DESCRIPTOR: ExecutorDescriptor = {
  ...ACT_EXECUTOR,
  executor_key: 'cctp.burn',
  action_types: ['cctp_burn'],
  provider: 'cctp',
  // It shows that the funds are gone and signed for; that they arrived is the mint's to show.
  completion_assurances: ['provider_completed'],
};

/** It holds no state of its own: the journal, the chains and the attester do. */
export function createBurnExecutor(lane: Lane): Executor {
  const { chains, venues } = lane;
  const look = (
    phase: 'observe' | 'recover',
    context: ExecutionContext,
    call: CallOptions,
    journal: SubmitJournal,
  ): Promise<ExecutionResult> => settleBurn(lane, { phase, context, call, journal });
  return {
    descriptor: CCTP_BURN_DESCRIPTOR,
    preflight: (context, call) =>
      failWhenRejected(async () => {
        await draft(lane, context, call);
        return null;
      }),
    prepare: (context, call) => failWhenRejected(() => prepare(lane, context, call)),
    submit: (input, call) => {
      const plan = readBurnPlan(input.context, venues);
      return sendSigned(chains, { chain_id: plan.source.chain_id, act: burnOn(plan) }, input, call);
    },
    observe: (context, call, journal) => look('observe', context, call, journal),
    recover: (context, call, journal) => look('recover', context, call, journal),
    cancel: (context) => Promise.resolve(stillUnderWay(context.prior?.external_ref)),
    health: (call) => checkChains(chains, call),
  };
}

interface Draft {
  readonly plan: BurnPlan;
  readonly from: Address;
  readonly units: bigint;
  readonly decimals: number;
  readonly call: EvmCall;
  readonly quote: GasQuote;
  readonly destination: EvmConnection;
}

/**
 * @throws ExecutorFault `rejected` with the codes of the plan's reading, `SIGNER_MISSING`,
 *   `TOKEN_MISSING`, `AMOUNT_PRECISION`, `INSUFFICIENT_FUNDS`, `FEE_BELOW_MINIMUM`,
 *   `BRIDGE_ROUTE_MISSING`, `BRIDGE_PAUSED`, `DESTINATION_TOKEN_MISSING`, `MINT_WOULD_FAIL`,
 *   `TRANSACTION_WOULD_REVERT`; retryable `ALLOWANCE_INSUFFICIENT`.
 */
async function draft(
  { chains, venues }: Lane,
  context: ExecutionContext,
  options: CallOptions,
): Promise<Draft> {
  const plan = readBurnPlan(context, venues);
  const refusal = burnRefusal(plan);
  if (refusal !== null) throw rejected('CONFIG_INVALID', refusal);
  const from = readSigner(context);
  if (context.minter !== undefined)
    requireCaller(plan.destination_caller, context.minter.address as Address);
  const [connection, destination] = await Promise.all([
    chains.open(plan.source.chain_id, options),
    chains.open(plan.destination.chain_id, options),
  ]);
  await requireCode(connection, plan.token);
  const decimals = await connection.decimals(plan.token);
  const units = baseUnits(plan, decimals);
  await requireLane(connection, destination, plan, units);
  const call = burnCall(plan, decimals);
  const holds = await requireBalance(connection, { token: plan.token, from, units, decimals });
  const spender = plan.source.cctp.token_messenger;
  await requireAllowance(connection, { token: plan.token, owner: from, spender, units, decimals });
  await requireFee(connection, plan, units, decimals);
  const quote = await quoteGas(connection, from, call);
  requireGas(connection, { call, quote, holds });
  return { plan, from, units, decimals, call, quote, destination };
}

async function prepare(
  lane: Lane,
  context: ExecutionContext,
  options: CallOptions,
): Promise<ExecutionResult> {
  const { plan, from, units, decimals, call, quote, destination } = await draft(
    lane,
    context,
    options,
  );
  const last = await finalizedNumber(destination);
  return {
    next_state: 'SUBMITTING',
    prepared_action: {
      source_chain_id: plan.source.chain_id,
      destination_chain_id: plan.destination.chain_id,
      token_address: plan.token,
      mint_recipient: plan.mint_recipient,
      max_fee: plan.max_fee,
      amount: plan.amount,
      asset: context.asset,
      from_address: from,
      decimals,
      base_units: units.toString(),
      venue_entries: entriesOf(plan),
      // No mint of this burn is in an older block.
      destination_block: (last > 0n ? last : 0n).toString(),
    },
    sign_request: {
      kind: 'evm_transaction',
      payload: unsignedOf(plan.source.chain_id, call, quote),
    },
  };
}

interface Look {
  readonly phase: 'observe' | 'recover';
  readonly context: ExecutionContext;
  readonly call: CallOptions;
  readonly journal: SubmitJournal;
}

/** As any act until it is mined and deep enough; then OBSERVING until it is attested. */
async function settleBurn(
  lane: Lane,
  { phase, context, call, journal }: Look,
): Promise<ExecutionResult> {
  const plan = readBurnPlan(context, lane.venues);
  requireSameEntries(context.prior?.prepared_action?.['venue_entries'], entriesOf(plan));
  const settled = await settleAct(lane.chains, {
    chain_id: plan.source.chain_id,
    act: burnOn(plan),
    from: readSigner(context),
    assurance: context.completion_assurance,
    call,
    journal,
    phase,
  });
  if (settled.next_state !== 'COMPLETED') return settled;
  const { external_ref, output = {} } = settled;
  const waiting: ExecutionResult = {
    next_state: 'OBSERVING',
    retry_after_seconds: ASK_EVERY_SECONDS,
    output: { ...output, ...since(context) },
    ...(external_ref === undefined ? {} : { external_ref }),
  };
  if (external_ref === undefined) return waiting;
  const attested = await attestedBurn(
    lane,
    plan,
    external_ref as Hash,
    String(output['message']),
    call,
  ).catch((error: unknown) => {
    // A recovery wants to know that it was burnt, and that is known.
    if (phase === 'recover' && error instanceof ExecutorFault) return null;
    throw error;
  });
  if (attested === null) return waiting;
  const decimals = Number(context.prior?.prepared_action?.['decimals']);
  return {
    ...settled,
    output: {
      ...output,
      ...since(context),
      ...attestedFacts(attested.message, decimals),
      attested_message: attested.bytes.message,
      attestation: attested.bytes.attestation,
    },
  };
}

/** What its mint goes by. */
function since({ prior }: ExecutionContext): JsonObject {
  const { destination_block: block, venue_entries: entries } = prior?.prepared_action ?? {};
  return {
    ...(typeof block === 'string' ? { destination_block: block } : {}),
    ...(typeof entries === 'string' ? { venue_entries: entries } : {}),
  };
}

/** What an attested message says beside the burn. */
export function attestedFacts(attested: BurnMessage, decimals: number): JsonObject {
  return {
    message_nonce: attested.nonce,
    finality_executed: attested.finality_executed,
    ...(Number.isInteger(decimals)
      ? { fee_executed: fromBaseUnits(attested.fee_executed, decimals) }
      : {}),
  };
}

/** Throws `rejected` `SIGNER_CALLER_MISMATCH` where the burn lets somebody else alone mint. */
export function requireCaller(destinationCaller: Hex, minter: Address): void {
  if (destinationCaller === ANYBODY || destinationCaller === padded(minter)) return;
  throw rejected(
    'SIGNER_CALLER_MISMATCH',
    `the burn lets only 0x${destinationCaller.slice(26)} mint, and ${minter} would`,
  );
}
