/** An operator's browser: it enrols, reads, and signs out; no policy is broken on any page. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import AxeBuilder from '@axe-core/playwright';
import type { BrowserContext, Page } from 'playwright-core';
import { openBrowser } from '../../../dev/browser.ts';
import { must, get, shared } from '../../support/http.ts';
import { tool } from '../../support/tool.ts';

const OPERATOR = `browser-${String(process.pid)}`;
const HERE = `http://localhost:${new URL(shared.apiUrl).port}`;
const profile = mkdtempSync(join(tmpdir(), 'console-profile-'));
/** What the content policy and the page itself complained of. */
const faults: string[] = [];
let browser: BrowserContext;
let page: Page;

beforeAll(async () => {
  browser = await openBrowser({ program: process.env['TEST_CHROMIUM'] ?? '', profile });
  page = await browser.newPage();
  page.on('console', (message) => {
    if (/policy|Trusted/i.test(message.text())) faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(String(error)));
  // The stack's log has signatures of other callers to look for.
  await must(200, get('/whoami'));
});
afterAll(async () => {
  await browser?.close();
  rmSync(profile, { recursive: true, force: true });
});

async function dashboard(...args: readonly string[]): Promise<Record<string, unknown>> {
  const { status, out, err } = await tool(['dashboard', ...args]);
  if (status !== 0) throw new Error(err);
  return JSON.parse(out) as Record<string, unknown>;
}

async function accessible(): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html ?? ''}`)).toEqual([]);
}

test('a link enrols the browser, and the key counts once it is confirmed', async () => {
  const { link } = await dashboard('enrol', '--operator', OPERATOR, '--role', 'operator');
  const [, code = ''] = /#enrol=(.*)$/.exec(String(link)) ?? [];
  await page.goto(`${HERE}/console/#enrol=${code}`);
  await page.getByRole('heading', { name: 'Enrol this browser' }).waitFor();
  expect(page.url()).toBe(`${HERE}/console/`);
  await accessible();
  await page.getByRole('button', { name: 'Make a key' }).click();
  await page.getByRole('heading', { name: 'The key waits for its confirmation' }).waitFor();
  await accessible();
  const words = await page.getByText('fingerprint').first().innerText();
  const [fingerprint = ''] = /[0-9A-Z]{4}(-[0-9A-Z]{4}){3}/.exec(words) ?? [];
  await dashboard('confirm', '--operator', OPERATOR, '--fingerprint', fingerprint);
  await page.getByRole('heading', { name: 'Needs you' }).waitFor();
});

test.each(['Needs you', 'Approvals', 'Movements', 'Transfers', 'Allowlist', 'Callbacks'])(
  '%s is shown, and can be read by everyone',
  async (name) => {
    await page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.getByText('Reading…').first().waitFor({ state: 'detached' });
    expect(await page.getByRole('alert').allInnerTexts()).toEqual([]);
    await accessible();
  },
);

test('signing out ends the session; the key opens another', async () => {
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
  await accessible();
  await page.reload();
  await page.getByRole('navigation').first().waitFor();
});

test('nothing broke the content policy', () => {
  expect(faults).toEqual([]);
});
