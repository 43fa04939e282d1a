/**
 * Transfers and movements on the same pools at once, their steps taken by workers that do not know
 * of each other: pools hold what is open, promise no balance twice, and a transfer's history is one
 * story with one end.
 */
import fc from 'fast-check';
import {
  answered,
  attention,
  resolved,
  submitting,
  takenOver,
  type TransferRow,
  type TransferStep,
} from '../../domain/capital-transfers/step.ts';
import { compare } from '../../domain/money.ts';
import { applyTransferStep } from '../../store/capital-transfer-steps.ts';
import { readTransferEvents } from '../../store/capital-transfers.ts';
import { verifyReservations } from '../../tools/reservations/verify.ts';
import { worldOf, type World } from '../store/holds-world.ts';
import { storeBench } from '../store/support.ts';
import { transferDesk, type TransferDesk } from '../store/capital-transfer-desk.ts';

const bench = storeBench();

const REQUESTER = {
  caller: { client_id: null, key_id: 'k', role: 'operator' },
  request_id: 'r',
} as const;
const PENDING_SECONDS = 60;

/**
 * What a worker or a person may write after what they have read; null where they would write
 * nothing.
 */
const STEPS = {
  send: (row) =>
    ['CREATED', 'PENDING_PROVIDER_CONFIRMATION'].includes(row.state)
      ? submitting(row, 5, 900)
      : null,
  takeOver: (row) =>
    row.state === 'SUBMITTING' ? takenOver(row, PENDING_SECONDS, { isOver: true }) : null,
  pending: (row) =>
    isSent(row)
      ? answered(row, { status: 'pending', provider_transfer_id: 'p-1' }, PENDING_SECONDS)
      : null,
  completed: (row) =>
    isSent(row) ? answered(row, { status: 'completed' }, PENDING_SECONDS) : null,
  failed: (row) =>
    isSent(row)
      ? answered(row, { status: 'failed', error_code: 'NO', error_message: 'no' }, PENDING_SECONDS)
      : null,
  attention: (row) =>
    row.state === 'PENDING_PROVIDER_CONFIRMATION' ? attention(row, 'too long') : null,
  resolveCompleted: (row) =>
    isResolvable(row) ? resolved(row, { resolution: 'completed', reason: 'x' }, REQUESTER) : null,
  resolveFailed: (row) =>
    isResolvable(row) ? resolved(row, { resolution: 'failed', reason: 'x' }, REQUESTER) : null,
  resolveOpen: (row) =>
    isResolvable(row)
      ? resolved(row, { resolution: 'manual_intervention', reason: 'x' }, REQUESTER)
      : null,
} as const satisfies Record<string, (row: TransferRow) => TransferStep | null>;
type StepName = keyof typeof STEPS;

const isSent = ({ state, ended }: TransferRow): boolean => state !== 'CREATED' && !ended;
const isResolvable = ({ state }: TransferRow): boolean =>
  ['PENDING_PROVIDER_CONFIRMATION', 'MANUAL_INTERVENTION'].includes(state);

type Command =
  | readonly ['transfer', string]
  | readonly ['movement', string]
  | readonly [StepName, number]
  | readonly ['fence' | 'COMPLETED' | 'FAILED', number];

const amount = fc.constantFrom('1', '2.5', '4.000000000000000001', '0.1');
const name = fc.constantFrom<StepName[]>(
  'takeOver',
  'takeOver',
  'takeOver',
  'attention',
  'attention',
  ...(Object.keys(STEPS) as StepName[]),
);
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(fc.constant('transfer' as const), amount) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('movement' as const), amount) },
  { weight: 4, arbitrary: fc.tuple(fc.constant('send' as const), fc.nat(20)) },
  { weight: 8, arbitrary: fc.tuple(name, fc.nat(20)) },
  {
    weight: 2,
    arbitrary: fc.tuple(
      fc.constantFrom('fence' as const, 'COMPLETED' as const, 'FAILED' as const),
      fc.nat(20),
    ),
  },
);

interface Run {
  readonly world: World;
  readonly desk: TransferDesk;
  readonly transfers: string[];
  readonly movements: string[];
  readonly seen: Set<string>;
}

async function take(run: Run, [what, of]: Command): Promise<void> {
  const { world, desk, seen } = run;
  if (what === 'transfer') {
    const outcome = await desk.create({
      source: world.venues[0],
      amount: String(of),
      covered: true,
    });
    seen.add(`transfer: ${String(outcome.created)}`);
    if (outcome.created === true) run.transfers.push(outcome.transfer_id);
  } else if (what === 'movement') {
    const outcome = await world.create('two pools', String(of), null);
    if (outcome?.created !== true) throw new Error('nothing was created');
    const approved = await world.act('approve', outcome.movement_id);
    seen.add(`movement: ${String(approved?.ok)}`);
    if (approved?.ok === true) run.movements.push(outcome.movement_id);
  } else if (what === 'fence' || what === 'COMPLETED' || what === 'FAILED') {
    const id = run.movements[Number(of) % run.movements.length];
    if (id === undefined) return;
    await world.happen(what, id);
    await world.settle(id);
  } else {
    const id = run.transfers[Number(of) % run.transfers.length];
    if (id !== undefined) await step(run, what, id);
  }
}

async function step({ desk, seen }: Run, what: StepName, id: string): Promise<void> {
  const wanted = STEPS[what](await desk.row(id));
  if (wanted === null) return;
  const { ok } = await applyTransferStep(bench.db, wanted);
  seen.add(`${what}: ${ok ? 'done' : 'too late'}`);
}

/** What has to be so whenever nothing is under way. */
async function check({ world, transfers, desk }: Run): Promise<void> {
  expect(await verifyReservations(bench.db)).toMatchObject({ ok: true });
  const pools = await bench.sql<{
    held: string;
    open: string;
    withdrawable: string;
    outflow: string;
  }>(
    `SELECT p.held::text, b.withdrawable::text, coalesce((SELECT sum(r.amount) FROM reservations r
       WHERE (r.venue_key, r.account_type, r.asset) = (p.venue_key, p.account_type, p.asset)
         AND r.status = 'held'), 0)::text AS open,
       (SELECT o.amount::text
         FROM pending_outflow(p.venue_key, p.account_type, p.asset, b.fetched_at) o) AS outflow
     FROM reservation_pools p JOIN balance_snapshots b USING (venue_key, account_type, asset)
       WHERE p.venue_key = ANY($1)`,
    [...world.venues],
  );
  for (const { held, open, withdrawable, outflow } of pools) {
    expect(compare(held, open)).toBe(0);
    // What was sent and has ended still counts, since nothing was fetched meanwhile.
    expect(compare(outflow, withdrawable)).toBeLessThanOrEqual(0);
  }
  for (const id of transfers) await checkHistory(id, await desk.row(id));
}

async function checkHistory(id: string, row: TransferRow): Promise<void> {
  const events = await readTransferEvents(bench.db, id);
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
  events
    .slice(1)
    .forEach(({ from_state }, index) => expect(from_state).toBe(events[index]?.to_state));
  expect(events.at(-1)?.to_state).toBe(row.state);
  expect(events.filter(({ event_type }) => event_type === 'transfer_submitting')).toHaveLength(
    row.sends,
  );
  const isEnd = (state: string | null): boolean => state === 'COMPLETED' || state === 'FAILED';
  expect(events.filter(({ to_state }) => isEnd(to_state))).toHaveLength(row.ended ? 1 : 0);
  const [hold, ...more] = await bench.sql<{ status: string }>(
    'SELECT status FROM reservations WHERE transfer_id = $1::uuid',
    id,
  );
  expect([hold?.status, more]).toEqual([
    row.state === 'COMPLETED' ? 'consumed' : row.state === 'FAILED' ? 'released' : 'held',
    [],
  ]);
}

const deadlocks = async (): Promise<unknown> =>
  (
    await bench.sql(
      'SELECT deadlocks::text FROM pg_stat_database WHERE datname = current_database()',
    )
  )[0];

/** One after the other: the ways that must have been gone, whatever chance leaves out. */
const alone = (...commands: readonly Command[]): [Command[][]] => [commands.map((each) => [each])];
const ENDS = [
  'completed',
  'failed',
  'attention',
  'resolveCompleted',
  'resolveFailed',
  'resolveOpen',
] as const;
const MUCH = '4.000000000000000001';
const EIGHT = Array.from({ length: 8 }, () => 0);
const WRITTEN: [Command[][]][] = [
  // Eight connections are open by then, so that all of them read the row before the first has
  // written.
  [[EIGHT.map(() => ['transfer', '0.1'] as const), EIGHT.map(() => ['send', 0] as const)]],
  ...ENDS.map((end) => alone(['transfer', '1'], ['send', 0], ['takeOver', 0], [end, 0])),
  alone(...Array.from({ length: 4 }, () => ['transfer', MUCH] as const)),
  alone(...Array.from({ length: 4 }, () => ['movement', MUCH] as const)),
];

test('whatever happens to transfers and movements at once, holds are exact and each transfer has one end', async () => {
  const seen = new Set<string>();
  const before = await deadlocks();
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(command, { minLength: 5, maxLength: 20 }), {
        minLength: 4,
        maxLength: 8,
      }),
      async (bursts) => {
        const world = worldOf(bench);
        for (const venue of world.venues) {
          const rows = JSON.stringify(
            ['SPOT', 'FUNDING'].map((account_type) => ({
              account_type,
              asset: 'USDC',
              withdrawable: '14',
            })),
          );
          await bench.sql(
            'SELECT 1 FROM (SELECT store_balances($1, svc_now(), $2::jsonb)) AS stored',
            venue,
            rows,
          );
        }
        const run: Run = {
          world,
          desk: transferDesk(bench, {}),
          transfers: [],
          movements: [],
          seen,
        };
        for (const burst of bursts) {
          await Promise.all(burst.map((each) => take(run, each)));
          for (const id of run.movements) await world.settle(id);
          await check(run);
        }
      },
    ),
    { numRuns: 25 + WRITTEN.length, endOnFailure: true, examples: WRITTEN },
  );
  const hoped = [
    'transfer: true',
    'transfer: null',
    'movement: true',
    'movement: false',
    'send: done',
    'send: too late',
    'takeOver: done',
  ];
  expect(
    [...hoped, ...ENDS.map((end) => `${end}: done`)].filter((each) => !seen.has(each)),
  ).toEqual([]);
  expect(await deadlocks()).toEqual(before);
}, 600_000);
