/**
 * Checks recover, which decides whether money is sent again: its answer must be true, whatever
 * happened to the caller.
 */
import { ExecutorFault, type ExecutionResult } from '../../../domain/executor.ts';
import { wordsOf, type Bench } from '../bench.ts';
import { settleOutcome } from '../outcome.ts';
import type { Check } from '../verdict.ts';
import { Broken } from '../broken.ts';

/** Submits, and stops waiting after `ms`; returns the answer if it came in time, else 'open'. */
async function impatientSubmit(bench: Bench, ms: number) {
  const action = await bench.prepare();
  const answer: ExecutionResult | 'open' = await bench
    .submit(action, AbortSignal.timeout(ms))
    .catch((error: unknown) => {
      if (
        error instanceof ExecutorFault &&
        (error.kind === 'timeout' || error.kind === 'unreachable')
      )
        return 'open' as const;
      throw error;
    });
  return { action, answer };
}

export const RECOVERY: readonly Check[] = [
  {
    id: 'recover',
    guarantee: 'After an accepted submit, recover finds it and never answers READY.',
    run: async (bench) => {
      const action = await bench.prepare();
      return settleOutcome(bench, action, await bench.submit(action));
    },
  },
  {
    id: 'never-sent',
    guarantee: 'For a key that was never submitted, recover answers READY (or UNKNOWN).',
    run: async (bench) => {
      const action = await bench.prepare();
      const found = await bench.recover(action);
      const advice =
        'Answer READY when neither you nor the provider know the key; that is not an error.';
      if (found.next_state !== 'READY' && found.next_state !== 'UNKNOWN') {
        throw new Broken(
          `recover answered ${found.next_state} ${wordsOf(found)} for a key that was only prepared`,
          advice,
        );
      }
      const effects = (await bench.effects(action)) ?? 0;
      if (effects > 0)
        throw new Broken('prepare and recover made an effect', 'Only submit may move anything.');
      return found.next_state === 'UNKNOWN'
        ? 'recover answered UNKNOWN: after each lost submit a person will have to decide'
        : undefined;
    },
  },
  {
    id: 'lost-answer',
    guarantee:
      'When the answer to a submit is lost, recover tells the truth, and a repeat makes no second effect.',
    run: async (bench) => {
      const remarks: (string | void)[] = [];
      for (const lost of ['answered', 0, Math.round(bench.submitMs / 2)] as const) {
        const action = await bench.prepare();
        await bench.submitUnheard(action, lost);
        remarks.push(await settleOutcome(bench, action, lost === 'answered' ? 'landed' : 'open'));
      }
      return remarks.find((remark) => remark !== undefined);
    },
  },
  {
    id: 'time-out',
    guarantee:
      'When the caller gives up at its time-out, recover tells the truth, and a repeat makes no second effect.',
    run: async (bench) => {
      const remarks: (string | void)[] = [];
      for (const share of [0.2, 0.5, 0.9]) {
        const { action, answer } = await impatientSubmit(
          bench,
          Math.max(1, Math.round(bench.submitMs * share)),
        );
        remarks.push(await settleOutcome(bench, action, answer));
      }
      return remarks.find((remark) => remark !== undefined);
    },
  },
  {
    id: 'too-late',
    guarantee: 'Nothing is sent after send_not_after.',
    notHere: ({ target }) =>
      target.submitTooLate === undefined
        ? 'an HTTP request carries no send_not_after: the caller disconnects instead'
        : null,
    run: async (bench) => {
      const action = await bench.prepare();
      const input = {
        ...action,
        ...(bench.options.signResult === undefined
          ? {}
          : { sign_result: bench.options.signResult }),
      };
      const journal = {
        transactions: async () => [],
        releaseNonce: async () => true,
        displaced: async () => false,
        held: async () => null,
        accepted: async () => undefined,
      };
      const answer = await bench.target
        .submitTooLate?.({ ...input, journal })
        .catch((error: unknown) => {
          if (error instanceof ExecutorFault) return null;
          throw error;
        });
      await bench.settle();
      const found = await bench.recover(action);
      const effects = (await bench.effects(action)) ?? 0;
      const sent =
        (answer != null && answer.next_state !== 'FAILED') ||
        !['READY', 'UNKNOWN', 'FAILED'].includes(found.next_state);
      if (!sent && effects === 0) return;
      throw new Broken(
        'a submit whose send_not_after had passed was sent',
        'Compare send_not_after with the clock right before sending; after that time the service may call recover.',
      );
    },
  },
];
