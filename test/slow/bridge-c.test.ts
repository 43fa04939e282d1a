/**
 * The bridge_c lane over two local chains, through HTTP alone: what is sent is received once, or
 * nothing is sent; what is stuck says how to go on. Supplies and balances are read from the chains,
 * by another client than the service's.
 */
import { createPublicClient, http, parseAbi, parseEther, parseUnits, type Hex } from 'viem';
import pg from 'pg';
import type { BridgeSide, StackBridges } from '../../dev/stack/bridges.ts';
import { sendAndArrive } from '../support/bridge-plans.ts';
import {
  PATH_BUDGETS,
  pathOf,
  refreshRegistry,
  registerChains,
  registerPath,
  type Expect,
} from '../support/bridge-registry.ts';
import { stranger, type Delivery } from '../support/bridge-stranger.ts';
import { omniSupply } from '../support/omni-books.ts';
import { eventually, ownStack, type Created } from '../support/own-stack.ts';

const TEMPLATE = 'test/bridge-c';
const OMNI = parseAbi([
  'function totalSupply() view returns (uint256)',
  'function balanceOf(address) view returns (uint256)',
]);
let bridges: StackBridges;
const own = ownStack({ bridges: true, split: true });
beforeAll(async () => {
  bridges = own.stack.bridges!;
  const [from, to] = [bridges.near, bridges.far];
  const plan = sendAndArrive({ key: TEMPLATE, from, to, payee: treasury() });
  await own.api.expect(201, 'POST', '/plan-templates', plan);
}, 240_000);
afterEach(() => delivererFaults(null));

const clientOf = (side: BridgeSide) => createPublicClient({ transport: http(side.rpcUrl) });
const read = (side: BridgeSide): Promise<bigint> =>
  clientOf(side).readContract({
    address: side.contracts.omniToken,
    abi: OMNI,
    functionName: 'totalSupply',
  });
const balance = (side: BridgeSide, holder: Hex): Promise<bigint> =>
  clientOf(side).readContract({
    address: side.contracts.omniToken,
    abi: OMNI,
    functionName: 'balanceOf',
    args: [holder],
  });
const supply = (): Promise<bigint> => omniSupply(bridges);
const signer = (): Hex => own.stack.chain.accounts.signer.address;
const treasury = (): Hex => own.stack.chain.accounts.treasury.address;
const arrived = (): Promise<bigint> => balance(bridges.far, treasury());
const units = (amount: string): bigint => parseUnits(amount, 18);

async function delivererFaults(faults: object | null): Promise<void> {
  const answer = await fetch(`${bridges.delivererUrl}/faults`, {
    method: faults === null ? 'DELETE' : 'POST',
    ...(faults === null
      ? {}
      : { body: JSON.stringify(faults), headers: { 'content-type': 'application/json' } }),
  });
  if (!answer.ok) throw new Error(`the deliverer answered ${String(answer.status)}`);
}

async function bridge(amount: string): Promise<Created> {
  const created = await own.api.create(TEMPLATE, { amount, intent: { asset: 'OMNI' } });
  await own.api.approve(created);
  return created;
}

async function nodeOf({ movement_id }: Created, key: string) {
  const { nodes } = await own.api.movement(movement_id);
  return nodes.find(({ node_key }) => node_key === key);
}
const outputOf = async (made: Created, key: string): Promise<Record<string, unknown>> =>
  (await nodeOf(made, key))?.output ?? {};

/** Why a movement that must send nothing has failed. */
async function refusal(amount = '1'): Promise<string> {
  const before = await read(bridges.near);
  const made = await bridge(amount);
  await own.api.reaches(made.movement_id, 'FAILED', 60_000);
  expect(await read(bridges.near)).toBe(before);
  const send = await nodeOf(made, 'send');
  return `${String(send?.error_code)}: ${String(send?.error_message)}`;
}

const PATH = pathOf('near', 'far');
const expectOf: Expect = (...of) => own.api.expect(...of);
const putPath = (more: object = {}): Promise<unknown> =>
  expectOf(200, 'PUT', PATH, { enabled: true, ...PATH_BUDGETS, ...more });

test('nothing is sent over a path that is not ready, and each step says what is missing', async () => {
  expect(await refusal()).toContain('BRIDGE_PATH_NOT_READY: the bridge registry has no baseline');
  await registerChains(expectOf, bridges);
  await registerPath(expectOf, 'near', 'far');
  expect(await refusal()).toMatch(/BRIDGE_PATH_NOT_READY: .*stale.*stale.*no drill/);
  await refreshRegistry(expectOf);
  expect(await refusal()).toMatch(/^BRIDGE_PATH_NOT_READY: no drill/);
  await own.api.expect(200, 'POST', `${PATH}/drill-pass`, { evidence_path: 'drills/1' });
  await putPath({ enabled: false, disabled_reason: 'its library was changed' });
  expect(await refusal()).toBe(
    'BRIDGE_PATH_NOT_READY: the path is disabled: its library was changed',
  );
  await putPath({ fee_native_budget: '0.0004' });
  expect(await refusal()).toMatch(/^BRIDGE_FEE_OVER_BUDGET: the bridge charges 0.0005 /);
  // Six decimals travel: of the seventh nothing would arrive.
  await putPath();
  expect(await refusal('1.0000001')).toMatch(/^AMOUNT_PRECISION/);
}, 240_000);

test('sends on one chain, is received on the other, and tells what it cost', async () => {
  const [before, held] = [await supply(), await arrived()];
  const paid = await clientOf(bridges.near).getBalance({ address: signer() });
  const made = await bridge('25.5');
  await own.api.reaches(made.movement_id, 'COMPLETED', 120_000);
  const [send, arrive] = [await outputOf(made, 'send'), await outputOf(made, 'arrive')];
  expect(send).toMatchObject({
    submitted_amount: '25.5',
    destination_address: treasury(),
    // The tenth more that it carried came back.
    fee_amount: '0.00055',
    fee_asset: 'ETH',
  });
  expect(arrive).toMatchObject({ guid: send['guid'], received_amount: '25.5' });
  const left = await clientOf(bridges.near).getBalance({ address: signer() });
  const cost = parseEther('0.0005') + parseEther(String(send['gas_fee_amount']));
  expect(paid - left).toBe(cost);
  expect(await arrived()).toBe(held + units('25.5'));
  expect(await supply()).toBe(before);
  const { body } = await own.api.send('GET', `/movements/${made.movement_id}`);
  expect(body['outflow']).toEqual([{ asset: 'OMNI', amount: '25.5' }]);
}, 180_000);

test('a delivery that fails twice is waited for', async () => {
  const held = await arrived();
  await delivererFaults({ fail_times: 2, repeat: 1 });
  const made = await bridge('2');
  await own.api.reaches(made.movement_id, 'COMPLETED', 120_000);
  expect(await arrived()).toBe(held + units('2'));
}, 180_000);

test('an undelivered packet needs a person in time, and any account may deliver it', async () => {
  const held = await arrived();
  await delivererFaults({ deliver: false });
  await putPath({ detection_latency_budget_seconds: 1 });
  const made = await bridge('3');
  const attention = await eventually(
    async () => {
      const { body } = await own.api.send('GET', `/movements/${made.movement_id}`);
      const attention = body['attention'] as { reason: string; last_answer: string } | null;
      return attention?.reason === 'delivery_late' && attention.last_answer.includes('verified')
        ? attention
        : null;
    },
    { what: () => 'the delivery to be late', timeoutMs: 60_000 },
  );
  expect(attention).toMatchObject({ node_key: 'arrive' });
  const listed = await own.api.send('GET', '/movements?needs_attention=true');
  expect(JSON.stringify(listed.body)).toContain(made.movement_id);
  const arrive = await nodeOf(made, 'arrive');
  expect(arrive?.state).toBe('OBSERVING');
  expect(await arrived()).toBe(held);
  const { delivery } = arrive?.output as { delivery: Delivery };
  expect(delivery.chain_id).toBe(bridges.far.chainId);
  const { privateKey } = own.stack.chain.accounts.venueHotWallet;
  const hash = await stranger(privateKey).deliver(bridges.far, delivery);
  await own.api.reaches(made.movement_id, 'COMPLETED', 120_000);
  expect((await outputOf(made, 'arrive'))['tx_hash']).toBe(hash);
  expect(await arrived()).toBe(held + units('3'));
  await putPath();
}, 240_000);

test.each([
  [
    'frozen',
    "enabled = false, disabled_reason = 'drained'",
    'BRIDGE_PATH_NOT_READY: the path is disabled: drained',
  ],
  [
    'made cheaper than its fee',
    'fee_native_budget = 0.0004',
    'BRIDGE_FEE_OVER_BUDGET: the bridge fee is 0.00055; its path allows 0.0004 at most',
  ],
])(
  'a path that is %s between the last look and the fence is not taken',
  async (_how, set, why) => {
    const before = await read(bridges.near);
    const freezing = new pg.Client({ connectionString: own.stack.databaseUrl });
    await freezing.connect();
    await freezing.query('BEGIN');
    // Not committed yet, so invisible; the fence locks the rows it reads, and waits for the commit.
    await freezing.query(`UPDATE bridge_paths SET ${set}`);
    const made = await bridge('1');
    await eventually(
      async () =>
        (
          await own.query(
            `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND pid IN (
            SELECT unnest(ARRAY(SELECT pid FROM pg_locks WHERE NOT granted)))`,
          )
        ).length > 0 || null,
      { what: () => 'the fence to wait', timeoutMs: 60_000 },
    );
    await freezing.query('COMMIT');
    await freezing.end();
    await own.api.reaches(made.movement_id, 'FAILED', 60_000);
    const send = await nodeOf(made, 'send');
    expect(`${String(send?.error_code)}: ${String(send?.error_message)}`).toBe(why);
    expect(await read(bridges.near)).toBe(before);
    await putPath();
  },
  120_000,
);

test('whatever the worker is killed in, each send is received once', async () => {
  const [before, held] = [await supply(), await arrived()];
  const made: Created[] = [];
  for (let kills = 0; kills < 6; kills += 1) {
    made.push(await bridge('2'));
    await new Promise((resolve) => setTimeout(resolve, 150 + 337 * kills));
    await own.stack.kill('worker');
    await own.stack.startChild('worker');
  }
  for (const { movement_id } of made) await own.api.reaches(movement_id, 'COMPLETED', 120_000);
  expect(await arrived()).toBe(held + units('12'));
  expect(await supply()).toBe(before);
}, 600_000);
