/** Connection options of Temporal's libraries, and a watch for a renewed key or certificate. */
import type { TLSConfig } from '@temporalio/common/lib/internal-non-workflow/index.js';
import type { Logger } from 'pino';
import { daysUntilFirst } from './certificates.ts';
import { ConfigError } from './config/read.ts';
import { certificateEnds, isSameAccess, type TemporalAccess } from './config/temporal.ts';
import { startLoop, type Loop } from './loop.ts';

/** Milliseconds between checks; certificates and keys are renewed days before they expire. */
const LOOK_MS = 5_000;

/** Returns the connection options, the same for the client and the worker. */
export function connectionOptions({ address, tls, apiKey, headers }: TemporalAccess): {
  readonly address: string;
  readonly tls: TLSConfig | false;
  readonly apiKey?: string;
  readonly metadata?: Record<string, string>;
} {
  return {
    address,
    tls: tls === undefined ? false : tlsOptions(tls),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(headers === undefined ? {} : { metadata: { ...headers } }),
  };
}

function tlsOptions({ ca, client, serverName }: NonNullable<TemporalAccess['tls']>): TLSConfig {
  return {
    ...(serverName === undefined ? {} : { serverNameOverride: serverName }),
    ...(ca === undefined ? {} : { serverRootCACertificate: ca }),
    ...(client === undefined ? {} : { clientCertPair: { crt: client.cert, key: client.key } }),
  };
}

export interface AccessWatch {
  current(): TemporalAccess;
  /**
   * Calls `use` with each renewed access. `use` must throw when it cannot connect with that access.
   */
  follow(use: (renewed: TemporalAccess) => Promise<void>): void;
  /** Returns whole days until the first certificate expires; null without certificates. */
  daysLeft(): number | null;
  stop(): Promise<void>;
}

/**
 * Reads the files of key and certificates repeatedly, and passes a renewed access on. If the
 * renewed access cannot be used, the present one stays; the fault is logged once, the turn counts
 * as failed, and the files are read again.
 */
export function watchAccess(options: {
  readonly access: TemporalAccess;
  readonly read: () => TemporalAccess;
  readonly log: Logger;
}): AccessWatch {
  const { read, log } = options;
  const users: ((renewed: TemporalAccess) => Promise<void>)[] = [];
  let access = options.access;
  const { address, namespace } = access;
  let lastFault = '';
  const loop: Loop = startLoop({
    name: 'watch of the access to Temporal',
    pauseMs: LOOK_MS,
    log,
    logsFaults: true,
    work: async () => {
      try {
        // Address and namespace never change after the start: the runs are on that server.
        const found = { ...read(), address, namespace };
        if (!isSameAccess(found, access)) {
          for (const use of users) await use(found);
          access = found;
          log.info('the access to Temporal was renewed');
        }
        lastFault = '';
      } catch (error) {
        const fault = error instanceof Error ? error.message : String(error);
        if (fault !== lastFault)
          log.warn(
            error instanceof ConfigError ? { faults: error.faults } : { err: error },
            'a renewed access to Temporal cannot be used; the one of before stays',
          );
        lastFault = fault;
        throw error;
      }
    },
  });
  return {
    current: () => access,
    follow: (use) => void users.push(use),
    daysLeft: () => daysUntilFirst(Object.values(certificateEnds(access))),
    stop: () => loop.stop(),
  };
}
