import { setTimeout as sleep } from 'node:timers/promises';

/** Asks until true; fails after `limitMs`. */
export async function until(
  ask: () => boolean | Promise<boolean>,
  options: { readonly everyMs?: number; readonly limitMs?: number; readonly what?: string } = {},
): Promise<void> {
  const { everyMs = 50, limitMs = 120_000, what = 'something' } = options;
  for (const end = Date.now() + limitMs; Date.now() < end; await sleep(everyMs))
    if (await ask()) return;
  throw new Error(`waited ${limitMs / 1_000} s in vain for ${what}`);
}
