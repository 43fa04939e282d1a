/**
 * The one transaction by which a node moves something on a chain: what exactly may be signed for
 * it, and what it has done once it is mined. How it is signed, sent, replaced and proven is the
 * same for every act (settle.ts).
 */
import type { Address, TransactionReceipt } from 'viem';
import type { EvmUnsignedTransaction, ExecutionResult } from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { EvmCall } from './call.ts';
import type { EvmConnection } from './client.ts';

export type Verdict = { readonly ok: true } | { readonly ok: false; readonly problem: string };

/**
 * What a mined transaction that did not revert has done: the act, with its facts as output; or
 * something that nobody can take for it nor for nothing.
 */
export type Did =
  | { readonly ok: true; readonly output: JsonObject }
  | { readonly ok: false; readonly error_code: string; readonly error_message: string };

export interface ChainAct {
  readonly chain_id: number;
  /** What it calls, asked again where it reverted; null: what the signed bytes say. */
  readonly call: EvmCall | null;
  /** Whether a transaction is exactly this act. `problem` is a sentence for the timeline. */
  verify(unsigned: EvmUnsignedTransaction): Verdict;
  /** `from` is whose funds it moves. */
  did(from: Address, receipt: TransactionReceipt): Did;
  /**
   * Asked before it is said that nothing was done and nothing can be any more: what somebody else
   * has done in its place; null where nobody has.
   */
  instead?(connection: EvmConnection): Promise<ExecutionResult | null>;
}

/** Makes the act of a node, which may take a look at its chain (the token's decimals). */
export type ActOn = (connection: EvmConnection) => Promise<ChainAct>;
