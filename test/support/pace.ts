/**
 * For files of which some tests take long: `test` is what runs with `npm test`, `slow` what is left
 * to `npm run test:slow`, `always` what runs with both. jest.config.mjs names these files; each
 * rule has a test among those that are not slow (`test/rules/rules.test.ts`).
 */
export const always = globalThis.test;

/** Registers nothing. */
const left = Object.assign(() => undefined, {
  each: () => () => undefined,
}) as unknown as typeof always;
const isSlowRun = (globalThis as { readonly SLOW_TESTS?: boolean }).SLOW_TESTS === true;

export const test = isSlowRun ? left : always;
export const slow = isSlowRun ? always : left;
