/**
 * Requirements: facts of a venue that a node needs besides its plan. `list.ts` lists them; the
 * fence's write checks them again (prisma/functions/requirements.sql).
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

/** Where requirements read their facts. */
export interface RequirementSources {
  readonly db: Database;
  readonly chains: ChainAssets;
  readonly signers: { get(key: string): Signer | undefined };
  /** Maximum age, in seconds, of a chain's snapshot in the bridge registry; an hour by default. */
  readonly bridgeSnapshotMaxAgeSeconds?: number;
}

/**
 * Purpose of an execution context; it decides where the signer's address is read. `send`: from the
 * signer now, since the address decides whose nonce is claimed and who must sign. `prepare`: from a
 * recent answer of the signer. `look`: from a recent answer, or from the stored signature when the
 * signer does not answer, so that a signer that is down does not hide the outcome of a send.
 */
export type Purpose = 'prepare' | 'send' | 'look';

/** The part of the execution context that is known before the requirements add their terms. */
export interface Draft {
  readonly purpose: Purpose;
  readonly amount: string;
  readonly signer: ExecutionContext['signer'] | null;
  /** Returns the address of another signer, read for the same purpose. */
  addressOf(signer: Signer): Promise<string>;
}

/** Facts of a send that is about to leave this process. */
export interface Leaving {
  readonly way: Way;
  /** Address that signs the send or has signed it, in any letter case. */
  readonly signer: string;
  /** The payload to be signed now; null when nothing is signed. */
  readonly signs: { readonly [field: string]: JsonValue | undefined } | null;
  /** The execution context of a first send, with its terms; null when the send is a repeat. */
  readonly first: ExecutionContext | null;
}

export interface Requirement {
  /** Returns whether this requirement applies to the node. */
  needs(row: PhaseRow): boolean;
  /**
   * Returns the fields that this requirement adds to the execution context.
   *
   * @throws ExecutorFault when the node may not be sent as it was prepared, or when a fact cannot
   *   be read.
   */
  terms(deps: RequirementSources, row: PhaseRow, draft: Draft): Promise<RequirementTerms>;
  /** The check at the send; null when the facts cannot change between prepare and send. */
  readonly guard: Guard | null;
}

/** The part of a requirement that the database checks before every send, also before a repeat. */
export interface Guard {
  readonly kind: RequirementKind;
  /** The stop that applies when {@link Guard.requires} throws. */
  readonly stop: Stop;
  /**
   * Returns what the database must find when it writes the send; null when this node needs no
   * check.
   *
   * @throws ExecutorFault `rejected` when the send may not leave now.
   */
  requires(deps: RequirementSources, row: PhaseRow, leaving: Leaving): Promise<object | null>;
  /**
   * Returns the address that has signed, when this requirement stores it; null when it does not (a
   * transaction stores its own signer).
   */
  signer(deps: RequirementSources, row: PhaseRow): Promise<string | null>;
  /**
   * Stores a signature before the send and returns the first signature that was stored; null when a
   * recovery took over the node. Left out when the requirement stores no signatures.
   */
  keep?(deps: RequirementSources, row: PhaseRow, signature: string): Promise<string | null>;
  /**
   * Returns the error with which the node ends when the database refuses its first send; null when
   * the node tries again.
   */
  refusal(problem: BindingProblem): { readonly code: string; readonly message: string } | null;
}
