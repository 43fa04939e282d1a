/**
 * With a collector set, one trace leads from a caller's request to the call of a remote executor.
 */
import { once } from 'node:events';
import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type Server,
} from 'node:http';
import { signedFetch } from '../support/signed-fetch.ts';
import { eventually, startOwnStack, type Created, type OwnStack } from '../support/own-stack.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const BAGGAGE = 'planted-baggage-17';
const TOKEN = 'planted-collector-token';

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: readonly {
    readonly key: string;
    readonly value: Readonly<Record<string, unknown>>;
  }[];
}

const spans: Span[] = [];
const authorizations = new Set<string | undefined>();
let texts = '';
const calls: { readonly path: string; readonly headers: IncomingHttpHeaders }[] = [];
let collector: Server;
let front: Server;
let own: OwnStack;

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
      const { resourceSpans } = JSON.parse(text) as {
        resourceSpans: readonly { scopeSpans: readonly { spans: readonly Span[] }[] }[];
      };
      spans.push(
        ...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)),
      );
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
  own = await startOwnStack({
    split: true,
    env: {
      SVC_TRACING_OTLP_URL: `${collectorUrl}/v1/traces`,
      SVC_TRACING_OTLP_HEADERS: `authorization=Bearer%20${TOKEN}`,
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
  await own.api.expect(201, 'POST', '/plan-templates', {
    template_key: 'test/traced',
    version: 1,
    name: 'A withdrawal at a venue behind a front',
    nodes: [
      {
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
      },
    ],
    edges: [],
    completion_policy: { completion_assurance: 'provider_completed' },
  });
}, 180_000);
afterAll(async () => {
  await own?.close();
  collector?.close();
  front?.closeAllConnections();
  front?.close();
});

async function create(headers: Record<string, string>): Promise<Created> {
  const body = {
    template_key: 'test/traced',
    template_version: 1,
    intent: { asset: 'USDC', amount: '7.125' },
  };
  const answer = await signedFetch(own.stack.keys.admin, `${own.stack.apiUrl}/v3/movements`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(201);
  return (await answer.json()) as Created;
}

const attribute = (span: Span | undefined, key: string): unknown => {
  const value = span?.attributes.find((each) => each.key === key)?.value;
  return value?.['stringValue'] ?? value?.['intValue'];
};

test('request, wake, activities and the calls of the executor are one trace', async () => {
  const movement = await create({
    traceparent: `00-${TRACE}-${PARENT}-01`,
    baggage: `secret=${BAGGAGE}`,
    'x-request-id': 'traced-request',
  });
  await own.api.approve(movement);
  await own.api.reaches(movement.movement_id, 'COMPLETED');

  const wanted = [
    'POST createMovement',
    'SignalWithStartWorkflow:movementWorkflow',
    'RunActivity:submit',
  ];
  const ours = await eventually(
    async () => {
      const found = spans.filter(({ traceId }) => traceId === TRACE);
      return wanted.every((name) => found.some((span) => span.name === name)) ? found : null;
    },
    {
      timeoutMs: 20_000,
      what: () =>
        `spans of the trace; there are ${spans.map(({ name, traceId }) => `${name} ${traceId}`).join(', ')}`,
    },
  );
  const named = (name: string): Span | undefined => ours.find((span) => span.name === name);
  const request = named('POST createMovement');
  expect(request?.parentSpanId).toBe(PARENT);
  expect([
    attribute(request, 'http.route'),
    attribute(request, 'http.response.status_code'),
    attribute(request, 'request_id'),
  ]).toEqual(['createMovement', 201, 'traced-request']);
  const wake = named('SignalWithStartWorkflow:movementWorkflow');
  expect(wake?.parentSpanId).toBe(request?.spanId);
  expect(named('RunActivity:submit')?.parentSpanId).toBe(wake?.spanId);

  const submits = ours
    .filter(({ name }) => name === 'RunActivity:submit')
    .map(({ spanId }) => spanId);
  const submitted = calls.filter(({ path }) => path.includes('submit'));
  expect(submitted).toHaveLength(1);
  expect(submits.map((spanId) => `00-${TRACE}-${spanId}-01`)).toContain(
    submitted[0]?.headers['traceparent'],
  );
  const ofMovement = calls.filter(({ headers }) => headers['idempotency-key'] !== undefined);
  expect(
    new Set(ofMovement.map(({ headers }) => String(headers['traceparent']).split('-')[1])),
  ).toEqual(new Set([TRACE]));
});

test('baggage is not forwarded, the collector authenticates the sender, and spans hold no amount or address', () => {
  expect(JSON.stringify(calls)).not.toContain(BAGGAGE);
  expect([...authorizations]).toEqual([`Bearer ${TOKEN}`]);
  for (const text of [BAGGAGE, '7.125', own.stack.chain.accounts.treasury.address])
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
