/** What callers name their movements by: shown, compared, unique where they say so, and no more. */
import { randomUUID } from 'node:crypto';
import { agent } from '../support/agents.ts';
import {
  auditOfRequest,
  create,
  detail,
  expectInvalid,
  expectRefusal,
  get,
  movementBody,
  must,
  noop,
  post,
  register,
  registered,
  sendAs,
  shared,
  sql,
  template,
  type Answer,
  type CreatedView,
  type TemplateView,
} from '../support/http.ts';

let plain: TemplateView;
beforeAll(async () => {
  plain = await registered([noop('a')]);
});

const fresh = (): string => `INV ${randomUUID()}`;
const made = (more: object): Promise<Answer<CreatedView>> =>
  post<CreatedView>('/movements', movementBody(plain, { ...more }));
const only = (reference: string) => ({ external_reference: reference, unique_reference: true });
const rowsOf = async (reference: string): Promise<number> =>
  (await sql('SELECT 1 FROM movements WHERE external_reference = $1', [reference])).length;

describe('a movement with a reference and metadata', () => {
  test('shows them in every answer, whatever its plan says', async () => {
    const named = {
      external_reference: `Rechnung 7/2026 “ü” ${randomUUID()}`,
      metadata: { desk: 'emea', 'run.id_x-1': '', note: '=1+1 <b>' },
    };
    const { external_reference, metadata } = named;
    const idempotency_key = randomUUID();
    const bodies = [
      await must<CreatedView>(200, post('/movements?dry_run=true', movementBody(plain, named))),
      await must<CreatedView>(201, made({ ...named, idempotency_key })),
      await must<CreatedView>(200, made({ ...named, idempotency_key })),
    ];
    const id = bodies[1]?.movement_id ?? '';
    const list = await must<{ movements: CreatedView[] }>(
      200,
      get(`/movements?template_key=${plain.template_key}&limit=200`),
    );
    const listed = list.movements.find(({ movement_id }) => movement_id === id);
    for (const body of [...bodies, await detail(id), listed])
      expect(body).toMatchObject({ external_reference, metadata });
    const bare = await create(plain);
    expect(await detail(bare.movement_id)).toMatchObject({
      external_reference: null,
      metadata: {},
    });
  });

  test('has the hash of the same plan without them', async () => {
    const hashes = new Set<string>();
    for (const more of [
      {},
      only(fresh()),
      { external_reference: fresh() },
      { metadata: { a: 'b' } },
    ])
      hashes.add((await create(plain, more)).compiled_plan_hash);
    expect([...hashes]).toHaveLength(1);
    const { movement_id, compiled_plan_hash } = await create(plain, only(fresh()));
    const approved = post(`/movements/${movement_id}/approve`, {
      compiled_plan_hash,
      approver_id: 'desk',
    });
    expect((await approved).status).toBe(200);
  });

  test('shows no value under a telling name', async () => {
    const { movement_id } = await create(plain, { metadata: { api_key: 'hidden-7', desk: 'a' } });
    expect((await detail(movement_id))['metadata']).toEqual({ api_key: '[redacted]', desk: 'a' });
  });
});

test.each([
  ['another reference', { external_reference: 'B' }, ['external_reference']],
  ['no reference', { external_reference: undefined }, ['external_reference']],
  ['a reference that is unique', { unique_reference: true }, ['unique_reference']],
  ['another value', { metadata: { a: '2' } }, ['metadata']],
  ['no metadata', { metadata: {} }, ['metadata']],
])('a repeat with %s is the conflict', async (_, change, fields) => {
  const first = { external_reference: 'A', metadata: { a: '1' }, idempotency_key: randomUUID() };
  const { movement_id } = await must<CreatedView>(201, made(first));
  expectRefusal(await made({ ...first, ...change }), 409, 'idempotency_conflict', {
    movement_id,
    fields,
  });
});

describe('a reference that is taken', () => {
  test('is refused with the movement that has it, in a preview too, and is audited', async () => {
    const reference = fresh();
    const { movement_id } = await create(plain, only(reference));
    const request = randomUUID();
    const refused = await post('/movements', movementBody(plain, only(reference)), {
      'x-request-id': request,
    });
    expectRefusal(refused, 409, 'external_reference_exists', { movement_id });
    expect(await auditOfRequest(request)).toEqual([
      expect.objectContaining({ outcome: 'denied', reason: 'external_reference_exists' }),
    ]);
    const preview = await must(
      200,
      post('/movements?dry_run=true', movementBody(plain, only(reference))),
    );
    expect(preview).toMatchObject({
      would_create: false,
      blocking_reasons: [{ error: 'external_reference_exists', movement_id }],
    });
    expect(await rowsOf(reference)).toBe(1);
  });

  test('binds those that say so, of one client', async () => {
    const reference = fresh();
    await create(plain, { external_reference: reference });
    await create(plain, only(reference));
    await create(plain, { external_reference: reference });
    await must(
      201,
      sendAs(shared.keys.operator, 'POST', '/movements', movementBody(plain, only(reference))),
    );
    expect(await rowsOf(reference)).toBe(4);
  });

  test('has one movement of many creates at once, and one that ended has it still', async () => {
    const reference = fresh();
    const answers = await Promise.all(Array.from({ length: 12 }, () => made(only(reference))));
    const winner = answers.find(({ status }) => status === 201)?.body.movement_id ?? '';
    for (const answer of answers.filter(({ body }) => body.movement_id !== winner))
      expectRefusal(answer, 409, 'external_reference_exists', { movement_id: winner });
    expect(await rowsOf(reference)).toBe(1);
    await must(200, post(`/movements/${winner}/reject`));
    expectRefusal(await made(only(reference)), 409, 'external_reference_exists', {
      movement_id: winner,
    });
  });

  test('is no refusal of a repeat, also of many at once', async () => {
    const body = { ...only(fresh()), idempotency_key: randomUUID() };
    const answers = await Promise.all(Array.from({ length: 12 }, () => made(body)));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(11).fill(200), 201]);
    expect(new Set(answers.map(({ body: { movement_id } }) => movement_id)).size).toBe(1);
  });

  test('names no movement to an agent of another namespace', async () => {
    const [one, two] = [await agent(), await agent()];
    const [theirs, own] = await Promise.all(
      [one, two].map(({ namespace }) =>
        register(template([noop('a')], { template_key: `${namespace}/way` })),
      ),
    );
    if (theirs === undefined || own === undefined) throw new Error('no templates');
    const reference = fresh();
    const by = (who: typeof one, of: TemplateView, dry = ''): Promise<Answer> =>
      sendAs(who, 'POST', `/movements${dry}`, movementBody(of, only(reference)));
    const { movement_id } = await must<CreatedView>(201, by(one, theirs) as never);
    for (const dry of ['', '?dry_run=true']) {
      const answer = await by(two, own, dry);
      expect(JSON.stringify(answer.body)).toContain('external_reference_exists');
      expect(JSON.stringify(answer.body)).not.toContain(movement_id);
    }
    expectRefusal(await by(one, theirs), 409, 'external_reference_exists', { movement_id });
  });
});

const many = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, nr) => [`k${String(nr)}`, 'v']));

test.each([
  ['external_reference', { external_reference: '' }],
  ['external_reference', { external_reference: 'x'.repeat(129) }],
  ['external_reference', { external_reference: 'a\nb' }],
  ['external_reference', { external_reference: 'a\u0085' }],
  ['external_reference', { external_reference: '\ud800' }],
  ['external_reference', { external_reference: 'INV-1\u200b' }],
  ['external_reference', { external_reference: 'INV\u00ad-1' }],
  ['external_reference', { external_reference: '\ufeffINV-1' }],
  ['external_reference', { external_reference: 'INV-1\u3164' }],
  ['external_reference', { external_reference: 'INV-1 ' }],
  ['external_reference', { external_reference: ' INV-1' }],
  ['external_reference', { external_reference: 'INV\u00a01' }],
  ['external_reference', { external_reference: 'INV  1' }],
  ['external_reference', { external_reference: 'Cafe\u0301 1' }],
  ['external_reference', { external_reference: 7 }],
  ['unique_reference', { unique_reference: true }],
  ['metadata', { metadata: many(21) }],
  ['metadata.A', { metadata: { A: 'x' } }],
  ['metadata.a b', { metadata: { 'a b': 'x' } }],
  ['metadata.', { metadata: { '': 'x' } }],
  ['metadata.a', { metadata: { a: 1 } }],
  ['metadata.a', { metadata: { a: 'x'.repeat(257) } }],
  ['metadata.a', { metadata: { a: '\u001b[31m' } }],
  ['metadata.a', { metadata: { a: 'x\u200b' } }],
  ['metadata.a', { metadata: { a: 'x ' } }],
])('a create is refused for its %s: %j', async (path, change) => {
  expectInvalid(await made(change), path);
});

test('the largest of all is taken', async () => {
  const metadata = Object.fromEntries(
    Array.from({ length: 20 }, (_, nr) => [String(nr).padStart(64, 'k'), '€'.repeat(256)]),
  );
  const { movement_id } = await create(plain, { ...only(`${fresh()}${'é'.repeat(80)}`), metadata });
  expect((await detail(movement_id))['metadata']).toEqual(metadata);
});

test('a reference of before, with what is not seen, is still found and shown', async () => {
  const { movement_id } = await create(plain);
  const old = {
    external_reference: `${fresh()}\u200b `,
    metadata: { run: `${randomUUID()}\u200b` },
  };
  await sql('UPDATE movements SET external_reference = $2, metadata = $3 WHERE movement_id = $1', [
    movement_id,
    old.external_reference,
    old.metadata,
  ]);
  expect(await detail(movement_id)).toMatchObject(old);
  const list = await must<{ movements: CreatedView[] }>(
    200,
    get(`/movements?external_reference=${encodeURIComponent(old.external_reference)}`),
  );
  expect(list.movements).toMatchObject([{ movement_id, ...old }]);
});

describe('a list', () => {
  test('finds a reference beside its other filters', async () => {
    const reference = fresh();
    const own = await registered([noop('a')]);
    const [one, two] = [
      await create(plain, { external_reference: reference }),
      await create(own, { external_reference: reference }),
    ];
    const found = async (more: string): Promise<readonly string[]> => {
      const query = `external_reference=${encodeURIComponent(reference)}${more}`;
      const { movements } = await must<{ movements: CreatedView[] }>(
        200,
        get(`/movements?${query}`),
      );
      return movements.map(({ movement_id }) => movement_id);
    };
    expect(await found('')).toEqual([two.movement_id, one.movement_id]);
    expect(await found('&needs_attention=true')).toEqual([two.movement_id, one.movement_id]);
    expect(await found(`&template_key=${own.template_key}&asset=usdc`)).toEqual([two.movement_id]);
    expect(await found('&state=FAILED')).toEqual([]);
  });

  test('finds pairs of metadata beside its other filters, through its pages', async () => {
    const [run, own] = [randomUUID(), await registered([noop('a')])];
    const reference = fresh();
    const made: { readonly id: string; readonly has: Readonly<Record<string, string>> }[] = [];
    for (const has of [
      { run, leg: '1' },
      { run, leg: '2', 'a.b_c-1': 'x=y&z+%' },
      { run: `${run}1`, leg: '1' },
      { run, leg: '1', 'a.b_c-1': 'x=y&z+%' },
      { leg: run },
      { run, leg: '1' },
    ]) {
      const { movement_id } = await create(own, { metadata: has, external_reference: reference });
      made.unshift({ id: movement_id, has });
    }
    const found = async (wanted: Readonly<Record<string, string>>, more = '') => {
      const ids: string[] = [];
      const query = Object.entries(wanted).map(
        ([key, value]) => `metadata.${key}=${encodeURIComponent(value)}`,
      );
      for (let cursor: string | null = ''; cursor !== null;) {
        const at: string = cursor === '' ? '' : `&cursor=${cursor}`;
        const page: { movements: CreatedView[]; next_cursor: string | null } = await must<{
          movements: CreatedView[];
          next_cursor: string | null;
        }>(200, get(`/movements?${query.join('&')}&limit=1${more}${at}`));
        ids.push(...page.movements.map(({ movement_id }) => movement_id));
        cursor = page.next_cursor;
      }
      return ids;
    };
    const ways = [
      '',
      '&asset=USDC',
      '&needs_attention=true',
      `&external_reference=${encodeURIComponent(reference)}`,
      `&external_reference=${encodeURIComponent(reference)}&asset=USDC`,
      `&template_key=${own.template_key}&state=PENDING_APPROVAL`,
      '&created_from=2026-01-01T00:00:00Z',
    ];
    for (const wanted of [
      { run },
      { run, leg: '1' },
      { run, leg: '1', 'a.b_c-1': 'x=y&z+%' },
      { run, leg: '3' },
    ]) {
      const expected = made
        .filter(({ has }) => Object.entries(wanted).every(([key, value]) => has[key] === value))
        .map(({ id }) => id);
      for (const way of ways)
        expect({ way, ids: await found(wanted, way) }).toEqual({ way, ids: expected });
    }
    expect(await found({ run }, '&state=FAILED')).toEqual([]);
  });

  test.each([
    ['metadata', 'metadata=x', 'written `metadata.<key>=<value>`'],
    ['metadata', 'metadata=x&metadata.desk=y', 'written `metadata.<key>=<value>`'],
    ['metadata.', 'metadata.=x', '1 to 64'],
    ['metadata.Desk', 'metadata.Desk=x', '1 to 64'],
    ['metadata.desk', `metadata.desk=${'x'.repeat(257)}`, '256'],
    ['metadata.desk', 'metadata.desk=a%0Ab', 'control'],
    ['metadata.desk', 'metadata.desk=a&metadata.desk=b', 'more than once'],
    ['metadata.__proto__', 'metadata.__proto__=x', 'metadata.<key>'],
    ['metadata', 'metadata.api_key=hidden-7', 'never shown'],
    ['metadatax.a', 'metadatax.a=b', 'metadata.<key>'],
    [
      'metadata',
      Array.from({ length: 21 }, (_, nr) => `metadata.k${String(nr)}=`).join('&'),
      'at most 20',
    ],
  ])('refuses %s of %s', async (path, query, message) => {
    const answer = await get<{ detail: { issues: unknown } }>(`/movements?${query}`);
    expect(answer.status).toBe(422);
    expect(answer.body.detail.issues).toContainEqual(
      expect.objectContaining({ path, message: expect.stringContaining(message) }),
    );
  });

  test('keeps to created_from, inclusive, and created_to, exclusive, through its pages', async () => {
    const of = await registered([noop('a')]);
    const made: CreatedView[] = [];
    for (let nr = 0; nr < 6; nr += 1) made.push(await create(of));
    const newest = made.toReversed();
    interface Page {
      readonly movements: readonly CreatedView[];
      readonly next_cursor: string | null;
    }
    const ids = async (query: string): Promise<readonly string[]> => {
      const all: string[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const path = `/movements?template_key=${of.template_key}&limit=2${query}`;
        const page: Page = await must<Page>(
          200,
          get(cursor === '' ? path : `${path}&cursor=${cursor}`),
        );
        all.push(...page.movements.map(({ movement_id }) => movement_id));
        cursor = page.next_cursor;
      }
      return all;
    };
    for (const from of [undefined, 0, 2, 5])
      for (const to of [undefined, 0, 3, 5]) {
        const [least, most] = [from, to].map((at) =>
          at === undefined ? undefined : (made[at]?.created_at ?? ''),
        );
        const query =
          (least === undefined ? '' : `&created_from=${least}`) +
          (most === undefined ? '' : `&created_to=${most.replace('Z', '%2B00:00')}`);
        const expected = newest.filter(
          ({ created_at: at }) =>
            (least === undefined || at >= least) && (most === undefined || at < most),
        );
        expect(await ids(query)).toEqual(expected.map(({ movement_id }) => movement_id));
      }
    const finer = (made[2]?.created_at ?? '').replace('Z', '0001Z');
    const later = newest.filter(({ created_at: at }) => at > (made[2]?.created_at ?? ''));
    expect(await ids(`&created_from=${finer}`)).toEqual(later.map((row) => row.movement_id));
  });

  test.each(['/capital-transfers', '/callbacks', '/plan-templates', '/template-proposals'])(
    '%s has the same bounds',
    async (path) => {
      await must(200, get(`${path}?created_from=2026-01-01T00:00:00Z`));
      const body = await must(200, get(`${path}?created_to=2026-01-01T00:00:00Z`));
      expect(Object.values(body as object)).toEqual(expect.arrayContaining([[], null]));
      expectInvalid(await get(`${path}?created_from=yesterday`), 'created_from');
      expectInvalid(await get(`${path}?created_to=2026-01-01`), 'created_to');
      await must(200, get(`${path}?created_to=9999-12-31T23:59:59.999Z`));
      for (const time of ['0000-01-01T00:00:00Z', '9999-12-31T23:59:59-10:00'])
        expectInvalid(await get(`${path}?created_to=${time}`), 'created_to');
    },
  );
});
