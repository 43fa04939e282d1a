/** The venue's hot wallet on the chain. Functions here never repeat a call by themselves. */
import { BlockNotFoundError, getAddress, keccak256 } from 'viem';
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
import type { Hex } from '../kit/hex.ts';
import type { ChainSettings } from './settings.ts';
import type { Transfer } from './events.ts';

const TIP_WEI = 1_000_000_000n;

export interface SignedTransfer {
  readonly raw_tx: Hex;
  readonly tx_hash: Hex;
}

export interface VenueChain {
  /** Returns the number of mined transactions of the hot wallet, which is the lowest free nonce. */
  minedCount(): Promise<number>;
  baseFee(): Promise<bigint>;
  sign(transfer: Transfer, nonce: number, baseFee: bigint): Promise<SignedTransfer>;
  /**
   * Sends exactly these bytes. To send the same bytes again is harmless, so the endpoint's errors
   * are ignored.
   */
  broadcast(rawTx: Hex): Promise<void>;
  receipt(txHash: Hex): Promise<Mined | null>;
  finalizedBlock(): Promise<bigint>;
  /** Returns a block; null when the chain has no such block, or removed it in a reorganisation. */
  block(of: bigint | 'latest'): Promise<{ readonly number: bigint; readonly hash: string } | null>;
  /**
   * Returns transfers of listed tokens to these addresses, in chain order; both blocks are
   * included.
   */
  tokenTransfers(question: {
    readonly to: readonly Hex[];
    readonly from: bigint;
    readonly until: bigint;
  }): Promise<readonly TokenTransfer[]>;
}

/** The chain calls that payouts need. */
export type PayingChain = Omit<VenueChain, keyof ReadChain>;
/** The chain calls that the watch for deposits needs. */
export type ReadChain = Pick<VenueChain, 'block' | 'tokenTransfers'>;

export interface TokenTransfer {
  readonly tx_hash: Hex;
  /** Checksummed address, like all addresses here. */
  readonly token: Hex;
  readonly to: Hex;
  readonly units: bigint;
}

/** Creates the hot wallet of `settings`. Its methods reject when the chain is unreachable. */
export function connectChain(settings: ChainSettings): VenueChain {
  const client = chainClient(settings.rpcUrl);
  const wallet = privateKeyToAccount(settings.accounts.venueHotWallet.privateKey);
  return {
    minedCount: () => client.getTransactionCount({ address: wallet.address, blockTag: 'latest' }),
    baseFee: async () => (await client.getBlock({ blockTag: 'latest' })).baseFeePerGas ?? 0n,
    sign: async (transfer, nonce, baseFee) => {
      const token = settings.tokens[transfer.asset];
      if (token === undefined) throw new Error(`no token for ${transfer.asset}`);
      const raw_tx = await wallet.signTransaction({
        type: 'eip1559',
        chainId: settings.chainId,
        nonce,
        to: token.address,
        data: transferData(transfer.to, BigInt(transfer.units)),
        gas: TRANSFER_GAS,
        maxPriorityFeePerGas: TIP_WEI,
        // A payment is signed once and never replaced, so the cap leaves room for a rising base
        // fee.
        maxFeePerGas: baseFee * 10n + 2n * TIP_WEI,
      });
      return { raw_tx, tx_hash: keccak256(raw_tx) };
    },
    broadcast: (rawTx) => broadcast(client, rawTx),
    receipt: (txHash) => minedAs(client, txHash),
    block: async (of) => {
      try {
        const { number, hash } = await client.getBlock(
          of === 'latest' ? { blockTag: of } : { blockNumber: of },
        );
        return { number, hash };
      } catch (error) {
        if (error instanceof BlockNotFoundError) return null;
        throw error;
      }
    },
    tokenTransfers: async ({ to, from, until }) => {
      const logs = await client.getLogs({
        address: Object.values(settings.tokens).map(({ address }) => address),
        event: TRANSFER_EVENT,
        args: { to: [...to] },
        fromBlock: from,
        toBlock: until,
        strict: true,
      });
      return logs.map(({ transactionHash, address, args }) => ({
        tx_hash: transactionHash,
        token: getAddress(address),
        to: getAddress(args.to),
        units: args.value,
      }));
    },
    finalizedBlock: async () => (await client.getBlock({ blockTag: 'finalized' })).number,
  };
}
