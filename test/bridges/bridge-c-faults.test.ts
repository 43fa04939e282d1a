/**
 * The bridge_c lane while answers are lost, blocks are taken back and its parts are killed, at its
 * send and at its arrival: what is sent is received once, to the unit.
 */
import { jest } from '@jest/globals';
import { eventually, ownStack } from '../support/own-stack.ts';
import {
  comesAgain,
  comesBack,
  isMined,
  journalOf,
  killed,
  mine,
  revive,
  setFaults,
  takeBack,
  taken,
} from './bridge-faults.ts';
import { createCrossings, type Crossing, type Crossings } from './bridge-c-crossings.ts';

const DELIVERER = 'bridge-deliverer';
const FAR_CHAIN = 'far-chain';
const UNREACHABLE = 'EVM_RPC_UNREACHABLE';
const PAUSED = { mining: 'paused' };
jest.setTimeout(240_000);
let lane: Crossings;
const own = ownStack({ bridges: true, split: true });
beforeAll(async () => {
  lane = createCrossings(own);
  await lane.prepare();
});
afterEach(async () => {
  await revive(own, ['worker', DELIVERER, FAR_CHAIN]);
  await lane.calm();
  await lane.ended();
});

describe('the send', () => {
  /** What the near chain takes next is the send; `faults` hold there, and it makes no blocks. */
  const begin = async (faults: object): Promise<[Crossing, number]> => {
    const { length } = await journalOf(lane.near);
    return [await lane.begin({ ...PAUSED, ...faults }), length];
  };
  /** A movement whose send is on its way, on a chain that makes no blocks. */
  const underWay = async (): Promise<Crossing> => {
    const [crossing] = await begin({});
    await lane.sent(crossing);
    await lane.reaches(crossing, 'send', 'OBSERVING');
    return crossing;
  };
  /** The same with its transaction in a block that is not final, which the service has seen. */
  const inBlock = async (): Promise<[Crossing, `0x${string}`]> => {
    // Whoever carries a packet waits for as many blocks as the service.
    await lane.deliverer({ confirmations: 3 });
    const crossing = await underWay();
    await mine(lane.near);
    return [crossing, await lane.seen(crossing)];
  };

  test('whose answer is lost after the chain has taken it is sent once', async () => {
    const [crossing, count] = await begin({ drop_answer_rate: 1 });
    const { hash } = await taken(lane.near, count, 'send');
    expect(await lane.sent(crossing)).toBe(hash);
    // Whatever is sent again meanwhile loses its answer, too.
    await setFaults(lane.near.rpcUrl, { mining: 'automatic' });
    await lane.reaches(crossing, 'send', 'COMPLETED');
    await lane.calm();
    await lane.expectOnce([crossing]);
    expect(await lane.events(crossing)).toContain('node_recovered');
  });

  test('whose worker is killed before the chain has it is sent by the next worker', async () => {
    const [crossing, count] = await begin({ reject_rate: 1 });
    await lane.tells(crossing, 'send', 'BROADCAST_REFUSED');
    await lane.worker(async () => {
      expect(await journalOf(lane.near)).toHaveLength(count);
      await lane.calm();
    });
    await lane.expectOnce([crossing]);
  });

  test('whose worker is killed after the chain has it, and before the worker hears so, is not sent anew', async () => {
    const [crossing, count] = await begin({ drop_answer_rate: 1 });
    const { hash } = await taken(lane.near, count, 'send');
    await lane.worker(async () => {
      expect((await lane.nodeOf(crossing, 'send')).state).toBe('SUBMITTING');
      await lane.calm();
    });
    await lane.expectOnce([crossing]);
    expect(await lane.sent(crossing)).toBe(hash);
    expect(await lane.events(crossing)).toContain('node_recovered');
  });

  test('whose worker is killed while it is observed is found by the next worker', async () => {
    const crossing = await underWay();
    await lane.worker(lane.calm);
    await lane.expectOnce([crossing]);
  });

  test('whose block is taken back before it is final is sent again, once', async () => {
    const [crossing, hash] = await inBlock();
    await takeBack(lane.near, hash);
    await comesBack(lane.near, hash, 'send');
    await setFaults(lane.near.rpcUrl, null);
    await lane.expectOnce([crossing]);
    expect(await lane.sent(crossing)).toBe(hash);
  });

  test('whose block is taken back while no worker looks, and which comes again by itself, is no second one', async () => {
    const [crossing, hash] = await inBlock();
    await lane.worker(async () => {
      await takeBack(lane.near, hash);
      // Another block takes the place of the one that was seen.
      await mine(lane.near);
      expect(await isMined(lane.near, hash)).toBe(false);
      await comesAgain(lane.near, hash);
      await mine(lane.near);
      expect(await isMined(lane.near, hash)).toBe(true);
    });
    await setFaults(lane.near.rpcUrl, null);
    await lane.expectOnce([crossing]);
    expect(await lane.sent(crossing)).toBe(hash);
  });

  test('whose block is taken back and whose packet goes to a stranger is followed by its new packet', async () => {
    await lane.other.fund(lane.near, 1_000n * 10n ** 18n);
    const [crossing, hash] = await inBlock();
    const first = await lane.guidOf(hash);
    // It waits in the pool, and is first there once the block is gone.
    const { units } = crossing;
    const { near, far, other } = lane;
    const theirs = await other.send(near, far, lane.treasury.address, units);
    await takeBack(near, hash);
    // The carrier knows that the first packet no longer exists.
    await eventually(async () => !(await lane.carries(first)) || null);
    await comesBack(near, hash, 'send');
    await mine(near);
    expect([await lane.guidOf(theirs), await lane.guidOf(hash)]).toEqual([
      first,
      expect.not.stringMatching(first),
    ]);
    expect(await lane.nodeOf(crossing, 'send')).toMatchObject({ state: 'OBSERVING' });
    await setFaults(near.rpcUrl, null);
    await lane.isReceived(first);
    await lane.expectOnce([crossing], units);
    expect((await lane.nodeOf(crossing, 'arrive')).output).toMatchObject({
      guid: await lane.guidOf(hash),
    });
  });

  test('whose reads are lost, some of them and in between all, is sent once', async () => {
    const some = { drop_read_rate: 0.03 };
    const [crossing] = await begin(some);
    await lane.reaches(crossing, 'send', 'OBSERVING');
    await setFaults(lane.near.rpcUrl, { drop_read_rate: 1 });
    await lane.tells(crossing, 'send', UNREACHABLE);
    await setFaults(lane.near.rpcUrl, { mining: 'automatic', ...some });
    await lane.reaches(crossing, 'send', 'COMPLETED');
    await lane.calm();
    await lane.expectOnce([crossing]);
  });
});

describe('the arrival', () => {
  test.each(['sent', 'verified'] as const)(
    'of a packet that was %s when the worker was killed, and received meanwhile, is found',
    async (state) => {
      const [crossing] = await lane.upTo(state);
      const { guid } = (await lane.nodeOf(crossing, 'send')).output!;
      await lane.worker(async () => {
        await lane.deliverer(null);
        await lane.isReceived(guid);
        expect((await lane.nodeOf(crossing, 'arrive')).state).toBe('OBSERVING');
      });
      await lane.expectOnce([crossing]);
    },
  );

  test('whose reads are lost, and whose worker is killed meanwhile, is found once they are answered', async () => {
    const [crossing, { guid }] = await lane.upTo('verified');
    await setFaults(lane.far.rpcUrl, { drop_read_rate: 1 });
    await lane.tells(crossing, 'arrive', UNREACHABLE);
    await lane.worker();
    await lane.calm();
    await lane.isReceived(guid);
    await lane.expectOnce([crossing]);
  });

  test('whose block is taken back before it is final is none, and is one when it comes again', async () => {
    const [crossing] = await lane.upTo('verified');
    const hash = await lane.deliveredOnce(crossing);
    await lane.undelivered(crossing, hash);
    await lane.arrival(crossing, 'verified');
    // The deliverer finds by itself that it has to deliver again.
    await lane.calm();
    await lane.expectOnce([crossing]);
  });

  test.each(['the deliverer', 'a stranger'])(
    'whose block is taken back while no worker looks, and which %s brings again, is one',
    async (who) => {
      const [crossing, delivery] = await lane.upTo('verified');
      const hash = await lane.deliveredOnce(crossing);
      await lane.worker(async () => {
        await lane.undelivered(crossing, hash);
        // Another block takes the place of the one that was seen.
        await mine(lane.far);
        const count = (await journalOf(lane.far)).length;
        if (who === 'the deliverer') {
          await lane.deliverer(null);
          await comesBack(lane.far, hash, 'delivery');
        } else {
          await lane.other.deliver(lane.far, delivery);
          await taken(lane.far, count, 'delivery');
        }
        await mine(lane.far);
        await lane.isReceived(delivery.guid);
        expect(await isMined(lane.far, hash)).toBe(who === 'the deliverer');
      });
      await lane.calm();
      await lane.expectOnce([crossing]);
    },
  );

  test.each(['sent', 'verified'] as const)(
    'of a packet that was %s when the deliverer was killed waits for it to be back',
    async (state) => {
      const [crossing] = await lane.upTo(state);
      const { guid } = (await lane.nodeOf(crossing, 'send')).output!;
      await killed(own, DELIVERER, async () => {
        await lane.looksAgain(crossing, state);
        expect(await lane.received(guid)).toEqual([]);
      });
      await lane.expectOnce([crossing]);
    },
  );

  test('of a packet whose deliverer was killed before its delivery is whoever delivers', async () => {
    const [crossing, delivery] = await lane.upTo('verified');
    await own.stack.kill(DELIVERER);
    const tx_hash = await lane.other.deliver(lane.far, delivery);
    await lane.expectOnce([crossing]);
    expect((await lane.nodeOf(crossing, 'arrive')).output).toMatchObject({ tx_hash });
  });

  test.each(['verified', 'received'] as const)(
    'of a packet that is %s outlives its chain, which is killed and made again',
    async (state) => {
      const [crossing] = await lane.upTo('verified');
      if (state === 'received') await lane.deliveredOnce(crossing);
      await killed(own, FAR_CHAIN, () => lane.tells(crossing, 'arrive', UNREACHABLE));
      await lane.deliverer(null);
      await lane.expectOnce([crossing]);
    },
  );

  test('of two packets of one amount that come in the other order, and four times each, is one of each', async () => {
    await lane.deliverer({ hold_until: 2, order: 'reversed', repeat: 3 });
    const first = await lane.begin();
    const { guid } = await lane.arrival(first, 'verified');
    const second = await lane.begin({}, first);
    await lane.expectOnce([first, second]);
    const { guid: later } = (await lane.nodeOf(second, 'arrive')).output!;
    const order = (await lane.books()).received.map((each) => each.guid);
    expect(order.slice(-2)).toEqual([later, guid]);
    await eventually(async () => {
      const carried = (await lane.packets()).filter((each) => [guid, later].includes(each.guid));
      return carried.every(({ repeats }) => repeats === 3) || null;
    });
    await lane.expectOnce([first, second]);
  });
});
