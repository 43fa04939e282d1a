/** What guards know of the built-in action types: a name alone is no action type. */
import { BUILT_IN_ACTIONS, isBuiltIn, specOf } from '../../../domain/actions/built-in.ts';
import { ACTION_NAMES, type ActionName, type ActionSpec } from '../../../domain/actions/spec.ts';
import { perpRoleOf } from '../../../domain/perps/ready.ts';
import { firstLegOf, recordsOf } from '../../../domain/plan/legs.ts';

test('an action name alone does not compile, nor a spec without one of its members', () => {
  type Named = Readonly<Record<ActionName | 'bridge_d_send', ActionSpec>>;
  // @ts-expect-error - a name of which no spec stands
  const specs: Named = BUILT_IN_ACTIONS;
  expect(Object.keys(specs)).not.toContain('bridge_d_send');

  // A member that may be left out would be one of these.
  type LeftOut = {
    [Member in keyof ActionSpec]: Omit<ActionSpec, Member> extends ActionSpec ? Member : never;
  }[keyof ActionSpec];
  const none: [LeftOut] extends [never] ? true : false = true;
  // What may be undefined would be left out by another word.
  type Undefined = {
    [Member in keyof ActionSpec]: undefined extends ActionSpec[Member] ? Member : never;
  }[keyof ActionSpec];
  const defined: [Undefined] extends [never] ? true : false = none;
  expect(defined).toBe(true);
});

test('every name has its spec, in the file of its family, and every spec its name', () => {
  expect(Object.keys(BUILT_IN_ACTIONS).sort()).toEqual([...ACTION_NAMES].sort());
  const members = Object.keys(specOf('acme_payout')).sort();
  for (const name of ACTION_NAMES)
    expect([name, Object.keys(BUILT_IN_ACTIONS[name]).sort()]).toEqual([name, members]);
});

test('of a built-in type no declaration counts, of a team’s own nothing else', () => {
  const declared = { sends: false, usual_seconds: 5 };
  for (const name of ACTION_NAMES) expect(specOf(name, declared)).toBe(BUILT_IN_ACTIONS[name]);
  for (const own of ['acme_payout', 'toString', '__proto__', 'Noop']) {
    expect(isBuiltIn(own)).toBe(false);
    expect(specOf(own)).toMatchObject({ sends: true, usualSeconds: 3_600, payees: 'declared' });
    expect(specOf(own, declared)).toMatchObject({ sends: false, usualSeconds: 5 });
  }
});

test.each(ACTION_NAMES)('the members of %s that imply each other agree', (name) => {
  const spec = specOf(name);
  const { signs, sends, token, pool, payees, crossing, amount, claim } = spec;
  const onChain = pool === 'chain_id' || pool === 'source_chain_id';
  expect({ transaction: onChain, message: typeof pool === 'object' }).toEqual({
    transaction: signs === 'transaction',
    message: signs === 'venue_message',
  });
  // What signs moves a token that is compared.
  if (signs !== null) expect({ sends, token }).toEqual({ sends: true, token: expect.anything() });
  const quiet = {
    payees: 'none',
    signerTie: null,
    transport: null,
    defaults: {},
    requires: null,
  };
  if (!sends) expect(spec).toMatchObject(quiet);
  if (spec.idle) expect(spec).toMatchObject({ sends, claim: null, watches: null, crossing: null });
  if (spec.allowance) expect(spec).toMatchObject({ sends: true, payees: 'spender', claim: null });
  // An address of its own pays no one else, and `declared` is for a team's own types.
  expect([payees, pool]).not.toContain('declared');
  expect(pool).not.toBe('own');

  const [first, second] = [crossing?.leg === 1, crossing?.leg === 2];
  // What leaves for another chain is pulled by a contract, which the old signer has allowed.
  expect(spec.puller !== null).toBe(first);
  if (first)
    expect(spec).toMatchObject({ signerTie: 'allowance', payees: { strict: expect.any(String) } });
  expect(token === 'first_leg').toBe(second);
  expect(spec.checks.includes('first_leg_known')).toBe(second);
  expect(amount === 'first_leg').toBe(second && sends);
  expect(spec.checks.includes('amount_of_first_leg')).toBe(amount === 'first_leg');
  if (crossing !== null) expect(claim).not.toBeNull();
  expect(recordsOf(name).length > 0).toBe(first);
  const config = { burn_from: 'first', match_from: 'first' };
  expect(firstLegOf({ action_type: name, config })).toBe(second ? 'first' : null);

  // The database asks for a claim of what looks for payments.
  if (spec.watches !== null) expect(claim?.named[0]).toBe('payments');
  expect(claim?.named.includes('payments') ?? false).toBe(spec.watches !== null);
  if (claim !== null && claim.required !== 'always')
    expect(claim.named).toContain(
      { attested_message: 'message', packet: 'packet', payments: 'payments' }[claim.required],
    );

  const perp = spec.requires?.kind === 'perp';
  expect({ tie: spec.signerTie === 'perp_master', route: spec.transport === 'perp' }).toEqual({
    tie: perp,
    route: perp,
  });
  expect(perpRoleOf(name) !== null).toBe(perp);
  expect([token === 'deposit_venue', typeof pool === 'object']).toEqual(
    Array(2).fill(signs === 'venue_message'),
  );
});

test('a lane has one first leg and one second leg', () => {
  const legs = Object.values(BUILT_IN_ACTIONS).flatMap(({ crossing }: ActionSpec) =>
    crossing === null ? [] : [`${crossing.lane} ${String(crossing.leg)}`],
  );
  expect(legs.sort()).toEqual(['bridge_c 1', 'bridge_c 2', 'burn_and_mint 1', 'burn_and_mint 2']);
});
