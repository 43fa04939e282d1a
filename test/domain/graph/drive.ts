/** Drives a movement through drawn turns, as executors, workers and operators would. */
import { isRetryable } from '../../../domain/graph/retry.ts';
import type { WalkNode } from '../../../domain/graph/walk-types.ts';
import { ACTION_STATES } from '../../../domain/states/movement.ts';
import { isSettled } from '../../../domain/states/node.ts';
import type { Turn } from './arbitrary.ts';
import type { Run } from './build.ts';

/** Retries and resumes are bounded, or drawn failures could go on as long as the turns do. */
const HANDS = 6;

export interface Driven {
  readonly retries: number;
  readonly cancelled: boolean;
}

/** Plays turns until the movement has ended without a retry; then everything open completes. */
export function drive(
  run: Run,
  turns: readonly Turn[],
  hands: readonly Turn['hand'][] = ['resume', 'retry', 'cancel'],
): Driven {
  let left = HANDS;
  let retries = 0;
  let cancelled = false;
  run.step();
  for (const turn of turns) {
    const allowed = left > 0 && hands.includes(turn.hand);
    if (allowed && turn.hand === 'cancel' && isCancellable(run)) {
      run.cancel();
      cancelled = true;
    }
    if (allowed && turn.hand === 'retry') {
      const node = retryable(run, turn.pick);
      if (node !== undefined) {
        run.retry(node.node_key);
        retries += 1;
        left -= 1;
      }
    }
    if (allowed && turn.hand === 'resume') left -= resume(run) ? 1 : 0;
    if (!run.ended) happen(run, turn);
    else if (!hands.includes('retry')) break;
  }
  while (!run.ended) finish(run);
  return { retries, cancelled };
}

function isCancellable(run: Run): boolean {
  const states: readonly string[] = ACTION_STATES.cancel;
  return states.includes(run.state) && run.edges.some((edge) => edge.edge_type === 'on_cancel');
}

function retryable(run: Run, pick: number): WalkNode | undefined {
  const states: readonly string[] = ACTION_STATES.retry;
  const found = states.includes(run.state)
    ? run.nodes.filter((node) => isRetryable(run.input, node))
    : [];
  return found[pick % Math.max(1, found.length)];
}

/** Has the first UNKNOWN node observed again. */
function resume(run: Run): boolean {
  const unknown =
    run.state === 'CANCELLED' ? undefined : run.nodes.find((node) => node.state === 'UNKNOWN');
  if (unknown === undefined) return false;
  run.set(unknown.node_key, { state: 'OBSERVING', resumed: true, error_code: null });
  run.step();
  return true;
}

function happen(run: Run, { pick, outcome, output }: Turn): void {
  const open = run.nodes.filter((node) => node.state !== 'BLOCKED' && !isSettled(node.state));
  const chosen = open[pick % Math.max(1, open.length)];
  if (chosen === undefined) throw new Error('nothing is open and the movement has not ended');
  const { node_key, node_kind, state } = chosen;
  if (node_kind === 'manual_gate' && state === 'READY')
    run.settle(node_key, 'COMPLETED', { resumed: true });
  else if (state === 'READY' && Math.floor(pick / 64) % 2 === 0) {
    run.set(node_key, { state: 'SUBMITTING' });
    run.step();
  } else
    run.settle(
      node_key,
      state === 'UNKNOWN' && outcome === 'UNKNOWN' ? 'FAILED' : outcome,
      {},
      output,
    );
}

function finish(run: Run): void {
  const chosen = run.nodes.find((node) => node.state !== 'BLOCKED' && !isSettled(node.state));
  if (chosen === undefined) throw new Error('nothing is open and the movement has not ended');
  run.settle(
    chosen.node_key,
    'COMPLETED',
    chosen.node_kind === 'manual_gate' ? { resumed: true } : {},
  );
}
