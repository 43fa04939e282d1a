/**
 * Pays from a bank account. Every phase is a few lines; the order of the lines in submit is what
 * matters.
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
  type CallOptions,
  type DefinedExecutor,
  type ExecutionContext,
  type Progress,
} from '../../executor-kit/define.ts';
import type { Journal } from '../../executor-kit/submit-journal.ts';
import { toUnits, type Bank, type Posting } from './bank.ts';

const configSchema = z.object({ to: z.string().min(1).max(64) });
const paymentSchema = z.object({
  to: z.string(),
  asset: z.string(),
  amount: z.string().regex(/^\d{1,18}(\.\d{1,18})?$/),
});

/**
 * The requested, submitted and received amounts, and the fee; later nodes move what was received.
 * This bank takes no fee.
 */
const amountsOf = ({ asset, amount }: Posting) => ({
  requested_amount: amount,
  submitted_amount: amount,
  fee_amount: '0',
  fee_asset: asset,
  received_amount: amount,
});

/** The executor over `bank`; it keeps each requested payment in `journal`. */
export function createBankExecutor(bank: Bank, journal: Journal): DefinedExecutor {
  /**
   * Sends at most once: first looks for a payment that an earlier attempt may have sent.
   */
  const send = async (
    key: string,
    payment: z.infer<typeof paymentSchema>,
    call: CallOptions,
  ): Promise<Progress> => {
    const entry = journal.begin(key, payment);
    if (entry.state === 'FAILED')
      return failed('INSUFFICIENT_FUNDS', entry.note ?? 'the account does not hold this much');
    if (entry.external_ref !== undefined) return accepted(entry.external_ref);
    let posting = await bank.find(key);
    if (posting === undefined) {
      const available = await bank.available(payment.asset);
      if (available < toUnits(payment.amount)) {
        journal.update(key, { state: 'FAILED', note: 'the account does not hold this much' });
        return failed('INSUFFICIENT_FUNDS', 'the account does not hold this much');
      }
      // The last moment before the payment: do not pay for a caller that no longer waits. The
      // signal aborts late on a machine that was suspended.
      call.signal.throwIfAborted();
      if (Date.now() >= (call.notAfter ?? Infinity)) throw new Error('the time to send has passed');
      posting = await bank.pay(key, payment);
    }
    journal.update(key, { state: 'ACCEPTED', external_ref: posting.id });
    return accepted(posting.id);
  };

  const standing = (posting: Posting): Progress => {
    if (!bank.hasCleared(posting)) return pending(0.05, { external_ref: posting.id });
    return completed({
      external_ref: posting.id,
      output: { booked_at: new Date(posting.booked_at).toISOString(), ...amountsOf(posting) },
    });
  };

  /** Waits for a submit of the same key that still runs, so that its outcome is known. */
  const look = (context: ExecutionContext) =>
    journal.exclusively(context.idempotency_key, async () => {
      const entry = journal.get(context.idempotency_key);
      if (entry?.state === 'FAILED')
        return failed('INSUFFICIENT_FUNDS', entry.note ?? 'the account does not hold this much');
      // INTENDED without a posting: it was interrupted before it paid.
      const posting = await bank.find(context.idempotency_key);
      return posting === undefined ? null : standing(posting);
    });

  return defineExecutor({
    name: 'example bank',
    prepared: paymentSchema,
    preflight: async (context) => {
      const config = configSchema.safeParse(context.config);
      if (!config.success)
        return failed('CONFIG_INVALID', 'config needs "to", the receiving account');
      return paymentSchema.shape.amount.safeParse(context.amount).success
        ? passed()
        : failed('AMOUNT_INVALID', 'not a decimal amount');
    },
    prepare: async ({ config, asset, amount }) => {
      const { success, data } = configSchema.safeParse(config);
      return success
        ? prepared({ to: data.to, asset, amount })
        : failed('CONFIG_INVALID', 'config needs "to", the receiving account');
    },
    submit: ({ context, prepared }, call) =>
      journal.exclusively(context.idempotency_key, () =>
        send(context.idempotency_key, prepared, call),
      ),
    observe: async (context) => (await look(context)) ?? pending(1),
    recover: async (context) => (await look(context)) ?? notLanded(),
    // A bank does not take a payment back, so a cancel only says how it stands.
    cancel: async (context) => (await look(context)) ?? pending(1),
    health: async () => ({ status: 'ok', keys: journal.entries().length }),
    effects: (key) => bank.count(key),
  });
}
