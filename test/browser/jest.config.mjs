/**
 * `npm run test:browser`: apart from `npm test`, since it needs a browser. On the stack that
 * `test/http` has too.
 */
import { common } from '../../jest.config.mjs';

export default {
  ...common,
  rootDir: '../..',
  displayName: 'browser',
  testMatch: ['<rootDir>/test/browser/**/*.test.ts'],
  setupFiles: ['<rootDir>/test/support/record-signatures.mjs'],
  globalSetup: '<rootDir>/test/support/shared-stack-setup.mjs',
  globalTeardown: '<rootDir>/test/support/shared-stack-teardown.mjs',
};
