/**
 * Defines how the service connects to Postgres, finds wrong settings of its sessions, and reads how
 * long the certificates for it are valid.
 */
import { readFileSync } from 'node:fs';
import { readDatabaseAddress, type DatabaseAddress } from '../domain/database-address.ts';
import { certificatesIn, daysUntilFirst, endOf } from '../platform/certificates.ts';
import { whenUnset, type Config } from '../platform/config.ts';
import type { SettingName, Values } from '../platform/config/settings.ts';
import {
  connectDatabase,
  settingsOf,
  type Database,
  type DatabaseOptions,
} from '../prisma/client.ts';
import { databaseAddress } from '../prisma/servers.ts';
import { readSessionSettings } from '../store/database-role.ts';

type DatabaseSettings = Pick<
  Config,
  | 'databaseUrl'
  | 'databasePoolSize'
  | 'databasePooler'
  | 'databaseConnectSeconds'
  | 'databaseStatementSeconds'
  | 'databaseIdleInTransactionSeconds'
  | 'databaseKeepAliveSeconds'
  | 'callbackHosts'
>;

/** Returns the connection options from the settings. */
export function databaseOptions(config: DatabaseSettings): DatabaseOptions {
  return {
    url: config.databaseUrl,
    poolSize: config.databasePoolSize,
    pooler: config.databasePooler,
    connectTimeoutMs: config.databaseConnectSeconds * 1_000,
    statementTimeoutMs: config.databaseStatementSeconds * 1_000,
    idleInTransactionMs: config.databaseIdleInTransactionSeconds * 1_000,
    keepAliveMs: config.databaseKeepAliveSeconds * 1_000,
    // The database reads this list when a callback is written: a callback to another host is a dead
    // letter at once.
    sessionSettings: { 'svc.callback_allowed_hosts': config.callbackHosts.join(',') },
  };
}

/**
 * Returns the database settings from settings that may have faults; a setting with a fault counts
 * as unset.
 */
export function databaseSettings(values: Partial<Values>, databaseUrl: string): DatabaseSettings {
  const of = <N extends SettingName>(name: N): Values[N] => values[name] ?? whenUnset(name);
  return {
    databaseUrl,
    databasePoolSize: 1,
    databasePooler: of('SVC_DATABASE_POOLER'),
    databaseConnectSeconds: of('SVC_DATABASE_CONNECT_TIMEOUT_SECONDS'),
    databaseStatementSeconds: of('SVC_DATABASE_STATEMENT_TIMEOUT_SECONDS'),
    databaseIdleInTransactionSeconds: of('SVC_DATABASE_IDLE_IN_TRANSACTION_SECONDS'),
    databaseKeepAliveSeconds: of('SVC_DATABASE_KEEP_ALIVE_SECONDS'),
    callbackHosts: of('SVC_CALLBACK_ALLOWED_HOSTS_CSV'),
  };
}

/**
 * Returns a function that returns whole days until the first certificate of the address (the
 * client's, or its CA) expires; null if the address names none. It reads the files at each call.
 */
export function databaseCertificateDays(url: string): () => number | null {
  const { tls } = databaseAddress(url);
  let ends: readonly Date[] = [];
  return () => {
    try {
      ends = certificateEnds(tls);
    } catch {
      // A file is being replaced; the earlier content stays in use.
    }
    return daysUntilFirst(ends);
  };
}

function certificateEnds({ mode, ca, cert }: DatabaseAddress['tls']): readonly Date[] {
  // Unless the server is verified, its CA is not used. Behind the client's certificate there may be
  // others, which lead to its CA.
  const used = [
    mode === 'verified' && ca !== null ? certificatesIn(readFileSync(ca)) : [],
    cert === null ? [] : certificatesIn(readFileSync(cert)).slice(0, 1),
  ];
  return used.flatMap((certificates) => (certificates.length === 0 ? [] : endOf(certificates)));
}

/** Runs {@link faultsOfSessions} over a separate connection. */
export async function sessionFaults(config: DatabaseSettings): Promise<readonly string[]> {
  const db = connectDatabase({ ...databaseOptions(config), poolSize: 1 });
  try {
    return await faultsOfSessions(db, config);
  } finally {
    await db.$disconnect();
  }
}

/**
 * Returns what is wrong with the sessions of a reachable database, each fault with what to do. `db`
 * is connected with {@link databaseOptions}.
 */
export async function faultsOfSessions(
  db: Database,
  config: DatabaseSettings,
): Promise<readonly string[]> {
  const wanted = settingsOf(databaseOptions(config));
  const { role, settings } = await readSessionSettings(db, Object.keys(wanted));
  const missing = Object.entries(wanted).filter(([name, value]) =>
    // The role may set a shorter time limit than the service. With a longer limit, a statement
    // would still run after the service has closed its connection.
    name.startsWith('svc.') ? settings[name] !== value : !isWithin(settings[name], value),
  );
  if (missing.length === 0) return [];
  const names = missing.map(([name]) => name).join(', ');
  if (config.databasePooler === 'none')
    return [
      `SVC_DATABASE_URL: the settings of the session do not arrive (${names}). Set SVC_DATABASE_POOLER=transaction if there is a pooler such as pgbouncer, or connect without the pooler.`,
    ];
  const commands = missing.map(
    ([name, value]) =>
      `ALTER ROLE ${quotedName(role)} SET ${name} = '${unitOf(name, value).replaceAll("'", "''")}';`,
  );
  return [
    `SVC_DATABASE_POOLER: behind a transaction pooler the settings ${names} must be set on the role ${role}, and they are missing or wrong. As a superuser or as the role itself, run ${commands.join(' ')} then make the pooler reconnect (RECONNECT in pgbouncer).`,
  ];
}

/** Returns whether the limit is set and not too large. Zero means no limit. */
function isWithin(limit: string | undefined, most: string): boolean {
  return Number(limit ?? 0) > 0 && Number(limit) <= Number(most);
}

function unitOf(name: string, value: string): string {
  return name.startsWith('svc.') ? value : `${value}ms`;
}

function quotedName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/**
 * Returns what a connection error code means. The driver's message is not used, since it may
 * contain the address.
 */
export function connectionFault(code: string): string {
  if (code === '28P01' || code === '28000')
    return 'Postgres refuses the name or the password, or asks for TLS or a client certificate (pg_hba.conf). Mend them in the address: sslmode=verify-full, with sslcert and sslkey for a certificate.';
  if (code === '3D000') return 'there is no such database. Create it, or mend its name.';
  if (code === '42501')
    return 'the role may not read what it needs. Run fundadmin database grant as the owner.';
  if (code === '25006')
    return 'the server is a standby or read-only. Name the primary, or all servers: postgresql://…@first:5432,second:5432/….';
  if (code === '08P01')
    return 'the server refuses the settings of the session. Set SVC_DATABASE_POOLER=transaction if it is pgbouncer.';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return 'the server’s certificate is not for this name. Use the name in the certificate, or have a certificate made for this name.';
  if (code === 'CERT_HAS_EXPIRED') return 'the server’s certificate has expired. Renew it.';
  if (/^(DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|CERT_)/.test(code))
    return 'the server’s certificate is not signed by a trusted CA. Name the file of its CA: sslrootcert=<file>.';
  if (code === NO_TLS)
    return 'the server has no TLS. Turn it on (ssl = on, with certificate and key), or set sslmode=disable.';
  return `Postgres does not answer (${code}). Start it, or mend the address.`;
}

const NO_TLS = 'NO_TLS';

/** Returns the first code in an error or its chain of causes. */
export function codeOf(error: unknown): string {
  for (let at = error; typeof at === 'object' && at !== null; at = Reflect.get(at, 'cause')) {
    const code: unknown = Reflect.get(at, 'code');
    if (at instanceof Error && at.message.includes('does not support SSL')) return NO_TLS;
    // Errors of the service itself also have a code, but in words, so only codes in capitals count.
    if (typeof code === 'number' || (typeof code === 'string' && /^[A-Z0-9_]+$/.test(code)))
      return String(code);
  }
  return 'no reason';
}

/** Returns what an attacker on the network could do with this address; null if nothing. */
export function addressWarning(url: string): string | null {
  const address = readDatabaseAddress(url);
  return 'faults' in address ? null : address.warning;
}
