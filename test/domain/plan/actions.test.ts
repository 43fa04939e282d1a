/** What guards know of the built-in action types: a name alone is no action type. */
import { expect, test } from '@jest/globals';
import { PERP_ACTIONS, USER_SIGNED_ACTIONS } from '../../../domain/perps/ready.ts';
import {
  BUILT_IN_ACTIONS,
  factsOf,
  type ActionFacts,
  type BuiltInAction,
} from '../../../domain/plan/actions.ts';
import { firstLegOf, recordsOf } from '../../../domain/plan/legs.ts';

const NAMES = Object.keys(BUILT_IN_ACTIONS) as BuiltInAction[];

test('an action type of which a fact is missing does not compile', () => {
  const named = { signer: true, sends: true };
  // @ts-expect-error - a name with the two facts that once were enough
  const facts: ActionFacts = named;
  expect(Object.keys(facts)).not.toContain('pays');
  // @ts-expect-error - what is read of a type may be missing, unless it is known to be built in
  const pays: string | object = factsOf('made_up')?.pays;
  expect(pays).toBeUndefined();
  for (const name of NAMES)
    expect([name, Object.keys(BUILT_IN_ACTIONS[name]).sort()]).toEqual([
      name,
      ['crossing', 'leaves', 'pays', 'sends', 'signer', 'stays', 'token', 'transport'],
    ]);
});

test('facts that imply each other agree', () => {
  for (const name of NAMES) {
    const { signer, sends, token, leaves, pays, stays, transport, crossing }: ActionFacts =
      BUILT_IN_ACTIONS[name];
    const onChain = leaves === 'chain_id' || leaves === 'source_chain_id' || leaves === 'perp';
    expect([name, { signer: onChain }]).toEqual([name, { signer }]);
    // What signs moves a token that is compared, and is tied to its signer's pool.
    if (signer) expect([name, sends, token === null]).toEqual([name, true, false]);
    if (!sends) expect([name, pays, stays, transport]).toEqual([name, 'nobody', null, null]);
    if (crossing?.leg === 1)
      expect([name, typeof pays, stays]).toEqual([name, 'object', 'allowance']);
    if (crossing?.leg === 2) expect([name, token]).toEqual([name, 'first_leg']);
    const perp = (PERP_ACTIONS as readonly string[]).includes(name);
    expect([name, stays === 'perp_master', transport === 'perp']).toEqual([name, perp, perp]);
    const message = (USER_SIGNED_ACTIONS as readonly string[]).includes(name);
    expect([name, leaves === 'perp', token === 'perp']).toEqual([name, message, message]);
    expect([name, recordsOf(name).length > 0]).toEqual([name, crossing?.leg === 1]);
    const config = { burn_from: 'first', match_from: 'first' };
    expect([name, firstLegOf({ action_type: name, config }) !== null]).toEqual([
      name,
      crossing?.leg === 2,
    ]);
  }
});
