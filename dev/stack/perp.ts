/**
 * The perps venue of an embedded stack. Its master account is the development signer; each start
 * chooses a free port.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PERP_BRIDGE } from '../simulators/perp/settings.ts';
import { USDC_TOKEN } from '../simulators/perp/transfers.ts';
import type { ChainInfo } from './chain.ts';
import { freePort } from './ports.ts';
import { simulatorPart } from './simulator-part.ts';
import type { ChildSpec } from './supervise/child.ts';

/** Name of the perps venue's part. */
export const PERP_VENUE = 'perp-venue';

const NETWORK = 'Testnet';
const ASSET = 'USDC';

/** The perps venue of a stack; also the content of `<dataDir>/perp.json`. */
export interface StackPerp {
  readonly venueKey: string;
  readonly url: string;
  readonly network: typeof NETWORK;
  /** Address of the master account. */
  readonly account: string;
  readonly chainId: number;
  readonly asset: typeof ASSET;
  /** Address of the asset's token on that chain. */
  readonly tokenAddress: string;
  /** Address that receives deposits. */
  readonly depositAddress: string;
}

/** Chooses the port and writes `<dataDir>/perp.json`; starts nothing. */
export async function planPerp(
  dataDir: string,
  { chainId, tokens, accounts }: ChainInfo,
  taken: readonly number[],
): Promise<StackPerp> {
  const perp: StackPerp = {
    venueKey: 'perp',
    url: `http://127.0.0.1:${String(await freePort(taken))}`,
    network: NETWORK,
    account: accounts.signer.address,
    chainId,
    asset: ASSET,
    tokenAddress: tokens[ASSET].address,
    depositAddress: PERP_BRIDGE.address,
  };
  writeFileSync(file(dataDir), `${JSON.stringify(perp, null, 2)}\n`, { mode: 0o600 });
  return perp;
}

/** Describes the perps venue's process. */
export function perpPart(
  perp: StackPerp,
  at: { readonly dataDir: string; readonly logDir: string; readonly chainUrl: string },
): ChildSpec {
  return simulatorPart(PERP_VENUE, at.logDir, {
    PERP_PORT: new URL(perp.url).port,
    PERP_DIR: join(at.dataDir, PERP_VENUE),
    PERP_CHAIN_RPC_URL: at.chainUrl,
    PERP_CHAIN_ID: String(perp.chainId),
    PERP_TOKEN: perp.tokenAddress,
    PERP_BRIDGE_KEY: PERP_BRIDGE.privateKey,
    PERP_NETWORK: perp.network,
  });
}

/** Returns the perps venue's entry of the venues file. */
export function perpEntry(perp: StackPerp): Readonly<Record<string, unknown>> {
  return {
    venue_key: perp.venueKey,
    provider: 'perp',
    account_role: 'master',
    account: perp.account,
    url: perp.url,
    network: perp.network,
    chain_id: perp.chainId,
    deposit_address: perp.depositAddress,
    asset: perp.asset,
    token: USDC_TOKEN[perp.network],
  };
}

/**
 * Returns whether the stack of this folder ever had the perps venue. Such a stack keeps it, because
 * the venue holds funds.
 */
export function hadPerp(dataDir: string): boolean {
  return existsSync(file(dataDir));
}

const file = (dataDir: string): string => join(dataDir, 'perp.json');
