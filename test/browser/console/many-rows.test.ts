/**
 * Every list of the console with ten thousand rows of the real stack, whatever the machine's speed:
 * few of them are in the page, each can be reached in its order by keyboard and by scrolling, and a
 * change moves neither what is in view nor the focus.
 */
import type { Locator, Page } from 'playwright-core';
import { manyId, LONG_TIMELINE, writeManyRows } from '../../../bench/console/many-rows.ts';
import { WITHDRAW_TO_TREASURY } from '../../support/own-stack.ts';
import { accessible, PATIENCE, startConsole } from './operators.ts';
import { started } from '../../support/started.ts';

const COUNT = 10_000;
/** Rows of a list that are in the page at most; 900 pixels show far fewer. */
const MOST_DRAWN = 60;
let page: Page;

const desk = started(() => startConsole());
beforeAll(async () => {
  const { movement_id } = await desk.own.api.create(WITHDRAW_TO_TREASURY, { amount: '1' });
  await writeManyRows(desk.own.stack.databaseUrl, { count: COUNT, prototype: movement_id });
  page = await desk.pageOf('ada');
});

interface ListCase {
  readonly path: string;
  readonly region: string;
  /** Its rows in the tables; more than that many are there from the start. */
  readonly least?: number;
}

const LISTS: readonly ListCase[] = [
  { path: '/balances', region: 'Balances' },
  { path: '/executors', region: 'Executors' },
  { path: '/signers', region: 'Signers' },
  { path: '/signers', region: 'Nonce lanes' },
  { path: '/policies', region: 'Policies' },
  { path: '/bridges', region: 'Chains' },
  { path: '/bridges', region: 'Paths', least: COUNT - 1 },
  { path: `/movements/${manyId(LONG_TIMELINE, 1)}`, region: 'Events, newest first' },
  { path: '/allowlist', region: 'Allowed addresses' },
  { path: '/audit', region: 'Audit events' },
  { path: '/callbacks', region: 'Callbacks' },
  { path: '/transfers', region: 'Capital transfers' },
  { path: '/templates', region: 'Template versions' },
  { path: '/proposals', region: 'Proposals' },
  { path: '/approvals', region: 'Movements that wait for their approval' },
  { path: '/movements', region: 'Movements' },
];

async function open({ path, region }: ListCase): Promise<Locator> {
  await page.goto(`${desk.origin}/console${path}`);
  // A section around it may have the same name.
  const list = page.getByRole('region', { name: region, exact: true }).last();
  await list.waitFor({ timeout: PATIENCE });
  await readAll(list);
  return list;
}

/** Presses "Show more" until there is none. */
async function readAll(list: Locator): Promise<void> {
  const below = list.locator('xpath=following-sibling::p');
  if ((await below.count()) === 0) return;
  const all = below.getByText('which is all.');
  while (!(await all.isVisible()))
    // It is there no more, or not yet again.
    await below
      .getByRole('button', { name: 'Show more' })
      .click({ timeout: 500 })
      .catch(() => null);
}

interface Seen {
  /** Positions of what is drawn, from 1. */
  readonly positions: readonly number[];
  /** Text of what is drawn, in the same order. */
  readonly texts: readonly string[];
  /** As the list says it. */
  readonly count: number;
  /** Those whose middle is in view. */
  readonly inView: readonly number[];
}

/** What is in the page now. */
function seen(list: Locator): Promise<Seen> {
  return list.evaluate((region) => {
    const table = region.querySelector('table');
    const rows = [...region.querySelectorAll('[data-index]')];
    type Row = (typeof rows)[number];
    const of = (row: Row, name: string): number => Number(row.getAttribute(name));
    const position = (row: Row): number =>
      table === null ? of(row, 'aria-posinset') : of(row, 'aria-rowindex') - 1;
    const { top, bottom } = region.getBoundingClientRect();
    const middle = (row: Row): number => {
      const box = row.getBoundingClientRect();
      return (box.top + box.bottom) / 2;
    };
    const [first] = rows;
    return {
      positions: rows.map(position),
      texts: rows.map(({ textContent }) => textContent),
      count:
        table !== null
          ? of(table, 'aria-rowcount') - 1
          : first === undefined
            ? 0
            : of(first, 'aria-setsize'),
      inView: rows.filter((row) => middle(row) > top && middle(row) < bottom).map(position),
    };
  });
}

/** Until it holds; what is drawn follows a scroll in the next frames. */
async function sees(list: Locator, holds: (now: Seen) => boolean): Promise<Seen> {
  const until = Date.now() + PATIENCE;
  for (;;) {
    const now = await seen(list);
    if (holds(now)) return now;
    if (Date.now() > until) throw new Error(`it shows ${JSON.stringify({ ...now, texts: [] })}`);
    await page.waitForTimeout(30);
  }
}

test.each(LISTS)(
  '$region: few rows are drawn, and both ends are reached by keyboard',
  async (each) => {
    const { least = COUNT } = each;
    const list = await open(each);
    const first = await sees(list, ({ positions }) => positions.length > 0);
    expect(first.count).toBeGreaterThanOrEqual(least);
    expect(first.positions[0]).toBe(1);
    expect(first.positions.length).toBeLessThan(MOST_DRAWN);
    await list.focus();
    await page.keyboard.press('PageDown');
    // A row may be longer than a page of the list.
    await page.keyboard.press('PageDown');
    await sees(list, ({ inView }) => (inView[0] ?? 0) > 1);
    await page.keyboard.press('End');
    const last = await sees(list, ({ inView, count }) => inView.at(-1) === count);
    expect(last.positions.length).toBeLessThan(MOST_DRAWN);
    expect(last.positions).toEqual(
      last.positions.map((_, index) => last.count - last.positions.length + 1 + index),
    );
    await page.keyboard.press('Home');
    await sees(list, ({ inView }) => inView[0] === 1);
    await accessible(page);
    await page.setViewportSize({ width: 320, height: 900 });
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth');
    await page.setViewportSize({ width: 1280, height: 900 });
    expect(wide).toBeLessThanOrEqual(320);
  },
  120_000,
);

test('every row is reached, in its order', async () => {
  const list = await open({ path: '/signers', region: 'Nonce lanes' });
  const found = new Map<number, string>();
  let end = 0;
  await list.focus();
  while (end < 100) {
    const { positions, texts, inView } = await sees(list, (now) => (now.inView.at(-1) ?? 0) > end);
    positions.forEach((position, index) => found.set(position, texts[index] ?? ''));
    end = inView.at(-1) ?? 0;
    await page.keyboard.press('PageDown');
  }
  for (let position = 1; position <= 100; position += 1)
    expect(found.get(position)).toContain(`many-${String(position).padStart(5, '0')} on chain 1`);
}, 120_000);

test('Tab leads from row to row, past those that were not drawn', async () => {
  const list = await open({ path: '/movements', region: 'Movements' });
  await list.getByRole('link').first().focus();
  for (let position = 1; position <= 80; position += 1) {
    const at = await page.evaluate<string | null>(
      "document.activeElement.closest('[aria-rowindex]')?.getAttribute('aria-rowindex') ?? null",
    );
    expect(Number(at)).toBe(position + 1);
    await page.keyboard.press('Tab');
  }
}, 120_000);

test('a change moves neither what is in view nor the focus', async () => {
  const list = await open({ path: '/movements', region: 'Movements' });
  const nameOf = `document.activeElement.textContent`;
  const placeOf = (name: string) => list.getByRole('link', { name }).boundingBox();
  await list.getByRole('link').nth(2).focus();
  const focused = await page.evaluate<string>(nameOf);
  // Far from the focused row, which stays in the page with its focus.
  await list.evaluate((region) => {
    region.scrollTop = region.scrollHeight / 2;
  });
  const before = await sees(list, ({ inView }) => (inView[0] ?? 0) > 1_000);
  expect(before.positions.length).toBeLessThan(MOST_DRAWN);
  expect(await page.evaluate(nameOf)).toBe(focused);
  const middle = before.inView[2] ?? 0;
  const shown = before.texts[before.positions.indexOf(middle)] ?? '';
  const [id = ''] = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(shown) ?? [];
  const place = await placeOf(id);
  const { movement_id } = await desk.own.api.create(WITHDRAW_TO_TREASURY, { amount: '2' });
  // All pages of the list are read again.
  const after = await sees(list, ({ count }) => count === before.count + 1);
  expect(after.inView).toContain(middle + 1);
  expect((await placeOf(id))?.y).toBeCloseTo(place?.y ?? 0, -1);
  expect(await page.evaluate(nameOf)).toBe(focused);
  // Tab goes on from there.
  await page.keyboard.press('Tab');
  expect(await page.evaluate(nameOf)).not.toBe(focused);
  await list.focus();
  await page.keyboard.press('Home');
  await list.getByRole('link', { name: movement_id }).waitFor({ timeout: PATIENCE });
}, 120_000);
