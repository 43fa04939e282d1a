/**
 * What became of an authorization that was signed. Its executor brings it to the token; whether it
 * did, and whether anybody still can, the token says.
 */
import { getAddress, numberToHex, pad, toEventSelector, type Hash } from 'viem';
import {
  ExecutorFault,
  type CallOptions,
  type CompletionAssurance,
  type ExecutionResult,
} from '../../domain/executor.ts';
import { LONGEST_AUTHORIZATION_SECONDS } from '../../domain/signing.ts';
import { AUTHORIZATION_ABI, type Authorization } from './authorization.ts';
import {
  finalizedNumber,
  readBlock,
  readReceipt,
  type EvmChains,
  type EvmConnection,
} from './client.ts';
import { judgeLanded, settledNumber, type LookPhase } from './landed.ts';
import type { TransferPlan } from './plan.ts';

interface Looked {
  readonly plan: TransferPlan;
  readonly authorization: Authorization;
  readonly assurance: CompletionAssurance;
  readonly phase: LookPhase;
}

/**
 * Used: as {@link judgeLanded}, without a fee, which another paid. Neither used nor expired:
 * OBSERVING. FAILED `AUTHORIZATION_EXPIRED` once as many endpoints as an absence takes say that it
 * was not used before a final block after its time, and `AUTHORIZATION_CANCELLED` once its holder
 * has called it off in a final block.
 *
 * @throws ExecutorFault `AUTHORIZATION_UNSEEN` where the token says that it is used, and no
 *   endpoint shows by what.
 */
export async function settleAuthorization(
  chains: EvmChains,
  looked: Looked,
  call: CallOptions,
): Promise<ExecutionResult> {
  const { plan, authorization, assurance, phase } = looked;
  const connection = await chains.open(plan.chain_id, call);
  const waiting = {
    next_state: 'OBSERVING',
    retry_after_seconds: connection.venue.poll_interval_seconds,
  } as const;
  if (!(await isUsed(connection, authorization))) {
    const told = await connection.witnesses((one) => isOver(one, authorization));
    if (!told.every(Boolean)) return waiting;
    return {
      next_state: 'FAILED',
      error_code: 'AUTHORIZATION_EXPIRED',
      error_message: 'nothing was moved: the authorization was not used in its time',
    };
  }
  const by = await userOf(connection, authorization);
  const receipt = by === null ? null : await readReceipt(connection, by.hash);
  if (by === null || receipt === null)
    throw new ExecutorFault(
      'server_error',
      'AUTHORIZATION_UNSEEN',
      'the token says that the authorization is used, and no endpoint shows by which transaction',
    );
  if (by.cancelled) {
    const last = await settledNumber(connection, 'final');
    if (receipt.blockNumber > last) return waiting;
    return {
      next_state: 'FAILED',
      error_code: 'AUTHORIZATION_CANCELLED',
      error_message: `nothing was moved: the authorization was called off by ${by.hash}`,
    };
  }
  const signed = { tx_hash: by.hash, from: getAddress(authorization.from), relayed: true };
  const decimals = await connection.decimals(plan.token_address);
  return judgeLanded(connection, { plan, decimals, signed, receipt }, assurance, phase);
}

/** Whether the newest block counts its nonce as gone, used or called off. */
export function isUsed(
  connection: EvmConnection,
  { token, from, nonce }: Authorization,
): Promise<boolean> {
  return connection.ask((client) =>
    client.readContract({
      address: token,
      abi: AUTHORIZATION_ABI,
      functionName: 'authorizationState',
      args: [from, nonce],
    }),
  );
}

/**
 * A final block came after its time, so that no block from there on takes it, and none so far has.
 */
async function isOver(connection: EvmConnection, authorization: Authorization): Promise<boolean> {
  const last = await finalizedNumber(connection);
  if (last < 0n) return false;
  const { timestamp } = await readBlock(connection, last);
  // Asked after the block was found, so that whatever used it before shows.
  return timestamp >= authorization.valid_before && !(await isUsed(connection, authorization));
}

const USED = toEventSelector('AuthorizationUsed(address,bytes32)');
const CANCELED = toEventSelector('AuthorizationCanceled(address,bytes32)');

/** So many blocks are searched at a time; public endpoints refuse more than a few thousand. */
const BLOCKS_AT_ONCE = 1_000n;

/** The transaction that used up its nonce, looked for in the blocks in which that was possible. */
async function userOf(
  connection: EvmConnection,
  { token, from, nonce, valid_before }: Authorization,
): Promise<{ readonly hash: Hash; readonly cancelled: boolean } | null> {
  const { number: newest } = await readBlock(connection, 'latest');
  // It was signed when at most so much of its time was left, and could not be used before.
  const signed = valid_before - BigInt(LONGEST_AUTHORIZATION_SECONDS);
  for (let to = newest, first = await firstAt(connection, signed, newest); to >= first;) {
    const start = to - BLOCKS_AT_ONCE + 1n;
    const fromBlock = start > first ? start : first;
    const toBlock = to;
    const logs = await connection.ask((client) =>
      client.request({
        method: 'eth_getLogs',
        params: [
          {
            address: token,
            topics: [[USED, CANCELED], pad(from), nonce],
            fromBlock: numberToHex(fromBlock),
            toBlock: numberToHex(toBlock),
          },
        ],
      }),
    );
    const [log] = logs;
    if (log?.transactionHash != null)
      return { hash: log.transactionHash, cancelled: log.topics[0] === CANCELED };
    to = fromBlock - 1n;
  }
  return null;
}

/** The first block that is not older than `seconds`. */
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
