// Lint rules. What each folder may import is checked by dependency-cruiser
// (.dependency-cruiser.cjs); here stand the rules about code: determinism, promises, escape
// hatches.
import jest from 'eslint-plugin-jest';
import tseslint from 'typescript-eslint';

/**
 * Globals whose value differs between a run and its replay; the workflow sandbox replaces some and
 * refuses others.
 */
const NON_DETERMINISTIC = [
  'fetch',
  'process',
  'Buffer',
  'setInterval',
  'setImmediate',
  'performance',
  'crypto',
];

const DECIMAL_JS = {
  name: 'decimal.js',
  message: 'Use domain/money.ts: the bare import rounds to 20 digits.',
};

export default tseslint.config(
  {
    ignores: [
      'node_modules',
      '.data',
      'dist',
      'prisma/generated',
      'clients/http/generated',
      'dev/stack/temporal-server',
    ],
  },
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [tseslint.configs.base],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: false }],
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/ban-ts-comment': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      // Strings stay whole, so that a message can be found by its text; prettier holds the rest of
      // the code.
      'max-len': [
        'error',
        {
          code: 100,
          ignoreStrings: true,
          ignoreTemplateLiterals: true,
          ignoreRegExpLiterals: true,
        },
      ],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-var': 'error',
      'prefer-const': 'error',
      'no-restricted-imports': ['error', { paths: [DECIMAL_JS] }],
    },
  },
  { files: ['domain/money.ts'], rules: { 'no-restricted-imports': 'off' } },
  {
    // Exchanges and the perps venue count in digits of their own.
    files: ['venues/**/*.ts'],
    ignores: ['venues/evm/decimals.ts', 'venues/cex/**', 'venues/perp/**'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          paths: [
            DECIMAL_JS,
            {
              name: 'viem',
              importNames: ['parseUnits'],
              message: 'Use exactUnits or baseUnits, which require decimals that were checked.',
            },
          ],
          patterns: [
            {
              group: ['**/domain/money.ts'],
              importNames: ['toBaseUnits'],
              message: 'Use exactUnits or baseUnits, which require decimals that were checked.',
            },
          ],
        },
      ],
    },
  },
  {
    files: ['domain/**/*.ts', 'workflows/**/*.ts'],
    rules: {
      'no-restricted-globals': [
        'error',
        ...NON_DETERMINISTIC.map((name) => ({
          name,
          message: 'Not deterministic: a replay would see another value.',
        })),
      ],
      'no-restricted-properties': [
        'error',
        { object: 'Math', property: 'random', message: 'Not deterministic.' },
      ],
    },
  },
  {
    // In domain even the clock is an argument; workflows have the SDK's replayable one.
    files: ['domain/**/*.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: "MemberExpression[object.name='Date'][property.name='now']",
          message: 'domain takes times as arguments.',
        },
        {
          selector: "NewExpression[callee.name='Date'][arguments.length=0]",
          message: 'domain takes times as arguments.',
        },
      ],
    },
  },
  {
    files: ['**/*.ts', '**/*.tsx'],
    ignores: [
      'platform/config.ts',
      'clients/command-line/environment.ts',
      'dev/**',
      'examples/**',
      'test/**',
      'prisma.config.ts',
    ],
    rules: {
      'no-restricted-properties': [
        'error',
        {
          object: 'process',
          property: 'env',
          message:
            'Settings are read in platform/config.ts, those of clients in clients/command-line/environment.ts.',
        },
        { object: 'Math', property: 'random', message: 'Use platform/ids.ts or node:crypto.' },
      ],
    },
  },
  {
    files: ['test/**/*.ts'],
    plugins: { jest },
    rules: {
      'jest/no-focused-tests': 'error',
      'jest/no-disabled-tests': 'error',
      'jest/no-identical-title': 'error',
      'jest/valid-expect': 'error',
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
);
