/**
 * Allowances over two local chains. A reset to 0 is an allowance too, without a payee. The
 * remaining allowance is read from the chain itself, by another client than the service's.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createPublicClient, erc20Abi, formatUnits, http, type Address } from 'viem';
import { privateKeyToAccount, generatePrivateKey } from 'viem/accounts';
import type { BridgeSide } from '../../dev/stack/bridges.ts';
import { BRIDGE_TEMPLATE } from '../../dev/stack/starter-templates.ts';
import { ownStack } from '../support/own-stack.ts';
import { storeTemplate, type PlanNode } from '../support/plans.ts';

let near: BridgeSide;
const own = ownStack({ bridges: true });
beforeAll(() => {
  near = own.stack.bridges!.near;
}, 240_000);

const signer_selector = { chain_family: 'evm', profile: 'treasury' };
const allow = (node_key: string, spender: string, more: object = {}): PlanNode => ({
  node_key,
  node_kind: 'action',
  action_type: 'evm_erc20_approve',
  signer_selector,
  has_side_effect: true,
  config: {
    chain_id: near.chainId,
    token_address: near.contracts.burnToken,
    spender,
    ...more,
  },
});

/** What the treasury's signer allows, in the token's units. */
async function allowed(spender: string): Promise<string> {
  const units = await createPublicClient({ transport: http(near.rpcUrl) }).readContract({
    address: near.contracts.burnToken as Address,
    abi: erc20Abi,
    functionName: 'allowance',
    args: [own.stack.chain.accounts.signer.address, spender as Address],
  });
  return formatUnits(units, 6);
}

async function run(template: string, amount: string, state: string): Promise<string> {
  const made = await own.api.create(template, { amount, intent: { asset: 'USDB' } });
  await own.api.approve(made);
  await own.api.reaches(made.movement_id, state);
  return made.movement_id;
}

test('an allowance of 0 takes one back, draws nothing and needs no spender on the list', async () => {
  const { tokenMessenger } = near.contracts;
  await run(await storeTemplate(own.api, [allow('allow', tokenMessenger)]), '7', 'COMPLETED');
  expect(await allowed(tokenMessenger)).toBe('7');
  const stranger = privateKeyToAccount(generatePrivateKey()).address;
  const back = await storeTemplate(own.api, [
    allow('reset', tokenMessenger, { amount: '0' }),
    allow('unlisted', stranger, { amount: '0.0' }),
  ]);
  const movement_id = await run(back, '7', 'COMPLETED');
  expect(await allowed(tokenMessenger)).toBe('0');
  expect(await own.api.movement(movement_id)).toMatchObject({
    outflow: [{ asset: 'USDB', amount: '0' }],
    nodes: [
      { node_key: 'reset', state: 'COMPLETED', destination: null },
      { node_key: 'unlisted', state: 'COMPLETED', output: { allowed_amount: '0' } },
    ],
  });
  // Whoever may pull anything is paid, and has to be on the list.
  const listed = await storeTemplate(own.api, [allow('allow', stranger, { amount: '0.000001' })]);
  expect(
    await own.api.send('POST', '/movements', {
      template_key: listed,
      template_version: 1,
      intent: { asset: 'USDB', amount: '7' },
    }),
  ).toMatchObject({ status: 422, body: { detail: { error: 'address_not_allowlisted' } } });
}, 120_000);

const executorIs = (status: string, key = 'cctp.burn') =>
  own.api.expect(200, 'PATCH', `/executors/${key}`, { status });

/**
 * allow -> burn -> mint of 9, whose burn fails once its allowance is there; a gate before the
 * allowance, or between it and the burn.
 */
async function failedBurn(gated: 'before' | 'between' = 'before'): Promise<string> {
  const { far } = own.stack.bridges!;
  const { treasury } = own.stack.chain.accounts;
  const burn: PlanNode = {
    ...allow('burn', ''),
    action_type: 'cctp_burn',
    config: {
      source_chain_id: near.chainId,
      destination_chain_id: far.chainId,
      finality: 'fast',
      token_address: near.contracts.burnToken,
      max_fee: '0.5',
      mint_recipient: treasury.address,
    },
  };
  const mint: PlanNode = {
    ...allow('mint', ''),
    action_type: 'cctp_mint',
    config: { burn_from: 'burn' },
  };
  const wait = { node_key: 'wait', node_kind: 'manual_gate', action_type: 'manual_gate' };
  const allows = allow('allow', near.contracts.tokenMessenger);
  const once = { ...burn, retry_policy: { max_attempts: 1 } };
  const template = await storeTemplate(
    own.api,
    gated === 'before' ? [wait, allows, burn, mint] : [allows, wait, once, mint],
  );
  const movement_id = await run(template, '9', 'WAITING_MANUAL_ACTION');
  await executorIs('disabled');
  await own.api.act('resume', movement_id);
  await own.api.reaches(movement_id, 'FAILED');
  await executorIs('active');
  return movement_id;
}

const open = async (movement_id: string): Promise<unknown> =>
  (await own.api.expect(200, 'GET', `/movements/${movement_id}`))['open_allowances'];

test('what a movement left open is shown, taken back once, and allowed anew by a retry', async () => {
  const { tokenMessenger, burnToken } = near.contracts;
  const movement_id = await failedBurn();
  expect(await allowed(tokenMessenger)).toBe('9');
  const left = {
    node_key: 'allow',
    chain_id: near.chainId,
    asset: 'USDB',
    amount: '9',
    token_address: burnToken,
    spender: tokenMessenger,
    owner: own.stack.chain.accounts.signer.address,
  };
  expect(await open(movement_id)).toEqual([left]);
  const { attention } = (await own.api.expect(200, 'GET', `/movements/${movement_id}`)) as {
    readonly attention: { readonly actions: readonly object[] };
  };
  expect(attention.actions).toContainEqual({
    action: 'reset_allowances',
    consequence: expect.stringContaining(`9 USDB for ${tokenMessenger}`),
  });
  // What is stopped is not sent: the reset waits, and the next request goes on with the same one.
  const path = `/movements/${movement_id}/actions/reset-allowances`;
  await executorIs('disabled', 'evm.approve');
  expect(await own.api.send('POST', path)).toMatchObject({
    status: 409,
    body: { detail: { error: 'binding_unavailable' } },
  });
  await executorIs('active', 'evm.approve');
  const requested = await own.api.expect(200, 'POST', path);
  const resets = requested['resets'] as readonly { movement_id: string }[];
  expect(requested).toMatchObject({
    movement_id,
    open_allowances: [left],
    resets: [{ node_key: 'allow' }],
  });
  const reset = resets[0]!.movement_id;
  await own.api.reaches(reset, 'COMPLETED');
  expect(await allowed(tokenMessenger)).toBe('0');
  expect(await open(movement_id)).toBeUndefined();
  expect(await own.api.expect(200, 'POST', path)).toMatchObject({
    open_allowances: [],
    resets: [],
  });
  const made = await own.api.expect(200, 'GET', '/movements?template_key=system/reset-allowances');
  expect(made['movements']).toMatchObject([{ movement_id: reset, outflow: [{ amount: '0' }] }]);
  // The burn needs it again.
  await own.api.act('retry', movement_id);
  await own.api.reaches(movement_id, 'COMPLETED', 90_000);
  const { nodes } = await own.api.movement(movement_id);
  expect(nodes.map(({ node_key, attempt }) => [node_key, attempt])).toEqual([
    ['wait', 1],
    ['allow', 2],
    ['burn', 2],
    ['mint', 1],
  ]);
  expect(await allowed(tokenMessenger)).toBe('0');
  expect(await open(movement_id)).toBeUndefined();
}, 180_000);

test('a retried burn waits for its allowance though another node is between them', async () => {
  const { tokenMessenger } = near.contracts;
  const movement_id = await failedBurn('between');
  const path = `/movements/${movement_id}/actions/reset-allowances`;
  const { resets } = await own.api.expect(200, 'POST', path);
  const [reset] = resets as readonly { movement_id: string }[];
  await own.api.reaches(reset!.movement_id, 'COMPLETED');
  await own.chainFaults({ mining: 'paused' });
  try {
    await own.api.act('retry', movement_id);
    await own.api.nodeReaches(movement_id, 'allow', ['OBSERVING']);
    await sleep(3_000);
    const { nodes } = await own.api.movement(movement_id);
    expect(nodes.find(({ node_key }) => node_key === 'burn')).toMatchObject({
      state: 'READY',
      error_code: 'ALLOWANCE_INSUFFICIENT',
    });
  } finally {
    await own.chainFaults({ mining: 'automatic' });
  }
  await own.api.reaches(movement_id, 'COMPLETED', 90_000);
  expect(await allowed(tokenMessenger)).toBe('0');
}, 180_000);

test('a cancel of the starter over the bridge takes its allowance back', async () => {
  const { tokenMessenger } = near.contracts;
  await own.chainFaults({ mining: 'paused' });
  const made = await own.api.create(BRIDGE_TEMPLATE, { amount: '6', intent: { asset: 'USDB' } });
  try {
    await own.api.approve(made);
    await own.api.nodeReaches(made.movement_id, 'allow', ['OBSERVING']);
    await own.api.act('cancel', made.movement_id);
  } finally {
    await own.chainFaults({ mining: 'automatic' });
  }
  const { nodes } = await own.api.nodeReaches(made.movement_id, 'reset', ['COMPLETED'], 60_000);
  expect(nodes.map(({ node_key, state }) => [node_key, state])).toEqual([
    ['allow', 'COMPLETED'],
    ['burn', 'CANCELLED'],
    ['mint', 'CANCELLED'],
    ['reset', 'COMPLETED'],
  ]);
  expect(await allowed(tokenMessenger)).toBe('0');
}, 120_000);

test('only what a movement that has ended allows is taken back', async () => {
  const template = await storeTemplate(own.api, [allow('allow', near.contracts.tokenMessenger)]);
  const made = await own.api.create(template, { amount: '1', intent: { asset: 'USDB' } });
  expect(
    await own.api.send('POST', `/movements/${made.movement_id}/actions/reset-allowances`),
  ).toMatchObject({ status: 409, body: { detail: { error: 'invalid_state' } } });
});
