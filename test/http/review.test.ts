/** What an approval is about, as create, preview and detail show it before anybody approves. */
import {
  create,
  get,
  movementBody,
  must,
  noop,
  patch,
  post,
  registered,
  withdrawal,
  type NodeBody,
} from '../support/http.ts';

interface Review {
  readonly sends: readonly {
    readonly node_key: string;
    readonly payees: readonly Readonly<Record<string, unknown>>[];
  }[];
  readonly limits: readonly unknown[];
  readonly balances: readonly unknown[];
  readonly would_fail: readonly { readonly at: string; readonly error: string }[];
}
interface Reviewed extends Review {
  readonly would_create: boolean;
  readonly blocking_reasons: readonly { readonly error: string }[];
}

const previewed = (body: object): Promise<Reviewed> =>
  must(200, post<Reviewed>('/movements?dry_run=true', body));
const reviewed = async (movementId: string): Promise<Review> => {
  const { review } = await must(200, get<{ review: Review }>(`/movements/${movementId}`));
  return review;
};

/** A payment by an executor team's own action type. */
const team = (payee: string): NodeBody => ({
  node_key: 'pay',
  node_kind: 'action',
  action_type: 'test_team_payment',
  executor_selector: { action_type: 'test_team_payment' },
  has_side_effect: true,
  config: { payee, venue: 'their-bank', tag: '17' },
});

test("a team's payee has the standing that the list gives it, in create, preview and detail", async () => {
  const of = await registered([team('unlisted')]);
  const sends = [
    {
      node_key: 'pay',
      action_type: 'test_team_payment',
      asset: 'USDC',
      amount: '10',
      venue: 'their-bank',
      tag: '17',
      network: null,
      max_fee: null,
      payees: [
        {
          address: 'unlisted',
          chain_family: 'cex',
          chain_id: null,
          allowed: false,
          usable_after: null,
          code: 'ADDRESS_NOT_ALLOWLISTED',
        },
      ],
    },
  ];
  const failing = [{ at: 'dispatch', node_key: 'pay', error: 'ADDRESS_NOT_ALLOWLISTED' }];
  expect(await previewed(movementBody(of))).toMatchObject({
    would_create: true,
    blocking_reasons: [],
    sends,
    would_fail: failing,
  });
  const made = await create(of);
  expect(made).toMatchObject({ sends, limits: [] });
  expect(await reviewed(made.movement_id)).toMatchObject({ sends, would_fail: failing });
});

test.each([
  ['amount', { amount: '11' }],
  ['payee', { payee: 'other' }],
  ['venue', { venue: 'other-bank' }],
])('of two plans that differ only in %s, each read shows its own', async (_what, changed) => {
  const first = { amount: '10', payee: 'unlisted', venue: 'their-bank' };
  const of = await registered([{ ...team(''), config: {} }]);
  const made = async (fields: typeof first) => {
    const { amount, ...node_config } = fields;
    const more = { intent: { asset: 'USDC', amount }, input_params: { node_config } };
    const { movement_id } = await create(of, more);
    const { payee: address, venue } = fields;
    const shown = {
      nodes: [{ amount, destination: address }],
      review: {
        sends: [{ amount, venue, payees: [{ address }] }],
        balances: [{ venue_key: venue, draws: amount }],
      },
    };
    return { movement_id, shown };
  };
  const [one, other] = [await made(first), await made({ ...first, ...changed })];
  for (const { movement_id, shown } of [one, other, one, other])
    expect(await must(200, get(`/movements/${movement_id}`))).toMatchObject(shown);
});

test('an amount beyond its own limit is created, and shown as such everywhere', async () => {
  const of = await registered([withdrawal('out', { risk_patch: { max_amount: '4' } })], {
    risk_controls: { max_amount: '20' },
  });
  const body = movementBody(of, { idempotency_key: of.template_key });
  const limits = [
    { control: 'max_amount', limit: '20', after: '10', ok: true },
    { control: 'nodes.out.max_amount', limit: '4', after: '10', ok: false },
  ];
  const failing = [{ at: 'dispatch', node_key: 'out', error: 'MAX_AMOUNT_EXCEEDED' }];
  expect(await previewed(body)).toMatchObject({
    would_create: true,
    limits,
    blocking_reasons: failing,
    would_fail: failing,
  });
  const made = await must(201, post<{ movement_id: string }>('/movements', body));
  expect(made).toMatchObject({ limits });
  expect(await must(200, post('/movements', body))).toMatchObject({ limits });
  expect(await reviewed(made.movement_id)).toMatchObject({ limits, would_fail: failing });
});

test('what is switched off and what is missing are shown before an approval', async () => {
  const of = await registered([
    withdrawal('out'),
    noop('after', { action_type: 'test_previewed' }),
  ]);
  const amount = '999999999';
  await must(200, patch('/executors/test.previewed', { status: 'disabled', reason: 'a test' }));
  try {
    const made = await create(of, { intent: { asset: 'USDC', amount } });
    const { balances, would_fail: failing } = await reviewed(made.movement_id);
    expect(balances).toMatchObject([
      { venue_key: 'paper-sub-a', account_type: 'SPOT', asset: 'USDC', draws: amount },
    ]);
    expect(failing).toMatchObject([
      { at: 'dispatch', node_key: 'after', error: 'EXECUTOR_DISABLED' },
      { at: 'approve', node_key: null, error: 'insufficient_effective_withdrawable' },
    ]);
    await must(200, post(`/movements/${made.movement_id}/reject`, {}));
    expect(await reviewed(made.movement_id)).toBeUndefined();
  } finally {
    await must(200, patch('/executors/test.previewed', { status: 'active' }));
  }
});

test('a node between own accounts has no payee, and shows both kinds of account', async () => {
  const of = await registered([
    {
      node_key: 'move',
      node_kind: 'action',
      action_type: 'cex_internal_transfer',
      executor_selector: { action_type: 'cex_internal_transfer', provider: 'paper' },
      has_side_effect: true,
      config: {
        venue: 'paper-sub-a',
        account_type: 'usdt_future',
        destination_venue: 'paper-main',
        asset: 'USDC',
      },
    },
  ]);
  const sends = [
    {
      node_key: 'move',
      venue: 'paper-sub-a',
      account_type: 'USDT_FUTURE',
      payees: [],
      destination_venue: 'paper-main',
      destination_account_type: 'SPOT',
    },
  ];
  expect(await previewed(movementBody(of))).toMatchObject({ sends });
  const made = await create(of);
  expect(made).toMatchObject({ sends });
  expect(await reviewed(made.movement_id)).toMatchObject({ sends });
});
