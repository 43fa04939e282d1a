/** Tells whether a failed write may have been accepted by the service, or waits for approvals. */
import {
  ApiError,
  ChangeRequestedError,
  ClientUsageError,
  UnreachableError,
} from '../../clients/http/errors.ts';
import { leavesDoubt } from '../../clients/http/retry.ts';

/** Result of {@link afterFailure}. */
export type AfterFailure =
  /** The service refused the write, or the write was never sent: nothing was written. */
  | { readonly kind: 'refused' }
  /** The service made a change request, which people must approve, and did nothing else. */
  | { readonly kind: 'waits' }
  /** The service may have accepted the write: the console reads the present state first. */
  | { readonly kind: 'look_first' };

/**
 * Returns whether a failed write may have been accepted. An error of an unknown class may mean
 * both, so `look_first`.
 */
export function afterFailure(error: unknown): AfterFailure {
  if (error instanceof ChangeRequestedError) return { kind: 'waits' };
  if (error instanceof ClientUsageError) return { kind: 'refused' };
  if (error instanceof ApiError)
    return error.maybeTaken || leavesDoubt(error) ? { kind: 'look_first' } : { kind: 'refused' };
  if (error instanceof UnreachableError)
    return error.maybeTaken ? { kind: 'look_first' } : { kind: 'refused' };
  return { kind: 'look_first' };
}
