/** Several endpoints of one chain: one may be silent or lie, and nothing is believed absent. */
import { pad, parseGwei, toHex, type Address, type Hash, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { SignedNode } from '../../../domain/signing.ts';
import { createLocalSigner } from '../../../signers/local.ts';
import { createEvmTransferExecutor } from '../../../venues/evm/transfer.ts';
import { isHeld, readReceipt } from '../../../venues/evm/client.ts';
import { createEvmSigning } from '../../../venues/evm/signing.ts';
import { agreedFate } from '../../../venues/evm/nonce-proof.ts';
import { CHAIN_ID, startChain, type TestChain } from './support/chain.ts';
import { CUT, LIMITED, startLiar, type Liar, type Twist } from './support/liar.ts';
import { call, chainsOf, contextOf, driveToSend } from './support/node.ts';

let chain: TestChain;
let one: Liar;
let other: Liar;
beforeAll(async () => {
  chain = await startChain();
  [one, other] = await Promise.all([startLiar(chain.url), startLiar(chain.url)]);
});
afterAll(async () => {
  await Promise.all([one?.stop(), other?.stop()]);
  await chain?.stop();
});
afterEach(async () => {
  for (const liar of [one, other]) liar.twist((_request, answer) => answer);
  await chain.client.setAutomine(true);
});

/** The token as the venues file lists it, at two endpoints. */
const among = (token: { readonly decimals?: number }) =>
  chainsOf(
    { url: one.url },
    {
      more_rpc_urls: [other.url],
      tokens: [{ asset: 'TST', address: chain.token, ...token }],
    },
  );
const both = () => among({ decimals: 6 });
const opened = () => both().open(CHAIN_ID, call());
const cut = () => CUT;
/** Nothing is there. */
const blind = ({ method }: { readonly method: string }, answer: unknown): unknown =>
  method === 'eth_getTransactionReceipt' || method === 'eth_getTransactionByHash' ? null : answer;

/** A transfer that is in a final block. */
async function mined() {
  const account = await chain.account();
  const destination = await chain.account();
  const executor = createEvmTransferExecutor(both());
  const context = contextOf(account, {
    token_address: chain.token,
    destination_address: destination.address,
  });
  const driven = await driveToSend(executor, context, account);
  await driven.submit();
  const hash = driven.signed.tx_hash as `0x${string}`;
  await chain.mined(hash);
  await chain.finalize();
  return { account, hash, executor, context, journal: driven.journal };
}

test('a silent endpoint is passed over, for reads and for sends', async () => {
  one.twist(cut);
  const { hash } = await mined();
  expect(await readReceipt(await opened(), hash)).toMatchObject({ status: 'success' });
  one.twist((_request, answer) => answer);
  other.twist(cut);
  expect(await isHeld(await opened(), hash)).toBe(true);
});

const frozen = { ends: false, needs_retry: false, why: 'frozen' };

/** Signed and stored, and sent to no endpoint. */
async function signed() {
  const account = await chain.account();
  const executor = createEvmTransferExecutor(both());
  const context = contextOf(account, {
    token_address: chain.token,
    destination_address: (await chain.account()).address,
  });
  return { account, executor, context, ...(await driveToSend(executor, context, account)) };
}

test('the next endpoint gets nothing that is stopped while the first one is silent', async () => {
  const { journal, submit } = await signed();
  let reads = 0;
  one.twist(({ method }, answer) => {
    if (method !== 'eth_sendRawTransaction') return answer;
    reads += 1;
    journal.stop = frozen;
    return CUT;
  });
  other.twist(({ method }, answer) => {
    if (method === 'eth_sendRawTransaction') reads += 1;
    return answer;
  });
  await expect(submit()).rejects.toMatchObject({ code: 'SEND_HELD' });
  expect(reads).toBe(1);
});

test('what is stopped between the first question and the send stays here', async () => {
  const { signed: bytes, journal, executor, context } = await signed();
  let reads = 0;
  journal.held = () => Promise.resolve(reads++ === 0 ? null : frozen);
  await expect(executor.recover(context, call(), journal)).rejects.toMatchObject({
    kind: 'not_yet',
    code: 'SEND_HELD',
  });
  expect(reads).toBe(2);
  expect(await isHeld(await opened(), bytes.tx_hash as `0x${string}`)).toBe(false);
});

test('one that falls silent in the middle of a call is passed over too', async () => {
  const connection = await opened();
  one.twist(cut);
  other.twist((_request, answer) => answer);
  expect(await connection.ask((client) => client.getBlockNumber())).toBeGreaterThan(0n);
});

test('what one does not find is looked up at the other', async () => {
  const { hash } = await mined();
  one.twist(blind);
  expect(await readReceipt(await opened(), hash)).toMatchObject({ status: 'success' });
  other.twist(blind);
  expect(await readReceipt(await opened(), hash)).toBeNull();
});

test('nothing counts as not found while the second is silent', async () => {
  const { hash } = await mined();
  one.twist(blind);
  other.twist(cut);
  await expect(readReceipt(await opened(), hash)).rejects.toMatchObject({
    code: 'NOT_FOUND_UNCONFIRMED',
  });
});

test('an endpoint of another chain stops everything, whichever it is', async () => {
  for (const liar of [one, other]) {
    liar.twist(({ method }, answer) => (method === 'eth_chainId' ? '0x1' : answer));
    await expect(opened()).rejects.toMatchObject({ code: 'CHAIN_ID_MISMATCH', kind: 'rejected' });
    liar.twist((_request, answer) => answer);
  }
});

test('the next nonce is the lowest that an endpoint counts, and silence of one counts nothing', async () => {
  const { account } = await mined();
  const next = () => createEvmSigning(both()).nextNonce(CHAIN_ID, account.address, call());
  for (const liar of [one, other]) {
    liar.twist(({ method }, answer) => (method === 'eth_getTransactionCount' ? '0xf4240' : answer));
    expect(await next()).toBe(1);
    liar.twist(cut);
    expect(await next()).toBe(1);
    liar.twist((_request, answer) => answer);
  }
});

test('a nonce that only counts as used is no proof: the transaction that used it has to be shown', async () => {
  const { account } = await mined();
  // Nonce 1 is free; both endpoints count one transaction too many.
  for (const liar of [one, other])
    liar.twist(({ method }, answer) =>
      method === 'eth_getTransactionCount' ? `0x${(Number(answer) + 1).toString(16)}` : answer,
    );
  expect(await agreedFate(await opened(), account.address, 1)).toEqual({ kind: 'unprovable' });
});

test('a payment is not abandoned when endpoints hide it and count too many', async () => {
  const { executor, context, journal, hash } = await mined();
  for (const liar of [one, other]) liar.twist(blind);
  // It is in a final block: the account's transaction with this nonce is its own.
  await expect(executor.recover(context, call(), journal)).rejects.toMatchObject({
    code: 'RECEIPT_MISSING',
  });
  expect(journal.released).toEqual([]);
  for (const liar of [one, other]) liar.twist((_request, answer) => answer);
  expect(await executor.recover(context, call(), journal)).toMatchObject({
    next_state: 'COMPLETED',
    external_ref: hash,
  });
});

/** The newest block that is final, once more blocks were made. */
async function finalBlock() {
  await chain.finalize();
  return chain.client.getBlock({ blockTag: 'finalized' });
}

test('a revert that one endpoint alone shows fails no payment: a retry would pay again', async () => {
  const { executor, context, journal, hash } = await mined();
  one.twist(({ method }, answer) =>
    method === 'eth_getTransactionReceipt'
      ? { ...(answer as object), status: '0x0', logs: [] }
      : answer,
  );
  for (const phase of ['observe', 'recover'] as const)
    expect(await executor[phase](context, call(), journal)).toMatchObject({
      next_state: 'OBSERVING',
    });
  one.twist((_request, answer) => answer);
  expect(await executor.observe(context, call(), journal)).toMatchObject({
    next_state: 'COMPLETED',
    external_ref: hash,
  });
});

test('a zero-value version that one endpoint alone shows ends no payment', async () => {
  const { account, executor, context, journal, signed: bytes, submit } = await signed();
  const payment = journal.entries[0]!;
  const unsigned = { ...payment.unsigned, to: account.address, value: '0', data: '0x' };
  const signer = createLocalSigner({ signer_key: 'test', chain_family: 'evm' }, account.key);
  const nothing = await signer.signEvmTransaction(unsigned, payment.nonce);
  journal.entries.push({
    ...payment,
    transaction_id: 'second',
    kind: 'cancel',
    unsigned,
    ...nothing,
  });
  const { number, hash: blockHash } = await finalBlock();
  const receipt = {
    transactionHash: nothing.tx_hash,
    transactionIndex: '0x0',
    blockHash,
    blockNumber: toHex(number),
    status: '0x1',
    logs: [],
    logsBloom: '0x',
    from: account.address,
    to: account.address,
    gasUsed: '0x5208',
    cumulativeGasUsed: '0x5208',
    effectiveGasPrice: '0x1',
    contractAddress: null,
    type: '0x2',
  };
  one.twist(({ method, params }, answer) =>
    method === 'eth_getTransactionReceipt' && params[0] === nothing.tx_hash ? receipt : answer,
  );
  for (const phase of ['observe', 'recover'] as const)
    expect(await executor[phase](context, call(), journal)).toMatchObject({
      next_state: 'OBSERVING',
      external_ref: nothing.tx_hash,
    });
  one.twist((_request, answer) => answer);
  await submit();
  await chain.mined(bytes.tx_hash as Hash);
  expect(await executor.observe(context, call(), journal)).toMatchObject({
    next_state: 'COMPLETED',
    external_ref: bytes.tx_hash,
  });
});

describe('a nonce that an endpoint shows as used in a final block', () => {
  const [FIRST, SECOND] = [`0x${'ab'.repeat(32)}`, `0x${'cd'.repeat(32)}`] as const;
  /** Shows nonce 0 of the account as used in this block, by a transaction that does not exist. */
  const usedBy =
    (hash: Hash, address: Address, block: bigint): Twist =>
    ({ method, params: [of, at] }, answer) => {
      if (method === 'eth_getTransactionCount')
        return at === 'latest' || BigInt(String(at)) >= block ? '0x1' : '0x0';
      return method === 'eth_getBlockByNumber' && of === toHex(block) && at === true
        ? { ...(answer as object), transactions: [{ from: address, nonce: '0x0', hash }] }
        : answer;
    };

  test('is open while the other endpoint counts it as free', async () => {
    const { account, executor, context, journal, signed: bytes } = await signed();
    const { number } = await finalBlock();
    one.twist(usedBy(FIRST, account.address, number));
    expect(await agreedFate(await opened(), account.address, 0)).toEqual({ kind: 'open' });
    expect(await executor.recover(context, call(), journal)).toMatchObject({
      next_state: 'OBSERVING',
      external_ref: bytes.tx_hash,
    });
    expect(journal.released).toEqual([]);
    one.twist((_request, answer) => answer);
    await chain.mined(bytes.tx_hash as Hash);
    expect(await executor.recover(context, call(), journal)).toMatchObject({
      next_state: 'COMPLETED',
      external_ref: bytes.tx_hash,
    });
  });

  test('is unprovable while the other endpoint shows another transaction of it', async () => {
    const { account, executor, context, journal } = await signed();
    const { number } = await finalBlock();
    one.twist(usedBy(FIRST, account.address, number));
    other.twist(usedBy(SECOND, account.address, number));
    expect(await agreedFate(await opened(), account.address, 0)).toEqual({ kind: 'unprovable' });
    expect(await executor.recover(context, call(), journal)).toMatchObject({
      next_state: 'UNKNOWN',
      error_code: 'NONCE_PROOF_UNAVAILABLE',
    });
    expect(journal.released).toEqual([]);
  });
});

test('a nonce was used by its own account, and by its own transaction of a block with several', async () => {
  /** Sends a transaction that moves nothing, past the service. */
  const sends = async (
    { key, address }: { readonly key: Hex; readonly address: Address },
    nonce: number,
    gwei: string,
  ): Promise<Hash> => {
    const serializedTransaction = await privateKeyToAccount(key).signTransaction({
      type: 'eip1559',
      chainId: CHAIN_ID,
      to: address,
      gas: 21_000n,
      nonce,
      maxFeePerGas: parseGwei(gwei),
      maxPriorityFeePerGas: parseGwei(gwei) / 2n,
    });
    return chain.client.sendRawTransaction({ serializedTransaction });
  };
  const stranger = await chain.account({ tokens: '0' });
  const { account, executor, context, journal, signed: bytes, submit } = await signed();
  await chain.client.setAutomine(false);
  const strangers = await sends(stranger, 0, '1000');
  await submit();
  const second = await sends(account, 1, '100');
  await chain.client.mine({ blocks: 1 });
  // The stranger pays the most, so its transaction with the same nonce comes first.
  const { transactions } = await chain.client.getBlock();
  expect(transactions).toEqual([strangers, bytes.tx_hash, second]);
  await chain.finalize();
  const fateOf = async (nonce: number) => agreedFate(await opened(), account.address, nonce);
  expect(await fateOf(0)).toEqual({ kind: 'used', by: bytes.tx_hash });
  expect(await fateOf(1)).toEqual({ kind: 'used', by: second });
  for (const liar of [one, other]) liar.twist(blind);
  await expect(executor.recover(context, call(), journal)).rejects.toMatchObject({
    code: 'RECEIPT_MISSING',
  });
  expect(journal.released).toEqual([]);
});

describe('the decimals of a token', () => {
  /** Reports other decimals than the token's six, and all else as it is. */
  const counting =
    (decimals: number): Twist =>
    ({ method, params }, answer) =>
      method === 'eth_call' &&
      (params[0] as { readonly data: string }).data.startsWith('0x313ce567')
        ? pad(toHex(decimals), { size: 32 })
        : answer;
  const differ = { kind: 'rejected', code: 'TOKEN_DECIMALS_MISMATCH' };
  const refused = { next_state: 'FAILED', error_code: 'TOKEN_DECIMALS_MISMATCH' };
  const payment = async () => {
    const account = await chain.account();
    const { address: destination_address } = await chain.account();
    return contextOf(account, { token_address: chain.token, destination_address });
  };
  const openOf = (chains: ReturnType<typeof among>) => chains.open(CHAIN_ID, call());

  test.each([4, 8])('are agreed on by two endpoints, whichever says %i', async (wrong) => {
    const context = await payment();
    for (const liar of [one, other]) {
      liar.twist(counting(wrong));
      const executor = createEvmTransferExecutor(among({}));
      for (const phase of ['preflight', 'prepare'] as const)
        await expect(executor[phase](context, call())).rejects.toMatchObject({
          ...{ ...differ, kind: 'unreachable' },
          message: expect.stringContaining('list it as tokens[].decimals'),
        });
      liar.twist((_request, answer) => answer);
    }
    expect(await (await openOf(among({}))).decimals(chain.token)).toBe(6);
  });

  test('are not believed from one endpoint while the second is silent', async () => {
    other.twist(cut);
    const connection = await among({}).open(CHAIN_ID, call(), { anew: true });
    await expect(connection.decimals(chain.token)).rejects.toMatchObject({
      kind: 'unreachable',
      code: 'NOT_FOUND_UNCONFIRMED',
    });
    expect(await (await opened()).decimals(chain.token)).toBe(6);
  });

  test.each<[string, Twist]>([
    ['is silent', cut],
    ['refuses', ({ method }, answer) => (method === 'eth_call' ? LIMITED : answer)],
  ])('hide no payment that was sent while the second %s', async (_what, twist) => {
    const { context, journal, hash } = await mined();
    other.twist(twist);
    for (const phase of ['observe', 'recover'] as const)
      expect(
        await createEvmTransferExecutor(among({}))[phase](context, call(), journal),
      ).toMatchObject({ next_state: 'COMPLETED', external_ref: hash });
  });

  test('that one endpoint reports while the second is silent are not kept', async () => {
    const chains = among({});
    one.twist(counting(8));
    other.twist(cut);
    expect(await (await openOf(chains)).decimals(chain.token)).toBe(8);
    for (const liar of [one, other]) liar.twist((_request, answer) => answer);
    expect(await (await openOf(chains)).decimals(chain.token)).toBe(6);
  });

  test('are those of the venues file, or nothing is moved', async () => {
    one.twist(counting(8));
    const executor = createEvmTransferExecutor(both());
    await expect(executor.prepare(await payment(), call())).rejects.toMatchObject({
      ...{ ...differ, kind: 'unreachable' },
    });
    for (const liar of [one, other]) liar.twist(counting(8));
    expect(await executor.prepare(await payment(), call())).toMatchObject(refused);
    await expect((await opened()).decimals(chain.token)).rejects.toMatchObject(differ);
  });

  test('are not those of one endpoint where each endpoint is read by itself', async () => {
    other.twist(counting(8));
    const connection = await openOf(among({}));
    const waits = { ...differ, kind: 'unreachable' };
    await expect(connection.witnesses((each) => each.decimals(chain.token))).rejects.toMatchObject(
      waits,
    );
    // Nothing of it is remembered.
    await expect(connection.decimals(chain.token)).rejects.toMatchObject(waits);
  });

  describe('are read again before anything is signed', () => {
    const prepared = async (chains: ReturnType<typeof among>) => {
      const context = await payment();
      const { sign_request } = await createEvmTransferExecutor(chains).prepare(context, call());
      const { node_key, action_type, config, asset, amount } = context;
      const node: SignedNode = {
        node: { node_key, action_type, config, asset },
        executor: undefined,
        intent: { asset, amount },
        input_params: {},
        amount,
      };
      const checked = {
        request: sign_request!,
        from: context.signer!.address,
        foreign: false,
        now_ms: Date.now(),
      };
      return { node, checked };
    };
    const typed = { kind: 'evm_typed_data' as const, payload: {} };

    test.each<[string, { readonly decimals?: number }]>([
      ['listed', { decimals: 6 }],
      ['agreed on', {}],
    ])('where they are %s', async (_what, token) => {
      const chains = among(token);
      const { node, checked } = await prepared(chains);
      const signing = createEvmSigning(chains);
      expect(await signing.check(node, checked, call())).toBeNull();
      for (const liar of [one, other]) liar.twist(counting(8));
      for (const request of [checked.request, typed])
        await expect(signing.check(node, { ...checked, request }, call())).rejects.toMatchObject(
          differ,
        );
    });

    test.each<[string, { readonly decimals?: number }]>([
      ['listed', { decimals: 6 }],
      ['agreed on', {}],
    ])('and %s, a wrong endpoint has the node wait and not fail', async (_what, token) => {
      const chains = among(token);
      const { node, checked } = await prepared(chains);
      const check = () => createEvmSigning(chains).check(node, checked, call());
      const wrong: readonly Twist[] = [
        counting(8),
        // It still syncs, and has no contract yet.
        ({ method }, answer) => (method === 'eth_call' ? '0x' : answer),
      ];
      for (const twist of wrong) {
        one.twist(twist);
        await expect(check()).rejects.toMatchObject({ ...differ, kind: 'unreachable' });
        // Cut, it is also read last from then on: the wrong one stays the first.
        other.twist(cut);
        await expect(check()).rejects.toMatchObject({ kind: 'unreachable' });
        for (const liar of [one, other]) liar.twist((_request, answer) => answer);
        expect(await check()).toBeNull();
      }
      for (const liar of [one, other]) liar.twist(wrong[1]!);
      await expect(check()).rejects.toMatchObject({ kind: 'rejected', code: 'TOKEN_INVALID' });
    });

    test('and what was prepared with others is not signed by a new process either', async () => {
      const { node, checked } = await prepared(among({}));
      for (const liar of [one, other]) liar.twist(counting(8));
      expect(await createEvmSigning(among({})).check(node, checked, call())).toContain(
        'the transfer moves 25000000 base units, the plan 2500000000',
      );
    });
  });
});
