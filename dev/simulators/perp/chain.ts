/** The bridge's account on the chain. */
import { erc20Abi, keccak256 } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import {
  TRANSFER_EVENT,
  TRANSFER_GAS,
  broadcast,
  chainClient,
  minedAs,
  transferData,
  type Mined,
} from '../kit/chain.ts';
import { FEES } from '../kit/fees.ts';
import type { Hex } from '../kit/hex.ts';
import { lower } from './actions.ts';
import type { PerpSettings } from './settings.ts';

/** Tokens that were sent to the bridge. */
export interface Arrival {
  readonly transaction: Hex;
  /** `<transaction>:<index among its transfers>`, the same in whatever block it is mined. */
  readonly key: string;
  readonly from: Hex;
  readonly units: bigint;
}

export interface PerpChain {
  readonly bridge: Hex;
  head(): Promise<bigint>;
  /** In these blocks, both included, in the order of the chain. */
  arrivals(from: bigint, until: bigint): Promise<readonly Arrival[]>;
  /** What the bridge holds. */
  held(): Promise<bigint>;
  /** The lowest nonce of the bridge that no mined transaction has. */
  freeNonce(): Promise<number>;
  sign(payout: { to: Hex; units: bigint; nonce: number }): Promise<{ raw: Hex; hash: Hex }>;
  /** Sending the same bytes again does no harm, so the node's errors are ignored. */
  send(raw: Hex): Promise<void>;
  receipt(hash: Hex): Promise<Mined | null>;
}

/** Makes no call yet; methods reject while the chain is out of reach. */
export function connectPerpChain(settings: PerpSettings): PerpChain {
  const client = chainClient(settings.rpcUrl);
  const account = privateKeyToAccount(settings.bridgeKey);
  return {
    bridge: lower(account.address),
    head: () => client.getBlockNumber(),
    arrivals: async (fromBlock, toBlock) => {
      const logs = await client.getLogs({
        address: settings.token,
        event: TRANSFER_EVENT,
        args: { to: account.address },
        fromBlock,
        toBlock,
        strict: true,
      });
      const counts = new Map<Hex, number>();
      return logs.map(({ transactionHash: transaction, args }) => {
        const index = counts.get(transaction) ?? 0;
        counts.set(transaction, index + 1);
        const key = `${transaction}:${String(index)}`;
        return { transaction, key, from: lower(args.from), units: args.value };
      });
    },
    held: () =>
      client.readContract({
        address: settings.token,
        abi: erc20Abi,
        functionName: 'balanceOf',
        args: [account.address],
      }),
    freeNonce: async () => {
      const count = () => client.getTransactionCount({ address: account.address });
      // A fault may falsify the count, and a payment with a wrong nonce would wait for good.
      let [one, two] = [await count(), await count()];
      while (one !== two) [one, two] = [two, await count()];
      return one;
    },
    sign: async ({ to, units, nonce }) => {
      const raw = await account.signTransaction({
        chainId: settings.chainId,
        nonce,
        gas: TRANSFER_GAS,
        ...FEES,
        to: settings.token,
        data: transferData(to, units),
      });
      return { raw, hash: keccak256(raw) };
    },
    send: (raw) => broadcast(client, raw),
    receipt: (hash) => minedAs(client, hash),
  };
}
