/**
 * What is stopped stays stopped: bytes and actions that no endpoint or venue has taken are not sent
 * while a stop holds, on any path. The evidence is the chain's own and the perps venue's books.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { PERP_TEMPLATES } from '../../dev/stack/starter-templates.ts';
import { transfersOnChain, type NodeView } from '../support/evidence.ts';
import { fundSigner } from '../support/funds.ts';
import { eventually, ownStack, type Created } from '../support/own-stack.ts';
import { perpBooks, type PerpBooks } from '../support/perp-books.ts';
import { compensation, edge, noop, storeTemplate, transfer } from '../support/plans.ts';

let books: PerpBooks;
/** Pays the treasury, or does something else where that fails; the second gives up after 1 s. */
let pays: string;
let impatient: string;
let serial = 0;

const own = ownStack({
  perp: true,
  split: true,
  env: {
    SVC_LANE_INTERVAL_SECONDS: '1',
    SVC_UNPROVEN_ASK_SECONDS: '1',
    SVC_NODE_UNANSWERED_TIMEOUT_SECONDS: '20',
  },
});
beforeAll(async () => {
  const { chain, perp } = own.stack;
  books = perpBooks(perp!);
  await fundSigner(own, '1000');
  const plan = (more: object) =>
    storeTemplate(
      own.api,
      [transfer(chain, 'pay', { more }), noop('instead'), compensation('undo')],
      {
        edges: [edge('pay', 'instead', 'on_failure'), edge('pay', 'undo', 'on_cancel')],
      },
    );
  pays = await plan({});
  impatient = await plan({ timeout_policy: { observe_seconds: 1 } });
  await own.api.expect(200, 'POST', '/perp-venue/master-account', {
    master_address: perp!.account,
    signer_key: 'dev-treasury',
    network: 'testnet',
  });
  await own.api.expect(200, 'POST', '/perp-venue/strategy-bindings', { strategy_id: 'tests' });
  await books.fund(perp!.account, '500');
}, 240_000);
afterEach(async () => {
  await own.chainFaults({ mining: 'automatic', reject_rate: 0 });
  await books.faults(null);
});

interface Sent extends Created {
  readonly amount: string;
}

const nodeOf = async ({ movement_id }: Created): Promise<NodeView> =>
  (await own.api.movement(movement_id)).nodes[0]!;
const nodeIs = (movement: Created, is: (node: NodeView) => boolean, what: string) =>
  eventually(
    async () => {
      const node = await nodeOf(movement);
      return is(node) ? node : null;
    },
    { what: () => `the node ${what}`, timeoutMs: 60_000 },
  );

/** Signed and stored, while the endpoint refuses each broadcast. */
async function stored(template = pays): Promise<Sent> {
  await own.chainFaults({ reject_rate: 1 });
  serial += 1;
  const amount = `4.${String(serial).padStart(2, '0')}3`;
  const movement = { ...(await own.api.create(template, { amount })), amount };
  await own.api.approve(movement);
  await eventually(async () => ((await hashesOf(movement)).length > 0 ? true : null));
  await sleep(500);
  return movement;
}

const hashesOf = async ({ movement_id }: Created): Promise<readonly string[]> =>
  (
    await own.query<{ tx_hash: string }>(
      "SELECT tx_hash FROM evm_transactions WHERE movement_id = $1 AND kind = 'payment' AND raw_tx IS NOT NULL",
      [movement_id],
    )
  ).map(({ tx_hash }) => tx_hash);

async function paid({ amount }: Sent): Promise<number> {
  return (await transfersOnChain(own.stack.chain)).filter((each) => each.amount === amount).length;
}

const executors = (status: string, key: string) =>
  own.query('UPDATE executors SET status = $1 WHERE executor_key = $2', [status, key]);
const signers = (status: string) => own.query('UPDATE signers SET status = $1', [status]);
const payee = (active: boolean, address = own.stack.chain.accounts.treasury.address) =>
  own.query(
    `UPDATE allowed_addresses SET active = $2, revoked_at = CASE WHEN $2 THEN NULL ELSE now() END,
       revoked_by = CASE WHEN $2 THEN NULL ELSE 'a test' END WHERE address = lower($1)`,
    [address, active],
  );
const mode = (to: string) =>
  own.api.expect(200, 'POST', '/admin/cutover-mode', { mode: to, reason: 'a test' });
const executorOf = async ({ movement_id }: Created): Promise<string> =>
  (
    await own.query<{ key: string }>(
      "SELECT executor_binding ->> 'executor_key' AS key FROM movement_nodes WHERE movement_id = $1 ORDER BY position LIMIT 1",
      [movement_id],
    )
  )[0]!.key;

const ELSEWHERE = `0x${'1'.repeat(40)}`;
const master = (address = own.stack.perp!.account) =>
  own.query('UPDATE perp_master SET master_address = $1', [address]);

/** The endpoint takes everything again; there is time for many looks. */
async function staysUnpaid(movement: Sent): Promise<void> {
  await own.chainFaults({ reject_rate: 0 });
  await sleep(6_000);
  expect(await paid(movement)).toBe(0);
}

/** Stops that pass: how they come, and go. */
const PASSING: readonly (readonly [
  string,
  (movement: Created) => Promise<unknown>,
  (movement: Created) => Promise<unknown>,
])[] = [
  ['a frozen switch', () => mode('frozen'), () => mode('normal')],
  [
    'a disabled executor',
    async (movement) => executors('disabled', await executorOf(movement)),
    async (movement) => executors('active', await executorOf(movement)),
  ],
  ['a disabled signer', () => signers('disabled'), () => signers('active')],
];

test.each(PASSING)(
  '%s holds back stored bytes that no endpoint took, and they are sent once when it has passed',
  async (_name, stop, go) => {
    const movement = await stored();
    await stop(movement);
    try {
      await staysUnpaid(movement);
      expect(await nodeOf(movement)).toMatchObject({ error_code: 'SEND_HELD' });
    } finally {
      await go(movement);
    }
    await own.api.reaches(movement.movement_id, 'COMPLETED');
    expect(await paid(movement)).toBe(1);
  },
  90_000,
);

test.each([
  ['a revoked payee', () => payee(false), () => payee(true), 'FAILED'],
  [
    'a cancel',
    (movement: Created) => own.api.act('cancel', movement.movement_id),
    () => Promise.resolve([]),
    'CANCELLED',
  ],
] as const)(
  '%s ends stored bytes that no endpoint took: their nonce is used up, and no failure edge fires',
  async (_name, stop, go, end) => {
    const movement = await stored();
    await stop(movement);
    try {
      await own.chainFaults({ reject_rate: 0 });
      await nodeIs(movement, ({ state }) => state === 'FAILED', 'to be FAILED');
      expect(await nodeOf(movement)).toMatchObject({ error_code: 'TRANSACTION_CANCELLED' });
      const { nodes } = await own.api.reaches(movement.movement_id, end);
      expect(nodes.slice(1).map(({ state }) => state)).not.toContain('COMPLETED');
      expect(await paid(movement)).toBe(0);
    } finally {
      await go();
    }
  },
  90_000,
);

test('what a stop ends after its time is over did not fail for lack of time', async () => {
  const movement = await stored(impatient);
  await nodeIs(movement, ({ state }) => state === 'UNKNOWN', 'to be UNKNOWN');
  await payee(false);
  try {
    await own.chainFaults({ reject_rate: 0 });
    await nodeIs(movement, ({ state }) => state === 'FAILED', 'to be FAILED');
    expect(await nodeOf(movement)).toMatchObject({ error_code: 'TRANSACTION_CANCELLED' });
    const { nodes } = await own.api.reaches(movement.movement_id, 'FAILED');
    expect(nodes.slice(1).map(({ state }) => state)).not.toContain('COMPLETED');
    expect(await paid(movement)).toBe(0);
  } finally {
    await payee(true);
  }
}, 120_000);

test('of an UNKNOWN node nothing is sent by asking or by a resume, only by a retry', async () => {
  const movement = await stored(impatient);
  await nodeIs(movement, ({ state }) => state === 'UNKNOWN', 'to be UNKNOWN');
  await staysUnpaid(movement);
  await own.api.act('resume', movement.movement_id);
  await sleep(3_000);
  await nodeIs(movement, ({ state }) => state === 'UNKNOWN', 'to be UNKNOWN again');
  expect(await paid(movement)).toBe(0);
  await own.api.act('retry', movement.movement_id);
  await own.api.reaches(movement.movement_id, 'COMPLETED');
  expect(await paid(movement)).toBe(1);
}, 120_000);

test('what an endpoint took is followed and repeated in every mode', async () => {
  await own.chainFaults({ mining: 'paused' });
  const movement = { ...(await own.api.create(pays, { amount: '4.991' })), amount: '4.991' };
  await own.api.approve(movement);
  await own.api.nodeReaches(movement.movement_id, 'pay', ['OBSERVING']);
  await mode('frozen');
  try {
    await payee(false);
    await own.chainFaults({ mining: 'automatic' });
    await own.api.reaches(movement.movement_id, 'COMPLETED');
    expect(await paid(movement)).toBe(1);
  } finally {
    await payee(true);
    await mode('normal');
  }
}, 90_000);

test('a deposit whose strategy is paused while it is signed anew is not stored', async () => {
  await own.chainFaults({ mining: 'paused' });
  const movement = await own.api.create(PERP_TEMPLATES.deposit, { amount: '30' });
  const { movement_id } = movement;
  await own.api.approve(movement);
  await own.api.nodeReaches(movement_id, 'move', ['OBSERVING']);
  const paused = (on: boolean) =>
    own.query("UPDATE perp_bindings SET paused = $1 WHERE strategy_id = 'tests'", [on]);
  const holder = new pg.Client({ connectionString: own.stack.databaseUrl });
  await holder.connect();
  try {
    await holder.query('BEGIN');
    await holder.query('SELECT FROM movements WHERE movement_id = $1 FOR UPDATE', [movement_id]);
    await own.query(
      "UPDATE evm_transactions SET created_at = created_at - interval '10 minutes' WHERE movement_id = $1",
      [movement_id],
    );
    // It has checked the stops and signed, and waits for the movement's lock to store it.
    await eventually(
      async () => {
        const waiting = await own.query(
          `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'
             AND query LIKE '%apply_transition%' AND datname = current_database()`,
        );
        return waiting.length > 0 ? true : null;
      },
      { what: () => 'the new version to be stored' },
    );
    await paused(true);
    await holder.query('COMMIT');
    await nodeIs(
      movement,
      ({ error_message }) => /STRATEGY_PAUSED/.test(error_message ?? ''),
      'to say that its strategy is paused',
    );
    expect(await hashesOf(movement)).toHaveLength(1);
  } finally {
    await holder.end();
    await paused(false);
  }
  await own.chainFaults({ mining: 'automatic' });
  await own.api.reaches(movement_id, 'COMPLETED');
}, 90_000);

describe('a withdrawal of the perps venue whose first send failed', () => {
  const admitted = async (): Promise<number> =>
    (await books.heard('withdraw3')).filter((each) => each.admitted).length;

  /** The venue pays it out later. */
  async function isAdmitted(movement: Created, count: number): Promise<void> {
    await own.api.nodeReaches(movement.movement_id, 'move', ['OBSERVING', 'COMPLETED'], 60_000);
    await eventually(async () => ((await admitted()) === count ? true : null));
  }

  async function unsent(): Promise<Created> {
    await books.faults({ refuse_rate: 1, calls: ['exchange'] });
    const { venueKey } = own.stack.perp!;
    await own.api.expect(200, 'GET', `/balances?venue_key=${venueKey}&asset=USDC&fresh=true`);
    const movement = await own.api.create(PERP_TEMPLATES.withdrawal, { amount: '40' });
    await own.api.approve(movement);
    // Its first send is over, and has failed: what is behind its fence may still go out.
    await nodeIs(
      movement,
      ({ state, error_code }) => state === 'SUBMITTING' && error_code !== null,
      'to have failed to send',
    );
    return movement;
  }

  test.each([
    ['its payee is revoked', () => payee(false), () => payee(true)],
    [
      'its executor is disabled',
      () => executors('disabled', 'perp.withdraw'),
      () => executors('active', 'perp.withdraw'),
    ],
    ['its master account is another', () => master(ELSEWHERE), () => master()],
  ] as const)(
    'is not sent again while %s',
    async (_name, stop, go) => {
      const before = await admitted();
      const movement = await unsent();
      await stop();
      try {
        await books.faults(null);
        await nodeIs(movement, ({ error_code }) => error_code === 'ACTION_HELD', 'to be held');
        await sleep(4_000);
        expect(await admitted()).toBe(before);
      } finally {
        await go();
      }
      await isAdmitted(movement, before + 1);
    },
    180_000,
  );

  test('is sent by no resume, once it is UNKNOWN, and by a retry', async () => {
    const before = await admitted();
    const movement = await unsent();
    await own.api.reaches(movement.movement_id, 'MANUAL_INTERVENTION');
    await books.faults(null);
    await own.api.act('resume', movement.movement_id);
    await sleep(5_000);
    await own.api.reaches(movement.movement_id, 'MANUAL_INTERVENTION');
    expect(await admitted()).toBe(before);
    await own.api.act('retry', movement.movement_id);
    await isAdmitted(movement, before + 1);
  }, 180_000);
});
