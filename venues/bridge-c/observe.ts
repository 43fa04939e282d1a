/**
 * `bridge_c.observe`: waits until the other chain has received what a send sent, whoever delivered
 * it. It sends nothing; what is verified there and not delivered it says how to deliver. All that
 * it goes by is the packet that the send has recorded.
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
  type ExecutorDescriptor,
} from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import { fromBaseUnits } from '../../domain/money.ts';
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
import { rejected } from './plan.ts';

export const BRIDGE_C_OBSERVE_DESCRIPTOR: ExecutorDescriptor = {
  executor_key: 'bridge_c.observe',
  kind: 'local',
  action_types: ['bridge_c_observe'],
  provider: 'bridge_c',
  chain_family: 'evm',
  same_key_safe: true,
  settle_seconds: 0,
  timeout_seconds: 30,
  in_process: false,
  sends: false,
  not_payees: [],
  completion_assurances: TRANSFER_ASSURANCES,
};

const ASK_EVERY_SECONDS = 5;

/** It holds no state of its own: the chain does. */
export function createBridgeObserveExecutor(chains: EvmChains, search?: SearchLimits): Executor {
  const refuse = () =>
    Promise.reject(
      rejected('PHASE_NOT_SUPPORTED', 'bridge_c_observe only observes: use it in an observe node'),
    );
  const observe = (context: ExecutionContext, call: CallOptions) =>
    look({ chains, search }, context, call);
  return {
    descriptor: BRIDGE_C_OBSERVE_DESCRIPTOR,
    // What was sent is looked for; there is nothing that could be refused any more.
    preflight: () => Promise.resolve(null),
    prepare: refuse,
    submit: refuse,
    observe,
    // Asked anew: nothing that a look has searched before counts.
    recover: ({ prior: _looks, ...context }, call) => observe(context, call),
    cancel: () => Promise.resolve({ next_state: 'OBSERVING' }),
    health: (call) => checkChains(chains, call),
  };
}

/** What a send has recorded, as far as its other end needs it. */
interface Sent {
  readonly packet: Packet;
  readonly chain_id: number;
  readonly payee: string;
  /** It is received in no older block of the destination. */
  readonly since: bigint;
}

/** @throws ExecutorFault `SEND_UNKNOWN`, asked again, where it has recorded no packet. */
function readSent({ matched }: ExecutionContext): Sent {
  const {
    packet: record,
    destination_chain_id,
    destination_address,
    destination_block,
  } = matched?.output ?? {};
  const packet = packetOfRecord(record);
  if (
    packet === null ||
    typeof destination_chain_id !== 'number' ||
    typeof destination_address !== 'string' ||
    !isAddress(destination_address, { strict: false })
  )
    // Its funds may be on their way all the same.
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
  const sent = readSent(context);
  const { packet } = sent;
  const connection = await chains.open(sent.chain_id, call);
  const receiver = await readDestination(connection, packet);
  if (receiver === null)
    throw new ExecutorFault('protocol', 'SEND_UNKNOWN', 'its packet names no receiver');
  const state = await whereIs(connection, receiver, packet);
  // Logs are searched once there can be one, and not at each look before.
  if (state === 'gone') return received(connection, context, { ...sent, receiver, search });
  // Who looks again sees the same until somebody else acts: in time a person may say what became.
  if (state === 'blocked')
    throw new ExecutorFault('server_error', 'DELIVERY_BLOCKED', BLOCKED, {
      retryAfterSeconds: ASK_EVERY_SECONDS,
    });
  const ways = state === 'verified' ? deliveryOf(receiver, packet) : {};
  return waiting(
    context,
    { guid: packet.guid, delivery: { state, chain_id: sent.chain_id, ...ways } },
    WORDS[state],
  );
}

const BLOCKED =
  'the endpoint of its destination holds something else in its place: whoever runs the bridge or owns the token has to say what';
const WORDS: Readonly<Record<Exclude<Whereabouts, 'gone' | 'blocked'>, string>> = {
  sent: 'the message is not verified at its destination yet, which only the bridge can do',
  verified:
    'the message is verified at its destination and not delivered: anybody who pays may deliver it, by lzReceive of output.delivery, once those before it are verified too',
};

/** Between two looks of a search that goes on. */
const GOES_ON_SECONDS = 1;

/**
 * COMPLETED with what was received once its block is deep enough; OBSERVING before, and
 * `DELIVERY_SEARCH_UNFINISHED` while it is looked for.
 */
async function received(
  connection: EvmConnection,
  { completion_assurance, prior }: ExecutionContext,
  of: Sent & { readonly receiver: Destination; readonly search: SearchLimits | undefined },
): Promise<ExecutionResult> {
  const { packet, payee, chain_id, receiver, search } = of;
  const delivery = { state: 'received', chain_id };
  const before = await seenBefore(connection, prior?.external_ref);
  const seen: Found =
    before !== null
      ? { kind: 'found', hash: before.transactionHash }
      : await receivedIn(
          connection,
          receiver,
          of,
          readSearched(prior?.output?.['searched']),
          search,
        );
  if (seen.kind === 'unfinished')
    return {
      next_state: 'OBSERVING',
      output: { guid: packet.guid, delivery, searched: searchedRecord(seen.searched) },
      error_code: 'DELIVERY_SEARCH_UNFINISHED',
      error_message: 'it was delivered, and where is still looked for in older blocks',
      retry_after_seconds: GOES_ON_SECONDS,
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
  const arrived = receivedBy(receiver, packet, mined);
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
      received_amount: fromBaseUnits(arrived.units, receiver.decimals),
      destination_address: payee,
      chain_id,
    },
    assurance: shownAt(depth, TRANSFER_ASSURANCES),
  };
}

/** Where an earlier look has seen it, while that block is on the chain. */
async function seenBefore(
  connection: EvmConnection,
  hash: string | undefined,
): Promise<TransactionReceipt | null> {
  if (hash === undefined) return null;
  const mined = await readReceipt(connection, hash as Hash);
  return mined !== null && (await isCanonical(connection, mined)) ? mined : null;
}

/** The endpoint may be behind; or the message was cleared, which is for a person to find out. */
function unseen({ guid }: Packet): ExecutorFault {
  return new ExecutorFault(
    'server_error',
    'DELIVERY_UNSEEN',
    `the endpoint has done with message ${guid}, and the token does not show that it received it`,
    { retryAfterSeconds: ASK_EVERY_SECONDS },
  );
}

/** Late is late only to a person: it is asked on, since tokens never return by themselves. */
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
