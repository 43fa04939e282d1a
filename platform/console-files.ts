/** The operators' console as built: the files that the build listed in its manifest. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

export const CONSOLE_PATH = '/console/';
export const CONSOLE_INDEX = 'index.html';
const FOLDER = fileURLToPath(new URL('../dist/console/', import.meta.url));

/** What the build records about its files (`dev/bootstrap/console.mjs`). */
const manifestForm = z.object({
  /** The hash of the index's import map, in the form of a content security policy. */
  import_map: z.string().regex(/^sha256-[A-Za-z0-9+/]{43}=$/),
  /** File names to the SHA-256 in lowercase hex and the size of each file. */
  files: z.record(
    z.string().regex(/^[A-Za-z0-9_-]+\.(html|js|css)$/),
    z.object({ sha256: z.string().regex(/^[0-9a-f]{64}$/), bytes: z.int() }),
  ),
});
export type ConsoleManifest = z.output<typeof manifestForm>;

export interface ConsoleFiles {
  readonly manifest: ConsoleManifest;
  /** File names to contents, including the index. */
  readonly files: ReadonlyMap<string, Buffer>;
}

/**
 * Reads all files of the console once, so that a start fails if a file is missing. Another folder
 * is for tests.
 */
export function readConsole(folder = FOLDER): ConsoleFiles {
  try {
    const listed = manifestForm.parse(JSON.parse(readFileSync(`${folder}/manifest.json`, 'utf8')));
    const names = Object.keys(listed.files);
    if (!names.includes(CONSOLE_INDEX)) throw new Error(`${CONSOLE_INDEX} is not listed`);
    return {
      manifest: listed,
      files: new Map(names.map((name) => [name, readFileSync(`${folder}/${name}`)])),
    };
  } catch (cause) {
    throw new Error(
      'The console is not built, or in part: run `npm run build`, or set SVC_CONSOLE_ENABLED=false.',
      { cause },
    );
  }
}

/** Returns the content security policy: own files, requests to this origin, nothing inline. */
export function consolePolicy({ import_map }: ConsoleManifest): string {
  return [
    "default-src 'none'",
    `script-src 'self' '${import_map}'`,
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self'",
    "font-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ');
}
