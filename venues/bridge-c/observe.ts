/**
 * `bridge_c.observe`: waits until the destination's token has received the packet of a send,
 * whoever delivered it. The executor sends nothing. While the packet is verified but not delivered,
 * the output says how to deliver the packet. The executor reads only the packet that the send
 * recorded.
 */
import { isAddress, isAddressEqual, type Hash, type TransactionReceipt } from 'viem';
import { DELIVERY_LATE } from '../../domain/attention-reasons.ts';
import { depthFor, shownAt } from '../../domain/chains/assurance-table.ts';
import {
  ExecutorFault,
  type CallOptions,
  type ExecutionContext,
  type ExecutionResult,
  type Executor,
} from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import { fromBaseUnits } from '../../domain/money.ts';
import { createObserver, observerDescriptor } from '../observer.ts';
import { readReceipt, type EvmChains, type EvmConnection } from '../evm/client.ts';
import { checkChains } from '../evm/health.ts';
import { isCanonical, recordedBlock, settledNumber, TRANSFER_ASSURANCES } from '../evm/landed.ts';
import { readSearched, searchedRecord, type Found, type SearchLimits } from '../evm/search-logs.ts';
import {
  deliveryOf,
  receivedBy,
  receivedIn,
  readDestination,
  whereIs,
  type Destination,
  type Whereabouts,
} from './delivery.ts';
import { packetOfRecord, type Packet } from './packet.ts';

export const BRIDGE_C_OBSERVE_DESCRIPTOR = observerDescriptor({
  executor_key: 'bridge_c.observe',
  action_types: ['bridge_c_observe'],
  provider: 'bridge_c',
  chain_family: 'evm',
  timeout_seconds: 30,
  completion_assurances: TRANSFER_ASSURANCES,
});

const ASK_EVERY_SECONDS = 5;

/** Returns an executor that stores nothing: the chain holds all state. */
export function createBridgeObserveExecutor(chains: EvmChains, search?: SearchLimits): Executor {
  const observe = (context: ExecutionContext, call: CallOptions) =>
    look({ chains, search }, context, call);
  return createObserver({
    descriptor: BRIDGE_C_OBSERVE_DESCRIPTOR,
    // The tokens have already been sent, so there is nothing left to refuse.
    preflight: () => Promise.resolve(null),
    observe,
    // Recover searches all blocks again, also those that earlier calls searched.
    recover: ({ prior: _looks, ...context }, call) => observe(context, call),
    health: (call) => checkChains(chains, call),
  });
}

/** The part of a send's output that its observe node needs. */
interface Sent {
  readonly packet: Packet;
  readonly chain_id: number;
  readonly payee: string;
  /** Block of the destination chain; no older block can contain the delivery. */
  readonly since: bigint;
}

/**
 * Returns the send of the matched node, from that node's output.
 *
 * @throws ExecutorFault retryable `SEND_UNKNOWN` if the send has recorded no packet.
 */
export function readSent(output: JsonObject = {}): Sent {
  const { packet: record, destination_chain_id, destination_address, destination_block } = output;
  const packet = packetOfRecord(record);
  if (
    packet === null ||
    typeof destination_chain_id !== 'number' ||
    typeof destination_address !== 'string' ||
    !isAddress(destination_address, { strict: false })
  )
    // Not `rejected`, which would fail the node: the tokens may still be on their way.
    throw new ExecutorFault(
      'server_error',
      'SEND_UNKNOWN',
      'the node of config.match_from has recorded no packet of a send over the bridge',
    );
  return {
    packet,
    chain_id: destination_chain_id,
    payee: destination_address,
    since: recordedBlock(destination_block) ?? 0n,
  };
}

async function look(
  { chains, search }: { readonly chains: EvmChains; readonly search: SearchLimits | undefined },
  context: ExecutionContext,
  call: CallOptions,
): Promise<ExecutionResult> {
  const sent = readSent(context.matched?.output);
  const { packet } = sent;
  const connection = await chains.open(sent.chain_id, call);
  const destination = await readDestination(connection, packet);
  if (destination === null)
    throw new ExecutorFault(
      'protocol',
      'SEND_UNKNOWN',
      'the receiver in the packet of the send is not an EVM address',
    );
  const state = await whereIs(connection, destination, packet);
  // Logs are searched only in this state: before, there can be no log of the delivery.
  if (state === 'gone') return received(connection, context, { ...sent, destination, search });
  // Only the bridge's operator or the token's owner can unblock the packet.
  if (state === 'blocked')
    throw new ExecutorFault('server_error', 'DELIVERY_BLOCKED', BLOCKED, {
      retryAfterSeconds: ASK_EVERY_SECONDS,
    });
  const how = state === 'verified' ? deliveryOf(destination, packet) : {};
  return waiting(
    context,
    { guid: packet.guid, delivery: { state, chain_id: sent.chain_id, ...how } },
    WORDS[state],
  );
}

const BLOCKED =
  "the destination's endpoint contract no longer holds this message: the message was invalidated, or another one has its nonce; ask the operator of the bridge or the owner of the token";
const WORDS: Readonly<Record<Exclude<Whereabouts, 'gone' | 'blocked'>, string>> = {
  sent: 'the message is not verified at its destination yet, which only the bridge can do',
  verified:
    'the message is verified at its destination and not delivered: anyone may pay to deliver it, by calling lzReceive with output.delivery, once all earlier messages are verified',
};

/** Seconds between two steps of an unfinished search. */
const SEARCH_AGAIN_SECONDS = 1;

/**
 * Returns COMPLETED with the received amount once the delivery's block is deep enough; OBSERVING
 * before, with `DELIVERY_SEARCH_UNFINISHED` while the search for the delivery's transaction goes
 * on.
 */
async function received(
  connection: EvmConnection,
  { completion_assurance, prior }: ExecutionContext,
  of: Sent & { readonly destination: Destination; readonly search: SearchLimits | undefined },
): Promise<ExecutionResult> {
  const { packet, payee, chain_id, destination, search } = of;
  const delivery = { state: 'received', chain_id };
  const before = await seenBefore(connection, prior?.external_ref);
  const seen: Found =
    before !== null
      ? { kind: 'found', hash: before.transactionHash }
      : await receivedIn(
          connection,
          destination,
          of,
          readSearched(prior?.output?.['searched']),
          search,
        );
  if (seen.kind === 'unfinished')
    return {
      next_state: 'OBSERVING',
      output: { guid: packet.guid, delivery, searched: searchedRecord(seen.searched) },
      error_code: 'DELIVERY_SEARCH_UNFINISHED',
      error_message:
        'the message was delivered; the search for its transaction goes on in older blocks',
      retry_after_seconds: SEARCH_AGAIN_SECONDS,
    };
  if (seen.kind === 'nowhere') throw unseen(packet);
  const { hash } = seen;
  const mined = before ?? (await readReceipt(connection, hash));
  if (mined === null) throw unseen(packet);
  const depth = depthFor(completion_assurance);
  const settled = await settledNumber(connection, depth);
  if (mined.blockNumber > settled || !(await isCanonical(connection, mined)))
    return {
      next_state: 'OBSERVING',
      external_ref: hash,
      output: { guid: packet.guid, delivery },
      retry_after_seconds: connection.venue.poll_interval_seconds,
    };
  const arrived = receivedBy(destination, packet, mined);
  if (arrived === null) throw unseen(packet);
  if (!isAddressEqual(arrived.to, payee as `0x${string}`))
    throw new ExecutorFault(
      'protocol',
      'DELIVERY_DIVERTED',
      `the token received the message for ${arrived.to} and not for ${payee} (${hash})`,
    );
  return {
    next_state: 'COMPLETED',
    external_ref: hash,
    output: {
      guid: packet.guid,
      tx_hash: hash,
      block_number: mined.blockNumber.toString(),
      received_amount: fromBaseUnits(arrived.units, destination.decimals),
      destination_address: payee,
      chain_id,
    },
    assurance: shownAt(depth, TRANSFER_ASSURANCES),
  };
}

/** Returns the receipt that an earlier call found, if its block is still canonical; else null. */
async function seenBefore(
  connection: EvmConnection,
  hash: string | undefined,
): Promise<TransactionReceipt | null> {
  if (hash === undefined) return null;
  const mined = await readReceipt(connection, hash as Hash);
  return mined !== null && (await isCanonical(connection, mined)) ? mined : null;
}

/**
 * Returns a retryable fault: the RPC endpoint may lag, or the message was cleared without a
 * receipt, which an operator must find out.
 */
function unseen({ guid }: Packet): ExecutorFault {
  return new ExecutorFault(
    'server_error',
    'DELIVERY_UNSEEN',
    `the bridge's endpoint has finished message ${guid}, but the token's logs do not show its receipt`,
    { retryAfterSeconds: ASK_EVERY_SECONDS },
  );
}

/**
 * Returns OBSERVING. A late packet only adds an alert: observing goes on, since sent tokens never
 * come back.
 */
function waiting(
  { bridge_path }: ExecutionContext,
  output: JsonObject,
  why: string,
): ExecutionResult {
  return {
    next_state: 'OBSERVING',
    retry_after_seconds: ASK_EVERY_SECONDS,
    output,
    ...(bridge_path?.late === true ? { error_code: DELIVERY_LATE, error_message: why } : {}),
  };
}
