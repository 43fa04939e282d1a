/** What the servers of the bridges have in common: faults on demand, errors, their process. */
import { once } from 'node:events';
import type { ErrorRequestHandler, Express } from 'express';
import type { z } from 'zod';

/** A refusal to answer as asked. */
export class BridgeHttpError extends Error {
  override readonly name = 'BridgeHttpError';
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Faults that live in memory only: one that is started again is healthy. */
export interface FaultBox<T> {
  current(): T;
  /** Replaces them as a whole. */
  set(wish: unknown): T;
  clear(): T;
}

/** @throws BridgeHttpError (400) for a wish that the schema refuses. */
export function createFaultBox<T>(schema: z.ZodType<T>): FaultBox<T> {
  let faults = schema.parse({});
  return {
    current: () => faults,
    set: (wish) => {
      const read = schema.safeParse(wish);
      if (!read.success) throw new BridgeHttpError(400, read.error.message);
      return (faults = read.data);
    },
    clear: () => (faults = schema.parse({})),
  };
}

/** GET, POST and DELETE of `/faults`, as the paper venue has them. */
export function addFaultRoutes<T>(
  app: Express,
  faults: FaultBox<T>,
  changed = (): void => {},
): void {
  app.get('/faults', (_request, response) => void response.json(faults.current()));
  app.post('/faults', (request, response) => {
    const set = faults.set(request.body);
    changed();
    response.json(set);
  });
  app.delete('/faults', (_request, response) => {
    const none = faults.clear();
    changed();
    response.json(none);
  });
}

/** Last of all: an unknown route, and whatever a route has thrown. */
export function addErrorRoutes(app: Express, name: string): void {
  app.use(() => {
    throw new BridgeHttpError(404, 'there is no such route');
  });
  const answer: ErrorRequestHandler = (error: unknown, request, response, _next) => {
    const own = error instanceof BridgeHttpError;
    const parser = (error as { status?: unknown }).status;
    const status = own ? error.status : typeof parser === 'number' && parser < 500 ? parser : 503;
    // Most likely a chain is away.
    if (!own && status === 503)
      process.stderr.write(`${name}: ${request.method} ${request.path}: ${String(error)}\n`);
    const message = own ? error.message : status === 503 ? 'it cannot answer now' : 'bad request';
    response.status(status).json({ code: status, error: message });
  };
  app.use(answer);
}

/** One that listens. */
export interface Running {
  readonly port: number;
  readonly url: string;
  close(): Promise<void>;
}

/** Opens the port on 127.0.0.1; `atEnd` is called once nothing is asked any more. */
export async function listen(
  app: Express,
  port: number,
  atEnd: () => Promise<void> | void,
): Promise<Running> {
  const server = app.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const taken = typeof address === 'object' && address !== null ? address.port : port;
  return {
    port: taken,
    url: `http://127.0.0.1:${String(taken)}`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await atEnd();
    },
  };
}

/** Says on one line that it is ready, and ends on a signal or with its parent. */
export function serve(running: Running): void {
  let ending = false;
  const end = (): void => {
    if (ending) return;
    ending = true;
    void running.close().finally(() => process.exit(0));
  };
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
  // The parent holds the other end of this channel; it closes even when the parent is killed.
  process.on('disconnect', end);
  process.stdout.write(`${JSON.stringify({ ready: true, port: running.port })}\n`);
}
