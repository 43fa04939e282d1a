/** What a simulation replaces is exactly what its list says. */
import crypto from 'node:crypto';
import nodeTimers from 'node:timers';
import timers from 'node:timers/promises';
import { expect, test } from '@jest/globals';

const PLACES: Readonly<Record<string, object>> = {
  '': globalThis,
  'process.': process,
  'performance.': performance,
  'Math.': Math,
  'AbortSignal.': AbortSignal,
  'crypto.': globalThis.crypto,
  'crypto.subtle.': globalThis.crypto.subtle,
  'node:crypto.': crypto,
  'node:timers.': nodeTimers,
  'node:timers/promises.': timers,
  'node:timers/promises.scheduler.': timers.scheduler,
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
          const { value, get } = Object.getOwnPropertyDescriptor(at, name) ?? {};
          found.set(place + name, value ?? get);
        }
  return found;
}

test('only what the list names is replaced, and all of it', async () => {
  // A library that the file needs adds globals of its own.
  await import('../../chaos/random.ts');
  const before = everything();
  const { REFUSED, REPLACED } = await import('./seams.ts');
  const after = everything();
  const changed = [...after.keys()].filter((name) => !Object.is(before.get(name), after.get(name)));
  expect(changed.sort()).toEqual([...REPLACED, ...REFUSED].sort());
});

test('a simulated process has the time of the machine, and of nothing else', async () => {
  const { REFUSED, use } = await import('./seams.ts');
  const { inProcess, Machine } = await import('./machine.ts');
  const machine = new Machine(1);
  use(machine, 1);
  const answers = inProcess.run({ name: 'a process', state: 'up', skewMs: 7 }, () => ({
    now: Date.now(),
    origin: performance.timeOrigin + performance.now(),
    since: process.hrtime(),
    nanos: process.hrtime.bigint(),
    refused: REFUSED.map((path) => {
      try {
        const { owner, name } = ownerOf(path);
        (Reflect.get(owner, name) as () => void)();
        return 'done';
      } catch (error) {
        return String(error);
      }
    }),
  }));
  expect(answers).toEqual({
    now: machine.begin + 7,
    origin: machine.begin + 7,
    since: [1, 0],
    nanos: 1_000_000_000n,
    refused: REFUSED.map((path) => `Error: the simulation has no ${path}`),
  });
});

test('a step ends behind what waits for a turn of the event loop', async () => {
  const { use } = await import('./seams.ts');
  const { inProcess, Machine } = await import('./machine.ts');
  const machine = new Machine(1);
  use(machine, 1);
  let turns = 0;
  const wait = (): void => {
    turns += 1;
    if (turns < 10) setImmediate(wait);
  };
  inProcess.run({ name: 'a process', state: 'up', skewMs: 0 }, wait);
  await machine.run(() => true);
  expect(turns).toBe(10);
});

function ownerOf(path: string): { readonly owner: object; readonly name: string } {
  const at = path.lastIndexOf('.') + 1;
  return { owner: PLACES[path.slice(0, at)] ?? {}, name: path.slice(at) };
}

test('outside of a simulated process time and chance are the real ones', async () => {
  await import('./seams.ts');
  const real = process.hrtime.bigint();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(process.hrtime.bigint() - real).toBeGreaterThanOrEqual(15_000_000n);
  expect(new Date().getFullYear()).toBeLessThan(2030);
});
