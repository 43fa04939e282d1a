/**
 * Makes the kit a package that other repositories can install: our own code bundled, with its
 * types, over packages of the same versions as here.
 */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { ROOT } from '../stack/ports.ts';
import { emitDeclarations, ENTRIES } from './declarations.ts';

export const PACKAGE_NAME = 'fund-movement-executor-kit';

/** What is built beside the entries: the command, and the workflow that it gives to Temporal. */
const MORE = {
  'executor-check': 'executor-kit/check/bin.ts',
  'call-workflow': 'executor-kit/check/call-workflow.ts',
};
const LIB = {
  index: ENTRIES['.'],
  'task-queue': ENTRIES['./task-queue'],
  ...MORE,
};

/** Of these a task queue needs all, and what goes over HTTP none. */
const FOR_QUEUES_ONLY = /^@temporalio\//;

interface OurPackage {
  readonly version: string;
  readonly license: string;
  readonly engines: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
}

/**
 * Writes the package into `folder`, in place of what stood there.
 *
 * @throws Error when it cannot be built, or when it needs a package that is no dependency of ours.
 */
export async function writePackage(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  const types = emitDeclarations();
  const { metafile } = await build({
    ...{ absWorkingDir: ROOT, entryPoints: LIB, outdir: join(folder, 'lib') },
    ...{ bundle: true, splitting: true, packages: 'external', metafile: true },
    ...{ platform: 'node', format: 'esm', target: 'node20' },
    ...{ chunkNames: 'shared-[hash]', logLevel: 'silent' },
  });
  for (const [path, text] of types) put(join(folder, 'types', path), text);
  cpSync(join(ROOT, 'executor-kit', 'README.md'), join(folder, 'README.md'));
  put(join(folder, 'docs', 'executors.md'), withoutLinks(read('docs/executors.md')));
  const described = describe(packagesOf(metafile), JSON.parse(read('package.json')) as OurPackage);
  put(join(folder, 'package.json'), `${JSON.stringify(described, null, 2)}\n`);
}

function describe(needed: readonly string[], ours: OurPackage): object {
  const pinned = (names: readonly string[]): Record<string, string> =>
    Object.fromEntries(
      names.map((name) => {
        const version = ours.dependencies[name];
        if (version === undefined) throw new Error(`${name} is no dependency in package.json`);
        return [name, version];
      }),
    );
  const peers = needed.filter((name) => FOR_QUEUES_ONLY.test(name));
  const entry = (lib: string, source: string): object => ({
    types: `./types/${source.replace(/\.ts$/, '.d.ts')}`,
    default: `./lib/${lib}.js`,
  });
  return {
    name: PACKAGE_NAME,
    version: ours.version,
    description: 'Executors for the Fund Movement Orchestration Service, and the check of them',
    license: ours.license,
    private: true,
    type: 'module',
    engines: ours.engines,
    exports: {
      '.': entry('index', ENTRIES['.']),
      './task-queue': entry('task-queue', ENTRIES['./task-queue']),
    },
    bin: { 'executor-check': './lib/executor-check.js' },
    files: ['lib', 'types', 'docs'],
    dependencies: pinned(needed.filter((name) => !FOR_QUEUES_ONLY.test(name))),
    peerDependencies: pinned(peers),
    peerDependenciesMeta: Object.fromEntries(peers.map((name) => [name, { optional: true }])),
  };
}

/** Every package that something built imports, sorted. */
function packagesOf({ outputs }: Metafile): readonly string[] {
  const names = Object.values(outputs)
    .flatMap(({ imports }) => imports)
    .filter(({ external, path }) => external === true && !path.startsWith('node:'))
    .map(({ path }) => /^(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? path);
  return [...new Set(names)].sort();
}

/** The guide's neighbours stay with the service: their names are left, and no links to nothing. */
function withoutLinks(page: string): string {
  return page.replace(/\[([^\]]+)\]\((?!https?:|#)[^)]+\)/g, '$1');
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
