/**
 * What a node needs of a venue beyond its plan. The list is in `list.ts`; the fence's write checks
 * it again (prisma/functions/requirements.sql).
 */
import type { RequirementKind, RequirementTerms } from '../../domain/actions/terms.ts';
import type { ExecutionContext } from '../../domain/executor.ts';
import type { JsonValue } from '../../domain/json.ts';
import type { ChainAssets } from '../../domain/plan/tokens.ts';
import type { Stop, Way } from '../../domain/send/stops.ts';
import type { Signer } from '../../domain/signer.ts';
import type { BindingProblem } from '../../domain/transition.ts';
import type { Database } from '../../prisma/client.ts';
import type { PhaseRow } from '../../store/phases.ts';

/** Sources of requirements. */
export interface RequirementSources {
  readonly db: Database;
  readonly chains: ChainAssets;
  readonly signers: { get(key: string): Signer | undefined };
  /** Maximum age of a chain's snapshot in the bridge registry; an hour when left out. */
  readonly bridgeSnapshotMaxAgeSeconds?: number;
}

/**
 * What a context is for, which decides how its signer's address is found. `send`: from the signer
 * now, since the address decides whose nonce is claimed and who must sign. `prepare`: from a recent
 * answer. `look`: the same, or from what was signed when the signer does not answer: a signer that
 * is down must not hide the outcome of a send.
 */
export type Purpose = 'prepare' | 'send' | 'look';

/** The context so far, to which terms are added. */
export interface Draft {
  readonly purpose: Purpose;
  readonly amount: string;
  readonly signer: ExecutionContext['signer'] | null;
  /** The address of another signer, found for the same purpose. */
  addressOf(signer: Signer): Promise<string>;
}

/** A send that is about to leave. */
export interface Leaving {
  readonly way: Way;
  /** Who signs it, or has signed it; in any letter case. */
  readonly signer: string;
  /** What is to be signed now; null where nothing is. */
  readonly signs: { readonly [field: string]: JsonValue | undefined } | null;
  /** The context of a first send, with its terms; null for a send that was declared before. */
  readonly first: ExecutionContext | null;
}

export interface Requirement {
  /** Whether the node has this requirement. */
  needs(row: PhaseRow): boolean;
  /**
   * Its fields of the executor's context.
   *
   * @throws ExecutorFault where the node may not be sent as prepared, or a fact cannot be read.
   */
  terms(deps: RequirementSources, row: PhaseRow, draft: Draft): Promise<RequirementTerms>;
  /** Null: nothing of it can change between prepare and send. */
  readonly guard: Guard | null;
}

/** What the database checks of a requirement whenever something leaves. */
export interface Guard {
  readonly kind: RequirementKind;
  /** The stop that applies where {@link Guard.requires} throws. */
  readonly stop: Stop;
  /**
   * What the write must find; null: nothing for this node.
   *
   * @throws ExecutorFault `rejected` where it may not leave now.
   */
  requires(deps: RequirementSources, row: PhaseRow, leaving: Leaving): Promise<object | null>;
  /** Who has signed, where this requirement stores it and not a transaction. */
  signer(deps: RequirementSources, row: PhaseRow): Promise<string | null>;
  /**
   * Stores a signature before the send; returns the first one that was stored, null where a
   * recovery took over. Absent: signatures are not stored.
   */
  keep?(deps: RequirementSources, row: PhaseRow, signature: string): Promise<string | null>;
  /** What the database's refusal of a first send ends the node with; null: it tries again. */
  refusal(problem: BindingProblem): { readonly code: string; readonly message: string } | null;
}
