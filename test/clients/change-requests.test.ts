/** A 202 is no result: the change waits for people, and the caller gets an error that says so. */
import { refusalOf } from '../../clients/agent/refusals.ts';
import { ApiError, ChangeRequestedError, createClient } from '../../clients/http/index.ts';
import { answer, lose, startFlakyServer } from './flaky-server.ts';
import { started } from '../support/started.ts';

const ID = '01a2b3c4-0000-7000-8000-00000000000c';
const HASH = 'ab'.repeat(32);
const requested = answer(202, {
  change_request_id: ID,
  kind: 'templates',
  hash: HASH,
  approvals: {},
});
const server = started(() => startFlakyServer());

const client = () =>
  createClient({ baseUrl: server.url, key: { keyId: 'k', secret: 's' }, prefix: '/v3' });
const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    (body) => {
      throw new Error(`it succeeded with ${JSON.stringify(body)}`);
    },
    (error: unknown) => error,
  );

const switching = () => client().cutover.set({ mode: 'normal', reason: 'a test' });
const proposing = () =>
  client().call('createTemplateProposal', {
    params: { authority_key: 'a' },
    body: {
      proposal_kind: 'static',
      asset: 'USDC',
      protocol_family: 'cctp',
      source_chain: 'a',
      destination_chain: 'b',
      destination_chain_id: 1,
      destination_address: 'x',
      signer_profile: 'x',
      requested_notional: '1',
      ttl_seconds: 60,
    },
  });

test.each([
  ['a write', switching],
  ['a write with an idempotency key', proposing],
])('%s that waits throws an error with its change request, and is sent once', async (_, send) => {
  server.script(requested);
  const error = await failure(send());
  expect(error).toBeInstanceOf(ChangeRequestedError);
  expect(error).toMatchObject({ changeRequestId: ID, kind: 'templates', hash: HASH });
  expect(String(error)).toMatch(new RegExp(`change request ${ID}; nothing was changed yet`));
  expect(server.seen).toHaveLength(1);
});

test('so does its repeat after an answer that was lost', async () => {
  server.script(lose, requested);
  expect(await failure(proposing())).toBeInstanceOf(ChangeRequestedError);
  expect(server.seen).toHaveLength(2);
});

test.each([
  ['nothing', {}],
  ['an id that is none', { change_request_id: '$(id)', kind: 'templates', hash: HASH }],
  ['no hash', { change_request_id: ID, kind: 'templates' }],
])('a 202 with %s is no answer of the service; it may have been taken', async (_, body) => {
  server.script(answer(202, body));
  const error = await failure(switching());
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ status: 202, code: null, maybeTaken: true });
  expect(server.seen).toHaveLength(1);
});

test('an agent gets the answer that people decide', () => {
  const error = new ChangeRequestedError({ changeRequestId: ID, kind: 'templates', hash: HASH });
  expect(refusalOf(error)).toMatchObject({
    rule: 'waits_for_approvals',
    why: expect.stringContaining(`waits for approvals of people; change request ${ID}`) as unknown,
    satisfy: expect.stringContaining('no agent may') as unknown,
  });
});
