/**
 * The local activities of a run, one at a time. Two at the same time make a history that cannot be
 * replayed: the worker delivers their answers one by one at first and together in a replay, so what
 * follows them starts in another order (the number of promises between an answer and the next
 * command differs by phase). One that is open when the run closes or continues as new is as bad:
 * its answer may come in the same task, whose commands the server then always refuses
 * (temporalio/sdk-rust, issue 659). See docs/decisions/0058.
 */
import { proxyLocalActivities, type LocalActivityOptions } from '@temporalio/workflow';
import type { MovementActivities } from '../domain/messages.ts';

let inTurn = false;
let open = 0;
const waiting: (() => void)[] = [];

/** From now until the run ends; what its history holds decides, see versions.ts. */
export function takeTurns(): void {
  inTurn = true;
}

/** Whether no call is open or waits, so that a call would start at once and the run may end. */
export function turnIsFree(): boolean {
  return !inTurn || open === 0;
}

/** Makes the call once earlier calls have answered; without any, at once and in the same turn. */
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
