/** Callbacks over HTTP. The shared stack lists no host, so each is a dead letter from the start. */
import { randomUUID } from 'node:crypto';
import {
  act,
  auditOfRequest,
  create,
  detail,
  expectInvalid,
  expectRefusal,
  get,
  must,
  noop,
  post,
  registered,
  sql,
  timeline,
  waitFor,
  type TemplateView,
} from '../support/http.ts';

interface View {
  readonly event_id: string;
  readonly movement_id: string;
  readonly nonce: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}
interface Page {
  readonly callbacks: readonly View[];
  readonly next_cursor: string | null;
}

const UNKNOWN_ID = '01938a5e-7c00-7b3a-9d2f-5b1c7e8a4f10';
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown;
const list = (query: string): Promise<Page> => must(200, get<Page>(`/callbacks?${query}`));
const redeliver = (eventId: string, request = randomUUID()) =>
  post<View>(`/callbacks/${eventId}/redeliver`, undefined, { 'x-request-id': request });

let of: TemplateView;
beforeAll(async () => {
  of = await registered([noop('a')]);
});

/** A rejected movement and its one callback. */
async function rejected(callback_url = 'https://hooks.example/in'): Promise<View> {
  const { movement_id } = await create(of, { callback_url });
  await must(200, act(movement_id, 'reject', {}));
  const { callbacks } = await list(`movement_id=${movement_id}`);
  expect(callbacks).toHaveLength(1);
  return callbacks[0]!;
}

describe('the list', () => {
  test('shows everything about a callback, its query aside', async () => {
    const view = await rejected('https://Hooks.Example/in?token=hidden#here');
    const { movement_id, event_id } = view;
    const event = (await timeline(movement_id)).find(
      (each) => each.event_type === 'request_rejected',
    );
    expect(view).toEqual({
      event_id,
      movement_id,
      transfer_id: null,
      webhook: null,
      event_type: 'request_rejected',
      sequence: event?.sequence,
      url: 'https://hooks.example/in?[redacted]',
      payload: {
        event_id,
        event_type: 'request_rejected',
        movement_id,
        request_state: 'REJECTED',
        current_frontier: expect.any(Array),
        node_key: null,
        error_code: null,
        sequence: event?.sequence,
        occurred_at: event?.occurred_at,
      },
      nonce: expect.any(String),
      status: 'dead_letter',
      attempts: 0,
      next_attempt_at: null,
      last_error: 'host_not_allowed',
      created_at: TIME,
      updated_at: TIME,
    });
    expect((await timeline(movement_id)).at(-1)).toMatchObject({
      event_type: 'callback_dead_lettered',
      data: {
        callback_event_id: event_id,
        callback_event_type: 'request_rejected',
        attempts: 0,
        reason: 'host_not_allowed',
      },
    });
    expect(await detail(movement_id)).toMatchObject({
      callbacks: { pending: 0, delivered: 0, dead_letter: 1 },
    });
  });

  test('is filtered by status and movement', async () => {
    const { movement_id, event_id } = await rejected();
    expect(
      (await list(`status=dead_letter&movement_id=${movement_id}`)).callbacks.map(
        (each) => each.event_id,
      ),
    ).toEqual([event_id]);
    expect((await list(`status=delivered&movement_id=${movement_id}`)).callbacks).toEqual([]);
    expect(
      (await list('status=dead_letter&limit=200')).callbacks.every(
        ({ status }) => status === 'dead_letter',
      ),
    ).toBe(true);
    expect(await list(`movement_id=${UNKNOWN_ID}`)).toEqual({ callbacks: [], next_cursor: null });
  });

  test('comes in pages, newest first, stable under inserts', async () => {
    const made = [await rejected(), await rejected(), await rejected()];
    const first = await list('limit=2');
    await rejected();
    const second = await list(`limit=2&cursor=${first.next_cursor}`);
    const ids = [...first.callbacks, ...second.callbacks].map(({ event_id }) => event_id);
    expect(ids.slice(0, 3)).toEqual(made.map(({ event_id }) => event_id).reverse());
    expect(new Set(ids).size).toBe(ids.length);
  });

  test.each([
    ['status=lost', 'status'],
    ['movement_id=x', 'movement_id'],
    ['limit=0', 'limit'],
    ['limit=201', 'limit'],
    ['cursor=x', 'cursor'],
    ['state=pending', 'state'],
  ])('refuses ?%s', async (query, path) => {
    expectInvalid(await get(`/callbacks?${query}`), path);
  });
});

describe('a redelivery', () => {
  test('puts a dead letter back with payload and nonce as they were, audited; still not listed, it is one again', async () => {
    const dead = await rejected();
    const request = randomUUID();
    const back = await must(200, redeliver(dead.event_id, request));
    expect(back).toEqual({
      ...dead,
      status: 'pending',
      attempts: 0,
      last_error: null,
      next_attempt_at: TIME,
      updated_at: TIME,
    });
    expect(await auditOfRequest(request)).toEqual([
      {
        action: 'callback.redeliver',
        entity_type: 'callback',
        entity_key: dead.event_id,
        outcome: 'success',
        reason: null,
        request_id: request,
        details: {
          previous_status: 'dead_letter',
          previous_attempts: 0,
          last_error: 'host_not_allowed',
        },
      },
    ]);
    await waitFor(
      async () =>
        (await list(`movement_id=${dead.movement_id}`)).callbacks[0]?.['status'] === 'dead_letter',
    );
    const types = (await timeline(dead.movement_id)).map(({ event_type }) => event_type);
    expect(types.filter((type) => type === 'callback_dead_lettered')).toHaveLength(2);
  });

  test.each(['delivered', 'pending'])(
    'of one that is %s is refused and audited',
    async (status) => {
      const { event_id } = await rejected();
      await sql(
        "UPDATE callbacks SET status = $2, next_attempt_at = now() + interval '1 day' WHERE event_id = $1",
        [event_id, status],
      );
      const request = randomUUID();
      expectRefusal(await redeliver(event_id, request), 409, 'invalid_state', {
        event_id,
        current_state: status,
        allowed_states: ['dead_letter'],
      });
      expect(await auditOfRequest(request)).toMatchObject([
        { action: 'callback.redeliver', outcome: 'denied', reason: 'invalid_state' },
      ]);
      expect(await sql('SELECT status FROM callbacks WHERE event_id = $1', [event_id])).toEqual([
        { status },
      ]);
    },
  );

  test('of an unknown event is 404, of a malformed id 422, and its body is strict', async () => {
    expectRefusal(await redeliver(UNKNOWN_ID), 404, 'callback_not_found', { event_id: UNKNOWN_ID });
    expectInvalid(await redeliver('x'), 'event_id');
    expectInvalid(await post(`/callbacks/${UNKNOWN_ID}/redeliver`, { now: true }), 'now');
  });
});
