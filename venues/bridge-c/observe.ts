/**
 * `bridge_c.observe`: waits until the other chain has received what a send sent, whoever delivered
 * it. It sends nothing; what is verified there and not delivered it says how to deliver.
 */
import { isAddressEqual, parseEventLogs, type Address, type Hash } from 'viem';
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
import { readReceipt, type EvmConnection } from '../evm/client.ts';
import { failWhenRejected } from '../evm/errors.ts';
import { checkChains } from '../evm/health.ts';
import { isCanonical, settledNumber, TRANSFER_ASSURANCES } from '../evm/landed.ts';
import { OFT } from './contracts.ts';
import { deliveryOf, receivedIn, whereIs } from './delivery.ts';
import type { Packet } from './packet.ts';
import { readSendPlan, rejected, type Bridge, type SendPlan } from './plan.ts';
import { packetOf, unitsOf } from './send-act.ts';

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

/** It holds no state of its own: both chains do. */
export function createBridgeObserveExecutor(bridge: Bridge): Executor {
  const refuse = () =>
    Promise.reject(
      rejected('PHASE_NOT_SUPPORTED', 'bridge_c_observe only observes: use it in an observe node'),
    );
  const observe = (context: ExecutionContext, call: CallOptions) => look(bridge, context, call);
  return {
    descriptor: BRIDGE_C_OBSERVE_DESCRIPTOR,
    preflight: (context) =>
      failWhenRejected(() => {
        readSent(context, bridge.venues);
        return Promise.resolve(null);
      }),
    prepare: refuse,
    submit: refuse,
    observe,
    recover: observe,
    cancel: () => Promise.resolve({ next_state: 'OBSERVING' }),
    health: (call) => checkChains(bridge.chains, call),
  };
}

/** What a send has recorded, as far as its other end needs it. */
interface Sent {
  readonly plan: SendPlan;
  readonly transaction: Hash;
  readonly signer: Address;
  /** It is received in no older block of the destination. */
  readonly since: bigint;
}

/** @throws ExecutorFault `rejected` `SEND_UNKNOWN` where it has recorded nothing. */
function readSent({ asset, matched }: ExecutionContext, venues: Bridge['venues']): Sent {
  const { output, external_ref: transaction } = matched ?? {};
  const { submitted_amount: amount, from_address: signer, destination_block } = output ?? {};
  if (
    output === undefined ||
    transaction === undefined ||
    typeof amount !== 'string' ||
    typeof signer !== 'string'
  )
    throw rejected('SEND_UNKNOWN', 'config.match_from names no send over the bridge that is done');
  const {
    source_chain_id = null,
    destination_chain_id = null,
    destination_address = null,
  } = output;
  const config = { source_chain_id, destination_chain_id, destination_address };
  const block = typeof destination_block === 'string' ? destination_block : '';
  return {
    plan: readSendPlan({ asset, amount, config }, venues),
    transaction: transaction as Hash,
    signer: signer as Address,
    since: /^[0-9]+$/.test(block) ? BigInt(block) : 0n,
  };
}

async function look(
  { chains, venues }: Bridge,
  context: ExecutionContext,
  call: CallOptions,
): Promise<ExecutionResult> {
  const sent = readSent(context, venues);
  const { plan } = sent;
  const [source, destination] = await Promise.all([
    chains.open(plan.from.venue.chain_id, call),
    chains.open(plan.to.venue.chain_id, call),
  ]);
  const packet = await packetNow(source, sent);
  if (packet === null) return waiting(context, { delivery: { state: 'unsent' } }, UNSENT);
  const received = await receipt(destination, context, sent, packet);
  return received ?? undelivered(destination, context, plan, packet);
}

const UNSENT =
  'its chain shows the send no more; it was taken back, and waits to be mined again or never will';

/**
 * The packet as the source's chain tells it now: a reorganisation may have given the same send
 * another id than it had when it was completed.
 */
async function packetNow(
  source: EvmConnection,
  { plan, transaction, signer }: Sent,
): Promise<Packet | null> {
  const mined = await readReceipt(source, transaction);
  return mined === null ? null : packetOf(plan, await unitsOf(source, plan), signer, mined);
}

/** COMPLETED with what was received once its block is deep enough; null while nothing was. */
async function receipt(
  connection: EvmConnection,
  { completion_assurance }: ExecutionContext,
  { plan, since }: Sent,
  { guid, source_eid }: Packet,
): Promise<ExecutionResult | null> {
  const { oft, token } = plan.to;
  const hash = await receivedIn(connection, oft, { guid, since });
  const mined = hash === null ? null : await readReceipt(connection, hash);
  if (hash === null || mined === null) return null;
  const depth = depthFor(completion_assurance);
  if (
    mined.blockNumber > (await settledNumber(connection, depth)) ||
    !(await isCanonical(connection, mined))
  )
    return {
      next_state: 'OBSERVING',
      external_ref: hash,
      output: { guid, delivery: { state: 'received' } },
      retry_after_seconds: connection.venue.poll_interval_seconds,
    };
  const event = parseEventLogs({ abi: OFT, eventName: 'OFTReceived', logs: mined.logs }).find(
    ({ address, args }) =>
      isAddressEqual(address, oft) &&
      args.guid === guid &&
      args.srcEid === source_eid &&
      isAddressEqual(args.toAddress, plan.recipient),
  );
  if (event === undefined)
    throw new ExecutorFault(
      'protocol',
      'DELIVERY_DIVERTED',
      `the token received the message for somebody else than ${plan.recipient} (${hash})`,
    );
  const decimals = await connection.decimals(token);
  return {
    next_state: 'COMPLETED',
    external_ref: hash,
    output: {
      guid,
      tx_hash: hash,
      block_number: mined.blockNumber.toString(),
      received_amount: fromBaseUnits(event.args.amountReceivedLD, decimals),
      destination_address: plan.recipient,
      chain_id: plan.to.venue.chain_id,
    },
    assurance: shownAt(depth, TRANSFER_ASSURANCES),
  };
}

async function undelivered(
  connection: EvmConnection,
  context: ExecutionContext,
  { to }: SendPlan,
  packet: Packet,
): Promise<ExecutionResult> {
  const state = await whereIs(connection, to, packet);
  if (state === 'gone')
    // The endpoint may be behind; or the bridge cleared it, which is for a person to find out.
    throw new ExecutorFault(
      'server_error',
      'DELIVERY_UNSEEN',
      `the endpoint has done with message ${packet.guid}, and the token does not show that it received it`,
      { retryAfterSeconds: ASK_EVERY_SECONDS },
    );
  const delivery: JsonObject =
    state === 'verified' ? { state, ...deliveryOf(to, packet) } : { state };
  return waiting(
    context,
    { guid: packet.guid, delivery },
    state === 'verified'
      ? 'the message is verified at its destination and not delivered: anybody who pays may deliver it, by lzReceive of output.delivery'
      : 'the message is not verified at its destination yet, which only the bridge can do',
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
