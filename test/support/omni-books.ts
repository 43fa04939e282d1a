/**
 * Sends and receipts of the omnichain token on both chains of the bridges, read with another client
 * than the service's. Amounts are in base units of 18 decimals.
 */
import { createPublicClient, getAbiItem, http, parseAbi, type Hex } from 'viem';
import type { BridgeSide, StackBridges } from '../../dev/stack/bridges.ts';

const TOKEN = parseAbi([
  'function totalSupply() view returns (uint256)',
  'function balanceOf(address) view returns (uint256)',
  'event OFTSent(bytes32 indexed guid, uint32 dstEid, address indexed fromAddress, uint256 amountSentLD, uint256 amountReceivedLD)',
  'event OFTReceived(bytes32 indexed guid, uint32 srcEid, address indexed toAddress, uint256 amountReceivedLD)',
]);
const ENDPOINT = parseAbi([
  'struct Origin { uint32 srcEid; bytes32 sender; uint64 nonce; }',
  'event LzReceiveAlert(address indexed receiver, address indexed executor, Origin origin, bytes32 guid, uint256 gas, uint256 value, bytes message, bytes extraData, bytes reason)',
]);

export interface OmniSent {
  readonly guid: Hex;
  readonly by: Hex;
  readonly amount: bigint;
  readonly tx: Hex;
}
export interface OmniReceived {
  readonly guid: Hex;
  readonly to: Hex;
  readonly amount: bigint;
  readonly tx: Hex;
}

/** What a side's newest block says. */
export interface OmniBooks {
  readonly supply: bigint;
  readonly held: (holder: Hex) => Promise<bigint>;
  /** Every send that is in a block. */
  readonly sent: readonly OmniSent[];
  /** Every receipt that is in a block. */
  readonly received: readonly OmniReceived[];
}

export async function readOmniBooks({ rpcUrl, contracts }: BridgeSide): Promise<OmniBooks> {
  const client = createPublicClient({ transport: http(rpcUrl), cacheTime: 0 });
  const token = { address: contracts.omniToken, abi: TOKEN } as const;
  const every = { address: contracts.omniToken, fromBlock: 0n, strict: true } as const;
  const [supply, sent, received] = await Promise.all([
    client.readContract({ ...token, functionName: 'totalSupply' }),
    client.getLogs({ ...every, event: getAbiItem({ abi: TOKEN, name: 'OFTSent' }) }),
    client.getLogs({ ...every, event: getAbiItem({ abi: TOKEN, name: 'OFTReceived' }) }),
  ]);
  return {
    supply,
    held: (holder) => client.readContract({ ...token, functionName: 'balanceOf', args: [holder] }),
    sent: sent.map(({ args, transactionHash }) => ({
      guid: args.guid,
      by: args.fromAddress,
      amount: args.amountSentLD,
      tx: transactionHash,
    })),
    received: received.map(({ args, transactionHash }) => ({
      guid: args.guid,
      to: args.toAddress,
      amount: args.amountReceivedLD,
      tx: transactionHash,
    })),
  };
}

/** What there is of the token on both chains; what is sent and not yet received is missing. */
export async function omniSupply({ near, far }: StackBridges): Promise<bigint> {
  const [here, there] = await Promise.all([readOmniBooks(near), readOmniBooks(far)]);
  return here.supply + there.supply;
}

/** Failed deliveries, as the deliverer reported them to the endpoints of both sides. */
export async function failedDeliveries({ near, far }: StackBridges): Promise<number> {
  const of = async ({ rpcUrl, contracts }: BridgeSide): Promise<number> => {
    const client = createPublicClient({ transport: http(rpcUrl), cacheTime: 0 });
    const event = getAbiItem({ abi: ENDPOINT, name: 'LzReceiveAlert' });
    const logs = await client.getLogs({ address: contracts.endpoint, event, fromBlock: 0n });
    return logs.length;
  };
  const [here, there] = await Promise.all([of(near), of(far)]);
  return here + there;
}
