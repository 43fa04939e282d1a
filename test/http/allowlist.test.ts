/** What the allowlist stops: at creation, and before a send whatever happened since. */
import { randomUUID } from 'node:crypto';
import { getAddress } from 'viem';
import {
  act,
  approve,
  auditOfRequest,
  create,
  expectRefusal,
  gate,
  movementBody,
  must,
  noop,
  post,
  reaches,
  registered,
  run,
  shared,
  sql,
  transfer,
  waitFor,
  withdrawal,
  type Answer,
  type DetailView,
  type NodeBody,
} from '../support/http.ts';
import { allowed, freshAddress, revoked, type RowView } from '../support/dashboard.ts';
import { tool } from '../support/tool.ts';

const CHAIN = shared.chain.chainId;
const withConfig = (node: NodeBody, config: object): NodeBody => ({
  ...node,
  config: { ...(node['config'] as object), ...config },
});
const paying = (destination_address: unknown): NodeBody =>
  withConfig(transfer('pay'), { destination_address });
const withdrawing = (destination_address: string, network = 'local'): NodeBody =>
  withConfig(withdrawal('out'), { destination_address, network });
const attempt = (
  of: { readonly template_key: string; readonly version: number },
  more: object = {},
): Promise<Answer> => post('/movements', movementBody(of, { ...more }));
const codeOf = (movement: DetailView, key: string): string | null =>
  movement.nodes.find(({ node_key }) => node_key === key)?.error_code ?? null;
const COOLING = {
  ...shared.toolEnv,
  SVC_ALLOWLIST_COOLING_PERIOD_ENABLED: 'true',
  SVC_ALLOWLIST_COOLING_PERIOD_HOURS: '2',
};
/** Puts an address on the list so that it cools for two hours. */
async function cools(family: string, address: string): Promise<string> {
  const { status, out, err } = await tool(
    ['allowlist', 'add', '--family', family, '--address', address, '--reason', 'x'],
    COOLING,
  );
  if (status !== 0) throw new Error(err);
  return (JSON.parse(out) as { row: RowView }).row.id;
}

describe('a create', () => {
  const refusedAt = (
    answer: Answer,
    address: string,
    more: { node_key?: string; chain_id?: number | null; problem?: unknown } = {},
  ) => {
    const place = { node_key: 'pay', address, chain_id: CHAIN, ...more };
    expectRefusal(answer, 422, 'address_not_allowlisted', {
      ...place,
      addresses: expect.arrayContaining([place]),
    });
  };

  test('that pays an address on no list is refused, and leaves nothing', async () => {
    const address = freshAddress();
    const strategy_id = randomUUID();
    refusedAt(
      await attempt(
        await registered([noop('before'), paying(getAddress(address as `0x${string}`))]),
        { strategy_id },
      ),
      address,
    );
    expect(await sql('SELECT 1 FROM movements WHERE strategy_id = $1', [strategy_id])).toEqual([]);
  });

  test('that is refused leaves one audit row with whom it would have paid, a preview none', async () => {
    const address = freshAddress();
    const of = await registered([paying(address)]);
    const headers = { 'X-Request-Id': `refused-${randomUUID()}` };
    await must(200, post('/movements', movementBody(of), { ...headers, 'Dry-Run': 'true' }));
    expect(await auditOfRequest(headers['X-Request-Id'])).toEqual([]);
    expect((await post('/movements', movementBody(of), headers)).status).toBe(422);
    expect(await auditOfRequest(headers['X-Request-Id'])).toEqual([
      expect.objectContaining({
        action: 'movement.create',
        outcome: 'denied',
        reason: 'address_not_allowlisted',
        entity_key: `${of.template_key}@1`,
        details: expect.objectContaining({ node_key: 'pay', address, chain_id: CHAIN }),
      }),
    ]);
  });

  test('that pays one on the list is made, in whatever case it is written', async () => {
    const address = freshAddress();
    await allowed(address, { chain_id: CHAIN });
    for (const written of [
      address,
      `0x${address.slice(2).toUpperCase()}`,
      getAddress(address as `0x${string}`),
    ]) {
      expect((await attempt(await registered([paying(written)]))).status).toBe(201);
    }
  });

  test.each<[string, unknown]>([
    ['short', '0x1234'],
    ['zero', `0x${'0'.repeat(40)}`],
    ['reserved', `0x${'0'.repeat(38)}ff`],
    ['not a checksum', '0x90f79bf6EB2c4f870365E785982E1f101E93b906'],
    ['with more before it', ` ${shared.chain.accounts.treasury.address}`],
    ['of another kind', 'alice.eth'],
  ])('whose address is %s is refused', async (_name, address) => {
    refusedAt(await attempt(await registered([paying(address)])), address as string, {
      problem: expect.any(String),
    });
  });

  test('is refused for another chain, another family and a revoked row', async () => {
    const [other, exchange, gone, cooling] = [
      freshAddress(),
      freshAddress(),
      freshAddress(),
      freshAddress(),
    ];
    await allowed(other, { chain_id: CHAIN + 1 });
    await allowed(exchange, { chain_family: 'cex' });
    await revoked(await allowed(gone));
    for (const address of [other, exchange, gone])
      refusedAt(await attempt(await registered([paying(address)])), address);
    // The cooling period is checked when the address is paid.
    await cools('evm', cooling);
    expect((await attempt(await registered([paying(cooling)]))).status).toBe(201);
  });

  test('finds an address wherever it is hidden', async () => {
    const plain = await registered([transfer('pay')]);
    const bare = await registered([{ ...transfer('pay'), config: { chain_id: CHAIN } }]);
    const address = freshAddress();
    const intent = { asset: 'USDC', amount: '1', destination_address: address };
    refusedAt(await attempt(plain, { intent }), address);
    refusedAt(await attempt(plain, { intent: { ...intent, chain_id: 5 } }), address, {
      chain_id: 5,
    });
    refusedAt(
      await attempt(bare, { input_params: { node_config: { destination_address: address } } }),
      address,
    );
    refusedAt(await attempt(plain, { input_params: { deep: [{ payee: { address } }] } }), address);
    const nested = await registered([
      withConfig(transfer('pay'), { extra: { payees: [address] } }),
    ]);
    refusedAt(await attempt(nested), address);
    // The template's own value wins, so the parameters neither hide a payee nor pay one.
    expect(
      (await attempt(plain, { input_params: { node_config: { destination_address: address } } }))
        .status,
    ).toBe(201);
  });

  test('asks for compensations too, and tells every address', async () => {
    const [one, two] = [freshAddress(), freshAddress()];
    const of = await registered(
      [paying(one), { ...paying(two), node_key: 'undo', node_kind: 'compensation' }],
      {
        edges: [{ from: 'pay', to: 'undo', edge_type: 'on_failure' }],
      },
    );
    const { detail } = (await attempt(of)).body as {
      detail: { addresses: readonly { address: string }[] };
    };
    expect(detail.addresses.map(({ address }) => address)).toEqual([one, two]);
  });

  test('of exchanges alone asks for nothing', async () => {
    expect((await attempt(await registered([withdrawing(freshAddress())]))).status).toBe(201);
  });

  test('that is a preview tells the same, and what exchanges would be refused', async () => {
    const [chain, exchange] = [freshAddress(), freshAddress()];
    const id = await cools('cex', exchange);
    const of = await registered([withdrawing(exchange), paying(chain)]);
    const preview = await must(
      200,
      post<Record<string, unknown>>('/movements', movementBody(of), { 'dry-run': 'true' }),
    );
    const [row] = await sql<{ at: Date }>(
      'SELECT usable_after AS at FROM allowed_addresses WHERE id = $1',
      [id],
    );
    expect(preview).toMatchObject({
      would_create: false,
      compiled_plan_hash: expect.any(String),
      allowlist: [
        {
          node_key: 'out',
          address: exchange,
          chain_id: null,
          allowed: true,
          usable_after: row?.at.toISOString(),
        },
        { node_key: 'pay', address: chain, chain_id: CHAIN, allowed: false, usable_after: null },
      ],
      blocking_reasons: [{ error: 'address_not_allowlisted', node_key: 'pay', address: chain }],
    });
  });
});

describe('a node', () => {
  test('that withdraws to an unlisted address fails before any call of its exchange', async () => {
    const movement = await run(await registered([withdrawing(freshAddress())]), 'FAILED');
    expect(movement.error_code).toBe('ADDRESS_NOT_ALLOWLISTED');
  });
  test('that withdraws to an address of the other family alone fails as well', async () => {
    const address = freshAddress();
    await allowed(address);
    expect((await run(await registered([withdrawing(address)]), 'FAILED')).error_code).toBe(
      'ADDRESS_NOT_ALLOWLISTED',
    );
  });
  test('that withdraws to one on the list completes', async () => {
    const address = freshAddress();
    await allowed(address, { chain_family: 'cex' });
    await run(await registered([withdrawing(getAddress(address as `0x${string}`))]), 'COMPLETED');
  });

  test.each(['evm', 'cex'] as const)(
    'whose row (%s) is revoked after the approval sends nothing',
    async (chain_family) => {
      const address = freshAddress();
      const row = await allowed(address, { chain_family });
      const node = chain_family === 'evm' ? paying(address) : withdrawing(address);
      // What is to be approved must be there.
      if (chain_family === 'evm') await run(await registered([withdrawal('fund')]), 'COMPLETED');
      const movement = await create(await registered([gate('check'), node]));
      await approve(movement);
      await reaches(movement.movement_id, 'WAITING_MANUAL_ACTION');
      await revoked(row);
      await must(200, act(movement.movement_id, 'resume'));
      const failed = await reaches(movement.movement_id, 'FAILED');
      expect(codeOf(failed, node.node_key)).toBe('ADDRESS_NOT_ALLOWLISTED');
      expect(
        await sql('SELECT 1 FROM node_attempts WHERE movement_id = $1 AND node_key = $2', [
          movement.movement_id,
          node.node_key,
        ]),
      ).toEqual([]);
    },
  );

  test('whose row cools fails, and completes at a retry once it has cooled', async () => {
    const address = freshAddress();
    const id = await cools('cex', address);
    const failed = await run(await registered([withdrawing(address)]), 'FAILED');
    expect(failed.error_code).toBe('ADDRESS_IN_COOLING_PERIOD');
    await sql('UPDATE allowed_addresses SET usable_after = svc_now() WHERE id = $1', [id]);
    await must(200, act(failed.movement_id, 'retry'));
    await reaches(failed.movement_id, 'COMPLETED');
  });

  test('whose row was revoked and put back has to wait for it to cool once more', async () => {
    const address = freshAddress();
    const id = await cools('cex', address);
    await sql(
      "UPDATE allowed_addresses SET usable_after = svc_now() - interval '1 day' WHERE id = $1",
      [id],
    );
    for (const verb of ['revoke', 'reactivate']) {
      const { status } = await tool(['allowlist', verb, '--id', id, '--reason', 'x'], COOLING);
      expect(status).toBe(0);
    }
    expect((await run(await registered([withdrawing(address)]), 'FAILED')).error_code).toBe(
      'ADDRESS_IN_COOLING_PERIOD',
    );
  });

  test('whose row cools at the approval and has cooled at the send completes', async () => {
    const address = freshAddress();
    const id = await cools('cex', address);
    await sql(
      "UPDATE allowed_addresses SET usable_after = svc_now() + interval '3 seconds' WHERE id = $1",
      [id],
    );
    const movement = await create(await registered([gate('check'), withdrawing(address)]));
    await approve(movement);
    await reaches(movement.movement_id, 'WAITING_MANUAL_ACTION');
    await waitFor(
      async () =>
        (
          await sql('SELECT 1 FROM allowed_addresses WHERE id = $1 AND usable_after < svc_now()', [
            id,
          ])
        ).length > 0,
    );
    await must(200, act(movement.movement_id, 'resume'));
    await reaches(movement.movement_id, 'COMPLETED');
  });
});
