/**
 * The contract between the service and whatever moves funds: one interface for modules in this
 * process, for remote HTTP executors and for executor teams' own task-queue workers.
 *
 * An executor never sees the database or Temporal. It gets a context, answers with an
 * {@link ExecutionResult}, and the caller decides what becomes durable.
 */

import type { ChainFamily } from './allowlist/address.ts';
import type { RequirementTerms } from './actions/terms.ts';
import type { Claim } from './claims.ts';
import type { JsonObject } from './json.ts';
import type { RaisedCaps } from './lanes/caps.ts';
import type { Held } from './send/stops.ts';

/** The completion assurances a plan can ask for, weakest first. */
export const COMPLETION_ASSURANCES = [
  'provider_completed',
  'destination_observed',
  'destination_credited',
  'destination_finalized',
  'protocol_finalized',
] as const;
export type CompletionAssurance = (typeof COMPLETION_ASSURANCES)[number];
/** Of a registry entry that says nothing: the provider's own word. */
export const LEAST_ASSURANCES: readonly CompletionAssurance[] = ['provider_completed'];

/**
 * States an executor may report. READY (nothing landed under this key) and UNKNOWN only from
 * recover.
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
 * Everything an executor may know about the node it works on. Amounts are decimal strings in asset
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
   * For nodes with `config.match_from` or `burn_from`: that node, with what it recorded once it has
   * completed.
   */
  readonly matched?: {
    readonly node_key: string;
    readonly external_ref?: string;
    readonly output?: JsonObject;
  };
}

/** What a prepare asks the bound signer to sign; the answer reaches submit as `sign_result`. */
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
  /** With COMPLETED: what has been shown; absent: the provider's own word. */
  readonly assurance?: CompletionAssurance;
  readonly artifacts?: readonly Artifact[];
  readonly retry_after_seconds?: number;
}

/**
 * The unsigned fields of an EIP-1559 transaction. Wei and gas amounts are decimal integer strings.
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

/**
 * A transaction as the journal keeps it: the raw bytes are what may be broadcast again, and nothing
 * else.
 */
export interface JournaledTransaction {
  readonly transaction_id: string;
  /** Whose nonce it has: its own id, or that of the first version when this one came later. */
  readonly claim: string;
  readonly kind: TransactionKind;
  readonly chain_id: number;
  readonly from: string;
  readonly nonce: number;
  readonly unsigned: EvmUnsignedTransaction;
  /** Seconds since it was stored. */
  readonly age_seconds: number;
  /** An endpoint took its bytes, or the chain shows them. Absent: not known. */
  readonly accepted?: boolean;
  readonly tx_hash?: string;
  readonly raw_tx?: string;
}

/** `cancel` pays no one: the account sends itself nothing, so that the nonce is used. */
export type TransactionKind = 'payment' | 'cancel';

/** A version whose bytes are stored, and so may have been sent. */
export type StoredTransaction = JournaledTransaction & {
  readonly raw_tx: string;
  readonly tx_hash: string;
};

/** Whether its bytes are stored. */
export function hasBytes(transaction: JournaledTransaction): transaction is StoredTransaction {
  return transaction.raw_tx !== undefined && transaction.tx_hash !== undefined;
}

/** Another transaction with the nonce of a stored one. */
export interface NextVersion {
  /** The newest version that is known. */
  readonly over: StoredTransaction;
  readonly kind: TransactionKind;
  readonly unsigned: EvmUnsignedTransaction;
}

/** `why` says what keeps it from being signed: somebody was quicker, or it may not be paid now. */
export type VersionOutcome =
  | { readonly ok: true; readonly stored: StoredTransaction }
  | { readonly ok: false; readonly why: string };

/**
 * The durable memory of one submit, handed to the executor by the caller: identity before effect.
 * All writes are guarded by the submit epoch, so a worker that was declared dead can write nothing.
 */
export interface SubmitJournal {
  /**
   * Every transaction of this node and attempt, oldest first (empty when none was fenced). Of one
   * nonce the last is the newest version.
   */
  transactions(): Promise<readonly JournaledTransaction[]>;
  /**
   * Signs and stores one more version of a nonce; only what is stored may be sent. Present where a
   * signer is bound.
   */
  nextVersion?(version: NextVersion): Promise<VersionOutcome>;
  /** What a person raised the caps to for the lane of such a version; null where nothing holds. */
  laneRaise?(lane: {
    readonly chain_id: number;
    readonly from: string;
  }): Promise<RaisedCaps | null>;
  /**
   * What now holds back what `address` signed; null where it may be sent (again). Checked right
   * before each send but the first, for which the fence decides, and again at each endpoint.
   * `replaces`: the bytes are new, and `accepted` refers to the bytes that they replace.
   */
  held(signed: {
    readonly address: string;
    readonly accepted: boolean;
    readonly replaces?: boolean;
  }): Promise<Held | null>;
  /**
   * Records that something outside has taken these bytes: an endpoint took them, or the chain shows
   * them.
   */
  accepted(tx_hash: string): Promise<void>;
  /**
   * Drops the node's claim on a nonce that another, finalized transaction has used. False when
   * `transaction` is no longer its newest version, or a recovery took over; the caller then looks
   * again.
   */
  releaseNonce(transaction: JournaledTransaction): Promise<boolean>;
  /**
   * Whether bytes of this attempt were signed for a nonce that was dropped this way. A team's
   * executor may have received them before.
   */
  displaced(): Promise<boolean>;
  /** Claims of other nodes on what arrives; absent where nothing is claimed. */
  arrivals?: Arrivals;
  /**
   * Present only where the database was restored and may have forgotten transactions of this node:
   * nonces of the account below `count` that no known transaction has used (a few of them, the open
   * ones last).
   */
  unknownNonces?(
    account: { readonly chain_id: number; readonly from: string },
    count: number,
  ): Promise<readonly UnknownNonce[]>;
}

/** What has arrived, as far as nodes of this service have claimed it or wait for it. */
export interface Arrivals {
  /** The claims on these. `own`: of the calling node. */
  claimed(
    source: string,
    references: readonly string[],
  ): Promise<readonly (Pick<Claim, 'reference' | 'amount' | 'until'> & { own: boolean })[]>;
  /** Other nodes that wait for something at this place, by the `awaits` of their outputs. */
  waiting(place: string): Promise<
    readonly {
      readonly amount: string;
      readonly baseline_block: string | null;
      /** The transaction that its `match_from` node reported. */
      readonly tx_hash: string | null;
    }[]
  >;
}

/**
 * `open`: a transaction that the database knows is signed for it, and may or may not be the one
 * that used it.
 */
export interface UnknownNonce {
  readonly nonce: number;
  readonly open: boolean;
}

export interface SubmitInput {
  readonly context: ExecutionContext;
  readonly prepared_action: JsonObject;
  /** `{ raw_tx, tx_hash }` for evm_transaction, `{ signature }` for evm_typed_data. */
  readonly sign_result?: JsonObject;
  readonly journal: SubmitJournal;
}

/**
 * Per-call limits; `signal` aborts at `send_not_after` for submit, at the phase's time-out
 * otherwise.
 */
export interface CallOptions {
  readonly signal: AbortSignal;
  readonly requestId?: string;
  /** Headers that continue the trace of the call at the called side. */
  readonly traceHeaders?: Readonly<Record<string, string>>;
}

export interface ExecutorHealth {
  readonly state: 'up' | 'down' | 'unknown';
  readonly detail?: string;
}

/** A field of a node's config, and of what its executor prepares, that says who is paid. */
export interface PayeeField {
  /** A dotted path; each element of a list is a payee. */
  readonly field: string;
  readonly family: ChainFamily;
  /** The field that says on which chain it is paid. */
  readonly chain_id_field?: string;
}

/** What an executor declares about its nodes, and what the service relies on. */
export interface DeclaredFacts {
  /**
   * Its nodes move funds. Required only of action types that are not built in; the service knows
   * this of its own.
   */
  readonly sends: boolean;
  /**
   * Whom its nodes pay; empty: no payee that a plan can choose. Undefined where all its action
   * types are built in, or nothing is sent.
   */
  readonly payees?: readonly PayeeField[];
  /** Fields whose value may be an EVM address without being paid. */
  readonly not_payees: readonly string[];
  /** The assurances that it can show of a completed node. */
  readonly completion_assurances: readonly CompletionAssurance[];
}

/**
 * The longest that a call of an executor may take: well below the time-outs of the activities that
 * make the calls.
 */
export const LONGEST_TIMEOUT_SECONDS = 90;

/** The longest that an executor may say its effects take to appear. */
export const LONGEST_SETTLE_SECONDS = 86_400;

/** The longest that an executor may say its nodes are usually observed. */
export const LONGEST_USUAL_SECONDS = 2_592_000;

/** What the registry says about an executor, whichever way it is provided. */
export interface ExecutorDescriptor extends DeclaredFacts {
  readonly executor_key: string;
  readonly kind: 'local' | 'remote' | 'task_queue';
  readonly action_types: readonly string[];
  readonly provider?: string;
  readonly chain_family?: string;
  readonly endpoint?: string;
  /** For kind `task_queue`: where the team's own worker polls for {@link ExecutorActivities}. */
  readonly task_queue?: string;
  /**
   * For kind `task_queue`: the file of the secret with which its worker signs its answers. Without
   * a signature the service does not believe that a started submit has failed.
   */
  readonly result_secret_file?: string;
  /** May a submit with the same key be repeated without a second effect? */
  readonly same_key_safe: boolean;
  /** How long after a send its effect may still appear in recover. */
  readonly settle_seconds: number;
  /**
   * How long its nodes are usually observed, for action types that are not built in: a node that is
   * observed for longer is shown to a person. Undefined: the default of domain/send/usual-time.ts.
   */
  readonly usual_seconds?: number;
  /** Time-out of one call. */
  readonly timeout_seconds: number;
  /**
   * A module whose phases answer at once: one activity may carry out a whole chain of its nodes,
   * each behind its own fence.
   */
  readonly in_process: boolean;
}

export interface Executor {
  readonly descriptor: ExecutorDescriptor;
  /** null means pass. Anything else must be FAILED, or a retryable fault is thrown. */
  preflight(context: ExecutionContext, call: CallOptions): Promise<ExecutionResult | null>;
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
 * registry gives. An ApplicationFailure of type {@link REJECTED_FAILURE} is a refusal (a 4xx of the
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
  /** ISO 8601: nothing may be sent after it. */
  readonly send_not_after: string;
}

/** The failure type by which a task-queue executor refuses: not retried. */
export const REJECTED_FAILURE = 'EXECUTOR_REJECTED';

/** How a call to an executor went wrong, when it gave no well-formed result. */
export type ExecutorFaultKind =
  'timeout' | 'unreachable' | 'rejected' | 'server_error' | 'protocol' | 'not_yet';

/**
 * A call that produced no usable result. `rejected` is a 4xx: preflight and prepare fail the node
 * on it; `not_yet` says that the time has not come, and is retried without being counted;
 * everything else is retried there. For submit every fault means "unknown": recover decides.
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
