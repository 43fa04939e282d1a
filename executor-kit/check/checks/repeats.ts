/** Checks that one key has one effect, however often the submit is sent. */
import type { ExecutionResult } from '../../../domain/executor.ts';
import type { Bench } from '../bench.ts';
import { mustComplete, mustHaveOneEffect, mustMatch, noAnswer, repeat } from '../outcome.ts';
import type { Check } from '../verdict.ts';
import { Broken } from '../broken.ts';

const AT_ONCE = 5;

function onlyWhenSafe({ options }: Bench): string | null {
  return options.sameKeySafe
    ? null
    : 'not declared same_key_safe, so the service never repeats a submit';
}

export const REPEATS: readonly Check[] = [
  {
    id: 'repeat',
    guarantee: 'A repeated submit with the same key makes no second effect.',
    notHere: onlyWhenSafe,
    run: async (bench) => {
      const action = await bench.prepare();
      const first = await bench.submit(action);
      await repeat(bench, action, first);
      mustComplete(await bench.observeToEnd(action, first));
      // Repeats after the end too: the executor must not forget the key when its action has ended.
      await repeat(bench, action, first);
      await mustHaveOneEffect(bench, action);
    },
  },
  {
    id: 'parallel',
    guarantee: `${AT_ONCE} submits with the same key at the same time make one effect.`,
    notHere: onlyWhenSafe,
    run: async (bench) => {
      const action = await bench.prepare();
      const all = await Promise.all(
        Array.from({ length: AT_ONCE }, () => bench.submit(action).catch(noAnswer)),
      );
      const [first, ...others] = all.filter((answer): answer is ExecutionResult => answer !== null);
      if (first === undefined)
        throw new Broken(
          'none of the parallel submits was answered',
          'At least one of several equal submits must be served.',
        );
      for (const other of others) mustMatch(first, other, 'a submit at the same time');
      mustComplete(await bench.observeToEnd(action, first));
      await mustHaveOneEffect(bench, action);
    },
  },
];
