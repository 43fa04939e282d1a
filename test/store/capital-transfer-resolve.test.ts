/** A person may say that a transfer has failed only when that can be known. */
import { pino } from 'pino';
import { createApi } from '../../api/app.ts';
import { resolve } from '../../api/capital-transfers/resolve.ts';
import { capitalTransferRoutes } from '../../api/capital-transfers/routes.ts';
import type { ApiDependencies } from '../../api/dependencies.ts';
import { transferAttention } from '../../domain/capital-transfers/attention.ts';
import type { TransferProvider } from '../../domain/capital-transfers/provider.ts';
import { resolved, submitting, takenOver } from '../../domain/capital-transfers/step.ts';
import { ExecutorFault } from '../../domain/executor.ts';
import { VENUE_ENTRY_CHANGED } from '../../domain/send/at-venue.ts';
import { applyTransferStep } from '../../store/capital-transfer-steps.ts';
import { readTransfer, readTransferEvents } from '../../store/capital-transfers.ts';
import { dependencies, post, serve } from '../api/support.ts';
import { started } from '../support/started.ts';
import { storeBench } from './support.ts';
import { transferDesk, type NewTransferOfTest } from './capital-transfer-desk.ts';

type Find = TransferProvider['find'];

const bench = storeBench();
const api = started(() =>
  serve(createApi({ ...dependencies(), db: bench.db }, capitalTransferRoutes)),
);

const SETTLE_SECONDS = 60;
const REQUESTER = {
  caller: { client_id: null, key_id: null, role: 'operator' },
  request_id: 'r',
} as const;

function resolveAs(
  transfer_id: string,
  resolution: 'completed' | 'failed' | 'manual_intervention',
  settle: { readonly seconds?: number } = { seconds: SETTLE_SECONDS },
  more: Pick<ApiDependencies, 'redact'> = {},
) {
  const transfers = {
    accounts: [],
    settleSeconds: () => settle.seconds,
    handOver: () => undefined,
  };
  const deps = {
    db: bench.db,
    log: pino({ level: 'silent' }),
    transfers,
    ...more,
  } as unknown as ApiDependencies;
  return resolve(
    { params: { transfer_id }, body: { resolution, reason: 'x' }, requester: REQUESTER as never },
    deps,
  );
}

/** A transfer whose one send gave no answer, and which says that its call is over. */
async function unanswered(more: NewTransferOfTest = {}, provider: Partial<TransferProvider> = {}) {
  const desk = transferDesk(bench, provider);
  const id = await desk.made(more);
  await applyTransferStep(bench.db, submitting(await desk.row(id), 5, 900));
  await applyTransferStep(bench.db, takenOver(await desk.row(id), 900, { isOver: true }));
  return { desk, id };
}

test('not while the provider may still come to show what was sent, though the call is over', async () => {
  const { desk, id } = await unanswered();
  await expect(resolveAs(id, 'failed')).rejects.toMatchObject({
    code: 'invalid_state',
    message: expect.stringMatching(/in (59|60) s/),
  });
  expect((await desk.row(id)).state).toBe('PENDING_PROVIDER_CONFIRMATION');
  await bench.sql(
    "UPDATE capital_transfers SET send_not_after = send_not_after - interval '61 seconds' WHERE transfer_id = $1::uuid",
    id,
  );
  expect(await resolveAs(id, 'failed')).toMatchObject({ body: { request_state: 'FAILED' } });
});

test('that it was moved, or that it is open, can be said at once', async () => {
  const { id } = await unanswered();
  expect(await resolveAs(id, 'manual_intervention')).toMatchObject({
    body: { request_state: 'MANUAL_INTERVENTION' },
  });
  expect(await resolveAs(id, 'completed')).toMatchObject({ body: { request_state: 'COMPLETED' } });
});

const PENDING = { status: 'pending', provider_transfer_id: 'p' } as const;

const away: Find = () => Promise.reject(new ExecutorFault('unreachable', 'AWAY', 'away'));
const fault = (code: string, message = 'm'): Find => {
  return () => Promise.reject(new ExecutorFault('protocol', code, message));
};
/** Moves the time from which a record may still appear into the past. */
const earlier = (id: string, seconds: number) =>
  bench.sql(
    'UPDATE capital_transfers SET send_not_after = send_not_after - make_interval(secs => $2) WHERE transfer_id = $1::uuid',
    id,
    seconds,
  );
/** A transfer that its provider has shown as pending, and what its next looks meet. */
async function pendingOne() {
  let find: Find = () => Promise.resolve(PENDING);
  const { desk, id } = await unanswered({}, { find: (order, call) => find(order, call) });
  await desk.look(id);
  return {
    desk,
    id,
    looks: async (next: Find) => {
      find = next;
      await expect(desk.look(id)).rejects.toMatchObject({ type: 'NOT_YET' });
    },
    isOpen: () =>
      expect(resolveAs(id, 'failed')).rejects.toMatchObject({ code: 'send_still_open' }),
  };
}

test('not while the provider shows it as pending, also with a person, but once it shows no record of it', async () => {
  const nothing: Find = () => Promise.resolve(null);
  const { desk, id, looks, isOpen } = await pendingOne();
  await isOpen();
  await looks(nothing);
  const before = await desk.row(id);
  expect(before).toMatchObject({ acknowledged: true, pending_at_provider: false });
  await looks(() => Promise.resolve(PENDING));
  // Whoever has read the row before that look.
  const word = resolved(before, { resolution: 'failed', reason: 'x' }, REQUESTER);
  expect(await applyTransferStep(bench.db, word)).toMatchObject({ ok: false });
  await resolveAs(id, 'manual_intervention');
  await isOpen();
  // The send was over long ago.
  await earlier(id, 3_600);
  await looks(nothing);
  // A list may lag, so what was shown once may appear again.
  await expect(resolveAs(id, 'failed')).rejects.toMatchObject({
    code: 'invalid_state',
    message: expect.stringMatching(/in (59|60) s/),
  });
  await looks(nothing);
  await earlier(id, 61);
  expect(await resolveAs(id, 'failed')).toMatchObject({ body: { request_state: 'FAILED' } });
});

test.each<[string, Find]>([
  ['that is unreachable', away],
  ['that breaks', () => Promise.reject(new TypeError('a bug'))],
  ['that keeps no history of that time', fault('HISTORY_TOO_OLD')],
])('not once it was shown as pending, by a look at a provider %s', async (_what, broken) => {
  const { desk, id, looks, isOpen } = await pendingOne();
  await earlier(id, 3_600);
  await looks(broken);
  await isOpen();
  await resolveAs(id, 'manual_intervention');
  await looks(broken);
  await isOpen();
  expect(await desk.row(id)).toMatchObject({ pending_at_provider: true });
});

test('not once it was shown as pending, by a look of a worker without its accounts', async () => {
  const { desk, id, isOpen } = await pendingOne();
  await bench.sql(
    "UPDATE capital_transfers SET provider = 'another' WHERE transfer_id = $1::uuid",
    id,
  );
  await earlier(id, 3_600);
  await expect(desk.look(id)).rejects.toMatchObject({ type: 'NOT_YET' });
  await isOpen();
});

describe('what the provider shows otherwise than ordered', () => {
  const codes = ['TRANSFER_DUPLICATED', 'TRANSFER_MISMATCH'];
  const shownBy = async (id: string) => {
    const record = await readTransfer(bench.db, id);
    if (record === null) throw new Error(`no transfer ${id}`);
    return record;
  };

  test.each(codes)('is a person’s at once with %s, and never said to have failed', async (code) => {
    let find = fault(code, 'the exchange shows 2 transfers');
    const { desk, id } = await unanswered(
      { callback_url: 'https://hooks.example/in' },
      { find: (order, call) => find(order, call) },
    );
    await earlier(id, 3_600);
    expect(await desk.look(id)).toMatchObject({ next: 'load' });
    const error = { error_code: code, error_message: 'the exchange shows 2 transfers' };
    const record = await shownBy(id);
    expect(record).toMatchObject({ request_state: 'MANUAL_INTERVENTION', ...error });
    expect(transferAttention(record)).toMatchObject({
      message: expect.stringContaining('otherwise than ordered'),
      last_answer: error.error_message,
    });
    expect((await readTransferEvents(bench.db, id)).at(-1)).toMatchObject({
      event_type: 'transfer_attention',
      data: { error_code: code },
    });
    expect(
      await bench.sql(
        "SELECT payload::jsonb ->> 'error_code' AS code FROM callbacks WHERE transfer_id = $1::uuid",
        id,
      ),
    ).toEqual([{ code }]);
    const isOpen = () =>
      expect(resolveAs(id, 'failed')).rejects.toMatchObject({
        code: 'send_still_open',
        message: expect.stringContaining(code),
      });
    await isOpen();
    // Neither the same answer nor silence nor the end of its history changes anything.
    const events = (await readTransferEvents(bench.db, id)).length;
    for (const next of [find, away, fault('HISTORY_TOO_OLD')]) {
      find = next;
      await expect(desk.look(id)).rejects.toMatchObject({ type: 'NOT_YET' });
      expect(await shownBy(id)).toMatchObject(error);
      await isOpen();
    }
    // Nor does another text make the next look at once; it is shown.
    find = fault(code, 'in another order');
    await expect(desk.look(id)).rejects.toMatchObject({ type: 'NOT_YET' });
    expect(await shownBy(id)).toMatchObject({ ...error, error_message: 'in another order' });
    expect(await readTransferEvents(bench.db, id)).toHaveLength(events);
    find = () => Promise.resolve(null);
    await expect(desk.look(id)).rejects.toMatchObject({ type: 'NOT_YET' });
    expect(await shownBy(id)).toMatchObject({
      error_code: 'PROVIDER_CONFIRMATION_TIMEOUT',
      error_message: expect.stringContaining('no record'),
    });
    await earlier(id, 61);
    expect(await resolveAs(id, 'failed')).toMatchObject({ body: { request_state: 'FAILED' } });
  });

  test('is kept where a person has it already', async () => {
    const { desk, id } = await unanswered({}, { find: fault('TRANSFER_DUPLICATED') });
    await earlier(id, 3_600);
    await resolveAs(id, 'manual_intervention');
    expect(await desk.look(id)).toMatchObject({ next: 'load' });
    expect(await shownBy(id)).toMatchObject({ error_code: 'TRANSFER_DUPLICATED' });
    await expect(resolveAs(id, 'failed')).rejects.toMatchObject({ code: 'send_still_open' });
    expect(await resolveAs(id, 'completed')).toMatchObject({
      body: { request_state: 'COMPLETED', error_code: null },
    });
  });
});

describe('while its venue keys mean other accounts than at its creation', () => {
  const words = 'the venues file says [b] now, but the send was made under [a]';
  const elsewhere: Find = () =>
    Promise.reject(new ExecutorFault('not_yet', VENUE_ENTRY_CHANGED, words));
  const isRefused = (id: string) =>
    expect(resolveAs(id, 'failed')).rejects.toMatchObject({
      code: 'venue_entry_changed',
      message: expect.stringContaining('Point the entries back to [a]'),
    });
  /** One that no look can see. `next` is its next look, and `meets` one that changes nothing. */
  async function unseen({ same_key_safe = false } = {}) {
    let find = elsewhere;
    const { desk, id } = await unanswered(
      { venue_entries: 'a' },
      { same_key_safe, find: (order, call) => find(order, call) },
    );
    await earlier(id, 3_600);
    const before = await desk.row(id);
    const next = (answer: Find) => {
      find = answer;
      return desk.look(id);
    };
    const meets = (answer: Find): Promise<void> =>
      expect(next(answer)).rejects.toMatchObject({ type: 'NOT_YET' });
    await meets(elsewhere);
    return { desk, id, before, next, meets };
  }

  test('it is never said to have failed, whoever has it and read it before', async () => {
    const { desk, id, before, meets } = await unseen();
    const shown = {
      error_code: VENUE_ENTRY_CHANGED,
      error_message: expect.stringContaining(words),
    };
    expect(await desk.row(id)).toMatchObject({ state: 'PENDING_PROVIDER_CONFIRMATION', ...shown });
    await isRefused(id);
    const word = resolved(before, { resolution: 'failed', reason: 'x' }, REQUESTER);
    expect(await applyTransferStep(bench.db, word)).toMatchObject({ ok: false });
    await bench.sql(
      "UPDATE capital_transfers SET pending_until = svc_now() - interval '1 second' WHERE transfer_id = $1::uuid",
      id,
    );
    expect(await desk.look(id)).toMatchObject({ next: 'load' });
    const record = await readTransfer(bench.db, id);
    expect(record).toMatchObject({ request_state: 'MANUAL_INTERVENTION', ...shown });
    expect(transferAttention(record!)).toMatchObject({
      message: expect.stringContaining('mean other accounts'),
    });
    await isRefused(id);
    await meets(elsewhere);
    // A worker that is not bound to its accounts has compared none.
    await bench.sql(
      "UPDATE capital_transfers SET provider = 'another' WHERE transfer_id = $1::uuid",
      id,
    );
    await meets(away);
    expect(await desk.row(id)).toMatchObject({ error_code: VENUE_ENTRY_CHANGED });
    await isRefused(id);
    expect(await resolveAs(id, 'completed')).toMatchObject({
      body: { request_state: 'COMPLETED', error_code: null },
    });
  });

  test.each(['VENUE_MISMATCH', 'EXECUTOR_UNREACHABLE', 'TOKEN_UNREADABLE'])(
    'a look that may have compared nothing (%s) takes nothing back',
    async (code) => {
      const { desk, id, meets } = await unseen();
      await meets(fault(code));
      expect(await desk.row(id)).toMatchObject({ error_code: VENUE_ENTRY_CHANGED });
      await isRefused(id);
    },
  );

  test('a look that a defect ends takes nothing back', async () => {
    const { desk, id, meets } = await unseen();
    await meets(() => Promise.reject(new TypeError('a defect')));
    expect(await desk.row(id)).toMatchObject({ error_code: VENUE_ENTRY_CHANGED });
    await isRefused(id);
  });

  test('the refusal shows no secret that the process knows', async () => {
    const { id } = await unseen();
    const redact = (text: string): string => text.replace('[a]', '[x]');
    await expect(
      resolveAs(id, 'failed', { seconds: SETTLE_SECONDS }, { redact }),
    ).rejects.toMatchObject({ message: expect.stringContaining('Point the entries back to [x]') });
  });

  test('the API says so, and what to do', async () => {
    const { id } = await unseen();
    const path = `/v3/capital-transfers/${id}/actions/resolve`;
    const body = { resolution: 'failed', reason: 'the statement shows none' };
    expect(await post(`${api.url}${path}`, body)).toMatchObject({
      status: 409,
      body: {
        detail: {
          error: 'venue_entry_changed',
          message: expect.stringMatching(/Point the entries back to \[a\].*completed/),
        },
      },
    });
  });

  test.each<[string, Find]>([
    ['silence', away],
    ['no record', () => Promise.resolve(null)],
  ])('any later answer ends that: %s', async (_what, next) => {
    const waiting = await unseen();
    await waiting.meets(next);
    expect(await waiting.desk.row(waiting.id)).toMatchObject({
      state: 'PENDING_PROVIDER_CONFIRMATION',
      error_code: null,
      error_message: null,
    });
    expect(await resolveAs(waiting.id, 'failed')).toMatchObject({
      body: { request_state: 'FAILED' },
    });
    const { desk, id, meets } = await unseen();
    await resolveAs(id, 'manual_intervention');
    await meets(elsewhere);
    await isRefused(id);
    await meets(next);
    expect(await desk.row(id)).toMatchObject({
      state: 'MANUAL_INTERVENTION',
      error_code: 'PROVIDER_CONFIRMATION_TIMEOUT',
      error_message: expect.not.stringContaining(words),
    });
    expect(await resolveAs(id, 'failed')).toMatchObject({ body: { request_state: 'FAILED' } });
  });

  test('so does one that a send follows', async () => {
    const { desk, id, next } = await unseen({ same_key_safe: true });
    expect(await next(() => Promise.resolve(null))).toMatchObject({ next: 'submit' });
    expect(await desk.row(id)).toMatchObject({ error_code: null });
  });
});

test('one that was never sent can be stopped, and said to be nothing else', async () => {
  const desk = transferDesk(bench, {});
  const id = await desk.made();
  const { epoch } = await desk.row(id);
  for (const resolution of ['completed', 'manual_intervention'] as const)
    await expect(resolveAs(id, resolution)).rejects.toMatchObject({ code: 'invalid_state' });
  expect(await resolveAs(id, 'failed')).toMatchObject({
    body: { request_state: 'FAILED', error_code: 'RESOLVED_AS_FAILED' },
  });
  // The provider of this desk takes no order.
  await desk.submit(id, epoch);
  expect(await desk.row(id)).toMatchObject({ state: 'FAILED', sends: 0 });
  expect(
    await bench.sql('SELECT status FROM reservations WHERE transfer_id = $1::uuid', id),
  ).toEqual([{ status: 'released' }]);
});

test('that it was moved can be said while the provider shows it as pending', async () => {
  const { desk, id } = await unanswered({}, { find: () => Promise.resolve(PENDING) });
  await desk.look(id);
  expect(await resolveAs(id, 'completed')).toMatchObject({ body: { request_state: 'COMPLETED' } });
});

test('of a provider whose venues are unbound, after the longest possible transfer', async () => {
  const { desk, id } = await unanswered();
  const unbound = () => resolveAs(id, 'failed', {});
  await earlier(id, 3_600);
  await expect(unbound()).rejects.toMatchObject({
    code: 'invalid_state',
    message: expect.stringMatching(/in (82799|82800) s/),
  });
  expect((await desk.row(id)).state).toBe('PENDING_PROVIDER_CONFIRMATION');
  await earlier(id, 86_400);
  expect(await unbound()).toMatchObject({ body: { request_state: 'FAILED' } });
});

test('that it is open is called back once, by whoever said so first', async () => {
  const { id } = await unanswered({ callback_url: 'https://hooks.example/in' });
  const called = () =>
    bench.sql(
      `SELECT c.event_type, e.event_type AS event, c.payload::jsonb ->> 'transfer_id' AS of
        FROM callbacks c JOIN capital_transfer_events e USING (event_id)
        WHERE c.transfer_id = $1::uuid`,
      id,
    );
  expect(await called()).toEqual([]);
  await resolveAs(id, 'manual_intervention');
  await resolveAs(id, 'manual_intervention');
  await resolveAs(id, 'completed');
  expect(await called()).toEqual([
    { event_type: 'request_attention', event: 'transfer_resolved', of: id },
  ]);
});
