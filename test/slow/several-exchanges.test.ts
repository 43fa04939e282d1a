/** Movements out of all exchanges of one service, each with its wire format and its hard cases. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DIALECTS } from '../../venues/cex/dialects/index.ts';
import { assertConsistent } from '../support/evidence.ts';
import { eventually, startOwnStack, type OwnStack } from '../support/own-stack.ts';
import {
  ADDRESS,
  configOf,
  freshBooks,
  openDesk,
  whitelistOf,
  type Desk,
} from '../venues/cex/support/desk.ts';
import { FORMATS } from '../venues/cex/support/formats/index.ts';

const desks = new Map<string, Desk>();
let own: OwnStack;

/** The exchanges that find a lost withdrawal in this way. */
function foundBy(way: 'client_id' | 'baseline') {
  return FORMATS.filter(({ exchange }) => DIALECTS.get(exchange)?.search.by === way).map(
    (format) => [format.exchange, format.paths] as const,
  );
}

beforeAll(async () => {
  for (const format of FORMATS) {
    const desk = await openDesk(format);
    freshBooks(desk);
    desks.set(format.exchange, desk);
  }
  const [first] = FORMATS;
  if (first === undefined) throw new Error('no exchanges');
  const venues = FORMATS.map((format) => ({
    provider: 'ccxt',
    exchange: format.exchange,
    base_url: deskOf(format.exchange).exchange.url,
    venue_key: `${format.exchange}-main`,
    account_role: 'master',
    account: format.books.master,
    credentials_file: join(deskOf(format.exchange).folder, 'main.json'),
    exclusive: true,
    timeout_seconds: 60,
    fetch_interval_seconds: 600,
    ...whitelistOf(format),
  }));
  const venuesFile = join(deskOf(first.exchange).folder, 'venues.json');
  await writeFile(venuesFile, JSON.stringify({ venues }));
  own = await startOwnStack({ env: { SVC_VENUES_FILE: venuesFile }, allow: [ADDRESS] });
  for (const format of FORMATS)
    await own.api.expect(201, 'POST', '/plan-templates', {
      version: 1,
      edges: [],
      completion_policy: { completion_assurance: 'provider_completed' },
      template_key: `test/out-of-${format.exchange}`,
      name: `Out of ${format.exchange}`,
      nodes: [
        {
          node_key: 'out',
          node_kind: 'action',
          action_type: 'cex_withdrawal',
          has_side_effect: true,
          executor_selector: { action_type: 'cex_withdrawal', provider: 'ccxt' },
          config: {
            venue: `${format.exchange}-main`,
            asset: 'USDC',
            destination_address: ADDRESS,
            ...configOf(format),
          },
          retry_policy: { max_attempts: 5, initial_interval_seconds: 0.1 },
        },
      ],
    });
}, 180_000);
afterAll(async () => {
  await own?.close();
  for (const desk of desks.values()) await desk.close();
});

function deskOf(exchange: string): Desk {
  const desk = desks.get(exchange);
  if (desk === undefined) throw new Error(`no local ${exchange}`);
  return desk;
}

async function start(exchange: string, amount: string): Promise<string> {
  const movement = await own.api.create(`test/out-of-${exchange}`, { amount });
  await own.api.approve(movement);
  return movement.movement_id;
}

test.each(foundBy('client_id'))(
  '%s: a withdrawal whose answer was lost is found by its client id and paid once',
  async (name, { withdraw }) => {
    const { exchange } = deskOf(name);
    exchange.fail({ path: withdraw, method: 'POST', kind: 'done_then_hangup' });
    const id = await start(name, '100.5');
    const movement = await own.api.reaches(id, 'COMPLETED');
    const [paid] = exchange.books.withdrawals;
    expect(exchange.books.withdrawals).toHaveLength(1);
    expect(exchange.books.get(null, 'SPOT', 'USDC')).toBe('899.5');
    expect(movement.nodes[0]).toMatchObject({
      external_ref: paid?.id,
      output: { submitted_amount: '100.5', received_amount: '100.25', tx_hash: paid?.tx },
    });
    assertConsistent(movement, await own.api.timeline(id));
  },
  120_000,
);

test.each(foundBy('baseline'))(
  '%s: of two equal withdrawals at once, the one whose answer was lost is the one found',
  async (name, { withdraw }) => {
    const { exchange } = deskOf(name);
    exchange.fail({ path: withdraw, method: 'POST', kind: 'done_then_hangup' });
    const ids = await Promise.all([start(name, '100.5'), start(name, '100.5')]);
    const references: unknown[] = [];
    for (const id of ids) {
      const movement = await eventually(
        async () => {
          const found = await own.api.movement(id);
          return found.request_state === 'COMPLETED' ? found : null;
        },
        { timeoutMs: 240_000, what: () => `${id} to be completed` },
      );
      references.push(movement.nodes[0]?.external_ref);
      assertConsistent(movement, await own.api.timeline(id));
    }
    const { withdrawals } = exchange.books;
    expect(withdrawals).toHaveLength(2);
    expect([...references].sort()).toEqual(withdrawals.map(({ id }) => id).sort());
    expect(exchange.books.get(null, 'SPOT', 'USDC')).toBe('799');
  },
  300_000,
);
