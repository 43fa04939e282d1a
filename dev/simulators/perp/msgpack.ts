/**
 * The values of MessagePack that hashes of L1 actions need. Each uses the shortest encoding, like
 * the venue's own client. Source: github.com/msgpack/msgpack/blob/master/spec.md.
 */
export type Packable = string | number | boolean | { readonly [key: string]: Packable };

/**
 * Returns the MessagePack encoding of a value.
 *
 * @throws RangeError for values that no action here contains: negative numbers, fractions, large
 * maps.
 */
export function pack(value: Packable): Buffer {
  if (typeof value === 'boolean') return Buffer.from([value ? 0xc3 : 0xc2]);
  if (typeof value === 'number') return packNumber(value);
  if (typeof value === 'string') return packString(value);
  const entries = Object.entries(value);
  if (entries.length > 15) throw new RangeError('more than 15 keys');
  const parts = entries.flatMap(([key, each]) => [packString(key), pack(each)]);
  return Buffer.concat([Buffer.from([0x80 | entries.length]), ...parts]);
}

function packNumber(value: number): Buffer {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${String(value)} to pack`);
  if (value < 0x80) return Buffer.from([value]);
  if (value < 0x100) return Buffer.from([0xcc, value]);
  const bytes = Buffer.alloc(9);
  if (value < 0x1_0000) {
    bytes[0] = 0xcd;
    bytes.writeUInt16BE(value, 1);
    return bytes.subarray(0, 3);
  }
  if (value < 0x1_0000_0000) {
    bytes[0] = 0xce;
    bytes.writeUInt32BE(value, 1);
    return bytes.subarray(0, 5);
  }
  bytes[0] = 0xcf;
  bytes.writeBigUInt64BE(BigInt(value), 1);
  return bytes;
}

function packString(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length < 32) return Buffer.concat([Buffer.from([0xa0 | bytes.length]), bytes]);
  if (bytes.length < 0x100) return Buffer.concat([Buffer.from([0xd9, bytes.length]), bytes]);
  throw new RangeError('a string of more than 255 bytes');
}
