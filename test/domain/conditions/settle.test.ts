import { settleConditions } from '../../../domain/conditions/settle.ts';
import type { EdgeType } from '../../../domain/graph/types.ts';
import type { NodeState } from '../../../domain/states/node.ts';
import { edge } from '../graph/build.ts';
import { NODES, outcome, planWith } from './build.ts';

describe('amounts', () => {
  it.each([
    ['dec(intent.amount) > dec("9")', 'true'],
    ['dec(intent.amount) == dec("100.00")', 'true'],
    ['dec(intent.amount) != dec("100.00")', 'false'],
    ['dec("0.1") + dec("0.2") == dec("0.3")', 'true'],
    ['dec("1") - dec("2") < dec("0")', 'true'],
    [
      'dec("99999999999999999999.999999999999999999") < dec("99999999999999999999.999999999999999998")',
      'false',
    ],
    ['dec("1.0") in [dec("2"), dec("1")]', 'true'],
    ["dec(nodes['z'].output.fee) >= dec('2.50')", 'true'],
    ['[dec("1"), dec("2")].all(x, x > dec("0.5"))', 'true'],
  ])('%s is %s', (expression, expected) => {
    expect(outcome(expression)).toEqual([expected, undefined]);
  });

  it.each([
    ["dec(nodes['z'].output.count) > dec('1')", "found no matching overload for 'dec(double)'"],
    ["dec(input_params.text) > dec('1')", 'dec() takes a decimal string, not "1e3"'],
    [
      "nodes['z'].output.fee > input_params.text",
      'strings have no order; compare amounts with dec()',
    ],
    ["nodes['z'].output.fee > 1", 'no such overload: dyn<string> > int'],
  ])('%s is an error', (expression, why) => {
    expect(outcome(expression, { text: '1e3' })).toEqual(['error', why]);
  });
});

describe('values', () => {
  const params = {
    n: 3,
    text: 'abc',
    flag: false,
    list: ['x', 'y'],
    numbers: [1, 2, 3],
    nothing: null,
    other: 4.5,
  };
  it.each([
    ["nodes['a-1'].state == 'COMPLETED' && nodes['a-1'].error_code == null", 'true'],
    ["has(nodes['a-1'].output.fee)", 'false'],
    ["has(nodes['z'].output.deep.er) && nodes['z'].output.deep.er", 'true'],
    ["nodes['z'].output['tags'][1] == 'y'", 'true'],
    ['has(intent.source_venue)', 'false'],
    ['intent.chain_id == 1', 'true'],
    ['input_params.n == 3 && input_params.n > 2 && input_params.n < input_params.other', 'true'],
    ['input_params.n + 1.0 == 4.0', 'true'],
    ['input_params.n == "3"', 'false'],
    ['input_params.nothing == null', 'true'],
    ['"x" in input_params.list && !("z" in input_params.list)', 'true'],
    ['input_params.numbers.exists_one(n, n >= 3) && input_params.numbers.all(n, n > 0)', 'true'],
    [
      'size(input_params.list) == 2 && input_params.text.startsWith("a") && input_params.text.contains("b")',
      'true',
    ],
    ['input_params.flag', 'false'],
    ['"n" in input_params', 'true'],
    // A side that decides is enough, as everywhere in CEL.
    ['input_params.absent || true', 'true'],
    ['input_params.absent && false', 'false'],
  ])('%s is %s', (expression, expected) => {
    expect(outcome(expression, params)).toEqual([expected, undefined]);
  });

  it.each([
    ['input_params.absent == 1', 'No such key: absent'],
    ['intent.source_venue == "x"', 'No such key: source_venue'],
    ["nodes['a-1'].output.fee == '1'", 'No such key: fee'],
    ['input_params.n', 'the result is not a boolean'],
    ['input_params.nothing', 'the result is not a boolean'],
    ['1 / 0 == 1', 'division by zero'],
    [
      'input_params.n.all(x, true)',
      "Expression of type 'double' cannot be range of a comprehension (must be list, map, or dynamic).",
    ],
  ])('%s is an error', (expression, why) => {
    expect(outcome(expression, params)).toEqual(['error', why]);
  });
});

describe('names that mean something in JavaScript', () => {
  const hostile = JSON.parse(
    '{"__proto__": {"p": true}, "constructor": {"name": "Array"}, "prototype": 1, "then": 2, "n": 3}',
  );
  it.each([
    ['has(input_params.toString)', 'false'],
    ['has(input_params.hasOwnProperty)', 'false'],
    ['"valueOf" in input_params', 'false'],
    ['input_params["__proto__"].p', 'true'],
    ['input_params["constructor"]["name"] == "Array"', 'true'],
    ['input_params.n == 3', 'true'],
    ['input_params == input_params', 'true'],
  ])('%s is %s, as any other name would be', (expression, expected) => {
    expect(outcome(expression, hostile)).toEqual([expected, undefined]);
    expect(Object.hasOwn(Object.prototype, 'p')).toBe(false);
  });

  it('are not found where the request lacks them', () => {
    expect(outcome('input_params.constructor.name == "Object"')).toEqual([
      'error',
      'No such key: constructor',
    ]);
    expect(outcome('has(input_params.constructor)')).toEqual(['false', undefined]);
    expect(outcome('input_params["__proto__"] == null')).toEqual([
      'error',
      'No such key: __proto__',
    ]);
  });
});

describe('what is evaluated', () => {
  const types: EdgeType[] = [
    'on_success',
    'on_failure',
    'on_timeout',
    'on_cancel',
    'on_manual_resume',
  ];
  const all = {
    ...planWith('true'),
    edges: types.map((type) => edge(`a-1>b:${type}`, { condition_expr: 'true' })),
  };
  const noTimeout = { ...all, edges: all.edges.filter((each) => each.edge_type !== 'on_timeout') };
  const due = (
    plan: typeof all,
    state: NodeState,
    more: { resumed?: boolean; timed_out?: boolean } = {},
  ): (string | undefined)[] => {
    const { results } = settleConditions(
      plan,
      { node_key: 'a-1', state, resumed: false, timed_out: false, ...more },
      NODES,
    );
    return Object.keys(results).map((position) => plan.edges[Number(position)]?.edge_type);
  };

  it('is what the outcome triggers', () => {
    expect(due(all, 'COMPLETED')).toEqual(['on_success', 'on_cancel']);
    expect(due(all, 'COMPLETED', { resumed: true })).toEqual([
      'on_success',
      'on_cancel',
      'on_manual_resume',
    ]);
    expect(due(all, 'FAILED')).toEqual(['on_failure']);
    expect(due(all, 'FAILED', { timed_out: true })).toEqual(['on_timeout']);
    expect(due(noTimeout, 'FAILED', { timed_out: true })).toEqual(['on_failure']);
    for (const state of ['SKIPPED', 'CANCELLED', 'UNKNOWN', 'READY'] as const)
      expect(due(all, state)).toEqual([]);
  });

  it('leaves out edges without a condition and those of other nodes', () => {
    const source = { node_key: 'z', state: 'COMPLETED', resumed: false, timed_out: false } as const;
    expect(settleConditions(planWith('true'), source, NODES)).toEqual({ results: {}, errors: [] });
  });

  it('tells why by the position of the edge, and reads no other node', () => {
    const source = {
      node_key: 'a-1',
      state: 'COMPLETED',
      resumed: false,
      timed_out: false,
    } as const;
    expect(settleConditions(planWith("nodes['z'].state == 'COMPLETED'"), source, {})).toEqual({
      results: { '1': 'error' },
      errors: [{ position: 1, message: 'nodes["z"] cannot be read here' }],
    });
    const foreign = settleConditions(planWith("nodes['c'].state == 'COMPLETED'"), source, NODES);
    expect(foreign).toEqual({
      results: { '1': 'error' },
      errors: [{ position: 1, message: 'nodes["c"] cannot be read here' }],
    });
  });
});
