/** Routes for people and tests, besides the venue's API. */
import type { Express } from 'express';
import { z } from 'zod';
import { HttpError, addViews } from '../kit/http.ts';
import type { Hex } from '../kit/hex.ts';
import { addressSchema } from './actions.ts';
import { nextSubAccount } from './agents.ts';
import { agentsOf, subAccountsOf, type Book } from './book.ts';
import type { Effect } from './events.ts';
import { readUsd, writeUsd } from './money.ts';
import { record, type Store } from './store.ts';

const amount = z
  .string()
  .transform((text, context) => {
    const read = readUsd(text);
    if (typeof read === 'bigint') return read;
    context.addIssue({ code: 'custom', message: 'a decimal string of at most six decimals' });
    return z.NEVER;
  })
  .optional();

const wishSchema = z.union([
  /**
   * `perp` and `spot` are added to the account's balances. `volume` is the account's traded volume,
   * which decides whether the account may create sub-accounts.
   */
  z.strictObject({ address: addressSchema, perp: amount, spot: amount, volume: amount }),
  /** Creates a sub-account, regardless of its master's traded volume. */
  z.strictObject({ master: addressSchema, name: z.string().min(1).max(16) }),
]);

/** Adds `GET /health`, `GET` and `POST /accounts`, `GET /journal`. */
export function addAdminRoutes(app: Express, store: Store): void {
  const { book } = store;
  addViews(app, {
    '/health': () => ({
      status: 'ok',
      open_withdrawals: [...book.withdrawals.values()].filter(({ paid }) => !paid).length,
    }),
    '/accounts': () => overview(book, Date.now()),
    '/journal': () => ({
      entries: store.entries.flatMap((entry) => {
        if (entry.kind !== 'exchange') return [];
        const { kind: _kind, effects: _effects, ...rest } = entry;
        return [rest];
      }),
    }),
  });
  app.post('/accounts', (request, response) => {
    const read = wishSchema.safeParse(request.body);
    if (!read.success) throw new HttpError(400, read.error.message);
    const wish = read.data;
    if ('master' in wish) {
      response.json({ address: subAccount(store, wish) });
      return;
    }
    const { address: user, perp = 0n, spot = 0n, volume } = wish;
    record(store, 'admin', [
      { does: 'change', user, pool: 'perp', by: perp.toString() },
      { does: 'change', user, pool: 'spot', by: spot.toString() },
      ...(volume === undefined
        ? []
        : [{ does: 'traded' as const, user, volume: volume.toString() }]),
    ]);
    response.json(accountView(book, user, Date.now()));
  });
}

/** Returns the sub-account of this name; creates it when missing. */
function subAccount(store: Store, { master, name }: { master: Hex; name: string }): Hex {
  const { book } = store;
  const known = subAccountsOf(book, master).find((each) => each.name === name);
  if (known !== undefined) return known.address;
  const address = nextSubAccount(book, master);
  const effects: Effect[] = [{ does: 'sub_account', master, name, address }];
  if (!book.accounts.has(master))
    effects.unshift({ does: 'change', user: master, pool: 'perp', by: '0' });
  record(store, 'admin', effects);
  return address;
}

function overview(book: Book, now: number): unknown {
  return {
    accounts: [...book.accounts.keys()].map((user) => accountView(book, user, now)),
    withdrawals: [...book.withdrawals.values()].map(
      ({ user, destination, net, nonce, payout, paid }) => ({
        user,
        destination,
        net: writeUsd(net),
        nonce,
        paid,
        transaction: payout?.hash ?? null,
      }),
    ),
    deposits: [...book.deposits.values()].map(({ key, from, units, credited }) => ({
      key,
      from,
      usdc: writeUsd(units),
      credited,
    })),
  };
}

function accountView(book: Book, address: Hex, now: number): unknown {
  const account = book.accounts.get(address);
  return {
    address,
    perp: writeUsd(account?.perp ?? 0n),
    spot: writeUsd(account?.spot ?? 0n),
    master: book.subAccounts.get(address)?.master ?? null,
    sub_accounts: subAccountsOf(book, address).map(({ name, address }) => ({ name, address })),
    agents: agentsOf(book, address, now),
  };
}
