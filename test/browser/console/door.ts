/**
 * One origin for the console and its service, which sees every request of the page: whether each
 * write is signed, and what its answer was. It stands before the service, checks each signature by
 * itself, passes the request on and can lose the answer.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dashboardCanonicalString } from '../../../api/auth/canonical.ts';
import { signedFetch } from '../../support/signed-fetch.ts';
import type { SigningKey } from '../../../dev/stack/keys.ts';

export interface Write {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  readonly status: number;
  /** By which operator it is signed for exactly this request; null: by nobody. */
  readonly signedBy: string | null;
}

export interface Door {
  readonly origin: string;
  readonly writes: readonly Write[];
  /** The next write is carried out, and its answer is lost. */
  loseNextAnswer(): void;
  stop(): Promise<void>;
}

export interface Behind {
  readonly apiUrl: string;
  /** Under which the service knows the operators. */
  readonly key: SigningKey;
  /** Operators with their secrets. */
  readonly operators: Readonly<Record<string, string>>;
}

const API = '/dashboard/api';
const STREAM_MS = 700;

export async function startDoor(behind: Behind): Promise<Door> {
  const writes: Write[] = [];
  let loses = false;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = 'GET', url = '/' } = request;
    const body = await bodyOf(request);
    const signedBy = method === 'GET' ? null : signer(request, body, behind);
    const own = ownAnswer(method, url, operatorOf(request) ?? signedBy);
    if (method !== 'GET' && signedBy === null) {
      writes.push({ method, path: url, body, status: 401, signedBy });
      json(response, 401, { error: 'unauthenticated', message: 'Not signed.' });
      return;
    }
    if (url === '/dashboard/stream') {
      stream(response);
      return;
    }
    if (own !== null) {
      const cookie = `operator=${signedBy ?? ''}; Path=/; HttpOnly; SameSite=Strict`;
      json(response, 200, own, signedBy === null ? {} : { 'set-cookie': cookie });
      return;
    }
    const { status, headers, text } = await passedOn(behind, method, url, body);
    if (method !== 'GET') {
      writes.push({ method, path: url, body, status, signedBy });
      if (loses) {
        loses = false;
        request.socket.destroy();
        return;
      }
    }
    response.writeHead(status, headers).end(text);
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) =>
      json(response, 502, { message: String(error) }),
    );
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    origin: `http://localhost:${String((server.address() as AddressInfo).port)}`,
    writes,
    loseNextAnswer: () => {
      loses = true;
    },
    stop: () => {
      server.closeAllConnections();
      return new Promise((closed) => server.close(() => closed()));
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}

/** Who has signed exactly this request, by the contract and by no code of the page's. */
function signer({ method = '', url = '', headers }: IncomingMessage, body: string, behind: Behind) {
  const of = (name: string): string => String(headers[`x-svc-dashboard-${name}`] ?? '');
  const [path = '', query = ''] = url.split('?');
  const operator = of('operator');
  const text = dashboardCanonicalString({
    ...{ method, path: decodeURIComponent(path), query, body: Buffer.from(body), operator },
    ...{ timestamp: of('timestamp'), nonce: of('nonce') },
  });
  const secret = behind.operators[operator] ?? '';
  const right = `v3=${createHmac('sha256', secret).update(text).digest('hex')}`;
  return secret !== '' && of('signature') === right ? operator : null;
}

function operatorOf({ headers }: IncomingMessage): string | null {
  return /operator=([^;]*)/.exec(headers.cookie ?? '')?.[1] ?? null;
}

/** What belongs to key and session, which are tested where they are made. */
function ownAnswer(method: string, url: string, operator: string | null): unknown {
  if (url === '/dashboard/nonce') return { nonce: randomBytes(16).toString('hex') };
  if (url === '/dashboard/session') return { operator };
  if (method === 'GET' && url === `${API}/whoami`) {
    const id = `dashboard:${operator ?? ''}`;
    return {
      ...{ client_id: id, key_id: id, role: 'operator' },
      dashboard: { operator: operator ?? '', allowlist: false },
    };
  }
  return null;
}

async function passedOn({ apiUrl, key }: Behind, method: string, url: string, body: string) {
  const isApi = url.startsWith(`${API}/`);
  const target = apiUrl + (isApi ? `/v3${url.slice(API.length)}` : url);
  const headers = body === '' ? {} : { 'content-type': 'application/json' };
  const init = { method, headers, ...(body === '' ? {} : { body }) };
  const answer = isApi ? await signedFetch(key, target, init) : await fetch(target, init);
  const kept = ['content-type', 'content-security-policy', 'cache-control', 'x-request-id'];
  return {
    status: answer.status,
    headers: Object.fromEntries(
      kept.flatMap((name) => {
        const value = answer.headers.get(name);
        return value === null ? [] : [[name, value]];
      }),
    ),
    text: Buffer.from(await answer.arrayBuffer()),
  };
}

/** A reason to read again, again and again. */
function stream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  const again = setInterval(() => response.write('event: reset\ndata: {}\n\n'), STREAM_MS);
  response.on('close', () => clearInterval(again));
}

function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.headersSent) return;
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}
