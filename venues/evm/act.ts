/**
 * The one transaction by which a node moves something on a chain. An act names what it moves, to
 * whom, by which terms and over which path; that what is signed is this and nothing more is held
 * here, for every act. How it is signed, sent, replaced and proven stands in settle.ts.
 */
import type { Address, TransactionReceipt } from 'viem';
import {
  ExecutorFault,
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
import type { EvmCall } from './call.ts';
import type { EvmConnection } from './client.ts';
import type { EvmVenue } from './config.ts';
import { baseUnits } from './plan.ts';
import { payeeProblem } from './payee-problem.ts';
import { callProblem } from './verify-call.ts';
import { wordOf } from './words.ts';

export type Verdict = { readonly ok: true } | { readonly ok: false; readonly problem: string };

/**
 * What a mined transaction that did not revert has done: the act, with its facts as output; or
 * something that counts neither as the act nor as nothing.
 */
export type Did =
  | { readonly ok: true; readonly output: JsonObject }
  | { readonly ok: false; readonly error_code: string; readonly error_message: string };

/** An act on its chain, as whatever sends and settles it knows it. */
export interface ChainAct {
  readonly chain_id: number;
  /** What it calls, repeated to explain a revert; null: what the signed bytes say. */
  readonly call: EvmCall | null;
  /** Whether a transaction is exactly this act. `problem` is a sentence for the timeline. */
  verify(unsigned: EvmUnsignedTransaction): Verdict;
  /** `from` is whose funds it moves. */
  did(from: Address, receipt: TransactionReceipt): Did;
  /**
   * Read before a node is failed or freed: what somebody else has done in its place; null where
   * there is none.
   */
  instead?(connection: EvmConnection): Promise<ExecutionResult | null>;
}

/** Makes the act of a node, which may read its chain (the token's decimals). */
export type ActOn = (connection: EvmConnection) => Promise<ChainAct>;

/** What of a node its act is read from, by a phase and by the check of what it signs alike. */
export type ActInput = Pick<ExecutionContext, 'action_type' | 'config' | 'asset' | 'amount'> &
  Partial<Pick<ExecutionContext, 'matched' | 'prior' | 'completion_assurance'>>;

/** All that a plan moves. No member is optional: an act that leaves one out does not compile. */
export interface Move {
  readonly chain_id: number;
  readonly outflow: {
    /** Null: the chain's own coin. */
    readonly token: Address | null;
    /** Decimal string in units of the asset. The frame refuses any other than the node's own. */
    readonly amount: string;
    /** Whether the signer must hold it; not of what is only allowed, or minted. */
    readonly leaves_signer: boolean;
    /** Whether its bridge is paid in the chain's coin, up to the budget of the path. */
    readonly pays_bridge: boolean;
  };
  readonly payee: {
    readonly address: Address;
    /** The field of the node's config that names it. */
    readonly field: string;
    /** The chain it is on, none of whose own contracts it may be; null: it may be one of them. */
    readonly venue: EvmVenue | null;
  };
  /** What of the venues file it goes by. What was prepared or sent is judged by no other. */
  readonly terms: string | null;
  /** Both ends of its bridge, which the frame requires to be there and not paused. */
  readonly path: { readonly here: PathEnd; readonly there: PathEnd } | null;
}

export interface PathEnd {
  readonly venue: Pick<EvmVenue, 'chain_id' | 'venue_key'>;
  readonly contracts: readonly Address[];
}

/** Where and for whom an act is made. */
export interface At {
  readonly connection: EvmConnection;
  readonly from: Address;
  /** The outflow in base units of its token, which has these decimals. */
  readonly units: bigint;
  readonly decimals: number;
  readonly of: ActInput;
  readonly phase: 'observe' | 'recover';
}

/** What differs between acts once their chain is known. */
export interface Effect extends Pick<ChainAct, 'did' | 'instead'> {
  /** The one call, with this many wei for the bridge; null: `problem` says what may be signed. */
  readonly call: ((fee: bigint) => EvmCall) | null;
  /** In place of a comparison with `call`: what differs, or null. */
  problem?(unsigned: EvmUnsignedTransaction): string | null;
}

export interface Act<Plan> {
  readonly descriptor: ExecutorDescriptor;
  /** Names it in sentences: `the transaction calls 0x…, the burn 0x…`. */
  readonly noun: string;
  /** @throws ExecutorFault `rejected` where the node is no such act. */
  read(of: ActInput): Plan;
  move(plan: Plan): Move;
  effect(plan: Plan, at: At): Effect | Promise<Effect>;
  /** Why nothing may be signed for it, beside what the frame refuses; what is out is settled. */
  refusal?(plan: Plan, of: ActInput): ExecutorFault | null;
  /** How deep its block has to be, where that is not for its node to say. */
  readonly assurance?: CompletionAssurance;
}

/** What all executors of the service that send acts to a chain have in common. */
export function actDescriptor(
  of: Pick<
    ExecutorDescriptor,
    'executor_key' | 'action_types' | 'provider' | 'completion_assurances'
  >,
): ExecutorDescriptor {
  return {
    kind: 'local',
    chain_family: 'evm',
    // Its bytes are stored before they are sent, and one nonce lands once.
    same_key_safe: true,
    // Recover never believes a "not found": it asks who used the nonce in a finalized block.
    settle_seconds: 0,
    timeout_seconds: 30,
    // The module is, but its endpoints are elsewhere and may take seconds.
    in_process: false,
    sends: true,
    not_payees: [],
    ...of,
  };
}

/** The act of a plan for its signer; `phase` is of a look at what was sent. */
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

/** The act with its effect, held to what it says that it moves: `units` of its token. */
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
  };
}

/** Whatever the act itself compares: the payee and the amount stand in what is signed. */
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

/** Why nothing may be signed for the node by this plan: its payee, its amount, the act's own. */
export function refusalOf<Plan>(act: Act<Plan>, plan: Plan, of: ActInput): ExecutorFault | null {
  const { payee, outflow } = act.move(plan);
  const problem =
    payee.venue === null ? null : payeeProblem(payee.field, payee.address, payee.venue);
  if (problem !== null) return new ExecutorFault('rejected', 'CONFIG_INVALID', problem);
  if (compare(outflow.amount, of.amount) !== 0)
    return new ExecutorFault(
      'rejected',
      'CONFIG_INVALID',
      `the ${act.noun} is of ${of.amount}, and would move ${outflow.amount}`,
    );
  return act.refusal?.(plan, of) ?? null;
}

/** What a node of a lane of its own may have signed; null where it is none of that lane's. */
export type ActReader = (node: SignedNode, from: Address) => PlannedAct | PlannedMessage | null;

/** What is signed for somebody who is on no chain: exactly this, and by our own executor alone. */
export interface PlannedMessage {
  readonly typed_data: JsonObject;
}

/** @throws ExecutorFault where the plan cannot be read. */
export interface PlannedAct {
  readonly chain_id: number;
  readonly act: ActOn;
  /** As in {@link Move}. */
  readonly terms: string | null;
  /** How deep its block has to be, where that is not for its plan to say. */
  readonly assurance?: CompletionAssurance;
  /** Why nothing may be signed for it; what is out already is settled all the same. */
  readonly refusal?: string | null;
}

/** What nodes of these acts may have signed. */
export function actReader(...acts: readonly Act<unknown>[]): ActReader {
  return ({ node, amount, matched, output }, from) => {
    const act = acts.find(({ descriptor }) => descriptor.action_types.includes(node.action_type));
    if (act === undefined) return null;
    const { action_type, config, asset } = node;
    const of: ActInput = {
      ...{ action_type, config, asset, amount },
      ...(matched === undefined ? {} : { matched }),
      ...(output === undefined ? {} : { prior: { output } }),
    };
    return plannedAct(act, of, from);
  };
}

/** The act of a node, as whatever checks, sends and settles what is signed for it takes it. */
export function plannedAct<Plan>(
  act: Act<Plan>,
  of: ActInput,
  from: Address,
  phase?: At['phase'],
): PlannedAct & { readonly plan: Plan } {
  const plan = act.read(of);
  const { chain_id, terms } = act.move(plan);
  return {
    ...{ plan, chain_id, terms },
    act: actOn(act, plan, from, of, phase),
    refusal: refusalOf(act, plan, of)?.message ?? null,
    ...(act.assurance === undefined ? {} : { assurance: act.assurance }),
  };
}
