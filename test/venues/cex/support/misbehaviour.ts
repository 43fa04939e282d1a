/** How a local exchange misbehaves: one entry for each kind of fault. */
import { setTimeout as sleep } from 'node:timers/promises';
import { add, subtract } from '../../../../domain/money.ts';
import type { Books, Withdrawal } from './books.ts';
import type { Format, WireAnswer } from './format.ts';

/** `done_then_…`: the request has its effect, and its answer is lost. */
export type FaultKind =
  | 'error_500'
  | 'hangup'
  | 'malformed'
  | 'status'
  | 'refuse'
  | 'rate_limited'
  | 'restart'
  | 'slow'
  | 'suspended_between'
  | 'address_removed'
  | 'clock_off'
  | 'late'
  | OtherThanOrdered
  | 'done_then_500'
  | 'done_then_hangup'
  | 'done_then_malformed'
  | 'done_then_restart';

/** The withdrawal of the request is carried out, and not as it was ordered. */
export type OtherThanOrdered = 'other_network' | 'other_tag' | 'other_amount';

/** What goes wrong with the requests that come next. */
export interface Fault {
  /** A whole path if it starts with a slash, else a part of one, such as `withdraw/apply`. */
  readonly path: string;
  readonly method?: 'GET' | 'POST';
  readonly kind: FaultKind;
  /** Of `status` and `refuse`: 400 by default. */
  readonly status?: number;
  /** Of `status` and `refuse`. */
  readonly body?: unknown;
  /** How long `slow`, `late`, `restart` and `done_then_restart` take; of `clock_off` how far. */
  readonly milliseconds?: number;
  /** How many requests; 1 by default. */
  readonly times?: number;
}

/** One request that goes wrong. */
interface Serving {
  readonly fault: Fault;
  readonly format: Format;
  readonly books: Books;
  answer(answer: WireAnswer): void;
  /** Closes the connection without an answer. */
  hangUp(): void;
  /** Drops all connections and refuses new ones for a while. The books stay. */
  restart(milliseconds: number): void;
}

interface Behaviour {
  /** Before the request has its effect. Returns true if it has none, and is answered. */
  readonly before?: (serving: Serving) => boolean | Promise<boolean>;
  /** After the effect. Returns true if this replaces the answer. */
  readonly after?: (serving: Serving) => boolean;
}

const FAR_OFF_MS = 600_000;

/** Wraps something that replaces the answer. */
const ends =
  (work: (serving: Serving) => void) =>
  (serving: Serving): true => {
    work(serving);
    return true;
  };

/** Wraps something after which the request is served as usual. */
const then =
  (work: (serving: Serving) => void) =>
  (serving: Serving): false => {
    work(serving);
    return false;
  };

/** Changes the withdrawal that the request has made. */
const alters = (changes: (made: Withdrawal, books: Books) => Partial<Withdrawal>) =>
  then(({ books }) => {
    const made = books.withdrawals.at(-1);
    if (made !== undefined) Object.assign(made, changes(made, books));
  });

const reply = (answerOf: (serving: Serving) => WireAnswer) =>
  ends((serving) => serving.answer(answerOf(serving)));
const asSet = reply(({ fault: { status = 400, body = {} } }) => ({ status, body }));
const cutOff = reply(({ format }) => ({ status: 200, body: format.broken.malformed }));
const hangUp = ends(({ hangUp: close }) => close());
const restart = ends(({ fault, restart: run }) => run(fault.milliseconds ?? 100));

const BEHAVIOURS: Readonly<Record<FaultKind, Behaviour>> = {
  error_500: { before: reply(({ format }) => format.broken.error_500) },
  hangup: { before: hangUp },
  malformed: { before: cutOff },
  status: { before: asSet },
  refuse: { before: asSet },
  rate_limited: { before: reply(({ format }) => format.broken.rate_limited) },
  restart: { before: restart },
  slow: {
    before: async ({ fault }) => {
      await sleep(fault.milliseconds ?? 300);
      return false;
    },
  },
  /** Every network is suspended from this request on. */
  suspended_between: {
    before: then(({ books }) => {
      for (const terms of [...books.assets.values()].flat()) terms.enabled = false;
    }),
  },
  /** The address book is empty from this request on. */
  address_removed: { before: then(({ books }) => void (books.book.length = 0)) },
  /** The exchange's clock is off during this request. */
  clock_off: {
    before: then(({ books, fault }) => void (books.skew += fault.milliseconds ?? FAR_OFF_MS)),
    after: then(({ books, fault }) => void (books.skew -= fault.milliseconds ?? FAR_OFF_MS)),
  },
  /** Histories show what this request makes only later. */
  late: {
    before: then(({ books, fault }) => void (books.late_ms = fault.milliseconds ?? 1_000)),
    after: then(({ books }) => void (books.late_ms = 0)),
  },
  /** The books know a network that the order did not name. */
  other_network: {
    after: alters(({ asset, network }, books) => {
      const others = books.assets.get(asset) ?? [];
      return { network: others.find((each) => each.network !== network)?.network ?? 'OTHER' };
    }),
  },
  other_tag: { after: alters(() => ({ tag: '99' })) },
  /** One unit less is paid, which stays in the account. */
  other_amount: {
    after: alters(({ account, asset, net_amount }, books) => {
      books.set(account, 'SPOT', asset, add(books.get(account, 'SPOT', asset), '1'));
      return { net_amount: subtract(net_amount, '1') };
    }),
  },
  done_then_500: { after: reply(({ format }) => format.broken.done_then_500) },
  done_then_hangup: { after: hangUp },
  done_then_malformed: { after: cutOff },
  done_then_restart: { after: restart },
};

/** What the fault does before and after the effect of one request. */
export function misbehave(
  fault: Fault | undefined,
  request: Omit<Serving, 'fault'>,
): { before(): boolean | Promise<boolean>; after(): boolean } {
  if (fault === undefined) return { before: () => false, after: () => false };
  const { before, after } = BEHAVIOURS[fault.kind];
  const serving = { ...request, fault };
  return { before: () => before?.(serving) ?? false, after: () => after?.(serving) ?? false };
}
