/** The one write path under many writers, and when the connection to the database breaks. */
import { randomUUID } from 'node:crypto';
import { IllegalMove } from '../../domain/states/table.ts';
import type { Transition } from '../../domain/transition.ts';
import type { Database, SqlValue } from '../../prisma/client.ts';
import { claimCommands } from '../../store/commands.ts';
import { databaseFault, run } from '../../store/faults.ts';
import { applyTransition, tryFence } from '../../store/transition.ts';
import { paying, storeBench } from './support.ts';

const bench = storeBench();

/** A movement that pays from each of these pools at once. */
const created = async (
  ...pools: readonly (readonly [venue: string, amount: string])[]
): Promise<string> => {
  const nodes = pools.map(([venue, amount], index) => paying(`n${index}`, { venue, amount }));
  const shaped = pools.length === 0 ? {} : { shape: { nodes, edges: [] } };
  const { movement_id } = await bench.movement(shaped);
  await bench.approve(movement_id);
  return movement_id;
};
const note = (movement_id: string): Transition => ({
  movement_id,
  timeline: [{ event_type: 'frontier_advanced', message: 'A note', actor: { type: 'system' } }],
});
const approved = (movement_id: string): Transition => ({
  movement_id,
  from: ['PENDING_APPROVAL'],
  to: 'APPROVED',
  set: { approval_status: 'approved', reservation_status: 'held' },
  timeline: [{ event_type: 'request_approved', message: 'Approved', actor: { type: 'system' } }],
  audit: [
    {
      action: 'movement.approve',
      entity_type: 'movement',
      entity_key: movement_id,
      outcome: 'success',
    },
  ],
  command: 'approve',
});

/**
 * The database, counting the statements that met a deadlock: the store would run them again and say
 * nothing.
 */
function counting(): { readonly db: Database; readonly conflicts: () => number } {
  let met = 0;
  const db = new Proxy(bench.db, {
    get(target, name) {
      if (name !== 'sql') return Reflect.get(target, name) as unknown;
      return async (strings: TemplateStringsArray, ...values: SqlValue[]) => {
        try {
          return await target.sql(strings, ...values);
        } catch (error) {
          if (databaseFault(error) === 'conflict') met += 1;
          throw error;
        }
      };
    },
  });
  return { db, conflicts: () => met };
}

describe('many writers at once', () => {
  test('give a timeline without gaps and without repeats', async () => {
    const id = await created();
    await Promise.all(Array.from({ length: 40 }, () => applyTransition(bench.db, note(id))));
    const rows = await bench.sql<{ sequence: number }>(
      'SELECT sequence FROM timeline_events WHERE movement_id = $1::uuid ORDER BY 1',
      id,
    );
    expect(rows.map((row) => row.sequence)).toEqual(
      Array.from({ length: 41 }, (_, index) => index + 1),
    );
  });

  test('let one of them approve, and hold once', async () => {
    const venue = randomUUID();
    const id = await created([venue, '3']);
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, () => applyTransition(bench.db, approved(id))),
    );
    expect(outcomes.filter((outcome) => outcome.ok)).toHaveLength(1);
    expect(
      await bench.sql(
        'SELECT trim_scale(held)::text AS held FROM reservation_pools WHERE venue_key = $1',
        venue,
      ),
    ).toEqual([{ held: '3' }]);
  });

  test('add their holds up exactly', async () => {
    const venue = randomUUID();
    const ids = await Promise.all(Array.from({ length: 30 }, () => created([venue, '0.1'])));
    await Promise.all(ids.map((id) => applyTransition(bench.db, approved(id))));
    const [pool] = await bench.sql<{ held: string; sum: string }>(
      `SELECT trim_scale(held)::text AS held,
        (SELECT trim_scale(sum(amount))::text FROM reservations WHERE venue_key = $1
        AND status = 'held') AS sum
       FROM reservation_pools WHERE venue_key = $1`,
      venue,
    );
    expect(pool).toEqual({ held: '3', sum: '3' });
  });

  test('that name pools in opposite orders never wait for each other', async () => {
    const [a, b] = [randomUUID(), randomUUID()];
    const ids = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        index % 2 === 0 ? created([a, '1'], [b, '1']) : created([b, '1'], [a, '1']),
      ),
    );
    const { db, conflicts } = counting();
    await Promise.all(ids.map((id) => applyTransition(db, approved(id))));
    expect(conflicts()).toBe(0);
  });

  test('that create with one key make one movement, and each answer names it', async () => {
    const idempotency_key = randomUUID();
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, () => bench.movement({ idempotency_key })),
    );
    expect(new Set(outcomes.map((outcome) => outcome.movement_id)).size).toBe(1);
    expect(outcomes.filter((outcome) => outcome.created)).toHaveLength(1);
  });
});

// Nothing that runs leaves such nodes open; whatever ends a movement, no pool may wait for them.
test.each(['COMPLETED', 'FAILED'] as const)(
  'a movement that is %s holds for nodes that may have sent, and for no other',
  async (to) => {
    const venue = randomUUID();
    const id = await created([venue, '3'], [venue, '0.5'], [venue, '0.01']);
    expect(await applyTransition(bench.db, approved(id))).toMatchObject({ ok: true });
    const held = async (): Promise<string | undefined> =>
      (
        await bench.sql<{ held: string }>(
          'SELECT trim_scale(held)::text AS held FROM reservation_pools WHERE venue_key = $1',
          venue,
        )
      )[0]?.held;
    expect(await held()).toBe('3.51');
    // As `created` made them: n0 past its fence and UNKNOWN, n1 ready, n2 not yet.
    await bench.sql(
      "UPDATE movement_nodes SET state = 'UNKNOWN', submit_epoch = 1 WHERE movement_id = $1::uuid AND node_key = 'n0'",
      id,
    );
    await bench.sql(
      "UPDATE movement_nodes SET state = 'READY' WHERE movement_id = $1::uuid AND node_key = 'n1'",
      id,
    );
    await bench.sql(
      "UPDATE movements SET request_state = 'EXECUTING' WHERE movement_id = $1::uuid",
      id,
    );
    expect(
      await applyTransition(bench.db, {
        movement_id: id,
        from: ['EXECUTING'],
        to,
        timeline: note(id).timeline,
      }),
    ).toMatchObject({
      ok: true,
    });
    expect(await held()).toBe('3');
  },
);

describe('a refused transition', () => {
  test('is a result, and of it nothing is written', async () => {
    const id = await created();
    await applyTransition(bench.db, approved(id));
    const before = await bench.sql(
      'SELECT version, next_sequence, updated_at FROM movements WHERE movement_id = $1::uuid',
      id,
    );
    expect(await applyTransition(bench.db, approved(id))).toMatchObject({
      ok: false,
      reason: 'movement_state',
    });
    expect(
      await bench.sql(
        'SELECT version, next_sequence, updated_at FROM movements WHERE movement_id = $1::uuid',
        id,
      ),
    ).toEqual(before);
    expect(await bench.sql('SELECT outcome FROM audit_events WHERE entity_key = $1', id)).toEqual([
      { outcome: 'success' },
    ]);
  });

  test('that asks for a move which no table has is a defect, and reaches no database', async () => {
    const id = await created();
    const illegal: Transition = {
      movement_id: id,
      from: ['PENDING_APPROVAL'],
      to: 'COMPLETED',
      timeline: [],
    };
    await expect(applyTransition(bench.db, illegal)).rejects.toThrow(IllegalMove);
    const backwards: Transition = {
      movement_id: id,
      nodes: [{ node_key: 'pay', from: 'CANCELLED', moves: ['READY'] }],
      timeline: [],
    };
    await expect(applyTransition(bench.db, backwards)).rejects.toThrow(IllegalMove);
  });
});

/**
 * The database, but each raw query breaks its connection before or after the server has done it.
 */
function breaking(when: 'before' | 'after', lookUp: 'works' | 'breaks' = 'works'): Database {
  const broken = Object.assign(new Error('Connection terminated unexpectedly'), {
    code: 'ECONNRESET',
  });
  let calls = 0;
  return new Proxy(bench.db, {
    get(target, name) {
      if (name === 'sql') {
        return async (strings: TemplateStringsArray, ...values: SqlValue[]) => {
          calls += 1;
          if (calls > 1) return target.sql(strings, ...values);
          if (when === 'after') await target.sql(strings, ...values);
          throw broken;
        };
      }
      if (name === 'command' && lookUp === 'breaks')
        return { findUnique: () => Promise.reject(broken) };
      return Reflect.get(target, name) as unknown;
    },
  });
}

describe('a connection that breaks during a write', () => {
  const events = (id: string) =>
    bench.sql(
      "SELECT 1 FROM timeline_events WHERE movement_id = $1::uuid AND event_type = 'request_approved'",
      id,
    );

  test('after the database took it: it is looked up by its command and counts as done, once', async () => {
    const id = await created();
    expect(await applyTransition(breaking('after'), approved(id))).toMatchObject({
      ok: true,
      head: { request_state: 'APPROVED' },
    });
    expect(await events(id)).toHaveLength(1);
  });

  test('before the database took it: it may yet arrive, so its outcome is unknown', async () => {
    const id = await created();
    await expect(applyTransition(breaking('before'), approved(id))).rejects.toMatchObject({
      code: 'outcome_unknown',
    });
    expect(await events(id)).toHaveLength(0);
  });

  test('and stays broken: the answer is that the outcome is unknown', async () => {
    const id = await created();
    await expect(applyTransition(breaking('after', 'breaks'), approved(id))).rejects.toMatchObject({
      code: 'outcome_unknown',
    });
  });
});

test('a deadlock or a serialization failure is run again', async () => {
  for (const code of ['40P01', '40001']) {
    let calls = 0;
    const answer = await run(async () => {
      calls += 1;
      if (calls < 3) throw Object.assign(new Error('conflict'), { code });
      return 'done';
    });
    expect([answer, calls]).toEqual(['done', 3]);
  }
});

test('a lease covers one movement, its oldest command first, until it ends', async () => {
  const id = await created();
  await applyTransition(bench.db, approved(id));
  await bench.sql(
    "UPDATE commands SET claimed_until = now() - interval '1 second', applied_at = now() WHERE movement_id <> $1::uuid",
    id,
  );
  await bench.sql(
    "UPDATE commands SET claimed_until = now() - interval '1 second' WHERE movement_id = $1::uuid",
    id,
  );
  const [first, ...others] = await claimCommands(bench.db, 10);
  expect([first?.kind, others]).toEqual(['create', []]);
  expect(await claimCommands(bench.db, 10)).toEqual([]);
});

test('nothing is readied, run or sent of a plan that was not approved', async () => {
  const { movement_id } = await bench.movement();
  const ready = { node_key: 'pay', from: 'BLOCKED', moves: ['READY'] } as const;
  const send = { node_key: 'pay', from: 'READY', moves: ['SUBMITTING'] } as const;
  const timeline: Transition['timeline'] = [];
  const tries: readonly Transition[] = [
    { movement_id, from: ['PENDING_APPROVAL'], to: 'APPROVED', timeline },
    { movement_id, nodes: [ready], timeline },
    { movement_id, nodes: [{ ...send, set: { submit_epoch: 1 } }], timeline },
  ];
  const outcomes = async () => {
    const all = [];
    for (const transition of tries) all.push(await applyTransition(bench.db, transition));
    return all.map((outcome) => (outcome.ok ? 'written' : outcome.reason));
  };
  expect(await outcomes()).toEqual(tries.map(() => 'not_approved'));
  // As whoever writes past the functions leaves it: READY behind its preflight, in EXECUTING.
  await bench.sql(
    "UPDATE movements SET request_state = 'EXECUTING', approval_status = 'approved' WHERE movement_id = $1::uuid",
    movement_id,
  );
  await bench.sql(
    `UPDATE movement_nodes SET state = 'READY', preflight_passed = true, started_at = svc_now(),
       amount = 3, prepared_action = '{}' WHERE movement_id = $1::uuid`,
    movement_id,
  );
  const short = {
    movement_id,
    node_key: 'pay',
    attempt: 1,
    executor_key: 'acme.payouts',
    window_seconds: 5,
    pays_nobody: ['acme_payout'],
    event_id: randomUUID(),
  };
  expect((await tryFence(bench.db, short)).passed).toBe(false);
  expect(await applyTransition(bench.db, tries[2]!)).toMatchObject({ reason: 'not_approved' });
  // Nor of another plan than the approved one.
  await bench.sql(
    `INSERT INTO movement_approvals (movement_id, plan_hash, approved_by, at)
     VALUES ($1::uuid, repeat('0', 64), 'auth_off', svc_now())`,
    movement_id,
  );
  expect((await tryFence(bench.db, short)).passed).toBe(false);
  expect(await applyTransition(bench.db, tries[2]!)).toMatchObject({ reason: 'not_approved' });
  await bench.sql('ALTER TABLE movement_approvals DISABLE TRIGGER USER');
  await bench.sql('DELETE FROM movement_approvals WHERE movement_id = $1::uuid', movement_id);
  await bench.sql('ALTER TABLE movement_approvals ENABLE TRIGGER USER');
  await bench.approve(movement_id);
  expect((await tryFence(bench.db, short)).passed).toBe(true);
});

test('a gate is let go by a resume alone, whatever phase is carried out for it', async () => {
  const gate = {
    ...paying('ask', { venue: 'acme', amount: '1' }),
    node_kind: 'manual_gate',
    action_type: 'manual_gate',
  } as const;
  const { movement_id } = await bench.movement({ shape: { nodes: [gate], edges: [] } });
  await bench.approve(movement_id);
  const found = { node_key: 'ask', from: 'READY' } as const;
  const timeline: Transition['timeline'] = [];
  await bench.sql(
    "UPDATE movement_nodes SET state = 'READY' WHERE movement_id = $1::uuid",
    movement_id,
  );
  for (const state of ['SUBMITTING', 'OBSERVING', 'COMPLETED', 'FAILED', 'UNKNOWN'] as const) {
    const step: Transition = { movement_id, nodes: [{ ...found, moves: [state] }], timeline };
    expect(await applyTransition(bench.db, step)).toMatchObject({ reason: 'node_state' });
  }
  const nodes = [{ ...found, moves: ['COMPLETED'], set: { resumed: true } }] as const;
  expect(await applyTransition(bench.db, { movement_id, nodes, timeline })).toMatchObject({
    ok: true,
  });
});

test('no fence passes a node that must be looked up first, whoever read it before', async () => {
  const id = await created();
  await bench.sql(
    "UPDATE movement_nodes SET state = 'READY', recover_first = true WHERE movement_id = $1::uuid",
    id,
  );
  const fence: Transition = {
    movement_id: id,
    nodes: [{ node_key: 'pay', from: 'READY', moves: ['SUBMITTING'], set: { submit_epoch: 1 } }],
    timeline: [],
  };
  expect(await applyTransition(bench.db, fence)).toMatchObject({ ok: false, reason: 'node_state' });
  await bench.sql(
    'UPDATE movement_nodes SET recover_first = false WHERE movement_id = $1::uuid',
    id,
  );
  expect(await applyTransition(bench.db, fence)).toMatchObject({ ok: true });
});
