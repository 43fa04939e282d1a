/**
 * The operator's key in this browser: made here, not extractable from the moment it is imported,
 * and kept in IndexedDB, where scripts of this origin can use it and none can read it.
 */
export interface KeptKey {
  readonly operator: string;
  readonly key: CryptoKey;
  /** Shown to whoever confirms it. */
  readonly fingerprint: string | null;
}

const DATABASE = 'svc-console';
const STORE = 'keys';
/** One operator at a time in each browser profile. */
const ENTRY = 'operator';
const SECRET_BYTES = 32;

/** The kept key; null where this browser has none. */
export async function readKey(): Promise<KeptKey | null> {
  return ((await inStore('readonly', (store) => store.get(ENTRY))) as KeptKey | undefined) ?? null;
}

export async function keepKey(key: KeptKey): Promise<void> {
  await inStore('readwrite', (store) => store.put(key, ENTRY));
}

/** Removes it from this browser; the service takes it until it is ended there. */
export async function forgetKey(): Promise<void> {
  await inStore('readwrite', (store) => store.delete(ENTRY));
}

/** A random secret as the text that is handed over once: 256 bits in base64url. */
export function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');
}

/** Imports a secret's text as a key that signs and cannot be exported. */
export function importSecret(secret: string): Promise<CryptoKey> {
  const hmac = { name: 'HMAC', hash: 'SHA-256' };
  const bytes = new TextEncoder().encode(secret);
  return crypto.subtle.importKey('raw', bytes, hmac, false, ['sign']);
}

/** Runs one transaction; resolves once the database has committed it. */
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
      transaction.onabort = () => reject(transaction.error ?? new Error('the key was not kept'));
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
    request.onerror = () => reject(request.error ?? new Error('this browser keeps no keys'));
  });
}
