/** Forms, and what is made of them before it is signed. */
import { OPERATIONS, type OperationId } from '../../clients/http/operations.ts';
import {
  createBody,
  entriesOf,
  isOf,
  madeAlready,
  pendingOf,
  type Template,
} from '../../console/pages/new-movement/model.ts';
import { initialValues, readForm, type Entry } from '../../console/parts/form-model.ts';
import { MAP } from '../support/role-map.ts';

const entry = (kind: Entry['kind'], empty: Entry['empty'] = 'left_out'): Entry => ({
  at: ['it'],
  label: 'It',
  kind,
  empty,
});
const read = (kind: Entry['kind'], typed: string) => readForm([entry(kind)], { it: typed });

test('amounts keep every digit, and nothing is read as something else', () => {
  expect(read('decimal', ' 100000000000000000000.000000000000000001 ')).toEqual({
    ok: true,
    body: { it: '100000000000000000000.000000000000000001' },
  });
  for (const typed of ['1e3', '1,000', '.5', '5.', '0x10', '∞', '1 000', '١'])
    expect(read('decimal', typed)).toMatchObject({ ok: false });
  expect(read('integer', '42')).toEqual({ ok: true, body: { it: 42 } });
  for (const typed of ['9007199254740993', '1.0', '1e2', '0x1'])
    expect(read('integer', typed)).toMatchObject({ ok: false });
  expect(read('boolean', 'yes')).toMatchObject({ ok: false });
  for (const typed of ['{"a":', '{"a":9007199254740993}', '{"a":1,"a":2}'])
    expect(read('json', typed)).toMatchObject({ ok: false });
  expect(read('json', '{"a":1.50}')).toEqual({ ok: true, body: { it: { a: 1.5 } } });
  expect(read('list', 'USDC, ETH\n,DAI')).toEqual({
    ok: true,
    body: { it: ['USDC', 'ETH', 'DAI'] },
  });
  expect(read('pairs', 'a=1\nb=x=y')).toEqual({ ok: true, body: { it: { a: '1', b: 'x=y' } } });
  expect(read('pairs', 'a=1\na=2')).toMatchObject({ ok: false });
});

test('an empty field is left out, null, or missed by its name', () => {
  expect(readForm([entry('text')], {})).toEqual({ ok: true, body: {} });
  expect(readForm([entry('text', 'null')], { it: '  ' })).toEqual({ ok: true, body: { it: null } });
  expect(readForm([entry('text', 'required')], { it: ' ' })).toEqual({
    ok: false,
    problem: 'Fill in: It.',
  });
});

test('a name of others reaches no prototype', () => {
  const hostile: Entry = { ...entry('text'), at: ['__proto__', 'polluted'] };
  const reading = readForm([hostile], { '__proto__/polluted': 'yes' });
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  expect(JSON.stringify(reading)).toBe('{"ok":true,"body":{"__proto__":{"polluted":"yes"}}}');
});

const node = (over: object) =>
  ({
    node_key: 'pay',
    config: null,
    input_schema: null,
    ...over,
  }) as unknown as Template['nodes'][number];

test('fields come by the schemas of the template, and fill what supplements its config', () => {
  const entries = entriesOf(
    {
      nodes: [
        node({
          config: { network: 'local' },
          input_schema: {
            properties: {
              memo: { type: 'string', description: 'For the payee.' },
              network: { type: 'string' },
              __proto__: 1,
              limit: { type: 'integer' },
            },
            required: ['memo'],
          },
        }),
        node({ input_schema: { properties: 'nonsense' } }),
      ],
    },
    { asset: 'USDC', template_key: 'x' },
  );
  const labels = entries.map(({ label }) => label);
  expect(labels).toContain('memo (pay)');
  expect(labels).not.toContain('network (pay)');
  expect(entries.find(({ label }) => label === 'memo (pay)')).toMatchObject({
    empty: 'required',
    kind: 'text',
    hint: 'For the payee.',
  });
  const values = {
    ...initialValues(entries),
    'intent/amount': '1.50',
    'input_params/node_config/memo': 'rent',
    'input_params/node_config/limit': '3',
    input_params: '{"why":"x"}',
  };
  const reading = readForm(entries, values);
  expect(reading).toEqual({
    ok: true,
    body: {
      intent: { asset: 'USDC', amount: '1.50' },
      input_params: { why: 'x', node_config: { memo: 'rent', limit: 3 } },
    },
  });
});

test('a preview is of the one body that was looked at', () => {
  const template = { template_key: 'a/b', version: 2 };
  const body = createBody(template, { intent: { asset: 'USDC', amount: '1' } });
  expect(body).toEqual({
    template_key: 'a/b',
    template_version: 2,
    intent: { asset: 'USDC', amount: '1' },
  });
  expect(isOf({ body }, createBody(template, { intent: { asset: 'USDC', amount: '1' } }))).toBe(
    true,
  );
  expect(isOf({ body }, createBody(template, { intent: { asset: 'USDC', amount: '2' } }))).toBe(
    false,
  );
  expect(isOf({ body }, null)).toBe(false);
});

test('a create without an answer is found by its key, by its operator alone', () => {
  const pending = { operator: 'ada', key: 'k', body: { a: 1 } };
  expect(pendingOf(JSON.stringify(pending), 'ada')).toEqual(pending);
  expect(pendingOf(JSON.stringify(pending), 'eve')).toBeNull();
  for (const text of [null, '', '{', '[]', '{"operator":"ada"}', 'null'])
    expect(pendingOf(text, 'ada')).toBeNull();
  expect(madeAlready({ blocking_reasons: [] })).toBeNull();
  expect(
    madeAlready({
      blocking_reasons: [{ error: 'cutover' }, { error: 'idempotent_replay', movement_id: 'm' }],
    }),
  ).toBe('m');
});

test('every write is offered to the roles that the service lets do it', async () => {
  Object.assign(globalThis, { location: { origin: 'http://localhost', hash: '' } });
  const { roleRefusal } = await import('../../console/data/roles.ts');
  const ids = Object.keys(OPERATIONS) as OperationId[];
  const offered = (role: string) =>
    ids.filter((id) => OPERATIONS[id].method !== 'GET' && roleRefusal(role, id) === null);
  const allowed = (role: 'admin' | 'operator') =>
    ids.filter((id) => {
      const { method, path } = OPERATIONS[id];
      return method !== 'GET' && MAP[`${method} ${path}`]?.includes(role) === true;
    });
  expect(allowed('operator').length).toBeGreaterThan(10);
  expect(offered('admin')).toEqual(allowed('admin'));
  expect(offered('operator')).toEqual(allowed('operator'));
  expect(offered('allowlist')).toEqual([]);
});
