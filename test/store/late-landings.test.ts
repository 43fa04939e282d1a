/**
 * A send that landed after a person had abandoned it: what comes before it, what it stays beside,
 * and what of it a person acknowledges.
 */
import {
  acknowledge,
  acknowledgeable,
  namedOf,
  type NamedReason,
} from '../../domain/commands/acknowledge.ts';
import { landedLate } from '../../domain/commands/landed-late.ts';
import { resume } from '../../domain/commands/resume.ts';
import { sentenceOf } from '../../domain/attention.ts';
import type { EdgeType } from '../../domain/graph/types.ts';
import type { TemplateNode } from '../../domain/plan/types.ts';
import type { MovementSnapshot } from '../../domain/snapshot.ts';
import type { MovementState } from '../../domain/states/movement.ts';
import {
  listNeeding,
  noteAttention,
  readAttention,
  readEndedBadly,
  readReasonsForRuns,
} from '../../store/attention.ts';
import { readSnapshot } from '../../store/movements.ts';
import { applyTransition } from '../../store/transition.ts';
import { paying, storeBench } from './support.ts';

const bench = storeBench();
beforeAll(async () => {
  await bench.sql(
    `INSERT INTO executors (executor_key, kind, action_types, created_at, updated_at)
      VALUES ('acme.payouts', 'local', '{acme_payout}', now(), now())`,
  );
});

const PERSON = {
  caller: { client_id: null, key_id: null, role: 'operator' as const },
  request_id: 'a-request',
};
const GATE: TemplateNode = {
  node_key: 'gate',
  node_kind: 'manual_gate',
  action_type: 'manual_gate',
  config: {},
  has_side_effect: false,
};
const edge = (from: string, edge_type: EdgeType, join_key: string | null = null) => ({
  ...{ from, to: 'instead', edge_type, priority: 0 },
  ...{ join_key, condition_expr: null },
});
const NODES = [paying('pay', {}), paying('other', {}), GATE, paying('instead', {})];
const ON_FAILURE = edge('pay', 'on_failure');

const setMovement = (id: string, what: string): Promise<unknown> =>
  bench.sql(`UPDATE movements SET ${what} WHERE movement_id = $1::uuid`, id);
const setNode = (id: string, key: string, what: string): Promise<unknown> =>
  bench.sql(
    `UPDATE movement_nodes SET ${what} WHERE movement_id = $1::uuid AND node_key = $2`,
    id,
    key,
  );
const ABANDONED = "state = 'FAILED', error_code = 'ABANDONED', completed_at = now()";

/** A movement in this state whose node `pay` is abandoned; no other node has run. */
async function abandoned(state: MovementState, edges = [ON_FAILURE]): Promise<string> {
  const { movement_id: id } = await bench.movement({ shape: { nodes: NODES, edges } });
  await bench.approve(id);
  await bench.sql("UPDATE movement_nodes SET state = 'SKIPPED' WHERE movement_id = $1::uuid", id);
  await setNode(id, 'pay', ABANDONED);
  const ended = ['FAILED', 'CANCELLED', 'COMPLETED'].includes(state);
  await setMovement(
    id,
    `request_state = '${state}', approval_status = 'approved', updated_at = now()
      ${ended ? ', ended_at = now()' : ''}
      ${state === 'FAILED' ? ", error_message = 'node pay failed'" : ''}`,
  );
  return id;
}

async function lands(id: string, node_key = 'pay'): Promise<void> {
  const node = { movement_id: id, node_key, attempt: 1 };
  const outcome = await applyTransition(
    bench.db,
    landedLate(node, { external_ref: `tx-of-${node_key}` }),
  );
  expect(outcome).toMatchObject({ ok: true });
}

const attention = (id: string) => readAttention(bench.db, id);
const LANDED = { reason: 'landed_late', node_key: 'pay' };
const LANDING: NamedReason = { attention_reason: 'landed_late', node_key: 'pay' };

/** A person says this of the movement as it is; null if it is refused. */
async function says(id: string, named: NamedReason) {
  const [snapshot, needs] = [await readSnapshot(bench.db, id), await attention(id)];
  const chosen = namedOf(named, acknowledgeable(snapshot, needs));
  return chosen === undefined
    ? null
    : applyTransition(bench.db, acknowledge(snapshot, chosen, { reason: 'seen', needs }, PERSON));
}
const done = expect.objectContaining({ ok: true }) as unknown;

/** Whether lists and the runs that the UI shows have it. */
async function isListed(id: string): Promise<boolean> {
  const page = { limit: 1_000, after: null };
  const [list, runs] = [
    await listNeeding(bench.db, {}, page),
    await readEndedBadly(bench.db, 1_000),
  ];
  const { request_state: state } = (
    await bench.sql<{ request_state: MovementState }>(
      'SELECT request_state FROM movements WHERE movement_id = $1::uuid',
      id,
    )
  )[0]!;
  const ofState = await listNeeding(bench.db, { state }, page);
  const found = [list, ofState, runs].map((each) => each.has(id));
  expect(new Set(found).size).toBe(1);
  return found[0] === true;
}

test('a landing that came after a person had looked stays when the failure is acknowledged', async () => {
  const id = await abandoned('FAILED');
  const shown = await attention(id);
  expect(shown).toMatchObject({ reason: 'failed', node_key: 'pay' });
  await lands(id);
  expect(await says(id, { attention_reason: 'failed', node_key: 'pay' })).toBeNull();
  expect(await says(id, {})).toBeNull();
  expect(await attention(id)).toMatchObject({ ...LANDED, external_ref: 'tx-of-pay' });
});

test('a landing that is acknowledged takes the failure of its own node with it', async () => {
  const id = await abandoned('FAILED');
  await lands(id);
  expect(await says(id, { ...LANDING, node_key: 'other' })).toBeNull();
  expect(await says(id, LANDING)).toEqual(done);
  expect(await attention(id)).toBeNull();
  expect((await readSnapshot(bench.db, id)).acknowledged).toBe(true);
  expect(await says(id, LANDING)).toBeNull();
});

test('a failure that is acknowledged stays so when its send lands', async () => {
  const id = await abandoned('FAILED');
  expect(await says(id, {})).toEqual(done);
  expect([await attention(id), await isListed(id)]).toEqual([null, false]);
  await lands(id);
  expect(await attention(id)).toMatchObject(LANDED);
  expect([await isListed(id), (await readSnapshot(bench.db, id)).acknowledged]).toEqual([
    true,
    true,
  ]);
  expect(await says(id, { attention_reason: 'failed' })).toBeNull();
  expect(await says(id, LANDING)).toEqual(done);
  expect([await attention(id), await isListed(id)]).toEqual([null, false]);
});

const OVERDUE = "state = 'OBSERVING', submitted_at = now() - interval '2 hours'";
const waiting = (code: string, more = ''): string =>
  `state = 'READY', error_code = '${code}'${more}, updated_at = now() - interval '11 minutes'`;
const AT_VENUE = ", wait_overdue_at = now() - interval '1 second'";
const STUCK = `, signer_binding = '{"signer_key": "stuck"}',
  sign_request = '{"payload": {"chain_id": 77}}'`;

test.each([
  ['unknown_outcome', "state = 'UNKNOWN'"],
  ['lane_stuck', waiting('LANE_BLOCKED', STUCK)],
  ['lane_blocked', waiting('SEND_LANE_TAKEN')],
  ['clock_difference', waiting('CLOCK_DIFFERENCE', ", frozen_since = now() - interval '1 hour'")],
  ['delivery_late', "state = 'OBSERVING', error_code = 'BRIDGE_DELIVERY_LATE'"],
  ['executor_unavailable', "state = 'OBSERVING', unanswered_since = now() - interval '1 hour'"],
  ['venue_suspended', waiting('VENUE_SUSPENDED', AT_VENUE)],
  ['withdrawal_quota_exhausted', waiting('WITHDRAWAL_QUOTA_EXHAUSTED', AT_VENUE)],
  ['observed_long', OVERDUE],
] as const)(
  'in a movement that goes on, %s comes first, and the landing beside it',
  async (reason, other) => {
    await bench.sql(
      `INSERT INTO nonce_lanes (chain_id, address, next_nonce, signer_key, stuck_nonce, stuck_why,
       stuck_since) VALUES (77, '0x77', 5, 'stuck', 4, 'no gas', now() - interval '1 hour')
     ON CONFLICT DO NOTHING`,
    );
    const id = await abandoned('EXECUTING');
    await setNode(id, 'other', other);
    await lands(id);
    const facts = await attention(id);
    expect(facts).toMatchObject({ reason, node_key: 'other', landed: { node_key: 'pay' } });
    const [sentence, alone] = [
      sentenceOf(facts!, ''),
      sentenceOf({ reason, node_key: 'other' }, ''),
    ];
    const landing = 'pay landed after a person had abandoned it (tx-of-pay)';
    expect([sentence.includes(landing), alone.includes('landed')]).toEqual([true, false]);
    // A movement that goes on takes no acknowledgement.
    expect(await says(id, LANDING)).toBeNull();
    await setNode(id, 'other', "state = 'COMPLETED', error_code = NULL");
    const last = await attention(id);
    expect(last).toMatchObject(LANDED);
    expect(sentenceOf(last!, '').split('landed after')).toHaveLength(2);
  },
);

test('a gate comes first, too', async () => {
  const id = await abandoned('WAITING_MANUAL_ACTION');
  await setNode(id, 'gate', "state = 'READY'");
  await lands(id);
  expect(await attention(id)).toMatchObject({
    reason: 'manual_gate',
    node_key: 'gate',
    landed: { node_key: 'pay' },
  });
});

test('so does a run that is stuck', async () => {
  const id = await abandoned('EXECUTING');
  await lands(id);
  await bench.sql(
    `INSERT INTO stuck_runs (entity_id, kind, run_id, cause, since, last_seen)
     VALUES ($1::uuid, 'movement', 'r1', 'task_fails', now(), now())`,
    id,
  );
  expect(await attention(id)).toMatchObject({ reason: 'run_stuck', landed: { node_key: 'pay' } });
});

test('the failure of another node comes first, and each is acknowledged by itself', async () => {
  const id = await abandoned('FAILED');
  await setNode(id, 'other', "state = 'FAILED', error_code = 'E'");
  await setMovement(id, "error_message = 'node other failed'");
  await lands(id);
  const failed = { reason: 'failed', node_key: 'other' };
  expect(await attention(id)).toMatchObject({ ...failed, landed: { node_key: 'pay' } });
  // The landing is named although the failure is shown first.
  expect(await says(id, LANDING)).toEqual(done);
  expect(await attention(id)).toMatchObject(failed);
  expect((await attention(id))?.landed).toBeUndefined();
  expect(await says(id, {})).toEqual(done);
  expect(await attention(id)).toBeNull();

  // A retry undoes what was said of the failure, and not what was said of the landing.
  const again = await applyTransition(bench.db, {
    movement_id: id,
    from: ['FAILED'],
    to: 'EXECUTING',
    set: { ended_at: null },
    nodes: [{ node_key: 'other', from: 'FAILED', moves: ['READY'], set: { attempt: 2 } }],
    timeline: [],
  });
  expect(again).toMatchObject({ ok: true });
  expect((await readSnapshot(bench.db, id)).acknowledged).toBe(false);
  expect(await attention(id)).toBeNull();
  await setNode(id, 'other', "state = 'FAILED'");
  await setMovement(id, "request_state = 'FAILED', ended_at = now()");
  expect(await attention(id)).toMatchObject(failed);
});

test('of a failure that names no node, the landing does not take it along', async () => {
  const id = await abandoned('FAILED');
  await setMovement(id, 'error_message = NULL');
  await lands(id);
  expect(await says(id, {})).toBeNull();
  expect(await says(id, LANDING)).toEqual(done);
  expect(await attention(id)).toMatchObject({ reason: 'failed' });
  expect(await says(id, { attention_reason: 'failed' })).toEqual(done);
  expect(await attention(id)).toBeNull();
});

test.each(['CANCELLED', 'COMPLETED'] as const)(
  'a %s movement needs a person for a landing until that is acknowledged, or for a week',
  async (state) => {
    const id = await abandoned(state);
    expect([await attention(id), await isListed(id)]).toEqual([null, false]);
    expect(await says(id, {})).toBeNull();
    await lands(id);
    expect(await attention(id)).toMatchObject(LANDED);
    expect(await isListed(id)).toBe(true);
    await setMovement(id, "updated_at = now() - interval '8 days'");
    expect([await attention(id), await isListed(id)]).toEqual([null, false]);
    await setMovement(id, 'updated_at = now()');
    expect(await says(id, {})).toBeNull();
    expect(await says(id, LANDING)).toEqual(done);
    expect([await attention(id), await isListed(id)]).toEqual([null, false]);
    expect(await readSnapshot(bench.db, id)).toMatchObject({ state, acknowledged: false });
  },
);

test('after a cancel, another compensation that failed comes first, and hides no landing', async () => {
  const id = await abandoned('CANCELLED');
  await setNode(id, 'pay', 'on_cancel_target = true');
  expect(await attention(id)).toMatchObject({ reason: 'failed', node_key: 'pay' });
  await lands(id);
  expect(await attention(id)).toMatchObject(LANDED);
  await setNode(id, 'other', "state = 'FAILED', error_code = 'E', on_cancel_target = true");
  expect(await attention(id)).toMatchObject({ reason: 'failed', node_key: 'other' });
  expect(await says(id, { attention_reason: 'failed' })).toBeNull();
  expect(await says(id, LANDING)).toEqual(done);
  // The abandoned compensation is dealt with, the other one is not.
  const rest = await attention(id);
  expect([rest?.reason, rest?.node_key, rest?.landed]).toEqual(['failed', 'other', undefined]);
});

describe('two landings of a movement', () => {
  async function both(state: MovementState): Promise<string> {
    const id = await abandoned(state);
    await setNode(id, 'other', ABANDONED);
    await setMovement(id, "callback_url = 'http://callback.test/'");
    await lands(id);
    return id;
  }

  test('are acknowledged one by one, and a click that comes twice takes one', async () => {
    const id = await both('FAILED');
    await lands(id, 'other');
    expect(await attention(id)).toMatchObject(LANDED);
    expect(await says(id, LANDING)).toEqual(done);
    expect(await says(id, LANDING)).toBeNull();
    expect(await attention(id)).toMatchObject({ reason: 'landed_late', node_key: 'other' });
    expect(await says(id, { ...LANDING, node_key: 'other' })).toEqual(done);
    expect(await attention(id)).toBeNull();
  });

  test('are called back one by one', async () => {
    const id = await both('COMPLETED');
    await turn();
    await turn();
    expect(await called(id)).toEqual(['landed_late pay']);
    expect(await says(id, LANDING)).toEqual(done);
    await turn();
    await lands(id, 'other');
    await turn();
    await turn();
    expect(await called(id)).toEqual(['landed_late pay', 'landed_late other']);
  });
});

const turn = async (): Promise<void> =>
  noteAttention(
    bench.db,
    await readReasonsForRuns(bench.db, 5_000),
    await readEndedBadly(bench.db, 5_000),
  );
const called = async (id: string): Promise<readonly string[]> =>
  (
    await bench.sql<{ what: string }>(
      `SELECT (data ->> 'reason') || ' ' || coalesce(node_key, '-') AS what FROM timeline_events
        WHERE movement_id = $1::uuid AND event_type = 'request_attention' ORDER BY sequence`,
      id,
    )
  ).map(({ what }) => what);
const notedAs = async (id: string): Promise<string | null> =>
  (
    await bench.sql<{ attention_told: string | null }>(
      'SELECT attention_told FROM movements WHERE movement_id = $1::uuid',
      id,
    )
  )[0]!.attention_told;

test.each([
  ['one that no state shows', 'EXECUTING', 'other', OVERDUE, 'observed_long other'],
  ['one that the state shows', 'WAITING_MANUAL_ACTION', 'gate', "state = 'READY'", null],
] as const)(
  'a landing is called back beside another reason: %s',
  async (_which, state, key, node, first) => {
    const id = await abandoned(state);
    await setNode(id, key, node);
    await lands(id);
    await Promise.all([turn(), turn()]);
    await turn();
    const before = first === null ? [] : [first];
    expect(await called(id)).toEqual([...before, 'landed_late pay']);
    // The other reason goes, and the landing stays: nothing is new.
    await setNode(id, key, "state = 'COMPLETED'");
    await turn();
    expect([await called(id), await notedAs(id)]).toEqual([
      [...before, 'landed_late pay'],
      'landed_late',
    ]);
  },
);

test('what an acknowledged landing was called back beside is not called back again', async () => {
  const id = await abandoned('CANCELLED');
  await setNode(id, 'other', "state = 'FAILED', error_code = 'E', on_cancel_target = true");
  await lands(id);
  await turn();
  const all = ['failed other', 'landed_late pay'];
  expect([await called(id), await notedAs(id)]).toEqual([all, 'failed+landed_late']);
  expect(await says(id, LANDING)).toEqual(done);
  expect(await notedAs(id)).toBe('failed');
  await turn();
  expect(await called(id)).toEqual(all);
});

describe('a process of the release before, which fires the edges of an abandoned node,', () => {
  /** What it makes of the movement. */
  const asBefore = (snapshot: MovementSnapshot): MovementSnapshot => ({
    ...snapshot,
    nodes: snapshot.nodes.map((node) => ({ ...node, ended_by_stop: false })),
  });

  async function gated(edges = [ON_FAILURE], other = "state = 'COMPLETED'"): Promise<string> {
    const id = await abandoned('WAITING_MANUAL_ACTION', edges);
    await setNode(id, 'gate', "state = 'READY'");
    await setNode(id, 'instead', "state = 'BLOCKED'");
    await setNode(id, 'other', other);
    return id;
  }
  const resumed = (snapshot: MovementSnapshot) => {
    const change = resume(snapshot, PERSON)!;
    const readied = (change.nodes ?? []).filter(({ moves }) => moves.includes('READY'));
    return { change, readied: readied.map(({ node_key }) => node_key) };
  };

  test('starts nothing in its place', async () => {
    const id = await gated();
    const snapshot = await readSnapshot(bench.db, id);
    const before = resumed(asBefore(snapshot));
    expect(before.readied).toEqual(['instead']);
    const refused = await applyTransition(bench.db, before.change);
    expect(refused).toMatchObject({ ok: false, reason: 'node_state' });
    const { change, readied } = resumed(snapshot);
    expect(readied).toEqual([]);
    expect(await applyTransition(bench.db, change)).toMatchObject({ ok: true });
  });

  test('nor where its time limit has an edge', async () => {
    const id = await gated([edge('pay', 'on_timeout')]);
    const snapshot = asBefore(await readSnapshot(bench.db, id));
    const timedOut = snapshot.nodes.map((node) =>
      node.node_key === 'pay' ? { ...node, error_code: 'NODE_TIMED_OUT' } : node,
    );
    const { change, readied } = resumed({ ...snapshot, nodes: timedOut });
    expect(readied).toEqual(['instead']);
    expect(await applyTransition(bench.db, change)).toMatchObject({ ok: false });
  });

  test.each([
    ['gate', 'on_success', "state = 'COMPLETED'"],
    ['gate', 'on_manual_resume', "state = 'COMPLETED'"],
    ['other', 'on_success', "state = 'COMPLETED'"],
    ['other', 'on_failure', "state = 'FAILED', error_code = 'E'"],
  ] as const)('starts what another node leads to: %s %s', async (from, type, other) => {
    const id = await gated([ON_FAILURE, edge(from, type, 'by itself')], other);
    const { change, readied } = resumed(asBefore(await readSnapshot(bench.db, id)));
    expect(readied).toEqual(['instead']);
    expect(await applyTransition(bench.db, change)).toMatchObject({ ok: true });
  });

  test.each([
    ['other', 'on_failure', "state = 'COMPLETED'"],
    ['other', 'on_success', "state = 'OBSERVING'"],
    ['gate', 'on_cancel', "state = 'COMPLETED'"],
  ] as const)(
    'starts nothing that another node does not lead to: %s %s',
    async (from, type, other) => {
      const id = await gated([ON_FAILURE, edge(from, type, 'by itself')], other);
      const { change, readied } = resumed(asBefore(await readSnapshot(bench.db, id)));
      expect(readied).toEqual(['instead']);
      expect(await applyTransition(bench.db, change)).toMatchObject({ ok: false });
    },
  );
});
