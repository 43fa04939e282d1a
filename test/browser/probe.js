/** What tests do inside of the page, as a script of the page's own origin could. */
import { enrolled, importWriter, signedHeaders } from './signing.js';

/** Every way in which the platform gives out a key, and what came of it. */
export async function exportKept() {
  const { key } = await enrolled();
  const wrapping = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, true, [
    'wrapKey',
  ]);
  const ways = {
    raw: () => crypto.subtle.exportKey('raw', key),
    jwk: () => crypto.subtle.exportKey('jwk', key),
    wrapped: () =>
      crypto.subtle.wrapKey('raw', key, wrapping, { name: 'AES-GCM', iv: new Uint8Array(12) }),
  };
  const outcome = (way) =>
    way().then(
      () => 'exported',
      (error) => error.name,
    );
  const outcomes = Object.fromEntries(
    await Promise.all(Object.entries(ways).map(async ([name, way]) => [name, await outcome(way)])),
  );
  return {
    ...outcomes,
    isKey: key instanceof CryptoKey,
    extractable: key.extractable,
    usages: [...key.usages],
    text: JSON.stringify(key),
  };
}

/** Everything that a script can read in this browser, as one text. */
export async function readable() {
  const fields = [...document.querySelectorAll('input')].map(({ value }) => value);
  const kept = await Promise.all((await indexedDB.databases()).map(({ name }) => rowsOf(name)));
  const cached = await Promise.all(
    (await caches.keys()).map(async (name) =>
      (await (await caches.open(name)).keys()).map(({ url }) => url),
    ),
  );
  const visited = [
    location.href,
    name,
    history.state,
    ...performance.getEntries().map((entry) => entry.name),
  ];
  const held = [{ ...localStorage }, { ...sessionStorage }, document.cookie, kept, cached];
  return JSON.stringify([document.documentElement.outerHTML, fields, visited, held]);
}

async function rowsOf(name) {
  const database = await answered(indexedDB.open(name));
  const stores = [...database.objectStoreNames];
  const rows = await Promise.all(
    stores.map((store) => answered(database.transaction(store).objectStore(store).getAll())),
  );
  database.close();
  return rows;
}

function answered(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** Headers of one write, signed with the kept key. */
export async function headersFor(url, body) {
  return signedHeaders(await enrolled(), { method: 'POST', url, body });
}

/** Sends exactly this; answers the status and the body. */
export async function post(url, body, headers) {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body,
  });
  return { status: answer.status, body: await answer.json() };
}

/** The signatures that this browser makes of fixed requests. */
export async function signatures(vectors) {
  const sign = async ({ operator, secret, method, target, body_base64, timestamp, nonce }) => {
    const body = Uint8Array.from(atob(body_base64), (letter) => letter.charCodeAt(0));
    const request = { method, url: target, body };
    return signedHeaders(await importWriter(operator, secret), request, { timestamp, nonce });
  };
  return Promise.all(
    vectors.map(async (vector) => (await sign(vector))['X-SVC-Dashboard-Signature']),
  );
}
