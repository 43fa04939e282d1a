/**
 * The venue's books under random transfers, faults and crashes: nothing comes from nowhere, nothing
 * is moved twice.
 */
import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import {
  VENUE_ACCOUNT_TYPES,
  VENUE_ACCOUNTS,
  openingPostings,
} from '../../dev/simulators/paper-venue/accounts.ts';
import type { Book } from '../../dev/simulators/paper-venue/book.ts';
import { VenueHttpError } from '../../dev/simulators/paper-venue/http-error.ts';
import { openLedger } from '../../dev/simulators/paper-venue/ledger.ts';
import {
  createTransfers,
  type TransferRequest,
} from '../../dev/simulators/paper-venue/transfers.ts';
import { NO_CHAIN, tempFolder } from '../dev/paper-venue-stack.ts';

const ASSETS = Object.keys(NO_CHAIN.tokens);
const REFERENCES = ['r1', 'r2', 'r3', 'r4', 'r5', 'r6'];

const request: fc.Arbitrary<TransferRequest> = fc.record({
  client_reference: fc.constantFrom(...REFERENCES),
  from_account: fc.constantFrom(...VENUE_ACCOUNTS),
  from_account_type: fc.constantFrom(...VENUE_ACCOUNT_TYPES),
  to_account: fc.constantFrom(...VENUE_ACCOUNTS),
  to_account_type: fc.constantFrom(...VENUE_ACCOUNT_TYPES),
  asset: fc.constantFrom(...ASSETS),
  amount: fc.constantFrom('0.000001', '1', '250000.5', '600000', '1000000', '1000000.000001'),
});
const conditions = {
  processing_ms: fc.constantFrom(0, 0, 5, 600_000),
  transfer_outcome: fc.constantFrom(
    'completed' as const,
    'completed' as const,
    'failed' as const,
    'pending' as const,
  ),
};
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('submit' as const), request, ...conditions }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('find' as const),
      reference: fc.constantFrom(...REFERENCES),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      reference: fc.constantFrom(...REFERENCES),
      outcome: fc.constantFrom('completed' as const, 'failed' as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('kill' as const), half_a_line: fc.boolean() }),
  },
);

/** All pools of an asset, and what is on its way between two of them. */
function inAll(book: Book, asset: string): bigint {
  const held = VENUE_ACCOUNTS.flatMap((account) =>
    VENUE_ACCOUNT_TYPES.map((type) => book.balance(account, type, asset)),
  );
  for (const units of held) expect(units >= 0n).toBe(true);
  const underWay = book.transfers.pending().filter(({ terms }) => terms.asset === asset);
  return [...held, ...underWay.map(({ units }) => units)].reduce((sum, units) => sum + units, 0n);
}

/** An attempt's answer as text; a refusal is one too. */
function answerOf(work: () => unknown): string {
  try {
    return JSON.stringify(work());
  } catch (error) {
    if (error instanceof VenueHttpError) return `${error.status} ${error.code}`;
    throw error;
  }
}

const isFinal = (answer: string): boolean => /"status":"(completed|failed)"|^422 /.test(answer);

/** The books of one run over `folder`; `kill` forgets everything that is not on disk. */
function openBooks(folder: string) {
  const open = () => openLedger(folder, { identity: 'test', postings: openingPostings(NO_CHAIN) });
  let ledger = open();
  let transfers = createTransfers(ledger, NO_CHAIN);
  return {
    book: () => ledger.book,
    transfers: () => transfers,
    kill: (halfALine: boolean) => {
      ledger.close();
      if (halfALine)
        appendFileSync(join(folder, 'ledger.jsonl'), '{"type":"transfer_accepted","reference":"r');
      ledger = open();
      transfers = createTransfers(ledger, NO_CHAIN);
    },
    close: () => ledger.close(),
  };
}

test('sums never change, a reference moves at most once, and a final answer stays what it is', () => {
  const folder = tempFolder();
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      rmSync(join(folder.path, 'ledger.jsonl'), { force: true });
      const books = openBooks(folder.path);
      const total = ASSETS.map((asset) => inAll(books.book(), asset));
      const final = new Map<string, string>();
      for (const each of steps) {
        if (each.kind === 'kill') books.kill(each.half_a_line);
        if (each.kind === 'submit')
          answerOf(() => books.transfers().submit(each.request, { deduplicate: true, ...each }));
        if (each.kind === 'find') answerOf(() => books.transfers().find(each.reference, true));
        if (each.kind === 'settle')
          answerOf(() => books.transfers().settle(each.reference, each.outcome));
        expect(ASSETS.map((asset) => inAll(books.book(), asset))).toEqual(total);
        for (const { reference, transfers } of books.book().transfers.references()) {
          expect(transfers.length).toBeLessThanOrEqual(1);
          const answer = answerOf(() => books.transfers().find(reference, true));
          if (final.has(reference)) expect(answer).toBe(final.get(reference));
          else if (isFinal(answer)) final.set(reference, answer);
        }
      }
      books.close();
    }),
    { numRuns: 60, endOnFailure: true },
  );
  folder.remove();
});

test('a venue that forgets references moves twice, and the books tell', () => {
  const folder = tempFolder();
  const books = openBooks(folder.path);
  const body = {
    client_reference: 'r1',
    asset: 'USDC',
    amount: '1',
    from_account: 'paper-main',
    from_account_type: 'SPOT',
  };
  const transfer = { ...body, to_account: 'paper-sub-a', to_account_type: 'SPOT' };
  for (const _attempt of [1, 2]) {
    books
      .transfers()
      .submit(transfer, { deduplicate: false, processing_ms: 0, transfer_outcome: 'completed' });
  }
  expect(books.book().transfers.reference('r1')?.transfers).toHaveLength(2);
  expect(books.book().balance('paper-sub-a', 'SPOT', 'USDC')).toBe(1_000_002_000_000n);
  books.close();
  folder.remove();
});
