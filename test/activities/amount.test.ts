/** Why a node's amount is not known. */
import { allowedAmount } from '../../activities/phases/amount.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { PhaseRow } from '../../store/phases.ts';

/** The parts of a row that decide its amount. */
const rowOf = (config: JsonObject): PhaseRow =>
  ({
    amount: null,
    outputs: { before: { count: 7 } },
    node: { config },
    plan: { intent: { amount: '10' }, risk_controls: {} },
  }) as unknown as PhaseRow;

test.each<[JsonObject, string]>([
  [{ amount: 5 }, '5 is neither a decimal text nor a reference to an amount'],
  [{ amount: '1e3' }, '"1e3" is neither a decimal text nor a reference to an amount'],
  [
    { amount_ref: 'nodes.before.output.count' },
    'the amount refers to the output of a node that has no amount',
  ],
])('%j', (config, message) => {
  expect(allowedAmount(rowOf(config))).toEqual({ ok: false, code: 'AMOUNT_UNRESOLVED', message });
});

test('an amount of any length is named in a short message', () => {
  const found = allowedAmount(rowOf({ amount: 'x'.repeat(60_000) }));
  expect(found).toMatchObject({ ok: false, code: 'AMOUNT_UNRESOLVED' });
  expect(JSON.stringify(found).length).toBeLessThan(300);
});
