/**
 * Nonces that were claimed and never signed, and transactions that the chain has forgotten: the
 * lane goes on, and every transfer happens once.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPublicClient, http, isAddressEqual } from 'viem';
import { assertConsistent, transfersOnChain } from '../support/evidence.ts';
import { holdWrites } from '../support/held-writes.ts';
import { eventually, ownStack, type Created } from '../support/own-stack.ts';
import { storeTemplate, transfer, withdrawal } from '../support/plans.ts';
import { started } from '../support/started.ts';

/** Transfers to the treasury. The second kind fails at the first send that did not land. */
let patient: string;
let impatient: string;
let serial = 0;

// The lane's own look would fill a nonce that another waits for before the next send takes it.
const own = ownStack({ split: true, env: { SVC_LANE_INTERVAL_SECONDS: '3600' } });
const held = started(() => holdWrites(own.stack.databaseUrl));
beforeAll(async () => {
  const { chain } = own.stack;
  const fund = await own.api.create(await storeTemplate(own.api, [withdrawal(chain, 'fund')]), {
    amount: '1000',
  });
  await own.api.approve(fund);
  await own.api.reaches(fund.movement_id, 'COMPLETED');
  patient = await storeTemplate(own.api, [transfer(chain, 'pay')]);
  impatient = await storeTemplate(own.api, [
    transfer(chain, 'pay', { more: { retry_policy: { max_attempts: 1 } } }),
  ]);
}, 180_000);

afterEach(async () => {
  await held.release();
  await own.chainFaults({ mining: 'automatic' });
});

interface Sent extends Created {
  readonly amount: string;
}

async function create(template: string): Promise<Sent> {
  serial += 1;
  const amount = `14.${String(serial).padStart(2, '0')}1`;
  return { ...(await own.api.create(template, { amount })), amount };
}

async function send(template: string): Promise<Sent> {
  const movement = await create(template);
  await own.api.approve(movement);
  return movement;
}

interface Claim {
  readonly attempt: number;
  readonly nonce: number;
  readonly signed: boolean;
  readonly released: boolean;
}

/** The nonces that the movement ever claimed, oldest first. */
function claimsOf({ movement_id }: Created): Promise<Claim[]> {
  return own.query<Claim & Record<string, unknown>>(
    `SELECT attempt, nonce::integer AS nonce, raw_tx IS NOT NULL AS signed,
      released_at IS NOT NULL AS released
     FROM evm_transactions WHERE movement_id = $1 ORDER BY created_at, transaction_id`,
    [movement_id],
  );
}

/**
 * Ends the time that recovery would wait for a send: the only worker that could send is dead, or
 * was refused. Saves half a minute a test.
 */
async function sendsAreOver({ movement_id }: Created): Promise<void> {
  await own.query('UPDATE movement_nodes SET send_not_after = svc_now() WHERE movement_id = $1', [
    movement_id,
  ]);
}

/** Kills the worker between the fence, which then commits, and the signature. */
async function killBeforeSigning(movement: Sent): Promise<Claim> {
  await held.hold('fence', movement.movement_id);
  await own.api.approve(movement);
  await held.waiting(1);
  await own.stack.kill('worker');
  await held.release();
  await own.api.nodeReaches(movement.movement_id, 'pay', ['SUBMITTING']);
  await sendsAreOver(movement);
  const [claim, ...others] = await claimsOf(movement);
  expect(others).toEqual([]);
  expect(claim).toMatchObject({ attempt: 1, signed: false, released: false });
  return claim!;
}

/** COMPLETED, consistent, and paid exactly once. */
async function expectPaidOnce({ movement_id, amount }: Sent): Promise<void> {
  const end = await own.api.reaches(movement_id, 'COMPLETED');
  assertConsistent(end, await own.api.timeline(movement_id));
  const { signer, treasury } = own.stack.chain.accounts;
  const paid = (await transfersOnChain(own.stack.chain)).filter((each) => each.amount === amount);
  expect(paid).toHaveLength(1);
  expect(
    isAddressEqual(paid[0]!.from, signer.address) && isAddressEqual(paid[0]!.to, treasury.address),
  ).toBe(true);
}

/** Everything that the lane ever signed is mined, and no nonce below its next one is free. */
async function expectNoGap(): Promise<void> {
  const { signer } = own.stack.chain.accounts;
  const client = createPublicClient({ transport: http(own.stack.chain.rpcUrl) });
  const mined = await client.getTransactionCount({ address: signer.address, blockTag: 'latest' });
  const [lane] = await own.query<{ next_nonce: number }>(
    'SELECT next_nonce::integer AS next_nonce FROM nonce_lanes WHERE address = $1',
    [signer.address.toLowerCase()],
  );
  expect(mined).toBe(lane?.next_nonce);
}

test('a worker killed between fence and signature: its node keeps the nonce, and what was sent behind it is not stuck', async () => {
  const first = await create(patient);
  const claim = await killBeforeSigning(first);
  await own.stack.startChild('worker');
  // This one comes to the lane while the nonce below its own is claimed and unsigned.
  const second = await send(patient);
  await expectPaidOnce(first);
  await expectPaidOnce(second);
  expect(await claimsOf(first)).toEqual([{ ...claim, signed: true }]);
  expect((await claimsOf(second)).map(({ nonce }) => nonce)).toEqual([claim.nonce + 1]);
  await expectNoGap();
}, 120_000);

test('a claimed nonce whose node has ended unsigned is taken over by the next send, and a retry gets one of its own', async () => {
  const first = await create(impatient);
  const claim = await killBeforeSigning(first);
  await own.stack.startChild('worker');
  // Recovery finds that nothing was ever signed; this node does not try a second time.
  const failed = await own.api.reaches(first.movement_id, 'FAILED');
  expect(failed.nodes[0]).toMatchObject({ state: 'FAILED', error_code: 'SUBMIT_NOT_LANDED' });
  expect(await claimsOf(first)).toEqual([claim]);

  const second = await send(patient);
  await expectPaidOnce(second);
  expect((await claimsOf(second)).map(({ nonce }) => nonce)).toEqual([claim.nonce]);
  expect(await claimsOf(first)).toEqual([{ ...claim, released: true }]);

  await own.api.act('retry', first.movement_id);
  await eventually(async () =>
    (await own.api.movement(first.movement_id)).request_state === 'COMPLETED' ? true : null,
  );
  await expectPaidOnce(first);
  expect((await claimsOf(first)).slice(1)).toEqual([
    { attempt: 2, nonce: claim.nonce + 1, signed: true, released: false },
  ]);
  await expectNoGap();
}, 120_000);

test('a signer that fails: the nonce is claimed once, however often it is tried, and the next send takes it over', async () => {
  const first = await create(impatient);
  await held.refuse('signature', first.movement_id);
  await own.api.approve(first);
  await own.api.nodeReaches(first.movement_id, 'pay', ['SUBMITTING']);
  await eventually(async () => ((await claimsOf(first)).length > 0 ? true : null));
  await sleep(500);
  await sendsAreOver(first);
  // What already waits behind the gap is let go by whoever closes it.
  const behind = await send(patient);
  await own.api.nodeReaches(behind.movement_id, 'pay', ['OBSERVING']);
  await own.api.reaches(first.movement_id, 'FAILED', 60_000);
  const [claim] = await claimsOf(first);
  expect(claim).toMatchObject({ signed: false, released: false });
  expect((await claimsOf(behind)).map(({ nonce }) => nonce)).toEqual([claim!.nonce + 1]);

  const next = await send(patient);
  await expectPaidOnce(next);
  await expectPaidOnce(behind);
  expect((await claimsOf(next)).map(({ nonce }) => nonce)).toEqual([claim!.nonce]);

  await held.release();
  await own.api.act('retry', first.movement_id);
  await eventually(async () =>
    (await own.api.movement(first.movement_id)).request_state === 'COMPLETED' ? true : null,
  );
  await expectPaidOnce(first);
  await expectNoGap();
}, 120_000);

describe('a chain that restarts and has forgotten transactions that wait', () => {
  /**
   * Takes transactions that are in no block out of the chain's memory, as a node does that keeps no
   * pool on disk.
   */
  function forget(hashes: readonly string[]): void {
    const file = join(own.stack.dataDir, 'chain', 'journal.jsonl');
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    const kept = lines.filter((line) => {
      const entry = JSON.parse(line) as { readonly kind: string; readonly hash?: string };
      return entry.kind !== 'tx' || !hashes.includes(entry.hash ?? '');
    });
    expect(lines.length - kept.length).toBe(hashes.length);
    writeFileSync(file, `${kept.join('\n')}\n`);
  }

  const hashOf = async ({ movement_id }: Created): Promise<string> => {
    const [row] = await own.query<{ tx_hash: string }>(
      'SELECT tx_hash FROM evm_transactions WHERE movement_id = $1',
      [movement_id],
    );
    return row?.tx_hash ?? '';
  };

  test.each([
    { name: 'the lowest, which leaves a gap below the others', lost: [0] },
    { name: 'all of them', lost: [0, 1, 2] },
  ])(
    '$name: the same bytes are sent again',
    async ({ lost }) => {
      await own.chainFaults({ mining: 'paused' });
      const sent: Sent[] = [];
      for (let count = 0; count < 3; count += 1) {
        const movement = await send(patient);
        await own.api.nodeReaches(movement.movement_id, 'pay', ['OBSERVING']);
        sent.push(movement);
      }
      const hashes = await Promise.all(sent.map(hashOf));
      // Polite, so that its journal is whole; the blocks that it makes from now on have faults off.
      await own.stack.stopChild('chain');
      forget(lost.map((index) => hashes[index] ?? ''));
      await own.stack.startChild('chain');
      for (const movement of sent) await expectPaidOnce(movement);
      expect(await Promise.all(sent.map(hashOf))).toEqual(hashes);
      for (const movement of sent) expect(await claimsOf(movement)).toHaveLength(1);
      await expectNoGap();
    },
    120_000,
  );
});
