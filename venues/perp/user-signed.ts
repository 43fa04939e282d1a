/**
 * Sends actions that the master signs for its own account at the venue: one nonce, one signature,
 * one body for each. The first signature is sent, and sent again while that is safe; only the
 * account's ledger shows the outcome. Source: docs/perps-venue-facts.md 2, 10.
 */
import { isDeepStrictEqual } from 'node:util';
import {
  ExecutorFault,
  type CallOptions,
  type ExecutionContext,
  type ExecutionResult,
  type Executor,
  type ExecutorDescriptor,
  type SubmitInput,
  type SubmitJournal,
} from '../../domain/executor.ts';
import type { PerpTerms } from '../../domain/actions/terms.ts';
import type { JsonObject } from '../../domain/json.ts';
import { compare } from '../../domain/money.ts';
import { ageOf, nextLookSeconds } from '../../domain/perps/nonce-window.ts';
import { limitedByStops } from '../../platform/deadline.ts';
import type { ActReader } from '../evm/act.ts';
import { heldBack } from '../evm/held.ts';
import { stillUnderWay } from '../evm/send-signed.ts';
import { rejected, failWhenRejected } from '../node-plan.ts';
import { bodyOf, buildAct, type BuiltAct, type PerpAct } from './actions.ts';
import type { PerpClient } from './client.ts';
import type { LedgerRow } from './shared-ledger.ts';
import { checkVenue } from './health.ts';
import { rowsSince, type Arrived } from './ledger.ts';
import { requireMaster, type PerpLane } from './plan.ts';

/** One user-signed action type. Its {@link PerpAct} names payee and amount. */
export interface UserSigned<Plan> {
  readonly descriptor: Pick<ExecutorDescriptor, 'executor_key' | 'action_types'>;
  /**
   * Reads the action's plan from its node.
   *
   * @throws ExecutorFault `rejected` if the node is not such an action.
   */
  read(context: Pick<ExecutionContext, 'config' | 'asset' | 'amount'>): Plan;
  /** Returns the action to sign. */
  act(plan: Plan, nonce: number): Exclude<PerpAct, { type: 'approveAgent' }>;
  /**
   * Checks the action at the venue.
   *
   * @throws ExecutorFault `rejected` if the action would fail, or would pay another account.
   */
  require(client: PerpClient, plan: Plan, perp: PerpTerms, call: CallOptions): Promise<void>;
  /** The venue's rail that the action uses; null: the funds stay within the venue. */
  readonly rail: 'withdrawal' | null;
  /**
   * When the action's ledger row appears: as soon as the action is carried out, or only once the
   * venue has paid, however late.
   */
  readonly row_comes: 'at_once' | 'when_paid';
  /** Returns the action's row in the master's ledger; null if there is none. */
  find(rows: readonly LedgerRow[], nonce: number, plan: Plan): Arrived | null;
  /** Returns the amount that left the account, as the ledger row shows. */
  left(arrived: Arrived): string;
  /** Returns the facts for the node's output, without the amounts. */
  facts(plan: Plan, arrived: Arrived | null): JsonObject;
}

export const USER_SIGNED = {
  kind: 'local',
  provider: 'perp',
  chain_family: 'evm',
  // Only the first signature is ever sent, and the venue carries out each nonce once.
  same_key_safe: true,
  // Recover never trusts a "not found" while the nonce could still be used.
  settle_seconds: 0,
  timeout_seconds: 30,
  in_process: false,
  sends: true,
  not_payees: [],
  completion_assurances: ['provider_completed'],
} as const satisfies Partial<ExecutorDescriptor>;

/** Returns an executor that stores nothing: the stored action and the venue hold all state. */
export function createUserSignedExecutor<Plan>(lane: PerpLane, of: UserSigned<Plan>): Executor {
  const { client, venue } = lane;
  const draft = async (context: ExecutionContext, call: CallOptions) => {
    const plan = of.read(context);
    const perp = requireMaster(context, venue, 'MASTER_SIGNER_MISMATCH');
    await of.require(client, plan, perp, call);
    return { plan, perp };
  };
  return {
    descriptor: { ...USER_SIGNED, ...of.descriptor },
    preflight: (context, call) =>
      failWhenRejected(async () => {
        await draft(context, call);
        return null;
      }),
    prepare: (context, call) =>
      failWhenRejected(async () => {
        const { plan, perp } = await draft(context, call);
        const { nonce } = actionOf(perp);
        const { action, typed_data } = builtOf(of, plan, nonce, context.amount);
        return {
          next_state: 'SUBMITTING' as const,
          prepared_action: {
            ...of.facts(plan, null),
            action,
            nonce,
            asset: context.asset,
            amount: context.amount,
            from_address: perp.master_address,
          },
          sign_request: { kind: 'evm_typed_data' as const, payload: typed_data },
        };
      }),
    submit: (input, call) => submit(lane, of, input, call),
    observe: (context, call) => observe(lane, of, context, call),
    recover: (context, call, journal) => recover(lane, of, { context, call, journal }),
    cancel: (context) => Promise.resolve(stillUnderWay(context.prior?.external_ref)),
    health: (call) => checkVenue(client, of.rail, call),
  };
}

/**
 * Returns SUBMITTED once the venue has accepted the action; FAILED `VENUE_REFUSED` if the venue
 * refused the action with a known text: the bytes are sent for the first time, so they had no other
 * effect. A fault or a refusal with another text proves nothing.
 */
async function submit<Plan>(
  { client }: PerpLane,
  of: UserSigned<Plan>,
  { context, prepared_action, sign_result }: SubmitInput,
  call: CallOptions,
): Promise<ExecutionResult> {
  const { signature } = sign_result ?? {};
  if (typeof signature !== 'string')
    throw new ExecutorFault(
      'protocol',
      'SIGN_RESULT_MISSING',
      'the signature of the action is missing, so the action cannot be submitted',
    );
  const perp = termsOf(context);
  const { nonce } = actionOf(perp);
  const built = builtAs(of, context, prepared_action, nonce);
  const { notAfter } = call;
  if (notAfter === undefined)
    throw new ExecutorFault(
      'protocol',
      'SEND_UNLIMITED',
      'the call has no last moment to send, so the action is not sent',
    );
  const answer = await client.send(bodyOf(built, { nonce, signature }), { ...call, notAfter });
  if (answer.kind === 'refused' && answer.proves) return refused(answer.message);
  if (answer.kind === 'refused')
    throw new ExecutorFault(
      'protocol',
      'ACTION_UNPROVEN',
      `the venue refuses the action with an unknown text, which proves nothing: ${answer.message}`,
    );
  return { next_state: 'SUBMITTED', ...admitted(perp, nonce) };
}

async function observe<Plan>(
  lane: PerpLane,
  of: UserSigned<Plan>,
  context: ExecutionContext,
  call: CallOptions,
): Promise<ExecutionResult> {
  const perp = termsOf(context);
  const { nonce } = actionOf(perp);
  const shared = ageOf(nonce, perp.now_ms) !== 'over';
  const found = await foundIn(lane, of, { context, perp, nonce, shared }, call);
  if (found !== null) return found;
  if (!shared) throw new ExecutorFault('server_error', 'LEDGER_ROW_MISSING', NEVER_SHOWN);
  return {
    next_state: 'OBSERVING',
    ...admitted(perp, nonce),
    retry_after_seconds: nextLookSeconds(perp.now_ms - nonce),
  };
}

const LATER_FORGOTTEN =
  'the database was restored and may have lost a later attempt; the ledger does not show this attempt, which is not sent again';

const NEVER_SHOWN =
  'the venue accepted the action, but the ledger still does not show it: the venue may have refused it after using its nonce, or has not paid yet; check the account';

/**
 * Recovers a send. Without a stored signature nothing was sent, unless a restore of the database
 * lost the signature. With a signature, only these prove an outcome, in this order: the ledger, the
 * venue's answer to the same bytes, and the end of the nonce's validity. After a restore only the
 * ledger is proof.
 */
async function recover<Plan>(
  lane: PerpLane,
  of: UserSigned<Plan>,
  {
    context,
    call,
    journal,
  }: {
    readonly context: ExecutionContext;
    readonly call: CallOptions;
    readonly journal: SubmitJournal;
  },
): Promise<ExecutionResult> {
  const { perp, prior } = context;
  if (perp?.action?.signature === undefined) return neverSigned(journal);
  const { nonce, signature } = perp.action;
  const found = await foundIn(lane, of, { context, perp, nonce }, call);
  if (found !== null) return found;
  const age = ageOf(nonce, perp.now_ms);
  const underWay: ExecutionResult = { next_state: 'OBSERVING', ...admitted(perp, nonce) };
  if (prior?.output?.['admitted'] === true)
    return age === 'over' ? unknown('LEDGER_ROW_MISSING', NEVER_SHOWN) : underWay;
  // The restore may have lost a later attempt; sending this attempt could then pay twice.
  if (journal.unknownNonces !== undefined) return unknown('ACTION_FORGOTTEN', LATER_FORGOTTEN);
  switch (age) {
    case 'repeatable': {
      const limited = limitedByStops(call);
      const held = await journal.held({ address: perp.master_address, accepted: false });
      if (held !== null) return heldBack('ACTION_HELD', held);
      const built = builtAs(of, context, prior?.prepared_action ?? {}, nonce);
      const answer = await lane.client.send(bodyOf(built, { nonce, signature }), limited);
      if (answer.kind !== 'refused') return underWay;
      if (answer.consumed) return refused(answer.message);
      return unknown(
        'ACTION_UNPROVEN',
        `the venue refuses the action now, which proves nothing about the earlier call: ${answer.message}`,
      );
    }
    case 'open':
      return unknown(
        'ACTION_UNPROVEN',
        'the ledger does not show the action, which proves nothing until its nonce has expired',
      );
    case 'over':
      // Checked by the venue's clock too, since ours may be ahead: until the venue refuses the
      // nonce, a missing row proves nothing.
      if (ageOf(nonce, await lane.client.time(call)) !== 'over')
        return unknown(
          'ACTION_UNPROVEN',
          'by the venue’s clock the nonce is still valid, so a missing ledger row proves nothing',
        );
      if (of.row_comes === 'when_paid')
        return unknown(
          'ACTION_UNPROVEN',
          'the nonce has expired, but the ledger shows an accepted action only once it is paid: check the account',
        );
      if ((await journal.held({ address: perp.master_address, accepted: false }))?.ends === true)
        return {
          next_state: 'FAILED',
          error_code: 'TRANSACTION_CANCELLED',
          error_message:
            'a stop prevented the send until the nonce expired, and the ledger does not show the action',
        };
      return {
        next_state: 'FAILED',
        error_code: 'SUBMIT_NOT_LANDED',
        error_message:
          'the nonce has expired, the venue never confirmed the action, and the ledger does not show it',
      };
  }
}

function neverSigned(journal: SubmitJournal): ExecutionResult {
  if (journal.unknownNonces === undefined) return { next_state: 'READY' };
  return unknown(
    'ACTION_FORGOTTEN',
    'the database was restored and may have lost the signature of this action; check the ledger of the master account',
  );
}

/**
 * Returns COMPLETED if the master's ledger has the action's row; OBSERVING with
 * `LEDGER_ROW_MISMATCH` if the row has another amount; null without a row.
 */
async function foundIn<Plan>(
  { client }: PerpLane,
  of: UserSigned<Plan>,
  {
    context,
    perp,
    nonce,
    shared = false,
  }: {
    readonly context: ExecutionContext;
    readonly perp: PerpTerms;
    readonly nonce: number;
    /** Accepts another caller's recent read, when a missing row decides nothing. */
    readonly shared?: boolean;
  },
  call: CallOptions,
): Promise<ExecutionResult | null> {
  const plan = of.read(context);
  const since = rowsSince(nonce);
  const isWanted = (row: LedgerRow): boolean => of.find([row], nonce, plan) !== null;
  const rows = await client.ledger(perp.master_address, since, call, { isWanted, shared });
  const arrived = of.find(rows, nonce, plan);
  if (arrived === null) return null;
  const { external_ref, output } = admitted(perp, nonce);
  const left = of.left(arrived);
  if (compare(left, context.amount) !== 0)
    return {
      next_state: 'OBSERVING',
      external_ref,
      output,
      retry_after_seconds: nextLookSeconds(perp.now_ms - nonce),
      error_code: 'LEDGER_ROW_MISMATCH',
      error_message: `the ledger shows that ${left} left the account, but the plan moves ${context.amount}`,
    };
  return {
    next_state: 'COMPLETED',
    external_ref,
    output: {
      ...output,
      ...of.facts(plan, arrived),
      requested_amount: context.amount,
      submitted_amount: context.amount,
      received_amount: arrived.received,
      fee_amount: arrived.fee,
      fee_asset: context.asset,
      ledger_hash: arrived.hash,
      ledger_ms: arrived.time,
    },
    assurance: 'provider_completed',
  };
}

export function messageReader(...kinds: readonly UserSigned<unknown>[]): ActReader {
  return ({ node, amount, perp }) => {
    const of = kinds.find(({ descriptor }) => descriptor.action_types.includes(node.action_type));
    if (of === undefined) return null;
    const plan = of.read({ config: node.config, asset: node.asset, amount });
    const { nonce } = actionOf(perp ?? {});
    return { typed_data: builtOf(of, plan, nonce, amount).typed_data };
  };
}

/** Builds the action of a plan, which must move exactly the node's amount. */
function builtOf<Plan>(of: UserSigned<Plan>, plan: Plan, nonce: number, amount: string): BuiltAct {
  const act = of.act(plan, nonce);
  if (compare(act.amount, amount) === 0) return buildAct(act);
  throw rejected('CONFIG_INVALID', `the action moves ${act.amount}, and the node ${amount}`);
}

/** Builds the action again from the plan; throws unless the result equals the prepared action. */
function builtAs<Plan>(
  of: UserSigned<Plan>,
  context: ExecutionContext,
  prepared: JsonObject,
  nonce: number,
): BuiltAct {
  const built = builtOf(of, of.read(context), nonce, context.amount);
  if (isDeepStrictEqual(built.action, prepared['action'])) return built;
  throw new ExecutorFault(
    'protocol',
    'SIGNED_BYTES_MISMATCH',
    'the prepared action differs from the plan and the nonce of the attempt',
  );
}

function admitted({ master_address }: PerpTerms, nonce: number) {
  return {
    external_ref: `${master_address}:${String(nonce)}`,
    output: { admitted: true, nonce, from_address: master_address },
  };
}

function refused(message: string): ExecutionResult {
  return { next_state: 'FAILED', error_code: 'VENUE_REFUSED', error_message: message };
}

function unknown(error_code: string, error_message: string): ExecutionResult {
  return { next_state: 'UNKNOWN', error_code, error_message };
}

function termsOf({ perp }: ExecutionContext): PerpTerms {
  if (perp !== undefined) return perp;
  throw rejected('MASTER_ACCOUNT_MISSING', 'the perps venue has no master account');
}

function actionOf({ action }: Pick<PerpTerms, 'action'>): NonNullable<PerpTerms['action']> {
  if (action !== undefined) return action;
  throw rejected('ACTION_NONCE_MISSING', 'the attempt has no nonce of the venue');
}
