/**
 * What movements hold in a pool, through HTTP: what may still be sent, and what was sent until a
 * snapshot shows it.
 */
import {
  alone,
  approve,
  act,
  approval,
  create,
  detail,
  edge,
  expectRefusal,
  gate,
  get,
  must,
  noop,
  reaches,
  registered,
  shared,
  sql,
  transfer,
  waitFor,
  withdrawal,
  type CreatedView,
} from '../support/http.ts';
import { subtract } from '../../domain/money.ts';
import { PURSE, PURSE_SIGNER } from '../support/shared-stack-facts.ts';
import { tool } from '../support/tool.ts';

alone('USDT of the paper venue');

interface PoolView {
  readonly withdrawable: string;
  readonly svc_pending_outflow: string;
}

const VENUE = 'paper-main';
const spend = (key: string, amount: string) =>
  withdrawal(key, {
    config: {
      venue: VENUE,
      asset: 'USDT',
      network: 'local',
      destination_address: shared.chain.accounts.treasury.address,
      amount,
    },
  });
const undone = noop('undone', { node_kind: 'compensation' });
const usdt = { intent: { asset: 'USDT', amount: '1' } };

async function pool(account_type = 'SPOT'): Promise<PoolView> {
  const { balances } = await must(
    200,
    get<{ balances: PoolView[] }>(
      `/balances?venue_key=${VENUE}&asset=USDT&account_type=${account_type}&fresh=true`,
    ),
  );
  return balances[0] ?? { withdrawable: '0', svc_pending_outflow: '0' };
}

/**
 * Once a fetch that began after the node's end shows that so much less is there, only `pending` is
 * held.
 */
const less = (before: PoolView, amount: string, pending: string): Promise<PoolView> =>
  waitFor(async () => {
    const now = await pool();
    return subtract(before.withdrawable, now.withdrawable) === amount &&
      now.svc_pending_outflow === pending
      ? now
      : null;
  });

async function approved(
  nodes: Parameters<typeof registered>[0],
  more: object,
  params: object = {},
): Promise<CreatedView> {
  const movement = await create(await registered(nodes, { ...more }), { ...usdt, ...params });
  await approve(movement);
  return movement;
}

async function verified(): Promise<void> {
  const { ok, first_faults } = JSON.parse((await tool(['reservations', 'verify'])).out) as {
    readonly ok: boolean;
    readonly first_faults: readonly unknown[];
  };
  expect({ ok, first_faults }).toEqual({ ok: true, first_faults: [] });
}

test('a gate after a withdrawal holds nothing for what a snapshot shows already, and a cancel leaves nothing behind', async () => {
  const before = await pool();
  const { movement_id } = await approved(
    [spend('out', '2000'), gate('check'), noop('then'), undone],
    {
      edges: [edge('out', 'check'), edge('check', 'then'), edge('out', 'undone', 'on_cancel')],
    },
  );
  await reaches(movement_id, 'WAITING_MANUAL_ACTION');
  await less(before, '2000', '0');
  await verified();
  await must(200, act(movement_id, 'cancel'));
  await reaches(movement_id, 'CANCELLED');
  expect(await pool()).toMatchObject({ svc_pending_outflow: '0' });
  await verified();
});

test('of a thousand, ten are paid and the rest is cancelled: nothing stays held', async () => {
  const before = await pool();
  const { movement_id } = await approved(
    [spend('ten', '10'), gate('check'), spend('rest', '990'), undone],
    {
      edges: [edge('ten', 'check'), edge('check', 'rest'), edge('ten', 'undone', 'on_cancel')],
    },
  );
  await reaches(movement_id, 'WAITING_MANUAL_ACTION');
  await less(before, '10', '990');
  expect(await must(200, act(movement_id, 'cancel'))).toMatchObject({ reservation_status: 'held' });
  await reaches(movement_id, 'CANCELLED');
  expect(await pool()).toMatchObject({ svc_pending_outflow: '0' });
  await verified();
});

test('of two ways that exclude each other the dearer one is held', async () => {
  const { movement_id } = await approved(
    [gate('check'), noop('try'), spend('good', '600000'), spend('bad', '600000.5'), undone],
    {
      edges: [
        edge('check', 'try'),
        edge('try', 'good'),
        edge('try', 'bad', 'on_failure'),
        edge('check', 'undone', 'on_cancel'),
      ],
    },
  );
  expect(await pool()).toMatchObject({ svc_pending_outflow: '600000.5' });
  await verified();
  await must(200, act(movement_id, 'cancel'));
  await reaches(movement_id, 'CANCELLED');
  expect(await pool()).toMatchObject({ svc_pending_outflow: '0' });
});

test('an account type of the caller does not move the hold to another pool than the exchange drains', async () => {
  const { movement_id } = await approved(
    [gate('check'), spend('out', '70'), undone],
    { edges: [edge('check', 'out'), edge('check', 'undone', 'on_cancel')] },
    { input_params: { node_config: { account_type: 'USDT_FUTURE' } } },
  );
  expect(await pool()).toMatchObject({ svc_pending_outflow: '70' });
  expect(await pool('USDT_FUTURE')).toMatchObject({ svc_pending_outflow: '0' });
  await must(200, act(movement_id, 'cancel'));
  await reaches(movement_id, 'CANCELLED');
});

test('what is drawn on a chain is held in the pool of the signer that pays it, until it has left it', async () => {
  const venue_key = `local-chain:${PURSE_SIGNER.signer_key}`;
  const { accounts, tokens, chainId } = shared.chain;
  const inWallet = async (): Promise<PoolView> => {
    const { balances } = await must(
      200,
      get<{ balances: PoolView[] }>(
        `/balances?venue_key=${encodeURIComponent(venue_key)}&asset=USDT&fresh=true`,
      ),
    );
    return balances[0] ?? { withdrawable: '0', svc_pending_outflow: '0' };
  };
  const lies = (withdrawable: string, svc_pending_outflow: string): Promise<PoolView> =>
    waitFor(async () => {
      const now = await inWallet();
      return now.withdrawable === withdrawable && now.svc_pending_outflow === svc_pending_outflow
        ? now
        : null;
    });
  const fund = withdrawal('fund', {
    config: {
      venue: VENUE,
      asset: 'USDT',
      network: 'local',
      destination_address: PURSE,
      amount: '51',
    },
  });
  const pays = (amount: string) =>
    transfer('pay', {
      signer_selector: { chain_family: 'evm', profile: PURSE_SIGNER.profile },
      config: {
        asset: 'USDT',
        amount,
        chain_id: chainId,
        token_address: tokens.USDT.address,
        destination_address: accounts.treasury.address,
      },
    });
  // No other test pays this account. The venue keeps 1 of a withdrawal.
  expect(await inWallet()).toMatchObject({ withdrawable: '0', svc_pending_outflow: '0' });
  await reaches((await approved([fund], {})).movement_id, 'COMPLETED');
  await lies('50', '0');
  const edges = [edge('check', 'pay'), edge('check', 'undone', 'on_cancel')];
  const first = await approved([gate('check'), pays('30'), undone], { edges });
  await lies('50', '30');
  await verified();
  const second = await create(
    await registered([gate('check'), pays('20.000001'), undone], { edges }),
    usdt,
  );
  expectRefusal(
    await act(second.movement_id, 'approve', approval(second)),
    409,
    'insufficient_effective_withdrawable',
    {
      reason: 'insufficient',
      venue_key,
      account_type: 'SPOT',
      asset: 'USDT',
      amount: '20.000001',
      effective_withdrawable: '20',
    },
  );
  await reaches(first.movement_id, 'WAITING_MANUAL_ACTION');
  await must(200, act(first.movement_id, 'resume'));
  await reaches(first.movement_id, 'COMPLETED');
  await lies('20', '0');
  await verified();
});

test('an approval that a restore may have lost can be repeated on an empty pool', async () => {
  const { withdrawable } = await pool();
  const created = await create(
    await registered([gate('check'), spend('pay', `${withdrawable.split('.')[0]}1`), undone], {
      edges: [edge('check', 'pay'), edge('check', 'undone', 'on_cancel')],
    }),
    usdt,
  );
  const { movement_id } = created;
  const again = () => act(movement_id, 'approve', approval(created));
  expect(await again()).toMatchObject({
    status: 409,
    body: { detail: { error: 'insufficient_effective_withdrawable' } },
  });
  // As after-restore leaves it (prisma/functions/restore.sql).
  await sql(
    `UPDATE movement_nodes SET recover_first = true, restored = true
      WHERE movement_id = '${movement_id}' AND node_key = 'pay'`,
  );
  await must(200, again());
  await reaches(movement_id, 'WAITING_MANUAL_ACTION');
  await must(200, act(movement_id, 'cancel'));
  const states = async (): Promise<string> =>
    JSON.stringify((await detail(movement_id)).nodes.map((node) => [node.node_key, node.state]));
  let last = '';
  await waitFor(
    async () => {
      last = await states();
      // It was not sent, and its venue has not as much either.
      return last.includes('["pay","FAILED"]');
    },
    { what: () => `another end than ${last}` },
  );
});
