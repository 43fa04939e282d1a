/**
 * The requirement of a node of the perps venue: its master account, the movement's strategy, and
 * pending deposits.
 */
import type { PerpTerms } from '../../domain/actions/terms.ts';
import { ExecutorFault, type ExecutionContext } from '../../domain/executor.ts';
import { isFresh } from '../../domain/perps/nonce-window.ts';
import { isUserSigned, perpProblem, perpRoleOf, perpSentence } from '../../domain/perps/ready.ts';
import type { ChainAssets } from '../../domain/plan/tokens.ts';
import {
  claimPerpNonce,
  readPerpAction,
  savePerpSignature,
  type NonceAhead,
  type PerpAction,
} from '../../store/perp-actions.ts';
import { readPerpTerms, type PerpTermsRow } from '../../store/perp-terms.ts';
import type { PhaseRow } from '../../store/phases.ts';
import type { Draft, Leaving, Requirement, RequirementSources } from './requirement.ts';

/**
 * What the database checks at the send. It always checks too that the strategy is bound and not
 * paused, and that `signer` is the venue's master account.
 */
interface PerpRequirement {
  readonly node_key: string;
  /** The signer's address, in any letter case. */
  readonly signer: string;
  /** Amount of a deposit; the send requires that no other deposit of the same amount is pending. */
  readonly deposit?: string;
  /** For a deposit under a balance limit: the account's value, and when it was read. */
  readonly account?: { readonly value: string; readonly asked_at: string };
  /** Payee of a top-up: the sub-account of the strategy. */
  readonly sub_account?: string;
}

export const perpsAccount: Requirement = {
  needs: ({ node }) => perpRoleOf(node.action_type) !== null,
  terms: perpTerms,
  guard: {
    kind: 'perp',
    stop: 'perp_terms',
    requires: (_deps, row, leaving) => Promise.resolve(requiredOf(row, leaving)),
    async signer({ db }, row) {
      if (!isUserSigned(row.node.action_type)) return null;
      return (await readPerpAction(db, row))?.address ?? null;
    },
    keep: ({ db }, { movement_id, node_key, attempt, epoch }, signature) =>
      savePerpSignature(db, { movement_id, node_key, attempt, epoch }, signature),
    refusal: ({ reason: code, key }) => ({ code, message: perpSentence({ code, key }) }),
  },
};

/**
 * Returns the perps terms of the execution context. For a user-signed action, prepare also claims a
 * nonce, which the attempt keeps.
 *
 * @throws ExecutorFault `rejected` with a code of {@link perpProblem} when the action may not be
 *   sent now, or with `ACTION_NONCE_AHEAD`.
 */
async function perpTerms(
  deps: RequirementSources,
  row: PhaseRow,
  { purpose, amount, signer }: Draft,
): Promise<Pick<ExecutionContext, 'perp'>> {
  const role = perpRoleOf(row.node.action_type);
  if (role === null) return {};
  // Only prepare is checked: a look sends nothing.
  const prepares = purpose === 'prepare';
  const { movement_id, node_key, attempt } = row;
  const owner = { movement_id, node_key, attempt };
  const deposit = prepares && role === 'deposit' ? amount : null;
  const facts = await readPerpTerms(deps.db, { ...owner, deposit });
  if (facts === null) throw new Error(`there is no movement ${movement_id}`);
  if (prepares) {
    const problem = perpProblem(facts, {
      role,
      signer: signer?.address ?? '',
      ...subAccountOf(row),
    });
    if (problem !== null) throw new ExecutorFault('rejected', problem.code, perpSentence(problem));
  }
  const claims = prepares && isUserSigned(row.node.action_type) && facts.action === null;
  const action = claims
    ? mustBeClaimed(await claimPerpNonce(deps.db, signer?.address ?? '', owner))
    : facts.action;
  return termsFrom(deps.chains, row, { ...facts, action });
}

function mustBeClaimed(claimed: PerpAction | NonceAhead): PerpAction {
  if (!('ahead' in claimed)) return claimed;
  throw new ExecutorFault(
    'rejected',
    'ACTION_NONCE_AHEAD',
    `the last nonce of the master account is at ${new Date(claimed.ahead).toISOString()}, so the clock of the database was wrong; retry the node once that time is less than 12 hours ahead`,
  );
}

/** The only mapping from the database row to the terms that an executor gets. */
function termsFrom(
  chains: ChainAssets,
  { now_ms }: PhaseRow,
  { master_address: master, binding, account_bound, action }: PerpTermsRow,
): Pick<ExecutionContext, 'perp'> {
  if (master === null) return {};
  const { sub_account_address: sub, max_agent_balance: most } = binding ?? {};
  const perp: PerpTerms = {
    venue_key: chains.flatMap(({ deposit_venues }) => deposit_venues)[0]?.venue_key ?? null,
    master_address: master.toLowerCase(),
    now_ms: Math.floor(now_ms),
    ...(sub == null ? {} : { sub_account_address: sub.toLowerCase() }),
    ...(most == null ? {} : { max_agent_balance: most }),
    ...(account_bound === null ? {} : { account_bound }),
    ...(action === null ? {} : { action: actionTerms(action) }),
  };
  return { perp };
}

function actionTerms({ nonce, signature }: PerpAction): NonNullable<PerpTerms['action']> {
  return signature === null ? { nonce } : { nonce, signature };
}

/**
 * Returns what the database must find at the send; for the first send of a deposit, also its amount
 * and the account's value.
 *
 * @throws ExecutorFault `rejected` `ACTION_NONCE_STALE` when the action was never sent and its
 *   nonce would become too old before the last repeat; a retry claims a new nonce.
 */
function requiredOf(row: PhaseRow, { signer, first }: Leaving): PerpRequirement {
  const { nonce, signature } = first?.perp?.action ?? {};
  if (nonce !== undefined && signature === undefined && !isFresh(nonce, row.now_ms))
    throw new ExecutorFault(
      'rejected',
      'ACTION_NONCE_STALE',
      'the nonce of the action was claimed more than an hour ago and nothing was sent with it; retry the node to claim a new nonce',
    );
  const deposits = first !== null && perpRoleOf(row.node.action_type) === 'deposit';
  return {
    node_key: row.node_key,
    signer,
    ...(deposits ? { deposit: first.amount, ...accountOf(row) } : {}),
    ...subAccountOf(row),
  };
}

/** Returns the account's value and the time it was read, when prepare recorded both. */
function accountOf({ prepared_action }: PhaseRow): Pick<PerpRequirement, 'account'> {
  const { account_value: value, prepared_ms } = prepared_action ?? {};
  if (typeof value !== 'string' || typeof prepared_ms !== 'number') return {};
  return { account: { value, asked_at: new Date(prepared_ms).toISOString() } };
}

function subAccountOf({ node }: PhaseRow): { readonly sub_account?: string } {
  const { sub_account_address: sub } = node.config;
  if (perpRoleOf(node.action_type) !== 'top_up') return {};
  return { sub_account: typeof sub === 'string' ? sub : '' };
}
