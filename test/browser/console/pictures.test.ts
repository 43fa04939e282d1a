/**
 * The pictures of docs/console.md, of answers and a time that never change. `RECORD_PICTURES=true`
 * keeps them in docs/pictures; without it they are taken all the same, so none can go stale unseen.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page, Route } from 'playwright-core';
import { ROOT } from '../../../dev/stack/ports.ts';
import * as make from '../../console/movement-fixtures.ts';
import { get, must, shared } from '../../support/http.ts';
import { accessible, dashboard, PATIENCE, shownFingerprint, watchedBrowsers } from './operators.ts';

const HERE = `http://localhost:${new URL(shared.apiUrl).port}`;
const NOW = '2026-11-26T10:05:00.000Z';
const MOST_BYTES = 80_000;
const browsers = watchedBrowsers();
let page: Page;

const GATE = { node_key: 'check', node_kind: 'manual_gate', action_type: 'manual_gate' } as const;
const UNDO = { node_key: 'undo', node_kind: 'compensation', action_type: 'noop' } as const;
const IDLE = { config: {}, sends: false, has_side_effect: false };
const PLAN = make.plan({
  nodes: [
    make.planNode({ ...GATE, ...IDLE }),
    make.planNode(),
    make.planNode({ ...UNDO, ...IDLE }),
  ],
});
const TEXT = JSON.stringify(PLAN);
const MOVEMENT = make.movement({
  compiled_plan_hash: createHash('sha256').update(TEXT).digest('hex'),
  nodes: [
    make.node({ ...GATE, amount: null, destination: null }),
    make.node(),
    make.node({ ...UNDO, amount: null, destination: null }),
  ],
  attention_reason: 'approval',
  attention: make.attention(
    [
      { action: 'approve', consequence: 'The plan runs.' },
      { action: 'reject', consequence: 'It ends as REJECTED.' },
    ],
    { message: 'It waits for an approval until 11:00.' },
  ),
});
const GRAPH = make.graph(
  [make.graphNode(GATE), make.graphNode({}), make.graphNode(UNDO)],
  [
    make.graphEdge({ from: 'check', to: 'pay' }),
    make.graphEdge({ from: 'pay', to: 'undo', edge_type: 'on_failure' }),
  ],
);
const ROW = {
  id: make.ID,
  reason: 'Our own wallet.',
  updated_at: '2026-11-01T10:00:00.000Z',
  revoked_at: null,
  revoked_by: null,
};
const ROWS = [
  make.row(),
  make.row({
    address: `0x${'ab'.repeat(20)}`,
    label: 'settlement',
    created_by: 'bob',
    usable_after: '2026-11-26T22:00:00.000Z',
  }),
].map((row, index) => ({ ...ROW, ...row, id: `${make.ID.slice(0, -1)}${String(index)}` }));

/** What several are decided over: each with a plan of its own, and its payee as it was checked. */
function waiting(movement_id: string, asset: string, amount: string) {
  const outflow = [{ asset, amount }];
  const plan = JSON.stringify(make.plan({ nodes: [make.planNode({ asset })], outflow }));
  const payee = {
    address: make.TREASURY,
    chain_family: 'evm',
    chain_id: 1,
    allowed: true,
    usable_after: null,
    code: null,
    problem: null,
  };
  const review = {
    sends: [{ ...SEND, asset, amount, payees: [payee] }],
    limits: [],
    balances: [],
    would_fail: [],
  };
  const compiled_plan_hash = createHash('sha256').update(plan).digest('hex');
  const detail = { ...MOVEMENT, movement_id, outflow, compiled_plan_hash, review };
  return { movement_id, plan, detail };
}
const SEND = { node_key: 'pay', action_type: 'evm_erc20_transfer', chain_id: '1' };
const WAITING = [
  waiting(`${make.ID.slice(0, -1)}2`, 'USDC', '250.5'),
  waiting(`${make.ID.slice(0, -1)}3`, 'USDC', '1200'),
];

const TEMPLATE = {
  template_id: make.ID,
  template_key: 'starter/pay',
  version: 1,
  name: 'Pay from the desk',
  nodes: [
    {
      node_key: 'pay',
      node_kind: 'action',
      action_type: 'evm_erc20_transfer',
      config: { chain_id: 1 },
      input_schema: null,
    },
  ],
};
const PREVIEW = {
  would_create: true,
  compiled_plan_hash: 'c4'.repeat(32),
  current_frontier: ['pay'],
  external_reference: 'INV-2026-117',
  metadata: {},
  auto_approve: null,
  blocking_reasons: [],
  outflow: [{ asset: 'USDC', amount: '250.5' }],
  bindings: [
    { node_key: 'pay', executor_key: 'evm', signer_key: 'desk', available: true, reason: null },
  ],
  allowlist: [
    { node_key: 'pay', address: make.TREASURY, chain_id: 1, allowed: true, usable_after: null },
  ],
  sends: [{ ...SEND, asset: 'USDC', amount: '250.5', payees: [] }],
  limits: [],
  balances: [],
  would_fail: [],
  would_wait: [],
};

const ANSWERS: Readonly<Record<string, unknown>> = {
  '/whoami': {
    client_id: 'dashboard:ada',
    key_id: 'dashboard:ada',
    role: 'operator',
    dashboard: { operator: 'ada', allowlist: false },
  },
  '/admin/cutover-mode': { mode: 'normal', reason: null },
  '/movements': { movements: [MOVEMENT], next_cursor: null },
  '/capital-transfers': { capital_transfers: [], next_cursor: null },
  '/template-proposals': { template_proposals: [], next_cursor: null },
  '/change-requests': { change_requests: [], next_cursor: null },
  '/callbacks': { callbacks: [], next_cursor: null },
  '/allowed-addresses': { allowed_addresses: ROWS, next_cursor: null },
  [`/movements/${make.ID}`]: MOVEMENT,
  [`/movements/${make.ID}/graph`]: GRAPH,
  [`/movements/${make.ID}/timeline`]: [],
  ...Object.fromEntries(WAITING.map(({ movement_id: id, detail }) => [`/movements/${id}`, detail])),
  '/plan-templates': { plan_templates: [TEMPLATE], next_cursor: null },
  [`/plan-templates/${make.ID}`]: TEMPLATE,
};
const PLANS = new Map([
  [`/movements/${make.ID}/plan`, TEXT],
  ...WAITING.map(({ movement_id: id, plan }) => [`/movements/${id}/plan`, plan] as const),
]);

async function answer(route: Route): Promise<void> {
  const { pathname, searchParams } = new URL(route.request().url());
  const path = pathname.replace(/^\/dashboard(\/api)?/, '');
  if (path === '/stream')
    return route.fulfill({ contentType: 'text/event-stream', body: 'retry: 900000\n\n' });
  // Without the service's time, which is not that of the pictures.
  if (path === '/nonce') return route.fulfill({ json: { nonce: 'n'.repeat(43) } });
  const body = PLANS.get(path);
  if (body !== undefined) return route.fulfill({ contentType: 'application/json', body });
  if (searchParams.has('dry_run')) return route.fulfill({ json: PREVIEW });
  if (searchParams.get('state') === 'PENDING_APPROVAL')
    return route.fulfill({
      json: { movements: WAITING.map(({ detail }) => detail), next_cursor: null },
    });
  return path in ANSWERS
    ? route.fulfill({ json: ANSWERS[path] })
    : route.fulfill({ status: 404, json: { detail: { error: 'not_found', message: path } } });
}

beforeAll(async () => {
  page = await (await browsers.open()).newPage();
  // The stack's log has signatures of other callers to look for.
  await must(200, get('/whoami'));
  await page.setViewportSize({ width: 880, height: 560 });
  const { link } = await dashboard([
    'enrol',
    '--operator',
    'ada',
    '--role',
    'operator',
    '--replace',
  ]);
  const [, code = ''] = /#enrol=(.*)$/.exec(String(link)) ?? [];
  await page.goto(`${HERE}/console/#enrol=${code}`);
  await page.getByRole('button', { name: 'Make a key' }).click();
  await page.getByRole('heading', { name: 'The key waits for its confirmation' }).waitFor();
  const fingerprint = await shownFingerprint(page);
  await dashboard(['confirm', '--operator', 'ada', '--fingerprint', fingerprint]);
  await page.getByRole('heading', { name: 'Needs you' }).waitFor({ timeout: PATIENCE });
  await page.route('**/dashboard/**', answer);
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setTimezoneOverride', { timezoneId: 'UTC' });
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await page.clock.setFixedTime(NOW);
}, 120_000);
afterAll(() => browsers.close());

/** What the page shows, small enough to be kept; docs/console.md shows it with words of its own. */
async function taken(name: string): Promise<void> {
  await accessible(page);
  const picture = await page.screenshot({ animations: 'disabled', caret: 'hide' });
  expect(picture.length).toBeLessThan(MOST_BYTES);
  const file = join(ROOT, 'docs', 'pictures', `${name}.png`);
  if (process.env['RECORD_PICTURES'] === 'true') writeFileSync(file, picture);
  expect(readFileSync(file).length).toBeGreaterThan(0);
  TAKEN.add(name);
}
const TAKEN = new Set<string>();

const opened = async (path: string, name: string | RegExp): Promise<void> => {
  await page.goto(`${HERE}/console${path}`);
  await page.getByRole('heading', { level: 1, name }).waitFor({ timeout: PATIENCE });
};

test('what needs an operator', async () => {
  await opened('/', 'Needs you');
  await page.getByRole('region', { name: 'Waits for you' }).getByRole('table').waitFor();
  await taken('console-needs-you');
});

test('a movement that waits for its approval, its graph, and the sheet of the decision', async () => {
  await opened(`/movements/${make.ID}`, /^Moves at most 250\.5 USDC/);
  await taken('console-movement');
  const graph = page.getByRole('region', { name: 'Graph of the movement' });
  await graph.getByRole('img', { name: /^Node undo/ }).waitFor();
  await graph.scrollIntoViewIfNeeded();
  await taken('console-graph');
  await page.getByRole('button', { name: 'Approve', exact: true }).click();
  await page.getByRole('dialog').getByText('What you sign').waitFor();
  await taken('console-decision');
});

test('several approvals, and what they move together', async () => {
  await opened('/approvals', 'Approvals');
  for (const { movement_id } of WAITING) await page.getByLabel(`Choose ${movement_id}`).check();
  await page.getByRole('button', { name: 'Approve 2' }).click();
  const sheet = page.getByRole('dialog');
  await sheet.getByRole('heading', { name: 'Together at most' }).waitFor();
  await sheet.getByText('1,450.5').waitFor();
  await taken('console-approvals');
});

test('what a new movement would do', async () => {
  await opened('/new?template_key=starter%2Fpay&template_version=1', 'New movement');
  await page.getByLabel('Asset', { exact: true }).fill('USDC');
  await page.getByLabel('Amount', { exact: true }).fill('250.5');
  await page.getByRole('button', { name: 'Preview' }).click();
  const preview = page.getByRole('region', { name: 'Preview' });
  await preview.waitFor();
  await preview.evaluate((region) => region.scrollIntoView());
  await taken('console-preview');
});

test('where funds may go', async () => {
  await opened('/allowlist', 'Allowlist');
  await page.getByRole('table').waitFor();
  await taken('console-allowlist');
});

test('the page of the documentation shows exactly what these tests take', () => {
  const text = readFileSync(join(ROOT, 'docs', 'console.md'), 'utf8');
  const shown = [...text.matchAll(/!\[([^\]]{20,})\]\(pictures\/(.+)\.png\)/g)];
  expect(shown.map(([, , name]) => name).toSorted()).toEqual([...TAKEN].toSorted());
  expect(browsers.complaints).toEqual([]);
});
