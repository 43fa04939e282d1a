/** What a lane gives away, and what ends a claim. */
import { randomUUID } from 'node:crypto';
import type { AuditEntry } from '../../domain/transition.ts';
import { readTransactions, releaseNonce } from '../../store/evm-transactions.ts';
import { noteLane, raiseLaneCaps, readLaneRaise, readLanes, takeLanes } from '../../store/lanes.ts';
import { storeBench } from './support.ts';

const bench = storeBench();

let account = 0;
const CHAIN = 1;

interface Lane {
  readonly address: string;
  /** A claim of a new movement's node in this state; `signed` has bytes. */
  claim(nonce: number, state: string, signed: boolean): Promise<Claimed>;
  /** Why it would not get a nonce now. */
  problem(of: string): Promise<string | null>;
}

interface Claimed {
  readonly movement_id: string;
  readonly transaction_id: string;
}

async function lane(): Promise<Lane> {
  account += 1;
  const address = `0x${String(account).padStart(40, '0')}`;
  await bench.sql(
    'INSERT INTO nonce_lanes (chain_id, address, next_nonce) VALUES ($1, $2, 20)',
    CHAIN,
    address,
  );
  return {
    address,
    async claim(nonce, state, signed) {
      const { movement_id } = await bench.movement();
      const transaction_id = randomUUID();
      await bench.sql(
        'UPDATE movement_nodes SET state = $2, submit_epoch = 3 WHERE movement_id = $1::uuid',
        movement_id,
        state,
      );
      await bench.sql(
        `INSERT INTO evm_transactions (transaction_id, signer_key, chain_id, address, nonce,
           movement_id, node_key, attempt, unsigned, raw_tx, tx_hash, created_at)
         VALUES ($1::uuid, 'k', $2, $3, $4, $5::uuid, 'pay', 1, '{}', $6, $6, svc_now())`,
        transaction_id,
        CHAIN,
        address,
        nonce,
        movement_id,
        signed ? `0x${nonce}` : null,
      );
      return { movement_id, transaction_id };
    },
    async problem(of) {
      const [row] = await bench.sql<{ problem: readonly { reason: string }[] | null }>(
        'SELECT lane_problem($1::uuid, $2, 1, $3::jsonb) AS problem',
        of,
        'pay',
        JSON.stringify({ chain_id: CHAIN, address, chain_nonce: 5 }),
      );
      return row?.problem?.[0]?.reason ?? null;
    },
  };
}

test('what is signed, unmined and left alone is in the way of whatever comes', async () => {
  for (const state of ['UNKNOWN', 'COMPLETED', 'FAILED']) {
    const one = await lane();
    const { movement_id } = await one.claim(6, state, true);
    expect(await one.problem(randomUUID())).toContain(movement_id);
  }
});

test('what is mined, worked on or unsigned blocks none', async () => {
  const one = await lane();
  await one.claim(4, 'UNKNOWN', true);
  await one.claim(6, 'OBSERVING', true);
  await one.claim(7, 'UNKNOWN', false);
  expect(await one.problem(randomUUID())).toBeNull();
});

test('what lies above the nonce that it has is not in its way', async () => {
  const one = await lane();
  const { movement_id } = await one.claim(5, 'READY', false);
  const above = await one.claim(6, 'UNKNOWN', true);
  // It waits for 5 itself; only who would come behind 6 waits for it.
  expect(await one.problem(movement_id)).toBeNull();
  expect(await one.problem(randomUUID())).toContain(above.movement_id);
  // A nonce that is taken over lies below as well.
  await bench.sql(
    "UPDATE movement_nodes SET state = 'CANCELLED' WHERE movement_id = $1::uuid",
    movement_id,
  );
  expect(await one.problem(randomUUID())).toBeNull();
});

test('each send takes over one nonce that was left unsigned, the lowest first, and then a new one', async () => {
  const one = await lane();
  for (const [nonce, state] of [
    [7, 'CANCELLED'],
    [5, 'FAILED'],
    [6, 'UNKNOWN'],
  ] as const)
    await one.claim(nonce, state, false);
  const claimed = async (): Promise<number> => {
    const { movement_id } = await bench.movement();
    const claim = {
      ...{ transaction_id: randomUUID(), chain_id: CHAIN, address: one.address, chain_nonce: 5 },
      ...{ signer_key: 'k', unsigned: {} },
    };
    const [row] = await bench.sql<{ nonce: number }>(
      `SELECT (claim_nonce($1::uuid, 'pay', 1, $2::jsonb, svc_now())).nonce::integer AS nonce`,
      movement_id,
      JSON.stringify(claim),
    );
    return row!.nonce;
  };
  expect([await claimed(), await claimed(), await claimed(), await claimed()]).toEqual([
    5, 6, 7, 20,
  ]);
});

test('only who knows the newest version of a nonce releases it', async () => {
  const one = await lane();
  const { movement_id, transaction_id } = await one.claim(6, 'OBSERVING', true);
  const owner = { movement_id, node_key: 'pay', attempt: 1 };
  const [known] = await readTransactions(bench.db, owner);
  expect(await releaseNonce(bench.db, { ...owner, epoch: 2 }, known!)).toBe(false);
  await bench.sql(
    `INSERT INTO evm_transactions (transaction_id, signer_key, chain_id, address, nonce, movement_id,
       node_key, attempt, kind, replaces, unsigned, raw_tx, tx_hash, created_at)
     SELECT $2::uuid, signer_key, chain_id, address, nonce, movement_id, node_key, attempt, 'payment',
       transaction_id, '{}', '0xb', '0xb', svc_now() + interval '1 second'
     FROM evm_transactions WHERE transaction_id = $1::uuid`,
    transaction_id,
    randomUUID(),
  );
  expect(await releaseNonce(bench.db, { ...owner, epoch: 3 }, known!)).toBe(false);
  expect(await readTransactions(bench.db, owner)).toHaveLength(2);
  const newest = (await readTransactions(bench.db, owner)).at(-1);
  expect(await releaseNonce(bench.db, { ...owner, epoch: 3 }, newest!)).toBe(true);
  expect(await readTransactions(bench.db, owner)).toEqual([]);
});

test('one process at a time looks after a lane, and then another may', async () => {
  const one = await lane();
  await one.claim(6, 'OBSERVING', true);
  const own = async (seconds: number): Promise<number> =>
    (await takeLanes(bench.db, seconds, 10)).filter(({ address }) => address === one.address)
      .length;
  const taken = await Promise.all([own(0.5), own(0.5), own(0.5)]);
  expect(taken.reduce((sum, each) => sum + each, 0)).toBe(1);
  expect(await own(0.5)).toBe(0);
  await new Promise((resolve) => setTimeout(resolve, 600));
  expect(await own(0.5)).toBe(1);
});

test('a lane that was stuck is looked after once its last claim is settled, and is stuck no more', async () => {
  const { address, claim } = await lane();
  const { transaction_id } = await claim(6, 'FAILED', true);
  const own = async () =>
    (await takeLanes(bench.db, 0, 10)).filter((each) => each.address === address);
  const noted = {
    chain_id: CHAIN,
    address,
    mined: 7,
    final: 7,
    settled: [{ transaction_id, mined_hash: null }],
  };
  await noteLane(bench.db, { ...noted, stuck: { nonce: 6, why: 'refused' } });
  expect(await own()).toEqual([{ chain_id: CHAIN, address, claims: [] }]);
  await noteLane(bench.db, { ...noted, settled: [], stuck: null });
  expect(await own()).toEqual([]);
});

const RAISE = {
  max_gas_cost_wei: '90000000000000000',
  max_fee_per_gas_gwei: null,
  reason: 'gas is dear',
  raised_by: { type: 'key', client_id: null, key_id: 'k' },
} as const;

function raised(address: string, ttl_seconds: number): Promise<boolean> {
  const audit: AuditEntry = {
    action: 'nonce_lane.raise_caps',
    outcome: 'success',
    entity_type: 'nonce_lane',
    entity_key: address,
    reason: RAISE.reason,
    actor_client_id: null,
    actor_key_id: 'k',
    actor_role: 'admin',
    request_id: 'r',
  };
  return raiseLaneCaps(bench.db, { chain_id: CHAIN, address, raise: RAISE, ttl_seconds, audit });
}

test('a raise of caps is of one lane alone, and is signed by as it is shown', async () => {
  const [one, other] = [await lane(), await lane()];
  await bench.sql(
    'INSERT INTO nonce_lanes (chain_id, address, next_nonce) VALUES (2, $1, 1)',
    one.address,
  );
  expect(await raised(one.address, 3_600)).toBe(true);
  const found = await readLaneRaise(bench.db, { chain_id: CHAIN, address: one.address });
  expect(found).toMatchObject(RAISE);
  expect(Date.parse(found!.until) - Date.parse(found!.raised_at)).toBe(3_600_000);
  for (const lane of await readLanes(bench.db)) {
    const isRaised = lane.address === one.address && lane.chain_id === CHAIN;
    expect(lane.raise).toEqual(isRaised ? found : null);
    expect(await readLaneRaise(bench.db, lane)).toEqual(lane.raise);
  }
  expect(await raised(`0x${'e'.repeat(40)}`, 3_600)).toBe(false);
  expect(await readLaneRaise(bench.db, { chain_id: CHAIN, address: other.address })).toBeNull();
});

test('a raise of caps ends at its time, or when it is ended, and the audit has what was before', async () => {
  const { address } = await lane();
  const now = () => readLaneRaise(bench.db, { chain_id: CHAIN, address });
  await raised(address, 3_600);
  await bench.sql(
    "UPDATE nonce_lanes SET cap_raised_until = svc_now() - interval '1 millisecond' WHERE address = $1",
    address,
  );
  expect(await now()).toBeNull();
  await raised(address, 3_600);
  await raised(address, 0);
  expect(await now()).toBeNull();
  const rows = await bench.sql<{ details: { previous_raise: object | null } }>(
    'SELECT details FROM audit_events WHERE entity_key = $1 ORDER BY occurred_at, event_id',
    address,
  );
  expect(rows.map(({ details }) => details.previous_raise)).toEqual([
    null,
    null,
    expect.objectContaining(RAISE),
  ]);
});
