/**
 * Requests that are signed before the clock runs, and ways to send them: as many as go, or so many
 * a second.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { createSigner } from '../../clients/http/index.ts';
import { PERIMETER_KEY } from '../processes/perimeter-key.ts';

/** How many connections load the API. */
const CONNECTIONS = 32;

export interface RequestKind {
  readonly method: 'GET' | 'POST';
  /** Requested in turns. */
  readonly paths: readonly string[];
  readonly body?: string;
  readonly expected: number;
}

interface Prepared {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
}

/**
 * Each with a nonce of its own. Signing costs the caller, so it is done before the time that is
 * measured.
 */
function prepare(
  { method, paths, body }: RequestKind,
  port: number,
  count: number,
): Promise<Prepared[]> {
  const sign = createSigner(PERIMETER_KEY);
  const one = async (_: unknown, index: number): Promise<Prepared> => {
    const path = paths[index % paths.length] ?? '/';
    const url = `http://127.0.0.1:${String(port)}${path}`;
    return {
      method,
      path,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(await sign({ method, url, body })),
      },
      ...(body === undefined ? {} : { body }),
    };
  };
  return Promise.all(Array.from({ length: count }, one));
}

export interface Target {
  readonly port: number;
  readonly kind: RequestKind;
}

/**
 * Sends `count` requests over 32 connections; answers how many a second were answered as expected.
 */
export async function throughputOf({ port, kind }: Target, count: number): Promise<number> {
  const prepared = await prepare(kind, port, count);
  const pool = new Pool(`http://127.0.0.1:${String(port)}`, { connections: CONNECTIONS });
  try {
    let next = 0;
    const started = performance.now();
    const lane = async (): Promise<void> => {
      for (let request = prepared[next++]; request !== undefined; request = prepared[next++])
        await send(pool, request, kind);
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, lane));
    return count / ((performance.now() - started) / 1_000);
  } finally {
    await pool.close();
  }
}

/**
 * Sends at a fixed rate, whether answers come or not; answers milliseconds from when each was due
 * to its answer.
 */
export async function latenciesOf(
  { port, kind }: Target,
  { rate, seconds }: { readonly rate: number; readonly seconds: number },
): Promise<number[]> {
  const prepared = await prepare(kind, port, rate * seconds);
  const pool = new Pool(`http://127.0.0.1:${String(port)}`, { connections: CONNECTIONS });
  const latencies: number[] = [];
  try {
    const started = performance.now();
    await Promise.all(
      prepared.map(async (request, index) => {
        const due = started + (index * 1_000) / rate;
        await sleep(Math.max(0, due - performance.now()));
        // A timer that rings late is the bench's own delay and not the service's.
        const sent = Math.max(due, performance.now());
        await send(pool, request, kind);
        latencies.push(performance.now() - sent);
      }),
    );
    return latencies;
  } finally {
    await pool.close();
  }
}

async function send(pool: Pool, request: Prepared, kind: RequestKind): Promise<void> {
  const { statusCode, body } = await pool.request(request);
  if (statusCode === kind.expected) return body.dump();
  throw new Error(`${request.method} ${request.path} answered ${statusCode}: ${await body.text()}`);
}
