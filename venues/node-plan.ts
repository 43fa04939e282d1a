/** Reads a node's plan, for the executors of all venues. */
import type { z } from 'zod';
import { ExecutorFault, type ExecutionContext, type ExecutionResult } from '../domain/executor.ts';
import { isDecimal, isPositive, normalize } from '../domain/money.ts';
import { issuesLine } from '../platform/issues.ts';

/** Returns a `rejected` fault: it proves that nothing was sent. */
export function rejected(code: string, message: string): ExecutorFault {
  return new ExecutorFault('rejected', code, message);
}

/**
 * Returns the node's config as the schema parses it.
 *
 * @throws ExecutorFault `rejected` `CONFIG_INVALID`, which names the wrong fields.
 */
export function readConfig<T>(
  schema: z.ZodType<T>,
  { config }: Pick<ExecutionContext, 'config'>,
): T {
  const parsed = schema.safeParse(config);
  if (parsed.success) return parsed.data;
  throw rejected('CONFIG_INVALID', issuesLine(parsed.error, { under: 'config' }));
}

/**
 * Returns the node's amount without trailing zeros.
 *
 * @throws ExecutorFault `rejected` `CONFIG_INVALID` unless the amount is a decimal above zero.
 */
export function readAmount({ amount }: Pick<ExecutionContext, 'amount'>): string {
  if (isDecimal(amount) && isPositive(amount)) return normalize(amount);
  throw rejected('CONFIG_INVALID', 'the amount must be greater than zero');
}

/** Returns FAILED with the fault's code if `work` is rejected; throws every other fault. */
export async function failWhenRejected<T>(work: () => Promise<T>): Promise<T | ExecutionResult> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ExecutorFault) || error.kind !== 'rejected') throw error;
    return { next_state: 'FAILED', error_code: error.code, error_message: error.message };
  }
}
