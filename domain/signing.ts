/** What the service does with a node that has something signed, whatever its executor. */
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
 * The field in which a prepared action records its terms: the venues file's facts that its act
 * relies on.
 */
export const TERMS = 'venue_entries';

/** Everything that decides what may be signed for a node; nothing of it comes from its executor. */
export interface SignedNode extends RequirementTerms {
  readonly node: Pick<CompiledNode, 'node_key' | 'action_type' | 'config' | 'asset'>;
  /** What the registry declares of its executor. */
  readonly executor: DeclaredPayees | undefined;
  readonly intent: Intent;
  readonly input_params: JsonObject;
  /** A decimal text in units of the node's asset. */
  readonly amount: string;
  /** As in the context of its executor. */
  readonly matched?: ExecutionContext['matched'];
  /** Outputs of earlier looks: how far a search has come. It decides nothing. */
  readonly output?: JsonObject;
  /** The terms that the service's own executor recorded with the prepared action, where it did. */
  readonly prepared_terms?: JsonValue;
}

/** An authorization is signed only if it is valid for at most so long, in seconds. */
export const LONGEST_AUTHORIZATION_SECONDS = 3_600;

/** What makes an authorization one: its token marks this nonce of this holder as used. */
export interface AuthorizationId {
  readonly chain_id: number;
  readonly token: string;
  readonly address: string;
  readonly nonce: string;
}

/** The nonce that a checked request uses up; null where it is a transaction's. */
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
 * Seconds after its time within which a final block shows whether an authorization was used; no
 * chain of the table takes longer.
 */
export const AUTHORIZATION_SETTLE_SECONDS = 1_800;

/**
 * Until when a signature can be brought to its chain by whoever holds it, in milliseconds since
 * 1970; null where it says nothing of the kind, as a transaction, whose nonce ends it.
 */
function usableUntil({ kind, payload }: SignRequest): number | null {
  const message = payload['message'];
  if (kind !== 'evm_typed_data' || !isObject(message)) return null;
  const seconds = Number(message['validBefore']);
  return Number.isFinite(seconds) ? seconds * 1000 : null;
}

/** Seconds until the signed request can no longer take effect, whenever it is sent. */
export function usableSeconds(request: SignRequest, now_ms: number): number {
  const until = usableUntil(request);
  return until === null ? 0 : Math.ceil((until - now_ms) / 1000) + AUTHORIZATION_SETTLE_SECONDS;
}

/** A look at what became of what was signed. */
export interface SignedLook {
  readonly request: SignRequest;
  /** The account that signed. */
  readonly from: string;
  readonly assurance: CompletionAssurance;
  readonly phase: 'observe' | 'recover';
  readonly journal: SubmitJournal;
}

/** The chains, as far as signing needs them. Every call may throw an `ExecutorFault`. */
export interface Signing {
  /**
   * Null when the request is what the plan says, out of the account `from`, else a sentence that
   * says what differs.
   *
   * @throws ExecutorFault `rejected` `VENUE_ENTRY_CHANGED` where the terms are not those that the
   *   prepared action recorded.
   */
  check(
    node: SignedNode,
    signed: {
      readonly request: SignRequest;
      readonly from: string;
      /** A team's own executor made it, so the service has not checked whether it can be mined. */
      readonly foreign: boolean;
      /** The service's own clock, in milliseconds since 1970. */
      readonly now_ms: number;
    },
    call: CallOptions,
  ): Promise<string | null>;
  /** The account's next nonce as the chain counts mined transactions. */
  nextNonce(chainId: number, address: string, call: CallOptions): Promise<number>;
  /**
   * Sees what was signed to its end: sends it again, for more or with nothing in it where that is
   * due. COMPLETED: the plan's transfer is in a block as deep as `assurance` asks, with its facts
   * as output. FAILED: nothing was moved, and nothing of it can still move. OBSERVING: neither yet.
   * READY (recover alone): nothing was ever signed, or its nonce is used by something else.
   */
  settle(node: SignedNode, look: SignedLook, call: CallOptions): Promise<ExecutionResult>;
}
