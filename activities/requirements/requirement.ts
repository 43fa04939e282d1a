/**
 * What a node needs of a venue beyond its plan. The list is in `list.ts`; what the fence has to
 * find of it is asked once more by the write itself (prisma/functions/requirements.sql).
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

/** Where requirements are read. */
export interface RequirementSources {
  readonly db: Database;
  readonly chains: ChainAssets;
  readonly signers: { get(key: string): Signer | undefined };
  /** How old what a chain of the bridge registry told may be; an hour when left out. */
  readonly bridgeSnapshotMaxAgeSeconds?: number;
}

/**
 * What a context is for, which says how its signer's address is found. `send`: asked of the signer
 * afresh, since it decides whose nonce is claimed and who has to sign. `prepare`: as it was a
 * moment ago. `look`: the same, and where the signer does not tell it, as what was signed shows
 * it; a signer that is down must not hide what became of a send.
 */
export type Purpose = 'prepare' | 'send' | 'look';

/** The context that terms are for, with what it has so far. */
export interface Draft {
  readonly purpose: Purpose;
  readonly amount: string;
  readonly signer: ExecutionContext['signer'] | null;
  /** The address of another signer, found for the same purpose. */
  addressOf(signer: Signer): Promise<string>;
}

/** How something is about to leave. */
export interface Leaving {
  readonly way: Way;
  /** Who signs it, or has signed it; of any case. */
  readonly signer: string;
  /** What is to be signed for it now; null where nothing is. */
  readonly signs: { readonly [field: string]: JsonValue | undefined } | null;
  /** Of a first send, with the terms in it; null of what was declared before. */
  readonly first: ExecutionContext | null;
}

export interface Requirement {
  /** Whether this is asked of the node at all. */
  needs(row: PhaseRow): boolean;
  /**
   * What the executor's context says of it.
   *
   * @throws ExecutorFault where what is prepared may not be sent, or cannot be known.
   */
  terms(deps: RequirementSources, row: PhaseRow, draft: Draft): Promise<RequirementTerms>;
  /** Null: nothing of it can change between what is prepared and what is sent. */
  readonly guard: Guard | null;
}

/** What the database has to find of a requirement whenever something leaves. */
export interface Guard {
  readonly kind: RequirementKind;
  /** The stop that is on where {@link Guard.asked} throws. */
  readonly stop: Stop;
  /**
   * What the write has to find; null: nothing of this node.
   *
   * @throws ExecutorFault `rejected` where it may not leave now.
   */
  asked(deps: RequirementSources, row: PhaseRow, leaving: Leaving): Promise<object | null>;
  /** Who has signed, where that is on record here and not with a transaction. */
  signer(deps: RequirementSources, row: PhaseRow): Promise<string | null>;
  /**
   * Keeps what was signed before it is sent; answers what was kept first, null where a recovery
   * overtook. Absent: a message that is signed for it is not kept.
   */
  keep?(deps: RequirementSources, row: PhaseRow, signature: string): Promise<string | null>;
  /** What a first send that the database refused for it ends with; null: it is asked again. */
  refusal(problem: BindingProblem): { readonly code: string; readonly message: string } | null;
}
