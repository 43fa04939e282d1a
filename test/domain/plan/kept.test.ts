/** What is kept for a plan is returned for that plan alone. */
import fc from 'fast-check';
import { drawTerms, flowsOf } from '../../../domain/plan/flow.ts';
import { kept } from '../../../domain/plan/kept.ts';
import type { CompiledPlan } from '../../../domain/plan/types.ts';
import { planOfNodes, plans } from './flow-arbitrary.ts';

test('a result is computed again as soon as one argument is another object', () => {
  const calls: unknown[] = [];
  const sum = kept((key: { readonly a: number }, more: { readonly b: number } | undefined) => {
    calls.push([key, more]);
    return { sum: key.a + (more?.b ?? 0) };
  });
  const [key, more] = [{ a: 1 }, { b: 2 }];
  expect(sum(key, more)).toBe(sum(key, more));
  expect(calls).toHaveLength(1);
  expect(sum(key, { b: 3 })).toEqual({ sum: 4 });
  expect(sum(key, more)).toEqual({ sum: 3 });
  expect(sum({ a: 5 }, more)).toEqual({ sum: 7 });
  expect(sum(key, undefined)).toEqual({ sum: 1 });
  expect(sum(key, undefined)).toEqual({ sum: 1 });
  expect(calls).toHaveLength(5);
});

test('kept flows and terms are those computed anew, whichever part of a plan changes', () => {
  const seen = { changed: 0 };
  fc.assert(
    fc.property(plans(6), plans(6), (plan, other) => {
      const signer_binding = { signer_key: 'next' };
      const variants: readonly CompiledPlan[] = [
        plan,
        { ...plan, nodes: other.nodes },
        { ...plan, nodes: plan.nodes.map((node) => ({ ...node, signer_binding })) },
        { ...plan, edges: other.edges },
        { ...plan, intent: { asset: 'USDT', amount: '7' } },
        { ...plan, risk_controls: { max_amount: '0.5' } },
        plan,
      ];
      for (const each of variants) {
        // A clone has no object in common, so nothing can be kept for it.
        const anew = structuredClone(each);
        expect(flowsOf(each)).toEqual(flowsOf(anew));
        expect(drawTerms(each)).toEqual(drawTerms(anew));
        if (JSON.stringify([...flowsOf(each)]) !== JSON.stringify([...flowsOf(plan)]))
          seen.changed += 1;
      }
      // A create computes them of the parts first, and then of the plan.
      const whole = { ...plan, outflow: [{ asset: 'USDC', amount: '1' }] };
      expect(flowsOf(whole)).toBe(flowsOf(plan));
      expect(drawTerms({ ...plan })).toBe(drawTerms(plan));
    }),
    { numRuns: 300 },
  );
  expect(seen.changed).toBeGreaterThan(150);
});

test('plans that share all but their intent each keep their own', () => {
  const node = { node_key: 'n0', node_kind: 'action' as const, action_type: 'acme_payout' };
  const plan = planOfNodes(
    [
      {
        ...{ ...node, has_side_effect: true, sends: true, asset: 'USDC', config: {} },
        ...{ executor_binding: { executor_key: 'e' }, signer_binding: null },
      },
    ],
    [],
  );
  const other: CompiledPlan = { ...plan, intent: { ...plan.intent, amount: '7' } };
  const flows = flowsOf(plan);
  expect(flowsOf(other).get('n0')?.amount).toBe('7');
  expect(flows.get('n0')?.amount).toBe('3');
  // A create comes back to its plan after others of its template were compiled.
  expect(flowsOf(plan)).toBe(flows);
});
