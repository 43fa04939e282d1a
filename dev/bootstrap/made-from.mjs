// Records what each part of dist/ was made from, so that an up-to-date part is not made again.
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Milliseconds for which old files stay: a running process may still load files of its build.
 */
const KEPT_MS = 24 * 3_600_000;

/** Reads and writes the record of the files from which a part of dist/ was made. */
export function noteOf(root, part) {
  const path = join(root, 'dist', `${part}.made-from.json`);
  return {
    write: (seen, made, shipped) => {
      const files = [...seen.keys()].sort();
      const key = keyOf(files, (file) => seen.get(file));
      put(path, `${JSON.stringify({ key, files, made, shipped }, null, 1)}\n`);
    },
    /** Whether `files` are unchanged and all outputs exist. */
    holds: (files) => {
      try {
        const noted = JSON.parse(readFileSync(path, 'utf8'));
        const key = keyOf(files(noted), (file) => contentOf(root, file));
        return (
          key === noted.key && noted.made.every((file) => existsSync(join(root, 'dist', file)))
        );
      } catch {
        return false;
      }
    },
  };
}

/** Writes a file in one step, so that no process reads half of it. */
export function put(path, text, mode = 0o644) {
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, text, { mode });
  renameSync(draft, path);
}

/** Removes files of a folder that are a day old and that nothing refers to. */
export function removeOld(folder, made, isOfTheBuild) {
  for (const name of readdirSync(folder).filter(
    (each) => isOfTheBuild(each) && !made.includes(each),
  )) {
    const path = join(folder, name);
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > KEPT_MS) rmSync(path, { force: true });
  }
}

function keyOf(files, read) {
  const digest = createHash('sha256').update(process.version);
  for (const file of [...files].sort()) {
    const text = read(file) ?? '(missing)';
    digest.update(`${file} ${text.length} `).update(text);
  }
  return digest.digest('hex').slice(0, 20);
}

export function contentOf(root, file) {
  try {
    return readFileSync(join(root, file), 'utf8');
  } catch {
    return undefined;
  }
}
