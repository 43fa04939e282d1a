/** The command that `fundctl` writes for the resolve that a movement's attention offers. */
import { painter } from '../../clients/command-line/paint.ts';
import { View } from '../../clients/command-line/view.ts';
import { attentionText, type Movement } from '../../clients/fundctl/movement-view.ts';

/** Its options that say what is stated. */
function stated(action_type: string, state: string, offer: object): string {
  const movement = {
    movement_id: 'a-movement',
    nodes: [{ node_key: 'pay', attempt: 1, action_type, state }],
    attention: {
      ...{ reason: 'observed_long', node_key: 'pay', next_look_at: null },
      actions: [{ action: 'resolve', consequence: 'A person answers.', ...offer }],
    },
  } as unknown as Movement;
  const text = attentionText(new View(painter(false)), movement);
  return /--outcome .*(?= --reason)/.exec(text)?.[0] ?? text;
}

test('it names the outcomes on offer', () => {
  const withdrawal = (...outcomes: readonly string[]) =>
    stated('cex_withdrawal', 'UNKNOWN', { outcomes });
  expect(withdrawal('completed', 'abandoned')).toBe('--outcome completed|abandoned');
  expect(withdrawal('abandoned')).toBe('--outcome abandoned');
});

test('of an observed burn it names the mint, where completed is on offer', () => {
  const burn = (...outcomes: readonly string[]) => stated('cctp_burn', 'OBSERVING', { outcomes });
  expect(burn('completed', 'abandoned')).toBe('--outcome completed --mint-tx 0x…');
  expect(burn('abandoned')).toBe('--outcome abandoned');
});

test('of a service of the release before, which names none, it names all', () => {
  expect(stated('cex_withdrawal', 'UNKNOWN', {})).toBe('--outcome completed|failed|abandoned');
  expect(stated('cctp_burn', 'OBSERVING', {})).toBe('--outcome completed --mint-tx 0x…');
});
