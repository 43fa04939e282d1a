/**
 * A payout desk: orders are taken down at once and paid a moment later; until then they can be
 * withdrawn.
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
  type DefinedExecutor,
  type Progress,
} from '../../executor-kit/define.ts';
import type { Journal, JournalEntry } from '../../executor-kit/submit-journal.ts';

const configSchema = z.object({ payee: z.string().min(1).max(64) });
const orderSchema = z.object({ payee: z.string(), asset: z.string(), amount: z.string() });

/**
 * The requested, submitted and received amounts, and the fee; later nodes move what was received.
 * The desk takes no fee.
 */
function amountsOf(entry: JournalEntry) {
  const { asset, amount } = orderSchema.parse(entry.intention);
  return {
    requested_amount: amount,
    submitted_amount: amount,
    fee_amount: '0',
    fee_asset: asset,
    received_amount: amount,
  };
}

/**
 * Here the journal is the books: writing an order down is the whole effect, so no step lies between
 * "known" and "done". Orders are paid `delayMs` after they were accepted.
 */
export function createPayoutExecutor(journal: Journal, delayMs: number): DefinedExecutor {
  const refOf = (entry: JournalEntry): string => entry.external_ref ?? '';
  const dueIn = (entry: JournalEntry): number => Date.parse(entry.at) + delayMs - Date.now();

  const standing = (entry: JournalEntry): Progress => {
    if (entry.state === 'FAILED')
      return failed('WITHDRAWN', 'the order was withdrawn before it was paid');
    if (entry.state === 'ACCEPTED' && dueIn(entry) > 0)
      return pending(dueIn(entry) / 1000, { external_ref: refOf(entry) });
    const paid =
      entry.state === 'COMPLETED' ? entry : journal.update(entry.key, { state: 'COMPLETED' });
    return completed({
      external_ref: refOf(paid),
      output: { paid_at: paid.at, ...amountsOf(paid) },
    });
  };
  /**
   * An order whose second line was lost in a crash is finished now; its reference follows from its
   * key.
   */
  const accept = (entry: JournalEntry): JournalEntry =>
    entry.state === 'INTENDED'
      ? journal.update(entry.key, { state: 'ACCEPTED', external_ref: `order:${entry.key}` })
      : entry;
  const known = (key: string): JournalEntry | undefined => {
    const entry = journal.get(key);
    return entry === undefined ? undefined : accept(entry);
  };

  return defineExecutor({
    name: 'example payout desk',
    prepared: orderSchema,
    preflight: async ({ config }) =>
      configSchema.safeParse(config).success
        ? passed()
        : failed('CONFIG_INVALID', 'config needs "payee"'),
    prepare: async ({ config, asset, amount }) => {
      const { success, data } = configSchema.safeParse(config);
      return success
        ? prepared({ payee: data.payee, asset, amount })
        : failed('CONFIG_INVALID', 'config needs "payee"');
    },
    submit: async ({ context, prepared }, call) => {
      const entry = known(context.idempotency_key);
      if (entry !== undefined) return standing(entry);
      // Nothing may be sent after the time that the service gives. The signal aborts then, but late
      // on a machine that was suspended.
      call.signal.throwIfAborted();
      if (Date.now() >= (call.notAfter ?? Infinity)) throw new Error('the time to send has passed');
      return accepted(refOf(accept(journal.begin(context.idempotency_key, prepared))));
    },
    observe: async ({ idempotency_key }) => {
      const entry = known(idempotency_key);
      return entry === undefined ? pending(1) : standing(entry);
    },
    recover: async ({ idempotency_key }) => {
      const entry = known(idempotency_key);
      return entry === undefined ? notLanded() : standing(entry);
    },
    cancel: async ({ idempotency_key }) => {
      const entry = known(idempotency_key);
      if (entry === undefined) return pending(1);
      const withdrawn = entry.state === 'ACCEPTED' && dueIn(entry) > 0;
      return standing(withdrawn ? journal.update(entry.key, { state: 'FAILED' }) : entry);
    },
    effects: async (key) =>
      journal.entries().filter((entry) => entry.key === key && entry.state !== 'FAILED').length,
  });
}
