/** Versions of a template, compared. */
import { differencesOf } from '../../console/pages/template/compare.ts';

type Template = Parameters<typeof differencesOf>[0];

const node = (node_key: string, over: object = {}) =>
  ({
    id: `${node_key}-${String(Math.random())}`,
    node_key,
    node_kind: 'action',
    action_type: 'noop',
    config: { a: 1, b: [2] },
    ...over,
  }) as unknown as Template['nodes'][number];
const edge = (from: string, to: string, over: object = {}) =>
  ({
    id: String(Math.random()),
    from,
    to,
    edge_type: 'on_success',
    condition_expr: null,
    priority: 0,
    join_key: null,
    ...over,
  }) as unknown as Template['edges'][number];
const template = (over: Partial<Template> = {}): Template => ({
  name: 'Pay',
  owner: null,
  approval_policy: {},
  risk_controls: { max_amount: '10' },
  completion_policy: { completion_assurance: 'mined' } as unknown as Template['completion_policy'],
  nodes: [node('pay'), node('stop')],
  edges: [edge('pay', 'stop')],
  ...over,
});

test('versions that say the same differ in nothing, whatever their ids and the order of keys', () => {
  const same = template({ nodes: [node('stop'), node('pay', { config: { b: [2], a: 1 } })] });
  expect(differencesOf(template(), same)).toEqual([]);
});

test('each change is named by what it is of, with both values', () => {
  const after = template({
    risk_controls: { max_amount: '1000' },
    nodes: [node('pay', { config: { a: 1, b: [3] } }), node('look')],
    edges: [edge('pay', 'look'), edge('pay', 'look', { condition_expr: 'true' })],
  });
  const differences = differencesOf(template(), after);
  expect(differences.map(({ of, field }) => [of, field])).toEqual([
    ['risk_controls', 'risk_controls'],
    ['node pay', 'config'],
    ['node stop', null],
    ['node look', null],
    ['edge pay → stop (on success)', null],
    ['edge pay → look (on success)', null],
    ['edge pay → look (on success), number 2', null],
  ]);
  expect(differences[0]).toMatchObject({
    before: '{"max_amount":"10"}',
    after: '{"max_amount":"1000"}',
  });
  expect(differences[1]).toMatchObject({ before: '{"a":1,"b":[2]}', after: '{"a":1,"b":[3]}' });
  expect(differences[2]).toMatchObject({ after: null });
  expect(differences[3]).toMatchObject({ before: null });
});
