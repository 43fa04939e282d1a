// What `npm run check` runs, as data, the longest first. `file` is inside node_modules, `program` one
// of our own, built. What each has found stays in node_modules/.cache for the next time; CI begins without.

/** @type {({ name: string, args: string[] } & ({ file: string } | { program: string }))[]} */
export const CHECKS = [
  {
    name: 'lint',
    file: 'eslint/bin/eslint.js',
    args: ['--cache', ...cacheIn('--cache-location', 'eslint.json'), '.'],
  },
  {
    name: 'types',
    file: 'typescript/bin/tsc',
    args: ['--noEmit', '--incremental', ...cacheIn('--tsBuildInfoFile', 'types.tsbuildinfo')],
  },
  {
    name: 'types of the console',
    file: 'typescript/bin/tsc',
    args: [
      '--noEmit',
      '--incremental',
      ...cacheIn('--tsBuildInfoFile', 'console.tsbuildinfo'),
      ...['--project', 'test/console'],
    ],
  },
  {
    name: 'format',
    file: 'prettier/bin/prettier.cjs',
    args: [
      '--check',
      '--log-level',
      'warn',
      '--cache',
      ...cacheIn('--cache-location', 'prettier.json'),
      '.',
    ],
  },
  {
    name: 'import directions',
    file: 'dependency-cruiser/bin/dependency-cruise.mjs',
    args: ['--output-type', 'err', '.'],
  },
  { name: 'migrations', program: 'check-migrations', args: [] },
  { name: 'pages written from tables, licences', program: 'docs-tables', args: ['--check'] },
];

function cacheIn(option, name) {
  return [option, `node_modules/.cache/${name}`];
}
