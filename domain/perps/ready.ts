/**
 * Whether a node may use the perps venue, from facts in the database. The send fence (the last
 * check before a send) applies the same rule in SQL under locks (prisma/functions/perp-fence.sql);
 * the fence's result decides.
 */

import { specOf } from '../actions/built-in.ts';
import type { RequirementSpec } from '../actions/spec.ts';

/** What a node does with the account at the perps venue. */
export type PerpRole = Extract<RequirementSpec, { readonly kind: 'perp' }>['as'];

/** Returns the role; null for an action type that does not use the perps venue. */
export function perpRoleOf(actionType: string): PerpRole | null {
  const { requires } = specOf(actionType);
  return requires?.kind === 'perp' ? requires.as : null;
}

/** Returns whether the action is signed for the perps venue itself, with that venue's nonce. */
export function isUserSigned(actionType: string): boolean {
  return specOf(actionType).signs === 'venue_message';
}

/** The database's facts about a node's movement. Addresses may be in any case. */
export interface PerpFacts {
  /** Null: no master account is registered yet. */
  readonly master_address: string | null;
  /** Null: the movement works for the master account and no strategy. */
  readonly strategy_id: string | null;
  /**
   * A paused strategy that this movement affects: the movement's own strategy; for a movement of
   * the master account, a strategy that uses the master's account. Null when none is paused.
   */
  readonly paused_strategy: string | null;
  /** Null: the strategy is not bound to the perps venue. */
  readonly binding: {
    readonly sub_account_address: string | null;
    /** In units of the venue's asset. */
    readonly max_agent_balance: string | null;
  } | null;
  /** For a deposit: another open movement that deposits the same amount. */
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
  // Found only by the send fence; before the fence, the executor reads the account's balance.
  'MAX_AGENT_BALANCE_EXCEEDED',
] as const;
export type PerpProblem = (typeof PERP_PROBLEMS)[number];

/** Returns why the node may not send, with the key that the sentence names; null when it may. */
export function perpProblem(
  facts: PerpFacts,
  use: {
    readonly role: PerpRole;
    readonly signer: string;
    /** For a top-up: the sub-account that the node's config pays. */
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
    `the venue credits a deposit to its sender, and ${key} is not the master account`,
  MASTER_SIGNER_MISMATCH: (key) =>
    `an action belongs to the account that signs it, and ${key} is not the master account`,
  STRATEGY_NOT_BOUND: (key) => `strategy ${key} is not bound to the perps venue`,
  STRATEGY_PAUSED: (key) => `strategy ${key} is paused on the perps venue`,
  SUB_ACCOUNT_MISMATCH: (key) =>
    `${key || 'an empty address'} is not the sub-account of the strategy`,
  EQUAL_DEPOSIT_IN_FLIGHT: (key) =>
    `movement ${key} has a deposit of the same amount under way; wait until it has ended`,
  MAX_AGENT_BALANCE_EXCEEDED: (key) =>
    `strategy ${key} works with the master's account, which would hold more than the strategy's max_agent_balance after this deposit and others under way; if that limit was set after this attempt started, retry the node`,
};

export function perpSentence({ code, key }: { readonly code: string; readonly key: string }) {
  return code in SENTENCES ? SENTENCES[code as PerpProblem](key) : `${code}: ${key}`;
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
