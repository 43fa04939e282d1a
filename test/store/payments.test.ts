/** What comes to an address completes one of the nodes that wait there, or none by itself. */
import fc from 'fast-check';
import { pino } from 'pino';
import { parseUnits, type Address } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { PhaseDependencies } from '../../activities/phases/context.ts';
import { observe } from '../../activities/phases/observe.ts';
import type { Requester } from '../../domain/commands/context.ts';
import { resolve } from '../../domain/commands/resolve.ts';
import type { Executor } from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import { readMovement } from '../../store/movement-detail.ts';
import { readSnapshot } from '../../store/movements.ts';
import { readPhase } from '../../store/phases.ts';
import { applyTransition } from '../../store/transition.ts';
import {
  createEvmBalanceObserveExecutor,
  EVM_BALANCE_OBSERVE_DESCRIPTOR,
} from '../../venues/evm/balance-observe.ts';
import { createEvmChains } from '../../venues/evm/client.ts';
import { createEvmSigning } from '../../venues/evm/signing.ts';
import { CHAIN_ID, startChain, type TestChain } from '../venues/evm/support/chain.ts';
import { call, chainsOf } from '../venues/evm/support/node.ts';
import { payToken } from '../venues/evm/support/pay-token.ts';
import { startStoreBench, type StoreBench } from './support.ts';

let bench: StoreBench;
let chain: TestChain;
let payer: string;
let deps: PhaseDependencies;
let executor: Executor;
beforeAll(async () => {
  [bench, chain] = await Promise.all([startStoreBench(), startChain()]);
  payer = (await chain.account({ tokens: '1000' })).key;
  executor = createEvmBalanceObserveExecutor(chainsOf(chain));
  deps = {
    db: bench.db,
    log: pino({ level: 'silent' }),
    chains: [],
    executors: { get: () => executor, describe: () => EVM_BALANCE_OBSERVE_DESCRIPTOR },
    signers: { get: () => undefined },
    signing: createEvmSigning(createEvmChains([])),
  };
  await bench.sql(
    `INSERT INTO executors (executor_key, kind, action_types, created_at, updated_at)
      VALUES ('acme.payouts', 'local', '{evm_balance_observe}', now(), now())`,
  );
});
afterAll(async () => {
  await chain?.stop();
  await bench?.close();
});

const PERSON: Requester = {
  caller: { key_id: 'k', client_id: 'desk', role: 'operator' },
  request_id: 'r',
};

const newAddress = (): Address => privateKeyToAccount(generatePrivateKey()).address;

/** A movement under way that waits at this address for its amount; it has its baseline. */
async function waits(address: Address, amount: string, config: JsonObject = {}): Promise<string> {
  const { movement_id } = await bench.movement({
    amount,
    shape: {
      nodes: [
        {
          node_key: 'look',
          node_kind: 'observe',
          action_type: 'evm_balance_observe',
          has_side_effect: false,
          config: { chain_id: CHAIN_ID, address, min_increase: '1', ...config },
        },
      ],
      edges: [],
    },
  });
  await bench.approve(movement_id);
  await bench.sql(
    `UPDATE movements SET request_state = 'EXECUTING', approval_status = 'approved'
      WHERE movement_id = $1::uuid`,
    movement_id,
  );
  await bench.sql(
    `UPDATE movement_nodes SET state = 'READY', started_at = svc_now()
      WHERE movement_id = $1::uuid`,
    movement_id,
  );
  await look(movement_id);
  await look(movement_id);
  return movement_id;
}

/** The node's state, and what it shows, after one more look. */
async function look(movement_id: string): Promise<readonly [string, string | null]> {
  const args = { movement_id, node_key: 'look', attempt: 1 };
  const step = await observe.begin(deps, args);
  if (!('next' in step)) {
    const answer = await observe.call(deps, executor, step, call());
    // What must be read again is thrown.
    await observe.finish(deps, args, step.row, { answer }).catch(() => null);
  }
  const row = await readPhase(bench.db, movement_id, 'look');
  return [row?.state ?? '', row?.error_code ?? null];
}

const received = async (movement_id: string): Promise<unknown> =>
  (await readPhase(bench.db, movement_id, 'look'))?.output?.['received_amount'];

test('of two that wait for other amounts at an address one payment completes one', async () => {
  const address = newAddress();
  const config = { token_address: chain.token };
  const [seven, ten] = [await waits(address, '7', config), await waits(address, '10', config)];
  await payToken(chain, payer, { to: address, tokens: '10' });
  expect([await look(seven), await look(ten), await look(seven)]).toEqual([
    ['OBSERVING', null],
    ['COMPLETED', null],
    ['OBSERVING', null],
  ]);
  expect(await received(ten)).toBe('10');
  await payToken(chain, payer, { to: address, tokens: '7' });
  expect(await look(seven)).toEqual(['COMPLETED', null]);
});

test('of two that wait for the same a payment completes none: a person must decide', async () => {
  const address = newAddress();
  const config = { token_address: chain.token };
  const [one, other] = [await waits(address, '5', config), await waits(address, '5', config)];
  await payToken(chain, payer, { to: address, tokens: '5' });
  expect([await look(one), await look(other)]).toEqual(
    Array<readonly string[]>(2).fill(['OBSERVING', 'PAYMENT_AMBIGUOUS']),
  );
  expect((await readMovement(bench.db, one))?.attention).toMatchObject({
    reason: 'observed_long',
    node_key: 'look',
  });
  // Who has looked says whose it is, at once, and both go on.
  const row = await readPhase(bench.db, one, 'look');
  const [reference = ''] = row?.output?.['unclaimed'] as readonly string[];
  const payments = [{ source: `evm:${String(CHAIN_ID)}`, reference, amount: '5', total: '5' }];
  const says = async (id: string, output: JsonObject) => {
    const snapshot = await readSnapshot(bench.db, id);
    const word = { node_key: 'look', outcome: 'completed', reason: 'the sender said so' } as const;
    const said = resolve(
      snapshot,
      { ...word, evidence: {}, output, settle_seconds: 0, ahead_seconds: 0 },
      PERSON,
    );
    return said === null ? null : applyTransition(bench.db, said);
  };
  expect(await says(one, { received_amount: '5' })).toMatchObject({ reason: 'claim_missing' });
  expect(await says(one, { received_amount: '5', payments })).toMatchObject({ ok: true });
  expect(await says(other, { received_amount: '5', payments })).toMatchObject({
    reason: 'already_claimed',
  });
  expect(await look(other)).toEqual(['OBSERVING', null]);
  await payToken(chain, payer, { to: address, tokens: '5' });
  expect(await look(other)).toEqual(['COMPLETED', null]);
});

test('one that waits later takes nothing of what came before', async () => {
  const address = newAddress();
  const config = { token_address: chain.token };
  const first = await waits(address, '5', config);
  await payToken(chain, payer, { to: address, tokens: '5' });
  const later = await waits(address, '5', config);
  expect([await look(first), await look(later)]).toEqual([
    ['COMPLETED', null],
    ['OBSERVING', null],
  ]);
});

test("of the chain's own coin what another has claimed counts no more", async () => {
  const address = newAddress();
  const set = async (eth: string) => {
    await chain.client.setBalance({ address, value: parseUnits(eth, 18) });
    await chain.client.mine({ blocks: 1 });
  };
  await set('1');
  const [two, three] = [await waits(address, '2'), await waits(address, '3')];
  await set('4');
  expect([await look(two), await look(three), await look(two)]).toEqual([
    ['OBSERVING', 'PAYMENT_AMBIGUOUS'],
    ['COMPLETED', null],
    ['OBSERVING', null],
  ]);
  await set('6');
  expect(await look(two)).toEqual(['COMPLETED', null]);
  expect(await received(two)).toBe('2');
});

test("of the chain's own coin what came before the baseline is taken off no later increase", async () => {
  const address = newAddress();
  const set = async (eth: string) => {
    await chain.client.setBalance({ address, value: parseUnits(eth, 18) });
    await chain.client.mine({ blocks: 1 });
  };
  await set('1');
  const first = await waits(address, '2');
  await set('3');
  expect(await look(first)).toEqual(['COMPLETED', null]);
  // No block since: the claim ends with the block that the next baseline is of.
  const later = await waits(address, '2');
  expect(await look(later)).toEqual(['OBSERVING', null]);
  await set('5');
  expect(await look(later)).toEqual(['COMPLETED', null]);
  expect(await received(later)).toBe('2');
});

test("a claim on the chain's own coin counts until its last block, and not behind it", async () => {
  const source = `evm:${String(CHAIN_ID)}:coin`;
  const reference = newAddress();
  /** The state of a node, and what it shows, once its executor reports 5 in these blocks. */
  const completes = async (since: string, until: string) => {
    const movement_id = await waits(newAddress(), '5');
    const row = (await readPhase(bench.db, movement_id, 'look'))!;
    const payments = [{ source, reference, amount: '5', total: '5', since, until }];
    const answer = { next_state: 'COMPLETED', output: { payments } } as const;
    await observe
      .finish(deps, { movement_id, node_key: 'look', attempt: 1 }, row, { answer })
      .catch(() => null);
    const after = await readPhase(bench.db, movement_id, 'look');
    return [after?.state, after?.error_code];
  };
  expect(await completes('10', '20')).toEqual(['COMPLETED', null]);
  expect(await completes('10', '21')).toEqual(['OBSERVING', 'ALREADY_CLAIMED']);
  expect(await completes('20', '30')).toEqual(['COMPLETED', null]);
});

test('what the match_from of a node reported is that node’s, also where its amount differs', async () => {
  const address = newAddress();
  const config = { token_address: chain.token };
  const [five, less] = [await waits(address, '5', config), await waits(address, '4.9', config)];
  const hash = await payToken(chain, payer, { to: address, tokens: '4.9' });
  // As the look of a node stores it whose `match_from` has reported.
  await bench.sql(
    `UPDATE movement_nodes SET output = jsonb_set(output, '{awaits,tx_hash}', to_jsonb($2::text))
      WHERE movement_id = $1::uuid`,
    five,
    hash,
  );
  expect(await look(less)).toEqual(['OBSERVING', null]);
});

test("of a coin that is counted from the plan's own baseline every claim is taken off", async () => {
  const address = newAddress();
  const set = async (eth: string) => {
    await chain.client.setBalance({ address, value: parseUnits(eth, 18) });
    await chain.client.mine({ blocks: 1 });
  };
  const from = { baseline_amount: '0' };
  const first = await waits(address, '5', from);
  await set('5');
  expect(await look(first)).toEqual(['COMPLETED', null]);
  await chain.client.mine({ blocks: 100 });
  const later = await waits(address, '5', from);
  expect(await look(later)).toEqual(['OBSERVING', null]);
  await set('10');
  expect(await look(later)).toEqual(['COMPLETED', null]);
});

test('however many nodes and payments there are, no payment is claimed beyond its amount', async () => {
  const node = fc.record({
    payment: fc.integer({ min: 0, max: 2 }),
    amount: fc.integer({ min: 1, max: 4 }),
    reruns: fc.integer({ min: 1, max: 2 }),
  });
  let judged = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(node, { minLength: 2, maxLength: 6 }), async (nodes) => {
      const source = `evm:${generatePrivateKey()}`;
      const ids = await Promise.all(nodes.map(() => waits(newAddress(), '5')));
      const complete = async (index: number): Promise<void> => {
        const movement_id = ids[index] ?? '';
        const { payment = 0, amount = 1 } = nodes[index] ?? {};
        const row = await readPhase(bench.db, movement_id, 'look');
        if (row === null) throw new Error('there is no such node');
        const payments = [
          { source, reference: `p${String(payment)}`, amount: String(amount), total: '5' },
        ];
        const answer = { next_state: 'COMPLETED', output: { payments } } as const;
        await observe
          .finish(deps, { movement_id, node_key: 'look', attempt: 1 }, row, { answer })
          .catch(() => null);
      };
      await Promise.all(
        nodes.flatMap(({ reruns }, index) => Array.from({ length: reruns }, () => complete(index))),
      );
      const sums = await bench.sql<{ whole: boolean; completed: boolean }>(
        `SELECT sum(c.amount) <= 5 AND sum(c.amount) = min(p.claimed) AS whole,
            bool_and(n.state = 'COMPLETED') AS completed
          FROM payment_claims c JOIN payments p USING (source, reference)
          JOIN movement_nodes n USING (movement_id, node_key)
          WHERE source = $1 GROUP BY reference`,
        source,
      );
      expect(sums.every(({ whole, completed }) => whole && completed)).toBe(true);
      const [{ count } = { count: 0 }] = await bench.sql<{ count: number }>(
        `SELECT count(*)::integer AS count FROM movement_nodes n
          WHERE movement_id = ANY($1::uuid[]) AND state = 'COMPLETED' AND NOT EXISTS (
            SELECT FROM payment_claims c WHERE c.movement_id = n.movement_id)`,
        ids,
      );
      expect(count).toBe(0);
      judged += sums.length;
    }),
    { numRuns: 12 },
  );
  expect(judged).toBeGreaterThan(12);
});
