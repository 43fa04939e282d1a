/**
 * The operators' page, as files: to anybody, since nothing in them is secret. What the page may
 * read and do is decided where it asks for it, under `/dashboard/`.
 */
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname } from 'node:path';
import { gzipSync } from 'node:zlib';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { ServiceError } from '../../domain/errors.ts';

export const CONSOLE_PATH = '/console/';
const INDEX = 'index.html';
const FOLDER = fileURLToPath(new URL('../../dist/console/', import.meta.url));

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/** What the build notes of its files (`dev/bootstrap/console.mjs`). */
export const manifest = z.object({
  /** The hash of the index's import map, as a content policy names it. */
  import_map: z.string().regex(/^sha256-[A-Za-z0-9+/]{43}=$/),
  /** By name, each with its SHA-256 in lowercase hex and its size. */
  files: z.record(
    z.string().regex(/^[A-Za-z0-9_-]+\.(html|js|css)$/),
    z.object({ sha256: z.string().regex(/^[0-9a-f]{64}$/), bytes: z.int() }),
  ),
});
export type ConsoleManifest = z.output<typeof manifest>;

export interface ConsoleFiles {
  readonly manifest: ConsoleManifest;
  /** By name; the index is among them. */
  readonly files: ReadonlyMap<string, Buffer>;
}

/**
 * Answers a request below `/console`; false for any other path. Throws `method_not_allowed`, and
 * `route_not_found` for a part that this release does not have.
 */
export type ServeConsole = (
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
) => boolean;

/**
 * Reads the page that was built beside the program, once: a start either has all of it or says what
 * is missing. Another folder is for tests.
 */
export function readConsole(folder = FOLDER): ConsoleFiles {
  try {
    const listed = manifest.parse(JSON.parse(readFileSync(`${folder}/manifest.json`, 'utf8')));
    const names = Object.keys(listed.files);
    if (!names.includes(INDEX)) throw new Error(`${INDEX} is not listed`);
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

export function serveConsole({ manifest: listed, files }: ConsoleFiles): ServeConsole {
  const policy = consolePolicy(listed);
  const packed = new Map<string, Buffer>();
  const packedOf = (name: string, bytes: Buffer): Buffer => {
    const known = packed.get(name) ?? gzipSync(bytes);
    packed.set(name, known);
    return known;
  };
  return (path, request, response) => {
    if (path !== '/console' && !path.startsWith(CONSOLE_PATH)) return false;
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      throw new ServiceError('method_not_allowed', { context: { allow: ['GET', 'HEAD'] } });
    }
    setPolicies(response, policy);
    if (path === '/console') {
      response.writeHead(308, { Location: CONSOLE_PATH }).end();
      return true;
    }
    const name = nameOf(path.slice(CONSOLE_PATH.length));
    const bytes = files.get(name);
    // A page of an earlier release asks for parts that are gone; the index would be no script.
    if (bytes === undefined) throw new ServiceError('route_not_found');
    const takesPacked = /\bgzip\b(?!;q=0(\.0*)?\b)/.test(
      String(request.headers['accept-encoding'] ?? ''),
    );
    const content = takesPacked ? packedOf(name, bytes) : bytes;
    response.writeHead(200, {
      'Content-Type': TYPES[extname(name)],
      'Content-Length': content.byteLength,
      'Cache-Control': name === INDEX ? 'no-cache' : 'public, max-age=31536000, immutable',
      Vary: 'Accept-Encoding',
      ...(takesPacked ? { 'Content-Encoding': 'gzip' } : {}),
    });
    response.end(request.method === 'HEAD' ? undefined : content);
    return true;
  };
}

/** A part has its content's hash in its name; anything else is a page of the index. */
function nameOf(rest: string): string {
  return /^[A-Za-z0-9_-]+-[A-Z0-9]{8}\.(js|css)$/.test(rest) ? rest : INDEX;
}

function setPolicies(response: ServerResponse, policy: string): void {
  response.setHeader('Content-Security-Policy', policy);
  response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
  response.setHeader('Cross-Origin-Resource-Policy', 'same-origin');
  response.setHeader('Referrer-Policy', 'no-referrer');
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Permissions-Policy', 'camera=(), geolocation=(), microphone=(), payment=()');
}
