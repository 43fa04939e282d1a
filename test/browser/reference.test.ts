/** The API's documentation as a reader sees it, in a real browser. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { commercial } from '../../api/commercial.ts';
import { withExtensions } from '../../api/extension.ts';
import { routes as base } from '../../venues/routes.ts';
import { openBrowser } from '../../dev/browser.ts';
import { get, must, shared } from '../support/http.ts';
import { started } from '../support/started.ts';

const routes = withExtensions(base, [commercial({ autoApproveDryRun: false })]);
const profile = mkdtempSync(join(tmpdir(), 'browser-profile-'));
const requests = new Set<string>();
let page: Page;

const browser = started(() =>
  openBrowser({ program: process.env['TEST_CHROMIUM'] ?? '', profile }),
);
beforeAll(async () => {
  page = await browser.newPage();
  page.on('request', (request) => requests.add(`${request.method()} ${request.url()}`));
  await page.goto(`${shared.opsUrl}/docs/`);
  await page.locator('#operations-Movements-createMovement').waitFor();
});
afterAll(async () => {
  rmSync(profile, { recursive: true, force: true });
});

/** Opens an operation and waits for its answers. */
async function opened(id: string): Promise<Locator> {
  const operation = page.locator(`[id^="operations-"][id$="-${id}"]`);
  await operation.locator('.opblock-summary').click();
  await operation.locator('.responses-table').waitFor();
  return operation;
}

test('nothing on the page asks for a key or sends a request', async () => {
  await opened('listMovements');
  expect(await page.locator('.authorize, .authorization__btn').count()).toBe(0);
  expect(await page.getByRole('button', { name: /authorize|try it out|execute/i }).count()).toBe(0);
  await page.getByText('This page only shows.').waitFor();
});

test('it leads to the client that signs', async () => {
  const href = await page.getByRole('link', { name: 'fund_api.py' }).first().getAttribute('href');
  const client = await fetch(new URL(href ?? '', page.url()));
  expect(await client.text()).toContain('def signed_headers(');
});

test('an example that is shown is what a signed request is answered', async () => {
  const shown = await (await opened('whoami')).locator('.response .example').first().innerText();
  const answered = await must(200, get<object>('/whoami'));
  expect(Object.keys(JSON.parse(shown) as object)).toEqual(Object.keys(answered));
});

test.each(['createMovement', 'createPlanTemplate', 'resumeMovement'])(
  'the roles of %s are shown',
  async (id) => {
    const { roles } = routes.find((route) => route.id === id) ?? { roles: [] };
    const text = await (await opened(id)).locator('.opblock-description').innerText();
    expect(text).toContain(`Roles: ${roles.join(', ')}.`);
  },
);

test('an operation shows its own errors, and those of every operation folded below', async () => {
  const operation = await opened('approveMovement');
  const rows = operation.locator('.responses-table tr.response');
  const statuses = await rows.locator('.response-col_status').allInnerTexts();
  expect(statuses.map((each) => each.trim().slice(0, 3))).toEqual([
    '200',
    '403',
    '404',
    '409',
    '422',
    '503',
  ]);
  const common = operation.locator('details.common');
  expect(await common.locator('summary').innerText()).toBe(
    'Errors of every operation: 400, 401, 405, 408, 413, 415, 429, 431, 500',
  );
  expect(await common.locator('dl').isVisible()).toBe(false);
  await common.locator('summary').click();
  await common.getByText('The request has no valid credentials').waitFor();
});

test('the page sends requests to this origin alone, and only reads', () => {
  const elsewhere = [...requests].filter((each) => !/^GET (data:|blob:)/.test(each));
  expect(elsewhere.length).toBeGreaterThan(3);
  expect(elsewhere.filter((each) => !each.startsWith(`GET ${shared.opsUrl}/`))).toEqual([]);
});
