/**
 * The executor of an act (the one transaction of a node). Before anything is signed, the executor
 * checks payee, amount, terms and bridge path, in the same way for every act. Each act adds only
 * its own checks.
 */
import { parseAbi, type Address } from 'viem';
import { feeWithinBudget } from '../../domain/bridges/path-ready.ts';
import {
  ExecutorFault,
  type CallOptions,
  type ExecutionContext,
  type ExecutionResult,
  type Executor,
  type SubmitJournal,
} from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import { fromBaseUnits } from '../../domain/money.ts';
import { TERMS } from '../../domain/signing.ts';
import { rejected, failWhenRejected } from '../node-plan.ts';
import {
  plannedAct,
  refusalOf,
  type Act,
  type At,
  type Effect,
  type Move,
  type PathEnd,
} from './act.ts';
import type { EvmCall } from './call.ts';
import {
  finalizedNumber,
  NATIVE_DECIMALS,
  readBalance,
  type EvmChains,
  type EvmConnection,
} from './client.ts';
import { exactUnits } from './decimals.ts';
import { requireBalance, requireCode, requireGas, unsignedOf } from './draft.ts';
import { isContractRefusal } from './errors.ts';
import { quoteGas, type GasQuote } from './fees.ts';
import { checkChains } from './health.ts';
import { baseUnits, readSigner } from './plan.ts';
import { requireAllowance } from './require-allowance.ts';
import { requireSameEntries } from '../same-entries.ts';
import { sendSigned, stillUnderWay } from './send-signed.ts';
import { settleAct } from './settle.ts';

/** Input of an act's own checks before it is signed. */
export interface Drafting extends At {
  readonly context: ExecutionContext;
  readonly call: CallOptions;
  /** The chain at the other end of the act's path; the act's own chain if it has no path. */
  readonly there: EvmConnection;
}

/** The result of an act's own checks. */
export interface Ready {
  /** The contract that pulls the tokens from the signer and needs an allowance. */
  readonly spender?: Address;
  /** Fee of the bridge, in wei. */
  readonly fee?: bigint;
  /** The call to sign, if the effect does not name the call; null: the act is done already. */
  readonly call?: EvmCall | null;
  /** Makes an extra check while the gas is estimated; throws if the check fails. */
  requireAnswer?(call: EvmCall): Promise<void>;
  /** Handles a call that would revert; throws if there is no other way to complete the act. */
  reverted?(why: ExecutorFault): Promise<Ready>;
  /** Returns facts to record with the send; called only by prepare. */
  facts?(): JsonObject | Promise<JsonObject>;
}

/** A check of what was sent, by observe or recover. */
export interface ActLook {
  readonly phase: 'observe' | 'recover';
  readonly context: ExecutionContext;
  readonly call: CallOptions;
}

export interface ActParts<Plan> {
  /** Returns facts to record in addition to those of every act. */
  facts(plan: Plan): object;
  /**
   * Checks both ends of the path.
   *
   * @throws ExecutorFault if the two ends do not belong together, or not to the act's token.
   */
  requireEnds?(plan: Plan, here: EvmConnection, there: EvmConnection): Promise<void>;
  /**
   * Makes the act's own checks before signing.
   *
   * @throws ExecutorFault if the act could not be carried out.
   */
  ready?(plan: Plan, at: Drafting): Promise<Ready>;
  /** Changes the result of a send, once the send is mined, deep enough and its effect is seen. */
  completed?(
    plan: Plan,
    settled: ExecutionResult,
    look: ActLook,
  ): ExecutionResult | Promise<ExecutionResult>;
}

/**
 * Returns an executor that stores nothing: the journal and the chains hold all state. Preflight and
 * prepare return FAILED with the code of the refusal: `CONFIG_INVALID`, `SIGNER_MISSING`,
 * `CHAIN_NOT_CONFIGURED`, `CHAIN_ID_MISMATCH`, `TOKEN_MISSING`, `TOKEN_INVALID`,
 * `TOKEN_DECIMALS_MISMATCH`, `AMOUNT_PRECISION`, `INSUFFICIENT_FUNDS`, `TRANSACTION_WOULD_REVERT`,
 * `FEE_MARKET_MISSING`, `L1_FEE_UNKNOWN`; over a bridge also `BRIDGE_ROUTE_MISSING`,
 * `BRIDGE_PAUSED`, `BRIDGE_PATH_NOT_READY` and `BRIDGE_FEE_OVER_BUDGET`; and the codes of the act's
 * own checks.
 */
export function createActExecutor<Plan>(
  chains: EvmChains,
  act: Act<Plan>,
  parts: ActParts<Plan>,
): Executor {
  const look = async (
    phase: ActLook['phase'],
    context: ExecutionContext,
    call: CallOptions,
    journal: SubmitJournal,
  ): Promise<ExecutionResult> => {
    const from = readSigner(context);
    const { plan, ...planned } = plannedAct(act, context, from, phase);
    requireSameEntries(context.prior?.prepared_action?.[TERMS], act.move(plan).terms);
    const settled = await settleAct(chains, {
      assurance: context.completion_assurance,
      ...planned,
      from,
      call,
      journal,
      phase,
    });
    return settled.next_state === 'COMPLETED' && parts.completed !== undefined
      ? parts.completed(plan, settled, { phase, context, call })
      : settled;
  };
  return {
    descriptor: act.descriptor,
    preflight: (context, call) =>
      failWhenRejected(async () => {
        await draft(chains, act, parts, context, call);
        return null;
      }),
    prepare: (context, call) =>
      failWhenRejected(async () => {
        const drafted = await draft(chains, act, parts, context, call);
        const { move, sends } = drafted;
        return {
          next_state: 'SUBMITTING' as const,
          prepared_action: await recorded(parts, context, drafted),
          ...(sends === null
            ? {}
            : {
                sign_request: {
                  kind: 'evm_transaction' as const,
                  payload: unsignedOf(move.chain_id, sends.call, sends.quote),
                },
              }),
        };
      }),
    submit: (input, call) => {
      // The last check before signing (the fence) has compared the terms. The nonce is now
      // reserved, so the signed bytes are sent first and judged later.
      const planned = plannedAct(act, input.context, readSigner(input.context));
      return sendSigned(chains, planned, input, call);
    },
    observe: (context, call, journal) => look('observe', context, call, journal),
    recover: (context, call, journal) => look('recover', context, call, journal),
    cancel: (context) => Promise.resolve(stillUnderWay(context.prior?.external_ref)),
    health: (call) => checkChains(chains, call),
  };
}

interface Drafted<Plan> {
  readonly plan: Plan;
  readonly move: Move;
  readonly at: Drafting;
  readonly ready: Ready;
  /** The call to sign and its gas; null if another account has already done the act. */
  readonly sends: { readonly call: EvmCall; readonly quote: GasQuote } | null;
}

async function draft<Plan>(
  chains: EvmChains,
  act: Act<Plan>,
  parts: ActParts<Plan>,
  context: ExecutionContext,
  options: CallOptions,
): Promise<Drafted<Plan>> {
  const plan = act.read(context);
  const refusal = refusalOf(act, plan, context);
  if (refusal !== null) throw refusal;
  const move = act.move(plan);
  const { outflow, path } = move;
  const { token } = outflow;
  const from = readSigner(context);
  const opened = chains.open(move.chain_id, options);
  const [connection, there] = await Promise.all([
    opened,
    path === null ? opened : chains.open(path.there.venue.chain_id, options),
  ]);
  if (token !== null) await requireCode(connection, token);
  if (path !== null) {
    await requireOpen(connection, path.here);
    await requireOpen(there, path.there);
  }
  await parts.requireEnds?.(plan, connection, there);
  const decimals = await connection.decimals(token);
  const units = baseUnits(outflow, decimals);
  const at: Drafting = {
    connection,
    there,
    from,
    units,
    decimals,
    of: context,
    phase: 'observe',
    context,
    call: options,
  };
  const ready = (await parts.ready?.(plan, at)) ?? {};
  const drafted = { plan, move, at, ready };
  const effect = await act.effect(plan, at);
  if (effect.refusal !== undefined) throw effect.refusal;
  const call = await callOf(effect, drafted);
  if (call === null) return { ...drafted, sends: null };
  const holds = await (outflow.leaves_signer
    ? requireBalance(connection, { token, from, units, decimals })
    : readBalance(connection, { owner: from, token: null }));
  const { spender } = ready;
  if (spender !== undefined && token !== null)
    await requireAllowance(connection, { token, owner: from, spender, units, decimals });
  try {
    const [quote] = await Promise.all([
      quoteGas(connection, from, call),
      ready.requireAnswer?.(call),
    ]);
    requireGas(connection, { call, quote, holds });
    return { ...drafted, sends: { call, quote } };
  } catch (error) {
    if (!(error instanceof ExecutorFault) || error.code !== 'TRANSACTION_WOULD_REVERT') throw error;
    if (ready.reverted === undefined) throw error;
    return { ...drafted, ready: await ready.reverted(error), sends: null };
  }
}

/** Returns the call to sign, including the bridge's fee. */
async function callOf<Plan>(
  effect: Effect,
  { move, ready, at }: Pick<Drafted<Plan>, 'move' | 'ready' | 'at'>,
): Promise<EvmCall | null> {
  if (ready.call !== undefined) return ready.call;
  const fee = move.outflow.pays_bridge ? bridgeFee(at, ready.fee ?? 0n) : 0n;
  return effect.call?.(fee) ?? null;
}

/**
 * Returns the bridge's fee plus a tenth, since prices change until the transaction is mined; the
 * bridge refunds the excess. Never more than the path's budget.
 */
function bridgeFee({ connection, context }: Drafting, charged: bigint): bigint {
  const { bridge_path } = context;
  if (bridge_path === undefined)
    throw rejected('BRIDGE_PATH_NOT_READY', 'the bridge path has no budget for the bridge fee');
  const fee = fromBaseUnits(charged, NATIVE_DECIMALS);
  const within = feeWithinBudget(fee, bridge_path);
  if (!within.ok)
    throw rejected(
      within.code,
      `the bridge charges ${fee} ${connection.venue.native_asset}, and the bridge path allows at most ${bridge_path.fee_native_budget}`,
    );
  const more = charged + charged / 10n;
  const budget = exactUnits(bridge_path.fee_native_budget, NATIVE_DECIMALS);
  return budget === null || more <= budget ? more : budget;
}

/** Returns the facts recorded with a send, for its later checks and the node at the other end. */
async function recorded<Plan>(
  parts: ActParts<Plan>,
  { asset, bridge_path }: ExecutionContext,
  { plan, move, at, ready, sends }: Drafted<Plan>,
): Promise<JsonObject> {
  const { outflow, terms, path } = move;
  const last = path === null ? null : await finalizedNumber(at.there);
  const pays = outflow.pays_bridge && sends !== null;
  return {
    ...parts.facts(plan),
    amount: outflow.amount,
    asset,
    from_address: at.from,
    decimals: at.decimals,
    base_units: at.units.toString(),
    ...(terms === null ? {} : { [TERMS]: terms }),
    // Lower bound for the search: the funds cannot arrive in an older block of the destination.
    ...(last === null ? {} : { destination_block: (last > 0n ? last : 0n).toString() }),
    ...(pays
      ? {
          bridge_fee_amount: fromBaseUnits(sends.call.value, NATIVE_DECIMALS),
          bridge_fee_asset: at.connection.venue.native_asset,
        }
      : {}),
    ...(pays && bridge_path !== undefined
      ? { detection_latency_budget_seconds: bridge_path.detection_latency_budget_seconds }
      : {}),
    ...(await ready.facts?.()),
  };
}

/** Throws unless every contract of this end of the path exists and none is paused. */
async function requireOpen(
  connection: EvmConnection,
  { venue, contracts }: PathEnd,
): Promise<void> {
  for (const address of contracts) {
    if ((await connection.ask((client) => client.getCode({ address }))) === undefined)
      throw rejected(
        'BRIDGE_ROUTE_MISSING',
        `venue ${venue.venue_key} names ${address}, but no contract exists there`,
      );
    await requireUnpaused(connection, address);
  }
}

/** `paused()` is read as a whole word: every non-zero answer means paused. */
const PAUSABLE = parseAbi(['function paused() view returns (uint256)']);

/**
 * Throws if the contract is paused. A contract without `paused()` counts as not paused.
 *
 * @throws ExecutorFault `rejected` `BRIDGE_PAUSED`.
 */
export async function requireUnpaused(connection: EvmConnection, address: Address): Promise<void> {
  const paused = await connection.ask(async (client) => {
    try {
      const word = await client.readContract({ address, abi: PAUSABLE, functionName: 'paused' });
      return word !== 0n;
    } catch (error) {
      if (isContractRefusal(error)) return false;
      throw error;
    }
  });
  if (paused)
    throw rejected('BRIDGE_PAUSED', `${address} of venue ${connection.venue.venue_key} is paused`);
}

/** Renames the gas fields of a node's output: its `fee_amount` is the bridge's fee. */
export function gasAside(output: JsonObject | undefined): JsonObject {
  const { fee_amount, fee_asset, ...more } = output ?? {};
  return {
    ...more,
    ...(fee_amount === undefined ? {} : { gas_fee_amount: fee_amount }),
    ...(fee_asset === undefined ? {} : { gas_fee_asset: fee_asset }),
  };
}
