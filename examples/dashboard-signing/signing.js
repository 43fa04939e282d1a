/**
 * Signs the dashboard's writes in a browser, with a key that no script can read. Nothing is needed
 * but the browser:
 * copy this file. The page must come from a secure origin (https, or http on this machine), else
 * there is no WebCrypto.
 */
const DATABASE = 'svc-dashboard';
const STORE = 'writers';
/** One operator at a time in each browser profile. */
const ENTRY = 'writer';

const HMAC = { name: 'HMAC', hash: 'SHA-256' };
const utf8 = (text) => new TextEncoder().encode(text);
const hex = (bytes) =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');

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

/** Who signs in this browser, as `enrol` kept it; null when nobody does. */
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
export async function signedHeaders({ operator, key }, { method, url, body = '' }, moment = now()) {
  const { timestamp, nonce } = moment;
  const { pathname, search } = new URL(url, globalThis.location?.href);
  const bodyHash = hex(
    await crypto.subtle.digest('SHA-256', typeof body === 'string' ? utf8(body) : body),
  );
  const path = decodeURIComponent(pathname);
  const text = [
    'SVC-DASHBOARD-V3',
    method,
    path,
    search.slice(1),
    bodyHash,
    timestamp,
    nonce,
    operator,
  ].join('\n');
  return {
    'X-SVC-Dashboard-Operator': operator,
    'X-SVC-Dashboard-Timestamp': timestamp,
    'X-SVC-Dashboard-Nonce': nonce,
    'X-SVC-Dashboard-Signature': `v3=${hex(await crypto.subtle.sign('HMAC', key, utf8(text)))}`,
  };
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

function now() {
  return {
    timestamp: String(Math.floor(Date.now() / 1000)),
    nonce: hex(crypto.getRandomValues(new Uint8Array(16))),
  };
}

/** One transaction; ends when the database has it, not when it was asked. */
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
