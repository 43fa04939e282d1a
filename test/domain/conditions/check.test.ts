import { readFileSync } from 'node:fs';
import { conditionProblem } from '../../../domain/conditions/check.ts';
import { edge } from '../graph/build.ts';
import { outcome, problem } from './build.ts';

const DECIMALS = 'a decimal is compared with a decimal: put both sides in dec()';
const NO_ORDER = 'strings have no order; compare amounts with dec()';
const RAW = 'intent.amount is compared through dec(intent.amount)';
const PLUS = 'one side of + must be a literal number, a string or dec()';

describe('a condition is refused', () => {
  it.each([
    ['what does not parse', 'intent.asset ==', 'Unexpected token: EOF'],
    ['what gives no boolean', '1 + 1', 'gives int and not a boolean'],
    ['null', 'null', 'gives null and not a boolean'],
    ['types that do not fit', 'intent.asset == 1', 'no such overload: string == int'],
    ['an unknown variable', 'foo == 1', 'unknown variable foo'],
    ['a type as a value', 'int == int', 'unknown variable int'],
    ["the library's constants", 'google == 1', 'unknown variable google'],
    ['an unknown field of the intent', 'intent.foo == 1', 'intent has no field foo'],
    [
      'an inherited field of the intent',
      'intent.constructor == 1',
      'intent has no field constructor',
    ],
    ['the whole intent', 'intent == intent', 'intent is read by its fields, as in intent.asset'],
    [
      'a computed field of the intent',
      'intent[input_params.x] == 1',
      'intent is read by its fields, as in intent.asset',
    ],
    ['an unknown node', "nodes['q'].state == 'x'", 'there is no node q'],
    ['the target', "nodes['b'].state == 'x'", "nodes['b'] does not lie before this edge"],
    [
      'a node of another branch',
      'nodes.c.state == "x"',
      "nodes['c'] does not lie before this edge",
    ],
    [
      'a computed node',
      "nodes[input_params.x].state == 'x'",
      "nodes takes a key in quotes, as in nodes['withdraw'].state",
    ],
    ['all nodes', 'size(nodes) == 1', "nodes takes a key in quotes, as in nodes['withdraw'].state"],
    [
      'a whole node',
      "nodes['z'] == nodes['z']",
      "of nodes['z'] only state, output and error_code can be read",
    ],
    ['an unknown field of a node', "nodes['z'].attempt == 1", "nodes['z'] has no field attempt"],
    [
      'an inherited field of a node',
      "nodes['z'].toString == 1",
      "nodes['z'] has no field toString",
    ],
    [
      'brackets around nodes',
      "(nodes)['z'].state == 'x'",
      "a node is named nodes['key'], without brackets around nodes",
    ],
    ['a raw amount against a string', 'intent.amount > "9"', RAW],
    ['a raw amount against a number', 'intent.amount > 9', RAW],
    ['an equal raw amount', 'intent.amount == "100"', RAW],
    ['a raw amount by index', 'intent["amount"] == "100"', RAW],
    ['a raw amount on a detour', '(true ? intent.amount : "1") == "1"', RAW],
    ['an amount of its size', 'size(intent.amount) == 3', RAW],
    ['strings in order', '"a" < "b"', NO_ORDER],
    ['a value in order with a string', "nodes['z'].output.fee > '9'", NO_ORDER],
    ['a decimal against a number', 'dec(intent.amount) > 9', 'no such overload: Decimal > int'],
    ['a decimal against a raw value', "dec('9') == nodes['z'].output.fee", DECIMALS],
    ['a decimal among raw values', "dec('9') in input_params.list", DECIMALS],
    ['a decimal or a raw value', "(true ? dec('9') : input_params.x) == dec('9')", DECIMALS],
    ['a decimal that is none', "dec('1e3') > dec('1')", 'dec("1e3") is no decimal'],
    ['a decimal of a number', "dec(5) > dec('1')", "found no matching overload for 'dec(int)'"],
    ['sums of unknown values', 'input_params.a + input_params.a == input_params.b', PLUS],
    ['sums of lists', '[1] + [2] == [1, 2]', PLUS],
    ['matches', "'a'.matches('(a+)+$')", 'matches() is not part of conditions'],
    ['matches as a function', "matches('a', 'a')", 'matches() is not part of conditions'],
    ['map', 'input_params.l.map(x, x) == []', 'map() is not part of conditions'],
    ['filter', 'size(input_params.l.filter(x, x)) == 1', 'filter() is not part of conditions'],
    ['bind', 'cel.bind(x, 1, x == 1)', 'unknown variable cel'],
    [
      'times',
      "timestamp('2024-01-01T00:00:00Z') == timestamp('2024-01-01T00:00:00Z')",
      'timestamp() is not part of conditions',
    ],
    ['floats of strings', "double('1.5') > 1.0", 'double() is not part of conditions'],
    ['types', 'type(1) == type(2)', 'type() is not part of conditions'],
    ['bytes', "b'a' == b'a'", 'bytes and unsigned numbers are not part of conditions'],
    ['unsigned numbers', '1u == 1u', 'bytes and unsigned numbers are not part of conditions'],
    ['map literals', "{'a': 1}.a == 1", 'map literals are not part of conditions'],
    [
      'a method of JavaScript',
      "input_params.hasOwnProperty('n')",
      'hasOwnProperty() is not part of conditions',
    ],
    [
      'a method named like a field',
      "input_params.constructor('n')",
      'constructor() is not part of conditions',
    ],
    [
      'quantifiers in quantifiers',
      'input_params.l.all(x, input_params.l.all(y, x == y))',
      'all() inside another quantifier is not part of conditions',
    ],
    [
      'a variable named nodes',
      'input_params.l.all(nodes, true)',
      "nodes cannot be a variable's name",
    ],
    ['a variable out of its quantifier', 'input_params.l.all(x, true) && x', 'unknown variable x'],
  ])('for %s', (_name, expression, why) => {
    expect(problem(expression)).toBe(why);
    // What the check refuses is not evaluated either: a version may have been stored by an earlier
    // release.
    expect(outcome(expression)[0]).toBe('error');
  });

  it('for its size', () => {
    expect(problem(`intent.asset == "${'a'.repeat(1_006)}"`)).toBeNull();
    expect(problem(`intent.asset == "${'a'.repeat(1_007)}"`)).toBe('longer than 1024 characters');
    expect(problem(`true${' && true'.repeat(127)}`)).toBeNull();
    expect(problem(`1==1${'&&1==1'.repeat(90)}`)).toBe('Exceeded maxAstNodes (256)');
    expect(problem(`${'('.repeat(23)}true${')'.repeat(23)}`)).toBeNull();
    expect(problem(`${'('.repeat(24)}true${')'.repeat(24)}`)).toBe('Exceeded maxDepth (24)');
    expect(problem(`1 in [${'1,'.repeat(65)}]`)).toBe('Exceeded maxListElements (64)');
  });
});

describe('a condition may read', () => {
  it.each([
    'true',
    'input_params.flag',
    'intent.asset == "USDC" && intent.chain_id == 1',
    'has(intent.source_venue) ? intent.source_venue == "x" : false',
    "nodes['z'].output.fee == '2.5' || nodes['a-1'].state != 'COMPLETED'",
    "has(nodes['a-1'].output.x) && nodes.z.error_code == null",
    "dec(nodes['z'].output.fee) + dec('1') <= dec(intent.amount)",
    'input_params.l.exists(x, x == intent.asset)',
    '(input_params.a < input_params.b) == true',
  ])('%s', (expression) => {
    expect(problem(expression)).toBeNull();
  });
});

it('the examples of the documentation are conditions', () => {
  const text = readFileSync(new URL('../../../docs/api.md', import.meta.url), 'utf8');
  const block = /^## Conditions$[\s\S]*?^```$([\s\S]*?)^```$/m.exec(text)?.[1] ?? '';
  const examples = block.split('\n').filter((line) => line !== '');
  expect(examples.length).toBeGreaterThan(4);
  for (const condition_expr of examples) {
    const conditional = edge('withdraw>deposit', { condition_expr });
    const plan = {
      nodes: ['quote', 'withdraw', 'deposit'].map((node_key) => ({ node_key })),
      edges: [edge('quote>withdraw'), conditional],
    };
    expect([condition_expr, conditionProblem(conditional, plan)]).toEqual([condition_expr, null]);
  }
});
