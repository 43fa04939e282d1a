/**
 * Names and argument types of everything that crosses Temporal. Registered names are frozen once
 * released: a history that names one lives as long as its movement.
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
export const MOVEMENT_WORKFLOW = 'movementWorkflow';

/** How long a call may wait on an executor team's task queue until a worker takes it. */
export const TAKE_SECONDS = 10;

/** One workflow id a movement, whatever the number of its runs. */
export function movementWorkflowId(movementId: string): string {
  return `movement/${movementId}`;
}

/** The reverse of `movementWorkflowId`. */
export function movementOfWorkflow(workflowId: string): string {
  return workflowId.slice(movementWorkflowId('').length);
}

/** Its run stays open while a movement with a closed run needs a person. */
export const ATTENTION_WORKFLOW = 'attentionWorkflow';

export function attentionWorkflowId(movementId: string): string {
  return `attention/${movementId}`;
}

export const CAPITAL_TRANSFER_WORKFLOW = 'capitalTransferWorkflow';

/** One workflow id a transfer; its id is also the provider's reference. */
export function capitalTransferWorkflowId(transferId: string): string {
  return `capital-transfer/${transferId}`;
}

/**
 * Every signal means "look at the database" and carries the command's id (null for a bare wake).
 */
export const SIGNALS = ['approve', 'reject', 'resume', 'retry', 'cancel', 'wake'] as const;
export type SignalName = (typeof SIGNALS)[number];

/** The signal that hands a command over. */
export function signalFor(kind: CommandKind): SignalName {
  return kind === 'create' || kind === 'resolve' || kind === 'cancel_transaction' ? 'wake' : kind;
}

/**
 * The signal that sends a run the reason why its movement needs a person, where its state does not
 * imply it; the payload is a `SignalledAttention` (attention-reasons.ts).
 */
export const ATTENTION_SIGNAL = 'attention';

/** The facts from which the Temporal UI names a movement's run. */
export interface About {
  readonly amount: string;
  readonly asset: string;
  readonly template_key: string;
}

/** An ended movement that still needs a person: what {@link ATTENTION_WORKFLOW} shows. */
export interface EndedBadly extends About {
  readonly movement_id: string;
  readonly state: MovementState;
  readonly strategy_id: string | null;
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
  /** FAILED because a stop ended its send. Absent in histories of 0.4.0. */
  readonly ended_by_stop?: boolean;
  readonly recover_first: boolean;
  readonly error_code: string | null;
  readonly settled_order: number;
  /** Of a bridge's second leg: the node whose funds it brings. Absent in histories of 0.4.0. */
  readonly brings?: string | null;
  readonly executor_key: string;
  /**
   * Its executor is a module of the worker: phases that change nothing outside may be local
   * activities.
   */
  readonly in_process?: boolean;
  /**
   * Its executor is called by our own workers, whether a module or behind HTTP: its phases are
   * carried out in one activity for as long as they are quick.
   */
  readonly chained?: boolean;
  /** Its executor answers at once: the activity of the node before may continue with it. */
  readonly carried?: boolean;
  /** Its executor is a team's own worker, polling here. */
  readonly task_queue?: string;
  /**
   * Of such a node: a signer is bound to it, so a call to it may first claim a nonce on the chain.
   */
  readonly signs?: boolean;
}

/** What a run knows of its movement: shape and states, never amounts, addresses or outputs. */
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
  /** Milliseconds of the database's clock until the approval expires; 0 once it has. */
  readonly ttl_ms: number;
  readonly edges: readonly GraphEdge[];
  /** Results of conditions, by the edge's position. */
  readonly conditions?: ConditionResults;
  readonly nodes: readonly LoadedNode[];
  /** Nodes that wait at their fence should try it again. */
  readonly woken?: true;
  /**
   * The conduct of the workflow that goes with this load; absent in histories of 0.1.0, 1 in those
   * of 0.2.0, 3 in those of 0.3.0. See workflows/versions.ts.
   */
  readonly conduct?: 1 | 2 | 3 | 4;
}

/** Stored results of conditions, by the edge's position in the plan. */
export type ConditionResults = Readonly<Record<string, ConditionResult>>;

/** A decision of the workflow, written as compare-and-set on (state, version). */
export interface DecideArgs {
  readonly movement_id: string;
  readonly version: number;
  readonly from: MovementState;
  readonly to: MovementState;
  readonly ready: readonly { readonly node_key: string; readonly attempt: number }[];
  readonly skip: readonly { readonly node_key: string; readonly attempt: number }[];
  /** READY nodes that a cancel overtook before their fence. */
  readonly stop: readonly { readonly node_key: string; readonly attempt: number }[];
  readonly frontier: readonly string[];
  readonly ended: boolean;
  readonly failure: { readonly node_key: string; readonly error_code: string } | null;
  /**
   * A node that this decision makes ready and whose first phases may follow in the same activity.
   */
  readonly begin?: PhaseArgs;
}

export interface DecideResult {
  /** False: another process decided first; load and walk again. */
  readonly applied: boolean;
  readonly version: number;
  /** Result of the phases that `begin` started; absent where they came to no answer. */
  readonly begun?: PhaseResult;
}

export interface PhaseArgs {
  readonly movement_id: string;
  readonly node_key: string;
  readonly attempt: number;
  /** The executor the node was bound to when the run loaded it; the database has the last word. */
  readonly executor_key?: string;
  /**
   * The next phase runs in the same activity: prepare after preflight, a first look after submit.
   */
  readonly chained?: boolean;
  /** Every phase of the node, from preflight on, for as long as they are quick. */
  readonly whole?: boolean;
  /** The decision that follows from the node's completion is written with it. */
  readonly decides?: boolean;
  /** That decision, where the run could make it before: nothing else was at work then. */
  readonly then?: DecideArgs;
  /** The nodes, one after the other, that the same activity may continue with while it is quick. */
  readonly onward?: readonly PhaseArgs[];
}

/**
 * Extra input of `recover`: the node is past its send, and its time is over or it cannot be
 * observed.
 */
export interface RecoverArgs extends PhaseArgs {
  readonly from_observe?: boolean;
  /** The node is UNKNOWN: recovery repeats until proof moves it, and nothing is sent again. */
  readonly from_unknown?: boolean;
}

export const PHASES = ['preflight', 'prepare', 'submit', 'observe', 'recover'] as const;
export type Phase = (typeof PHASES)[number];

/**
 * What to do after a phase. `again`: the same phase after `delay_ms`; `wait`: the fence is closed
 * for now; `stop`: this movement starts nothing more.
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
  /** The phase that returned this, where a chained phase did and not the requested one. */
  readonly phase?: Phase;
  readonly error_code: string | null;
  /** FAILED because a stop ended its send: no failure edge fires. */
  readonly ended_by_stop?: boolean;
  /** Pause before the next phase: for a submit that recovery found unlanded, and for `again`. */
  readonly delay_ms?: number;
  /** Results of the conditions on the edges that leave a settled node. */
  readonly conditions?: ConditionResults;
  /** The decision that was written with the completion. */
  readonly advance?: Advance;
  /** Results of the nodes that the activity continued with. */
  readonly carried?: readonly CarriedResult[];
}

/** A decision that is written, and the movement's version behind it. */
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
 * A phase of a task-queue executor, first half: the input of its worker, or that no call is needed.
 */
export interface AskArgs extends RecoverArgs {
  readonly phase: Phase | 'cancel';
}

export interface Ask {
  readonly input: ExecutionContext | TaskQueueSubmit;
  /** Milliseconds that the team's worker has once it has started. */
  readonly timeout_ms: number;
  /** The submit epoch under which the answer may be written. */
  readonly epoch: number;
  /**
   * The node's count of errors when the call was made, so that one error is counted once; absent in
   * histories before 0.3.0.
   */
  readonly errors?: number;
  /** The question that is open for the answer; absent in histories before 0.5.0. */
  readonly question?: string;
}

export type AskResult = { readonly ask: Ask } | { readonly result: PhaseResult };

/**
 * The answer of a team's worker, or how the call went wrong. `not_started`: no worker ever took it.
 */
export type TeamAnswer =
  | { readonly answer: ExecutionResult | null }
  | { readonly fault: { readonly kind: ExecutorFaultKind | 'not_started'; readonly code: string } };

/** A phase of a task-queue executor, second half: the answer becomes durable. */
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
   * Decisions that follow from the load are written in the same activity; the answer is the state
   * after them.
   */
  readonly decides?: true;
}

/** The activities of a movement, by their registered names. */
export interface MovementActivities {
  load(args: LoadArgs): Promise<LoadedMovement | null>;
  decide(args: DecideArgs): Promise<DecideResult>;
  expire(args: { readonly movement_id: string }): Promise<void>;
  preflight(args: PhaseArgs): Promise<PhaseResult>;
  prepare(args: PhaseArgs): Promise<PhaseResult>;
  submit(args: PhaseArgs): Promise<PhaseResult>;
  observe(args: PhaseArgs): Promise<PhaseResult>;
  recover(args: RecoverArgs): Promise<PhaseResult>;
  /** Asks the executor of a node in flight to end it; the outcome is observed. */
  cancel(args: PhaseArgs): Promise<void>;
  ask(args: AskArgs): Promise<AskResult>;
  record(args: RecordArgs): Promise<PhaseResult>;
}

/**
 * What a run knows of its capital transfer: its state and what an operator looks for, never the
 * amount.
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
  /** The epoch that was loaded; a submit is only made from there. */
  readonly epoch: number;
}

/**
 * `submit`: proven that nothing landed, and the same reference may be sent again after `delay_ms`.
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
  /** Fence, send once, record. Whatever goes wrong, `lookTransfer` finds the outcome. */
  submitTransfer(args: SubmitTransferArgs): Promise<void>;
  /** Asks the provider until its record says something that changes the transfer. */
  lookTransfer(args: { readonly transfer_id: string }): Promise<LookTransferResult>;
}

/** What a process requires of the workflows that it loads. */
export interface WorkflowSettings {
  /** Put message and stack of failures into payloads, for a codec to encrypt. */
  readonly encodeFailures: boolean;
  /** Hand the trace of a run to its activities. */
  readonly traceHeaders: boolean;
}
