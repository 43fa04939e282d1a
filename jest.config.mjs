/**
 * Jest in ESM mode; TypeScript through swc. Projects by what they need: `unit` nothing, `stack` one
 * stack that all its files share; and those which `npm test` leaves to commands of their own:
 * `faults` (stacks of their own), `slow`, `bridges`, `growth`. See docs/testing.md.
 */
import { availableParallelism } from 'node:os';

// What somebody has set for a service of their own is nothing to the tests; workers inherit what is
// left.
for (const name of Object.keys(process.env))
  if (/^(SVC|TEMPORAL)_/.test(name)) delete process.env[name];

/** What every project has, and the one of test/browser, which has a configuration of its own. */
export const common = {
  rootDir: '.',
  // Not in the temporary folder, which is another for each run (dev/bootstrap/test-room.mjs).
  cacheDirectory: '<rootDir>/node_modules/.cache/jest',
  globalSetup: '<rootDir>/test/support/build.mjs',
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts', '.tsx'],
  setupFilesAfterEnv: [
    '<rootDir>/test/support/time-limit.mjs',
    ...(process.env.RULES_PROOF === 'true' ? ['<rootDir>/test/support/no-shrinking.mjs'] : []),
  ],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'es6' } },
    ],
    // Pages of the console, which tests render without a browser.
    '^.+\\.tsx$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', tsx: true },
          transform: { react: { runtime: 'automatic' } },
        },
        module: { type: 'es6' },
      },
    ],
  },
  modulePathIgnorePatterns: ['<rootDir>/.data', '<rootDir>/dist'],
};

export default {
  // Three files at a time, however small the machine: a file of `faults` waits for time-outs as long
  // as it works. Not more than six, since each has a stack of some hundred megabytes.
  maxWorkers: Math.min(6, Math.max(3, availableParallelism())),
  testSequencer: '<rootDir>/test/support/slow-first.mjs',
  projects: [
    {
      ...common,
      displayName: 'unit',
      testMatch: ['<rootDir>/test/**/*.test.ts'],
      testPathIgnorePatterns: [
        '/node_modules/',
        '<rootDir>/test/(bridges|browser|growth|http|faults|slow)/',
      ],
    },
    {
      ...common,
      displayName: 'stack',
      testMatch: ['<rootDir>/test/http/**/*.test.ts'],
      setupFiles: ['<rootDir>/test/support/record-signatures.mjs'],
      globalSetup: '<rootDir>/test/support/shared-stack-setup.mjs',
      globalTeardown: '<rootDir>/test/support/shared-stack-teardown.mjs',
    },
    {
      // Parts of stacks are killed, held up, lied to: `npm run test:faults`.
      ...common,
      displayName: 'faults',
      testMatch: ['<rootDir>/test/faults/**/*.test.ts'],
    },
    {
      // Every fault of both bridge lanes, one at a time: `npm run test:bridges`.
      ...common,
      displayName: 'bridges',
      testMatch: ['<rootDir>/test/bridges/**/*.test.ts'],
    },
    {
      // The database of a million movements: `npm run growth`.
      ...common,
      displayName: 'growth',
      testMatch: ['<rootDir>/test/growth/**/*.test.ts'],
    },
    {
      ...common,
      displayName: 'slow',
      testMatch: ['<rootDir>/test/slow/**/*.test.ts'],
    },
  ],
};
