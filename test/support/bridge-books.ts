/**
 * Burns and mints on both chains of the bridges, read with another client than the service's.
 * Amounts are in base units.
 */
import { createPublicClient, getAbiItem, http, parseAbi, type Hex } from 'viem';
import { FEE_COLLECTOR } from '../../dev/simulators/bridge/lanes.ts';
import type { BridgeSide, StackBridges } from '../../dev/stack/bridges.ts';

const TOKEN = parseAbi([
  'function totalSupply() view returns (uint256)',
  'function balanceOf(address) view returns (uint256)',
  'function allowance(address, address) view returns (uint256)',
]);
const MESSENGER = parseAbi([
  'event DepositForBurn(address indexed burnToken, uint256 amount, address indexed depositor, bytes32 mintRecipient, uint32 destinationDomain, bytes32 destinationTokenMessenger, bytes32 destinationCaller, uint256 maxFee, uint32 indexed minFinalityThreshold, bytes hookData)',
  'event MintAndWithdraw(address indexed mintRecipient, uint256 amount, address indexed mintToken, uint256 feeCollected)',
]);
/** Both tokens have as many. */
const UNIT = 1_000_000n;

/** What a side's newest block says. */
export interface SideBooks {
  readonly supply: bigint;
  /** What fees have brought, which is minted like the rest. */
  readonly collected: bigint;
  readonly held: (holder: Hex) => Promise<bigint>;
  readonly allowed: (owner: Hex) => Promise<bigint>;
  /** Every burn that is in a block. */
  readonly burns: readonly { readonly amount: bigint; readonly by: Hex }[];
  /** Every mint that is in a block; `amount` is without the fee. */
  readonly mints: readonly { readonly amount: bigint; readonly fee: bigint; readonly to: Hex }[];
}

export async function readBooks({ rpcUrl, contracts }: BridgeSide): Promise<SideBooks> {
  const client = createPublicClient({ transport: http(rpcUrl), cacheTime: 0 });
  const token = { address: contracts.burnToken, abi: TOKEN } as const;
  const held = (holder: Hex): Promise<bigint> =>
    client.readContract({ ...token, functionName: 'balanceOf', args: [holder] });
  const every = { address: contracts.tokenMessenger, fromBlock: 0n } as const;
  const [supply, collected, burns, mints] = await Promise.all([
    client.readContract({ ...token, functionName: 'totalSupply' }),
    held(FEE_COLLECTOR),
    client.getLogs({
      ...every,
      event: getAbiItem({ abi: MESSENGER, name: 'DepositForBurn' }),
      strict: true,
    }),
    client.getLogs({
      ...every,
      event: getAbiItem({ abi: MESSENGER, name: 'MintAndWithdraw' }),
      strict: true,
    }),
  ]);
  return {
    supply,
    collected,
    held,
    allowed: (owner) =>
      client.readContract({
        ...token,
        functionName: 'allowance',
        args: [owner, contracts.tokenMessenger],
      }),
    burns: burns.map(({ args }) => ({ amount: args.amount, by: args.depositor })),
    mints: mints.map(({ args }) => ({
      amount: args.amount,
      fee: args.feeCollected,
      to: args.mintRecipient,
    })),
  };
}

/** What there is of the token on both chains; what is burnt and not yet minted is missing. */
export async function supplyOf({ near, far }: StackBridges): Promise<{
  readonly near: bigint;
  readonly far: bigint;
  readonly sum: bigint;
}> {
  const [here, there] = await Promise.all([readBooks(near), readBooks(far)]);
  return { near: here.supply, far: there.supply, sum: here.supply + there.supply };
}

/** A hundredth of a percent, rounded up: what the local attester takes for a fast burn. */
export const fastFee = (units: bigint): bigint => (units + 9_999n) / 10_000n;

/** `12.345` as base units, read digit by digit. */
export function unitsOf(amount: string): bigint {
  const [whole = '0', rest = ''] = amount.split('.');
  return BigInt(whole) * UNIT + BigInt(rest.padEnd(6, '0'));
}

/** Base units as a person reads them. */
export function amountOf(units: bigint): string {
  return `${String(units / UNIT)}.${String(units % UNIT).padStart(6, '0')}`;
}
