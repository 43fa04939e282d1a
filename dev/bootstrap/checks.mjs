// What `npm run check` runs, the longest first. `file` is inside node_modules, `program` one of our
// built programs. Each keeps results in node_modules/.cache for the next run; CI starts without.

/** Folders that are checked in a separate process: one process has too little memory for all. */
const CONSOLE = ['console', 'test/console'];

/**
 * @type {({ name: string, args: string[], node?: string[] } & ({ file: string } | { program: string
 *   }))[]}
 */
export const CHECKS = [
  {
    name: 'lint',
    file: 'eslint/bin/eslint.js',
    // eslint keeps the types of all files: more than 4 GB, Node's default limit.
    node: ['--max-old-space-size=6144'],
    args: [
      ...['--cache', ...cacheIn('--cache-location', 'eslint.json')],
      ...CONSOLE.flatMap((folder) => ['--ignore-pattern', folder]),
      '.',
    ],
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
    name: 'lint of the console',
    file: 'eslint/bin/eslint.js',
    args: ['--cache', ...cacheIn('--cache-location', 'eslint-console.json'), ...CONSOLE],
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
  { name: 'dashboards', program: 'monitoring-dashboards', args: ['--check'] },
];

function cacheIn(option, name) {
  return [option, `node_modules/.cache/${name}`];
}
