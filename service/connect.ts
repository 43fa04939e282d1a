/** Opens connections and registries. Nothing accepts work yet. */
import type { Logger } from 'pino';
import { createAuditMacs } from '../platform/audit-chain.ts';
import { createBalanceDesk } from '../platform/balance-desk.ts';
import { createPayloadCodec } from '../platform/payload-codec.ts';
import { connectTemporal } from '../platform/temporal.ts';
import { watchAccess } from '../platform/temporal-access.ts';
import { startTracing } from '../platform/tracing.ts';
import {
  addressWarning,
  codeOf,
  connectionFault,
  databaseOptions,
  faultsOfSessions,
} from './database.ts';
import { ConfigError, type Config } from '../platform/config.ts';
import { connectDatabase, type Database } from '../prisma/client.ts';
import { refreshBalances } from '../store/balances.ts';
import { createLooks } from './looks.ts';
import { readDatabaseRole } from '../store/database-role.ts';
import { createRequestDesk } from '../store/request-desk.ts';
import { createSignerBalances } from '../venues/evm/signer-balances.ts';
import type { Parts } from './parts.ts';
import { openRegistries } from './registries.ts';
import { refuseOtherSchema } from './schema.ts';
import { warnOfUnwitnessedDecimals } from './unwitnessed-decimals.ts';
import { warnOfWeakFinality } from './weak-finality.ts';

/** Opens all connections and registers each of them in `stops`. */
export async function connect(
  options: Pick<Parts, 'config' | 'log' | 'leaving' | 'stops'> & { readonly role: string },
): Promise<Parts> {
  const { config, log, leaving, stops, role } = options;
  await refuseOtherSchema(config, log);
  const auditMacs = createAuditMacs(config.secretsKeys, config.auditKeys);
  const tracing =
    config.tracing === null ? null : await startTracing(config.tracing, { role, log });
  if (tracing !== null) stops.connections.push(() => tracing.stop());
  const db = connectDatabase({
    ...databaseOptions(config),
    auditMac: auditMacs.ofRow,
    mayBegin: () => !leaving.left,
  });
  stops.connections.push(() => db.$disconnect());
  await refuseOtherSessions(db, config, log);
  void warnOfPower(db, log);
  const payloadCodec =
    config.payloadKeys.length === 0 ? undefined : createPayloadCodec(config.payloadKeys);
  const temporal = connectTemporal({
    ...config.temporal,
    payloadCodec,
    interceptor: tracing?.clientInterceptor,
    turns: config,
  });
  stops.connections.push(() => temporal.close());
  const access = watchAccess({ access: config.temporal, read: config.readTemporal, log });
  access.follow((renewed) => temporal.use(renewed));
  stops.connections.push(() => access.stop());
  const looks = createLooks(db);
  const bound = await openRegistries(config, createRequestDesk(db), looks.identity);
  warnOfWeakFinality(bound.venues.chainAssets, log);
  warnOfUnwitnessedDecimals(bound.venues.evmVenues, log);
  stops.connections.push(() => bound.executors.close());
  stops.connections.push(() => bound.signers.close());
  stops.connections.push(() => bound.venues.close());
  const balances = createSignerBalances(bound.venues.chains);
  const desk = createBalanceDesk(bound.venues.fetchers, (venueKey, fetch) =>
    config.duties.includes('worker')
      ? refreshBalances(db, venueKey, fetch, (err) =>
          log.warn({ err, venue_key: venueKey }, 'the withdrawal outlook was not stored'),
        )
      : looks.balances(venueKey),
  );
  return {
    config,
    log,
    db,
    temporal,
    access,
    tracing,
    payloadCodec,
    auditMacs,
    bound,
    balances,
    desk,
    leaving,
    stops,
  };
}

/**
 * Throws if sessions of the database lack a setting: without it the process would write wrong data
 * and report no error. If the database does not answer, the start continues and readiness reports
 * the outage.
 */
async function refuseOtherSessions(db: Database, config: Config, log: Logger): Promise<void> {
  const warning = addressWarning(config.databaseUrl);
  if (warning !== null) log.warn(warning);
  const faults = await faultsOfSessions(db, config).catch((error: unknown) => {
    log.warn(
      { reason: connectionFault(codeOf(error)) },
      'the settings of database sessions were not checked: the database did not answer',
    );
    return [];
  });
  if (faults.length > 0) throw new ConfigError(faults);
}

/**
 * Warns if the database role could rewrite the audit trail. Such a role works normally, so nothing
 * else would report it.
 */
async function warnOfPower(db: Database, log: Logger): Promise<void> {
  try {
    const role = await readDatabaseRole(db);
    if (!role.may_rewrite_audit) return;
    log.warn(
      { role: role.name },
      'the database role could rewrite the audit trail; use one made with fundadmin database grant',
    );
  } catch (error) {
    log.warn(
      { err: error },
      'the rights of the database role were not checked: the database did not answer',
    );
  }
}
