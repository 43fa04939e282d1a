/** What the check of a signature is handed of a prepared node. */
import type { PhaseDependencies } from '../../activities/phases/context.ts';
import { signedNode } from '../../activities/phases/followed.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { PhaseRow } from '../../store/phases.ts';

function termsOf(kind: 'local' | 'remote' | 'task_queue', prepared_action: JsonObject | null) {
  const executors = { describe: () => ({ kind }) };
  const row = {
    ...{ node: { executor_binding: { executor_key: 'e' } }, plan: { intent: {} } },
    ...{ prepared_action, output: null },
  };
  return signedNode({ executors } as unknown as PhaseDependencies, row as unknown as PhaseRow, {
    amount: '1',
  }).prepared_terms;
}

test.each([
  ['local', { venue_entries: 'gate 1' }, 'gate 1'],
  ['local', {}, undefined],
  ['local', null, undefined],
  // Its own text, whatever it calls it.
  ['remote', { venue_entries: 'gate 1' }, undefined],
  ['task_queue', { venue_entries: 'gate 1' }, undefined],
] as const)('the terms that a %s executor recorded in %j are %s', (kind, prepared, terms) => {
  expect(termsOf(kind, prepared)).toBe(terms);
});
