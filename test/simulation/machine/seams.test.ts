/** What a simulation replaces is exactly what its list says. */
import crypto from 'node:crypto';
import timers from 'node:timers/promises';
import { expect, test } from '@jest/globals';

const PLACES: Readonly<Record<string, object>> = {
  '': globalThis,
  'performance.': performance,
  'Math.': Math,
  'AbortSignal.': AbortSignal,
  'crypto.': globalThis.crypto,
  'node:crypto.': crypto,
  'node:timers/promises.': timers,
};

function everything(): Map<string, unknown> {
  const found = new Map<string, unknown>();
  for (const [place, object] of Object.entries(PLACES))
    for (
      let at: object | null = object;
      at !== null && at !== Object.prototype;
      at = Object.getPrototypeOf(at) as object | null
    )
      for (const name of Object.getOwnPropertyNames(at))
        if (!found.has(place + name)) {
          const { value } = Object.getOwnPropertyDescriptor(at, name) ?? {};
          found.set(place + name, value);
        }
  return found;
}

test('only what the list names is replaced, and all of it', async () => {
  // A library that the file needs adds globals of its own.
  await import('../../chaos/random.ts');
  const before = everything();
  const { REPLACED } = await import('./seams.ts');
  const after = everything();
  const changed = [...after.keys()].filter((name) => !Object.is(before.get(name), after.get(name)));
  expect(changed.sort()).toEqual([...REPLACED].sort());
});

test('outside of a simulated process time and chance are the real ones', async () => {
  await import('./seams.ts');
  const real = process.hrtime.bigint();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(process.hrtime.bigint() - real).toBeGreaterThanOrEqual(15_000_000n);
  expect(new Date().getFullYear()).toBeLessThan(2030);
});
