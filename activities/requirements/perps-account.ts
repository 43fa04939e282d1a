/** The perps venue: its master account, the movement's strategy, and what is under way there. */
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
 * What a node of the perps venue is sent with: its movement's strategy is bound and not paused, and
 * `signer` is the master.
 */
interface PerpRequirement {
  readonly node_key: string;
  /** An address; of any case. */
  readonly signer: string;
  /** Of a deposit: its amount, of which no other may be under way. */
  readonly deposit?: string;
  /**
   * Of a deposit into the account of a strategy that may not have any amount there: what the venue
   * said that it has, and when it was asked.
   */
  readonly account?: { readonly value: string; readonly asked_at: string };
  /** Of a top-up: whom it pays, which is the strategy's sub-account. */
  readonly sub_account?: string;
}

export const perpsAccount: Requirement = {
  needs: ({ node }) => perpRoleOf(node.action_type) !== null,
  terms: perpTerms,
  guard: {
    kind: 'perp',
    stop: 'perp_terms',
    asked: (_deps, row, leaving) => Promise.resolve(requiredOf(row, leaving)),
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
 * Before a send that is signed for the venue the attempt is given its nonce, which it keeps.
 *
 * @throws ExecutorFault `rejected` with a code of {@link perpProblem} where it may not be sent now,
 *   and `ACTION_NONCE_AHEAD`.
 */
async function perpTerms(
  deps: RequirementSources,
  row: PhaseRow,
  { purpose, amount, signer }: Draft,
): Promise<Pick<ExecutionContext, 'perp'>> {
  const role = perpRoleOf(row.node.action_type);
  if (role === null) return {};
  // A look says nothing about what may be sent.
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
    ? mustBeGiven(await claimPerpNonce(deps.db, signer?.address ?? '', owner))
    : facts.action;
  return told(deps.chains, row, { ...facts, action });
}

function mustBeGiven(claimed: PerpAction | NonceAhead): PerpAction {
  if (!('ahead' in claimed)) return claimed;
  throw new ExecutorFault(
    'rejected',
    'ACTION_NONCE_AHEAD',
    `the master's last nonce is of ${new Date(claimed.ahead).toISOString()}, so the clock of the database was wrong: nothing is signed until it is less than 12 hours ahead, and a retry then goes on`,
  );
}

/** In one place for all phases: who has asked for it is told no more of it than this. */
function told(
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
    ...(action === null ? {} : { action: toldOf(action) }),
  };
  return { perp };
}

function toldOf({ nonce, signature }: PerpAction): NonNullable<PerpTerms['action']> {
  return signature === null ? { nonce } : { nonce, signature };
}

/**
 * What must hold of the venue when it is sent, and of a first send also what is under way there.
 *
 * @throws ExecutorFault `rejected` `ACTION_NONCE_STALE` for what was never sent, with a nonce that
 *   would be too old before all of its repeats are made: a retry takes a new one.
 */
function requiredOf(row: PhaseRow, { signer, first }: Leaving): PerpRequirement {
  const { nonce, signature } = first?.perp?.action ?? {};
  if (nonce !== undefined && signature === undefined && !isFresh(nonce, row.now_ms))
    throw new ExecutorFault(
      'rejected',
      'ACTION_NONCE_STALE',
      'its nonce was given more than an hour ago and nothing was sent with it: retry it, which takes a new one',
    );
  const deposits = first !== null && perpRoleOf(row.node.action_type) === 'deposit';
  return {
    node_key: row.node_key,
    signer,
    ...(deposits ? { deposit: first.amount, ...accountOf(row) } : {}),
    ...subAccountOf(row),
  };
}

/** What the account of a deposit had when it was prepared, where that was asked. */
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
