/** Where a packet is, as its destination tells. Who receives it is the packet's own word. */
import { isAddressEqual, parseEventLogs, toEventSelector, type Address } from 'viem';
import type { TransactionReceipt } from 'viem';
import type { JsonObject } from '../../domain/json.ts';
import type { EvmConnection } from '../evm/client.ts';
import { searchLogs, type Found, type Searched, type SearchLimits } from '../evm/search-logs.ts';
import { unpaddedWord } from '../evm/words.ts';
import { ENDPOINT, OFT } from './contracts.ts';
import { payloadHash, type Packet } from './packet.ts';

/** The contracts of the destination, as whoever receives tells them. */
export interface Destination {
  readonly oft: Address;
  readonly endpoint: Address;
  /** Of what holders hold. */
  readonly decimals: number;
}

/** Null for a packet to what is no address of an EVM chain. */
export async function readDestination(
  connection: EvmConnection,
  packet: Packet,
): Promise<Destination | null> {
  const address = unpaddedWord(packet.receiver);
  if (address === null) return null;
  const oft = { address, abi: OFT } as const;
  const [endpoint, token] = await Promise.all([
    connection.ask((client) => client.readContract({ ...oft, functionName: 'endpoint' })),
    connection.ask((client) => client.readContract({ ...oft, functionName: 'token' })),
  ]);
  return { oft: address, endpoint, decimals: await connection.decimals(token) };
}

/**
 * `sent`: not verified at the destination. `verified`: whoever pays for it may deliver it.
 * `blocked`: the endpoint holds something else in its place. `gone`: executed or cleared there, by
 * whatever; the token tells whether it was received.
 */
export type Whereabouts = 'sent' | 'verified' | 'blocked' | 'gone';

export async function whereIs(
  connection: EvmConnection,
  { oft, endpoint }: Destination,
  packet: Packet,
): Promise<Whereabouts> {
  const path = [oft, packet.source_eid, packet.sender] as const;
  const asked = { address: endpoint, abi: ENDPOINT } as const;
  const [waiting, reached] = await Promise.all([
    connection.ask((client) =>
      client.readContract({
        ...asked,
        functionName: 'inboundPayloadHash',
        args: [...path, packet.nonce],
      }),
    ),
    connection.ask((client) =>
      client.readContract({ ...asked, functionName: 'lazyInboundNonce', args: path }),
    ),
  ]);
  if (waiting.toLowerCase() === payloadHash(packet)) return 'verified';
  // Nilified, or of another packet that a reorganisation of the source gave the same nonce.
  if (BigInt(waiting) !== 0n) return 'blocked';
  return packet.nonce <= reached ? 'gone' : 'sent';
}

/**
 * What anybody who pays may call `lzReceive` of the endpoint with, without value or `extraData`. In
 * its parts, since calldata of that length is hidden wherever nodes are shown.
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

/** The transaction in which the token received it, on from the blocks that were searched. */
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

/** What the receipt says was received, and by whom; null where it says nothing of the packet. */
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
