/** Transfers between accounts of the paper venue, over its own routes. They need no chain. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  eventually,
  NO_CHAIN,
  startVenueHere,
  startVenueProcess,
  tempFolder,
  type VenueProcess,
} from './paper-venue-stack.ts';

type Venue = Awaited<ReturnType<typeof startVenueHere>>;
const folder = tempFolder();
let venue: Venue;

beforeAll(async () => {
  venue = await startVenueHere(folder.path, NO_CHAIN);
});
afterEach(async () => {
  await venue.faults(null);
});
afterAll(async () => {
  await venue.end();
  folder.remove();
});

const order = (changes: object = {}) => ({
  client_reference: randomUUID(),
  from_account: 'paper-main',
  from_account_type: 'SPOT',
  to_account: 'paper-sub-a',
  to_account_type: 'USDT_FUTURE',
  asset: 'USDT',
  amount: '10',
  ...changes,
});
type Order = ReturnType<typeof order>;
const submit = (body: Order) => venue.send('POST', '/transfers', body);
const find = async (body: Order) => {
  const answer = await fetch(`${venue.url}/transfers/${body.client_reference}`);
  return { status: answer.status, body: (await answer.json()) as unknown };
};
const settle = (body: Order, outcome: string) =>
  venue.send('POST', `/transfers/${body.client_reference}/settle`, { outcome });
const entry = async (body: Order) => {
  const { entries } = (await venue.get('/transfers')) as {
    entries: { client_reference: string }[];
  };
  return entries.find(({ client_reference }) => client_reference === body.client_reference);
};
const pool = async (account: string, account_type: string, asset = 'USDT'): Promise<number> => {
  const { balances } = (await venue.get(`/accounts/${account}/balances`)) as {
    balances: { account_type: string; asset: string; available: string }[];
  };
  return Number(
    balances.find((one) => one.account_type === account_type && one.asset === asset)?.available,
  );
};
const both = async () =>
  [await pool('paper-main', 'SPOT'), await pool('paper-sub-a', 'USDT_FUTURE')] as const;

describe('a transfer', () => {
  test('moves its amount at once and answers its record', async () => {
    const [from, to] = await both();
    const body = order();
    const answer = await submit({
      ...body,
      asset: 'usdt',
      from_account_type: 'spot',
      amount: '10.0',
    });
    const record = {
      ...body,
      transfer_id: expect.stringMatching(/^paper-transfer-/),
      status: 'completed',
      error_code: null,
      error_message: null,
      created_at: expect.any(String),
      completed_at: expect.any(String),
    };
    expect(answer).toEqual({ status: 200, body: record });
    expect(await find(body)).toEqual(answer);
    expect(await both()).toEqual([from - 10, to + 10]);
  });

  test('is made once for its reference, and another content under it is a conflict', async () => {
    const [from, to] = await both();
    const body = order();
    const answers = await Promise.all([
      submit(body),
      submit(body),
      submit({ ...body, amount: '10.00' }),
    ]);
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    for (const other of [
      { amount: '11' },
      { asset: 'USDC' },
      { to_account: 'paper-sub-b' },
      { to_account_type: 'SPOT' },
    ]) {
      expect(await submit({ ...body, ...other })).toMatchObject({
        status: 409,
        body: { detail: { error: 'IDEMPOTENCY_CONFLICT' } },
      });
    }
    expect(await entry(body)).toMatchObject({ submit_calls: 7, effects: 1, amount: '10' });
    expect(await both()).toEqual([from - 10, to + 10]);
  });

  test('is not found before it was made', async () => {
    expect(await find(order())).toMatchObject({
      status: 404,
      body: { detail: { error: 'TRANSFER_UNKNOWN' } },
    });
  });

  test.each([
    ['TOPOLOGY_NOT_SUPPORTED', 'rule 1', { from_account_type: 'USDT_FUTURE' }],
    ['TOPOLOGY_NOT_SUPPORTED', 'rule 3', { from_account: 'paper-sub-b' }],
    [
      'TOPOLOGY_NOT_SUPPORTED',
      'rule 4',
      { from_account: 'paper-sub-a', from_account_type: 'USDT_FUTURE' },
    ],
    ['ACCOUNT_UNKNOWN', 'unknown', { to_account: 'unknown' }],
    ['ACCOUNT_TYPE_NOT_SUPPORTED', 'FUND', { to_account_type: 'FUND' }],
    ['ASSET_NOT_SUPPORTED', 'BTC', { asset: 'BTC' }],
    ['AMOUNT_INVALID', 'decimal', { amount: '-1' }],
    ['AMOUNT_INVALID', 'decimal', { amount: '0' }],
    ['AMOUNT_PRECISION', '6 decimals', { amount: '1.0000001' }],
    [
      'INSUFFICIENT_BALANCE',
      'enough',
      {
        from_account: 'paper-sub-a',
        to_account: 'paper-main',
        to_account_type: 'SPOT',
        amount: '1000001',
      },
    ],
  ])('is refused for good with %s (%s)', async (code, words, changes) => {
    const before = await venue.get('/balances');
    const body = order(changes);
    const refusal = {
      status: 422,
      body: { detail: { error: code, message: expect.stringContaining(words) } },
    };
    expect(await submit(body)).toEqual(refusal);
    expect(await submit(body)).toEqual(refusal);
    expect(await find(body)).toMatchObject({
      status: 200,
      body: { status: 'failed', error_code: code, transfer_id: null },
    });
    expect(await venue.get('/balances')).toEqual(before);
    expect(await entry(body)).toMatchObject({ submit_calls: 2, effects: 0, status: 'failed' });
  });

  test('that was refused for want of funds stays so when they have come', async () => {
    const body = order({
      from_account: 'paper-sub-b',
      from_account_type: 'USDT_FUTURE',
      to_account: 'paper-main',
      to_account_type: 'SPOT',
    });
    expect(await submit(body)).toMatchObject({ status: 422 });
    expect(await submit(order({ to_account: 'paper-sub-b' }))).toMatchObject({ status: 200 });
    expect(await submit(body)).toMatchObject({
      status: 422,
      body: { detail: { error: 'INSUFFICIENT_BALANCE' } },
    });
    expect(await submit({ ...body, client_reference: randomUUID() })).toMatchObject({
      status: 200,
      body: { status: 'completed' },
    });
  });

  test.each([{ client_reference: 'a/b' }, { amount: 5 }, { note: 'x' }, { from_account: '' }])(
    'that is malformed leaves no record: %j',
    async (changes) => {
      const body = order();
      expect(await venue.send('POST', '/transfers', { ...body, ...changes })).toMatchObject({
        status: 422,
        body: { detail: { error: 'INVALID_REQUEST' } },
      });
      expect(await find(body)).toMatchObject({ status: 404 });
    },
  );
});

describe('a pending transfer', () => {
  test('has left the source and reaches the destination when it is processed', async () => {
    const [from, to] = await both();
    await venue.faults({ processing_ms: 400, phases: ['transfer_submit'] });
    const body = order();
    expect(await submit(body)).toMatchObject({ body: { status: 'pending', completed_at: null } });
    expect(await find(body)).toMatchObject({ body: { status: 'pending' } });
    expect(await both()).toEqual([from - 10, to]);
    await eventually(async () => (await both())[1] === to + 10 || null);
    expect(await find(body)).toMatchObject({ body: { status: 'completed' } });
    expect(await both()).toEqual([from - 10, to + 10]);
  });

  test('that fails gives the source its amount back', async () => {
    const before = await both();
    await venue.faults({
      processing_ms: 200,
      transfer_outcome: 'failed',
      phases: ['transfer_submit'],
    });
    const body = order();
    expect(await submit(body)).toMatchObject({ status: 200, body: { status: 'pending' } });
    expect(await both()).toEqual([before[0] - 10, before[1]]);
    await eventually(
      async () => ((await find(body)).body as { status: string }).status === 'failed' || null,
    );
    expect(await find(body)).toMatchObject({ body: { error_code: 'TRANSFER_FAILED' } });
    expect(await both()).toEqual(before);
    expect(await entry(body)).toMatchObject({ effects: 0 });
    expect(await submit(body)).toMatchObject({ status: 200, body: { status: 'failed' } });
  });

  test.each(['completed', 'failed'])(
    'without an end stays pending until it is settled as %s, once',
    async (outcome) => {
      const [from, to] = await both();
      await venue.faults({ transfer_outcome: 'pending', phases: ['transfer_submit'] });
      const body = order();
      await submit(body);
      await venue.faults(null);
      await sleep(50);
      expect(await find(body)).toMatchObject({ body: { status: 'pending' } });
      expect(await settle(body, 'pending')).toMatchObject({ status: 422 });
      expect(await settle(body, outcome)).toMatchObject({ status: 200, body: { status: outcome } });
      expect(await settle(body, outcome)).toMatchObject({
        status: 409,
        body: { detail: { error: 'TRANSFER_NOT_PENDING' } },
      });
      expect(await both()).toEqual(outcome === 'completed' ? [from - 10, to + 10] : [from, to]);
      expect(await settle(order(), 'completed')).toMatchObject({ status: 404 });
    },
  );
});

describe('faults', () => {
  test('an error does nothing; movements are not touched', async () => {
    const before = await both();
    await venue.faults({ error_rate: 1, phases: ['transfer_submit'], remaining: 1 });
    const body = order();
    expect(await submit(body)).toMatchObject({
      status: 500,
      body: { detail: { error: 'INJECTED_FAULT' } },
    });
    expect(await find(body)).toMatchObject({ status: 404 });
    expect(await both()).toEqual(before);
    await venue.faults({ error_rate: 1 });
    expect(await submit(body)).toMatchObject({ status: 200 });
  });

  test('a lost answer was carried out, and a lost refusal is as final', async () => {
    await venue.faults({ lose_answer_rate: 1, phases: ['transfer_submit'], remaining: 2 });
    const [body, refused] = [order(), order({ amount: '9999999' })];
    await expect(submit(body)).rejects.toThrow('fetch failed');
    await expect(submit(refused)).rejects.toThrow('fetch failed');
    expect(await find(body)).toMatchObject({ body: { status: 'completed' } });
    expect(await find(refused)).toMatchObject({
      body: { status: 'failed', error_code: 'INSUFFICIENT_BALANCE' },
    });
  });

  test('finding may fail by itself', async () => {
    await venue.faults({ error_rate: 1, phases: ['transfer_find'], remaining: 1 });
    const body = order();
    expect(await submit(body)).toMatchObject({ status: 200 });
    expect(await find(body)).toMatchObject({ status: 500 });
    expect(await find(body)).toMatchObject({ status: 200 });
  });

  test('a held submit lands after its caller has gone, once with the repeat', async () => {
    await venue.faults({ hold_ms: 300, phases: ['transfer_submit'], remaining: 1 });
    const body = order();
    const [from] = await both();
    const late = fetch(`${venue.url}/transfers`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(100),
    });
    await expect(late).rejects.toThrow('aborted');
    expect(await find(body)).toMatchObject({ status: 404 });
    expect(await submit(body)).toMatchObject({ status: 200 });
    await eventually(
      async () => ((await entry(body)) as { submit_calls?: number }).submit_calls === 2 || null,
    );
    expect(await entry(body)).toMatchObject({ effects: 1 });
    expect((await both())[0]).toBe(from - 10);
  });

  test('a venue that forgets references moves each submit, finds none, and its books show it', async () => {
    await venue.faults({ deduplicate: false, phases: ['transfer_submit'] });
    const [from, to] = await both();
    const body = order();
    await submit(body);
    expect(await find(body)).toMatchObject({ status: 404 });
    await submit(body);
    expect(await entry(body)).toMatchObject({ submit_calls: 2, effects: 2 });
    expect(await both()).toEqual([from - 20, to + 20]);
  });
});

describe('after kill -9', () => {
  const folders: ReturnType<typeof tempFolder>[] = [];
  const running: VenueProcess[] = [];
  const startIn = async (path: string): Promise<VenueProcess> => {
    const started = await startVenueProcess(path, NO_CHAIN);
    running.push(started);
    return started;
  };
  // Also after a failure: a process that is left would keep the test run from ending.
  afterEach(async () => {
    for (const started of running.splice(0)) await started.end('SIGKILL');
    for (const made of folders.splice(0)) made.remove();
  });

  test('what was answered is there, pending ones end on time, and what hangs still hangs', async () => {
    const data = tempFolder();
    folders.push(data);
    const first = await startIn(data.path);
    const [done, due, hanging, refused] = [order(), order(), order(), order({ amount: '9999999' })];
    const answer = await first.send('POST', '/transfers', done);
    await first.send('POST', '/transfers', refused);
    await first.faults({
      processing_ms: 300,
      transfer_outcome: 'failed',
      phases: ['transfer_submit'],
      remaining: 1,
    });
    await first.send('POST', '/transfers', due);
    await first.faults({ transfer_outcome: 'pending', phases: ['transfer_submit'], remaining: 1 });
    await first.send('POST', '/transfers', hanging);
    await first.end('SIGKILL');
    const second = await startIn(data.path);
    expect(await second.send('POST', '/transfers', done)).toEqual(answer);
    expect(await second.send('POST', '/transfers', refused)).toMatchObject({ status: 422 });
    await eventually(
      async () =>
        ((await second.get(`/transfers/${due.client_reference}`)) as { status: string }).status ===
          'failed' || null,
    );
    expect(await second.get(`/transfers/${hanging.client_reference}`)).toMatchObject({
      status: 'pending',
    });
    const { balances } = (await second.get('/accounts/paper-main/balances')) as {
      balances: unknown[];
    };
    expect(balances).toContainEqual(
      expect.objectContaining({ account_type: 'SPOT', asset: 'USDT', available: '999980' }),
    );
    await second.end('SIGKILL');
  });

  test('at any moment under load, each reference is moved once', async () => {
    const data = tempFolder();
    folders.push(data);
    const bodies = Array.from({ length: 60 }, () => order({ amount: '1' }));
    for (const pause of [2, 8, 20]) {
      const killed = await startIn(data.path);
      const calls = bodies.map((body) => killed.send('POST', '/transfers', body).catch(() => null));
      await sleep(pause);
      await killed.end('SIGKILL');
      await Promise.all(calls);
    }
    const last = await startIn(data.path);
    await Promise.all(bodies.map((body) => last.send('POST', '/transfers', body)));
    const { entries } = (await last.get('/transfers')) as {
      entries: { effects: number; status: string }[];
    };
    expect(entries.map(({ effects, status }) => [effects, status])).toEqual(
      bodies.map(() => [1, 'completed']),
    );
    const { balances } = (await last.get('/balances')) as { balances: unknown[] };
    expect(balances).toContainEqual(
      expect.objectContaining({
        account: 'paper-main',
        account_type: 'SPOT',
        asset: 'USDT',
        available: '999940',
      }),
    );
    await last.end('SIGKILL');
  }, 90_000);
});
