/**
 * A movement under an approval rule, as callers of the API see it: who may approve, what is
 * missing, and that it runs once enough people have approved.
 */
import type { SigningKey } from '../../dev/stack/keys.ts';
import { startApprovalDesk, type ApprovalDesk } from '../support/approval-desk.ts';
import {
  approval,
  auditOfRequest,
  create,
  detail,
  expectRefusal,
  must,
  noop,
  reaches,
  registered,
  sendAs,
  timeline,
  type TemplateView,
} from '../support/http.ts';
import { issueKey } from '../support/tool.ts';

let template: TemplateView;
let desk: ApprovalDesk;
let eve: SigningKey;
beforeAll(async () => {
  template = await registered([noop('a')]);
  desk = await startApprovalDesk('test-desk', ['ann', 'bob'], template.template_key);
  eve = await issueKey('--client-name', 'eve', '--key-id', 'eve', '--role', 'operator');
});
afterAll(() => desk?.close());
const ann = (): SigningKey | undefined => desk.keys[0];
const bob = (): SigningKey | undefined => desk.keys[1];

interface Approvals {
  readonly required: readonly { readonly received: number; readonly missing: number }[];
  readonly decisions: readonly { readonly person: string; readonly counts: boolean }[];
  readonly you: { readonly may: boolean; readonly why_not: string | null };
}
const as = (person: SigningKey | undefined): SigningKey => {
  if (person === undefined) throw new Error('there is no such person');
  return person;
};
const approveAs = (
  person: SigningKey | undefined,
  movement: { movement_id: string; compiled_plan_hash: string },
) =>
  sendAs<{ request_state: string; approvals?: Approvals }>(
    as(person),
    'POST',
    `/movements/${movement.movement_id}/approve`,
    approval(movement),
  );

test('two people approve it, each once; everybody sees what is missing', async () => {
  const movement = await create(template);
  const path = `/movements/${movement.movement_id}`;
  const before = await must(
    200,
    sendAs<{ approvals: Approvals }>(as(ann()), 'GET', `${path}/approvers`),
  );
  expect(before).toMatchObject({
    approvals: {
      rules: ['test-desk'],
      required: [{ rule: 'test-desk', group: 'test-desk', threshold: 2, received: 0, missing: 2 }],
      decisions: [],
      you: { may: true, why_not: null },
    },
    approvers: [
      { person: 'ann', name: 'Ann', may: true, decided_at: null, counts: false },
      { person: 'bob', name: 'Bob', may: true, decided_at: null, counts: false },
    ],
  });
  for (let again = 0; again < 2; again += 1)
    expect(await must(200, approveAs(ann(), movement))).toMatchObject({
      request_state: 'PENDING_APPROVAL',
      reservation_status: 'none',
      approvals: {
        required: [{ received: 1, missing: 1 }],
        decisions: [{ person: 'ann', counts: true }],
      },
    });
  // The shared key of the tests belongs to no person: it sees the same, and may not decide.
  expect(await detail(movement.movement_id)).toMatchObject({
    request_state: 'PENDING_APPROVAL',
    approvals: {
      required: [{ received: 1, missing: 1 }],
      you: { may: false, why_not: 'no_person' },
    },
  });
  const approved = await must(200, approveAs(bob(), movement));
  expect(approved.request_state).toBe('APPROVED');
  expect(approved.approvals).toBeUndefined();
  await reaches(movement.movement_id, 'COMPLETED');
  const events = (await timeline(movement.movement_id)).map(({ event_type }) => event_type);
  expect(events.filter((each) => each === 'approval_recorded')).toHaveLength(1);
  expect(events.filter((each) => each === 'request_approved')).toHaveLength(1);
});

test('who is no person, or made it, may not approve; the audit has it, and anybody may reject', async () => {
  const movement = await create(template);
  const refused = await approveAs(eve, movement);
  expectRefusal(refused, 403, 'approver_excluded', {
    movement_id: movement.movement_id,
    why: 'no_person',
  });
  expect(await auditOfRequest(refused.headers.get('x-request-id') ?? '')).toMatchObject([
    { action: 'movement.approve', outcome: 'denied' },
  ]);
  await must(
    200,
    sendAs(as(eve), 'POST', `/movements/${movement.movement_id}/reject`, { reason: 'not ours' }),
  );
  expect((await detail(movement.movement_id)).request_state).toBe('REJECTED');
});
