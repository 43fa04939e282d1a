/** Which suggestions of the server to continue as new a run follows. */
import { isTooLong } from '../../workflows/continue-as-new.ts';

test.each([
  ['without reasons, as a server before 1.30', true, undefined, true],
  ['with no reason in the list', true, [], true],
  ['for the size', true, ['HISTORY_SIZE_TOO_LARGE'], true],
  ['for the events', true, ['TOO_MANY_HISTORY_EVENTS'], true],
  ['for the updates', true, ['TOO_MANY_UPDATES'], true],
  // As the SDK names the reason 4 of a server of 1.30.0.
  ['for another build', true, ['unknown_4'], false],
  ['for another build and the size', true, ['unknown_4', 'HISTORY_SIZE_TOO_LARGE'], true],
  ['not at all', false, undefined, false],
])('a suggestion %s', (_case, continueAsNewSuggested, reasons, follows) => {
  expect(
    isTooLong({
      continueAsNewSuggested,
      ...(reasons === undefined ? {} : { suggestedContinueAsNewReasons: reasons }),
    }),
  ).toBe(follows);
});
