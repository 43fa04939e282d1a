/**
 * Every page in every state that it can be in, read by axe: while it is read, empty, with rows,
 * refused, failed, with each of its sheets open, and with the session ended while the browser is
 * offline and everything is frozen. Between page and service stands the test: answers are made from
 * the schemas of the API. A page without a line here fails.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page, Route } from 'playwright-core';
import { commercial } from '../../../api/commercial.ts';
import { routes } from '../../../api/routes.ts';
import { OPERATIONS } from '../../../clients/http/operations.ts';
import { ROOT } from '../../../dev/stack/ports.ts';
import { answerFor } from '../../console/answers.ts';
import { eventually } from '../../support/eventually.ts';
import { create, get, must, registered, shared, transfer } from '../../support/http.ts';
import { accessible, dashboard, PATIENCE, shownFingerprint, watchedBrowsers } from './operators.ts';

const OPERATOR = `states-${String(process.pid)}`;
const HERE = `http://localhost:${new URL(shared.apiUrl).port}`;
const ID = '01920000-0000-7000-8000-000000000001';

/** Each page's address, so that it reads something. */
const ADDRESSES: Readonly<Record<string, string>> = {
  '/': '/',
  '/approvals': '/approvals',
  '/movements': '/movements',
  '/movements/$movement_id': `/movements/${ID}`,
  '/transfers': '/transfers',
  '/transfers/$transfer_id': `/transfers/${ID}`,
  '/allowlist': '/allowlist',
  '/callbacks': '/callbacks',
  '/audit': '/audit',
  '/search': '/search?q=abc',
  '/balances': '/balances',
  '/new': '/new?template_key=starter&template_version=7',
  '/policies': '/policies?strategy_id=basis',
  '/templates': '/templates',
  '/templates/$template_id': `/templates/${ID}`,
  '/proposals': '/proposals?authority_key=desk',
  '/proposals/$proposal_id': `/proposals/${ID}`,
  '/executors': '/executors',
  '/signers': '/signers',
  '/signers/$signer_key': '/signers/desk',
  '/routes': '/routes',
  '/bridges': '/bridges',
  '/perps': '/perps?strategy_id=basis',
};
/** Values that an answer needs to agree with itself. */
const AGREED: Readonly<Record<string, unknown>> = {
  'listPlanTemplates.plan_templates[].version': 7,
  'listAutoApprovePolicies[].strategy_id': 'basis',
  'getPlanTemplate.nodes[].node_key': 'pay',
  ...{ 'getPlanTemplate.edges[].from': 'pay', 'getPlanTemplate.edges[].to': 'pay' },
  'listSigners[].signer_key': 'desk',
  ...{ 'getCutoverMode.mode': 'frozen', 'getCutoverMode.reason': 'A test.' },
};
const PATHS = [
  ...readFileSync(join(ROOT, 'console', 'routes.ts'), 'utf8').matchAll(/^ {4}path: '(.+)',$/gm),
].map(([, path = '']) => path);

type Mode = 'reading' | 'empty' | 'rows' | 'failed' | 'refused' | 'ended';
const browsers = watchedBrowsers();
/** Writes without a signature. */
const unsigned: string[] = [];
let page: Page;
let mode: Mode = 'rows';
let movement = '';
/** Of the present page, until it is opened. */
let stream: Route | null = null;

const KNOWN = [...routes, ...(commercial({ autoApproveDryRun: false }).routes ?? [])];
/** Reads of the API, those with a name of their own before those with a parameter in its place. */
const READS = Object.entries(OPERATIONS)
  .filter(([, { method }]) => method === 'GET')
  .map(([id, { path }]) => ({ id, path: new RegExp(`^${path.replace(/\{[^}]*\}/g, '[^/]+')}$`) }))
  .toSorted((a, b) => a.path.source.split('[^').length - b.path.source.split('[^').length);

/** What the service could answer to a read; in `empty` no list has a row. */
function made(path: string): unknown {
  const { id = '' } = READS.find((read) => read.path.test(path)) ?? {};
  const schema = KNOWN.find((each) => each.id === id)?.response;
  if (schema === undefined) throw new Error(`${path} is no read of the API`);
  const { answer, leaves } = answerFor(schema, id);
  for (const { path: leaf, put } of leaves) {
    if (leaf in AGREED) put(AGREED[leaf]);
    if (leaf.endsWith('.next_cursor')) put(null);
  }
  return mode === 'empty' ? without(answer) : answer;
}

function without(value: unknown): unknown {
  if (Array.isArray(value)) return [];
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, without(each)]));
}

const REFUSALS = {
  failed: [500, 'internal_error', 'Something went wrong.'],
  refused: [403, 'role_not_allowed', 'This role may not read it.'],
  ended: [401, 'session_ended', 'The session has ended.'],
  missing: [404, 'movement_not_found', 'There is no such thing.'],
  invalid: [422, 'invalid_request', 'A field is wrong.'],
} as const;

async function refuse(route: Route, by: keyof typeof REFUSALS): Promise<void> {
  const [status, error, message] = REFUSALS[by];
  await route.fulfill({ status, json: { detail: { error, message, request_id: ID } } });
}

async function answer(route: Route, isOfOne: boolean): Promise<void> {
  const request = route.request();
  const { pathname } = new URL(request.url());
  const path = pathname.replace(/^\/dashboard(\/api)?/, '');
  if (request.method() !== 'GET') {
    if (request.headers()['x-svc-dashboard-signature']?.startsWith('v3=') !== true)
      unsigned.push(`${request.method()} ${pathname}`);
    return pathname.startsWith('/dashboard/api/') ? refuse(route, 'invalid') : route.continue();
  }
  if (path === '/stream') {
    stream = route;
    return undefined;
  }
  if (path === '/whoami' || path === '/nonce') return route.continue();
  switch (mode) {
    case 'reading':
      return undefined;
    case 'failed':
    case 'refused':
    case 'ended':
      return refuse(route, mode);
    case 'empty':
      if (isOfOne && path !== '/admin/cutover-mode') return refuse(route, 'missing');
      break;
    case 'rows':
      // A movement's answers agree in so much that a real one is read, and so is the allowlist.
      if (path.includes(ID))
        return path.startsWith('/movements')
          ? route.fulfill({
              response: await route.fetch({ url: request.url().replace(ID, movement) }),
            })
          : route.fulfill({ json: made(path) });
      if (path === '/allowed-addresses') return route.continue();
  }
  return path === '/allowed-addresses'
    ? route.fulfill({ json: { allowed_addresses: [], next_cursor: null } })
    : route.fulfill({ json: made(path) });
}

let isOfOne = false;
beforeAll(async () => {
  await must(200, get('/whoami'));
  movement = (await create(await registered([transfer('pay')]))).movement_id;
  const context = await browsers.open();
  // What waits a second or two before it reads again waits a tenth of that here.
  await context.addInitScript(`{ const later = window.setTimeout;
    window.setTimeout = (then, ms, ...more) =>
      later(then, ms >= 900 && ms <= 4000 ? ms / 10 : ms, ...more); }`);
  page = await context.newPage();
  const { link } = await dashboard(['enrol', '--operator', OPERATOR, '--role', 'admin']);
  const [, code = ''] = /#enrol=(.*)$/.exec(String(link)) ?? [];
  await page.goto(`${HERE}/console/#enrol=${code}`);
  await page.getByRole('button', { name: 'Make a key' }).click();
  await page.getByRole('heading', { name: 'The key waits for its confirmation' }).waitFor();
  const fingerprint = await shownFingerprint(page);
  await dashboard(['confirm', '--operator', OPERATOR, '--fingerprint', fingerprint]);
  await page.getByRole('heading', { name: 'Needs you' }).waitFor({ timeout: PATIENCE });
  await page.route('**/dashboard/**', (route) => answer(route, isOfOne));
}, 120_000);
afterAll(() => browsers.close());

async function opened(path: string, next: Mode, scheme: 'light' | 'dark', width: number) {
  mode = next;
  stream = null;
  isOfOne = path.includes('$');
  await page.emulateMedia({ colorScheme: scheme });
  await page.setViewportSize({ width, height: 900 });
  await page.goto(`${HERE}/console${ADDRESSES[path] ?? ''}`);
  await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor({ timeout: PATIENCE });
}

/** Nothing is being read any more. */
const settled = (): Promise<unknown> =>
  eventually(
    async () => (await page.getByText(/^(Reading…|It is being read\.)$/).count()) === 0 || null,
    { timeoutMs: PATIENCE, everyMs: 50 },
  );

test.each(PATHS)(
  '%s can be read by everyone in each of its states',
  async (path) => {
    expect(ADDRESSES[path]).toBeDefined();
    await opened(path, 'reading', 'dark', 320);
    await page
      .getByRole('main')
      .getByText(/Reading…|being read/)
      .first()
      .waitFor();
    await accessible(page);
    await opened(path, 'empty', 'light', 1280);
    await settled();
    await accessible(page);
    await opened(path, 'failed', 'dark', 1280);
    await page.getByRole('main').getByRole('alert').first().waitFor({ timeout: PATIENCE });
    await accessible(page);
    await opened(path, 'refused', 'light', 320);
    await page.getByRole('main').getByRole('alert').first().waitFor({ timeout: PATIENCE });
    await accessible(page);

    await opened(path, 'rows', 'light', 1280);
    await settled();
    await page.getByText('Frozen: nothing is sent').waitFor();
    expect(await page.getByRole('heading', { name: 'The page could not be shown' }).count()).toBe(
      0,
    );
    await accessible(page);
    await eachSheet();

    // Everything is read again when the stream opens, and refused.
    mode = 'ended';
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 320, height: 900 });
    await eventually(() => Promise.resolve(stream), { timeoutMs: PATIENCE, everyMs: 20 });
    await (stream as unknown as Route).fulfill({ contentType: 'text/event-stream', body: ':\n\n' });
    await page.getByText('Your session has ended').waitFor({ timeout: PATIENCE });
    await page.context().setOffline(true);
    await page.getByText(/^Offline: nothing here is new/).waitFor();
    await accessible(page);
    await page.context().setOffline(false);
  },
  120_000,
);

/** Opens every sheet of the page, and tries to send what cannot be sent. */
async function eachSheet(): Promise<void> {
  const buttons = page.getByRole('main').getByRole('button');
  const sheet = page.getByRole('dialog');
  for (let index = 0; index < (await buttons.count()); index += 1) {
    const button = buttons.nth(index);
    if ((await button.getAttribute('aria-disabled')) === 'true') continue;
    if ((await button.getAttribute('aria-disabled')) === null) continue;
    await button.click();
    if ((await sheet.count()) === 0) continue;
    const send = sheet.getByRole('button', { name: 'Sign and send' });
    const isOffered =
      (await send.count()) > 0 && (await send.getAttribute('aria-disabled')) !== 'true';
    if (isOffered) {
      await send.click();
      await sheet.getByRole('alert').first().waitFor({ timeout: PATIENCE });
    }
    await accessible(page);
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
  }
}

test('no write left without a signature, and nothing broke the content policy', () => {
  expect(unsigned).toEqual([]);
  expect(browsers.complaints).toEqual([]);
});
