/** How much one agent's key can take up, whatever it sends. */
import { randomUUID } from 'node:crypto';
import { AGENT_OPEN_MOVEMENTS, AGENT_TEMPLATE_VERSIONS } from '../../domain/agents/bounds.ts';
import { agent, propose, promote, type Agent } from '../support/agents.ts';
import { expectRefusal, must, noop, register, sendAs, sql, template } from '../support/http.ts';

const create = (of: Agent, template_key: string, more: object = {}, query = '') =>
  sendAs<{ movement_id: string; would_create?: boolean; blocking_reasons?: { error: string }[] }>(
    of,
    'POST',
    `/movements${query}`,
    {
      template_key,
      template_version: 1,
      intent: { asset: 'USDC', amount: '1' },
      ...more,
    },
  );

async function own(of: Agent): Promise<string> {
  const template_key = `${of.namespace}/${randomUUID()}`;
  await register(template([noop('a')], { template_key }));
  return template_key;
}

test('a body of more than 64 KiB is 413', async () => {
  const of = await agent();
  const key = await own(of);
  const note = 'x'.repeat(65_536);
  const large = create(of, key, { input_params: { note } });
  expectRefusal(await large, 413, 'body_too_large');
  await must(201, create(of, key, { input_params: { note: note.slice(1_000) } }));
});

test('one authority has at most 200 movements that have not ended, however many it creates at once', async () => {
  const of = await agent();
  const key = await own(of);
  const first = await must(201, create(of, key, { idempotency_key: 'first' }));
  const answers: Awaited<ReturnType<typeof create>>[] = [];
  while (answers.length < AGENT_OPEN_MOVEMENTS + 20)
    answers.push(...(await Promise.all(Array.from({ length: 20 }, () => create(of, key)))));
  const made = answers.filter(({ status }) => status === 201).map(({ body }) => body.movement_id);
  expect(made).toHaveLength(AGENT_OPEN_MOVEMENTS - 1);
  for (const answer of answers.filter(({ status }) => status !== 201))
    expectRefusal(answer, 409, 'open_movements_exceeded', {
      authority_key: of.authority,
      limit: AGENT_OPEN_MOVEMENTS,
    });
  const preview = await must(200, create(of, key, {}, '?dry_run=true'));
  expect(preview.would_create).toBe(false);
  expect(preview.blocking_reasons?.map(({ error }) => error)).toEqual(['open_movements_exceeded']);
  const repeat = await must(200, create(of, key, { idempotency_key: 'first' }));
  expect(repeat.movement_id).toBe(first.movement_id);
  // What has ended makes room; another authority has its own.
  await sql('UPDATE movements SET ended_at = now() WHERE movement_id = $1', [made[0]]);
  await must(201, create(of, key));
  const other = await agent();
  await must(201, create(other, await own(other)));
});

test('an agent adds versions until its namespace has 200, and an administrator goes beyond', async () => {
  const of = await agent({ most: '100' });
  for (let n = 1; n < AGENT_TEMPLATE_VERSIONS; n += 1)
    await must(200, propose(of, { requested_notional: `0.${String(n).padStart(3, '0')}` }));
  const [last, full] = [{ requested_notional: '2' }, { requested_notional: '3' }];
  expect((await must(200, propose(of, last))).template_version).toBe(AGENT_TEMPLATE_VERSIONS);
  expectRefusal(await propose(of, full), 409, 'template_versions_exceeded', {
    authority_key: of.authority,
    limit: AGENT_TEMPLATE_VERSIONS,
  });
  // A version that covers it is used again.
  expect((await must(200, propose(of, last))).status).toBe('auto_promoted');
  const beyond = await must(200, propose(of, { requested_notional: '101' }));
  expect(beyond.status).toBe('submitted');
  expect((await must(200, promote(beyond.proposal_id))).template_version).toBe(201);
});
