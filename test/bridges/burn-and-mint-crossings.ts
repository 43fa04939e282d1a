/** Crossings from the near chain to the far one, and the faults that they meet on their way. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Hex } from 'viem';
import type { BridgeSide, StackBridges } from '../../dev/stack/bridges.ts';
import {
  amountOf,
  fastFee,
  readBooks,
  supplyOf,
  unitsOf,
  type SideBooks,
} from '../support/bridge-books.ts';
import { burnAndMint } from '../support/bridge-plans.ts';
import { assertConsistent, type NodeView } from '../support/evidence.ts';
import { eventually, type Created, type OwnStack } from '../support/own-stack.ts';
import {
  comesAgain,
  comesBack,
  isMined,
  killed,
  mine,
  nodeOf as nodeIn,
  PATIENCE_MS,
  setFaults,
  takeBack,
  taken,
  UNTIL_FINAL,
  type JournalEntry,
} from './bridge-faults.ts';

export const LEGS = ['allow', 'burn', 'mint'] as const;
export type Leg = (typeof LEGS)[number];
/** By what their burns ask of the attester; `gated` waits for somebody before its mint. */
export type Kind = 'fast' | 'standard' | 'gated';

/** A movement, and how everything stood before it. */
export interface Crossing {
  readonly made: Created;
  readonly units: bigint;
  readonly fee: bigint;
  readonly sum: bigint;
  readonly near: SideBooks;
  readonly far: SideBooks;
  readonly held: bigint;
}

const keyOf = (kind: Kind): string => `test/crossing-${kind}`;

export type Crossings = ReturnType<typeof createCrossings>;

export function createCrossings(own: OwnStack) {
  const { stack, api } = own;
  const bridges: StackBridges = stack.bridges!;
  const { signer, treasury } = stack.chain.accounts;
  const sideOf = (leg: Leg): BridgeSide => (leg === 'mint' ? bridges.far : bridges.near);
  let serial = 0;

  const nodeOf = ({ made }: Crossing, key: string): Promise<NodeView> => nodeIn(api, made, key);

  /** Creates and approves one of an amount that no other has. */
  const begin = async (kind: Kind): Promise<Crossing> => {
    serial += 1;
    const amount = `${String(20 + serial)}.00${String(serial).padStart(3, '0')}1`;
    const units = unitsOf(amount);
    const [near, far] = await Promise.all([readBooks(bridges.near), readBooks(bridges.far)]);
    const [held, { sum }] = [await far.held(treasury.address), await supplyOf(bridges)];
    const made = await api.create(keyOf(kind), { amount, intent: { asset: 'USDB' } });
    await api.approve(made);
    const fee = kind === 'fast' ? fastFee(units) : 0n;
    return { made, units, fee, sum, near, far, held };
  };

  /** The transaction of a leg, once its node reports it. */
  const sent = (crossing: Crossing, leg: Leg): Promise<Hex> =>
    eventually(
      async () => {
        const { external_ref } = await nodeOf(crossing, leg);
        return typeof external_ref === 'string' ? (external_ref as Hex) : null;
      },
      { timeoutMs: PATIENCE_MS, what: () => `the ${leg} to be sent` },
    );

  return {
    bridges,
    sideOf,
    begin,
    mine,
    nodeOf,
    sent,
    templates: () =>
      (['fast', 'standard', 'gated'] as const).map((kind) =>
        burnAndMint({
          key: keyOf(kind),
          from: bridges.near,
          to: bridges.far,
          payee: treasury.address,
          gated: kind === 'gated',
          finality: kind === 'fast' ? 'fast' : 'standard',
        }),
      ),

    /**
     * Leads a movement to where the next that its leg's chain is sent is of this leg. The chain
     * no longer makes blocks by itself, and `faults` apply there.
     */
    upTo: async (leg: Leg, kind: Kind, faults: object = {}): Promise<Crossing> => {
      const { rpcUrl } = sideOf(leg);
      await setFaults(rpcUrl, { mining: 'paused', ...(leg === 'burn' ? {} : faults) });
      const crossing = await begin(kind);
      if (leg !== 'burn') return crossing;
      // The allowance is under way before the faults begin, and mined once they hold.
      await sent(crossing, 'allow');
      await setFaults(rpcUrl, faults);
      await mine(bridges.near, UNTIL_FINAL);
      return crossing;
    },

    /** Waits for the leg's chain to have taken one transaction more than `count`. */
    accepted: (leg: Leg, count: number): Promise<JournalEntry> => taken(sideOf(leg), count, leg),

    /** Kills the worker; `meanwhile` happens while it is dead. */
    worker: (meanwhile?: () => Promise<unknown>): Promise<void> => killed(own, 'worker', meanwhile),

    /** Waits until the service has looked at a block that was just made. */
    seen: async (crossing: Crossing, leg: Leg): Promise<void> => {
      const { rpcUrl } = sideOf(leg);
      const hash = await sent(crossing, leg);
      await eventually(async () => (await isMined(sideOf(leg), hash)) || null, {
        what: () => `${hash} to be in a block of ${rpcUrl}`,
      });
      // A burn tells what it has seen; of the others only several polls are waited for.
      if (leg !== 'burn') await sleep(1_500);
      else
        await eventually(async () => (await nodeOf(crossing, leg)).output?.['message'] ?? null, {
          what: () => 'the burn to have been seen',
        });
      // An allowance moves nothing, so the plan goes on once it is in a block.
      expect((await nodeOf(crossing, leg)).state).toBe(leg === 'allow' ? 'COMPLETED' : 'OBSERVING');
    },

    /** Drops the newest block; the leg's transaction then exists nowhere. */
    takeBack: async (crossing: Crossing, leg: Leg): Promise<Hex> => {
      const hash = await sent(crossing, leg);
      await takeBack(sideOf(leg), hash);
      return hash;
    },

    /** Waits until a chain has a transaction again, in a block or not. */
    comesBack: (leg: Leg, hash: Hex): Promise<unknown> => comesBack(sideOf(leg), hash, leg),

    /** The bytes of a transaction, sent by somebody else than the service. */
    comesAgain: (leg: Leg, hash: Hex): Promise<void> => comesAgain(sideOf(leg), hash),

    /** Until it is COMPLETED; what was burnt has then arrived, once, and nothing else changed. */
    expectOnce: async (crossing: Crossing): Promise<void> => {
      const { made, units, fee, sum, held, near, far } = crossing;
      const ended = await api.reaches(made.movement_id, 'COMPLETED', PATIENCE_MS);
      assertConsistent(ended, await api.timeline(made.movement_id));
      const [here, there] = await Promise.all([readBooks(bridges.near), readBooks(bridges.far)]);
      expect({
        burns: here.burns.slice(near.burns.length),
        mints: there.mints.slice(far.mints.length),
        near: amountOf(here.supply - near.supply + units),
        far: amountOf(there.supply - far.supply - units),
        sum: amountOf(here.supply + there.supply),
        received: amountOf((await there.held(treasury.address)) - held),
        collected: amountOf(there.collected - far.collected),
        allowed: await here.allowed(signer.address),
      }).toEqual({
        burns: [{ amount: units, by: signer.address }],
        mints: [{ amount: units - fee, fee, to: treasury.address }],
        near: amountOf(0n),
        far: amountOf(0n),
        sum: amountOf(sum),
        received: amountOf(units - fee),
        collected: amountOf(fee),
        // The one burn has used up the one allowance.
        allowed: 0n,
      });
    },
  };
}
