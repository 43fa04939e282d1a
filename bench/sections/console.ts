/**
 * What the console costs: the first paint, the longest task of a browser's main thread on each page
 * with as many rows as a long-lived installation has, and the API's processor time while consoles
 * are open and nothing happens. On an embedded stack of its own, in a Chromium of this machine.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Locator, Page } from 'playwright-core';
import { openBrowser } from '../../dev/browser.ts';
import { findChromium } from '../../dev/bootstrap/chromium.mjs';
import { loadStarterTemplates } from '../../dev/demo-api.ts';
import { offerConsole } from '../../dev/stack/console.ts';
import { ANY_FREE_PORTS, startStack, type Stack } from '../../dev/stack/stack.ts';
import { choosePorts, freePort, type PortName } from '../../dev/stack/ports.ts';
import { createClient } from '../../clients/http/index.ts';
import { LONG_TIMELINE, manyId, writeManyRows } from '../console/many-rows.ts';
import { cpuOf } from '../cpu.ts';
import { RATIO } from '../goals.ts';
import { spread } from '../stats.ts';
import type { Section } from './context.ts';

const ROWS = 10_000;
const ROUNDS = 5;
const CONSOLES = 20;
const IDLE_MS = 60_000;
const PATIENCE_MS = 60_000;

/** By address, the list on it that is read to its end and scrolled through. */
const PAGES: readonly (readonly [path: string, list: string])[] = [
  ['/', 'Waits for you'],
  ['/balances', 'Balances'],
  ['/executors', 'Executors'],
  ['/signers', 'Nonce lanes'],
  ['/policies', 'Policies'],
  ['/bridges', 'Paths'],
  [`/movements/${manyId(LONG_TIMELINE, 1)}`, 'Events, newest first'],
  ['/allowlist', 'Allowed addresses'],
  ['/audit', 'Audit events'],
  ['/callbacks', 'Callbacks'],
  ['/transfers', 'Capital transfers'],
  ['/templates', 'Template versions'],
  ['/proposals', 'Proposals'],
  ['/approvals', 'Movements that wait for their approval'],
  ['/movements', 'Movements'],
];

/** Browsers report tasks from 50 ms on; below that the longest counts as 0. */
const WATCH = `
  globalThis.longest = 0;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
  }).observe({ type: 'longtask', buffered: true });`;

export const consoleCosts: Section = async ({ collect, quick }) => {
  const room = mkdtempSync(join(tmpdir(), 'bench-console-'));
  let stack: Stack | null = null;
  try {
    const ports = await choosePorts(ANY_FREE_PORTS, Object.keys(ANY_FREE_PORTS) as PortName[]);
    const dataDir = join(room, 'stack');
    stack = await startStack({
      settings: { dataDir, ports: { ...ports, api: await freePort() } },
      restart: false,
      log: () => undefined,
    });
    const context = await openBrowser({
      program: findChromium(),
      profile: join(room, 'profile'),
      viewport: { width: 1280, height: 900 },
    });
    try {
      const page = await context.newPage();
      await enrol(stack, page);
      await page.addInitScript(WATCH);
      const origin = new URL(page.url()).origin;
      const rounds = quick ? 1 : ROUNDS;

      const paints: number[] = [];
      for (let round = 0; round < rounds; round += 1) paints.push(await firstPaint(page, origin));
      collect.add('console', RATIO.firstPaint, 'ms', paints);

      await fill(stack);
      const medians: number[] = [];
      for (const [path, list] of PAGES) {
        const longest: number[] = [];
        for (let round = 0; round < rounds; round += 1)
          longest.push(await longestTask(page, `${origin}/console${path}`, list));
        collect.add('console', `longest task, ${list}, ${String(ROWS)} rows`, 'ms', longest);
        medians.push(spread(longest).median);
      }
      // Each is a median already.
      collect.add('console', RATIO.longestTask, 'ms', [Math.max(...medians)]);

      await page.goto(`${origin}/console/`);
      const cookies = await context.cookies(origin);
      const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
      const share = await idleShare(stack, origin, cookie, quick ? IDLE_MS / 6 : IDLE_MS);
      collect.add('console', RATIO.openConsoles, '%', [share]);
    } finally {
      await context.close();
    }
  } finally {
    await stack?.stop();
    rmSync(room, { recursive: true, force: true });
  }
};

/** Makes the page an operator's. */
async function enrol(stack: Stack, page: Page): Promise<void> {
  const offered = await offerConsole(stack);
  await page.goto(offered.link ?? offered.url);
  await page.getByRole('button', { name: 'Make a key' }).click();
  await page.getByRole('navigation').first().waitFor({ timeout: PATIENCE_MS });
  await offered.stop();
}

/** Writes the rows. */
async function fill(stack: Stack): Promise<void> {
  const [template] = await loadStarterTemplates(stack);
  if (template === undefined) throw new Error('the stack has no starter template');
  const { keyId, secret } = stack.keys.operator;
  const client = createClient({ baseUrl: stack.apiUrl, key: { keyId, secret } });
  const { movement_id } = await client.call('createMovement', {
    body: {
      template_key: template.template_key,
      template_version: 1,
      intent: { asset: 'USDC', amount: '1' },
      strategy_id: 'bench',
    },
  });
  await writeManyRows(stack.databaseUrl, { count: ROWS, prototype: movement_id });
}

/** Until the browser painted what the page says, in milliseconds. */
async function firstPaint(page: Page, origin: string): Promise<number> {
  // The door takes 20 requests a second of one operator: a page right after is turned away.
  await sleep(2_000);
  await page.goto(`${origin}/console/`);
  await page.getByRole('region', { name: 'Waits for you' }).last().waitFor();
  return page.evaluate<number>(
    'new Promise((done) => requestAnimationFrame(() => done(performance.now())))',
  );
}

/** Of opening the page, reading the list to its end, and scrolling it, in milliseconds. */
async function longestTask(page: Page, address: string, name: string): Promise<number> {
  await page.goto(address);
  const list = page.getByRole('region', { name, exact: true }).last();
  await list.waitFor({ timeout: PATIENCE_MS });
  await readAll(list);
  await list.focus();
  for (const key of ['PageDown', 'PageDown', 'PageDown', 'End', 'Home']) {
    await page.keyboard.press(key);
    await sleep(200);
  }
  return page.evaluate<number>('longest');
}

async function readAll(list: Locator): Promise<void> {
  const below = list.locator('xpath=following-sibling::p');
  if ((await below.count()) === 0) return;
  const all = below.getByText('which is all.');
  const more = below.getByRole('button', { name: 'Show more' });
  while (!(await all.isVisible())) await more.click({ timeout: 500 }).catch(() => undefined);
}

/** The API's share of a core while so many follow its stream: one page, the rest as it does. */
async function idleShare(
  stack: Stack,
  origin: string,
  cookie: string,
  milliseconds: number,
): Promise<number> {
  const pid = stack.children['service']?.pid ?? stack.children['api']?.pid;
  if (pid == null) throw new Error('the stack has no service');
  const ended = new AbortController();
  const headers = { cookie, 'sec-fetch-site': 'same-origin', 'x-svc-console': '1' };
  for (let open = 1; open < CONSOLES; open += 1) {
    // The door takes 20 requests a second of one operator, those of the page included.
    await sleep(200);
    const answer = await fetch(`${origin}/dashboard/stream`, { headers, signal: ended.signal });
    if (answer.status !== 200) throw new Error(`the stream answered ${String(answer.status)}`);
    void answer.body?.pipeTo(new WritableStream()).catch(() => undefined);
  }
  await sleep(5_000);
  const before = cpuOf({ pid })['pid'] ?? 0;
  await sleep(milliseconds);
  const used = (cpuOf({ pid })['pid'] ?? 0) - before;
  ended.abort();
  return (used / milliseconds) * 100;
}
