// `npm run build`: makes dist/, from which everything runs: one file for each program with shared
// pieces, the bundle of the workflows that a worker loads, and the operators' console. A part whose
// sources are unchanged is not built again, so every command can build first.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join, relative } from 'node:path';
import { consoleOf } from './console.mjs';
import { ROOT } from './install.mjs';
import { contentOf, noteOf, put, removeOld } from './made-from.mjs';
import { COMMANDS, LIBRARIES, PROGRAMS, SHIPPED } from './programs.mjs';
import { startStep } from './progress.mjs';

/** Inputs of the build besides the sources: compiler settings, packages and build programs. */
const ALWAYS = [
  'tsconfig.json',
  'package-lock.json',
  'dev/bootstrap/build.mjs',
  'dev/bootstrap/made-from.mjs',
  'dev/bootstrap/programs.mjs',
];
const LOADERS = { '.ts': 'ts', '.mjs': 'js', '.js': 'js', '.cjs': 'js', '.json': 'json' };
/** Packages that are built into the programs. */
const TAKEN_IN = ['commander', 'picocolors', 'uuid', 'viem', 'zod'];

/** Brings dist/ up to date; shows a step only when there is something to build. */
export async function build() {
  const parts = [programsOf(ROOT, PROGRAMS, LIBRARIES), workflowsOf(ROOT), consoleOf(ROOT)].filter(
    (part) => !part.isUpToDate(),
  );
  if (parts.length === 0) return;
  const step = startStep('Building');
  try {
    for (const part of parts) await part.make();
  } catch (error) {
    step.fail();
    throw error;
  }
  step.done();
}

/**
 * The programs and libraries of the project in `root`.
 *
 * @param {string} root
 * @param {Record<string, string>} programs sources by the name that each gets in dist/
 * @param {Record<string, string>} libraries
 * @returns {{ isUpToDate: () => boolean, make: () => Promise<void> }}
 */
export function programsOf(root, programs, libraries = {}) {
  const note = noteOf(root, 'programs');
  // A new source matters only when a changed one imports it, so known sources are enough.
  const isUpToDate = () => note.holds(({ files }) => files);
  return { isUpToDate, make: () => makePrograms(root, { programs, libraries }, note) };
}

async function makePrograms(root, { programs, libraries }, note) {
  const dist = join(root, 'dist');
  const { build: bundle, stop } = await import('esbuild');
  const seen = new Map(ALWAYS.map((file) => [file, contentOf(root, file)]));
  try {
    const { outputFiles, metafile } = await bundle({
      absWorkingDir: root,
      entryPoints: {
        ...libraries,
        ...Object.fromEntries(
          Object.entries(programs).map(([name, source]) => [code(name), source]),
        ),
      },
      outdir: dist,
      chunkNames: 'shared-[hash]',
      bundle: true,
      splitting: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
      keepNames: true,
      sourcemap: 'linked',
      logLevel: 'silent',
      write: false,
      metafile: true,
      plugins: [packages(), sourcesInPlace(root, seen)],
    });
    for (const { path, text } of outputFiles) put(path, text);
    // Starters are written after the files that they load: a program may start at any moment.
    for (const name of Object.keys(programs))
      put(join(dist, `${name}.js`), starter(name), COMMANDS.includes(name) ? 0o755 : 0o644);
    const made = [
      ...outputFiles.map(({ path }) => relative(dist, path)),
      ...Object.keys(programs).map((name) => `${name}.js`),
    ];
    note.write(seen, made, shippedOf(programs, metafile.outputs));
    removeOld(dist, made, (name) => name.startsWith('shared-'));
  } finally {
    // Without this call, esbuild's process runs until this process ends.
    await stop();
  }
}

/** The files that the programs of production load; the image has only these. */
function shippedOf(programs, outputs) {
  const entries = SHIPPED.filter((name) => Object.hasOwn(programs, name));
  const loaded = new Set(entries.map((name) => `dist/${code(name)}.js`));
  for (const path of loaded)
    for (const { path: next, external } of outputs[path].imports)
      if (external !== true) loaded.add(next);
  return [
    ...entries.map((name) => `${name}.js`),
    ...[...loaded].map((path) => path.replace(/^dist\//, '')),
  ].sort();
}

/**
 * Programs load packages from node_modules. The packages of {@link TAKEN_IN} have hundreds of small
 * modules, so the programs contain the used parts of these, which saves most of a start's time.
 */
function packages() {
  return {
    name: 'packages',
    setup: ({ onLoad, onResolve }) => {
      // CommonJS packages require Node's own modules, and an ES module has no `require`.
      onResolve({ filter: /^node:/ }, ({ path, kind }) =>
        kind === 'require-call' ? { path, namespace: 'of-node' } : undefined,
      );
      onLoad({ filter: /./, namespace: 'of-node' }, ({ path }) => ({
        contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
      }));
      onResolve({ filter: /^[^./]/ }, ({ path, importer }) => {
        if (importer === '' || path.startsWith('node:')) return undefined;
        const name = /^(?:@[^/]+\/)?[^/]+/.exec(path)?.[0];
        // The imports of a bundled package are resolved from that package.
        if (TAKEN_IN.includes(name) || /[\\/]node_modules[\\/]/.test(importer)) return undefined;
        return { path, external: true };
      });
    },
  };
}

/** Name of the file with a program's code; a small file beside it starts the program. */
function code(name) {
  return `${name}-code`;
}

/**
 * Text of the file that starts a program. Source maps give stack traces the lines of the sources,
 * but Node reads every map at the start: too slow for a command at a prompt.
 */
function starter(name) {
  if (COMMANDS.includes(name)) return `#!/usr/bin/env node\nimport './${code(name)}.js';\n`;
  return `process.setSourceMapsEnabled(true);\nawait import('./${code(name)}.js');\n`;
}

/**
 * Records the content of every source, and keeps `import.meta.url` and `import.meta.dirname` of a
 * source true in the bundle.
 */
function sourcesInPlace(root, seen) {
  return {
    name: 'sources-in-place',
    setup: ({ onLoad, onResolve }) => {
      // Modules that run before a build are not bundled, so there is one instance of each.
      onResolve({ filter: /^\.{1,2}\/.*\.mjs$/ }, ({ path, resolveDir }) => ({
        path: `../${relative(root, join(resolveDir, path))}`,
        external: true,
      }));
      onLoad({ filter: /./ }, ({ path }) => {
        if (/[\\/]node_modules[\\/]/.test(path)) return undefined;
        const text = readFileSync(path, 'utf8');
        const source = relative(root, path);
        seen.set(source, text);
        const here = {
          url: `new URL(${JSON.stringify(`../${source}`)}, import.meta.url).href`,
          dirname: `(import.meta.dirname + ${JSON.stringify(`/../${dirname(source)}`)})`,
        };
        const contents = text.replace(/\bimport\.meta\.(url|dirname)\b/g, (_, name) => here[name]);
        return { contents, loader: LOADERS[extname(path)], resolveDir: dirname(path) };
      });
    },
  };
}

/**
 * The code of the workflows for all settings; a process writes its own settings in front when it
 * loads the code.
 */
function workflowsOf(root) {
  const note = noteOf(root, 'workflows');
  const make = async () => {
    const { bundleWorkflowCode } = await import('@temporalio/worker');
    const seen = new Map(workflowSources(root).map((file) => [file, contentOf(root, file)]));
    const quiet = () => undefined;
    const { code } = await bundleWorkflowCode({
      workflowsPath: join(root, 'workflows', 'index.ts'),
      failureConverterPath: join(root, 'workflows', 'failure-converter.cjs'),
      workflowInterceptorModules: [join(root, 'workflows', 'trace-headers.ts')],
      webpackConfigHook: compileToEs2022,
      logger: {
        log: quiet,
        trace: quiet,
        debug: quiet,
        info: quiet,
        warn: console.warn,
        error: console.error,
      },
    });
    put(join(root, 'dist', 'workflows.js'), code);
    note.write(seen, ['workflows.js']);
  };
  return { isUpToDate: () => note.holds(() => workflowSources(root)), make };
}

/**
 * Sets ES2022 as the target of workflow code. The SDK's own target, ES2017, replaces every object
 * spread by calls of helper functions, which cost the workflow thread time. The commands of a run
 * keep their order, because both targets leave async functions as they are.
 *
 * @type {NonNullable<import('@temporalio/worker').BundleOptions['webpackConfigHook']>}
 */
export const compileToEs2022 = (config) => {
  const compilers = (config.module?.rules ?? []).flatMap((rule) => rule?.use?.options?.jsc ?? []);
  if (compilers.length !== 1)
    throw new Error('the SDK configures the compiler of workflows in a way unknown here');
  compilers[0].target = 'es2022';
  return config;
};

/** Every file that the workflows may import; the lockfile pins the packages. */
function workflowSources(root) {
  const folders = ['workflows', 'domain'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(root, join(entry.parentPath, entry.name))),
  );
  return [...folders, ...ALWAYS];
}
