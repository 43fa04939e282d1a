/** The operators' page as it was built: its files, by the list that the build wrote. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

export const CONSOLE_PATH = '/console/';
export const CONSOLE_INDEX = 'index.html';
const FOLDER = fileURLToPath(new URL('../dist/console/', import.meta.url));

/** What the build notes of its files (`dev/bootstrap/console.mjs`). */
const manifestForm = z.object({
  /** The hash of the index's import map, as a content policy names it. */
  import_map: z.string().regex(/^sha256-[A-Za-z0-9+/]{43}=$/),
  /** By name, each with its SHA-256 in lowercase hex and its size. */
  files: z.record(
    z.string().regex(/^[A-Za-z0-9_-]+\.(html|js|css)$/),
    z.object({ sha256: z.string().regex(/^[0-9a-f]{64}$/), bytes: z.int() }),
  ),
});
export type ConsoleManifest = z.output<typeof manifestForm>;

export interface ConsoleFiles {
  readonly manifest: ConsoleManifest;
  /** By name; the index is among them. */
  readonly files: ReadonlyMap<string, Buffer>;
}

/**
 * Reads the page that was built beside the program, once: a start either has all of it or says what
 * is missing. Another folder is for tests.
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

/** The content policy of the page: its own files, requests to this origin, and nothing inline. */
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
