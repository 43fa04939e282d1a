/**
 * What a database may have forgotten, or a worker that was declared dead may still write, proves
 * nothing.
 */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { observe } from '../../activities/phases/observe.ts';
import { preflight } from '../../activities/phases/preflight.ts';
import { prepare } from '../../activities/phases/prepare.ts';
import { recover } from '../../activities/phases/recover.ts';
import type { PhaseDependencies } from '../../activities/phases/context.ts';
import { phaseRow } from '../../activities/phases/row.ts';
import type { Executor } from '../../domain/executor.ts';
import { retry } from '../../domain/commands/retry.ts';
import { readTransactions, readUnknownNonces, saveSigned } from '../../store/evm-transactions.ts';
import { readSnapshot } from '../../store/movements.ts';
import { takeOver } from '../../store/phases.ts';
import { setCutover } from '../../store/cutover.ts';
import { afterRestore } from '../../store/restore.ts';
import { applyTransition } from '../../store/transition.ts';
import { waitForLocks, storeBench } from './support.ts';

const bench = storeBench();

const CHAIN = 31_337;
const NEVER = new AbortController().signal;
let accounts = 0;
const account = (): string => `0x${String((accounts += 1)).padStart(40, '0')}`;

/** A node in `state` that has claimed `nonce` in its first attempt. */
async function claiming(
  address: string,
  nonce: number,
  {
    state = 'OBSERVING',
    attempt = 1,
    signed = true,
    released = false,
  }: { state?: string; attempt?: number; signed?: boolean; released?: boolean } = {},
): Promise<{ movement_id: string; transaction_id: string }> {
  const { movement_id } = await bench.movement();
  const transaction_id = randomUUID();
  await bench.sql(
    'UPDATE movement_nodes SET state = $2, attempt = $3, submit_epoch = 7 WHERE movement_id = $1::uuid',
    movement_id,
    state,
    attempt,
  );
  await bench.sql(
    `INSERT INTO evm_transactions (transaction_id, signer_key, chain_id, address, nonce, movement_id, node_key,
      attempt, unsigned, raw_tx, tx_hash, created_at, released_at)
     VALUES ($1::uuid, 'evm.test', $2, $3, $4, $5::uuid, 'pay', 1, '{}', $6, $6, now(), CASE WHEN $7
       THEN now() END)`,
    transaction_id,
    CHAIN,
    address,
    nonce,
    movement_id,
    signed ? `0x02${String(nonce)}` : null,
    released,
  );
  return { movement_id, transaction_id };
}

const lane = (address: string, next: number) =>
  bench.sql(
    'INSERT INTO nonce_lanes (chain_id, address, next_nonce) VALUES ($1, $2, $3)',
    CHAIN,
    address,
    next,
  );
/** A restore, after which a person has let new money in again. */
const restored = async () => {
  const change = { reason: 'a test', changed_by: {}, audit: [] };
  const result = await afterRestore(bench.db, {
    incident: randomUUID(),
    send_seconds: 100,
    signature_seconds: 100,
    drain: { ...change, mode: 'drain' },
    audit: [],
  });
  await setCutover(bench.db, { ...change, mode: 'normal' });
  return result;
};
const unknown = (address: string, count: number) =>
  readUnknownNonces(bench.db, { chain_id: CHAIN, from: address }, count);

describe('after a restore, a nonce is known to be ours', () => {
  test('once a transaction of ours is proven to have used it, and not because one was signed for it', async () => {
    const address = account();
    await lane(address, 5);
    await restored();
    expect(await unknown(address, 5)).toEqual([]);
    expect(await unknown(address, 7)).toEqual([
      { nonce: 5, open: false },
      { nonce: 6, open: false },
    ]);
    // The lane gives it away again, since it has forgotten that it did: which of the two is mined
    // is open.
    await claiming(address, 5);
    // Of this one the chain has shown that another transaction was.
    await claiming(address, 6, { released: true, state: 'READY' });
    await claiming(address, 7, { state: 'COMPLETED' });
    await claiming(address, 8, { state: 'READY', attempt: 2 });
    await claiming(address, 9, { signed: false });
    expect(await unknown(address, 10)).toEqual([
      { nonce: 6, open: false },
      { nonce: 9, open: false },
      { nonce: 5, open: true },
    ]);
  });

  test('and a lane that was made after an earlier restore may have lost all of its own', async () => {
    const address = account();
    await restored();
    await lane(address, 3);
    await restored();
    expect(await unknown(address, 2)).toEqual([
      { nonce: 0, open: false },
      { nonce: 1, open: false },
    ]);
  });
});

test('a recovery that has found no bytes is the last word: who signs beside it stores none', async () => {
  const address = account();
  const { movement_id, transaction_id } = await claiming(address, 1, {
    state: 'SUBMITTING',
    signed: false,
  });
  const signed = { transaction_id, epoch: 7, raw_tx: '0x02aa', tx_hash: '0xaa' };
  // Holds the signer between its look at the epoch and its write.
  const other = new pg.Client({ connectionString: bench.url });
  await other.connect();
  try {
    await other.query('BEGIN');
    await other.query('SELECT FROM evm_transactions WHERE transaction_id = $1 FOR UPDATE', [
      transaction_id,
    ]);
    const saving = saveSigned(bench.db, signed);
    await waitForLocks(bench, 1);
    const taking = takeOver(bench.db, { movement_id, node_key: 'pay', attempt: 1 });
    const first = await Promise.race([
      taking.then(() => 'taken over'),
      waitForLocks(bench, 2).then(() => 'waits'),
    ]);
    const seen =
      first === 'waits'
        ? null
        : await readTransactions(bench.db, { movement_id, node_key: 'pay', attempt: 1 });
    await other.query('ROLLBACK');
    const [saved, taken] = await Promise.all([saving, taking]);
    expect(taken.taken).toBe(true);
    // Either the bytes are there before the recovery looks, or they are never stored.
    const found =
      seen ?? (await readTransactions(bench.db, { movement_id, node_key: 'pay', attempt: 1 }));
    expect(saved !== null).toBe(found.some(({ raw_tx }) => raw_tx !== undefined));
  } finally {
    await other.end();
  }
  expect(await saveSigned(bench.db, { ...signed, epoch: 7 })).toBeNull();
});

test('what only a retry may send again is UNKNOWN, and not observed without a person', async () => {
  const { movement_id } = await claiming(account(), 1);
  await bench.sql(
    "UPDATE movements SET request_state = 'EXECUTING' WHERE movement_id = $1::uuid",
    movement_id,
  );
  const args = { movement_id, node_key: 'pay', attempt: 1 };
  const deps = { db: bench.db, executors: { describe: () => undefined } } as never;
  const row = await phaseRow(deps, args);
  const held = {
    next_state: 'UNKNOWN',
    error_code: 'SEND_HELD',
    error_message: 'only a retry may send it again',
  } as const;
  expect(await observe.finish(deps, args, row, { answer: held })).toMatchObject({
    state: 'UNKNOWN',
    next: 'settled',
  });
  expect(
    await bench.sql(
      'SELECT state, error_message FROM movement_nodes WHERE movement_id = $1::uuid',
      movement_id,
    ),
  ).toEqual([{ state: 'UNKNOWN', error_message: held.error_message }]);
});

test.each([
  ['preflight', preflight, false],
  ['prepare', prepare, true],
] as const)(
  'a node that a restore has marked is looked up first, though its run was at %s, and late',
  async (_name, steps, preflight_passed) => {
    const { movement_id } = await bench.movement();
    await bench.sql(
      `UPDATE movement_nodes SET state = 'READY', preflight_passed = $2,
        started_at = now() - interval '1 day', recover_first = true, restored = true,
       own_plan = own_plan || '{"timeout_policy": {"execution_seconds": 60}}'
     WHERE movement_id = $1::uuid`,
      movement_id,
      preflight_passed,
    );
    const step = await steps.begin({ db: bench.db } as PhaseDependencies, {
      movement_id,
      node_key: 'pay',
      attempt: 1,
    });
    expect(step).toEqual({ state: 'READY', next: 'recover', error_code: null });
  },
);

test.each(['READY', 'SUBMITTING', 'UNKNOWN'])(
  'a node that a restore found %s is not sent again while its venue knows a later attempt',
  async (state) => {
    const { movement_id } = await bench.movement();
    await bench.sql(
      'UPDATE movement_nodes SET state = $2, submit_epoch = 7 WHERE movement_id = $1::uuid',
      movement_id,
      state,
    );
    const deps = { db: bench.db, executors: { describe: () => undefined } } as never;
    const looked: string[] = [];
    const executor = {
      recover: ({ idempotency_key }: { readonly idempotency_key: string }) => {
        looked.push(idempotency_key);
        const isPaid = idempotency_key === `${movement_id}:pay:3`;
        return Promise.resolve({ next_state: isPaid ? 'COMPLETED' : 'READY' });
      },
    } as unknown as Executor;
    const look = async () => {
      const row = await phaseRow(deps, { movement_id, node_key: 'pay', attempt: 1 });
      const context = { attempt: 1, idempotency_key: `${movement_id}:pay:1` };
      return recover.call(deps, executor, { row, context } as never, { signal: NEVER } as never);
    };
    expect(await look()).toEqual({ next_state: 'READY' });
    await bench.sql(
      'UPDATE movement_nodes SET restored = true WHERE movement_id = $1::uuid',
      movement_id,
    );
    expect(await look()).toEqual({
      next_state: 'UNKNOWN',
      error_message: expect.stringContaining(`${movement_id}:pay:3`),
    });
    expect(looked).toEqual([1, 1, 2, 3].map((attempt) => `${movement_id}:pay:${attempt}`));
  },
);

test('a retry after a restore keeps the time in which a lost send of it may still be under way', async () => {
  /** A movement that failed; the time of its send was over an hour ago. */
  const failed = async (): Promise<string> => {
    const { movement_id } = await bench.movement({ unheld: true });
    await bench.sql(
      `UPDATE movements SET request_state = 'FAILED', approval_status = 'approved',
        ended_at = svc_now() WHERE movement_id = $1::uuid`,
      movement_id,
    );
    await bench.sql(
      `UPDATE movement_nodes SET state = 'FAILED', error_code = 'REFUSED', submit_epoch = 7,
        send_not_after = svc_now() - interval '1 hour' WHERE movement_id = $1::uuid`,
      movement_id,
    );
    return movement_id;
  };
  const retried = async (movement_id: string) => {
    await bench.approve(movement_id);
    const change = retry(await readSnapshot(bench.db, movement_id), {
      caller: { client_id: null, key_id: null, role: 'operator' },
      request_id: 'a-request',
    });
    expect(await applyTransition(bench.db, change!)).toMatchObject({ ok: true });
    const [row] = await bench.sql<{ readonly seconds: number | null }>(
      `SELECT state, attempt, recover_first,
        extract(epoch FROM send_not_after - svc_now())::float AS seconds
       FROM movement_nodes WHERE movement_id = $1::uuid`,
      movement_id,
    );
    return row;
  };
  const anew = { state: 'READY', attempt: 2 };
  expect(await retried(await failed())).toEqual({ ...anew, recover_first: false, seconds: null });
  const lost = await failed();
  await restored();
  const row = await retried(lost);
  // The backup may lack this very attempt, which a worker of before may send for 100 seconds.
  expect(row).toMatchObject({ ...anew, recover_first: true });
  expect(row?.seconds).toBeGreaterThan(50);
});
