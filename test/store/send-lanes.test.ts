/** In a send lane one send at a time is open, whatever way the sends take. */
import { newId } from '../../platform/ids.ts';
import { readSendLane } from '../../store/send-lanes.ts';
import { applyTransition } from '../../store/transition.ts';
import { storeBench } from './support.ts';

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

/** Passes the fence as the worker's write does; answers why not, or null. */
async function fence(movement_id: string): Promise<string | null> {
  const outcome = await applyTransition(bench.db, {
    movement_id,
    nodes: [
      {
        node_key: 'pay',
        from: 'READY',
        moves: ['SUBMITTING'],
        attempt: 1,
        set: { submit_epoch: 1 },
      },
    ],
    timeline: [],
  });
  if (outcome.ok) return null;
  return outcome.problems.map(({ binding, reason }) => `${binding}: ${reason}`).join('; ');
}

const name = (): string => `lane-${newId()}`;

const taken = (by: string): string =>
  `send_lane: the send of node pay of movement ${by} is still open`;

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
    await send({ outcome: 'FAILED', error_code: 'ABANDONED' });
    await send({ outcome: 'FAILED', error_code: 'RESOLVED_AS_FAILED' });
    await send({ outcome: 'COMPLETED' });
    await send({ outcome: 'FAILED', error_code: 'ABANDONED', age: '25 hours' });
    const own = await ready(lane);
    expect(await fence(own)).toBeNull();
    const found = await look(own);
    expect({ ...found, references: [...(found?.references ?? [])].sort() }).toEqual({
      since: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      references: ['W1', 'W2'],
      // The abandoned, the one that a person called failed, and the one without a reference.
      unexplained: 3,
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
});
