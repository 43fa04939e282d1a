/**
 * With a collector set, one trace leads from a caller's request over the run to the call of a
 * remote executor and to the callbacks, whichever process hands the movement over.
 */
import { once } from 'node:events';
import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type Server,
} from 'node:http';
import { movementWorkflowId } from '../../domain/messages.ts';
import {
  CALLBACK_SECRET,
  startReceiver,
  type FaultyReceiver,
} from '../support/callback-receiver.ts';
import { signedFetch } from '../support/signed-fetch.ts';
import { eventually, startOwnStack, type Created, type OwnStack } from '../support/own-stack.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const BAGGAGE = 'planted-baggage-17';
const TOKEN = 'planted-collector-token';
const URL_TOKEN = 'planted-callback-token';
const WAKE = 'SignalWithStartWorkflow:movementWorkflow';

type Attributes = readonly {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}[];

interface SentSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: Attributes;
  /** The code is 2 for an error. */
  readonly status?: { readonly code?: number };
}

interface Sent {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Attributes };
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[];
  }[];
}

interface Span extends SentSpan {
  /** Role of the process that sent it. */
  readonly role: unknown;
}

const spans: Span[] = [];
const authorizations = new Set<string | undefined>();
let texts = '';
const calls: { readonly path: string; readonly headers: IncomingHttpHeaders }[] = [];
let collector: Server;
let front: Server;
let target: FaultyReceiver;
let own: OwnStack;

const attributeOf = (attributes: Attributes | undefined, key: string): unknown => {
  const value = attributes?.find((each) => each.key === key)?.value;
  return value?.['stringValue'] ?? value?.['intValue'];
};

async function listening(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return `http://127.0.0.1:${String(typeof address === 'object' ? address?.port : 0)}`;
}

beforeAll(async () => {
  collector = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      authorizations.add(request.headers.authorization);
      const text = Buffer.concat(chunks).toString();
      texts += text;
      for (const { resource, scopeSpans } of (JSON.parse(text) as Sent).resourceSpans) {
        const role = attributeOf(resource.attributes, 'service.instance.role');
        for (const scope of scopeSpans)
          spans.push(...scope.spans.map((span) => ({ ...span, role })));
      }
      response.end('{}');
    });
  });
  const collectorUrl = await listening(collector);
  let venue = '';
  // In front of the paper venue, to see what it is called with.
  front = createServer((request, response) => {
    calls.push({ path: request.url ?? '', headers: request.headers });
    const onward = httpRequest(
      venue + (request.url ?? ''),
      { method: request.method, headers: request.headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      },
    );
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
  const frontUrl = await listening(front);
  target = await startReceiver();
  own = await startOwnStack({
    split: true,
    env: {
      SVC_TRACING_OTLP_URL: `${collectorUrl}/v1/traces`,
      SVC_TRACING_OTLP_HEADERS: `authorization=Bearer%20${TOKEN}`,
      SVC_CALLBACK_ALLOWED_HOSTS_CSV: '127.0.0.1',
      SVC_CALLBACK_HMAC_SECRET: CALLBACK_SECRET,
    },
    executors: (paperVenueUrl) => {
      venue = paperVenueUrl;
      return [
        {
          executor_key: 'test.front',
          kind: 'remote',
          url: frontUrl,
          timeout_seconds: 5,
          same_key_safe: true,
          settle_seconds: 1,
          action_types: ['cex_withdrawal'],
          provider: 'front',
        },
      ];
    },
  });
  const out = {
    node_key: 'out',
    node_kind: 'action',
    action_type: 'cex_withdrawal',
    executor_selector: { action_type: 'cex_withdrawal', provider: 'front' },
    has_side_effect: true,
    config: {
      venue: 'paper-main',
      asset: 'USDC',
      network: 'local',
      destination_address: own.stack.chain.accounts.treasury.address,
    },
  };
  const gate = { node_key: 'gate', node_kind: 'manual_gate', action_type: 'manual_gate' };
  const shapes = {
    traced: { nodes: [out], edges: [] },
    gated: {
      nodes: [gate, out],
      edges: [{ from: 'gate', to: 'out', edge_type: 'on_success' }],
    },
  };
  for (const [name, shape] of Object.entries(shapes))
    await own.api.expect(201, 'POST', '/plan-templates', {
      ...shape,
      template_key: `test/${name}`,
      version: 1,
      name: 'A withdrawal at a venue behind a front',
      completion_policy: { completion_assurance: 'provider_completed' },
    });
}, 180_000);
afterAll(async () => {
  await own?.close();
  target?.close();
  collector?.close();
  front?.closeAllConnections();
  front?.close();
});

async function create(
  headers: Record<string, string>,
  template_key = 'test/traced',
): Promise<Created> {
  const body = {
    template_key,
    template_version: 1,
    intent: { asset: 'USDC', amount: '7.125' },
    callback_url: `${target.url}?token=${URL_TOKEN}`,
  };
  const answer = await signedFetch(own.stack.keys.admin, `${own.stack.apiUrl}/v3/movements`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(201);
  return (await answer.json()) as Created;
}

const attribute = (span: Span | undefined, key: string): unknown =>
  attributeOf(span?.attributes, key);

/** Waits for a span of the trace. */
function spanOf(
  trace: string,
  what: string,
  isIt: (span: Span) => boolean,
  timeoutMs = 60_000,
): Promise<Span> {
  const shown = ({ name, role, traceId }: Span): string => `${name} ${String(role)} ${traceId}`;
  return eventually(
    () => Promise.resolve(spans.find((span) => span.traceId === trace && isIt(span)) ?? null),
    { timeoutMs, what: () => `${what} in ${trace}; there are ${spans.map(shown).join(', ')}` },
  );
}

const isFailed = ({ status }: Span): boolean => status?.code === 2;
const requestOf = (trace: string): Promise<Span> =>
  spanOf(trace, 'the create', ({ name }) => name === 'POST createMovement');

/**
 * Fails unless the movement's run, which a process of this role started, its activities, the calls
 * of its executor and its callbacks are in the trace of its create.
 */
async function expectWhole(
  { movement_id }: Created,
  trace: string,
  role: 'api' | 'worker',
): Promise<void> {
  const created = await requestOf(trace);
  const submit = await spanOf(
    trace,
    'the submit of the movement',
    (span) =>
      span.name === 'RunActivity:submit' &&
      attribute(span, 'temporalWorkflowId') === movementWorkflowId(movement_id),
  );
  const wake = await spanOf(trace, 'the wake', ({ spanId }) => spanId === submit.parentSpanId);
  expect([wake.name, wake.role, wake.parentSpanId]).toEqual([WAKE, role, created.spanId]);

  const ofMovement = calls.filter(({ headers }) =>
    String(headers['idempotency-key']).startsWith(movement_id),
  );
  const submitted = ofMovement.filter(({ path }) => path.includes('submit'));
  expect(submitted.map(({ headers }) => headers['traceparent'])).toEqual([
    `00-${trace}-${submit.spanId}-01`,
  ]);
  expect(
    new Set(ofMovement.map(({ headers }) => String(headers['traceparent']).split('-')[1])),
  ).toEqual(new Set([trace]));

  const completed = await spanOf(
    trace,
    'the callback of the end',
    (span) => span.name === 'callback request_completed' && !isFailed(span),
  );
  expect(completed.parentSpanId).toBe(created.spanId);
  expect(attribute(completed, 'http.response.status_code')).toBe(204);
}

test('request, wake, activities, the calls of the executor and callbacks are one trace', async () => {
  // The first attempt of the first callback is not taken.
  target.fault = (_attempt, index) => (index === 0 ? 503 : null);
  const movement = await create({
    traceparent: `00-${TRACE}-${PARENT}-01`,
    baggage: `secret=${BAGGAGE}`,
    'x-request-id': 'traced-request',
  });
  await own.api.approve(movement);
  await own.api.reaches(movement.movement_id, 'COMPLETED');

  const created = await requestOf(TRACE);
  expect(created.parentSpanId).toBe(PARENT);
  expect([
    attribute(created, 'http.route'),
    attribute(created, 'http.response.status_code'),
    attribute(created, 'request_id'),
  ]).toEqual(['createMovement', 201, 'traced-request']);
  await expectWhole(movement, TRACE, 'api');

  const event = target.attempts[0]?.event_id;
  const attempt = (number: number): Promise<Span> =>
    spanOf(
      TRACE,
      `attempt ${String(number)}`,
      (span) =>
        attribute(span, 'callback_event_id') === event && attribute(span, 'attempt') === number,
    );
  const [refused, taken] = [await attempt(1), await attempt(2)];
  expect([refused, taken].map((span) => attribute(span, 'http.response.status_code'))).toEqual([
    503, 204,
  ]);
  expect([refused, taken].map(isFailed)).toEqual([true, false]);
  expect(refused.name).toMatch(/^callback request_/);
}, 180_000);

test('a movement whose API died before its hand-over stays in the trace of its request', async () => {
  const trace = 'b'.repeat(32);
  await own.stack.kill('temporal');
  const movement = await create({ traceparent: `00-${trace}-${PARENT}-01` });
  // The request has ended, and its span has left the process.
  await requestOf(trace);
  await own.stack.kill('api');
  await own.stack.startChild('temporal');
  // A relay that found Temporal away pauses, for a minute at most.
  await spanOf(
    trace,
    'a wake by the relay',
    (span) => span.name === WAKE && span.role === 'worker' && !isFailed(span),
    120_000,
  );
  // The activities of a worker that starts later belong to it too.
  await own.stack.kill('worker');
  await Promise.all([own.stack.startChild('api'), own.stack.startChild('worker')]);
  await own.api.approve(movement);
  await own.api.reaches(movement.movement_id, 'COMPLETED', 120_000);
  await expectWhole(movement, trace, 'worker');
}, 400_000);

test('a run that the sweeper starts again stays in the trace of its movement', async () => {
  const trace = 'c'.repeat(32);
  const movement = await create({ traceparent: `00-${trace}-${PARENT}-01` }, 'test/gated');
  await own.api.approve(movement);
  await own.api.reaches(movement.movement_id, 'WAITING_MANUAL_ACTION');
  const before = await own.runOf(movement.movement_id);
  await own.temporal.workflow
    .getHandle(movementWorkflowId(movement.movement_id))
    .terminate('by a test');
  await eventually(
    async () => {
      const run = await own.runOf(movement.movement_id);
      return run?.status === 'RUNNING' && run.run_id !== before?.run_id ? true : null;
    },
    { timeoutMs: 60_000, what: () => 'the sweeper to start the run again' },
  );
  await own.api.act('resume', movement.movement_id);
  await own.api.reaches(movement.movement_id, 'COMPLETED');
  await expectWhole(movement, trace, 'worker');
}, 180_000);

test('baggage is not forwarded, receivers get no trace, and spans hold no amount, address or URL', () => {
  expect(JSON.stringify(calls)).not.toContain(BAGGAGE);
  expect(target.attempts.length).toBeGreaterThan(0);
  for (const { headers } of target.attempts)
    expect(Object.keys(headers)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(traceparent|tracestate|baggage)$/)]),
    );
  expect([...authorizations]).toEqual([`Bearer ${TOKEN}`]);
  for (const text of [
    BAGGAGE,
    URL_TOKEN,
    target.url,
    '7.125',
    own.stack.chain.accounts.treasury.address,
  ])
    expect(texts).not.toContain(text);
});

test('a trace that its caller does not keep is not sent', async () => {
  const other = 'a'.repeat(32);
  const movement = await create({ traceparent: `00-${other}-${PARENT}-00` });
  await own.api.approve(movement);
  await own.api.reaches(movement.movement_id, 'COMPLETED');
  const before = spans.length;
  await eventually(async () => (spans.length > before ? true : null), { timeoutMs: 15_000 });
  expect(spans.filter(({ traceId }) => traceId === other)).toEqual([]);
  // Its id still goes along, so that somebody else's logs can name it.
  expect(calls.some(({ headers }) => String(headers['traceparent']).includes(other))).toBe(true);
});
