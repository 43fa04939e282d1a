/** A retired template version: nothing new is made from it, and what it made goes on. */
import { randomUUID } from 'node:crypto';
import { AGENT_TEMPLATE_VERSIONS } from '../../domain/agents/bounds.ts';
import type { SigningKey } from '../../dev/stack/keys.ts';
import { agent, attempt, propose, type Agent } from '../support/agents.ts';
import {
  approve,
  auditOfRequest,
  create,
  expectInvalid,
  expectRefusal,
  get,
  movementBody,
  must,
  noop,
  post,
  reaches,
  register,
  registered,
  sendAs,
  shared,
  sql,
  template,
  uniqueKey,
  type Answer,
  type CreatedView,
  type TemplateView,
} from '../support/http.ts';

interface Retired {
  readonly template_id: string;
  readonly version: number;
  readonly status: string;
  readonly retired_at: string;
  readonly retired_by: string | null;
  readonly retired_reason: string;
  readonly latest_active_version: number | null;
}

const REASON = { reason: 'It pays the old treasury.' };
const retire = (
  template_id: string,
  by: SigningKey = shared.keys.admin,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer<Retired>> =>
  sendAs<Retired>(by, 'POST', `/plan-templates/${template_id}/retire`, REASON, headers);
const listed = async (key: string, more = ''): Promise<readonly number[]> =>
  (
    await must<{ plan_templates: readonly TemplateView[] }>(
      200,
      get(`/plan-templates?template_key=${key}${more}`),
    )
  ).plan_templates.map(({ version }) => version);
const catalogued = async (key: string): Promise<readonly number[]> =>
  (
    await must<{ routes: readonly { template_key: string; version: number }[] }>(
      200,
      get('/route-catalog'),
    )
  ).routes
    .filter(({ template_key }) => template_key === key)
    .map(({ version }) => version);

/** Versions without nodes, written past the service. */
const insertVersions = (
  key: string,
  [first, last]: readonly [number, number],
  id: string | null = null,
) =>
  sql(
    `INSERT INTO plan_template_versions (template_id, template_key, version, name, graph_shape,
       approval_policy, risk_controls, completion_assurance, created_at)
     SELECT coalesce($4::uuid, gen_random_uuid()), $1, n, 'x', 'linear', '{}', '{}',
       'provider_completed', now()
     FROM generate_series($2::integer, $3::integer) AS n`,
    [key, first, last, id],
  );

describe('a retired version', () => {
  test('makes no movement and no preview, though the process has used it, and names the version to use', async () => {
    const first = await registered([noop('a')]);
    const { template_key } = first;
    const pending = await create(first);
    const alone = await must(200, retire(first.template_id));
    expect(alone.latest_active_version).toBeNull();
    const body = template([noop('a')], { template_key, version: 2 });
    const second = await register(body);
    const context = { template_key, template_version: 1, latest_active_version: 2 };
    const refused = await post('/movements', movementBody(first));
    expectRefusal(refused, 409, 'template_version_retired', context);
    const preview = await must<{ would_create: boolean; blocking_reasons: readonly object[] }>(
      200,
      post('/movements?dry_run=true', movementBody(first)),
    );
    expect(preview.would_create).toBe(false);
    expect(preview.blocking_reasons).toEqual([
      { ...context, error: 'template_version_retired', message: expect.any(String) },
    ]);
    await must(201, post('/movements', movementBody(second)));
    // What it made goes on, by the hash that was shown.
    await approve(pending);
    await reaches(pending.movement_id, 'COMPLETED');
  });

  test('answers a repeat with the movement that it made before', async () => {
    const of = await registered([noop('a')]);
    const body = { ...movementBody(of), idempotency_key: randomUUID() };
    const made = await must(201, post<CreatedView>('/movements', body));
    await must(200, retire(of.template_id));
    const again = await must(200, post<CreatedView>('/movements', body));
    expect(again.movement_id).toBe(made.movement_id);
  });

  test('is shown with who retired it, when and why, and is no route', async () => {
    const of = await registered([noop('a')]);
    const { template_key, template_id } = of;
    await register(template([noop('a')], { template_key, version: 2 }));
    expect(await catalogued(template_key)).toEqual([1, 2]);
    const headers = { 'X-Request-Id': `retire-${randomUUID()}` };
    const retired = await must(200, retire(template_id, undefined, headers));
    const fields = {
      status: 'retired',
      retired_at: expect.stringMatching(/^\d{4}-.*Z$/),
      retired_by: shared.adminClientId,
      retired_reason: REASON.reason,
    };
    expect(retired).toEqual({
      template_id,
      template_key,
      version: 1,
      latest_active_version: 2,
      ...fields,
    });
    expect(await must(200, get(`/plan-templates/${template_id}`))).toMatchObject(fields);
    expect(await catalogued(template_key)).toEqual([2]);
    expect(await listed(template_key)).toEqual([2, 1]);
    expect(await listed(template_key, '&status=retired')).toEqual([1]);
    expect(await listed(template_key, '&status=active')).toEqual([2]);
    expect(await auditOfRequest(headers['X-Request-Id'])).toMatchObject([
      { action: 'plan_template.retire', outcome: 'success', reason: REASON.reason },
    ]);
    // A repeat changes nothing and leaves no second row.
    const repeat = { 'X-Request-Id': `retire-${randomUUID()}` };
    expect(await must(200, retire(template_id, undefined, repeat))).toEqual(retired);
    expect(await auditOfRequest(repeat['X-Request-Id'])).toEqual([]);
    await expect(
      sql(`UPDATE plan_template_versions SET status = 'active' WHERE template_id = $1`, [
        template_id,
      ]),
    ).rejects.toThrow('a template version stays as it is');
  });

  test('is never one that the service registers for itself, and needs a reason', async () => {
    const template_id = randomUUID();
    const template_key = `system/${template_id}`;
    await sql('INSERT INTO plan_templates VALUES ($1, false, NULL, NULL, now(), now())', [
      template_key,
    ]);
    await insertVersions(template_key, [1, 1], template_id);
    expectRefusal(await retire(template_id), 422, 'reserved_template_family', { template_key });
    const unknown = { template_id: '01938a5e-7c00-7b3a-9d2f-5b1c7e8a4f10' };
    expectRefusal(await retire(unknown.template_id), 404, 'template_not_found', unknown);
    const of = await registered([noop('a')]);
    expectInvalid(await post(`/plan-templates/${of.template_id}/retire`, {}), 'reason');
  });
});

describe('an agent', () => {
  const idOf = async (key: string | null, version: number | null): Promise<string> => {
    const [row] = await sql<{ template_id: string }>(
      'SELECT template_id FROM plan_template_versions WHERE template_key = $1 AND version = $2',
      [key, version],
    );
    return row?.template_id ?? '';
  };
  const own = async (of: Agent, notional = '40') => {
    const made = await must(200, propose(of, { requested_notional: notional }));
    const { template_key, template_version } = made;
    const template_id = await idOf(template_key, template_version);
    return { template_key, template_version, template_id };
  };

  test('retires what is its own and nothing else', async () => {
    const [of, other] = [await agent(), await agent()];
    const { template_id } = await own(of);
    expectRefusal(await retire(template_id, other), 404, 'template_not_found', { template_id });
    const common = await register(template([noop('a')], { template_key: uniqueKey() }));
    expectRefusal(await retire(common.template_id, of), 403, 'agent_namespace_mismatch', {
      namespace: of.namespace,
      requested_namespace: expect.any(String),
    });
    expectRefusal(await retire(template_id, shared.keys.operator), 403, 'forbidden');
    expect(await must(200, retire(template_id, of))).toMatchObject({ status: 'retired' });
  });

  test('gets another version with its next proposal, and attempts with that', async () => {
    const of = await agent();
    const first = await own(of);
    await must(200, retire(first.template_id, of));
    const second = await own(of);
    expect([first.template_version, second.template_version]).toEqual([1, 2]);
    expect((await must(200, attempt(of))).template_version).toBe(2);
    const body = { ...first, template_id: undefined, intent: { asset: 'USDC', amount: '1' } };
    expectRefusal(
      await sendAs(of, 'POST', '/movements', body),
      ...([409, 'template_version_retired'] as const),
      { template_key: first.template_key, template_version: 1, latest_active_version: 2 },
    );
  });

  test('has room for another version once it retires one', async () => {
    const of = await agent();
    const { template_key, template_id } = await own(of, '1');
    await insertVersions(template_key ?? '', [2, AGENT_TEMPLATE_VERSIONS]);
    const beyond = { requested_notional: '2' };
    const full = { authority_key: of.authority, limit: AGENT_TEMPLATE_VERSIONS };
    expectRefusal(await propose(of, beyond), 409, 'template_versions_exceeded', full);
    await must(200, retire(template_id, of));
    expect((await must(200, propose(of, beyond))).template_version).toBe(201);
    expectRefusal(
      await propose(of, { requested_notional: '3' }),
      ...([409, 'template_versions_exceeded'] as const),
      full,
    );
  });
});
