/** A person may say that a transfer has failed only when that can be known. */
import { pino } from 'pino';
import { resolve } from '../../api/capital-transfers/resolve.ts';
import type { ApiDependencies } from '../../api/dependencies.ts';
import type { TransferAnswer, TransferProvider } from '../../domain/capital-transfers/provider.ts';
import { resolved, submitting, takenOver } from '../../domain/capital-transfers/step.ts';
import { ExecutorFault } from '../../domain/executor.ts';
import { applyTransferStep } from '../../store/capital-transfer-steps.ts';
import { storeBench } from './support.ts';
import { transferDesk, type NewTransferOfTest } from './capital-transfer-desk.ts';

const bench = storeBench();

const SETTLE_SECONDS = 60;
const REQUESTER = {
  caller: { client_id: null, key_id: null, role: 'operator' },
  request_id: 'r',
} as const;

function resolveAs(
  transfer_id: string,
  resolution: 'completed' | 'failed' | 'manual_intervention',
  settle: { readonly seconds?: number } = { seconds: SETTLE_SECONDS },
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
  await applyTransferStep(bench.db, submitting(await desk.row(id), 5));
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

test.each([
  ['does not answer', () => Promise.reject(new ExecutorFault('unreachable', 'AWAY', 'away'))],
  ['shows no record of it', () => Promise.resolve(null)],
])(
  'not while the provider shows it as pending, also with a person, but once it %s',
  async (_what, otherwise) => {
    const pending = (): Promise<TransferAnswer | null> => Promise.resolve(PENDING);
    let find = pending;
    const { desk, id } = await unanswered({}, { find: () => find() });
    const looks = () => expect(desk.look(id)).rejects.toMatchObject({ type: 'NOT_YET' });
    const isOpen = () =>
      expect(resolveAs(id, 'failed')).rejects.toMatchObject({ code: 'send_still_open' });
    await desk.look(id);
    await isOpen();
    find = otherwise;
    await looks();
    const before = await desk.row(id);
    expect(before).toMatchObject({ acknowledged: true, pending_at_provider: false });
    find = pending;
    await looks();
    // Whoever has read the row before that look.
    const word = resolved(before, { resolution: 'failed', reason: 'x' }, REQUESTER);
    expect(await applyTransferStep(bench.db, word)).toMatchObject({ ok: false });
    await resolveAs(id, 'manual_intervention');
    await isOpen();
    find = otherwise;
    await looks();
    // A record that was shown once needs no time to appear.
    expect(await resolveAs(id, 'failed')).toMatchObject({ body: { request_state: 'FAILED' } });
  },
);

test('that it was moved can be said while the provider shows it as pending', async () => {
  const { desk, id } = await unanswered({}, { find: () => Promise.resolve(PENDING) });
  await desk.look(id);
  expect(await resolveAs(id, 'completed')).toMatchObject({ body: { request_state: 'COMPLETED' } });
});

test('of a provider whose venues are unbound, after the longest possible transfer', async () => {
  const { desk, id } = await unanswered();
  const later = (seconds: number) =>
    bench.sql(
      'UPDATE capital_transfers SET send_not_after = send_not_after - make_interval(secs => $2) WHERE transfer_id = $1::uuid',
      id,
      seconds,
    );
  const unbound = () => resolveAs(id, 'failed', {});
  await later(3_600);
  await expect(unbound()).rejects.toMatchObject({
    code: 'invalid_state',
    message: expect.stringMatching(/in (82799|82800) s/),
  });
  expect((await desk.row(id)).state).toBe('PENDING_PROVIDER_CONFIRMATION');
  await later(86_400);
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
