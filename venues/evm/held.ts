/** The answer of an executor where a stop prevents sending again. */
import { ExecutorFault, type ExecutionResult } from '../../domain/executor.ts';
import type { Held } from '../../domain/send/stops.ts';

/**
 * UNKNOWN where it needs a person's retry.
 *
 * @throws ExecutorFault `not_yet` where it waits for the stop: every stop is then read again.
 */
export function heldBack(code: string, { needs_retry, why }: Held): ExecutionResult {
  const message = `it may not be sent again now: ${why}`;
  if (!needs_retry) throw new ExecutorFault('not_yet', code, message);
  return { next_state: 'UNKNOWN', error_code: code, error_message: message };
}
