/** Connects the bridge's account to the chain. */
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

/** A transfer of tokens to the bridge. */
export interface Arrival {
  readonly transaction: Hex;
  /**
   * `<transaction>:<index among its transfers>`, the same whichever block includes the transaction.
   */
  readonly key: string;
  readonly from: Hex;
  readonly units: bigint;
}

export interface PerpChain {
  readonly bridge: Hex;
  head(): Promise<bigint>;
  /** Returns the transfers to the bridge in these blocks, both included, in chain order. */
  arrivals(from: bigint, until: bigint): Promise<readonly Arrival[]>;
  /** Returns the bridge's token balance. */
  held(): Promise<bigint>;
  /** Returns the lowest nonce of the bridge that no mined transaction has. */
  freeNonce(): Promise<number>;
  sign(payout: { to: Hex; units: bigint; nonce: number }): Promise<{ raw: Hex; hash: Hex }>;
  /**
   * Sends a signed transaction. To send the same bytes again is harmless, so the endpoint's errors
   * are ignored.
   */
  send(raw: Hex): Promise<void>;
  receipt(hash: Hex): Promise<Mined | null>;
}

/** Creates the connection without a call; its methods reject while the chain is unreachable. */
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
      // A fault may falsify one count, so two equal ones are required: a payment with a too high
      // nonce would wait forever.
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
