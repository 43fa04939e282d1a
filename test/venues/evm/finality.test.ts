import {
  createWalletClient,
  encodeFunctionData,
  erc20Abi,
  getAddress,
  http,
  parseUnits,
  type Hex,
  toFunctionSelector,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { ExecutionContext, Executor } from '../../../domain/executor.ts';
import { asTheyAre, BLOCKS_TO_FINALITY, startChain } from './support/chain.ts';
import { call, contextOf, driveToSend, executorOf } from './support/node.ts';
import { started } from '../../support/started.ts';

const DESTINATION = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const TRANSFER_TOPIC = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/** Answers 1 to everything and logs nothing. */
const SILENT_TOKEN: Hex = '0x600160005260206000f3';
/** Answers 6 to reads; `transfer` does what the code says and answers 1. */
const tokenThat = (does: string): Hex =>
  `0x60003560f81c60a914601657600660005260206000f35b${does}600160005260206000f3`;
/**
 * `transfer` logs half the amount from `sender` (the caller, unless it is said) to `payee`;
 * both are EVM code that pushes them.
 */
const halvingToken = (payee: string, sender = '33'): Hex =>
  tokenThat(`60243560011c600052${payee}${sender}7f${TRANSFER_TOPIC}60206000a3`);
/** `transfer` logs nothing and hands its calldata to another contract. */
const passingToken = (other: string): Hex =>
  tokenThat(`36600060003760006000366000600073${other.slice(2)}5af150`);
/**
 * Logs the whole amount of what it is called with, from the account that signed the transaction to
 * the payee.
 */
const LOGGER: Hex = `0x602435600052600435327f${TRANSFER_TOPIC}60206000a300`;
const chain = started(() => startChain());

afterEach(async () => {
  chain.staleReceipts(false);
  chain.tellReceipts(asTheyAre);
  await chain.client.setAutomine(true);
});

async function sent(
  executor: Executor,
  changes: Partial<ExecutionContext> = {},
  token: string = chain.token,
) {
  const account = await chain.account();
  const context = contextOf(
    account,
    { token_address: token, destination_address: DESTINATION },
    changes,
  );
  const node = await driveToSend(executor, context, account);
  await node.submit();
  // The send is answered before the block that it causes is there.
  await chain.mined(node.signed.tx_hash as Hex);
  return {
    ...node,
    account,
    context,
    observe: () => executor.observe(context, call(), node.journal),
  };
}

describe('a mined transfer', () => {
  it('completes at once with one confirmation', async () => {
    const node = await sent(executorOf(chain));
    const result = await node.observe();
    expect(result).toMatchObject({
      next_state: 'COMPLETED',
      external_ref: node.signed.tx_hash,
      output: {
        tx_hash: node.signed.tx_hash,
        requested_amount: '25',
        submitted_amount: '25',
        received_amount: '25',
        fee_asset: 'ETH',
        destination_address: DESTINATION,
      },
    });
    expect(result.output?.['block_number']).toMatch(/^\d+$/);
  });

  it('waits for the confirmations that the venue asks for, its own block included', async () => {
    const node = await sent(executorOf(chain, { confirmations: 3 }));
    expect(await node.observe()).toMatchObject({
      next_state: 'OBSERVING',
      retry_after_seconds: 0.1,
    });
    await chain.client.mine({ blocks: 1 });
    expect(await node.observe()).toMatchObject({ next_state: 'OBSERVING' });
    await chain.client.mine({ blocks: 1 });
    expect(await node.observe()).toMatchObject({ next_state: 'COMPLETED' });
  });

  it('waits for the finalized tag when the plan asks for finality', async () => {
    for (const completion_assurance of ['destination_finalized', 'protocol_finalized'] as const) {
      const node = await sent(executorOf(chain), { completion_assurance });
      await chain.client.mine({ blocks: BLOCKS_TO_FINALITY - 1 });
      expect(await node.observe()).toMatchObject({ next_state: 'OBSERVING' });
      await chain.client.mine({ blocks: 1 });
      expect(await node.observe()).toMatchObject({ next_state: 'COMPLETED' });
    }
  });

  it('counts blocks for finality on a chain without the tag', async () => {
    const node = await sent(executorOf(chain, { finality_confirmations: 2 }), {
      completion_assurance: 'destination_finalized',
    });
    expect(await node.observe()).toMatchObject({ next_state: 'OBSERVING' });
    await chain.client.mine({ blocks: 1 });
    expect(await node.observe()).toMatchObject({ next_state: 'COMPLETED' });
  });

  it('is not believed while its receipt is of a block that is not on the chain', async () => {
    const node = await sent(executorOf(chain));
    chain.staleReceipts(true);
    expect(await node.observe()).toMatchObject({ next_state: 'OBSERVING' });
    chain.staleReceipts(false);
    expect(await node.observe()).toMatchObject({ next_state: 'COMPLETED' });
  });

  it('is observed, and sent, again after a reorganisation took it out', async () => {
    const node = await sent(executorOf(chain, { confirmations: 2 }));
    expect(await node.observe()).toMatchObject({ next_state: 'OBSERVING' });
    await chain.client.request({ method: 'anvil_reorg' as 'anvil_mine', params: [1, []] as never });
    expect(await chain.tokenBalance(node.account.address)).toBe(1_000_000_000n);
    await chain.client.setAutomine(false);
    await chain.client.dropTransaction({ hash: node.signed.tx_hash as Hex });
    expect(await node.observe()).toMatchObject({ next_state: 'OBSERVING' });
    await chain.client.mine({ blocks: 2 });
    expect(await node.observe()).toMatchObject({ next_state: 'COMPLETED' });
    expect(await chain.tokenBalance(node.account.address)).toBe(975_000_000n);
  });
});

describe('a transfer that requires a final block', () => {
  /** Sends it on a chain of this id that is bound so; what each look sees after so many blocks. */
  const looks = async (chain_id: number, venue: object, mined: readonly number[]) => {
    const own = await startChain(chain_id);
    try {
      const executor = executorOf(own, { chain_id, ...venue });
      const account = await own.account();
      const to = { chain_id, token_address: own.token, destination_address: DESTINATION };
      const context = contextOf(account, to, { completion_assurance: 'destination_finalized' });
      const node = await driveToSend(executor, context, account);
      await node.submit();
      await own.mined(node.signed.tx_hash as Hex);
      const answers: (string | undefined)[] = [];
      for (const blocks of mined) {
        if (blocks > 0) await own.client.mine({ blocks });
        const answer = await executor.observe(context, call(), node.journal);
        answers.push(answer.next_state === 'COMPLETED' ? answer.assurance : answer.next_state);
      }
      return answers;
    } finally {
      await own.stop();
    }
  };
  const waits = 'OBSERVING';

  it('is not completed before the tag says so on a chain that is known to have it', async () => {
    const mined = [0, BLOCKS_TO_FINALITY - 1, 1];
    expect(await looks(1, {}, mined)).toEqual([waits, waits, 'protocol_finalized']);
    expect(await looks(424_242, { finality: 'finalized_tag' }, mined)).toEqual([
      waits,
      waits,
      'protocol_finalized',
    ]);
  });

  it('is not completed before the blocks that are counted on a chain without', async () => {
    expect(await looks(146, {}, [0, BLOCKS_TO_FINALITY, 4, 1])).toEqual([
      waits,
      waits,
      waits,
      'protocol_finalized',
    ]);
    expect(await looks(424_242, { finality_confirmations: 6 }, [0, 4, 1])).toEqual([
      waits,
      waits,
      'protocol_finalized',
    ]);
  });

  it('is completed sooner where the entry says why less is enough', async () => {
    const sooner = { finality_confirmations: 2, finality_override: { reason: 'a test' } };
    expect(await looks(1, sooner, [0, 1])).toEqual([waits, 'protocol_finalized']);
  });
});

describe('the fee of a transfer', () => {
  it('is what its gas cost, and on a rollup what the chain beneath charged beside it', async () => {
    const node = await sent(executorOf(chain));
    const before = parseUnits('1', 18);
    const spent = before - (await chain.client.getBalance({ address: node.account.address }));
    const feeShown = async () =>
      parseUnits(String((await node.observe()).output?.['fee_amount']), 18);
    expect(spent).toBeGreaterThan(0n);
    expect(await feeShown()).toBe(spent);
    const beneath = 123_456_789_000_000_001n;
    chain.tellReceipts((receipt) =>
      receipt === null ? null : { ...receipt, l1Fee: `0x${beneath.toString(16)}` },
    );
    expect(await feeShown()).toBe(spent + beneath);
  });
});

describe('a reverted transfer', () => {
  it('fails only once its block is final', async () => {
    const executor = executorOf(chain);
    const account = await chain.account();
    const context = contextOf(account, {
      token_address: chain.token,
      destination_address: DESTINATION,
    });
    const node = await driveToSend(executor, context, account, 1);
    const wallet = createWalletClient({
      account: privateKeyToAccount(account.key),
      transport: http(chain.url),
    });
    const data = encodeFunctionData({
      abi: erc20Abi,
      functionName: 'transfer',
      args: [getAddress(DESTINATION), 990_000_000n],
    });
    await wallet.sendTransaction({ chain: null, to: chain.token, data, nonce: 0 });
    await node.submit();
    expect(await executor.observe(context, call(), node.journal)).toMatchObject({
      next_state: 'OBSERVING',
    });
    await chain.finalize();
    const result = await executor.observe(context, call(), node.journal);
    expect(result).toMatchObject({
      next_state: 'FAILED',
      error_code: 'TRANSACTION_REVERTED',
      error_message: expect.stringContaining(
        toFunctionSelector('InsufficientBalance(address,uint256,uint256)'),
      ),
      output: { tx_hash: node.signed.tx_hash },
    });
    expect(await executor.recover(context, call(), node.journal)).toMatchObject({
      next_state: 'FAILED',
      error_code: 'TRANSACTION_REVERTED',
    });
  });
});

describe('tokens that are not like others', () => {
  /** A failure would count as unsent, and would permit another send. */
  const expectUndecided = async (
    node: Awaited<ReturnType<typeof sent>>,
    code: string,
  ): Promise<void> => {
    await expect(node.observe()).rejects.toMatchObject({ code });
    const answer = await executorOf(chain).recover(node.context, call(), node.journal);
    expect(answer).toMatchObject({ next_state: 'UNKNOWN', error_code: code });
    expect(answer.error_message).toContain(node.signed.tx_hash);
  };
  const install = async (name: string, bytecode: Hex) => {
    const address = getAddress(`0x${Buffer.from(name.padEnd(20, '.')).toString('hex')}`);
    await chain.client.setCode({ address, bytecode });
    return address;
  };

  it('one that takes a fee on transfer: the received amount is what its log says', async () => {
    const token = await install('halving', halvingToken('600435'));
    const node = await sent(executorOf(chain), { amount: '0.000004' }, token);
    expect(await node.observe()).toMatchObject({
      next_state: 'COMPLETED',
      output: {
        requested_amount: '0.000004',
        submitted_amount: '0.000004',
        received_amount: '0.000002',
      },
    });
  });

  it('one that logs no transfer: undecided once final, never COMPLETED and never FAILED', async () => {
    const token = await install('silent', SILENT_TOKEN);
    const node = await sent(executorOf(chain), { amount: '0.1' }, token);
    expect(await node.observe()).toMatchObject({ next_state: 'OBSERVING' });
    await chain.finalize();
    await expectUndecided(node, 'TRANSFER_NOT_SEEN');
  });

  it("one that logs somebody else's transfer to the destination: that is not what was sent", async () => {
    const token = await install('foreign', halvingToken('600435', '6099'));
    const node = await sent(executorOf(chain), { amount: '0.000004' }, token);
    const { logs } = await chain.client.getTransactionReceipt({ hash: node.signed.tx_hash as Hex });
    expect(logs.map(({ address, topics }) => [address.toLowerCase(), topics.length])).toEqual([
      [token.toLowerCase(), 3],
    ]);
    await chain.finalize();
    await expectUndecided(node, 'TRANSFER_NOT_SEEN');
  });

  it('one that lets another contract log the transfer: that is another token', async () => {
    const other = await install('logger', LOGGER);
    const token = await install('passing', passingToken(other));
    const node = await sent(executorOf(chain), { amount: '0.000004' }, token);
    const { logs } = await chain.client.getTransactionReceipt({ hash: node.signed.tx_hash as Hex });
    const [from, to] = [node.account.address, DESTINATION].map(
      (address) => `0x${'0'.repeat(24)}${address.slice(2).toLowerCase()}`,
    );
    expect(logs.map(({ address, topics }) => [address.toLowerCase(), topics])).toEqual([
      [other.toLowerCase(), [`0x${TRANSFER_TOPIC}`, from, to]],
    ]);
    await chain.finalize();
    await expectUndecided(node, 'TRANSFER_NOT_SEEN');
  });

  it('one that sends the amount elsewhere: undecided with a code of its own', async () => {
    const token = await install('diverting', halvingToken('33'));
    const node = await sent(executorOf(chain), { amount: '0.000004' }, token);
    await chain.finalize();
    await expectUndecided(node, 'TRANSFER_DIVERTED');
  });
});
