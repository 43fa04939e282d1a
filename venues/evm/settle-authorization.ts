/**
 * Settles a signed authorization (EIP-3009). A team's executor submits the authorization to the
 * token, and the token shows whether it was used and whether it can still be used.
 */
import { isAddressEqual, pad, toEventSelector, type Hash, type TransactionReceipt } from 'viem';
import { ExecutorFault, type CallOptions, type ExecutionResult } from '../../domain/executor.ts';
import { LONGEST_AUTHORIZATION_SECONDS } from '../../domain/signing.ts';
import { AUTHORIZATION_ABI, type Authorization } from './authorization.ts';
import {
  finalizedNumber,
  readBlock,
  readReceipt,
  type EvmChains,
  type EvmConnection,
} from './client.ts';
import { findLog } from './find-log.ts';
import { isCanonical, judgeLanded, type LookPhase } from './landed.ts';
import type { TransferPlan } from './plan.ts';
import { transferOn } from './transfer.ts';

interface Looked {
  readonly plan: TransferPlan;
  readonly authorization: Authorization;
  readonly phase: LookPhase;
}

/** The state of an authorization, as one endpoint shows it. */
type Shown =
  /** The authorization is unused and can still be used. */
  | { readonly kind: 'open' }
  /** The authorization is unused, and a final block is later than its expiry. */
  | { readonly kind: 'expired' }
  /** `cancelled`: the holder of the tokens cancelled the authorization. */
  | { readonly kind: 'cancelled' | 'used'; readonly receipt: TransactionReceipt };

/**
 * Returns, for a used authorization, the result of {@link judgeLanded} once its transaction is
 * final, since this service cannot submit it again; the fee is 0, since another account paid it.
 * OBSERVING before, and while the authorization can be used. FAILED `AUTHORIZATION_EXPIRED` or
 * `AUTHORIZATION_CANCELLED` once as many endpoints as an absence requires show in their final
 * blocks that the authorization was never used and never can be.
 *
 * @throws ExecutorFault `AUTHORIZATION_UNSEEN` if the token counts the nonce as used, but the
 *   endpoint does not show by which transaction.
 */
export async function settleAuthorization(
  chains: EvmChains,
  { plan, authorization, phase }: Looked,
  call: CallOptions,
): Promise<ExecutionResult> {
  const connection = await chains.open(plan.chain_id, call);
  const waiting = {
    next_state: 'OBSERVING',
    retry_after_seconds: connection.venue.poll_interval_seconds,
  } as const;
  const first = await shown(connection, authorization);
  if (first.kind === 'open') return waiting;
  if (first.kind === 'used') {
    const { receipt } = first;
    const signed = { tx_hash: receipt.transactionHash, from: authorization.from, relayed: true };
    const act = await transferOn(plan, authorization.from)(connection);
    const landed = { act, signed, receipt };
    return judgeLanded(connection, landed, 'destination_finalized', phase);
  }
  // A failure allows a second payment, so one endpoint is not enough proof.
  const agreements = await connection.witnesses(async (one) => {
    const theirs = await shown(one, authorization);
    if (theirs.kind !== first.kind) return false;
    return theirs.kind === 'expired' || (await isFinal(one, theirs));
  });
  if (!agreements.every(Boolean)) return waiting;
  const [error_code, why] =
    first.kind === 'expired'
      ? ['AUTHORIZATION_EXPIRED', 'the authorization expired unused']
      : ['AUTHORIZATION_CANCELLED', 'the holder of the tokens has cancelled the authorization'];
  return { next_state: 'FAILED', error_code, error_message: `nothing was moved: ${why}` };
}

async function isFinal(connection: EvmConnection, of: Shown): Promise<boolean> {
  return 'receipt' in of && of.receipt.blockNumber <= (await finalizedNumber(connection));
}

/** Returns whether the authorization's nonce is used or cancelled in the state of this block. */
export function isUsed(
  connection: EvmConnection,
  { token, from, nonce }: Authorization,
  blockNumber: bigint,
): Promise<boolean> {
  return connection.read({
    address: token,
    abi: AUTHORIZATION_ABI,
    functionName: 'authorizationState',
    args: [from, nonce],
    blockNumber,
  });
}

async function shown(connection: EvmConnection, authorization: Authorization): Promise<Shown> {
  // Reads at a block number: machines behind one URL may be at different heights.
  const { number: newest } = await readBlock(connection, 'latest');
  if (!(await isUsed(connection, authorization, newest)))
    return (await isPast(connection, authorization, newest))
      ? { kind: 'expired' }
      : { kind: 'open' };
  const found = await userOf(connection, authorization, newest);
  const receipt = found === null ? null : await readReceipt(connection, found);
  const outcome = receipt === null ? null : judged(receipt, authorization);
  if (outcome !== null && (await isCanonical(connection, outcome.receipt))) return outcome;
  throw new ExecutorFault(
    'server_error',
    'AUTHORIZATION_UNSEEN',
    'the token counts the authorization as used, but the endpoint does not show by which transaction',
  );
}

/** Returns whether no later block can use the authorization: a final block is past its expiry. */
async function isPast(
  connection: EvmConnection,
  { valid_before }: Authorization,
  newest: bigint,
): Promise<boolean> {
  const last = await finalizedNumber(connection);
  if (last < 0n || last > newest) return false;
  return (await readBlock(connection, last)).timestamp >= valid_before;
}

const USED = toEventSelector('AuthorizationUsed(address,bytes32)');
const CANCELED = toEventSelector('AuthorizationCanceled(address,bytes32)');
const TRANSFER = toEventSelector('Transfer(address,address,uint256)');

/**
 * Returns the outcome of this authorization by the receipt. Of the transaction's other logs only
 * the transfer after it is kept: one transaction may use several authorizations.
 */
function judged(
  receipt: TransactionReceipt,
  { token, from, nonce }: Authorization,
): Extract<Shown, { receipt: unknown }> | null {
  if (receipt.status !== 'success') return null;
  const logs = receipt.logs.filter(({ address }) => isAddressEqual(address, token));
  const at = logs.findIndex(
    ({ topics: [event, by, used] }) =>
      (event === USED || event === CANCELED) &&
      by?.toLowerCase() === pad(from).toLowerCase() &&
      used?.toLowerCase() === nonce,
  );
  const event = logs[at];
  if (event === undefined) return null;
  if (event.topics[0] === CANCELED) return { kind: 'cancelled', receipt };
  const [next] = logs
    .slice(at + 1)
    .filter(({ topics: [name] }) => name === USED || name === TRANSFER);
  const moved = next?.topics[0] === TRANSFER ? [next] : [];
  return { kind: 'used', receipt: { ...receipt, logs: moved } };
}

/** Finds the transaction that used or cancelled the nonce of the authorization. */
async function userOf(
  connection: EvmConnection,
  { token, from, nonce, valid_before }: Authorization,
  newest: bigint,
): Promise<Hash | null> {
  // The search starts when the authorization can have been signed at the earliest. Its holder can
  // cancel the authorization even after its expiry, so the search ends at the newest block.
  const signed = valid_before - BigInt(LONGEST_AUTHORIZATION_SECONDS);
  const since = await firstAt(connection, signed, newest);
  const topics = [[USED, CANCELED], pad(from), nonce];
  return findLog(connection, { address: token, topics, since, until: newest });
}

/** Returns the first block that is not older than `seconds` since 1970. */
async function firstAt(
  connection: EvmConnection,
  seconds: bigint,
  newest: bigint,
): Promise<bigint> {
  let [before, after] = [-1n, newest];
  while (after - before > 1n) {
    const middle = (before + after) / 2n;
    if ((await readBlock(connection, middle)).timestamp >= seconds) after = middle;
    else before = middle;
  }
  return after;
}
