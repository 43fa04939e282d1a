/**
 * Reads packets in the endpoint's layout: version, nonce, path, id, message. Source:
 * `PacketV1Codec.sol` of github.com/LayerZero-Labs/LayerZero-v2.
 */
import { keccak256 } from 'viem';
import type { Hex } from '../../kit/hex.ts';

/** Origin of a packet, in the form that contracts take. */
export interface Origin {
  readonly srcEid: number;
  readonly sender: Hex;
  readonly nonce: bigint;
}

export interface Packet {
  readonly origin: Origin;
  readonly dstEid: number;
  readonly receiver: Hex;
  readonly guid: Hex;
  readonly message: Hex;
  readonly payloadHash: Hex;
}

/** Returns the parsed packet; null for anything but a version 1 packet to an EVM address. */
export function readPacket(encoded: Hex): Packet | null {
  const at = (offset: number, length?: number): Hex =>
    `0x${encoded.slice(2 + 2 * offset, length === undefined ? undefined : 2 + 2 * (offset + length))}`;
  if (encoded.length < 2 + 2 * 113 || at(0, 1) !== '0x01') return null;
  if (!/^0x0{24}/.test(at(49, 32))) return null;
  return {
    origin: { nonce: BigInt(at(1, 8)), srcEid: Number(at(9, 4)), sender: at(13, 32) },
    dstEid: Number(at(45, 4)),
    receiver: at(61, 20),
    guid: at(81, 32),
    message: at(113),
    payloadHash: keccak256(at(81)),
  };
}
