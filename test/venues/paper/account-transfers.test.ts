/**
 * The provider of transfers between accounts of the paper venue: what it takes for proven, and what
 * it does not.
 */
import { randomUUID } from 'node:crypto';
import type {
  TransferOrder,
  TransferProvider,
} from '../../../domain/capital-transfers/provider.ts';
import type { PaperVenue } from '../../../venues/paper/config.ts';
import { createPaperTransfers } from '../../../venues/paper/account-transfers.ts';
import { json, startFakeServer, type FakeServer } from '../../executors/fake-server.ts';
import {
  eventually,
  NO_CHAIN,
  startVenueHere,
  tempFolder,
  type VenueClient,
} from '../../dev/paper-venue-stack.ts';

const folder = tempFolder();
let venue: VenueClient & { end(): Promise<void> };
let fake: FakeServer;

beforeAll(async () => {
  venue = await startVenueHere(folder.path, NO_CHAIN);
  fake = await startFakeServer();
});
afterEach(async () => {
  await venue.faults(null);
});
afterAll(async () => {
  await venue.end();
  await fake.close();
  folder.remove();
});

/** Venue keys are the service's own names; accounts are the venue's. */
const bound = (url: string): PaperVenue[] => [
  { venue_key: 'treasury', provider: 'paper', account_role: 'master', account: 'paper-main', url },
  {
    venue_key: 'desk-a',
    provider: 'paper',
    account_role: 'sub',
    account: 'paper-sub-a',
    url: `${url}/`,
  },
];
const at = (url: string): TransferProvider => {
  const [provider] = createPaperTransfers(bound(url));
  if (provider === undefined) throw new Error('no provider');
  return provider;
};
const order = (changes: Partial<TransferOrder> = {}): TransferOrder => ({
  reference: randomUUID(),
  source: { venue_key: 'treasury', account_type: 'SPOT' },
  destination: { venue_key: 'desk-a', account_type: 'USDT_FUTURE' },
  asset: 'USDT',
  amount: '2.5',
  created_at: new Date().toISOString(),
  ...changes,
});
const call = (ms = 10_000) => ({ signal: AbortSignal.timeout(ms), requestId: 'request-1' });
const entryOf = async ({ reference }: TransferOrder) => {
  const { entries } = (await venue.get('/transfers')) as {
    entries: { client_reference: string }[];
  };
  return entries.find(({ client_reference }) => client_reference === reference);
};

describe('the providers of bindings', () => {
  test('are one for each venue, whatever way its URL is written', () => {
    const other = {
      venue_key: 'other',
      provider: 'paper',
      account_role: 'master',
      account: 'paper-main',
      url: 'http://Venue:80/b/',
    } as const;
    const providers = createPaperTransfers([...bound('http://127.0.0.1:9'), other]);
    expect(providers.map(({ provider, scope }) => [provider, scope])).toEqual([
      ['paper', 'http://127.0.0.1:9'],
      ['paper', 'http://venue/b'],
    ]);
    expect(providers[0]).toMatchObject({
      same_key_safe: true,
      settle_seconds: 1,
      timeout_seconds: 5,
    });
    expect(providers[0]?.accounts).toEqual([
      { venue_key: 'treasury', provider: 'paper', scope: 'http://127.0.0.1:9', role: 'master' },
      { venue_key: 'desk-a', provider: 'paper', scope: 'http://127.0.0.1:9', role: 'sub' },
    ]);
    expect(createPaperTransfers([])).toEqual([]);
  });
});

describe('at the venue', () => {
  test('a transfer completes, is found, and is made once however often it is sent', async () => {
    const provider = at(venue.url);
    const body = order();
    expect(await provider.find(body, call())).toBeNull();
    const answer = await provider.submit(body, call());
    expect(answer).toEqual({
      status: 'completed',
      provider_transfer_id: expect.stringMatching(/^paper-transfer-/),
    });
    expect(await provider.submit(body, call())).toEqual(answer);
    expect(await provider.find({ ...body, amount: '2.50' }, call())).toEqual(answer);
    expect(await entryOf(body)).toMatchObject({
      submit_calls: 2,
      effects: 1,
      from_account: 'paper-main',
      to_account: 'paper-sub-a',
      to_account_type: 'USDT_FUTURE',
      amount: '2.5',
    });
  });

  test('a pending one is pending until it ends', async () => {
    const provider = at(venue.url);
    await venue.faults({ transfer_outcome: 'pending', phases: ['transfer_submit'] });
    const body = order();
    const pending = {
      status: 'pending',
      provider_transfer_id: expect.any(String),
      retry_after_seconds: 1,
    };
    expect(await provider.submit(body, call())).toEqual(pending);
    expect(await provider.find(body, call())).toEqual(pending);
    await venue.send('POST', `/transfers/${body.reference}/settle`, { outcome: 'failed' });
    expect(await provider.find(body, call())).toEqual({
      status: 'failed',
      provider_transfer_id: expect.any(String),
      error_code: 'TRANSFER_FAILED',
      error_message: expect.any(String),
    });
  });

  test.each([
    ['INSUFFICIENT_BALANCE', { amount: '99999999' }],
    ['AMOUNT_PRECISION', { amount: '0.0000001' }],
    ['ASSET_NOT_SUPPORTED', { asset: 'BTC' }],
    ['TOPOLOGY_NOT_SUPPORTED', { destination: { venue_key: 'treasury', account_type: 'SPOT' } }],
  ] as const)('a refusal with %s is proven, and is found as such', async (error_code, changes) => {
    const provider = at(venue.url);
    const body = order(changes);
    const refused = { status: 'failed', error_code, error_message: expect.any(String) };
    expect(await provider.submit(body, call())).toEqual(refused);
    expect(await provider.find(body, call())).toEqual(refused);
  });

  test.each([
    ['server_error', 'an error', { error_rate: 1 }],
    ['unreachable', 'a lost answer', { lose_answer_rate: 1 }],
  ])(
    '%s is unproven, is sent once, and recovery finds what became of it (%s)',
    async (kind, what, faults) => {
      const provider = at(venue.url);
      await venue.faults({ ...faults, phases: ['transfer_submit'] });
      const body = order();
      await expect(provider.submit(body, call())).rejects.toMatchObject({
        name: 'ExecutorFault',
        kind,
      });
      const { calls } = (await venue.get('/faults/counts')) as { calls: number };
      await venue.faults(null);
      const found = await provider.find(body, call());
      expect(found?.status).toBe(what === 'an error' ? undefined : 'completed');
      // The one call since was the find: nothing was repeated.
      expect(await venue.get('/faults/counts')).toMatchObject({ calls: calls + 1 });
      expect(((await entryOf(body)) as { submit_calls?: number } | undefined)?.submit_calls).toBe(
        what === 'an error' ? undefined : 1,
      );
    },
  );

  test('an aborted submit is unproven and may still land, once', async () => {
    const provider = at(venue.url);
    await venue.faults({ hold_ms: 300, phases: ['transfer_submit'], remaining: 1 });
    const body = order();
    await expect(provider.submit(body, call(100))).rejects.toMatchObject({
      kind: 'timeout',
      code: 'PROVIDER_TIMEOUT',
    });
    expect(await provider.find(body, call())).toBeNull();
    await eventually(
      async () => (await provider.find(body, call()))?.status === 'completed' || null,
    );
    expect(await entryOf(body)).toMatchObject({ submit_calls: 1, effects: 1 });
  });

  test('another transfer under the reference proves nothing, and is named', async () => {
    const provider = at(venue.url);
    const body = order();
    await provider.submit(body, call());
    const other = { ...body, amount: '3' };
    await expect(provider.submit(other, call())).rejects.toMatchObject({
      kind: 'rejected',
      code: 'PROVIDER_REJECTED',
    });
    await expect(provider.find(other, call())).rejects.toMatchObject({
      kind: 'protocol',
      code: 'TRANSFER_MISMATCH',
    });
  });

  test('a venue that is not bound is refused', async () => {
    const body = order({ source: { venue_key: 'unbound', account_type: 'SPOT' } });
    await expect(at(venue.url).submit(body, call())).rejects.toMatchObject({
      code: 'VENUE_NOT_BOUND',
    });
  });
});

describe('an answer that does not fit', () => {
  const record = (body: TransferOrder, changes: object = {}) => ({
    client_reference: body.reference,
    transfer_id: 'id-1',
    status: 'completed',
    from_account: 'paper-main',
    from_account_type: 'SPOT',
    to_account: 'paper-sub-a',
    to_account_type: 'USDT_FUTURE',
    asset: body.asset,
    amount: body.amount,
    error_code: null,
    error_message: null,
    ...changes,
  });
  const detail = (error: string) => ({ detail: { error, message: 'why' } });

  test.each<[string, number, (body: TransferOrder) => unknown, string]>([
    ['no record', 200, () => ({}), 'protocol'],
    ['an unknown status', 200, (body) => record(body, { status: 'done' }), 'protocol'],
    ['an amount that is a number', 200, (body) => record(body, { amount: 2.5 }), 'protocol'],
    ['another amount', 200, (body) => record(body, { amount: '2.6' }), 'protocol'],
    ['another destination', 200, (body) => record(body, { to_account: 'paper-sub-b' }), 'protocol'],
    ['another source', 200, (body) => record(body, { from_account: 'paper-sub-b' }), 'protocol'],
    [
      'another account type of the source',
      200,
      (body) => record(body, { from_account_type: 'USDT_FUTURE' }),
      'protocol',
    ],
    [
      'another account type of the destination',
      200,
      (body) => record(body, { to_account_type: 'SPOT' }),
      'protocol',
    ],
    ['another asset', 200, (body) => record(body, { asset: 'USDC' }), 'protocol'],
    ['another reference', 200, (body) => record(body, { client_reference: 'x' }), 'protocol'],
    ['a redirect', 302, () => ({}), 'protocol'],
    ['a refusal without a reason', 422, () => ({ error: 'INSUFFICIENT_BALANCE' }), 'protocol'],
    ['a refusal that the venue does not know', 422, () => detail('NOT_TODAY'), 'rejected'],
    ['a known code with another status', 403, () => detail('INSUFFICIENT_BALANCE'), 'rejected'],
    ['a request that cannot be read', 422, () => detail('INVALID_REQUEST'), 'rejected'],
    ['a conflict', 409, () => detail('IDEMPOTENCY_CONFLICT'), 'rejected'],
    ['a missing route', 404, () => detail('NOT_FOUND'), 'rejected'],
    ['too many requests', 429, () => detail('SLOW_DOWN'), 'rejected'],
    ['a fault with a known code', 500, () => detail('INSUFFICIENT_BALANCE'), 'server_error'],
  ])('is unproven: %s', async (_name, status, answer, kind) => {
    const body = order();
    fake.answer = (_request, response) =>
      json(response, status, answer(body), status === 302 ? { location: '/x' } : {});
    const before = fake.seen.length;
    await expect(at(fake.url).submit(body, call())).rejects.toMatchObject({
      name: 'ExecutorFault',
      kind,
    });
    await expect(at(fake.url).find(body, call())).rejects.toMatchObject({
      name: 'ExecutorFault',
      kind,
    });
    expect(fake.seen.slice(before).map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST /transfers',
      `GET /transfers/${body.reference}`,
    ]);
  });

  test('text that is not JSON, one that is cut off, and one that never ends are unproven too', async () => {
    const provider = at(fake.url);
    fake.answer = (_request, response) => void response.end('<html>');
    await expect(provider.submit(order(), call())).rejects.toMatchObject({ kind: 'protocol' });
    fake.answer = (_request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{');
      setTimeout(() => response.destroy(), 20);
    };
    await expect(provider.submit(order(), call())).rejects.toMatchObject({ kind: 'unreachable' });
    fake.answer = (_request, response) => void response.write('{');
    await expect(provider.submit(order(), call(100))).rejects.toMatchObject({ kind: 'timeout' });
    fake.answer = (_request, response) => void response.end('x'.repeat(300_000));
    await expect(provider.submit(order(), call())).rejects.toMatchObject({ kind: 'protocol' });
    await expect(at('http://127.0.0.1:1').submit(order(), call())).rejects.toMatchObject({
      kind: 'unreachable',
    });
  });

  test('without an answer the call ends by itself after its time-out', async () => {
    fake.answer = () => undefined;
    const start = Date.now();
    await expect(
      at(fake.url).find(order(), { signal: new AbortController().signal }),
    ).rejects.toMatchObject({ kind: 'timeout' });
    expect(Date.now() - start).toBeGreaterThan(4_500);
  }, 10_000);

  test('only a 404 with the venue’s own word says that there is none', async () => {
    fake.answer = (_request, response) => json(response, 404, detail('TRANSFER_UNKNOWN'));
    expect(await at(fake.url).find(order(), call())).toBeNull();
    await expect(at(fake.url).submit(order(), call())).rejects.toMatchObject({ kind: 'rejected' });
  });
});
