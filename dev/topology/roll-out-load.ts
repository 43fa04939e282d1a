/** The movements of a roll-out: some that stay where they are, and others all the time. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  assertConsistent,
  ledgerOf,
  PAID_ONCE,
  timesPaid,
  type MovementView,
} from '../../test/support/evidence.ts';
import { MovementApi, type Created } from '../../test/support/own-stack.ts';
import type { SigningKey } from '../stack/keys.ts';
import type { ChainInfo } from '../stack/chain.ts';
import { GATED, WITHDRAWAL } from './movements.ts';

/** Longer than the venue takes for the movements that it observes longest. */
const ENDS_MS = 300_000;
/** Between two movements that go on being created. */
const TRICKLE_MS = 1_500;

/** A movement of the roll-out, with an amount that no other one has. */
export interface Moved {
  readonly movement: Created;
  readonly amount: string;
}

/** Where the books are that say what was paid. */
export interface Books {
  readonly chain: ChainInfo;
  readonly paperVenueUrl: string;
}

export interface Load {
  /** Every movement so far. */
  readonly all: readonly Moved[];
  /** What went wrong with those that are created all the time. */
  readonly faults: readonly string[];
  create(template?: string): Promise<Moved>;
  approve(moved: Moved): Promise<void>;
  /** Creates and approves a movement, and waits until it is at its gate. */
  toGate(): Promise<Moved>;
  resume(moved: Moved): Promise<void>;
  /** Waits until the first node of the movement is in one of these states. */
  nodeReaches(moved: Moved, states: readonly string[]): Promise<void>;
  /** Returns how many of the movements have their first node in one of these states. */
  countIn(moved: readonly Moved[], states: readonly string[]): Promise<number>;
  /** Creates and approves movements until `over` aborts. */
  trickle(over: AbortSignal): Promise<void>;
  /** Waits for the end of every movement; returns those that did not end paid exactly once. */
  unpaid(books: Books): Promise<readonly string[]>;
}

/** Returns the load; `apiUrl` has no prefix of its paths. */
export function createLoad(apiUrl: string, key: SigningKey): Load {
  const api = new MovementApi(apiUrl, key);
  const all: Moved[] = [];
  let serial = 0;
  const faults: string[] = [];
  const create = async (template = WITHDRAWAL): Promise<Moved> => {
    serial += 1; // not how many there are: several are created at once
    const amount = `12.${String(serial).padStart(5, '0')}1`;
    const moved = { movement: await api.create(template, { amount }), amount };
    all.push(moved);
    return moved;
  };
  const approve = ({ movement }: Moved): Promise<void> => api.approve(movement);
  return {
    all,
    faults,
    create,
    approve,
    toGate: async () => {
      const moved = await create(GATED);
      await approve(moved);
      await api.reaches(moved.movement.movement_id, 'WAITING_MANUAL_ACTION', ENDS_MS);
      return moved;
    },
    resume: ({ movement }) => api.act('resume', movement.movement_id),
    nodeReaches: async ({ movement }, states) => {
      await api.nodeReaches(movement.movement_id, 'withdraw', states);
    },
    countIn: async (moved, states) => {
      const views = await Promise.all(
        moved.map(({ movement }) => api.movement(movement.movement_id)),
      );
      const nodes = views.flatMap((view) => view.nodes);
      return nodes.filter((each) => each.node_key === 'withdraw' && states.includes(each.state))
        .length;
    },
    trickle: async (over) => {
      while (!over.aborted) {
        await create()
          .then(approve)
          .catch((error: unknown) => void faults.push(String(error)));
        await sleep(TRICKLE_MS, undefined, { signal: over }).catch(() => undefined);
      }
    },
    unpaid: async (books) => {
      const found: string[] = [];
      for (const { movement, amount } of all) {
        const id = movement.movement_id;
        try {
          const ended = await api.reaches(id, 'COMPLETED', ENDS_MS);
          assertConsistent(ended, await api.timeline(id));
          found.push(...paidOtherwise(ended, await booksOf(books, id, amount)));
        } catch (error) {
          found.push(error instanceof Error ? error.message : String(error));
        }
      }
      return found;
    },
  };
}

/** What the books have of a movement. */
export interface Paid {
  readonly ledger_effects: number;
  readonly withdrawals: number;
  readonly sweeps: number;
  /** Calls that submitted its withdrawal: more than one is a send that was made again. */
  readonly submit_calls: number;
}

async function booksOf(books: Books, id: string, amount: string): Promise<Paid> {
  const entries = await ledgerOf(books.paperVenueUrl, id);
  return {
    ...(await timesPaid(books, id, amount)),
    submit_calls: entries.reduce((sum, entry) => sum + entry.submit_calls, 0),
  };
}

/** Returns how the books differ from one payment of each node, by one call. */
export function paidOtherwise(
  { movement_id }: Pick<MovementView, 'movement_id'>,
  paid: Paid,
): readonly string[] {
  const due: Paid = { ...PAID_ONCE, submit_calls: 1 };
  const differs = (Object.keys(due) as (keyof Paid)[]).filter((each) => paid[each] !== due[each]);
  return differs.map(
    (each) => `${movement_id} has ${String(paid[each])} ${each}, not ${String(due[each])}`,
  );
}
