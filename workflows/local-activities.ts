/**
 * Runs the local activities of a run one at a time. Two at the same time make a history that cannot
 * be replayed: the worker first delivers their results one by one, but together in a replay, so
 * later commands start in another order (the number of promises between a result and the next
 * command differs by phase). A local activity that is open when the run closes or continues as new
 * is also wrong: its result may arrive in the same task, whose commands the server then always
 * refuses (temporalio/sdk-rust, issue 659). See docs/decisions/0058.
 */
import { proxyLocalActivities, type LocalActivityOptions } from '@temporalio/workflow';
import type { MovementActivities } from '../domain/messages.ts';

let inTurn = false;
let open = 0;
const waiting: (() => void)[] = [];

/**
 * Starts one-at-a-time mode until the run ends. The run's history decides whether this is called;
 * see versions.ts.
 */
export function takeTurns(): void {
  inTurn = true;
}

/**
 * Returns whether no call is open or waits, so that a call would start immediately and the run may
 * end.
 */
export function turnIsFree(): boolean {
  return !inTurn || open === 0;
}

/**
 * Makes the call after all earlier calls have returned; if there are none, immediately, without
 * waiting for a promise.
 */
export function locally<R>(
  options: LocalActivityOptions,
  call: (activities: MovementActivities) => Promise<R>,
): Promise<R> {
  const begin = (): Promise<R> => call(proxyLocalActivities<MovementActivities>(options));
  const answer = turnIsFree()
    ? begin()
    : new Promise<void>((resolve) => void waiting.push(resolve)).then(begin);
  open += 1;
  answer.then(next, next);
  return answer;
}

function next(): void {
  open -= 1;
  waiting.shift()?.();
}
