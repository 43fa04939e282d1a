/** The packed client in a real browser: its README's program, with a key that cannot be read. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { openBrowser } from '../../dev/browser.ts';
import { installClient } from '../support/client-package.ts';
import { noop, registered, shared } from '../support/http.ts';
import { startReverseProxy, type ReverseProxy } from './reverse-proxy.ts';

const room = mkdtempSync(join(tmpdir(), 'client-browser-'));
let proxy: ReverseProxy;
let browser: BrowserContext;
let page: Page;

beforeAll(async () => {
  const { folder, library } = await installClient(room);
  const imports = { 'fund-movement-client': '/client.js' };
  const index = join(room, 'index.html');
  writeFileSync(
    index,
    `<!doctype html><title>client</title><script type="importmap">${JSON.stringify({ imports })}</script>`,
  );
  proxy = await startReverseProxy(shared.apiUrl, {
    files: {
      '/': [index, 'text/html; charset=utf-8'],
      '/movement.js': [join(folder, 'movement.js'), 'text/javascript'],
      '/client.js': [join(library, 'lib', 'index.js'), 'text/javascript'],
    },
    passesOn: (url) => url.startsWith('/v3/') || url === '/healthz',
  });
  browser = await openBrowser({
    program: process.env['TEST_CHROMIUM'] ?? '',
    profile: join(room, 'profile'),
  });
  page = await browser.newPage();
  await page.goto(proxy.origin);
}, 120_000);
afterAll(async () => {
  await browser?.close();
  await proxy?.stop();
  rmSync(room, { recursive: true, force: true });
});

/** Evaluates in the page, with the key imported such that it cannot be exported. */
const inPage = <T>(work: string): Promise<T> =>
  page.evaluate<T>(`(async () => {
    const client = await import('/client.js');
    const { move } = await import('/movement.js');
    const keyId = ${JSON.stringify(shared.keys.operator.keyId)};
    const bytes = new TextEncoder().encode(${JSON.stringify(shared.keys.operator.secret)});
    const hmac = { name: 'HMAC', hash: 'SHA-256' };
    const secret = await crypto.subtle.importKey('raw', bytes, hmac, false, ['sign']);
    const baseUrl = location.origin;
    ${work}
  })()`);

test('twenty lines create, approve and watch a movement', async () => {
  const { template_key } = await registered([noop('a'), noop('b')]);
  const { state, said } = await inPage<{ state: string; said: readonly string[] }>(`
    const said = [];
    const order = { baseUrl, keyId, secret, template_key: ${JSON.stringify(template_key)}, amount: '5' };
    const { request_state: state } = await move(order, (text) => said.push(text));
    return { state, said };`);
  expect(state).toBe('COMPLETED');
  expect(said[0]).toBe('may move []');
  expect(said.at(-1)).toBe('COMPLETED');
});

test('paths and queries are signed as the browser sends them, and refusals have their codes', async () => {
  const seen = await inPage<{ rows: number; code: string; path: string }>(`
    const fund = client.createClient({ baseUrl, key: { keyId, secret } });
    let rows = 0;
    for await (const _ of fund.movements.list({ strategy_id: "a b&c='é+%20" })) rows += 1;
    const codeOf = (work) => work.then(() => 'none', (error) => error.code);
    const path = await codeOf(fund.executors.update("it's é (new)", { status: 'active' }));
    return { rows, path, code: await codeOf(fund.movements.get(crypto.randomUUID())) };`);
  // Past the signature: an operator may not change executors.
  expect(seen).toEqual({ rows: 0, path: 'forbidden', code: 'movement_not_found' });
});

test('a service that is away is said to be so, in one line', async () => {
  const said = await inPage<string>(`
    const fund = client.createClient({ baseUrl: 'http://127.0.0.1:9', prefix: '/v3', retries: 0, key: { keyId, secret } });
    return fund.whoami().then(String, String);`);
  expect(said).toBe('UnreachableError: No answer from http://127.0.0.1:9: TypeError.');
});
