/**
 * Deposits of tokens to the accounts' deposit addresses, read from the chain's logs; each is
 * credited to SPOT once.
 */
import { concat, getAddress, keccak256, stringToHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { VENUE_ACCOUNTS } from './accounts.ts';
import type { ReadChain, TokenTransfer } from './chain.ts';
import type { Ledger } from './ledger.ts';
import type { ChainSettings } from './settings.ts';

const SCAN_INTERVAL_MS = 1_000;

/**
 * Returns the only deposit address of an account. Its key is derived from the hot wallet's key, so
 * it is the same at every start.
 */
export function depositAddress(chain: ChainSettings, account: string): `0x${string}` {
  return privateKeyToAccount(
    keccak256(
      concat([chain.accounts.venueHotWallet.privateKey, stringToHex(`deposit/${account}`)]),
    ),
  ).address;
}

export interface DepositWatcher {
  addressOf(account: string): `0x${string}`;
  /** Credits the deposits since the last scan. Rejects when the chain is unreachable. */
  scan(): Promise<void>;
  /** Returns the newest block whose deposits are credited; -1 before the first scan. */
  scannedTo(): bigint;
  stop(): Promise<void>;
}

/** Watches the chain for deposits until `stop` is called. */
export function watchDeposits(
  ledger: Ledger,
  chain: ReadChain,
  settings: ChainSettings,
): DepositWatcher {
  const owners = new Map(
    VENUE_ACCOUNTS.map((account) => [depositAddress(settings, account), account]),
  );
  const addresses = [...owners.keys()];
  const assets = new Map(
    Object.entries(settings.tokens).map(([asset, { address }]) => [getAddress(address), asset]),
  );
  let last: { readonly number: bigint; readonly hash: string } | null = null;
  let running: Promise<void> | undefined;
  let stopped = false;

  const book = (transfers: readonly TokenTransfer[]): void => {
    const seen = new Map<string, number>();
    for (const { tx_hash, token, to, units } of transfers) {
      const [account, asset] = [owners.get(to), assets.get(token)];
      if (account === undefined || asset === undefined || units === 0n) continue;
      // The id counts logs within the transaction: the log's index in its block may change when the
      // chain makes the block again.
      const kind = `${tx_hash}:${asset}:${account}`;
      const count = (seen.get(kind) ?? 0) + 1;
      seen.set(kind, count);
      const deposit_id = `${kind}:${count}`;
      if (ledger.book.deposits.has(deposit_id)) continue;
      ledger.record({
        type: 'deposited',
        deposit_id,
        account,
        asset,
        units: units.toString(),
        tx_hash,
      });
    }
  };

  const pass = async (): Promise<void> => {
    const newest = await chain.block('latest');
    if (newest === null || newest.hash === last?.hash) return;
    // A chain that was restored to an older state is read from its start; a known deposit is not
    // credited again.
    const goesOn = last !== null && (await chain.block(last.number))?.hash === last.hash;
    const from = goesOn && last !== null ? last.number + 1n : 0n;
    const transfers = await chain.tokenTransfers({ to: addresses, from, until: newest.number });
    if (stopped) return;
    book(transfers);
    last = newest;
  };

  const scan = (): Promise<void> => {
    running ??= pass().finally(() => {
      running = undefined;
    });
    return running;
  };
  const timer = setInterval(() => void scan().catch(() => undefined), SCAN_INTERVAL_MS);
  timer.unref();

  return {
    addressOf: (account) => depositAddress(settings, account),
    scan,
    scannedTo: () => last?.number ?? -1n,
    stop: async () => {
      stopped = true;
      clearInterval(timer);
      await running?.catch(() => undefined);
    },
  };
}
