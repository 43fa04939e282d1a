/** The simulated perps venue on a real chain, and its callers with the client that others use. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ExchangeClient, HttpTransport } from '@nktkas/hyperliquid';
import { keccak256, toHex } from 'viem';
import { privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts';
import { NEAR } from '../../dev/simulators/bridge/lanes.ts';
import { chainInfo } from '../../dev/simulators/chain/accounts.ts';
import { TOKEN_ABI } from '../../dev/simulators/chain/contracts/token-artifact.ts';
import { PERP_BRIDGE, type PerpSettings } from '../../dev/simulators/perp/settings.ts';
import { balance, eventually, post, startSide, type Hex, type TestChain } from './bridge-stack.ts';

export const TOKEN = chainInfo(0).tokens.USDC.address;
/** Holds all of the token at first. */
export const WHALE = chainInfo(0).accounts.venueHotWallet;

/** An account made of its name. */
export function someone(name: string): PrivateKeyAccount {
  return privateKeyToAccount(keccak256(toHex(`perp venue test: ${name}`)));
}

/** An address in lower case, as the venue tells it. */
export const low = (address: string): Hex => address.toLowerCase() as Hex;

export interface PerpChainStack {
  readonly chain: TestChain;
  readonly settings: PerpSettings;
  stop(): Promise<void>;
}

export async function startPerpChain(): Promise<PerpChainStack> {
  const folder = mkdtempSync(join(tmpdir(), 'perp-'));
  const chain = await startSide(NEAR, folder);
  return {
    chain,
    settings: {
      port: 0,
      dataDir: join(folder, 'perp'),
      rpcUrl: chain.rpcUrl,
      chainId: NEAR.chainId,
      token: TOKEN,
      bridgeKey: PERP_BRIDGE.privateKey,
      network: 'Testnet',
    },
    stop: async () => {
      await chain.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Sends tokens from the whale to the bridge; the transaction and its block. */
export async function deposit(
  chain: TestChain,
  units: bigint,
): Promise<{ readonly hash: Hex; readonly block: bigint }> {
  const args = [PERP_BRIDGE.address, units] as const;
  const call = { to: TOKEN, abi: TOKEN_ABI, functionName: 'transfer', args };
  const { transactionHash: hash, blockNumber: block } = await chain.send(call, WHALE);
  return { hash, block };
}

export const tokensOf = (chain: TestChain, of: Hex): Promise<bigint> => balance(chain, TOKEN, of);

/** What a ledger shows. */
export interface Row {
  readonly time: number;
  readonly hash: Hex;
  readonly delta: Readonly<Record<string, unknown>>;
}

/** What the journal shows of one call of /exchange. */
export interface Heard {
  readonly body: string;
  readonly signer: Hex | null;
  readonly nonce: number | null;
  readonly admitted: boolean;
  readonly status: number;
  readonly answer: unknown;
  readonly answered: boolean;
}

/** A venue as its callers see it. */
export interface PerpCaller {
  info<T>(question: object): Promise<T>;
  rows(user: Hex): Promise<readonly Row[]>;
  perp(user: Hex): Promise<string>;
  spot(user: Hex): Promise<string>;
  fund(address: Hex, has: { perp?: string; spot?: string; volume?: string }): Promise<void>;
  /** Makes a sub-account; its address. */
  sub(master: Hex, name: string): Promise<Hex>;
  faults(wish: object): Promise<void>;
  heard(): Promise<readonly Heard[]>;
  /** What it heard last. */
  last(): Promise<Heard>;
  exchange(body: string | object): Promise<{ readonly status: number; readonly text: string }>;
  /** The client of others, signing as this account, with its own nonces or those of `nonces`. */
  as(account: PrivateKeyAccount, nonces?: () => number): ExchangeClient;
}

export function callerOf(url: string): PerpCaller {
  const json = async (path: string, body?: object): Promise<unknown> => {
    const answer = await (body === undefined
      ? fetch(`${url}${path}`)
      : post(`${url}${path}`, JSON.stringify(body)));
    if (!answer.ok) throw new Error(`${path}: ${String(answer.status)} ${await answer.text()}`);
    return answer.json();
  };
  const caller: PerpCaller = {
    info: async <T>(question: object) => (await json('/info', question)) as T,
    rows: (user) => caller.info({ type: 'userNonFundingLedgerUpdates', user, startTime: 0 }),
    perp: async (user) =>
      (await caller.info<{ withdrawable: string }>({ type: 'clearinghouseState', user }))
        .withdrawable,
    spot: async (user) => {
      const question = { type: 'spotClearinghouseState', user };
      const { balances } = await caller.info<{ balances: { total: string }[] }>(question);
      return balances[0]?.total ?? '0.0';
    },
    fund: async (address, has) => void (await json('/accounts', { address, ...has })),
    sub: async (master, name) =>
      ((await json('/accounts', { master, name })) as { address: Hex }).address,
    faults: async (wish) => void (await json('/faults', wish)),
    heard: async () => ((await json('/journal')) as { entries: Heard[] }).entries,
    last: async () => {
      const found = (await caller.heard()).at(-1);
      if (found === undefined) throw new Error('it has heard nothing');
      return found;
    },
    exchange: async (body) => {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const answer = await post(`${url}/exchange`, text);
      return { status: answer.status, text: await answer.text() };
    },
    as: (wallet, nonceManager) =>
      new ExchangeClient({
        wallet,
        transport: new HttpTransport({ apiUrl: url, isTestnet: true }),
        signatureChainId: '0xa4b1',
        ...(nonceManager === undefined ? {} : { nonceManager }),
      }),
  };
  return caller;
}

/** Waits until the ledger of an account has a row of a type, and answers all of them. */
export function rowsOf(caller: PerpCaller, user: Hex, type: string): Promise<readonly Row[]> {
  return eventually(async () => {
    const rows = (await caller.rows(user)).filter(({ delta }) => delta['type'] === type);
    return rows.length === 0 ? null : rows;
  });
}
