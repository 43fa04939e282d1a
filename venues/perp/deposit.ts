/**
 * `perp.deposit`: sends the venue's token from the master account to the deposit address, and waits
 * until the account's ledger shows the credit. Source: docs/perps-venue-facts.md 5.1.
 */
import type { Hash } from 'viem';
import {
  ExecutorFault,
  type CallOptions,
  type ExecutionContext,
  type ExecutionResult,
  type Executor,
} from '../../domain/executor.ts';
import { compare } from '../../domain/money.ts';
import { nextLookSeconds } from '../../domain/perps/nonce-window.ts';
import { createActExecutor, type ActLook, type Drafting, type Ready } from '../evm/act-executor.ts';
import { actDescriptor, type Act } from '../evm/act.ts';
import { checkChains } from '../evm/health.ts';
import { TRANSFER_ASSURANCES } from '../evm/landed.ts';
import type { TransferPlan } from '../evm/plan.ts';
import { TRANSFER, transferReady } from '../evm/transfer.ts';
import { rejected } from '../node-plan.ts';
import { requireMode, requireRail, requireRoom } from './account.ts';
import { PERP_DECIMALS } from './config.ts';
import { checkVenue } from './health.ts';
import { depositRows, rowsSince } from './ledger.ts';
import { depositRefusal, readDepositPlan, requireMaster, type PerpLane } from './plan.ts';

export const PERP_DEPOSIT_DESCRIPTOR = actDescriptor({
  executor_key: 'perp.deposit',
  action_types: ['perp_deposit'],
  provider: 'perp',
  completion_assurances: TRANSFER_ASSURANCES,
});

/** Returns the act of a deposit: a transfer that may pay only the deposit address. */
export function depositAct(lane: Pick<PerpLane, 'venue' | 'evmVenues'>): Act<TransferPlan> {
  return {
    ...TRANSFER,
    descriptor: PERP_DEPOSIT_DESCRIPTOR,
    read: readDepositPlan,
    async effect(plan, at) {
      const effect = await TRANSFER.effect(plan, at);
      if (at.decimals === PERP_DECIMALS) return effect;
      // The venue would credit another amount than the token moves.
      const refusal = rejected(
        'TOKEN_DECIMALS_MISMATCH',
        `the token has ${String(at.decimals)} decimals, and deposits of ${lane.venue.venue_key} count in ${String(PERP_DECIMALS)}`,
      );
      return { ...effect, refusal };
    },
    refusal: (plan, of) => depositRefusal(plan, of, lane),
  };
}

/**
 * Milliseconds after which a missing credit is shown as late. A credit usually takes less than a
 * minute (DOC:for-developers/api/usdc).
 */
const LATE_MS = 600_000;

/**
 * Returns the deposit executor. It fails with the codes of every act, those of
 * {@link depositRefusal}, `DEPOSITOR_NOT_MASTER`, `MASTER_ACCOUNT_MISSING`, `VENUE_ROUTE_CLOSED`,
 * `ACCOUNT_MODE_UNSUPPORTED` and `MAX_AGENT_BALANCE_EXCEEDED`; retryable if the venue does not
 * answer.
 */
export function createDepositExecutor(lane: PerpLane): Executor {
  const { chains, client } = lane;
  return {
    ...createActExecutor(chains, depositAct(lane), {
      facts: (plan) => plan,
      ready: (plan, at) => depositReady(lane, plan, at),
      completed: (plan, settled, look) => credited(lane, plan, settled, look),
    }),
    health: async (call) => {
      const [chain, venue] = await Promise.all([
        checkChains(chains, call),
        checkVenue(client, 'deposit', call),
      ]);
      const parts = [chain, venue];
      const worse = parts.find(({ state }) => state === 'down');
      return worse ?? parts.find(({ state }) => state === 'unknown') ?? venue;
    },
  };
}

/** Checks the venue and the account before a deposit. */
async function depositReady(
  { client, venue }: PerpLane,
  { amount }: TransferPlan,
  at: Drafting,
): Promise<Ready> {
  const { context, call } = at;
  const perp = requireMaster(context, venue, 'DEPOSITOR_NOT_MASTER');
  const { master_address, account_bound: most } = perp;
  await requireRail(client, 'deposit', call);
  await requireMode(client, master_address, call);
  // The venue credits the master's own account, which may belong to a strategy with a maximum.
  const value =
    most === undefined ? null : await requireRoom(client, master_address, { amount, most }, call);
  return {
    ...transferReady(at),
    facts: async () => ({
      // Taken before the account was read: the account's value may lack deposits after this time.
      prepared_ms: perp.now_ms,
      // Ledger rows carry the venue's time, so the search starts from it.
      venue_ms: await client.time(call),
      ...(value === null ? {} : { account_value: value }),
    }),
  };
}

/** Returns OBSERVING from the mined transfer until the venue credits the deposit. */
async function credited(
  lane: PerpLane,
  plan: TransferPlan,
  settled: ExecutionResult,
  { phase, context, call }: ActLook,
): Promise<ExecutionResult> {
  if (settled.external_ref === undefined) return settled;
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
      // Recover needs only the transfer, which was sent; it does not wait for the credit.
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
        received_amount: paid ?? plan.amount,
        ledger_hash: whole.row.hash,
        ledger_account: account,
        credited_ms: whole.row.time,
      },
    };
  const [other] = credit;
  if (other !== undefined)
    return {
      ...waiting,
      error_code: 'DEPOSIT_AMOUNT_MISMATCH',
      error_message: `the venue credited ${other.credited ?? 'an unreadable amount'}, and ${String(paid)} was sent`,
    };
  if (typeof since !== 'number' || now - since < LATE_MS) return waiting;
  return {
    ...waiting,
    error_code: 'DEPOSIT_NOT_CREDITED',
    error_message: `the transfer is mined, but the venue has not credited it for ${String(Math.floor((now - since) / 60_000))} minutes`,
  };
}

/** Returns the account whose ledger shows the deposit. */
function accountOf({ venue }: PerpLane, { perp }: ExecutionContext) {
  return perp?.master_address ?? venue.account;
}

/** Returns the transaction's rows in the master's ledger. */
async function creditOf(lane: PerpLane, context: ExecutionContext, hash: Hash, call: CallOptions) {
  const { prepared_ms, venue_ms = prepared_ms } = context.prior?.prepared_action ?? {};
  const since = typeof venue_ms === 'number' ? rowsSince(venue_ms) : 0;
  const account = accountOf(lane, context);
  // A missing row only means to wait, so another caller's recent read is good enough.
  return depositRows(await lane.client.ledger(account, since, call, { shared: true }), hash);
}
