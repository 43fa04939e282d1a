/**
 * Decodes a packet as the bridge's endpoint encodes it: version, nonce, path, id, message. Source:
 * `PacketV1Codec.sol` and `OFTMsgCodec.sol` of github.com/LayerZero-Labs/LayerZero-v2 (9c741e7).
 */
import { concat, isHex, keccak256, toHex, type Address, type Hex } from 'viem';
import type { JsonObject, JsonValue } from '../../domain/json.ts';
import { padded } from '../evm/words.ts';

export interface Packet {
  readonly nonce: bigint;
  readonly source_eid: number;
  /** Sender contract in 32 bytes; `receiver` and `guid` also have 32 bytes. */
  readonly sender: Hex;
  readonly destination_eid: number;
  readonly receiver: Hex;
  readonly guid: Hex;
  readonly message: Hex;
}

/** Number of bytes before the message. */
const HEAD = 113;

/** Decodes a packet; null unless its version is 1. */
export function readPacket(encoded: Hex): Packet | null {
  const hex = encoded.toLowerCase();
  const at = (offset: number, length: number): Hex =>
    `0x${hex.slice(2 + 2 * offset, 2 + 2 * (offset + length))}`;
  if (hex.length < 2 + 2 * HEAD || at(0, 1) !== '0x01') return null;
  return {
    nonce: BigInt(at(1, 8)),
    source_eid: Number(at(9, 4)),
    sender: at(13, 32),
    destination_eid: Number(at(45, 4)),
    receiver: at(49, 32),
    guid: at(81, 32),
    message: `0x${hex.slice(2 + 2 * HEAD)}`,
  };
}

/** Returns the packet as a send's output stores it. */
export function packetRecord({ nonce, ...packet }: Packet): JsonObject {
  return { ...packet, nonce: nonce.toString() };
}

/** Reads a stored packet; null unless {@link packetRecord} wrote the value. */
export function packetOfRecord(value: JsonValue | undefined): Packet | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const { nonce, source_eid, sender, destination_eid, receiver, guid, message } =
    value as JsonObject;
  if (typeof nonce !== 'string' || !/^[0-9]{1,20}$/.test(nonce)) return null;
  if (typeof source_eid !== 'number' || typeof destination_eid !== 'number') return null;
  if (!isHex(sender) || !isHex(receiver) || !isHex(guid) || !isHex(message)) return null;
  return { nonce: BigInt(nonce), source_eid, sender, destination_eid, receiver, guid, message };
}

/**
 * Returns the hash that the bridge's endpoint stores for a verified packet (`_inbound`,
 * `MessagingChannel.sol`).
 */
export function payloadHash({ guid, message }: Packet): Hex {
  return keccak256(concat([guid, message]));
}

/** Most that a message can carry, in shared units; the contract silently cuts off the rest. */
export const MOST_SHARED_UNITS = 2n ** 64n - 1n;

/** Returns the message of a plain transfer; `units` in the decimals that both chains share. */
export function transferMessage(to: Address, units: bigint): Hex {
  return concat([padded(to), toHex(units, { size: 8 })]);
}
