/**
 * What happens to an open page: its session ends, its key ends, the clock is wrong, the release
 * changes, the service goes and comes back, someone else's page or script reaches for it.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Locator, Page } from 'playwright-core';
import { eventually, WITHDRAW_TO_TREASURY, type Created } from '../../support/own-stack.ts';
import { accessible, PATIENCE, startConsole } from './operators.ts';
import { started } from '../../support/started.ts';

const STREAM = '/dashboard/stream';
const HOUR_MS = 3_600_000;
const desk = started(() => startConsole({ split: true }));

afterEach(() => desk.afterEach());

const heading = (page: Page, name: string): Locator =>
  page.getByRole('heading', { level: 1, name, exact: true });
const button = (page: Page | Locator, name: string): Locator =>
  page.getByRole('button', { name, exact: true });
const created = (amount: string): Promise<Created> =>
  desk.own.api.create(WITHDRAW_TO_TREASURY, { amount });
const to = (page: Page, path: string) => page.goto(`${desk.origin}/console${path}`);
const live = (page: Page): Promise<void> =>
  page
    .getByRole('status')
    .filter({ hasText: /^Live$/ })
    .waitFor({ timeout: 3 * PATIENCE });
const choice = (page: Page, { movement_id }: Created): Locator =>
  page.getByRole('checkbox', { name: `Choose ${movement_id}` });
const streams = (): number => desk.reads.filter(({ path }) => path.startsWith(STREAM)).length;
const decisions = (...of: readonly Created[]) =>
  desk.writes.filter(({ path }) => of.some(({ movement_id }) => path.includes(movement_id)));

test('several are approved after one summed sheet, each by a signed request; one decided elsewhere is not', async () => {
  const made = [await created('1.25'), await created('2.5'), await created('3.75')];
  const [first, second, third] = made as [Created, Created, Created];
  const page = await desk.pageOf('ada');
  await to(page, '/approvals');
  for (const each of made) await choice(page, each).check({ timeout: PATIENCE });
  await button(page, 'Approve 3…').click();
  const sheet = page.getByRole('dialog', { name: 'Approve 3 movements' });
  const send = button(sheet, 'Approve 3, each signed by itself');
  await send.waitFor({ timeout: PATIENCE });
  expect(await sheet.innerText()).toMatch(/Together at most\s+7\.5\s+USDC/);
  await accessible(page);
  await desk.own.api.expect(200, 'POST', `/movements/${second.movement_id}/reject`, {
    approver_id: 'elsewhere',
    reason: 'meanwhile',
  });
  await send.click();
  await sheet.getByText('2 of 3 sent, 2 done').waitFor({ timeout: PATIENCE });
  await sheet.getByText('It was decided meanwhile: it is REJECTED.').waitFor();
  const sent = decisions(first, second, third);
  expect(sent.map(({ signedBy, status }) => [signedBy, status])).toEqual([
    ['ada', 200],
    ['ada', 200],
  ]);
  expect(sent.map(({ body }) => JSON.parse(body) as unknown)).toEqual(
    // Newest first, as they are listed.
    [third, first].map(({ compiled_plan_hash }) => ({ compiled_plan_hash, approver_id: 'ada' })),
  );
  await accessible(page);
}, 180_000);

test('two tabs share one stream, and the one that is left goes on', async () => {
  const before = streams();
  const [one, other] = [await desk.pageOf('ada'), await desk.pageOf('ada')];
  for (const page of [one, other]) {
    await to(page, '/approvals');
    await live(page);
  }
  const made = await created('4.25');
  for (const page of [one, other]) await choice(page, made).waitFor({ timeout: PATIENCE });
  expect(streams()).toBe(before + 1);
  await one.close();
  await eventually(() => Promise.resolve(streams() === before + 2 || null));
  await live(other);
  await choice(other, await created('5.25')).waitFor({ timeout: PATIENCE });
}, 120_000);

test('the service goes and comes back under an open page, which says so and misses nothing', async () => {
  const page = await desk.pageOf('ada');
  await to(page, '/approvals');
  await live(page);
  await desk.own.stack.kill('api', 'SIGKILL');
  await page.getByRole('status').filter({ hasText: 'Behind' }).waitFor({ timeout: PATIENCE });
  await desk.own.stack.startChild('api');
  const made = await created('6.25');
  await choice(page, made).waitFor({ timeout: 3 * PATIENCE });
  await live(page);
  await choice(page, await created('7.25')).waitFor({ timeout: PATIENCE });
  await accessible(page);
}, 180_000);

test('while the clock is an hour wrong nothing is signed and nothing is lost', async () => {
  const made = await created('8.25');
  const page = await desk.pageOf('ada');
  await to(page, `/movements/${made.movement_id}`);
  await eventually(
    async () => (await button(page, 'Reject').getAttribute('aria-disabled')) === 'false' || null,
    { timeoutMs: PATIENCE },
  );
  await button(page, 'Reject').click();
  const sheet = page.getByRole('dialog', { name: 'Reject?' });
  const reason = sheet.getByLabel('Reason (may be left out)');
  await reason.fill('Not this week.');
  await clickWithWrongClock(page, 'Sign and send');
  // The date of an answer has whole seconds.
  const says = sheet.getByText(/clock is 360\d seconds ahead of the service’s/).first();
  await says.waitFor({ timeout: PATIENCE });
  expect(await button(sheet, 'Sign and send').getAttribute('aria-disabled')).toBe('true');
  await accessible(page);
  await page.evaluate(clockBy(0));
  await eventually(
    async () =>
      (await button(sheet, 'Sign and send').getAttribute('aria-disabled')) === 'false' || null,
    { timeoutMs: PATIENCE },
  );
  expect(await reason.inputValue()).toBe('Not this week.');
  await button(sheet, 'Sign and send').click();
  await sheet.getByText('The service has taken it.').waitFor({ timeout: PATIENCE });
  // What the service would refuse never leaves.
  expect(decisions(made).map(({ status }) => status)).toEqual([200]);
}, 120_000);

test('a wrong clock is said in the sheet of a create, and in that of several decisions', async () => {
  const page = await desk.pageOf('ada');
  /** `within`: what says it once the try is over. */
  const signs = async (sheet: Locator, action: string, within = sheet): Promise<void> => {
    const before = desk.writes.length;
    await clickWithWrongClock(page, action);
    await within
      .getByText(/clock is 360\d seconds ahead of the service’s/)
      .first()
      .waitFor({ timeout: PATIENCE });
    expect(await button(sheet, action).getAttribute('aria-disabled')).toBe('true');
    expect(desk.writes.length).toBe(before);
    await page.evaluate(clockBy(0));
    await eventually(
      async () => (await button(sheet, action).getAttribute('aria-disabled')) === 'false' || null,
      { timeoutMs: PATIENCE },
    );
    await button(sheet, action).click();
  };
  await to(page, `/new?template_key=${WITHDRAW_TO_TREASURY}&template_version=1`);
  await page.getByLabel('Asset', { exact: true }).fill('USDC', { timeout: PATIENCE });
  await page.getByLabel('Amount', { exact: true }).fill('13.25');
  await button(page, 'Preview').click();
  await page.getByText('The service would make this movement now.').waitFor({ timeout: PATIENCE });
  await button(page, 'Create…').click();
  const create = page.getByRole('dialog', { name: 'Create the movement?' });
  await signs(create, 'Sign and send');
  await create.getByText('The movement is made:').waitFor({ timeout: PATIENCE });

  const made = await created('14.25');
  await to(page, '/approvals');
  await choice(page, made).check({ timeout: PATIENCE });
  await button(page, 'Approve 1…').click();
  const sheet = page.getByRole('dialog', { name: 'Approve 1 movements' });
  await button(sheet, 'Approve 1, each signed by itself').waitFor({ timeout: PATIENCE });
  await signs(sheet, 'Approve 1, each signed by itself', sheet.getByRole('status'));
  await sheet.getByText('1 of 1 sent, 1 done').waitFor({ timeout: PATIENCE });
}, 180_000);

/**
 * Clicks a button of the open sheet in the moment in which the page's clock becomes an hour wrong:
 * with any time between the two, an answer to a read would tell the page of it before the click.
 */
async function clickWithWrongClock(page: Page, name: string): Promise<void> {
  await eventually(
    async () =>
      (await button(page.getByRole('dialog'), name).getAttribute('aria-disabled')) === 'false' ||
      null,
    { timeoutMs: PATIENCE },
  );
  await page.evaluate(`${clockBy(HOUR_MS)};
    [...document.querySelectorAll('[role="dialog"] button')]
      .find((each) => each.textContent === ${JSON.stringify(name)}).click()`);
}

/** Sets the page's clock so many milliseconds ahead of this machine's. */
const clockBy = (ms: number): string => `(() => {
  const Real = globalThis.RealDate ?? Date;
  globalThis.RealDate = Real;
  globalThis.Date = class extends Real {
    constructor(...parts) {
      if (parts.length === 0) super(Real.now() + ${String(ms)});
      else super(...parts);
    }
    static now() {
      return Real.now() + ${String(ms)};
    }
  };
})()`;

test('a page of an earlier release says so, and loads itself anew', async () => {
  const page = await desk.pageOf('ada');
  const kept = new Set<string>();
  page.on('request', (request) => kept.add(request.url()));
  await to(page, '/');
  await heading(page, 'Needs you').waitFor({ timeout: PATIENCE });
  // What is not loaded yet is gone; a first time the page loads itself anew by itself.
  const [parts, there] = [/\/console\/[^/]+\.js$/, new Set(kept)];
  await page.route(parts, (route, request) =>
    there.has(request.url()) ? route.continue() : route.fulfill({ status: 404 }),
  );
  await page.getByRole('navigation').getByRole('link', { name: 'Transfers' }).click();
  await heading(page, 'This page is from an earlier release').waitFor({ timeout: PATIENCE });
  await accessible(page);
  await page.unroute(parts);
  await button(page, 'Load the page anew').click();
  await heading(page, 'Capital transfers').waitFor({ timeout: PATIENCE });
}, 120_000);

test('a page of another origin frames nothing and reads nothing', async () => {
  const page = await desk.pageOf('ada');
  const stranger = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(`<title>stranger</title><iframe src="${desk.origin}/console/"></iframe>`);
  });
  await new Promise<void>((listening) => stranger.listen(0, '127.0.0.1', listening));
  try {
    const { port } = stranger.address() as AddressInfo;
    const whoami = '/dashboard/api/whoami';
    // Another port of the same host name, to which browsers send the same cookies.
    for (const host of ['localhost', '127.0.0.1']) {
      await page.goto(`http://${host}:${String(port)}/`);
      const before = desk.reads.length;
      for (const mode of ['cors', 'no-cors']) {
        const init = JSON.stringify({ credentials: 'include', mode });
        const read = `fetch(${JSON.stringify(desk.origin + whoami)}, ${init})`;
        const got = await page.evaluate(`${read}.then(() => 'read', () => 'refused')`);
        expect([host, mode, got]).toEqual([host, mode, 'refused']);
      }
      const reads = desk.reads.slice(before).filter(({ path }) => path === whoami);
      expect([host, reads.map(({ status }) => status)]).toEqual([host, [401, 401]]);
      const frame = page.frames().find((each) => each !== page.mainFrame());
      expect(await frame?.getByRole('heading').count()).toBe(0);
    }
  } finally {
    stranger.closeAllConnections();
    stranger.close();
  }
}, 120_000);

test('a script in the page signs while it is open; it takes no key away and signs nothing ahead', async () => {
  const page = await desk.pageOf('ada');
  await to(page, '/');
  await heading(page, 'Needs you').waitFor({ timeout: PATIENCE });
  const made = await created('9.25');
  const got = await page.evaluate<Record<string, unknown>>(
    injected(`/dashboard/api/movements/${made.movement_id}/reject`),
  );
  expect(got).toEqual({
    raw: 'InvalidAccessError',
    jwk: 'InvalidAccessError',
    wrapped: 'InvalidAccessError',
    text: '{}',
    cookie: '',
    ahead: 401,
    signed: 200,
    again: 401,
  });
  // By the operator's name, whosever script it was.
  expect(decisions(made).filter(({ status }) => status === 200)).toMatchObject([
    { signedBy: 'ada' },
  ]);
}, 120_000);

/** What a script tries that runs in the page. */
const injected = (target: string): string => `(async () => {
  const database = await new Promise((resolve, reject) => {
    const request = indexedDB.open('svc-console', 1);
    request.onsuccess = () => resolve(request.result);
    request.onerror = reject;
  });
  const { operator, key } = await new Promise((resolve, reject) => {
    const request = database.transaction('keys').objectStore('keys').get('operator');
    request.onsuccess = () => resolve(request.result);
    request.onerror = reject;
  });
  database.close();
  const failure = (work) => work.then(() => 'exported', (error) => error.name);
  const aes = { name: 'AES-GCM', length: 256 };
  const wrapping = await crypto.subtle.generateKey(aes, false, ['wrapKey']);
  const iv = new Uint8Array(12);
  const hex = (bytes) => [...new Uint8Array(bytes)].map((b) => b.toString(16).padStart(2, '0')).join('');
  const text = new TextEncoder();
  const body = JSON.stringify({ approver_id: 'a script' });
  const target = ${JSON.stringify(target)};
  const nonceOf = async () => (await (await fetch('/dashboard/nonce')).json()).nonce;
  const signed = async (nonce) => {
    const timestamp = String(Math.floor(Date.now() / 1000));
    const digest = hex(await crypto.subtle.digest('SHA-256', text.encode(body)));
    const lines = ['SVC-DASHBOARD-V3', 'POST', target, '', digest, timestamp, nonce, operator].join('\\n');
    const mac = hex(await crypto.subtle.sign('HMAC', key, text.encode(lines)));
    const answer = await fetch(target, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        'x-svc-dashboard-operator': operator,
        'x-svc-dashboard-timestamp': timestamp,
        'x-svc-dashboard-nonce': nonce,
        'x-svc-dashboard-signature': 'v3=' + mac,
      },
    });
    return answer.status;
  };
  const nonce = await nonceOf();
  return {
    raw: await failure(crypto.subtle.exportKey('raw', key)),
    jwk: await failure(crypto.subtle.exportKey('jwk', key)),
    wrapped: await failure(crypto.subtle.wrapKey('raw', key, wrapping, { name: 'AES-GCM', iv })),
    text: JSON.stringify(key),
    cookie: document.cookie,
    ahead: await signed('0'.repeat(32)),
    signed: await signed(nonce),
    again: await signed(nonce),
  };
})()`;

test('an ended session is said, and the key opens another', async () => {
  const page = await desk.pageOf('ada');
  await to(page, '/approvals');
  await live(page);
  await desk.dashboard('sessions', 'end', '--operator', 'ada');
  await page.getByRole('alert').getByText('Your session has ended').waitFor({ timeout: 90_000 });
  await accessible(page);
  await button(page, 'Continue as ada').click();
  await page.getByText('Your session has ended').waitFor({ state: 'detached', timeout: PATIENCE });
  await choice(page, await created('10.25')).waitFor({ timeout: 2 * PATIENCE });
}, 180_000);

test('an idle page over which events flow is locked after half an hour; what was typed stays', async () => {
  const made = await created('11.25');
  const page = await desk.pageOf('ada');
  await to(page, '/approvals');
  await live(page);
  await choice(page, made).check({ timeout: PATIENCE });
  await button(page, 'Reject 1…').click();
  const sheet = page.getByRole('dialog', { name: 'Reject 1 movements' });
  const why = sheet.getByLabel('Why');
  await why.fill('Not this week.', { timeout: PATIENCE });
  // What is read from now on is read for no person.
  await page.waitForTimeout(11_000);
  // Its last use is noted once a minute, and may be one that was noted before this test.
  await later('27 min');
  const lists = () =>
    desk.reads.filter(({ path, status }) => path.includes('PENDING_APPROVAL') && status === 200);
  expect(lists().some(({ isBackground }) => !isBackground)).toBe(true);
  const before = lists().length;
  await created('12.25');
  await eventually(() => Promise.resolve(lists().length > before || null), {
    timeoutMs: PATIENCE,
  });
  expect(lists().at(-1)).toMatchObject({ isBackground: true });
  await later('4 min');
  await sheet.getByText('Your session has ended').waitFor({ timeout: 60_000 });
  await accessible(page);
  await button(sheet, 'Continue as ada').click();
  await sheet.getByText('Your session has ended').waitFor({ state: 'detached', timeout: PATIENCE });
  expect(await why.inputValue()).toBe('Not this week.');
  await button(sheet, 'Reject 1, each signed by itself').click();
  await sheet.getByText('1 of 1 sent, 1 done').waitFor({ timeout: PATIENCE });
  expect(decisions(made).map(({ body }) => JSON.parse(body) as unknown)).toMatchObject([
    { reason: 'Not this week.' },
  ]);
}, 180_000);

/** So much later for every session: they are made that much older. */
async function later(interval: string): Promise<void> {
  await desk.own.query(
    `ALTER TABLE dashboard_sessions DISABLE TRIGGER dashboard_sessions_guard;
     UPDATE dashboard_sessions SET created_at = created_at - interval '${interval}',
       last_used_at = last_used_at - interval '${interval}';
     ALTER TABLE dashboard_sessions ENABLE TRIGGER dashboard_sessions_guard;`,
  );
}

test('an ended key is said, and opens nothing', async () => {
  const page = await desk.pageOf('eve');
  await to(page, '/approvals');
  await live(page);
  await desk.dashboard('end', '--operator', 'eve');
  await button(page, 'Continue as eve').click({ timeout: 90_000 });
  await page
    .getByRole('heading', { name: 'The service does not take this browser’s key' })
    .waitFor({ timeout: PATIENCE });
  expect(await page.getByRole('table').count()).toBe(0);
  await accessible(page);
}, 180_000);
