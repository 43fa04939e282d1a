/**
 * The operators' listener: readiness, metrics, API documentation, payload codec. Its requests are
 * unsigned, so it serves nothing else.
 */
import type { RequestListener } from 'node:http';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import helmet from 'helmet';
import { register } from 'prom-client';
import { ServiceError } from '../../domain/errors.ts';
import { codecRoutes, type CodecOptions } from './codec.ts';
import { DOCS_CONTENT_POLICY, serveDocs } from './docs.ts';
import { toAnswer } from '../http/errors.ts';
import { requestIdOf } from '../http/exchange.ts';
import { createHostCheck, type HostCheck } from '../http/host.ts';
import { assertOriginForm, targetOf } from '../http/target.ts';

export interface PartCheck {
  /** Whether the process is ready only if this part is ok. */
  readonly required: boolean;
  check(): Promise<{ readonly ok: boolean; readonly detail?: string }>;
}

export interface OpsOptions {
  /** Checks the host that a request names; default: loopback names and addresses only. */
  readonly checkHost?: HostCheck;
  readonly checks: Readonly<Record<string, PartCheck>>;
  /** Returns whether the process is stopping; it is then not ready, whatever its parts report. */
  readonly isDraining?: () => boolean;
  readonly openapi: unknown;
  /** The signing scheme in Markdown. */
  readonly signing: string;
  /** Serves the payload codec; left out when payloads are not encrypted. */
  readonly codec?: CodecOptions | undefined;
  /** The metrics text and its content type; prom-client's default registry when absent. */
  readonly metrics?: { readonly contentType: string; metrics(): Promise<string> };
}

export interface PartStatus {
  readonly ok: boolean;
  readonly required: boolean;
  readonly detail?: string;
}

const CHECK_MS = 3_000;

/**
 * Answers for a process that has not started yet: it is alive and not ready, for this reason.
 * Nothing else is served, so that no figure is taken for one of a process at work.
 */
export function whileStarting(detail: string): RequestListener {
  return ({ url }, response) => {
    const isAlive = url === '/healthz';
    const starting = {
      status: 'not_ready',
      checks: { start: { ok: false, required: true, detail } },
    };
    response.writeHead(isAlive ? 200 : 503, {
      'Content-Type': 'application/json; charset=utf-8',
      'Cache-Control': 'no-store',
    });
    response.end(JSON.stringify(isAlive ? { status: 'ok' } : starting));
  };
}

/** Builds the operators' application. */
export function createOps(options: OpsOptions): Express {
  const app = express();
  const { metrics = register, checkHost = createHostCheck([]), isDraining = () => false } = options;
  app
    .disable('x-powered-by')
    .disable('etag')
    .enable('case sensitive routing')
    .enable('strict routing');
  app.use((request: Request, response: Response, next: NextFunction) => {
    response.setHeader('X-Request-Id', requestIdOf(request.headers['x-request-id']));
    response.setHeader('Cache-Control', 'no-store');
    assertOriginForm(targetOf(request));
    // No host check, as on the API: this response contains nothing confidential.
    if (request.url !== '/healthz') checkHost(request);
    next();
  });
  app.use(helmet({ contentSecurityPolicy: DOCS_CONTENT_POLICY, strictTransportSecurity: false }));
  app.use('/codec', codecRoutes(options.codec));
  app.use((request: Request, response: Response, next: NextFunction) => {
    if (request.method === 'GET' || request.method === 'HEAD') {
      next();
      return;
    }
    response.setHeader('Allow', 'GET, HEAD');
    throw new ServiceError('method_not_allowed');
  });
  // A process that responds is alive, also while it drains or waits for a database: a restart for a
  // missing dependency would only interrupt its work.
  app.get('/healthz', (_request, response) => {
    response.json({ status: 'ok' });
  });
  app.get('/readyz', async (_request, response) => {
    const checks = await readiness(options.checks);
    const ready = Object.values(checks).every((part) => part.ok || !part.required);
    const status = isDraining() ? 'draining' : ready ? 'ready' : 'not_ready';
    response.status(status === 'ready' ? 200 : 503).json({ status, checks });
  });
  app.get('/metrics', async (_request, response) => {
    response.type(metrics.contentType).send(await metrics.metrics());
  });
  app.get('/openapi.json', (_request, response) => {
    response.json(options.openapi);
  });
  serveDocs(app, options.signing);
  app.use(() => {
    throw new ServiceError('route_not_found', {
      message:
        'This listener has /healthz, /readyz, /metrics, /openapi.json, /docs and, where payloads are encrypted, /codec.',
    });
  });
  app.use((error: unknown, _request: Request, response: Response, next: NextFunction) => {
    if (response.headersSent) {
      next(error);
      return;
    }
    const answer = toAnswer(error, String(response.getHeader('X-Request-Id')));
    response.status(answer.status).json(answer.body);
  });
  return app;
}

/** Checks all parts in parallel; a part that does not answer in time is not ok. */
export async function readiness(checks: OpsOptions['checks']): Promise<Record<string, PartStatus>> {
  const parts = await Promise.all(
    Object.entries(checks).map(async ([name, part]): Promise<[string, PartStatus]> => {
      const { ok, detail } = await answered(part);
      return [name, { ok, required: part.required, ...(detail === undefined ? {} : { detail }) }];
    }),
  );
  return Object.fromEntries(parts);
}

async function answered(
  part: PartCheck,
): Promise<{ readonly ok: boolean; readonly detail?: string }> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<{ ok: boolean; detail: string }>((resolve) => {
    timer = setTimeout(() => {
      resolve({ ok: false, detail: 'no answer in time' });
    }, CHECK_MS);
  });
  try {
    return await Promise.race([part.check(), late]);
  } catch {
    return { ok: false, detail: 'out of reach' };
  } finally {
    clearTimeout(timer);
  }
}
