/** Whose runs are looked at, what a look leaves in the table, and what is shown of it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { startAttentionTeller } from '../../activities/relays/attention.ts';
import { createTurn, startStuckRuns } from '../../activities/relays/stuck-runs.ts';
import type { GraphEdge, NodeKind } from '../../domain/graph/types.ts';
import { movementWorkflowId } from '../../domain/messages.ts';
import type { TemplateNode } from '../../domain/plan/types.ts';
import type { NodeState } from '../../domain/states/node.ts';
import type { FailingCall, PendingTask, WaitingCalls } from '../../domain/stuck-runs.ts';
import { noteAttention, readReasonsForRuns } from '../../store/attention.ts';
import { readMovement } from '../../store/movement-detail.ts';
import {
  FIRST_ID,
  noteStuckRuns,
  readSuspects,
  removeStuckRuns,
  type StuckRow,
} from '../../store/stuck-runs.ts';
import { eventually } from '../support/eventually.ts';
import { failuresOf } from '../support/loop-figures.ts';
import { paying, storeBench, type DraftOptions } from './support.ts';

const log = pino({ level: 'silent' });
const bench = storeBench();
beforeAll(async () => {
  await bench.sql(
    `INSERT INTO executors (executor_key, kind, action_types, health_state, created_at, updated_at)
      VALUES ('acme.payouts', 'local', '{acme_payout}', 'up', now(), now())`,
  );
});
beforeEach(async () => {
  await bench.sql("UPDATE movements SET request_state = 'REJECTED', ended_at = now()");
  await bench.sql('UPDATE commands SET applied_at = now() WHERE applied_at IS NULL');
  await bench.sql('DELETE FROM stuck_runs');
});

async function inState(state: string, more: DraftOptions = {}): Promise<string> {
  const { movement_id } = await bench.movement({ unheld: true, ...more });
  await bench.sql(
    'UPDATE movements SET request_state = $2 WHERE movement_id = $1::uuid',
    movement_id,
    state,
  );
  await bench.sql('UPDATE commands SET applied_at = now() WHERE applied_at IS NULL');
  return movement_id;
}

const GATE: TemplateNode = {
  node_key: 'check',
  node_kind: 'manual_gate',
  action_type: 'manual_gate',
  config: {},
  has_side_effect: false,
};

/** An edge that leads to the node `next`. */
const toNext = (from: string, edge_type: GraphEdge['edge_type'] = 'on_success'): GraphEdge => ({
  ...{ from, to: 'next', edge_type, priority: 0, join_key: null, condition_expr: null },
});

/**
 * A movement with an open gate `check`, beside which the node `pay` is in this state. With edges,
 * the node `next` behind them is BLOCKED.
 */
async function atGate(
  pay: NodeState,
  edges: readonly GraphEdge[] = [],
  next: NodeKind = 'action',
): Promise<string> {
  const behind = edges.length === 0 ? [] : [paying('next', {}, next)];
  const shape = { nodes: [GATE, paying('pay', {}), ...behind], edges };
  const id = await inState('WAITING_MANUAL_ACTION', { shape });
  await bench.sql(
    `UPDATE movement_nodes SET state = CASE node_key WHEN 'check' THEN 'READY'
        WHEN 'pay' THEN $2::text ELSE state END WHERE movement_id = $1::uuid`,
    id,
    pay,
  );
  return id;
}

/** A command that no run has read for so many seconds. */
const command = (id: string, seconds: number): Promise<unknown> =>
  bench.sql(
    `INSERT INTO commands (command_id, movement_id, kind, created_at, claimed_until)
      VALUES (gen_random_uuid(), $1::uuid, 'resume', now() - make_interval(secs => $2::double precision),
        now())`,
    id,
    seconds,
  );

const expiredFor = (id: string, seconds: number): Promise<unknown> =>
  bench.sql(
    `UPDATE movements SET expires_at = now() - make_interval(secs => $2::double precision)
      WHERE movement_id = $1::uuid`,
    id,
    seconds,
  );

const moment = async (): Promise<string> => {
  const after = { unread: FIRST_ID, known: FIRST_ID };
  return (await readSuspects(bench.db, after, { seconds: 60, limit: 100 })).at;
};
const stuck = (id: string, more: Partial<StuckRow> = {}): StuckRow => ({
  ...{ kind: 'movement', id, run_id: 'run-1', cause: 'task_fails', message: 'a bug' },
  ...more,
});
const attention = async (id: string) => (await readMovement(bench.db, id))?.attention ?? null;

interface Row {
  readonly run_id: string;
  readonly cause: string;
  readonly is_first: boolean;
}
const rowOf = async (id: string): Promise<Row | null> => {
  const [row = null] = await bench.sql<Row>(
    `SELECT run_id, cause, since = last_seen AS is_first FROM stuck_runs
      WHERE entity_id = $1::uuid`,
    id,
  );
  return row;
};

describe('the table', () => {
  test('keeps since when a run is stuck, and begins anew with another run', async () => {
    const id = await inState('EXECUTING');
    await noteStuckRuns(bench.db, await moment(), [stuck(id)]);
    expect(await rowOf(id)).toEqual({ run_id: 'run-1', cause: 'task_fails', is_first: true });
    await noteStuckRuns(bench.db, await moment(), [stuck(id, { cause: 'nondeterminism' })]);
    expect(await rowOf(id)).toEqual({ run_id: 'run-1', cause: 'nondeterminism', is_first: false });
    await noteStuckRuns(bench.db, await moment(), [stuck(id, { run_id: 'run-2' })]);
    expect(await rowOf(id)).toEqual({ run_id: 'run-2', cause: 'task_fails', is_first: true });
  });

  test('an earlier look changes nothing that a later one wrote', async () => {
    const id = await inState('EXECUTING');
    const [early, late] = [await moment(), await moment()];
    await noteStuckRuns(bench.db, late, [stuck(id)]);
    await noteStuckRuns(bench.db, early, [stuck(id, { cause: 'no_worker' })]);
    await removeStuckRuns(bench.db, early, [id]);
    expect(await rowOf(id)).toMatchObject({ cause: 'task_fails' });
    await removeStuckRuns(bench.db, await moment(), [id]);
    expect(await rowOf(id)).toBeNull();
  });
});

describe('attention', () => {
  test('names the run before whatever else the movement needs a person for', async () => {
    const id = await inState('EXECUTING');
    await bench.sql("UPDATE movement_nodes SET state = 'UNKNOWN' WHERE movement_id = $1::uuid", id);
    expect(await attention(id)).toMatchObject({ reason: 'unknown_outcome' });
    await noteStuckRuns(bench.db, await moment(), [stuck(id)]);
    expect(await attention(id)).toMatchObject({
      ...{ reason: 'run_stuck', error_message: 'a bug' },
      stuck_run: { cause: 'task_fails', since: expect.any(String) },
    });
    await removeStuckRuns(bench.db, await moment(), [id]);
    expect(await attention(id)).toMatchObject({ reason: 'unknown_outcome' });
  });

  test('leaves an approval in front, until its time is over', async () => {
    const id = await inState('PENDING_APPROVAL');
    await noteStuckRuns(bench.db, await moment(), [stuck(id)]);
    expect(await attention(id)).toMatchObject({ reason: 'approval' });
    await expiredFor(id, 1);
    expect(await attention(id)).toMatchObject({ reason: 'run_stuck' });
  });

  test('says nothing of it once the movement has ended', async () => {
    const id = await inState('EXECUTING');
    await noteStuckRuns(bench.db, await moment(), [stuck(id)]);
    await bench.sql(
      "UPDATE movements SET request_state = 'COMPLETED', ended_at = now() WHERE movement_id = $1::uuid",
      id,
    );
    expect(await attention(id)).toBeNull();
  });

  test('counts a run for an hour after the last look that found it stuck', async () => {
    const id = await inState('EXECUTING');
    await bench.sql(
      `UPDATE movement_nodes SET state = 'OBSERVING', error_code = 'BRIDGE_DELIVERY_LATE'
        WHERE movement_id = $1::uuid`,
      id,
    );
    await noteStuckRuns(bench.db, await moment(), [stuck(id)]);
    const lastSeen = (minutes: number): Promise<unknown> =>
      bench.sql(
        'UPDATE stuck_runs SET last_seen = now() - make_interval(mins => $1::integer)',
        minutes,
      );
    await lastSeen(59);
    expect(await attention(id)).toMatchObject({ reason: 'run_stuck' });
    await lastSeen(61);
    // As after the release before has taken over, which looks at none.
    expect(await attention(id)).toMatchObject({ reason: 'delivery_late' });
    expect([...(await readReasonsForRuns(bench.db, 100))]).toEqual([
      [id, { reason: 'delivery_late', node_key: 'pay', stuck: false }],
    ]);
    await noteStuckRuns(bench.db, await moment(), [stuck(id)]);
    expect(await attention(id)).toMatchObject({ reason: 'run_stuck' });
  });

  test('is called back once, and no signal goes to the stuck run', async () => {
    const [id, other] = [await inState('EXECUTING'), await inState('EXECUTING')];
    await noteStuckRuns(bench.db, await moment(), [stuck(id)]);
    const known = await readReasonsForRuns(bench.db, 100);
    expect([...known]).toEqual([[id, { reason: 'run_stuck', node_key: null, stuck: true }]]);
    for (let turn = 0; turn < 2; turn += 1) await noteAttention(bench.db, known, new Map());
    const events = await bench.sql<{ reason: string }>(
      `SELECT data ->> 'reason' AS reason FROM timeline_events
        WHERE movement_id = $1::uuid AND event_type = 'request_attention'`,
      id,
    );
    expect(events).toEqual([{ reason: 'run_stuck' }]);

    // Both runs still show what is over; only the one that goes on can take the signal.
    const signalled: string[] = [];
    const teller = startAttentionTeller({
      ...{ db: bench.db, log, pauseMs: 50 },
      leases: { under: (_lease, work) => work },
      temporal: {
        tell: async (workflowId) => void signalled.push(workflowId),
        showEnded: async () => undefined,
        listShownReasons: async () =>
          new Map([id, other].map((each) => [movementWorkflowId(each), 'executor_unavailable'])),
      },
    });
    try {
      await eventually(async () => (signalled.length > 0 ? true : null));
      await sleep(300);
    } finally {
      await teller.stop();
    }
    expect([...new Set(signalled)]).toEqual([movementWorkflowId(other)]);
  });
});

describe('a turn', () => {
  const failing: PendingTask = {
    ...{ attempt: 7, failures: 1, waitsMs: null, prolongedMs: null, hasWorker: true },
    failure: { nondeterminism: true, message: 'TMPRL1100' },
  };
  type Answer =
    PendingTask | FailingCall | readonly WaitingCalls[] | 'no task' | 'no run' | 'fault';

  /** How long workers may take to poll after a start, or after Temporal was away. */
  const UNSTEADY_MS = 120_000;

  /**
   * Turns of a process that runs for `ranMs`, which find this of each run, and whose runs they
   * looked at.
   */
  function turns(answers: Readonly<Record<string, Answer>>, ranMs = UNSTEADY_MS) {
    const looked: string[] = [];
    const clock = { ms: 0 };
    const look = createTurn({
      ...{ db: bench.db, log, sweepIdleSeconds: 15, now: () => clock.ms },
      temporal: {
        lookAtRun: async (of) => {
          const id = 'movementId' in of ? of.movementId : of.transferId;
          looked.push(id);
          const answer = answers[id] ?? 'no task';
          if (answer === 'fault') throw new Error('the server did not answer');
          if (answer === 'no run') return null;
          const run = { runId: 'run-1', task: null, calls: [], failing: null };
          if (answer === 'no task') return run;
          if ('call' in answer) return { ...run, failing: answer };
          if ('attempt' in answer) return { ...run, task: answer };
          return { ...run, calls: answer };
        },
      },
    });
    clock.ms = ranMs;
    return { turn: look, looked, clock };
  }

  test('looks at open movements, and at what waits for a person only when its run has something to do', async () => {
    const executing = await inState('EXECUTING');
    const [gate, resumed] = [await atGate('BLOCKED'), await atGate('BLOCKED')];
    const [waiting, fresh] = [await inState('PENDING_APPROVAL'), await inState('PENDING_APPROVAL')];
    const [expired, expiring] = [
      await inState('PENDING_APPROVAL'),
      await inState('PENDING_APPROVAL'),
    ];
    await command(resumed, 61);
    await command(fresh, 50);
    await expiredFor(expired, 61);
    await expiredFor(expiring, 50);
    const { turn, looked } = turns({});
    await turn();
    expect([...looked].sort()).toEqual([executing, resumed, expired].sort());
    expect(looked).not.toContain(gate);
    expect(looked).not.toContain(waiting);
  });

  test.each<NodeState>(['READY', 'SUBMITTING', 'SUBMITTED', 'OBSERVING', 'UNKNOWN'])(
    'looks at a movement at a gate while another node of it is %s',
    async (state) => {
      const [working, settled] = [await atGate(state), await atGate('COMPLETED')];
      const { turn, looked } = turns({ [working]: failing });
      await turn();
      expect(looked).toEqual([working]);
      expect(looked).not.toContain(settled);
      expect(await attention(working)).toMatchObject({ reason: 'run_stuck' });
    },
  );

  test.each<[string, NodeState, readonly GraphEdge[], NodeKind]>([
    ['a successor', 'COMPLETED', [toNext('pay')], 'action'],
    ['one that nothing leads to', 'FAILED', [toNext('pay')], 'action'],
    [
      'a handler of the failure, which a cancel starts too',
      'FAILED',
      [toNext('pay', 'on_failure'), toNext('pay', 'on_cancel')],
      'compensation',
    ],
    [
      'one of two ways to it',
      'COMPLETED',
      [toNext('pay'), { ...toNext('check'), join_key: 'other' }],
      'action',
    ],
  ])(
    'looks at a movement at a gate while only its run can decide about %s',
    async (_node, pay, edges, kind) => {
      const id = await atGate(pay, edges, kind);
      const { turn, looked } = turns({ [id]: failing });
      await turn();
      expect(looked).toEqual([id]);
      expect(await attention(id)).toMatchObject({ reason: 'run_stuck' });
    },
  );

  test.each<[string, readonly GraphEdge[], NodeKind]>([
    ['with what follows the gate too', [toNext('pay'), toNext('check')], 'action'],
    ['with a post-action', [toNext('pay')], 'post_action'],
    ['with what only a cancel starts', [toNext('pay', 'on_cancel')], 'compensation'],
    [
      'with what a failure or a cancel starts',
      [toNext('pay', 'on_failure'), toNext('pay', 'on_cancel')],
      'compensation',
    ],
  ])('looks at no movement at a gate %s, once its other node has ended', async (_what, ...at) => {
    await atGate('COMPLETED', ...at);
    const { turn, looked } = turns({});
    await turn();
    expect(looked).toEqual([]);
  });

  test('stores what is stuck, and removes what goes on, is closed or has ended', async () => {
    const ids = await Promise.all(Array.from({ length: 4 }, () => inState('EXECUTING')));
    const [one = '', two = '', three = '', four = ''] = ids;
    await turns(Object.fromEntries(ids.map((id) => [id, failing]))).turn();
    expect(await rowOf(one)).toEqual({ run_id: 'run-1', cause: 'nondeterminism', is_first: true });
    await bench.sql(
      "UPDATE movements SET request_state = 'COMPLETED', ended_at = now() WHERE movement_id = $1::uuid",
      four,
    );
    const again: PendingTask = { ...failing, attempt: 2 };
    const { turn, looked } = turns({ [two]: 'no run', [three]: again, [four]: failing });
    await turn();
    const left = await Promise.all(ids.map(rowOf));
    // A task that was started again may still fail, so what was known stays.
    expect(left.map((row) => row !== null)).toEqual([false, false, true, false]);
    expect(looked).not.toContain(four);
  });

  test('stores a run whose calls wait in the queue of a venue that no worker polls', async () => {
    const [left, slow] = [await inState('EXECUTING'), await inState('EXECUTING')];
    const call = { taskQueue: 'fund-movements/venue/rated', waitsMs: 120_001, hasWorker: false };
    await turns({ [left]: [call], [slow]: [{ ...call, hasWorker: true }] }).turn();
    expect(await rowOf(slow)).toBeNull();
    expect(await attention(left)).toMatchObject({
      ...{ reason: 'run_stuck', stuck_run: { cause: 'no_worker' } },
      error_message: expect.stringContaining('fund-movements/venue/rated'),
    });
    // Scheduled again it waits anew, and is as stuck as before.
    await turns({ [left]: [{ ...call, waitsMs: 5, hasWorker: null }] }).turn();
    expect(await rowOf(left)).not.toBeNull();
    await turns({ [left]: [{ ...call, waitsMs: 20_000, hasWorker: true }] }).turn();
    expect(await rowOf(left)).toBeNull();
  });

  test('a run that cannot be looked at hides no other, and keeps its row', async () => {
    const [known, other] = [await inState('EXECUTING'), await inState('EXECUTING')];
    await noteStuckRuns(bench.db, await moment(), [stuck(known)]);
    const { turn } = turns({ [known]: 'fault', [other]: failing });
    await turn();
    expect(await rowOf(known)).not.toBeNull();
    expect(await rowOf(other)).not.toBeNull();
  });

  test('a run that can never be looked at fails no turn of the loop', async () => {
    const [faulty, sound] = [await inState('EXECUTING'), await inState('EXECUTING')];
    const looked: string[] = [];
    const loop = startStuckRuns({
      ...{ db: bench.db, log, sweepIdleSeconds: 15 },
      leases: { under: (_lease, work) => work },
      temporal: {
        lookAtRun: async (of) => {
          const id = 'movementId' in of ? of.movementId : of.transferId;
          looked.push(id);
          if (id === faulty) throw new Error('the server did not answer');
          return { runId: 'run-1', task: null, calls: [], failing: null };
        },
      },
    });
    const looks = (count: number): Promise<unknown> =>
      eventually(async () => (looked.length >= count ? true : null));
    try {
      await looks(2);
      // Another turn starts only after the first has ended.
      loop.poke();
      await looks(4);
    } finally {
      await loop.stop();
    }
    expect([...new Set(looked)].sort()).toEqual([faulty, sound].sort());
    expect(await failuresOf('stuck runs')).toBe(0);
  });

  test('what was known counts until a look disproves it, and not again once expired', async () => {
    const [away, unclear, expired] = [
      await inState('EXECUTING'),
      await inState('EXECUTING'),
      await inState('EXECUTING'),
    ];
    await noteStuckRuns(
      bench.db,
      await moment(),
      [away, unclear, expired].map((id) => stuck(id)),
    );
    await bench.sql(
      `UPDATE stuck_runs SET last_seen = now() - make_interval(
         mins => CASE entity_id WHEN $1::uuid THEN 61 ELSE 59 END)`,
      expired,
    );
    const again: PendingTask = { ...failing, attempt: 2 };
    const { turn } = turns({ [away]: 'fault', [unclear]: again, [expired]: 'fault' });
    await turn();
    const fresh = await bench.sql<{ id: string }>(
      `SELECT entity_id::text AS id FROM stuck_runs WHERE last_seen > now() - interval '1 minute'`,
    );
    expect(fresh.map(({ id }) => id).sort()).toEqual([away, unclear].sort());
    expect(await attention(away)).toMatchObject({ reason: 'run_stuck' });
    expect((await attention(expired))?.reason).not.toBe('run_stuck');
  });

  const unpolled: readonly WaitingCalls[] = [
    { taskQueue: 'fund-movements', waitsMs: 120_001, hasWorker: false },
  ];
  const stuckOnes = async (ids: readonly string[]): Promise<readonly boolean[]> =>
    (await Promise.all(ids.map(rowOf))).map((row) => row !== null);

  test('stores a run whose call fails in two looks, and forgets it once that has passed', async () => {
    const [broken, polling] = [await inState('EXECUTING'), await inState('EXECUTING')];
    const failed = (attempt: number): FailingCall => ({
      ...{ call: 'run-1/5', attempt, message: 'the activity preflight: TypeError' },
    });
    const answers: Record<string, Answer> = { [broken]: failed(900), [polling]: failed(900) };
    const { turn } = turns(answers);
    await turn();
    expect(await stuckOnes([broken, polling])).toEqual([false, false]);
    Object.assign(answers, { [broken]: failed(901), [polling]: 'no task' });
    await turn();
    Object.assign(answers, { [polling]: failed(910) });
    await turn();
    expect(await stuckOnes([broken, polling])).toEqual([true, false]);
    expect(await attention(broken)).toMatchObject({
      ...{ reason: 'run_stuck', stuck_run: { cause: 'task_fails' } },
      error_message: expect.stringContaining('preflight'),
    });
    // Another process, which has seen no look before, leaves what is known.
    await turns(answers).turn();
    expect(await stuckOnes([broken])).toEqual([true]);
    answers[broken] = 'no task';
    await turn();
    expect(await stuckOnes([broken])).toEqual([false]);
  });

  test('runs that can never be looked at hide no other, whatever is wrong with it', async () => {
    const [broken, left] = [await inState('EXECUTING'), await inState('EXECUTING')];
    const away = await Promise.all(Array.from({ length: 4 }, () => inState('EXECUTING')));
    await Promise.all(away.map((id) => command(id, 120)));
    const { turn, clock } = turns({
      ...Object.fromEntries(away.map((id) => [id, 'fault'] as const)),
      ...{ [broken]: failing, [left]: unpolled },
    });
    await expect(turn()).rejects.toThrow('the server did not answer');
    for (let count = 0; count < 2; count += 1) await turn();
    expect(await attention(broken)).toMatchObject({ reason: 'run_stuck' });
    // After the first turn Temporal was not away.
    clock.ms += UNSTEADY_MS;
    await turn();
    expect(await stuckOnes([left])).toEqual([true]);
  });

  test('runs that could not be looked at are tried in turn', async () => {
    const away = await Promise.all(Array.from({ length: 8 }, () => inState('EXECUTING')));
    const fine = await inState('EXECUTING');
    const answers = Object.fromEntries(away.map((id) => [id, 'fault'] as const));
    const { turn, looked } = turns(answers);
    const tries = () => turn().catch(() => 'away');
    for (let count = 0; count < 4; count += 1) await tries();
    looked.length = 0;
    for (let count = 0; count < 2; count += 1) await tries();
    expect([...new Set(looked)].sort()).toEqual([...away, fine].sort());
  });

  test('no missing worker is proven before this process has run for two minutes', async () => {
    const [left, broken] = [await inState('EXECUTING'), await inState('EXECUTING')];
    const found = { [left]: unpolled, [broken]: failing };
    const { turn, clock } = turns(found, UNSTEADY_MS - 1);
    await turn();
    // Tasks that failed had a worker.
    expect(await stuckOnes([left, broken])).toEqual([false, true]);
    clock.ms = UNSTEADY_MS;
    await turn();
    expect(await stuckOnes([left, broken])).toEqual([true, true]);
    // What was known stays after the next start.
    await turns(found, 0).turn();
    expect(await stuckOnes([left, broken])).toEqual([true, true]);
  });

  test.each([1, 2, 5])(
    'nor for two minutes after Temporal was away, with %s open movements',
    async (count) => {
      const ids = await Promise.all(Array.from({ length: count }, () => inState('EXECUTING')));
      const each = (answer: Answer) => Object.fromEntries(ids.map((id) => [id, answer]));
      const answers: Record<string, Answer> = each('fault');
      const { turn, clock } = turns(answers);
      await expect(turn()).rejects.toThrow('the server did not answer');
      Object.assign(answers, each(unpolled));
      clock.ms += UNSTEADY_MS - 1;
      await turn();
      expect(await stuckOnes(ids)).toEqual(ids.map(() => false));
      clock.ms += 1;
      await turn();
      expect(await stuckOnes(ids)).toEqual(ids.map(() => true));
    },
  );

  test('nor for two minutes after this process has taken the lease over', async () => {
    const left = await inState('EXECUTING');
    const { turn, clock } = turns({ [left]: unpolled }, UNSTEADY_MS + 1);
    await turn();
    clock.ms += UNSTEADY_MS - 1;
    await turn();
    expect(await stuckOnes([left])).toEqual([false]);
    clock.ms += 1;
    await turn();
    expect(await stuckOnes([left])).toEqual([true]);
  });

  test('a run that can never be looked at keeps no missing worker of others from being shown', async () => {
    const [away, left] = [await inState('EXECUTING'), await inState('EXECUTING')];
    const { turn } = turns({ [away]: 'fault', [left]: unpolled });
    await turn();
    expect(await stuckOnes([away, left])).toEqual([false, true]);
  });

  /** Goes on with a turn every two minutes: after a longer pause looks count anew. */
  async function minutes(count: number, { turn, clock }: ReturnType<typeof turns>) {
    for (let passed = 0; passed < count; passed += 2) {
      clock.ms += UNSTEADY_MS;
      await turn().catch(() => 'away');
    }
  }

  test('a run that no look sees for ten minutes is shown, until one sees it', async () => {
    const [unseen, known] = [await inState('EXECUTING'), await inState('EXECUTING')];
    const fine = await inState('EXECUTING');
    await noteStuckRuns(bench.db, await moment(), [stuck(known)]);
    const answers: Record<string, Answer> = { [unseen]: 'fault', [known]: 'fault' };
    const worker = turns(answers);
    await worker.turn();
    await minutes(8, worker);
    worker.clock.ms += UNSTEADY_MS - 1;
    await worker.turn();
    expect(await stuckOnes([unseen, fine])).toEqual([false, false]);
    worker.clock.ms += 1;
    await worker.turn();
    expect(await attention(unseen)).toMatchObject({
      ...{ reason: 'run_stuck', stuck_run: { cause: 'not_seen' } },
    });
    expect(await rowOf(known)).toMatchObject({ run_id: 'run-1', cause: 'task_fails' });
    expect(await stuckOnes([fine])).toEqual([false]);
    // This answer proves nothing else.
    answers[unseen] = { ...failing, attempt: 2 };
    await worker.turn();
    expect(await stuckOnes([unseen, known])).toEqual([false, true]);
    answers[unseen] = 'fault';
    await worker.turn();
    await minutes(8, worker);
    expect(await stuckOnes([unseen])).toEqual([false]);
  });

  test('an outage of all of Temporal makes no run one that is not seen', async () => {
    const [unseen, fine] = [await inState('EXECUTING'), await inState('EXECUTING')];
    const answers: Record<string, Answer> = {};
    const worker = turns(answers);
    await worker.turn();
    Object.assign(answers, { [unseen]: 'fault', [fine]: 'fault' });
    await minutes(12, worker);
    await expect(worker.turn()).rejects.toThrow('the server did not answer');
    expect(await stuckOnes([unseen, fine])).toEqual([false, false]);
    // It is back for one of them first.
    answers[fine] = 'no task';
    await minutes(8, worker);
    expect(await stuckOnes([unseen, fine])).toEqual([false, false]);
    await minutes(4, worker);
    expect(await stuckOnes([unseen, fine])).toEqual([true, false]);
  });

  test('a run that fills its page alone is shown too, once another run has been seen', async () => {
    const [unseen, over] = [await inState('EXECUTING'), await inState('EXECUTING')];
    const worker = turns({ [unseen]: 'fault' });
    await worker.turn();
    await bench.sql(
      "UPDATE movements SET request_state = 'COMPLETED', ended_at = now() WHERE movement_id = $1::uuid",
      over,
    );
    await worker.turn();
    await minutes(10, worker);
    expect(await stuckOnes([unseen])).toEqual([true]);
  });

  test('goes on behind the last page, and comes to each of many', async () => {
    const gates = Array.from({ length: 130 }, () => atGate('BLOCKED'));
    const ids = await Promise.all(gates);
    await Promise.all(ids.map((id) => command(id, 120)));
    const { turn, looked } = turns({});
    await turn();
    expect(looked).toHaveLength(100);
    await turn();
    expect([...looked].sort()).toEqual([...ids].sort());
  });

  test('a page of which Temporal was away is looked at again, once', async () => {
    const ids = await Promise.all(Array.from({ length: 130 }, () => inState('EXECUTING')));
    const answers: Record<string, Answer> = Object.fromEntries(ids.map((id) => [id, 'fault']));
    const away = turns(answers);
    await expect(away.turn()).rejects.toThrow('the server did not answer');
    const first = [...away.looked];
    expect(first.length).toBeLessThan(100);
    for (const id of ids) answers[id] = 'no task';
    for (let turn = 0; turn < 2; turn += 1) await away.turn();
    expect([...away.looked.slice(first.length)].sort()).toEqual([...ids].sort());

    // The looks at these always fail, and they hide no page for good.
    for (const id of first) answers[id] = 'fault';
    const hidden = turns(answers);
    await expect(hidden.turn()).rejects.toThrow('the server did not answer');
    await hidden.turn();
    hidden.looked.length = 0;
    await hidden.turn();
    expect(hidden.looked).toHaveLength(30);
  });
});
