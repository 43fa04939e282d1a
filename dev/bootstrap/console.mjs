// Builds the operators' console of `console/` into dist/console/. Every file but the index is named
// for its content; the index names each with its hash, so a browser accepts no other bytes.
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { contentOf, noteOf, put, removeOld } from './made-from.mjs';

/** The path under which the console is served; its files use this path in their links. */
const BASE = '/console/';
const ENTRIES = { main: 'console/main.tsx', style: 'console/style.css' };
const TEMPLATE = 'console/index.html';

/** Inputs of the build besides the sources of the console. */
const ALWAYS = [
  TEMPLATE,
  'console/tsconfig.json',
  'package-lock.json',
  'dev/bootstrap/console.mjs',
  'dev/bootstrap/made-from.mjs',
];

/** Our folders whose code may be in a page; other folders may give only types. */
const TAKEN_IN = /^(console|domain|clients\/http|node_modules)\//;

/**
 * @param {string} root
 * @returns {{ isUpToDate: () => boolean, make: () => Promise<void> }}
 */
export function consoleOf(root) {
  const note = noteOf(root, 'console');
  const isUpToDate = () => note.holds(({ files }) => files);
  return { isUpToDate, make: () => makeConsole(root, note) };
}

async function makeConsole(root, note) {
  const folder = join(root, 'dist', 'console');
  const { outputFiles, metafile } = await bundle(root);
  const foreign = Object.keys(metafile.inputs).filter((file) => !TAKEN_IN.test(file));
  if (foreign.length > 0)
    throw new Error(`the console would contain ${foreign.join(', ')}: import only types of it`);
  const outputs = new Map(
    outputFiles.map(({ path, contents }) => [basename(path), Buffer.from(contents)]),
  );
  const named = (entry) =>
    basename(
      Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === entry)[0],
    );
  const { html, importMap } = pageOf(root, outputs, {
    main: named(ENTRIES.main),
    style: named(ENTRIES.style),
  });
  outputs.set('index.html', Buffer.from(html));

  mkdirSync(folder, { recursive: true });
  // Write the index and the list of files last: the files that they name must exist.
  for (const [name, bytes] of outputs) put(join(folder, name), bytes);
  const files = Object.fromEntries(
    [...outputs]
      .map(([name, bytes]) => [
        name,
        { sha256: digest('sha256', bytes, 'hex'), bytes: bytes.length },
      ])
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  put(
    join(folder, 'manifest.json'),
    `${JSON.stringify({ import_map: `sha256-${digest('sha256', importMap)}`, files }, null, 1)}\n`,
  );
  const made = [...Object.keys(files), 'manifest.json'];
  const sources = Object.keys(metafile.inputs).filter((file) => !file.startsWith('node_modules/'));
  const seen = [...sources, ...ALWAYS].map((file) => [file, contentOf(root, file)]);
  note.write(
    new Map(seen),
    made.map((name) => `console/${name}`),
  );
  removeOld(folder, made, () => true);
}

async function bundle(root) {
  const { build, stop } = await import('esbuild');
  try {
    return await build({
      absWorkingDir: root,
      entryPoints: ENTRIES,
      outdir: join(root, 'dist', 'console'),
      entryNames: '[name]-[hash]',
      chunkNames: '[name]-[hash]',
      bundle: true,
      // node_modules may be a link, as in the copies in which test/rules breaks rules.
      preserveSymlinks: true,
      splitting: true,
      platform: 'browser',
      format: 'esm',
      target: 'es2022',
      jsx: 'automatic',
      minify: true,
      // React then leaves out its checks for developers.
      define: { 'process.env.NODE_ENV': '"production"' },
      legalComments: 'none',
      tsconfig: join(root, 'console', 'tsconfig.json'),
      publicPath: BASE,
      logLevel: 'silent',
      write: false,
      metafile: true,
    });
  } finally {
    await stop();
  }
}

/** The index, and the text of its import map, which the content policy names by its hash. */
function pageOf(root, outputs, { main, style }) {
  const integrityOf = (name) => `sha384-${digest('sha384', outputs.get(name))}`;
  const scripts = [...outputs.keys()].filter((name) => name.endsWith('.js')).sort();
  const integrity = Object.fromEntries(scripts.map((name) => [BASE + name, integrityOf(name)]));
  const importMap = JSON.stringify({ integrity });
  const values = {
    IMPORT_MAP: importMap,
    MAIN: BASE + main,
    MAIN_INTEGRITY: integrityOf(main),
    STYLE: BASE + style,
    STYLE_INTEGRITY: integrityOf(style),
  };
  const html = (contentOf(root, TEMPLATE) ?? '').replace(/%([A-Z_]+)%/g, (_, name) => values[name]);
  // The hash covers every character between the tags, so nothing may be reformatted.
  const [, written] = /<script type="importmap">(.*?)<\/script>/s.exec(html);
  return { html, importMap: written };
}

function digest(algorithm, bytes, form = 'base64') {
  return createHash(algorithm).update(bytes).digest(form);
}
