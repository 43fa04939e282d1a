/**
 * What one endpoint, or two machines behind one address, can make of an authorization: nothing that
 * pays it again, and no more than it moved. The endpoints here are a protocol's worth of answers,
 * since a real chain tells no lies.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hashTypedData, numberToHex, pad, toEventSelector, type Hex } from 'viem';
import type { ExecutionResult } from '../../../domain/executor.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { readAuthorization, verifyAuthorization } from '../../../venues/evm/authorization.ts';
import type { TokenDecimals } from '../../../venues/evm/decimals.ts';
import { createEvmSigning } from '../../../venues/evm/signing.ts';
import { call, chainsOf, MemoryJournal } from './support/node.ts';

const TOKEN = `0x${'11'.repeat(20)}` as const;
const FROM = `0x${'22'.repeat(20)}` as const;
const TO = `0x${'33'.repeat(20)}` as const;
const NONCE = `0x${'44'.repeat(32)}` as const;
const TX = `0x${'55'.repeat(32)}` as const;
/** The time of block 0; a block a second. */
const FIRST = 1_000_000;
const USED_IN = 5;

/** What an endpoint says, whatever is so. */
interface ChainState {
  readonly latest?: number;
  readonly finalized?: number;
  /** Whether the nonce is used, by block. */
  readonly used?: (block: string) => boolean;
  readonly logs?: readonly object[];
  readonly reverted?: boolean;
  readonly receiptLogs?: readonly object[];
}

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

const hashOf = (block: number): Hex => pad(numberToHex(block + 1), { size: 32 });

function answerTo(state: ChainState, method: string, [one, other]: readonly unknown[]): unknown {
  const { latest = 40, used = () => false, logs = [], receiptLogs = logs } = state;
  const numberOf = (at: unknown): number =>
    at === 'latest' ? latest : at === 'finalized' ? (state.finalized ?? latest) : Number(at);
  switch (method) {
    case 'eth_chainId':
      return numberToHex(31_337);
    case 'eth_getBlockByNumber': {
      const number = numberOf(one);
      return {
        number: numberToHex(number),
        hash: hashOf(number),
        baseFeePerGas: '0x1',
        timestamp: numberToHex(FIRST + number),
        transactions: [],
      };
    }
    case 'eth_call': {
      const decimals = (one as { data: string }).data.startsWith('0x313ce567');
      return pad(decimals ? '0x6' : used(String(other)) ? '0x1' : '0x0', { size: 32 });
    }
    case 'eth_getLogs':
      return logs;
    case 'eth_getTransactionReceipt':
      return {
        transactionHash: TX,
        blockHash: hashOf(USED_IN),
        blockNumber: numberToHex(USED_IN),
        status: state.reverted === true ? '0x0' : '0x1',
        logs: receiptLogs,
        from: TO,
        to: TOKEN,
        gasUsed: '0x1',
        effectiveGasPrice: '0x1',
        cumulativeGasUsed: '0x1',
        type: '0x2',
        transactionIndex: '0x0',
        contractAddress: null,
        logsBloom: '0x',
      };
    default:
      return null;
  }
}

async function endpoint(state: ChainState): Promise<string> {
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const {
        id,
        method,
        params = [],
      } = JSON.parse(text) as {
        readonly id: number;
        readonly method: string;
        readonly params?: readonly unknown[];
      };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: answerTo(state, method, params) }));
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const log = (event: string): object => ({
  address: TOKEN,
  topics: [toEventSelector(event), pad(FROM), NONCE],
  data: '0x',
  transactionHash: TX,
  blockNumber: numberToHex(USED_IN),
  blockHash: hashOf(USED_IN),
  logIndex: '0x0',
  transactionIndex: '0x0',
  removed: false,
});
const USED = log('AuthorizationUsed(address,bytes32)');
const CANCELLED = log('AuthorizationCanceled(address,bytes32)');
const transfer = (units: number): object => ({
  ...USED,
  topics: [toEventSelector('Transfer(address,address,uint256)'), pad(FROM), pad(TO)],
  data: pad(numberToHex(units), { size: 32 }),
});
/** Of another nonce, in the same transaction. */
const OTHER = {
  ...USED,
  topics: [toEventSelector('AuthorizationUsed(address,bytes32)'), pad(FROM), pad('0x77')],
};

function typed(changes: { readonly domain?: object; readonly message?: object } = {}): JsonObject {
  return {
    domain: {
      name: 'T',
      version: '1',
      chainId: 31_337,
      verifyingContract: TOKEN,
      ...changes.domain,
    },
    types: {
      TransferWithAuthorization: [
        { name: 'from', type: 'address' },
        { name: 'to', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'validAfter', type: 'uint256' },
        { name: 'validBefore', type: 'uint256' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'TransferWithAuthorization',
    message: {
      from: FROM,
      to: TO,
      value: '1000000',
      validAfter: '0',
      validBefore: String(FIRST + 30),
      nonce: NONCE,
      ...changes.message,
    },
  };
}

/** What a look comes to, with these endpoints; a fault by its code. */
async function look(
  ...state: readonly ChainState[]
): Promise<ExecutionResult | string | undefined> {
  const [url = '', ...more] = await Promise.all(state.map(endpoint));
  const chains = chainsOf(
    { url },
    { more_rpc_urls: more, tokens: [{ asset: 'USDC', address: TOKEN, decimals: 6 }] },
  );
  const config = { chain_id: 31_337, token_address: TOKEN, destination_address: TO };
  try {
    return await createEvmSigning(chains).settle(
      {
        node: { node_key: 'pay', action_type: 'evm_erc20_transfer', asset: 'USDC', config },
        executor: undefined,
        input_params: {},
        amount: '1',
        intent: { asset: 'USDC', amount: '1' },
      },
      {
        request: { kind: 'evm_typed_data', payload: typed() },
        from: FROM,
        assurance: 'provider_completed',
        phase: 'observe',
        journal: new MemoryJournal(),
      },
      call(),
    );
  } catch (error) {
    return (error as { readonly code?: string }).code;
  }
}

const waits = expect.objectContaining({ next_state: 'OBSERVING' });
const open: ChainState = { latest: 20 };
const expired: ChainState = {};
const cancelled: ChainState = { used: () => true, logs: [CANCELLED] };

describe('an authorization fails', () => {
  test('once two endpoints show that it was not used in its time', async () => {
    const over = expect.objectContaining({ error_code: 'AUTHORIZATION_EXPIRED' });
    expect(await look(expired, expired)).toEqual(over);
    expect(await look(expired, open)).toEqual(waits);
    expect(await look(expired, { used: () => true, logs: [USED] })).toEqual(waits);
    expect(await look({ latest: 40, finalized: 29 })).toEqual(waits);
    expect(await look({ latest: 40, finalized: 30 })).toEqual(over);
  });

  test('once two endpoints show in final blocks that its holder has called it off', async () => {
    const off = expect.objectContaining({ error_code: 'AUTHORIZATION_CANCELLED' });
    expect(await look(cancelled, cancelled)).toEqual(off);
    expect(await look(cancelled, open)).toEqual(waits);
    expect(await look({ ...cancelled, finalized: 4 })).toEqual(waits);
    expect(await look(cancelled, { ...cancelled, finalized: 4 })).toEqual(waits);
  });

  test('never by a transaction that reverted, which says nothing of it', async () => {
    const liar: ChainState = { used: () => true, logs: [USED], reverted: true };
    expect(await look(liar, { ...open, reverted: true })).toBe('AUTHORIZATION_UNSEEN');
  });

  test('not where one machine lags behind the one that reports the blocks', async () => {
    // Blocks come from the machine at height 40; "latest" is read from the one at height 4.
    const state = await look({ used: (at) => at !== 'latest', logs: [USED, transfer(1_000_000)] });
    expect(state).toMatchObject({ next_state: 'COMPLETED' });
  });
});

describe('what it has moved', () => {
  const amounts = (...logs: readonly object[]) =>
    look({ used: () => true, logs: [USED], receiptLogs: logs });

  test('is the transfer behind it, whatever else its transaction did', async () => {
    const both = [OTHER, transfer(2_000_000), USED, transfer(1_000_000), transfer(5_000_000)];
    expect(await amounts(...both)).toMatchObject({
      next_state: 'COMPLETED',
      output: { received_amount: '1', submitted_amount: '1', fee_amount: '0' },
    });
  });

  test('is nothing that its receipt does not show', async () => {
    expect(await amounts(transfer(1_000_000))).toBe('AUTHORIZATION_UNSEEN');
    expect(await amounts(OTHER, transfer(1_000_000))).toBe('AUTHORIZATION_UNSEEN');
    expect(await amounts(USED, OTHER, transfer(1_000_000))).toBe('TRANSFER_NOT_SEEN');
  });

  test('is reported once its block is final', async () => {
    const state: ChainState = { used: () => true, logs: [USED, transfer(1_000_000)] };
    expect(await look({ ...state, finalized: 4 })).toEqual(waits);
    expect(await look({ ...state, finalized: 5 })).toMatchObject({ next_state: 'COMPLETED' });
  });
});

test('an authorization is good for an hour at most, by the earlier of chain and own clock', () => {
  const verdict = (now: number, clock: number, until: number) => {
    const read = readAuthorization(typed({ message: { validBefore: String(until) } }));
    if (!read.ok) throw new Error(read.problem);
    return verifyAuthorization(read.authorization, {
      plan: {
        action_type: 'evm_erc20_transfer',
        chain_id: 31_337,
        token_address: TOKEN,
        destination_address: TO,
        amount: '1',
      },
      decimals: 6 as TokenDecimals,
      from: FROM,
      now: BigInt(now),
      clock: BigInt(clock),
    });
  };
  const tooLong = {
    ok: false,
    problem: expect.stringContaining('valid for more than 3600 seconds'),
  };
  expect(verdict(1_000_000, 1_000_000, 1_003_600)).toEqual({ ok: true });
  expect(verdict(1_000_000, 1_000_000, 1_003_601)).toEqual(tooLong);
  // Either clock may be ahead.
  expect(verdict(1_003_000, 1_000_000, 1_004_000)).toEqual(tooLong);
  expect(verdict(1_000_000, 1_003_000, 1_004_000)).toEqual(tooLong);
});

test('what is read as an authorization is hashed with its whole domain', () => {
  const hashes = [
    {},
    { chainId: 1 },
    { version: '2' },
    { name: 'U' },
    { verifyingContract: TO },
  ].map((domain) => {
    const payload = typed({ domain });
    expect(readAuthorization(payload).ok).toBe(true);
    return hashTypedData(payload as unknown as Parameters<typeof hashTypedData>[0]);
  });
  expect(new Set(hashes).size).toBe(hashes.length);
  // Of each of these the library would leave something out, or hash nothing.
  for (const domain of [{ chainId: '31337' }, { chainId: '1' }, { version: '' }, { name: '' }])
    expect(readAuthorization(typed({ domain })).ok).toBe(false);
  const odd = `0xAbCdef${'0'.repeat(31)}Abc`;
  expect(readAuthorization(typed({ message: { to: odd } })).ok).toBe(false);
});
