/**
 * The contract between the service and the code that moves funds: one interface for modules in this
 * process, for remote HTTP executors and for executor teams' own task-queue workers.
 *
 * An executor never sees the database or Temporal. It gets a context and returns an
 * {@link ExecutionResult}; the caller decides what is stored.
 */

import type { ChainFamily } from './allowlist/address.ts';
import type { RequirementTerms } from './actions/terms.ts';
import type { Claim } from './claims.ts';
import type { JsonObject } from './json.ts';
import type { RaisedCaps } from './lanes/caps.ts';
import type { Held } from './send/stops.ts';

/** The completion assurances that a plan can require, weakest first. */
export const COMPLETION_ASSURANCES = [
  'provider_completed',
  'destination_observed',
  'destination_credited',
  'destination_finalized',
  'protocol_finalized',
] as const;
export type CompletionAssurance = (typeof COMPLETION_ASSURANCES)[number];
/** Used for a registry entry that names no assurances: only the provider's own report. */
export const LEAST_ASSURANCES: readonly CompletionAssurance[] = ['provider_completed'];

/**
 * States that an executor may report. Only recover may report UNKNOWN. READY is recover's "nothing
 * landed under this key"; from preflight and prepare it makes the node wait for its venue (see
 * domain/venue-waits.ts).
 */
export const EXECUTION_STATES = [
  'SUBMITTING',
  'SUBMITTED',
  'OBSERVING',
  'COMPLETED',
  'FAILED',
  'READY',
  'UNKNOWN',
] as const;
export type ExecutionState = (typeof EXECUTION_STATES)[number];

export const EXECUTOR_PHASES = [
  'preflight',
  'prepare',
  'submit',
  'observe',
  'recover',
  'cancel',
] as const;
export type ExecutorPhase = (typeof EXECUTOR_PHASES)[number];

/**
 * Everything that an executor receives about its plan node. Amounts are decimal strings in asset
 * units.
 */
export interface ExecutionContext extends RequirementTerms {
  readonly movement_id: string;
  readonly node_key: string;
  readonly attempt: number;
  readonly idempotency_key: string;
  readonly action_type: string;
  readonly asset: string;
  readonly amount: string;
  readonly config: JsonObject;
  readonly input_params: JsonObject;
  readonly intent: JsonObject;
  readonly completion_assurance: CompletionAssurance;
  readonly signer?: {
    readonly signer_key: string;
    readonly chain_family: string;
    readonly address: string;
  };
  readonly prior?: {
    readonly external_ref?: string;
    readonly prepared_action?: JsonObject;
    readonly output?: JsonObject;
  };
  /**
   * For nodes with `config.match_from` or `burn_from`: the named node, with its output once that
   * node has completed.
   */
  readonly matched?: {
    readonly node_key: string;
    readonly external_ref?: string;
    readonly output?: JsonObject;
  };
}

/**
 * What a prepare requests from the bound signer; submit receives the signature as `sign_result`.
 */
export interface SignRequest {
  readonly kind: 'evm_transaction' | 'evm_typed_data';
  readonly payload: JsonObject;
}

export interface Artifact {
  readonly kind: string;
  readonly data: JsonObject;
}

export interface ExecutionResult {
  readonly next_state: ExecutionState;
  readonly error_code?: string;
  readonly error_message?: string;
  readonly external_ref?: string;
  readonly prepared_action?: JsonObject;
  readonly sign_request?: SignRequest;
  readonly output?: JsonObject;
  /** With COMPLETED: the assurance that was proven; absent: only the provider's own report. */
  readonly assurance?: CompletionAssurance;
  readonly artifacts?: readonly Artifact[];
  readonly retry_after_seconds?: number;
}

/**
 * The unsigned fields of an EIP-1559 transaction. Amounts in wei and gas are decimal integer
 * strings.
 */
export interface EvmUnsignedTransaction {
  readonly chain_id: number;
  readonly to: string;
  readonly value: string;
  readonly data: string;
  readonly gas: string;
  readonly max_fee_per_gas: string;
  readonly max_priority_fee_per_gas: string;
}

/** A transaction as the journal stores it. Only the stored raw bytes may be broadcast again. */
export interface JournaledTransaction {
  readonly transaction_id: string;
  /**
   * The first transaction with this nonce: for the first version its own id, for later versions the
   * id of the first.
   */
  readonly claim: string;
  readonly kind: TransactionKind;
  readonly chain_id: number;
  readonly from: string;
  readonly nonce: number;
  readonly unsigned: EvmUnsignedTransaction;
  /** Seconds since the transaction was stored. */
  readonly age_seconds: number;
  /** True: a chain endpoint accepted the bytes, or the chain shows them. Absent: not known. */
  readonly accepted?: boolean;
  readonly tx_hash?: string;
  readonly raw_tx?: string;
}

/** `cancel`: the account sends zero to itself, only to use up the nonce. */
export type TransactionKind = 'payment' | 'cancel';

/** A version of a transaction whose bytes are stored, so that it may have been sent. */
export type StoredTransaction = JournaledTransaction & {
  readonly raw_tx: string;
  readonly tx_hash: string;
};

/** Returns whether the transaction's bytes are stored. */
export function hasBytes(transaction: JournaledTransaction): transaction is StoredTransaction {
  return transaction.raw_tx !== undefined && transaction.tx_hash !== undefined;
}

/** Another transaction with the same nonce as a stored one. */
export interface NextVersion {
  /** The newest known version. */
  readonly over: StoredTransaction;
  readonly kind: TransactionKind;
  readonly unsigned: EvmUnsignedTransaction;
}

/**
 * `why`: the reason that the version was not signed, for example another version was stored first,
 * or it may not be paid now.
 */
export type VersionOutcome =
  | { readonly ok: true; readonly stored: StoredTransaction }
  | { readonly ok: false; readonly why: string };

/**
 * The durable memory of one submit, which the caller passes to the executor: the identity of a
 * transaction is stored before it is sent. All writes check the submit epoch, so a worker that was
 * declared dead can write nothing.
 */
export interface SubmitJournal {
  /**
   * Returns every transaction of this node and attempt, oldest first; empty if none was stored. For
   * each nonce, the last one is the newest version.
   */
  transactions(): Promise<readonly JournaledTransaction[]>;
  /**
   * Signs and stores a new version for a nonce. Only stored bytes may be sent. Present if a signer
   * is bound.
   */
  nextVersion?(version: NextVersion): Promise<VersionOutcome>;
  /**
   * Returns the caps that a person raised for the nonce lane of such a version; null if no raise is
   * in force.
   */
  laneRaise?(lane: {
    readonly chain_id: number;
    readonly from: string;
  }): Promise<RaisedCaps | null>;
  /**
   * Returns why the bytes that `address` signed may not be sent now; null if they may be sent.
   * Checked right before each send except the first, for which the send fence decides, and again
   * before each endpoint. `replaces`: the bytes are new, and `accepted` is about the bytes that
   * they replace.
   */
  held(signed: {
    readonly address: string;
    readonly accepted: boolean;
    readonly replaces?: boolean;
  }): Promise<Held | null>;
  /**
   * Records that these bytes were accepted outside: a chain endpoint accepted them, or the chain
   * shows them.
   */
  accepted(tx_hash: string): Promise<void>;
  /**
   * Drops the node's claim on a nonce that another, finalized transaction has used. Returns false
   * if `transaction` is no longer the newest version, or a recovery took over; the caller then
   * reads the transactions again.
   */
  releaseNonce(transaction: JournaledTransaction): Promise<boolean>;
  /**
   * Returns whether bytes of this attempt were signed for a nonce that was dropped by
   * `releaseNonce`. A team's executor may have received those bytes before.
   */
  displaced(): Promise<boolean>;
  /** Claims of other nodes on arrivals; absent for nodes that claim nothing. */
  arrivals?: Arrivals;
  /**
   * Present only if the database was restored and may have forgotten transactions of this node.
   * Returns nonces of the account below `count` that no known transaction has used (a few of them,
   * the open ones last).
   */
  unknownNonces?(
    account: { readonly chain_id: number; readonly from: string },
    count: number,
  ): Promise<readonly UnknownNonce[]>;
}

/** Arrivals that nodes of this service have claimed or wait for. */
export interface Arrivals {
  /** Returns the claims on these arrivals. `own`: the claim belongs to the calling node. */
  claimed(
    source: string,
    references: readonly string[],
  ): Promise<readonly (Pick<Claim, 'reference' | 'amount' | 'until'> & { own: boolean })[]>;
  /**
   * Returns other nodes that wait for an arrival at this place, by the field `awaits` of their
   * outputs.
   */
  waiting(place: string): Promise<
    readonly {
      readonly amount: string;
      readonly baseline_block: string | null;
      /** The transaction that the node's `match_from` node reported. */
      readonly tx_hash: string | null;
    }[]
  >;
}

/**
 * `open`: the database knows a signed transaction for this nonce; it may or may not be the
 * transaction that used the nonce.
 */
export interface UnknownNonce {
  readonly nonce: number;
  readonly open: boolean;
}

export interface SubmitInput {
  readonly context: ExecutionContext;
  readonly prepared_action: JsonObject;
  /**
   * The signature: `{ raw_tx, tx_hash }` for evm_transaction, `{ signature }` for evm_typed_data.
   * Absent: none was requested.
   */
  readonly sign_result?: JsonObject;
  readonly journal: SubmitJournal;
}

/**
 * Limits of one call. `signal` aborts at `send_not_after` for submit, and at the phase's time-out
 * otherwise.
 */
export interface CallOptions {
  readonly signal: AbortSignal;
  readonly requestId?: string;
  /** Headers that continue the trace in the called service. */
  readonly traceHeaders?: Readonly<Record<string, string>>;
  /**
   * The last moment at which something may be sent, in milliseconds since 1970; absent: as long as
   * the call runs. `signal` aborts then too, but another process may not see that, and it aborts
   * late on a machine that was suspended. So compare it with `Date.now()` right before you send.
   */
  readonly notAfter?: number;
}

/** Options of a call that sends, which has to have a last moment. */
export type SendOptions = CallOptions & Required<Pick<CallOptions, 'notAfter'>>;

export interface ExecutorHealth {
  readonly state: 'up' | 'down' | 'unknown';
  readonly detail?: string;
}

/** A field that names the payee, in a node's config and in what its executor prepares. */
export interface PayeeField {
  /** A dotted path to the value. If the value is a list, each element is a payee. */
  readonly field: string;
  readonly family: ChainFamily;
  /** The field that holds the chain on which the payee is paid. */
  readonly chain_id_field?: string;
}

/** What an executor declares about its nodes; the service relies on it. */
export interface DeclaredFacts {
  /**
   * True: nodes of this executor move funds. Required only for action types that are not built in;
   * for built-in types the service knows this itself.
   */
  readonly sends: boolean;
  /**
   * The fields that name payees; empty: a plan cannot choose a payee. Undefined if all its action
   * types are built in, or it sends nothing.
   */
  readonly payees?: readonly PayeeField[];
  /** Fields whose value may be an EVM address that is not paid. */
  readonly not_payees: readonly string[];
  /** The assurances that the executor can prove for a completed node. */
  readonly completion_assurances: readonly CompletionAssurance[];
}

/**
 * Longest allowed time-out of an executor call: well below the time-outs of the activities that
 * make the calls.
 */
export const LONGEST_TIMEOUT_SECONDS = 90;

/** Largest allowed `settle_seconds` of an executor. */
export const LONGEST_SETTLE_SECONDS = 86_400;

/** Largest allowed `usual_seconds` of an executor. */
export const LONGEST_USUAL_SECONDS = 2_592_000;

/** What the registry contains about an executor, whatever its kind. */
export interface ExecutorDescriptor extends DeclaredFacts {
  readonly executor_key: string;
  readonly kind: 'local' | 'remote' | 'task_queue';
  readonly action_types: readonly string[];
  readonly provider?: string;
  readonly chain_family?: string;
  readonly endpoint?: string;
  /**
   * For kind `task_queue`: the queue that the team's own worker polls for
   * {@link ExecutorActivities}.
   */
  readonly task_queue?: string;
  /**
   * For kind `task_queue`: the file with the secret that signs the worker's answers. Without a
   * signature the service does not accept that a started submit has failed.
   */
  readonly result_secret_file?: string;
  /** True: a submit with the same key may be repeated without a second effect. */
  readonly same_key_safe: boolean;
  /** How long after a send its effect may still appear in recover. */
  readonly settle_seconds: number;
  /**
   * How long its nodes are usually observed, for action types that are not built in. A node that
   * takes longer is shown to a person. Undefined: the default of domain/send/usual-time.ts.
   */
  readonly usual_seconds?: number;
  /** Longest time of one call. */
  readonly timeout_seconds: number;
  /**
   * True for a module whose phases return immediately: one activity may run a whole chain of its
   * nodes, each after its own last check before the send.
   */
  readonly in_process: boolean;
}

export interface Executor {
  readonly descriptor: ExecutorDescriptor;
  /**
   * Checks before anything is sent; null means passed. Any other result must be FAILED, or READY
   * with a code of domain/venue-waits.ts: nothing was done, and preflight is called again after a
   * pause. For a retryable fault it throws an {@link ExecutorFault}.
   */
  preflight(context: ExecutionContext, call: CallOptions): Promise<ExecutionResult | null>;
  /** Returns what will be sent. May answer READY as preflight may, and starts nothing then. */
  prepare(context: ExecutionContext, call: CallOptions): Promise<ExecutionResult>;
  submit(input: SubmitInput, call: CallOptions): Promise<ExecutionResult>;
  observe(
    context: ExecutionContext,
    call: CallOptions,
    journal: SubmitJournal,
  ): Promise<ExecutionResult>;
  recover(
    context: ExecutionContext,
    call: CallOptions,
    journal: SubmitJournal,
  ): Promise<ExecutionResult>;
  cancel(context: ExecutionContext, call: CallOptions): Promise<ExecutionResult>;
  health(call: CallOptions): Promise<ExecutorHealth>;
}

/**
 * What the worker of an executor team registers, by these names, on the task queue that the
 * registry names. An ApplicationFailure of type {@link REJECTED_FAILURE} is a refusal (a 4xx of the
 * HTTP protocol); every other failure and every time-out is a fault, after which the call is
 * repeated.
 */
export interface ExecutorActivities {
  preflight(context: ExecutionContext): Promise<ExecutionResult | null>;
  prepare(context: ExecutionContext): Promise<ExecutionResult>;
  submit(input: TaskQueueSubmit): Promise<ExecutionResult>;
  observe(context: ExecutionContext): Promise<ExecutionResult>;
  recover(context: ExecutionContext): Promise<ExecutionResult>;
  cancel(context: ExecutionContext): Promise<ExecutionResult>;
}

export interface TaskQueueSubmit {
  readonly context: ExecutionContext;
  readonly prepared_action: JsonObject;
  readonly sign_result?: JsonObject;
  /** ISO 8601. Nothing may be sent after this time. */
  readonly send_not_after: string;
}

/** Failure type with which a task-queue executor refuses a call; the call is not retried. */
export const REJECTED_FAILURE = 'EXECUTOR_REJECTED';

/** Why a call to an executor gave no well-formed result. */
export type ExecutorFaultKind =
  'timeout' | 'unreachable' | 'rejected' | 'server_error' | 'protocol' | 'not_yet';

/**
 * A call without a usable result. For preflight and prepare: `rejected` (a 4xx) fails the node;
 * `not_yet` means too early, and is retried without being counted; every other kind is retried. For
 * submit, every fault means "unknown": recover decides.
 */
export class ExecutorFault extends Error {
  override readonly name = 'ExecutorFault';
  readonly kind: ExecutorFaultKind;
  readonly code: string;
  readonly retryAfterSeconds: number | undefined;
  constructor(
    kind: ExecutorFaultKind,
    code: string,
    message: string,
    options?: { cause?: unknown; retryAfterSeconds?: number },
  ) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.code = code;
    this.retryAfterSeconds = options?.retryAfterSeconds;
  }
}
