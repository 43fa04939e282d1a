/** The typed client against the service: what it asks for, and what it makes of the answers. */
import { createHash, randomUUID, webcrypto } from 'node:crypto';
import {
  ApiError,
  createClient,
  planHash,
  WaitEndedError,
  WaitTimeoutError,
  type BodyOf,
  type RowOf,
} from '../../clients/http/index.ts';
import { gate, noop, registered, shared, uniqueKey } from '../support/http.ts';

const client = createClient({ baseUrl: shared.apiUrl, key: shared.keys.admin });

const bodyOf = ({ template_key, version }: { template_key: string; version: number }) => ({
  template_key,
  template_version: version,
  intent: { asset: 'USDC', amount: '5' },
});

const twoSteps = (template_key: string): BodyOf<'createPlanTemplate'> => ({
  template_key,
  name: 'Two steps',
  version: 1,
  nodes: [
    { node_key: 'a', node_kind: 'action', action_type: 'noop' },
    { node_key: 'b', node_kind: 'action', action_type: 'noop' },
  ],
  edges: [{ from: 'a', to: 'b', edge_type: 'on_success' }],
  completion_policy: { completion_assurance: 'provider_completed' },
});

test('prefix and health come from the service, and whoami knows the key', async () => {
  expect(await client.prefix()).toBe('/v3');
  expect(await client.health()).toMatchObject({ ok: true, api_prefix: '/v3' });
  expect(await client.whoami()).toMatchObject({ key_id: shared.keys.admin.keyId, role: 'admin' });
});

test('a movement is created, read, hashed where it is approved, and watched to its end', async () => {
  const made = await client.templates.create(twoSteps(uniqueKey()));
  const preview = await client.movements.preview(bodyOf(made));
  const created = await client.movements.create(bodyOf(made));
  expect(preview).toMatchObject({
    would_create: true,
    compiled_plan_hash: created.compiled_plan_hash,
  });
  const plan = await client.movements.plan(created.movement_id);
  expect(await planHash(plan)).toBe(created.compiled_plan_hash);
  expect(await planHash(`${plan} `)).not.toBe(created.compiled_plan_hash);
  const seen: string[] = [];
  const approval = { compiled_plan_hash: created.compiled_plan_hash, approver_id: 'tester' };
  const [done] = await Promise.all([
    client.waitFor(created.movement_id, 'COMPLETED', {
      onChange: ({ request_state }) => seen.push(request_state),
    }),
    client.movements.approve(created.movement_id, approval),
  ]);
  expect(done.nodes.map(({ state }) => state)).toEqual(['COMPLETED', 'COMPLETED']);
  expect(seen.at(-1)).toBe('COMPLETED');
  const chart = await client.call('getMovementGraph', {
    params: { movement_id: created.movement_id },
    query: { format: 'mermaid' },
  });
  expect(chart).toMatch(/^flowchart/);
});

test('a wait ends with the state that it can no longer leave, and with its own time', async () => {
  const made = await registered([gate('wait')]);
  const { movement_id } = await client.movements.create(bodyOf(made));
  const late = client.waitFor(movement_id, ['COMPLETED', 'FAILED'], { timeoutMs: 300 });
  await expect(late).rejects.toThrow(WaitTimeoutError);
  await expect(late).rejects.toMatchObject({ state: 'PENDING_APPROVAL' });
  await client.movements.reject(movement_id, { reason: 'no' });
  const ended = client.waitFor(movement_id, 'COMPLETED');
  await expect(ended).rejects.toThrow(WaitEndedError);
  await expect(ended).rejects.toThrow(`Movement ${movement_id} ended as REJECTED`);
});

test('pages show every row once, whatever is added while they are read', async () => {
  const made = await registered([noop('a')]);
  const strategy_id = `pages-${randomUUID()}`;
  const create = () => client.movements.create({ ...bodyOf(made), strategy_id });
  const first: string[] = [];
  for (let count = 0; count < 5; count += 1) first.push((await create()).movement_id);
  const rows: RowOf<'listMovements'>[] = [];
  for await (const row of client.movements.list({ strategy_id, limit: 2 })) {
    rows.push(row);
    await create();
  }
  expect(rows.map(({ movement_id }) => movement_id)).toEqual(first.reverse());
});

test('one key creates once, and the repeat says so', async () => {
  const made = await registered([noop('a')]);
  const input = { body: bodyOf(made), idempotencyKey: randomUUID() };
  const first = await client.request('createMovement', input);
  const second = await client.request('createMovement', input);
  expect([first.status, first.replayed]).toEqual([201, false]);
  expect([second.status, second.replayed]).toEqual([200, true]);
  expect(second.body.movement_id).toBe(first.body.movement_id);
});

test('a path parameter arrives as it was meant, whatever it holds', async () => {
  const template_key = `test/café & 1+1=2; (\'x\')/${randomUUID()}`;
  await client.templates.create(twoSteps(template_key));
  const changed = await client.templates.update(template_key, { auto_approve_enabled: false });
  expect(changed.template_key).toBe(template_key);
  const strategy_id = 'a b/c&d=é+%20';
  for await (const _ of client.movements.list({ strategy_id })) throw new Error('found a movement');
});

test('a WebCrypto key that cannot be exported signs as its text does', async () => {
  const { keyId, secret } = shared.keys.operator;
  const imported = await webcrypto.subtle.importKey(
    'raw',
    Buffer.from(secret),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign'],
  );
  const held = createClient({ baseUrl: shared.apiUrl, key: { keyId, secret: imported } });
  expect(await held.whoami()).toMatchObject({ key_id: keyId, role: 'operator' });
});

test('a refusal has its code, context, places and request id', async () => {
  const refusal = async (work: Promise<unknown>): Promise<ApiError> =>
    work.then(
      () => {
        throw new Error('it was not refused');
      },
      (error: unknown) => {
        if (error instanceof ApiError) return error;
        throw error;
      },
    );
  const missing = await refusal(client.movements.get(randomUUID()));
  expect(missing).toMatchObject({ status: 404, code: 'movement_not_found', maybeTaken: false });
  expect(missing.requestId).toMatch(/\w{8}/);
  const invalid = await refusal(
    client.movements.create({
      template_key: 'x',
      template_version: 1,
      intent: { asset: 'USDC', amount: '-1' },
    }),
  );
  expect(invalid).toMatchObject({ status: 422, code: 'invalid_request' });
  expect(invalid.issues.map(({ path }) => path)).toEqual(['intent.amount']);
  const made = await client.movements.create(bodyOf(await registered([noop('a')])));
  const wrong = { compiled_plan_hash: createHash('sha256').digest('hex'), approver_id: 'x' };
  const stale = await refusal(client.movements.approve(made.movement_id, wrong));
  expect(stale.status).toBe(409);
  expect(stale.code).toBe('compiled_plan_hash_mismatch');
  const key = { ...shared.keys.admin, secret: 'not-the-secret' };
  const stranger = createClient({ baseUrl: shared.apiUrl, key });
  const unknown = await refusal(stranger.whoami());
  expect(unknown.code).toBe('unauthenticated');
  expect(JSON.stringify({ ...unknown, text: String(unknown) })).not.toContain('not-the-secret');
});
