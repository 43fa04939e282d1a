/** The operators' page as it is served: its files, and what a browser may do with them. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ROOT } from '../../dev/stack/ports.ts';
import { CONSOLE } from '../support/dashboard.ts';
import { get, must, shared } from '../support/http.ts';

const KILOBYTE = 1_000;
const at = (path: string, init?: RequestInit): Promise<Response> =>
  fetch(CONSOLE + path, { redirect: 'manual', ...init });
const index = await (await at('/console/')).text();
const importMap = /<script type="importmap">(.*?)<\/script>/s.exec(index)?.[1] ?? '';
const { integrity } = JSON.parse(importMap) as { integrity: Record<string, string> };
const first = [...index.matchAll(/(?:src|href)="([^"]+)" integrity="([^"]+)"/g)].map(
  ([, path = '', hash = '']) => ({ path, hash }),
);
const hashOf = (algorithm: string, bytes: string | Uint8Array): string =>
  `${algorithm}-${createHash(algorithm).update(bytes).digest('base64')}`;

test('the page may load its own files alone, and nothing in it is inline', async () => {
  const { headers, status } = await at('/console/');
  expect(status).toBe(200);
  expect(headers.get('content-security-policy')).toBe(
    `default-src 'none'; script-src 'self' '${hashOf('sha256', importMap)}'; style-src 'self'; connect-src 'self'; img-src 'self'; font-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'`,
  );
  expect(Object.fromEntries(headers)).toMatchObject({
    'cache-control': 'no-cache',
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'content-type': 'text/html; charset=utf-8',
  });
  expect(headers.has('set-cookie')).toBe(false);
  const others = index.replace(importMap, '');
  expect(others).not.toMatch(/<style|\sstyle=|\son\w+=|<script[^>]*>[^<]/);
  expect(others).not.toMatch(/https?:|serviceWorker/);
});

test('every script is named with its hash, and is what was hashed', async () => {
  expect(Object.keys(integrity).length).toBeGreaterThan(1);
  expect(first).toHaveLength(2);
  for (const { path, hash } of [
    ...first,
    ...Object.entries(integrity).map(([path, hash]) => ({ path, hash })),
  ]) {
    const response = await at(path);
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(hashOf('sha384', new Uint8Array(await response.arrayBuffer()))).toBe(hash);
  }
});

test('the first load is at most 180 kB as it is sent', async () => {
  const scripts = imported();
  expect(scripts.size).toBeGreaterThan(first.length);
  const sizes = await Promise.all(
    [...scripts, '/console/'].map(async (path) => {
      const { headers } = await at(path, { headers: { 'accept-encoding': 'gzip' } });
      expect(headers.get('content-encoding')).toBe('gzip');
      return Number(headers.get('content-length'));
    }),
  );
  expect(sizes.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(180 * KILOBYTE);
});

/** What the index loads before anything is clicked, and all that this imports. */
function imported(): ReadonlySet<string> {
  const read = (path: string): string => readFileSync(join(ROOT, 'dist', path.slice(1)), 'utf8');
  const queue = [...first.map(({ path }) => path)];
  const found = new Set(queue);
  for (const path of queue)
    for (const [, name = ''] of read(path).matchAll(/(?:from|import)\s*"\/console\/([^"]+)"/g)) {
      const next = `/console/${name}`;
      if (!found.has(next)) queue.push(next);
      found.add(next);
    }
  return found;
}

test('a deep link is the page; a part that this release does not have is none', async () => {
  for (const path of ['movements/m-1', 'templates/a.b', 'x.js', 'manifest.json', 'index.html', 'a'])
    expect(await (await at(`/console/${path}`)).text()).toBe(index);
  const gone = await at('/console/main-AAAAAAAA.js');
  expect([gone.status, gone.headers.get('cache-control')]).toEqual([404, 'no-store']);
  const short = await at('/console');
  expect([short.status, short.headers.get('location')]).toEqual([308, '/console/']);
});

test('HEAD has the headers and no body; nothing is written there', async () => {
  const head = await at('/console/', { method: 'HEAD' });
  expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([
    200,
    String(gzipSync(index).byteLength),
    '',
  ]);
  const post = await at('/console/', { method: 'POST', body: '{}' });
  expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
});

test.each([
  '/console/../package.json',
  '/console/%2e%2e/package.json',
  '/console/..%2fpackage.json',
  '/console/..\\package.json',
  '/console//etc/passwd',
  '/console/%00',
])('%s leads to no other file', async (target) => {
  const text = await raw(target);
  expect(text).toMatch(/^HTTP\/1\.1 (400|404) /);
  expect(text).not.toContain('fund-movement-orchestrator"');
});

/** As it stands: `fetch` would resolve the dots, and name the host, itself. */
function raw(target: string, host = new URL(CONSOLE).host): Promise<string> {
  const { hostname, port } = new URL(shared.apiUrl);
  return new Promise((resolve, reject) => {
    let text = '';
    connect(Number(port), hostname)
      .on('error', reject)
      .on('data', (part: Buffer) => (text += part.toString('latin1')))
      .on('end', () => {
        resolve(text);
      })
      .write(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  });
}

test('the API beside it answers signed requests alone', async () => {
  const unsigned = await at('/v3/whoami');
  expect(unsigned.status).toBe(401);
  await must(200, get('/whoami'));
});

test('a caller that takes no packed answer gets none', async () => {
  const plain = await at('/console/', { headers: { 'accept-encoding': 'identity' } });
  expect(plain.headers.get('content-encoding')).toBeNull();
  expect(plain.headers.get('vary')).toBe('Accept-Encoding');
  expect(await plain.text()).toBe(index);
});

test.each([
  ['evil.example', ''],
  ['127.0.0.1', ''],
  ['localhost', ''],
  ['localhost:1', ''],
  ['evil.example', `X-Forwarded-Host: ${new URL(CONSOLE).host}\r\n`],
])('under the name %s it is not answered, whatever a proxy says', async (host, more) => {
  for (const path of ['/console', '/console/', first[0]?.path ?? '']) {
    const text = await raw(path, `${host}\r\n${more}X: y`);
    expect(text).toMatch(/^HTTP\/1\.1 403 /);
    expect(text).toContain(CONSOLE);
    expect(text).not.toContain('importmap');
  }
  // The name is the same in capitals.
  expect(await raw('/console/', new URL(CONSOLE).host.toUpperCase())).toMatch(/^HTTP\/1\.1 200 /);
});
