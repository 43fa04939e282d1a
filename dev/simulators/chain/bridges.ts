/** Deploys the contracts of both bridges on one chain. */
import {
  encodeDeployData,
  encodeFunctionData,
  parseUnits,
  privateKeyToAccount,
} from '../kit/viem.ts';
import { FEES } from '../kit/fees.ts';
import type { Hex } from '../kit/hex.ts';
import { deployOnce } from './deploy.ts';
import type { Journal } from './journal.ts';
import type { ChainEngine } from './engine.ts';
import {
  BURN_TOKEN,
  ENDPOINT,
  MESSAGE_TRANSMITTER,
  OMNI_TOKEN,
  TOKEN_MESSENGER,
} from '../bridge/contracts/artifacts.ts';
import {
  ATTESTERS,
  BRIDGED_ASSETS,
  BRIDGED_SUPPLY,
  DELIVERER,
  FEE_COLLECTOR,
  type LaneChain,
  PACKET_FEE_WEI,
  SIGNATURE_THRESHOLD,
  lanesOf,
} from '../bridge/lanes.ts';

/** A transaction of the deployment; without `to` it creates a contract. */
interface Step {
  readonly to?: Hex;
  readonly data: Hex;
}

/**
 * Returns the signed transactions that deploy a chain's bridges, in order of their nonces.
 * Signatures are deterministic, so each call returns the same transactions.
 *
 * @throws Error for a chain that has no lanes.
 */
export async function laneDeployment(chainId: number, holder: Hex): Promise<readonly Hex[]> {
  const sides = lanesOf(chainId);
  if (sides === null) throw new Error(`There are no bridge lanes for chain ${String(chainId)}.`);
  const account = privateKeyToAccount(sides.here.deployer.privateKey);
  return Promise.all(
    steps(sides.here, sides.there, holder).map((step, nonce) =>
      account.signTransaction({ chainId, nonce, gas: 4_000_000n, ...FEES, ...step }),
    ),
  );
}

/** Deploys the bridges unless the journal contains the deployment. */
export async function deployLanes(
  engine: ChainEngine,
  journal: Journal,
  chain: { readonly chainId: number; readonly holder: Hex },
): Promise<void> {
  await deployOnce(engine, journal, await laneDeployment(chain.chainId, chain.holder));
}

function steps(here: LaneChain, there: LaneChain, holder: Hex): readonly Step[] {
  const { burn, omni } = BRIDGED_ASSETS;
  const at = here.contracts;
  const omniToken = (data: Hex): Step => ({ to: at.omniToken, data });
  return [
    {
      data: encodeDeployData({
        ...BURN_TOKEN,
        args: [
          'Development Burnable Dollar',
          burn.asset,
          at.tokenMessenger,
          holder,
          parseUnits(BRIDGED_SUPPLY, burn.decimals),
        ],
      }),
    },
    {
      data: encodeDeployData({
        ...MESSAGE_TRANSMITTER,
        args: [here.domain, ATTESTERS.map(({ address }) => address), BigInt(SIGNATURE_THRESHOLD)],
      }),
    },
    {
      data: encodeDeployData({
        ...TOKEN_MESSENGER,
        args: [
          at.messageTransmitter,
          at.burnToken,
          FEE_COLLECTOR,
          {
            domain: there.domain,
            messenger: inWord(there.contracts.tokenMessenger),
            token: inWord(there.contracts.burnToken),
          },
        ],
      }),
    },
    {
      data: encodeDeployData({ ...ENDPOINT, args: [here.eid, DELIVERER.address, PACKET_FEE_WEI] }),
    },
    {
      data: encodeDeployData({
        ...OMNI_TOKEN,
        args: ['Development Omnichain Coin', omni.asset, omni.decimals, at.endpoint],
      }),
    },
    omniToken(
      encodeFunctionData({
        abi: OMNI_TOKEN.abi,
        functionName: 'setPeer',
        args: [there.eid, inWord(there.contracts.omniToken)],
      }),
    ),
    omniToken(
      encodeFunctionData({
        abi: OMNI_TOKEN.abi,
        functionName: 'mint',
        args: [holder, parseUnits(BRIDGED_SUPPLY, omni.decimals)],
      }),
    ),
  ];
}

/** Returns an address padded to 32 bytes. */
export function inWord(address: Hex): Hex {
  return `0x${'0'.repeat(24)}${address.slice(2).toLowerCase()}`;
}
