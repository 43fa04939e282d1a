/** What a mined transaction has proven, and whether it is deep enough to say so. */
import { isAddressEqual, parseEventLogs, erc20Abi, type TransactionReceipt } from 'viem';
import { depthFor, shownAt, type BlockDepth } from '../../domain/chains/assurance-table.ts';
import {
  COMPLETION_ASSURANCES,
  ExecutorFault,
  type CompletionAssurance,
  type ExecutionResult,
} from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import { fromBaseUnits } from '../../domain/money.ts';
import {
  finalizedNumber,
  NATIVE_DECIMALS,
  readBlock,
  readReceipt,
  type EvmConnection,
} from './client.ts';
import { baseUnits, transferCall, type TransferPlan } from './plan.ts';
import { revertReason } from './revert-reason.ts';
import type { SignedTransfer } from './signed-transfer.ts';

/**
 * What a transfer can show: the destination's balance is on the chain itself, whose finality is all
 * the protocol there is.
 */
export const TRANSFER_ASSURANCES: readonly CompletionAssurance[] = COMPLETION_ASSURANCES;

/** Whose transfer it is; `relayed`: another account sent its transaction, and paid for it. */
export type Sender = Pick<SignedTransfer, 'tx_hash' | 'from'> & { readonly relayed?: boolean };

export interface Landed {
  readonly plan: TransferPlan;
  readonly decimals: number;
  readonly signed: Sender;
  readonly receipt: TransactionReceipt;
}

/** The phase in which a transaction is looked at. */
export type LookPhase = 'observe' | 'recover';

/**
 * COMPLETED with the transfer's facts once the block is deep enough for `assurance`; OBSERVING
 * before, and when the block is no longer canonical. What went otherwise is told only from a
 * finalized block, since before that a reorganisation could still let this transaction succeed:
 * `TRANSACTION_REVERTED` fails, for nothing has moved. `TRANSFER_DIVERTED` and `TRANSFER_NOT_SEEN`
 * are undecided: the token has left, or only its log is missing, and a failure would count as
 * unsent and permit another attempt.
 */
export async function judgeLanded(
  connection: EvmConnection,
  landed: Landed,
  assurance: CompletionAssurance,
  phase: LookPhase,
): Promise<ExecutionResult> {
  const oddity = oddityOf(landed);
  const depth = oddity === null ? depthFor(assurance) : 'final';
  const settled = await settledNumber(connection, depth);
  const { receipt, signed } = landed;
  if (receipt.blockNumber > settled || !(await isCanonical(connection, receipt)))
    return observing(connection, signed);
  const cost = costOf(connection, signed, receipt);
  if (oddity?.next_state === 'UNKNOWN')
    return undecided(phase, oddity.error_code, `${oddity.error_message} (${signed.tx_hash})`);
  if (oddity !== null) {
    if (!(await isAgreed(connection, receipt))) return observing(connection, signed);
    const why = await whyReverted(connection, landed);
    const error_message = why === null ? oddity.error_message : `${oddity.error_message}: ${why}`;
    return { ...oddity, error_message, external_ref: signed.tx_hash, output: cost };
  }
  return {
    next_state: 'COMPLETED',
    external_ref: signed.tx_hash,
    output: { ...cost, ...amounts(landed) },
    assurance: shownAt(depth, TRANSFER_ASSURANCES),
  };
}

/**
 * What the contract said, asked again on the state that its block left; null where that says
 * nothing. It explains and decides nothing.
 */
async function whyReverted(
  connection: EvmConnection,
  { plan, decimals, signed, receipt }: Landed,
): Promise<string | null> {
  try {
    await connection.raw((client) =>
      client.call({
        account: signed.from,
        blockNumber: receipt.blockNumber,
        ...transferCall(plan, baseUnits(plan, decimals)),
      }),
    );
    return null;
  } catch (error) {
    return revertReason(error);
  }
}

/**
 * FAILED `TRANSACTION_CANCELLED` once the block of the version that moves nothing is final: the
 * payment can then never be mined. OBSERVING before.
 */
export async function judgeCancelled(
  connection: EvmConnection,
  { signed, receipt }: { readonly signed: SignedTransfer } & Pick<Landed, 'receipt'>,
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
    error_message: `nothing was moved: a transaction that pays nobody used nonce ${signed.nonce} in a finalized block`,
    output: costOf(connection, signed, receipt),
  };
}

/**
 * A look that proves neither: an answer where the phase has one for it, else a fault, after which
 * it is looked again.
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

/** Still under way; asked again after the venue's poll interval. */
export function observing(
  connection: EvmConnection,
  signed: Pick<SignedTransfer, 'tx_hash'>,
): ExecutionResult {
  return {
    next_state: 'OBSERVING',
    external_ref: signed.tx_hash,
    retry_after_seconds: connection.venue.poll_interval_seconds,
  };
}

/** The number of the newest block that is so deep; negative while there is none. */
export function settledNumber(connection: EvmConnection, depth: BlockDepth): Promise<bigint> {
  return depth === 'final' ? finalizedNumber(connection) : confirmedNumber(connection);
}

/** The newest block that has the venue's confirmations, itself counted as the first. */
async function confirmedNumber(connection: EvmConnection): Promise<bigint> {
  return (
    (await readBlock(connection, 'latest')).number - BigInt(connection.venue.confirmations) + 1n
  );
}

/**
 * Whether as many endpoints as an absence takes show the same end in a final block. A failure lets
 * a person pay anew, so it takes as much as the proof that nothing landed.
 */
async function isAgreed(connection: EvmConnection, receipt: TransactionReceipt): Promise<boolean> {
  const told = await connection.witnesses(async (one) => {
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
  return told.every(Boolean);
}

/** Whether the block of the receipt still stands at its height. */
export async function isCanonical(
  connection: EvmConnection,
  receipt: TransactionReceipt,
): Promise<boolean> {
  return (await readBlock(connection, receipt.blockNumber)).hash === receipt.blockHash;
}

interface Oddity {
  readonly next_state: 'FAILED' | 'UNKNOWN';
  readonly error_code: string;
  readonly error_message: string;
}

/** What a mined transaction did instead of the transfer. */
function oddityOf(landed: Landed): Oddity | null {
  if (landed.receipt.status === 'reverted') {
    return {
      next_state: 'FAILED',
      error_code: 'TRANSACTION_REVERTED',
      error_message: 'the transaction was mined and reverted; only gas was spent',
    };
  }
  if (landed.plan.token_address === null) return null;
  const { received, left } = tokenMoves(landed);
  if (received > 0n) return null;
  return left
    ? {
        next_state: 'UNKNOWN',
        error_code: 'TRANSFER_DIVERTED',
        error_message:
          "the token left the signer but did not go to the destination; look at the transaction's logs",
      }
    : {
        next_state: 'UNKNOWN',
        error_code: 'TRANSFER_NOT_SEEN',
        error_message:
          'the transaction succeeded, but the token reports no transfer to the destination; look at the balances',
      };
}

/**
 * What the token's own Transfer logs say: a token that takes a fee on transfer credits less than
 * was sent.
 */
function tokenMoves({ plan, signed, receipt }: Landed): {
  readonly received: bigint;
  readonly left: boolean;
} {
  const outgoing = parseEventLogs({ abi: erc20Abi, eventName: 'Transfer', logs: receipt.logs })
    .filter((log) => plan.token_address !== null && isAddressEqual(log.address, plan.token_address))
    .filter((log) => isAddressEqual(log.args.from, signed.from));
  const received = outgoing
    .filter((log) => isAddressEqual(log.args.to, plan.destination_address))
    .reduce((sum, log) => sum + log.args.value, 0n);
  return { received, left: outgoing.length > 0 };
}

function amounts(landed: Landed): JsonObject {
  const { plan, decimals } = landed;
  const submitted = baseUnits(plan, decimals);
  const received = plan.token_address === null ? submitted : tokenMoves(landed).received;
  return {
    requested_amount: plan.amount,
    submitted_amount: fromBaseUnits(submitted, decimals),
    received_amount: fromBaseUnits(received, decimals),
    destination_address: plan.destination_address,
  };
}

/**
 * Wei. Rollups of the OP family charge for layer 1 beside the gas and tell it in a field of their
 * own.
 */
function gasCost(receipt: TransactionReceipt): bigint {
  const layer1 =
    'l1Fee' in receipt && typeof receipt.l1Fee === 'string' ? BigInt(receipt.l1Fee) : 0n;
  return receipt.gasUsed * receipt.effectiveGasPrice + layer1;
}
