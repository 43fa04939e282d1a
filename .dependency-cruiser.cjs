/**
 * Who may import whom: `tools/docs/imports.json` is the table, of folders of ours and of packages
 * that only some may use; docs/architecture.md shows it. What else is forbidden stands here.
 */
const { folders: FOLDERS, package_homes: PACKAGE_HOMES } = require('./tools/docs/imports.json');

// dev, bench and test may use anything.
const ALLOWED = Object.fromEntries(
  FOLDERS.filter(({ may_import }) => may_import !== 'anything').map((each) => [
    each.folder,
    each.may_import,
  ]),
);
const folders = Object.keys(ALLOWED);
const OURS = FOLDERS.map(({ folder }) => folder);
const anyOf = (names) => `^(${names.join('|')})/`;

const directions = folders.map((folder) => ({
  name: `${folder}-imports`,
  comment: `${folder}/ may import ${['itself', ...ALLOWED[folder]].join(', ')} of ours`,
  severity: 'error',
  from: { path: `^${folder}/` },
  to: { path: anyOf(OURS.filter((other) => other !== folder && !ALLOWED[folder].includes(other))) },
}));

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
      from: { path: '^(api|activities|venues)/' },
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
      // Large too, and loaded only where a key service is bound.
      name: 'aws-sdk-is-loaded-late',
      severity: 'error',
      from: { path: '^signers/' },
      to: { path: 'node_modules/@aws-sdk/', dependencyTypesNot: ['type-only', 'dynamic-import'] },
    },
    {
      // Packed by itself, and run in browsers too: what it knows of the service is generated.
      name: 'the-http-client-stands-alone',
      severity: 'error',
      from: { path: '^clients/http/' },
      to: { pathNot: '^clients/http/' },
    },
    {
      // A command line knows the wire contract, and nothing else of the service.
      name: 'command-lines-know-the-wire',
      severity: 'error',
      from: { path: '^clients/(command-line|fundctl)/' },
      to: { path: '^api/', pathNot: '(/schema\\.ts$|^api/auth/canonical\\.ts$)' },
    },
    {
      // Its code is sent to browsers, so of the service it takes the wire contract, as types, and the
      // rules of domain.
      name: 'the-console-takes-types',
      severity: 'error',
      from: { path: '^console/' },
      to: {
        path: '^(api|domain)/',
        pathNot: '^(api/.*/schema\\.ts|api/auth/canonical\\.ts|domain/.*)$',
      },
    },
    {
      // Domain is pure, and what a page decides goes by the service's own rules.
      name: 'the-console-contains-the-http-client-and-rules',
      severity: 'error',
      from: { path: '^console/' },
      to: {
        path: '^(api|clients)/',
        pathNot: '^clients/http/',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'clients-check-bundles',
      severity: 'error',
      from: { path: '^clients/' },
      to: { path: '^tools/', pathNot: '^tools/audit/check-bundle\\.ts$' },
    },
    {
      // What a person waits for at a prompt is loaded once it is needed.
      name: 'command-lines-start-lean',
      severity: 'error',
      from: {
        path: '^clients/(command-line|fundctl)/',
        pathNot: '^clients/fundctl/validate\\.ts$',
      },
      to: {
        path: '(^api/.*/schema\\.ts$|^tools/|^clients/fundctl/(plan-view|validate|watch)\\.ts$)',
        dependencyTypesNot: ['type-only', 'dynamic-import'],
      },
    },
    {
      name: 'workflows-take-activities-as-types',
      severity: 'error',
      from: { path: '^workflows/' },
      to: { path: '^activities/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'no-node-in-deterministic-code',
      severity: 'error',
      from: { path: '^(domain|workflows)/' },
      to: { dependencyTypes: ['core'] },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-orphans',
      severity: 'error',
      from: {
        orphan: true,
        pathNot: '(\\.d\\.mts$|^test/|\\.config\\.|^\\.dependency|^main\\.ts$|^workflows/index)',
      },
      to: {},
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: {
      path: '^(node_modules/(?!@aws-sdk|@prisma|@temporalio|ccxt|express|react/|viem)|\\.data|dist|prisma/generated|coverage)',
    },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
      extensions: ['.ts', '.tsx', '.mjs', '.js', '.json'],
    },
  },
};
