/** Jest in ESM mode; TypeScript through swc. Suites are grouped by folder, see test/README.md. */
const transform = {
  '^.+\\.ts$': ['@swc/jest', { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'es6' } }],
};

export default {
  rootDir: '.',
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform,
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  modulePathIgnorePatterns: ['<rootDir>/.data', '<rootDir>/dist'],
  testTimeout: 30_000,
  maxWorkers: 2,
};
