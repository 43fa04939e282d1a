/**
 * The two local chains of the bridges, the same on every run: ids, deployed contracts, and the keys
 * of attesters and deliverer. The keys are for local chains only: those of the chain accounts are
 * anvil's and public, and the attesters' are hashes of their names.
 */
import type { Hex } from '../kit/hex.ts';
import { getContractAddress, keccak256, privateKeyToAccount, toHex } from '../kit/viem.ts';

interface Account {
  readonly address: Hex;
  readonly privateKey: Hex;
}

/** A chain's contracts of both lanes. */
export interface LaneContracts {
  /** Burn and mint. */
  readonly burnToken: Hex;
  readonly messageTransmitter: Hex;
  readonly tokenMessenger: Hex;
  /** The omnichain token. */
  readonly endpoint: Hex;
  readonly omniToken: Hex;
}

/** One side of both lanes. */
export interface LaneChain {
  readonly chainId: number;
  /** Of the burn-and-mint lane. */
  readonly domain: number;
  /** Of the omnichain token's endpoint. */
  readonly eid: number;
  readonly deployer: Account;
  readonly contracts: LaneContracts;
}

/** Assets, as intents and venue entries name them, and the decimals of their tokens. */
export const BRIDGED_ASSETS = {
  burn: { asset: 'USDB', decimals: 6 },
  // More than the six that cross the bridge, so that there is dust.
  omni: { asset: 'OMNI', decimals: 18 },
} as const;

/** What the chain's `signer` account holds of both tokens on both chains at first, in units. */
export const BRIDGED_SUPPLY = '1000000';
/** What the endpoint charges for one packet, in wei. */
export const PACKET_FEE_WEI = 500_000_000_000_000n;

/** Deploys on the chain that every stack has. Anvil's account 9. */
const NEAR_DEPLOYER: Account = {
  address: '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720',
  privateKey: '0x2a871d0798f97d79848a013d4936a73bf4cc922c825d33c1cf7073dff6d409c6',
};
/** Another one, so that no contract has the same address on both chains. Anvil's account 8. */
const FAR_DEPLOYER: Account = {
  address: '0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f',
  privateKey: '0xdbda1821b80551c9d65939329250298aa3472ba22feea921c0cf5d620ea67b97',
};
/** Verifies and delivers packets, and is paid for it. Anvil's account 6. */
export const DELIVERER: Account = {
  address: '0x976EA74026E726554dB657fA54763abd0C3a0aa9',
  privateKey: '0x92db14e403b83dfe3df233f83dfa3a0d7096f21ca9b0d6d6b8d88b2b4ec1564e',
};
/** Gets what fast burns cost. There is no key for it. */
export const FEE_COLLECTOR: Hex = '0x00000000000000000000000000000000000feec0';

/** Three attesters, of whom two sign. */
export const ATTESTERS: readonly Account[] = ['one', 'two', 'three'].map((name) => {
  const privateKey = keccak256(toHex(`local attester ${name}`));
  return { address: privateKeyToAccount(privateKey).address, privateKey };
});
export const SIGNATURE_THRESHOLD = 2;

/** In order of the deployer's nonces, from which the addresses follow. */
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

/** Both sides, seen from one of them; null for a chain without lanes. */
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
