/**
 * The two local chains of the bridges, the same in every run: ids, deployed contracts, and the keys
 * of attesters and deliverer. The keys are for local chains only: the chain accounts use anvil's
 * public keys, and the attesters' keys are hashes of their names.
 */
import type { Hex } from '../kit/hex.ts';
import { getContractAddress, keccak256, privateKeyToAccount, toHex } from '../kit/viem.ts';

interface Account {
  readonly address: Hex;
  readonly privateKey: Hex;
}

/** Contracts of both bridges on one chain. */
export interface LaneContracts {
  /** Contracts of the burn-and-mint bridge. */
  readonly burnToken: Hex;
  readonly messageTransmitter: Hex;
  readonly tokenMessenger: Hex;
  /** Contracts of the omnichain token bridge. */
  readonly endpoint: Hex;
  readonly omniToken: Hex;
}

/** One chain, with its part of both bridges. */
export interface LaneChain {
  readonly chainId: number;
  /** Domain id in the burn-and-mint bridge. */
  readonly domain: number;
  /** Endpoint id in the omnichain token bridge. */
  readonly eid: number;
  readonly deployer: Account;
  readonly contracts: LaneContracts;
}

/** Asset names in intents and venue entries, and the decimals of their tokens. */
export const BRIDGED_ASSETS = {
  burn: { asset: 'USDB', decimals: 6 },
  // More than the six decimals that cross the bridge, so that there is dust.
  omni: { asset: 'OMNI', decimals: 18 },
} as const;

/** Initial balance of the chain's `signer` account in each token on each chain, in whole tokens. */
export const BRIDGED_SUPPLY = '1000000';
/** Fee of the endpoint for one packet, in wei. */
export const PACKET_FEE_WEI = 500_000_000_000_000n;

/** Deploys the contracts on the chain that every stack has. Anvil's account 9. */
const NEAR_DEPLOYER: Account = {
  address: '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720',
  privateKey: '0x2a871d0798f97d79848a013d4936a73bf4cc922c825d33c1cf7073dff6d409c6',
};
/**
 * A different deployer, so that no contract has the same address on both chains. Anvil's account 8.
 */
const FAR_DEPLOYER: Account = {
  address: '0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f',
  privateKey: '0xdbda1821b80551c9d65939329250298aa3472ba22feea921c0cf5d620ea67b97',
};
/** Account that verifies and delivers packets and is paid for it. Anvil's account 6. */
export const DELIVERER: Account = {
  address: '0x976EA74026E726554dB657fA54763abd0C3a0aa9',
  privateKey: '0x92db14e403b83dfe3df233f83dfa3a0d7096f21ca9b0d6d6b8d88b2b4ec1564e',
};
/** Address that receives the fees of fast burns. No key exists for it. */
export const FEE_COLLECTOR: Hex = '0x00000000000000000000000000000000000feec0';

/** Three attesters; two of them sign a message. */
export const ATTESTERS: readonly Account[] = ['one', 'two', 'three'].map((name) => {
  const privateKey = keccak256(toHex(`local attester ${name}`));
  return { address: privateKeyToAccount(privateKey).address, privateKey };
});
export const SIGNATURE_THRESHOLD = 2;

/** Contracts in the order of the deployer's nonces, which determine their addresses. */
export const DEPLOYED = [
  'burnToken',
  'messageTransmitter',
  'tokenMessenger',
  'endpoint',
  'omniToken',
] as const satisfies readonly (keyof LaneContracts)[];

/** The chain that every stack has. */
export const NEAR: LaneChain = side(31_337, 7_001, 40_337, NEAR_DEPLOYER);
/** The chain that only the bridges use. */
export const FAR: LaneChain = side(31_338, 7_002, 40_338, FAR_DEPLOYER);

/** Returns the chain and its counterpart; null for a chain without bridges. */
export function lanesOf(chainId: number): { here: LaneChain; there: LaneChain } | null {
  if (chainId === NEAR.chainId) return { here: NEAR, there: FAR };
  if (chainId === FAR.chainId) return { here: FAR, there: NEAR };
  return null;
}

function side(chainId: number, domain: number, eid: number, deployer: Account): LaneChain {
  const addresses = DEPLOYED.map((name, nonce) => [
    name,
    getContractAddress({ from: deployer.address, nonce: BigInt(nonce) }),
  ]);
  const contracts = Object.fromEntries(addresses) as LaneContracts;
  return { chainId, domain, eid, deployer, contracts };
}
