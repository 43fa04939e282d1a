/** Judges what a mined transaction proves, once its block is deep enough. */
import type { Address, TransactionReceipt } from 'viem';
import { depthFor, shownAt, type BlockDepth } from '../../domain/chains/assurance-table.ts';
import {
  COMPLETION_ASSURANCES,
  ExecutorFault,
  type CompletionAssurance,
  type ExecutionResult,
} from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import { fromBaseUnits } from '../../domain/money.ts';
import type { ChainAct } from './act.ts';
import type { EvmCall } from './call.ts';
import {
  finalizedNumber,
  NATIVE_DECIMALS,
  readBlock,
  readReceipt,
  type EvmConnection,
} from './client.ts';
import { revertReason } from './revert-reason.ts';
import type { SignedTransaction } from './signed-bytes.ts';

/** A transfer can prove every assurance: its destination is on the same chain. */
export const TRANSFER_ASSURANCES: readonly CompletionAssurance[] = COMPLETION_ASSURANCES;

/**
 * The account whose funds a transaction moves. `relayed`: another account sent the transaction and
 * paid the gas. `call`: the signed call, if there is one.
 */
export type Sender = Pick<SignedTransaction, 'tx_hash' | 'from'> & {
  readonly relayed?: boolean;
  readonly call?: EvmCall;
};

export interface Landed {
  readonly act: ChainAct;
  readonly signed: Sender;
  readonly receipt: TransactionReceipt;
}

/** The phase that checks a sent transaction. */
export type LookPhase = 'observe' | 'recover';

/**
 * Returns COMPLETED with the act's facts once the block is deep enough for `assurance`; OBSERVING
 * before, and when the block is no longer canonical. Any other outcome counts only from a finalized
 * block, since until then a reorganisation could still let this transaction succeed. A revert is
 * FAILED `TRANSACTION_REVERTED`, since nothing has moved, unless another account has done the act
 * instead. If the act cannot read the outcome, the result is undecided, since FAILED would permit
 * another attempt.
 */
export async function judgeLanded(
  connection: EvmConnection,
  landed: Landed,
  assurance: CompletionAssurance,
  phase: LookPhase,
): Promise<ExecutionResult> {
  const { act, receipt, signed } = landed;
  const did = receipt.status === 'reverted' ? null : act.did(signed.from as Address, receipt);
  const depth = did?.ok === true ? depthFor(assurance) : 'final';
  const settled = await settledNumber(connection, depth);
  if (receipt.blockNumber > settled || !(await isCanonical(connection, receipt)))
    return observing(connection, signed);
  const cost = costOf(connection, signed, receipt);
  if (did === null) return judgeReverted(connection, landed, cost);
  if (!did.ok) return undecided(phase, did.error_code, `${did.error_message} (${signed.tx_hash})`);
  return {
    next_state: 'COMPLETED',
    external_ref: signed.tx_hash,
    output: { ...cost, ...did.output },
    assurance: shownAt(depth, TRANSFER_ASSURANCES),
  };
}

/** Returns FAILED once enough endpoints agree, unless another account has done the act instead. */
async function judgeReverted(
  connection: EvmConnection,
  landed: Landed,
  cost: JsonObject,
): Promise<ExecutionResult> {
  const { act, receipt, signed } = landed;
  const instead = (await act.instead?.(connection)) ?? null;
  if (instead !== null) return withCost(instead, cost);
  if (!(await isAgreed(connection, receipt))) return observing(connection, signed);
  const why = await whyReverted(connection, landed);
  return {
    next_state: 'FAILED',
    error_code: 'TRANSACTION_REVERTED',
    error_message: why === null ? REVERTED : `${REVERTED}: ${why}`,
    external_ref: signed.tx_hash,
    output: cost,
  };
}

/** Returns another account's act with what our own transaction, which moved nothing, has cost. */
export function withCost(instead: ExecutionResult, cost: JsonObject = {}): ExecutionResult {
  if (instead.next_state !== 'COMPLETED') return instead;
  const { tx_hash: _hash, block_number: _block, ...fee } = cost;
  return { ...instead, output: { ...fee, ...instead.output } };
}

const REVERTED = 'the transaction was mined and reverted; only gas was spent';

/**
 * Returns the contract's revert reason when the call is repeated on the state after its block; null
 * if the call does not revert there. The reason only explains the failure.
 */
async function whyReverted(
  connection: EvmConnection,
  { act, signed, receipt }: Landed,
): Promise<string | null> {
  const call = act.call ?? signed.call;
  if (call === undefined) return null;
  try {
    await connection.raw((client) =>
      client.call({ account: signed.from as Address, blockNumber: receipt.blockNumber, ...call }),
    );
    return null;
  } catch (error) {
    return revertReason(error);
  }
}

/**
 * Returns FAILED `TRANSACTION_CANCELLED` once the block of the cancelling zero-value transaction is
 * final: the payment can then never be mined. Returns OBSERVING before.
 */
export async function judgeCancelled(
  connection: EvmConnection,
  { signed, receipt }: { readonly signed: SignedTransaction } & Pick<Landed, 'receipt'>,
): Promise<ExecutionResult> {
  if (
    receipt.blockNumber > (await finalizedNumber(connection)) ||
    !(await isCanonical(connection, receipt)) ||
    !(await isAgreed(connection, receipt))
  )
    return observing(connection, signed);
  return {
    next_state: 'FAILED',
    external_ref: signed.tx_hash,
    error_code: 'TRANSACTION_CANCELLED',
    error_message: `nothing was moved: a zero-value transaction used nonce ${signed.nonce} in a finalized block`,
    output: costOf(connection, signed, receipt),
  };
}

/**
 * Returns the result of a check that proves nothing: UNKNOWN for recover, a retryable fault for
 * observe.
 */
export function undecided(phase: LookPhase, code: string, message: string): ExecutionResult {
  if (phase === 'recover')
    return { next_state: 'UNKNOWN', error_code: code, error_message: message };
  throw new ExecutorFault('protocol', code, message);
}

function costOf(
  connection: EvmConnection,
  signed: Sender,
  receipt: TransactionReceipt,
): JsonObject {
  return {
    tx_hash: signed.tx_hash,
    block_number: receipt.blockNumber.toString(),
    fee_amount: signed.relayed === true ? '0' : fromBaseUnits(gasCost(receipt), NATIVE_DECIMALS),
    fee_asset: connection.venue.native_asset,
  };
}

/** Returns OBSERVING: check the transaction again after the venue's poll interval. */
export function observing(
  connection: EvmConnection,
  signed: Pick<SignedTransaction, 'tx_hash'>,
): ExecutionResult {
  return {
    next_state: 'OBSERVING',
    external_ref: signed.tx_hash,
    retry_after_seconds: connection.venue.poll_interval_seconds,
  };
}

/** Returns the number of the newest block at this depth; negative while there is none. */
export function settledNumber(connection: EvmConnection, depth: BlockDepth): Promise<bigint> {
  return depth === 'final' ? finalizedNumber(connection) : confirmedNumber(connection);
}

/** Returns the newest block that has the venue's confirmations, including its own. */
async function confirmedNumber(connection: EvmConnection): Promise<bigint> {
  return (
    (await readBlock(connection, 'latest')).number - BigInt(connection.venue.confirmations) + 1n
  );
}

/**
 * Returns whether enough endpoints show the same outcome in a final block. A failure allows a
 * second payment, so it needs as much proof as "nothing landed".
 */
async function isAgreed(connection: EvmConnection, receipt: TransactionReceipt): Promise<boolean> {
  const agreements = await connection.witnesses(async (one) => {
    const [theirs, last] = await Promise.all([
      readReceipt(one, receipt.transactionHash),
      finalizedNumber(one),
    ]);
    return (
      theirs?.blockHash === receipt.blockHash &&
      theirs.status === receipt.status &&
      theirs.blockNumber <= last
    );
  });
  return agreements.every(Boolean);
}

/** Returns a block number that an output has recorded; null if there is none. */
export function recordedBlock(value: unknown): bigint | null {
  return typeof value === 'string' && /^[0-9]+$/.test(value) ? BigInt(value) : null;
}

/** Returns whether the block of the receipt is still canonical. */
export async function isCanonical(
  connection: EvmConnection,
  receipt: TransactionReceipt,
): Promise<boolean> {
  return (await readBlock(connection, receipt.blockNumber)).hash === receipt.blockHash;
}

/** Returns the cost in wei. OP-family rollups report their layer-1 charge in an extra field. */
function gasCost(receipt: TransactionReceipt): bigint {
  const layer1 =
    'l1Fee' in receipt && typeof receipt.l1Fee === 'string' ? BigInt(receipt.l1Fee) : 0n;
  return receipt.gasUsed * receipt.effectiveGasPrice + layer1;
}
