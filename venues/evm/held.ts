/** Returns an executor's result while a freeze, pause or other stop forbids another send. */
import { ExecutorFault, type ExecutionResult } from '../../domain/executor.ts';
import type { Held } from '../../domain/send/stops.ts';

/**
 * Returns UNKNOWN if an operator must retry the movement.
 *
 * @throws ExecutorFault `not_yet` if the stop may end: every stop is read again at the next try.
 */
export function heldBack(code: string, { needs_retry, why }: Held): ExecutionResult {
  const message = `nothing may be sent again now: ${why}`;
  if (!needs_retry) throw new ExecutorFault('not_yet', code, message);
  return { next_state: 'UNKNOWN', error_code: code, error_message: message };
}
