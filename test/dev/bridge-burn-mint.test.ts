/** The burn-and-mint lane on two real chains, with the attester between them. */
import { parseEventLogs } from 'viem';
import type { Running } from '../../dev/simulators/kit/process.ts';
import { startAttester } from '../../dev/simulators/bridge/attester/start.ts';
import { TOKEN_MESSENGER } from '../../dev/simulators/bridge/contracts/artifacts.ts';
import { FEE_COLLECTOR } from '../../dev/simulators/bridge/lanes.ts';
import { createAttester } from '../../venues/burn-mint/attester.ts';
import { differs, readMessage } from '../../venues/burn-mint/message.ts';
import {
  PAYEE,
  SIGNER,
  STRANGER,
  approveBurns,
  ask,
  balance,
  burn,
  burnCall,
  complete,
  mintCall,
  post,
  startLanes,
  supply,
  usdb,
  type TestLanes,
} from './bridge-stack.ts';

let lanes: TestLanes;
let attester: Running;
beforeAll(async () => {
  lanes = await startLanes();
  await Promise.all([approveBurns(lanes.near), approveBurns(lanes.far)]);
  attester = await startAttester({ port: 0, dataDir: lanes.folder, urls: lanes.urls });
});
afterAll(async () => {
  await attester.close();
  await lanes.stop();
});
beforeEach(() => fetch(`${attester.url}/faults`, { method: 'DELETE' }));

const faults = (wish: object): Promise<Response> =>
  post(`${attester.url}/faults`, JSON.stringify(wish));
const total = async (): Promise<bigint> =>
  (await supply(lanes.near, lanes.near.contracts.burnToken)) +
  (await supply(lanes.far, lanes.far.contracts.burnToken));

test('what is burnt is minted once on the other chain, and the supplies add up', async () => {
  const { near, far } = lanes;
  const before = await total();
  const had = await balance(far, far.contracts.burnToken, PAYEE);
  const { transaction, message } = await burn(near, far, { amount: usdb('12.5') });
  expect(await total()).toBe(before - usdb('12.5'));
  expect((await ask(attester.url, near, transaction))?.status).toBe('pending_confirmations');
  await near.mine(3);
  const shown = await complete(attester.url, near, transaction);
  expect(shown.decodedMessage?.finalityThresholdExecuted).toBe('2000');
  expect(shown.message.length).toBe(message.length);
  const minted = await far.send(mintCall(far, shown.message, shown.attestation));
  expect(minted.status).toBe('success');
  const [event] = parseEventLogs({
    ...TOKEN_MESSENGER,
    logs: minted.logs,
    eventName: 'MintAndWithdraw',
  });
  expect(event?.args).toMatchObject({ amount: usdb('12.5'), feeCollected: 0n });
  expect(await balance(far, far.contracts.burnToken, PAYEE)).toBe(had + usdb('12.5'));
  expect(await total()).toBe(before);
  // Any account may bring it, but only once.
  const again = mintCall(far, shown.message, shown.attestation);
  expect(await far.refusal(again)).toContain('Nonce already used');
  expect((await far.send(again, STRANGER)).status).toBe('reverted');
  expect(await total()).toBe(before);
});

test('a fast burn is attested in its first block, and pays for it', async () => {
  const { near, far } = lanes;
  const paid = await balance(near, near.contracts.burnToken, FEE_COLLECTOR);
  const terms = { amount: usdb('100'), maxFee: usdb('0.05'), threshold: 1000 } as const;
  const { transaction } = await burn(far, near, terms);
  const shown = await complete(attester.url, far, transaction);
  expect(shown.decodedMessage?.finalityThresholdExecuted).toBe('1000');
  expect(shown.decodedMessage?.decodedMessageBody['feeExecuted']).toBe('10000');
  await near.send(mintCall(near, shown.message, shown.attestation));
  const fee = (await balance(near, near.contracts.burnToken, FEE_COLLECTOR)) - paid;
  expect(fee).toBe(usdb('0.01'));
});

test('a fast burn that allows too little waits until it is final', async () => {
  const { near, far } = lanes;
  const { transaction } = await burn(near, far, { maxFee: 1n, threshold: 1000 });
  expect((await ask(attester.url, near, transaction))?.status).toBe('pending_confirmations');
  await near.mine(3);
  const shown = await complete(attester.url, near, transaction);
  expect(shown.decodedMessage?.finalityThresholdExecuted).toBe('2000');
});

test('an expired attestation is refused; a new one is accepted', async () => {
  const { near, far } = lanes;
  const terms = { maxFee: usdb('0.1'), threshold: 1000 } as const;
  await faults({ expires_in_blocks: 0 });
  const { transaction } = await burn(near, far, terms);
  const old = await complete(attester.url, near, transaction);
  const refused = await far.refusal(mintCall(far, old.message, old.attestation));
  expect(refused).toContain('Message expired and must be re-signed');
  await faults({ delay_ms: 60_000 });
  expect((await post(`${attester.url}/v2/reattest/${old.eventNonce}`)).status).toBe(200);
  expect((await complete(attester.url, near, transaction)).message).toBe(old.message);
  await faults({});
  const fresh = await complete(attester.url, near, transaction);
  expect(fresh.eventNonce).toBe(old.eventNonce);
  expect((await far.send(mintCall(far, fresh.message, fresh.attestation))).status).toBe('success');
  expect((await post(`${attester.url}/v2/reattest/0x${'1'.repeat(64)}`)).status).toBe(404);
});

test('a message with a caller is brought by that caller alone', async () => {
  const { near, far } = lanes;
  const { transaction } = await burn(near, far, { caller: SIGNER.address });
  await near.mine(3);
  const shown = await complete(attester.url, near, transaction);
  const call = mintCall(far, shown.message, shown.attestation);
  expect(await far.refusal(call, STRANGER)).toContain('Invalid caller for message');
  expect(await far.refusal(call)).toBeNull();
});

test('the contracts refuse what the published ones refuse', async () => {
  const { near, far } = lanes;
  const amount = usdb('1');
  const refusal = (terms: object): Promise<string | null> =>
    near.refusal(burnCall(near, far, { amount, ...terms }));
  expect(await refusal({ maxFee: amount })).toContain('Max fee must be less than amount');
  expect(await refusal({ amount: 0n })).toContain('Amount must be nonzero');
  expect(await refusal({ domain: 99 })).toContain('No TokenMessenger for domain');
  const setMinFee = (to: bigint) => ({
    to: near.contracts.tokenMessenger,
    abi: TOKEN_MESSENGER.abi,
    functionName: 'setMinFee',
    args: [to],
  });
  await near.send(setMinFee(10_000n), near.deployer);
  expect(await refusal({ maxFee: 999n })).toContain('Insufficient max fee');
  expect(await refusal({ maxFee: 1_000n })).toBeNull();
  await near.send(setMinFee(0n), near.deployer);
});

test('what an attester tells wrongly is well signed, and only a contract would notice', async () => {
  const { near, far } = lanes;
  const { transaction, message } = await burn(near, far, { maxFee: 5n });
  await near.mine(3);
  const attested = async (wish: object) => {
    await faults(wish);
    const { message, attestation } = await complete(attester.url, near, transaction);
    return { message, refusal: await far.refusal(mintCall(far, message, attestation)) };
  };
  expect((await attested({ tells: 'above_max_fee' })).refusal).toContain('Fee exceeds max fee');
  const other = await attested({ tells: 'other_amount' });
  expect(other.refusal).toBeNull();
  expect(other.message.slice(0, 26)).toBe(message.slice(0, 26));
  expect((await attested({ signatures: 'forged' })).refusal).toContain(
    'Invalid signature: not attester',
  );
  expect((await attested({ signatures: 'disordered' })).refusal).toContain(
    'Invalid signature order or dupe',
  );
  expect((await attested({})).refusal).toBeNull();
});

test('the attester keeps silent, fails, loses answers and limits on demand', async () => {
  const { near, far } = lanes;
  const { transaction } = await burn(near, far);
  await near.mine(3);
  const look = () => ask(attester.url, near, transaction);
  await faults({ attestation: 'unknown' });
  expect(await look()).toBeNull();
  await faults({ attestation: 'never' });
  expect((await look())?.status).toBe('pending_confirmations');
  await faults({ error_rate: 1, error_status: 503, remaining: 1 });
  await expect(look()).rejects.toThrow('503');
  await faults({ lose_answer_rate: 1, remaining: 1 });
  await expect(look()).rejects.toThrow('fetch failed');
  expect((await look())?.status).toBe('complete');
  await faults({ limit_per_second: 1, limit_ms: 600_000 });
  await expect(Promise.all([look(), look(), look()])).rejects.toThrow('429');
  await expect(look()).rejects.toThrow('429');
  await fetch(`${attester.url}/faults`, { method: 'DELETE' });
  expect((await look())?.status).toBe('complete');
  expect((await faults({ no_such_fault: true })).status).toBe(400);
  expect(await ask(attester.url, near, `0x${'ab'.repeat(32)}`)).toBeNull();
});

test('the service reads what the simulator says', async () => {
  const { near, far } = lanes;
  const { transaction, message } = await burn(near, far, { maxFee: usdb('0.1'), threshold: 1000 });
  const lane = { domain: near.domain, attester_url: attester.url };
  const call = { signal: AbortSignal.timeout(10_000), traceHeaders: {} };
  const service = createAttester();
  try {
    await faults({ attestation: 'never' });
    expect(await service.messagesOf(lane, transaction, call)).toEqual([]);
    await faults({});
    const [shown] = await service.messagesOf(lane, transaction, call);
    const emitted = readMessage(message);
    const attested = readMessage(shown?.message ?? '');
    if (!emitted.ok || !attested.ok) throw new Error('a message could not be read');
    expect(differs(attested.message, emitted.message)).toBeNull();
    await service.reattest(lane, attested.message.nonce, call);
    await faults({ tells: 'other_recipient' });
    const [wrong] = await service.messagesOf(lane, transaction, call);
    const other = readMessage(wrong?.message ?? '');
    expect(other.ok && differs(other.message, emitted.message)).toContain('mint_recipient');
  } finally {
    await service.close();
  }
});

test('a burn whose block is taken back is not attested', async () => {
  const { near, far } = lanes;
  const { transaction } = await burn(near, far);
  expect((await ask(attester.url, near, transaction))?.status).toBe('pending_confirmations');
  const { blockNumber } = await near.client.getTransactionReceipt({ hash: transaction });
  const head = await near.client.getBlockNumber();
  // One more than it takes, since a block may come meanwhile.
  await near.rollback(Number(head - blockNumber) + 2);
  expect(await ask(attester.url, near, transaction)).toBeNull();
});
