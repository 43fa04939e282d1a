/** An API in this process over real sockets, without a database. */
import { connect } from 'node:net';
import type { Express } from 'express';
import { pino } from 'pino';
import { createApi, type ApiOptions } from '../../api/app.ts';
import { refusalOf } from '../../api/auth/admit.ts';
import type { Guard } from '../../api/auth/guard.ts';
import type { ApiDependencies } from '../../api/dependencies.ts';
import type { Route } from '../../api/http/route.ts';
import { listen, type Listening } from '../../api/http/server.ts';
import { NO_CHAINS } from '../../domain/plan/tokens.ts';
import type { Caller } from '../../domain/roles.ts';
import type { Database } from '../../prisma/client.ts';
import { NO_BALANCES } from '../../platform/balance-desk.ts';

/** Dependencies whose database must not be touched: every use of it throws. */
export function dependencies(settings: Partial<ApiDependencies['settings']> = {}): ApiDependencies {
  const untouched: Database = new Proxy({} as Database, {
    get: (_target, name) => {
      throw new Error(`the database was used: ${String(name)}`);
    },
  });
  return {
    db: untouched,
    log: pino({ level: 'silent' }),
    executors: { list: () => [] },
    balances: NO_BALANCES,
    chains: NO_CHAINS,
    signers: { list: () => [], get: () => undefined },
    handOver: () => undefined,
    settings: {
      apiPrefix: '/v3',
      approvalTtlSeconds: 7200,
      authEnabled: false,
      balanceStaleSeconds: 300,
      bridgeSnapshotMaxAgeSeconds: 3_600,
      edition: 'commercial',
      temporalNamespace: 'default',
      temporalUiUrl: 'http://127.0.0.1:8233',
      ...settings,
    },
  };
}

/** A guard that takes everybody for `caller`. */
export function guardOf(caller: Caller): Guard {
  return {
    recognise: () => Promise.resolve(),
    authenticate: () => Promise.resolve(caller),
    limit: () => Promise.resolve(null),
    admit: (route, params) => {
      const refusal = refusalOf(route, params, caller);
      return refusal === null ? Promise.resolve() : Promise.reject(refusal);
    },
  };
}

export interface Served extends Listening {
  readonly url: string;
}

/** Serves an application on a free port of this machine. */
export async function serve(app: Express, connections?: number): Promise<Served> {
  const bound = connections === undefined ? {} : { connections };
  const listening = await listen({ app, host: '127.0.0.1', port: 0, graceMs: 500, ...bound });
  return { ...listening, url: `http://127.0.0.1:${String(listening.port)}` };
}

/** Serves the API with these routes. */
export function serveApi(
  routes: readonly Route[],
  settings: Partial<ApiDependencies['settings']> = {},
  options: ApiOptions = {},
): Promise<Served> {
  return serve(createApi(dependencies(settings), routes, options));
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: {
    readonly detail: {
      readonly error: string;
      readonly message: string;
      readonly issues?: readonly { path: string; code: string }[];
    } & Record<string, unknown>;
  } & Record<string, unknown>;
}

/** Sends a request and reads its JSON answer. */
export async function send(url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, init);
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Answer['body'],
  };
}

/** Posts JSON; a string or bytes are sent as they are. */
export function post(
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const raw = typeof body === 'string' || body instanceof Uint8Array;
  return send(url, {
    method: 'POST',
    body: raw ? body : JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  });
}

/**
 * Sends a request line exactly as it is, which no HTTP client would, and reads the whole answer.
 */
export function sendRaw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(text, 'latin1');
    });
    let answer = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      answer += chunk;
    });
    socket.on('close', () => {
      resolve(answer);
    });
    socket.on('error', reject);
  });
}
