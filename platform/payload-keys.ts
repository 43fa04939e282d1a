/** Keys that encrypt payloads for Temporal, as the setting holds them. */
import { createSecretKey, type KeyObject } from 'node:crypto';

/** A key and its id in payloads. A KeyObject prints and serialises without its bytes. */
export interface PayloadKey {
  readonly id: string;
  readonly key: KeyObject;
}

export type ParsedPayloadKeys =
  | { readonly ok: true; readonly keys: readonly PayloadKey[] }
  | { readonly ok: false; readonly faults: readonly string[] };

const KEY_ID = /^[A-Za-z0-9._-]{1,64}$/;
/** 32 bytes in standard base64. */
const KEY_BYTES = /^[A-Za-z0-9+/]{43}=$/;

/**
 * Reads `<id>:<base64 of 32 bytes>`, several separated by commas; the first key encrypts. Faults
 * name an entry only by its position: a malformed entry may contain a key.
 */
export function parsePayloadKeys(text: string): ParsedPayloadKeys {
  const faults: string[] = [];
  const keys = new Map<string, PayloadKey>();
  for (const [index, entry] of text.split(',').entries()) {
    const place = `entry ${String(index + 1)}`;
    const colon = entry.indexOf(':');
    const id = entry.slice(0, Math.max(colon, 0)).trim();
    const bytes = entry.slice(colon + 1).trim();
    if (colon < 0) faults.push(`${place} must be <id>:<base64 of 32 bytes>`);
    else if (!KEY_ID.test(id)) faults.push(`${place}: the id must be 1 to 64 of A-Z a-z 0-9 . _ -`);
    else if (!KEY_BYTES.test(bytes))
      faults.push(
        `${place}: the key must be the base64 of exactly 32 bytes (openssl rand -base64 32)`,
      );
    else if (keys.has(id)) faults.push(`${place} has the id of an earlier one`);
    else keys.set(id, { id, key: createSecretKey(bytes, 'base64') });
  }
  return faults.length > 0 ? { ok: false, faults } : { ok: true, keys: [...keys.values()] };
}
