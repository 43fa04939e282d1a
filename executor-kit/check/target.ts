/**
 * The executor under check: called as production calls it, and in the ways in which production
 * hopes that it is not.
 */
import type {
  ExecutionResult,
  Executor,
  ExecutorPhase,
  SubmitInput,
} from '../../domain/executor.ts';

/**
 * When the answer to a submit gets lost: so many milliseconds after it was sent, or just as it
 * arrives.
 */
export type LossPoint = number | 'answered';

export interface Target {
  readonly kind: 'http' | 'task_queue';
  readonly executor: Executor;
  /** Sends a submit whose answer is lost. */
  submitUnheard(input: SubmitInput, lost: LossPoint): Promise<void>;
  /** Sends `body` as it is and says how it was taken. */
  sendMalformed(phase: ExecutorPhase, body: string | Buffer): Promise<MalformedOutcome>;
  /**
   * HTTP: one phase with another Authorization header (none when null); the status, or null when
   * the connection broke.
   */
  statusWith?(
    phase: ExecutorPhase,
    body: unknown,
    authorization: string | null,
  ): Promise<number | null>;
  /** Task queue: a submit whose time to send has passed. */
  submitTooLate?(input: SubmitInput): Promise<ExecutionResult>;
  close(): Promise<void>;
}

/** How a malformed request was taken: refused, or else what happened instead. */
export type MalformedOutcome = 'refused' | { readonly instead: string };

/** The service's own journal of transactions: remote and task-queue executors never see it. */
export const NO_JOURNAL = {
  transactions: async () => [],
  releaseNonce: async () => true,
  displaced: async () => false,
  held: async () => null,
  accepted: async () => undefined,
};
