/**
 * `bridge_c.send`: sends tokens to another chain by the contract that carries them, and pays the
 * bridge in the coin of this one. What could keep them from being received is asked before.
 */
import type { Address } from 'viem';
import type {
  CallOptions,
  ExecutionContext,
  ExecutionResult,
  Executor,
  ExecutorDescriptor,
  SubmitJournal,
} from '../../domain/executor.ts';
import { feeWithinBudget } from '../../domain/bridges/path-ready.ts';
import { fromBaseUnits, toBaseUnits } from '../../domain/money.ts';
import { ACT_EXECUTOR } from '../evm/act-executor.ts';
import type { EvmCall } from '../evm/call.ts';
import { finalizedNumber, NATIVE_DECIMALS, type EvmConnection } from '../evm/client.ts';
import { requireBalance, requireGas, unsignedOf } from '../evm/draft.ts';
import { failWhenRejected } from '../evm/errors.ts';
import { quoteGas, type GasQuote } from '../evm/fees.ts';
import { checkChains } from '../evm/health.ts';
import { readSigner } from '../evm/plan.ts';
import { requireAllowance } from '../evm/require-allowance.ts';
import { requireSameEntries } from '../evm/same-entries.ts';
import { sendSigned, stillUnderWay } from '../evm/send-signed.ts';
import { settleAct } from '../evm/settle.ts';
import { OFT } from './contracts.ts';
import {
  entriesOf,
  readSendPlan,
  rejected,
  sendRefusal,
  type Bridge,
  type SendPlan,
} from './plan.ts';
import { requireEnds, requireReceipt, requireWhole, told } from './route.ts';
import { sendCall, sendOn, sendParam, unitsOf, type SendUnits } from './send-act.ts';

export const BRIDGE_C_SEND_DESCRIPTOR: ExecutorDescriptor = {
  ...ACT_EXECUTOR,
  executor_key: 'bridge_c.send',
  action_types: ['bridge_c_send'],
  provider: 'bridge_c',
  // It shows that the funds are on their way; that they arrived is for the other chain to show.
  completion_assurances: ['provider_completed'],
};

/** It holds no state of its own: the journal and the chains do. */
export function createBridgeSendExecutor(bridge: Bridge): Executor {
  const { chains, venues } = bridge;
  const look = (
    phase: 'observe' | 'recover',
    context: ExecutionContext,
    call: CallOptions,
    journal: SubmitJournal,
  ): Promise<ExecutionResult> => settleSend(bridge, { phase, context, call, journal });
  return {
    descriptor: BRIDGE_C_SEND_DESCRIPTOR,
    preflight: (context, call) =>
      failWhenRejected(async () => {
        await draft(bridge, context, call);
        return null;
      }),
    prepare: (context, call) => failWhenRejected(() => prepare(bridge, context, call)),
    submit: (input, call) =>
      sendSigned(
        chains,
        plannedSend(input.context, readSigner(input.context), venues),
        input,
        call,
      ),
    observe: (context, call, journal) => look('observe', context, call, journal),
    recover: (context, call, journal) => look('recover', context, call, journal),
    cancel: (context) => Promise.resolve(stillUnderWay(context.prior?.external_ref)),
    health: (call) => checkChains(chains, call),
  };
}

/** The act of a send. */
export function plannedSend(
  of: Pick<ExecutionContext, 'config' | 'amount' | 'asset'>,
  from: Address,
  venues: Bridge['venues'],
) {
  const plan = readSendPlan(of, venues);
  return {
    chain_id: plan.from.venue.chain_id,
    act: sendOn(plan, from),
    refusal: sendRefusal(plan),
    // Whatever less is asked of it: its packet has another id when its block is taken back.
    assurance: 'destination_finalized' as const,
  };
}

interface Draft {
  readonly plan: SendPlan;
  readonly from: Address;
  readonly moved: SendUnits;
  readonly call: EvmCall;
  readonly quote: GasQuote;
  readonly destination: EvmConnection;
}

/**
 * @throws ExecutorFault `rejected` with the codes of the plan's reading, `SIGNER_MISSING`,
 *   `TOKEN_MISSING`, `AMOUNT_PRECISION`, `INSUFFICIENT_FUNDS`, `BRIDGE_ROUTE_MISSING`,
 *   `BRIDGE_AMOUNT_REFUSED`, `BRIDGE_PATH_NOT_READY`, `BRIDGE_FEE_OVER_BUDGET`,
 *   `DESTINATION_TOKEN_MISSING`, `RECEIPT_WOULD_FAIL`, `TRANSACTION_WOULD_REVERT`; retryable
 *   `ALLOWANCE_INSUFFICIENT`.
 */
async function draft(
  { chains, venues }: Bridge,
  context: ExecutionContext,
  options: CallOptions,
): Promise<Draft> {
  const plan = readSendPlan(context, venues);
  const refusal = sendRefusal(plan);
  if (refusal !== null) throw rejected('CONFIG_INVALID', refusal);
  const from = readSigner(context);
  const [connection, destination] = await Promise.all([
    chains.open(plan.from.venue.chain_id, options),
    chains.open(plan.to.venue.chain_id, options),
  ]);
  await requireEnds(connection, destination, plan);
  const moved = await unitsOf(connection, plan);
  const { token, oft } = plan.from;
  const holds = await requireBalance(connection, { token, from, ...moved });
  const pulls = await told(connection, (client) =>
    client.readContract({ address: oft, abi: OFT, functionName: 'approvalRequired' }),
  );
  if (pulls) await requireAllowance(connection, { token, owner: from, spender: oft, ...moved });
  await requireWhole(connection, plan, moved);
  await requireReceipt(destination, plan, moved);
  const value = await feeOf(connection, context, plan, moved);
  const call = sendCall(plan, moved.units, from, value);
  const quote = await quoteGas(connection, from, call);
  requireGas(connection, { call, quote, holds });
  return { plan, from, moved, call, quote, destination };
}

/**
 * What the bridge asks, and a tenth more, which comes back when it is too much: prices move until
 * it is mined. Never more than the path may cost.
 */
async function feeOf(
  connection: EvmConnection,
  { bridge_path }: Pick<ExecutionContext, 'bridge_path'>,
  plan: SendPlan,
  { units }: SendUnits,
): Promise<bigint> {
  if (bridge_path === undefined)
    throw rejected('BRIDGE_PATH_NOT_READY', 'nobody says what its path may cost');
  const { nativeFee } = await told(connection, (client) =>
    client.readContract({
      address: plan.from.oft,
      abi: OFT,
      functionName: 'quoteSend',
      args: [sendParam(plan, units), false],
    }),
  );
  const fee = fromBaseUnits(nativeFee, NATIVE_DECIMALS);
  const within = feeWithinBudget(fee, bridge_path);
  if (!within.ok)
    throw rejected(
      within.code,
      `the bridge asks ${fee} ${connection.venue.native_asset}, and its path may cost ${bridge_path.fee_native_budget}`,
    );
  const more = nativeFee + nativeFee / 10n;
  const budget = toBaseUnits(bridge_path.fee_native_budget, NATIVE_DECIMALS);
  return budget === null || more <= budget ? more : budget;
}

async function prepare(
  bridge: Bridge,
  context: ExecutionContext,
  options: CallOptions,
): Promise<ExecutionResult> {
  const { plan, from, moved, call, quote, destination } = await draft(bridge, context, options);
  const last = await finalizedNumber(destination);
  const { chain_id } = plan.from.venue;
  const budget = context.bridge_path?.detection_latency_budget_seconds;
  return {
    next_state: 'SUBMITTING',
    prepared_action: {
      source_chain_id: chain_id,
      destination_chain_id: plan.to.venue.chain_id,
      token_address: plan.from.token,
      destination_address: plan.recipient,
      amount: plan.amount,
      asset: context.asset,
      from_address: from,
      decimals: moved.decimals,
      base_units: moved.units.toString(),
      bridge_fee_amount: fromBaseUnits(call.value, NATIVE_DECIMALS),
      bridge_fee_asset: plan.from.venue.native_asset,
      ...(budget === undefined ? {} : { detection_latency_budget_seconds: budget }),
      venue_entries: entriesOf(plan),
      // It is received in no older block.
      destination_block: (last > 0n ? last : 0n).toString(),
    },
    sign_request: { kind: 'evm_transaction', payload: unsignedOf(chain_id, call, quote) },
  };
}

interface Look {
  readonly phase: 'observe' | 'recover';
  readonly context: ExecutionContext;
  readonly call: CallOptions;
  readonly journal: SubmitJournal;
}

/** As any act; once completed, with what its other end has to know. */
async function settleSend(
  { chains, venues }: Bridge,
  { phase, context, call, journal }: Look,
): Promise<ExecutionResult> {
  const from = readSigner(context);
  requireSameEntries(
    context.prior?.prepared_action?.['venue_entries'],
    entriesOf(readSendPlan(context, venues)),
  );
  const settled = await settleAct(chains, {
    ...plannedSend(context, from, venues),
    from,
    call,
    journal,
    phase,
  });
  if (settled.next_state !== 'COMPLETED') return settled;
  const { fee_amount, fee_asset, ...output } = settled.output ?? {};
  const { destination_block, bridge_fee_amount, bridge_fee_asset, ...prepared } =
    context.prior?.prepared_action ?? {};
  const { detection_latency_budget_seconds: budget } = prepared;
  return {
    ...settled,
    // Of the bridge's own finality, which is its destination's to show, this says nothing.
    assurance: 'provider_completed',
    output: {
      ...output,
      ...(fee_amount === undefined ? {} : { gas_fee_amount: fee_amount }),
      ...(fee_asset === undefined ? {} : { gas_fee_asset: fee_asset }),
      // The most that it was: what was too much came back in the same transaction.
      ...(bridge_fee_amount === undefined ? {} : { fee_amount: bridge_fee_amount }),
      ...(bridge_fee_asset === undefined ? {} : { fee_asset: bridge_fee_asset }),
      ...(destination_block === undefined ? {} : { destination_block }),
      ...(budget === undefined ? {} : { detection_latency_budget_seconds: budget }),
    },
  };
}
