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
} from '../../domain/executor.ts';
import { compare } from '../../domain/money.ts';
import { nextLookSeconds } from '../../domain/perps/nonce-window.ts';
import { createActExecutor, type ActLook, type Drafting, type Ready } from '../evm/act-executor.ts';
import { actDescriptor, type Act } from '../evm/act.ts';
import { checkChains } from '../evm/health.ts';
import { TRANSFER_ASSURANCES } from '../evm/landed.ts';
import type { TransferPlan } from '../evm/plan.ts';
import { TRANSFER, transferReady } from '../evm/transfer.ts';
import { requireMode, requireRail, requireRoom } from './account.ts';
import { checkVenue } from './health.ts';
import { depositRows, rowsSince } from './ledger.ts';
import { depositRefusal, readDepositPlan, requireMaster, type PerpLane } from './plan.ts';

export const PERP_DEPOSIT_DESCRIPTOR = actDescriptor({
  executor_key: 'perp.deposit',
  action_types: ['perp_deposit'],
  provider: 'perp',
  completion_assurances: TRANSFER_ASSURANCES,
});

/** The transfer that a deposit is, to nowhere but where deposits go. */
export function depositAct(lane: Pick<PerpLane, 'venue' | 'evmVenues'>): Act<TransferPlan> {
  return {
    ...TRANSFER,
    descriptor: PERP_DEPOSIT_DESCRIPTOR,
    read: readDepositPlan,
    refusal: (plan, of) => depositRefusal(plan, of, lane),
  };
}

/** It takes less than a minute (DOC:for-developers/api/usdc); after this people are told. */
const LATE_MS = 600_000;

/**
 * Fails with what every act does, the codes of {@link depositRefusal}, `DEPOSITOR_NOT_MASTER`,
 * `MASTER_ACCOUNT_MISSING`, `VENUE_ROUTE_CLOSED`, `ACCOUNT_MODE_UNSUPPORTED` and
 * `MAX_AGENT_BALANCE_EXCEEDED`; retryable where the venue does not answer.
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

/** Once nothing of the venue is in its way. */
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
  // It is credited to the master's own account, whoever's it is.
  const value =
    most === undefined ? null : await requireRoom(client, master_address, { amount, most }, call);
  return {
    ...transferReady(at),
    facts: async () => ({
      // The time before the account was read: what was deposited since may not be in its value.
      prepared_ms: perp.now_ms,
      // Rows have the venue's time, however far ours is from it.
      venue_ms: await client.time(call),
      ...(value === null ? {} : { account_value: value }),
    }),
  };
}

/** Once its transfer is mined and deep enough: OBSERVING until it is credited. */
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
