/** What may be approved among others, and what a lost answer is taken for. */
import {
  IS_NOT_SO,
  refusalOf,
  type About,
  type Detail,
} from '../../console/pages/approvals/model.ts';

const BOUNDED: About = { outflow: [{ asset: 'USDC', amount: '1' }], payees: [], isListed: true };

/** The fields of a movement that approvals read. */
function detailOf(
  review: Partial<NonNullable<Detail['review']>> = {},
  request_state: Detail['request_state'] = 'PENDING_APPROVAL',
): Detail {
  return { request_state, review: { limits: [], would_fail: [], ...review } } as unknown as Detail;
}

/** One under a rule that says whether you may approve it. */
function ruledOf(you: NonNullable<Detail['approvals']>['you']): Detail {
  return { ...detailOf(), approvals: { rules: [], required: [], decisions: [], you } };
}

const MAY = { may: true, why_not: null, evidence: 'any', approved: false } as const;
const OWN = { may: false, why_not: 'initiator', evidence: 'any', approved: false } as const;
const WARNED = [{ warnings: [{ text: 'It looks like another.' }] }] as unknown as About['payees'];
const LIMIT = { control: 'the daily budget', ok: false };
const FAILING = { at: 'approve', message: 'It is frozen.' };

test.each<[string, Detail, Partial<About>, string]>([
  ['decided meanwhile', detailOf({}, 'REJECTED'), {}, 'it is REJECTED'],
  ['whose payees cannot be compared', detailOf(), { isListed: false }, 'allowlist'],
  ['whose plan says nothing', detailOf(), { outflow: null }, 'not bounded'],
  ['without a bound', detailOf(), { outflow: [{ asset: 'USDC', amount: null }] }, 'not bounded'],
  ['over a limit', detailOf({ limits: [LIMIT] as never }), {}, 'the daily budget'],
  ['with a warning', detailOf(), { payees: WARNED }, 'It looks like another.'],
  ['that would be refused', detailOf({ would_fail: [FAILING] as never }), {}, 'It is frozen.'],
  ['of your own', ruledOf(OWN), {}, 'you created this'],
  ['that needs a passkey', ruledOf({ ...MAY, evidence: 'passkey' }), {}, 'your passkey'],
])('one %s is not approved among others', (_, detail, about, says) => {
  expect(refusalOf('approve', detail, { ...BOUNDED, ...about })).toContain(says);
});

test('one without any of these is approved', () => {
  expect(refusalOf('approve', detailOf(), BOUNDED)).toBeNull();
  expect(refusalOf('approve', ruledOf(MAY), BOUNDED)).toBeNull();
});

test('what waits is rejected whatever speaks against it', () => {
  const about = { outflow: null, payees: WARNED, isListed: false };
  expect(refusalOf('reject', detailOf({ limits: [LIMIT] as never }), about)).toBeNull();
  for (const you of [OWN, { ...MAY, evidence: 'passkey' }] as const)
    expect(refusalOf('reject', ruledOf(you), about)).toBeNull();
  expect(refusalOf('reject', detailOf({}, 'EXECUTING'), about)).toContain('it is EXECUTING');
});

test('a decision counts as done only where the state can come of it', () => {
  const states = ['PENDING_APPROVAL', 'REJECTED', 'EXPIRED', 'CANCELLED', 'EXECUTING'] as const;
  expect(states.filter((state) => !IS_NOT_SO.approve(state))).toEqual(['EXECUTING']);
  expect(states.filter((state) => !IS_NOT_SO.reject(state))).toEqual(['REJECTED']);
});
