/**
 * A person completes a node with what has completed it, which is read where it happened: on a real
 * chain, and at an exchange by the worker that has its keys.
 */
import { pino } from 'pino';
import { parseUnits, type Address } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { startLooks } from '../../activities/relays/looks.ts';
import { createApi } from '../../api/app.ts';
import { movementRoutes } from '../../api/movements/routes.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { TemplateNode } from '../../domain/plan/types.ts';
import { NO_BALANCES } from '../../platform/balance-desk.ts';
import { claimReaders, createLooks } from '../../service/looks.ts';
import { readPhase } from '../../store/phases.ts';
import { createDepositReader } from '../../venues/cex/named-deposits.ts';
import { createPaymentReader } from '../../venues/evm/named-payments.ts';
import { dependencies, post, serve, type Served } from '../api/support.ts';
import { started } from '../support/started.ts';
import { freshBooks, openDesk } from '../venues/cex/support/desk.ts';
import { madeDeposit } from '../venues/cex/support/made.ts';
import { asTheyAre, CHAIN_ID, startChain } from '../venues/evm/support/chain.ts';
import { chainsOf } from '../venues/evm/support/node.ts';
import { payToken } from '../venues/evm/support/pay-token.ts';
import { storeBench } from './support.ts';

const bench = storeBench();
const chain = started(() => startChain());
const exchange = started(() => openDesk());
let payer: string;
/** The API of a process without keys. */
let api: Served;
beforeAll(async () => {
  payer = (await chain.account({ tokens: '1000' })).key;
  api = await serving(chain.url);
});
afterAll(async () => {
  await api?.close();
});

/** An API whose chain has this endpoint. */
const serving = (url: string): Promise<Served> => {
  const readers = [
    createPaymentReader(chainsOf({ url })),
    createDepositReader(exchange.sharedAccounts()),
  ];
  const claims = claimReaders(readers, createLooks(bench.db));
  return serve(createApi({ ...dependencies(), db: bench.db, claims }, movementRoutes));
};

const SOURCE = `evm:${String(CHAIN_ID)}`;
const newAddress = (): Address => privateKeyToAccount(generatePrivateKey()).address;

/** A movement whose only node is observed for longer than usual; it has recorded this. */
async function waits(action_type: string, config: JsonObject, recorded: JsonObject = {}) {
  const look: TemplateNode = {
    node_key: 'look',
    node_kind: 'observe',
    action_type,
    has_side_effect: false,
    config,
  };
  const { movement_id } = await bench.movement({
    amount: '5',
    shape: { nodes: [look], edges: [] },
  });
  await bench.approve(movement_id);
  await bench.sql(
    `UPDATE movements SET request_state = 'EXECUTING', approval_status = 'approved'
      WHERE movement_id = $1::uuid`,
    movement_id,
  );
  await bench.sql(
    `UPDATE movement_nodes SET state = 'OBSERVING', amount = 5, output = $2::jsonb,
        submitted_at = svc_now() - interval '1 day' WHERE movement_id = $1::uuid`,
    movement_id,
    JSON.stringify(recorded),
  );
  return movement_id;
}
const waitsForToken = (address: Address): Promise<string> =>
  waits('evm_balance_observe', {
    ...{ chain_id: CHAIN_ID, token_address: chain.token, address, min_increase: '1' },
  });

/** What a person is answered who names this. */
async function names(movement_id: string, output: JsonObject | undefined, url = api.url) {
  const { status, body } = await post(
    `${url}/v3/movements/${movement_id}/nodes/look/actions/resolve`,
    {
      outcome: 'completed',
      reason: 'the sender said so',
      evidence: { by: 'me' },
      ...(output === undefined ? {} : { output }),
    },
  );
  return status === 200 ? 200 : { status, ...body.detail };
}
const nodeOf = async (movement_id: string) => readPhase(bench.db, movement_id, 'look');
async function isUntouched(movement_id: string): Promise<void> {
  expect((await nodeOf(movement_id))?.state).toBe('OBSERVING');
  expect(
    await bench.sql('SELECT 1 FROM payment_claims WHERE movement_id = $1::uuid', movement_id),
  ).toEqual([]);
}
const unproven = (reason: string, found?: object) =>
  expect.objectContaining({
    ...{ status: 409, error: 'claim_not_proven', reason },
    ...(found === undefined ? {} : { found }),
  }) as object;

const paymentOf = (reference: string, amount: string, total = amount): JsonObject => ({
  payments: [{ source: SOURCE, reference, amount, total }],
});
/** Paid to the address, and final. */
async function paid(to: Address, tokens: string): Promise<string> {
  const hash = await payToken(chain, payer, { to, tokens });
  await chain.finalize();
  return hash;
}

describe('a payment of a token', () => {
  test('that the chain shows completes the node with what it paid', async () => {
    const address = newAddress();
    const id = await waitsForToken(address);
    const hash = await paid(address, '7');
    expect(await names(id, paymentOf(`${hash}#0`, '5', '7'))).toBe(200);
    expect(await nodeOf(id)).toMatchObject({
      state: 'COMPLETED',
      output: { received_amount: '5', ...paymentOf(`${hash}#0`, '5', '7') },
    });
    // Of the rest another node may have no more than there is.
    const other = await waitsForToken(address);
    expect(await names(other, paymentOf(`${hash}#0`, '5', '7'))).toMatchObject({
      ...{ status: 409, error: 'already_claimed' },
      claimed_by: { movement_id: id, node_key: 'look' },
    });
    expect(await names(other, paymentOf(`${hash}#0`, '2', '7'))).toBe(200);
  });

  test('has to be named, and each once', async () => {
    const address = newAddress();
    const id = await waitsForToken(address);
    const hash = await paid(address, '5');
    for (const output of [undefined, {}, { received_amount: '5' }, { payments: [] }])
      expect(await names(id, output)).toMatchObject({
        ...{ status: 422, error: 'claim_missing', missing: ['output.payments'] },
      });
    const [payment = {}] = paymentOf(`${hash}#0`, '5')['payments'] as readonly JsonObject[];
    expect(await names(id, { payments: [payment, payment] })).toEqual(unproven('differs'));
    await isUntouched(id);
  });

  test('of which a person says more than the chain shows completes nothing', async () => {
    const address = newAddress();
    const id = await waitsForToken(address);
    const hash = await paid(address, '4');
    const reference = `${hash}#0`;
    expect(await names(id, paymentOf(reference, '5'))).toEqual(
      unproven('differs', paymentOf(reference, '5', '4')),
    );
    expect(await names(id, { ...paymentOf(reference, '4'), received_amount: '5' })).toEqual(
      unproven('differs', { received_amount: '4' }),
    );
    await isUntouched(id);
    expect(await names(id, { ...paymentOf(reference, '4'), received_amount: '4.0' })).toBe(200);
  });

  test('that went elsewhere, is nowhere, reverted, or is not final completes nothing', async () => {
    const address = newAddress();
    const id = await waitsForToken(address);
    const elsewhere = await paid(newAddress(), '5');
    expect(await names(id, paymentOf(`${elsewhere}#0`, '5'))).toEqual(
      unproven('differs', { references: [] }),
    );
    const nowhere = `0x${'ab'.repeat(32)}#0`;
    expect(await names(id, paymentOf(nowhere, '5'))).toEqual(unproven('not_found'));
    const early = await payToken(chain, payer, { to: address, tokens: '5' });
    expect(await names(id, paymentOf(`${early}#0`, '5'))).toEqual(unproven('not_final'));
    await isUntouched(id);
    await chain.finalize();
    expect(await names(id, paymentOf(`${early}#1`, '5'))).toEqual(
      unproven('differs', { references: [`${early}#0`] }),
    );
    chain.tellReceipts((receipt) => (receipt === null ? null : { ...receipt, status: '0x0' }));
    expect(await names(id, paymentOf(`${early}#0`, '5'))).toEqual(unproven('failed'));
    chain.tellReceipts(asTheyAre);
    const source = { source: 'evm:1', reference: `${early}#0`, amount: '5', total: '5' };
    expect(await names(id, { payments: [source] })).toEqual(
      unproven('differs', { source: SOURCE }),
    );
    await isUntouched(id);
    expect(await names(id, paymentOf(`${early}#0`, '5'))).toBe(200);
  });

  test('is not believed where its chain cannot be read; the node may still be abandoned', async () => {
    const away = await serving('http://127.0.0.1:9');
    const address = newAddress();
    const id = await waitsForToken(address);
    const named = paymentOf(`${await paid(address, '5')}#0`, '5');
    const gone = await waits('evm_balance_observe', {
      ...{ chain_id: 4_242, address, min_increase: '1' },
    });
    try {
      expect(await names(id, named, away.url)).toMatchObject({
        ...{ status: 503, error: 'venue_unavailable' },
        message: expect.stringContaining('abandoned'),
      });
      expect(await names(gone, named)).toMatchObject({
        ...{ status: 503, error: 'venue_unavailable', reason: 'CHAIN_NOT_CONFIGURED' },
      });
    } finally {
      await away.close();
    }
    await isUntouched(id);
    const { status } = await post(`${api.url}/v3/movements/${gone}/nodes/look/actions/resolve`, {
      ...{ outcome: 'abandoned', reason: 'its chain is gone', evidence: { by: 'me' } },
    });
    expect(status).toBe(200);
  });
});

test('of the coin of a chain the rise of the balance between two final blocks counts', async () => {
  const address = newAddress();
  const set = async (eth: string): Promise<string> => {
    await chain.client.setBalance({ address, value: parseUnits(eth, 18) });
    // Anvil keeps the state of a block once the next one is mined.
    await chain.client.mine({ blocks: 2 });
    return ((await chain.client.getBlockNumber()) - 1n).toString();
  };
  const since = await set('3');
  const until = await set('8');
  const id = await waits(
    'evm_balance_observe',
    { chain_id: CHAIN_ID, address, min_increase: '1' },
    { baseline_block: since, baseline_amount: '3' },
  );
  const risen = (more: JsonObject): JsonObject => ({
    payments: [
      {
        ...{ source: `${SOURCE}:coin`, reference: address.toLowerCase() },
        ...{ amount: '5', total: '5', since, until },
        ...more,
      },
    ],
  });
  expect(await names(id, risen({}))).toEqual(unproven('not_final'));
  await chain.finalize();
  // What was there before the node waited for it is no payment to it.
  expect(await names(id, risen({ since: '0', total: '8' }))).toEqual(unproven('differs'));
  expect(await names(id, risen({ total: '6' }))).toEqual(
    unproven('differs', risen({ total: '5' })),
  );
  await isUntouched(id);
  expect(await names(id, risen({}))).toBe(200);
  expect((await nodeOf(id))?.output).toMatchObject({ received_amount: '5' });
});

describe('a deposit at an exchange', () => {
  const HASH = `0x${'c4'.repeat(32)}`;
  const deposit = (id: string, amount: string, total = amount): JsonObject => ({
    payments: [{ source: 'cex:cex-main', reference: id, amount, total }],
    tx_hash: HASH,
  });
  const waitsAt = (venue = 'cex-main') =>
    waits('cex_deposit_observe', { venue, match_from: 'elsewhere' });
  /** The loop of a worker that has the keys. */
  const working = async <T>(work: () => Promise<T>): Promise<T> => {
    const loop = startLooks({
      ...{ db: bench.db, log: pino({ level: 'silent' }), desk: NO_BALANCES, pauseMs: 50 },
      signers: { list: () => [], get: () => undefined },
      claims: [createDepositReader(exchange.sharedAccounts())],
    });
    try {
      return await work();
    } finally {
      await loop.stop();
    }
  };
  beforeEach(() => {
    freshBooks(exchange);
    for (const [id, amount] of [
      ['701', '5'],
      ['702', '5'],
    ] as const)
      exchange.exchange.books.deposits.push(madeDeposit({ id, amount, tx: HASH }));
  });

  test('is read by the worker that has its keys, record by record', async () => {
    const [one, other] = [await waitsAt(), await waitsAt()];
    await working(async () => {
      expect(await names(one, deposit('703', '5'))).toEqual(
        unproven('not_found', { references: ['701', '702'] }),
      );
      expect(await names(one, deposit('701', '6'))).toEqual(
        unproven('differs', expect.objectContaining({ payments: expect.any(Array) }) as object),
      );
      await isUntouched(one);
      expect(await names(one, deposit('701', '5'))).toBe(200);
      expect(await names(other, deposit('701', '5'))).toMatchObject({ error: 'already_claimed' });
      expect(await names(other, deposit('702', '5'))).toBe(200);
    });
    expect((await nodeOf(one))?.output).toMatchObject({ received_amount: '5', tx_hash: HASH });
  });

  test('of which nothing is named completes nothing', async () => {
    const id = await waitsAt();
    for (const output of [undefined, { received_amount: '5' }])
      expect(await names(id, output)).toMatchObject({
        ...{ status: 422, error: 'claim_missing', missing: ['output.payments'] },
      });
    await isUntouched(id);
  });

  test('is not believed while no worker has its keys, or where its account is not bound', async () => {
    const [id, gone] = [await waitsAt(), await waitsAt('another')];
    expect(await names(id, deposit('701', '5'))).toMatchObject({
      ...{ status: 503, error: 'venue_unavailable' },
    });
    expect(await names(gone, deposit('701', '5'))).toMatchObject({
      ...{ status: 503, error: 'venue_unavailable', reason: 'VENUE_NOT_BOUND' },
    });
    await isUntouched(id);
  }, 60_000);
});
