/** The audit trail over HTTP: what each action leaves there, and how the list is read. */
import { randomUUID } from 'node:crypto';
import {
  approval,
  approve,
  cancellable,
  create,
  expectInvalid,
  gate,
  get,
  must,
  noop,
  reaches,
  registered,
  run,
  send,
  shared,
  sql,
  template,
  waitFor,
  type Answer,
  type TemplateView,
} from '../support/http.ts';

interface Record13 {
  readonly event_id: string;
  readonly occurred_at: string;
  readonly action: string;
  readonly entity_type: string;
  readonly entity_key: string;
  readonly outcome: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}
interface Page {
  readonly events: readonly Record13[];
  readonly next_cursor: string | null;
}

const list = (query: Readonly<Record<string, string>>, path = '/audit/events'): Promise<Page> =>
  must(200, get<Page>(`${path}?${new URLSearchParams(query).toString()}`));
/** What was recorded, as `action entity_type outcome reason`. */
const lines = ({ events }: Page): string[] =>
  events.map(({ action, entity_type, outcome, reason }) =>
    [action, entity_type, outcome, reason ?? '-'].join(' '),
  );

let plain: TemplateView;
let waiting: TemplateView;
let undoable: TemplateView;
beforeAll(async () => {
  [plain, waiting, undoable] = await Promise.all([
    registered([noop('a')]),
    registered([gate('check')]),
    cancellable(),
  ]);
});

// Written by hand, not from the code's own tables: method, path, body, and the rows that it must
// leave.
interface Case {
  readonly name: string;
  readonly prepare: () => Promise<{
    readonly method?: string;
    readonly path: string;
    readonly body?: unknown;
    readonly key?: string;
  }>;
  readonly status: number;
  readonly leaves: readonly string[];
}
const movement = async (
  of: () => TemplateView,
  verb: string,
  bodyOf: (of: Awaited<ReturnType<typeof create>>) => unknown = () => undefined,
) => {
  const made = await create(of());
  return {
    path: `/movements/${made.movement_id}/${verb}`,
    body: bodyOf(made),
    key: made.movement_id,
  };
};
const atGate = async (verb: string) => {
  const { movement_id } = await run(waiting, 'WAITING_MANUAL_ACTION');
  return { path: `/movements/${movement_id}/actions/${verb}`, key: movement_id };
};
const switched = (what: string, key: string) => () =>
  Promise.resolve({
    method: 'PATCH',
    path: `/${what}/${key}`,
    body: { status: 'active', reason: 'again' },
    key,
  });
const pin = (expected_address: string) => () =>
  Promise.resolve({
    method: 'PUT',
    path: '/signers/dev-treasury/expected-identity',
    body: { expected_address, previous_expected_address: null, reason: 'a pin' },
    key: 'dev-treasury',
  });

const CASES: readonly Case[] = [
  {
    name: 'a new template',
    prepare: () => Promise.resolve({ path: '/plan-templates', body: template([noop('a')]) }),
    status: 201,
    leaves: ['plan_template.create plan_template success -'],
  },
  {
    name: 'a template version that exists',
    prepare: async () => {
      const body = template([noop('a')]);
      await must(201, send('POST', '/plan-templates', body));
      return { path: '/plan-templates', body };
    },
    status: 409,
    leaves: ['plan_template.create plan_template denied template_version_exists'],
  },
  {
    name: 'admin fields of a template',
    prepare: async () => {
      const { template_key } = await registered([noop('a')]);
      return {
        method: 'PATCH',
        path: `/plan-templates/${template_key}`,
        body: { daily_cap_amount: '5' },
        key: template_key,
      };
    },
    status: 200,
    leaves: ['plan_template.update_admin_fields plan_template success -'],
  },
  {
    name: 'a new movement',
    prepare: () =>
      Promise.resolve({
        path: '/movements',
        body: {
          template_key: plain.template_key,
          template_version: 1,
          intent: { asset: 'USDC', amount: '1' },
        },
      }),
    status: 201,
    leaves: ['movement.create movement success -'],
  },
  {
    name: 'an approve',
    prepare: () => movement(() => plain, 'approve', approval),
    status: 200,
    leaves: ['movement.approve movement success -'],
  },
  {
    name: 'an approve of another hash',
    prepare: () =>
      movement(
        () => plain,
        'approve',
        () => ({ compiled_plan_hash: 'a'.repeat(64), approver_id: 'x' }),
      ),
    status: 409,
    leaves: ['movement.approve movement denied compiled_plan_hash_mismatch'],
  },
  {
    name: 'a reject',
    prepare: () =>
      movement(
        () => plain,
        'reject',
        () => ({ reason: 'too much' }),
      ),
    status: 200,
    leaves: ['movement.reject movement success too much'],
  },
  {
    name: 'a resume',
    prepare: () => atGate('resume'),
    status: 200,
    leaves: ['movement.resume movement success -'],
  },
  {
    name: 'a resume of what does not wait',
    prepare: () => movement(() => plain, 'actions/resume'),
    status: 409,
    leaves: ['movement.resume movement denied invalid_state'],
  },
  {
    name: 'a retry without a cause',
    prepare: () => atGate('retry'),
    status: 409,
    leaves: ['movement.retry movement denied no_retryable_node'],
  },
  {
    name: 'a cancel',
    prepare: () => movement(() => undoable, 'actions/cancel'),
    status: 200,
    leaves: ['movement.cancel movement success -'],
  },
  {
    name: 'a cancel that the plan does not have',
    prepare: () => movement(() => plain, 'actions/cancel'),
    status: 409,
    leaves: ['movement.cancel movement denied no_on_cancel_edge'],
  },
  {
    name: 'an executor switched',
    prepare: switched('executors', 'test.twin-b'),
    status: 200,
    leaves: ['executor.update_status executor success again'],
  },
  {
    name: 'a signer switched',
    prepare: switched('signers', 'test-unstored'),
    status: 200,
    leaves: ['signer.update_status signer success again'],
  },
  {
    name: 'a pin that is not the live address',
    prepare: pin('0x70997970C51812dc3A010C7d01b50e0d17dc79C8'),
    status: 409,
    leaves: ['signer.set_expected_identity signer denied signer_identity_mismatch'],
  },
  {
    name: 'a read',
    prepare: () => Promise.resolve({ method: 'GET', path: '/executors' }),
    status: 200,
    leaves: [],
  },
  {
    name: 'a body that fits no schema',
    prepare: () => Promise.resolve({ path: '/movements', body: {} }),
    status: 422,
    leaves: [],
  },
];

describe('an action leaves its record, and exactly that:', () => {
  test.each(CASES)('$name', async ({ prepare, status, leaves }) => {
    const { method = 'POST', path, body, key } = await prepare();
    const request_id = randomUUID();
    const answer: Answer = await send(method, path, body, { 'x-request-id': request_id });
    expect(answer.status).toBe(status);
    const page = await list({ request_id });
    expect(lines(page)).toEqual(leaves);
    for (const event of page.events) {
      expect(event).toEqual({
        event_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        occurred_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        actor_client_id: shared.adminClientId,
        actor_key_id: 'dev-admin',
        actor_role: 'admin',
        namespace: null,
        action: event.action,
        entity_type: event.entity_type,
        entity_key: key ?? event.entity_key,
        outcome: event.outcome,
        request_id,
        reason: event['reason'],
        details: expect.any(Object),
      });
    }
  });

  test('of ten who act at once one is heard, and each refusal is one record', async () => {
    const made = await create(plain);
    const requests = Array.from({ length: 10 }, () => randomUUID());
    const answers = await Promise.all(
      requests.map((id) =>
        send('POST', `/movements/${made.movement_id}/approve`, approval(made), {
          'x-request-id': id,
        }),
      ),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([200, ...Array.from({ length: 9 }, () => 409)]);
    const left = await Promise.all(
      requests.map(async (request_id) => lines(await list({ request_id }))),
    );
    expect(left).toEqual(
      answers.map(({ status }) => [
        `movement.approve movement ${status === 200 ? 'success -' : 'denied invalid_state'}`,
      ]),
    );
  });

  test('a refusal records the request and the answer', async () => {
    const { template_key } = await registered([noop('a')]);
    const request_id = randomUUID();
    const body = { auto_approve_enabled: true, daily_cap_amount: '5' };
    const answer = await send('PATCH', `/plan-templates/${template_key}`, body, {
      'x-request-id': request_id,
    });
    expect(answer.status).toBe(422);
    const { events } = await list({ request_id });
    expect(events).toMatchObject([
      {
        action: 'plan_template.update_admin_fields',
        outcome: 'denied',
        reason: 'cap_consistency_violation',
        details: { ...body, template_key },
      },
    ]);
    expect(events).toHaveLength(1);
  });

  test('what the service does by itself', async () => {
    const done = await create(plain);
    await approve(done);
    await reaches(done.movement_id, 'COMPLETED');
    const late = await create(plain, { approval_ttl_seconds: 1 });
    await reaches(late.movement_id, 'EXPIRED');
    const bySystem = async (entity_key: string) =>
      (await list({ entity_key })).events.map(({ action, actor_role, request_id }) => ({
        action,
        actor_role,
        request_id,
      }));
    expect(await bySystem(done.movement_id)).toEqual([
      { action: 'movement.complete', actor_role: 'system', request_id: null },
      { action: 'movement.approve', actor_role: 'admin', request_id: expect.any(String) },
      { action: 'movement.create', actor_role: 'admin', request_id: expect.any(String) },
    ]);
    expect((await bySystem(late.movement_id))[0]).toEqual({
      action: 'movement.expire',
      actor_role: 'system',
      request_id: null,
    });
  });
});

/** Rows without a caller, a second apart from `start` on; answers their ids, oldest first. */
async function rows(
  entity_key: string,
  start: string,
  count: number,
  fields: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUID());
  const events = ids.map((event_id) => ({
    event_id,
    action: 'route.call',
    entity_type: 'route',
    entity_key,
    outcome: 'denied',
    ...fields,
  }));
  for (const [index, event] of events.entries()) {
    await sql('SELECT write_audit($1::jsonb, $2::timestamptz + make_interval(secs => $3))', [
      JSON.stringify([event]),
      start,
      index,
    ]);
  }
  return ids;
}
const ids = ({ events }: Page): string[] => events.map(({ event_id }) => event_id);

describe('the list', () => {
  test('pages newest first, and is not disturbed by rows that come late or anew', async () => {
    const entity_key = randomUUID();
    const made = await rows(entity_key, '2026-01-01T00:00:00Z', 7);
    const newest = [...made].reverse();
    const first = await list({ entity_key, limit: '3' });
    expect(ids(first)).toEqual(newest.slice(0, 3));
    // One newer than all, one between what was read, and one that belongs on a later page.
    await rows(entity_key, '2026-01-02T00:00:00Z', 1);
    await rows(entity_key, '2026-01-01T00:00:05.500Z', 1);
    const [late] = await rows(entity_key, '2026-01-01T00:00:02.500Z', 1);
    const second = await list({ entity_key, limit: '3', cursor: first.next_cursor ?? '' });
    expect(ids(second)).toEqual([newest[3], late, newest[4]]);
    const third = await list({ entity_key, limit: '3', cursor: second.next_cursor ?? '' });
    expect([ids(third), third.next_cursor]).toEqual([newest.slice(5), null]);
  });

  test('pages through rows of one moment without repeating or leaving out one', async () => {
    const entity_key = randomUUID();
    const made = (
      await Promise.all([1, 2, 3, 4, 5].map(() => rows(entity_key, '2026-01-01T00:00:00Z', 1)))
    ).flat();
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: Page = await list({
        entity_key,
        limit: '2',
        ...(cursor === '' ? {} : { cursor }),
      });
      seen.push(...ids(page));
      cursor = page.next_cursor;
    }
    expect(seen).toEqual([...made].sort().reverse());
  });

  test('takes its range from its start on and before its end, in any offset', async () => {
    const entity_key = randomUUID();
    const [, second, third] = await rows(entity_key, '2026-03-01T12:00:00Z', 4);
    const range = {
      time_range_start: '2026-03-01T14:00:01+02:00',
      time_range_end: '2026-03-01T12:00:03Z',
    };
    expect(ids(await list({ entity_key, ...range }))).toEqual([third, second]);
    expect(
      ids(await list({ entity_key, ...range, time_range_end: range.time_range_start })),
    ).toEqual([]);
  });

  test.each([
    ['actor_client_id', 'treasury'],
    ['actor_key_id', 'k-1'],
    ['entity_type', 'api_key'],
    ['action', 'api_key.revoke'],
    ['request_id', 'r-1'],
    ['outcome', 'failed'],
    ['namespace', 'desk'],
  ])('filters by %s', async (field, value) => {
    const entity_key = randomUUID();
    await rows(entity_key, '2026-02-01T00:00:00Z', 2);
    const [wanted] = await rows(entity_key, '2026-02-01T00:00:00Z', 1, { [field]: value });
    expect(ids(await list({ entity_key, [field]: value }))).toEqual([wanted]);
    expect(ids(await list({ entity_key, [field]: value, outcome: 'success' }))).toEqual([]);
  });

  test('has 100 events a page and 500 at most', async () => {
    const entity_key = randomUUID();
    const many = Array.from({ length: 120 }, () => ({
      event_id: randomUUID(),
      action: 'route.call',
      entity_type: 'route',
      entity_key,
      outcome: 'denied',
    }));
    await sql("SELECT write_audit($1::jsonb, '2026-01-01T00:00:00Z')", [JSON.stringify(many)]);
    expect((await list({ entity_key })).events).toHaveLength(100);
    expect((await list({ entity_key, limit: '500' })).events).toHaveLength(120);
    expectInvalid(await get('/audit/events?limit=501'), 'limit');
  });

  test.each([
    ['time_range_start', 'yesterday'],
    ['time_range_end', '2026-01-01'],
    ['time_range_end', '2026-01-01T00:00:00'],
    ['time_range_start', '0000-01-01T00:00:00Z'],
    ['time_range_end', '9999-12-31T23:59:59-10:00'],
    ['action', 'movement.steal'],
    ['outcome', 'ok'],
    ['cursor', 'x'],
    ['entity_key', ''],
    ['unknown', '1'],
  ])('refuses a %s of "%s"', async (field, value) => {
    expectInvalid(await get(`/audit/events?${field}=${value}`), field);
  });

  test('over the registries shows their entries alone', async () => {
    const key = 'test.twin-a';
    await must(200, send('PATCH', `/executors/${key}`, { status: 'active' }));
    const { events } = await list({ limit: '500' }, '/registry/audit');
    expect(new Set(events.map(({ entity_type }) => entity_type))).not.toContain('movement');
    const ours = [
      'executor',
      'signer',
      'nonce_lane',
      'registry',
      'cutover_mode',
      'bridge_chain',
      'bridge_path',
      'bridge_registry',
      'perp_master',
      'perp_binding',
      'perp_agent_wallet',
    ];
    expect(events.filter(({ entity_type }) => !ours.includes(entity_type))).toEqual([]);
    expect(events.find(({ entity_key }) => entity_key === key)).toMatchObject({
      action: 'executor.update_status',
    });
    expect(
      (await list({ entity_type: 'signer' }, '/registry/audit')).events.every(
        ({ entity_type }) => entity_type === 'signer',
      ),
    ).toBe(true);
    expectInvalid(await get('/registry/audit?entity_type=movement'), 'entity_type');
  });
});

test('every record is sealed within seconds, while the service runs', async () => {
  const { movement_id } = await create(plain);
  const seal = await waitFor(async () => {
    const [row] = await sql<{ position: string }>(
      'SELECT s.position FROM audit_seals s JOIN audit_events e USING (event_id) WHERE e.entity_key = $1',
      [movement_id],
    );
    return row;
  });
  expect(Number(seal.position)).toBeGreaterThan(0);
});

test('the actions are an enum in the description of the API', async () => {
  const answer = await fetch(`${shared.opsUrl}/openapi.json`);
  const api = (await answer.json()) as {
    paths: Record<string, { get: { parameters: { name: string; schema: { enum?: string[] } }[] } }>;
  };
  const action = api.paths['/v3/audit/events']?.get.parameters.find(
    ({ name }) => name === 'action',
  );
  expect(action?.schema.enum).toEqual(
    expect.arrayContaining(['movement.create', 'plan_template.update_admin_fields', 'route.call']),
  );
});
