/**
 * The local activities of a run, one at a time. Two that are under way together make a history that
 * cannot be replayed:
 * the worker hands their answers over singly when they come and together when it replays, and what
 * follows each is then begun in another order (how many promises stand between an answer and the
 * next command differs from phase to phase). One that is under way when the run closes or continues
 * as new is no better: its answer may come in the same task, whose commands the server then refuses
 * for good (temporalio/sdk-rust, issue 659). See docs/decisions/0058.
 */
import { proxyLocalActivities, type LocalActivityOptions } from '@temporalio/workflow';
import type { MovementActivities } from '../domain/messages.ts';

let inTurn = false;
let open = 0;
const waiting: (() => void)[] = [];

/** From here on, for the rest of the run: what its history holds decides, see versions.ts. */
export function takeTurns(): void {
  inTurn = true;
}

/**
 * Whether a call would be made at once, and the run may end: none has yet to answer, or waits for
 * its turn.
 */
export function turnIsFree(): boolean {
  return !inTurn || open === 0;
}

/**
 * Makes the call once those before it have answered. Where none has to be waited for it is made at
 * once, in the same turn.
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
