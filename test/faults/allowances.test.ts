/**
 * Allowances over two local chains: 0 is one too and pays nobody. What remains is read from the
 * chain itself, by another client than the service's.
 */
import { createPublicClient, erc20Abi, formatUnits, http, type Address } from 'viem';
import { privateKeyToAccount, generatePrivateKey } from 'viem/accounts';
import type { BridgeSide } from '../../dev/stack/bridges.ts';
import { startOwnStack, type OwnStack } from '../support/own-stack.ts';
import { storeTemplate, type PlanNode } from '../support/plans.ts';

let own: OwnStack;
let near: BridgeSide;
beforeAll(async () => {
  own = await startOwnStack({ bridges: true });
  near = own.stack.bridges!.near;
}, 240_000);
afterAll(() => own?.close(), 60_000);

const signer_selector = { chain_family: 'evm', profile: 'treasury' };
const allow = (node_key: string, spender: string, more: object = {}): PlanNode => ({
  ...{ node_key, node_kind: 'action', action_type: 'evm_erc20_approve', signer_selector },
  has_side_effect: true,
  config: {
    ...{ chain_id: near.chainId, token_address: near.contracts.burnToken, spender },
    ...more,
  },
});

/** What the treasury's signer allows, in the token's units. */
async function allowed(spender: string): Promise<string> {
  const units = await createPublicClient({ transport: http(near.rpcUrl) }).readContract({
    ...{ address: near.contracts.burnToken as Address, abi: erc20Abi },
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
      ...{ template_key: listed, template_version: 1 },
      intent: { asset: 'USDB', amount: '7' },
    }),
  ).toMatchObject({ status: 422, body: { detail: { error: 'address_not_allowlisted' } } });
}, 120_000);
