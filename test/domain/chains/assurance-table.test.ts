import { depthFor, shownAt } from '../../../domain/chains/assurance-table.ts';
import { COMPLETION_ASSURANCES } from '../../../domain/executor.ts';
import { suffices } from '../../../domain/plan/assurance.ts';

test('a block as deep as a rung asks shows that rung', () => {
  for (const rung of COMPLETION_ASSURANCES)
    expect([rung, suffices(shownAt(depthFor(rung), COMPLETION_ASSURANCES), rung)]).toEqual([
      rung,
      true,
    ]);
});

test('a block that is only confirmed shows no rung of finality', () => {
  expect(shownAt('confirmed', COMPLETION_ASSURANCES)).toBe('destination_credited');
  expect(depthFor('destination_credited')).toBe('confirmed');
  expect(depthFor('destination_finalized')).toBe('final');
  expect(depthFor('protocol_finalized')).toBe('final');
});

test('an executor shows only what it can show', () => {
  const watching = COMPLETION_ASSURANCES.filter((rung) => rung !== 'protocol_finalized');
  expect(shownAt('final', watching)).toBe('destination_finalized');
  expect(shownAt('final', ['provider_completed'])).toBe('provider_completed');
  expect(() => shownAt('confirmed', ['protocol_finalized'])).toThrow('shows none');
});
