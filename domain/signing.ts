/** What the service does for a node that signs something, whichever executor the node has. */
import type { RequirementTerms } from './actions/terms.ts';
import type { DeclaredPayees } from './allowlist/declared.ts';
import type {
  CallOptions,
  CompletionAssurance,
  ExecutionContext,
  ExecutionResult,
  SignRequest,
  SubmitJournal,
} from './executor.ts';
import { isObject, type JsonObject, type JsonValue } from './json.ts';
import type { CompiledNode, Intent } from './plan/types.ts';

/**
 * The field in which a prepared action records its terms: the facts of the venues file that the
 * action relies on.
 */
export const TERMS = 'venue_entries';

/** All facts that decide what may be signed for a node; none comes from the node's executor. */
export interface SignedNode extends RequirementTerms {
  readonly node: Pick<CompiledNode, 'node_key' | 'action_type' | 'config' | 'asset'>;
  /** The registry's declaration of the node's executor. */
  readonly executor: DeclaredPayees | undefined;
  readonly intent: Intent;
  readonly input_params: JsonObject;
  /** A decimal text in units of the node's asset. */
  readonly amount: string;
  /** As in the context that the executor receives. */
  readonly matched?: ExecutionContext['matched'];
  /**
   * Outputs of earlier checks of the outcome, for example how far a search has come. This field
   * decides nothing.
   */
  readonly output?: JsonObject;
  /**
   * The terms that the service's own executor recorded with the prepared action; absent if none
   * were recorded.
   */
  readonly prepared_terms?: JsonValue;
}

/** Seconds; an authorization that is valid for longer is not signed. */
export const LONGEST_AUTHORIZATION_SECONDS = 3_600;

/** Identifies an authorization: its token contract marks this nonce of this holder as used. */
export interface AuthorizationId {
  readonly chain_id: number;
  readonly token: string;
  readonly address: string;
  readonly nonce: string;
}

/**
 * Returns the authorization nonce that a checked request uses up; null when the request is for a
 * transaction.
 */
export function authorizationOf({ kind, payload }: SignRequest): AuthorizationId | null {
  const { domain, message } = payload;
  if (kind !== 'evm_typed_data' || !isObject(domain) || !isObject(message)) return null;
  const { chainId, verifyingContract: token } = domain;
  const { from: address, nonce } = message;
  const texts = [token, address, nonce];
  if (typeof chainId !== 'number' || !texts.every((text) => typeof text === 'string')) return null;
  const [t, a, n] = texts as [string, string, string];
  return { chain_id: chainId, token: t, address: a, nonce: n };
}

/**
 * Seconds after an authorization's expiry within which a final block shows whether it was used; no
 * chain of the finality table takes longer.
 */
export const AUTHORIZATION_SETTLE_SECONDS = 1_800;

/**
 * Returns until when a holder of the signature can send it to its chain, in milliseconds since
 * 1970; null when the request states no such time, as for a transaction, which its nonce ends.
 */
function usableUntil({ kind, payload }: SignRequest): number | null {
  const message = payload['message'];
  if (kind !== 'evm_typed_data' || !isObject(message)) return null;
  const seconds = Number(message['validBefore']);
  return Number.isFinite(seconds) ? seconds * 1000 : null;
}

/** Returns the seconds until the signed request can no longer take effect, whenever it is sent. */
export function usableSeconds(request: SignRequest, now_ms: number): number {
  const until = usableUntil(request);
  return until === null ? 0 : Math.ceil((until - now_ms) / 1000) + AUTHORIZATION_SETTLE_SECONDS;
}

/** Input of a check of the outcome of a signed transaction or authorization. */
export interface SignedLook {
  readonly request: SignRequest;
  /** The account that signed. */
  readonly from: string;
  readonly assurance: CompletionAssurance;
  readonly phase: 'observe' | 'recover';
  readonly journal: SubmitJournal;
}

/** The chain functions that signing needs. Every call may throw an `ExecutorFault`. */
export interface Signing {
  /**
   * Returns null when the request does what the plan states, from the account `from`; else a
   * sentence that states the difference.
   *
   * @throws ExecutorFault `rejected` `VENUE_ENTRY_CHANGED` when the present terms differ from those
   * that the prepared action recorded.
   */
  check(
    node: SignedNode,
    signed: {
      readonly request: SignRequest;
      readonly from: string;
      /**
       * Whether a team's own executor made the request; then the service has not checked that it
       * can be mined.
       */
      readonly foreign: boolean;
      /** The service's own clock, in milliseconds since 1970. */
      readonly now_ms: number;
    },
    call: CallOptions,
  ): Promise<string | null>;
  /** Reads the account's next nonce by the transactions that the chain has mined. */
  nextNonce(chainId: number, address: string, call: CallOptions): Promise<number>;
  /**
   * Follows a signed transaction or authorization until its outcome is proven. If needed, sends it
   * again, with a higher fee or as a zero-value transaction. COMPLETED: the plan's transfer is in a
   * block as deep as `assurance` requires; the output has its facts. FAILED: nothing was moved, and
   * nothing signed can still move funds. OBSERVING: neither yet. READY (recover only): nothing was
   * ever signed, or something else has used its nonce.
   */
  settle(node: SignedNode, look: SignedLook, call: CallOptions): Promise<ExecutionResult>;
}
