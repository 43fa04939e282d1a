/**
 * Capital transfers while answers are lost, providers stay silent and processes die: each is moved
 * at most once, ends as the provider's record (or a person) says, and its hold is there until then.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { capitalTransferWorkflowId } from '../../domain/messages.ts';
import type { TransferEntry } from '../../dev/simulators/paper-venue/transfer-views.ts';
import { PATIENCE_MS } from '../support/patience.mjs';
import { eventually, ownStack, type JsonAnswer } from '../support/own-stack.ts';
import { withDatabase } from '../../tools/database.ts';
import { verifyReservations } from '../../tools/reservations/verify.ts';

interface View {
  readonly transfer_id: string;
  readonly request_state: string;
  readonly provider_transfer_id: string | null;
  readonly error_code: string | null;
}

const PENDING_SECONDS = 5;

const own = ownStack({
  split: true,
  env: { SVC_CAPITAL_TRANSFER_PENDING_TIMEOUT_SECONDS: String(PENDING_SECONDS) },
});

afterEach(() => own.venueFaults(null));

const create = async (more: object = {}): Promise<View> =>
  (await own.api.expect(201, 'POST', '/capital-transfers', {
    source_venue: 'paper-main',
    destination_venue: 'paper-sub-a',
    asset: 'USDT',
    amount: '10',
    reason: 'a test',
    idempotency_key: randomUUID(),
    ...more,
  })) as unknown as View;
const read = async (id: string): Promise<View> =>
  (await own.api.expect(200, 'GET', `/capital-transfers/${id}`)) as unknown as View;
const calledBack = async (id: string) =>
  (await own.api.expect(200, 'GET', `/callbacks?transfer_id=${id}`))['callbacks'];
const resolve = (id: string, resolution: string, more: object = {}): Promise<JsonAnswer> =>
  own.api.send('POST', `/capital-transfers/${id}/actions/resolve`, {
    resolution,
    reason: 'looked it up',
    ...more,
  });

/**
 * A process takes longer to start than a transfer may wait here before it is sent. From a minute
 * ahead on its age would not be known.
 */
const mayWaitLonger = (id: string): Promise<unknown> =>
  own.query(
    "UPDATE capital_transfers SET created_at = created_at + interval '50 seconds' WHERE transfer_id = $1",
    [id],
  );

function reaches(id: string, state: string, timeoutMs = PATIENCE_MS): Promise<View> {
  let last = '';
  return eventually(
    async () => {
      const found = await read(id);
      last = found.request_state;
      return last === state ? found : null;
    },
    { timeoutMs, what: () => `${id} to become ${state}; it is ${last}` },
  );
}

/** The provider's own record of it; null when it has none. */
async function record(id: string): Promise<TransferEntry | null> {
  const { entries } = (await (await fetch(`${own.stack.paperVenueUrl}/transfers`)).json()) as {
    entries: TransferEntry[];
  };
  return entries.find(({ client_reference }) => client_reference === id) ?? null;
}
async function atVenue(path: string, body: object): Promise<void> {
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
  const answer = await fetch(`${own.stack.paperVenueUrl}/transfers${path}`, init);
  if (answer.status !== 200) throw new Error(`the venue refused: ${await answer.text()}`);
}
const settle = (id: string, outcome: string): Promise<void> =>
  atVenue(`/${id}/settle`, { outcome });
const moveAtVenue = (body: object): Promise<void> =>
  atVenue('', { client_reference: randomUUID(), ...body });
const holdOf = async (id: string): Promise<string | undefined> =>
  (
    await own.query<{ status: string }>('SELECT status FROM reservations WHERE transfer_id = $1', [
      id,
    ])
  )[0]?.status;
const events = async (
  id: string,
): Promise<readonly { event_type: string; to_state: string; message: string }[]> =>
  (await own.api.expect(200, 'GET', `/capital-transfers/${id}/timeline`)) as never;

/**
 * Ends as the record says, moved once, with a hold that ended like it, gapless history and a closed
 * run.
 */
async function expectEnd(
  id: string,
  state: 'COMPLETED' | 'FAILED',
  hold: 'consumed' | 'released',
  effects = 1,
): Promise<View> {
  const ended = await reaches(id, state);
  expect(await holdOf(id)).toBe(hold);
  expect((await record(id))?.effects ?? 0).toBe(effects);
  const story = (await events(id)) as unknown as {
    sequence: number;
    from_state: string | null;
    to_state: string;
  }[];
  expect(story.map(({ sequence }) => sequence)).toEqual(story.map((_, index) => index + 1));
  story
    .slice(1)
    .forEach(({ from_state }, index) => expect(from_state).toBe(story[index]?.to_state));
  const run = own.temporal.workflow.getHandle(capitalTransferWorkflowId(id));
  // A second wake may start a run of its own, which finds that all is over: one look decides.
  const status = await eventually(
    async () => {
      const { name } = (await run.describe()).status;
      return name === 'RUNNING' ? null : name;
    },
    { what: () => `the run of ${id} to close` },
  );
  expect(status).toBe(state === 'COMPLETED' ? 'COMPLETED' : 'FAILED');
  return ended;
}

const lost = (more: object = {}): object => ({
  lose_answer_rate: 1,
  phases: ['transfer_submit'],
  ...more,
});

describe('an answer that is lost', () => {
  test('of an accepted transfer: the record is found and nothing is sent again', async () => {
    await own.venueFaults(lost({ remaining: 1 }));
    const { transfer_id } = await create();
    const ended = await expectEnd(transfer_id, 'COMPLETED', 'consumed');
    expect(ended.provider_transfer_id).toBe((await record(transfer_id))?.transfer_id);
    expect((await record(transfer_id))?.submit_calls).toBe(1);
    expect((await events(transfer_id)).map(({ to_state }) => to_state)).toEqual([
      'CREATED',
      'SUBMITTING',
      'PENDING_PROVIDER_CONFIRMATION',
      'COMPLETED',
    ]);
  });

  test('of a refused one: it fails with the code of the record', async () => {
    // Without a worker the API goes by what is stored, so there has to be something.
    await eventually(async () => {
      const path = '/balances?venue_key=paper-sub-b&fresh=true';
      const { balances } = await own.api.expect(200, 'GET', path);
      return (balances as readonly { stale: boolean }[]).some(({ stale }) => !stale) ? true : null;
    });
    await own.stack.kill('worker');
    const { transfer_id } = await create({
      source_venue: 'paper-sub-b',
      destination_venue: 'paper-main',
      amount: '600000',
    });
    await mayWaitLonger(transfer_id);
    // The balance that the service knew covered it; somebody else is faster at the venue.
    await moveAtVenue({
      from_account: 'paper-sub-b',
      to_account: 'paper-main',
      asset: 'USDT',
      amount: '600000',
    });
    await own.venueFaults(lost({ remaining: 1 }));
    await own.stack.startChild('worker');
    expect(await expectEnd(transfer_id, 'FAILED', 'released', 0)).toMatchObject({
      error_code: 'INSUFFICIENT_BALANCE',
    });
  });

  test('before anything was booked: the same reference is sent again once that is proven', async () => {
    await own.venueFaults({ error_rate: 1, phases: ['transfer_submit'], remaining: 1 });
    const { transfer_id } = await create();
    await expectEnd(transfer_id, 'COMPLETED', 'consumed');
    expect(await record(transfer_id)).toMatchObject({ submit_calls: 1, effects: 1 });
    expect(
      (await events(transfer_id)).filter(({ event_type }) => event_type === 'transfer_submitting'),
    ).toHaveLength(2);
  });

  test('while the venue is still at it: a late effect and the repeat are one', async () => {
    await own.venueFaults({ hold_ms: 7_500, phases: ['transfer_submit'], remaining: 1 });
    const { transfer_id } = await create();
    await expectEnd(transfer_id, 'COMPLETED', 'consumed');
    // The held call ends at the venue after our timeout.
    await eventually(async () => ((await record(transfer_id))?.submit_calls === 2 ? true : null), {
      what: () => 'the late call',
    });
    expect(await record(transfer_id)).toMatchObject({ effects: 1 });
  });
});

describe('a provider that does not confirm', () => {
  test('is polled with the hold kept, then needs a person; its later answer still counts', async () => {
    await own.venueFaults({ transfer_outcome: 'pending', phases: ['transfer_submit'] });
    const { transfer_id } = await create({ callback_url: 'https://hooks.example/in?token=t' });
    await reaches(transfer_id, 'PENDING_PROVIDER_CONFIRMATION');
    expect(await holdOf(transfer_id)).toBe('held');
    expect(await calledBack(transfer_id)).toEqual([]);
    expect(await reaches(transfer_id, 'MANUAL_INTERVENTION')).toMatchObject({
      attention: {
        reason: 'observed_long',
        last_answer: expect.stringContaining('Waited'),
        actions: [{ action: 'resolve' }],
      },
      error_code: 'PROVIDER_CONFIRMATION_TIMEOUT',
    });
    expect(await holdOf(transfer_id)).toBe('held');
    const answer = await resolve(transfer_id, 'manual_intervention', {
      provider_transfer_id: (await record(transfer_id))?.transfer_id,
    });
    expect(answer).toMatchObject({ status: 200, body: { request_state: 'MANUAL_INTERVENTION' } });
    // The resolve has woken the run, which polls again: the record decides.
    await settle(transfer_id, 'completed');
    // Wakes it once more; if it has just polled by itself, the transfer has ended already.
    expect([200, 409]).toContain((await resolve(transfer_id, 'manual_intervention')).status);
    await expectEnd(transfer_id, 'COMPLETED', 'consumed');
    // Once, though a person said it twice more. The stack lists no host.
    expect(await calledBack(transfer_id)).toMatchObject([
      {
        event_type: 'request_attention',
        movement_id: null,
        status: 'dead_letter',
        url: 'https://hooks.example/in?[redacted]',
        payload: { request_state: 'MANUAL_INTERVENTION', transfer_id },
      },
    ]);
    expect(await resolve(transfer_id, 'failed')).toMatchObject({
      status: 409,
      body: {
        detail: {
          error: 'invalid_state',
          current_state: 'COMPLETED',
          allowed_states: ['CREATED', 'PENDING_PROVIDER_CONFIRMATION', 'MANUAL_INTERVENTION'],
        },
      },
    });
  });

  test('and then says that it failed: the hold is released', async () => {
    await own.venueFaults({
      transfer_outcome: 'failed',
      processing_ms: 800,
      phases: ['transfer_submit'],
    });
    const { transfer_id } = await create();
    await reaches(transfer_id, 'PENDING_PROVIDER_CONFIRMATION');
    expect(await expectEnd(transfer_id, 'FAILED', 'released', 0)).toMatchObject({
      error_code: 'TRANSFER_FAILED',
    });
  });

  test.each([
    ['PENDING_PROVIDER_CONFIRMATION', 'completed', 'COMPLETED', 'consumed'],
    ['PENDING_PROVIDER_CONFIRMATION', 'failed', 'FAILED', 'released'],
    ['MANUAL_INTERVENTION', 'completed', 'COMPLETED', 'consumed'],
    ['MANUAL_INTERVENTION', 'failed', 'FAILED', 'released'],
  ] as const)(
    'in %s is resolved as %s by a person',
    async (from, resolution, state, hold) => {
      const isShown = resolution === 'completed';
      await own.venueFaults(
        isShown
          ? { transfer_outcome: 'pending', phases: ['transfer_submit'] }
          : { error_rate: 1, phases: ['transfer_submit', 'transfer_find'] },
      );
      const { transfer_id } = await create();
      await reaches(transfer_id, from);
      if (isShown) {
        expect(await resolve(transfer_id, 'failed')).toMatchObject({
          status: 409,
          body: { detail: { error: 'send_still_open' } },
        });
      }
      // While a send may still be under way, its failure is not certain.
      const answer = await eventually(async () => {
        const tried = await resolve(transfer_id, resolution, {
          provider_transfer_id: 'statement-17',
        });
        return tried.status === 200 ? tried : null;
      });
      expect(answer.body).toMatchObject({
        request_state: state,
        provider_transfer_id: 'statement-17',
      });
      await expectEnd(transfer_id, state, hold, isShown ? 1 : 0);
      const audit = `SELECT action, outcome, reason, details ->> 'resolution' AS resolution
        FROM audit_events
                     WHERE entity_key = $1 AND action = 'capital_transfer.resolve'
                       AND outcome = 'success' AND details ->> 'resolution' = $2`;
      expect(await own.query(audit, [transfer_id, resolution])).toEqual([
        {
          action: 'capital_transfer.resolve',
          outcome: 'success',
          reason: 'looked it up',
          resolution,
        },
      ]);
      const refused = await resolve(transfer_id, 'completed');
      expect(refused).toMatchObject({
        status: 409,
        body: { detail: { error: 'invalid_state', current_state: state } },
      });
    },
    60_000,
  );

  test('is moved to a person at once when one asks for it, and cannot be resolved while it is being sent', async () => {
    await own.venueFaults({
      hold_ms: 2_000,
      transfer_outcome: 'pending',
      phases: ['transfer_submit'],
    });
    const { transfer_id } = await create();
    await reaches(transfer_id, 'SUBMITTING');
    expect(await resolve(transfer_id, 'completed')).toMatchObject({
      status: 409,
      body: { detail: { current_state: 'SUBMITTING' } },
    });
    await reaches(transfer_id, 'PENDING_PROVIDER_CONFIRMATION');
    expect(await resolve(transfer_id, 'manual_intervention')).toMatchObject({
      body: { request_state: 'MANUAL_INTERVENTION' },
    });
    expect(await holdOf(transfer_id)).toBe('held');
    expect(await resolve(transfer_id, 'completed')).toMatchObject({ status: 200 });
    await expectEnd(transfer_id, 'COMPLETED', 'consumed');
  });

  test('two people at once: one resolves it, the other is refused because it has ended', async () => {
    await own.venueFaults({ transfer_outcome: 'pending', phases: ['transfer_submit'] });
    const { transfer_id } = await create();
    await reaches(transfer_id, 'MANUAL_INTERVENTION');
    await eventually(async () =>
      (await resolve(transfer_id, 'manual_intervention')).status === 200 ? true : null,
    );
    await sleep(3_000);
    const answers = await Promise.all([
      resolve(transfer_id, 'completed'),
      resolve(transfer_id, 'failed'),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  });
});

describe('a process that dies', () => {
  test('the API, between the hold and the submit: the transfer goes on, and a repeat of its key is the same one', async () => {
    await own.stack.kill('temporal');
    const body = {
      source_venue: 'paper-main',
      destination_venue: 'paper-sub-a',
      asset: 'USDT',
      amount: '7',
      reason: 'x',
      idempotency_key: randomUUID(),
    };
    const made = (await own.api.expect(201, 'POST', '/capital-transfers', body)) as unknown as View;
    expect(made.request_state).toBe('CREATED');
    await mayWaitLonger(made.transfer_id);
    await own.stack.kill('api');
    await Promise.all([own.stack.startChild('api'), own.stack.startChild('temporal')]);
    expect(await own.api.send('POST', '/capital-transfers', body)).toMatchObject({
      status: 200,
      body: { transfer_id: made.transfer_id },
    });
    await expectEnd(made.transfer_id, 'COMPLETED', 'consumed');
  }, 120_000);

  test.each([
    ['before its send', 0],
    ['with its send under way', 900],
  ])(
    'the worker, %s: it is moved once',
    async (_when, delay) => {
      await own.venueFaults({ hold_ms: 1_500, phases: ['transfer_submit'], remaining: 1 });
      if (delay === 0) await own.stack.kill('worker');
      const { transfer_id } = await create();
      if (delay === 0) await mayWaitLonger(transfer_id);
      if (delay > 0) {
        await reaches(transfer_id, 'SUBMITTING');
        await sleep(delay);
        await own.stack.kill('worker');
      }
      await own.stack.startChild('worker');
      await expectEnd(transfer_id, 'COMPLETED', 'consumed');
    },
    120_000,
  );

  test('the worker, while its provider has not confirmed: the next one goes on asking', async () => {
    await own.venueFaults({ transfer_outcome: 'pending', phases: ['transfer_submit'] });
    const { transfer_id } = await create();
    await reaches(transfer_id, 'PENDING_PROVIDER_CONFIRMATION');
    await own.stack.kill('worker');
    await settle(transfer_id, 'completed');
    await own.stack.startChild('worker');
    await expectEnd(transfer_id, 'COMPLETED', 'consumed');
  }, 120_000);

  test('its run, terminated: another one starts', async () => {
    await own.venueFaults({ transfer_outcome: 'pending', phases: ['transfer_submit'] });
    const { transfer_id } = await create();
    await reaches(transfer_id, 'PENDING_PROVIDER_CONFIRMATION');
    const run = own.temporal.workflow.getHandle(capitalTransferWorkflowId(transfer_id));
    const { runId } = await run.describe();
    await run.terminate('a test');
    await eventually(async () => ((await run.describe()).runId === runId ? null : true), {
      what: () => 'another run',
    });
    await settle(transfer_id, 'completed');
    await expectEnd(transfer_id, 'COMPLETED', 'consumed');
  });
});

test('balances tell what transfers hold, beside movements, and verify finds nothing', async () => {
  const futures = '/balances?venue_key=paper-sub-a&asset=USDT&account_type=USDT_FUTURE';
  await expectEnd(
    (await create({ destination_account_type: 'USDT_FUTURE' })).transfer_id,
    'COMPLETED',
    'consumed',
  );
  await own.api.expect(200, 'GET', `${futures}&fresh=true`);
  await own.venueFaults({ transfer_outcome: 'pending', phases: ['transfer_submit'] });
  const { transfer_id } = await create({
    source_venue: 'paper-sub-a',
    source_account_type: 'USDT_FUTURE',
    destination_venue: 'paper-main',
    amount: '5',
  });
  await reaches(transfer_id, 'PENDING_PROVIDER_CONFIRMATION');
  const { balances } = (await own.api.expect(200, 'GET', futures)) as {
    balances: object[];
  };
  expect(balances).toMatchObject([
    { svc_pending_outflow: '5', svc_effective_reason: 'capital_transfer_reservation' },
  ]);
  const io = {
    env: { SVC_DATABASE_URL: own.stack.databaseUrl },
    out: () => undefined,
    err: () => undefined,
  };
  expect(await withDatabase({}, io, verifyReservations)).toMatchObject({ ok: true, transfers: [] });
});
