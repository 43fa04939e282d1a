/** Checks cancel, and the form of every answer that the other checks got. */
import { setTimeout as sleep } from 'node:timers/promises';
import { mustComplete, mustHaveOneEffect } from '../outcome.ts';
import type { Check } from '../verdict.ts';
import { Broken } from '../broken.ts';

/** Wait after a cancel, to detect an executor that reports "cancelled" and still pays. */
const WATCH_MS = 500;

export const ENDINGS: readonly Check[] = [
  {
    id: 'cancel',
    guarantee: 'Cancel returns the state of the action; FAILED means no effect now and none later.',
    run: async (bench) => {
      const action = await bench.prepare();
      const submitted = await bench.submit(action);
      const answer = await bench.cancel(action, submitted);
      if (answer.next_state !== 'FAILED') {
        const end = await bench.observeToEnd(action, answer);
        if (end.next_state === 'FAILED') return 'the action was cancelled while it was under way';
        mustComplete(end);
        return mustHaveOneEffect(bench, action);
      }
      await sleep(WATCH_MS);
      const advice =
        'When the effect can no longer be stopped, answer that the action is under way.';
      if (((await bench.effects(action)) ?? 0) > 0)
        throw new Broken('cancel answered FAILED, but the effect happened', advice);
      const found = await bench.recover(action);
      if (found.next_state === 'COMPLETED')
        throw new Broken('cancel answered FAILED, but recover answered COMPLETED', advice);
      return 'the action was cancelled';
    },
  },
  {
    id: 'protocol',
    guarantee: 'Every answer fits the protocol.',
    inAnyCase: true,
    run: async (bench) => {
      const [first] = bench.formFaults;
      if (first === undefined) return;
      const advice =
        'docs/executors.md lists the fields and which next_state each phase may answer.';
      throw new Broken(
        `${first.phase}: ${first.message} (${bench.formFaults.length} such answers in all)`,
        advice,
      );
    },
  },
];
