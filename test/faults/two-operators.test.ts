/**
 * Two operators act on one movement at the same moment, many times over. Their answers must equal
 * those of one acting after the other, and so must the timeline.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  assertConsistent,
  ledgerOf,
  type MovementView,
  type TimelineView,
} from '../support/evidence.ts';
import {
  eventually,
  startOwnStack,
  type Created,
  type JsonAnswer,
  type OwnStack,
} from '../support/own-stack.ts';
import { compensation, edge, gate, noop, storeTemplate, withdrawal } from '../support/plans.ts';

const TIMES = 8;
type Verb = 'approve' | 'reject' | 'resume' | 'retry' | 'cancel';

let own: OwnStack;
/** A gate, which a cancel can end. */
let gated: string;
/**
 * A withdrawal that fails before it is sent; a cancel could still end a movement that tries it
 * again.
 */
let failing: string;
/** A withdrawal that becomes UNKNOWN at the first lost answer. */
let uncertain: string;
let serial = 0;

beforeAll(async () => {
  own = await startOwnStack({ split: true, env: { SVC_NODE_UNANSWERED_TIMEOUT_SECONDS: '1' } });
  const { chain } = own.stack;
  gated = await storeTemplate(own.api, [gate('check'), compensation('undo')], {
    edges: [edge('check', 'undo', 'on_cancel')],
  });
  const undone = { edges: [edge('withdraw', 'undo', 'on_cancel')] };
  const lost = { config: { network: 'nowhere' } };
  failing = await storeTemplate(
    own.api,
    [withdrawal(chain, 'withdraw', lost), compensation('undo')],
    undone,
  );
  const impatient = { more: { retry_policy: { max_attempts: 1 } } };
  uncertain = await storeTemplate(
    own.api,
    [withdrawal(chain, 'withdraw', impatient), compensation('undo')],
    undone,
  );
  // The API's connections to its database are made now, so that on a busy machine no race is lost
  // to that.
  const { movement_id } = await create(gated);
  await Promise.all(
    Array.from({ length: 40 }, () => own.api.send('GET', `/movements/${movement_id}`)),
  );
}, 180_000);
afterAll(async () => {
  if (own?.stack.children['worker']?.pid != null) await own.stack.kill('worker', 'SIGCONT');
  await own?.close();
});
afterEach(async () => {
  await own.venueFaults(null);
  await own.chainFaults({ mining: 'automatic' });
});

const many = <T>(make: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: TIMES }, (_, index) => make(index)));

function create(template: string, more: { ttl?: number } = {}): Promise<Created> {
  serial += 1;
  return own.api.create(template, { amount: `12.${String(serial).padStart(4, '0')}1`, ...more });
}

async function at(template: string, state: string): Promise<Created> {
  const movement = await create(template);
  await own.api.approve(movement);
  await becomes(movement, state);
  return movement;
}

function becomes({ movement_id }: Created, state: string): Promise<MovementView> {
  return eventually(
    async () => {
      const movement = await own.api.movement(movement_id);
      return movement.request_state === state ? movement : null;
    },
    { timeoutMs: 60_000, what: () => `${movement_id} to become ${state}` },
  );
}

/** Waits until nothing of the movement is open. */
function settles({ movement_id }: Created): Promise<MovementView> {
  return eventually(
    async () => {
      const movement = await own.api.movement(movement_id);
      const open = movement.nodes.some(
        ({ state }) => !['COMPLETED', 'FAILED', 'SKIPPED', 'CANCELLED'].includes(state),
      );
      return open || movement.request_state === 'EXECUTING' ? null : movement;
    },
    { timeoutMs: 60_000, what: () => `${movement_id} to settle` },
  );
}

function act(movement: Created, verb: Verb): Promise<JsonAnswer> {
  const { movement_id, compiled_plan_hash } = movement;
  const path = `/movements/${movement_id}/${verb === 'approve' || verb === 'reject' ? verb : `actions/${verb}`}`;
  return own.api.send(
    'POST',
    path,
    verb === 'approve' ? { compiled_plan_hash, approver_id: 'tester' } : {},
  );
}

/** Both at once; the second is sent first every other time, so that neither is favoured. */
async function race(
  movement: Created,
  [first, second]: readonly [Verb, Verb],
  index: number,
): Promise<readonly [JsonAnswer, JsonAnswer]> {
  if (index % 2 === 0) return Promise.all([act(movement, first), act(movement, second)]);
  const [b, a] = await Promise.all([act(movement, second), act(movement, first)]);
  return [a, b];
}

const EVENT_OF: Record<Verb, string> = {
  approve: 'request_approved',
  reject: 'request_rejected',
  resume: 'request_resumed',
  retry: 'request_retried',
  cancel: 'request_cancelled',
};

/**
 * Every accepted action is on the timeline, in the audit and among the commands, once; every
 * refused one only in the audit.
 */
async function expectRecorded(
  movement: Created,
  done: readonly (readonly [Verb, JsonAnswer])[],
): Promise<readonly TimelineView[]> {
  const { movement_id } = movement;
  const timeline = await own.api.timeline(movement_id);
  assertConsistent(await own.api.movement(movement_id), timeline);
  for (const verb of new Set(done.map(([each]) => each))) {
    const answers = done.flatMap(([each, answer]) => (each === verb ? [answer] : []));
    const accepted = answers.filter(({ status }) => status === 200).length;
    const audit = await own.query<{ outcome: string }>(
      'SELECT outcome FROM audit_events WHERE entity_key = $1 AND action = $2',
      [movement_id, `movement.${verb}`],
    );
    const commands = await own.query(
      'SELECT 1 FROM commands WHERE movement_id = $1 AND kind = $2',
      [movement_id, verb],
    );
    expect({
      events: timeline.filter(({ event_type }) => event_type === EVENT_OF[verb]).length,
      commands: commands.length,
      accepted: audit.filter(({ outcome }) => outcome === 'success').length,
      denied: audit.filter(({ outcome }) => outcome === 'denied').length,
    }).toEqual({
      events: accepted,
      commands: accepted,
      accepted,
      denied: answers.length - accepted,
    });
  }
  return timeline;
}

/**
 * A 409 that says what is wrong: the code, a sentence, and the states (or the movement) it is
 * about.
 */
function expectRefused(
  answer: JsonAnswer,
  verb: Verb,
  states: readonly string[],
  error = 'invalid_state',
): void {
  expect(answer.status).toBe(409);
  const detail = answer.body['detail'] as Record<string, unknown>;
  expect(detail).toMatchObject({ error, message: expect.stringMatching(/\w+ \w+/) });
  expect(states).toContain(detail['current_state']);
  if (error === 'invalid_state') {
    expect(detail['allowed_states']).not.toContain(detail['current_state']);
    expect(detail['message']).toContain(verb);
  }
}

const statuses = (answers: readonly JsonAnswer[]): number[] =>
  answers.map(({ status }) => status).sort();

describe('two operators at once', () => {
  test('approve and approve: one wins', async () => {
    const movements = await many(() => create(gated));
    await Promise.all(
      movements.map(async (movement, index) => {
        const answers = await race(movement, ['approve', 'approve'], index);
        expect(statuses(answers)).toEqual([200, 409]);
        const loser = answers.find(({ status }) => status === 409)!;
        expectRefused(loser, 'approve', ['APPROVED', 'EXECUTING', 'WAITING_MANUAL_ACTION']);
        await becomes(movement, 'WAITING_MANUAL_ACTION');
        await expectRecorded(
          movement,
          answers.map((answer) => ['approve', answer] as const),
        );
      }),
    );
  }, 120_000);

  test('approve and reject: one wins, and the movement is what the winner made of it', async () => {
    const movements = await many(() => create(gated));
    await Promise.all(
      movements.map(async (movement, index) => {
        const [approved, rejected] = await race(movement, ['approve', 'reject'], index);
        expect(statuses([approved, rejected])).toEqual([200, 409]);
        if (approved.status === 200)
          expectRefused(rejected, 'reject', ['APPROVED', 'EXECUTING', 'WAITING_MANUAL_ACTION']);
        else expectRefused(approved, 'approve', ['REJECTED']);
        await becomes(movement, approved.status === 200 ? 'WAITING_MANUAL_ACTION' : 'REJECTED');
        await expectRecorded(movement, [
          ['approve', approved],
          ['reject', rejected],
        ]);
      }),
    );
  }, 120_000);

  test('approve and cancel: the cancel holds whoever was first, and nothing runs after it', async () => {
    const movements = await many(() => create(gated));
    await Promise.all(
      movements.map(async (movement, index) => {
        const [approved, cancelled] = await race(movement, ['approve', 'cancel'], index);
        // An approved movement can be cancelled; a cancelled one cannot be approved.
        expect(cancelled.status).toBe(200);
        if (approved.status !== 200) expectRefused(approved, 'approve', ['CANCELLED']);
        const end = await settles(movement);
        expect(end).toMatchObject({ request_state: 'CANCELLED', reservation_status: 'released' });
        expect(end.nodes.map(({ state }) => state)).toEqual(['CANCELLED', 'SKIPPED']);
        const timeline = await expectRecorded(movement, [
          ['approve', approved],
          ['cancel', cancelled],
        ]);
        const kinds = timeline.map(({ event_type }) => event_type);
        if (approved.status === 200)
          expect(kinds.indexOf('request_approved')).toBeLessThan(
            kinds.indexOf('request_cancelled'),
          );
      }),
    );
  }, 120_000);

  test('resume and cancel at a gate: one wins, unless the cancel still meets the resumed movement', async () => {
    const movements = await many(() => at(gated, 'WAITING_MANUAL_ACTION'));
    await Promise.all(
      movements.map(async (movement, index) => {
        const [resumed, cancelled] = await race(movement, ['resume', 'cancel'], index);
        if (resumed.status !== 200) expectRefused(resumed, 'resume', ['CANCELLED']);
        if (cancelled.status !== 200) expectRefused(cancelled, 'cancel', ['COMPLETED']);
        expect([resumed.status, cancelled.status]).toContain(200);
        const end = await settles(movement);
        expect(end.request_state).toBe(cancelled.status === 200 ? 'CANCELLED' : 'COMPLETED');
        // Opened, the gate has completed, and the compensation behind it runs after a cancel.
        const gateState = resumed.status === 200 ? 'COMPLETED' : 'CANCELLED';
        const undone = resumed.status === 200 && cancelled.status === 200;
        expect(end.nodes.map(({ state }) => state)).toEqual([
          gateState,
          undone ? 'COMPLETED' : 'SKIPPED',
        ]);
        await expectRecorded(movement, [
          ['resume', resumed],
          ['cancel', cancelled],
        ]);
      }),
    );
  }, 120_000);

  test('resume and resume at a gate: one wins', async () => {
    const movements = await many(() => at(gated, 'WAITING_MANUAL_ACTION'));
    await Promise.all(
      movements.map(async (movement, index) => {
        const answers = await race(movement, ['resume', 'resume'], index);
        expect(statuses(answers)).toEqual([200, 409]);
        expectRefused(
          answers.find(({ status }) => status === 409)!,
          'resume',
          ['EXECUTING', 'COMPLETED'],
        );
        await becomes(movement, 'COMPLETED');
        await expectRecorded(
          movement,
          answers.map((answer) => ['resume', answer] as const),
        );
      }),
    );
  }, 120_000);

  test('retry and retry of a failed movement: one wins, and one new attempt is made', async () => {
    const movements = await many(() => at(failing, 'FAILED'));
    // Long enough that the second cannot come after a new attempt has failed as well.
    await own.venueFaults({ latency_ms: 4_000, phases: ['preflight'] });
    await Promise.all(
      movements.map(async (movement, index) => {
        const answers = await race(movement, ['retry', 'retry'], index);
        expect(statuses(answers)).toEqual([200, 409]);
        expectRefused(
          answers.find(({ status }) => status === 409)!,
          'retry',
          ['EXECUTING'],
          'no_retryable_node',
        );
        const end = await becomes(movement, 'FAILED');
        expect(end.nodes[0]).toMatchObject({ state: 'FAILED', attempt: 2 });
        await expectRecorded(
          movement,
          answers.map((answer) => ['retry', answer] as const),
        );
      }),
    );
  }, 120_000);

  test('retry and cancel of a failed movement: the retry holds, and a cancel only after it', async () => {
    const movements = await many(() => at(failing, 'FAILED'));
    await own.venueFaults({ latency_ms: 4_000, phases: ['preflight'] });
    await Promise.all(
      movements.map(async (movement, index) => {
        const [retried, cancelled] = await race(movement, ['retry', 'cancel'], index);
        expect(retried.status).toBe(200);
        if (cancelled.status !== 200) expectRefused(cancelled, 'cancel', ['FAILED']);
        const end = await settles(movement);
        expect(end.request_state).toBe(cancelled.status === 200 ? 'CANCELLED' : 'FAILED');
        expect(end.reservation_status).toBe('released');
        expect(end.nodes[0]).toMatchObject({
          attempt: 2,
          state: cancelled.status === 200 ? 'CANCELLED' : 'FAILED',
        });
        await expectRecorded(movement, [
          ['retry', retried],
          ['cancel', cancelled],
        ]);
      }),
    );
  }, 120_000);

  describe('where the outcome of a payment is unknown', () => {
    const unknown = async (): Promise<readonly Created[]> => {
      await own.venueFaults({ lose_answer_rate: 1, phases: ['submit', 'recover'] });
      const movements = await many(() => at(uncertain, 'MANUAL_INTERVENTION'));
      await own.venueFaults(null);
      return movements;
    };

    test('resume and resume: one wins', async () => {
      const movements = await unknown();
      await Promise.all(
        movements.map(async (movement, index) => {
          const answers = await race(movement, ['resume', 'resume'], index);
          expect(statuses(answers)).toEqual([200, 409]);
          expectRefused(
            answers.find(({ status }) => status === 409)!,
            'resume',
            ['EXECUTING', 'COMPLETED'],
          );
          await becomes(movement, 'COMPLETED');
          await expectRecorded(
            movement,
            answers.map((answer) => ['resume', answer] as const),
          );
          await expectOneEffect(movement);
        }),
      );
    }, 120_000);

    test('retry and cancel: both may hold, and the payment that landed is undone once', async () => {
      const movements = await unknown();
      await Promise.all(
        movements.map(async (movement, index) => {
          const [retried, cancelled] = await race(movement, ['retry', 'cancel'], index);
          // The retry asks about the earlier send, which a cancel does not forbid; after a quick
          // retry all may be over.
          expect(retried.status).toBe(200);
          if (cancelled.status !== 200) expectRefused(cancelled, 'cancel', ['COMPLETED']);
          const end = await settles(movement);
          expect(end).toMatchObject(
            cancelled.status === 200
              ? { request_state: 'CANCELLED', reservation_status: 'held' }
              : { request_state: 'COMPLETED', reservation_status: 'consumed' },
          );
          expect(end.nodes.map(({ state }) => state)).toEqual([
            'COMPLETED',
            cancelled.status === 200 ? 'COMPLETED' : 'SKIPPED',
          ]);
          await expectRecorded(movement, [
            ['retry', retried],
            ['cancel', cancelled],
          ]);
          await expectOneEffect(movement);
        }),
      );
    }, 120_000);
  });
});

async function expectOneEffect({ movement_id }: Created): Promise<void> {
  const entries = await ledgerOf(own.stack.paperVenueUrl, movement_id);
  expect(entries.map(({ effects, submit_calls }) => ({ effects, submit_calls }))).toEqual([
    { effects: 1, submit_calls: 1 },
  ]);
}

describe('an approve at the moment of its expiry', () => {
  test('is an approval or an expiry, never both, and a 409 tells the truth', async () => {
    const template = await storeTemplate(own.api, [noop('one')]);
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        // The first five are sent as soon as they can be and are in time on any machine.
        const movement = await create(template, { ttl: 4 });
        const { expires_at } = (await own.api.expect(
          200,
          'GET',
          `/movements/${movement.movement_id}`,
        )) as { expires_at: string };
        // The others from 600 ms before the time, since a busy machine sends late, to 150 ms after
        // it.
        if (index >= 5)
          await sleep(Math.max(0, Date.parse(expires_at) - Date.now() + (index - 32) * 22));
        const answer = await act(movement, 'approve');
        const seen = await own.api.movement(movement.movement_id);
        const end = await eventually(async () => {
          const now = await own.api.movement(movement.movement_id);
          return ['COMPLETED', 'EXPIRED'].includes(now.request_state) ? now : null;
        });
        const timeline = await own.api.timeline(movement.movement_id);
        assertConsistent(end, timeline);
        const when = (kind: string): string[] =>
          timeline.flatMap((event) => (event.event_type === kind ? [event.occurred_at] : []));
        if (answer.status === 200) {
          expect(end.request_state).toBe('COMPLETED');
          expect(when('request_expired')).toEqual([]);
          expect(when('request_approved')).toHaveLength(1);
          expect(when('request_approved')[0]! < expires_at).toBe(true);
        } else {
          expect(answer).toMatchObject({
            status: 409,
            body: { detail: { error: 'approval_expired' } },
          });
          expect(seen).toMatchObject({
            request_state: 'EXPIRED',
            reservation_status: 'none',
            current_frontier: [],
          });
          expect(when('request_approved')).toEqual([]);
          expect(when('request_expired')).toHaveLength(1);
          expect(when('request_expired')[0]! >= expires_at).toBe(true);
        }
        return answer.status;
      }),
    );
    // Both ends were seen, or the moment was missed.
    expect(new Set(outcomes)).toEqual(new Set([200, 409]));
  });
});

test('a retry of a movement whose run has closed as failed begins a new run under the same workflow id', async () => {
  const movement = await at(failing, 'FAILED');
  const first = await eventually(async () => {
    const run = await own.runOf(movement.movement_id);
    return run?.status === 'FAILED' ? run : null;
  });
  await own.venueFaults({ latency_ms: 1_500, phases: ['preflight'] });
  await own.api.act('retry', movement.movement_id);
  const second = await eventually(async () => {
    const run = await own.runOf(movement.movement_id);
    return run !== null && run.run_id !== first.run_id && run.status === 'RUNNING' ? run : null;
  });
  expect((await own.api.movement(movement.movement_id)).request_state).toBe('EXECUTING');
  const end = await becomes(movement, 'FAILED');
  expect(end.nodes[0]).toMatchObject({ attempt: 2, error_code: 'NETWORK_NOT_SUPPORTED' });
  await eventually(async () => {
    const run = await own.runOf(movement.movement_id);
    return run?.run_id === second.run_id && run.status === 'FAILED' ? true : null;
  });
  assertConsistent(end, await own.api.timeline(movement.movement_id));
});

describe('a cancel', () => {
  /**
   * What the movement says of its reservation, and whether it may still send something that a pool
   * holds for it.
   */
  const expectHolds = async (
    { movement_id }: Created,
    status: 'held' | 'released',
    pools: 'open' | 'nothing',
  ): Promise<void> => {
    expect((await own.api.movement(movement_id)).reservation_status).toBe(status);
    const held = await own.query(
      `SELECT 1 FROM reservations WHERE movement_id = $1 AND status = 'held'`,
      [movement_id],
    );
    expect(held.length > 0).toBe(pools === 'open');
    const sent = await own.query(
      `SELECT 1 FROM reservations WHERE movement_id = $1 AND status = 'consumed'`,
      [movement_id],
    );
    expect(sent.length > 0).toBe(status === 'held' && pools === 'nothing');
  };

  test('of one that waits for its approval holds nothing and runs nothing', async () => {
    const movement = await create(uncertain);
    await own.api.act('cancel', movement.movement_id);
    const end = await settles(movement);
    expect(end.nodes.map(({ state }) => state)).toEqual(['CANCELLED', 'SKIPPED']);
    expect(
      await own.query('SELECT 1 FROM reservations WHERE movement_id = $1', [movement.movement_id]),
    ).toEqual([]);
    assertConsistent(end, await own.api.timeline(movement.movement_id));
  });

  test('of one that is approved and has not started releases the reservation and sends nothing', async () => {
    // With its worker paused a movement stays APPROVED.
    await own.stack.kill('worker', 'SIGSTOP');
    let movement: Created;
    try {
      movement = await create(uncertain);
      await own.api.approve(movement);
      await expectHolds(movement, 'held', 'open');
      expect(
        await own.api.expect(200, 'POST', `/movements/${movement.movement_id}/actions/cancel`),
      ).toMatchObject({
        request_state: 'CANCELLED',
        current_frontier: [],
        reservation_status: 'released',
      });
      await expectHolds(movement, 'released', 'nothing');
    } finally {
      await own.stack.kill('worker', 'SIGCONT');
    }
    const end = await settles(movement);
    expect(end.nodes.map(({ state }) => state)).toEqual(['CANCELLED', 'SKIPPED']);
    expect(await ledgerOf(own.stack.paperVenueUrl, movement.movement_id)).toEqual([]);
    assertConsistent(end, await own.api.timeline(movement.movement_id));
  });

  test('with a payment in flight keeps the reservation, follows the payment to its end and then undoes it', async () => {
    await own.chainFaults({ mining: 'paused' });
    const movement = await create(uncertain);
    await own.api.approve(movement);
    await own.api.nodeReaches(movement.movement_id, 'withdraw', ['OBSERVING']);
    expect(
      await own.api.expect(200, 'POST', `/movements/${movement.movement_id}/actions/cancel`),
    ).toMatchObject({
      request_state: 'CANCELLED',
      current_frontier: ['withdraw'],
      reservation_status: 'held',
    });
    await sleep(500);
    expect((await own.api.movement(movement.movement_id)).nodes.map(({ state }) => state)).toEqual([
      'OBSERVING',
      'BLOCKED',
    ]);
    await own.chainFaults({ mining: 'automatic' });
    const end = await settles(movement);
    expect(end.nodes.map(({ state }) => state)).toEqual(['COMPLETED', 'COMPLETED']);
    await expectHolds(movement, 'held', 'nothing');
    await expectOneEffect(movement);
    assertConsistent(end, await own.api.timeline(movement.movement_id));
  });

  test('with a payment under way that proves unlanded releases the reservation, and undoes nothing', async () => {
    const template = await storeTemplate(
      own.api,
      [withdrawal(own.stack.chain, 'withdraw'), compensation('undo')],
      {
        edges: [edge('withdraw', 'undo', 'on_cancel')],
      },
    );
    // The request is lost on its way, and recovery finds nothing.
    await own.venueFaults({ latency_ms: 3_000, error_rate: 1, phases: ['submit'] });
    const movement = await create(template);
    await own.api.approve(movement);
    await own.api.nodeReaches(movement.movement_id, 'withdraw', ['SUBMITTING']);
    await own.api.act('cancel', movement.movement_id);
    await expectHolds(movement, 'held', 'open');
    const end = await settles(movement);
    expect(end.request_state).toBe('CANCELLED');
    // CANCELLED when recovery is first to prove it, FAILED when the venue had already promised
    // never to take that key.
    expect(end.nodes.map(({ state }) => state)).toEqual([
      expect.stringMatching(/^(CANCELLED|FAILED)$/),
      'SKIPPED',
    ]);
    await eventually(async () =>
      (await own.api.movement(movement.movement_id)).reservation_status === 'released'
        ? true
        : null,
    );
    await expectHolds(movement, 'released', 'nothing');
    // After a cancel request the venue keeps a mark of the refused key, and no order.
    const orders = await ledgerOf(own.stack.paperVenueUrl, movement.movement_id);
    expect(
      orders
        .map(({ effects, submit_calls }) => effects + submit_calls)
        .filter((count) => count > 0),
    ).toEqual([]);
    assertConsistent(end, await own.api.timeline(movement.movement_id));
  });

  test('at a gate releases what was never spent', async () => {
    const movement = await at(gated, 'WAITING_MANUAL_ACTION');
    await own.api.act('cancel', movement.movement_id);
    const end = await settles(movement);
    expect(end.nodes.map(({ state }) => state)).toEqual(['CANCELLED', 'SKIPPED']);
    await expectHolds(movement, 'released', 'nothing');
    assertConsistent(end, await own.api.timeline(movement.movement_id));
  });

  test('of one whose payment is unknown keeps the reservation until somebody has found out, and undoes what landed', async () => {
    await own.venueFaults({ lose_answer_rate: 1, phases: ['submit', 'recover'] });
    const movement = await at(uncertain, 'MANUAL_INTERVENTION');
    await own.venueFaults(null);
    expect(
      await own.api.expect(200, 'POST', `/movements/${movement.movement_id}/actions/cancel`),
    ).toMatchObject({
      request_state: 'CANCELLED',
      reservation_status: 'held',
    });
    await sleep(500);
    expect((await own.api.movement(movement.movement_id)).nodes.map(({ state }) => state)).toEqual([
      'UNKNOWN',
      'BLOCKED',
    ]);
    await own.api.act('retry', movement.movement_id);
    const end = await settles(movement);
    expect(end.request_state).toBe('CANCELLED');
    expect(end.nodes.map(({ state }) => state)).toEqual(['COMPLETED', 'COMPLETED']);
    await expectHolds(movement, 'held', 'nothing');
    await expectOneEffect(movement);
    assertConsistent(end, await own.api.timeline(movement.movement_id));
  });
});

test('after all of it, each pool holds what its reservations say', async () => {
  const pools = await own.query(
    `SELECT p.venue_key, p.held::text,
      coalesce(sum(r.amount) FILTER (WHERE r.status = 'held'), 0)::text AS reserved
     FROM reservation_pools p LEFT JOIN reservations r USING (venue_key, account_type, asset)
     GROUP BY p.venue_key, p.account_type, p.asset, p.held
     HAVING p.held <> coalesce(sum(r.amount) FILTER (WHERE r.status = 'held'), 0)`,
  );
  expect(pools).toEqual([]);
});
