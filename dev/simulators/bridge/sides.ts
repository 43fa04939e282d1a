/** Connections to both chains, for the attester and the deliverer. */
import { z } from 'zod';
import { chainClient, type ChainClient } from '../kit/chain.ts';
import { nodeUrl, port } from '../kit/settings.ts';
import { FAR, NEAR, type LaneChain } from './lanes.ts';

/** JSON-RPC endpoint URLs of both chains. */
export interface ChainUrls {
  readonly near: string;
  readonly far: string;
}

/** One chain with a client of its JSON-RPC endpoint. */
export interface Side extends LaneChain {
  readonly rpcUrl: string;
  readonly client: ChainClient;
}

const environmentSchema = z.object({
  BRIDGE_PORT: port,
  BRIDGE_DIR: z.string().min(1),
  BRIDGE_NEAR_RPC_URL: nodeUrl,
  BRIDGE_FAR_RPC_URL: nodeUrl,
});

/** Settings of the attester, or of the deliverer. */
export interface BridgeSettings {
  readonly port: number;
  /** Folder of the journal. */
  readonly dataDir: string;
  readonly urls: ChainUrls;
}

/** Reads the settings from the environment; throws an error that lists every fault. */
export function readBridgeSettings(environment: NodeJS.ProcessEnv): BridgeSettings {
  const read = environmentSchema.parse(environment);
  return {
    port: read.BRIDGE_PORT,
    dataDir: read.BRIDGE_DIR,
    urls: { near: read.BRIDGE_NEAR_RPC_URL, far: read.BRIDGE_FAR_RPC_URL },
  };
}

/** Returns clients of both chains; sends no request yet. */
export function connectSides({ near, far }: ChainUrls): readonly [near: Side, far: Side] {
  return [
    { ...NEAR, rpcUrl: near, client: clientOf(near) },
    { ...FAR, rpcUrl: far, client: clientOf(far) },
  ];
}

const clientOf = (rpcUrl: string): ChainClient => chainClient(rpcUrl, { retryCount: 2 });
