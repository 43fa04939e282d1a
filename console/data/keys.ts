/**
 * The operator's key in this browser: made here, not extractable once imported, and kept in
 * IndexedDB. Scripts of this origin can use the key to sign; no script can read it.
 */
import { toBase64url } from './base64url.ts';

export interface KeptKey {
  readonly operator: string;
  readonly key: CryptoKey;
  /** Fingerprint that an administrator compares before they confirm the key. */
  readonly fingerprint: string | null;
}

const DATABASE = 'svc-console';
const STORE = 'keys';
/** IndexedDB key of the only entry: a browser profile has one operator at a time. */
const ENTRY = 'operator';
const SECRET_BYTES = 32;

/** Reads the stored key; returns null when this browser has none. */
export async function readKey(): Promise<KeptKey | null> {
  return ((await inStore('readonly', (store) => store.get(ENTRY))) as KeptKey | undefined) ?? null;
}

export async function keepKey(key: KeptKey): Promise<void> {
  await inStore('readwrite', (store) => store.put(key, ENTRY));
}

/** Removes the key from this browser. The service still accepts the key until it is ended there. */
export async function forgetKey(): Promise<void> {
  await inStore('readwrite', (store) => store.delete(ENTRY));
}

/** Returns a new random secret: 256 bits as base64url text, which enrolment sends once. */
export function newSecret(): string {
  return toBase64url(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)));
}

/** Imports a secret's text as a key that signs and cannot be exported. */
export function importSecret(secret: string): Promise<CryptoKey> {
  const hmac = { name: 'HMAC', hash: 'SHA-256' };
  const bytes = new TextEncoder().encode(secret);
  return crypto.subtle.importKey('raw', bytes, hmac, false, ['sign']);
}

/** Runs one IndexedDB transaction; resolves once it is committed. */
async function inStore(
  mode: IDBTransactionMode,
  ask: (store: IDBObjectStore) => IDBRequest,
): Promise<unknown> {
  const database = await opened();
  try {
    return await new Promise((resolve, reject) => {
      const transaction = database.transaction(STORE, mode);
      const request = ask(transaction.objectStore(STORE));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => reject(transaction.error ?? new Error('the key was not stored'));
    });
  } finally {
    database.close();
  }
}

function opened(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('this browser cannot store keys'));
  });
}
