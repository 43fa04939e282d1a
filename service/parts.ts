/** The inputs of the parts of a process, and how the parts are stopped. */
import type { Logger } from 'pino';
import type { PayloadCodec } from '@temporalio/common';
import type { Leaving } from '../activities/leaving.ts';
import type { AuditMacs } from '../platform/audit-chain.ts';
import type { Config } from '../platform/config.ts';
import type { BalanceDesk } from '../platform/balance-desk.ts';
import type { Temporal } from '../platform/temporal.ts';
import type { AccessWatch } from '../platform/temporal-access.ts';
import type { Tracing } from '../platform/tracing/handle.ts';
import type { Database } from '../prisma/client.ts';
import type { SignerBalances } from '../venues/evm/signer-balances.ts';
import type { Registries } from './registries.ts';

/** How the parts of a process are stopped; filled as the parts start. See `service/stop.ts`. */
export interface Stops {
  /** Set before anything stops, so that readiness reports it first. */
  stopping: boolean;
  /** Parts that take work; all are stopped at the same time. */
  readonly work: WorkStop[];
  /**
   * Connections of those parts; closed in the reverse order of opening, after all work has ended.
   */
  readonly connections: (() => Promise<void>)[];
  /** The operations listener. It reports the stop, so it is closed last. */
  listener: (() => Promise<void>) | null;
}

export interface WorkStop {
  readonly name: string;
  /**
   * Takes no more work and finishes running work; returns the names of work that was cut. `drained`
   * resolves when callers have had time to notice the stop.
   */
  readonly stop: (drained: Promise<void>) => Promise<readonly string[]>;
}

/** The inputs that every part of a process gets. */
export interface Parts {
  readonly config: Config;
  readonly log: Logger;
  readonly db: Database;
  readonly temporal: Temporal;
  readonly access: AccessWatch;
  readonly tracing: Tracing | null;
  readonly payloadCodec: PayloadCodec | undefined;
  readonly auditMacs: AuditMacs;
  readonly bound: Registries;
  readonly balances: SignerBalances;
  readonly desk: BalanceDesk;
  /** Decides what happens to running activities when the process stops. */
  readonly leaving: Leaving;
  readonly stops: Stops;
}
