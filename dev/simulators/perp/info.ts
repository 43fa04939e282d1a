/**
 * `POST /info`. Shapes: DOC:info-endpoint and its pages, docs/perps-venue-facts.md part 4. There is
 * no trading here, so an account's value is its balance.
 */
import { z } from 'zod';
import type { Hex } from '../kit/hex.ts';
import { addressSchema } from './actions.ts';
import { agentsOf, balanceOf, masterOf, subAccountsOf, type Book } from './book.ts';
import { venueNow, type PerpFaults } from './faults.ts';
import { writeUsd } from './money.ts';
import type { Store } from './store.ts';
import { readJson, type Answer } from './wire.ts';

const user = addressSchema;
const milliseconds = z.int().min(0);
/** Maximum rows of a response. Source: DOC:info-endpoint, pagination. */
const ROWS_AT_MOST = 500;

const questionSchema = z.discriminatedUnion('type', [
  /** Only the first perp dex is simulated. */
  z.object({ type: z.literal('clearinghouseState'), user, dex: z.literal('').optional() }),
  z.object({ type: z.literal('spotClearinghouseState'), user }),
  z.object({
    type: z.literal('userNonFundingLedgerUpdates'),
    user,
    startTime: milliseconds,
    endTime: milliseconds.nullish(),
  }),
  z.object({ type: z.literal('subAccounts'), user }),
  z.object({ type: z.literal('extraAgents'), user }),
  z.object({ type: z.literal('userRole'), user }),
  z.object({ type: z.literal('userAbstraction'), user }),
  z.object({ type: z.literal('exchangeStatus') }),
  z.object({ type: z.literal('usdcRouting') }),
]);
type Question = z.infer<typeof questionSchema>;

interface Parts {
  readonly store: Store;
  readonly faults: () => PerpFaults;
  /** Agents approved after this time are not listed yet. */
  readonly agentsListedUntil: () => number;
}

export function answerInfo(
  parts: Parts,
  call: { readonly body: string; readonly contentType: string },
): Answer {
  const read = readJson(call, questionSchema);
  return 'refusal' in read ? read.refusal : { status: 200, json: tell(parts, read.value) };
}

function tell(parts: Parts, question: Question): unknown {
  const faults = parts.faults();
  const now = venueNow(faults) - faults.stale_info_ms;
  const book = faults.stale_info_ms > 0 ? parts.store.bookAt(now) : parts.store.book;
  switch (question.type) {
    case 'clearinghouseState':
      return perpState(book, question.user, now);
    case 'spotClearinghouseState':
      return spotState(book, question.user);
    case 'userNonFundingLedgerUpdates': {
      const { startTime, endTime } = question;
      return book.rows
        .filter(({ users }) => users.includes(question.user))
        .filter(({ time }) => time >= startTime && time <= (endTime ?? now))
        .filter(({ time }) => time + faults.ledger_delay_ms <= now)
        .slice(0, ROWS_AT_MOST)
        .map(({ time, hash, delta }) => ({ time, hash, delta }));
    }
    case 'subAccounts': {
      const all = subAccountsOf(book, question.user).map(({ name, address, master }) => ({
        name,
        subAccountUser: address,
        master,
        clearinghouseState: perpState(book, address, now),
        spotState: spotState(book, address),
      }));
      return all.length === 0 ? null : all;
    }
    case 'extraAgents':
      // The agent without a name is not listed.
      return agentsOf(book, question.user, now)
        .filter(({ name, approvedAt }) => name !== '' && approvedAt <= parts.agentsListedUntil())
        .map(({ name, address, validUntil }) => ({ name, address, validUntil }));
    case 'userRole':
      return roleOf(book, question.user, now);
    case 'userAbstraction':
      return 'default';
    case 'exchangeStatus':
      return { time: now, specialStatuses: null };
    case 'usdcRouting':
      return { depositRoute: faults.usdc_route, withdrawalRoute: faults.usdc_route };
  }
}

function perpState(book: Book, of: Hex, time: number): unknown {
  const value = writeUsd(balanceOf(book, of, 'perp'));
  const summary = {
    accountValue: value,
    totalNtlPos: '0.0',
    totalRawUsd: value,
    totalMarginUsed: '0.0',
  };
  return {
    marginSummary: summary,
    crossMarginSummary: summary,
    crossMaintenanceMarginUsed: '0.0',
    withdrawable: value,
    assetPositions: [],
    time,
  };
}

function spotState(book: Book, of: Hex): unknown {
  const total = writeUsd(balanceOf(book, of, 'spot'));
  if (total === '0.0') return { balances: [] };
  return { balances: [{ coin: 'USDC', token: 0, total, hold: '0.0', entryNtl: '0.0' }] };
}

/** Returns the role of an address. Source: DOC:info-endpoint, `userRole`. */
function roleOf(book: Book, of: Hex, now: number): unknown {
  const sub = book.subAccounts.get(of);
  if (sub !== undefined) return { role: 'subAccount', data: { master: sub.master } };
  const master = masterOf(book, of, now);
  if (master !== null) return { role: 'agent', data: { user: master } };
  return { role: book.accounts.has(of) ? 'user' : 'missing' };
}
