/**
 * Pages of an administrator against the real stack and door: each can be read by everyone, breaks
 * no policy, and fits a narrow screen in both colour schemes. One create, whose answer is lost.
 */
import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { agent, propose, readProposal } from '../../support/agents.ts';
import { get, must, noop, post, register, shared, template, transfer } from '../../support/http.ts';
import { accessible, dashboard, shownFingerprint, watchedBrowsers } from './operators.ts';

const OPERATOR = `pages-${String(process.pid)}`;
const HERE = `http://localhost:${new URL(shared.apiUrl).port}`;
const browsers = watchedBrowsers();
let page: Page;

beforeAll(async () => {
  page = await (await browsers.open()).newPage();
  // The stack's log has signatures of other callers to look for.
  await must(200, get('/whoami'));
  const { link } = await dashboard(['enrol', '--operator', OPERATOR, '--role', 'admin']);
  const [, code = ''] = /#enrol=(.*)$/.exec(String(link)) ?? [];
  await page.goto(`${HERE}/console/#enrol=${code}`);
  await page.getByRole('button', { name: 'Make a key' }).click();
  await page.getByRole('heading', { name: 'The key waits for its confirmation' }).waitFor();
  const fingerprint = await shownFingerprint(page);
  await dashboard(['confirm', '--operator', OPERATOR, '--fingerprint', fingerprint]);
  await page.getByRole('heading', { name: 'Needs you' }).waitFor();
});
afterAll(() => browsers.close());

async function read(title: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name: title }).waitFor();
  await page.getByText('Reading…').first().waitFor({ state: 'detached' });
}

const TITLES: Readonly<Record<string, string>> = {
  Balances: 'Balances',
  'New movement': 'New movement',
  Policies: 'Policies and budgets',
  Templates: 'Templates',
  Proposals: 'Proposals',
  Executors: 'Executors',
  Signers: 'Signers and nonce lanes',
  Routes: 'Routes',
  Bridges: 'Bridges',
  Perps: 'Perps venue',
};

test.each(Object.entries(TITLES))(
  '%s is shown, and can be read by everyone',
  async (name, title) => {
    await page.emulateMedia({ colorScheme: 'light' });
    await page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
    await read(title);
    expect(await page.getByRole('alert').allInnerTexts()).toEqual([]);
    await accessible(page);
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 320, height: 800 });
    await accessible(page);
    const overflow = await page.evaluate<number>(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    expect(overflow).toBeLessThanOrEqual(0);
    await page.setViewportSize({ width: 1280, height: 800 });
  },
);

test('a template is drawn, and leads to a movement that is made once, though its answer is lost', async () => {
  const { template_key: key } = await register(template([transfer('pay'), noop('note')]));
  await register(template([transfer('pay'), noop('end')], { template_key: key, version: 2 }));
  await page.goto(`${HERE}/console/templates?template_key=${encodeURIComponent(key)}`);
  await page.getByRole('link', { name: `${key} version 2` }).click();
  await page.getByRole('group', { name: /Graph of 2 nodes/ }).waitFor();
  await read(`${key} version 2`);
  await page.getByLabel('Compare with').selectOption('version 1');
  await page.getByRole('region', { name: 'From version 1 to version 2' }).waitFor();
  await accessible(page);
  await page.getByRole('main').getByRole('link', { name: 'New movement' }).click();
  await page.getByRole('heading', { level: 1, name: 'New movement' }).waitFor();
  await page.getByLabel('Asset', { exact: true }).fill('USDC');
  await page.getByLabel('Amount', { exact: true }).fill('2.5');
  const reference = `pages-${String(process.pid)}-${String(Date.now())}`;
  await page.getByLabel(/^Your own reference/).fill(reference);
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.getByText('The service would make this movement now.').waitFor();
  await accessible(page);
  // The service takes the create, and its answer is lost on the way.
  let creates = 0;
  await page.route('**/dashboard/api/movements', async (route) => {
    creates += 1;
    await route.fetch();
    await route.abort();
  });
  await page.getByRole('button', { name: 'Create…' }).click();
  await page.getByRole('dialog').getByText('What you sign').waitFor();
  await accessible(page);
  await page.getByRole('button', { name: 'Sign and send' }).click();
  await page.getByText('The movement is made:').waitFor();
  await page.getByRole('dialog').getByRole('link').click();
  await page.getByText('Plan and its hash').first().waitFor();
  expect(creates).toBe(1);
  const { movements } = await must(
    200,
    get<{ readonly movements: readonly unknown[] }>(`/movements?external_reference=${reference}`),
  );
  expect(movements).toHaveLength(1);
});

test('a transfer and a proposal are found by their ids, with what may be done about them', async () => {
  const find = async (id: string): Promise<void> => {
    await page.getByRole('searchbox', { name: 'Search' }).fill(id);
    await page.keyboard.press('Enter');
    await page.getByRole('main').getByRole('link').first().click();
  };
  const { transfer_id } = await must(
    201,
    post<{ readonly transfer_id: string }>('/capital-transfers', {
      source_venue: 'paper-main',
      destination_venue: 'paper-sub-a',
      asset: 'USDT',
      amount: '1.5',
      reason: 'rebalancing',
      idempotency_key: randomUUID(),
    }),
  );
  await find(transfer_id);
  await read('Capital transfer');
  await page.getByRole('region', { name: 'Events, newest first' }).waitFor();
  const resolve = page.getByRole('button', { name: 'Resolve' });
  await page
    .getByText(
      'It is COMPLETED: what is not sent yet can be stopped, and what waits for its provider can be resolved.',
    )
    .waitFor();
  expect(await resolve.getAttribute('aria-disabled')).toBe('true');
  await accessible(page);

  const { proposal_id } = (await propose(await agent({ most: '1' }))).body;
  await find(proposal_id);
  await read('Proposal');
  await accessible(page);
  await page.getByRole('button', { name: /^Promote / }).click();
  await page.getByRole('button', { name: 'Sign and send' }).click();
  await page.getByText('The service has taken it.').waitFor();
  expect((await readProposal(shared.keys.admin, proposal_id)).promotion_mode).toBe('admin');
});

test('a sheet shows what is signed, and Escape sends nothing', async () => {
  await page.goto(`${HERE}/console/executors`);
  await read('Executors');
  const button = page.getByRole('button', { name: /^Disable / }).first();
  await button.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByText('What you sign').waitFor();
  await accessible(page);
  const statuses = async () =>
    (await must(200, get<readonly { readonly status: string }[]>('/executors'))).map(
      ({ status }) => status,
    );
  const before = await statuses();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(await statuses()).toEqual(before);
});

test('a sheet stays until it is known what became of its request', async () => {
  await page.goto(`${HERE}/console/executors`);
  await read('Executors');
  let drop = (): void => undefined;
  const held = new Promise<void>((dropped) => (drop = dropped));
  const path = '**/dashboard/api/executors/**';
  await page.route(path, async (route) => {
    if (route.request().method() === 'GET') return route.continue();
    await held;
    return route.abort();
  });
  await page
    .getByRole('button', { name: /^Disable / })
    .first()
    .click();
  const sheet = page.getByRole('dialog');
  await sheet.getByRole('button', { name: 'Sign and send' }).click();
  await sheet.getByText('the sheet stays until there is an answer').waitFor();
  await page.keyboard.press('Escape');
  await accessible(page);
  expect(await sheet.getByRole('button', { name: 'Close' }).count()).toBe(0);
  drop();
  await sheet.getByText('The answer was lost, and the page was read again since.').waitFor();
  await page.unroute(path);
  await sheet.getByRole('button', { name: 'Close' }).click();
  await sheet.waitFor({ state: 'detached' });
});

test('nothing broke the content policy', () => {
  expect(browsers.complaints).toEqual([]);
});
