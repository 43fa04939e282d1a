/**
 * Serves the files of the operators' console. They are public, since they hold no secret. Requests
 * under `/dashboard/` decide what the console may read and do.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ServiceError } from '../../domain/errors.ts';
import type { OriginCheck } from '../dashboard/origin.ts';
import {
  CONSOLE_INDEX,
  CONSOLE_PATH,
  consolePolicy,
  type ConsoleFiles,
} from '../../platform/console-files.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/**
 * Answers a request below `/console`; returns false for any other path. Throws `forbidden` for
 * another host name than the console's, `method_not_allowed`, and `route_not_found` for a file that
 * this release does not have.
 */
export type ServeConsole = (
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
) => boolean;

export function serveConsole(
  { manifest: listed, files }: ConsoleFiles,
  checkOrigin: OriginCheck,
): ServeConsole {
  const policy = consolePolicy(listed);
  const packed = new Map<string, Buffer>();
  const packedOf = (name: string, bytes: Buffer): Buffer => {
    const known = packed.get(name) ?? gzipSync(bytes);
    packed.set(name, known);
    return known;
  };
  return (path, request, response) => {
    if (path !== '/console' && !path.startsWith(CONSOLE_PATH)) return false;
    // Under another host name the page would have another origin, without the operator's key and
    // session.
    checkOrigin(request);
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
    // A page of an earlier release may request scripts that are gone; the index is not a script.
    if (bytes === undefined) throw new ServiceError('route_not_found');
    const takesPacked = /\bgzip\b(?!;q=0(\.0*)?\b)/.test(
      String(request.headers['accept-encoding'] ?? ''),
    );
    const content = takesPacked ? packedOf(name, bytes) : bytes;
    response.writeHead(200, {
      'Content-Type': TYPES[extname(name)],
      'Content-Length': content.byteLength,
      'Cache-Control': name === CONSOLE_INDEX ? 'no-cache' : 'public, max-age=31536000, immutable',
      Vary: 'Accept-Encoding',
      ...(takesPacked ? { 'Content-Encoding': 'gzip' } : {}),
    });
    response.end(request.method === 'HEAD' ? undefined : content);
    return true;
  };
}

/**
 * Returns a file's name. A script or style has its content hash in its name; any other path is the
 * index.
 */
function nameOf(rest: string): string {
  return /^[A-Za-z0-9_-]+-[A-Z0-9]{8}\.(js|css)$/.test(rest) ? rest : CONSOLE_INDEX;
}

function setPolicies(response: ServerResponse, policy: string): void {
  response.setHeader('Content-Security-Policy', policy);
  response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
  response.setHeader('Cross-Origin-Resource-Policy', 'same-origin');
  response.setHeader('Referrer-Policy', 'no-referrer');
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Permissions-Policy', 'camera=(), geolocation=(), microphone=(), payment=()');
}
