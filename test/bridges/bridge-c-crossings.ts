/** Sends of the omnichain token from the near chain to the far one, and what befalls them. */
import {
  formatUnits,
  isAddressEqual,
  parseTransaction,
  parseUnits,
  recoverTransactionAddress,
  type Hex,
  type TransactionSerialized,
} from 'viem';
import type { PacketView } from '../../dev/simulators/bridge/deliverer/deliveries.ts';
import type { BridgeSide, StackBridges } from '../../dev/stack/bridges.ts';
import { sendAndArrive } from '../support/bridge-plans.ts';
import { openPaths } from '../support/bridge-registry.ts';
import { stranger, type Delivery } from '../support/bridge-stranger.ts';
import { assertConsistent, type NodeView } from '../support/evidence.ts';
import { readOmniBooks, type OmniBooks } from '../support/omni-books.ts';
import { eventually, Stop, type Created, type OwnStack } from '../support/own-stack.ts';
import {
  isMined,
  journalOf,
  killed,
  mine,
  nodeOf as nodeIn,
  PATIENCE_MS,
  setFaults,
  takeBack,
  taken,
} from './bridge-faults.ts';

const TEMPLATE = 'test/omni-crossing';
const UNREACHABLE = 'EVM_RPC_UNREACHABLE';
export type Leg = 'send' | 'arrive';

/** A movement, and how everything stood before it. */
export interface Crossing {
  readonly made: Created;
  readonly units: bigint;
  readonly near: OmniBooks;
  readonly far: OmniBooks;
  readonly held: bigint;
  /** How many sends the signer had ever made. */
  readonly sends: number;
}

export type Crossings = ReturnType<typeof createCrossings>;

export function createCrossings(own: OwnStack) {
  const { stack, api } = own;
  const bridges: StackBridges = stack.bridges!;
  const { near, far } = bridges;
  const { signer, treasury, venueHotWallet } = stack.chain.accounts;
  const other = stranger(venueHotWallet.privateKey);
  const sideOf = (leg: Leg): BridgeSide => (leg === 'send' ? near : far);
  const started: Created[] = [];
  let serial = 0;

  const nodeOf = ({ made }: Crossing, leg: Leg): Promise<NodeView> => nodeIn(api, made, leg);
  const reaches = (crossing: Crossing, leg: Leg, state: string) =>
    api.nodeReaches(crossing.made.movement_id, leg, [state], PATIENCE_MS);

  /** Everything that the signer has ever had the near chain offered for the token. */
  const sends = async (): Promise<number> => {
    const ours = await Promise.all(
      (await journalOf(near)).map(async ({ raw }) => {
        const { to } = parseTransaction(raw as TransactionSerialized);
        if (!to || !isAddressEqual(to, near.contracts.omniToken)) return false;
        const serializedTransaction = raw as TransactionSerialized;
        const from = await recoverTransactionAddress({ serializedTransaction });
        return isAddressEqual(from, signer.address);
      }),
    );
    return ours.filter(Boolean).length;
  };

  /**
   * Creates and approves one of an amount that no other has, or that `like` has; `faults` hold on
   * the near chain from before it.
   */
  const begin = async (faults: object = {}, like?: Crossing): Promise<Crossing> => {
    serial += 1;
    const unique = `${String(20 + serial)}.00${String(serial).padStart(3, '0')}1`;
    const amount = like === undefined ? unique : formatUnits(like.units, 18);
    const books = { near: await readOmniBooks(near), far: await readOmniBooks(far) };
    const before = { held: await books.far.held(treasury.address), sends: await sends() };
    await setFaults(near.rpcUrl, faults);
    const made = await api.create(TEMPLATE, { amount, intent: { asset: 'OMNI' } });
    await api.approve(made);
    started.push(made);
    return { made, units: parseUnits(amount, 18), ...books, ...before };
  };

  /** The transaction of the send, once its node reports it. */
  const sent = (crossing: Crossing): Promise<Hex> =>
    eventually(async () => ((await nodeOf(crossing, 'send')).external_ref as Hex | null) ?? null, {
      timeoutMs: PATIENCE_MS,
      what: () => 'the send to be sent',
    });

  /** A node that is not to be complete yet, while something of it is waited for. */
  const underWay = async (crossing: Crossing, leg: Leg): Promise<NodeView> => {
    const node = await nodeOf(crossing, leg);
    if (node.state === 'COMPLETED') throw new Stop(`the node ${leg} is complete too early`);
    return node;
  };

  /** Waits until a node tells this fault, or with null that it was answered since. */
  const tells = (crossing: Crossing, leg: Leg, code: string | null): Promise<unknown> =>
    eventually(async () => (await underWay(crossing, leg)).error_code === code || null, {
      timeoutMs: PATIENCE_MS,
      what: () => `the node ${leg} to tell ${String(code)}`,
    });

  /** Waits until the arrival says that the packet is there in this state, and goes on looking. */
  const arrival = async (crossing: Crossing, state: string): Promise<Delivery> => {
    const delivery = await eventually(
      async () => {
        const { output } = await underWay(crossing, 'arrive');
        const seen = output?.['delivery'] as Delivery | undefined;
        return seen?.state === state ? seen : null;
      },
      { timeoutMs: PATIENCE_MS, what: () => `the packet to be ${state}` },
    );
    expect((await nodeOf(crossing, 'arrive')).state).toBe('OBSERVING');
    return delivery;
  };

  const deliverer = (faults: object | null): Promise<void> =>
    setFaults(bridges.delivererUrl, faults);

  const packets = async (): Promise<readonly PacketView[]> => {
    const answer = await fetch(`${bridges.delivererUrl}/packets`);
    return ((await answer.json()) as { packets: PacketView[] }).packets;
  };

  const received = async (guid: unknown) =>
    (await readOmniBooks(far)).received.filter((each) => each.guid === guid);

  return {
    bridges,
    near,
    far,
    treasury,
    other,
    sideOf,
    deliverer,
    packets,
    received,
    nodeOf,
    reaches,
    begin,
    sent,
    tells,
    arrival,
    books: () => readOmniBooks(far),
    prepare: async (): Promise<void> => {
      const plan = { key: TEMPLATE, from: near, to: far, payee: treasury.address };
      await api.expect(201, 'POST', '/plan-templates', sendAndArrive(plan));
      await openPaths((...of) => api.expect(...of), bridges);
    },

    /** No faults anywhere, and both chains make their blocks by themselves. */
    calm: async (): Promise<void> => {
      for (const url of [near.rpcUrl, far.rpcUrl, bridges.delivererUrl]) await setFaults(url, null);
    },

    events: async ({ made }: Crossing): Promise<readonly string[]> =>
      (await api.timeline(made.movement_id)).map(({ event_type }) => event_type),

    /** Waits for the started movements, so that a failed test leaves none to the next. */
    ended: async (): Promise<void> => {
      await Promise.allSettled(
        started.splice(0).map(({ movement_id }) => api.reaches(movement_id, 'COMPLETED')),
      );
    },

    /** Kills the worker; `meanwhile` happens while it is dead. */
    worker: (meanwhile?: () => Promise<unknown>): Promise<void> => killed(own, 'worker', meanwhile),

    /** The transaction is in a block of a paused near chain, and the service has looked at it. */
    seen: async (crossing: Crossing): Promise<Hex> => {
      const hash = await sent(crossing);
      expect(await isMined(near, hash)).toBe(true);
      // Whoever tells of lost answers and then of none has looked since.
      await setFaults(near.rpcUrl, { drop_read_rate: 1 });
      await tells(crossing, 'send', UNREACHABLE);
      await setFaults(near.rpcUrl, { drop_read_rate: 0 });
      await tells(crossing, 'send', null);
      const { state, output } = await nodeOf(crossing, 'send');
      expect({ state, packet: output?.['packet'] }).toEqual({ state: 'OBSERVING' });
      return hash;
    },

    /** The packet that a transaction in a block of the near chain has sent. */
    guidOf: async (hash: Hex): Promise<string> =>
      (await readOmniBooks(near)).sent.find(({ tx }) => tx === hash)!.guid,

    /** Whether the deliverer has this packet in hand. */
    carries: async (guid: string): Promise<boolean> =>
      (await packets()).some((each) => each.guid === guid),

    /** A movement that is sent, with its packet where these faults of the deliverer leave it. */
    upTo: async (state: 'sent' | 'verified'): Promise<[Crossing, Delivery]> => {
      await deliverer(state === 'sent' ? { verify: false } : { deliver: false });
      const crossing = await begin();
      return [crossing, await arrival(crossing, state)];
    },

    /** Waits until the far chain shows the packet as received, whoever watches. */
    isReceived: (guid: unknown): Promise<unknown> =>
      eventually(async () => (await received(guid)).length === 1 || null, {
        timeoutMs: PATIENCE_MS,
        what: () => `${String(guid)} to be received`,
      }),

    /** Waits for a look of the service that began after this and found the packet so. */
    looksAgain: async (crossing: Crossing, state: string): Promise<void> => {
      await setFaults(far.rpcUrl, { drop_read_rate: 1 });
      await tells(crossing, 'arrive', UNREACHABLE);
      await setFaults(far.rpcUrl, { drop_read_rate: 0 });
      await tells(crossing, 'arrive', null);
      await arrival(crossing, state);
    },

    /**
     * Has the deliverer deliver in a block of a far chain that makes no more by itself, and the
     * service see it; the transaction of it.
     */
    deliveredOnce: async (crossing: Crossing): Promise<Hex> => {
      await setFaults(far.rpcUrl, { mining: 'paused' });
      const count = (await journalOf(far)).length;
      await deliverer(null);
      const { hash } = await taken(far, count, 'delivery');
      await deliverer({ deliver: false });
      await mine(far);
      await arrival(crossing, 'received');
      expect((await nodeOf(crossing, 'arrive')).external_ref).toBe(hash);
      return hash;
    },

    /** Takes the block of the delivery back. */
    undelivered: async (crossing: Crossing, hash: Hex): Promise<void> => {
      const { guid } = (await nodeOf(crossing, 'send')).output!;
      expect(await received(guid)).toHaveLength(1);
      await takeBack(far, hash);
      expect(await received(guid)).toHaveLength(0);
    },

    /**
     * Until they are COMPLETED; what each sent has then been received, once, and nothing else has
     * changed but for `strangers`, which somebody else has sent to the same payee.
     */
    expectOnce: async (crossings: readonly Crossing[], strangers = 0n): Promise<void> => {
      const before = crossings[0]!;
      const ends = [];
      for (const { made, units } of crossings) {
        const ended = await api.reaches(made.movement_id, 'COMPLETED', PATIENCE_MS);
        assertConsistent(ended, await api.timeline(made.movement_id));
        ends.push({ units, of: (key: Leg) => ended.nodes.find((node) => node.node_key === key)! });
      }
      const more = strangers === 0n ? 0 : 1;
      const [here, there] = [await readOmniBooks(near), await readOmniBooks(far)];
      for (const { units, of } of ends) {
        const [send, arrive] = [of('send'), of('arrive')];
        const { guid, tx_hash } = arrive.output!;
        expect(send.output).toMatchObject({ guid, tx_hash: send.external_ref });
        const ours = here.sent.filter(
          (each) => each.amount === units && each.by === signer.address,
        );
        const tx = send.external_ref;
        expect(ours.filter((each) => each.tx === tx)).toEqual([
          { guid, by: signer.address, amount: units, tx },
        ]);
        expect(ours).toHaveLength(crossings.filter((each) => each.units === units).length);
        expect(there.received.filter((each) => each.guid === guid)).toEqual([
          { guid, to: treasury.address, amount: units, tx: tx_hash },
        ]);
      }
      const moved = crossings.reduce((sum, { units }) => sum + units, strangers);
      expect({
        sent: here.sent.length - before.near.sent.length,
        received: there.received.length - before.far.received.length,
        near: before.near.supply - here.supply,
        far: there.supply - before.far.supply,
        held: (await there.held(treasury.address)) - before.held,
        sends: (await sends()) - before.sends,
      }).toEqual({
        sent: crossings.length + more,
        received: crossings.length + more,
        near: moved,
        far: moved,
        held: moved,
        sends: crossings.length,
      });
    },
  };
}
