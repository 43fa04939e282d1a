/**
 * An agent's whole life: from its proposal to funds on another chain, with one approval of an
 * operator between; and what it cannot have without one.
 */
import { createPublicClient, http, parseAbi } from 'viem';
import type { StackBridges } from '../../dev/stack/bridges.ts';
import { readDevKeys, secretsKeyPath, type SigningKey } from '../../dev/stack/keys.ts';
import { fundadmin } from '../../tools/command-line.ts';
import { dataOf, ended, host, toolEnv, type Ended, type Env } from '../support/mcp.ts';
import { MovementApi, ownStack } from '../support/own-stack.ts';

const AUTHORITY = 'rebalancer';
let bridges: StackBridges;
let key: SigningKey;
let env: Env;
const own = ownStack({ bridges: true });
beforeAll(async () => {
  bridges = own.stack.bridges!;
  key = await issued();
  env = {
    ...toolEnv(key, own.stack.apiUrl, `agent/${AUTHORITY}`),
    SVC_OUTPUT: 'json',
  };
}, 240_000);

/** The authority and its key, as docs/agents.md has an admin make them. */
async function issued(): Promise<SigningKey> {
  let [out, err] = ['', ''];
  const status = await fundadmin(
    [
      'keys',
      'issue',
      '--client-name',
      'rebalancer',
      '--key-id',
      'rebalancer-1',
      '--role',
      'agent',
      '--authority-key',
      AUTHORITY,
      '--max-notional',
      '50',
      '--allowed-assets',
      'USDB',
      '--allowed-chains',
      'local-chain,far-chain',
      '--max-ttl-seconds',
      '3600',
    ],
    {
      env: {
        SVC_DATABASE_URL: own.stack.databaseUrl,
        SVC_SECRETS_KEY_FILE: secretsKeyPath(own.stack.dataDir),
      },
      out: (text) => (out += text),
      err: (text) => (err += text),
    },
  );
  if (status !== 0) throw new Error(err);
  const { key_id, hmac_secret } = JSON.parse(out) as { key_id: string; hmac_secret: string };
  return { keyId: key_id, secret: hmac_secret };
}

const run = (...args: readonly string[]): Promise<Ended> => ended('fundagent', { env, args });
const json = ({ out, err }: Ended): Record<string, unknown> => {
  if (out === '') throw new Error(err);
  return JSON.parse(out) as Record<string, unknown>;
};

const wish = (notional: string) => ({
  asset: 'USDB',
  protocol_family: 'cctp',
  proposal_kind: 'static',
  source_chain: bridges.near.venueKey,
  destination_chain: bridges.far.venueKey,
  destination_chain_id: bridges.far.chainId,
  destination_address: own.stack.chain.accounts.treasury.address,
  signer_profile: 'treasury',
  requested_notional: notional,
  ttl_seconds: 900,
});
const flags = (notional: string): string[] =>
  Object.entries(wish(notional)).flatMap(([name, value]) => [
    `--${name.replaceAll('_', '-')}`,
    String(value),
  ]);

const arrived = (): Promise<bigint> =>
  createPublicClient({ transport: http(bridges.far.rpcUrl) }).readContract({
    address: bridges.far.contracts.burnToken,
    abi: parseAbi(['function balanceOf(address) view returns (uint256)']),
    functionName: 'balanceOf',
    args: [own.stack.chain.accounts.treasury.address],
  });

test('proposes, creates, waits for an operator, and has bridged', async () => {
  const before = await arrived();
  const proposed = json(await run('proposals', 'create', ...flags('20')));
  expect(proposed).toMatchObject({ status: 'auto_promoted', promotion_mode: 'auto' });
  const created = json(
    await run(
      'movements',
      'create',
      '--template-key',
      String(proposed['template_key']),
      '--template-version',
      String(proposed['template_version']),
      '--asset',
      'USDB',
      '--amount',
      '20',
    ),
  );
  const movement_id = String(created['movement_id']);
  const compiled_plan_hash = String(created['compiled_plan_hash']);
  expect(created['request_state']).toBe('PENDING_APPROVAL');
  expect((await run('wait', movement_id, '--timeout', '2')).status).toBe(5);

  // The agent's key approves nothing, however it is used.
  const approval = { compiled_plan_hash, approver_id: 'the agent itself' };
  const path = `/movements/${movement_id}/approve`;
  const itself = new MovementApi(own.stack.apiUrl, key);
  expect(await itself.send('POST', path, approval)).toMatchObject({
    status: 403,
    body: { detail: { error: 'forbidden' } },
  });
  expect(await arrived()).toBe(before);

  const waiting = run('wait', movement_id, '--timeout', '240');
  const { operator } = readDevKeys(own.stack.dataDir);
  await new MovementApi(own.stack.apiUrl, operator).expect(200, 'POST', path, {
    compiled_plan_hash,
    approver_id: 'desk',
  });
  const done = await waiting;
  expect([done.status, done.err]).toEqual([0, '']);
  expect(json(done)).toMatchObject({ request_state: 'COMPLETED', approved_by: operator.keyId });
  expect(await arrived()).toBe(before + 20_000_000n);

  // The tool server sees the same, and has nothing to do more with.
  const tools = await host(env);
  expect(dataOf(await tools.call('get_movement', { movement_id }))).toMatchObject({
    request_state: 'COMPLETED',
    nodes: [{ state: 'COMPLETED' }, { state: 'COMPLETED' }, { state: 'COMPLETED' }, {}],
  });
  await tools.close();
}, 400_000);

test('beyond its authority it moves nothing: the service refuses, also what is promoted for less', async () => {
  const more = await run('bridge-attempt', ...flags('75'));
  expect([more.status, more.err]).toEqual([
    0,
    expect.stringContaining('notional_exceeded: proposed 75, authority allows 50'),
  ]);
  expect(json(more)).toMatchObject({ status: 'submitted', movement_id: null });
  const proposed = json(await run('proposals', 'create', ...flags('20')));
  const created = await run(
    'movements',
    'create',
    '--template-key',
    String(proposed['template_key']),
    '--template-version',
    String(proposed['template_version']),
    '--asset',
    'USDB',
    '--amount',
    '50.000001',
  );
  expect([created.status, created.out]).toEqual([3, '']);
  expect(created.err).toMatch(/^fundagent: max_notional_exceeded/);
});
