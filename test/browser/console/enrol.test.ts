/** An operator's browser: it enrols, reads, and signs out; no policy is broken on any page. */
import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { create, get, must, noop, registered, shared } from '../../support/http.ts';
import { accessible, dashboard, shownFingerprint, watchedBrowsers } from './operators.ts';

const OPERATOR = `browser-${String(process.pid)}`;
const HERE = `http://localhost:${new URL(shared.apiUrl).port}`;
const browsers = watchedBrowsers();
let page: Page;

beforeAll(async () => {
  page = await (await browsers.open()).newPage();
  // The stack's log has signatures of other callers to look for.
  await must(200, get('/whoami'));
});
afterAll(() => browsers.close());

test('a link enrols the browser, and the key counts once it is confirmed', async () => {
  const { link } = await dashboard(['enrol', '--operator', OPERATOR, '--role', 'operator']);
  const [, code = ''] = /#enrol=(.*)$/.exec(String(link)) ?? [];
  await page.goto(`${HERE}/console/#enrol=${code}`);
  await page.getByRole('heading', { name: 'Enrol this browser' }).waitFor();
  expect(page.url()).toBe(`${HERE}/console/`);
  await accessible(page);
  await page.getByRole('button', { name: 'Make a key' }).click();
  await page.getByRole('heading', { name: 'The key waits for its confirmation' }).waitFor();
  await accessible(page);
  const fingerprint = await shownFingerprint(page);
  await dashboard(['confirm', '--operator', OPERATOR, '--fingerprint', fingerprint]);
  await page.getByRole('heading', { name: 'Needs you' }).waitFor();
});

test.each(['Needs you', 'Approvals', 'Movements', 'Transfers', 'Allowlist', 'Callbacks', 'Audit'])(
  '%s is shown, and can be read by everyone',
  async (name) => {
    await page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.getByText('Reading…').first().waitFor({ state: 'detached' });
    expect(await page.getByRole('alert').allInnerTexts()).toEqual([]);
    await accessible(page);
  },
);

test('a movement is found by its id and reference, with the keyboard, and opened', async () => {
  const external_reference = `INV <b>${randomUUID()}</b>`;
  const template = await registered([noop('a')]);
  const named = await create(template, { external_reference });
  const twin = await create(template, { external_reference });
  const find = async (text: string): Promise<void> => {
    await page.locator('main').focus();
    await page.keyboard.press('/');
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type(text);
    await page.keyboard.press('Enter');
  };
  await find(` ${named.movement_id.toUpperCase()} `);
  await page.waitForURL(`${HERE}/console/movements/${named.movement_id}`);
  await page.getByText(external_reference).first().waitFor();
  await find(external_reference);
  const links = page.getByRole('table', { name: 'Hits' }).getByRole('link');
  await links.first().waitFor();
  const pages = await links.evaluateAll((all) => all.map((each) => each.getAttribute('href')));
  expect(pages).toEqual([twin, named].map(({ movement_id: id }) => `/console/movements/${id}`));
  await accessible(page);
  await find('no such name');
  await page.getByText('Nothing has this name.').waitFor();
});

test('signing out ends the session; the key opens another', async () => {
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
  await accessible(page);
  await page.reload();
  await page.getByRole('navigation').first().waitFor();
});

test('nothing broke the content policy', () => {
  expect(browsers.complaints).toEqual([]);
});
