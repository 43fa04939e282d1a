import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { simulatorPart } from './simulator-part.ts';
import type { ChildSpec } from './supervise/child.ts';
import { type ChainInfo, chainInfo } from '../simulators/chain/accounts.ts';

export type { ChainInfo, DevAccount, DevToken } from '../simulators/chain/accounts.ts';

/** Returns the path of the file with the local chain's addresses and keys. */
export function chainFile(dataDir: string): string {
  return join(dataDir, 'chain.json');
}

/**
 * Writes `<dataDir>/chain.json` for a chain at this port, in one step, so that no process reads an
 * incomplete file.
 */
export function writeChainInfo(dataDir: string, port: number): ChainInfo {
  const info = chainInfo(port);
  const draft = `${chainFile(dataDir)}.draft`;
  writeFileSync(draft, `${JSON.stringify(info, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, chainFile(dataDir));
  return info;
}

/** Reads `<dataDir>/chain.json`. */
export function readChainInfo(dataDir: string): ChainInfo {
  return JSON.parse(readFileSync(chainFile(dataDir), 'utf8')) as ChainInfo;
}

/**
 * Describes the process that serves a local chain and starts anvil on `nodePort`. `name` is also
 * the name of its folder. `bridges`: deploys the contracts of the bridges.
 */
export function chainPart(options: {
  dataDir: string;
  port: number;
  nodePort: number;
  logDir: string;
  name?: string;
  chainId?: number;
  bridges?: boolean;
}): ChildSpec {
  const { dataDir, port, nodePort, logDir, name = 'chain', chainId, bridges = false } = options;
  const env = {
    CHAIN_PORT: String(port),
    CHAIN_NODE_PORT: String(nodePort),
    CHAIN_DIR: join(dataDir, name),
    ...(chainId === undefined ? {} : { CHAIN_ID: String(chainId) }),
    CHAIN_BRIDGES: String(bridges),
  };
  return {
    ...simulatorPart(name, logDir, env, 'chain'),
    stage: 3,
    stopTimeoutMs: 3_000,
    // The chain replays its journal, which may be long, before it opens the port.
    readyTimeoutMs: 180_000,
  };
}
