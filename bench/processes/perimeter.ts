/**
 * The API's front alone, layer by layer, each on a port of its own and beside a bare Express route
 * with an answer of the same size. Its database is its own: no relay starts what is created here.
 */
import express from 'express';
import { z } from 'zod';
import { createApi } from '../../api/app.ts';
import { refusalOf } from '../../api/auth/admit.ts';
import { createGuard, type Guard, type GuardOptions } from '../../api/auth/guard.ts';
import { createAuthenticator, createRecogniser } from '../../api/auth/authenticate.ts';
import type { ApiDependencies } from '../../api/dependencies.ts';
import { createBody } from '../../api/movements/schema.ts';
import { defineRoute, type Route } from '../../api/http/route.ts';
import { routes } from '../../venues/routes.ts';
import { noBody, noParams, noQuery } from '../../api/http/schemas.ts';
import { listen } from '../../api/http/server.ts';
import { NO_CHAINS } from '../../domain/plan/tokens.ts';
import { ALL_ROLES } from '../../domain/roles.ts';
import { createLogger } from '../../platform/log.ts';
import { connectDatabase } from '../../prisma/client.ts';
import { createAuditMacs } from '../../platform/audit-chain.ts';
import { NO_BALANCES } from '../../platform/balance-desk.ts';
import { benchExecutors } from '../executors.ts';
import { PERIMETER_KEY, perimeterKeys } from './perimeter-key.ts';
import { NAMESPACE, POOL_SIZE, runPart, type PerimeterLayer } from './part.ts';

/** About what a movement of three nodes answers. */
const READ_BODY = { movement: 'x'.repeat(2_900) };
const CREATE_BODY = { movement: 'x'.repeat(700) };

function bare(): express.Express {
  const app = express();
  app.get('/v3/stub', (_request, response) => void response.json(READ_BODY));
  app.post(
    '/v3/stub',
    express.json(),
    (_request, response) => void response.status(201).json(CREATE_BODY),
  );
  return app;
}

/**
 * The pipeline with nothing behind it: the read has no input, the create the body of a movement.
 */
const STUBS: readonly Route[] = [
  defineRoute({
    ...{
      id: 'stubRead',
      method: 'GET',
      acts: 'never',
      power: 'reads',
      path: '/stub',
      roles: ALL_ROLES,
      tag: 'Bench',
      summary: 'Answers at once',
    },
    ...{
      params: noParams,
      query: noQuery,
      body: noBody,
      response: z.object({ movement: z.string() }),
      errors: [],
    },
    handler: () => Promise.resolve({ status: 200, body: READ_BODY }),
  }),
  defineRoute({
    ...{
      id: 'stubCreate',
      method: 'POST',
      power: 'narrows',
      path: '/stub',
      roles: ALL_ROLES,
      tag: 'Bench',
      summary: 'Validates and answers',
    },
    ...{
      params: noParams,
      query: noQuery,
      body: createBody,
      response: z.object({ movement: z.string() }),
      status: 201,
      errors: [],
    },
    handler: () => Promise.resolve({ status: 201, body: CREATE_BODY }),
  }),
];

/** Checks the signature and takes every nonce for new. */
function signatureOnly(): Guard {
  const shared = {
    keys: { secretOf: () => Promise.resolve(PERIMETER_KEY.secretKey) },
    maxSkewSeconds: 3_600,
  };
  const recognise = createRecogniser(shared);
  const authenticate = createAuthenticator({
    ...shared,
    nonces: {
      take: () =>
        Promise.resolve({
          client_id: 'bench',
          role: 'operator',
          authority_key: null,
          fresh: true,
          checked_at: new Date().toISOString(),
        }),
    },
  });
  return {
    recognise: ({ headers }) => recognise(headers),
    authenticate,
    limit: () => Promise.resolve(null),
    admit: (route, params, { caller }) => {
      const refusal = refusalOf(route, params, caller);
      return refusal === null ? Promise.resolve() : Promise.reject(refusal);
    },
  };
}

runPart(async ({ perimeter, remotePort }) => {
  const log = createLogger({ logLevel: 'warn' }, 'bench-perimeter');
  const auditMac = createAuditMacs(perimeterKeys()).ofRow;
  const db = connectDatabase({ url: perimeter.databaseUrl, poolSize: POOL_SIZE, auditMac });
  const executors = benchExecutors(`http://127.0.0.1:${remotePort}`);
  const deps = (authEnabled: boolean): ApiDependencies => ({
    db,
    log,
    executors,
    balances: NO_BALANCES,
    chains: NO_CHAINS,
    signers: { list: () => [], get: () => undefined },
    handOver: () => undefined,
    settings: {
      apiPrefix: '/v3',
      approvalTtlSeconds: 86_400,
      authEnabled,
      balanceStaleSeconds: 300,
      bridgeSnapshotMaxAgeSeconds: 3_600,
      edition: 'commercial',
      temporalNamespace: NAMESPACE,
      temporalUiUrl: 'http://127.0.0.1',
    },
  });
  const guardWith = (rateLimits: GuardOptions['rateLimits']): Guard =>
    createGuard({ db, log, secretsKeys: perimeterKeys(), maxSkewSeconds: 3_600, rateLimits });
  const guard = guardWith(null);
  const unreached = { readRpm: 1_000_000, writeRpm: 1_000_000, shared: true };
  const apps: Readonly<Record<PerimeterLayer, Parameters<typeof listen>[0]['app']>> = {
    bare: bare(),
    validated: createApi(deps(false), STUBS),
    signed: createApi(deps(true), STUBS, { guard: signatureOnly() }),
    nonce: createApi(deps(true), STUBS, { guard }),
    counted: createApi(deps(true), STUBS, { guard: guardWith(unreached) }),
    whole: createApi(deps(true), routes, { guard }),
  };
  const servers = await Promise.all(
    Object.entries(apps).map(([layer, app]) =>
      listen({ app, host: '127.0.0.1', port: perimeter.ports[layer as PerimeterLayer] }),
    ),
  );
  return async () => {
    for (const server of servers) await server.close();
    await Promise.all([executors.close(), db.$disconnect()]);
  };
});
