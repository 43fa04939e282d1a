/** A policy in a file is read as the API reads it in a create. */
import { policyCreate } from '../../api/auto-approve/schema.ts';
import { readPolicyFile } from '../../platform/auto-approve-policy.ts';
import { describeIssues } from '../../platform/issues.ts';

const LEAST = { client_id: '01938A5E-7C00-7B3A-9D2F-5B1C7E8A4F10', strategy_id: 's' };
const read = (more: object) => readPolicyFile(JSON.stringify({ ...LEAST, ...more }));
/** The places of faults. */
const placesOf = (faults: readonly string[]): ReadonlySet<string> =>
  new Set(faults.map((fault) => fault.slice(0, fault.indexOf(': '))));

/** Expects that both refuse this policy, at the same places. */
function expectBothRefuse(more: object): void {
  const { error } = policyCreate.safeParse({ ...LEAST, ...more });
  if (error === undefined) throw new Error('the API takes it');
  const answer = read(more);
  if (!('faults' in answer)) throw new Error('it is not refused');
  expect(placesOf(answer.faults)).toEqual(placesOf(describeIssues(error, { whole: 'the policy' })));
}

test.each<[object]>([
  [{}],
  [
    {
      is_active: false,
      allowed_templates: [
        { template_key: 'a/b', template_version: 3 },
        { template_key: 'c' },
        { template_key: 'agent/x/way', template_version: 1 },
      ],
      allowed_assets: ['usdc', 'USDT'],
      max_amount_per_request: '12345678901234567890.123456789012345678',
      window_hours: 720,
      max_amount_per_window: '0.10',
      max_count_per_window: 0,
    },
  ],
  [{ window_hours: 1, max_count_per_window: 2_147_483_647, max_amount_per_request: null }],
])('%j is the policy that the API would make of it', (more) => {
  expect(read(more)).toEqual({ policy: policyCreate.parse({ ...LEAST, ...more }) });
});

test.each<[object]>([
  [{ client_id: 'x' }],
  [{ client_id: undefined, strategy_id: undefined }],
  [{ strategy_id: '' }],
  [{ strategy_id: 'a\0b' }],
  [{ is_active: 'true' }],
  [{ allowed_templates: [{ template_key: '' }] }],
  [{ allowed_templates: [{ template_key: 'a//b' }, { template_key: 'a/../b' }] }],
  [{ allowed_templates: [{ template_key: 'a%2Fb' }, { template_key: '/a' }] }],
  [{ allowed_templates: [{ template_key: 'a', template_version: 0 }] }],
  [{ allowed_templates: [{ template_key: 'a', versions: 1 }] }],
  [{ allowed_templates: [{ template_key: 'agent/x/way' }] }],
  [{ allowed_assets: ['USDC', 'a b', ''] }],
  [{ max_amount_per_request: 1 }],
  [{ max_amount_per_request: '1e3' }],
  [{ max_amount_per_request: '-1' }],
  [{ window_hours: 0 }],
  [{ window_hours: 721 }],
  [{ window_hours: 1.5 }],
  [{ window_hours: 1, max_amount_per_window: '0.1234567890123456789' }],
  [{ window_hours: 1, max_count_per_window: -1 }],
  [{ window_hours: 1, max_count_per_window: 2_147_483_648 }],
  [{ policy_id: LEAST.client_id }],
])('%j is refused where the API refuses it', expectBothRefuse);

test('what is too long is refused where the API refuses it, and no shorter', () => {
  const ofLength = (one: number, entries: number) => [
    { strategy_id: 's'.repeat(128 + one) },
    { allowed_templates: [{ template_key: 'a'.repeat(256 + one) }] },
    { allowed_templates: Array.from({ length: entries }, () => ({ template_key: 'a' })) },
    { allowed_assets: ['A'.repeat(32 + one)] },
    { allowed_assets: Array.from({ length: entries }, () => 'A') },
  ];
  for (const more of ofLength(1, 1_001)) expectBothRefuse(more);
  for (const more of ofLength(0, 1_000)) expect(read(more)).toMatchObject({ policy: more });
});

test.each([{ max_amount_per_window: '5' }, { max_count_per_window: 5 }])(
  'has no window cap without a window: %j',
  (cap) => {
    expect(read(cap)).toEqual({
      faults: ['window_hours: must be set for max_amount_per_window and max_count_per_window'],
    });
    expect(read({ ...cap, window_hours: 1 })).toMatchObject({ policy: cap });
  },
);

test('is JSON, and an object', () => {
  expect(readPolicyFile('{')).toEqual({ faults: ['the policy: must be JSON'] });
  expect(readPolicyFile('{"is_active":false,"is_active":true}')).toEqual({
    faults: ['is_active: appears more than once'],
  });
  expect(readPolicyFile('[]')).toEqual({ faults: [expect.stringMatching(/^the policy: /)] });
});
