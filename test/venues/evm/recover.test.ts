import { createWalletClient, http, parseUnits, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { Executor, ExecutionContext } from '../../../domain/executor.ts';
import { asTheyAre, startChain, type TestChain } from './support/chain.ts';
import {
  call,
  contextOf,
  driveToSend,
  executorOf,
  MemoryJournal,
  type Driven,
} from './support/node.ts';
import { started } from '../../support/started.ts';

const DESTINATION = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
let executor: Executor;
const chain = started(() => startChain());
beforeAll(() => {
  executor = executorOf(chain);
});

afterEach(async () => {
  chain.onSend('none');
  chain.tellReceipts(asTheyAre);
  await chain.client.setAutomine(true);
});

interface Case extends Driven {
  readonly account: Awaited<ReturnType<TestChain['account']>>;
  readonly context: ExecutionContext;
  received(): Promise<bigint>;
  sendsOfThis(): number;
  /** Another transaction of the same account, at `nonce`. */
  interfere(nonce: number): Promise<void>;
}

async function fenced(changes: Partial<ExecutionContext> = {}): Promise<Case> {
  const account = await chain.account();
  const destination = privateKeyToAccount(
    `0x${account.address.slice(2).padStart(64, '1')}`,
  ).address;
  const context = contextOf(
    account,
    { token_address: chain.token, destination_address: destination },
    changes,
  );
  const driven = await driveToSend(executor, context, account);
  return {
    ...driven,
    account,
    context,
    received: () => chain.tokenBalance(destination),
    sendsOfThis: () => chain.sends.filter((raw) => raw === driven.signed.raw_tx).length,
    async interfere(nonce) {
      const wallet = createWalletClient({
        account: privateKeyToAccount(account.key),
        transport: http(chain.url),
      });
      const hash = await wallet.sendTransaction({
        chain: null,
        to: account.address,
        value: 0n,
        nonce,
      });
      await chain.mined(hash);
    },
  };
}

const observe = (it: Case) => executor.observe(it.context, call(), it.journal);
const recover = (it: Case) => executor.recover(it.context, call(), it.journal);

describe('a submit', () => {
  it('broadcasts the signed bytes once and answers with their hash', async () => {
    const node = await fenced();
    expect(await node.submit()).toEqual({
      next_state: 'SUBMITTED',
      external_ref: node.signed.tx_hash,
    });
    expect(node.sendsOfThis()).toBe(1);
    expect(await observe(node)).toMatchObject({
      next_state: 'COMPLETED',
      output: { tx_hash: node.signed.tx_hash, received_amount: '25' },
    });
    expect(await node.received()).toBe(25_000_000n);
  });

  it('takes "already known" for accepted', async () => {
    const node = await fenced();
    await chain.client.setAutomine(false);
    await node.submit();
    expect(await node.submit()).toMatchObject({ next_state: 'SUBMITTED' });
    await chain.client.mine({ blocks: 1 });
    expect(await node.received()).toBe(25_000_000n);
  });

  it('does not repeat by itself a send that had no answer', async () => {
    const node = await fenced();
    chain.onSend('drop_before');
    await expect(node.submit()).rejects.toMatchObject({
      name: 'ExecutorFault',
      kind: 'unreachable',
    });
    expect(node.sendsOfThis()).toBe(1);
  });

  it('sends nothing after it was aborted', async () => {
    const node = await fenced();
    const input = {
      context: node.context,
      prepared_action: {},
      sign_result: { ...node.signed },
      journal: node.journal,
    };
    await expect(executor.submit(input, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: 'ExecutorFault',
      kind: 'timeout',
    });
    expect(node.sendsOfThis()).toBe(0);
  });

  it('refuses bytes that are another transfer, another account or have another hash', async () => {
    const [node, other] = [await fenced(), await fenced({ amount: '26' })];
    const submit = (sign_result: Record<string, string>) =>
      executor.submit(
        { context: node.context, prepared_action: {}, sign_result, journal: node.journal },
        call(),
      );
    await expect(submit({ ...other.signed })).rejects.toMatchObject({
      code: 'SIGNED_BYTES_MISMATCH',
    });
    await expect(
      submit({ raw_tx: node.signed.raw_tx, tx_hash: other.signed.tx_hash }),
    ).rejects.toMatchObject({
      code: 'SIGNED_BYTES_MISMATCH',
    });
    await expect(submit({})).rejects.toMatchObject({ code: 'SIGN_RESULT_MISSING' });
    expect(node.sendsOfThis() + other.sendsOfThis()).toBe(0);
  });
});

describe('a crash before anything was signed', () => {
  it('is READY again: without stored bytes nothing was sent', async () => {
    const node = await fenced();
    const journal = new MemoryJournal();
    expect(await executor.recover(node.context, call(), journal)).toEqual({ next_state: 'READY' });
    await expect(executor.observe(node.context, call(), journal)).rejects.toMatchObject({
      code: 'NOTHING_SUBMITTED',
    });
  });

  it('is READY again when a nonce was fenced without bytes', async () => {
    const node = await fenced();
    node.journal.entries = node.journal.entries.map(
      ({ raw_tx: _raw, tx_hash: _hash, ...fence }) => fence,
    );
    expect(await recover(node)).toMatchObject({ next_state: 'READY' });
  });
});

describe('a crash after the bytes were stored', () => {
  it('before the send: recover broadcasts the stored bytes and the money moves once', async () => {
    const node = await fenced();
    expect(await recover(node)).toMatchObject({
      next_state: 'OBSERVING',
      external_ref: node.signed.tx_hash,
    });
    expect(await recover(node)).toMatchObject({ next_state: 'COMPLETED' });
    expect(node.sendsOfThis()).toBe(1);
    expect(await node.received()).toBe(25_000_000n);
  });

  it('after a send whose answer was lost: recover finds it mined and sends nothing', async () => {
    const node = await fenced();
    chain.onSend('lose_answer');
    await expect(node.submit()).rejects.toMatchObject({ name: 'ExecutorFault' });
    expect(await recover(node)).toMatchObject({
      next_state: 'COMPLETED',
      external_ref: node.signed.tx_hash,
    });
    expect(node.sendsOfThis()).toBe(1);
    expect(await node.received()).toBe(25_000_000n);
  });

  it('after a send that waits in the pool: the same bytes again change nothing', async () => {
    const node = await fenced();
    await chain.client.setAutomine(false);
    await node.submit();
    expect(await recover(node)).toMatchObject({ next_state: 'OBSERVING' });
    expect(await recover(node)).toMatchObject({ next_state: 'OBSERVING' });
    await chain.client.mine({ blocks: 1 });
    expect(await recover(node)).toMatchObject({ next_state: 'COMPLETED' });
    expect(await node.received()).toBe(25_000_000n);
  });

  it('with the endpoint out of reach: a fault, and no opinion', async () => {
    const node = await fenced();
    const cut = executorOf({ url: 'http://127.0.0.1:9' });
    await expect(cut.recover(node.context, call(), node.journal)).rejects.toMatchObject({
      name: 'ExecutorFault',
      kind: 'unreachable',
    });
  });

  it('with bytes that are not the planned transfer: UNKNOWN, and they are never broadcast', async () => {
    const [node, other] = [await fenced(), await fenced({ amount: '26' })];
    node.journal.entries = other.journal.entries;
    expect(await recover(node)).toMatchObject({
      next_state: 'UNKNOWN',
      error_code: 'SIGNED_BYTES_MISMATCH',
    });
    await expect(observe(node)).rejects.toMatchObject({ code: 'SIGNED_BYTES_MISMATCH' });
    expect(other.sendsOfThis()).toBe(0);
  });
});

describe('a transaction that left the pool', () => {
  it('is broadcast again by observe, with the same bytes', async () => {
    const node = await fenced();
    await chain.client.setAutomine(false);
    await node.submit();
    await chain.client.dropTransaction({ hash: node.signed.tx_hash as Hex });
    expect(await observe(node)).toMatchObject({ next_state: 'OBSERVING' });
    expect(node.sendsOfThis()).toBe(2);
    expect(await observe(node)).toMatchObject({ next_state: 'OBSERVING' });
    expect(node.sendsOfThis()).toBe(2);
    await chain.client.mine({ blocks: 1 });
    expect(await observe(node)).toMatchObject({ next_state: 'COMPLETED' });
  });

  it('stays OBSERVING with the reason while the node refuses it', async () => {
    const node = await fenced();
    await chain.client.setBalance({ address: node.account.address, value: 0n });
    expect(await recover(node)).toMatchObject({
      next_state: 'OBSERVING',
      error_code: 'BROADCAST_REFUSED',
      error_message: expect.stringMatching(/funds/i),
    });
    await chain.client.setBalance({ address: node.account.address, value: 10n ** 18n });
    await observe(node);
    expect(await observe(node)).toMatchObject({ next_state: 'COMPLETED' });
  });
});

describe('a nonce that another transaction used', () => {
  it('is kept until that transaction is in a finalized block, then released and READY', async () => {
    const node = await fenced();
    await node.interfere(0);
    expect(await recover(node)).toMatchObject({
      next_state: 'OBSERVING',
      error_code: 'BROADCAST_REFUSED',
    });
    expect(node.journal.released).toEqual([]);
    await chain.finalize();
    expect(await recover(node)).toMatchObject({ next_state: 'READY' });
    expect(node.journal.released).toEqual([0]);
    expect(await node.received()).toBe(0n);
  });

  it('is proven however far back it was used', async () => {
    const node = await fenced();
    for (const nonce of [0, 1, 2]) await node.interfere(nonce);
    await chain.client.mine({ blocks: 37 });
    expect(await recover(node)).toMatchObject({ next_state: 'READY' });
  });

  it('ends a node that was being observed as FAILED, which is proven', async () => {
    const node = await fenced();
    await node.interfere(0);
    await chain.finalize();
    expect(await observe(node)).toMatchObject({
      next_state: 'FAILED',
      error_code: 'NONCE_USED_ELSEWHERE',
    });
    expect(node.journal.released).toEqual([0]);
  });

  it('is our own when our hash is in the finalized block, though the endpoint has no receipt of it', async () => {
    const node = await fenced();
    await node.submit();
    await chain.mined(node.signed.tx_hash as Hex);
    await chain.finalize();
    chain.tellReceipts(() => null);
    for (const ask of [recover, observe])
      await expect(ask(node)).rejects.toMatchObject({
        kind: 'server_error',
        code: 'RECEIPT_MISSING',
      });
    expect(node.journal.released).toEqual([]);
    chain.tellReceipts(asTheyAre);
    expect(await recover(node)).toMatchObject({
      next_state: 'COMPLETED',
      external_ref: node.signed.tx_hash,
    });
    expect(await node.received()).toBe(25_000_000n);
  });

  it('is one of several that the node has signed with, and each of them is released', async () => {
    const node = await fenced();
    const second = await driveToSend(executor, node.context, node.account, 1);
    node.journal.entries.push(...second.journal.entries);
    for (const nonce of [0, 1]) await node.interfere(nonce);
    await chain.finalize();
    expect(await recover(node)).toMatchObject({ next_state: 'READY' });
    expect([...node.journal.released].sort()).toEqual([0, 1]);
  });

  it('makes nothing READY while a later transaction of the node may still be mined', async () => {
    const node = await fenced();
    await node.interfere(0);
    await chain.finalize();
    const second = await driveToSend(executor, node.context, node.account);
    node.journal.entries.push(...second.journal.entries);
    expect(await recover(node)).toMatchObject({
      next_state: 'OBSERVING',
      external_ref: second.signed.tx_hash,
    });
    expect(await recover(node)).toMatchObject({
      next_state: 'COMPLETED',
      external_ref: second.signed.tx_hash,
    });
    expect(await node.received()).toBe(25_000_000n);
    expect(node.journal.released).toEqual([]);
  });

  it('is no proof when a replacement of the node itself used it', async () => {
    const node = await fenced();
    await chain.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 5_000_000_000n });
    await chain.client.mine({ blocks: 1 });
    const replacement = await driveToSend(executor, node.context, node.account, 0);
    await replacement.submit();
    node.journal.entries.push(...replacement.journal.entries);
    await chain.finalize();
    expect(await recover(node)).toMatchObject({
      next_state: 'COMPLETED',
      external_ref: replacement.signed.tx_hash,
    });
    expect(await node.received()).toBe(25_000_000n);
  });
});

describe('a database that was restored', () => {
  /** No nonce is known, as when the first transactions of the account are lost. */
  const nothingKnown = (_account: unknown, count: number) =>
    Promise.resolve(Array.from({ length: count }, (_, nonce) => ({ nonce, open: false })));

  it('may have forgotten a send, which a used nonce shows: UNKNOWN', async () => {
    const node = await fenced();
    node.journal.entries = [];
    node.journal.unknownNonces = nothingKnown;
    expect(await recover(node)).toMatchObject({ next_state: 'READY' });
    await node.interfere(0);
    expect(await recover(node)).toMatchObject({
      next_state: 'UNKNOWN',
      error_code: 'TRANSACTION_FORGOTTEN',
    });
    // Another of ours is signed for that nonce since: which of the two has used it is not known
    // before its end.
    node.journal.unknownNonces = () => Promise.resolve([{ nonce: 0, open: true }]);
    await expect(recover(node)).rejects.toMatchObject({ code: 'NONCE_UNSETTLED' });
    node.journal.unknownNonces = () => Promise.resolve([]);
    expect(await recover(node)).toMatchObject({ next_state: 'READY' });
  });

  it('may have forgotten other bytes of the node, so a nonce that another transaction used proves nothing', async () => {
    const node = await fenced();
    node.journal.unknownNonces = nothingKnown;
    await node.interfere(0);
    await chain.finalize();
    expect(await recover(node)).toMatchObject({
      next_state: 'UNKNOWN',
      error_code: 'TRANSACTION_FORGOTTEN',
    });
    expect(node.journal.released).toEqual([]);
  });
});

describe('cancel', () => {
  it('recalls nothing: what was sent is observed on', async () => {
    const node = await fenced();
    const sent = { ...node.context, prior: { external_ref: node.signed.tx_hash } };
    expect(await executor.cancel(sent, call())).toEqual({
      next_state: 'OBSERVING',
      external_ref: node.signed.tx_hash,
    });
    expect(await executor.cancel(node.context, call())).toEqual({ next_state: 'SUBMITTING' });
  });

  it('leaves a native transfer to reach its destination', async () => {
    const account = await chain.account();
    const context = contextOf(account, { destination_address: DESTINATION }, { amount: '0.25' });
    const before = await chain.client.getBalance({ address: DESTINATION });
    const node = await driveToSend(executor, context, account);
    await node.submit();
    await chain.mined(node.signed.tx_hash as Hex);
    const result = await executor.observe(context, call(), node.journal);
    expect(result).toMatchObject({
      next_state: 'COMPLETED',
      output: { received_amount: '0.25', fee_asset: 'ETH', destination_address: DESTINATION },
    });
    expect((await chain.client.getBalance({ address: DESTINATION })) - before).toBe(
      parseUnits('0.25', 18),
    );
    const left = await chain.client.getBalance({ address: account.address });
    const spent = parseUnits('1', 18) - left;
    expect(parseUnits(String(result.output?.['fee_amount']), 18)).toBe(
      spent - parseUnits('0.25', 18),
    );
  });
});
