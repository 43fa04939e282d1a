/** A send whose outcome a person leaves open: what follows from it, and what when it lands late. */
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { lookForAbandoned } from '../../activities/relays/late-looks.ts';
import { resolve, type Outcome } from '../../domain/commands/resolve.ts';
import { retryableNode } from '../../domain/commands/retry.ts';
import type { ExecutionResult, Executor, SubmitJournal } from '../../domain/executor.ts';
import type { EdgeType } from '../../domain/graph/types.ts';
import { walk } from '../../domain/graph/walk.ts';
import { toWalk } from '../../domain/snapshot.ts';
import { takeLanes } from '../../store/lanes.ts';
import { takeLateLooks } from '../../store/late-looks.ts';
import { readMovement } from '../../store/movement-detail.ts';
import { readSnapshot } from '../../store/movements.ts';
import { applyTransition } from '../../store/transition.ts';
import { verifyReservations } from '../../tools/reservations/verify.ts';
import { approvalOf, paying, storeBench } from './support.ts';

const bench = storeBench();

const PERSON = {
  caller: { client_id: null, key_id: null, role: 'operator' as const },
  request_id: 'a-request',
};
const edge = (to: string, edge_type: EdgeType) => ({
  ...{ from: 'pay', to, edge_type, priority: 0 },
  ...{ join_key: null, condition_expr: null },
});
const SHAPE = {
  nodes: [paying('pay', { venue: 'v', asset: 'USDC' }), paying('then', {}), paying('instead', {})],
  edges: [edge('then', 'on_success'), edge('instead', 'on_failure')],
};

const set = (id: string, what: string): Promise<unknown> =>
  bench.sql(
    `UPDATE movement_nodes SET ${what} WHERE movement_id = $1::uuid AND node_key = 'pay'`,
    id,
  );
async function payOf<T>(id: string, columns: string): Promise<T | undefined> {
  const [row] = await bench.sql<T>(
    `SELECT ${columns} FROM movement_nodes n WHERE movement_id = $1::uuid AND node_key = 'pay'`,
    id,
  );
  return row;
}

/** A movement whose node `pay` is in this state, as if it had been sent so long ago. */
async function sent(state: string, ago = '10 minutes'): Promise<string> {
  const { movement_id } = await bench.movement({ shape: SHAPE });
  await applyTransition(bench.db, {
    ...approvalOf(movement_id),
    set: { approval_status: 'approved' },
  });
  const wanted = state === 'UNKNOWN' ? 'MANUAL_INTERVENTION' : 'EXECUTING';
  await bench.sql(
    'UPDATE movements SET request_state = $2 WHERE movement_id = $1::uuid',
    movement_id,
    wanted,
  );
  await set(movement_id, `state = '${state}', submitted_at = now() - interval '${ago}'`);
  return movement_id;
}

async function says(id: string, outcome: Outcome) {
  const word = { node_key: 'pay', outcome, reason: 'nothing answers', evidence: {} };
  const said = resolve(await readSnapshot(bench.db, id), { ...word, settle_seconds: 0 }, PERSON);
  return said === null ? null : applyTransition(bench.db, said);
}

async function abandoned(): Promise<string> {
  const id = await sent('UNKNOWN');
  expect(await says(id, 'abandoned')).toMatchObject({ ok: true });
  return id;
}

test('no edge follows from an abandoned node, and the movement fails', async () => {
  const id = await abandoned();
  expect(await payOf(id, 'state, error_code')).toEqual({
    state: 'FAILED',
    error_code: 'ABANDONED',
  });
  const snapshot = await readSnapshot(bench.db, id);
  expect(snapshot.state).toBe('EXECUTING');
  expect(walk(toWalk(snapshot))).toMatchObject({
    ready: [],
    skip: ['then', 'instead'],
    state: 'FAILED',
    failure: { node_key: 'pay', error_code: 'ABANDONED' },
  });
  const [row] = await bench.sql<{ stopped: boolean }>(
    `SELECT (movement_view($1::uuid, now()) #> '{nodes,0,ended_by_stop}')::boolean AS stopped`,
    id,
  );
  expect(row).toEqual({ stopped: true });
});

test('an abandoned node is never retried', async () => {
  const id = await abandoned();
  const snapshot = await readSnapshot(bench.db, id);
  expect(retryableNode({ ...snapshot, state: 'FAILED' })).toBeUndefined();
  const again = await applyTransition(bench.db, {
    movement_id: id,
    nodes: [{ node_key: 'pay', from: 'FAILED', moves: ['READY'], attempt: 1, set: { attempt: 2 } }],
    timeline: [],
  });
  expect(again).toMatchObject({ ok: false, reason: 'node_state' });
});

test('what is abandoned counts as sent, and holds nothing', async () => {
  const id = await abandoned();
  expect(await payOf(id, 'sent_amount(n)::float AS sent')).toEqual({ sent: 3 });
  const rows = await bench.sql<object>(
    `SELECT node_key, status, amount::float AS amount FROM reservations
      WHERE movement_id = $1::uuid ORDER BY status`,
    id,
  );
  expect(rows).toEqual([
    { node_key: 'pay', status: 'consumed', amount: 3 },
    { node_key: null, status: 'released', amount: 3 },
  ]);
  expect(await verifyReservations(bench.db)).toMatchObject({ ok: true, faults: 0 });
});

test('an overdue node can be abandoned, and never be called failed', async () => {
  const early = await sent('OBSERVING', '59 minutes');
  expect([await says(early, 'abandoned'), await says(early, 'failed')]).toEqual([null, null]);
  for (const state of ['SUBMITTED', 'OBSERVING']) {
    const id = await sent(state, '61 minutes');
    expect(await says(id, 'failed')).toMatchObject({ ok: false, reason: 'send_still_open' });
    expect(await says(id, 'completed')).toBeNull();
    expect(await says(id, 'abandoned')).toMatchObject({ ok: true });
  }
  const later = await sent('OBSERVING', '121 minutes');
  expect(await says(later, 'completed')).toMatchObject({ ok: true });
});

describe('a late look', () => {
  const never = new AbortController().signal;
  const due = (id: string): Promise<unknown> =>
    set(id, "next_late_look = now() - interval '1 second'");
  const taken = async () =>
    (
      await takeLateLooks(bench.db, { executors: ['acme.payouts'], pauseSeconds: 60, limit: 50 })
    ).map(({ movement_id }) => movement_id);
  // What other tests have abandoned.
  beforeEach(() => bench.sql('UPDATE movement_nodes SET next_late_look = NULL'));

  /** Two turns at once with an executor that answers so; returns the phases that were called. */
  async function turn(
    recovered: ExecutionResult,
    observed = recovered,
  ): Promise<readonly string[]> {
    const called: string[] = [];
    const answer =
      (phase: string, of: ExecutionResult) =>
      async (_context: unknown, _call: unknown, journal: SubmitJournal) => {
        called.push(phase);
        expect(await journal.held({ address: '0x1', accepted: true })).not.toBeNull();
        expect(journal.nextVersion).toBeUndefined();
        return of;
      };
    const descriptor = { executor_key: 'acme.payouts', timeout_seconds: 5 };
    const executor = {
      descriptor,
      recover: answer('recover', recovered),
      observe: answer('observe', observed),
    } as unknown as Executor;
    const options = {
      db: bench.db,
      log: pino({ level: 'silent' }),
      chains: [],
      signers: { get: () => undefined },
      executors: { list: () => [executor.descriptor], get: () => executor },
      pauseMs: 60_000,
    };
    await Promise.all([lookForAbandoned(options, never), lookForAbandoned(options, never)]);
    return called;
  }
  const late = (id: string) =>
    bench.sql<object>(
      `SELECT data FROM timeline_events
        WHERE movement_id = $1::uuid AND event_type = 'node_recovered'`,
      id,
    );

  test('brings a landing into attention, once', async () => {
    const id = await abandoned();
    await bench.sql(
      `UPDATE movements SET request_state = 'FAILED', ended_at = now(), acknowledged_at = now(),
          error_code = 'ABANDONED', error_message = 'node pay failed' WHERE movement_id = $1::uuid`,
      id,
    );
    const attention = async () => (await readMovement(bench.db, id))?.attention ?? null;
    expect(await turn({ next_state: 'READY' })).toEqual(['recover']);
    // The next look is a minute away.
    expect(await turn({ next_state: 'COMPLETED' })).toEqual([]);
    await due(id);
    expect(await turn({ next_state: 'OBSERVING' })).toEqual(['recover', 'observe']);
    expect([await late(id), await attention()]).toEqual([[], null]);
    await due(id);
    const landed = { next_state: 'COMPLETED', external_ref: 'tx-9' } as const;
    expect(await turn({ next_state: 'SUBMITTED' }, landed)).toEqual(['recover', 'observe']);
    expect(await late(id)).toEqual([{ data: { late: true, external_ref: 'tx-9' } }]);
    expect(await attention()).toMatchObject({
      reason: 'landed_late',
      node_key: 'pay',
      external_ref: 'tx-9',
    });
    expect(await payOf(id, 'state, error_code, external_ref, next_late_look')).toEqual({
      ...{ state: 'FAILED', error_code: 'ABANDONED' },
      ...{ external_ref: 'tx-9', next_late_look: null },
    });
    expect(await turn(landed)).toEqual([]);
    await bench.sql(
      'UPDATE movements SET acknowledged_at = now() WHERE movement_id = $1::uuid',
      id,
    );
    expect(await attention()).toBeNull();
  });

  test('pauses longer the longer ago it was abandoned', async () => {
    const id = await abandoned();
    const pause = async (): Promise<number> => {
      await due(id);
      expect(await taken()).toEqual([id]);
      const row = await payOf<{ seconds: number }>(
        id,
        'extract(epoch FROM next_late_look - now())::float AS seconds',
      );
      return Math.round((row?.seconds ?? 0) / 10) * 10;
    };
    expect(await pause()).toBe(60);
    await set(id, "completed_at = now() - interval '1 day'");
    expect(await pause()).toBe(3_600);
  });

  test('leaves a node with an open nonce to its lane, which knows of it', async () => {
    const id = await abandoned();
    const address = `0x${randomUUID().replaceAll('-', '')}00000000`;
    await bench.sql(
      'INSERT INTO nonce_lanes (chain_id, address, next_nonce) VALUES (1, $1, 20)',
      address,
    );
    await bench.sql(
      `INSERT INTO evm_transactions (transaction_id, signer_key, chain_id, address, nonce,
         movement_id, node_key, attempt, unsigned, raw_tx, tx_hash, created_at)
       VALUES (gen_random_uuid(), 'k', 1, $1, 7, $2::uuid, 'pay', 1, '{}', $1, $1, svc_now())`,
      address,
      id,
    );
    expect(await taken()).toEqual([]);
    const claims = async () =>
      (await takeLanes(bench.db, 0, 10)).flatMap((lane) =>
        lane.claims.map(({ nonce, ended, abandoned: is }) => ({ nonce, ended, is })),
      );
    expect(await claims()).toEqual([{ nonce: 7, ended: true, is: true }]);
    await set(id, 'landed_late_at = now()');
    expect(await claims()).toEqual([{ nonce: 7, ended: true, is: false }]);
    await bench.sql('UPDATE evm_transactions SET final_at = now() WHERE address = $1', address);
    expect(await taken()).toEqual([id]);
  });
});
