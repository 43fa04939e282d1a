/** Reads signers' gas balances from time to time: for metrics, never for a decision. */
import { formatEther, getAddress, isAddress } from 'viem';
import type { EvmChains } from './client.ts';

export interface SignerAddress {
  readonly signer_key: string;
  readonly address: string;
}

export interface SignerBalance extends SignerAddress {
  readonly chain_id: number;
  /** Balance in the chain's own coin, rounded to what a number can hold. */
  readonly balance: number;
}

export interface SignerBalances {
  /** Reads every address on every chain, unless just read. Drops unreadable balances. */
  refresh(signers: readonly SignerAddress[]): Promise<void>;
  list(): readonly SignerBalance[];
}

/** Pause between two reads: health may be read every second, but providers count requests. */
const PAUSE_MS = 30_000;
const ANSWER_LIMIT_MS = 5_000;

export function createSignerBalances(
  chains: EvmChains,
  now: () => number = () => performance.now(),
): SignerBalances {
  let known: readonly SignerBalance[] = [];
  let next = -Infinity;
  return {
    list: () => known,
    async refresh(signers) {
      if (now() < next) return;
      next = now() + PAUSE_MS;
      const wanted = signers.filter(({ address }) => isAddress(address, { strict: false }));
      const found = await Promise.all(
        chains.chainIds().map((chainId) => balancesOn(chains, chainId, wanted)),
      );
      known = found.flat();
    },
  };
}

async function balancesOn(
  chains: EvmChains,
  chain_id: number,
  signers: readonly SignerAddress[],
): Promise<readonly SignerBalance[]> {
  if (signers.length === 0) return [];
  const call = { signal: AbortSignal.timeout(ANSWER_LIMIT_MS), requestId: 'signer-balances' };
  try {
    const connection = await chains.open(chain_id, call);
    return await Promise.all(
      signers.map(async ({ signer_key, address }) => {
        const wei = await connection.ask((client) =>
          client.getBalance({ address: getAddress(address) }),
        );
        return { signer_key, address, chain_id, balance: Number(formatEther(wei)) };
      }),
    );
  } catch {
    // Not logged: executors report the chain's health, and an alert can watch for missing balances.
    return [];
  }
}
