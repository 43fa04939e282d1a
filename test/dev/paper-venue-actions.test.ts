/**
 * Internal transfers, observed deposits and the address book of the paper venue, over the executor
 * protocol.
 */
import type { ExecutionContext } from '../../domain/executor.ts';
import { contextOf } from '../executors/fake-server.ts';
import {
  call,
  eventually,
  journal,
  PAYEE,
  settled,
  startChain,
  startVenueHere,
  submit,
  tempFolder,
  withdrawal,
  type Chain,
  type VenueClient,
} from './paper-venue-stack.ts';

const folder = tempFolder();
let chain: Chain;
let venue: VenueClient & { end(): Promise<void> };
const restart = async (): Promise<void> => {
  await venue.end();
  venue = await startVenueHere(folder.path, chain.settings);
};

beforeAll(async () => {
  chain = await startChain();
  venue = await startVenueHere(folder.path, chain.settings);
});
afterEach(async () => {
  await venue.faults(null);
});
afterAll(async () => {
  await venue.end();
  await chain.stop();
  folder.remove();
});

const pool = async (account: string, account_type = 'SPOT', asset = 'USDC'): Promise<number> => {
  const { balances } = (await venue.get(`/accounts/${account}/balances`)) as {
    balances: { account_type: string; asset: string; available: string }[];
  };
  return Number(
    balances.find((one) => one.account_type === account_type && one.asset === asset)?.available,
  );
};

describe('cex_internal_transfer', () => {
  const config = {
    venue: 'paper-main',
    destination_venue: 'paper-sub-a',
    destination_account_type: 'usdt_future',
    asset: 'USDC',
  };
  const transfer = (key: string, changes: Partial<ExecutionContext> = {}) =>
    contextOf({ idempotency_key: key, action_type: 'cex_internal_transfer', config, ...changes });

  test('moves the amount at once, whole, and once for its key', async () => {
    const before = [await pool('paper-main'), await pool('paper-sub-a', 'USDT_FUTURE')] as const;
    const context = transfer('move:1', { amount: '40.50' });
    expect(await venue.executor.preflight(context, call())).toBeNull();
    const accepted = await submit(venue, context);
    expect(accepted).toEqual({
      next_state: 'SUBMITTED',
      external_ref: expect.stringMatching(/^paper-/),
    });
    expect(await submit(venue, context)).toEqual(accepted);
    expect(await settled(venue, context)).toEqual({
      next_state: 'COMPLETED',
      assurance: 'destination_finalized',
      external_ref: accepted.external_ref,
      output: {
        requested_amount: '40.5',
        submitted_amount: '40.5',
        fee_amount: '0',
        fee_asset: 'USDC',
        received_amount: '40.5',
      },
    });
    expect(await venue.executor.recover(context, call(), journal)).toMatchObject({
      next_state: 'COMPLETED',
    });
    expect([await pool('paper-main'), await pool('paper-sub-a', 'USDT_FUTURE')]).toEqual([
      before[0] - 40.5,
      before[1] + 40.5,
    ]);
    expect(await venue.entry('move:1')).toMatchObject({
      effects: 1,
      submit_calls: 2,
      state: 'completed',
      account: 'paper-main',
    });
  });

  test('takes SPOT where no pool is named', async () => {
    const before = await pool('paper-sub-b');
    const context = transfer('move:2', {
      config: { venue: 'paper-sub-b', destination_venue: 'paper-main' },
    });
    await submit(venue, context);
    expect(await pool('paper-sub-b')).toBe(before - 100);
  });

  test.each([
    ['CONFIG_INVALID', { config: { venue: 'paper-main' } }],
    ['CONFIG_INVALID', { config: { ...config, asset: 'USDT' } }],
    ['ACCOUNT_UNKNOWN', { config: { ...config, destination_venue: 'unknown' } }],
    ['ACCOUNT_TYPE_NOT_SUPPORTED', { config: { ...config, account_type: 'FUND' } }],
    ['TOPOLOGY_NOT_SUPPORTED', { config: { ...config, venue: 'paper-sub-b' } }],
    ['TOPOLOGY_NOT_SUPPORTED', { config: { ...config, account_type: 'USDT_FUTURE' } }],
    ['ASSET_NOT_SUPPORTED', { config: { ...config, asset: undefined }, asset: 'BTC' }],
    ['AMOUNT_PRECISION', { amount: '0.0000001' }],
    ['AMOUNT_INVALID', { amount: '0' }],
    ['INSUFFICIENT_BALANCE', { amount: '9999999' }],
  ])('is refused with %s: %j', async (code, changes) => {
    const answer = await venue.executor.preflight(
      transfer('move:3', changes as Partial<ExecutionContext>),
      call(),
    );
    expect(answer).toMatchObject({ next_state: 'FAILED', error_code: code });
  });
});

describe('cex_deposit_observe', () => {
  const observe = (txHash: string | undefined, changes: Partial<ExecutionContext> = {}) =>
    contextOf({
      idempotency_key: 'observe:1',
      action_type: 'cex_deposit_observe',
      config: { venue: 'paper-sub-a', match_from: 'send' },
      matched: {
        node_key: 'send',
        ...(txHash === undefined ? {} : { output: { tx_hash: txHash } }),
      },
      ...changes,
    });
  const look = (context: ExecutionContext) => venue.executor.observe(context, call(), journal);
  const addressOf = async (account: string) =>
    ((await venue.get(`/accounts/${account}/deposit-address`)) as { address: string }).address;
  /** Sends by a withdrawal of another account; answers the hash. */
  const send = async (
    key: string,
    to: string,
    changes: Partial<ExecutionContext> = {},
  ): Promise<string> => {
    const config = { venue: 'paper-main', network: 'local', destination_address: to };
    const context = withdrawal(key, { amount: '20', config, ...changes });
    await submit(venue, context);
    return String((await settled(venue, context)).output?.['tx_hash']);
  };

  test('completes when what the other node sent is credited, which happens once', async () => {
    const [before, to] = [await pool('paper-sub-a'), await addressOf('paper-sub-a')];
    const hash = await send('send:1', to);
    const context = observe(hash);
    expect(await venue.executor.preflight(context, call())).toBeNull();
    const done = await look(context);
    expect(done).toEqual({
      next_state: 'COMPLETED',
      assurance: 'destination_credited',
      external_ref: expect.stringContaining(hash),
      output: {
        tx_hash: hash,
        requested_amount: '100',
        submitted_amount: '20',
        fee_amount: '0',
        fee_asset: 'USDC',
        received_amount: '20',
        destination_address: to,
        account: 'paper-sub-a',
        account_type: 'SPOT',
      },
    });
    expect(await pool('paper-sub-a')).toBe(before + 20);
    await restart();
    expect(await look(context)).toEqual(done);
    expect(await venue.executor.recover(context, call(), journal)).toEqual(done);
    expect(await pool('paper-sub-a')).toBe(before + 20);
    const { entries } = (await venue.get('/deposits')) as { entries: { tx_hash: string }[] };
    expect(entries.filter(({ tx_hash }) => tx_hash === hash)).toMatchObject([
      { account: 'paper-sub-a', asset: 'USDC', amount: '20' },
    ]);
  });

  test('credits what really arrived, after the fee of the withdrawal', async () => {
    const hash = await send('send:2', await addressOf('paper-sub-a'), { asset: 'USDT' });
    expect(await look(observe(hash, { asset: 'USDT' }))).toMatchObject({
      output: { received_amount: '18.5', fee_asset: 'USDT' },
    });
  });

  test('credits by itself, also when no caller observes', async () => {
    const before = await pool('paper-sub-b');
    await send('send:3', await addressOf('paper-sub-b'));
    await eventually(async () => (await pool('paper-sub-b')) === before + 20 || null);
  });

  test('waits while the other node has recorded nothing, and takes its reference for want of a hash', async () => {
    expect(await look(observe(undefined))).toEqual({
      next_state: 'OBSERVING',
      retry_after_seconds: 0.5,
    });
    const hash = await send('send:4', await addressOf('paper-sub-a'));
    const matched = { node_key: 'send', external_ref: hash, output: {} };
    expect(await look(observe(undefined, { matched }))).toMatchObject({ next_state: 'COMPLETED' });
    expect(
      await look(observe(undefined, { matched: { node_key: 'send', output: {} } })),
    ).toMatchObject({
      next_state: 'FAILED',
      error_code: 'MATCH_WITHOUT_TRANSACTION',
    });
  });

  test('waits for the block, and for its finality when required', async () => {
    expect(await look(observe(`0x${'1'.repeat(64)}`))).toMatchObject({ next_state: 'OBSERVING' });
    const hash = await send('send:5', await addressOf('paper-sub-a'));
    const context = observe(hash, { completion_assurance: 'destination_finalized' });
    expect(await look(context)).toMatchObject({ next_state: 'OBSERVING' });
    await chain.client.mine({ blocks: 4 });
    expect(await look(context)).toMatchObject({ next_state: 'COMPLETED' });
  });

  test('fails when the transaction is final and brings this account nothing', async () => {
    const hash = await send('send:6', PAYEE);
    expect(await look(observe(hash))).toMatchObject({ next_state: 'OBSERVING' });
    await chain.client.mine({ blocks: 4 });
    expect(await look(observe(hash))).toMatchObject({
      next_state: 'FAILED',
      error_code: 'DEPOSIT_NOT_IN_TRANSACTION',
    });
    const other = await send('send:7', await addressOf('paper-sub-b'));
    await chain.client.mine({ blocks: 4 });
    expect(await look(observe(other))).toMatchObject({ error_code: 'DEPOSIT_NOT_IN_TRANSACTION' });
    expect(
      await look(observe(other, { config: { venue: 'paper-sub-b', match_from: 'send' } })),
    ).toMatchObject({ next_state: 'COMPLETED' });
  });

  test.each([
    ['CONFIG_INVALID', { config: { venue: 'paper-sub-a' } }],
    ['CONFIG_INVALID', { config: { venue: 'paper-sub-a', match_from: 'send', asset: 'USDT' } }],
    ['ACCOUNT_UNKNOWN', { config: { venue: 'unknown', match_from: 'send' } }],
    ['ASSET_NOT_SUPPORTED', { asset: 'BTC' }],
    ['MATCH_UNKNOWN', { matched: { node_key: 'other' } }],
    ['MATCH_UNKNOWN', { config: { venue: 'paper-sub-a', match_from: 'what' } }],
  ])('is refused with %s: %j', async (code, changes) => {
    const context = observe(`0x${'1'.repeat(64)}`, changes as Partial<ExecutionContext>);
    expect(await venue.executor.preflight(context, call())).toMatchObject({
      next_state: 'FAILED',
      error_code: code,
    });
  });

  test('sends nothing', async () => {
    const context = observe(undefined);
    expect(await venue.executor.prepare(context, call())).toMatchObject({
      error_code: 'ACTION_NOT_SUPPORTED',
    });
    expect(
      await venue.executor.submit({ context, prepared_action: {}, journal }, call()),
    ).toMatchObject({
      error_code: 'ACTION_NOT_SUPPORTED',
    });
    expect(await venue.executor.cancel(context, call())).toEqual({ next_state: 'OBSERVING' });
    expect(await venue.get('/accounts/unknown/deposit-address')).toMatchObject({
      detail: { error: 'ACCOUNT_UNKNOWN' },
    });
  });
});

describe('the address book', () => {
  const put = (enabled: boolean, ...entries: object[]) =>
    venue.send('PUT', '/address-book', { enabled, entries });
  const entry = (changes: object = {}) => ({
    asset: 'usdc',
    network: 'ERC20',
    address: PAYEE.toLowerCase(),
    ...changes,
  });
  afterEach(async () => {
    await put(false);
  });

  test('is empty and off at first, and a put replaces it', async () => {
    const fresh = tempFolder();
    const other = await startVenueHere(fresh.path, chain.settings);
    expect(await other.get('/address-book')).toEqual({ enabled: false, entries: [] });
    await other.end();
    fresh.remove();
    const book = {
      enabled: true,
      entries: [{ asset: 'USDC', network: 'erc20', address: PAYEE }],
    };
    expect(await put(true, entry())).toEqual({ status: 200, body: book });
    expect(await venue.get('/address-book')).toEqual(book);
    await put(true, entry({ asset: null }));
    expect(await venue.get('/address-book')).toMatchObject({ entries: [{ asset: null }] });
  });

  test('lets withdrawals go to its addresses only, of the master and of its sub-accounts', async () => {
    const of = (key: string, account: string, asset = 'USDC') =>
      withdrawal(key, {
        asset,
        amount: '5',
        config: { venue: account, network: 'local', destination_address: PAYEE },
      });
    const barred = { next_state: 'FAILED', error_code: 'ADDRESS_NOT_WHITELISTED' };
    await put(true, entry({ address: chain.wallet }));
    for (const account of ['paper-main', 'paper-sub-a']) {
      expect(await venue.executor.preflight(of('book:1', account), call())).toMatchObject(barred);
    }
    await put(true, entry());
    for (const account of ['paper-main', 'paper-sub-a']) {
      expect(await venue.executor.preflight(of('book:1', account), call())).toBeNull();
    }
    expect(
      await venue.executor.preflight(of('book:1', 'paper-main', 'USDT'), call()),
    ).toMatchObject(barred);
    await put(true, entry({ asset: null }));
    expect(await venue.executor.preflight(of('book:1', 'paper-main', 'USDT'), call())).toBeNull();
    await put(false);
    expect(await venue.executor.preflight(of('book:1', 'paper-main'), call())).toBeNull();
  });

  test('is checked again at submit, and what it refused stays refused', async () => {
    const context = withdrawal('book:2', { amount: '5' });
    const { prepared_action = {} } = await venue.executor.prepare(context, call());
    await put(true);
    const barred = { next_state: 'FAILED', error_code: 'ADDRESS_NOT_WHITELISTED' };
    expect(
      await venue.executor.submit({ context, prepared_action, journal }, call()),
    ).toMatchObject(barred);
    await put(false);
    expect(await submit(venue, context)).toMatchObject(barred);
    expect(await venue.entry('book:2')).toMatchObject({ effects: 0, state: 'refused' });
  });

  test('survives a restart', async () => {
    await put(true, entry());
    await restart();
    expect(await venue.get('/address-book')).toMatchObject({
      enabled: true,
      entries: [{ address: PAYEE }],
    });
  });

  test.each([
    [{ address: '0x12' }, 'INVALID_REQUEST'],
    [{ network: 'solana' }, 'NETWORK_NOT_SUPPORTED'],
    [{ label: 'x' }, 'INVALID_REQUEST'],
  ])('refuses %j', async (changes, error) => {
    const before = await venue.get('/address-book');
    expect(await put(true, entry(changes))).toMatchObject({
      status: 422,
      body: { detail: { error } },
    });
    expect(await venue.get('/address-book')).toEqual(before);
  });
});
