import { parseUnits } from 'viem';
import {
  PAYEE,
  call,
  eventually,
  journal,
  settled,
  startChain,
  startVenueProcess,
  submit,
  tempFolder,
  withdrawal,
  type Chain,
  type VenueProcess,
} from './paper-venue-stack.ts';

const folder = tempFolder();
let chain: Chain;
let venue: VenueProcess;

beforeAll(async () => {
  chain = await startChain();
  venue = await startVenueProcess(folder.path, chain.settings);
});
afterEach(async () => {
  await venue.faults(null);
});
afterAll(async () => {
  await venue.end('SIGKILL');
  await chain.stop();
  folder.remove();
});

const balance = async (account: string, asset = 'USDC'): Promise<string | undefined> => {
  const answer = (await venue.get(`/accounts/${account}/balances`)) as {
    balances: { asset: string; available: string }[];
  };
  return answer.balances.find((one) => one.asset === asset)?.available;
};

describe('a new venue', () => {
  test('has three accounts with a million of each token in SPOT and nothing in USDT_FUTURE', async () => {
    const { balances } = (await venue.get('/balances')) as { balances: unknown[] };
    expect(balances).toHaveLength(12);
    expect(balances).toContainEqual({
      account: 'paper-main',
      account_type: 'USDT_FUTURE',
      asset: 'USDC',
      available: '0',
      withdrawable: '0',
      total: '0',
    });
    expect(balances).toContainEqual({
      account: 'paper-sub-b',
      account_type: 'SPOT',
      asset: 'USDT',
      available: '1000000',
      withdrawable: '1000000',
      total: '1000000',
    });
    expect(await venue.get('/accounts/unknown/balances')).toMatchObject({
      detail: { error: 'ACCOUNT_UNKNOWN' },
    });
    expect(await venue.executor.health(call())).toEqual({ state: 'up' });
  });
});

describe('a withdrawal', () => {
  test('debits the account and really pays the token out', async () => {
    const before = await chain.received();
    const context = withdrawal('pay:1', { amount: '12.5' });
    expect(await venue.executor.preflight(context, call())).toBeNull();
    const accepted = await submit(venue, context);
    expect(accepted).toEqual({
      next_state: 'SUBMITTED',
      external_ref: expect.stringMatching(/^paper-/),
    });
    const done = await settled(venue, context);
    expect(done).toMatchObject({
      next_state: 'COMPLETED',
      external_ref: accepted.external_ref,
      output: {
        tx_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
        requested_amount: '12.5',
        submitted_amount: '12.5',
        fee_amount: '0',
        fee_asset: 'USDC',
        received_amount: '12.5',
        destination_address: PAYEE,
      },
    });
    expect((await chain.received()) - before).toBe(12_500_000n);
    expect(await balance('paper-main')).toBe('999987.5');
    expect(await venue.entry('pay:1')).toMatchObject({
      state: 'mined',
      effects: 1,
      submit_calls: 1,
      amount: '12.5',
    });
  });

  test('a fee comes out of the amount', async () => {
    const config = { venue: 'paper-sub-a', network: 'local', destination_address: PAYEE };
    const context = withdrawal('fee:1', { asset: 'USDT', amount: '10', config });
    await submit(venue, context);
    expect(await settled(venue, context)).toMatchObject({
      output: { fee_amount: '1.5', received_amount: '8.5' },
    });
    expect(await chain.received('USDT')).toBe(parseUnits('8.5', 6));
    expect(await balance('paper-sub-a', 'USDT')).toBe('999990');
  });

  test('with destination_finalized it completes only in a finalized block', async () => {
    const context = withdrawal('final:1', { completion_assurance: 'destination_finalized' });
    await submit(venue, context);
    await eventually(async () => ((await venue.entry('final:1'))?.state === 'mined' ? true : null));
    expect(await venue.executor.observe(context, call(), journal)).toMatchObject({
      next_state: 'OBSERVING',
      retry_after_seconds: 0.5,
    });
    await chain.client.mine({ blocks: 4 });
    expect(await settled(venue, context)).toMatchObject({ next_state: 'COMPLETED' });
  });

  test('is observed as under way until its block comes', async () => {
    await chain.client.setAutomine(false);
    const context = withdrawal('slow:1');
    await submit(venue, context);
    expect(await venue.executor.observe(context, call(), journal)).toMatchObject({
      next_state: 'OBSERVING',
      retry_after_seconds: 0.3,
    });
    await chain.client.setAutomine(true);
    await chain.client.mine({ blocks: 1 });
    expect(await settled(venue, context)).toMatchObject({ next_state: 'COMPLETED' });
  });

  test('thirty at once are paid once each, in unbroken nonces', async () => {
    const before = await chain.received();
    const contexts = Array.from({ length: 30 }, (_, index) =>
      withdrawal(`many:${index}`, { amount: '1' }),
    );
    await Promise.all(contexts.map((context) => submit(venue, context)));
    await Promise.all(contexts.map((context) => settled(venue, context)));
    expect((await chain.received()) - before).toBe(30_000_000n);
  });
});

describe('a repeated submit', () => {
  test('answers as the first did and has no second effect, also when both come together', async () => {
    const before = await chain.received();
    const context = withdrawal('twice:1', { amount: '5' });
    const answers = await Promise.all([
      submit(venue, context),
      submit(venue, context),
      submit(venue, context),
    ]);
    await settled(venue, context);
    answers.push(await submit(venue, context));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect((await chain.received()) - before).toBe(5_000_000n);
    expect(await venue.entry('twice:1')).toMatchObject({ effects: 1, submit_calls: 4 });
  });

  test('with another order is a conflict over HTTP, which claims nothing about what landed', async () => {
    const context = withdrawal('conflict:1', { amount: '5' });
    await submit(venue, context);
    await expect(submit(venue, { ...context, amount: '6' })).rejects.toMatchObject({
      kind: 'rejected',
      message: 'the executor answered 409: this idempotency key was used for another order',
    });
    expect(await venue.executor.recover(context, call(), journal)).not.toMatchObject({
      next_state: 'FAILED',
    });
    expect((await settled(venue, context)).output).toMatchObject({ received_amount: '5' });
  });
});

describe('recover', () => {
  test('says READY for a key it never saw, and a later submit of that key is carried out', async () => {
    const context = withdrawal('ready:1');
    expect(await venue.executor.recover(context, call(), journal)).toEqual({ next_state: 'READY' });
    await submit(venue, context);
    const recovered = await eventually(async () => {
      const answer = await venue.executor.recover(context, call(), journal);
      return answer.next_state === 'COMPLETED' ? answer : null;
    });
    expect(recovered.output).toMatchObject({ received_amount: '100' });
  });

  test('finds the order whose answer was lost', async () => {
    await venue.faults({ lose_answer_rate: 1, phases: ['submit'], remaining: 1 });
    const context = withdrawal('lost:1');
    await expect(submit(venue, context)).rejects.toMatchObject({ kind: 'unreachable' });
    expect(await venue.executor.recover(context, call(), journal)).toMatchObject({
      next_state: expect.stringMatching(/OBSERVING|COMPLETED/),
      external_ref: expect.any(String),
    });
    expect(await venue.entry('lost:1')).toMatchObject({ effects: 1 });
  });

  test('tells a refusal, which stays a refusal under its key', async () => {
    const context = withdrawal('poor:1', { amount: '2000000' });
    const refused = { next_state: 'FAILED', error_code: 'INSUFFICIENT_BALANCE' };
    expect(await venue.executor.preflight(context, call())).toMatchObject(refused);
    expect(await submit(venue, context)).toMatchObject(refused);
    expect(await submit(venue, context)).toMatchObject(refused);
    expect(await venue.executor.recover(context, call(), journal)).toMatchObject(refused);
    expect(await venue.entry('poor:1')).toMatchObject({
      state: 'refused',
      effects: 0,
      submit_calls: 2,
    });
  });
});

describe('cancel', () => {
  test('ends an order that is not sent yet and gives the money back', async () => {
    await venue.faults({ processing_ms: 60_000, phases: ['submit'], remaining: 1 });
    const before = await balance('paper-sub-b');
    const context = withdrawal('cancel:1', {
      config: { venue: 'paper-sub-b', network: 'ERC20', destination_address: PAYEE },
    });
    await submit(venue, context);
    expect(await balance('paper-sub-b')).not.toBe(before);
    const cancelled = { next_state: 'FAILED', error_code: 'CANCELLED' };
    expect(await venue.executor.cancel(context, call())).toMatchObject(cancelled);
    expect(await balance('paper-sub-b')).toBe(before);
    expect(await venue.executor.observe(context, call(), journal)).toMatchObject(cancelled);
    expect(await venue.entry('cancel:1')).toMatchObject({
      state: 'cancelled',
      effects: 0,
      tx_hash: null,
    });
  });

  test('of a sent order tells its state', async () => {
    const context = withdrawal('cancel:2');
    await submit(venue, context);
    await settled(venue, context);
    expect(await venue.executor.cancel(context, call())).toMatchObject({ next_state: 'COMPLETED' });
  });

  test('of an unknown key uses the key up, so that a late submit cannot land', async () => {
    const context = withdrawal('cancel:3');
    expect(await venue.executor.cancel(context, call())).toMatchObject({ error_code: 'CANCELLED' });
    expect(await submit(venue, context)).toMatchObject({
      next_state: 'FAILED',
      error_code: 'CANCELLED',
    });
    expect(await venue.entry('cancel:3')).toMatchObject({ state: 'cancelled', effects: 0 });
  });
});

describe('preflight', () => {
  const config = { venue: 'paper-main', network: 'ERC20', destination_address: PAYEE };
  test.each([
    ['CONFIG_INVALID', { config: {} }],
    ['CONFIG_INVALID', { config: { ...config, asset: 'USDT' } }],
    ['ACCOUNT_UNKNOWN', { config: { ...config, venue: 'paper-other' } }],
    ['ACCOUNT_TYPE_NOT_SUPPORTED', { config: { ...config, account_type: 'USDT_FUTURE' } }],
    ['NETWORK_NOT_SUPPORTED', { config: { ...config, network: 'SOLANA' } }],
    ['NETWORK_NOT_SUPPORTED', { config: { ...config, chain_id: 1 } }],
    ['ASSET_NOT_SUPPORTED', { config, asset: 'BTC' }],
    ['ADDRESS_INVALID', { config: { ...config, destination_address: '0x1234' } }],
    ['ADDRESS_INVALID', { config: { ...config, destination_address: `0x${'0'.repeat(40)}` } }],
    ['AMOUNT_PRECISION', { config, amount: '1.0000001' }],
    ['AMOUNT_INVALID', { config, amount: '0' }],
    ['AMOUNT_INVALID', { config, amount: '1e3' }],
    ['AMOUNT_BELOW_FEE', { config, asset: 'USDT', amount: '1.5' }],
    ['INSUFFICIENT_BALANCE', { config, amount: '1000001' }],
    ['ACTION_NOT_SUPPORTED', { config, action_type: 'perp_withdraw' }],
  ])('refuses with %s: %j', async (code, changes) => {
    const answer = await venue.executor.preflight(withdrawal('check:1', changes), call());
    expect(answer).toMatchObject({ next_state: 'FAILED', error_code: code });
  });

  test('leaves no trace in the ledger', async () => {
    expect(await venue.entry('check:1')).toBeUndefined();
  });
});

describe('faults on demand', () => {
  test('an error does nothing', async () => {
    await venue.faults({ error_rate: 1, phases: ['submit'], remaining: 1 });
    const context = withdrawal('fault:1');
    await expect(submit(venue, context)).rejects.toMatchObject({ kind: 'server_error' });
    expect(await venue.executor.recover(context, call(), journal)).toEqual({ next_state: 'READY' });
  });

  test('a held submit lands after recover has said READY, as a late one of a dead worker does', async () => {
    await venue.faults({ hold_ms: 300, phases: ['submit'], remaining: 1 });
    const context = withdrawal('late:1');
    const { prepared_action = {} } = await venue.executor.prepare(context, call());
    const abort = new AbortController();
    const late = venue.executor.submit(
      { context, prepared_action, journal },
      { signal: abort.signal },
    );
    const lateFault = late.then(
      () => null,
      (error: unknown) => error,
    );
    setTimeout(() => abort.abort(), 100);
    expect(await venue.executor.recover(context, call(), journal)).toEqual({ next_state: 'READY' });
    expect(await lateFault).toMatchObject({ kind: 'timeout' });
    await submit(venue, context);
    await eventually(async () => ((await venue.entry('late:1'))?.submit_calls === 2 ? true : null));
    await settled(venue, context);
    expect(await venue.entry('late:1')).toMatchObject({ effects: 1 });
  });

  test('a venue that does not deduplicate keys pays each submit, and the ledger shows it', async () => {
    await venue.faults({ deduplicate: false });
    const before = await chain.received();
    const context = withdrawal('double:1', { amount: '1' });
    const first = await submit(venue, context);
    const second = await submit(venue, context);
    expect(second.external_ref).not.toBe(first.external_ref);
    expect(await venue.executor.recover(context, call(), journal)).toEqual({ next_state: 'READY' });
    for (const { external_ref = '' } of [first, second]) {
      expect(await settled(venue, { ...context, prior: { external_ref } })).toMatchObject({
        next_state: 'COMPLETED',
      });
    }
    expect((await chain.received()) - before).toBe(2_000_000n);
    expect(await venue.entry('double:1')).toMatchObject({ effects: 2, submit_calls: 2 });
  });

  test('are shown, replaced as a whole, refused when misspelt, and removed', async () => {
    expect(await venue.faults({ latency_ms: 1, seed: 7 })).toBe(200);
    expect(await venue.get('/faults')).toMatchObject({
      latency_ms: 1,
      seed: 7,
      error_rate: 0,
      deduplicate: true,
    });
    expect(await venue.faults({ latencyms: 1 })).toBe(422);
    expect(await venue.faults(null)).toBe(200);
    expect(await venue.get('/faults')).toMatchObject({ latency_ms: 0 });
  });
});

test('requests that are none get an HTTP error with a reason', async () => {
  const post = async (path: string, body: string) => {
    const answer = await fetch(`${venue.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    return [answer.status, ((await answer.json()) as { detail: { error: string } }).detail.error];
  };
  expect(await post('/submit', '{}')).toEqual([422, 'INVALID_REQUEST']);
  expect(await post('/submit', '{')).toEqual([400, 'INVALID_REQUEST']);
  expect(await post('/nowhere', '{}')).toEqual([404, 'NOT_FOUND']);
  await expect(
    venue.executor.observe(withdrawal('never:1'), call(), journal),
  ).rejects.toMatchObject({
    kind: 'rejected',
  });
});
