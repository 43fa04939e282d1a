/** Where a packet is, as the endpoint of its destination tells. */
import { toEventSelector, type Address, type Hash, type Hex } from 'viem';
import type { JsonObject } from '../../domain/json.ts';
import type { EvmConnection } from '../evm/client.ts';
import { findLog } from '../evm/find-log.ts';
import { ENDPOINT } from './contracts.ts';
import type { Packet } from './packet.ts';
import type { End } from './plan.ts';

/**
 * `sent`: not verified at the destination. `verified`: whoever pays for it may deliver it. `gone`:
 * executed or cleared there, by whatever; the token tells whether it was received.
 */
export type Whereabouts = 'sent' | 'verified' | 'gone';

export async function whereIs(
  connection: EvmConnection,
  { venue, oft }: End,
  packet: Packet,
): Promise<Whereabouts> {
  const { endpoint } = venue.bridge_c;
  const path = [oft, packet.source_eid, packet.sender] as const;
  const [waiting, reached] = await Promise.all([
    connection.ask((client) =>
      client.readContract({
        address: endpoint,
        abi: ENDPOINT,
        functionName: 'inboundPayloadHash',
        args: [...path, packet.nonce],
      }),
    ),
    connection.ask((client) =>
      client.readContract({
        address: endpoint,
        abi: ENDPOINT,
        functionName: 'lazyInboundNonce',
        args: path,
      }),
    ),
  ]);
  if (BigInt(waiting) !== 0n) return 'verified';
  return packet.nonce <= reached ? 'gone' : 'sent';
}

/**
 * What anybody who pays may call `lzReceive` of the endpoint with, without value or `extraData`. In
 * its parts, since calldata of that length is hidden wherever nodes are shown.
 */
export function deliveryOf({ venue, oft }: End, packet: Packet): JsonObject {
  const { source_eid, sender, nonce, guid, message } = packet;
  return {
    chain_id: venue.chain_id,
    endpoint: venue.bridge_c.endpoint,
    origin: { srcEid: source_eid, sender, nonce: nonce.toString() },
    receiver: oft,
    guid,
    message,
  };
}

const RECEIVED = toEventSelector('OFTReceived(bytes32,uint32,address,uint256)');

/** The transaction in which the token received it; null where the endpoint shows none. */
export function receivedIn(
  connection: EvmConnection,
  oft: Address,
  { guid, since }: { readonly guid: Hex; readonly since: bigint },
): Promise<Hash | null> {
  return findLog(connection, { address: oft, topics: [RECEIVED, guid], since });
}
