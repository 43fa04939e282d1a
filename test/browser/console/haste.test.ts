/**
 * An operator in haste, and a network that fails at the worst moment: nothing is signed that no one
 * looked at, what is under way is not left, and what is old is not shown as new.
 */
import type { Locator, Page } from 'playwright-core';
import { eventually, WITHDRAW_TO_TREASURY, type Created } from '../../support/own-stack.ts';
import { PATIENCE, startConsole } from './operators.ts';
import { started } from '../../support/started.ts';

const desk = started(() => startConsole());

afterEach(() => desk.afterEach());

const button = (page: Page | Locator, name: string): Locator =>
  page.getByRole('button', { name, exact: true });
const created = (amount: string): Promise<Created> =>
  desk.own.api.create(WITHDRAW_TO_TREASURY, { amount });
const decisions = (...of: readonly Created[]) =>
  desk.writes.filter(({ path }) => of.some(({ movement_id }) => path.includes(movement_id)));
const stateOf = async ({ movement_id }: Created): Promise<unknown> => {
  const { request_state } = await desk.own.api.expect(200, 'GET', `/movements/${movement_id}`);
  return request_state;
};

async function opened(page: Page, { movement_id }: Created): Promise<void> {
  await page.goto(`${desk.origin}/console/movements/${movement_id}`);
  await offered(button(page, 'Approve'));
}

async function offered(of: Locator): Promise<void> {
  await eventually(async () => (await of.getAttribute('aria-disabled')) === 'false' || null, {
    timeoutMs: PATIENCE,
  });
}

/** A read of the page is let through only while `passes` says so. */
async function breaksReads(page: Page, breaks: () => boolean): Promise<void> {
  await page.route('**/dashboard/api/**', (route, request) =>
    request.method() === 'GET' && breaks() ? route.abort() : route.fallback(),
  );
}

test('a key that is held or pressed twice, Enter in a field and a double click sign nothing', async () => {
  const made = await created('1.25');
  const page = await desk.pageOf('ada');
  await opened(page, made);
  const sheet = page.getByRole('dialog');
  for (const action of ['Approve', 'Reject', 'Approve']) {
    await button(page, action).focus();
    await page.keyboard.down('Enter');
    await sheet.waitFor();
    await offered(button(sheet, 'Sign and send'));
    // A key that is held repeats.
    for (let n = 0; n < 5; n += 1) await page.keyboard.down('Enter');
    await page.keyboard.up('Enter');
    await page.keyboard.press('Space');
    await sheet.getByLabel('Who decides, as the record names it').press('Enter');
    await button(sheet, 'Sign and send').dispatchEvent('click', { detail: 2 });
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'hidden' });
  }
  expect(decisions(made)).toEqual([]);
  expect(await stateOf(made)).toBe('PENDING_APPROVAL');
}, 120_000);

test('what is being sent stays on the page: no key, no link and no way back leaves it', async () => {
  const made = await created('2.25');
  const page = await desk.pageOf('ada');
  // Pages of the console behind this one, for as many steps back as are tried.
  await page.goto(`${desk.origin}/console/routes`);
  await page
    .getByRole('navigation')
    .getByRole('link', { name: 'Movements' })
    .click({ timeout: PATIENCE });
  await page
    .getByRole('navigation')
    .getByRole('link', { name: 'Approvals' })
    .click({ timeout: PATIENCE });
  await page.getByRole('link', { name: made.movement_id }).click({ timeout: PATIENCE });
  await offered(button(page, 'Approve'));
  await button(page, 'Approve').click();
  const sheet = page.getByRole('dialog', { name: 'Approve?' });
  await offered(button(sheet, 'Sign and send'));
  let answered = (): void => undefined;
  const late = new Promise<void>((resolve) => (answered = resolve));
  await page.route('**/approve', async (route) => {
    await route.fetch();
    await late;
    await route.abort();
  });
  await button(sheet, 'Sign and send').click();
  await sheet.getByText('It is being sent').first().waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('2');
  await page.keyboard.press('Escape');
  // At once, some milliseconds apart, and as far apart as a person's.
  for (const pause of [null, 0, 1, 3, 10, 30, 150, 500]) {
    const apart =
      pause === null ? '' : `await new Promise((r) => setTimeout(r, ${String(pause)}));`;
    await page.evaluate(`(async () => { history.back(); ${apart} history.back(); })()`);
    for (let looks = 0; looks < 20; looks += 1) {
      expect(await sheet.isVisible()).toBe(true);
      await page.waitForTimeout(25);
    }
    expect(page.url()).toMatch(made.movement_id);
  }
  answered();
  await sheet
    .getByText('The answer was lost. This is what happened since:')
    .waitFor({ timeout: PATIENCE });
  await button(sheet, 'Close').click();
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: 'Approvals' }).waitFor({ timeout: PATIENCE });
}, 120_000);

test('several that are being sent are not left either, and what others decided is not counted as done', async () => {
  const made = [await created('3.25'), await created('3.5')];
  const page = await desk.pageOf('ada');
  await page.goto(`${desk.origin}/console/approvals`);
  for (const { movement_id } of made)
    await page
      .getByRole('checkbox', { name: `Choose ${movement_id}` })
      .check({ timeout: PATIENCE });
  await button(page, 'Approve 2…').click();
  const sheet = page.getByRole('dialog', { name: 'Approve 2 movements' });
  const send = button(sheet, 'Approve 2, each signed by itself');
  await send.waitFor({ timeout: PATIENCE });
  const { treasury } = desk.own.stack.chain.accounts;
  expect(await sheet.innerText()).toContain(treasury.address);
  let isFirst = true;
  await page.route('**/approve', async (route) => {
    const [, id = ''] = /movements\/([^/]+)\/approve/.exec(route.request().url()) ?? [];
    if (!isFirst) return route.continue();
    isFirst = false;
    await desk.own.api.expect(200, 'POST', `/movements/${id}/reject`, {
      approver_id: 'elsewhere',
      reason: 'meanwhile',
    });
    await page.keyboard.press('Escape');
    await route.abort();
  });
  await send.click();
  // What follows a lost answer waits for a person.
  await sheet.getByText('1 of 2 sent, 0 done').waitFor({ timeout: PATIENCE });
  await sheet.getByText('No answer came; it is REJECTED, decided as elsewhere.').waitFor();
  await page.unroute('**/approve');
  await button(sheet, 'Approve 1, each signed by itself').click();
  await sheet.getByText('2 of 2 sent, 1 done').waitFor({ timeout: PATIENCE });
}, 120_000);

test('several are looked at once more before each is signed', async () => {
  const made = [await created('7.25'), await created('7.5')];
  const page = await desk.pageOf('ada');
  await page.goto(`${desk.origin}/console/approvals`);
  for (const { movement_id } of made)
    await page
      .getByRole('checkbox', { name: `Choose ${movement_id}` })
      .check({ timeout: PATIENCE });
  await button(page, 'Approve 2…').click();
  const sheet = page.getByRole('dialog', { name: 'Approve 2 movements' });
  const send = button(sheet, 'Approve 2, each signed by itself');
  await send.waitFor({ timeout: PATIENCE });
  const [{ movement_id }] = made as [Created, Created];
  await desk.own.api.expect(200, 'POST', `/movements/${movement_id}/reject`, {
    approver_id: 'elsewhere',
    reason: 'meanwhile',
  });
  await send.click();
  await sheet.getByText('1 of 2 sent, 1 done').waitFor({ timeout: PATIENCE });
  await sheet.getByText('It was decided meanwhile: it is REJECTED.').waitFor();
  expect(decisions(...made)).toHaveLength(1);
}, 120_000);

test('without a network nothing counts as read again, and what is not there counts', async () => {
  const page = await desk.pageOf('ada');
  const context = page.context();
  await page.goto(`${desk.origin}/console/routes`);
  await button(page, 'Which route?').click({ timeout: PATIENCE });
  const sheet = page.getByRole('dialog');
  const write = (url: URL): boolean => url.pathname.includes('/routes/');
  const read = (url: URL): boolean => url.pathname.endsWith('/routes');
  await page.route(write, async (route) => {
    await context.setOffline(true);
    await route.abort();
  });
  try {
    await sheet.getByLabel('Asset').fill('USDC');
    await button(sheet, 'Sign and send').click();
    await offered(button(sheet, 'Look again'));
    await page.keyboard.press('Escape');
    expect(await sheet.isVisible()).toBe(true);
    await page.unroute(write);
    // What the page reads is refused for good: that is an answer.
    await page.route(read, (route) =>
      route.fulfill({ status: 404, json: { detail: { error: 'not_found', message: 'None.' } } }),
    );
  } finally {
    await context.setOffline(false);
  }
  await button(sheet, 'Look again').click();
  await sheet
    .getByText('The answer was lost, and the page was read again since.')
    .waitFor({ timeout: PATIENCE });
  await page.unroute(read);
}, 120_000);

test('a state that was not read since the answer is not shown as what it is now', async () => {
  const made = await created('4.25');
  const page = await desk.pageOf('ada');
  await opened(page, made);
  let breaks = false;
  await breaksReads(page, () => breaks);
  await button(page, 'Approve').click();
  const sheet = page.getByRole('dialog', { name: 'Approve?' });
  await offered(button(sheet, 'Sign and send'));
  await page.route('**/approve', async (route) => {
    const response = await route.fetch();
    breaks = true;
    await route.fulfill({ response });
  });
  await button(sheet, 'Sign and send').click();
  await sheet.getByText('The service has taken it.').waitFor({ timeout: PATIENCE });
  expect(await sheet.innerText()).not.toContain('Pending approval');
  await sheet.getByText('What the movement is now is not read yet.').waitFor();
}, 120_000);

test('what no event tells of is read again: a sheet shows what would be refused now, a list what is switched off', async () => {
  const made = await created('5.25');
  const page = await desk.pageOf('ada');
  await opened(page, made);
  const other = await desk.pageOf('ada');
  await other.goto(`${desk.origin}/console/executors`);
  const row = other.getByRole('row').filter({ hasText: 'paper.withdrawal' });
  await row.getByText('Active').waitFor({ timeout: PATIENCE });
  const switched = (status: string) =>
    desk.own.api.expect(200, 'PATCH', '/executors/paper.withdrawal', { status, reason: 'test' });
  await switched('disabled');
  try {
    await button(page, 'Approve').click();
    const sheet = page.getByRole('dialog', { name: 'Approve?' });
    await sheet.getByText(/The executor paper\.withdrawal .* is disabled/).waitFor();
    await row.getByText('Disabled').waitFor({ timeout: 2 * PATIENCE });
  } finally {
    await switched('active');
  }
  expect(decisions(made)).toEqual([]);
}, 120_000);

test('a stream that has gone silent is not live', async () => {
  const page = await desk.pageOf('ada');
  await page.goto(`${desk.origin}/console/approvals`);
  const status = (words: RegExp) =>
    page
      .getByRole('status')
      .filter({ hasText: words })
      .waitFor({ timeout: 4 * PATIENCE });
  await status(/^Live$/);
  desk.silenceStreams(true);
  await status(/^Behind/);
  const made = await created('6.25');
  await page
    .getByRole('checkbox', { name: `Choose ${made.movement_id}` })
    .waitFor({ timeout: 2 * PATIENCE });
  desk.silenceStreams(false);
  await status(/^Live$/);
}, 180_000);

test('where a session cannot be ended the page says that it goes on', async () => {
  const page = await desk.pageOf('ada');
  await page.goto(`${desk.origin}/console/`);
  await page.route('**/dashboard/session', (route) => route.abort());
  await button(page, 'Sign out').click({ timeout: PATIENCE });
  await page.getByText('You may still be signed in.').waitFor({ timeout: PATIENCE });
}, 60_000);
