// Makes one file of a program's TypeScript, so that its processes start in a third of the time. What was
// made is kept by the content of every file that it was made of: a changed source is always made anew.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const MODULES = join(ROOT, 'node_modules');
/** What decides beside the sources: how they are compiled, which packages there are, and this file. */
const ALWAYS = ['tsconfig.json', 'package-lock.json', 'dev/bootstrap/entry.mjs'].map((file) => join(ROOT, file));
const LOADERS = { '.ts': 'ts', '.mjs': 'js', '.js': 'js', '.cjs': 'js', '.json': 'json' };
/** A process may still load a piece of what it was started with, so nothing newer than this is removed. */
const KEPT_MS = 24 * 3_600_000;

/** The path of a program's single file, made when there is none of its present sources. */
export async function bundledEntry(entry) {
  // The project's place is written into the file, and copies of the project may share their packages.
  const folder = join(MODULES, '.cache', 'entries', `${basename(entry, '.ts')}-${hash([ROOT, entry])}`);
  const made = madeFrom(folder);
  if (made !== null && made.key === keyOf(made.files, contentOf)) {
    const path = join(folder, made.key, 'entry.mjs');
    if (existsSync(path)) return path;
  }
  return bundle(entry, folder);
}

async function bundle(entry, folder) {
  const { build, stop } = await import('esbuild');
  mkdirSync(folder, { recursive: true });
  const draft = mkdtempSync(join(folder, 'draft-'));
  const seen = new Map(ALWAYS.map((file) => [file, contentOf(file)]));
  try {
    await build({
      absWorkingDir: ROOT,
      entryPoints: { entry: resolve(ROOT, entry) },
      outdir: draft,
      outExtension: { '.js': '.mjs' },
      ...{ bundle: true, splitting: true, platform: 'node', format: 'esm', target: 'node20', packages: 'external' },
      ...{ keepNames: true, sourcemap: 'linked', logLevel: 'silent', plugins: [sourcesInPlace(seen)] },
    });
    const files = [...seen.keys()].sort();
    const key = keyOf(files, (file) => seen.get(file));
    const place = join(folder, key);
    // Another process may have been quicker; theirs is the same.
    if (!existsSync(place)) moveInto(draft, place);
    const note = join(folder, `${basename(draft)}.json`);
    writeFileSync(note, JSON.stringify({ key, files: files.map((file) => relative(ROOT, file)) }));
    renameSync(note, join(folder, 'made-from.json'));
    removeOld(folder, key);
    return join(place, 'entry.mjs');
  } finally {
    // It would stay beside the program as long as that runs.
    await stop();
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Notes what every source holds, and keeps true what a source says about where it lies. */
function sourcesInPlace(seen) {
  return {
    name: 'sources-in-place',
    setup: ({ onLoad }) =>
      onLoad({ filter: /./ }, ({ path }) => {
        const text = readFileSync(path, 'utf8');
        seen.set(path, text);
        const here = { url: pathToFileURL(path).href, dirname: dirname(path), filename: path };
        const contents = text.replace(/\bimport\.meta\.(url|dirname|filename)\b/g, (_, name) => JSON.stringify(here[name]));
        return { contents, loader: LOADERS[extname(path)], resolveDir: dirname(path) };
      }),
  };
}

function moveInto(draft, place) {
  try {
    renameSync(draft, place);
  } catch (error) {
    if (!existsSync(place)) throw error;
  }
}

function removeOld(folder, key) {
  for (const name of readdirSync(folder)) {
    if (name === key || name === 'made-from.json') continue;
    const path = join(folder, name);
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
    if (age > KEPT_MS) rmSync(path, { recursive: true, force: true });
  }
}

function madeFrom(folder) {
  try {
    const { key, files } = JSON.parse(readFileSync(join(folder, 'made-from.json'), 'utf8'));
    return { key, files: files.map((file) => join(ROOT, file)) };
  } catch {
    return null;
  }
}

function keyOf(files, read) {
  return hash(files.flatMap((file) => [file, read(file) ?? '(missing)']));
}

function hash(texts) {
  const digest = createHash('sha256').update(process.version);
  for (const text of texts) digest.update(`${text.length} `).update(text);
  return digest.digest('hex').slice(0, 20);
}

function contentOf(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
