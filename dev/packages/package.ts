/**
 * Makes a part of this project an npm package for other repositories: our own code is bundled, with
 * its types; dependencies have the same versions as here.
 */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { ROOT } from '../stack/ports.ts';
import { emitDeclarations } from './declarations.ts';

/** A module of the package that users can import. */
export interface Entry {
  /** Name of the file in `lib/`, without `.js`. */
  readonly lib: string;
  readonly source: string;
}

export interface PackageSpec {
  /** Name of the folder in dist/. */
  readonly folder: string;
  readonly name: string;
  readonly description: string;
  /** Entries by subpath, such as `.` or `./task-queue`. */
  readonly entries: Readonly<Record<string, Entry>>;
  /** Files built in addition to the entries. */
  readonly more?: readonly Entry[];
  readonly bin?: Readonly<Record<string, string>>;
  /** `node`: for Node only; `neutral`: for browsers too. */
  readonly platform: 'node' | 'neutral';
  /** Dependencies that only some users of the package need. */
  readonly optional?: RegExp;
  readonly readme: string;
  /** Pages of docs/ included in the package. */
  readonly pages?: readonly string[];
}

interface OurPackage {
  readonly version: string;
  readonly license: string;
  readonly engines: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
}

/**
 * Writes the package into `folder`, replacing it.
 *
 * @throws Error when the package cannot be built, or needs a package that is not among our
 * dependencies.
 */
export async function writePackage(spec: PackageSpec, folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  const entries = Object.values(spec.entries);
  const types = emitDeclarations(entries.map(({ source }) => source));
  const lib = [...entries, ...(spec.more ?? [])].map(({ lib, source }) => [lib, source]);
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: Object.fromEntries(lib),
    outdir: join(folder, 'lib'),
    bundle: true,
    splitting: true,
    packages: 'external',
    metafile: true,
    platform: spec.platform,
    format: 'esm',
    target: ['node20', 'es2022'],
    chunkNames: 'shared-[hash]',
    logLevel: 'silent',
  });
  for (const [path, text] of types) put(join(folder, 'types', path), text);
  cpSync(join(ROOT, spec.readme), join(folder, 'README.md'));
  for (const page of spec.pages ?? []) put(join(folder, page), withoutLinks(read(page)));
  const ours = JSON.parse(read('package.json')) as OurPackage;
  const described = describe(spec, packagesOf(metafile), ours);
  put(join(folder, 'package.json'), `${JSON.stringify(described, null, 2)}\n`);
}

function describe(spec: PackageSpec, needed: readonly string[], ours: OurPackage): object {
  const pinned = (names: readonly string[]): Record<string, string> =>
    Object.fromEntries(
      names.map((name) => {
        const version = ours.dependencies[name];
        if (version === undefined) throw new Error(`${name} is no dependency in package.json`);
        return [name, version];
      }),
    );
  const peers = needed.filter((name) => spec.optional?.test(name) === true);
  const entry = ({ lib, source }: Entry): object => ({
    types: `./types/${source.replace(/\.ts$/, '.d.ts')}`,
    default: `./lib/${lib}.js`,
  });
  return {
    name: spec.name,
    version: ours.version,
    description: spec.description,
    license: ours.license,
    private: true,
    type: 'module',
    engines: ours.engines,
    exports: Object.fromEntries(
      Object.entries(spec.entries).map(([name, each]) => [name, entry(each)]),
    ),
    ...(spec.bin === undefined ? {} : { bin: spec.bin }),
    files: ['lib', 'types', ...(spec.pages === undefined ? [] : ['docs'])],
    dependencies: pinned(needed.filter((name) => !peers.includes(name))),
    ...(peers.length === 0
      ? {}
      : {
          peerDependencies: pinned(peers),
          peerDependenciesMeta: Object.fromEntries(peers.map((name) => [name, { optional: true }])),
        }),
  };
}

/** Returns every npm package that the built files import, sorted. */
function packagesOf({ outputs }: Metafile): readonly string[] {
  const names = Object.values(outputs)
    .flatMap(({ imports }) => imports)
    .filter(({ external, path }) => external === true && !path.startsWith('node:'))
    .map(({ path }) => /^(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? path);
  return [...new Set(names)].sort();
}

/**
 * Returns the page with relative links as plain text, since the package does not contain their
 * targets.
 */
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
