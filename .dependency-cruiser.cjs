/**
 * Who may import whom, as docs/architecture.md draws it. `ALLOWED` is the table: a folder and the
 * folders of ours that it may import besides itself. The rest are bans on packages.
 */
const ALLOWED = {
  domain: [],
  workflows: ['domain'],
  activities: ['domain', 'store', 'executors', 'venues', 'signers', 'platform', 'prisma'],
  executors: ['domain', 'venues', 'signers', 'platform'],
  venues: ['domain', 'signers', 'platform'],
  signers: ['domain', 'platform'],
  api: ['domain', 'store', 'platform', 'executors', 'venues', 'signers', 'prisma'],
  prisma: [],
  store: ['domain', 'prisma', 'platform'],
  platform: ['domain'],
  clients: ['api', 'domain'],
  tools: ['domain', 'store', 'platform', 'signers', 'prisma'],
  'executor-kit': ['domain', 'executors', 'platform'],
  examples: ['executor-kit'],
};

const folders = Object.keys(ALLOWED);
const OURS = [...folders, 'dev', 'bench', 'test'];
const anyOf = (names) => `^(${names.join('|')})/`;

const directions = folders.map((folder) => ({
  name: `${folder}-imports`,
  comment: `${folder}/ may import ${['itself', ...ALLOWED[folder]].join(', ')} of ours`,
  severity: 'error',
  from: { path: `^${folder}/` },
  to: { path: anyOf(OURS.filter((other) => other !== folder && !ALLOWED[folder].includes(other))) },
}));

/** Packages that only these folders may use (dev and test may use anything). */
const PACKAGE_HOMES = {
  '@prisma/': ['prisma', 'store'],
  '@temporalio/workflow': ['workflows', 'executor-kit'],
  '@temporalio/worker': ['activities', 'executor-kit'],
  '@temporalio/activity': ['activities', 'executor-kit'],
  '@temporalio/client': ['platform', 'executor-kit'],
  express: ['api'],
  viem: ['venues', 'signers'],
  ccxt: ['venues'],
};
const bans = Object.entries(PACKAGE_HOMES).map(([name, homes]) => ({
  name: `only-${homes.join('-')}-use-${name.replace(/\W/g, '')}`,
  severity: 'error',
  from: { path: `${anyOf(folders.filter((folder) => !homes.includes(folder)))}|^main\\.ts$` },
  to: { path: `node_modules/${name}${name.endsWith('/') ? '' : '(/|$)'}` },
}));

module.exports = {
  forbidden: [
    ...directions,
    ...bans,
    {
      // The client type is how a database is handed around; only prisma and store look inside.
      name: 'prisma-as-a-type',
      severity: 'error',
      from: { path: '^(api|activities)/' },
      to: { path: '^prisma/', dependencyTypesNot: ['type-only'] },
    },
    {
      // Large, and loaded only where an exchange is bound.
      name: 'ccxt-in-cex-alone',
      severity: 'error',
      from: { path: '^venues/', pathNot: '^venues/cex/' },
      to: { path: 'node_modules/ccxt(/|$)' },
    },
    {
      name: 'ccxt-is-loaded-late',
      severity: 'error',
      from: { path: '^venues/cex/' },
      to: { path: 'node_modules/ccxt(/|$)', dependencyTypesNot: ['type-only', 'dynamic-import'] },
    },
    {
      // A client knows the wire contract and how to sign, and nothing else of the service.
      name: 'clients-know-the-wire',
      severity: 'error',
      from: { path: '^clients/' },
      to: { path: '^api/', pathNot: '(/schema\\.ts$|^api/auth/canonical\\.ts$)' },
    },
    {
      name: 'workflows-take-activities-as-types',
      severity: 'error',
      from: { path: '^workflows/' },
      to: { path: '^activities/', dependencyTypesNot: ['type-only'] },
    },
    { name: 'no-node-in-deterministic-code', severity: 'error', from: { path: '^(domain|workflows)/' }, to: { dependencyTypes: ['core'] } },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } } },
    {
      name: 'no-orphans',
      severity: 'error',
      from: { orphan: true, pathNot: '(\\.d\\.mts$|^test/|\\.config\\.|^\\.dependency|^main\\.ts$|^workflows/index)' },
      to: {},
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(node_modules/(?!@prisma|@temporalio|ccxt|express|viem)|\\.data|dist|prisma/generated|coverage)' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
      extensions: ['.ts', '.mjs', '.js', '.json'],
    },
  },
};
