/**
 * The dearest conditions that the limits allow, each measured as one evaluation.
 * worst-case-figures.ts prints what it takes.
 */
import { conditionProblem } from '../../../domain/conditions/check.ts';
import { settleConditions } from '../../../domain/conditions/settle.ts';
import type { JsonObject, JsonValue } from '../../../domain/json.ts';
import { NODES, planWith } from './build.ts';

/** As many copies of `part`, joined by `&&`, as the limits leave room for around them. */
function fill(before: string, part: string, after: string, nodes: number, room = 252): string {
  const count = Math.min(
    Math.floor((1_024 - before.length - after.length) / (part.length + 2)),
    Math.floor(room / (nodes + 1)),
  );
  return before + Array.from({ length: count }, () => part).join('&&') + after;
}

const many = (count: number, value: (index: number) => JsonValue): JsonValue[] =>
  Array.from({ length: count }, (_, index) => value(index));
const lists: JsonObject = { a: many(490, (index) => index), b: many(490, (index) => index) };
const few: JsonObject = {
  a: many(22, (index) => `v${index}`),
  b: many(22, (index) => `v${21 - index}`),
};
const grid: JsonObject = { a: many(22, () => 7), b: many(22, () => 7) };
const amounts: JsonObject = {
  a: many(46, (index) => `99999999999999999999.9999999999999999${10 + index}`),
};
const numbers: JsonObject = { a: many(46, (index) => index) };
const text: JsonObject = { s: 'a'.repeat(63 * 900) };
const small: JsonObject = { a: many(30, (index) => index), s: 'a'.repeat(64 * 12) };
const needle = `${'a'.repeat(40)}b${'a'.repeat(40)}`;

export const DEAREST: Readonly<Record<string, readonly [string, JsonObject]>> = {
  'equal lists': [fill('', 'input_params.a==input_params.b', '', 5), lists],
  'searched lists': [fill('', '-1.5 in input_params.a==false', '', 7), lists],
  'long strings': [fill('', `!input_params.s.contains("${needle}")`, '', 5), text],
  'quantifier with in': [fill('input_params.a.all(x,', '(x in input_params.b)', ')', 4, 16), few],
  'quantifier with lists': [
    fill('input_params.a.all(x,', 'input_params.b==input_params.b', ')', 5, 16),
    grid,
  ],
  'quantifier with decimals': [
    fill('input_params.a.all(x,', 'dec(x)+dec(x)>dec(x)', ')', 8, 16),
    amounts,
  ],
  'quantifier with errors': [fill('input_params.a.all(x,', '1/0>1', ')', 5, 16), numbers],
  'quantifier with missing fields': [fill('input_params.a.all(x,', 'x.y', ')', 2, 16), numbers],
  'quantifiers with missing fields': [fill('', 'input_params.a.all(x,x.y)', '', 6, 8 * 7), numbers],
  'missing fields': [fill('', 'input_params.y', '', 2), numbers],
  'quantifier with strings': [
    fill('input_params.a.all(x,', `!input_params.s.contains("${needle}")`, ')', 5, 16),
    small,
  ],
  arithmetic: [fill('input_params.a.all(x,', 'x*x>=-x-x', ')', 8, 16), numbers],
};

const source = { node_key: 'a-1', state: 'COMPLETED', resumed: false, timed_out: false } as const;

/**
 * Milliseconds of processor time of one evaluation, compiled before: the mean of many, as other
 * work disturbs it least.
 */
export function measure(
  expression: string,
  params: JsonObject,
  runs: number,
): { result: string; mean: number } {
  const plan = planWith(expression, params);
  const refused = conditionProblem(plan.edge, plan);
  if (refused !== null) throw new Error(`${refused}: ${expression}`);
  let result = '';
  const before = process.cpuUsage();
  for (let run = 0; run < runs; run += 1) {
    const settled = settleConditions(plan, source, NODES);
    result = `${settled.results['1'] ?? ''} ${settled.errors[0]?.message ?? ''}`;
  }
  const { user, system } = process.cpuUsage(before);
  return { result, mean: (user + system) / 1_000 / runs };
}
