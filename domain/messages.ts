/**
 * Names and argument types of everything that crosses Temporal. A registered name never changes
 * after its release: a workflow history that contains it lives as long as its movement.
 */
import type { AttentionReason } from './attention-reasons.ts';
import type { ConditionResult } from './conditions/scope.ts';
import type {
  ExecutionContext,
  ExecutionResult,
  ExecutorFaultKind,
  TaskQueueSubmit,
} from './executor.ts';
import type { GraphEdge, NodeKind } from './graph/types.ts';
import type { MovementState, ReservationStatus } from './states/movement.ts';
import type { TransferState } from './states/capital-transfer.ts';
import type { NodeState } from './states/node.ts';
import type { CommandKind } from './transition.ts';

export const TASK_QUEUE = 'fund-movements';

/** Returns the task queue of a venue that has one of its own. */
export function venueTaskQueue(venueKey: string): string {
  return `${TASK_QUEUE}/venue/${venueKey}`;
}

/** Returns whether a task queue is polled by the service's own workers. */
export function isOwnQueue(taskQueue: string): boolean {
  return taskQueue === TASK_QUEUE || taskQueue.startsWith(venueTaskQueue(''));
}

export const MOVEMENT_WORKFLOW = 'movementWorkflow';

/** Seconds that a call may wait on an executor team's task queue until a worker takes it. */
export const TAKE_SECONDS = 10;

/** Returns the workflow id of a movement: one id, whatever the number of its runs. */
export function movementWorkflowId(movementId: string): string {
  return `movement/${movementId}`;
}

/** The reverse of `movementWorkflowId`. */
export function movementOfWorkflow(workflowId: string): string {
  return workflowId.slice(movementWorkflowId('').length);
}

/** Workflow that is open while a movement whose own run has closed needs the operator. */
export const ATTENTION_WORKFLOW = 'attentionWorkflow';

export function attentionWorkflowId(movementId: string): string {
  return `attention/${movementId}`;
}

export const CAPITAL_TRANSFER_WORKFLOW = 'capitalTransferWorkflow';

/** Returns the workflow id of a transfer. The transfer's id is also the provider's reference. */
export function capitalTransferWorkflowId(transferId: string): string {
  return `capital-transfer/${transferId}`;
}

/**
 * Every signal means "read the database" and carries the command's id; null when no command caused
 * it.
 */
export const SIGNALS = ['approve', 'reject', 'resume', 'retry', 'cancel', 'wake'] as const;
export type SignalName = (typeof SIGNALS)[number];

/** Returns the signal that tells the workflow of a command. */
export function signalFor(kind: CommandKind): SignalName {
  return kind === 'create' || kind === 'resolve' || kind === 'cancel_transaction' ? 'wake' : kind;
}

/**
 * The signal that tells a run why its movement needs the operator, when the movement's state does
 * not imply the reason. The payload is a `SignalledAttention` (attention-reasons.ts).
 */
export const ATTENTION_SIGNAL = 'attention';

/**
 * The signal to leave a build of the workers. The payload is a `LeaveBuild` (builds.ts).
 */
export const LEAVE_BUILD_SIGNAL = 'leave_build';

/** What a movement's run is started with: its label in the Temporal UI, and whose turn it takes. */
export interface About {
  readonly amount: string;
  readonly asset: string;
  readonly template_key: string;
  readonly strategy_id: string | null;
}

/** An ended movement that still needs the operator: what {@link ATTENTION_WORKFLOW} shows. */
export interface EndedBadly extends About {
  readonly movement_id: string;
  readonly state: MovementState;
  readonly reason: AttentionReason;
  readonly node_key: string | null;
}

/** Keyword search attributes: no addresses, no amounts, no secrets. */
export const SEARCH_ATTRIBUTES = {
  state: 'SvcMovementState',
  strategy: 'SvcStrategyId',
  asset: 'SvcAsset',
  template: 'SvcTemplateKey',
  attention: 'SvcAttention',
  transfer: 'SvcTransferState',
} as const;

export interface LoadedNode {
  readonly node_key: string;
  readonly node_kind: NodeKind;
  readonly state: NodeState;
  readonly attempt: number;
  readonly resumed: boolean;
  /**
   * Whether a stop (domain/send/stops.ts) ended the send, or a person abandoned it, so that the
   * node FAILED. Absent in histories of 0.4.0.
   */
  readonly ended_by_stop?: boolean;
  readonly recover_first: boolean;
  readonly error_code: string | null;
  readonly settled_order: number;
  /**
   * For the second leg of a bridge transfer: the key of the first leg, which sent the funds. Absent
   * in histories of 0.4.0.
   */
  readonly brings?: string | null;
  readonly executor_key: string;
  /**
   * The executor is a module of the worker. Phases that change nothing outside may run as local
   * activities.
   */
  readonly in_process?: boolean;
  /**
   * Our own workers call the executor, as a module or over HTTP. One activity runs the node's
   * phases for as long as they are quick.
   */
  readonly chained?: boolean;
  /** The executor returns at once: the previous node's activity may continue with this node. */
  readonly carried?: boolean;
  /**
   * The venue's own task queue, on which our workers run the node's phases. Such a node is never
   * `carried`: the activity of another queue would call the venue past its rate.
   */
  readonly venue_queue?: string;
  /** The task queue that the executor team's own worker polls. */
  readonly task_queue?: string;
  /**
   * For a node with a task queue: a signer is bound to the node, so a call may first claim a nonce
   * on the chain.
   */
  readonly signs?: boolean;
}

/** What a run knows of its movement: graph and states, never amounts, addresses or outputs. */
export interface LoadedMovement {
  readonly movement_id: string;
  readonly state: MovementState;
  readonly reservation_status: ReservationStatus;
  readonly version: number;
  readonly template_key: string;
  readonly template_version: number;
  readonly strategy_id: string | null;
  readonly asset: string;
  readonly ended: boolean;
  readonly error_code: string | null;
  readonly frontier: readonly string[];
  /** Milliseconds by the database's clock until the approval expires; 0 when it has expired. */
  readonly ttl_ms: number;
  readonly edges: readonly GraphEdge[];
  /** Results of conditions, by the edge's position in the plan. */
  readonly conditions?: ConditionResults;
  readonly nodes: readonly LoadedNode[];
  /**
   * Present when nodes that wait at their send fence (the last check before a send) should try
   * again.
   */
  readonly woken?: true;
  /**
   * The version of the workflow's behaviour for this load. Absent in histories of 0.1.0, 1 in
   * histories of 0.2.0, 3 in histories of 0.3.0, 4 in
   * histories of 0.4.0. See workflows/versions.ts.
   */
  readonly conduct?: 1 | 2 | 3 | 4 | 5;
}

/** Stored results of conditions, by the edge's position in the plan. */
export type ConditionResults = Readonly<Record<string, ConditionResult>>;

/** A decision of the workflow, written as a compare-and-set on (state, version). */
export interface DecideArgs {
  readonly movement_id: string;
  readonly version: number;
  readonly from: MovementState;
  readonly to: MovementState;
  readonly ready: readonly { readonly node_key: string; readonly attempt: number }[];
  readonly skip: readonly { readonly node_key: string; readonly attempt: number }[];
  /** READY nodes that a cancel ends before they send. */
  readonly stop: readonly { readonly node_key: string; readonly attempt: number }[];
  readonly frontier: readonly string[];
  readonly ended: boolean;
  readonly failure: { readonly node_key: string; readonly error_code: string } | null;
  /** A node that this decision makes ready. Its first phases may follow in the same activity. */
  readonly begin?: PhaseArgs;
}

export interface DecideResult {
  /** False: another process wrote a decision first. Load the movement and walk again. */
  readonly applied: boolean;
  readonly version: number;
  /** Result of the phases that `begin` started; absent when they had no result. */
  readonly begun?: PhaseResult;
}

export interface PhaseArgs {
  readonly movement_id: string;
  readonly node_key: string;
  readonly attempt: number;
  /**
   * The executor that the node was bound to when the run loaded it. The database's value takes
   * precedence.
   */
  readonly executor_key?: string;
  /** The next phase runs in the same activity: prepare after preflight, observe after submit. */
  readonly chained?: boolean;
  /** Every phase of the node runs in one activity, from preflight on, while they are quick. */
  readonly whole?: boolean;
  /** The decision that follows from the node's completion is written in the same activity. */
  readonly decides?: boolean;
  /** That decision, if the run could compute it in advance because no other node was running. */
  readonly then?: DecideArgs;
  /** The nodes that the same activity may continue with, one after the other, while it is quick. */
  readonly onward?: readonly PhaseArgs[];
}

/**
 * Extra input of `recover`: the node is past its send, and its send window is over or it cannot be
 * observed.
 */
export interface RecoverArgs extends PhaseArgs {
  readonly from_observe?: boolean;
  /** The node is UNKNOWN. Recovery repeats until a proof settles it; nothing is sent again. */
  readonly from_unknown?: boolean;
}

export const PHASES = ['preflight', 'prepare', 'submit', 'observe', 'recover'] as const;
export type Phase = (typeof PHASES)[number];

/**
 * What to do after a phase. `again`: the same phase after `delay_ms`; `wait`: the send fence (the
 * last check before a send) is closed for now; `stop`: this movement starts nothing more.
 */
export const PHASE_NEXT = [
  'continue',
  'settled',
  'observe',
  'recover',
  'submit',
  'again',
  'wait',
  'stop',
] as const;
export type PhaseNext = (typeof PHASE_NEXT)[number];

export interface PhaseResult {
  readonly state: NodeState;
  readonly next: PhaseNext;
  /** The phase that returned this result, when it was a chained phase and not the requested one. */
  readonly phase?: Phase;
  readonly error_code: string | null;
  /**
   * Whether a stop (domain/send/stops.ts) ended the send, or a person abandoned it, so that the
   * node FAILED; no failure edge fires.
   */
  readonly ended_by_stop?: boolean;
  /**
   * Milliseconds to wait before the next phase: before `again`, or before repeating a submit that
   * recovery proved not to have landed.
   */
  readonly delay_ms?: number;
  /** Results of the conditions on the edges that leave a settled node. */
  readonly conditions?: ConditionResults;
  /** The decision that was written together with the node's completion. */
  readonly advance?: Advance;
  /** Results of the nodes that the activity continued with. */
  readonly carried?: readonly CarriedResult[];
}

/** A written decision, and the movement's version after it. */
export interface Advance {
  readonly decision: DecideArgs;
  readonly version: number;
}

export interface CarriedResult {
  readonly node_key: string;
  readonly attempt: number;
  readonly result: PhaseResult;
}

/**
 * Input of the first half of a phase of a task-queue executor. This half returns the input for the
 * team's worker, or a result when no call is needed.
 */
export interface AskArgs extends RecoverArgs {
  readonly phase: Phase | 'cancel';
}

export interface Ask {
  readonly input: ExecutionContext | TaskQueueSubmit;
  /** Milliseconds that the team's worker has, from when it starts. */
  readonly timeout_ms: number;
  /** The submit epoch under which the answer may be recorded. */
  readonly epoch: number;
  /**
   * The node's error count when the call was made, so that one error is counted once. Absent in
   * histories before 0.3.0.
   */
  readonly errors?: number;
  /** The id of the stored question for this answer. Absent in histories before 0.5.0. */
  readonly question?: string;
}

export type AskResult = { readonly ask: Ask } | { readonly result: PhaseResult };

/** A team worker's answer, or how the call failed. `not_started`: no worker took the call. */
export type TeamAnswer =
  | { readonly answer: ExecutionResult | null }
  | { readonly fault: { readonly kind: ExecutorFaultKind | 'not_started'; readonly code: string } };

/** Input of the second half of a phase of a task-queue executor, which stores the answer. */
export interface RecordArgs extends AskArgs {
  readonly epoch: number;
  readonly errors?: number;
  readonly question?: string;
  readonly given: TeamAnswer;
}

export interface LoadArgs {
  readonly movement_id: string;
  readonly run_id: string;
  /**
   * Decisions that follow from the load are written in the same activity; the load returns the
   * state after them.
   */
  readonly decides?: true;
}

/** The activities of a movement, by their registered names. */
export interface MovementActivities {
  load(args: LoadArgs): Promise<LoadedMovement | null>;
  decide(args: DecideArgs): Promise<DecideResult>;
  expire(args: { readonly movement_id: string }): Promise<void>;
  /**
   * Returns the venue's task queue on which the node's phases run at present; null: on
   * {@link TASK_QUEUE}.
   */
  queueOf(args: {
    readonly movement_id: string;
    readonly node_key: string;
  }): Promise<string | null>;
  /** Stores a wake, which starts the next run after this one closes to leave its build. */
  leaveBuild(args: { readonly movement_id: string }): Promise<void>;
  preflight(args: PhaseArgs): Promise<PhaseResult>;
  prepare(args: PhaseArgs): Promise<PhaseResult>;
  submit(args: PhaseArgs): Promise<PhaseResult>;
  observe(args: PhaseArgs): Promise<PhaseResult>;
  recover(args: RecoverArgs): Promise<PhaseResult>;
  /** Asks the executor of a node in flight to end the send; `observe` reads the outcome. */
  cancel(args: PhaseArgs): Promise<void>;
  ask(args: AskArgs): Promise<AskResult>;
  record(args: RecordArgs): Promise<PhaseResult>;
}

/**
 * What a run knows of its capital transfer: its state and the facts an operator searches for, never
 * the amount.
 */
export interface LoadedTransfer {
  readonly transfer_id: string;
  readonly state: TransferState;
  readonly ended: boolean;
  readonly epoch: number;
  readonly asset: string;
  readonly strategy_id: string | null;
  readonly source: string;
  readonly destination: string;
  readonly error_code: string | null;
}

export interface SubmitTransferArgs {
  readonly transfer_id: string;
  /** The epoch that the run loaded; a submit starts from no other epoch. */
  readonly epoch: number;
}

/**
 * Result of `lookTransfer`. `submit`: it is proven that nothing landed, and the same reference may
 * be sent again after `delay_ms`.
 */
export interface LookTransferResult {
  readonly next: 'load' | 'submit';
  readonly epoch: number;
  readonly delay_ms: number;
}

/** The activities of a capital transfer, by their registered names. */
export interface CapitalTransferActivities {
  loadTransfer(args: {
    readonly transfer_id: string;
    readonly run_id: string;
  }): Promise<LoadedTransfer | null>;
  /** Stores that the transfer's run must be woken, as `leaveBuild` does for a movement. */
  leaveBuildOfTransfer(args: { readonly transfer_id: string }): Promise<void>;
  /**
   * Passes the send fence, sends once, and records the result. After any error, `lookTransfer`
   * finds the outcome.
   */
  submitTransfer(args: SubmitTransferArgs): Promise<void>;
  /** Polls the provider until its record changes the transfer. */
  lookTransfer(args: { readonly transfer_id: string }): Promise<LookTransferResult>;
}

/** What a process requires of the workflows that it loads. */
export interface WorkflowSettings {
  /** Whether message and stack of failures go into payloads, so that a codec can encrypt them. */
  readonly encodeFailures: boolean;
  /** Whether a run passes its trace on to its activities. */
  readonly traceHeaders: boolean;
  /** Whether the process registers its workers with their build. */
  readonly versioned: boolean;
}
