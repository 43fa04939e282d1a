/**
 * Temporal's real server on Postgres, configured like docker-compose.yml and in the version named
 * there, behind TLS that requires client certificates.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../stack/ports.ts';
import type { ChildSpec } from '../stack/supervise/child.ts';
import { DYNAMIC_CONFIG_FILE } from '../stack/temporal.ts';
import { goPrograms } from './go-programs.ts';

const run = promisify(execFile);
const COMPOSE = readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8');

/** Paths of PEM files: the authority's certificate, and a certificate with its key. */
export interface Certificate {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

export interface ClusterPrograms {
  readonly server: string;
  readonly sqlTool: string;
  /** Path of Temporal's command line. */
  readonly cli: string;
}

/** Returns the version of Temporal's images in docker-compose.yml. */
export function composeVersion(): string {
  const version = /temporalio\/server:\$\{TEMPORAL_VERSION:-([\d.]+)\}/.exec(COMPOSE)?.[1];
  if (version === undefined) throw new Error('docker-compose.yml names no version of Temporal');
  return version;
}

/** Returns the server and its schema tool, built once with Go; null without Go. */
export async function clusterPrograms(): Promise<Omit<ClusterPrograms, 'cli'> | null> {
  const programs = await goPrograms({
    label: "Temporal's server for Postgres",
    version: composeVersion(),
    packages: {
      'temporal-server': 'go.temporal.io/server/cmd/server',
      'temporal-sql-tool': 'go.temporal.io/server/cmd/tools/sql',
    },
  });
  return (
    programs && {
      server: programs['temporal-server'] ?? '',
      sqlTool: programs['temporal-sql-tool'] ?? '',
    }
  );
}

/** Returns the environment with which Temporal's command line connects. */
export function clientEnvironment({ ca, cert, key }: Certificate): Record<string, string> {
  return {
    TEMPORAL_ADDRESS: 'temporal:7233',
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: ca,
    TEMPORAL_TLS_CLIENT_CERT_PATH: cert,
    TEMPORAL_TLS_CLIENT_KEY_PATH: key,
  };
}

/**
 * Runs a job of docker-compose.yml unchanged. Its programs are on PATH, its secret is at the
 * container's path, and TLS settings come from the environment.
 */
export async function composeJob(
  script: string,
  { programs, folder, password, tls }: Cluster,
): Promise<void> {
  const bin = join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  for (const [name, path] of Object.entries({
    'temporal-sql-tool': programs.sqlTool,
    temporal: programs.cli,
  })) {
    rmSync(join(bin, name), { force: true });
    symlinkSync(path, join(bin, name));
  }
  mkdirSync('/run/secrets', { recursive: true });
  writeFileSync('/run/secrets/temporal_password', password);
  await run('sh', [join(ROOT, 'deploy/compose', script)], {
    env: {
      PATH: `${bin}:${process.env['PATH'] ?? ''}`,
      HOME: '/',
      SQL_TLS: 'true',
      SQL_TLS_CA_FILE: tls.ca,
      ...clientEnvironment(tls),
    },
  });
}

export interface Cluster {
  readonly programs: ClusterPrograms;
  /** Folder for files written at run time. */
  readonly folder: string;
  /** Password of the role `temporal` on the Postgres host `postgres`. */
  readonly password: string;
  /**
   * Certificate for the host name `temporal`; the server also uses it for connections to itself.
   */
  readonly tls: Certificate;
}

/**
 * Describes the server's process, which listens at `ip`; its database must already have its schema.
 */
export function clusterPart(cluster: Cluster, ip: string): ChildSpec {
  const { programs, folder, password, tls } = cluster;
  const ofCompose = environmentOf('temporal');
  return {
    name: 'temporal',
    command: programs.server,
    args: ['start'],
    cwd: folder,
    env: {
      ...ofCompose,
      POSTGRES_PWD: password,
      BIND_ON_IP: ip,
      TEMPORAL_BROADCAST_ADDRESS: ip,
      DYNAMIC_CONFIG_FILE_PATH: join(ROOT, DYNAMIC_CONFIG_FILE),
      SQL_TLS_ENABLED: 'true',
      SQL_HOST_VERIFICATION: 'true',
      SQL_CA: tls.ca,
      TEMPORAL_TLS_REQUIRE_CLIENT_AUTH: 'true',
      TEMPORAL_TLS_FRONTEND_CERT: tls.cert,
      TEMPORAL_TLS_FRONTEND_KEY: tls.key,
      TEMPORAL_TLS_CLIENT1_CA_CERT: tls.ca,
      TEMPORAL_TLS_CLIENT2_CA_CERT: tls.ca,
      TEMPORAL_TLS_SERVER_CERT: tls.cert,
      TEMPORAL_TLS_SERVER_KEY: tls.key,
      TEMPORAL_TLS_SERVER_CA_CERT: tls.ca,
      TEMPORAL_TLS_FRONTEND_SERVER_NAME: 'temporal',
      TEMPORAL_TLS_INTERNODE_SERVER_NAME: 'temporal',
    },
    logFile: join(folder, 'temporal.log'),
    stage: 2,
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 5_000,
    readyTimeoutMs: 120_000,
    isReady: async () => (await refusalOf(programs.cli, clientEnvironment(tls))) ?? true,
  };
}

/** Returns the error of a health check; null when the server is healthy. */
export async function refusalOf(cli: string, env: Record<string, string>): Promise<string | null> {
  try {
    await run(cli, ['operator', 'cluster', 'health'], {
      env: { ...env, HOME: '/' }, // a folder without settings of Temporal's command line
      timeout: 5_000,
    });
    return null;
  } catch (error) {
    return (error as { stderr?: string }).stderr?.trim() ?? String(error);
  }
}

/** Returns the environment that docker-compose.yml writes out for a service. */
function environmentOf(service: string): Record<string, string> {
  const block = new RegExp(
    `^  ${service}:\\n(?: {4}.*\\n)*? {4}environment:\\n((?: {6}.*\\n)+)`,
    'm',
  );
  const lines = block.exec(COMPOSE)?.[1]?.trimEnd().split('\n') ?? [];
  if (lines.length === 0) throw new Error(`docker-compose.yml: ${service} has no environment`);
  return Object.fromEntries(lines.map((line) => line.trim().split(': ') as [string, string]));
}
