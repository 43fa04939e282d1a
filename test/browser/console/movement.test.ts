/** The console's page of a movement in Chromium, by role and label alone. */
import type { Locator, Page } from 'playwright-core';
import { eventually, type Created } from '../../support/own-stack.ts';
import { accessible, PATIENCE, startConsole } from './operators.ts';
import { started } from '../../support/started.ts';

const SILENT = { lose_answer_rate: 1, phases: ['submit', 'recover'] };

const noop = (node_key: string, more: object = {}) => ({
  node_key,
  node_kind: 'action',
  action_type: 'noop',
  has_side_effect: false,
  ...more,
});

const desk = started(() => startConsole({ env: { SVC_NODE_UNANSWERED_TIMEOUT_SECONDS: '1' } }));
beforeAll(async () => {
  const { own } = desk;
  const pay = {
    node_key: 'pay',
    node_kind: 'action',
    action_type: 'cex_withdrawal',
    executor_selector: { action_type: 'cex_withdrawal', provider: 'paper' },
    has_side_effect: true,
    config: {
      venue: 'paper-sub-a',
      asset: 'USDC',
      network: 'local',
      destination_address: own.stack.chain.accounts.treasury.address,
    },
    retry_policy: { max_attempts: 2, initial_interval_seconds: 0.1 },
  };
  await own.api.expect(201, 'POST', '/plan-templates', {
    template_key: 'test/page',
    version: 1,
    name: 'All that a page can do',
    nodes: [
      {
        node_key: 'look',
        node_kind: 'manual_gate',
        action_type: 'manual_gate',
        has_side_effect: false,
        config: { description: 'Ask the desk.' },
      },
      pay,
      {
        node_key: 'again',
        node_kind: 'manual_gate',
        action_type: 'manual_gate',
        has_side_effect: false,
      },
      noop('undo', { node_kind: 'compensation' }),
    ],
    edges: [
      { from: 'look', to: 'pay', edge_type: 'on_success' },
      { from: 'pay', to: 'again', edge_type: 'on_success' },
      { from: 'pay', to: 'undo', edge_type: 'on_cancel' },
    ],
    completion_policy: { completion_assurance: 'provider_completed' },
  });
});

afterEach(async () => {
  await desk.own.venueFaults(null);
  await desk.afterEach();
});

async function opened(page: Page, movement: Created): Promise<void> {
  await page.goto(`${desk.origin}/console/movements/${movement.movement_id}`);
  await heading(page, /./).waitFor({ timeout: PATIENCE });
}
const created = (amount: string): Promise<Created> => desk.own.api.create('test/page', { amount });
const heading = (page: Page, name: RegExp): Locator =>
  page.getByRole('heading', { level: 1, name });
const button = (page: Page | Locator, name: string): Locator =>
  page.getByRole('button', { name, exact: true });

/** Opens the sheet of an action, and signs. */
async function decides(page: Page, action: string, fill?: (sheet: Locator) => Promise<void>) {
  await offered(page, action);
  await button(page, action).click();
  const sheet = page.getByRole('dialog', { name: `${action}?` });
  await fill?.(sheet);
  await button(sheet, 'Sign and send').click();
  await sheet.getByText('The service has taken it.').waitFor({ timeout: PATIENCE });
  await button(sheet, 'Close').click();
}

/** Waits until the page, or a sheet, offers it. */
async function offered(page: Page | Locator, action: string): Promise<void> {
  await eventually(
    async () => (await button(page, action).getAttribute('aria-disabled')) === 'false' || null,
    { timeoutMs: PATIENCE },
  );
}

const isFocused = (of: Locator): Promise<boolean> =>
  of.evaluate((element) => element === element.ownerDocument.activeElement);
const writes = () => desk.writes.filter(({ path }) => path.startsWith('/dashboard/api/'));
const lastWrite = () => writes().at(-1);
const bodyOf = (body = '{}') => JSON.parse(body) as Readonly<Record<string, unknown>>;

test('the whole life: approved by its hash, a gate, an outcome that is unknown, its answer, a cancel', async () => {
  const movement = await created('41.5');
  const page = await desk.pageOf('ada');
  await opened(page, movement);
  await heading(
    page,
    /Moves at most 41\.5 USDC to .*: the movement waits for an approval/,
  ).waitFor();
  expect(await button(page, 'Resume').getAttribute('aria-disabled')).toBe('true');
  await accessible(page);

  await button(page, 'Approve').click();
  const sheet = page.getByRole('dialog', { name: 'Approve?' });
  await sheet
    .getByText(desk.own.stack.chain.accounts.treasury.address, { exact: false })
    .first()
    .waitFor();
  await accessible(page);
  await button(sheet, 'Sign and send').click();
  await sheet.getByText('The service has taken it.').waitFor({ timeout: PATIENCE });
  expect(lastWrite()).toMatchObject({ signedBy: 'ada', status: 200 });
  expect(bodyOf(lastWrite()?.body)).toEqual({
    compiled_plan_hash: movement.compiled_plan_hash,
    approver_id: 'ada',
  });
  await button(sheet, 'Close').click();

  await desk.own.venueFaults(SILENT);
  await decides(page, 'Resume look');
  expect(bodyOf(lastWrite()?.body)).toEqual({ node_key: 'look', attempt: 1, state: 'READY' });
  await page
    .getByText('Whether pay has moved anything is unknown')
    .first()
    .waitFor({ timeout: PATIENCE });
  await accessible(page);
  await decides(page, 'Retry pay');
  expect(bodyOf(lastWrite()?.body)).toEqual({ node_key: 'pay', attempt: 1, state: 'UNKNOWN' });
  await desk.own.venueFaults(null);

  await offered(page, 'Resume again');
  await page.getByRole('article', { name: 'Node pay' }).getByText('Output').waitFor();
  await decides(page, 'Cancel');
  await desk.own.api.reaches(movement.movement_id, 'CANCELLED');
  await page.getByText('Cancelled', { exact: true }).first().waitFor({ timeout: PATIENCE });
  await accessible(page);
}, 240_000);

test('an outcome is stated only as it is on offer, also where that changes under the sheet', async () => {
  const movement = await created('46.5');
  const page = await desk.pageOf('ada');
  await opened(page, movement);
  await decides(page, 'Approve');
  await desk.own.venueFaults(SILENT);
  await decides(page, 'Resume look');
  await offered(page, 'Resolve pay');
  await button(page, 'Resolve pay').click();
  const sheet = page.getByRole('dialog', { name: 'Resolve pay?' });
  const outcomes = sheet.getByRole('radio');
  expect(await outcomes.count()).toBe(3);
  await sheet.getByRole('radio', { name: /^Failed/ }).check();
  await sheet.getByLabel('Reason').fill('The venue knows nothing of it.');
  await sheet.getByLabel('What proves it').fill('ticket=7');
  await offered(sheet, 'Sign and send');
  await accessible(page);
  // As if its venue had said since that the send is under way.
  await desk.own.query(
    `UPDATE movement_nodes SET error_code = 'SEND_UNDER_WAY',
       send_not_after = svc_now() - interval '2 hours'
      WHERE movement_id = $1 AND node_key = 'pay'`,
    [movement.movement_id],
  );
  // Where the page has not read that yet, the service refuses it.
  await button(sheet, 'Sign and send').click({ force: true });
  await sheet
    .getByText('It cannot be stated as failed now; on offer: abandoned.')
    .first()
    .waitFor({ timeout: PATIENCE });
  expect(await outcomes.count()).toBe(1);
  const words = () => writes().filter(({ path }) => path.endsWith('/nodes/pay/actions/resolve'));
  const before = words();
  expect(before.map(({ status }) => status)).not.toContain(200);
  await button(sheet, 'Sign and send').click({ force: true });
  expect(words()).toEqual(before);
  await sheet.getByRole('radio', { name: /^Abandoned/ }).check();
  await offered(sheet, 'Sign and send');
  await button(sheet, 'Sign and send').click();
  await sheet.getByText('The service has taken it.').waitFor({ timeout: PATIENCE });
  expect(bodyOf(lastWrite()?.body)).toEqual({
    outcome: 'abandoned',
    reason: 'The venue knows nothing of it.',
    evidence: { ticket: '7' },
    attempt: 1,
  });
  await desk.own.api.reaches(movement.movement_id, 'FAILED');
}, 240_000);

test('two browsers on one movement: what one decides is shown to the other, and refused there', async () => {
  const movement = await created('42.5');
  const [ada, bob] = [await desk.pageOf('ada'), await desk.pageOf('bob')];
  await opened(ada, movement);
  await opened(bob, movement);
  await button(bob, 'Approve').click();
  const sheet = bob.getByRole('dialog', { name: 'Approve?' });
  await decides(ada, 'Reject', (of) =>
    of.getByLabel('Reason (may be left out)').fill('Not \u202ethis week <b>.'),
  );
  await sheet.getByText('It can no longer be decided here.').waitFor({ timeout: PATIENCE });
  await sheet.getByText(/Rejected: Not U\+202Ethis week <b>\./).waitFor();
  const before = writes().length;
  await button(sheet, 'Sign and send').click({ force: true });
  expect(writes().length).toBe(before);
  await accessible(bob);
}, 180_000);

test('a lost answer is looked up before anything is offered again', async () => {
  const movement = await created('43.5');
  const page = await desk.pageOf('ada');
  await opened(page, movement);
  await button(page, 'Reject').click();
  const sheet = page.getByRole('dialog', { name: 'Reject?' });
  desk.loseNextAnswer();
  await button(sheet, 'Sign and send').click();
  await sheet
    .getByText('The answer was lost. This is what happened since:')
    .waitFor({ timeout: PATIENCE });
  await sheet.getByText(/The movement is now/).waitFor();
  const rejects = writes().filter(({ path }) => path.includes(movement.movement_id));
  // Chromium sends a request again whose kept connection was cut; its nonce was used.
  expect(rejects.map(({ status }) => status).filter((status) => status !== 401)).toEqual([200]);
}, 120_000);

test('the keyboard alone approves and rejects', async () => {
  const page = await desk.pageOf('ada');
  const press = async (name: string, within: Page | Locator = page): Promise<void> => {
    await eventually(
      async () => {
        await page.keyboard.press('Tab');
        return (await isFocused(button(within, name))) || null;
      },
      { timeoutMs: PATIENCE, everyMs: 1 },
    );
    await page.keyboard.press('Enter');
  };
  for (const [action, state] of [
    ['Approve', 'WAITING_MANUAL_ACTION'],
    ['Reject', 'REJECTED'],
  ] as const) {
    const movement = await created('44.5');
    await opened(page, movement);
    await offered(page, action);
    await press(action);
    const sheet = page.getByRole('dialog', { name: `${action}?` });
    await sheet.waitFor();
    // What it shows is read once more before.
    await offered(sheet, 'Sign and send');
    await press('Sign and send', sheet);
    await desk.own.api.reaches(movement.movement_id, state);
    await sheet.getByText('The service has taken it.').waitFor({ timeout: PATIENCE });
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'hidden' });
    // Focus is where the sheet was opened.
    expect(await isFocused(button(page, action))).toBe(true);
  }
}, 180_000);

test('at 320 pixels nothing but what scrolls by itself is wider than the page', async () => {
  const page = await desk.pageOf('ada', 320);
  await opened(page, await created('45.5'));
  await page.getByRole('region', { name: 'Graph of the movement' }).waitFor();
  const wide = await page.evaluate<number>('document.documentElement.scrollWidth');
  expect(wide).toBeLessThanOrEqual(320);
  await accessible(page);
}, 120_000);
