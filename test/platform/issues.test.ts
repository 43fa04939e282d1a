/** What a schema finds wrong, as people read it. */
import { z } from 'zod';
import { placeOf } from '../../domain/json.ts';
import { describeIssues, issuesLine } from '../../platform/issues.ts';

const schema = z.object({ venues: z.array(z.object({ chain_id: z.number('must be a number') })) });
const faults = (value: unknown): z.ZodError => {
  const { error } = schema.safeParse(value);
  if (error === undefined) throw new Error('the value fits');
  return error;
};

test('a place is written with dots for fields and brackets for positions', () => {
  expect(placeOf([])).toBe('');
  expect(placeOf(['venues', 2, 'chain_id'])).toBe('venues[2].chain_id');
  expect(placeOf([3, 'a', 0, 1])).toBe('[3].a[0][1]');
});

test('every fault names its place, and the whole where nothing inside it is wrong', () => {
  const two = faults({ venues: [{ chain_id: 'x' }, { chain_id: 1 }, {}] });
  expect(describeIssues(two, { whole: 'the file' })).toEqual([
    'venues[0].chain_id: must be a number',
    'venues[2].chain_id: must be a number',
  ]);
  expect(describeIssues(two, { under: 'config' })[0]).toBe(
    'config.venues[0].chain_id: must be a number',
  );
  expect(issuesLine(faults(1), { whole: 'the file' })).toMatch(/^the file: /);
  expect(issuesLine(faults(1), { under: 'config' })).toMatch(/^config: /);
});

test('a line holds the first five', () => {
  const many = faults({ venues: Array.from({ length: 9 }, () => ({})) });
  const places = issuesLine(many, { whole: 'the file' }).match(/\[\d\]/g);
  expect(places).toEqual(['[0]', '[1]', '[2]', '[3]', '[4]']);
});
