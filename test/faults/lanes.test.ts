/**
 * Transactions that are stuck, called off, left behind or lose their block: the lane goes on, and
 * every payment happens once or not at all.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { keccak256, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { transfersOnChain } from '../support/evidence.ts';
import { fundSigner } from '../support/funds.ts';
import { eventually, startOwnStack, type Created, type OwnStack } from '../support/own-stack.ts';
import { storeTemplate, transfer } from '../support/plans.ts';
import { SeenExamples } from '../support/seen.ts';

let own: OwnStack;
/** Pays the treasury; the second gives up looking after a second, the third waits for finality. */
let pays: string;
let impatient: string;
let serial = 0;
let examples: SeenExamples;

beforeAll(async () => {
  own = await startOwnStack({
    split: true,
    env: { SVC_LANE_INTERVAL_SECONDS: '1', SVC_UNPROVEN_ASK_SECONDS: '1' },
  });
  examples = await SeenExamples.servedBy(own.stack.opsUrl);
  const { chain } = own.stack;
  await fundSigner(own, '1000');
  pays = await storeTemplate(own.api, [transfer(chain, 'pay')]);
  impatient = await storeTemplate(own.api, [
    transfer(chain, 'pay', { more: { timeout_policy: { observe_seconds: 1 } } }),
  ]);
}, 180_000);
afterAll(async () => {
  await examples?.write();
  await own?.close();
});
afterEach(async () => {
  await own.chainFaults({ mining: 'automatic', reject_rate: 0, base_fee_gwei: 0 });
});

interface Sent extends Created {
  readonly amount: string;
}

async function send(template: string): Promise<Sent> {
  serial += 1;
  const amount = `3.${String(serial).padStart(2, '0')}7`;
  const movement = { ...(await own.api.create(template, { amount })), amount };
  await own.api.approve(movement);
  return movement;
}

/** Sent while no block is made. */
async function stuck(template = pays): Promise<Sent> {
  await own.chainFaults({ mining: 'paused' });
  const movement = await send(template);
  await own.api.nodeReaches(movement.movement_id, 'pay', ['OBSERVING']);
  return movement;
}

interface Version {
  readonly nonce: number;
  readonly kind: 'payment' | 'cancel';
  readonly tx_hash: Hex;
  readonly raw_tx: Hex;
  readonly unsigned: {
    readonly gas: string;
    readonly max_fee_per_gas: string;
    readonly max_priority_fee_per_gas: string;
  };
  readonly final: boolean;
  readonly mined_hash: string | null;
}

/** What was signed for the movement, oldest first. */
const versionsOf = ({ movement_id }: Created): Promise<Version[]> =>
  own.query<Version & Record<string, unknown>>(
    `SELECT nonce::integer AS nonce, kind, tx_hash, raw_tx, unsigned, final_at IS NOT NULL AS final,
       mined_hash
     FROM evm_transactions WHERE movement_id = $1 ORDER BY created_at, transaction_id`,
    [movement_id],
  );

/** As if the time in which it could be sent had passed long ago. */
async function sendsAreOver({ movement_id }: Created): Promise<void> {
  await own.query(
    `UPDATE movement_nodes SET send_not_after = svc_now() - interval '1 hour',
       submitted_at = submitted_at - interval '2 hours' WHERE movement_id = $1`,
    [movement_id],
  );
}

/** As if it had been signed ten minutes ago. */
async function age({ movement_id }: Created): Promise<void> {
  await own.query(
    "UPDATE evm_transactions SET created_at = created_at - interval '10 minutes' WHERE movement_id = $1",
    [movement_id],
  );
}

const hasVersions = (movement: Created, count: number): Promise<Version[]> =>
  eventually(
    async () => {
      const versions = await versionsOf(movement);
      return versions.length >= count ? versions : null;
    },
    { what: () => `${count} versions` },
  );

/** So many versions, of which the newest has reached the pool. */
async function sentVersions(movement: Created, count: number): Promise<Version[]> {
  const versions = await hasVersions(movement, count);
  const { tx_hash } = versions.at(-1)!;
  await eventually(
    async () => ((await rpc('eth_getTransactionByHash', [tx_hash])) === null ? null : true),
    { what: () => 'the newest version to be sent' },
  );
  return versions;
}

/** The payments of this amount on the chain: how many, and in which transactions. */
async function paid({ amount }: Sent): Promise<number> {
  return (await transfersOnChain(own.stack.chain)).filter((each) => each.amount === amount).length;
}

async function rpc<T>(method: string, params: readonly unknown[] = []): Promise<T> {
  const answer = await fetch(own.stack.chain.rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const { result, error } = (await answer.json()) as { result: T; error?: { message: string } };
  if (error !== undefined) throw new Error(error.message);
  return result;
}

const eventsOf = async ({ movement_id }: Created): Promise<string[]> =>
  (await own.api.timeline(movement_id)).map(({ event_type }) => event_type);

const cancels = (movement: Created, body: object = { reason: 'Too dear today.' }, node = 'pay') =>
  own.api.send(
    'POST',
    `/movements/${movement.movement_id}/nodes/${node}/actions/cancel-transaction`,
    body,
  );

/** Whether the payee of all of these may be paid. */
const listed = (active: boolean): Promise<unknown> =>
  own.query(
    `UPDATE allowed_addresses SET active = $2, revoked_at = CASE WHEN $2 THEN NULL ELSE now() END,
       revoked_by = CASE WHEN $2 THEN NULL ELSE 'a test' END WHERE address = lower($1)`,
    [own.stack.chain.accounts.treasury.address, active],
  );

const FINAL = { timeoutMs: 30_000, what: () => 'the claim to be final' };

test('a stuck payment is signed again for an eighth more and completes, once', async () => {
  const movement = await stuck();
  await age(movement);
  const [first, second] = await sentVersions(movement, 2);
  expect(second).toMatchObject({ nonce: first!.nonce, kind: 'payment' });
  for (const field of ['max_fee_per_gas', 'max_priority_fee_per_gas'] as const)
    expect(BigInt(second!.unsigned[field]) * 8n).toBeGreaterThanOrEqual(
      BigInt(first!.unsigned[field]) * 9n,
    );
  expect(await eventsOf(movement)).toContain('transaction_replaced');
  await own.chainFaults({ mining: 'automatic' });
  const end = await own.api.reaches(movement.movement_id, 'COMPLETED');
  expect(end.nodes[0]!.output).toMatchObject({ tx_hash: second!.tx_hash });
  expect(await paid(movement)).toBe(1);
});

test('an original that is mined late, instead of what replaced it, is the same payment', async () => {
  const movement = await stuck();
  await own.chainFaults({ reject_rate: 1 });
  await age(movement);
  const [first] = await hasVersions(movement, 2);
  // The pool knows only the original, since the other was refused.
  await own.chainFaults({ mining: 'automatic' });
  const end = await own.api.reaches(movement.movement_id, 'COMPLETED');
  expect(end.nodes[0]!.output).toMatchObject({ tx_hash: first!.tx_hash });
  expect(await paid(movement)).toBe(1);
  await eventually(async () => ((await versionsOf(movement))[0]!.final ? true : null), FINAL);
  expect((await versionsOf(movement))[0]!.mined_hash).toBe(first!.tx_hash);
});

test('a cancelled transaction ends with nothing moved, and a retry pays once', async () => {
  const movement = await stuck();
  const accepted = await cancels(movement, examples.request('cancelNodeTransaction') as object);
  expect(accepted.status).toBe(200);
  examples.answered('cancelNodeTransaction', 200, accepted.body);
  const [first, second] = await sentVersions(movement, 2);
  expect([first!.kind, second!.kind, second!.nonce]).toEqual(['payment', 'cancel', first!.nonce]);
  await own.chainFaults({ mining: 'automatic' });
  const end = await own.api.reaches(movement.movement_id, 'FAILED');
  expect(end.nodes[0]).toMatchObject({ state: 'FAILED', error_code: 'TRANSACTION_CANCELLED' });
  expect(await paid(movement)).toBe(0);
  expect(await eventsOf(movement)).toEqual(
    expect.arrayContaining(['transaction_cancel_requested', 'transaction_cancelling']),
  );
  await own.api.expect(200, 'POST', `/movements/${movement.movement_id}/actions/retry`);
  await own.api.reaches(movement.movement_id, 'COMPLETED');
  expect(await paid(movement)).toBe(1);
});

test('a node that is unknown is cancelled as well, and says so', async () => {
  const movement = await stuck(impatient);
  await own.api.reaches(movement.movement_id, 'MANUAL_INTERVENTION');
  expect(await attentionOf(movement)).toMatchObject({
    actions: expect.arrayContaining([
      expect.objectContaining({
        action: 'cancel_transaction',
        node_key: 'pay',
        attempt: 1,
        state: 'UNKNOWN',
        consequence: expect.stringContaining('the same nonce'),
      }),
    ]),
  });
  expect(await cancels(movement)).toMatchObject({ status: 200 });
  await sentVersions(movement, 2);
  await own.chainFaults({ mining: 'automatic' });
  const end = await own.api.reaches(movement.movement_id, 'FAILED');
  expect(end.nodes[0]).toMatchObject({ error_code: 'TRANSACTION_CANCELLED' });
  expect(await paid(movement)).toBe(0);
});

test('a payment to a payee that may no longer be paid is not signed again', async () => {
  const movement = await stuck();
  await listed(false);
  try {
    await age(movement);
    await eventually(async () => {
      const [node] = (await own.api.movement(movement.movement_id)).nodes;
      return node?.error_code === 'NOT_REPLACED' ? true : null;
    });
    expect(await versionsOf(movement)).toHaveLength(1);
    // A zero-value transaction may still be signed.
    expect(await cancels(movement)).toMatchObject({ status: 200 });
    expect((await sentVersions(movement, 2)).at(-1)).toMatchObject({ kind: 'cancel' });
    await own.chainFaults({ mining: 'automatic' });
    await own.api.reaches(movement.movement_id, 'FAILED');
    expect(await paid(movement)).toBe(0);
  } finally {
    await listed(true);
  }
});

test('what cannot be cancelled says why', async () => {
  const done = await send(pays);
  await own.api.reaches(done.movement_id, 'COMPLETED');
  expect(await cancels(done)).toMatchObject({
    status: 409,
    body: { detail: { error: 'invalid_state' } },
  });
  const under = await stuck();
  expect(await cancels(under, {}, 'other')).toMatchObject({ status: 422 });
  expect(await cancels(under, { reason: 'x' }, 'other')).toMatchObject({
    status: 404,
    body: { detail: { error: 'node_not_found' } },
  });
  await own.query(
    'UPDATE evm_transactions SET final_at = svc_now() WHERE movement_id = $1 AND replaces IS NULL',
    [under.movement_id],
  );
  const refused = await cancels(under);
  expect(refused).toMatchObject({ status: 409, body: { detail: { error: 'nothing_signed' } } });
  examples.refused(refused.body);
  expect(await versionsOf(under)).toHaveLength(1);
  await own.query('UPDATE evm_transactions SET final_at = NULL WHERE movement_id = $1', [
    under.movement_id,
  ]);
  await own.chainFaults({ mining: 'automatic' });
  await own.api.reaches(under.movement_id, 'COMPLETED');
});

test('a lane whose first transaction a person has answered for goes on by itself', async () => {
  const first = await stuck(impatient);
  const second = await send(pays);
  await own.api.nodeReaches(second.movement_id, 'pay', ['OBSERVING']);
  await own.api.reaches(first.movement_id, 'MANUAL_INTERVENTION');
  // From now on no later nonce is claimed.
  const third = await send(pays);
  const waits = await eventually(async () => {
    const [node] = (await own.api.movement(third.movement_id)).nodes;
    return node?.error_code === 'LANE_BLOCKED' ? node : null;
  });
  expect(waits.error_message).toContain(first.movement_id);
  expect(await versionsOf(third)).toEqual([]);
  await sendsAreOver(first);
  await own.api.expect(200, 'POST', `/movements/${first.movement_id}/nodes/pay/actions/resolve`, {
    outcome: 'completed',
    reason: 'Paid by hand.',
    evidence: { note: 'bank' },
  });
  const versions = await sentVersions(first, 2);
  expect(versions.at(-1)).toMatchObject({ kind: 'cancel', nonce: versions[0]!.nonce });
  await own.chainFaults({ mining: 'automatic' });
  for (const { movement_id } of [second, third]) await own.api.reaches(movement_id, 'COMPLETED');
  expect([await paid(first), await paid(second), await paid(third)]).toEqual([0, 1, 1]);
}, 90_000);

interface Lane {
  readonly address: string;
  readonly stuck: { readonly nonce: number; readonly why: string } | null;
}
const stuckAt = async (): Promise<Lane['stuck']> => {
  const signers = await own.api.expect(200, 'GET', '/signers');
  const lanes = (signers as unknown as readonly { lanes: readonly Lane[] }[]).flatMap(
    (each) => each.lanes,
  );
  const { address } = own.stack.chain.accounts.signer;
  return lanes.find((lane) => lane.address === address.toLowerCase())?.stuck ?? null;
};
interface Attention {
  readonly reason: string;
  readonly message: string;
  readonly actions: readonly { readonly action: string }[];
}
const attentionOf = async ({ movement_id }: Created): Promise<Attention | null> =>
  (await own.api.expect(200, 'GET', `/movements/${movement_id}`))['attention'] as Attention | null;
/** As if it had been stuck for long. */
const longStuck = (): Promise<unknown> =>
  own.query("UPDATE nonce_lanes SET stuck_since = stuck_since - interval '10 minutes'");

test('a lane that cannot be used up is shown, and so is whatever waits for it', async () => {
  const first = await stuck(impatient);
  const behind = await send(pays);
  await own.api.nodeReaches(behind.movement_id, 'pay', ['OBSERVING']);
  await own.api.reaches(first.movement_id, 'MANUAL_INTERVENTION');
  const third = await send(pays);
  await eventually(async () => {
    const [node] = (await own.api.movement(third.movement_id)).nodes;
    return node?.error_code === 'LANE_BLOCKED' ? true : null;
  });
  expect(await stuckAt()).toBeNull();
  await own.chainFaults({ reject_rate: 1 });
  await sendsAreOver(first);
  await own.api.expect(200, 'POST', `/movements/${first.movement_id}/nodes/pay/actions/resolve`, {
    outcome: 'completed',
    reason: 'Paid by hand.',
    evidence: { note: 'bank' },
  });
  const [{ nonce }] = (await versionsOf(first)) as [Version];
  const found = await eventually(stuckAt, { what: () => 'the lane to be stuck' });
  expect(found).toMatchObject({ nonce, why: expect.stringMatching(/./) as string });
  // An endpoint may refuse once: no person is needed for that.
  expect(await attentionOf(third)).toBeNull();
  await longStuck();
  for (const waits of [behind, third]) {
    const attention = await attentionOf(waits);
    expect(attention).toMatchObject({
      reason: 'lane_stuck',
      node_key: 'pay',
      message: expect.stringContaining(`nonce ${String(nonce)} of`) as string,
    });
    const offered = attention!.actions.map(({ action }) => action);
    expect(offered.includes('rotate_signer')).toBe(waits === third);
  }
  await own.chainFaults({ reject_rate: 0 });
  await sentVersions(first, 2);
  await own.chainFaults({ mining: 'automatic' });
  for (const { movement_id } of [behind, third]) await own.api.reaches(movement_id, 'COMPLETED');
  await eventually(async () => ((await stuckAt()) === null ? true : null));
  expect([await paid(first), await paid(behind), await paid(third)]).toEqual([0, 1, 1]);
}, 120_000);

test('a cancelling transaction that its own run cannot send makes the lane stuck', async () => {
  const movement = await stuck();
  await own.chainFaults({ reject_rate: 1 });
  expect(await cancels(movement)).toMatchObject({ status: 200 });
  const { nonce } = await eventually(stuckAt, { what: () => 'the lane to be stuck' });
  expect(nonce).toBe((await versionsOf(movement))[0]!.nonce);
  await longStuck();
  const [node] = (await own.api.movement(movement.movement_id)).nodes;
  expect(node).toMatchObject({ error_code: 'LANE_STUCK' });
  expect(await attentionOf(movement)).toMatchObject({ reason: 'lane_stuck' });
  await own.chainFaults({ reject_rate: 0 });
  await sentVersions(movement, 2);
  await own.chainFaults({ mining: 'automatic' });
  await own.api.reaches(movement.movement_id, 'FAILED');
  await eventually(async () => ((await stuckAt()) === null ? true : null));
  expect(await paid(movement)).toBe(0);
}, 90_000);

/** Raises the caps of the signer's lane fourfold; 0 seconds end that. */
const raisesCaps = (ttl_seconds: number): Promise<unknown> =>
  own.api.expect(
    200,
    'POST',
    `/admin/nonce-lanes/${String(own.stack.chain.chainId)}/${own.stack.chain.accounts.signer.address}/raise`,
    { max_gas_cost_wei: '200000000000000000', ttl_seconds, reason: 'Gas is dear.' },
  );

test('a lane that no run works on goes on too once its caps are raised', async () => {
  const movement = await stuck(impatient);
  await own.api.reaches(movement.movement_id, 'MANUAL_INTERVENTION');
  await own.chainFaults({ base_fee_gwei: 3_000 });
  await sendsAreOver(movement);
  await own.api.expect(
    200,
    'POST',
    `/movements/${movement.movement_id}/nodes/pay/actions/resolve`,
    { outcome: 'completed', reason: 'Paid by hand.', evidence: { note: 'bank' } },
  );
  const { why } = await eventually(stuckAt, { what: () => 'the lane to be stuck' });
  expect(why).toContain('the caps are too low');
  await raisesCaps(600);
  expect((await sentVersions(movement, 2)).at(-1)).toMatchObject({ kind: 'cancel' });
  await own.chainFaults({ mining: 'automatic' });
  await eventually(async () => ((await stuckAt()) === null ? true : null));
  expect(await paid(movement)).toBe(0);
  await raisesCaps(0);
}, 90_000);

test('a lane that the caps hold up goes on once they are raised for it, and a first send keeps them', async () => {
  const movement = await stuck();
  // 0.05 of the chain's coin for the 25,200 gas of a transfer of nothing: some 1,984 gwei.
  await own.chainFaults({ base_fee_gwei: 3_000 });
  expect(await cancels(movement)).toMatchObject({ status: 200 });
  const { why } = await eventually(stuckAt, { what: () => 'the lane to be stuck' });
  expect(why).toMatch(/caps are too low: it needs at least [\d.]+ gwei per gas, \d+ wei in all/);
  expect(await versionsOf(movement)).toHaveLength(1);
  await raisesCaps(600);
  const [, second] = await sentVersions(movement, 2);
  expect(second!.kind).toBe('cancel');
  const { gas, max_fee_per_gas: fee } = second!.unsigned;
  expect(BigInt(gas) * BigInt(fee)).toBeGreaterThan(50_000_000_000_000_000n);
  expect(BigInt(gas) * BigInt(fee)).toBeLessThanOrEqual(200_000_000_000_000_000n);
  await own.chainFaults({ mining: 'automatic' });
  await own.api.reaches(movement.movement_id, 'FAILED');
  await eventually(async () => ((await stuckAt()) === null ? true : null));
  // The same lane, and the raise still holds.
  const once = transfer(own.stack.chain, 'pay', { more: { retry_policy: { max_attempts: 1 } } });
  const fresh = await send(await storeTemplate(own.api, [once]));
  const end = await own.api.reaches(fresh.movement_id, 'FAILED');
  expect(end.nodes[0]).toMatchObject({ error_code: 'FEE_ABOVE_CAP' });
  expect(await versionsOf(fresh)).toEqual([]);
  expect([await paid(movement), await paid(fresh)]).toEqual([0, 0]);
}, 120_000);

test('a payment whose block is gone is sent again, and its record tells', async () => {
  const movement = await stuck();
  await rpc('evm_mine');
  await own.api.reaches(movement.movement_id, 'COMPLETED');
  const [{ tx_hash }] = (await versionsOf(movement)) as [Version];
  await rpc('anvil_rollback', [1]);
  expect(await rpc('eth_getTransactionByHash', [tx_hash])).toBeNull();
  await eventually(
    async () => ((await rpc('eth_getTransactionByHash', [tx_hash])) === null ? null : true),
    { what: () => 'it to be sent again' },
  );
  await eventually(async () =>
    (await eventsOf(movement)).includes('transaction_dropped') ? true : null,
  );
  await own.chainFaults({ mining: 'automatic' });
  const settled = await eventually(async () => {
    const [claim] = await versionsOf(movement);
    return claim?.final === true ? claim : null;
  }, FINAL);
  expect(settled.mined_hash).toBe(tx_hash);
  expect(await paid(movement)).toBe(1);
  const dropped = (await eventsOf(movement)).filter((event) => event === 'transaction_dropped');
  expect(dropped).toHaveLength(1);
});

test('a payment whose payee is revoked while it is signed anew is not stored', async () => {
  const movement = await stuck();
  await rpc('evm_mine');
  await own.api.reaches(movement.movement_id, 'COMPLETED');
  await rpc('anvil_rollback', [1]);
  await eventually(async () =>
    (await eventsOf(movement)).includes('transaction_dropped') ? true : null,
  );
  const holder = new pg.Client({ connectionString: own.stack.databaseUrl });
  await holder.connect();
  try {
    await holder.query('BEGIN');
    await holder.query('SELECT FROM movements WHERE movement_id = $1 FOR UPDATE', [
      movement.movement_id,
    ]);
    await age(movement);
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
    await listed(false);
    await holder.query('COMMIT');
    // Two more turns of the loop.
    await sleep(3_000);
    expect(await versionsOf(movement)).toHaveLength(1);
  } finally {
    await holder.end();
    await listed(true);
  }
  await sentVersions(movement, 2);
  await own.chainFaults({ mining: 'automatic' });
  await eventually(
    async () => ((await versionsOf(movement))[0]?.final === true ? true : null),
    FINAL,
  );
  expect(await paid(movement)).toBe(1);
}, 90_000);

/** The payee is revoked by the very write that stores a later version. */
async function revokedWhenStored(): Promise<() => Promise<void>> {
  await own.query(`CREATE FUNCTION revoke_then() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE allowed_addresses SET active = false, revoked_at = now(), revoked_by = 'a test'
    WHERE address = '${own.stack.chain.accounts.treasury.address.toLowerCase()}';
    RETURN NULL; END $$`);
  await own.query(`CREATE TRIGGER revoke_then AFTER INSERT ON evm_transactions FOR EACH ROW
    WHEN (NEW.replaces IS NOT NULL AND NEW.kind = 'payment') EXECUTE FUNCTION revoke_then()`);
  return async () => {
    await own.query('DROP TRIGGER revoke_then ON evm_transactions');
    await own.query('DROP FUNCTION revoke_then');
    await listed(true);
  };
}

const takenOf = async ({ movement_id }: Created): Promise<readonly boolean[]> =>
  (
    await own.query<{ taken: boolean }>(
      `SELECT accepted_at IS NOT NULL AS taken FROM evm_transactions WHERE movement_id = $1
       ORDER BY created_at, transaction_id`,
      [movement_id],
    )
  ).map(({ taken }) => taken);

test('a version whose payee is revoked when it is stored is not sent', async () => {
  const movement = await stuck();
  const restore = await revokedWhenStored();
  try {
    await age(movement);
    // The revoke ends what no endpoint took, by a zero-value version.
    const versions = await sentVersions(movement, 3);
    expect(versions.map(({ kind }) => kind)).toEqual(['payment', 'payment', 'cancel']);
    expect((await takenOf(movement)).slice(0, 2)).toEqual([true, false]);
    await own.chainFaults({ mining: 'automatic' });
    await own.api.reaches(movement.movement_id, 'FAILED');
    expect(await paid(movement)).toBe(0);
  } finally {
    await restore();
  }
}, 90_000);

test('of a payment whose block is gone only what was taken is sent while its payee is revoked', async () => {
  const movement = await stuck();
  await rpc('evm_mine');
  await own.api.reaches(movement.movement_id, 'COMPLETED');
  await rpc('anvil_rollback', [1]);
  await eventually(async () =>
    (await eventsOf(movement)).includes('transaction_dropped') ? true : null,
  );
  const restore = await revokedWhenStored();
  try {
    await age(movement);
    const [first, second] = await hasVersions(movement, 2);
    // Some turns of the loop.
    await sleep(4_000);
    expect(await rpc('eth_getTransactionByHash', [second!.tx_hash])).toBeNull();
    expect(await rpc('eth_getTransactionByHash', [first!.tx_hash])).not.toBeNull();
    expect(await takenOf(movement)).toEqual([true, false]);
  } finally {
    await restore();
  }
  await sentVersions(movement, 2);
  await eventually(async () => ((await takenOf(movement))[1] === true ? true : null));
  await own.chainFaults({ mining: 'automatic' });
  await eventually(
    async () => ((await versionsOf(movement))[0]?.final === true ? true : null),
    FINAL,
  );
  expect(await paid(movement)).toBe(1);
}, 90_000);

test('a payment that was mined before its cancel, and lost its block, is paid all the same', async () => {
  const movement = await stuck();
  // The pool takes nothing new, so the payment is what is mined.
  await own.chainFaults({ reject_rate: 1 });
  expect(await cancels(movement)).toMatchObject({ status: 200 });
  await hasVersions(movement, 2);
  await rpc('evm_mine');
  await own.api.reaches(movement.movement_id, 'COMPLETED');
  await rpc('anvil_rollback', [1]);
  await own.chainFaults({ reject_rate: 0, mining: 'automatic' });
  const settled = await eventually(async () => {
    const versions = await versionsOf(movement);
    return versions[0]?.final === true ? versions : null;
  }, FINAL);
  const mined = settled.find(({ tx_hash }) => tx_hash === settled[0]?.mined_hash);
  expect(mined?.kind).toBe('payment');
  expect(await paid(movement)).toBe(1);
  expect(await eventsOf(movement)).not.toContain('transaction_displaced');
}, 90_000);

/** What a person sees of it; they deal with it, and it is said once. */
async function shownOnce(movement: Created, event: string): Promise<string> {
  await eventually(
    async () => ((await versionsOf(movement))[0]?.final === true ? true : null),
    FINAL,
  );
  // Some more turns of the loop.
  await sleep(3_000);
  expect((await eventsOf(movement)).filter((each) => each === event)).toHaveLength(1);
  const { reason, message, actions } = (await attentionOf(movement))!;
  expect([reason, actions]).toEqual([
    'landed_late',
    [expect.objectContaining({ action: 'acknowledge', node_key: 'pay' })],
  ]);
  const body = { reason: 'Settled.', attention_reason: 'landed_late', node_key: 'pay' };
  const path = `/movements/${movement.movement_id}/actions/acknowledge`;
  await own.api.expect(200, 'POST', path, body);
  expect(await attentionOf(movement)).toBeNull();
  return message;
}

test('a payment that is mined after a person has completed its node calls a person', async () => {
  const movement = await stuck(impatient);
  await own.api.reaches(movement.movement_id, 'MANUAL_INTERVENTION');
  await sendsAreOver(movement);
  // The pool takes nothing new, so the payment is what is mined.
  await own.chainFaults({ reject_rate: 1 });
  await own.api.expect(
    200,
    'POST',
    `/movements/${movement.movement_id}/nodes/pay/actions/resolve`,
    { outcome: 'completed', reason: 'Paid by hand.', evidence: { note: 'bank' } },
  );
  await own.api.reaches(movement.movement_id, 'COMPLETED');
  expect(await attentionOf(movement)).toBeNull();
  const [{ tx_hash }] = (await versionsOf(movement)) as [Version];
  await own.chainFaults({ mining: 'automatic' });
  const message = await shownOnce(movement, 'transaction_mined_late');
  expect(message).toContain(tx_hash);
  expect(message).toContain('it was paid a second time');
  expect(await paid(movement)).toBe(1);
}, 90_000);

test('a payment whose nonce another transaction has used after its block was gone calls a person', async () => {
  const movement = await stuck();
  await rpc('evm_mine');
  await own.api.reaches(movement.movement_id, 'COMPLETED');
  const [{ nonce, unsigned }] = (await versionsOf(movement)) as [Version];
  const { address, privateKey } = own.stack.chain.accounts.signer;
  const raw = await privateKeyToAccount(privateKey).signTransaction({
    chainId: own.stack.chain.chainId,
    type: 'eip1559',
    ...{ to: address, value: 0n, nonce, gas: 21_000n },
    maxFeePerGas: 2n * BigInt(unsigned.max_fee_per_gas),
    maxPriorityFeePerGas: 2n * BigInt(unsigned.max_priority_fee_per_gas),
  });
  await rpc('anvil_rollback', [1]);
  // It replaces the payment in the pool, or the pool refuses the payment.
  await rpc('eth_sendRawTransaction', [raw]);
  await own.chainFaults({ mining: 'automatic' });
  const message = await shownOnce(movement, 'transaction_displaced');
  expect(message).toContain(`nonce ${String(nonce)} was used by transaction ${keccak256(raw)}`);
  expect(await paid(movement)).toBe(0);
}, 90_000);

test('nonces that a wrong count made the lane skip are used up, and what waits behind them is paid', async () => {
  const { signer } = own.stack.chain.accounts;
  const before = await send(pays);
  await own.api.reaches(before.movement_id, 'COMPLETED');
  await own.query('UPDATE nonce_lanes SET next_nonce = next_nonce + 2 WHERE address = lower($1)', [
    signer.address,
  ]);
  const movement = await send(pays);
  await own.api.nodeReaches(movement.movement_id, 'pay', ['OBSERVING']);
  await age(movement);
  await own.api.reaches(movement.movement_id, 'COMPLETED');
  expect(await paid(movement)).toBe(1);
  const filled = await own.query<{ kind: string }>(
    'SELECT kind FROM evm_transactions WHERE movement_id IS NULL',
  );
  expect(filled).toEqual([{ kind: 'cancel' }, { kind: 'cancel' }]);
  const lane = await eventually(async () => {
    const signers = (await own.api.expect(200, 'GET', '/signers')) as unknown as readonly {
      lanes: readonly { open_nonces: number; unfinal_nonces: number; finality: object }[];
    }[];
    const [found] = signers.flatMap(({ lanes }) => lanes);
    return found?.open_nonces === 0 && found.unfinal_nonces === 0 ? found : null;
  }, FINAL);
  expect(lane.finality).toMatchObject({ read: 'finalized_tag', confirmations: null });
}, 120_000);
