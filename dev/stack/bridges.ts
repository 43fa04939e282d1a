/**
 * The bridges of an embedded stack: a second chain, and the attester and the deliverer between the
 * two chains. Each start chooses free ports.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BRIDGED_ASSETS, FAR, NEAR, type LaneChain } from '../simulators/bridge/lanes.ts';
import { chainPart } from './chain.ts';
import { freePort } from './ports.ts';
import { simulatorPart } from './simulator-part.ts';
import type { ChildSpec } from './supervise/child.ts';

/** Names of the bridges' parts. */
export const FAR_CHAIN = 'far-chain';
export const ATTESTER = 'bridge-attester';
export const DELIVERER = 'bridge-deliverer';

/** One chain of the bridges on a running stack. */
export interface BridgeSide extends LaneChain {
  readonly venueKey: string;
  readonly rpcUrl: string;
}

/** The bridges of a stack; also the content of `<dataDir>/bridges.json`. */
export interface StackBridges {
  readonly near: BridgeSide;
  readonly far: BridgeSide;
  readonly assets: typeof BRIDGED_ASSETS;
  readonly attesterUrl: string;
  readonly delivererUrl: string;
}

/** Chooses the ports and writes `<dataDir>/bridges.json`; starts nothing. */
export async function planBridges(
  dataDir: string,
  nearUrl: string,
  taken: readonly number[],
): Promise<StackBridges> {
  const far = await freePort(taken);
  const attester = await freePort([...taken, far]);
  const deliverer = await freePort([...taken, far, attester]);
  const at = (port: number): string => `http://127.0.0.1:${String(port)}`;
  const bridges: StackBridges = {
    near: { ...NEAR, venueKey: 'local-chain', rpcUrl: nearUrl },
    far: { ...FAR, venueKey: FAR_CHAIN, rpcUrl: at(far) },
    assets: BRIDGED_ASSETS,
    attesterUrl: at(attester),
    delivererUrl: at(deliverer),
  };
  const text = `${JSON.stringify(bridges, null, 2)}\n`;
  writeFileSync(join(dataDir, 'bridges.json'), text, { mode: 0o600 });
  return bridges;
}

/** Describes the processes of the far chain, the attester and the deliverer. */
export async function bridgeParts(
  bridges: StackBridges,
  { dataDir, logDir, taken }: { dataDir: string; logDir: string; taken: readonly number[] },
): Promise<readonly ChildSpec[]> {
  const ports = [bridges.far.rpcUrl, bridges.attesterUrl, bridges.delivererUrl].map(portOf);
  const served = (name: typeof ATTESTER | typeof DELIVERER, url: string): ChildSpec =>
    simulatorPart(name, logDir, {
      BRIDGE_PORT: String(portOf(url)),
      BRIDGE_DIR: join(dataDir, name),
      BRIDGE_NEAR_RPC_URL: bridges.near.rpcUrl,
      BRIDGE_FAR_RPC_URL: bridges.far.rpcUrl,
    });
  return [
    chainPart({
      dataDir,
      logDir,
      name: FAR_CHAIN,
      chainId: FAR.chainId,
      bridges: true,
      port: portOf(bridges.far.rpcUrl),
      nodePort: await freePort([...taken, ...ports]),
    }),
    served(ATTESTER, bridges.attesterUrl),
    served(DELIVERER, bridges.delivererUrl),
  ];
}

/** Returns the bridged tokens of a chain, for its venue entry. */
export function bridgedTokens({
  contracts,
}: BridgeSide): readonly Readonly<Record<string, unknown>>[] {
  const { burn, omni } = BRIDGED_ASSETS;
  return [
    { ...burn, address: contracts.burnToken },
    { ...omni, address: contracts.omniToken },
  ];
}

/** Returns the bridge settings of a chain, for its venue entry. */
export function laneEntries({ contracts, domain, eid }: BridgeSide, attesterUrl: string): object {
  return {
    cctp: {
      domain,
      token_messenger: contracts.tokenMessenger,
      message_transmitter: contracts.messageTransmitter,
      attester_url: attesterUrl,
    },
    bridge_c: {
      eid,
      endpoint: contracts.endpoint,
      tokens: [{ asset: BRIDGED_ASSETS.omni.asset, oft: contracts.omniToken }],
    },
  };
}

/**
 * Returns the contracts to which signers may give an allowance or send; these contracts count as
 * payees.
 */
export function bridgeSpenders({ near, far }: StackBridges): readonly string[] {
  return [near, far].flatMap(({ contracts }) => [contracts.tokenMessenger, contracts.omniToken]);
}

const portOf = (url: string): number => Number(new URL(url).port);
