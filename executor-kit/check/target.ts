/**
 * The executor under check, called as the service calls it, and also in ways that should never
 * happen in production.
 */
import type {
  ExecutionResult,
  Executor,
  ExecutorPhase,
  SubmitInput,
} from '../../domain/executor.ts';

/**
 * When the answer to a submit is lost: this many milliseconds after the request was sent, or just
 * as the answer arrives.
 */
export type LossPoint = number | 'answered';

export interface Target {
  readonly kind: 'http' | 'task_queue';
  readonly executor: Executor;
  /** Sends a submit whose answer is lost. */
  submitUnheard(input: SubmitInput, lost: LossPoint): Promise<void>;
  /** Sends `body` unchanged and returns how the executor handled it. */
  sendMalformed(phase: ExecutorPhase, body: string | Buffer): Promise<MalformedOutcome>;
  /**
   * HTTP only: calls one phase with another Authorization header (without one when null). Returns
   * the status; null when the connection broke.
   */
  statusWith?(
    phase: ExecutorPhase,
    body: unknown,
    authorization: string | null,
  ): Promise<number | null>;
  /** Task queue only: calls a submit whose time to send has passed. */
  submitTooLate?(input: SubmitInput): Promise<ExecutionResult>;
  close(): Promise<void>;
}

/** How a malformed request was handled: refused, or else what happened instead. */
export type MalformedOutcome = 'refused' | { readonly instead: string };

/** An empty journal: only local executors use the service's journal of transactions. */
export const NO_JOURNAL = {
  transactions: async () => [],
  releaseNonce: async () => true,
  displaced: async () => false,
  held: async () => null,
  accepted: async () => undefined,
};
