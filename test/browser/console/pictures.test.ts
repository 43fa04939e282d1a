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
  ...{ id: make.ID, reason: 'Our own wallet.', updated_at: '2026-11-01T10:00:00.000Z' },
  ...{ revoked_at: null, revoked_by: null },
};
const ROWS = [
  make.row(),
  make.row({
    ...{ address: `0x${'ab'.repeat(20)}`, label: 'settlement', created_by: 'bob' },
    usable_after: '2026-11-26T22:00:00.000Z',
  }),
].map((row, index) => ({ ...ROW, ...row, id: `${make.ID.slice(0, -1)}${String(index)}` }));

const ANSWERS: Readonly<Record<string, unknown>> = {
  '/whoami': {
    ...{ client_id: 'dashboard:ada', key_id: 'dashboard:ada', role: 'operator' },
    dashboard: { operator: 'ada', allowlist: false },
  },
  '/admin/cutover-mode': { mode: 'normal', reason: null },
  '/movements': { movements: [MOVEMENT], next_cursor: null },
  '/capital-transfers': { capital_transfers: [], next_cursor: null },
  '/template-proposals': { template_proposals: [], next_cursor: null },
  '/callbacks': { callbacks: [], next_cursor: null },
  '/allowed-addresses': { allowed_addresses: ROWS, next_cursor: null },
  [`/movements/${make.ID}`]: MOVEMENT,
  [`/movements/${make.ID}/graph`]: GRAPH,
  [`/movements/${make.ID}/timeline`]: [],
};

async function answer(route: Route): Promise<void> {
  const path = new URL(route.request().url()).pathname.replace(/^\/dashboard(\/api)?/, '');
  if (path === '/stream')
    return route.fulfill({ contentType: 'text/event-stream', body: 'retry: 900000\n\n' });
  if (path === `/movements/${make.ID}/plan`)
    return route.fulfill({ contentType: 'application/json', body: TEXT });
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
    ...['enrol', '--operator', 'ada', '--role', 'operator', '--replace'],
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
