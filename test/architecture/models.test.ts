/**
 * What the service is compared with is written from the contract: a model that used the product's
 * rules would share their faults.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const TESTS = dirname(dirname(fileURLToPath(import.meta.url)));
const MODELS = ['amounts', 'budget-model', 'flow-model', 'movement-model'].map(
  (name) => `support/${name}.ts`,
);
MODELS.push('store/holds-model.ts');

const importsOf = (text: string): string[] =>
  [...text.matchAll(/\bfrom\s+'([^']+)'|\bimport\(?\s*'([^']+)'/g)].map(
    ([, from, loaded]) => from ?? loaded ?? '',
  );

test('the models import nothing but each other', () => {
  for (const model of MODELS) {
    expect(existsSync(join(TESTS, model))).toBe(true);
    const known = importsOf(readFileSync(join(TESTS, model), 'utf8')).map((each) =>
      join(dirname(model), each),
    );
    expect({ model, others: known.filter((each) => !MODELS.includes(each)) }).toEqual({
      model,
      others: [],
    });
  }
});

test('the search would find a rule of the product', () => {
  const text =
    "import { flowsOf } from '../../domain/plan/flow.ts';\nimport '../../store/transition.ts';\nawait import('../../activities/x.ts')";
  expect(importsOf(text)).toEqual([
    '../../domain/plan/flow.ts',
    '../../store/transition.ts',
    '../../activities/x.ts',
  ]);
});
