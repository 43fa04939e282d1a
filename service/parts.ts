/** What the parts of a process are made from, and what stops them again. */
import type { Logger } from 'pino';
import type { PayloadCodec } from '@temporalio/common';
import type { AuditMacs } from '../platform/audit-chain.ts';
import type { Config } from '../platform/config.ts';
import type { BalanceDesk } from '../platform/balance-desk.ts';
import type { Temporal } from '../platform/temporal.ts';
import type { Tracing } from '../platform/tracing/handle.ts';
import type { Database } from '../prisma/client.ts';
import type { SignerBalances } from '../venues/evm/signer-balances.ts';
import type { Registries } from './registries.ts';

/** Stops in reverse order of starting; one part that cannot stop does not keep the others. */
export type Stop = () => Promise<void>;

/** What every part of a process is given. */
export interface Parts {
  readonly config: Config;
  readonly log: Logger;
  readonly db: Database;
  readonly temporal: Temporal;
  readonly tracing: Tracing | null;
  readonly payloadCodec: PayloadCodec | undefined;
  readonly auditMacs: AuditMacs;
  readonly bound: Registries;
  readonly balances: SignerBalances;
  readonly desk: BalanceDesk;
  /** Filled as parts start. */
  readonly stops: Stop[];
}
