/**
 * Checks kill -9 at any moment: the executor still knows an accepted submit, and finds the outcome
 * of an interrupted submit.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ExecutionResult } from '../../../domain/executor.ts';
import type { Action, Bench } from '../bench.ts';
import { noAnswer, settleOutcome } from '../outcome.ts';
import type { Check } from '../verdict.ts';

const ROUNDS = 2;

interface RunningSubmit {
  readonly action: Action;
  readonly answer: Promise<ExecutionResult | null>;
}

function needsCommand({ ownsProcess }: Bench): string | null {
  return ownsProcess ? null : 'needs --command, by which the check starts and kills the executor';
}

/** Starts several submits before the kill, so that each is interrupted at another point. */
async function killDuringSubmits(bench: Bench): Promise<readonly RunningSubmit[]> {
  const actions = await Promise.all(Array.from({ length: 4 }, () => bench.prepare()));
  const running: RunningSubmit[] = [];
  for (const action of actions) {
    running.push({ action, answer: bench.submit(action).catch(noAnswer) });
    await sleep(bench.submitMs / actions.length);
  }
  await bench.killAndRestart();
  return running;
}

export const CRASH: readonly Check[] = [
  {
    id: 'crash-after-answer',
    guarantee:
      'After a crash recover finds an accepted submit, and a repeat makes no second effect.',
    notHere: needsCommand,
    run: async (bench) => {
      const action = await bench.prepare();
      const answer = await bench.submit(action);
      await bench.killAndRestart();
      return settleOutcome(bench, action, answer);
    },
  },
  {
    id: 'crash-during-submit',
    guarantee:
      'After a crash between submit and answer, recover tells the truth, and a repeat makes no second effect.',
    notHere: needsCommand,
    run: async (bench) => {
      const remarks: (string | void)[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        for (const { action, answer } of await killDuringSubmits(bench)) {
          remarks.push(await settleOutcome(bench, action, (await answer) ?? 'open'));
        }
      }
      return remarks.find((remark) => remark !== undefined);
    },
  },
];
