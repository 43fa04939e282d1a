// What `npm run check` runs, in order, as data. `file` is inside node_modules.

/** @type {{ name: string, file: string, args: string[], nodeArgs?: string[] }[]} */
export const CHECKS = [
  { name: 'types', file: 'typescript/bin/tsc', args: ['--noEmit'] },
  { name: 'lint', file: 'eslint/bin/eslint.js', args: ['.'] },
  { name: 'format', file: 'prettier/bin/prettier.cjs', args: ['--check', '--log-level', 'warn', '.'] },
  { name: 'import directions', file: 'dependency-cruiser/bin/dependency-cruise.mjs', args: ['--output-type', 'err', '.'] },
];
