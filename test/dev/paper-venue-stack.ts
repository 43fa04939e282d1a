/** A real chain with a real token, and the venue in a process of its own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createTestClient,
  defineChain,
  encodeDeployData,
  erc20Abi,
  getAddress,
  getContractAddress,
  http,
  parseUnits,
  publicActions,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { TOKEN_ABI, TOKEN_BYTECODE } from '../../dev/simulators/chain/contracts/token-artifact.ts';
import type { ChainSettings } from '../../dev/simulators/paper-venue/settings.ts';
import { startVenue } from '../../dev/simulators/paper-venue/start.ts';
import type { LedgerEntry } from '../../dev/simulators/paper-venue/views.ts';
import { built } from '../../dev/bootstrap/programs.mjs';
import { freePort } from '../../dev/stack/ports.ts';
import { createRemoteExecutor, type RemoteExecutor } from '../../executors/remote.ts';
import type { ExecutionContext, ExecutionResult } from '../../domain/executor.ts';
import { contextOf, settingsOf } from '../executors/fake-server.ts';

const DEPLOYER = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
const HOT_WALLET = '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d';
export const PAYEE = '0x00000000000000000000000000000000000A11cE';
export const DECIMALS = 6;
/** Defined here: viem's list of chains takes longer to load than all else that these tests use. */
const LOCAL = defineChain({
  id: 31_337,
  name: 'local',
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: { default: { http: ['http://127.0.0.1:1'] } },
});

export type Chain = Awaited<ReturnType<typeof startChain>>;

/**
 * Anvil with USDC and USDT deployed, all of both in the hot wallet. Blocks come with each
 * transaction.
 */
export async function startChain() {
  const port = await freePort();
  const folder = dirname(
    createRequire(import.meta.url).resolve('@foundry-rs/anvil-linux-amd64/package.json'),
  );
  const args = [
    '--port',
    String(port),
    '--quiet',
    '--slots-in-an-epoch',
    '1',
    '--host',
    '127.0.0.1',
  ];
  const child = spawn(join(folder, 'bin', 'anvil'), args, { stdio: 'ignore' });
  const rpcUrl = `http://127.0.0.1:${port}`;
  const client = createTestClient({
    mode: 'anvil',
    chain: LOCAL,
    transport: http(rpcUrl, { retryCount: 0 }),
    cacheTime: 0,
  }).extend(publicActions);
  await eventually(async () => ((await client.getBlockNumber()) >= 0n ? true : null));
  const wallet = privateKeyToAccount(HOT_WALLET).address;
  const settings: ChainSettings = {
    rpcUrl,
    chainId: LOCAL.id,
    tokens: {
      USDC: { address: await deployToken(client, 0, wallet), decimals: DECIMALS },
      USDT: { address: await deployToken(client, 1, wallet), decimals: DECIMALS },
    },
    accounts: { venueHotWallet: { address: wallet, privateKey: HOT_WALLET } },
    withdrawalFees: { USDT: '1.5' },
  };
  return {
    client,
    settings,
    wallet,
    received: (asset = 'USDC', to: string = PAYEE) => {
      const address = settings.tokens[asset]?.address ?? wallet;
      return client.readContract({
        address,
        abi: erc20Abi,
        functionName: 'balanceOf',
        args: [getAddress(to)],
      });
    },
    stop: async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

/** An unreachable chain, for what the venue does on its books alone. */
export const NO_CHAIN: ChainSettings = {
  rpcUrl: 'http://127.0.0.1:1',
  chainId: LOCAL.id,
  tokens: {
    USDC: { address: `0x${'c'.repeat(40)}`, decimals: DECIMALS },
    USDT: { address: `0x${'d'.repeat(40)}`, decimals: DECIMALS },
  },
  accounts: {
    venueHotWallet: { address: privateKeyToAccount(HOT_WALLET).address, privateKey: HOT_WALLET },
  },
  withdrawalFees: {},
};

async function deployToken(
  client: {
    sendRawTransaction: (args: { serializedTransaction: `0x${string}` }) => Promise<unknown>;
    getCode: (args: { address: `0x${string}` }) => Promise<string | undefined>;
  },
  nonce: number,
  holder: `0x${string}`,
) {
  const deployer = privateKeyToAccount(DEPLOYER);
  const data = encodeDeployData({
    abi: TOKEN_ABI,
    bytecode: TOKEN_BYTECODE,
    args: ['Token', 'TKN', DECIMALS, holder, parseUnits('10000000', DECIMALS)],
  });
  const serializedTransaction = await deployer.signTransaction({
    chainId: LOCAL.id,
    type: 'eip1559',
    nonce,
    gas: 2_000_000n,
    data,
    maxFeePerGas: 100_000_000_000n,
    maxPriorityFeePerGas: 1_000_000_000n,
  });
  await client.sendRawTransaction({ serializedTransaction });
  const address = getContractAddress({ from: deployer.address, nonce: BigInt(nonce) });
  // The transaction is accepted before its block is made.
  await eventually(async () => ((await client.getCode({ address })) === undefined ? null : true));
  return address;
}

/** How tests talk to a venue: as the service does, and to its books and faults. */
export interface VenueClient {
  readonly url: string;
  readonly executor: RemoteExecutor;
  get(path: string): Promise<unknown>;
  /** Status and body of a request with a JSON body. */
  send(
    method: string,
    path: string,
    body: unknown,
  ): Promise<{ readonly status: number; readonly body: unknown }>;
  faults(faults: object | null): Promise<number>;
  entry(key: string): Promise<LedgerEntry | undefined>;
}

export interface VenueProcess extends VenueClient {
  readonly child: ChildProcess;
  /**
   * Ends the process with `signal` and resolves with its exit code (null when a signal ended it).
   */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>;
}

export function tempFolder(): { readonly path: string; readonly remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'paper-venue-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Starts `dev/simulators/paper-venue/main.ts` over `dataDir`, as the embedded stack does. */
export async function startVenueProcess(
  dataDir: string,
  chain: ChainSettings,
): Promise<VenueProcess> {
  const chainFile = join(dataDir, 'chain.json');
  writeFileSync(chainFile, JSON.stringify(chain));
  const env = {
    ...process.env,
    NODE_OPTIONS: '',
    PAPER_PORT: '0',
    PAPER_DATA_DIR: dataDir,
    PAPER_CHAIN_FILE: chainFile,
  };
  const child = spawn(process.execPath, [built('paper-venue')], {
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const client = clientOf(await readyPort(child));
  return {
    ...client,
    child,
    end: async (signal) => {
      await client.executor.close();
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      child.kill(signal);
      const [code] = (await once(child, 'exit')) as [number | null];
      return code;
    },
  };
}

/** The same venue inside the test's own process, which is quicker to start and cannot be killed. */
export async function startVenueHere(
  dataDir: string,
  chain: ChainSettings,
): Promise<VenueClient & { end(): Promise<void> }> {
  const venue = await startVenue({ port: 0, dataDir, chain });
  const client = clientOf(venue.port);
  return {
    ...client,
    end: async () => {
      await client.executor.close();
      await venue.close();
    },
  };
}

function clientOf(port: number): VenueClient {
  const url = `http://127.0.0.1:${port}`;
  const get = async (path: string): Promise<unknown> => (await fetch(`${url}${path}`)).json();
  return {
    url,
    executor: createRemoteExecutor(settingsOf(url, { timeout_seconds: 10 })),
    get,
    send: async (method, path, body) => {
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) });
      return { status: answer.status, body: await answer.json() };
    },
    faults: async (faults) => {
      const headers = { 'content-type': 'application/json' };
      const change =
        faults === null
          ? { method: 'DELETE' }
          : { method: 'POST', headers, body: JSON.stringify(faults) };
      return (await fetch(`${url}/faults`, change)).status;
    },
    entry: async (key) => {
      const { entries } = (await get('/ledger')) as { entries: LedgerEntry[] };
      return entries.find((entry) => entry.idempotency_key === key);
    },
  };
}

async function readyPort(child: ChildProcess): Promise<number> {
  let out = '';
  let fault = '';
  child.stderr?.on('data', (chunk: Buffer) => (fault += chunk.toString()));
  child.stdout?.on('data', (chunk: Buffer) => (out += chunk.toString()));
  const ready = async (): Promise<number | null> => {
    if (child.exitCode !== null) throw new Stop(`the venue ended: ${fault}`);
    const line = out.split('\n').find((one) => one.includes('"ready":true'));
    return line === undefined ? null : (JSON.parse(line) as { port: number }).port;
  };
  // A machine that does much else takes its time to start a process.
  return eventually(ready, 60_000);
}

/** A withdrawal's context under `key`. */
export function withdrawal(key: string, changes: Partial<ExecutionContext> = {}): ExecutionContext {
  const config = {
    venue: 'paper-main',
    asset: 'USDC',
    network: 'ERC20',
    destination_address: PAYEE,
  };
  return contextOf({ idempotency_key: key, config, ...changes });
}

export const call = () => ({ signal: new AbortController().signal });
export const journal = {
  transactions: async () => [],
  releaseNonce: async () => true,
  displaced: async () => false,
  held: async () => null,
  accepted: async () => undefined,
};

/** Prepares and submits; what prepare refuses is the answer. */
export async function submit(
  venue: VenueClient,
  context: ExecutionContext,
): Promise<ExecutionResult> {
  const prepared = await venue.executor.prepare(context, call());
  const prepared_action = prepared.prepared_action;
  if (prepared_action === undefined) return prepared;
  return venue.executor.submit({ context, prepared_action, journal }, call());
}

/** Observes as the service does, until the answer is final. */
export async function settled(
  venue: VenueClient,
  context: ExecutionContext,
): Promise<ExecutionResult> {
  return eventually(async () => {
    const answer = await venue.executor.observe(context, call(), journal);
    return answer.next_state === 'COMPLETED' || answer.next_state === 'FAILED' ? answer : null;
  });
}

class Stop extends Error {}

/** Asks until the answer is not null, or throws what was thrown last when the time is over. */
export async function eventually<T>(ask: () => Promise<T | null>, timeoutMs = 15_000): Promise<T> {
  let last: unknown = new Error('no answer in time');
  for (const start = Date.now(); Date.now() - start < timeoutMs; await sleep(25)) {
    try {
      const answer = await ask();
      if (answer !== null) return answer;
    } catch (error) {
      if (error instanceof Stop) throw error;
      last = error;
    }
  }
  throw last;
}
