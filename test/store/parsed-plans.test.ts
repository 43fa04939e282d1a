/** Plans are kept by their exact text, so many of them, and none of them can be changed. */
import fc from 'fast-check';
import { canonicalPlan } from '../../domain/plan/compile.ts';
import { createPlanParser } from '../../store/parsed-plans.ts';
import { plans } from '../domain/plan/flow-arbitrary.ts';

const text = (name: string, length = 20): string => JSON.stringify({ name: name.padEnd(length) });

test('every plan is what its text holds, when it is parsed and when it was kept', () => {
  const parse = createPlanParser();
  fc.assert(
    fc.property(fc.array(plans(6), { minLength: 1, maxLength: 4 }), (many) => {
      for (const plan of [...many, ...many]) {
        const json = canonicalPlan(plan);
        expect(parse(json)).toEqual(JSON.parse(json));
        expect(parse(json)).toBe(parse(canonicalPlan(structuredClone(plan))));
      }
    }),
    { numRuns: 200 },
  );
});

test('texts of one length that differ in one character are two plans', () => {
  const parse = createPlanParser();
  // V8 takes the length alone for the hash of texts as long as these.
  const long = 'x'.repeat(20_000);
  const [one, two] = [text(`${long}1`), text(`${long}2`)];
  expect(one).toHaveLength(two.length);
  for (const each of [one, two, one, two]) expect(parse(each)).toEqual(JSON.parse(each));
});

test('what was not used for the longest time is dropped, and what is too long is not kept', () => {
  const [a, b, c] = ['a', 'b', 'c'].map((name) => text(name)) as [string, string, string];
  const parse = createPlanParser({ most: 2 * a.length, longest: a.length });
  const [first, second] = [parse(a), parse(b)];
  expect(parse(a)).toBe(first);
  parse(c);
  expect(parse(a)).toBe(first);
  expect(parse(b)).not.toBe(second);
  const longer = text('a', 21);
  expect(parse(longer)).not.toBe(parse(longer));
  expect(parse(longer)).toEqual(JSON.parse(longer));
});

test('a kept plan refuses every change', () => {
  const json = '{"nodes":[{"config":{"tags":["1"]}}],"intent":{}}';
  const plan = createPlanParser()(json) as unknown as {
    nodes: { config: { tags: string[] } }[];
    intent: { amount?: string };
  };
  expect(() => plan.nodes.push({ config: { tags: [] } })).toThrow(TypeError);
  expect(() => plan.nodes[0]?.config.tags.push('2')).toThrow(TypeError);
  expect(() => (plan.intent.amount = '1')).toThrow(TypeError);
});
