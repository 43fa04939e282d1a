/**
 * A node whose end the chain contradicts: its payment is mined after it had ended without it, or
 * the block of its payment is gone for good. A person has to know, once, however long ago it ended.
 */
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { startLaneTender } from '../../activities/relays/lanes.ts';
import { sentenceOf } from '../../domain/attention.ts';
import {
  acknowledge,
  acknowledgeable,
  namedOf,
  type NamedReason,
} from '../../domain/commands/acknowledge.ts';
import {
  listNeeding,
  noteAttention,
  readAttention,
  readEndedBadly,
  readReasonsForRuns,
} from '../../store/attention.ts';
import { readSnapshot } from '../../store/movements.ts';
import { applyTransition } from '../../store/transition.ts';
import type { EvmChains } from '../../venues/evm/client.ts';
import { eventually } from '../support/eventually.ts';
import { storeBench } from './support.ts';

const bench = storeBench();

const PERSON = {
  caller: { client_id: null, key_id: null, role: 'operator' as const },
  request_id: 'a-request',
};
const LANDING: NamedReason = { attention_reason: 'landed_late', node_key: 'pay' };
const hash = (): string => `0x${`${randomUUID()}${randomUUID()}`.replaceAll('-', '')}`;

interface Claimed {
  readonly id: string;
  readonly address: string;
  readonly payment: string;
  /** The zero-value transaction that was signed after the payment. */
  readonly cancel: string;
}

/** A movement that completed a month ago; nonce 7 of its node `pay` is not known to be final. */
async function completed(by: 'a person' | 'itself'): Promise<Claimed> {
  const { movement_id: id } = await bench.movement({ unheld: true });
  await bench.approve(id);
  await bench.sql(
    `UPDATE movement_nodes SET state = 'COMPLETED', completed_at = now() - interval '30 days'
      WHERE movement_id = $1::uuid`,
    id,
  );
  await bench.sql(
    `UPDATE movements SET request_state = 'COMPLETED', approval_status = 'approved',
       callback_url = 'http://callback.test/', ended_at = now() - interval '30 days',
       updated_at = now() - interval '30 days' WHERE movement_id = $1::uuid`,
    id,
  );
  if (by === 'a person')
    await bench.sql(
      `INSERT INTO artifacts (artifact_id, movement_id, node_key, attempt, kind, data, created_at)
       VALUES (gen_random_uuid(), $1::uuid, 'pay', 1, 'resolution', '{}', now())`,
      id,
    );
  const [address, payment, cancel] = [hash().slice(0, 42), hash(), hash()];
  await bench.sql(
    'INSERT INTO nonce_lanes (chain_id, address, next_nonce) VALUES (1, $1, 20)',
    address,
  );
  await bench.sql(
    `INSERT INTO evm_transactions (transaction_id, signer_key, chain_id, address, nonce,
       movement_id, node_key, attempt, unsigned, raw_tx, tx_hash, created_at)
     VALUES (gen_random_uuid(), 'k', 1, $1, 7, $2::uuid, 'pay', 1, '{}', $3, $3, svc_now())`,
    ...[address, id, payment],
  );
  await bench.sql(
    `INSERT INTO evm_transactions (transaction_id, signer_key, chain_id, address, nonce,
       movement_id, node_key, attempt, kind, replaces, unsigned, raw_tx, tx_hash, created_at)
     SELECT gen_random_uuid(), signer_key, chain_id, address, nonce, movement_id, node_key,
       attempt, 'cancel', transaction_id, '{}', $2, $2, created_at + interval '1 second'
     FROM evm_transactions WHERE address = $1`,
    ...[address, cancel],
  );
  return { id, address, payment, cancel };
}

/** A chain with final block 100, whose block 90 has this transaction of the account, of nonce 7. */
function chainWith(
  { address }: Claimed,
  mined: string,
  status: 'success' | 'reverted',
  isRead: () => Promise<void>,
  minedIn: () => bigint,
): EvmChains {
  const client = {
    getTransactionCount: ({ blockNumber = 100n }: { readonly blockNumber?: bigint }) =>
      Promise.resolve(blockNumber >= 90n ? 20 : 7),
    getBlock: () =>
      Promise.resolve({ number: 100n, transactions: [{ from: address, nonce: 7, hash: mined }] }),
    getTransactionReceipt: async ({ hash: of }: { readonly hash: string }) => {
      await isRead();
      return of === mined ? { transactionHash: of, blockNumber: minedIn(), status } : null;
    },
  };
  const ask = (question: (of: typeof client) => unknown) => Promise.resolve(question(client));
  const connection = {
    venue: { finality: { confirmations: null } },
    ...{ ask, find: ask },
    witnesses: async (question: (of: object) => unknown): Promise<readonly unknown[]> => [
      await question(connection),
    ],
  };
  return { chainIds: () => [1], open: () => Promise.resolve(connection) } as unknown as EvmChains;
}

const resting = (): Promise<void> => Promise.resolve();

/** Two processes tend the lane until the claim is settled, and for some turns more. */
async function tended(
  claimed: Claimed,
  mined: string,
  status: 'success' | 'reverted' = 'success',
  isRead = resting,
  minedIn = () => 90n,
): Promise<void> {
  const loops = [1, 2].map(() =>
    startLaneTender({
      db: bench.db,
      log: pino({ level: 'silent' }),
      chains: chainWith(claimed, mined, status, isRead, minedIn),
      signers: { get: () => undefined },
      mayReplace: () => Promise.resolve({ why: 'nothing is replaced' }),
      pauseMs: 1,
    }),
  );
  try {
    await eventually(async () => {
      const [claim] = await bench.sql<{ final_at: Date | null }>(
        'SELECT final_at FROM evm_transactions WHERE address = $1 AND replaces IS NULL',
        claimed.address,
      );
      return claim?.final_at ?? null;
    });
  } finally {
    await Promise.all(loops.map((loop) => loop.stop()));
  }
}

const noted = async ({ id }: Claimed) =>
  (
    await bench.sql<{ event_type: string; data: object }>(
      `SELECT event_type, data FROM timeline_events WHERE movement_id = $1::uuid
         AND event_type IN ('transaction_mined_late', 'transaction_displaced')`,
      id,
    )
  ).map(({ event_type, data }) => [event_type, data]);
const attention = ({ id }: Claimed) => readAttention(bench.db, id);
const isListed = async ({ id }: Claimed): Promise<boolean> =>
  (await listNeeding(bench.db, {}, { limit: 1_000, after: null })).has(id);

async function acknowledges(claimed: Claimed, named = LANDING): Promise<boolean> {
  const snapshot = await readSnapshot(bench.db, claimed.id);
  const needs = await attention(claimed);
  const chosen = namedOf(named, acknowledgeable(snapshot, needs))!;
  const change = acknowledge(snapshot, chosen, { reason: 'settled', needs }, PERSON);
  return (await applyTransition(bench.db, change)).ok;
}

async function calledBack({ id }: Claimed): Promise<readonly unknown[]> {
  for (let turn = 0; turn < 2; turn += 1)
    await noteAttention(
      bench.db,
      await readReasonsForRuns(bench.db, 5_000),
      await readEndedBadly(bench.db, 5_000),
    );
  const rows = await bench.sql<{ data: object }>(
    `SELECT data FROM timeline_events
      WHERE movement_id = $1::uuid AND event_type = 'request_attention'`,
    id,
  );
  return rows.map(({ data }) => data);
}

interface Contradicted {
  readonly what: string;
  readonly by: 'a person' | 'itself';
  readonly mined: (of: Claimed) => string;
  readonly status: 'success' | 'reverted';
  readonly event: string;
  readonly words: string;
}

test.each<Contradicted>([
  {
    what: 'a person had completed it, and its payment was mined after all',
    by: 'a person',
    mined: (of: Claimed) => of.payment,
    status: 'success',
    event: 'transaction_mined_late',
    words: 'it was paid a second time: settle that with the payee',
  },
  {
    what: 'the block of its payment is gone, and another transaction used its nonce',
    by: 'itself',
    mined: hash,
    status: 'success',
    event: 'transaction_displaced',
    words: 'nonce 7 was used by transaction 0x',
  },
  {
    what: 'the block of its payment is gone, and a zero-value transaction used its nonce',
    by: 'itself',
    mined: (of: Claimed) => of.cancel,
    status: 'success',
    event: 'transaction_displaced',
    words: 'nonce 7 was used by the zero-value transaction 0x',
  },
  {
    what: 'the block of its payment is gone, and it reverted when it was mined again',
    by: 'itself',
    mined: (of: Claimed) => of.payment,
    status: 'reverted',
    event: 'transaction_displaced',
    words: 'the transaction reverted when it was mined again',
  },
])('$what: a person knows, once', async ({ by, mined, status, event, words }) => {
  const claimed = await completed(by);
  expect([await attention(claimed), await isListed(claimed)]).toEqual([null, false]);
  const tx_hash = mined(claimed);
  await tended(claimed, tx_hash, status);
  expect(await noted(claimed)).toEqual([[event, { nonce: 7, tx_hash }]]);
  const facts = await attention(claimed);
  expect(facts).toMatchObject({ reason: 'landed_late', node_key: 'pay' });
  const sentence = sentenceOf(facts!, '');
  expect(sentence).toContain(words);
  expect(sentence).toContain(tx_hash);
  expect(sentence).not.toContain('abandoned');
  expect(await isListed(claimed)).toBe(true);
  expect(await calledBack(claimed)).toEqual([{ reason: 'landed_late' }]);
  expect(await acknowledges(claimed)).toBe(true);
  expect([await attention(claimed), await isListed(claimed)]).toEqual([null, false]);
  const { state, nodes } = await readSnapshot(bench.db, claimed.id);
  expect([state, nodes[0]?.state, nodes[0]?.error_code]).toEqual(['COMPLETED', 'COMPLETED', null]);
});

test.each([
  ['its own payment is final', 'itself', 'payment', 'success'],
  ['a person had completed it, and its payment reverted', 'a person', 'payment', 'reverted'],
  ['a person had completed it, and its nonce was used up', 'a person', 'cancel', 'success'],
] as const)('%s: nothing contradicts it', async (_what, by, mined, status) => {
  const claimed = await completed(by);
  await tended(claimed, claimed[mined], status);
  expect([await noted(claimed), await attention(claimed)]).toEqual([[], null]);
});

test('a payment that a person named in the output of its node contradicts nothing', async () => {
  const claimed = await completed('a person');
  await bench.sql(
    `UPDATE movement_nodes SET output = jsonb_build_object('tx_hash', upper($2::text))
      WHERE movement_id = $1::uuid`,
    ...[claimed.id, claimed.payment],
  );
  await tended(claimed, claimed.payment);
  expect([await noted(claimed), await attention(claimed)]).toEqual([[], null]);
});

test('nor does the payment of an earlier attempt that had completed, as an allowance’s', async () => {
  const claimed = await completed('itself');
  await bench.sql(
    `INSERT INTO node_attempts (idempotency_key, movement_id, node_key, attempt, external_ref,
       outcome, started_at, ended_at)
     VALUES ($1::text || ':pay:1', $1::text::uuid, 'pay', 1, $2, 'COMPLETED', now(), now())`,
    ...[claimed.id, claimed.payment],
  );
  await bench.sql('UPDATE movement_nodes SET attempt = 2 WHERE movement_id = $1::uuid', claimed.id);
  await tended(claimed, claimed.payment);
  expect([await noted(claimed), await attention(claimed)]).toEqual([[], null]);
});

test('an earlier attempt that had not completed is paid beside the later one', async () => {
  const claimed = await completed('itself');
  await bench.sql('UPDATE movement_nodes SET attempt = 2 WHERE movement_id = $1::uuid', claimed.id);
  await tended(claimed, claimed.payment);
  expect(await noted(claimed)).toHaveLength(1);
  expect(await attention(claimed)).toMatchObject({ reason: 'landed_late', node_key: 'pay' });
  // The later attempt needs a person, too, and then fails after a person has seen this.
  const now = (set: string) =>
    bench.sql(`UPDATE movement_nodes SET ${set} WHERE movement_id = $1::uuid`, claimed.id);
  await bench.sql(
    `UPDATE movements SET request_state = 'EXECUTING', ended_at = NULL
     WHERE movement_id = $1::uuid`,
    claimed.id,
  );
  await now("state = 'OBSERVING', error_code = 'BRIDGE_DELIVERY_LATE', completed_at = NULL");
  expect(await attention(claimed)).toMatchObject({ reason: 'delivery_late', node_key: 'pay' });
  await bench.sql(
    "UPDATE movements SET request_state = 'CANCELLED' WHERE movement_id = $1::uuid",
    claimed.id,
  );
  await now("state = 'FAILED', error_code = 'X', on_cancel_target = true");
  expect(await attention(claimed)).toMatchObject({ reason: 'failed', node_key: 'pay' });
  await now('landing_seen_at = now()');
  expect(await attention(claimed)).toMatchObject({ reason: 'failed', node_key: 'pay' });
});

test('what could not be noted, since the node had moved, is noted in a later turn', async () => {
  const claimed = await completed('a person');
  await tended(claimed, claimed.payment, 'success', async () => {
    await bench.sql(
      `UPDATE movement_nodes SET state = 'SKIPPED' WHERE movement_id = $1::uuid`,
      claimed.id,
    );
  });
  expect(await noted(claimed)).toHaveLength(1);
  expect(await attention(claimed)).toMatchObject({ reason: 'landed_late', node_key: 'pay' });
});

test('a payment is not final before its own block is, whatever an endpoint counts', async () => {
  const claimed = await completed('itself');
  let reads = 0;
  const isRead = (): Promise<void> => {
    reads += 1;
    return Promise.resolve();
  };
  // At first in a block that may still go: at block 100 the endpoint counts too many nonces.
  const minedIn = (): bigint => (reads < 6 ? 101n : 90n);
  await tended(claimed, claimed.payment, 'success', isRead, minedIn);
  expect(reads).toBeGreaterThanOrEqual(6);
  expect(await noted(claimed)).toEqual([]);
});

test('the failure of a condition behind the node stays when this is acknowledged', async () => {
  const claimed = await completed('itself');
  await bench.sql(
    `UPDATE movements SET request_state = 'FAILED', error_code = 'CONDITION_ERROR',
       error_message = 'node pay failed', updated_at = now() WHERE movement_id = $1::uuid`,
    claimed.id,
  );
  await tended(claimed, hash());
  expect(await attention(claimed)).toMatchObject({ reason: 'landed_late', node_key: 'pay' });
  expect(await acknowledges(claimed)).toBe(true);
  expect(await attention(claimed)).toMatchObject({ reason: 'failed', node_key: 'pay' });
});
