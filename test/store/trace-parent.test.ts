/** The link from a movement to the trace of its request: how it is stored, and who continues it. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { pino } from 'pino';
import { startCallbackRelay } from '../../activities/relays/callbacks.ts';
import { startCommandRelay } from '../../activities/relays/commands.ts';
import { startSweeper } from '../../activities/relays/sweeper.ts';
import type { Loop } from '../../platform/loop.ts';
import type { Tracing } from '../../platform/tracing/handle.ts';
import { startTracing, traceParent } from '../../platform/tracing.ts';
import { loadMovement } from '../../store/phases.ts';
import { setWebhook } from '../../store/webhooks.ts';
import { toolAudit } from '../../tools/keys/audit.ts';
import { eventually } from '../support/eventually.ts';
import { storeBench } from './support.ts';

const log = pino({ level: 'silent' });
const bench = storeBench();
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';

let collector: Server;
let tracing: Tracing;
beforeAll(async () => {
  collector = createServer((_request, response) => response.end('{}'));
  collector.listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const address = collector.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  tracing = await startTracing(
    { url: `http://127.0.0.1:${String(port)}/v1/traces`, headers: {}, sampleRatio: 1 },
    { role: 'all', log },
  );
  await setWebhook(
    bench.db,
    {
      name: 'desk',
      url: 'https://desk.example/in',
      event_types: ['movement.approval_needed'],
      console_origin: 'https://funds.example',
    },
    toolAudit('webhook.set', 'desk'),
  );
});
afterAll(async () => {
  await tracing?.stop();
  collector?.closeAllConnections();
  collector?.close();
});

/** Creates a movement in a request with this header; returns its id and the stored link. */
async function createdWith(
  header: string | undefined,
): Promise<{ readonly id: string; readonly link: string | null }> {
  const span = tracing.request('POST', header === undefined ? {} : { traceparent: header });
  const { movement_id: id } = await span.run(() => bench.movement({ unheld: true }));
  span.end({ route: 'createMovement', status: 201, request_id: 'r' });
  return { id, link: await linkOf(id) };
}

async function linkOf(id: string): Promise<string | null> {
  const [row] = await bench.sql<{ trace_parent: string | null }>(
    'SELECT trace_parent FROM movement_plans WHERE movement_id = $1::uuid',
    id,
  );
  return row?.trace_parent ?? null;
}

const traceOf = (link: string | null | undefined): string | undefined => link?.split('-')[1];

/** Runs the loop until it has handed over something about the movement. */
async function handedOver(
  loop: Loop,
  seen: ReadonlyMap<string, string | null>,
  id: string,
): Promise<string> {
  try {
    return await eventually(() => Promise.resolve(seen.get(id) ?? null));
  } finally {
    await loop.stop();
  }
}

test('a create stores the span of its request, and no part of the plan holds it', async () => {
  const { id, link } = await createdWith(`00-${TRACE}-${PARENT}-01`);
  expect(link).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`));
  expect(link).not.toContain(PARENT);
  const [plan] = await bench.sql<{ text: string }>(
    'SELECT compiled_plan_of($1::uuid)::text AS text',
    id,
  );
  expect(plan?.text).not.toContain(TRACE);
  const { movement_id: untraced } = await bench.movement({ unheld: true });
  expect(await linkOf(untraced)).toBeNull();
});

test('a trace that its caller does not keep is stored as one that is not kept', async () => {
  const { link } = await createdWith(`00-${TRACE}-${PARENT}-00`);
  expect(link).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`));
});

test.each([
  ['no header', undefined],
  ['text', '00-<script>-x-01'],
  ['zeros', `00-${'0'.repeat(32)}-${PARENT}-01`],
  ['capitals', `00-${TRACE.toUpperCase()}-${PARENT}-01`],
  ['more behind it', `00-${TRACE}-${PARENT}-01-${'a'.repeat(4_000)}`],
])('of a header with %s nothing is stored but a trace of our own', async (_what, header) => {
  const { link } = await createdWith(header);
  expect(link).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  expect(traceOf(link)).not.toBe(TRACE);
  expect(link).not.toContain('0'.repeat(32));
});

test('the database takes no link of another form', async () => {
  const { id } = await createdWith(undefined);
  for (const link of ['', 'x', `00-${TRACE}-${PARENT}-01\n`, `01-${TRACE}-${PARENT}-01`])
    await expect(
      bench.sql(
        `INSERT INTO movement_plans SELECT (jsonb_populate_record(p,
           jsonb_build_object('trace_parent', $2::text))).*
         FROM movement_plans p WHERE movement_id = $1::uuid`,
        id,
        link,
      ),
    ).rejects.toThrow('movement_plans_trace_parent');
});

test('the relay wakes a run in the trace of the create', async () => {
  const { id, link } = await createdWith(`00-${TRACE}-${PARENT}-01`);
  await bench.sql('UPDATE commands SET claimed_until = svc_now() WHERE movement_id = $1::uuid', id);
  const woken = new Map<string, string | null>();
  const relay = startCommandRelay({
    db: bench.db,
    log,
    pauseMs: 50,
    temporal: {
      wake: async (wake) => {
        await Promise.resolve();
        if ('movementId' in wake) woken.set(wake.movementId, traceParent());
      },
    },
  });
  expect(await handedOver(relay, woken, id)).toBe(link);
});

test('the sweeper starts a run again in the trace of the create', async () => {
  const { id, link } = await createdWith(`00-${TRACE}-${PARENT}-01`);
  await loadMovement(bench.db, id, 'a run');
  await bench.sql(
    `UPDATE movements SET request_state = 'EXECUTING', updated_at = updated_at - interval '1 minute'
     WHERE movement_id = $1::uuid`,
    id,
  );
  const woken = new Map<string, string | null>();
  const sweeper = startSweeper({
    db: bench.db,
    log,
    sweepIdleSeconds: 1,
    temporal: {
      listRunning: async function* () {
        yield await Promise.resolve([]);
      },
      countRunning: () => Promise.resolve(0),
      isRunning: () => Promise.resolve(false),
      wake: (wake) => {
        if ('movementId' in wake) woken.set(wake.movementId, traceParent());
        return Promise.resolve();
      },
    },
  });
  expect(await handedOver(sweeper, woken, id)).toBe(link);
});

test('callbacks and webhook messages are sent in spans of the trace of their movement', async () => {
  const { id, link } = await createdWith(`00-${TRACE}-${PARENT}-01`);
  await bench.sql(
    `INSERT INTO callbacks (event_id, movement_id, event_type, sequence, url, payload, nonce,
       status, next_attempt_at, created_at, updated_at) VALUES (gen_random_uuid(), $1::uuid,
       'request_failed', 9, 'https://hooks.example/', '{}', gen_random_uuid(), 'pending', svc_now(),
       svc_now(), svc_now())`,
    id,
  );
  const sent = new Map<string, string | null>();
  const headers: string[] = [];
  const relay = startCallbackRelay({
    db: bench.db,
    log,
    pauseMs: 50,
    allowedHosts: new Set(['hooks.example', 'desk.example']),
    sign: () => ({}),
    maxAttempts: 3,
    post: async (post) => {
      await Promise.resolve();
      headers.push(...Object.keys(post.headers));
      if (post.url === 'https://hooks.example/') sent.set('callback', traceParent());
      else if (post.body.includes(id)) sent.set('webhook', traceParent());
      return { kind: 'answered', status: 200 };
    },
  });
  await eventually(() => Promise.resolve(sent.has('webhook') ? true : null));
  expect(await handedOver(relay, sent, 'callback')).not.toBe(link);
  expect([...sent.values()].map(traceOf)).toEqual([TRACE, TRACE]);
  expect(new Set(sent.values()).size).toBe(2);
  // Receivers are other people's: they get no trace headers.
  expect(headers).toEqual([]);
});
