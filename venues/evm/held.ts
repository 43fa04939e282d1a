/** What an executor answers where a stop holds back what it would send again. */
import { ExecutorFault, type ExecutionResult } from '../../domain/executor.ts';
import type { Held } from '../../domain/send/stops.ts';

/**
 * UNKNOWN where only a person's retry goes on.
 *
 * @throws ExecutorFault `not_yet` where it waits: nothing is sent, and every stop is asked again.
 */
export function heldBack(code: string, { needs_retry, why }: Held): ExecutionResult {
  const message = `it may not be sent again now: ${why}`;
  if (!needs_retry) throw new ExecutorFault('not_yet', code, message);
  return { next_state: 'UNKNOWN', error_code: code, error_message: message };
}
