/** Deposits and withdrawals at the simulated perps venue, on a chain that takes blocks back. */
import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { privateKeyToAccount } from 'viem/accounts';
import { PERP_BRIDGE } from '../../dev/simulators/perp/settings.ts';
import { freePort } from '../../dev/stack/ports.ts';
import { endProgram, eventually, startProgram, usdb, type Hex } from './bridge-stack.ts';
import {
  WHALE,
  callerOf,
  deposit,
  low,
  rowsOf,
  someone,
  startPerpChain,
  tokensOf,
  type PerpCaller,
  type PerpChainStack,
} from './perp-stack.ts';

let stack: PerpChainStack;
let perp: PerpCaller;
let child: ChildProcess;
let port = 0;
const whale = privateKeyToAccount(WHALE.privateKey);
const user = low(whale.address);

async function start(): Promise<void> {
  const { settings } = stack;
  child = await startProgram('perp-venue', {
    PERP_PORT: String(port),
    PERP_DIR: settings.dataDir,
    PERP_NETWORK: settings.network,
    PERP_CHAIN_RPC_URL: settings.rpcUrl,
    PERP_CHAIN_ID: String(settings.chainId),
    PERP_TOKEN: settings.token,
    PERP_BRIDGE_KEY: settings.bridgeKey,
  });
}
beforeAll(async () => {
  stack = await startPerpChain();
  port = await freePort();
  perp = callerOf(`http://127.0.0.1:${String(port)}`);
  await start();
});
afterAll(async () => {
  await endProgram(child);
  await stack.stop();
});
afterEach(async () => {
  await perp.faults({});
  await stack.chain.faults({ mining: 'automatic' });
});

const mining = (wish: 'paused' | 'automatic') => stack.chain.faults({ mining: wish });
/** Until a transaction of this address is in the pool. */
const waiting = (address: Hex) =>
  eventually(async () => {
    const { client } = stack.chain;
    const mined = await client.getTransactionCount({ address });
    const all = await client.getTransactionCount({ address, blockTag: 'pending' });
    return all > mined ? true : null;
  });
const rowOf = (hash: Hex) =>
  eventually(async () => (await perp.rows(user)).find((row) => row.hash === hash) ?? null);
async function overview(): Promise<{
  deposits: { key: string; credited: boolean }[];
  withdrawals: { nonce: number; paid: boolean; transaction: Hex | null }[];
}> {
  return (await fetch(`http://127.0.0.1:${String(port)}/accounts`)).json() as never;
}

test('a deposit is credited to its sender once it is three blocks deep', async () => {
  await mining('paused');
  const sending = deposit(stack.chain, usdb('250.5'));
  await waiting(WHALE.address);
  await stack.chain.mine(2);
  const { hash } = await sending;
  await sleep(500);
  expect(await perp.perp(user)).toBe('0.0');
  await stack.chain.mine(1);
  const row = await rowOf(hash);
  expect(row.delta).toEqual({ type: 'deposit', usdc: '250.5' });
  expect(await perp.perp(user)).toBe('250.5');
  expect(await perp.info({ type: 'userRole', user })).toEqual({ role: 'user' });
});

test('a deposit of less than five is lost, and so is one that is swallowed', async () => {
  const before = await perp.perp(user);
  const small = await deposit(stack.chain, usdb('4.999999'));
  const known = ({ hash }: { hash: Hex }) =>
    eventually(async () => {
      const { deposits } = await overview();
      return deposits.find(({ key }) => key === `${hash}:0`) ?? null;
    });
  expect(await known(small)).toMatchObject({ credited: false });
  await perp.faults({ swallow_deposits: true });
  expect(await known(await deposit(stack.chain, usdb('50')))).toMatchObject({ credited: false });
  await perp.faults({});
  await sleep(400);
  expect(await perp.perp(user)).toBe(before);
});

test('a deposit that a reorganisation takes back is not credited', async () => {
  const before = await perp.perp(user);
  await mining('paused');
  const sending = deposit(stack.chain, usdb('77'));
  await waiting(WHALE.address);
  await stack.chain.mine(2);
  const { block, hash } = await sending;
  const head = await stack.chain.client.getBlockNumber();
  await stack.chain.rollback(Number(head - block + 1n));
  await stack.chain.mine(6);
  await sleep(600);
  expect(await perp.perp(user)).toBe(before);
  expect((await overview()).deposits.some(({ key }) => key.startsWith(hash))).toBe(false);
});

test('a withdrawal is debited at once, paid once, and then has its row', async () => {
  const destination = low(someone('is paid').address);
  const before = Number(await perp.perp(user));
  await perp.as(whale).withdraw3({ destination, amount: '11.25' });
  const { nonce, body } = await perp.last();
  expect(Number(await perp.perp(user))).toBe(before - 11.25);
  expect(await tokensOf(stack.chain, destination)).toBe(0n);
  await perp.exchange(body);
  const [row, ...others] = await rowsOf(perp, user, 'withdraw');
  expect(others).toEqual([]);
  expect(row?.delta).toEqual({
    type: 'withdraw',
    usdc: '10.25',
    nonce: (nonce ?? 0) * 1_000,
    fee: '1.0',
  });
  const receipt = await stack.chain.client.getTransactionReceipt({ hash: row?.hash ?? '0x' });
  expect(receipt.status).toBe('success');
  expect(await tokensOf(stack.chain, destination)).toBe(usdb('10.25'));
});

test('a payment that is taken back is sent again; others wait while they are held', async () => {
  const destination = low(someone('is paid after all').address);
  await perp.faults({ hold_withdrawals: true, withdrawal_seconds: 0 });
  await perp.as(whale).withdraw3({ destination, amount: '6' });
  const { nonce } = await perp.last();
  const mine = async () => (await overview()).withdrawals.find((each) => each.nonce === nonce);
  await sleep(600);
  expect(await mine()).toMatchObject({ paid: false, transaction: null });
  await mining('paused');
  await perp.faults({ withdrawal_seconds: 0 });
  const hash = await eventually(async () => (await mine())?.transaction ?? null);
  await waiting(PERP_BRIDGE.address);
  await stack.chain.mine(1);
  await stack.chain.rollback(1);
  await mining('automatic');
  expect((await rowOf(hash)).delta).toMatchObject({ usdc: '5.0' });
  expect(await tokensOf(stack.chain, destination)).toBe(usdb('5'));
});

test('a killed venue comes back with its state and pays what it owes once', async () => {
  const destination = low(someone('is paid by the next process').address);
  await perp.faults({ withdrawal_seconds: 0 });
  await mining('paused');
  await perp.as(whale).withdraw3({ destination, amount: '7' });
  const { nonce, body } = await perp.last();
  const mine = async () => (await overview()).withdrawals.find((each) => each.nonce === nonce);
  const hash = await eventually(async () => (await mine())?.transaction ?? null);
  const agentAddress = low(someone('outlives a process').address);
  await perp.as(whale).approveAgent({ agentAddress, agentName: 'desk' });
  const before = [await perp.perp(user), await perp.rows(user), await perp.heard()];
  await endProgram(child, 'SIGKILL');
  await start();
  expect([await perp.perp(user), await perp.rows(user), await perp.heard()]).toEqual(before);
  expect((await perp.exchange(body)).text).toContain('duplicate nonce');
  expect(await perp.info({ type: 'userRole', user: agentAddress })).toMatchObject({
    role: 'agent',
    data: { user },
  });
  await mining('automatic');
  expect((await rowOf(hash)).delta).toMatchObject({ usdc: '6.0' });
  await sleep(1_000);
  expect(await tokensOf(stack.chain, destination)).toBe(usdb('6'));
  const rows = (await perp.rows(user)).filter(({ delta }) => delta['nonce'] === (nonce ?? 0) * 1e3);
  expect(rows).toHaveLength(1);
});
