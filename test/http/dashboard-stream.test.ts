/** The stream of the console: each kind of change, who may read it, and where it goes on. */
import { CONSOLE, dashboardHeaders, issuedNonce, toDashboard } from '../support/dashboard.ts';
import { eventually } from '../support/eventually.ts';
import { expectNothingSecret, openStream, type SeenStream } from '../support/event-stream.ts';
import { act, approve, create, gated, must, post, sql } from '../support/http.ts';

const STREAM = '/dashboard/stream';
const opened: SeenStream[] = [];
afterEach(() => {
  for (const stream of opened.splice(0)) stream.close();
});

async function open({
  query = '',
  operator = 'ops-1',
  ...more
}: Readonly<Record<string, string>> = {}): Promise<SeenStream> {
  const signed = dashboardHeaders('GET', STREAM + query, '', {
    operator,
    nonce: await issuedNonce(),
  });
  const stream = await openStream(CONSOLE + STREAM + query, { ...signed, ...more });
  opened.push(stream);
  return stream;
}

test('whoever reads is sent what changes, of each kind, and neither amounts nor addresses', async () => {
  const [one, other] = [await open(), await open({ operator: 'ops-1' })];
  expect(one.headers.get('content-type')).toBe('text/event-stream');
  expect(one.headers.get('cache-control')).toBe('no-store');
  expect(one.headers.get('x-accel-buffering')).toBe('no');

  const made = await create(await gated());
  const of = (stream: SeenStream, state: string) =>
    stream.until(
      `movement ${state}`,
      ({ event, data }) =>
        event === 'movement' && data['movement_id'] === made.movement_id && data['state'] === state,
    );
  expect((await of(one, 'PENDING_APPROVAL')).data).toEqual({
    movement_id: made.movement_id,
    version: 1,
    state: 'PENDING_APPROVAL',
    attention_reason: 'approval',
  });
  await approve(made);
  const waits = await of(one, 'WAITING_MANUAL_ACTION');
  expect(waits.data).toMatchObject({ attention_reason: 'manual_gate' });

  await must(200, post('/admin/cutover-mode', { mode: 'normal', reason: 'a test' }));
  // What a person writes into the database is a change as well.
  await sql(
    'UPDATE balance_snapshots SET total = coalesce(total, 0) + 1.25 WHERE ctid IN (SELECT ctid FROM balance_snapshots LIMIT 1)',
  );
  await one.until('a cutover', ({ event }) => event === 'cutover');
  const balance = await one.until('a balance', ({ event }) => event === 'balance');
  expect(Object.keys(balance.data)).toEqual(['venue_key']);
  for (const event of one.events)
    await other.until(
      JSON.stringify(event),
      (seen) => JSON.stringify(seen) === JSON.stringify(event),
    );
  expectNothingSecret(one.events);
});

test('whoever comes back is sent what it missed, and a cursor of no use is answered reset', async () => {
  const first = await open();
  const since = first.cursor();
  first.close();
  const missed = await create(await gated());
  await act(missed.movement_id, 'reject', { reason: 'a test' });
  const isMissed = ({ event, data }: SeenStream['events'][number]): boolean =>
    event === 'movement' && data['movement_id'] === missed.movement_id;
  for (const again of [
    await open({ query: `?since=${since}` }),
    // What the browser sends by itself counts for more than what the page began with.
    await open({ query: '?since=nonsense', 'last-event-id': since }),
  ]) {
    await again.until('what was missed', isMissed);
    expect(again.events.filter(({ event }) => event === 'reset')).toEqual([]);
  }
  const [epoch, xid] = since.split('.');
  for (const useless of [
    'nonsense',
    `${'0'.repeat(12)}.${String(xid)}.0`,
    `${String(epoch)}.99999999999.0`,
  ]) {
    const lost = await open({ query: `?since=${useless}` });
    await lost.until('reset', ({ event }) => event === 'reset');
    expect(lost.events.filter(isMissed)).toEqual([]);
    expect(lost.cursor()).toMatch(new RegExp(`^${String(epoch)}\\.`));
  }
});

test('a stream is for operators who sign, and leaves room for requests', async () => {
  const unsigned = await fetch(CONSOLE + STREAM);
  expect(unsigned.status).toBe(401);
  const headers = dashboardHeaders('GET', STREAM, '', {
    secret: 'of somebody else',
    nonce: await issuedNonce(),
  });
  expect((await fetch(CONSOLE + STREAM, { headers })).status).toBe(401);
  // More than are worked on at once.
  const many = await Promise.all(
    Array.from({ length: 70 }, (_, at) => open({ operator: `ops-${String((at % 8) + 1)}` })),
  );
  expect(many.map(({ status }) => status)).toEqual(many.map(() => 200));
  expect((await toDashboard('GET', '/dashboard/allowed-addresses')).status).toBe(200);
  for (const each of many) each.close();
  await eventually(async () => ((await open()).status === 200 ? true : null), {
    what: () => 'room',
  });
});
