/**
 * Keeps an operator's key in a browser, where no script can read it, and signs the dashboard's
 * writes with it by the client's own signer: copy this file and the client (`client.js`, which is
 * `lib/index.js` of the package that `npm run client:pack` makes). The page must come from a secure
 * origin (https, or http on this machine), else there is no WebCrypto.
 */
import { createDashboardSigner } from './client.js';

const DATABASE = 'svc-dashboard';
const STORE = 'writers';
/** One operator at a time in each browser profile. */
const ENTRY = 'writer';

const HMAC = { name: 'HMAC', hash: 'SHA-256' };
const utf8 = (text) => new TextEncoder().encode(text);

/**
 * Makes a key of the operator's secret, as it stands in the service's file of keys. The key signs
 * and does nothing else: `exportKey` rejects, in this page and after every reload.
 */
export async function importWriter(operator, secret) {
  return {
    operator,
    key: await crypto.subtle.importKey('raw', utf8(secret), HMAC, false, ['sign']),
  };
}

/** Imports the secret once and keeps the key; from now on the secret's text is needed nowhere. */
export async function enrol(operator, secret) {
  const writer = await importWriter(operator, secret);
  await inStore('readwrite', (store) => store.put(writer, ENTRY));
  return writer;
}

/** Who signs in this browser, as `enrol` kept it; null before an enrolment. */
export async function enrolled() {
  return (await inStore('readonly', (store) => store.get(ENTRY))) ?? null;
}

/**
 * Removes the key from this browser. It is valid at the service until it is taken out of the file
 * there.
 */
export async function forget() {
  await inStore('readwrite', (store) => store.delete(ENTRY));
}

/**
 * The four headers of one write. `url` is what is sent, `body` the very text that is sent; both may
 * not change afterwards. Timestamp and nonce are made here, so every attempt needs headers of its
 * own.
 */
export async function signedHeaders({ operator, key }, { method, url, body = '' }, moment) {
  const sign = createDashboardSigner({ operator, secret: key });
  return sign({ method, url: new URL(url, globalThis.location?.href), body }, moment);
}

/** Sends one signed write of JSON; answers its status and body. Nothing is sent twice by itself. */
export async function write(writer, path, content) {
  const url = new URL(path, location.href);
  const body = JSON.stringify(content);
  const headers = {
    'Content-Type': 'application/json',
    ...(await signedHeaders(writer, { method: 'POST', url, body })),
  };
  const answer = await fetch(url, {
    method: 'POST',
    headers,
    body,
    redirect: 'error',
    cache: 'no-store',
  });
  return { status: answer.status, body: await answer.json() };
}

/** One transaction; resolves when the database has committed it. */
async function inStore(mode, ask) {
  const database = await opened();
  try {
    return await new Promise((resolve, reject) => {
      const transaction = database.transaction(STORE, mode);
      const request = ask(transaction.objectStore(STORE));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => reject(transaction.error);
    });
  } finally {
    database.close();
  }
}

function opened() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
