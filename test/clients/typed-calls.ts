/** Calls that must compile, and calls that must not; checked by types.test.ts and never run. */
import type { ApiError } from '../../clients/http/index.ts';
import { createClient, type ErrorCode, type FundClient } from '../../clients/http/index.ts';

const INTENT = { asset: 'USDC', amount: '1' };
const BODY = { template_key: 'a', template_version: 1, intent: INTENT };

/** What comes back has the types of the API's document. */
export async function right(client: FundClient): Promise<readonly (string | boolean | number)[]> {
  const created = await client.movements.create(BODY);
  await client.movements.approve('m', { compiled_plan_hash: 'f', approver_id: 'me' });
  await client.movements.resume('m');
  const preview = await client.call('createMovement', { body: BODY, dryRun: true });
  const chart = await client.call('getMovementGraph', {
    params: { movement_id: 'm' },
    query: { format: 'mermaid' },
  });
  const { status, body } = await client.request('whoami');
  const texts: string[] = [chart, created.compiled_plan_hash, (await client.whoami()).role ?? ''];
  for await (const row of client.movements.list({ state: 'COMPLETED', limit: 3 }))
    texts.push(row.movement_id);
  for await (const event of client.pages('listAuditEvents')) texts.push(event.action);
  // The client makes the key that the API wants.
  const transfer = await client.transfers.create({
    source_venue: 'a',
    destination_venue: 'b',
    source_account_type: 'SPOT',
    destination_account_type: 'SPOT',
    asset: 'USDC',
    amount: '1',
    strategy_id: 's',
    reason: 'r',
  });
  const [agent] = await client.perpVenue.agents('s');
  const done = await client.waitFor('m', ({ nodes }) => nodes.length > 1);
  await client.waitFor('m', ['COMPLETED', 'FAILED'], { onChange: (seen) => seen.request_state });
  await client.bridge.deletePath('a', 'b', 'c');
  return [
    ...texts,
    preview.would_create,
    status,
    body.client_id ?? '',
    transfer.transfer_id,
    agent?.agent_name ?? '',
    done.request_state,
  ];
}

/** A code outside the closed table is none. */
export function codes(error: ApiError): ErrorCode | null {
  if (error.code === 'compiled_plan_hash_mismatch') return error.code;
  // @ts-expect-error there is no such code
  if (error.code === 'hash_mismatch') return null;
  return error.code;
}

/** Each of these is a mistake that the compiler finds. */
export async function wrong(client: FundClient): Promise<void> {
  // @ts-expect-error an amount is a text
  await client.movements.create({ ...BODY, intent: { asset: 'USDC', amount: 1 } });
  // @ts-expect-error there is no such field
  await client.movements.create({ ...BODY, urgent: true });
  // @ts-expect-error a field is missing
  await client.movements.create({ template_key: 'a', intent: INTENT });
  // @ts-expect-error there is no such field, in the other way to call it
  await client.call('createMovement', { body: { ...BODY, urgent: true } });
  // @ts-expect-error the id is missing
  await client.movements.get();
  // @ts-expect-error the body is missing
  await client.movements.approve('m');
  // @ts-expect-error the parameters are missing
  await client.call('getMovement');
  // @ts-expect-error the parameter has another name
  await client.call('getMovement', { params: { id: 'm' } });
  // @ts-expect-error there is no such filter
  client.movements.list({ status: 'COMPLETED' });
  // @ts-expect-error there is no such state
  client.movements.list({ state: 'DONE' });
  // @ts-expect-error it has no pages
  client.pages('getMovement', { params: { movement_id: 'm' } });
  // @ts-expect-error there is no such operation
  await client.call('payMovement');
  // @ts-expect-error there is no such state to wait for
  await client.waitFor('m', 'DONE');
  // @ts-expect-error the secret is missing
  createClient({ baseUrl: 'http://localhost:8100', key: { keyId: 'k' } });
}
