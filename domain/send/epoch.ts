/**
 * Decides which process may write about a send. The send fence, and every process that takes over
 * from a sender, raise the epoch, and every write names its epoch; so only the last process can
 * write. `apply_transition` and `apply_transfer_step` enforce this as compare-and-set; `try_fence`
 * and `take_over` do so in the statement that reads the node.
 */
import { NOW, type Stamp } from '../transition.ts';

/**
 * Returns the fields that the send fence writes. From then until the window is over, a send may be
 * under way.
 */
export function fenced(
  epoch: number,
  window_seconds: number,
): { readonly epoch: number; readonly send_not_after: Stamp } {
  return { epoch: epoch + 1, send_not_after: { '@after_seconds': window_seconds } };
}

/**
 * Returns the fields that are written before the outcome of a send is looked up; after them, the
 * send's process can write nothing. `is_over`: the sender itself reports that its call has ended.
 * Only a module of this process can report that (a transfer's provider that is `in_process`): an
 * executor, or a process with an exchange's keys, works on a call until its window ends, also after
 * the caller has abandoned the call.
 */
export function takenOver(
  epoch: number,
  { is_over }: { readonly is_over: boolean },
): { readonly epoch: number; readonly send_not_after?: Stamp } {
  return { epoch: epoch + 1, ...(is_over ? { send_not_after: NOW } : {}) };
}
