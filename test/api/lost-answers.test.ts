/**
 * Answers that are lost while a commit waits for a synchronous standby that is away: no look-up
 * sees the write, and yet it is there once the wait is over.
 */
import { createApi } from '../../api/app.ts';
import { routes } from '../../venues/routes.ts';
import { createNoopExecutor } from '../../executors/local/noop.ts';
import { connectDatabase, type Database } from '../../prisma/client.ts';
import { absentStandby, type AbsentStandby } from '../support/absent-standby.ts';
import { openCutConnections, type CutConnections } from '../support/cut-connections.ts';
import { startOwnDatabase } from '../support/own-database.ts';
import { dependencies, post, serve, type Answer, type Served } from './support.ts';

let own: Awaited<ReturnType<typeof startOwnDatabase>>;
let owner: Database;
let between: CutConnections;
let db: Database;
let served: Served;
let api: string;
let standby: AbsentStandby;
/** How many commits wait. */
let waiting: number;
beforeAll(async () => {
  own = await startOwnDatabase();
  owner = connectDatabase({ url: own.url, poolSize: 1 });
  standby = await absentStandby(own.url);
  between = await openCutConnections(Number(new URL(own.url).port));
  const through = new URL(own.url);
  through.port = String(between.port);
  db = connectDatabase({ url: through.href, poolSize: 4, applicationName: 'service' });
  const executors = { list: () => [createNoopExecutor().descriptor] };
  served = await serve(createApi({ ...dependencies(), db, executors }, routes));
  api = `${served.url}/v3`;
  const made = await post(`${api}/plan-templates`, {
    ...{ template_key: 'test/lost', version: 1, name: 'Lost answers', edges: [] },
    nodes: [{ node_key: 'do', node_kind: 'action', action_type: 'noop' }],
    completion_policy: { completion_assurance: 'provider_completed' },
  });
  expect([made.status, made.body]).toMatchObject([201, {}]);
});
beforeEach(() => {
  waiting = 0;
});
afterEach(() => standby.comeBack(), 30_000);
afterAll(async () => {
  await served?.close();
  await db?.$disconnect();
  await between?.close();
  await standby?.close();
  await owner?.$disconnect();
  await own?.close();
});

const create = (more: object = {}): Promise<Answer> =>
  post(`${api}/movements`, {
    ...{ template_key: 'test/lost', template_version: 1, strategy_id: 'lost' },
    ...{ intent: { asset: 'USDC', amount: '1' }, ...more },
  });
const movements = async (): Promise<readonly { readonly request_state: string }[]> =>
  owner.sql<{ request_state: string }>`SELECT request_state FROM movements`;

/** What is answered to a request whose connection breaks while its commit waits. */
async function cutWhileWaiting(request: () => Promise<Answer>): Promise<readonly unknown[]> {
  const answer = request();
  waiting = await standby.waiting(waiting);
  between.cut();
  const { status, body } = await answer;
  return [status, body.detail.error];
}

const UNKNOWN = [503, 'outcome_unknown'];

test('a create whose commit waits is not called refused: it is there later, and its key finds it', async () => {
  await standby.goAway();
  expect(await cutWhileWaiting(() => create())).toEqual(UNKNOWN);
  expect(await cutWhileWaiting(() => create({ idempotency_key: 'once' }))).toEqual(UNKNOWN);
  expect(await movements()).toEqual([]);
  // Waits for the first of its key to be decided, and so for the standby.
  const repeated = create({ idempotency_key: 'once' });
  await standby.comeBack();
  expect((await repeated).headers.get('idempotent-replayed')).toBe('true');
  expect(await movements()).toHaveLength(2);
});

test('an approval, and a write that nothing is looked up of, are not called refused either', async () => {
  const { movement_id, compiled_plan_hash } = (await create()).body as Record<string, string>;
  await standby.goAway();
  const approval = { compiled_plan_hash, approver_id: 'a' };
  expect(
    await cutWhileWaiting(() => post(`${api}/movements/${String(movement_id)}/approve`, approval)),
  ).toEqual(UNKNOWN);
  expect(
    await cutWhileWaiting(() =>
      post(`${api}/admin/cutover-mode`, { mode: 'normal', reason: 'a test' }),
    ),
  ).toEqual(UNKNOWN);
  expect((await movements()).map((each) => each.request_state)).not.toContain('APPROVED');
  await standby.comeBack();
  expect((await movements()).map((each) => each.request_state)).toContain('APPROVED');
});

/** A create whose session is ended while its commit waits: whoever looks for it then waits too. */
async function ended(): Promise<{ readonly answer: Promise<Answer> }> {
  const answer = create();
  await standby.waiting();
  await standby.endWaiting();
  await standby.waiting();
  return { answer };
}

test('what a session that was ended has left behind counts once the standby has it', async () => {
  const before = (await movements()).length;
  await standby.goAway();
  const first = await ended();
  await standby.comeBack();
  expect((await first.answer).status).toBe(201);
  await standby.goAway();
  const second = await ended();
  // It is seen by everybody now, and would be gone if the standby took over.
  expect(await movements()).toHaveLength(before + 2);
  between.cut();
  const { status, body } = await second.answer;
  expect([status, body.detail.error]).toEqual(UNKNOWN);
});

test('where no connection was made, nothing was accepted, and that is said', async () => {
  await between.close();
  const { status, body } = await create();
  expect([status, body.detail.error]).toEqual([503, 'dependency_unavailable']);
});
