/** Checks that the executor answers and completes an action; all other checks need this. */
import { wordsOf } from '../bench.ts';
import { mustComplete, mustHaveOneEffect } from '../outcome.ts';
import type { Check } from '../verdict.ts';
import { Broken } from '../broken.ts';

/**
 * Returns whether two JSON values are equal. The order of keys does not count, since the service
 * stores prepared_action as JSON without an order.
 */
function sameJson(left: unknown, right: unknown): boolean {
  const ordered = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(ordered);
    if (typeof value !== 'object' || value === null) return value;
    return Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, field]) => [key, ordered(field)]);
  };
  return JSON.stringify(ordered(left)) === JSON.stringify(ordered(right));
}

export const BASICS: readonly Check[] = [
  {
    id: 'health',
    guarantee: 'The executor runs and answers its health check.',
    run: async (bench) => {
      const health = await bench.target.executor.health(bench.limits());
      if (health.state === 'up') return;
      const advice =
        bench.target.kind === 'http'
          ? 'Answer GET /health with 200 and a JSON object.'
          : 'Start the worker, and compare the name of its task queue.';
      throw new Broken(health.detail ?? 'the executor is not up', advice);
    },
  },
  {
    id: 'preflight',
    guarantee: 'Preflight passes an action that can be done.',
    run: async (bench) => {
      const answer = await bench.call('preflight', () =>
        bench.target.executor.preflight(bench.context(), bench.limits()),
      );
      if (answer === null) return;
      const advice =
        'Give --config, --asset and --amount with which the action can be done; a pass is 204 over HTTP and null on a task queue.';
      throw new Broken(`preflight answered ${answer.next_state}: ${wordsOf(answer)}`, advice);
    },
  },
  {
    id: 'prepare',
    guarantee: 'Prepare returns the same action for the same context.',
    run: async (bench) => {
      const context = bench.context();
      const [first, second] = [await bench.prepare(context), await bench.prepare(context)];
      if (sameJson(first.prepared_action, second.prepared_action)) return;
      const advice =
        'Put nothing into prepared_action that differs from call to call (a time, a random id); derive ids from the idempotency key.';
      throw new Broken('two prepares of one context gave different prepared actions', advice);
    },
  },
  {
    id: 'complete',
    guarantee: 'A submitted action is observed to COMPLETED, with one effect.',
    run: async (bench) => {
      const action = await bench.prepare();
      const started = performance.now();
      const answer = await bench.submit(action);
      bench.submitMs = performance.now() - started;
      mustComplete(await bench.observeToEnd(action, answer));
      await mustHaveOneEffect(bench, action);
      if (bench.options.effectsUrl !== undefined) return;
      return answer.external_ref === undefined
        ? 'neither external_ref nor --effects-url: no check would see a second effect'
        : 'effects are distinguished by external_ref only; --effects-url would count them';
    },
  },
];
