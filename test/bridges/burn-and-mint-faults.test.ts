/**
 * The burn-and-mint lane while answers are lost, blocks are taken back and its worker is killed, at
 * each of its three sends: what is burnt is minted once, to the unit.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { readBooks, supplyOf } from '../support/bridge-books.ts';
import { eventually, ownStack } from '../support/own-stack.ts';
import { journalOf, revive, setFaults } from './bridge-faults.ts';
import { createCrossings, LEGS, type Crossing, type Crossings } from './burn-and-mint-crossings.ts';

const ATTESTER = 'bridge-attester';
const LIMIT_MS = 240_000;
let lane: Crossings;
const own = ownStack({ bridges: true, split: true });
beforeAll(async () => {
  lane = createCrossings(own);
  for (const each of lane.templates()) await own.api.expect(201, 'POST', '/plan-templates', each);
});
afterEach(async () => {
  await revive(own, ['worker', ATTESTER]);
  await calm();
}, LIMIT_MS);

/** No faults anywhere, and both chains make their blocks by themselves. */
async function calm(): Promise<void> {
  const { near, far, attesterUrl } = lane.bridges;
  for (const url of [near.rpcUrl, far.rpcUrl, attesterUrl]) await setFaults(url, null);
}

describe.each(LEGS)('the %s', (leg) => {
  /** A movement whose leg is on its way, on a chain that makes no blocks. */
  const underWay = async (): Promise<Crossing> => {
    const crossing = await lane.upTo(leg, 'standard');
    await lane.sent(crossing, leg);
    return crossing;
  };
  /** How much its chain has taken before the leg, of which only the burn has one before it. */
  const before = async (): Promise<number> =>
    (await journalOf(lane.sideOf(leg))).length + (leg === 'burn' ? 1 : 0);

  test(
    'whose answer is lost after the chain has taken it is sent once',
    async () => {
      const count = await before();
      const crossing = await lane.upTo(leg, 'fast', { drop_answer_rate: 1 });
      const { hash } = await lane.accepted(leg, count);
      // Whatever is sent again meanwhile loses its answer, too.
      await sleep(500);
      await setFaults(lane.sideOf(leg).rpcUrl, { mining: 'automatic' });
      expect(await lane.sent(crossing, leg)).toBe(hash);
      await calm();
      await lane.expectOnce(crossing);
      expect((await journalOf(lane.sideOf(leg))).length).toBe(
        leg === 'allow' ? count + 2 : count + 1,
      );
    },
    LIMIT_MS,
  );

  test(
    'whose worker is killed before the chain has it is sent by the next worker',
    async () => {
      const count = await before();
      const crossing = await lane.upTo(leg, 'fast', { reject_rate: 1 });
      await own.api.nodeReaches(crossing.made.movement_id, leg, ['SUBMITTING'], LIMIT_MS);
      await sleep(300);
      await lane.worker(calm);
      await lane.expectOnce(crossing);
      const { length } = await journalOf(lane.sideOf(leg));
      expect(length).toBe(leg === 'allow' ? count + 2 : count + 1);
    },
    LIMIT_MS,
  );

  test(
    'whose worker is killed after the chain has it, and before the worker hears so, is not sent anew',
    async () => {
      const count = await before();
      const crossing = await lane.upTo(leg, 'fast', { drop_answer_rate: 1 });
      const { hash } = await lane.accepted(leg, count);
      await lane.worker(calm);
      await lane.expectOnce(crossing);
      expect(await lane.sent(crossing, leg)).toBe(hash);
    },
    LIMIT_MS,
  );

  test(
    'whose worker is killed while it is observed is found by the next worker',
    async () => {
      const crossing = await underWay();
      await own.api.nodeReaches(crossing.made.movement_id, leg, ['OBSERVING'], LIMIT_MS);
      await lane.worker(calm);
      await lane.expectOnce(crossing);
    },
    LIMIT_MS,
  );

  test(
    'whose block is taken back before it is final is sent again, once',
    async () => {
      const crossing = await underWay();
      await lane.mine(lane.sideOf(leg));
      await lane.seen(crossing, leg);
      const hash = await lane.takeBack(crossing, leg);
      await lane.comesBack(leg, hash);
      await calm();
      await lane.expectOnce(crossing);
      expect(await lane.sent(crossing, leg)).toBe(hash);
    },
    LIMIT_MS,
  );

  test(
    'whose block is taken back while no worker looks, and which comes again by itself, is no second one',
    async () => {
      const crossing = await underWay();
      const side = lane.sideOf(leg);
      await lane.mine(side);
      await lane.seen(crossing, leg);
      await lane.worker(async () => {
        const hash = await lane.takeBack(crossing, leg);
        // Another block takes the place of the one that was seen.
        await lane.mine(side);
        await lane.comesAgain(leg, hash);
        await lane.mine(side);
      });
      await calm();
      await lane.expectOnce(crossing);
    },
    LIMIT_MS,
  );
});

test(
  'a fast burn whose block is taken back after its mint is burnt again, and the sum is right',
  async () => {
    const { near } = lane.bridges;
    const crossing = await lane.upTo('burn', 'fast');
    await lane.sent(crossing, 'burn');
    await lane.mine(near);
    await own.api.reaches(crossing.made.movement_id, 'COMPLETED', LIMIT_MS);
    await lane.takeBack(crossing, 'burn');
    // Until it is burnt again there is more than there may be.
    expect((await supplyOf(lane.bridges)).sum).toBe(crossing.sum + crossing.units);
    await setFaults(near.rpcUrl, null);
    await eventually(
      async () =>
        (await readBooks(near)).burns.length === crossing.near.burns.length + 1 ? true : null,
      { timeoutMs: 60_000, what: () => 'the burn to be in a block again' },
    );
    await lane.expectOnce(crossing);
  },
  LIMIT_MS,
);

describe('the attester', () => {
  test.each([
    ['answers 500', { error_rate: 1 }, 'ATTESTER_UNAVAILABLE'],
    ['loses its answers', { lose_answer_rate: 1 }, 'ATTESTER_UNREACHABLE'],
    ['answers something else', { garbage_rate: 1 }, 'ATTESTER_UNAVAILABLE'],
  ])(
    '%s while the burn is observed, and the worker is killed meanwhile: it is minted once',
    async (_what, faults, code) => {
      await setFaults(lane.bridges.attesterUrl, faults);
      const crossing = await lane.begin('standard');
      await eventually(
        async () => ((await lane.nodeOf(crossing, 'burn')).error_code === code ? true : null),
        { timeoutMs: 60_000, what: () => `the burn to tell ${code}` },
      );
      await lane.worker();
      await calm();
      await lane.expectOnce(crossing);
    },
    LIMIT_MS,
  );

  test(
    'is killed while the burn is observed, and signs the same once it is back',
    async () => {
      const crossing = await lane.upTo('burn', 'standard');
      await lane.sent(crossing, 'burn');
      await own.stack.kill(ATTESTER);
      await setFaults(lane.bridges.near.rpcUrl, null);
      await eventually(
        async () =>
          (await lane.nodeOf(crossing, 'burn')).error_code === 'ATTESTER_UNREACHABLE' ? true : null,
        { timeoutMs: 60_000, what: () => 'the burn to report that the attester is silent' },
      );
      await own.stack.startChild(ATTESTER);
      await lane.expectOnce(crossing);
    },
    LIMIT_MS,
  );

  test(
    'is dead once the burn is signed for: the mint needs it no more',
    async () => {
      const crossing = await lane.begin('gated');
      const { movement_id } = crossing.made;
      await own.api.reaches(movement_id, 'WAITING_MANUAL_ACTION', LIMIT_MS);
      await own.stack.kill(ATTESTER);
      await own.api.act('resume', movement_id);
      await lane.expectOnce(crossing);
    },
    LIMIT_MS,
  );
});
