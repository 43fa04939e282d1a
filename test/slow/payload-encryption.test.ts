/**
 * With keys set, Temporal holds nothing readable, the UI's endpoint shows it, and a killed worker
 * changes nothing.
 */
import proto from '@temporalio/proto';
import { movementWorkflowId } from '../../domain/messages.ts';
import { assertConsistent, PAID_ONCE, timesPaid } from '../support/evidence.ts';
import { eventually, WITHDRAW_TO_TREASURY, ownStack } from '../support/own-stack.ts';

const { History } = proto.temporal.api.history.v1;
const KEYS = `test-1:${Buffer.alloc(32, 5).toString('base64')}`;
const AMOUNT = '12.0345';

interface JsonPayload {
  readonly metadata: Readonly<Record<string, string>>;
  readonly data: string;
}
const own = ownStack({ split: true, env: { SVC_PAYLOAD_KEYS: KEYS } });

/** The newest run's history as the server has it: this client has no codec. */
async function rawHistory(movementId: string): Promise<object> {
  const history = await own.temporal.workflow
    .getHandle(movementWorkflowId(movementId))
    .fetchHistory();
  return History.toObject(History.fromObject(history), {
    bytes: String,
    enums: String,
    longs: String,
  });
}

/**
 * Every payload in a history with its place, but search attributes and the SDK's own note beside a
 * marker.
 */
function payloadsIn(
  value: unknown,
  place = '',
): { readonly place: string; readonly payload: JsonPayload }[] {
  if (
    typeof value !== 'object' ||
    value === null ||
    /\.(searchAttributes|details\.data)$/.test(place)
  )
    return [];
  if ('metadata' in value && 'data' in value) return [{ place, payload: value as JsonPayload }];
  return Object.entries(value).flatMap(([name, inner]) =>
    payloadsIn(inner, Array.isArray(value) ? place : `${place}.${name}`),
  );
}

async function decoded(payloads: readonly JsonPayload[]): Promise<string[]> {
  const headers = {
    'content-type': 'application/json',
    'x-namespace': 'default',
    origin: own.stack.uiUrl ?? '',
  };
  const answer = await fetch(`${own.stack.opsUrl}/codec/decode`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ payloads }),
  });
  expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([
    200,
    own.stack.uiUrl,
  ]);
  const body = (await answer.json()) as { payloads: readonly JsonPayload[] };
  return body.payloads.map(({ data }) => Buffer.from(data, 'base64').toString());
}

const encodingOf = ({ metadata }: JsonPayload): string =>
  Buffer.from(metadata['encoding'] ?? '', 'base64').toString();

test('a movement whose worker is killed completes, and its history can be read only with the key', async () => {
  const movement = await own.api.create(WITHDRAW_TO_TREASURY, { amount: AMOUNT });
  await own.chainFaults({ mining: 'paused' });
  await own.api.approve(movement);
  await own.api.nodeReaches(movement.movement_id, 'withdraw', ['OBSERVING']);
  await own.stack.kill('worker');
  await own.chainFaults({ mining: 'automatic' });
  await own.stack.startChild('worker');
  const ended = await own.api.reaches(movement.movement_id, 'COMPLETED');
  assertConsistent(ended, await own.api.timeline(movement.movement_id));
  expect(await timesPaid(own.stack, movement.movement_id, AMOUNT)).toEqual(PAID_ONCE);

  const history = await rawHistory(movement.movement_id);
  const found = payloadsIn(history);
  expect(
    found
      .filter(({ payload }) => encodingOf(payload) !== 'binary/encrypted')
      .map(({ place }) => place),
  ).toEqual([]);
  expect([
    ...new Set(found.map(({ place }) => place.replace(/^.*\.(\w+)\.(\w+)(\.payloads)?$/, '$1.$2'))),
  ]).toEqual(expect.arrayContaining(['input.payloads', 'result.payloads', 'userMetadata.summary']));
  const readable = (await decoded(found.map(({ payload }) => payload))).join('\n');
  for (const text of [
    `"${movement.movement_id}"`,
    '"withdraw · preflight, prepare, submit, observe"',
    '"request_state":"COMPLETED"',
  ])
    expect(readable).toContain(text);
}, 90_000);

test("a failed movement's message and stack are encrypted too", async () => {
  const movement = await own.api.create(WITHDRAW_TO_TREASURY, { amount: '200000' });
  await own.api.approve(movement);
  const { error_code } = await own.api.reaches(movement.movement_id, 'FAILED');
  // The run closes after its last write: FAILED can be read before the history holds the failure.
  await eventually(
    async () => ((await own.runOf(movement.movement_id))?.status === 'FAILED' ? true : null),
    {
      what: () => 'the run to close',
    },
  );
  const history = await rawHistory(movement.movement_id);
  expect(JSON.stringify(history)).not.toContain('movement failed');
  const [failure] = payloadsIn(history).filter(({ place }) =>
    place.endsWith('.failure.encodedAttributes'),
  );
  expect(failure).toBeDefined();
  const [text] = await decoded(failure === undefined ? [] : [failure.payload]);
  expect(JSON.parse(text ?? '')).toMatchObject({
    message: `movement failed at withdraw: ${error_code ?? ''}`,
  });
});

test('the UI knows the endpoint, and the link of a movement leads to it', async () => {
  const settings = (await (await fetch(`${own.stack.uiUrl ?? ''}/api/v1/settings`)).json()) as {
    Codec: { Endpoint: string };
  };
  expect(settings.Codec.Endpoint).toBe(`${own.stack.opsUrl}/codec`);
  const { movement_id } = await own.api.create(WITHDRAW_TO_TREASURY, { amount: '1' });
  const { run_id } = await eventually(() => own.runOf(movement_id));
  const { workflow } = await eventually(async () => {
    const detail = (await own.api.expect(200, 'GET', `/movements/${movement_id}`)) as {
      workflow: { run_id: string | null; ui_url: string };
    };
    return detail.workflow.run_id === null ? null : detail;
  });
  expect(workflow.ui_url).toBe(
    `${own.stack.uiUrl ?? ''}/namespaces/default/workflows/movement%2F${movement_id}/${run_id}/history`,
  );
  expect((await fetch(workflow.ui_url)).status).toBe(200);
});
