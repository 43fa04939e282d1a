/**
 * What a recommendation takes: its time, and its statements, which must not grow with the number of
 * templates.
 */
import { request } from 'undici';
import { pino } from 'pino';
import { createApi } from '../../api/app.ts';
import type { ApiDependencies } from '../../api/dependencies.ts';
import { routes as routeTable } from '../../venues/routes.ts';
import { listen } from '../../api/http/server.ts';
import { NO_CHAINS } from '../../domain/plan/tokens.ts';
import type { Database } from '../../prisma/client.ts';
import { NO_BALANCES } from '../../platform/balance-desk.ts';
import { countStatements } from '../costs/statements.ts';
import { benchExecutors } from '../executors.ts';
import { ROUTE_ASSET, writeRoutes } from '../load/routes.ts';
import { NAMESPACE, type PartSettings } from '../processes/part.ts';
import { median } from '../stats.ts';
import type { Section } from './context.ts';

const REQUESTS = 30;
/** How many templates there are at each step; each step adds to the one before. */
const SIZES = [10, 1_000];
const MOVEMENTS = 10_000;

export const routes: Section = async ({ stack, collect, rounds, quick }) => {
  // The perimeter's database has no relays, so nothing wakes the runs of what is written there.
  const { databaseUrl } = stack.settings.perimeter;
  let there = 0;
  for (const size of SIZES) {
    const movements = quick ? size : Math.round((MOVEMENTS * size) / 1_000);
    await writeRoutes(databaseUrl, {
      prefix: `bench/routes-${String(size)}-`,
      templates: size - there,
      movements,
    });
    there = size;
    const times: number[] = [];
    const cold: number[] = [];
    let statements: Statements | null = null;
    for (let round = 0; round < rounds; round += 1) {
      const measured = await measure(stack.settings, size, quick ? 3 : REQUESTS);
      cold.push(measured.first);
      times.push(median(measured.others));
      statements = measured.statements;
    }
    const name = `recommendation over ${size.toLocaleString('en')} templates`;
    collect.add('routes', `${name}: first of a process`, 'ms', cold);
    collect.add('routes', name, 'ms', times);
    collect.add('routes', `${name}: SQL statements`, '', [statements?.warm ?? 0]);
    collect.add('routes', `${name}: SQL statements of the first`, '', [statements?.cold ?? 0]);
  }
};

interface Statements {
  readonly cold: number;
  readonly warm: number;
}

/** One request after the other to an API that has read nothing yet. */
async function measure(
  settings: PartSettings,
  size: number,
  count: number,
): Promise<{
  readonly first: number;
  readonly others: readonly number[];
  readonly statements: Statements;
}> {
  const { db, sent } = countStatements(settings.perimeter.databaseUrl);
  const executors = benchExecutors(`http://127.0.0.1:${String(settings.remotePort)}`);
  const server = await listen({
    app: createApi(withoutSignatures(db, executors), routeTable),
    host: '127.0.0.1',
    port: 0,
  });
  const timed = async (): Promise<{ readonly ms: number; readonly statements: number }> => {
    const before = sent();
    const began = performance.now();
    const found = await recommended(server.port);
    const ms = performance.now() - began;
    // In a run with the section before it the perimeter's own template is recommended, too.
    if (found !== size && found !== size + 1)
      throw new Error(`${String(found)} routes were recommended, not ${String(size)}`);
    return { ms, statements: sent() - before };
  };
  try {
    const first = await timed();
    const others: Awaited<ReturnType<typeof timed>>[] = [];
    while (others.length < count) others.push(await timed());
    const warm = Math.max(...others.map(({ statements }) => statements));
    return {
      first: first.ms,
      others: others.map(({ ms }) => ms),
      statements: { cold: first.statements, warm },
    };
  } finally {
    await server.close();
    await Promise.all([executors.close(), db.$disconnect()]);
  }
}

async function recommended(port: number): Promise<number> {
  const { statusCode, body } = await request(
    `http://127.0.0.1:${String(port)}/v3/routes/recommend`,
    {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ asset: ROUTE_ASSET, amount: '500', priority: 'cost' }),
    },
  );
  if (statusCode !== 200)
    throw new Error(`a recommendation answered ${String(statusCode)}: ${await body.text()}`);
  return ((await body.json()) as { readonly recommendations: readonly unknown[] }).recommendations
    .length;
}

/**
 * Only what stands behind the perimeter is to be counted, which takes a statement for its nonce.
 */
function withoutSignatures(db: Database, executors: ApiDependencies['executors']): ApiDependencies {
  return {
    ...{ db, executors, log: pino({ level: 'silent' }), handOver: () => undefined },
    signers: { list: () => [], get: () => undefined },
    balances: NO_BALANCES,
    chains: NO_CHAINS,
    settings: {
      apiPrefix: '/v3',
      approvalTtlSeconds: 86_400,
      authEnabled: false,
      balanceStaleSeconds: 300,
      bridgeSnapshotMaxAgeSeconds: 3_600,
      edition: 'commercial',
      temporalNamespace: NAMESPACE,
      temporalUiUrl: 'http://127.0.0.1',
    },
  };
}
