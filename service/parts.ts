/** What the parts of a process are made from, and what stops them again. */
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

/** How the parts of a process end; filled as they start. See `service/stop.ts`. */
export interface Stops {
  /** Set before anything stops: readiness says so first. */
  stopping: boolean;
  /** Parts that take work; all are stopped at once. */
  readonly work: WorkStop[];
  /** What they work with, closed in the reverse order of opening once no work is left. */
  readonly connections: (() => Promise<void>)[];
  /** The operations listener, which shows the end and so is closed last. */
  listener: (() => Promise<void>) | null;
}

export interface WorkStop {
  readonly name: string;
  /**
   * Takes no more work and finishes what runs; answers what it had to cut. `drained` is fulfilled
   * when callers have had their time to notice.
   */
  readonly stop: (drained: Promise<void>) => Promise<readonly string[]>;
}

/** What every part of a process gets. */
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
  /** What becomes of activities under way when the process stops. */
  readonly leaving: Leaving;
  readonly stops: Stops;
}
