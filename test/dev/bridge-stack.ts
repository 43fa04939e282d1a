/** Two real chains with both lanes on them, and those who serve the lanes. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createPublicClient,
  encodeFunctionData,
  http,
  parseEventLogs,
  parseUnits,
  type Abi,
  type TransactionReceipt,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { built } from '../../dev/bootstrap/programs.mjs';
import {
  BURN_TOKEN,
  MESSAGE_TRANSMITTER,
  OMNI_TOKEN,
  TOKEN_MESSENGER,
} from '../../dev/simulators/bridge/contracts/artifacts.ts';
import { inWord } from '../../dev/simulators/chain/bridges.ts';
import { FAR, NEAR, type LaneChain } from '../../dev/simulators/bridge/lanes.ts';
import type { ChainUrls } from '../../dev/simulators/bridge/sides.ts';
import { chainInfo } from '../../dev/simulators/chain/accounts.ts';
import { freePort } from '../../dev/stack/ports.ts';

export type Hex = `0x${string}`;

export const { signer: SIGNER, deployer: STRANGER } = chainInfo(0).accounts;
export const PAYEE: Hex = '0x00000000000000000000000000000000000A11cE';

/** A call of a contract, as tests write it. */
export interface Call {
  readonly to: Hex;
  readonly abi: Abi;
  readonly functionName: string;
  readonly args: readonly unknown[];
  readonly value?: bigint;
}

/** A chain in a process of its own. */
export interface TestChain extends LaneChain {
  readonly rpcUrl: string;
  readonly client: ReturnType<typeof createPublicClient>;
  /** Sends a call, also one that will revert, and waits for its block. */
  send(call: Call, from?: { readonly privateKey: Hex }): Promise<TransactionReceipt>;
  /** Why a call would be refused; null where it would not. */
  refusal(call: Call, from?: { readonly address: Hex }): Promise<string | null>;
  mine(blocks: number): Promise<void>;
  rollback(blocks: number): Promise<void>;
  faults(wish: object): Promise<void>;
  kill(): Promise<void>;
  start(): Promise<void>;
}

export interface TestLanes {
  readonly near: TestChain;
  readonly far: TestChain;
  readonly urls: ChainUrls;
  readonly folder: string;
  stop(): Promise<void>;
}

/** Both chains, with everything deployed. */
export async function startLanes(): Promise<TestLanes> {
  const folder = mkdtempSync(join(tmpdir(), 'bridge-'));
  const [near, far] = await Promise.all([startSide(NEAR, folder), startSide(FAR, folder)]);
  return {
    near,
    far,
    folder,
    urls: { near: near.rpcUrl, far: far.rpcUrl },
    stop: async () => {
      await Promise.all([near.kill(), far.kill()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** One of them alone; its journal lies in a folder of its own there. */
export async function startSide(lane: LaneChain, folder: string): Promise<TestChain> {
  const port = await freePort();
  const rpcUrl = `http://127.0.0.1:${String(port)}`;
  const client = createPublicClient({ transport: http(rpcUrl), cacheTime: 0 });
  let child: ChildProcess | null = null;
  const rpc = async (method: string, params: readonly unknown[]): Promise<void> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const answer = await post(`${rpcUrl}/`, body);
    if (!answer.ok) throw new Error(`${method} was answered ${String(answer.status)}`);
  };
  const start = async (): Promise<void> => {
    child = await startProgram('chain', {
      CHAIN_PORT: String(port),
      CHAIN_NODE_PORT: String(await freePort([port])),
      CHAIN_DIR: join(folder, String(lane.chainId)),
      CHAIN_ID: String(lane.chainId),
      CHAIN_BRIDGES: 'true',
    });
  };
  await start();
  return {
    ...lane,
    rpcUrl,
    client,
    start,
    send: async (call, from = SIGNER) => {
      const account = privateKeyToAccount(from.privateKey);
      const serializedTransaction = await account.signTransaction({
        chainId: lane.chainId,
        type: 'eip1559',
        gas: 600_000n,
        to: call.to,
        nonce: await client.getTransactionCount({ address: account.address, blockTag: 'pending' }),
        maxFeePerGas: 100_000_000_000n,
        maxPriorityFeePerGas: 1_000_000_000n,
        data: encodeFunctionData(call),
        value: call.value ?? 0n,
      });
      const hash = await client.sendRawTransaction({ serializedTransaction });
      return eventually(() => client.getTransactionReceipt({ hash }).catch(() => null));
    },
    refusal: async (call, from = SIGNER) =>
      client
        .simulateContract({
          address: call.to,
          abi: call.abi,
          functionName: call.functionName,
          args: call.args,
          account: from.address,
          ...(call.value === undefined ? {} : { value: call.value }),
        })
        .then(
          () => null,
          (error: unknown) => String(error),
        ),
    mine: (blocks) => rpc('anvil_mine', [blocks]),
    rollback: (blocks) => rpc('anvil_rollback', [blocks]),
    faults: async (wish) => void (await post(`${rpcUrl}/faults`, JSON.stringify(wish))),
    kill: async () => {
      if (child !== null) await endProgram(child);
      child = null;
    },
  };
}

/** Starts a program of dist/ and waits until it says that it is ready. */
export async function startProgram(
  name: string,
  env: Readonly<Record<string, string>>,
): Promise<ChildProcess> {
  const child = spawn(process.execPath, [built(name)], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  await new Promise<void>((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('{"ready":true')) resolve();
    });
    child.once('exit', (code) => reject(new Error(`${name} ended (${String(code)}): ${text}`)));
  });
  return child;
}

/** Politely for a chain, whose node would stay; at once for others. */
export async function endProgram(
  child: ChildProcess,
  signal: NodeJS.Signals = 'SIGTERM',
): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}

export async function post(url: string, body?: string): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return fetch(url, { method: 'POST', headers, ...(body === undefined ? {} : { body }) });
}

/** What `look` answers once it is something. */
export async function eventually<T>(look: () => Promise<T | null>, withinMs = 20_000): Promise<T> {
  for (const until = Date.now() + withinMs; Date.now() < until; await sleep(25)) {
    const found = await look();
    if (found !== null) return found;
  }
  throw new Error(`it did not come within ${String(withinMs)} ms`);
}

export const usdb = (units: string): bigint => parseUnits(units, 6);
export const omni = (units: string): bigint => parseUnits(units, 18);

/** What an address holds of a token. */
export async function balance(chain: TestChain, token: Hex, of: Hex): Promise<bigint> {
  const read = { address: token, abi: BURN_TOKEN.abi, functionName: 'balanceOf' } as const;
  return chain.client.readContract({ ...read, args: [of] });
}

export async function supply(chain: TestChain, token: Hex): Promise<bigint> {
  const read = { address: token, abi: BURN_TOKEN.abi, functionName: 'totalSupply' } as const;
  return chain.client.readContract(read);
}

/** How a burn differs from the usual one. */
export interface BurnTerms {
  readonly amount?: bigint;
  readonly payee?: Hex;
  readonly maxFee?: bigint;
  readonly threshold?: 1000 | 2000;
  readonly caller?: Hex;
  readonly domain?: number;
}

export function burnCall(from: TestChain, to: TestChain, terms: BurnTerms = {}): Call {
  const { amount = usdb('10'), payee = PAYEE, maxFee = 0n, threshold = 2000 } = terms;
  const { caller, domain } = terms;
  return {
    to: from.contracts.tokenMessenger,
    abi: TOKEN_MESSENGER.abi,
    functionName: 'depositForBurn',
    args: [
      amount,
      domain ?? to.domain,
      inWord(payee),
      from.contracts.burnToken,
      caller === undefined ? `0x${'0'.repeat(64)}` : inWord(caller),
      maxFee,
      threshold,
    ],
  };
}

/** Lets the messenger take as much as it likes. */
export async function approveBurns(chain: TestChain): Promise<void> {
  const { burnToken, tokenMessenger } = chain.contracts;
  const args = [tokenMessenger, usdb('1000000')] as const;
  await chain.send({ to: burnToken, abi: BURN_TOKEN.abi, functionName: 'approve', args });
}

/** Burns, and answers the transaction with the message that it sent. */
export async function burn(
  from: TestChain,
  to: TestChain,
  terms: BurnTerms = {},
): Promise<{ readonly transaction: Hex; readonly message: Hex }> {
  const receipt = await from.send(burnCall(from, to, terms));
  const logs = parseEventLogs({
    abi: MESSAGE_TRANSMITTER.abi,
    logs: receipt.logs,
    eventName: 'MessageSent',
  });
  const message = logs[0]?.args.message;
  if (message === undefined) throw new Error('the burn reverted');
  return { transaction: receipt.transactionHash, message };
}

export function mintCall(to: TestChain, message: Hex, attestation: Hex): Call {
  return {
    to: to.contracts.messageTransmitter,
    abi: MESSAGE_TRANSMITTER.abi,
    functionName: 'receiveMessage',
    args: [message, attestation],
  };
}

/** A message as the attester shows it. */
export interface ShownMessage {
  readonly status: string;
  readonly message: Hex;
  readonly attestation: Hex;
  readonly eventNonce: Hex;
  readonly decodedMessage: {
    readonly finalityThresholdExecuted: string;
    readonly decodedMessageBody: Readonly<Record<string, string>>;
  } | null;
}

/** Asks once; null for 404. */
export async function ask(
  attester: string,
  from: LaneChain,
  transaction: Hex,
): Promise<ShownMessage | null> {
  const path = `/v2/messages/${String(from.domain)}?transactionHash=${transaction}`;
  const answer = await fetch(`${attester}${path}`);
  if (answer.status === 404) return null;
  if (!answer.ok) throw new Error(`the attester answered ${String(answer.status)}`);
  const { messages } = (await answer.json()) as { messages: ShownMessage[] };
  return messages[0] ?? null;
}

/** Asks until it is complete. */
export const complete = (
  attester: string,
  from: LaneChain,
  transaction: Hex,
): Promise<ShownMessage> =>
  eventually(async () => {
    const shown = await ask(attester, from, transaction);
    return shown?.status === 'complete' ? shown : null;
  });

/** What a send of the omnichain token says. */
export function sendParam(to: LaneChain, amount: bigint, least = amount): object {
  return {
    dstEid: to.eid,
    to: inWord(PAYEE),
    amountLD: amount,
    minAmountLD: least,
    extraOptions: '0x',
    composeMsg: '0x',
    oftCmd: '0x',
  };
}

export function omniSend(from: TestChain, to: LaneChain, amount: bigint, value: bigint): Call {
  return {
    to: from.contracts.omniToken,
    abi: OMNI_TOKEN.abi,
    functionName: 'send',
    args: [
      sendParam(to, amount),
      { nativeFee: value, lzTokenFee: 0n },
      privateKeyToAccount(SIGNER.privateKey).address,
    ],
    value,
  };
}
