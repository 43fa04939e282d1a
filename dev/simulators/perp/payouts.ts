/**
 * Pays withdrawals out on the chain. A signed payment is on disk before it is sent, and is sent
 * until it is mined, so each withdrawal is paid once. Its ledger row appears only when the payment
 * is deep enough, with the payment's hash, and the action's time in microseconds as nonce (facts,
 * part 0).
 */
import type { Withdrawal } from './book.ts';
import type { DepositParts } from './deposits.ts';
import { WITHDRAWAL_FEE, writeUsd } from './money.ts';
import { record } from './store.ts';
import { venueNow } from './faults.ts';

/** Returns a function that advances every withdrawal as far as possible now. */
export function createPayouts({ store, chain, faults }: DepositParts): () => Promise<void> {
  const pay = async (withdrawal: Withdrawal): Promise<void> => {
    const { key, destination: to, net } = withdrawal;
    // The bridge still holds the amounts of signed payments that are not mined.
    const owed = open().filter(({ payout }) => payout !== null);
    const sums = await Promise.all(owed.map(async (each) => ((await mined(each)) ? 0n : each.net)));
    const left = sums.reduce((rest, sum) => rest - sum, await chain.held());
    // Waits until the bridge is funded: an amount that an admin credited has no tokens on the
    // chain.
    if (left < net) return;
    const { chainNonce } = store.book;
    // Only this venue signs for the bridge, so only the first nonce is read from the chain.
    const nonce = chainNonce < 0 ? await chain.freeNonce() : chainNonce + 1;
    const { raw, hash } = await chain.sign({ to, units: net, nonce });
    record(store, 'chain', [{ does: 'payout_signed', key, raw, hash, chainNonce: nonce }]);
    await chain.send(raw);
  };

  const follow = async (withdrawal: Withdrawal, head: bigint): Promise<void> => {
    const { key, user, net, nonce, payout } = withdrawal;
    if (payout === null) return;
    const receipt = await chain.receipt(payout.hash);
    if (receipt === null) return chain.send(payout.raw);
    if (head - receipt.block + 1n < BigInt(faults().confirmations)) return;
    if (!receipt.succeeded) return record(store, 'chain', [{ does: 'payout_failed', key }]);
    const time = venueNow(faults());
    const delta = {
      type: 'withdraw',
      usdc: writeUsd(net),
      nonce: nonce * 1_000,
      fee: writeUsd(WITHDRAWAL_FEE),
    };
    const row = { users: [user], time, hash: payout.hash, delta };
    record(
      store,
      'chain',
      [
        { does: 'paid', key },
        { does: 'row', row },
      ],
      time,
    );
  };

  const mined = async ({ payout }: Withdrawal): Promise<boolean> =>
    payout !== null && (await chain.receipt(payout.hash)) !== null;
  const open = (): readonly Withdrawal[] =>
    [...store.book.withdrawals.values()].filter(({ paid }) => !paid);

  return async () => {
    if (open().length === 0) return;
    const head = await chain.head();
    for (const each of open()) {
      const { withdrawal_seconds, hold_withdrawals } = faults();
      const due =
        each.requestedAt + withdrawal_seconds * 1_000 <= venueNow(faults()) && !hold_withdrawals;
      if (each.payout !== null) await follow(each, head);
      else if (due) await pay(each);
    }
  };
}
