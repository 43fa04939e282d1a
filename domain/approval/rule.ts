/**
 * Approval rules: which movements or changes a rule holds for, and whose approval it asks. Stored
 * as JSON; the SQL functions of prisma/functions/approval-rules.sql read it where a movement is
 * approved or a change is made.
 */
import type { Evidence } from './evidence.ts';
import { CHANGE_KINDS } from './power.ts';
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

/** What a rule may apply to. */
export const APPLIES_TO = ['movement', 'capital_transfer', ...CHANGE_KINDS] as const;

/** The conditions that a rule may name; a rule for changes holds for every change of its kind. */
export const CONDITIONS_OF = {
  movement: [
    'template_keys',
    'strategy_ids',
    'origins',
    'assets',
    'outflow_above',
    'new_payee_within_seconds',
  ],
  capital_transfer: ['venues', 'assets', 'amount_above'],
} as const satisfies Readonly<Record<string, readonly (keyof RuleConditions)[]>>;

/** Which of them a rule holds for: all that is named must match; empty: all. */
export interface RuleConditions {
  readonly template_keys?: readonly string[];
  readonly strategy_ids?: readonly string[];
  readonly origins?: readonly Origin[];
  /** An asset of the intent or of the outflow, or of the capital transfer. */
  readonly assets?: readonly string[];
  /** One of the limits is exceeded. */
  readonly outflow_above?: readonly OutflowLimit[];
  /** A payee's allowlist entry was added or changed in that time. */
  readonly new_payee_within_seconds?: number;
  /** Of a capital transfer: the source or the destination. */
  readonly venues?: readonly string[];
  /** Of a capital transfer: one of the limits is exceeded. */
  readonly amount_above?: readonly Omit<OutflowLimit, 'within_seconds'>[];
}

/** The parts of a movement that a caller chooses freely, so that a caller can avoid such a rule. */
export const AVOIDABLE = ['template_keys', 'strategy_ids', 'origins'] as const;

export interface ApprovalRule {
  /** A movement, or a kind of change that lets more money go. */
  readonly applies_to: (typeof APPLIES_TO)[number];
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
  /** `passkey`: only approvals count that were signed with a passkey. Absent: `any`. */
  readonly evidence?: Evidence;
}

/** Why an approval by a person does not count. */
export const EXCLUSIONS = ['initiator', 'payee_author', 'template_author'] as const;
export type Exclusion = (typeof EXCLUSIONS)[number];

/** Why an approval by a person would not count under a rule. */
export const NOT_COUNTED = [...EXCLUSIONS, 'not_in_group', 'no_passkey'] as const;
export type NotCounted = (typeof NOT_COUNTED)[number];

/**
 * Why a caller may not approve. `no_person`: the caller's identity belongs to no person; `role`:
 * its role decides nothing; `not_waiting`: the movement waits for no approval.
 */
export const WHY_NOT = [...NOT_COUNTED, 'no_person', 'role', 'not_waiting'] as const;
export type WhyNot = (typeof WHY_NOT)[number];

/**
 * Returns whether a caller could avoid every rule of movements by choosing template, strategy or
 * origin: some rules exist, and each of them names one of these.
 */
export function isAvoidable(rules: readonly Pick<ApprovalRule, 'applies_to' | 'when'>[]): boolean {
  const own = rules.filter(({ applies_to }) => applies_to === 'movement');
  return (
    own.length > 0 && own.every(({ when }) => AVOIDABLE.some((name) => when[name] !== undefined))
  );
}
