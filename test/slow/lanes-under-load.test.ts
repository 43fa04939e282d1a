/**
 * Two hundred payments of one signer at once, over a chain that loses, delays and garbles its
 * answers, has its last blocks taken back and sees the worker killed: each is paid once, and the
 * lane has no gap.
 */
import { createPublicClient, http } from 'viem';
import { transfersOnChain } from '../support/evidence.ts';
import { fundSigner } from '../support/funds.ts';
import { eventually, ownStack } from '../support/own-stack.ts';
import { storeTemplate, transfer } from '../support/plans.ts';

const COUNT = 200;

const own = ownStack({
  split: true,
  env: { SVC_LANE_INTERVAL_SECONDS: '2', SVC_UNPROVEN_ASK_SECONDS: '2' },
});

async function rpc(method: string, params: readonly unknown[] = []): Promise<void> {
  const answer = await fetch(own.stack.chain.rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  expect(await answer.json()).toMatchObject({ result: null });
}

const amountOf = (index: number): string => `1.${String(index + 1).padStart(3, '0')}5`;

test(`${COUNT} payments of one signer, with faults of every kind`, async () => {
  const { chain } = own.stack;
  await fundSigner(own, '1000');
  const template = await storeTemplate(own.api, [
    transfer(chain, 'pay', {
      more: { retry_policy: { max_attempts: 40, max_interval_seconds: 2 } },
    }),
  ]);
  const began = performance.now();
  await own.chainFaults({
    drop_answer_rate: 0.2,
    reject_rate: 0.1,
    latency_ms: 20,
    drop_read_rate: 0.03,
    wrong_read_rate: 0.03,
  });
  const created = await Promise.all(
    Array.from({ length: COUNT }, async (_, index) => {
      const movement = await own.api.create(template, { amount: amountOf(index) });
      await own.api.approve(movement);
      return movement.movement_id;
    }),
  );
  const completed = async (): Promise<number> => {
    const [row] = await own.query<{ n: number }>(
      `SELECT count(*)::integer AS n FROM movements
       WHERE request_state = 'COMPLETED' AND movement_id = ANY ($1::uuid[])`,
      [created],
    );
    return row?.n ?? 0;
  };
  const until = (count: number, seconds: number): Promise<unknown> =>
    eventually(async () => ((await completed()) >= count ? true : null), {
      timeoutMs: seconds * 1_000,
      everyMs: 500,
      what: () => `${count} of ${COUNT} to complete`,
    });
  await until(20, 200);
  await rpc('anvil_rollback', [2]);
  await until(60, 200);
  await own.stack.kill('worker');
  await rpc('anvil_rollback', [1]);
  await own.stack.startChild('worker');
  await until(120, 300);
  await own.chainFaults({
    drop_answer_rate: 0,
    reject_rate: 0,
    latency_ms: 0,
    drop_read_rate: 0,
    wrong_read_rate: 0,
  });
  await until(COUNT, 400);
  const took = (performance.now() - began) / 1_000;

  // Until every nonce is final: a payment in a block that was taken back is sent again.
  await eventually(
    async () => {
      const [open] = await own.query<{ n: number }>(
        `SELECT count(*)::integer AS n FROM evm_transactions
         WHERE replaces IS NULL AND released_at IS NULL AND final_at IS NULL`,
      );
      return open?.n === 0 ? true : null;
    },
    { timeoutMs: 120_000, everyMs: 500, what: () => 'every nonce to be final' },
  );
  const paid = (await transfersOnChain(chain)).map(({ amount }) => amount);
  const wanted = Array.from({ length: COUNT }, (_, index) => amountOf(index));
  expect(wanted.filter((amount) => paid.filter((each) => each === amount).length !== 1)).toEqual(
    [],
  );

  const client = createPublicClient({ transport: http(chain.rpcUrl) });
  const { address } = chain.accounts.signer;
  const mined = await client.getTransactionCount({ address, blockTag: 'latest' });
  const [lane] = await own.query<{ next_nonce: number; claims: number; more: number; own: number }>(
    `SELECT l.next_nonce::integer AS next_nonce,
       count(*) FILTER (WHERE t.replaces IS NULL)::integer AS claims,
       count(*) FILTER (WHERE t.replaces IS NOT NULL)::integer AS more,
       count(*) FILTER (WHERE t.mined_hash IS NOT NULL)::integer AS own
     FROM nonce_lanes l JOIN evm_transactions t USING (chain_id, address)
     WHERE address = lower($1) GROUP BY l.next_nonce`,
    [address],
  );
  console.log(
    `${COUNT} payments in ${took.toFixed(0)} s: ${mined} nonces mined, ${lane?.claims} claimed, ${lane?.own} of ours final, ${lane?.more} later versions`,
  );
  // Every nonce that was claimed is mined, and only by our own transactions.
  expect(lane).toMatchObject({ next_nonce: mined, own: mined });
}, 900_000);
