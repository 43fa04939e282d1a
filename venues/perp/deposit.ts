/**
 * `perp.deposit`: sends the venue's token to where its deposits go, from the master account, and
 * waits until that account's ledger shows it. Source: docs/perps-venue-facts.md 5.1.
 */
import type { Hash } from 'viem';
import {
  ExecutorFault,
  type CallOptions,
  type ExecutionContext,
  type ExecutionResult,
  type Executor,
  type ExecutorDescriptor,
  type SubmitJournal,
} from '../../domain/executor.ts';
import { compare } from '../../domain/money.ts';
import { nextLookSeconds } from '../../domain/perps/nonce-window.ts';
import { ACT_EXECUTOR } from '../evm/act-executor.ts';
import { failWhenRejected } from '../evm/errors.ts';
import { checkChains } from '../evm/health.ts';
import { TRANSFER_ASSURANCES } from '../evm/landed.ts';
import { readSigner } from '../evm/plan.ts';
import { preflightTransfer, prepareTransfer } from '../evm/prepare.ts';
import { sendSigned, stillUnderWay } from '../evm/send-signed.ts';
import { settleAct } from '../evm/settle.ts';
import { transferOn } from '../evm/transfer-act.ts';
import { requireMode, requireRail, requireRoom } from './account.ts';
import { checkVenue } from './health.ts';
import { depositRows, rowsSince } from './ledger.ts';
import { depositRefusal, readDepositPlan, requireMaster, type PerpLane } from './plan.ts';

export const PERP_DEPOSIT_DESCRIPTOR: ExecutorDescriptor = {
  ...ACT_EXECUTOR,
  executor_key: 'perp.deposit',
  action_types: ['perp_deposit'],
  provider: 'perp',
  completion_assurances: TRANSFER_ASSURANCES,
};

/** It takes less than a minute (DOC:for-developers/api/usdc); after this people are told. */
const LATE_MS = 600_000;

/** It holds no state of its own: the journal, the chain and the venue do. */
export function createDepositExecutor(lane: PerpLane): Executor {
  const { chains } = lane;
  const look = (
    phase: 'observe' | 'recover',
    context: ExecutionContext,
    call: CallOptions,
    journal: SubmitJournal,
  ): Promise<ExecutionResult> => settleDeposit(lane, { phase, context, call, journal });
  return {
    descriptor: PERP_DEPOSIT_DESCRIPTOR,
    preflight: (context, call) =>
      failWhenRejected(async () => {
        const { transfer } = await requireDeposit(lane, context, call);
        return preflightTransfer(chains, transfer, call);
      }),
    prepare: (context, call) =>
      failWhenRejected(async () => {
        const { transfer, value } = await requireDeposit(lane, context, call);
        const prepared = await prepareTransfer(chains, transfer, call);
        if (prepared.next_state === 'FAILED') return prepared;
        // Rows have the venue's time, however far ours is from it.
        const venue_ms = await lane.client.time(call);
        // The time before the account was asked: what was deposited since may not be in its value.
        const prepared_ms = context.perp?.now_ms ?? 0;
        const account_value = value === null ? {} : { account_value: value };
        return {
          ...prepared,
          prepared_action: {
            ...prepared.prepared_action,
            ...{ prepared_ms, venue_ms },
            ...account_value,
          },
        };
      }),
    submit: (input, call) => {
      const plan = readDepositPlan(input.context);
      return sendSigned(chains, { chain_id: plan.chain_id, act: transferOn(plan) }, input, call);
    },
    observe: (context, call, journal) => look('observe', context, call, journal),
    recover: (context, call, journal) => look('recover', context, call, journal),
    cancel: (context) => Promise.resolve(stillUnderWay(context.prior?.external_ref)),
    health: async (call) => {
      const [chain, venue] = await Promise.all([
        checkChains(chains, call),
        checkVenue(lane.client, 'deposit', call),
      ]);
      const parts = [chain, venue];
      const worse = parts.find(({ state }) => state === 'down');
      return worse ?? parts.find(({ state }) => state === 'unknown') ?? venue;
    },
  };
}

/**
 * The same node as a plain transfer, once nothing of the venue is in its way, and what the account
 * has where some strategy may not have any amount there.
 *
 * @throws ExecutorFault `rejected` with the codes of {@link depositRefusal},
 *   `DEPOSITOR_NOT_MASTER`, `MASTER_ACCOUNT_MISSING`, `VENUE_ROUTE_CLOSED`,
 *   `ACCOUNT_MODE_UNSUPPORTED`, `MAX_AGENT_BALANCE_EXCEEDED`; retryable where the venue does not
 *   answer.
 */
async function requireDeposit(
  { client, ...lane }: PerpLane,
  context: ExecutionContext,
  call: CallOptions,
): Promise<{ readonly transfer: ExecutionContext; readonly value: string | null }> {
  const plan = readDepositPlan(context);
  const refusal = depositRefusal(plan, context, lane);
  if (refusal !== null) throw refusal;
  const perp = requireMaster(context, lane.venue, 'DEPOSITOR_NOT_MASTER');
  const { master_address, account_bound: most } = perp;
  await requireRail(client, 'deposit', call);
  await requireMode(client, master_address, call);
  // It is credited to the master's own account, whoever's it is.
  const value =
    most !== undefined
      ? await requireRoom(client, master_address, { amount: plan.amount, most }, call)
      : null;
  return { transfer: { ...context, action_type: plan.action_type }, value };
}

interface Look {
  readonly phase: 'observe' | 'recover';
  readonly context: ExecutionContext;
  readonly call: CallOptions;
  readonly journal: SubmitJournal;
}

/** As any transfer until it is mined and deep enough; then OBSERVING until it is credited. */
async function settleDeposit(
  lane: PerpLane,
  { phase, context, call, journal }: Look,
): Promise<ExecutionResult> {
  const plan = readDepositPlan(context);
  const settled = await settleAct(lane.chains, {
    chain_id: plan.chain_id,
    act: transferOn(plan),
    from: readSigner(context),
    assurance: context.completion_assurance,
    ...{ call, journal, phase },
  });
  if (settled.next_state !== 'COMPLETED' || settled.external_ref === undefined) return settled;
  const { received_amount: paid, ...facts } = settled.output ?? {};
  const { perp, prior } = context;
  const now = perp?.now_ms ?? 0;
  const since = prior?.output?.['credit_awaited_ms'] ?? now;
  const waiting: ExecutionResult = {
    next_state: 'OBSERVING',
    external_ref: settled.external_ref,
    output: { ...facts, credit_awaited_ms: since },
    retry_after_seconds: nextLookSeconds(typeof since === 'number' ? now - since : 0),
  };
  const account = accountOf(lane, context);
  const credit = await creditOf(lane, context, settled.external_ref as Hash, call).catch(
    (error: unknown) => {
      // A recovery wants to know that it was sent, and that is known.
      if (phase === 'recover' && error instanceof ExecutorFault) return [];
      throw error;
    },
  );
  const whole = credit.find(
    ({ credited }) => credited !== null && compare(credited, String(paid)) === 0,
  );
  if (whole !== undefined)
    return {
      ...settled,
      output: {
        ...facts,
        ...{ received_amount: paid ?? plan.amount, ledger_hash: whole.row.hash },
        ledger_account: account,
        credited_ms: whole.row.time,
      },
    };
  const [other] = credit;
  if (other !== undefined)
    return {
      ...waiting,
      error_code: 'DEPOSIT_AMOUNT_MISMATCH',
      error_message: `the venue credited ${other.credited ?? 'an amount that cannot be read'} for it, and ${String(paid)} was sent`,
    };
  if (typeof since !== 'number' || now - since < LATE_MS) return waiting;
  return {
    ...waiting,
    error_code: 'DEPOSIT_NOT_CREDITED',
    error_message: `the transfer is in its block, and the venue has not credited it in ${String(Math.floor((now - since) / 60_000))} minutes`,
  };
}

/** Whose ledger shows the deposit. */
function accountOf({ venue }: PerpLane, { perp }: ExecutionContext) {
  return perp?.master_address ?? venue.account;
}

/** What the master's ledger says of the transaction. */
async function creditOf(lane: PerpLane, context: ExecutionContext, hash: Hash, call: CallOptions) {
  const { prepared_ms, venue_ms = prepared_ms } = context.prior?.prepared_action ?? {};
  const since = typeof venue_ms === 'number' ? rowsSince(venue_ms) : 0;
  const account = accountOf(lane, context);
  // Its absence decides nothing, so a look of a moment ago will do.
  return depositRows(await lane.client.ledger(account, since, call, { shared: true }), hash);
}
