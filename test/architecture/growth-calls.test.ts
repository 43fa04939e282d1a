/**
 * What `npm run growth` looks at is whole: a route, a filter or a read of the store that came
 * without its call there would grow with the table and show only where it hurts.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { CALLS, STORE_WITHOUT_CALL, WITHOUT_CALL } from '../growth/calls.ts';
import { ALL_ROUTES } from '../growth/world.ts';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

test('every route has a call, or a reason', () => {
  const called = new Set(CALLS.map(({ route }) => route));
  const missing = ALL_ROUTES.filter(
    ({ id }) => !called.has(id) && !Object.hasOwn(WITHOUT_CALL, id),
  );
  expect(missing.map(({ id }) => id)).toEqual([]);
  const known = new Set(ALL_ROUTES.map(({ id }) => id));
  expect(Object.keys(WITHOUT_CALL).filter((id) => !known.has(id) || called.has(id))).toEqual([]);
});

test('every filter of every list is used', () => {
  const missing = ALL_ROUTES.flatMap(({ id, query }) =>
    Object.keys(query instanceof z.ZodObject ? query.shape : {})
      .filter((name) => !CALLS.some((call) => call.route === id && call.query.includes(name)))
      .map((name) => `${id} ${name}`),
  );
  expect(missing).toEqual([]);
});

test('every function of the store that loops, activities and the service use has a call', () => {
  const used = ['activities', 'service'].flatMap(storeFunctionsOf);
  expect(used.length).toBeGreaterThan(30);
  const called = new Set(CALLS.flatMap(({ store }) => store));
  const missing = used.filter(
    (name) => !called.has(name) && !Object.hasOwn(STORE_WITHOUT_CALL, name),
  );
  expect([...new Set(missing)]).toEqual([]);
});

/** Functions that the files of a folder import from the store; types have capitals. */
function storeFunctionsOf(folder: string): readonly string[] {
  const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => {
      const text = readFileSync(join(ROOT, folder, file), 'utf8');
      return [...text.matchAll(/import \{([^}]*)\} from '[./]*\/store\/[^']+'/g)].flatMap(
        ([, names = '']) =>
          names
            .split(',')
            .map((name) => name.trim())
            .filter((name) => /^[a-z]/.test(name) && !name.startsWith('type ')),
      );
    });
}
