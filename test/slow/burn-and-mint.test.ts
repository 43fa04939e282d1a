/**
 * The burn-and-mint lane over two local chains, through HTTP alone: what is burnt is minted once,
 * whoever dies, answers late or was quicker. Supplies and balances are read from the chains, by
 * another client than the service's.
 */
import { createPublicClient, createWalletClient, http, parseAbi, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { BridgeSide, StackBridges } from '../../dev/stack/bridges.ts';
import { eventually, ownStack, type Created } from '../support/own-stack.ts';

const TEMPLATE = 'test/burn-and-mint';
const USDB = parseAbi([
  'function totalSupply() view returns (uint256)',
  'function balanceOf(address) view returns (uint256)',
]);
const TRANSMITTER = parseAbi(['function receiveMessage(bytes message, bytes attestation)']);
let bridges: StackBridges;
const own = ownStack({ bridges: true, split: true });
beforeAll(async () => {
  bridges = own.stack.bridges!;
  await own.api.expect(201, 'POST', '/plan-templates', template());
}, 240_000);
afterEach(() => attesterFaults(null));

/** approve → burn → mint, from the near chain to the treasury's account on the far one. */
function template(more: { readonly key?: string; readonly burn?: object } = {}): object {
  const { near, far } = bridges;
  const signer_selector = { chain_family: 'evm', profile: 'treasury' };
  const node = (node_key: string, action_type: string, config: object) => ({
    node_key,
    action_type,
    config,
    signer_selector,
    node_kind: 'action',
    has_side_effect: true,
    timeout_policy: { execution_seconds: 600, observe_seconds: 600 },
  });
  const token_address = near.contracts.burnToken;
  return {
    template_key: more.key ?? TEMPLATE,
    version: 1,
    name: 'Burn and mint',
    approval_policy: {},
    risk_controls: {},
    completion_policy: { completion_assurance: 'destination_finalized' },
    nodes: [
      node('allow', 'evm_erc20_approve', {
        chain_id: near.chainId,
        token_address,
        spender: near.contracts.tokenMessenger,
      }),
      node('burn', 'cctp_burn', {
        source_chain_id: near.chainId,
        destination_chain_id: far.chainId,
        token_address,
        mint_recipient: own.stack.chain.accounts.treasury.address,
        max_fee: '0.5',
        finality: 'fast',
        ...more.burn,
      }),
      node('mint', 'cctp_mint', { burn_from: 'burn' }),
    ],
    edges: [
      { from: 'allow', to: 'burn', edge_type: 'on_success' },
      { from: 'burn', to: 'mint', edge_type: 'on_success' },
    ],
  };
}

const clientOf = (side: BridgeSide) => createPublicClient({ transport: http(side.rpcUrl) });
const read = (side: BridgeSide, functionName: 'totalSupply'): Promise<bigint> =>
  clientOf(side).readContract({ address: side.contracts.burnToken, abi: USDB, functionName });
const balance = (side: BridgeSide, holder: Hex): Promise<bigint> =>
  clientOf(side).readContract({
    address: side.contracts.burnToken,
    abi: USDB,
    functionName: 'balanceOf',
    args: [holder],
  });
const supply = async (): Promise<bigint> =>
  (await read(bridges.near, 'totalSupply')) + (await read(bridges.far, 'totalSupply'));
const arrived = (): Promise<bigint> =>
  balance(bridges.far, own.stack.chain.accounts.treasury.address);
const units = (amount: number): bigint => BigInt(Math.round(amount * 1_000_000));

async function attesterFaults(faults: object | null): Promise<void> {
  const answer = await fetch(`${bridges.attesterUrl}/faults`, {
    method: faults === null ? 'DELETE' : 'POST',
    ...(faults === null
      ? {}
      : { body: JSON.stringify(faults), headers: { 'content-type': 'application/json' } }),
  });
  if (!answer.ok) throw new Error(`the attester answered ${String(answer.status)}`);
}

async function bridge(amount: string, key = TEMPLATE): Promise<Created> {
  const created = await own.api.create(key, { amount, intent: { asset: 'USDB' } });
  await own.api.approve(created);
  return created;
}

const outputOf = async ({ movement_id }: Created, node: string): Promise<Record<string, unknown>> =>
  (await own.api.movement(movement_id)).nodes.find(({ node_key }) => node_key === node)?.output ??
  {};

test('burns on one chain, mints on the other, and tells what it cost', async () => {
  const [before, held] = [await supply(), await arrived()];
  const made = await bridge('25');
  await own.api.reaches(made.movement_id, 'COMPLETED', 120_000);
  const mint = await outputOf(made, 'mint');
  const fee = String(mint['fee_amount']);
  expect(Number(fee)).toBeGreaterThanOrEqual(0);
  expect(Number(mint['received_amount']) + Number(fee)).toBe(25);
  expect(mint).toMatchObject({ fee_asset: 'USDB', submitted_amount: '25' });
  expect(await arrived()).toBe(held + units(Number(mint['received_amount'])));
  expect(await supply()).toBe(before);
  const burn = await outputOf(made, 'burn');
  expect(burn).toMatchObject({ submitted_amount: '25', message_nonce: mint['message_nonce'] });
  // No contract may take more: the allowance is used up to the last unit.
  const { body } = await own.api.send('GET', `/movements/${made.movement_id}`);
  expect(body['outflow']).toEqual([{ asset: 'USDB', amount: '25' }]);
}, 180_000);

test('somebody else mints: the movement completes with that mint, and sends none', async () => {
  const held = await arrived();
  const made = await bridge('7');
  const burnt = await eventually(
    async () => {
      const ref = (await own.api.movement(made.movement_id)).nodes.find(
        ({ node_key, state }) => node_key === 'burn' && state !== 'BLOCKED',
      )?.external_ref;
      return typeof ref === 'string' ? (ref as Hex) : null;
    },
    { what: () => 'the burn', timeoutMs: 60_000 },
  );
  await own.stack.kill('worker');
  const { message, attestation } = await eventually(
    async () => {
      const answer = await fetch(
        `${bridges.attesterUrl}/v2/messages/${String(bridges.near.domain)}?transactionHash=${burnt}`,
      );
      const body = (await answer.json()) as {
        messages?: { status: string; message: Hex; attestation: Hex }[];
      };
      return body.messages?.find(({ status }) => status === 'complete') ?? null;
    },
    { what: () => 'the attestation', timeoutMs: 60_000 },
  );
  const stranger = createWalletClient({
    account: privateKeyToAccount(own.stack.chain.accounts.venueHotWallet.privateKey),
    transport: http(bridges.far.rpcUrl),
  });
  const hash = await stranger.writeContract({
    chain: null,
    address: bridges.far.contracts.messageTransmitter,
    abi: TRANSMITTER,
    functionName: 'receiveMessage',
    args: [message, attestation],
  });
  await clientOf(bridges.far).waitForTransactionReceipt({ hash });
  await own.stack.startChild('worker');
  await own.api.reaches(made.movement_id, 'COMPLETED', 120_000);
  const mint = await outputOf(made, 'mint');
  expect(mint['tx_hash']).toBe(hash);
  expect(await arrived()).toBe(held + units(Number(mint['received_amount'])));
}, 240_000);

/** How the burn stands, as a caller sees it. */
async function burnNode({ movement_id }: Created) {
  const { nodes } = await own.api.movement(movement_id);
  return nodes.find(({ node_key }) => node_key === 'burn');
}

test.each([
  ['is late', { attestation: 'unknown' }, null],
  ['is pending', { attestation: 'never' }, null],
  ['is for a higher fee', { tells: 'above_max_fee' }, 'ATTESTATION_MISMATCH'],
  ['is for another payee', { tells: 'other_recipient' }, 'ATTESTATION_MISMATCH'],
  ['is signed by others', { signatures: 'forged' }, 'ATTESTATION_UNSIGNED'],
  ['is signed in another order', { signatures: 'disordered' }, 'ATTESTATION_UNSIGNED'],
])(
  'while the attestation %s the burn is observed on, and then minted once',
  async (_what, faults, code) => {
    const [before, held] = [await supply(), await arrived()];
    await attesterFaults(faults);
    const made = await bridge('3');
    await own.api.nodeReaches(made.movement_id, 'burn', ['SUBMITTED', 'OBSERVING'], 60_000);
    await eventually(async () => ((await burnNode(made))?.error_code === code ? true : null), {
      what: () => `the burn to say ${String(code)}`,
      timeoutMs: 60_000,
    });
    // The rest of what it burnt is nowhere yet.
    expect(await arrived()).toBe(held);
    await attesterFaults(null);
    await own.api.reaches(made.movement_id, 'COMPLETED', 120_000);
    const received = Number((await outputOf(made, 'mint'))['received_amount']);
    expect(await arrived()).toBe(held + units(received));
    expect(await supply()).toBe(before);
  },
  240_000,
);

test('one message does not complete two burns of the same terms', async () => {
  const [before, held] = [await supply(), await arrived()];
  const first = await bridge('6');
  await own.api.reaches(first.movement_id, 'COMPLETED', 120_000);
  await attesterFaults({ tells: 'equal_burn' });
  const second = await bridge('6');
  await eventually(
    async () => ((await burnNode(second))?.error_code === 'ATTESTATION_MISMATCH' ? true : null),
    { what: () => 'the burn to refuse the message of the other', timeoutMs: 60_000 },
  );
  await attesterFaults(null);
  await own.api.reaches(second.movement_id, 'COMPLETED', 120_000);
  const mints = [await outputOf(first, 'mint'), await outputOf(second, 'mint')];
  expect(mints[0]?.['message_nonce']).not.toBe(mints[1]?.['message_nonce']);
  const received = mints.map((mint) => units(Number(mint['received_amount'])));
  expect(await arrived()).toBe(received.reduce((sum, each) => sum + each, held));
  expect(await supply()).toBe(before);
}, 240_000);

test('a new attestation replaces an expired one', async () => {
  const held = await arrived();
  await attesterFaults({ expires_in_blocks: 1 });
  const made = await bridge('4');
  await eventually(
    async () => {
      const { nodes } = await own.api.movement(made.movement_id);
      const mint = nodes.find(({ node_key }) => node_key === 'mint');
      return mint?.error_code === 'ATTESTATION_EXPIRED' ? true : null;
    },
    { what: () => 'the mint to wait for another attestation', timeoutMs: 60_000 },
  );
  await attesterFaults(null);
  await own.api.reaches(made.movement_id, 'COMPLETED', 120_000);
  expect(await arrived()).toBeGreaterThan(held);
}, 240_000);

test('a burn that only another account may mint burns nothing', async () => {
  const key = `${TEMPLATE}-caller`;
  const { venueHotWallet } = own.stack.chain.accounts;
  const burn = { destination_caller: venueHotWallet.address };
  await own.api.expect(201, 'POST', '/plan-templates', template({ key, burn }));
  const before = await read(bridges.near, 'totalSupply');
  const made = await bridge('5', key);
  await own.api.reaches(made.movement_id, 'FAILED', 60_000);
  expect((await burnNode(made))?.error_code).toBe('SIGNER_CALLER_MISMATCH');
  expect(await read(bridges.near, 'totalSupply')).toBe(before);
}, 120_000);

test('whatever the worker is killed in, each burn is minted once', async () => {
  const [before, held] = [await supply(), await arrived()];
  let received = 0n;
  // One after the other: an allowance of the same signer takes the place of the one before.
  for (let kills = 0; kills < 6; kills += 1) {
    const made = await bridge('2');
    await new Promise((resolve) => setTimeout(resolve, 150 + 337 * kills));
    await own.stack.kill('worker');
    await own.stack.startChild('worker');
    await own.api.reaches(made.movement_id, 'COMPLETED', 120_000);
    received += units(Number((await outputOf(made, 'mint'))['received_amount']));
  }
  expect(await arrived()).toBe(held + received);
  expect(await supply()).toBe(before);
}, 600_000);
