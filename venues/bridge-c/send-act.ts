/** A send over the bridge as an act: one call of the token's bridge contract, and its packet. */
import {
  encodeFunctionData,
  isAddressEqual,
  parseEventLogs,
  type Address,
  type Hex,
  type TransactionReceipt,
} from 'viem';
import { fromBaseUnits } from '../../domain/money.ts';
import { actDescriptor, type Act, type Did, type Effect, type PathEnd } from '../evm/act.ts';
import type { EvmCall } from '../evm/call.ts';
import type { EvmConnection } from '../evm/client.ts';
import type { EvmVenue } from '../evm/config.ts';
import type { TokenDecimals } from '../evm/decimals.ts';
import { baseUnits } from '../evm/plan.ts';
import { padded } from '../evm/words.ts';
import { rejected } from '../node-plan.ts';
import { ENDPOINT, OFT } from './contracts.ts';
import {
  MOST_SHARED_UNITS,
  packetRecord,
  readPacket,
  transferMessage,
  type Packet,
} from './packet.ts';
import { entriesOf, readSendPlan, type End, type SendPlan } from './plan.ts';

/** The amount of a send, in base units of the token and of the message. */
export interface SendUnits {
  /** Base units of the source's token, which has these `decimals`. */
  readonly units: bigint;
  readonly decimals: number;
  /** Units in the decimals that both chains share, as the message carries them. */
  readonly shared: bigint;
}

/**
 * Returns the amount of a send in base units.
 *
 * @throws ExecutorFault `rejected` `AMOUNT_PRECISION` if part of the amount cannot be sent.
 */
export async function unitsOf(connection: EvmConnection, plan: SendPlan): Promise<SendUnits> {
  const decimals = await connection.decimals(plan.from.token);
  const digits = await connection.read({
    address: plan.from.oft,
    abi: OFT,
    functionName: 'sharedDecimals',
  });
  return inUnits(plan, decimals, digits);
}

/** Returns the amount from decimals that are already read. Throws as {@link unitsOf}. */
export function inUnits(
  plan: Pick<SendPlan, 'amount'>,
  decimals: TokenDecimals,
  digits: number,
): SendUnits {
  const units = baseUnits(plan, decimals);
  const rate = 10n ** BigInt(Math.max(decimals - digits, 0));
  if (digits > decimals || units % rate !== 0n)
    throw rejected(
      'AMOUNT_PRECISION',
      `${plan.amount} has more digits than the ${digits} decimals that both chains share`,
    );
  // The published contract cuts an amount that is too large for a message; the rest would be lost.
  if (units / rate > MOST_SHARED_UNITS)
    throw rejected('AMOUNT_PRECISION', `${plan.amount} is more than one message can hold`);
  return { units, decimals, shared: units / rate };
}

/**
 * Returns the parameters of a send: the whole amount or nothing; no options, composed message or
 * command.
 */
export function sendParam({ to, payee }: SendPlan, units: bigint) {
  return {
    dstEid: to.venue.bridge_c.eid,
    to: padded(payee),
    amountLD: units,
    minAmountLD: units,
    extraOptions: '0x',
    composeMsg: '0x',
    oftCmd: '0x',
  } as const;
}

function sendCall(plan: SendPlan, units: bigint, from: Address, value: bigint): EvmCall {
  return {
    to: plan.from.oft,
    value,
    data: encodeFunctionData({
      abi: OFT,
      functionName: 'send',
      args: [sendParam(plan, units), { nativeFee: value, lzTokenFee: 0n }, from],
    }),
  };
}

export const BRIDGE_C_SEND_DESCRIPTOR = actDescriptor({
  executor_key: 'bridge_c.send',
  action_types: ['bridge_c_send'],
  provider: 'bridge_c',
  // The send shows that the tokens left; only the other chain can show that they arrived.
  completion_assurances: ['provider_completed'],
});

export function sendAct(venues: readonly EvmVenue[]): Act<SendPlan> {
  return {
    descriptor: BRIDGE_C_SEND_DESCRIPTOR,
    noun: 'send',
    read: (of) => readSendPlan(of, venues),
    move: (plan) => ({
      chain_id: plan.from.venue.chain_id,
      outflow: {
        token: plan.from.token,
        amount: plan.amount,
        leaves_signer: true,
        pays_bridge: true,
      },
      payee: { address: plan.payee, field: 'destination_address', venue: plan.to.venue },
      terms: entriesOf(plan),
      path: { here: pathEnd(plan.from), there: pathEnd(plan.to) },
    }),
    // Required even if the node requires less: a reorganisation would change the packet's id.
    assurance: 'destination_finalized',
    effect: async (plan, { connection, from }) =>
      sendEffect(plan, from, await unitsOf(connection, plan)),
  };
}

function pathEnd({ venue, oft }: End): PathEnd {
  return { venue, contracts: [venue.bridge_c.endpoint, oft] };
}

export function sendEffect(plan: SendPlan, from: Address, moved: SendUnits): Effect {
  return {
    call: (fee) => sendCall(plan, moved.units, from, fee),
    did: (signer, receipt) => did(plan, moved, signer, receipt),
  };
}

/**
 * Returns what the mined send did: `SEND_NOT_SEEN` if the token logged no such send. That is not a
 * failure: the tokens may be gone.
 */
function did(
  plan: SendPlan,
  { units, decimals, shared }: SendUnits,
  from: Address,
  receipt: TransactionReceipt,
): Did {
  const packet = packetOf(plan, { units, shared }, from, receipt);
  if (packet === null)
    return {
      ok: false,
      error_code: 'SEND_NOT_SEEN',
      error_message:
        "the transaction succeeded, but the token logged no such send; look at the transaction's logs",
    };
  return {
    ok: true,
    output: {
      requested_amount: plan.amount,
      submitted_amount: fromBaseUnits(units, decimals),
      source_chain_id: plan.from.venue.chain_id,
      destination_chain_id: plan.to.venue.chain_id,
      destination_address: plan.payee,
      from_address: from,
      guid: packet.guid,
      packet: packetRecord(packet),
    },
  };
}

/**
 * Returns the planned send's packet from the bridge endpoint's logs in the receipt; null if there
 * is none.
 */
export function packetOf(
  plan: SendPlan,
  { units, shared }: Pick<SendUnits, 'units' | 'shared'>,
  from: Address,
  receipt: Pick<TransactionReceipt, 'logs'>,
): Packet | null {
  const { eid } = plan.to.venue.bridge_c;
  const sent = new Set<Hex>(
    parseEventLogs({ abi: OFT, eventName: 'OFTSent', logs: receipt.logs })
      .filter(
        ({ address, args }) =>
          isAddressEqual(address, plan.from.oft) &&
          isAddressEqual(args.fromAddress, from) &&
          args.dstEid === eid &&
          args.amountSentLD === units &&
          args.amountReceivedLD === units,
      )
      .map(({ args }) => args.guid),
  );
  const message = transferMessage(plan.payee, shared);
  for (const log of parseEventLogs({
    abi: ENDPOINT,
    eventName: 'PacketSent',
    logs: receipt.logs,
  })) {
    if (!isAddressEqual(log.address, plan.from.venue.bridge_c.endpoint)) continue;
    const packet = readPacket(log.args.encodedPayload);
    if (
      packet !== null &&
      sent.has(packet.guid) &&
      packet.source_eid === plan.from.venue.bridge_c.eid &&
      packet.destination_eid === eid &&
      packet.sender === padded(plan.from.oft) &&
      packet.receiver === padded(plan.to.oft) &&
      packet.message === message
    )
      return packet;
  }
  return null;
}
