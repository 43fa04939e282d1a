/** What is not seen proves nothing: an index that lags, a venue that does not answer. */
import {
  accepted,
  completed,
  failed,
  notLanded,
  pending,
  Unavailable,
  unknown,
} from '../../executor-kit/define.ts';
import { serveExecutor, type ServedExecutor } from '../../executor-kit/http.ts';
import { movementWorkflowId } from '../../domain/messages.ts';
import { assertConsistent } from '../support/evidence.ts';
import { eventually, startOwnStack, type OwnStack } from '../support/own-stack.ts';
import { compensation, edge, noop, storeTemplate } from '../support/plans.ts';
import { scriptedDesk, type Script } from '../support/scripted-desk.ts';

/** After so long without an answer a person has to decide. */
const LONG_SECONDS = 15;

const desk = scriptedDesk();
let served: ServedExecutor;
let own: OwnStack;
beforeAll(async () => {
  served = await serveExecutor(desk.executor, { port: 0, log: () => undefined });
  const common = {
    kind: 'remote',
    url: served.url,
    timeout_seconds: 2,
    settle_seconds: 0,
    payees: [],
  };
  own = await startOwnStack({
    env: {
      SVC_NODE_UNANSWERED_TIMEOUT_SECONDS: String(LONG_SECONDS),
      SVC_UNPROVEN_ASK_SECONDS: '5',
    },
    executors: () => [
      { ...common, executor_key: 'test.scripted', action_types: ['scripted'], same_key_safe: true },
      {
        ...common,
        executor_key: 'test.unsafe',
        action_types: ['scripted_unsafe'],
        same_key_safe: false,
      },
    ],
  });
}, 120_000);
afterAll(async () => {
  await own?.close();
  await served?.stop();
});

/** A payment, and what follows it when it succeeds, fails or comes too late. */
function paying(more: object = {}, action_type = 'scripted'): Promise<string> {
  const pay = {
    node_key: 'pay',
    node_kind: 'action',
    action_type,
    executor_selector: { action_type },
    has_side_effect: true,
    retry_policy: { max_attempts: 3, initial_interval_seconds: 0.1 },
    timeout_policy: { observe_seconds: 3_600 },
    ...more,
  };
  const edges = [
    edge('pay', 'then'),
    edge('pay', 'instead', 'on_failure'),
    edge('pay', 'late', 'on_timeout'),
    edge('pay', 'undo', 'on_cancel'),
  ];
  const nodes = [pay, noop('then'), noop('instead'), noop('late'), compensation('undo')];
  return storeTemplate(own.api, nodes, { edges, assurance: 'provider_completed' });
}

async function startMovement(template: string, script: Script): Promise<string> {
  const movement = await own.api.create(template, { amount: '5' });
  desk.say(movement.movement_id, script);
  await own.api.approve(movement);
  return movement.movement_id;
}

const states = async (id: string) =>
  Object.fromEntries(
    (await own.api.movement(id)).nodes.map(({ node_key, state, attempt }) => [
      node_key,
      `${state} ${attempt}`,
    ]),
  );
/**
 * The movement and its story are two reads: they are compared once nothing was written between
 * them.
 */
async function consistent(id: string): Promise<void> {
  for (;;) {
    const movement = await own.api.movement(id);
    const timeline = await own.api.timeline(id);
    const after = await own.api.movement(id);
    if (JSON.stringify(after) === JSON.stringify(movement))
      return assertConsistent(movement, timeline);
  }
}

const AWAY = (): never => {
  throw new Unavailable('the venue is away');
};

describe('accepted, late, and not found', () => {
  const late = { timeout_policy: { observe_seconds: 1 } };
  const HIDDEN: Script = { observe: () => pending(0.2), recover: () => notLanded() };

  test('is unknown: no time-out and no failure fires, and nothing is sent by itself', async () => {
    const id = await startMovement(await paying(late), HIDDEN);
    await own.api.reaches(id, 'MANUAL_INTERVENTION');
    expect(await states(id)).toEqual({
      pay: 'UNKNOWN 1',
      then: 'BLOCKED 1',
      instead: 'BLOCKED 1',
      late: 'BLOCKED 1',
      undo: 'BLOCKED 1',
    });
    expect(desk.calls(id, 'submit')).toHaveLength(1);
    await consistent(id);

    // A person's retry sends it again under its old key, which its executor promises to be
    // harmless, and under no new one.
    desk.say(id, { recover: () => notLanded() });
    await own.api.act('retry', id);
    await own.api.reaches(id, 'COMPLETED');
    expect(desk.calls(id, 'submit')).toEqual([`${id}:pay:1`, `${id}:pay:1`]);
    await consistent(id);
  }, 90_000);

  test('stays unknown where the last try is used up: a retry never makes a failure of it', async () => {
    const id = await startMovement(
      await paying({ ...late, retry_policy: { max_attempts: 1 } }),
      HIDDEN,
    );
    await own.api.reaches(id, 'MANUAL_INTERVENTION');
    await own.api.act('retry', id);
    await own.api.nodeReaches(id, 'pay', ['UNKNOWN']);
    await own.api.reaches(id, 'MANUAL_INTERVENTION');
    expect(await states(id)).toMatchObject({ pay: 'UNKNOWN 1' });
    expect(desk.calls(id, 'submit')).toHaveLength(1);
    await consistent(id);
  }, 90_000);

  /** Accepted, and not found since: a person has to decide. */
  const hidden = async (more: object = {}): Promise<string> => {
    const id = await startMovement(await paying({ ...late, ...more }), HIDDEN);
    await own.api.reaches(id, 'MANUAL_INTERVENTION');
    desk.say(id, { recover: () => notLanded() });
    return id;
  };
  /** Waits until a retry has come to its end: the node is unknown again. */
  const unknownAgain = async (id: string): Promise<void> => {
    const times = async () =>
      (await own.api.timeline(id)).filter(({ event_type }) => event_type === 'node_unknown').length;
    await eventually(async () => ((await times()) >= 2 ? true : null), {
      what: () => 'a second node_unknown',
    });
    expect((await states(id))['pay']).toBe('UNKNOWN 1');
    expect(desk.calls(id, 'submit')).toHaveLength(1);
    await consistent(id);
  };

  test('its deadline to send no longer matters: a retry sends it again', async () => {
    const id = await hidden({ timeout_policy: { observe_seconds: 1, execution_seconds: 3_600 } });
    await own.query(
      "UPDATE movement_nodes SET started_at = started_at - interval '1 day' WHERE movement_id = $1",
      [id],
    );
    await own.api.act('retry', id);
    await own.api.reaches(id, 'COMPLETED');
    expect(await states(id)).toMatchObject({ pay: 'COMPLETED 1', late: 'SKIPPED 1' });
    expect(desk.calls(id, 'submit')).toEqual([`${id}:pay:1`, `${id}:pay:1`]);
    await consistent(id);
  }, 90_000);

  test('a retry that may not be sent now makes no failure of it, and no new key', async () => {
    const id = await hidden();
    const set = (status: string) =>
      own.query("UPDATE executors SET status = $1 WHERE executor_key = 'test.scripted'", [status]);
    await set('disabled');
    try {
      await own.api.act('retry', id);
      await unknownAgain(id);
      expect((await own.api.movement(id)).nodes[0]?.error_message).toContain('EXECUTOR_DISABLED');
      expect(await states(id)).toMatchObject({ late: 'BLOCKED 1', instead: 'BLOCKED 1' });
    } finally {
      await set('active');
    }
  }, 90_000);

  test('nor does a preflight that refuses it, where a restored database knows nothing of its preparation', async () => {
    const id = await hidden();
    await own.query(
      "UPDATE movement_nodes SET prepared_action = NULL, preflight_passed = false, restored = true WHERE movement_id = $1 AND node_key = 'pay'",
      [id],
    );
    desk.say(id, {
      preflight: () => failed('INSUFFICIENT_FUNDS', 'the account is empty'),
      recover: () => notLanded(),
    });
    await own.api.act('retry', id);
    await unknownAgain(id);
    expect((await own.api.movement(id)).nodes[0]?.error_message).toContain('INSUFFICIENT_FUNDS');
    expect(await own.api.movement(id)).toMatchObject({ reservation_status: 'held' });
  }, 90_000);

  test('nor does a retry after a cancel: it was not "cancelled before it was sent"', async () => {
    const id = await hidden();
    await own.api.act('cancel', id);
    await own.api.act('retry', id);
    await unknownAgain(id);
    expect(await own.api.movement(id)).toMatchObject({
      request_state: 'CANCELLED',
      reservation_status: 'held',
    });
  }, 90_000);

  test('nor a cancel while it waits to be sent again', async () => {
    // Long enough that the cancel comes within the pause, however slow the machine is.
    const id = await hidden({
      retry_policy: { max_attempts: 3, initial_interval_seconds: 20, max_interval_seconds: 20 },
    });
    await own.api.act('retry', id);
    await own.api.nodeReaches(id, 'pay', ['READY']);
    await eventually(async () => {
      const [row] = await own.query<{ recover_first: boolean }>(
        "SELECT recover_first FROM movement_nodes WHERE movement_id = $1 AND node_key = 'pay' AND state = 'READY'",
        [id],
      );
      return row?.recover_first === false ? true : null;
    });
    await own.api.act('cancel', id);
    expect(await own.api.movement(id)).toMatchObject({
      request_state: 'CANCELLED',
      reservation_status: 'held',
    });
    expect((await states(id))['pay']).toBe('READY 1');
    await own.api.nodeReaches(id, 'pay', ['UNKNOWN'], 60_000);
    expect(desk.calls(id, 'submit')).toHaveLength(1);
    await consistent(id);
  }, 120_000);

  test('what an executor without safe keys cannot find is not sent again, whoever asks', async () => {
    const id = await startMovement(await paying(late, 'scripted_unsafe'), HIDDEN);
    await own.api.reaches(id, 'MANUAL_INTERVENTION');
    const looks = desk.calls(id, 'recover').length;
    await own.api.act('retry', id);
    await own.api.reaches(id, 'MANUAL_INTERVENTION');
    expect(desk.calls(id, 'recover').length).toBeGreaterThan(looks);
    expect(desk.calls(id, 'submit')).toHaveLength(1);
    await consistent(id);
  }, 90_000);
});

/** As many looks as would have been an end once, and more. */
const MANY = 8;
const QUICK = {
  retry_policy: { max_attempts: 3, initial_interval_seconds: 0.1, max_interval_seconds: 0.2 },
};

const payOf = async (id: string) => (await own.api.movement(id)).nodes[0];
const waitForCalls = (id: string, phase: 'observe' | 'recover', times: number) =>
  eventually(async () => (desk.calls(id, phase).length >= times ? true : null), {
    what: () => `${times} calls of ${phase}`,
  });
const events = async (id: string) =>
  (await own.api.timeline(id)).map(({ event_type }) => event_type);

/**
 * How often a node has found the movement in a person's hands when it was to be sent, as its run
 * tells.
 */
async function closedFences(id: string, node: string): Promise<number> {
  const { events } = await own.temporal.workflow.getHandle(movementWorkflowId(id)).fetchHistory();
  const submits = (events ?? []).filter(({ userMetadata }) =>
    new RegExp(`^"${node} · .*submit`).test(text(userMetadata?.summary?.data)),
  );
  const answers = (events ?? []).flatMap(({ activityTaskCompletedEventAttributes: done }) =>
    done != null && submits.some(({ eventId }) => String(eventId) === String(done.scheduledEventId))
      ? [text(done.result?.payloads?.[0]?.data)]
      : [],
  );
  return answers.filter((answer) => answer.includes('"wait"')).length;
}
const text = (data: Uint8Array | null | undefined): string =>
  data == null ? '' : Buffer.from(data).toString();

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${own.stack.opsUrl}/metrics`)).text();
  return Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
}

describe('a venue that does not answer', () => {
  const observer = () => paying({ ...QUICK, node_kind: 'observe', has_side_effect: false });

  test.each([
    ['of a node that only looks', observer, { observe: AWAY }, 'observe', 0],
    ['of a payment that is observed', () => paying(QUICK), { observe: AWAY }, 'observe', 1],
    [
      'of a payment whose answer was lost',
      () => paying(QUICK),
      { submit: AWAY, recover: AWAY },
      'recover',
      1,
    ],
  ] as const)(
    '%s is called again until it answers, and that is shown',
    async (_what, template, script, phase, sends) => {
      const id = await startMovement(await template(), script);
      await waitForCalls(id, phase, MANY);
      expect((await own.api.movement(id)).request_state).toBe('EXECUTING');
      expect(await payOf(id)).toMatchObject({
        error_code: 'EXECUTOR_UNAVAILABLE',
        error_message: expect.stringContaining('away'),
      });
      await eventually(async () => ((await metric('svc_nodes_unanswered')) === 1 ? true : null), {
        what: () => 'the metric',
      });
      expect(await metric('svc_nodes_unanswered_oldest_seconds')).toBeGreaterThan(0);

      desk.say(id, { recover: () => completed() });
      await own.api.reaches(id, 'COMPLETED');
      expect(await payOf(id)).toMatchObject({
        state: 'COMPLETED',
        attempt: 1,
        error_code: null,
        error_message: null,
      });
      expect(desk.calls(id, 'submit')).toHaveLength(sends);
      const seen = await events(id);
      expect(seen).not.toContain('node_unknown');
      expect(seen).not.toContain('request_attention');
      await eventually(async () => ((await metric('svc_nodes_unanswered')) === 0 ? true : null), {
        what: () => 'the metric',
      });
      await consistent(id);
    },
    90_000,
  );

  test('and stays away: the pause grows, and after a time-out a person has to decide', async () => {
    const id = await startMovement(
      await paying({ ...QUICK, timeout_policy: { observe_seconds: 1 } }),
      {
        observe: AWAY,
        recover: AWAY,
      },
    );
    await own.api.reaches(id, 'MANUAL_INTERVENTION');
    expect(await payOf(id)).toMatchObject({
      state: 'UNKNOWN',
      error_code: 'RECOVERY_INCONCLUSIVE',
    });
    expect(await states(id)).toMatchObject({ instead: 'BLOCKED 1', late: 'BLOCKED 1' });
    await consistent(id);
  }, 90_000);
});

describe('a node that is unknown', () => {
  const CANNOT_TELL: Script = { submit: AWAY, recover: () => unknown('the books are closed') };
  const few = { retry_policy: { max_attempts: 2, initial_interval_seconds: 0.1 } };

  test('keeps others from being sent only until a proof moves it: then they are sent without a wake', async () => {
    const scripted = { action_type: 'scripted', executor_selector: { action_type: 'scripted' } };
    const nodes = [
      noop('begin'),
      { node_key: 'pay', node_kind: 'action', has_side_effect: true, ...scripted, ...few },
      { node_key: 'look', node_kind: 'observe', has_side_effect: false, ...scripted },
      noop('beside'),
    ];
    const edges = [edge('begin', 'pay'), edge('begin', 'look'), edge('look', 'beside')];
    const id = await startMovement(
      await storeTemplate(own.api, nodes, { edges, assurance: 'provider_completed' }),
      {
        ...CANNOT_TELL,
        observe: () => pending(0.2),
      },
    );
    await own.api.reaches(id, 'MANUAL_INTERVENTION');
    desk.say(id, { ...CANNOT_TELL, observe: () => completed() });
    // It has come to its fence, and waits there.
    await eventually(async () => ((await closedFences(id, 'beside')) > 0 ? true : null), {
      what: () => 'the fence',
    });
    expect(await states(id)).toMatchObject({ pay: 'UNKNOWN 1', beside: 'READY 1' });
    desk.say(id, { recover: () => completed() });
    await own.api.reaches(id, 'COMPLETED', 120_000);
    expect(await states(id)).toMatchObject({ pay: 'COMPLETED 1', beside: 'COMPLETED 1' });
    await consistent(id);
  }, 240_000);

  test('is looked at again and again until a proof moves it, without a person', async () => {
    const template = await paying(few);
    const [landed, ended, underWay, nothing, called] = await Promise.all(
      Array.from({ length: 5 }, () => startMovement(template, CANNOT_TELL)),
    );
    // This one got no answer for long.
    const silent = await startMovement(await paying(QUICK), { submit: AWAY, recover: AWAY });
    const all = [landed!, ended!, underWay!, nothing!, called!, silent];
    for (const id of all) await own.api.reaches(id, 'MANUAL_INTERVENTION');
    await own.api.act('cancel', called!);

    const looks = desk.calls(nothing!, 'recover').length;
    desk.say(landed!, { recover: () => completed({ output: { paid: '5' } }) });
    desk.say(ended!, { recover: () => failed('RETURNED', 'it came back') });
    desk.say(underWay!, { recover: () => accepted('found'), observe: () => completed() });
    desk.say(nothing!, { recover: () => notLanded() });
    desk.say(called!, { recover: () => completed() });
    desk.say(silent, { recover: () => completed() });

    for (const id of [landed!, underWay!, silent, ended!])
      await own.api.reaches(id, 'COMPLETED', 150_000);
    expect(await states(landed!)).toMatchObject({
      pay: 'COMPLETED 1',
      then: 'COMPLETED 1',
      instead: 'SKIPPED 1',
    });
    expect(await states(underWay!)).toMatchObject({ pay: 'COMPLETED 1', then: 'COMPLETED 1' });
    expect(await states(silent)).toMatchObject({ pay: 'COMPLETED 1', then: 'COMPLETED 1' });
    expect(await states(ended!)).toMatchObject({
      pay: 'FAILED 1',
      then: 'SKIPPED 1',
      instead: 'COMPLETED 1',
    });
    await own.api.nodeReaches(called!, 'undo', ['COMPLETED']);
    expect(await states(called!)).toMatchObject({ pay: 'COMPLETED 1', then: 'CANCELLED 1' });

    // That nothing is found moves nothing, and above all sends nothing: a person may have it sent
    // again under its old key.
    await waitForCalls(nothing!, 'recover', looks + 1);
    await eventually(async () =>
      (await payOf(nothing!))?.error_message?.includes('retry') === true ? true : null,
    );
    expect(await states(nothing!)).toMatchObject({ pay: 'UNKNOWN 1' });
    for (const id of all) expect(desk.calls(id, 'submit')).toHaveLength(1);
    desk.say(nothing!, {});
    await own.api.act('retry', nothing!);
    await own.api.reaches(nothing!, 'COMPLETED');
    expect(desk.calls(nothing!, 'submit')).toEqual([`${nothing!}:pay:1`, `${nothing!}:pay:1`]);
    for (const id of all) await consistent(id);
  }, 240_000);
});
