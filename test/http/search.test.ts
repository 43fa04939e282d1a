/** `GET search`: what a text names exactly, and to whom. */
import { randomBytes, randomUUID } from 'node:crypto';
import { agent, propose, type Agent } from '../support/agents.ts';
import {
  create,
  expectInvalid,
  get,
  movementBody,
  must,
  noop,
  register,
  registered,
  sendAs,
  shared,
  sql,
  template,
  type CreatedView,
  type TemplateView,
} from '../support/http.ts';

interface Hit {
  readonly kind: string;
  readonly id: string;
  readonly title: string;
  readonly matched: string;
}
type Key = Parameters<typeof sendAs>[0];

const found = async (q: string, key: Key = shared.keys.admin): Promise<readonly Hit[]> => {
  const path = `/search?q=${encodeURIComponent(q)}`;
  return (await must<{ hits: Hit[] }>(200, sendAs(key, 'GET', path))).hits;
};
/** Kind, id and reason of each hit. */
const hits = async (q: string, key?: Key): Promise<readonly string[][]> =>
  (await found(q, key)).map(({ kind, id, matched }) => [kind, id, matched]);
const hex = (bytes: number): string => `0x${randomBytes(bytes).toString('hex')}`;
const upper = (text: string): string => `0x${text.slice(2).toUpperCase()}`;

let plain: TemplateView;
beforeAll(async () => {
  plain = await registered([noop('a')]);
});

test('a movement is found by its id, reference, key and address, in this order', async () => {
  const [reference, idempotency_key, address] = [`INV ${randomUUID()}`, randomUUID(), hex(20)];
  const { movement_id: id } = await create(plain, {
    external_reference: reference,
    idempotency_key,
    intent: { asset: 'USDC', amount: '12.50', destination_address: upper(address) },
  });
  for (const q of [id, id.toUpperCase()]) expect(await hits(q)).toEqual([['movement', id, 'id']]);
  expect(await hits(reference)).toEqual([['movement', id, 'external_reference']]);
  expect(await hits(reference.toLowerCase())).toEqual([]);
  expect(await hits(reference.slice(0, -1))).toEqual([]);
  expect(await hits(idempotency_key)).toEqual([['movement', id, 'idempotency_key']]);
  for (const q of [address, upper(address)])
    expect(await hits(q)).toEqual([['movement', id, 'address']]);
  expect(await found(id)).toEqual([
    { kind: 'movement', id, matched: 'id', title: `12.5 USDC, ${plain.template_key}` },
  ]);
  // Its own id as the reference of another one: the id comes first, each movement once.
  const other = await create(plain, { external_reference: id, idempotency_key: id });
  expect(await hits(id)).toEqual([
    ['movement', id, 'id'],
    ['movement', other.movement_id, 'idempotency_key'],
  ]);
});

test('addresses that are no hexadecimal are others in another case', async () => {
  const address = `Bank-${randomUUID()}`;
  const { movement_id } = await create(plain, {
    intent: { asset: 'USDC', amount: '1', destination_address: address },
  });
  expect(await hits(address)).toEqual([['movement', movement_id, 'address']]);
  expect(await hits(address.toLowerCase())).toEqual([]);
});

test('a transaction is found by the hash it was signed with, and the one that was mined', async () => {
  const [signed, mined, paid] = [hex(32), hex(32), hex(32)];
  const [one, two] = [await create(plain), await create(plain)];
  await sql(
    `INSERT INTO evm_transactions (transaction_id, chain_id, address, nonce, signer_key, movement_id,
       node_key, attempt, unsigned, raw_tx, tx_hash, created_at, final_at, mined_hash)
     VALUES (gen_random_uuid(), 987654, $1, 1, 'none', $2::uuid, 'a', 1, '{}', $5, $3, now(),
       now(), $4)`,
    [hex(20), one.movement_id, signed, mined, hex(100)],
  );
  await sql(
    `INSERT INTO authorizations (chain_id, token, address, nonce, movement_id, node_key, attempt,
       created_at, mined_hash) VALUES (987654, $1, $1, '1', $2::uuid, 'a', 1, now(), $3)`,
    [hex(20), two.movement_id, paid],
  );
  for (const [hash, { movement_id }] of [
    [signed, one],
    [mined, one],
    [paid, two],
  ] as const)
    for (const q of [hash, upper(hash)])
      expect(await hits(q)).toEqual([['movement', movement_id, 'transaction_hash']]);
});

test('capital transfers and entries of the allowlist are found, by no agent', async () => {
  const [transfer, listed] = [randomUUID(), randomUUID()];
  const [key, address] = [randomUUID(), hex(20)];
  await sql(
    `INSERT INTO capital_transfers (transfer_id, client_scope, idempotency_key, request,
       request_state, source_venue, source_account_type, destination_venue,
       destination_account_type, asset, amount, reason, provider, created_by, version,
       seen_version, claimed_until, created_at, updated_at, ended_at)
     SELECT $1::uuid, client_id::text, $2, '{}', 'FAILED', 'venue-a', 'SPOT', 'venue-b', 'SPOT',
       'USDC', 3, 'test', 'paper', '{}', 1, 1, now(), now(), now(), now()
     FROM api_client_keys WHERE key_id = $3`,
    [transfer, key, shared.keys.admin.keyId],
  );
  await sql(
    `INSERT INTO allowed_addresses (id, chain_family, address, label, reason, active, created_by,
       created_at, updated_at, revoked_at, revoked_by)
     VALUES ($1::uuid, 'evm', $2, 'Desk', 'test', false, 'test', now(), now(), now(), 'test')`,
    [listed, address],
  );
  const own = await agent();
  for (const [q, hit] of [
    [transfer, ['capital_transfer', transfer, 'id']],
    [key, ['capital_transfer', transfer, 'idempotency_key']],
    [upper(address), ['allowed_address', listed, 'address']],
  ] as const) {
    expect(await hits(q)).toEqual([hit]);
    expect(await hits(q, own)).toEqual([]);
  }
});

test('a change request is found by its id, by no agent', async () => {
  const id = randomUUID();
  const call = { method: 'POST', path: '/v3/registry/keys', body: null };
  const row = { kinds: ['keys'], author: {}, subject: 'made_up' };
  const document = JSON.stringify({ ...call, ...row, id, before: null, after: {} });
  await sql(
    `INSERT INTO change_requests (request_id, kinds, author, method, path, subject, row_after,
       document, hash, rules, created_at)
     VALUES ($1::uuid, '{keys}', '{}', $2, $3, 'made_up', '{}', $4,
       encode(sha256(convert_to($4, 'UTF8')), 'hex'), '[]', now())`,
    [id, call.method, call.path, document],
  );
  await sql(
    `UPDATE change_requests SET state = 'withdrawn', ended_at = now() WHERE request_id = $1::uuid`,
    [id],
  );
  expect(await found(id)).toEqual([
    { kind: 'change_request', id, matched: 'id', title: 'keys, POST /v3/registry/keys' },
  ]);
  expect(await hits(id, await agent())).toEqual([]);
});

test('a key is found by its own client alone', async () => {
  const idempotency_key = randomUUID();
  const { movement_id } = await create(plain, { idempotency_key });
  expect(await hits(idempotency_key)).toEqual([['movement', movement_id, 'idempotency_key']]);
  expect(await hits(idempotency_key, shared.keys.operator)).toEqual([]);
});

test('an agent finds what is of its namespace, and nothing of another one', async () => {
  const [one, two] = [await agent(), await agent()];
  const reference = `INV ${randomUUID()}`;
  const key = { one: randomUUID(), two: randomUUID() };
  const made = async (who: Agent, idempotency_key: string): Promise<string> => {
    const way = await register(template([noop('a')], { template_key: `${who.namespace}/way` }));
    const body = movementBody(way, { external_reference: reference, idempotency_key });
    return (await must<CreatedView>(201, sendAs(who, 'POST', '/movements', body))).movement_id;
  };
  const [first, second] = [await made(one, key.one), await made(two, key.two)];
  const headers = { 'Idempotency-Key': `p-${key.one}` };
  const proposed = await must<{ proposal_id: string }>(200, propose(one, {}, headers));
  expect(await hits(reference, one)).toEqual([['movement', first, 'external_reference']]);
  expect(await hits(reference, two)).toEqual([['movement', second, 'external_reference']]);
  expect(await hits(reference)).toEqual([
    ['movement', second, 'external_reference'],
    ['movement', first, 'external_reference'],
  ]);
  // Both are keys of one client, whose idempotency keys they share.
  for (const [q, hit] of [
    [first, ['movement', first, 'id']],
    [key.one, ['movement', first, 'idempotency_key']],
    [proposed.proposal_id, ['proposal', proposed.proposal_id, 'id']],
    [`p-${key.one}`, ['proposal', proposed.proposal_id, 'idempotency_key']],
  ] as const) {
    expect(await hits(q, one)).toEqual([hit]);
    expect(await hits(q, two)).toEqual([]);
  }
});

test('the newest twenty are found', async () => {
  const external_reference = `INV ${randomUUID()}`;
  const ids: string[] = [];
  for (let nr = 0; nr < 22; nr += 1)
    ids.unshift((await create(plain, { external_reference })).movement_id);
  expect((await found(external_reference)).map(({ id }) => id)).toEqual(ids.slice(0, 20));
});

test('what cannot be a name is refused', async () => {
  expectInvalid(await get('/search'), 'q');
  expectInvalid(await get('/search?q='), 'q');
  expectInvalid(await get(`/search?q=${'x'.repeat(257)}`), 'q');
  expectInvalid(await get('/search?q=x&limit=3'), 'limit');
  expect(await found("' OR 1=1 --%_*")).toEqual([]);
});
