/** What the API receives from the composition root. It makes none of this itself. */
import type { Logger } from 'pino';
import type { RequirementSpec } from '../domain/actions/spec.ts';
import type { MintReader } from '../domain/bridges/named-mint.ts';
import type { BridgeReader } from '../domain/bridges/registry.ts';
import type { ExecutorDescriptor } from '../domain/executor.ts';
import type { CommandKind } from '../domain/transition.ts';
import type { TransferRow } from '../domain/capital-transfers/step.ts';
import type { TransferAccount } from '../domain/capital-transfers/topology.ts';
import type { BoundChain } from '../domain/plan/tokens.ts';
import type { CompiledPlan } from '../domain/plan/types.ts';
import type { AccountReader } from '../domain/signer-lifecycle.ts';
import type { Signer, SignerDescriptor } from '../domain/signer.ts';
import type { BalanceDesk } from '../platform/balance-desk.ts';
import type { VenueAccess } from '../domain/venue-access.ts';
import type { Database } from '../prisma/client.ts';
import type { AutoApproveHook } from './auto-approve/hook.ts';
import type { ApiSettings } from './settings.ts';

/** Why no send that requires this can leave now, whichever its plan. */
export interface RequirementCheck {
  readonly kind: RequirementSpec['kind'];
  /** The code that nodes would fail with, and a sentence; null: nothing is known against it. */
  problem(db: Database): Promise<string | null>;
}

export interface ApiDependencies {
  readonly db: Database;
  readonly log: Logger;
  /** Executors registered in this process's memory (local and declared ones). */
  readonly executors: { list(): readonly ExecutorDescriptor[] };
  readonly signers: { list(): readonly SignerDescriptor[]; get(key: string): Signer | undefined };
  /** The chains of the venues file, and which token is which asset. */
  readonly chains: readonly BoundChain[];
  /** Reads what an account holds and allows on chains; absent where none is bound. */
  readonly accounts?: AccountReader;
  /** Asks the endpoints of the bridge what they are; absent where none is bound. */
  readonly bridge?: BridgeReader;
  /** Reads mints that people name; absent where no chain is bound. */
  readonly mints?: MintReader;
  /** What bound venues show to routes of their own; absent where none is bound. */
  readonly venues?: Partial<VenueAccess>;
  /** What keeps all sends of a kind from leaving; absent where nothing is known of any. */
  readonly requirements?: readonly RequirementCheck[];
  /** The venues whose balances are fetched, and a fetch on demand. */
  readonly balances: BalanceDesk;
  /** Wakes a movement's run in the background; never throws and is never waited for. */
  readonly handOver: (
    movementId: string,
    command?: {
      readonly kind: CommandKind;
      readonly command_id: string | null;
      /** What the movement is about, for the name of a run that is started. */
      readonly plan: Pick<CompiledPlan, 'intent' | 'template'>;
    },
  ) => void;
  /** The accounts between which funds may be moved; absent where there are none. */
  readonly transfers?: {
    readonly accounts: readonly TransferAccount[];
    /**
     * How long after a send the record of this transfer may still appear at its provider; undefined
     * where none of its venues is bound.
     */
    readonly settleSeconds: (row: TransferRow) => number | undefined;
    /** Wakes a transfer's run in the background, like `handOver`. */
    readonly handOver: (transferId: string, kind: 'create' | 'resolve') => void;
  };
  /** Absent or null where automatic approval is switched off. */
  readonly autoApprove?: AutoApproveHook | null;
  /** Takes the secrets among the settings out of a text. */
  readonly redact?: (text: string) => string;
  readonly settings: ApiSettings;
}
