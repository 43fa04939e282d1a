/**
 * Who may write about a send. The fence, and every process that takes over from a sender, raise the
 * epoch, and every write names its epoch: so only the last process can write. `apply_transition`
 * and `apply_transfer_step` enforce it as compare-and-set; `try_fence` and `take_over` do so in the
 * statement that reads the node.
 */
import { NOW, type Stamp } from '../transition.ts';

/** What the fence writes: from here until the window is over something may be under way. */
export function fenced(
  epoch: number,
  window_seconds: number,
): { readonly epoch: number; readonly send_not_after: Stamp } {
  return { epoch: epoch + 1, send_not_after: { '@after_seconds': window_seconds } };
}

/**
 * What is written before the outcome of a send is looked up: its sender can write nothing after it.
 * `is_over`: the sender itself says that its call has ended. Only what a module of this process
 * sends can say so (a transfer's provider): an executor may be a process of its own, which still
 * works until its window ends on a call that its caller has abandoned.
 */
export function takenOver(
  epoch: number,
  { is_over }: { readonly is_over: boolean },
): { readonly epoch: number; readonly send_not_after?: Stamp } {
  return { epoch: epoch + 1, ...(is_over ? { send_not_after: NOW } : {}) };
}
