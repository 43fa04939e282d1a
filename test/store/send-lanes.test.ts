/** In a send lane one send at a time is open, whatever way the sends take. */
import { termsOf } from '../../activities/requirements/list.ts';
import type { Purpose } from '../../activities/requirements/requirement.ts';
import type { NodeFields } from '../../domain/transition.ts';
import { newId } from '../../platform/ids.ts';
import { readPhase } from '../../store/phases.ts';
import { readSendLane } from '../../store/send-lanes.ts';
import { applyTransition } from '../../store/transition.ts';
import { paying, storeBench } from './support.ts';

const bench = storeBench();

/** A movement under way, whose node is prepared for this lane and ready to be sent. */
async function ready(lane: string | null): Promise<string> {
  const { movement_id } = await bench.movement();
  await bench.approve(movement_id);
  await bench.sql(
    `UPDATE movements SET request_state = 'EXECUTING', approval_status = 'approved'
     WHERE movement_id = $1::uuid`,
    movement_id,
  );
  await set(movement_id, {
    state: 'READY',
    prepared_action: JSON.stringify(lane === null ? {} : { send_lane: lane }),
  });
  return movement_id;
}

async function set(
  movement_id: string,
  { state, prepared_action }: { readonly state: string; readonly prepared_action?: string },
): Promise<void> {
  await bench.sql(
    `UPDATE movement_nodes SET state = $2, amount = 3, preflight_passed = true,
      started_at = svc_now(), prepared_action = coalesce($3::jsonb, prepared_action)
     WHERE movement_id = $1::uuid AND node_key = 'pay'`,
    movement_id,
    state,
    prepared_action ?? null,
  );
}

interface Send {
  readonly node_key?: string;
  readonly attempt?: number;
  readonly set?: NodeFields;
}

/** Passes the fence as the worker's write does; answers why not, or null. */
async function fence(
  movement_id: string,
  { node_key = 'pay', attempt = 1, set: fields = {} }: Send = {},
): Promise<string | null> {
  const outcome = await applyTransition(bench.db, {
    movement_id,
    nodes: [
      {
        node_key,
        from: 'READY',
        moves: ['SUBMITTING'],
        attempt,
        set: { submit_epoch: attempt, ...fields },
      },
    ],
    timeline: [],
  });
  if (outcome.ok) return null;
  return outcome.problems.map(({ binding, reason }) => `${binding}: ${reason}`).join('; ');
}

/** As a retry behind a person's "failed": attempt 2, ready in the same lane. */
async function retried(movement_id: string): Promise<void> {
  await bench.sql(
    `UPDATE node_attempts SET outcome = 'FAILED', error_code = 'RESOLVED_AS_FAILED',
       ended_at = svc_now() WHERE movement_id = $1::uuid`,
    movement_id,
  );
  await bench.sql(
    "UPDATE movement_nodes SET state = 'READY', attempt = 2 WHERE movement_id = $1::uuid",
    movement_id,
  );
}

const name = (): string => `lane-${newId()}`;

const taken = (by: string, node_key = 'pay'): string =>
  `send_lane: the send of node ${node_key} of movement ${by} is still open`;

async function stateOf(movement_id: string): Promise<unknown> {
  const [row] = await bench.sql<{ state: string }>(
    "SELECT state FROM movement_nodes WHERE movement_id = $1::uuid AND node_key = 'pay'",
    movement_id,
  );
  return row?.state;
}

test.each(['SUBMITTING', 'SUBMITTED', 'OBSERVING', 'UNKNOWN'])(
  'a send that is %s without a reference keeps the next one of its lane waiting',
  async (state) => {
    const lane = name();
    const [first, second, other, none] = [
      await ready(lane),
      await ready(lane),
      await ready(name()),
      await ready(null),
    ];
    expect(await fence(first)).toBeNull();
    await set(first, { state });
    expect(await fence(second)).toBe(taken(first));
    expect(await stateOf(second)).toBe('READY');
    expect([await fence(other), await fence(none)]).toEqual([null, null]);
    await bench.sql(
      "UPDATE movement_nodes SET external_ref = 'W1' WHERE movement_id = $1::uuid",
      first,
    );
    expect(await fence(second)).toBeNull();
  },
);

test.each(['FAILED', 'COMPLETED', 'CANCELLED'])(
  'a send that is %s is not in the way',
  async (state) => {
    const lane = name();
    const [first, second] = [await ready(lane), await ready(lane)];
    expect(await fence(first)).toBeNull();
    await set(first, { state });
    expect(await fence(second)).toBeNull();
  },
);

test('a send that a restore brought back is in the way until it was looked for', async () => {
  const lane = name();
  const [first, second] = [await ready(lane), await ready(lane)];
  expect(await fence(first)).toBeNull();
  await set(first, { state: 'READY' });
  await bench.sql(
    'UPDATE movement_nodes SET recover_first = true WHERE movement_id = $1::uuid',
    first,
  );
  expect(await fence(second)).toBe(taken(first));
});

test('of many that try at once, by either fence, one passes', async () => {
  const lane = name();
  const movements = await Promise.all(Array.from({ length: 10 }, () => ready(lane)));
  await Promise.all(
    movements.map((movement_id, index) =>
      index % 2 === 0
        ? fence(movement_id)
        : bench.sql(
            `SELECT try_fence($1::uuid, 'pay', 1, executor_binding ->> 'executor_key', 30,
               $2, '["acme_payout"]')
             FROM movement_nodes WHERE movement_id = $1::uuid AND node_key = 'pay'`,
            movement_id,
            newId(),
          ),
    ),
  );
  const states = await Promise.all(movements.map(stateOf));
  expect(states.filter((state) => state === 'SUBMITTING')).toHaveLength(1);
  expect(states.filter((state) => state === 'READY')).toHaveLength(9);
});

test('the short fence refuses a lane that is taken', async () => {
  const lane = name();
  const [first, second] = [await ready(lane), await ready(lane)];
  const short = (movement_id: string) =>
    bench.sql<{ passed: boolean }>(
      `SELECT (try_fence($1::uuid, 'pay', 1, executor_binding ->> 'executor_key', 30, $2, '["acme_payout"]')
         ->> 'passed')::boolean AS passed
       FROM movement_nodes WHERE movement_id = $1::uuid AND node_key = 'pay'`,
      movement_id,
      newId(),
    );
  expect(await short(first)).toEqual([{ passed: true }]);
  expect(await short(second)).toEqual([{ passed: false }]);
  expect(await stateOf(second)).toBe('READY');
});

test('a lane that the write of the fence itself brings is taken as well', async () => {
  const lane = name();
  const [first, second, third] = [await ready(lane), await ready(lane), await ready(lane)];
  const atOnce = async (movement_id: string): Promise<string | null> => {
    await bench.sql(
      'UPDATE movement_nodes SET prepared_action = NULL WHERE movement_id = $1::uuid',
      movement_id,
    );
    return fence(movement_id, { set: { prepared_action: { send_lane: lane } } });
  };
  expect(await atOnce(first)).toBeNull();
  expect([await atOnce(second), await fence(third)]).toEqual([taken(first), taken(first)]);
  const of = { movement_id: first, node_key: 'pay', attempt: 1 };
  expect(await readSendLane(bench.db, of)).toMatchObject({ references: [], unexplained: 0 });
});

test('two sends of one movement take turns as those of two movements do', async () => {
  const nodes = [paying('also', { amount: '1' }), paying('pay', {})];
  const { movement_id } = await bench.movement({ shape: { nodes, edges: [] } });
  await bench.approve(movement_id);
  await bench.sql(
    `UPDATE movements SET request_state = 'EXECUTING', approval_status = 'approved'
     WHERE movement_id = $1::uuid`,
    movement_id,
  );
  await bench.sql(
    `UPDATE movement_nodes SET state = 'READY', amount = 1, preflight_passed = true,
       started_at = svc_now(), prepared_action = $2::jsonb WHERE movement_id = $1::uuid`,
    movement_id,
    JSON.stringify({ send_lane: name() }),
  );
  expect(await fence(movement_id, { node_key: 'also' })).toBeNull();
  expect(await fence(movement_id)).toBe(taken(movement_id, 'also'));
});

test('what has waited for its lane no longer says so once it is sent', async () => {
  const lane = name();
  const movement_id = await ready(lane);
  await bench.sql(
    `UPDATE movement_nodes SET error_code = 'SEND_LANE_TAKEN', error_message = 'waits'
     WHERE movement_id = $1::uuid`,
    movement_id,
  );
  expect(await fence(movement_id)).toBeNull();
  expect(
    await bench.sql(
      'SELECT error_code, error_message FROM movement_nodes WHERE movement_id = $1::uuid',
      movement_id,
    ),
  ).toEqual([{ error_code: null, error_message: null }]);
});

test('what waits for its lane for ten minutes is shown to a person', async () => {
  const movement_id = await ready(name());
  const attention = async (age: string): Promise<unknown> => {
    await bench.sql(
      `UPDATE movement_nodes SET error_code = 'SEND_LANE_TAKEN', error_message = 'waits',
         updated_at = svc_now() - $2::interval WHERE movement_id = $1::uuid`,
      movement_id,
      age,
    );
    const [row] = await bench.sql<{ reason: string | null }>(
      `SELECT attention_of(m, svc_now()) ->> 'reason' AS reason FROM movements m
       WHERE movement_id = $1::uuid`,
      movement_id,
    );
    return row?.reason;
  };
  expect(await attention('9 minutes')).not.toBe('lane_blocked');
  expect(await attention('11 minutes')).toBe('lane_blocked');
});

describe('what an attempt learns of its lane', () => {
  const look = (movement_id: string) =>
    readSendLane(bench.db, { movement_id, node_key: 'pay', attempt: 1 });

  test('is nothing without a lane', async () => {
    const movement_id = await ready(null);
    expect(await fence(movement_id)).toBeNull();
    expect(await look(movement_id)).toBeNull();
  });

  test('is every reference of the others, and how many have none', async () => {
    const lane = name();
    const send = async (end: {
      readonly outcome: string | null;
      readonly error_code?: string;
      readonly reference?: string;
      readonly age?: string;
    }): Promise<void> => {
      const movement_id = await ready(lane);
      expect(await fence(movement_id)).toBeNull();
      await set(movement_id, { state: end.outcome ?? 'COMPLETED' });
      await bench.sql(
        `UPDATE node_attempts SET outcome = $2, error_code = $3, external_ref = $4,
           ended_at = svc_now(), started_at = started_at - $5::interval
         WHERE movement_id = $1::uuid`,
        movement_id,
        end.outcome,
        end.error_code ?? null,
        end.reference ?? null,
        end.age ?? '0',
      );
    };
    await send({ outcome: 'COMPLETED', reference: 'W1' });
    await send({ outcome: 'FAILED', error_code: 'WITHDRAWAL_FAILED', reference: 'W2' });
    await send({ outcome: 'FAILED', error_code: 'EXCHANGE_REFUSED' });
    await send({ outcome: 'FAILED', error_code: 'RESOLVED_AS_FAILED' });
    await send({ outcome: 'COMPLETED' });
    await send({ outcome: 'FAILED', error_code: 'RESOLVED_AS_FAILED', age: '25 hours' });
    await send({ outcome: 'FAILED', error_code: 'RESOLVED_AS_FAILED', age: '23 hours' });
    await send({ outcome: 'FAILED', error_code: 'ABANDONED' });
    await send({ outcome: 'FAILED', error_code: 'ABANDONED', reference: 'W3' });
    const own = await ready(lane);
    expect(await fence(own)).toBeNull();
    const found = await look(own);
    expect({ ...found, references: [...(found?.references ?? [])].sort() }).toEqual({
      since: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      references: ['W1', 'W2', 'W3'],
      // Those of the last day that a person called failed or abandoned, and the one without a
      // reference.
      unexplained: 4,
    });
  });

  test('has the reference of one that is still observed', async () => {
    const lane = name();
    const [first, own] = [await ready(lane), await ready(lane)];
    expect(await fence(first)).toBeNull();
    await bench.sql(
      "UPDATE movement_nodes SET external_ref = 'W9', state = 'OBSERVING' WHERE movement_id = $1::uuid",
      first,
    );
    expect(await fence(own)).toBeNull();
    expect(await look(own)).toMatchObject({ references: ['W9'], unexplained: 0 });
  });

  test('reaches the executor with every look for the send, and not before', async () => {
    const lane = name();
    const [first, own] = [await ready(lane), await ready(lane)];
    expect(await fence(first)).toBeNull();
    await bench.sql(
      `UPDATE movement_nodes SET external_ref = 'W9', state = 'OBSERVING'
       WHERE movement_id = $1::uuid`,
      first,
    );
    expect(await fence(own)).toBeNull();
    const row = await readPhase(bench.db, own, 'pay');
    if (row === null) throw new Error('there is no such node');
    const deps = { db: bench.db, chains: [], signers: { get: () => undefined } };
    const terms = (purpose: Purpose) =>
      termsOf(deps, row, {
        purpose,
        amount: '3',
        signer: null,
        addressOf: () => Promise.resolve(''),
      });
    expect(await terms('look')).toMatchObject({
      send_lane: { references: ['W9'], unexplained: 0, since: expect.any(String) },
    });
    expect([await terms('prepare'), await terms('send')]).toEqual([{}, {}]);
  });

  test('has the earlier attempts of its own node, which the next one does not explain', async () => {
    const lane = name();
    const [own, other] = [await ready(lane), await ready(lane)];
    expect(await fence(own)).toBeNull();
    await retried(own);
    expect(await fence(own, { attempt: 2 })).toBeNull();
    const second = { movement_id: own, node_key: 'pay', attempt: 2 };
    expect(await readSendLane(bench.db, second)).toMatchObject({ references: [], unexplained: 1 });
    await bench.sql(
      `UPDATE movement_nodes SET external_ref = 'W2', state = 'OBSERVING'
       WHERE movement_id = $1::uuid`,
      own,
    );
    expect(await fence(other)).toBeNull();
    expect(await look(other)).toMatchObject({ references: ['W2'], unexplained: 1 });
  });

  test('counts from its own fence, however long ago that was', async () => {
    const own = await ready(name());
    expect(await fence(own)).toBeNull();
    const [row] = await bench.sql<{ ms: number }>(
      `UPDATE node_attempts SET started_at = started_at - interval '3 hours'
       WHERE movement_id = $1::uuid
       RETURNING extract(epoch FROM started_at)::float8 * 1000 AS ms`,
      own,
    );
    const since = Date.parse((await look(own))?.since ?? '');
    expect(Math.abs(since - (row?.ms ?? 0))).toBeLessThan(2);
  });

  test('says after a restore that sends may be forgotten', async () => {
    const own = await ready(name());
    expect(await fence(own)).toBeNull();
    expect(await look(own)).toMatchObject({ unexplained: 0 });
    await bench.sql('UPDATE movement_nodes SET restored = true WHERE movement_id = $1::uuid', own);
    expect(await look(own)).toMatchObject({ unexplained: 1 });
  });
});
