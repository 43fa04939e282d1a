/** Plans and movements in many states, so that requests meet more than rows that are not there. */
import { setTimeout as sleep } from 'node:timers/promises';
import { signedFetch } from '../support/signed-fetch.ts';
import type { ChainInfo } from '../../dev/stack/chain.ts';
import { DEV_SIGNER_KEY } from '../../dev/stack/config.ts';
import type { Stack } from '../../dev/stack/stack.ts';
import { starterTemplates } from '../../dev/stack/starter-templates.ts';

type Json = Readonly<Record<string, unknown>>;

/** Values that exist, by the name of the parameter or field that takes them. */
export type Known = Readonly<Record<string, readonly string[]>>;

const STATES_WITHIN_MS = 60_000;
/** What each movement is to become, and the state in which it then rests. */
const LIVES = [
  { template: 'fuzz/noop', until: 'PENDING_APPROVAL' },
  { template: 'fuzz/noop', until: 'PENDING_APPROVAL' },
  { template: 'starter/withdraw-to-treasury', until: 'PENDING_APPROVAL' },
  { template: 'fuzz/cancellable', until: 'PENDING_APPROVAL' },
  { template: 'fuzz/noop', until: 'REJECTED' },
  { template: 'fuzz/noop', until: 'EXPIRED' },
  { template: 'fuzz/noop', until: 'COMPLETED' },
  { template: 'fuzz/gated', until: 'WAITING_MANUAL_ACTION' },
  { template: 'fuzz/gated', until: 'WAITING_MANUAL_ACTION' },
  { template: 'fuzz/failing', until: 'FAILED' },
  { template: 'fuzz/failing', until: 'FAILED' },
] as const;

/** Few chains, so that most requested paths exist. */
const PATHS = [
  ['fuzz-1', 'fuzz-2'],
  ['fuzz-2', 'fuzz-1'],
  ['fuzz-1', 'fuzz-3'],
  ['fuzz-2', 'fuzz-3'],
] as const;

type Seeded = Pick<Stack, 'apiUrl' | 'keys' | 'chain' | 'perp'>;

/** Makes them and answers their keys and ids. */
export async function seed({ apiUrl, keys, chain, perp }: Seeded): Promise<Known> {
  const call = async (method: string, path: string, body?: object): Promise<unknown> => {
    const init =
      body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    const answer = await signedFetch(keys.admin, `${apiUrl}/v3${path}`, { method, ...init });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
    return JSON.parse(text) as unknown;
  };
  const send = async (method: string, path: string, body?: object): Promise<Json> =>
    (await call(method, path, body)) as Json;
  const list = async (path: string): Promise<readonly Json[]> =>
    (await call('GET', path)) as readonly Json[];
  const templates = await Promise.all(
    templatesFor(chain).map((template) => send('POST', '/plan-templates', template)),
  );
  const made: Json[] = [];
  for (const { template, until } of LIVES) {
    const movement = await send('POST', '/movements', {
      template_key: template,
      template_version: 1,
      intent: { asset: 'USDC', amount: '10' },
      strategy_id: 'fuzz',
      // No host is on the list of callback targets, so each of these ends as a dead letter.
      callback_url: 'http://127.0.0.1:9/never',
      ...(until === 'EXPIRED' ? { approval_ttl_seconds: 1 } : {}),
    });
    made.push(movement);
    const path = `/movements/${String(movement['movement_id'])}`;
    const { compiled_plan_hash } = movement;
    if (until === 'REJECTED') await call('POST', `${path}/reject`, {});
    else if (until !== 'PENDING_APPROVAL' && until !== 'EXPIRED') {
      await call('POST', `${path}/approve`, { compiled_plan_hash, approver_id: 'fuzz' });
    }
    await reached(send, path, until);
  }
  const chains = await Promise.all(
    [1, 2, 3, 4, 5, 6].map((n) =>
      send('POST', '/bridge-c/chain-registry', {
        chain: `fuzz-${String(n)}`,
        endpoint_identity: `${String(n)}:0x${String(n).repeat(40)}`,
        finality_age_seconds: 900,
      }),
    ),
  );
  // Some are removed and never come back.
  for (const [src_chain, dst_chain] of PATHS)
    await send('POST', '/bridge-c/path-baselines', {
      src_chain,
      dst_chain,
      asset: 'USDC',
      fee_native_budget: '0.1',
      expected_latency_seconds: 60,
      detection_latency_budget_seconds: 600,
    });
  if (perp === null) throw new Error('the stack has no perps venue');
  await send('POST', '/perp-venue/master-account', {
    master_address: perp.account,
    signer_key: DEV_SIGNER_KEY,
    network: 'testnet',
  });
  const strategies = ['fuzz', 'fuzz-2'];
  for (const strategy_id of strategies)
    await send('POST', '/perp-venue/strategy-bindings', { strategy_id, max_agent_balance: '50' });
  const proposals: string[] = [];
  for (const requested_notional of ['10', '5000', '6000']) {
    const proposal = {
      asset: 'USDC',
      protocol_family: 'onchain_transfer',
      proposal_kind: 'ephemeral',
      source_chain: 'local-chain',
      destination_chain: 'local-chain',
      ttl_seconds: 3_600,
      destination_chain_id: chain.chainId,
      destination_address: chain.accounts.treasury.address,
      signer_profile: 'treasury',
      requested_notional,
    };
    const answer = await signedFetch(
      keys.agent,
      `${apiUrl}/v3/agent-authorities/dev/template-proposals`,
      {
        method: 'POST',
        body: JSON.stringify(proposal),
        headers: { 'content-type': 'application/json' },
      },
    );
    proposals.push(String(((await answer.json()) as Json)['proposal_id']));
  }
  const signers = await list('/signers');
  const { callbacks } = (await call('GET', '/callbacks?limit=200')) as {
    callbacks: readonly Json[];
  };
  return {
    movement_id: made.map((each) => String(each['movement_id'])),
    compiled_plan_hash: made.map((each) => String(each['compiled_plan_hash'])),
    template_id: templates.map((each) => String(each['template_id'])),
    template_key: templates.map((each) => String(each['template_key'])),
    node_key: ['a', 'b', 'withdraw', 'sweep'],
    event_id: callbacks.map((each) => String(each['event_id'])),
    executor_key: (await list('/executors')).map((each) => String(each['executor_key'])),
    signer_key: signers.map((each) => String(each['signer_key'])),
    // Only the live address of a signer can be pinned.
    expected_address: signers.flatMap(({ observed_signer_address: address }) =>
      typeof address === 'string' ? [address] : [],
    ),
    authority_key: ['dev'],
    proposal_id: proposals,
    source_chain: ['local-chain'],
    destination_chain: ['local-chain'],
    destination_chain_id: [String(chain.chainId)],
    protocol_family: ['onchain_transfer'],
    signer_profile: ['treasury'],
    strategy_id: strategies,
    chain: chains.map((each) => String(each['chain'])),
    src_chain: PATHS.map(([source]) => source),
    dst_chain: PATHS.map(([, destination]) => destination),
    asset: ['USDC'],
  };
}

async function reached(
  call: (method: string, path: string) => Promise<Json>,
  path: string,
  state: string,
): Promise<void> {
  for (const end = Date.now() + STATES_WITHIN_MS; Date.now() < end; await sleep(100)) {
    if ((await call('GET', path))['request_state'] === state) return;
  }
  throw new Error(`${path} did not become ${state}: ${JSON.stringify(await call('GET', path))}`);
}

function templatesFor(chain: ChainInfo): readonly object[] {
  const noop = (node_key: string, more: object = {}) => ({
    node_key,
    node_kind: 'action',
    action_type: 'noop',
    ...more,
  });
  const gate = { node_key: 'b', node_kind: 'manual_gate', action_type: 'manual_gate' };
  const edge = { from: 'a', to: 'b', edge_type: 'on_success' };
  const plan = (
    name: string,
    nodes: readonly object[],
    edges: readonly object[],
    more: object = {},
  ) => ({
    template_key: `fuzz/${name}`,
    version: 1,
    name: `Fuzz: ${name}`,
    nodes,
    edges,
    completion_policy: { completion_assurance: 'destination_credited' },
    ...more,
  });
  const onCancel = { from: 'a', to: 'b', edge_type: 'on_cancel' };
  return [
    ...starterTemplates(chain),
    plan('noop', [noop('a'), noop('b')], [{ ...edge, condition_expr: 'intent.asset == "USDC"' }]),
    plan('gated', [noop('a'), gate], [edge]),
    plan('cancellable', [noop('a'), noop('b', { node_kind: 'compensation' })], [onCancel]),
    plan('failing', [noop('a', { risk_patch: { max_amount: '1' } })], []),
  ];
}
