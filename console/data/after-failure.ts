/** What a write that failed leaves open. */
import { ApiError, ClientUsageError, UnreachableError } from '../../clients/http/errors.ts';
import { leavesDoubt } from '../../clients/http/retry.ts';

/** What is known once a write failed. */
export type AfterFailure =
  /** The service refused it, or it was never sent: nothing was written. */
  | { readonly kind: 'refused' }
  /** It may have been taken: the present state is read before anything is offered again. */
  | { readonly kind: 'look_first' };

/** What a failed write leaves open. An error that is none of the client's own says nothing. */
export function afterFailure(error: unknown): AfterFailure {
  if (error instanceof ClientUsageError) return { kind: 'refused' };
  if (error instanceof ApiError)
    return error.maybeTaken || leavesDoubt(error) ? { kind: 'look_first' } : { kind: 'refused' };
  if (error instanceof UnreachableError)
    return error.maybeTaken ? { kind: 'look_first' } : { kind: 'refused' };
  return { kind: 'look_first' };
}
