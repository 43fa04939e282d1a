/**
 * Every page of the router in every state that it can be in, read by axe: while it is read, empty
 * or not found, failed, refused, filled (with each of its sheets sent and refused), behind, with
 * the session ended while the browser is offline, and over real rows. A page without a line here
 * fails. Between page and service stands the test: answers are made from the schemas of the API, so
 * that every field of them is drawn. A document is loaded once for a state; its pages are opened in
 * it as an operator opens them.
 */
import { join } from 'node:path';
import type { Locator, Page, Route } from 'playwright-core';
import { commercial } from '../../../api/commercial.ts';
import { routes } from '../../../venues/routes.ts';
import { LONG_TIMELINE, manyId, writeManyRows } from '../../../bench/console/many-rows.ts';
import { OPERATIONS } from '../../../clients/http/operations.ts';
import { ROOT } from '../../../dev/stack/ports.ts';
import { answerFor } from '../../console/answers.ts';
import { eventually } from '../../support/eventually.ts';
import { WITHDRAW_TO_TREASURY } from '../../support/own-stack.ts';
import { accessible, PATIENCE, startConsole } from './operators.ts';
import { started } from '../../support/started.ts';

interface PageOf {
  /** As in the router. */
  readonly path: string;
  /** Its address over made answers, with what it needs to read something. */
  readonly at: string;
  /** What it says where nothing is there; of one thing, that it is not there. */
  readonly empty: string;
  /** A region that stands only over an answer. */
  readonly filled: string;
  /** The address of something in the database; null: the test writes no rows of it. */
  readonly real: string | null;
}

const ID = '01920000-0000-7000-8000-000000000001';
const MISSING = 'There is no such thing.';
/** Two of one component do not follow each other. */
const PAGES: readonly PageOf[] = [
  { path: '/', at: '/', empty: 'Nothing waits for you.', filled: 'Waits for you', real: '/' },
  {
    ...{ path: '/approvals', at: '/approvals', empty: 'No movement waits for its approval.' },
    ...{ filled: 'Movements that wait for their approval', real: '/approvals' },
  },
  {
    ...{ path: '/changes', at: '/changes', empty: 'No change request fits.' },
    ...{ filled: 'Change requests', real: null },
  },
  {
    ...{ path: '/changes/$change_request_id', at: `/changes/${ID}`, empty: MISSING },
    ...{ filled: 'What changes', real: null },
  },
  {
    ...{ path: '/movements', at: '/movements', empty: 'No movement fits.' },
    ...{ filled: 'Movements', real: '/movements' },
  },
  {
    ...{ path: '/movements/$movement_id', at: `/movements/${ID}`, empty: MISSING },
    ...{ filled: 'Timeline', real: `/movements/${manyId(LONG_TIMELINE, 1)}` },
  },
  {
    ...{ path: '/transfers', at: '/transfers', empty: 'No transfer fits.' },
    ...{ filled: 'Capital transfers', real: '/transfers' },
  },
  {
    ...{ path: '/transfers/$transfer_id', at: `/transfers/${ID}`, empty: MISSING },
    ...{ filled: 'About it', real: '/transfers/$transfer_id' },
  },
  {
    ...{ path: '/allowlist', at: '/allowlist', empty: 'No address is allowed.' },
    ...{ filled: 'Allowed addresses', real: '/allowlist' },
  },
  {
    ...{ path: '/callbacks', at: '/callbacks', empty: 'No callback fits.' },
    ...{ filled: 'Callbacks', real: '/callbacks' },
  },
  {
    ...{ path: '/audit', at: '/audit', empty: 'No event fits.' },
    ...{ filled: 'Audit events', real: '/audit' },
  },
  {
    ...{ path: '/search', at: '/search?q=abc', empty: 'Nothing has this name.' },
    ...{ filled: 'Hits', real: '/search?q=twin' },
  },
  {
    ...{ path: '/balances', at: '/balances', empty: 'No balance fits.' },
    ...{ filled: 'Balances', real: '/balances' },
  },
  {
    ...{ path: '/new', at: '/new', empty: 'No active template can be executed.' },
    ...{ filled: 'Templates that can be used', real: '/new' },
  },
  {
    ...{ path: '/policies', at: '/policies?strategy_id=basis' },
    ...{ empty: 'No active policy of it caps a window.', filled: 'Policies' },
    real: '/policies?strategy_id=many-00001',
  },
  {
    ...{ path: '/new', at: '/new?template_key=starter&template_version=7' },
    ...{ empty: 'There is no version 7 among the newest 200', filled: 'What it is to do' },
    real: '/new?template_key=many%2Ft00001&template_version=1',
  },
  {
    ...{ path: '/templates', at: '/templates', empty: 'No template fits.' },
    ...{ filled: 'Template versions', real: '/templates' },
  },
  {
    ...{ path: '/templates/$template_id', at: `/templates/${ID}`, empty: MISSING },
    ...{ filled: 'Terms', real: `/templates/${manyId(1, 2)}` },
  },
  {
    ...{ path: '/proposals', at: '/proposals?authority_key=desk', empty: 'No proposal fits.' },
    ...{ filled: 'Proposals', real: '/proposals?authority_key=many' },
  },
  {
    ...{ path: '/proposals/$proposal_id', at: `/proposals/${ID}`, empty: MISSING },
    ...{ filled: 'What is proposed', real: `/proposals/${manyId(1, 7)}` },
  },
  {
    ...{ path: '/executors', at: '/executors', empty: 'No executor fits.' },
    ...{ filled: 'Executors', real: '/executors' },
  },
  {
    ...{ path: '/signers', at: '/signers', empty: 'No signer fits.' },
    ...{ filled: 'Signers', real: '/signers' },
  },
  {
    ...{ path: '/signers/$signer_key', at: '/signers/desk', empty: MISSING },
    ...{ filled: 'Actions', real: '/signers/many-00001' },
  },
  { path: '/routes', at: '/routes', empty: 'No route fits.', filled: 'Routes', real: null },
  {
    ...{ path: '/bridges', at: '/bridges', empty: 'No chain is registered.' },
    ...{ filled: 'Paths', real: '/bridges' },
  },
  {
    ...{ path: '/perps', at: '/perps?strategy_id=basis', filled: 'Agent wallets', real: null },
    empty: 'The strategy has no agent wallet.',
  },
  {
    ...{ path: '/passkeys', at: '/passkeys', empty: 'No one has a passkey yet.' },
    ...{ filled: 'Passkeys', real: null },
  },
];
/** Values that an answer needs to agree with itself. */
const AGREED: Readonly<Record<string, unknown>> = {
  'listPlanTemplates.plan_templates[].version': 7,
  'listAutoApprovePolicies[].strategy_id': 'basis',
  'getPlanTemplate.nodes[].node_key': 'pay',
  ...{ 'getPlanTemplate.edges[].from': 'pay', 'getPlanTemplate.edges[].to': 'pay' },
  'listSigners[].signer_key': 'desk',
  ...{ 'getCutoverMode.mode': 'frozen', 'getCutoverMode.reason': 'A test.' },
};

/** `real`: the service answers. */
type Mode = 'reading' | 'empty' | 'filled' | 'failed' | 'refused' | 'ended' | 'real';
let page: Page;
let mode: Mode = 'real';
let movement = '';
let transfer = '';
let isOfOne = false;

const KNOWN = [...routes, ...(commercial({ autoApproveDryRun: false }).routes ?? [])];
/** Reads of the API, those with a name of their own before those with a parameter in its place. */
const READS = Object.entries(OPERATIONS)
  .filter(([, { method }]) => method === 'GET')
  .map(([id, { path }]) => ({ id, path: new RegExp(`^${path.replace(/\{[^}]*\}/g, '[^/]+')}$`) }))
  .toSorted((a, b) => a.path.source.split('[^').length - b.path.source.split('[^').length);

/** The same again where it is read again: nothing changes under a sheet. */
const answers = new Map<string, unknown>();

/** What the service could answer to a read; in `empty` no list has a row. */
function made(path: string): unknown {
  const known = answers.get(path) ?? answerTo(path);
  answers.set(path, known);
  return mode === 'empty' ? without(known) : known;
}

function answerTo(path: string): unknown {
  if (path === '/allowed-addresses') return { allowed_addresses: [], next_cursor: null };
  const { id = '' } = READS.find((read) => read.path.test(path)) ?? {};
  const schema = KNOWN.find((each) => each.id === id)?.response;
  if (schema === undefined) throw new Error(`${path} is no read of the API`);
  const { answer, leaves } = answerFor(schema, id);
  for (const { path: leaf, put } of leaves) {
    if (leaf in AGREED) put(AGREED[leaf]);
    if (leaf.endsWith('.next_cursor')) put(null);
  }
  // Two of them: a search opens a hit that is alone.
  const { hits } = answer as { hits?: unknown[] };
  hits?.push(...(answerFor(schema, id).answer as { readonly hits: readonly unknown[] }).hits);
  return answer;
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
  missing: [404, 'movement_not_found', MISSING],
  invalid: [422, 'invalid_request', 'A field is wrong.'],
} as const;

async function refuse(route: Route, by: keyof typeof REFUSALS): Promise<void> {
  const [status, error, message] = REFUSALS[by];
  await route.fulfill({ status, json: { detail: { error, message, request_id: ID } } });
}

async function answer(route: Route): Promise<void> {
  const request = route.request();
  const path = new URL(request.url()).pathname.replace(/^\/dashboard(\/api)?/, '');
  if (['/whoami', '/nonce', '/session'].includes(path)) return route.continue();
  if (request.method() !== 'GET') return refuse(route, 'invalid');
  if (mode === 'real') return route.continue();
  // Read by time instead, which the header says.
  if (path === '/stream') return route.abort();
  if (mode === 'reading') return undefined;
  if (mode === 'failed' || mode === 'refused' || mode === 'ended') return refuse(route, mode);
  if (mode === 'empty' && isOfOne && path !== '/admin/cutover-mode')
    return refuse(route, 'missing');
  // A movement's answers agree in so much that a real one is read, and so is the allowlist.
  if (mode === 'filled' && path.startsWith(`/movements/${ID}`))
    return route.fulfill({
      response: await route.fetch({ url: request.url().replace(ID, movement) }),
    });
  if (mode === 'filled' && path === '/allowed-addresses') return route.continue();
  return route.fulfill({ json: made(path) });
}

const desk = started(() => startConsole());
beforeAll(async () => {
  const { api } = desk.own;
  // Two, since a search opens a hit that is alone.
  for (const external_reference of ['twin', 'twin'])
    movement = String(
      (
        await api.expect(201, 'POST', '/movements', {
          ...{ template_key: WITHDRAW_TO_TREASURY, template_version: 1, strategy_id: 'tests' },
          ...{ intent: { asset: 'USDC', amount: '1' }, external_reference },
        })
      )['movement_id'],
    );
  const body = {
    ...{ source_venue: 'paper-main', destination_venue: 'paper-sub-a', asset: 'USDT' },
    ...{ amount: '1.5', reason: 'rebalancing', idempotency_key: 'one' },
  };
  transfer = String((await api.expect(201, 'POST', '/capital-transfers', body))['transfer_id']);
  await writeManyRows(desk.own.stack.databaseUrl, { count: 3, prototype: movement });
  const context = await desk.browsers.open();
  // What waits a second or two before it reads again waits a tenth of that here.
  await context.addInitScript(`{ const later = window.setTimeout;
    window.setTimeout = (then, ms, ...more) =>
      later(then, ms >= 900 && ms <= 4000 ? ms / 50 : ms, ...more); }`);
  page = await context.newPage();
  await desk.enrol(page, 'ada', '--role', 'admin');
  await page.route('**/dashboard/**', answer);
});

/** A document that has read nothing yet. */
async function loaded(next: Mode): Promise<void> {
  await page.context().setOffline(false);
  mode = next;
  isOfOne = false;
  await page.goto(`${desk.origin}/console/search`);
  await page.getByRole('heading', { level: 1, name: 'Search' }).waitFor({ timeout: PATIENCE });
}

async function seenAs(scheme: 'light' | 'dark', width: number): Promise<void> {
  await page.emulateMedia({ colorScheme: scheme });
  await page.setViewportSize({ width, height: 900 });
}

/** Within the document, as a link does; until the page has another heading than the one before. */
async function open(path: string, at: string): Promise<void> {
  isOfOne = path.includes('$');
  await page.evaluate(`document.querySelector('main h1')?.setAttribute('data-left', '');
    history.pushState({}, '', ${JSON.stringify(`/console${at}`)});`);
  await main().locator('h1:not([data-left])').waitFor({ timeout: PATIENCE });
}

const main = (): Locator => page.getByRole('main');
const says = (text: string | RegExp, within = main()): Promise<void> =>
  within.getByText(text).first().waitFor({ timeout: PATIENCE });
const refusedWith = (by: keyof typeof REFUSALS): Promise<void> =>
  says(REFUSALS[by][2], main().getByRole('alert'));
const READING = /^(Reading…|It is being read\.|The plan is being read\.)$/;

/** The page shows an answer, and waits for none. */
async function isFilled({ filled }: PageOf): Promise<void> {
  await main()
    .getByRole('region', { name: filled, exact: true })
    .first()
    .waitFor({ timeout: PATIENCE });
  await settled();
}

const settled = (): Promise<true> =>
  eventually(async () => (await main().getByText(READING).count()) === 0 || null, {
    ...{ timeoutMs: PATIENCE, everyMs: 20 },
    what: () => 'the page to wait for nothing',
  });

/** Everyone can read it; on a narrow screen without scrolling in two directions. */
async function readable(): Promise<void> {
  expect(await page.getByRole('heading', { name: 'The page could not be shown' }).count()).toBe(0);
  await accessible(page);
  expect(
    await page.evaluate<number>(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    ),
  ).toBeLessThanOrEqual(0);
}

test('every page of the router is here', async () => {
  const file = join(ROOT, 'console', 'routes.ts');
  const { PAGES: all } = (await import(file)) as {
    readonly PAGES: readonly { readonly path: string }[];
  };
  expect([...new Set(PAGES.map(({ path }) => path))].toSorted()).toEqual(
    all.map(({ path }) => path).toSorted(),
  );
});

describe('while it is read', () => {
  beforeAll(async () => {
    await seenAs('dark', 320);
    await loaded('reading');
  });
  test.each(PAGES)('$at', async ({ path, at }) => {
    await open(path, at);
    await says(READING);
    await readable();
  });
});

describe('empty, or not there', () => {
  beforeAll(async () => {
    await seenAs('light', 1280);
    await loaded('empty');
  });
  test.each(PAGES)('$at', async ({ path, at, empty }) => {
    await open(path, at);
    await says(empty);
    await settled();
    await readable();
  });
});

describe.each([
  ['failed', 'dark', 1280],
  ['refused', 'light', 320],
] as const)('%s', (by, scheme, width) => {
  beforeAll(async () => {
    await seenAs(scheme, width);
    await loaded(by);
  });
  test.each(PAGES)('$at', async ({ path, at }) => {
    await open(path, at);
    await refusedWith(by);
    await settled();
    await readable();
  });
});

describe('over made answers', () => {
  beforeAll(() => loaded('filled'));
  test.each(PAGES)('$at', async (each) => {
    mode = 'filled';
    await seenAs('light', 1280);
    await open(each.path, each.at);
    await isFilled(each);
    expect(await main().locator('.problem[role="alert"]').allInnerTexts()).toEqual([]);
    await says('Frozen: nothing is sent', page.getByRole('banner'));
    await readable();
    await eachSheet();
    await seenAs('dark', 320);
    await readable();
  });

  // What they have read is still shown: each is read again when it is opened, and that fails.
  test.each(PAGES)('$at, as of earlier', async (each) => {
    mode = 'failed';
    await seenAs('dark', 1280);
    await open(each.path, each.at);
    await isFilled(each);
    await says('Behind: read again every 15 s. Some of it is as of', page.getByRole('banner'));
    await readable();
  });

  test.each(PAGES)('$at, offline and with its session ended', async (each) => {
    mode = 'ended';
    await seenAs('light', 320);
    await open(each.path, each.at);
    await says('Your session has ended', page.getByRole('alert'));
    await page.context().setOffline(true);
    await says(/^Offline: nothing here is new/, page.getByRole('banner'));
    await isFilled(each);
    await readable();
    await page.context().setOffline(false);
  });
});

describe('over real rows', () => {
  beforeAll(async () => {
    await loaded('real');
    await seenAs('light', 1280);
  });
  test.each(PAGES.filter(({ real }) => real !== null))('$real', async (each) => {
    await open(each.path, (each.real ?? '').replace('$transfer_id', transfer));
    await isFilled(each);
    expect(await main().locator('.problem[role="alert"]').allInnerTexts()).toEqual([]);
    await readable();
  });
});

test('an address without a page', async () => {
  await loaded('real');
  await page.goto(`${desk.origin}/console/nothing-here`);
  await says('There is no such page');
  await readable();
});

/** Opens every sheet of the page, and sends what is refused where it can be sent. */
async function eachSheet(): Promise<void> {
  const buttons = main().getByRole('button').and(page.locator('[aria-disabled="false"]'));
  const sheet = page.getByRole('dialog');
  for (let index = 0; index < (await buttons.count()); index += 1) {
    await buttons.nth(index).click();
    if ((await sheet.count()) === 0) continue;
    const send = sheet.getByRole('button', { name: 'Sign and send', disabled: false });
    if ((await send.count()) > 0) {
      await send.click();
      // What only asks is answered.
      await says(/^(It was not taken|The service has taken it)/, sheet);
    }
    await readable();
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
  }
}

test('no write left without a signature, and nothing broke the content policy', async () => {
  await desk.afterEach();
});
