/**
 * A desk that pays out of books of its own, in which every way of answering is drawn beforehand:
 * what landed is what the books say.
 */
import { z } from 'zod';
import {
  accepted,
  completed,
  defineExecutor,
  failed,
  notLanded,
  passed,
  pending,
  prepared,
  Unavailable,
  unknown,
  type DefinedExecutor,
  type ExecutionContext,
  type Progress,
} from '../../executor-kit/define.ts';

/**
 * What becomes of an order. `unheard`: the first call is lost before anything was done; `untold`:
 * after it. `silent`: paid, `dead`: not paid, and unknown until the desk is calm. `boasts`:
 * it says that it sent and received three times as much.
 */
export const OUTCOMES = [
  'pays',
  'part',
  'boasts',
  'unheard',
  'untold',
  'silent',
  'dead',
  'breaks',
  'refuses',
  'stuck',
] as const;
export type Outcome = (typeof OUTCOMES)[number];

export interface BookEntry {
  readonly key: string;
  readonly label: string;
  readonly node_key: string;
  readonly asset: string;
  readonly amount: string;
}

export interface BooksDesk {
  readonly executor: DefinedExecutor;
  /** What will become of the attempts of the nodes with this label in their config. */
  plan(label: string, outcomeOf: (nodeKey: string, attempt: number) => Outcome): void;
  /** From now on orders are paid, and every outcome can be read. */
  calm(): void;
  storm(): void;
  entries(): readonly BookEntry[];
}

const orderSchema = z.object({ asset: z.string(), amount: z.string() });

export function booksDesk(): BooksDesk {
  const outcomes = new Map<string, (nodeKey: string, attempt: number) => Outcome>();
  const books = new Map<string, BookEntry & { readonly outcome: Outcome }>();
  const heard = new Set<string>();
  let stormy = true;

  const labelOf = ({ config }: ExecutionContext): string => String(config['label']);
  const outcomeOf = (context: ExecutionContext): Outcome =>
    stormy
      ? (outcomes.get(labelOf(context))?.(context.node_key, context.attempt) ?? 'pays')
      : 'pays';
  const done = (key: string): Progress => {
    const { amount, outcome } = books.get(key) ?? { amount: '0', outcome: 'pays' };
    const reported = outcome === 'boasts' ? thrice(amount) : amount;
    return completed({
      external_ref: key,
      output: { submitted_amount: reported, received_amount: reported },
    });
  };
  const standing = (context: ExecutionContext): Progress => {
    const entry = books.get(context.idempotency_key);
    if (entry === undefined) return pending(0.2);
    if (entry.outcome === 'silent' && stormy) throw new Unavailable('the desk says nothing');
    return done(entry.key);
  };
  return {
    executor: defineExecutor({
      name: 'books',
      prepared: orderSchema,
      preflight: async (context) => {
        const outcome = outcomeOf(context);
        if (outcome === 'stuck') throw new Unavailable('the desk is closed');
        return outcome === 'refuses' ? failed('REFUSED', 'the desk does not take it') : passed();
      },
      prepare: async ({ asset, amount }) => prepared({ asset, amount }),
      submit: async ({ context, prepared: { asset, amount } }, call) => {
        const key = context.idempotency_key;
        if (books.has(key)) return standing(context);
        const outcome = outcomeOf(context);
        if (outcome === 'breaks') return failed('BROKEN', 'the desk ended it');
        const first = !heard.has(key);
        heard.add(key);
        if (outcome === 'dead' || (outcome === 'unheard' && first))
          throw new Unavailable('the desk did not hear');
        call.signal.throwIfAborted();
        const landed = outcome === 'part' ? half(amount) : amount;
        books.set(key, {
          key,
          label: labelOf(context),
          node_key: context.node_key,
          asset,
          amount: landed,
          outcome,
        });
        if (outcome === 'untold' || outcome === 'silent')
          throw new Unavailable('the answer is lost');
        return accepted(key);
      },
      observe: async (context) => {
        if (context.action_type === 'books_look') return looked(context, books);
        // Once calm, the desk fails an order that never reached it; sends are long over then.
        if (!stormy && !books.has(context.idempotency_key))
          return failed('NO_SUCH_ORDER', 'the desk never heard of it');
        return standing(context);
      },
      recover: async (context) => {
        if (books.has(context.idempotency_key)) {
          return stormy && books.get(context.idempotency_key)?.outcome === 'silent'
            ? unknown('the desk cannot tell')
            : standing(context);
        }
        return stormy && outcomeOf(context) === 'dead'
          ? unknown('the desk cannot tell')
          : notLanded();
      },
      cancel: async (context) => standing(context),
    }),
    plan: (label, of) => void outcomes.set(label, of),
    calm: () => (stormy = false),
    storm: () => (stormy = true),
    entries: () => [...books.values()],
  };
}

/**
 * An observe node reports what the node that it matches was paid; for any other it reports a
 * fortune, which no node may spend.
 */
function looked(context: ExecutionContext, books: ReadonlyMap<string, BookEntry>): Progress {
  const paid = [...books.values()].filter(
    ({ label, node_key }) =>
      label === context.config['label'] && node_key === context.config['match_from'],
  );
  return completed({ output: { received_amount: paid.at(-1)?.amount ?? '1000' } });
}

/** Amounts of these tests have up to six decimals. */
const DIGITS = 6;
const units = (amount: string): bigint => {
  const [whole = '0', fraction = ''] = amount.split('.');
  return BigInt(whole + fraction.padEnd(DIGITS, '0'));
};
const text = (value: bigint): string => {
  const digits = value.toString().padStart(DIGITS + 1, '0');
  return `${digits.slice(0, -DIGITS)}.${digits.slice(-DIGITS)}`.replace(/\.?0+$/, '');
};
const half = (amount: string): string => text(units(amount) / 2n);
const thrice = (amount: string): string => text(units(amount) * 3n);
