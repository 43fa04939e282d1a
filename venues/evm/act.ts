/**
 * An act is the one transaction by which a node moves something on a chain. The act names what it
 * moves, to whom, by which terms and over which path. This file checks for every act that the
 * signed transaction does exactly that. settle.ts sends, replaces and proves the transaction.
 */
import type { Address, TransactionReceipt } from 'viem';
import type { ExecutorFault } from '../../domain/executor.ts';
import {
  type CompletionAssurance,
  type EvmUnsignedTransaction,
  type ExecutionContext,
  type ExecutionResult,
  type ExecutorDescriptor,
} from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import { compare } from '../../domain/money.ts';
import type { SignedNode } from '../../domain/signing.ts';
import { sameEvmAddress } from '../../platform/evm-address.ts';
import { rejected } from '../node-plan.ts';
import type { EvmCall } from './call.ts';
import type { EvmConnection } from './client.ts';
import type { EvmVenue } from './config.ts';
import type { TokenDecimals } from './decimals.ts';
import { baseUnits } from './plan.ts';
import { payeeProblem } from './payee-problem.ts';
import { callProblem } from './verify-call.ts';
import { wordOf } from './words.ts';

export type Verdict = { readonly ok: true } | { readonly ok: false; readonly problem: string };

/**
 * The effect of a mined transaction that did not revert. If `ok`, the act happened, and `output`
 * has its facts; else the receipt does not prove whether the act happened.
 */
export type Did =
  | { readonly ok: true; readonly output: JsonObject }
  | { readonly ok: false; readonly error_code: string; readonly error_message: string };

/** A node's act on its chain, for sending and settling. */
export interface ChainAct {
  readonly chain_id: number;
  /** The act's call, repeated to explain a revert; null: take the call from the signed bytes. */
  readonly call: EvmCall | null;
  /** Checks whether a transaction is exactly this act. `problem` is a sentence for the timeline. */
  verify(unsigned: EvmUnsignedTransaction): Verdict;
  /** Returns the transaction's effect. `from` is the account whose funds it moves. */
  did(from: Address, receipt: TransactionReceipt): Did;
  /**
   * Returns the result if another account has done the act instead; else null. Called before a node
   * fails or its nonce is freed.
   */
  instead?(connection: EvmConnection): Promise<ExecutionResult | null>;
  /** Why it may not be signed on this chain; an already sent transaction is still settled. */
  readonly refusal?: ExecutorFault;
}

/** Makes the act of a node; may read the chain for it (the token's decimals). */
export type ActOn = (connection: EvmConnection) => Promise<ChainAct>;

/**
 * The parts of a node that describe its act, for the executor's phases and the sign-request check.
 */
export type ActInput = Pick<ExecutionContext, 'action_type' | 'config' | 'asset' | 'amount'> &
  Partial<Pick<ExecutionContext, 'matched' | 'prior' | 'completion_assurance'>>;

/** Everything that a plan moves. No member is optional, so an act cannot omit one. */
export interface Move {
  readonly chain_id: number;
  readonly outflow: {
    /** The token's contract; null: the chain's own coin. */
    readonly token: Address | null;
    /** Decimal string in units of the asset. Refused unless equal to the node's amount. */
    readonly amount: string;
    /** Whether the signer must hold the amount; false for an allowance or a mint. */
    readonly leaves_signer: boolean;
    /** Whether the bridge is paid in the chain's coin, up to the budget of the path. */
    readonly pays_bridge: boolean;
  };
  readonly payee: {
    readonly address: Address;
    /** The field of the node's config that names the payee. */
    readonly field: string;
    /** The payee's chain: none of its listed contracts may be the payee; null: no such check. */
    readonly venue: EvmVenue | null;
  };
  /**
   * The entries of the venues file that the act depends on; null: none. If these entries change,
   * an act that is already sent is not judged by the new entries.
   */
  readonly terms: string | null;
  /** Both ends of the act's bridge, whose contracts must exist and not be paused. */
  readonly path: { readonly here: PathEnd; readonly there: PathEnd } | null;
}

export interface PathEnd {
  readonly venue: Pick<EvmVenue, 'chain_id' | 'venue_key'>;
  readonly contracts: readonly Address[];
}

/** The chain and signer of an act, and its node. */
export interface At {
  readonly connection: EvmConnection;
  readonly from: Address;
  /** The outflow in base units of its token; `decimals` are the token's. */
  readonly units: bigint;
  readonly decimals: TokenDecimals;
  readonly of: ActInput;
  readonly phase: 'observe' | 'recover';
}

/** The parts of an act that depend on its chain. */
export interface Effect extends Pick<ChainAct, 'did' | 'instead' | 'refusal'> {
  /**
   * Returns the act's only call, with `fee` wei for the bridge; null: `problem` decides what may be
   * signed.
   */
  readonly call: ((fee: bigint) => EvmCall) | null;
  /**
   * Returns how the transaction differs from the act, or null. Replaces the comparison with `call`.
   */
  problem?(unsigned: EvmUnsignedTransaction): string | null;
}

export interface Act<Plan> {
  readonly descriptor: ExecutorDescriptor;
  /** Names the act in messages: `the transaction calls 0x…, the burn 0x…`. */
  readonly noun: string;
  /**
   * Reads the act's plan from its node.
   *
   * @throws ExecutorFault `rejected` if the node is not such an act.
   */
  read(of: ActInput): Plan;
  move(plan: Plan): Move;
  effect(plan: Plan, at: At): Effect | Promise<Effect>;
  /** Returns an extra reason to sign nothing; an already sent transaction is still settled. */
  refusal?(plan: Plan, of: ActInput): ExecutorFault | null;
  /** The required assurance, if the node may not choose it. */
  readonly assurance?: CompletionAssurance;
}

/** Returns the common descriptor of executors that send acts to a chain. */
export function actDescriptor(
  of: Pick<
    ExecutorDescriptor,
    'executor_key' | 'action_types' | 'provider' | 'completion_assurances'
  >,
): ExecutorDescriptor {
  return {
    kind: 'local',
    chain_family: 'evm',
    // The signed bytes are stored before they are sent, and a chain mines each nonce at most once.
    same_key_safe: true,
    // Recover never trusts "not found": it proves in a finalized block which transaction used the
    // nonce.
    settle_seconds: 0,
    timeout_seconds: 30,
    // The executor is in process, but its endpoints are remote and may need seconds.
    in_process: false,
    sends: true,
    not_payees: [],
    ...of,
  };
}

/** Returns the act of a plan for its signer; `phase` is observe or recover. */
export function actOn<Plan>(
  act: Act<Plan>,
  plan: Plan,
  from: Address,
  of: ActInput,
  phase: At['phase'] = 'observe',
): ActOn {
  return async (connection) => {
    const { outflow } = act.move(plan);
    const decimals = await connection.decimals(outflow.token);
    const units = baseUnits(outflow, decimals);
    const at = { connection, from, units, decimals, of, phase };
    return chainAct(act, plan, units, await act.effect(plan, at));
  };
}

/** Joins an act and its effect; `verify` also checks the payee and `units` against the move. */
export function chainAct<Plan>(
  act: Pick<Act<Plan>, 'move' | 'noun'>,
  plan: Plan,
  units: bigint,
  effect: Effect,
): ChainAct {
  const move = act.move(plan);
  const { chain_id, outflow } = move;
  return {
    chain_id,
    call: outflow.pays_bridge ? null : (effect.call?.(0n) ?? null),
    verify(unsigned) {
      const fee = outflow.pays_bridge ? BigInt(unsigned.value) : 0n;
      const problem =
        unsigned.chain_id !== chain_id
          ? `the transaction is for chain ${unsigned.chain_id}, the ${act.noun} for ${chain_id}`
          : (effect.problem?.(unsigned) ??
            (effect.call === null ? null : callProblem(unsigned, effect.call(fee), act.noun)) ??
            unnamed(move, units, unsigned));
      return problem === null ? { ok: true } : { ok: false, problem };
    },
    did: (from, receipt) => effect.did(from, receipt),
    ...(effect.instead === undefined ? {} : { instead: effect.instead.bind(effect) }),
    ...(effect.refusal === undefined ? {} : { refusal: effect.refusal }),
  };
}

/** Returns a problem unless the transaction itself names the payee and the amount; else null. */
function unnamed(
  { outflow, payee }: Move,
  units: bigint,
  { to, value, data }: EvmUnsignedTransaction,
): string | null {
  if (outflow.token === null)
    return sameEvmAddress(to, payee.address) && BigInt(value) === units
      ? null
      : `the transaction does not pay ${units} wei to ${payee.address}`;
  if (!outflow.pays_bridge && BigInt(value) !== 0n) return `the transaction carries ${value} wei`;
  const names = (word: bigint): boolean => data.toLowerCase().includes(wordOf(word));
  return names(BigInt(payee.address)) && names(units)
    ? null
    : `the calldata does not name ${payee.address} and ${units} base units`;
}

/** Returns why nothing may be signed: the payee, the amount or the act's own reason; else null. */
export function refusalOf<Plan>(act: Act<Plan>, plan: Plan, of: ActInput): ExecutorFault | null {
  const { payee, outflow } = act.move(plan);
  const problem =
    payee.venue === null ? null : payeeProblem(payee.field, payee.address, payee.venue);
  if (problem !== null) return rejected('CONFIG_INVALID', problem);
  if (compare(outflow.amount, of.amount) !== 0)
    return rejected(
      'CONFIG_INVALID',
      `the node moves ${of.amount}, and the ${act.noun} would move ${outflow.amount}`,
    );
  return act.refusal?.(plan, of) ?? null;
}

/** Returns what a node's plan lets its signer sign; null for an action type of another reader. */
export type ActReader = (node: SignedNode, from: Address) => PlannedAct | PlannedMessage | null;

/** A signed message for a venue that is not a chain; only our own executor may send it. */
export interface PlannedMessage {
  readonly typed_data: JsonObject;
}

/**
 * The transaction that a node may have signed on a chain.
 *
 * @throws ExecutorFault if the plan cannot be read.
 */
export interface PlannedAct {
  readonly chain_id: number;
  readonly act: ActOn;
  /** The entries of the venues file that the act depends on, as in {@link Move}. */
  readonly terms: string | null;
  /** The required assurance, if the plan may not choose it. */
  readonly assurance?: CompletionAssurance;
  /** Why nothing may be signed; an already sent transaction is still settled. */
  readonly refusal?: string | null;
}

/** Returns a reader of the transactions that nodes of these acts may have signed. */
export function actReader(...acts: readonly Act<unknown>[]): ActReader {
  return ({ node, amount, matched, output }, from) => {
    const act = acts.find(({ descriptor }) => descriptor.action_types.includes(node.action_type));
    if (act === undefined) return null;
    const { action_type, config, asset } = node;
    const of: ActInput = {
      action_type,
      config,
      asset,
      amount,
      ...(matched === undefined ? {} : { matched }),
      ...(output === undefined ? {} : { prior: { output } }),
    };
    return plannedAct(act, of, from);
  };
}

/** Returns the act of a node, for checking, sending and settling its transaction. */
export function plannedAct<Plan>(
  act: Act<Plan>,
  of: ActInput,
  from: Address,
  phase?: At['phase'],
): PlannedAct & { readonly plan: Plan } {
  const plan = act.read(of);
  const { chain_id, terms } = act.move(plan);
  return {
    plan,
    chain_id,
    terms,
    act: actOn(act, plan, from, of, phase),
    refusal: refusalOf(act, plan, of)?.message ?? null,
    ...(act.assurance === undefined ? {} : { assurance: act.assurance }),
  };
}
