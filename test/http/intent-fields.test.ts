/** What an intent may say of payee, chain and venues: what the plan does, and nothing else. */
import {
  create,
  expectInvalid,
  movementBody,
  must,
  noop,
  post,
  registered,
  shared,
  transfer,
  withdrawal,
  type Answer,
  type NodeBody,
  type TemplateView,
} from '../support/http.ts';
import { allowed, freshAddress } from '../support/dashboard.ts';

const CHAIN = shared.chain.chainId;
const TREASURY = shared.chain.accounts.treasury.address;
const upper = (address: string): string => `0x${address.slice(2).toUpperCase()}`;

const body = (of: TemplateView, fields: object, node_config: object = {}) =>
  movementBody(of, {
    intent: { asset: 'USDC', amount: '10', ...fields },
    input_params: { node_config },
  });
const attempt = (...args: Parameters<typeof body>): Promise<Answer> =>
  post('/movements', body(...args));

/** Nodes that leave their payee to the caller. */
const open = (): NodeBody =>
  withdrawal('out', { config: { venue: 'paper-sub-a', asset: 'USDC', network: 'local' } });
const onChain = transfer('pay', {
  config: { ...(transfer('pay')['config'] as object), destination_address: undefined },
});
const inside: NodeBody = {
  node_key: 'move',
  node_kind: 'action',
  action_type: 'cex_internal_transfer',
  executor_selector: { action_type: 'cex_internal_transfer', provider: 'paper' },
  config: { venue: 'paper-main', destination_venue: 'paper-sub-a', asset: 'USDC' },
};

describe('an intent that names', () => {
  test.each<[string, () => NodeBody[], string, unknown]>([
    ['another payee', () => [withdrawal('out')], 'destination_address', freshAddress()],
    ['another payee of a chain', () => [transfer('pay')], 'destination_address', ''],
    ['the payee that is left open', () => [onChain], 'destination_address', TREASURY],
    ['another source', () => [withdrawal('out')], 'source_venue', 'paper-main'],
    ['another venue inside', () => [inside], 'destination_venue', 'paper-sub-b'],
    ['another chain', () => [withdrawal('out'), transfer('pay')], 'chain_id', CHAIN + 1],
  ])('%s is 422', async (_what, nodes, field, value) => {
    const wanted = value === '' ? freshAddress() : value;
    // What the allowlist does not hold is refused before this.
    if (value === '') await allowed(wanted as string, { chain_id: CHAIN });
    const of = await registered(nodes());
    expectInvalid(await attempt(of, { [field]: wanted }), `intent.${field}`);
    expect((await attempt(of, {}, { destination_address: shared.wallet })).status).toBe(201);
  });

  test('several others has an issue for each, and so has its preview', async () => {
    const of = await registered([withdrawal('out')]);
    const fields = { destination_address: 'bc1qother', source_venue: 'paper-main' };
    const paths = ['intent.destination_address', 'intent.source_venue'];
    expectInvalid(await attempt(of, fields), ...paths);
    expect(
      await must(200, post('/movements', body(of, fields), { 'dry-run': 'true' })),
    ).toMatchObject({
      would_create: false,
      blocking_reasons: [
        {
          error: 'invalid_request',
          issues: paths.map((path) => expect.objectContaining({ path })),
        },
      ],
    });
  });

  test('what a node of the plan has is taken, however it is written', async () => {
    const both = await registered([withdrawal('out'), transfer('pay')]);
    for (const destination_address of [TREASURY, upper(TREASURY), TREASURY.toLowerCase()])
      await create(
        both,
        body(both, { destination_address, chain_id: CHAIN, source_venue: 'paper-sub-a' }),
      );
    const left = await registered([open()]);
    const node_config = { destination_address: shared.wallet };
    await create(left, body(left, { destination_address: upper(shared.wallet) }, node_config));
  });

  test('what the plan does not name at all is taken, of chain and venues', async () => {
    const out = await registered([withdrawal('out')]);
    await create(out, body(out, { chain_id: 1, destination_venue: 'elsewhere' }));
    const pay = await registered([transfer('pay')]);
    await create(pay, body(pay, { source_venue: 'a-wallet' }));
    const idle = await registered([noop('a')]);
    await create(idle, body(idle, { destination_address: 'bc1qother', chain_id: 1 }));
  });

  test("something is the executor's to read where a team's own sends", async () => {
    const team = noop('pay', { action_type: 'test_team_payment', config: { payee: 'bank-1' } });
    const of = await registered([team, withdrawal('out')]);
    await create(of, body(of, { destination_address: 'bank-2', source_venue: 'paper-main' }));
  });
});

describe('an amount of the caller', () => {
  test.each([5, '1,000', '-1', '1e3', '01', '', ' 1', null, '1'.repeat(21)])(
    '%j is 422',
    async (amount) => {
      const of = await registered([noop('a')]);
      expectInvalid(await attempt(of, {}, { amount }), 'input_params.node_config.amount');
    },
  );

  test('of 0 is taken only where nothing sends it', async () => {
    for (const amount of ['0', '0.00'])
      expectInvalid(
        await attempt(await registered([withdrawal('out')]), {}, { amount }),
        'input_params.node_config.amount',
      );
    const fixed = await registered([
      withdrawal('out', { config: { ...(withdrawal('out')['config'] as object), amount: '3' } }),
    ]);
    expect((await attempt(fixed, {}, { amount: '0' })).status).toBe(201);
    expect((await attempt(await registered([noop('a')]), {}, { amount: '0' })).status).toBe(201);
  });
});
