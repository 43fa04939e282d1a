/**
 * Approval rules: which movements a rule holds for, and whose approval it asks. Stored as JSON; the
 * SQL functions of prisma/functions/approval-rules.sql read it where a movement is approved.
 */
import type { Threshold } from './quorum.ts';

/** How a movement came to be: by an API client, an agent, a dashboard operator, or the service. */
export const ORIGINS = ['api', 'agent', 'dashboard', 'service'] as const;
export type Origin = (typeof ORIGINS)[number];

/** A limit: the rule holds for movements that move more. */
export interface OutflowLimit {
  /** `*`: any asset. */
  readonly asset: string;
  /** A decimal. A movement whose outflow has no bound is above every limit. */
  readonly amount: string;
  /**
   * Counts everything together that the same person created in that time, or that pays the same
   * payee, unless it was rejected, has expired or is proven to have sent nothing.
   */
  readonly within_seconds?: number;
}

/** Which movements a rule holds for: all that is named must match; empty: every movement. */
export interface RuleConditions {
  readonly template_keys?: readonly string[];
  readonly strategy_ids?: readonly string[];
  readonly origins?: readonly Origin[];
  /** An asset of the intent or of the outflow. */
  readonly assets?: readonly string[];
  /** One of the limits is exceeded. */
  readonly outflow_above?: readonly OutflowLimit[];
  /** A payee's allowlist entry was added or changed in that time. */
  readonly new_payee_within_seconds?: number;
}

/** The parts of a movement that a caller chooses freely, so that a caller can avoid such a rule. */
export const AVOIDABLE = ['template_keys', 'strategy_ids', 'origins'] as const;

export interface ApprovalRule {
  readonly applies_to: 'movement';
  readonly when: RuleConditions;
  /** All groups are needed; a person counts for one of them. At most five, each once. */
  readonly require: readonly Threshold[];
  readonly initiator_may_approve: boolean;
  readonly payee_author_may_approve: boolean;
  readonly template_author_may_approve: boolean;
  /** How long an approval counts while others are missing; absent: while the movement waits. */
  readonly expires_after_seconds?: number;
  /** Whether an approval needs a reason. */
  readonly reason_required: boolean;
}

/** Why an approval by a person does not count. */
export const EXCLUSIONS = ['initiator', 'payee_author', 'template_author'] as const;
export type Exclusion = (typeof EXCLUSIONS)[number];

/**
 * Why a caller may not approve. `no_person`: the caller's identity belongs to no person; `role`:
 * its role decides nothing; `not_waiting`: the movement waits for no approval.
 */
export const WHY_NOT = [...EXCLUSIONS, 'not_in_group', 'no_person', 'role', 'not_waiting'] as const;
export type WhyNot = (typeof WHY_NOT)[number];

/**
 * Returns whether a caller could avoid every rule by choosing template, strategy or origin: some
 * rules exist, and each of them names one of these.
 */
export function isAvoidable(rules: readonly Pick<ApprovalRule, 'when'>[]): boolean {
  return (
    rules.length > 0 &&
    rules.every(({ when }) => AVOIDABLE.some((name) => when[name] !== undefined))
  );
}
