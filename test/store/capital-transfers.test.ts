/** What providers say, and how they break, may neither strand a transfer nor end it wrongly. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { TransferAnswer, TransferOrder } from '../../domain/capital-transfers/provider.ts';
import { ExecutorFault } from '../../domain/executor.ts';
import { resolved, submitting } from '../../domain/capital-transfers/step.ts';
import { applyTransferStep } from '../../store/capital-transfer-steps.ts';
import { readTransfer, readTransferEvents } from '../../store/capital-transfers.ts';
import { storeBench } from './support.ts';
import { transferDesk } from './capital-transfer-desk.ts';

const bench = storeBench();

const lost = new ExecutorFault('unreachable', 'LOST', 'no answer');
const answering = (answer: TransferAnswer) => ({ submit: () => Promise.resolve(answer) });
const PAIR = '\u{1f4b8}';
const overdue = (id: string) =>
  bench.sql(
    "UPDATE capital_transfers SET pending_until = now() - interval '1 second' WHERE transfer_id = $1::uuid",
    id,
  );

describe('texts of a provider', () => {
  test.each([
    ['holds NUL', 'no\0 funds', 'no funds'],
    ['holds half of a surrogate pair', 'no \ud83d funds', 'no funds'],
    ['is cut in the middle of a pair', 'x'.repeat(999) + PAIR, 'x'.repeat(999)],
    ['is huge', 'y'.repeat(200_000), 'y'.repeat(1_000)],
    ['clears the screen', '\u001b[2Jno\r\nfunds', '[2Jno funds'],
    ['is empty', '', ''],
  ])('a message that %s ends the transfer all the same', async (_what, error_message, kept) => {
    const desk = transferDesk(
      bench,
      answering({ status: 'failed', error_code: 'NO_FUNDS', error_message }),
    );
    const id = await desk.made();
    await desk.submit(id);
    const read = await readTransfer(bench.db, id);
    expect(read).toMatchObject({ request_state: 'FAILED', error_code: 'NO_FUNDS' });
    expect(read?.error_message?.replace(/ +/g, ' ')).toBe(kept);
    expect((await readTransferEvents(bench.db, id)).at(-1)?.message.length).toBeLessThan(1_100);
  });

  test.each([
    ['is empty', '', null],
    ['is 10 kB', 'z'.repeat(10_240), 'z'.repeat(256)],
    ['holds NUL', 'a\0b', 'a b'],
    ['is cut in the middle of a pair', 'i'.repeat(255) + PAIR, 'i'.repeat(255)],
  ])(
    'an id of its record that %s is kept as it can be',
    async (_what, provider_transfer_id, kept) => {
      const desk = transferDesk(bench, answering({ status: 'completed', provider_transfer_id }));
      const id = await desk.made();
      await desk.submit(id);
      expect(await readTransfer(bench.db, id)).toMatchObject({
        request_state: 'COMPLETED',
        provider_transfer_id: kept,
      });
      const data = (await readTransferEvents(bench.db, id)).at(-1)?.data;
      expect(data).toEqual(kept === null ? {} : { provider_transfer_id: kept });
    },
  );

  test('an error code without anything to show is named', async () => {
    const desk = transferDesk(
      bench,
      answering({ status: 'failed', error_code: '\0', error_message: 'why' }),
    );
    const id = await desk.made();
    await desk.submit(id);
    expect(await readTransfer(bench.db, id)).toMatchObject({
      request_state: 'FAILED',
      error_code: 'TRANSFER_FAILED',
    });
  });
});

describe('a provider that breaks', () => {
  test('other than by a fault, when read, is waited for, then left to a person', async () => {
    const broken = {
      submit: () => Promise.reject(lost),
      find: () => Promise.reject(new TypeError('a bug')),
    };
    const desk = transferDesk(bench, broken);
    const id = await desk.made();
    await desk.submit(id);
    await expect(desk.look(id)).rejects.toMatchObject({ type: 'NOT_YET' });
    await overdue(id);
    await desk.look(id);
    expect((await desk.row(id)).state).toBe('MANUAL_INTERVENTION');
  });

  test('by a fault is shown with it to the person who decides, and with the newest one', async () => {
    let said = new ExecutorFault('rejected', 'KEY_EXPIRED', 'the key\0is old');
    const desk = transferDesk(bench, {
      submit: () => Promise.reject(lost),
      find: () => Promise.reject(said),
    });
    const id = await desk.made();
    await desk.submit(id);
    await overdue(id);
    await desk.look(id);
    const waited = 'Waited 900 s: the provider does not answer';
    const shown = async (message: string) => {
      expect(await readTransfer(bench.db, id)).toMatchObject({
        request_state: 'MANUAL_INTERVENTION',
        error_code: 'PROVIDER_CONFIRMATION_TIMEOUT',
        error_message: message,
      });
      // A look that brings nothing new writes nothing.
      const version = 'SELECT xmin::text AS at FROM capital_transfers WHERE transfer_id = $1::uuid';
      const written = await bench.sql(version, id);
      const again = await desk.look(id).catch((error: unknown) => error);
      // What the provider says goes into no history.
      expect(again).toMatchObject({ type: 'NOT_YET', message: 'the provider does not answer' });
      expect(await bench.sql(version, id)).toEqual(written);
    };
    await shown(`${waited}: KEY_EXPIRED: the key is old`);
    said = new ExecutorFault('unreachable', 'AWAY', 'no answer');
    await expect(desk.look(id)).rejects.toMatchObject({ type: 'NOT_YET' });
    await shown(`${waited}: AWAY: no answer`);
  });

  test('in such a way during a send is looked up', async () => {
    const desk = transferDesk(bench, {
      submit: () => Promise.reject(new TypeError('a bug')),
      find: () => Promise.resolve({ status: 'completed' }),
    });
    const id = await desk.made();
    await desk.submit(id).catch(() => undefined);
    await desk.look(id);
    expect((await desk.row(id)).state).toBe('COMPLETED');
  });
});

test.each([
  ['this process', true],
  ['another process', false],
])('a send by %s without an answer: it is over at once: %s', async (_by, in_process) => {
  const lossy = { submit: () => Promise.reject(lost), find: () => Promise.resolve(null) };
  const desk = transferDesk(bench, { ...lossy, in_process, timeout_seconds: 600 });
  const id = await desk.made();
  await desk.submit(id);
  const { send_left_ms } = await desk.row(id);
  if (in_process) {
    expect(send_left_ms).toBeLessThanOrEqual(0);
    expect(await desk.look(id)).toMatchObject({ next: 'submit' });
    return;
  }
  // The other process may still send, so that no record is there proves nothing.
  expect(send_left_ms).toBeGreaterThan(500_000);
  await expect(desk.look(id)).rejects.toMatchObject({ type: 'NOT_YET' });
  expect(await desk.row(id)).toMatchObject({ state: 'PENDING_PROVIDER_CONFIRMATION', sends: 1 });
});

test('a provider is called about the accounts for which the transfer was created', async () => {
  const orders: TransferOrder[] = [];
  const desk = transferDesk(bench, {
    submit: (order) => {
      orders.push(order);
      return Promise.reject(lost);
    },
    find: (order) => {
      orders.push(order);
      return Promise.resolve(null);
    },
  });
  const named = await desk.made({ venue_entries: 'a: x account 1' });
  await desk.submit(named);
  await desk.look(named);
  await desk.submit(await desk.made());
  const of = (order: TransferOrder | undefined) => order?.venue_entries;
  expect(orders.map(of)).toEqual(['a: x account 1', 'a: x account 1', undefined]);
});

test('a transfer neither goes to nor reads a provider that was bound after it', async () => {
  const calls: string[] = [];
  const find = (): Promise<null> => {
    calls.push('find');
    return Promise.resolve(null);
  };
  const desk = transferDesk(bench, {
    provider: 'another',
    submit: () => Promise.reject(lost),
    find,
  });
  const id = await desk.made();
  await expect(desk.submit(id)).rejects.toMatchObject({ type: 'VENUE_NOT_BOUND' });
  expect(await desk.row(id)).toMatchObject({ state: 'CREATED', sends: 0 });
  await bench.sql(
    "UPDATE capital_transfers SET request_state = 'PENDING_PROVIDER_CONFIRMATION', pending_until = now() + interval '1 hour' WHERE transfer_id = $1::uuid",
    id,
  );
  await expect(desk.look(id)).rejects.toMatchObject({ type: 'NOT_YET' });
  expect(calls).toEqual([]);
});

describe('a transfer that has waited for too long to be sent', () => {
  const aged = (id: string, seconds: number) =>
    bench.sql(
      'UPDATE capital_transfers SET created_at = svc_now() - make_interval(secs => $2) WHERE transfer_id = $1::uuid',
      id,
      seconds,
    );

  test('fails, and moves nothing', async () => {
    const sent: string[] = [];
    const desk = transferDesk(bench, {
      submit: ({ reference }) => {
        sent.push(reference);
        return Promise.resolve({ status: 'completed' });
      },
    });
    const [young, old, ahead] = [await desk.made(), await desk.made(), await desk.made()];
    await aged(young, 890);
    await aged(old, 901);
    // Created before the clock was set back by two minutes: its age is not known.
    await aged(ahead, -120);
    for (const id of [young, old, ahead]) await desk.submit(id);
    expect(sent).toEqual([young]);
    for (const id of [old, ahead])
      expect(await desk.row(id)).toMatchObject({
        state: 'FAILED',
        sends: 0,
        error_code: 'NOT_SENT_IN_TIME',
      });
    expect(
      await bench.sql('SELECT status FROM reservations WHERE transfer_id = $1::uuid', old),
    ).toEqual([{ status: 'released' }]);
  });

  test('fails also while the service is frozen', async () => {
    const desk = transferDesk(bench, {});
    const id = await desk.made();
    await aged(id, 901);
    await bench.sql("UPDATE cutover SET mode = 'frozen'");
    try {
      await desk.submit(id);
    } finally {
      await bench.sql("UPDATE cutover SET mode = 'normal'");
    }
    expect((await desk.row(id)).error_code).toBe('NOT_SENT_IN_TIME');
  });

  test('passes no fence, however old the look at its age is', async () => {
    const desk = transferDesk(bench, {});
    const [young, old, ahead] = [await desk.made(), await desk.made(), await desk.made()];
    const fence = async (id: string, seconds: number) => {
      const row = await desk.row(id);
      await aged(id, seconds);
      return applyTransferStep(bench.db, submitting(row, 5, 900));
    };
    expect(await fence(young, 890)).toMatchObject({ ok: true, row: { state: 'SUBMITTING' } });
    const stays = { ok: false, row: { state: 'CREATED', sends: 0 } };
    expect(await fence(old, 901)).toMatchObject(stays);
    expect(await fence(ahead, -120)).toMatchObject(stays);
  });

  test('is sent again as long as its provider has time, since it was sent once', async () => {
    const desk = transferDesk(bench, {
      submit: () => Promise.reject(lost),
      find: () => Promise.resolve(null),
    });
    const id = await desk.made();
    await desk.submit(id);
    await aged(id, 901);
    expect(await desk.look(id)).toMatchObject({ next: 'submit' });
    await desk.submit(id);
    expect(await desk.row(id)).toMatchObject({ sends: 2 });
  });
});

describe('a worker that wakes up after others have gone on', () => {
  /** Sends whose answers come when the test says so, and a record that the test keeps. */
  function slowProvider(more: object = {}) {
    const answers: ((answer: TransferAnswer) => void)[] = [];
    const state: { record: TransferAnswer | null } = { record: null };
    const desk = transferDesk(bench, {
      timeout_seconds: 1,
      ...more,
      submit: () => new Promise<TransferAnswer>((resolve) => answers.push(resolve)),
      find: () => Promise.resolve(state.record),
    });
    const untilSubmitted = async (count: number): Promise<void> => {
      while (answers.length < count) await sleep(10);
    };
    return { desk, answers, state, untilSubmitted };
  }
  const refusal: TransferAnswer = {
    status: 'failed',
    error_code: 'NO_FUNDS',
    error_message: 'no funds',
  };

  test('with a refusal cannot end what was sent again and is under way', async () => {
    const { desk, answers, state, untilSubmitted } = slowProvider();
    const id = await desk.made();
    const first = desk.submit(id);
    await untilSubmitted(1);
    await expect(desk.look(id)).rejects.toMatchObject({ type: 'NOT_YET' });
    await sleep(1_050);
    expect(await desk.look(id)).toMatchObject({ next: 'submit' });
    const second = desk.submit(id);
    await untilSubmitted(2);
    answers[0]?.(refusal);
    await first;
    expect((await desk.row(id)).state).toBe('SUBMITTING');
    state.record = { status: 'completed', provider_transfer_id: 'p' };
    answers[1]?.({ status: 'pending' });
    await second;
    await desk.look(id);
    expect(await desk.row(id)).toMatchObject({
      state: 'COMPLETED',
      sends: 2,
      provider_transfer_id: 'p',
    });
  });

  test('and has not sent yet sends nothing when another has, or when a person has decided', async () => {
    const { desk, answers, untilSubmitted } = slowProvider();
    const id = await desk.made();
    const { epoch } = await desk.row(id);
    const first = desk.submit(id, epoch);
    await untilSubmitted(1);
    await desk.submit(id, epoch);
    expect(answers).toHaveLength(1);
    await expect(desk.look(id)).rejects.toMatchObject({ type: 'NOT_YET' });
    const proven = (await desk.row(id)).epoch;
    const person = {
      caller: { client_id: null, key_id: null, role: 'operator' },
      request_id: 'r',
    } as const;
    const decision = resolved(
      await desk.row(id),
      { resolution: 'manual_intervention', reason: 'x' },
      person,
    );
    expect(await applyTransferStep(bench.db, decision)).toMatchObject({ ok: true });
    await desk.submit(id, proven);
    await desk.submit(id);
    expect(answers).toHaveLength(1);
    answers[0]?.({ status: 'completed' });
    await first;
    expect(await desk.row(id)).toMatchObject({ state: 'MANUAL_INTERVENTION', sends: 1 });
  });

  test('is not repeated once it is left to a person, though a repeat would be safe', async () => {
    const lossy = { submit: () => Promise.reject(lost), find: () => Promise.resolve(null) };
    const desk = transferDesk(bench, lossy, 60);
    const [soon, late] = [await desk.made(), await desk.made()];
    for (const id of [soon, late]) await desk.submit(id);
    // No worker ran for an hour.
    await bench.sql(
      "UPDATE capital_transfers SET pending_until = now() - interval '1 hour' WHERE transfer_id = $1::uuid",
      late,
    );
    expect(await desk.look(soon)).toMatchObject({ next: 'submit' });
    expect(await desk.look(late)).toMatchObject({ next: 'load' });
    expect(await desk.row(late)).toMatchObject({
      state: 'MANUAL_INTERVENTION',
      sends: 1,
      error_code: 'PROVIDER_CONFIRMATION_TIMEOUT',
    });
    await expect(desk.look(late)).rejects.toMatchObject({ type: 'NOT_YET' });
  });

  test.each([
    ['its time is over', "pending_until = now() - interval '1 second'"],
    ['its provider has shown it to another look', 'acknowledged = true'],
  ])('is not sent again when, since the look that found nothing, %s', async (_what, since) => {
    const sent: string[] = [];
    const submit = ({ reference }: { reference: string }): Promise<TransferAnswer> => {
      sent.push(reference);
      return Promise.reject(lost);
    };
    const desk = transferDesk(bench, { submit, find: () => Promise.resolve(null) }, 60);
    const [soon, later] = [await desk.made(), await desk.made()];
    for (const id of [soon, later]) {
      await desk.submit(id);
      const seen = await desk.look(id);
      expect(seen).toMatchObject({ next: 'submit' });
      // Every worker was away, and comes back to what the look has said.
      if (id === later)
        await bench.sql(`UPDATE capital_transfers SET ${since} WHERE transfer_id = $1::uuid`, id);
      await desk.submit(id, seen.epoch);
    }
    expect(sent).toEqual([soon, soon, later]);
    expect(await desk.row(later)).toMatchObject({
      state: 'PENDING_PROVIDER_CONFIRMATION',
      sends: 1,
    });
  });

  test.each([
    ['by its answer to the send', true],
    ['by a record that was there once', false],
  ])(
    'is not repeated once the provider has acknowledged it (%s), though no record is found and a repeat would be safe',
    async (_by, atOnce) => {
      const state: { record: TransferAnswer | null; sends: number } = {
        record: { status: 'pending' },
        sends: 0,
      };
      const desk = transferDesk(bench, {
        submit: () => {
          state.sends += 1;
          return atOnce ? Promise.resolve({ status: 'pending' }) : Promise.reject(lost);
        },
        find: () => Promise.resolve(state.record),
      });
      const id = await desk.made();
      await desk.submit(id);
      expect((await desk.row(id)).acknowledged).toBe(atOnce);
      if (!atOnce) expect(await desk.look(id)).toMatchObject({ next: 'load' });
      state.record = null;
      expect(await desk.row(id)).toMatchObject({
        state: 'PENDING_PROVIDER_CONFIRMATION',
        acknowledged: true,
        sends: 1,
      });
      // The time of the send is over, and that of the provider is not: without the acknowledgement
      // of a person the transfer would be sent again now.
      await bench.sql(
        "UPDATE capital_transfers SET send_not_after = now() - interval '1 hour' WHERE transfer_id = $1::uuid",
        id,
      );
      await expect(desk.look(id)).rejects.toMatchObject({ type: 'NOT_YET' });
      await bench.sql(
        "UPDATE capital_transfers SET pending_until = now() - interval '1 hour' WHERE transfer_id = $1::uuid",
        id,
      );
      expect(await desk.look(id)).toMatchObject({ next: 'load' });
      expect(await desk.row(id)).toMatchObject({ state: 'MANUAL_INTERVENTION', sends: 1 });
      expect(state.sends).toBe(1);
      // What it shows later still counts.
      state.record = { status: 'completed', provider_transfer_id: 'late' };
      await desk.look(id);
      expect(await desk.row(id)).toMatchObject({
        state: 'COMPLETED',
        provider_transfer_id: 'late',
      });
    },
  );

  test('is not repeated where a repeat may have a second effect, however long nothing is found', async () => {
    const { desk, state, untilSubmitted } = slowProvider({ same_key_safe: false });
    const id = await desk.made();
    void desk.submit(id);
    await untilSubmitted(1);
    await desk.look(id).catch(() => undefined);
    await bench.sql(
      "UPDATE capital_transfers SET send_not_after = now() - interval '1 day' WHERE transfer_id = $1::uuid",
      id,
    );
    await expect(desk.look(id)).rejects.toMatchObject({ type: 'NOT_YET' });
    await bench.sql(
      "UPDATE capital_transfers SET pending_until = now() - interval '1 day' WHERE transfer_id = $1::uuid",
      id,
    );
    await desk.look(id);
    expect((await desk.row(id)).state).toBe('MANUAL_INTERVENTION');
    state.record = { status: 'completed' };
    await desk.look(id);
    expect(await desk.row(id)).toMatchObject({ state: 'COMPLETED', sends: 1 });
  });
});
