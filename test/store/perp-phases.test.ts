/** Withdrawals and top-ups through their phases, with a venue that keeps a journal. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/common';
import { passFence } from '../../activities/phases/fence.ts';
import { runPhase } from '../../activities/phases/phase.ts';
import { phaseRow } from '../../activities/phases/row.ts';
import { signFenced } from '../../activities/phases/sign.ts';
import { STEPS } from '../../activities/phases/team.ts';
import type { Running } from '../../dev/simulators/kit/process.ts';
import { startPerpVenue } from '../../dev/simulators/perp/start.ts';
import type { Phase, PhaseResult } from '../../domain/messages.ts';
import { readPerpAction } from '../../store/perp-actions.ts';
import { createPerpClient } from '../../venues/perp/client.ts';
import { usdb } from '../dev/bridge-stack.ts';
import { callerOf, deposit, low, startPerpChain, type PerpChainStack } from '../dev/perp-stack.ts';
import { inActivity } from '../support/activity-environment.ts';
import {
  MASTER,
  VENUE,
  bindStrategy,
  newNode,
  openMaster,
  standing,
  workerOf,
  type PerpNode,
} from './perp-desk.ts';
import { startStoreBench, type StoreBench } from './support.ts';

let bench: StoreBench;
let stack: PerpChainStack;
let venue: Running;
beforeAll(async () => {
  [bench, stack] = await Promise.all([startStoreBench(), startPerpChain()]);
  venue = await startPerpVenue(stack.settings);
  await openMaster(bench);
  await deposit(stack.chain, usdb('5000'));
  await perp().fund(low(MASTER.address), { perp: '1000' });
}, 90_000);
afterAll(async () => {
  await venue?.close();
  await stack?.stop();
  await bench?.close();
});
beforeEach(() => perp().faults(SOON));

const SOON = { withdrawal_seconds: 0, confirmations: 1 };
const perp = () => callerOf(venue.url);
const worker = () =>
  workerOf(bench, { client: createPerpClient({ ...VENUE, url: venue.url }, { freshMs: 20 }) });

const phase = (name: Phase, node: PerpNode, more: object = {}): Promise<PhaseResult> =>
  inActivity(() => runPhase(worker(), STEPS[name], { ...node, ...more }));

/** Looks for as long as it is said to look again. */
async function ended(node: PerpNode): Promise<string> {
  for (;;) {
    try {
      await phase('observe', node);
      return await standing(bench, node);
    } catch (error) {
      if (!(error instanceof ApplicationFailure)) throw error;
      await sleep(50);
    }
  }
}

async function ready(action: string, terms: object = {}): Promise<PerpNode> {
  const node = await newNode(bench, action, terms);
  expect(await phase('preflight', node)).toMatchObject({ state: 'READY', next: 'continue' });
  expect(await phase('prepare', node)).toMatchObject({ state: 'READY', next: 'continue' });
  return node;
}

/** Calls of /exchange with the node's nonce: one was admitted, and all were the same. */
async function expectOnce(node: PerpNode, calls: number): Promise<void> {
  const action = await readPerpAction(bench.db, node);
  const all = (await perp().heard()).filter(({ body }) => body.includes(String(action?.nonce)));
  expect(all).toHaveLength(calls);
  expect(new Set(all.map(({ body }) => body)).size).toBe(1);
  expect(all.filter(({ admitted }) => admitted)).toHaveLength(1);
}

const outputOf = async ({ movement_id }: PerpNode): Promise<object | null> => {
  const [row] = await bench.sql<{ output: object | null }>(
    'SELECT output FROM movement_nodes WHERE movement_id = $1::uuid',
    movement_id,
  );
  return row?.output ?? null;
};

describe('a withdrawal', () => {
  it('goes through its phases, with one nonce and one signature', async () => {
    const node = await ready('perp_withdraw');
    const before = await readPerpAction(bench.db, node);
    expect(before).toMatchObject({ address: low(MASTER.address), signature: null });
    expect(await phase('submit', node)).toMatchObject({ state: 'SUBMITTED', next: 'continue' });
    expect(await ended(node)).toBe('COMPLETED');
    expect(await outputOf(node)).toMatchObject({
      received_amount: '10',
      fee_amount: '1',
      submitted_amount: '11',
      admitted: true,
    });
    expect(await readPerpAction(bench.db, node)).toMatchObject({ nonce: before?.nonce });
    await expectOnce(node, 1);
  });

  const CLOCKS = [['database', 61_000] as const, ['perp', -61_000] as const];

  test.each(CLOCKS)(
    'waits before its fence while the clock of %s differs, and is looked for all the same',
    async (clock, ms) => {
      const node = await ready('perp_withdraw', { amount: '12' });
      const differences = new Map<string, number>([[clock, ms]]);
      const apart = () => ({ ...worker(), clocks: { differences } });
      const waits = (): Promise<PhaseResult> =>
        inActivity(() => runPhase(apart(), STEPS.submit, node));
      expect(await waits()).toMatchObject({ state: 'READY', next: 'submit' });
      expect(await waits()).toMatchObject({ state: 'READY', next: 'submit' });
      const [row] = await bench.sql(
        `SELECT error_code, error_count, submit_epoch, frozen_since IS NOT NULL AS stands
          FROM movement_nodes WHERE movement_id = $1::uuid`,
        node.movement_id,
      );
      expect(row).toEqual({
        error_code: 'CLOCK_DIFFERENCE',
        error_count: 0,
        submit_epoch: 0,
        stands: true,
      });
      expect((await readPerpAction(bench.db, node))?.signature).toBeNull();
      // As far apart as may be: it is sent.
      differences.set(clock, Math.sign(ms) * 60_000);
      expect(await waits()).toMatchObject({ state: 'SUBMITTED' });
      differences.set(clock, ms);
      for (;;) {
        const state = await inActivity(() => runPhase(apart(), STEPS.observe, node)).then(
          () => 'looked',
          (error: unknown) =>
            error instanceof ApplicationFailure ? 'again' : Promise.reject(error),
        );
        if (state === 'looked') break;
        await sleep(50);
      }
      expect(await standing(bench, node)).toBe('COMPLETED');
      await expectOnce(node, 1);
    },
  );

  test.each(CLOCKS)(
    'that the venue never had is held while the clock of %s differs, and sent once they agree',
    async (clock, ms) => {
      const node = await ready('perp_withdraw', { amount: '13' });
      const differences = new Map<string, number>();
      const deps = { ...worker(), clocks: { differences } };
      const row = await phaseRow(deps, node);
      const fenced = await inActivity(() => passFence(deps, row));
      if ('unfenced' in fenced) throw new Error('the fence was not passed');
      await signFenced(deps, fenced);
      const recovers = (): Promise<PhaseResult> =>
        inActivity(() => runPhase(deps, STEPS.recover, node));
      differences.set(clock, ms);
      await expect(recovers()).rejects.toMatchObject({ type: 'ACTION_HELD' });
      expect(await standing(bench, node)).toBe('ACTION_HELD');
      differences.clear();
      expect(await recovers()).toMatchObject({ state: 'SUBMITTED', next: 'observe' });
      expect(await ended(node)).toBe('COMPLETED');
      await expectOnce(node, 1);
    },
  );

  it('whose answer is lost is recovered with the same bytes', async () => {
    const node = await ready('perp_withdraw');
    await perp().faults({ ...SOON, lose_answer_rate: 1, calls: ['exchange'] });
    expect(await phase('submit', node)).toMatchObject({ state: 'SUBMITTING', next: 'recover' });
    await perp().faults({ ...SOON, hold_withdrawals: true });
    expect(await phase('recover', node)).toMatchObject({ next: 'observe' });
    expect(await outputOf(node)).toMatchObject({ admitted: true });
    await perp().faults(SOON);
    expect(await ended(node)).toBe('COMPLETED');
    await expectOnce(node, 2);
  });

  it('whose worker dies once it has signed is sent by the recovery', async () => {
    const node = await ready('perp_withdraw');
    const row = await phaseRow(worker(), node);
    const fenced = await inActivity(() => passFence(worker(), row));
    if ('unfenced' in fenced) throw new Error('the fence was not passed');
    const signed = await signFenced(worker(), fenced);
    expect(await phase('recover', node)).toMatchObject({ state: 'SUBMITTED', next: 'observe' });
    expect(await signFenced(worker(), fenced)).toBe('overtaken');
    expect(await readPerpAction(bench.db, node)).toMatchObject(signed as object);
    expect(await ended(node)).toBe('COMPLETED');
    await expectOnce(node, 1);
  });

  it('whose worker dies before it has signed is sent once more with its nonce', async () => {
    const node = await ready('perp_withdraw');
    const row = await phaseRow(worker(), node);
    expect('unfenced' in (await inActivity(() => passFence(worker(), row)))).toBe(false);
    const before = await readPerpAction(bench.db, node);
    await bench.sql(
      "UPDATE movement_nodes SET send_not_after = svc_now() - interval '1 second' WHERE movement_id = $1::uuid",
      node.movement_id,
    );
    expect(await phase('recover', node)).toMatchObject({ state: 'READY', next: 'submit' });
    expect(await phase('submit', node)).toMatchObject({ state: 'SUBMITTED' });
    expect(await readPerpAction(bench.db, node)).toMatchObject({ nonce: before?.nonce });
    expect(await ended(node)).toBe('COMPLETED');
    await expectOnce(node, 1);
  });

  it('that is refused is failed in the words of the venue, and takes a new nonce then', async () => {
    const node = await ready('perp_withdraw');
    await perp().faults({ reject_next: { text: 'Insufficient balance for withdrawal' } });
    expect(await phase('submit', node)).toMatchObject({ error_code: 'VENUE_REFUSED' });
    expect(await standing(bench, node)).toBe('VENUE_REFUSED');
  });

  it('is not failed by a venue that rate-limits us, however long', async () => {
    const before = await newNode(bench, 'perp_withdraw');
    const sent = await ready('perp_withdraw');
    await phase('submit', sent);
    await perp().faults({ ...SOON, rate_limited: true, calls: ['info'] });
    for (let turn = 0; turn < 12; turn += 1)
      for (const [name, node] of [
        ['preflight', before],
        ['observe', sent],
      ] as const)
        await expect(phase(name, node)).rejects.toMatchObject({
          type: 'VENUE_RATE_LIMITED',
          nextRetryDelay: 15_000,
        });
    expect(await standing(bench, before)).toBe('VENUE_RATE_LIMITED');
    await perp().faults(SOON);
    expect(await phase('preflight', before)).toMatchObject({ state: 'READY', next: 'continue' });
    expect(await ended(sent)).toBe('COMPLETED');
    await expectOnce(sent, 1);
  });

  it('of a signer that is out of reach is followed by what it signed', async () => {
    const node = await ready('perp_withdraw');
    await phase('submit', node);
    const deps = worker();
    const down = { ...deps.signers.get('master'), recentIdentity: gone, identity: gone };
    const without = { ...deps, signers: { get: () => down as never } };
    for (;;) {
      const outcome = await inActivity(() => runPhase(without, STEPS.observe, node)).catch(
        (error: unknown) => {
          if (error instanceof ApplicationFailure && error.type === 'NOT_YET') return null;
          throw error;
        },
      );
      if (outcome !== null) break;
      await sleep(50);
    }
    expect(await standing(bench, node)).toBe('COMPLETED');
  });
  const gone = () => Promise.reject(new Error('it is down'));
});

test('a top-up goes through its phases', async () => {
  const sub = await perp().sub(low(MASTER.address), 'desk');
  await bindStrategy(bench, 'tops-up', { sub });
  const node = await ready('agent_wallet_top_up', {
    strategy: 'tops-up',
    amount: '7.5',
    config: { sub_account_address: sub },
  });
  expect(await phase('submit', node)).toMatchObject({ state: 'SUBMITTED' });
  expect(await ended(node)).toBe('COMPLETED');
  expect(await perp().perp(sub)).toBe('7.5');
  await expectOnce(node, 1);
});
