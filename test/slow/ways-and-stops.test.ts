/**
 * Each way in which something leaves, with each stop, over a running stack: nothing leaves that was
 * stopped before anyone outside took it, and what only waits leaves once when the stop has passed.
 * The table has a cell for each pair; what cannot be tried says why.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { STOPS, type Stop } from '../../domain/send/stops.ts';
import { serveExecutor, type ServedExecutor } from '../../executor-kit/http.ts';
import { installRuntime } from '../../executor-kit/runtime.ts';
import { runExecutorWorker, type RunningExecutorWorker } from '../../executor-kit/task-queue.ts';
import { openPaths } from '../support/bridge-registry.ts';
import { Stop as Over, eventually, startOwnStack, type OwnStack } from '../support/own-stack.ts';
import { perpBooks, type PerpBooks } from '../support/perp-books.ts';
import { scriptedDesk } from '../support/scripted-desk.ts';
import {
  hasCancelling,
  mined,
  nodeOf,
  PAUSED,
  waysOut,
  waySigners,
  type Leaving,
  type WayOut,
} from '../support/ways-that-leave.ts';

/**
 * `waits`: nothing leaves, and it does once the stop has passed (by a retry where it is UNKNOWN).
 * `ends`: it never leaves. `passes`: it leaves in spite of the stop. Anything else is why there is
 * no such case.
 */
type Cell = 'waits' | 'ends' | 'passes' | { readonly none: string };
type Row = Readonly<Record<Stop, Cell>>;
type WayName = keyof Awaited<ReturnType<typeof waysOut>>;

const none = (why: string): Cell => ({ none: why });
const NOT_SIGNED = none('nothing is signed yet, and what is signed alone can be cancelled');
const NO_SIGNER = none('no signer of ours signs for it');
const NO_PERP = none('it is no send of the perps venue');
const NO_BRIDGE = none('it is no send over the bridge');
const NEVER_SENT = none('a node that never passed its fence is never UNKNOWN');
const NO_CLOCK = none('no clock of the stack can be put wrong');

const FIRST: Row = {
  frozen: 'waits',
  paused: NO_PERP,
  cancelled: 'ends',
  cancel_requested: NOT_SIGNED,
  payee_revoked: 'ends',
  payee_unusable: 'ends',
  executor_inactive: 'ends',
  signer_inactive: 'ends',
  signer_retired: 'ends',
  signer_mismatch: 'ends',
  bridge_path: NO_BRIDGE,
  perp_terms: NO_PERP,
  clock: NO_CLOCK,
  unknown: NEVER_SENT,
};
const STORED: Row = {
  ...FIRST,
  cancel_requested: 'ends',
  payee_unusable: 'waits',
  executor_inactive: 'waits',
  signer_inactive: 'waits',
  signer_mismatch: 'waits',
  unknown: 'waits',
};
const REPLACED: Row = {
  ...STORED,
  frozen: 'passes',
  cancelled: 'passes',
  payee_revoked: 'waits',
  signer_retired: 'waits',
};
const DESK: Row = {
  ...FIRST,
  cancel_requested: NO_SIGNER,
  signer_inactive: NO_SIGNER,
  signer_retired: NO_SIGNER,
  signer_mismatch: NO_SIGNER,
};
const PERP = {
  paused: 'ends',
  perp_terms: 'ends',
  cancel_requested: none('no nonce of a chain'),
} as const;
// Where the pool has not taken the dearer version yet, a look ends it by one that moves nothing:
// the end depends on how fast the machine is. Either moves what was approved once, or nothing.
const SLOW_POOL = none('a cancel may find the new version before the pool has it');
const COMPLETED = none('its node is COMPLETED');

const CELLS: Readonly<Record<WayName, Row>> = {
  evm_first: FIRST,
  evm_stored: STORED,
  evm_replaced: { ...REPLACED, cancelled: SLOW_POOL },
  // It never sends; once the stop has passed a retry does.
  evm_resume: STORED,
  evm_retry: { ...STORED, unknown: none('a retry is what ends it') },
  lane_replaced: {
    ...REPLACED,
    cancelled: COMPLETED,
    cancel_requested: COMPLETED,
    unknown: COMPLETED,
  },
  bridge_first: { ...FIRST, bridge_path: 'ends' },
  bridge_stored: { ...STORED, bridge_path: 'waits' },
  bridge_replaced: { ...REPLACED, cancelled: SLOW_POOL, bridge_path: 'waits' },
  remote_first: DESK,
  remote_again: { ...DESK, unknown: 'waits' },
  remote_retry: { ...DESK, cancelled: none('a FAILED movement cannot be cancelled') },
  team_first: DESK,
  team_again: {
    ...DESK,
    // What Temporal says fails no node of a team that may have sent: it is UNKNOWN (0080).
    payee_revoked: 'waits',
    payee_unusable: 'waits',
    executor_inactive: 'waits',
    unknown: 'waits',
  },
  team_retry: { ...DESK, cancelled: none('a FAILED movement cannot be cancelled') },
  perp_first: { ...FIRST, ...PERP },
  perp_again: {
    ...STORED,
    ...PERP,
    // Its payee may be allowed again while its nonce is good.
    paused: 'waits',
    perp_terms: 'waits',
    payee_revoked: 'waits',
    signer_retired: 'waits',
  },
};

let own: OwnStack;
let books: PerpBooks;
let ways: Readonly<Record<WayName, WayOut>>;
let served: ServedExecutor;
let team: RunningExecutorWorker;

beforeAll(async () => {
  installRuntime('ERROR');
  const desk = scriptedDesk();
  served = await serveExecutor(desk.executor, { port: 0, log: () => undefined });
  const secrets = waySigners((way, stop) => typeof CELLS[way][stop] === 'string');
  const entry = (kind: 'http' | 'queue', more: object) => ({
    executor_key: `desk.${kind}`,
    action_types: [`scripted_${kind}`],
    timeout_seconds: 2,
    settle_seconds: 1,
    same_key_safe: true,
    payees: [{ field: 'payee', family: 'cex' }],
    ...more,
  });
  own = await startOwnStack({
    perp: true,
    bridges: true,
    split: true,
    allow: ['grocer'],
    localSigners: secrets,
    executors: () => [
      entry('http', { kind: 'remote', url: served.url }),
      entry('queue', { kind: 'task_queue', task_queue: 'desk' }),
    ],
    env: {
      SVC_LANE_INTERVAL_SECONDS: '1',
      SVC_UNPROVEN_ASK_SECONDS: '1',
      SVC_NODE_UNANSWERED_TIMEOUT_SECONDS: '90',
    },
  });
  const { perp, temporalAddress: address } = own.stack;
  team = await runExecutorWorker(desk.executor, {
    address,
    namespace: 'default',
    taskQueue: 'desk',
  });
  books = perpBooks(perp!);
  await openPaths((...of) => own.api.expect(...of), own.stack.bridges!);
  await own.api.expect(200, 'POST', '/perp-venue/master-account', {
    master_address: perp!.account,
    signer_key: 'dev-treasury',
    network: 'testnet',
  });
  for (const strategy_id of ['tests', PAUSED])
    await own.api.expect(200, 'POST', '/perp-venue/strategy-bindings', { strategy_id });
  await books.fund(perp!.account, '10000');
  const venue = `/balances?venue_key=${perp!.venueKey}&asset=USDC&fresh=true`;
  await own.api.expect(200, 'GET', venue);
  ways = await waysOut({ own, desk, books, secrets });
}, 300_000);
afterAll(async () => {
  await team?.stop();
  await own?.close();
  await served?.stop();
});

afterEach(async () => {
  await own.chainFaults({ mining: 'automatic', reject_rate: 0 });
  await books.faults(null);
});

const mode = (to: string) => () =>
  own.api.expect(200, 'POST', '/admin/cutover-mode', { mode: to, reason: 'a test' });
const paused = (on: boolean) => () =>
  own.api.expect(200, 'POST', `/perp-venue/strategy-bindings/${PAUSED}/pause`, {
    paused: on,
    reason: 'a test',
  });
type Comes = (all: readonly Leaving[]) => Promise<unknown>;
const each =
  (path: (movement: Leaving) => string, body?: object): Comes =>
  (all) =>
    Promise.all(
      all.map(async (one) => {
        const target = `/movements/${one.movement_id}${path(one)}`;
        expect([200, 409]).toContain((await own.api.send('POST', target, body)).status);
      }),
    );
const nothing: Comes = () => Promise.resolve();
const everywhere =
  (sql: string): Comes =>
  () =>
    own.query(sql);
/** Of the payees and the signers of these cases alone. */
const payees =
  (sets: string): Comes =>
  (all) =>
    own.query(`UPDATE allowed_addresses SET ${sets} WHERE address = ANY ($1)`, [
      all.map(({ payee }) => payee),
    ]);
const signers =
  (sets: string): Comes =>
  (all) =>
    own.query(`UPDATE signers SET ${sets} WHERE signer_key = ANY ($1)`, [
      all.map(({ signer_key }) => signer_key),
    ]);

/** How each stop comes for its cases, and how it goes. */
const COMES: Readonly<Record<Stop, readonly [Comes, Comes]>> = {
  frozen: [mode('frozen'), mode('normal')],
  paused: [paused(true), paused(false)],
  cancelled: [each(() => '/actions/cancel'), nothing],
  cancel_requested: [
    each(({ node_key }) => `/nodes/${node_key}/actions/cancel-transaction`, { reason: 'a test' }),
    nothing,
  ],
  payee_revoked: [
    payees("active = false, revoked_at = now(), revoked_by = 'a test'"),
    payees('active = true, revoked_at = NULL, revoked_by = NULL'),
  ],
  payee_unusable: [
    payees("usable_after = now() + interval '1 hour'"),
    payees("usable_after = now() - interval '1 hour'"),
  ],
  executor_inactive: [
    everywhere("UPDATE executors SET status = 'disabled'"),
    everywhere("UPDATE executors SET status = 'active'"),
  ],
  signer_inactive: [signers("status = 'disabled'"), signers("status = 'active'")],
  signer_retired: [signers("status = 'retired'"), signers("status = 'active'")],
  signer_mismatch: [
    signers(`expected_signer_address = '0x${'1'.repeat(40)}'`),
    signers('expected_signer_address = NULL'),
  ],
  bridge_path: [
    everywhere('UPDATE bridge_paths SET enabled = false'),
    everywhere('UPDATE bridge_paths SET enabled = true'),
  ],
  perp_terms: [
    everywhere(`UPDATE perp_master SET master_address = '0x${'1'.repeat(40)}'`),
    () => own.query('UPDATE perp_master SET master_address = $1', [own.stack.perp!.account]),
  ],
  clock: [nothing, nothing],
  unknown: [nothing, nothing],
};

/**
 * Cases whose stops hold back no other case run together; the others have a round of their own. The
 * perps venue has one account, which one signer signs for.
 */
const ROUNDS = [
  'each for itself',
  'frozen',
  'executor_inactive',
  'bridge_path, perp_terms',
  'perp signer_inactive',
  'perp signer_retired',
  'perp signer_mismatch',
] as const;
function roundOf(name: WayName, stop: Stop): (typeof ROUNDS)[number] {
  switch (stop) {
    case 'frozen':
    case 'executor_inactive':
      return stop;
    case 'bridge_path':
    case 'perp_terms':
      return 'bridge_path, perp_terms';
    case 'signer_inactive':
    case 'signer_retired':
    case 'signer_mismatch':
      return isPerp(name) ? `perp ${stop}` : 'each for itself';
    default:
      return 'each for itself';
  }
}

const NAMES = Object.keys(CELLS) as WayName[];
const isOnChain = (name: string): boolean => /^(evm|bridge|lane)/.test(name);
const isPerp = (name: string): boolean => name.startsWith('perp');
const isDesk = (name: string): boolean => !isOnChain(name) && !isPerp(name);
/**
 * First what is mined next and taken back again; then what stays in the pool; last what no venue
 * accepts, which becomes UNKNOWN by itself after a while.
 */
function rank(name: WayName, stop: Stop): number {
  if (name === 'lane_replaced') return 0;
  if (name.endsWith('_replaced')) return 1;
  if (stop === 'unknown' || !/_(stored|again)$/.test(name)) return 2;
  return isDesk(name) ? 4 : 3;
}

interface Case {
  readonly name: WayName;
  readonly stop: Stop;
  readonly cell: Exclude<Cell, object>;
  readonly way: WayOut;
}
interface Started extends Case {
  readonly movement: Leaving;
}
const casesOf = (round: string): readonly Case[] =>
  NAMES.flatMap((name) =>
    STOPS.flatMap((stop) => {
      const cell = CELLS[name][stop];
      const way: WayOut = ways[name];
      return typeof cell === 'string' && roundOf(name, stop) === round
        ? [{ name, stop, cell, way }]
        : [];
    }),
  );

async function begin(cases: readonly Case[]): Promise<readonly Started[]> {
  const all: Started[] = [];
  for (const turn of [0, 1, 2, 3, 4]) {
    if (turn < 2) await own.chainFaults({ mining: 'paused' });
    else {
      await own.chainFaults({ reject_rate: 1 });
      await books.faults({ refuse_rate: 1, calls: ['exchange'] });
    }
    const started = await Promise.all(
      cases
        .filter(({ name, stop }) => rank(name, stop) === turn)
        .map(async (each) => ({ ...each, movement: await each.way.begin(each.stop) })),
    );
    all.push(...started);
    const [first] = started;
    if (first !== undefined) await first.way.together?.(started.map(({ movement }) => movement));
  }
  return all;
}

const byStop = (cases: readonly Started[], which: 0 | 1) =>
  Promise.all(
    STOPS.map(async (stop) => {
      const movements = cases.filter((each) => each.stop === stop).map(({ movement }) => movement);
      return movements.length === 0 ? null : COMES[stop][which](movements);
    }),
  );

/** What of these cases is not as it should be, by case, so that one run tells of all. */
async function faultsOf(cases: readonly Started[], ask: (one: Started) => Promise<string | null>) {
  const said = await Promise.all(
    cases.map(async (one) => [`${one.name}, ${one.stop}`, await ask(one)] as const),
  );
  return Object.fromEntries(said.filter(([, fault]) => fault !== null));
}
/** Null once it is so; else what it is instead. */
const becomes = (one: Started, is: () => Promise<boolean>): Promise<string | null> =>
  eventually(async () => ((await is()) ? true : null), {
    timeoutMs: 150_000,
    everyMs: 500,
  }).then(
    () => null,
    async (error: unknown) => {
      const { state, error_code, error_message } = await nodeOf(own, one.movement);
      return `${String(error)}; ${state} ${String(error_code)} ${String(error_message)}; ${one.movement.movement_id}`;
    },
  );

const ENDED = ['FAILED', 'CANCELLED', 'COMPLETED', 'SKIPPED'];
const isEnded = async ({ movement }: Started): Promise<boolean> =>
  ENDED.includes((await nodeOf(own, movement)).state);

/** Whether the stop took effect: a look started after it, so no look from before is under way. */
async function isMet(one: Started): Promise<boolean> {
  const { state, error_code } = await nodeOf(own, one.movement);
  return (
    ENDED.includes(state) ||
    error_code?.endsWith('_HELD') === true ||
    (isOnChain(one.name) && (await hasCancelling(own, one.movement)))
  );
}

test.each(ROUNDS)(
  '%s',
  async (round) => {
    const cases = await begin(casesOf(round));
    const tried = (which: (name: string) => boolean) =>
      Promise.all(
        cases
          .filter(({ name }) => which(name))
          .map(async ({ way, movement }) => way.tries?.(movement)),
      );
    try {
      await byStop(cases, 0);
      await tried(isDesk);
      const looked = cases.filter(({ name, stop }) => rank(name, stop) === 3);
      expect(await faultsOf(looked, (one) => becomes(one, () => isMet(one)))).toEqual({});
      await own.chainFaults({ reject_rate: 0 });
      await books.faults(null);
      await tried((name) => !isDesk(name));
      const gone = await faultsOf(cases, async (one) => {
        const { name, way, movement, cell } = one;
        if (cell === 'passes')
          return becomes(one, async () => (await way.left(movement)) > way.before);
        // What a stop ends has to have met it before that is taken away again.
        return cell === 'ends' && (isDesk(name) || name.endsWith('_first'))
          ? becomes(one, () => isEnded(one))
          : null;
      });
      await sleep(7_000);
      const left = await faultsOf(cases, async ({ way, movement, cell }) => {
        const count = await way.left(movement);
        const expected = way.before + (cell === 'passes' ? 1 : 0);
        return count === expected ? null : `${String(count)} left, not ${String(expected)}`;
      });
      expect({ gone, left }).toEqual({ gone: {}, left: {} });
    } finally {
      await byStop(cases, 1);
      await own.chainFaults({ mining: 'automatic' });
    }
    const after = await faultsOf(cases, (one) => {
      const { name, way, movement, cell } = one;
      const never = cell === 'ends';
      const goal = isOnChain(name) ? (never ? 0 : 1) : way.before + (never ? 0 : 1);
      const count = () => (isOnChain(name) ? mined(own, movement) : way.left(movement));
      return becomes(one, async () => {
        const [now, { state }] = [await count(), await nodeOf(own, movement)];
        if (now > goal) throw new Over(`${String(now)} left`);
        // Only a person goes on with what is unknown.
        if (!never && state === 'UNKNOWN') await each(() => '/actions/retry')([movement]);
        return now === goal && (!never || name === 'perp_again' || ENDED.includes(state));
      });
    });
    expect(after).toEqual({});
  },
  900_000,
);
