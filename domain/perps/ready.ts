/**
 * Whether a node may use the perps venue, from the facts in the database. The fence applies the
 * same rule in SQL under locks (prisma/functions/perp-fence.sql), and that decides.
 */

import { specOf } from '../actions/built-in.ts';
import type { RequirementSpec } from '../actions/spec.ts';

/** What a node does with the account at the venue. */
export type PerpRole = Extract<RequirementSpec, { readonly kind: 'perp' }>['as'];

/** Null for an action type that does not use the venue. */
export function perpRoleOf(actionType: string): PerpRole | null {
  const { requires } = specOf(actionType);
  return requires?.kind === 'perp' ? requires.as : null;
}

/** Whether it is signed for the venue itself, with a nonce of its own. */
export function isUserSigned(actionType: string): boolean {
  return specOf(actionType).signs === 'venue_message';
}

/** The facts of a node's movement in the database. Addresses are of any case. */
export interface PerpFacts {
  /** Null: there is no master account yet. */
  readonly master_address: string | null;
  /** Null: the movement is the master's own. */
  readonly strategy_id: string | null;
  /**
   * A paused strategy that takes part: the movement's own, or for the master's own movement one
   * that works with the master's account; null where none is paused.
   */
  readonly paused_strategy: string | null;
  /** Null: the strategy has no binding. */
  readonly binding: {
    readonly sub_account_address: string | null;
    /** In units of the venue's asset. */
    readonly max_agent_balance: string | null;
  } | null;
  /** For a deposit: another open movement with a deposit of the same amount. */
  readonly equal_deposit: string | null;
}

export const PERP_PROBLEMS = [
  'MASTER_ACCOUNT_MISSING',
  'DEPOSITOR_NOT_MASTER',
  'MASTER_SIGNER_MISMATCH',
  'STRATEGY_NOT_BOUND',
  'STRATEGY_PAUSED',
  'SUB_ACCOUNT_MISMATCH',
  'EQUAL_DEPOSIT_IN_FLIGHT',
  // Only at the fence: before it the executor reads what the account has.
  'MAX_AGENT_BALANCE_EXCEEDED',
] as const;
export type PerpProblem = (typeof PERP_PROBLEMS)[number];

/** Why the node may not be sent, with its subject; null where it may. */
export function perpProblem(
  facts: PerpFacts,
  use: {
    readonly role: PerpRole;
    readonly signer: string;
    /** Of a top-up: whom its config pays. */
    readonly sub_account?: string;
  },
): { readonly code: PerpProblem; readonly key: string } | null {
  const { master_address: master, strategy_id: strategy, paused_strategy: paused, binding } = facts;
  if (master === null) return { code: 'MASTER_ACCOUNT_MISSING', key: '' };
  if (!isSame(master, use.signer))
    return {
      code: use.role === 'deposit' ? 'DEPOSITOR_NOT_MASTER' : 'MASTER_SIGNER_MISMATCH',
      key: use.signer,
    };
  if (strategy !== null && binding === null) return { code: 'STRATEGY_NOT_BOUND', key: strategy };
  if (paused !== null) return { code: 'STRATEGY_PAUSED', key: paused };
  if (use.role === 'top_up') {
    const own = strategy === null ? null : (binding?.sub_account_address ?? null);
    if (own === null || !isSame(own, use.sub_account ?? ''))
      return { code: 'SUB_ACCOUNT_MISMATCH', key: use.sub_account ?? '' };
  }
  return facts.equal_deposit === null
    ? null
    : { code: 'EQUAL_DEPOSIT_IN_FLIGHT', key: facts.equal_deposit };
}

const SENTENCES: Readonly<Record<PerpProblem, (key: string) => string>> = {
  MASTER_ACCOUNT_MISSING: () => 'the perps venue has no master account yet',
  DEPOSITOR_NOT_MASTER: (key) =>
    `a deposit is credited to whoever sends it, and ${key} is not the master account`,
  MASTER_SIGNER_MISMATCH: (key) =>
    `an action is the account's that signs it, and ${key} is not the master account`,
  STRATEGY_NOT_BOUND: (key) => `strategy ${key} is not bound to the perps venue`,
  STRATEGY_PAUSED: (key) => `strategy ${key} is paused on the perps venue`,
  SUB_ACCOUNT_MISMATCH: (key) =>
    `${key || 'an empty address'} is not the sub-account of the strategy`,
  EQUAL_DEPOSIT_IN_FLIGHT: (key) =>
    `movement ${key} has a deposit of the same amount under way, and only one may be`,
  MAX_AGENT_BALANCE_EXCEEDED: (key) =>
    `strategy ${key} works with the master's account, which would with this and what other deposits bring hold more than its max_agent_balance; if that bound is newer than this attempt, retry it`,
};

export function perpSentence({ code, key }: { readonly code: string; readonly key: string }) {
  return code in SENTENCES ? SENTENCES[code as PerpProblem](key) : `${code}: ${key}`;
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
