/** Dependencies that the API receives from the composition root; the API creates none of them. */
import type { Logger } from 'pino';
import type { RequirementSpec } from '../domain/actions/spec.ts';
import type { MintReader } from '../domain/bridges/named-mint.ts';
import type { BridgeReader } from '../domain/bridges/registry.ts';
import type { ClaimReader } from '../domain/claim-reader.ts';
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
import type { ChangeDesk } from './http/change-desk.ts';
import type { ApiSettings } from './settings.ts';

/** Checks whether sends with a requirement of this kind can leave now, whatever their plan. */
export interface RequirementCheck {
  readonly kind: RequirementSpec['kind'];
  /** Returns the nodes' error code with a sentence; null: no problem is known. */
  problem(db: Database): Promise<string | null>;
}

export interface ApiDependencies {
  readonly db: Database;
  readonly log: Logger;
  /** Executors registered in this process's memory (local and declared ones). */
  readonly executors: { list(): readonly ExecutorDescriptor[] };
  readonly signers: { list(): readonly SignerDescriptor[]; get(key: string): Signer | undefined };
  /** The chains of the venues file, and which token on each chain is which asset. */
  readonly chains: readonly BoundChain[];
  /** Reads balances and allowances of accounts on chains; absent when no chain is bound. */
  readonly accounts?: AccountReader;
  /** Reads identity and facts of the bridge's endpoints; absent when none is bound. */
  readonly bridge?: BridgeReader;
  /** Reads mint transactions that operators name; absent when no chain is bound. */
  readonly mints?: MintReader;
  /** Read at their source what operators name as a node's claim; none when left out. */
  readonly claims?: readonly ClaimReader[];
  /** What bound venues offer to their own routes; absent when none is bound. */
  readonly venues?: Partial<VenueAccess>;
  /** Checks that can stop all sends of a kind; absent when there are no such checks. */
  readonly requirements?: readonly RequirementCheck[];
  /** The venues whose balances are fetched, and fetching on demand. */
  readonly balances: BalanceDesk;
  /** Wakes a movement's run in the background; never throws, and callers do not wait for it. */
  readonly handOver: (
    movementId: string,
    command: {
      readonly kind: CommandKind;
      readonly command_id: string | null;
      /** Intent, template and strategy, for a run that is started. */
      readonly plan: Pick<CompiledPlan, 'intent' | 'template'>;
      readonly strategy_id: string | null;
    },
  ) => void;
  /** The accounts between which funds may be moved; absent when no account is bound. */
  readonly transfers?: {
    readonly accounts: readonly TransferAccount[];
    /**
     * Returns how long after a send the provider may still record this transfer, in seconds;
     * undefined when none of its venues is bound.
     */
    readonly settleSeconds: (row: TransferRow) => number | undefined;
    /** Wakes a transfer's run in the background, like `handOver`. */
    readonly handOver: (transferId: string, kind: 'create' | 'resolve') => void;
  };
  /** The one origin of the console, where passkeys are made and used; absent: none is taken. */
  readonly consoleOrigin?: () => string;
  /** Change requests; `createApi` sets it. */
  readonly changes?: ChangeDesk;
  /** Absent or null when automatic approval is switched off. */
  readonly autoApprove?: AutoApproveHook | null;
  /** Removes the secrets of the settings from a text. */
  readonly redact?: (text: string) => string;
  readonly settings: ApiSettings;
}
