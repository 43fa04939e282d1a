/**
 * Webhooks of the whole service: one address hears of everything that waits for a person, and of
 * the cutover switch. A message names what to look at and links to the console; the triggers of
 * prisma/functions/webhooks.sql write it.
 */

/** The types from which the operator of a webhook chooses, named as Standard Webhooks does. */
export const WEBHOOK_EVENTS = [
  'movement.approval_needed',
  'movement.attention',
  'approval.recorded',
  'capital_transfer.attention',
  'change_request.approval_needed',
  'change_request.break_glass',
  'change_request.ended',
  'template_proposal.decision_needed',
  'callback.dead_letter',
  'cutover.changed',
] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** What a webhook may be named; the table has the same check. */
export const WEBHOOK_NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** A message that an operator sends to try a webhook; every webhook takes it. */
export const WEBHOOK_TEST = 'webhook.test';
