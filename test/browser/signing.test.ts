/** The example of the dashboard's signing, in a real browser against the real service. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { openBrowser } from '../../dev/browser.ts';
import { VECTORS } from '../clients/vectors.ts';
import { installClient } from '../support/client-package.ts';
import { freshAddress, ROWS, toDashboard, type RowView } from '../support/dashboard.ts';
import {
  expectRefusal,
  movementBody,
  must,
  post,
  registered,
  shared,
  sql,
  transfer,
  waitFor,
  type Answer,
} from '../support/http.ts';
import { dashboardSite, startReverseProxy, type ReverseProxy } from './reverse-proxy.ts';

const OPERATOR = 'ops-3';
const SECRET = shared.dashboardKeys[OPERATOR] ?? '';
const profile = mkdtempSync(join(tmpdir(), 'browser-profile-'));
const room = mkdtempSync(join(tmpdir(), 'client-browser-'));
let site: ReturnType<typeof dashboardSite>;
let proxy: ReverseProxy;
let browser: BrowserContext;
let page: Page;

/** A browser with a profile on disk: what it keeps outlives its processes. */
async function open(): Promise<void> {
  browser = await openBrowser({ program: process.env['TEST_CHROMIUM'] ?? '', profile });
  page = await browser.newPage();
  await page.goto(proxy.origin);
}

beforeAll(async () => {
  const { library } = await installClient(room);
  site = dashboardSite(join(library, 'lib', 'index.js'));
  proxy = await startReverseProxy(shared.apiUrl, site);
  await open();
}, 120_000);
afterAll(async () => {
  await browser?.close();
  await proxy?.stop();
  for (const folder of [profile, room]) rmSync(folder, { recursive: true, force: true });
});

/** Calls one function of probe.js in the page. */
const inPage = <T>(name: string, ...args: readonly unknown[]): Promise<T> =>
  page.evaluate<T>(
    `import('/probe.js').then((probe) => probe[${JSON.stringify(name)}](...${JSON.stringify(args)}))`,
  );
const status = (text: string): Promise<void> =>
  page.getByRole('status').filter({ hasText: text }).waitFor();
const rowsWith = async (address: string): Promise<readonly RowView[]> => {
  const query = '?include_inactive=true&limit=200';
  const { allowed_addresses: rows } = await must(
    200,
    toDashboard<{ allowed_addresses: readonly RowView[] }>('GET', ROWS + query),
  );
  return rows.filter((row) => row.address === address);
};
const content = (address = freshAddress()): string =>
  JSON.stringify({ chain_family: 'evm', address, reason: 'from a browser' });

async function add(address: string): Promise<void> {
  await page.fill('#add [name=address]', address);
  await page.fill('#add [name=reason]', 'from a browser');
  await page.click('#add button');
}

test('without an operator the list can be read, and nothing is signed', async () => {
  await status('no operator is enrolled');
  const address = shared.wallet.toLowerCase();
  await page.getByRole('row', { name: address }).first().waitFor();
  await add(freshAddress());
  await status('no operator is enrolled');
});

test('the secret is imported once, and its text is left nowhere', async () => {
  await page.fill('#enrol [name=operator]', OPERATOR);
  await page.fill('#enrol [name=secret]', SECRET);
  expect(await inPage('readable')).toContain(SECRET);
  await page.click('#enrol button');
  await status(`signs as ${OPERATOR}`);
  const readable = await inPage<string>('readable');
  expect(readable).toContain(OPERATOR);
  expect(readable).not.toContain(SECRET);
  expect(readable).not.toContain(btoa(SECRET));
  expect(JSON.stringify(await browser.storageState())).not.toContain(SECRET);
});

test('the key signs and cannot be exported', async () => {
  const refused = 'InvalidAccessError';
  const key = { isKey: true, extractable: false, usages: ['sign'], text: '{}' };
  expect(await inPage('exportKept')).toEqual({
    raw: refused,
    jwk: refused,
    wrapped: refused,
    ...key,
  });
});

test('an address is put on the list, taken off and put back', async () => {
  const address = freshAddress();
  const of = await registered([
    {
      ...transfer('pay'),
      config: { ...(transfer('pay')['config'] as object), destination_address: address },
    },
  ]);
  const creates = async (): Promise<number> => (await post('/movements', movementBody(of))).status;
  expect(await creates()).toBe(422);
  await add(address);
  await status('created');
  expect(await rowsWith(address)).toMatchObject([
    { active: true, created_by: OPERATOR, reason: 'from a browser' },
  ]);
  expect(await creates()).toBe(201);

  const line = page.getByRole('row', { name: address });
  await line.getByRole('button', { name: 'revoke' }).click();
  await status('revoked');
  expect(await rowsWith(address)).toMatchObject([{ active: false, revoked_by: OPERATOR }]);
  expect(await creates()).toBe(422);
  await line.getByRole('button', { name: 'reactivate' }).click();
  await status('reactivated');
  expect(await rowsWith(address)).toMatchObject([{ active: true, revoked_at: null }]);
  const audit = await sql(
    'SELECT action FROM audit_events WHERE entity_key = $1 AND actor_key_id = $2',
    [(await rowsWith(address))[0]?.id, `dashboard:${OPERATOR}`],
  );
  expect(audit).toHaveLength(3);
});

test('what the service refuses is shown', async () => {
  await add('0x1234');
  await status('refused: invalid_request');
});

describe('a signed request', () => {
  const sent = (body: string, headers: object, target = ROWS): Promise<Answer> =>
    inPage<Answer>('post', target, body, headers);
  const unauthenticated = (answer: Answer): void => expectRefusal(answer, 401, 'unauthenticated');

  test('is taken once', async () => {
    const address = freshAddress();
    const headers = await inPage<object>('headersFor', ROWS, content(address));
    expect((await sent(content(address), headers)).status).toBe(200);
    unauthenticated(await sent(content(address), headers));
    expect(await rowsWith(address)).toHaveLength(1);
  });

  test('counts for no other body, path or query', async () => {
    const [meant, other] = [freshAddress(), freshAddress()];
    const headers = await inPage<object>('headersFor', ROWS, content(meant));
    unauthenticated(await sent(content(other), headers));
    unauthenticated(await sent(content(meant), headers, `${ROWS}?a=1`));
    unauthenticated(await sent(content(meant), headers, `${ROWS}/${crypto.randomUUID()}/revoke`));
    expect([...(await rowsWith(meant)), ...(await rowsWith(other))]).toEqual([]);
    // Refusals have not used the nonce up: it was the signature that was wrong.
    expect((await sent(content(meant), headers)).status).toBe(200);
  });

  test('is what other implementations sign', async () => {
    expect(await inPage('signatures', VECTORS.dashboard)).toEqual(
      VECTORS.dashboard.map(({ signature }) => signature),
    );
  });

  test('cannot be sent from a page of another origin', async () => {
    const elsewhere = await startReverseProxy(shared.apiUrl, site);
    const address = freshAddress();
    const headers = await inPage<object>('headersFor', ROWS, content(address));
    const stranger = await browser.newPage();
    await stranger.goto(`${elsewhere.origin}/none`);
    const attempt = (url: string): Promise<string> =>
      stranger.evaluate<string>(
        `fetch(${JSON.stringify(url)}, { method: 'POST', body: ${JSON.stringify(content(address))}, headers: { 'content-type': 'application/json', ...${JSON.stringify(headers)} } }).then(() => 'sent', (error) => error.name)`,
      );
    expect(await attempt(proxy.origin + ROWS)).toBe('TypeError');
    expect(await attempt(shared.apiUrl + ROWS)).toBe('TypeError');
    expect(await stranger.evaluate<unknown[]>('indexedDB.databases()')).toEqual([]);
    expect(await rowsWith(address)).toEqual([]);
    await stranger.close();
    await elsewhere.stop();
  });
});

test('the key still signs after a reload, and in a browser that was started anew', async () => {
  await page.reload();
  await status(`signs as ${OPERATOR}`);
  const first = freshAddress();
  await add(first);
  await status('created');
  await browser.close();
  await open();
  await status(`signs as ${OPERATOR}`);
  const second = freshAddress();
  await add(second);
  await status('created');
  expect([...(await rowsWith(first)), ...(await rowsWith(second))]).toMatchObject([
    { created_by: OPERATOR },
    { created_by: OPERATOR },
  ]);
  expect(await inPage('exportKept')).toMatchObject({
    raw: 'InvalidAccessError',
    extractable: false,
  });
  expect(await inPage('readable')).not.toContain(SECRET);
});

test('a key that is forgotten is gone', async () => {
  await page.click('#forget');
  await status('no operator is enrolled');
  await page.reload();
  await status('no operator is enrolled');
  expect(await waitFor(async () => !(await inPage<string>('readable')).includes(OPERATOR))).toBe(
    true,
  );
});
