/** What Temporal's libraries are connected with, and a look whether it was renewed. */
import type { TLSConfig } from '@temporalio/common/lib/internal-non-workflow/index.js';
import type { Logger } from 'pino';
import { ConfigError } from './config/read.ts';
import { certificateEnds, isSameAccess, type TemporalAccess } from './config/temporal.ts';
import { startLoop, type Loop } from './loop.ts';

/** Certificates and keys are renewed days before the old ones end. */
const LOOK_MS = 5_000;

/** Options of the client's connection and of the worker's alike. */
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
  /** Hands over to one more user; it throws where the renewed access cannot be used. */
  follow(use: (renewed: TemporalAccess) => Promise<void>): void;
  /** Whole days until the first of the certificates is over; null where there is none. */
  daysLeft(): number | null;
  stop(): Promise<void>;
}

/**
 * Reads the files of a key or certificate again and again, and hands over what was renewed. What
 * cannot be used changes nothing: it is logged once, and looked at again.
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
    work: async () => {
      try {
        // Where the runs are is the start's to say: a process never goes on in another place.
        const found = { ...read(), address, namespace };
        if (!isSameAccess(found, access)) {
          for (const use of users) await use(found);
          access = found;
          log.info('the access to Temporal was renewed');
        }
        lastFault = '';
      } catch (error) {
        const fault = error instanceof Error ? error.message : String(error);
        if (fault === lastFault) return;
        lastFault = fault;
        log.warn(
          error instanceof ConfigError ? { faults: error.faults } : { err: error },
          'a renewed access to Temporal cannot be used; the one of before stays',
        );
      }
    },
  });
  return {
    current: () => access,
    follow: (use) => void users.push(use),
    daysLeft: () => {
      const ends = Object.values(certificateEnds(access)).map((end) => end.getTime());
      return ends.length === 0 ? null : Math.floor((Math.min(...ends) - Date.now()) / 86_400_000);
    },
    stop: () => loop.stop(),
  };
}
