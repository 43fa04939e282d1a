/**
 * Temporal's namespace is lost. `fundadmin movements rebuild`, as a process, begins the run of all
 * that is open, and everything ends as it would have, paid once; also when the database went back
 * to a backup at the same time.
 */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { built } from '../../dev/bootstrap/programs.mjs';
import { ROOT } from '../../dev/stack/ports.ts';
import {
  assertConsistent,
  ledgerOf,
  PAID_ONCE,
  timesPaid,
  transfersOnChain,
} from '../support/evidence.ts';
import { eventually, WITHDRAW_TO_TREASURY, ownStack, type Created } from '../support/own-stack.ts';
import { edge, gate, noop, storeTemplate, withdrawal } from '../support/plans.ts';
import { saveDatabase } from '../support/restored.ts';

// The sweeper would do the same sooner or later; here it comes too late.
const own = ownStack({ split: true, env: { SVC_SWEEP_IDLE_SECONDS: '3600' } });

afterEach(async () => {
  await own.chainFaults({ mining: 'automatic' });
  await own.venueFaults(null);
});

interface Rebuilt {
  readonly open: Readonly<Record<string, number>>;
  readonly running: number;
  readonly started: readonly string[];
  readonly failed: object;
}
interface Ended {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

function fundadmin(...args: readonly string[]): Promise<Ended> {
  const env = { ...process.env, ...own.stack.env, NODE_OPTIONS: '' };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [built('fundadmin'), ...args],
      { cwd: ROOT, env, timeout: 60_000 },
      (error, out, err) =>
        resolve({ status: error === null ? 0 : Number(error.code ?? -1), out, err }),
    );
  });
}

async function rebuild(
  ...options: readonly string[]
): Promise<{ readonly movements: Rebuilt; readonly capital_transfers: Rebuilt }> {
  const { status, out, err } = await fundadmin('movements', 'rebuild', ...options);
  expect({ status, err }).toEqual({ status: 0, err: '' });
  return JSON.parse(out) as { movements: Rebuilt; capital_transfers: Rebuilt };
}

async function loseTheNamespace(): Promise<void> {
  await own.stack.stopChild('temporal');
  for (const end of ['', '-wal', '-shm'])
    rmSync(join(own.stack.dataDir, `temporal.db${end}`), { force: true });
  await own.stack.startChild('temporal');
}

async function paidOnce({ movement_id }: Created, amount: string): Promise<void> {
  const ended = await own.api.reaches(movement_id, 'COMPLETED');
  assertConsistent(ended, await own.api.timeline(movement_id));
  expect(await timesPaid(own.stack, movement_id, amount)).toEqual(PAID_ONCE);
}

test('what is open goes on, each where it stood, and nothing is sent twice', async () => {
  const gated = await storeTemplate(own.api, [gate('check'), noop('after')], {
    edges: [edge('check', 'after')],
  });
  await own.chainFaults({ mining: 'paused' });
  await own.venueFaults({ transfer_outcome: 'pending', phases: ['transfer_submit'] });
  const flying = await own.api.create(WITHDRAW_TO_TREASURY, { amount: '31.01' });
  const waiting = await own.api.create(WITHDRAW_TO_TREASURY, { amount: '31.02' });
  const expiring = await own.api.create(WITHDRAW_TO_TREASURY, { amount: '31.03', ttl: 60 });
  const held = await own.api.create(gated, { amount: '31.04' });
  const { transfer_id: transferId } = (await own.api.expect(201, 'POST', '/capital-transfers', {
    source_venue: 'paper-main',
    destination_venue: 'paper-sub-a',
    asset: 'USDT',
    amount: '10',
    reason: 'a test',
    idempotency_key: randomUUID(),
  })) as { transfer_id: string };
  const transferBecomes = (state: string): Promise<true> =>
    eventually(
      async () => {
        const path = `/capital-transfers/${transferId}`;
        const { request_state: now } = await own.api.expect(200, 'GET', path);
        return now === state ? true : null;
      },
      { timeoutMs: 60_000, what: () => `the capital transfer to become ${state}` },
    );
  for (const each of [flying, held]) await own.api.approve(each);
  await own.api.nodeReaches(flying.movement_id, 'withdraw', ['OBSERVING']);
  await own.api.reaches(held.movement_id, 'WAITING_MANUAL_ACTION');
  const open = [flying, waiting, expiring, held].map(({ movement_id }) => movement_id);
  await transferBecomes('PENDING_PROVIDER_CONFIRMATION');
  await own.stack.stopChild('worker');
  await loseTheNamespace();

  expect(await fundadmin('movements', 'rebuild')).toMatchObject({
    status: 2,
    err: expect.stringMatching(/--database-intact .*fundadmin after-restore/),
  });
  const dry = await rebuild('--dry-run');
  expect(dry.movements).toMatchObject({
    open: { PENDING_APPROVAL: 2, EXECUTING: 1, WAITING_MANUAL_ACTION: 1 },
    running: 0,
    failed: {},
  });
  expect(await own.runOf(flying.movement_id)).toBeNull();
  const done = await rebuild('--database-intact');
  expect([...done.movements.started].sort()).toEqual([...open].sort());
  expect(done.capital_transfers.started).toEqual([transferId]);
  expect(await rebuild('--database-intact')).toMatchObject({
    movements: { running: 4, started: [] },
    capital_transfers: { running: 1, started: [] },
  });

  await own.stack.startChild('worker');
  await own.chainFaults({ mining: 'automatic' });
  await paidOnce(flying, '31.01');
  await own.api.approve(waiting);
  await paidOnce(waiting, '31.02');
  await own.api.act('resume', held.movement_id);
  await own.api.reaches(held.movement_id, 'COMPLETED');
  await own.api.reaches(expiring.movement_id, 'EXPIRED', 90_000);
  await own.venueFaults(null);
  const settled = await fetch(`${own.stack.paperVenueUrl}/transfers/${transferId}/settle`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ outcome: 'completed' }),
  });
  expect(settled.status).toBe(200);
  await transferBecomes('COMPLETED');
  expect((await rebuild('--database-intact')).movements.open).toEqual({});
}, 300_000);

test('after a restored backup too, what had been sent is looked up and not sent again', async () => {
  const { chain, paperVenueUrl } = own.stack;
  const config = { destination_address: chain.accounts.treasury.address };
  const template = await storeTemplate(own.api, [withdrawal(chain, 'pay', { config })]);
  const sent = await own.api.create(template, { amount: '32.013' });
  const paid = async (): Promise<readonly [number, number]> => {
    await own.api.reaches(sent.movement_id, 'COMPLETED', 120_000);
    const effects = await ledgerOf(paperVenueUrl, sent.movement_id);
    const transfers = await transfersOnChain(chain);
    return [effects.length, transfers.filter(({ amount }) => amount === '32.013').length];
  };
  await own.stack.stopChild('worker');
  await own.api.approve(sent);
  const saved = await saveDatabase(own.stack.databaseUrl);
  await own.stack.startChild('worker');
  expect(await paid()).toEqual([1, 1]);
  await own.stack.stopChild('worker');
  await own.stack.stopChild('api');
  await saved.restore();
  await loseTheNamespace();

  expect(await fundadmin('movements', 'rebuild', '--after-restore', 'flood')).toMatchObject({
    status: 1,
    err: expect.stringContaining('run `fundadmin after-restore --incident flood` first'),
  });
  expect(await fundadmin('after-restore', '--incident', 'flood')).toMatchObject({ status: 0 });
  // Of a restore before this one.
  await own.query("INSERT INTO restores (incident, at) VALUES ('fire', now() - interval '1 day')");
  expect(await fundadmin('movements', 'rebuild', '--after-restore', 'fire')).toMatchObject({
    status: 1,
    err: expect.stringContaining('The newest one is of "flood"'),
  });
  const done = await rebuild('--after-restore', 'flood');
  expect(done.movements).toMatchObject({ started: [sent.movement_id], failed: {} });
  await own.stack.startChild('api');
  await own.stack.startChild('worker');
  expect(await paid()).toEqual([1, 1]);
  const timeline = await own.api.timeline(sent.movement_id);
  expect(timeline.map(({ event_type }) => event_type)).not.toContain('node_submitting');
}, 300_000);
