/** An operator's browser: it enrols, reads, and signs out; no policy is broken on any page. */
import type { Page } from 'playwright-core';
import { must, get, shared } from '../../support/http.ts';
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

test.each(['Needs you', 'Approvals', 'Movements', 'Transfers', 'Allowlist', 'Callbacks'])(
  '%s is shown, and can be read by everyone',
  async (name) => {
    await page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.getByText('Reading…').first().waitFor({ state: 'detached' });
    expect(await page.getByRole('alert').allInnerTexts()).toEqual([]);
    await accessible(page);
  },
);

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
