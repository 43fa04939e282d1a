/** What may be approved among others, what is shown of it, and what a lost answer is taken for. */
import { createHash } from 'node:crypto';
import { createElement } from 'react';
import { plannedSends } from '../../domain/send/planned-sends.ts';
import {
  IS_NOT_SO,
  refusalOf,
  type About,
  type Detail,
} from '../../console/pages/approvals/model.ts';
import { isIn } from './answers.ts';
import * as make from './movement-fixtures.ts';
import { linked } from './pages.ts';

const BOUNDED: About = {
  outflow: [{ asset: 'USDC', amount: '1' }],
  payees: [],
  sends: [{ node_key: 'pay', action_type: 'evm_erc20_transfer' }],
  isListed: true,
};

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
  [
    'that the executor of a team sends',
    detailOf(),
    { sends: [...BOUNDED.sends, { node_key: 'wages', action_type: 'payroll' }] },
    'decides whom wages pays',
  ],
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
  const sends = [{ node_key: 'wages', action_type: 'payroll' }];
  const about = { outflow: null, payees: WARNED, sends, isListed: false };
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

describe('a plan', () => {
  const node = (node_key: string, action_type: string, config: object, more: object = {}) =>
    make.planNode({
      ...{ node_key, action_type, signer_binding: { signer_key: `${node_key}-signer` } },
      executor_binding: { executor_key: `${node_key}-executor` },
      ...{ config: config as never, ...more },
    });
  const TO_EXCHANGE = { venue: 'exchange-sub', destination_address: 'rShared', network: 'XRPL' };
  /** Each value stands nowhere else in it. */
  const plan = make.plan({
    nodes: [
      node('one', 'cex_withdrawal', { ...TO_EXCHANGE, tag: 'memo-17', fee_limit: '0.0078125' }),
      node('other', 'cex_withdrawal', { ...TO_EXCHANGE, tag: 'memo-18' }),
      node('inside', 'cex_internal_transfer', {
        ...{ venue: 'exchange-main', account_type: 'FUNDING' },
        ...{ destination_venue: 'exchange-own', destination_account_type: 'USDT_FUTURE' },
      }),
      node('burn', 'cctp_burn', {
        ...{ source_chain_id: 8453, destination_chain_id: 42161, max_fee: '0.125' },
        ...{ token_address: `0x${'a1'.repeat(20)}`, mint_recipient: `0x${'b2'.repeat(20)}` },
        ...{ destination_caller: `0x${'c3'.repeat(20)}`, finality: 'fast' },
      }),
      node('mint', 'cctp_mint', { burn_from: 'burn', amount_ref: 'nodes.burn.output.left' }),
      node(
        'cross',
        'bridge_c_send',
        { source_chain_id: 59144, destination_chain_id: 7777, destination_address: make.TREASURY },
        { pulled_by: `0x${'d4'.repeat(20)}`, pulled_token: `0x${'e5'.repeat(20)}` },
      ),
      node('top', 'agent_wallet_top_up', {
        ...{ venue: 'perp-master', sub_account_address: `0x${'f6'.repeat(20)}` },
      }),
      node('wages', 'payroll', { pay_to: 'the payroll of November' }),
      node(
        'gate',
        'noop',
        { description: 'Compare it with the invoice.' },
        { node_kind: 'manual_gate', sends: false },
      ),
    ],
    input_params: { cost_centre: 'treasury-4711' },
  });
  const sends = plannedSends(plan);
  const terms = sends.flatMap(({ node_key, action_type, terms: of, ...send }) => [
    ...[node_key, action_type, send.pulled_by, send.pulled_token],
    ...[send.executor_key, send.signer_key, ...Object.values(of)],
  ]);
  const TEXTS = [
    ...terms.filter((each) => each !== null),
    ...['Compare it with the invoice.', 'the payroll of November', 'treasury-4711'],
  ];
  const movement = make.movement({ nodes: [] });

  async function sheets(nodes: typeof movement.nodes = []): Promise<readonly string[]> {
    // Its modules look where they run when they are loaded.
    Object.assign(globalThis, { location: { origin: 'http://localhost', hash: '' } });
    const { CandidateView } = await import('../../console/pages/approvals/page.tsx');
    const { Approved } = await import('../../console/pages/movement/parts/decision-sheet.tsx');
    const { payeesOf } = await import('../../console/pages/movement/model/payees.ts');
    const payees = payeesOf({ sends, movement, rows: [], now: 0 });
    const text = JSON.stringify(plan);
    const hash = createHash('sha256').update(text).digest('hex');
    const detail = { ...movement, nodes, compiled_plan_hash: hash };
    const { movement_id } = detail;
    const candidate = { movement_id, detail, outflow: [], payees, plan, refused: null };
    const reading = { status: 'agrees', text, hash, plan } as const;
    const at = { movement: detail, plan: reading, role: 'operator', behind: null };
    return Promise.all([
      linked(createElement(CandidateView, { candidate, outcome: undefined })),
      linked(createElement(Approved, { hash, outflow: [], payees, at })),
    ]);
  }

  test('every term of it is in the sheet of one decision and of several', async () => {
    const names = [...new Set(sends.flatMap(({ terms: of }) => Object.keys(of)))];
    // Else a term would be shown by none of these nodes.
    expect(names.filter((name) => sends.every(({ terms: of }) => !isSet(of, name)))).toEqual([]);
    for (const html of await sheets())
      expect(TEXTS.filter((text) => !isIn(html, text))).toEqual([]);
  });

  test('payments to one address with two tags are of two payees, each with its tag', async () => {
    for (const html of await sheets()) {
      const [, payees = ''] = /aria-label="Payees">(.*?)<\/ul>/s.exec(html) ?? [];
      const lines = payees.split('<li>').filter((line) => line.includes('rShared'));
      expect(lines).toHaveLength(2);
      expect(lines[0]).toMatch(/XRPL.*memo-17/s);
      expect(lines[1]).toMatch(/XRPL.*memo-18/s);
    }
  });

  test('a signer that a rotation has put in place of the plan’s is shown as such', async () => {
    const nodes = [make.node({ node_key: 'one', signer_binding: { signer_key: 'the-next' } })];
    for (const html of await sheets(nodes))
      expect(html).toContain('the-next (IN THE PLACE OF one-signer OF THE PLAN)');
  });
});

function isSet(of: object, name: string): boolean {
  return (of as Readonly<Record<string, unknown>>)[name] != null;
}
