/**
 * A chain of its own for each suite: anvil, a token, and a proxy that loses sends and answers on
 * demand.
 */
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  TransactionReceiptNotFoundError,
  createTestClient,
  createWalletClient,
  encodeDeployData,
  getAddress,
  http,
  parseUnits,
  publicActions,
  type Address,
  type Hex,
  type TransactionReceipt,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import {
  TOKEN_ABI,
  TOKEN_BYTECODE,
} from '../../../../dev/simulators/chain/contracts/token-artifact.ts';

export const CHAIN_ID = 31_337;
/** With two slots an epoch anvil's finalized block is four behind the latest. */
export const BLOCKS_TO_FINALITY = 4;
const DEPLOYER = privateKeyToAccount(
  '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
);

export type SendFault = 'none' | 'drop_before' | 'lose_answer';

export type TellReceipt = (receipt: Readonly<Record<string, unknown>> | null) => object | null;
export const asTheyAre: TellReceipt = (receipt) => receipt;

export interface TestChain {
  readonly url: string;
  readonly client: ReturnType<typeof clientOf>;
  readonly token: Address;
  /** Raw transactions that reached the endpoint, in order, repeats included. */
  readonly sends: Hex[];
  onSend(fault: SendFault): void;
  /**
   * Receipts then tell a block hash that is not on the chain, as an endpoint that lags behind a
   * reorganisation does.
   */
  staleReceipts(on: boolean): void;
  /** What the endpoint makes of every receipt that it answers; null is "no such transaction". */
  tellReceipts(as: TellReceipt): void;
  /** A new account with ETH and, unless "0", tokens of 6 decimals. */
  account(funds?: { readonly eth?: string; readonly tokens?: string }): Promise<{
    readonly key: Hex;
    readonly address: Address;
    nonce(): Promise<number>;
  }>;
  tokenBalance(owner: Address): Promise<bigint>;
  /**
   * Waits for the receipt by asking for it: viem's own waiting asks with each new block, and here
   * none comes by itself.
   */
  mined(hash: Hex): Promise<TransactionReceipt>;
  finalize(): Promise<void>;
  stop(): Promise<void>;
}

const clientOf = (url: string) =>
  createTestClient({
    mode: 'anvil',
    transport: http(url),
    cacheTime: 0,
    pollingInterval: 20,
  }).extend(publicActions);

export async function startChain(chainId: number = CHAIN_ID): Promise<TestChain> {
  const bin = join(
    dirname(createRequire(import.meta.url).resolve('@foundry-rs/anvil-linux-amd64/package.json')),
    'bin',
    'anvil',
  );
  const child = spawn(
    bin,
    ['--port', '0', '--chain-id', String(chainId), '--slots-in-an-epoch', '2'],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  const direct = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const port = /Listening on [^:]+:(\d+)/.exec(text)?.[1];
      if (port !== undefined) resolve(`http://127.0.0.1:${port}`);
    });
    child.once('exit', () => reject(new Error(`anvil ended: ${text}`)));
  });
  const client = clientOf(direct);
  const token = await deployToken(direct, client);
  const mined = (hash: Hex): Promise<TransactionReceipt> => receiptFrom(client, hash);
  const proxy = await startProxy(direct);
  return {
    url: proxy.url,
    client,
    token,
    sends: proxy.sends,
    onSend: proxy.onSend,
    staleReceipts: proxy.staleReceipts,
    tellReceipts: proxy.tellReceipts,
    async account({ eth = '1', tokens = '1000' } = {}) {
      const key = generatePrivateKey();
      const { address } = privateKeyToAccount(key);
      await client.setBalance({ address, value: parseUnits(eth, 18) });
      if (tokens !== '0')
        await fromDeployer(direct, client, { to: token, tokens, holder: address });
      return { key, address, nonce: () => client.getTransactionCount({ address }) };
    },
    tokenBalance: (owner) =>
      client.readContract({
        address: token,
        abi: TOKEN_ABI,
        functionName: 'balanceOf',
        args: [owner],
      }),
    mined,
    finalize: () => client.mine({ blocks: BLOCKS_TO_FINALITY }),
    async stop() {
      await proxy.stop();
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function receiptFrom(client: TestChain['client'], hash: Hex): Promise<TransactionReceipt> {
  for (;;) {
    const receipt = await client.getTransactionReceipt({ hash }).catch((error: unknown) => {
      if (error instanceof TransactionReceiptNotFoundError) return null;
      throw error;
    });
    if (receipt !== null) return receipt;
    await sleep(20);
  }
}

async function deployToken(url: string, client: TestChain['client']): Promise<Address> {
  const wallet = createWalletClient({ account: DEPLOYER, transport: http(url) });
  const data = encodeDeployData({
    abi: TOKEN_ABI,
    bytecode: TOKEN_BYTECODE as Hex,
    args: ['Test Coin', 'TST', 6, DEPLOYER.address, parseUnits('1000000000', 6)],
  });
  const hash = await wallet.sendTransaction({ chain: null, data });
  const { contractAddress } = await receiptFrom(client, hash);
  if (!contractAddress) throw new Error('the token was not deployed');
  return getAddress(contractAddress);
}

async function fromDeployer(
  url: string,
  client: TestChain['client'],
  gift: { readonly to: Address; readonly tokens: string; readonly holder: Address },
): Promise<void> {
  // By its address alone: anvil signs and fills in the rest, in one request.
  const wallet = createWalletClient({ account: DEPLOYER.address, transport: http(url) });
  const hash = await wallet.writeContract({
    chain: null,
    address: gift.to,
    abi: TOKEN_ABI,
    functionName: 'transfer',
    args: [gift.holder, parseUnits(gift.tokens, 6)],
  });
  await receiptFrom(client, hash);
}

async function startProxy(target: string) {
  const sends: Hex[] = [];
  let fault: SendFault = 'none';
  let stale = false;
  let tell = asTheyAre;
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks).toString();
      const rpcRequest = JSON.parse(body) as { method: string; params: [Hex] };
      const isSend = rpcRequest.method === 'eth_sendRawTransaction';
      if (isSend) sends.push(rpcRequest.params[0]);
      if (isSend && fault === 'drop_before') return void response.destroy();
      const answer = await fetch(target, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json' },
      });
      const text = await answer.text();
      if (isSend && fault === 'lose_answer') return void response.destroy();
      response
        .setHeader('content-type', 'application/json')
        .end(rpcRequest.method === 'eth_getTransactionReceipt' ? receiptOf(text) : text);
    })().catch(() => response.destroy());
  });
  const receiptOf = (text: string): string => {
    if (stale) return text.replace(/"blockHash":"0x../g, '"blockHash":"0x00');
    const answer = JSON.parse(text) as {
      readonly result: Readonly<Record<string, unknown>> | null;
    };
    return JSON.stringify({ ...answer, result: tell(answer.result) });
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sends,
    onSend: (next: SendFault) => {
      fault = next;
    },
    staleReceipts: (on: boolean) => {
      stale = on;
    },
    tellReceipts: (as: TellReceipt) => {
      tell = as;
    },
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
