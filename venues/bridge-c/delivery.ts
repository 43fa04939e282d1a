/**
 * Finds the state of a packet in its destination's contracts. The packet itself names the token
 * contract there.
 */
import { isAddressEqual, parseEventLogs, toEventSelector, type Address } from 'viem';
import type { TransactionReceipt } from 'viem';
import type { JsonObject } from '../../domain/json.ts';
import type { EvmConnection } from '../evm/client.ts';
import { searchLogs, type Found, type Searched, type SearchLimits } from '../evm/search-logs.ts';
import { unpaddedWord } from '../evm/words.ts';
import { ENDPOINT, OFT } from './contracts.ts';
import { payloadHash, type Packet } from './packet.ts';

/** The destination's contracts, read from the token that the packet names. */
export interface Destination {
  readonly oft: Address;
  readonly endpoint: Address;
  /** Decimals of the token that holders hold. */
  readonly decimals: number;
}

/** Reads the destination's contracts; null when the packet's receiver is not an EVM address. */
export async function readDestination(
  connection: EvmConnection,
  packet: Packet,
): Promise<Destination | null> {
  const address = unpaddedWord(packet.receiver);
  if (address === null) return null;
  const oft = { address, abi: OFT } as const;
  const [endpoint, token] = await Promise.all([
    connection.read({ ...oft, functionName: 'endpoint' }),
    connection.read({ ...oft, functionName: 'token' }),
  ]);
  return { oft: address, endpoint, decimals: await connection.decimals(token) };
}

/**
 * State of a packet at its destination. `sent`: not verified there. `verified`: any account may pay
 * to deliver the packet. `blocked`: the endpoint contract holds another payload hash for the
 * packet's nonce. `gone`: the endpoint contract has executed or cleared the packet; the token's
 * logs show whether it was received.
 */
export type Whereabouts = 'sent' | 'verified' | 'blocked' | 'gone';

export async function whereIs(
  connection: EvmConnection,
  { oft, endpoint }: Destination,
  packet: Packet,
): Promise<Whereabouts> {
  const path = [oft, packet.source_eid, packet.sender] as const;
  const endpointContract = { address: endpoint, abi: ENDPOINT } as const;
  const [waiting, reached] = await Promise.all([
    connection.read({
      ...endpointContract,
      functionName: 'inboundPayloadHash',
      args: [...path, packet.nonce],
    }),
    connection.read({ ...endpointContract, functionName: 'lazyInboundNonce', args: path }),
  ]);
  if (waiting.toLowerCase() === payloadHash(packet)) return 'verified';
  // The token's owner has invalidated the packet (`nilify`), or after a reorganisation another
  // packet has its nonce.
  if (BigInt(waiting) !== 0n) return 'blocked';
  return packet.nonce <= reached ? 'gone' : 'sent';
}

/**
 * Returns the arguments with which any account may call the endpoint contract's `lzReceive`,
 * without value or `extraData`. The arguments are separate fields, since views of plan nodes hide
 * calldata of that length.
 */
export function deliveryOf({ oft, endpoint }: Destination, packet: Packet): JsonObject {
  const { source_eid, sender, nonce, guid, message } = packet;
  return {
    endpoint,
    origin: { srcEid: source_eid, sender, nonce: nonce.toString() },
    receiver: oft,
    guid,
    message,
  };
}

const RECEIVED = toEventSelector('OFTReceived(bytes32,uint32,address,uint256)');

/** Searches for the transaction in which the token received the packet, outside `searched`. */
export function receivedIn(
  connection: EvmConnection,
  { oft }: Destination,
  { packet, since }: { readonly packet: Packet; readonly since: bigint },
  searched: Searched | null,
  search?: SearchLimits,
): Promise<Found> {
  const wanted = { address: oft, topics: [RECEIVED, packet.guid], since };
  return searchLogs(connection, wanted, searched, search);
}

/** Returns amount and payee of the packet by the receipt; null if the packet is not in it. */
export function receivedBy(
  { oft }: Destination,
  { guid, source_eid }: Packet,
  { logs }: Pick<TransactionReceipt, 'logs'>,
): { readonly to: Address; readonly units: bigint } | null {
  const event = parseEventLogs({ abi: OFT, eventName: 'OFTReceived', logs }).find(
    ({ address, args }) =>
      isAddressEqual(address, oft) && args.guid === guid && args.srcEid === source_eid,
  );
  return event === undefined
    ? null
    : { to: event.args.toAddress, units: event.args.amountReceivedLD };
}
