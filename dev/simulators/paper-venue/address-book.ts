/**
 * The withdrawal address book: one list of allowed addresses for the master account and its
 * sub-accounts. Disabled at first.
 */
import type { Express } from 'express';
import { getAddress, isAddress } from 'viem';
import { z } from 'zod';
import { addViews } from '../kit/http.ts';
import { refuse, type Refusal } from './actions/action.ts';
import type { AddressBook } from './book.ts';
import { VenueHttpError } from './http-error.ts';
import type { Ledger } from './ledger.ts';
import { isNetwork } from './networks.ts';
import { read } from './read.ts';
import type { ChainSettings } from './settings.ts';

const bookSchema = z.strictObject({
  enabled: z.boolean(),
  entries: z
    .array(
      z.strictObject({
        asset: z.string().min(1).toUpperCase().nullable().default(null),
        network: z.string().toLowerCase(),
        address: z
          .string()
          .refine((text) => isAddress(text), 'must be an EVM address')
          .transform((text) => getAddress(text)),
      }),
    )
    .max(1_000),
});

/**
 * Returns a refusal when the book is enabled and does not contain the address for the asset. The
 * network is not compared, because the venue has only one.
 */
export function checkAddressBook(
  book: AddressBook,
  asset: string,
  address: string,
): Refusal | null {
  if (!book.enabled) return null;
  const listed = book.entries.some(
    (entry) =>
      (entry.asset === null || entry.asset === asset) && entry.address === getAddress(address),
  );
  return listed
    ? null
    : refuse(
        'ADDRESS_NOT_WHITELISTED',
        'the address book of the account does not hold this address',
      );
}

/**
 * Adds `GET` and `PUT /address-book` to `app`. A PUT replaces the whole book, which is on disk
 * before the response.
 */
export function addAddressBookRoutes(
  app: Express,
  parts: { readonly ledger: Ledger; readonly chain: ChainSettings },
): void {
  const { ledger, chain } = parts;
  addViews(app, { '/address-book': () => ledger.book.addresses() });
  app.put('/address-book', (request, response) => {
    const wanted = read(bookSchema, request.body);
    const stranger = wanted.entries.find(({ network }) => !isNetwork(network, chain));
    if (stranger !== undefined)
      throw new VenueHttpError(
        422,
        'NETWORK_NOT_SUPPORTED',
        `the venue has no network ${stranger.network}`,
      );
    ledger.record({ type: 'address_book', ...wanted });
    response.json(ledger.book.addresses());
  });
}
