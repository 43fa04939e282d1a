/** The demo's movements: what is moved, from where to where, and the balances that show it. */
import { createPublicClient, erc20Abi, formatUnits, http } from 'viem';
import type { BodyOf } from '../clients/http/index.ts';
import { AMOUNT, demoMovement } from './demo-story.ts';
import { BRIDGED_ASSETS } from './simulators/bridge/lanes.ts';
import type { StackBridges } from './stack/bridges.ts';
import type { ChainInfo } from './stack/chain.ts';
import { BRIDGE_TEMPLATE } from './stack/starter-templates.ts';

export interface Scene {
  readonly template_key: string;
  readonly asset: string;
  /** Returns the body that creates the movement. */
  readonly movement: (template: {
    readonly template_key: string;
    readonly version: number;
  }) => BodyOf<'createMovement'>;
  /** Returns balances by holder, read from chains and venue books instead of the service. */
  readonly balances: () => Promise<Record<string, string>>;
}

const BRIDGED = '25';

/** Returns the scene from the paper venue through the wallet to the treasury. */
export function withdrawal(chain: ChainInfo, paperVenueUrl: string): Scene {
  const { signer, treasury } = chain.accounts;
  const held = (owner: Hex) => balance(chain.rpcUrl, chain.tokens.USDC, owner);
  return {
    template_key: 'starter/withdraw-to-treasury',
    asset: 'USDC',
    movement: (template) => demoMovement(template, chain),
    balances: async () => ({
      'paper-main (venue)': await atVenue(paperVenueUrl),
      'wallet (chain)': await held(signer.address),
      'treasury (chain)': await held(treasury.address),
    }),
  };
}

/** Returns the scene across the bridge: burnt on the near chain, minted on the far chain. */
export function crossing(chain: ChainInfo, { near, far }: StackBridges): Scene {
  const { signer, treasury } = chain.accounts;
  const { asset, decimals } = BRIDGED_ASSETS.burn;
  const held = ({ rpcUrl, contracts }: typeof near, owner: Hex) =>
    balance(rpcUrl, { address: contracts.burnToken, decimals }, owner);
  return {
    template_key: BRIDGE_TEMPLATE,
    asset,
    movement: ({ template_key, version }) => ({
      template_key,
      template_version: version,
      strategy_id: 'demo',
      intent: { asset, amount: BRIDGED },
      labels: { purpose: 'demo' },
    }),
    balances: async () => ({
      'wallet (near chain)': await held(near, signer.address),
      'treasury (far chain)': await held(far, treasury.address),
    }),
  };
}

/** Amounts that `npm run demo` prints in its help. */
export const MOVED = {
  withdrawal: `${AMOUNT} USDC`,
  crossing: `${BRIDGED} ${BRIDGED_ASSETS.burn.asset}`,
} as const;

type Hex = `0x${string}`;

async function balance(
  rpcUrl: string,
  { address, decimals }: { readonly address: Hex; readonly decimals: number },
  owner: Hex,
): Promise<string> {
  const client = createPublicClient({ transport: http(rpcUrl) });
  const read = { address, abi: erc20Abi, functionName: 'balanceOf', args: [owner] } as const;
  return formatUnits(await client.readContract(read), decimals);
}

async function atVenue(url: string): Promise<string> {
  const answer = await fetch(`${url}/accounts/paper-main/balances`);
  const body = (await answer.json()) as {
    balances: { account_type: string; asset: string; available: string }[];
  };
  const found = body.balances.find(
    ({ asset, account_type }) => asset === 'USDC' && account_type === 'SPOT',
  );
  return found?.available ?? 'unknown';
}
