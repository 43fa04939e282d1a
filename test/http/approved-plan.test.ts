/**
 * What a person reads before approving: the document that is hashed, what it can move, and whom
 * each node pays.
 */
import { createHash } from 'node:crypto';
import { signedFetch } from '../support/signed-fetch.ts';
import {
  API,
  create,
  detail,
  edge,
  expectRefusal,
  get,
  movementBody,
  must,
  post,
  registered,
  shared,
  transfer,
  withdrawal,
} from '../support/http.ts';

const configOf = (node: { readonly [field: string]: unknown }): object => node['config'] as object;

test('the plan is answered byte for byte as it is hashed, with what it can move', async () => {
  const of = await registered([
    withdrawal('out'),
    transfer('on', {
      config: { ...configOf(transfer('x')), amount_ref: 'nodes.out.output.received_amount' },
    }),
  ]);
  const made = await create(of, {
    input_params: { node_config: { note: 'é ≠ 1e21', huge: 1e21, small: 1e-7 }, list: [3, 1] },
  });
  const answer = await signedFetch(
    shared.keys.operator,
    `${API}/movements/${made.movement_id}/plan`,
  );
  const bytes = Buffer.from(await answer.arrayBuffer());
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    expect.stringMatching(/^application\/json/),
  ]);
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(made.compiled_plan_hash);
  const plan = JSON.parse(bytes.toString('utf8')) as {
    outflow: unknown;
    nodes: { node_key: string; asset: string; sends: boolean }[];
  };
  // The transfer moves on what arrived, so it adds nothing to what the plan can move.
  expect(plan.outflow).toEqual([{ asset: 'USDC', amount: '10' }]);
  expect(plan.nodes.map(({ node_key, asset, sends }) => [node_key, asset, sends])).toEqual([
    ['out', 'USDC', true],
    ['on', 'USDC', true],
  ]);
});

test('each node tells its asset, the most it can move and whom it pays, before it is approved', async () => {
  const of = await registered([withdrawal('out'), transfer('sweep')]);
  const made = await create(of, { input_params: { node_config: { amount: '7.5' } } });
  const { nodes } = await detail(made.movement_id);
  expect(nodes).toMatchObject([
    { node_key: 'out', state: 'BLOCKED', asset: 'USDC', amount: '7.5', destination: shared.wallet },
    {
      node_key: 'sweep',
      asset: 'USDC',
      amount: '7.5',
      destination: shared.chain.accounts.treasury.address,
    },
  ]);
  const { movements } = await must(
    200,
    get<{ movements: { movement_id: string; outflow: unknown }[] }>('/movements?limit=200'),
  );
  expect(movements.find(({ movement_id }) => movement_id === made.movement_id)?.outflow).toEqual([
    { asset: 'USDC', amount: '15' },
  ]);
});

test('ways that exclude each other count as the dearest of them', async () => {
  const spend = (key: string, amount: string) =>
    withdrawal(key, { config: { ...configOf(withdrawal('x')), amount } });
  const of = await registered(
    [spend('first', '5'), spend('then', '1'), spend('else', '4'), spend('undo', '2')],
    {
      edges: [
        edge('first', 'then'),
        edge('first', 'else', 'on_failure'),
        edge('first', 'undo', 'on_cancel'),
      ],
    },
  );
  // first and then, or else; and what a cancel may add.
  expect(await must(201, post('/movements', movementBody(of)))).toMatchObject({
    outflow: [{ asset: 'USDC', amount: '8' }],
  });
});

test('a token that is not the asset of its node is refused, whoever gave its address', async () => {
  const { token_address: _template, ...config } = configOf(transfer('x')) as {
    token_address: string;
  };
  const of = await registered([transfer('sweep', { config })]);
  const other = shared.chain.tokens.USDT.address;
  const answer = await post(
    '/movements',
    movementBody(of, { input_params: { node_config: { token_address: other } } }),
  );
  expectRefusal(answer, 422, 'token_asset_mismatch', {
    node_key: 'sweep',
    asset: 'USDC',
    chain_id: shared.chain.chainId,
    token_address: other,
    token_asset: 'USDT',
  });
  const unlisted = `0x${'12'.repeat(20)}`;
  const unknown = await post(
    '/movements',
    movementBody(of, { input_params: { node_config: { token_address: unlisted } } }),
  );
  expect(unknown).toMatchObject({
    status: 422,
    body: { detail: { error: 'token_asset_mismatch', token_address: unlisted, token_asset: null } },
  });
});

test.each([
  ['a blank in it', 'USDC '],
  ['an invisible character', 'USDC\u200b'],
  ['letters of another width', 'ＵＳＤＣ'],
  ['a letter that becomes another one in capitals', 'u\u017fdc'],
  ['a list around it', ['USDT']],
  ['no text', 7],
])('an asset that a caller writes with %s is refused, in the preview too', async (_what, asset) => {
  const { asset: _template, ...config } = configOf(withdrawal('x')) as { asset: string };
  const of = await registered([withdrawal('out'), withdrawal('more', { config })]);
  const body = movementBody(of, { input_params: { node_config: { asset } } });
  const issues = [expect.objectContaining({ path: 'nodes.more.config.asset' })];
  expect(await post('/movements', body)).toMatchObject({
    status: 422,
    body: { detail: { error: 'invalid_request', issues } },
  });
  const preview = await post('/movements', body, { 'dry-run': 'true' });
  expect(preview).toMatchObject({
    status: 200,
    body: { would_create: false, blocking_reasons: [{ error: 'invalid_request', issues }] },
  });
});
