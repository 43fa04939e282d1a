/** An outcome that no venue can tell, and what a person makes of it. */
import { assertConsistent, ledgerOf } from '../support/evidence.ts';
import { eventually, startOwnStack, type OwnStack } from '../support/own-stack.ts';

let own: OwnStack;
let amounts = 100;
beforeAll(async () => {
  own = await startOwnStack();
  const withdrawal = {
    node_key: 'out',
    node_kind: 'action',
    action_type: 'cex_withdrawal',
    has_side_effect: true,
    config: { venue: 'paper-sub-a', asset: 'USDC', network: 'local', destination_address: own.stack.chain.accounts.treasury.address },
    retry_policy: { max_attempts: 2, initial_interval_seconds: 0.1 },
  };
  const noop = (node_key: string) => ({ node_key, node_kind: 'action', action_type: 'noop', has_side_effect: false });
  await own.api.expect(201, 'POST', '/plan-templates', {
    template_key: 'test/unknown',
    version: 1,
    name: 'An outcome that may stay unknown',
    nodes: [withdrawal, noop('then'), noop('instead')],
    edges: [
      { from: 'out', to: 'then', edge_type: 'on_success' },
      { from: 'out', to: 'instead', edge_type: 'on_failure' },
    ],
    completion_policy: { completion_assurance: 'provider_completed' },
  });
}, 120_000);
afterAll(() => own?.close(), 60_000);
afterEach(() => own.venueFaults(null));

/** A movement whose withdrawal was booked by a venue that then answers nothing any more. */
async function unknown(faults: object): Promise<string> {
  amounts += 1;
  await own.venueFaults(faults);
  const movement = await own.api.create('test/unknown', { amount: `${amounts}.5` });
  await own.api.approve(movement);
  await own.api.reaches(movement.movement_id, 'MANUAL_INTERVENTION');
  return movement.movement_id;
}

const SILENT = { lose_answer_rate: 1, phases: ['submit', 'recover'] };
const DEAD = { error_rate: 1, phases: ['submit', 'recover'] };

const resolve = (movementId: string, outcome: 'completed' | 'failed', node = 'out') =>
  own.api.send('POST', `/movements/${movementId}/nodes/${node}/actions/resolve`, {
    outcome,
    reason: 'the statement of the venue',
    evidence: { statement: 'line 7' },
  });

const consistent = async (movementId: string): Promise<void> =>
  assertConsistent(await own.api.movement(movementId), await own.api.timeline(movementId));
const nodeStates = async (movementId: string) =>
  Object.fromEntries((await own.api.movement(movementId)).nodes.map((node) => [node.node_key, node.state]));

test('a person resolves it as completed, and the success path goes on', async () => {
  const id = await unknown(SILENT);
  expect((await resolve(id, 'completed')).status).toBe(200);
  await own.api.reaches(id, 'COMPLETED');
  expect(await nodeStates(id)).toEqual({ out: 'COMPLETED', then: 'COMPLETED', instead: 'SKIPPED' });
  await consistent(id);
  const audit = await own.query<{ outcome: string; reason: string; details: Record<string, unknown> }>(
    "SELECT outcome, reason, details FROM audit_events WHERE action = 'movement.resolve' AND entity_key = $1",
    [id],
  );
  expect(audit).toMatchObject([
    { outcome: 'success', reason: 'the statement of the venue', details: { node_key: 'out', outcome: 'completed' } },
  ]);
  expect((await resolve(id, 'failed')).status).toBe(409);
}, 60_000);

test('a person resolves it as failed, and the failure path goes on', async () => {
  const id = await unknown(DEAD);
  expect((await resolve(id, 'failed')).status).toBe(200);
  await own.api.reaches(id, 'COMPLETED');
  expect(await nodeStates(id)).toEqual({ out: 'FAILED', then: 'SKIPPED', instead: 'COMPLETED' });
  expect(await ledgerOf(own.stack.paperVenueUrl, id)).toEqual([]);
  await consistent(id);
}, 60_000);

test('only an unknown node can be resolved, and two people at once resolve it once', async () => {
  const id = await unknown(SILENT);
  expect(await resolve(id, 'completed', 'then')).toMatchObject({
    status: 409,
    body: { detail: { error: 'invalid_state', node_key: 'then', current_state: 'BLOCKED', allowed_states: ['UNKNOWN'] } },
  });
  expect(await resolve(id, 'completed', 'nobody')).toMatchObject({ status: 404, body: { detail: { error: 'node_not_found' } } });
  const answers = await Promise.all([resolve(id, 'completed'), resolve(id, 'failed'), resolve(id, 'completed')]);
  expect(answers.map((answer) => answer.status).sort()).toEqual([200, 409, 409]);
  await own.api.reaches(id, 'COMPLETED');
  await consistent(id);
}, 60_000);

test('resume observes it again, and what landed meanwhile is seen', async () => {
  const id = await unknown(SILENT);
  await own.venueFaults(null);
  await own.api.act('resume', id);
  await own.api.reaches(id, 'COMPLETED');
  const [entry] = await ledgerOf(own.stack.paperVenueUrl, id);
  expect(entry).toMatchObject({ effects: 1, submit_calls: 1 });
  await consistent(id);
}, 60_000);

test('a retry asks about the earlier send first: landed is not sent again', async () => {
  const id = await unknown(SILENT);
  await own.venueFaults(null);
  await own.api.act('retry', id);
  const ended = await own.api.reaches(id, 'COMPLETED');
  expect(ended.nodes.find((node) => node.node_key === 'out')).toMatchObject({ attempt: 1, state: 'COMPLETED' });
  expect(await ledgerOf(own.stack.paperVenueUrl, id)).toMatchObject([{ effects: 1, submit_calls: 1 }]);
  await consistent(id);
}, 60_000);

test('a retry of one that never landed sends once, under the same key', async () => {
  const id = await unknown(DEAD);
  await own.venueFaults(null);
  await own.api.act('retry', id);
  await own.api.reaches(id, 'COMPLETED');
  const entries = await ledgerOf(own.stack.paperVenueUrl, id);
  expect(entries).toMatchObject([{ effects: 1, idempotency_key: `${id}:out:1` }]);
  await consistent(id);
}, 60_000);

test('a retry while the venue is still silent is unknown again', async () => {
  const id = await unknown(SILENT);
  await own.api.act('retry', id);
  await eventually(async () =>
    (await own.api.timeline(id)).filter((event) => event.event_type === 'node_unknown').length >= 2 ? true : null,
  );
  await own.api.reaches(id, 'MANUAL_INTERVENTION');
  expect(await ledgerOf(own.stack.paperVenueUrl, id)).toMatchObject([{ effects: 1, submit_calls: 1 }]);
  await consistent(id);
}, 60_000);
