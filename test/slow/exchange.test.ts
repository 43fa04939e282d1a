/**
 * Movements and capital transfers through a bound exchange: the real service, ccxt, and an exchange
 * whose answers get lost.
 */
import { createHash, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { assertConsistent } from '../support/evidence.ts';
import { eventually, startOwnStack, type OwnStack } from '../support/own-stack.ts';
import { ADDRESS, freshBooks, openDesk, SUB, type Desk } from '../venues/cex/support/desk.ts';

let desk: Desk;
let own: OwnStack;
beforeAll(async () => {
  desk = await openDesk();
  freshBooks(desk);
  const common = {
    provider: 'ccxt',
    exchange: 'binance',
    base_url: desk.exchange.url,
    fetch_interval_seconds: 1,
  };
  const venuesFile = join(desk.folder, 'venues.json');
  await writeFile(
    venuesFile,
    JSON.stringify({
      venues: [
        {
          ...common,
          venue_key: 'cex-main',
          account_role: 'master',
          account: 'master@example.com',
          credentials_file: 'main.json',
        },
        { ...common, venue_key: 'cex-sub', account_role: 'sub', account: SUB, master: 'cex-main' },
      ],
    }),
  );
  const env = {
    SVC_VENUES_FILE: venuesFile,
    SVC_LOG_LEVEL: 'debug',
    SVC_CAPITAL_TRANSFER_PENDING_TIMEOUT_SECONDS: '5',
  };
  own = await startOwnStack({ env, allow: [ADDRESS] });
  const node = (node_key: string, action_type: string, config: object) => ({
    node_key,
    node_kind: 'action',
    action_type,
    has_side_effect: true,
    executor_selector: { action_type, provider: 'ccxt' },
    config: { venue: 'cex-main', asset: 'USDC', ...config },
    retry_policy: { max_attempts: 5, initial_interval_seconds: 0.1 },
  });
  const template = {
    version: 1,
    edges: [],
    completion_policy: { completion_assurance: 'provider_completed' },
  };
  await own.api.expect(201, 'POST', '/plan-templates', {
    ...template,
    template_key: 'test/exchange-out',
    name: 'Out of an exchange',
    nodes: [node('out', 'cex_withdrawal', { network: 'ETH', destination_address: ADDRESS })],
  });
  await own.api.expect(201, 'POST', '/plan-templates', {
    ...template,
    template_key: 'test/exchange-within',
    name: 'Within an exchange',
    nodes: [node('move', 'cex_internal_transfer', { destination_venue: 'cex-sub' })],
  });
}, 180_000);
afterAll(async () => {
  await own?.close();
  await desk?.close();
});

const books = () => desk.exchange.books;

async function run(template: string, amount: string): Promise<string> {
  const movement = await own.api.create(template, { amount });
  await own.api.approve(movement);
  return movement.movement_id;
}

test('the balances of its accounts are fetched, with whichever key may', async () => {
  await eventually(async () => {
    const { balances } = (await own.api.expect(200, 'GET', '/balances')) as unknown as {
      balances: { venue_key: string }[];
    };
    return ['cex-main', 'cex-sub'].every((key) =>
      balances.some(({ venue_key }) => venue_key === key),
    )
      ? balances
      : null;
  });
});

test('a network that the exchange has suspended stands beside its balances', async () => {
  const shown = await eventually(async () => {
    const { venues } = (await own.api.expect(
      200,
      'GET',
      '/balances?venue_key=cex-main',
    )) as unknown as { venues: { withdrawals: object | null }[] };
    return venues[0]?.withdrawals ?? null;
  });
  expect(shown).toMatchObject({
    quota: null,
    closed: [{ asset: 'USDC', network: 'SUSPENDED', opens_at: null }],
  });
});

test('its requests are counted in the database, for every process of the key', async () => {
  const key = createHash('sha256')
    .update(desk.exchange.key(null).api_key ?? '')
    .digest('hex');
  expect(await own.query('SELECT 1 FROM request_desks WHERE key = $1', [key])).toHaveLength(1);
});

test('a withdrawal whose answer was lost is found by its client id and paid once', async () => {
  desk.exchange.fail({ path: 'withdraw/apply', kind: 'done_then_hangup' });
  const id = await run('test/exchange-out', '100.123456');
  const movement = await own.api.reaches(id, 'COMPLETED');
  expect(books().withdrawals).toHaveLength(1);
  expect(desk.exchange.requests.filter(({ path }) => path.endsWith('/apply'))).toHaveLength(1);
  expect(books().get(null, 'SPOT', 'USDC')).toBe('899.876544');
  const [withdrawn] = books().withdrawals;
  expect(movement.nodes[0]).toMatchObject({
    external_ref: withdrawn?.id,
    output: {
      submitted_amount: '100.123456',
      fee_amount: '0.25',
      received_amount: '99.873456',
      tx_hash: withdrawn?.tx,
    },
  });
  assertConsistent(movement, await own.api.timeline(id));
});

test('a transfer whose answer was lost is found by its client id and moved once', async () => {
  desk.exchange.fail({ path: 'universalTransfer', method: 'POST', kind: 'done_then_500' });
  const id = await run('test/exchange-within', '50');
  await own.api.reaches(id, 'COMPLETED');
  expect(books().transfers).toHaveLength(1);
  expect(books().get(SUB, 'SPOT', 'USDC')).toBe('50');
});

const transfer = async (amount: string): Promise<string> => {
  const body = {
    source_venue: 'cex-main',
    destination_venue: 'cex-sub',
    destination_account_type: 'USDT_FUTURE',
    asset: 'USDC',
    amount,
  };
  const made = await own.api.expect(201, 'POST', '/capital-transfers', {
    ...body,
    reason: 'a test',
    idempotency_key: randomUUID(),
  });
  return String(made['transfer_id']);
};
const transferReaches = (id: string, state: string): Promise<Record<string, unknown>> =>
  eventually(
    async () => {
      const found = await own.api.expect(200, 'GET', `/capital-transfers/${id}`);
      return found['request_state'] === state ? found : null;
    },
    { what: () => `${id} to become ${state}` },
  );

test('a capital transfer whose answer was lost is submitted once, and ends as the record of the exchange says', async () => {
  const before = books().transfers.length;
  const requests = desk.exchange.requests.filter(
    ({ method, path }) => method === 'POST' && path.endsWith('universalTransfer'),
  ).length;
  desk.exchange.fail({ path: 'universalTransfer', method: 'POST', kind: 'done_then_hangup' });
  const id = await transfer('25.5');
  const ended = await transferReaches(id, 'COMPLETED');
  expect(books().transfers).toHaveLength(before + 1);
  const created = 'SELECT venue_entries FROM capital_transfers WHERE transfer_id = $1';
  expect(await own.query(created, [id])).toEqual([
    { venue_entries: expect.stringMatching(/^cex-main: binance account .+; cex-sub: .+ of /) },
  ]);
  expect(
    desk.exchange.requests.filter(
      ({ method, path }) => method === 'POST' && path.endsWith('universalTransfer'),
    ),
  ).toHaveLength(requests + 1);
  expect(ended).toMatchObject({
    provider: 'ccxt',
    provider_transfer_id: books().transfers.at(-1)?.id,
  });
  expect(books().get(SUB, 'USDT_FUTURE', 'USDC')).toBe('25.5');
});

test('one of which the exchange shows nothing is not sent again, and a person decides', async () => {
  const before = books().transfers.length;
  desk.exchange.fail({ path: 'universalTransfer', method: 'POST', kind: 'error_500' });
  const id = await transfer('7');
  await transferReaches(id, 'MANUAL_INTERVENTION');
  expect(books().transfers).toHaveLength(before);
  const events = (await own.api.expect(
    200,
    'GET',
    `/capital-transfers/${id}/timeline`,
  )) as unknown as { event_type: string }[];
  expect(events.filter(({ event_type }) => event_type === 'transfer_submitting')).toHaveLength(1);
  const resolution = { resolution: 'failed', reason: 'the statement shows nothing' };
  const resolve = `/capital-transfers/${id}/actions/resolve`;
  // The exchange takes up to a minute to show a transfer, so its failure is not certain until then.
  expect(await own.api.expect(409, 'POST', resolve, resolution)).toMatchObject({
    detail: { error: 'invalid_state' },
  });
  await own.query(
    "UPDATE capital_transfers SET send_not_after = send_not_after - interval '1 minute' WHERE transfer_id = $1",
    [id],
  );
  await own.api.expect(200, 'POST', resolve, resolution);
  await transferReaches(id, 'FAILED');
});

test('one that the exchange refuses fails with its reason, and the hold is released', async () => {
  desk.exchange.fail({
    path: 'universalTransfer',
    method: 'POST',
    kind: 'refuse',
    body: { code: -4026, msg: 'User has insufficient balance.' },
  });
  const id = await transfer('3');
  expect(await transferReaches(id, 'FAILED')).toMatchObject({ error_code: expect.any(String) });
  expect(await own.query('SELECT status FROM reservations WHERE transfer_id = $1', [id])).toEqual([
    { status: 'released' },
  ]);
});

test('a withdrawal that the exchange refuses fails, and nothing was paid', async () => {
  desk.exchange.fail({
    path: 'withdraw/apply',
    kind: 'refuse',
    body: { code: -4035, msg: 'This address is not on the whitelist.' },
  });
  const before = books().withdrawals.length;
  const id = await run('test/exchange-out', '20');
  const movement = await own.api.reaches(id, 'FAILED');
  expect(movement.nodes[0]).toMatchObject({
    state: 'FAILED',
    error_code: 'ADDRESS_NOT_WHITELISTED',
  });
  expect(books().withdrawals).toHaveLength(before);
});

test('no log of the stack holds the key or its secret', () => {
  const folder = join(own.stack.dataDir, 'logs');
  const logs = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.log'))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('');
  const { api_key, secret } = desk.exchange.key(null);
  expect(logs.length).toBeGreaterThan(1_000);
  for (const text of [api_key, secret, 'signature=']) expect(logs).not.toContain(text);
});
