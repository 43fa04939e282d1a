const PADDED = /^0x0{24}([0-9a-f]{40})$/i;

/** Returns the address without padding: bridge contracts take addresses in 32 bytes. */
export function unpadded(address: string): string {
  const [, last] = PADDED.exec(address) ?? [];
  return last === undefined ? address : `0x${last}`;
}
