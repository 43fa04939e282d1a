/**
 * What an operator may do with the movement now, and of everything else why not. Offers are those
 * of `attention`; what attention does not speak of goes by the same tables and refusals as the
 * service.
 */
import { namesPayments } from '../../../../domain/claims.ts';
import {
  CANCELLABLE,
  isPastCancelling,
  takesNonce,
} from '../../../../domain/commands/cancel-transaction.ts';
import { REASSIGNABLE, waitsAgain } from '../../../../domain/commands/reassign.ts';
import { ERROR_TABLE, type ErrorCode } from '../../../../domain/errors.ts';
import { isObject } from '../../../../domain/json.ts';
import { setsToZero } from '../../../../domain/open-allowances.ts';
import { OPS_ROLES } from '../../../../domain/roles.ts';
import { ACTION_STATES } from '../../../../domain/states/movement.ts';
import type { NodeState } from '../../../../domain/states/node.ts';
import type { Movement } from './answers.ts';
import type { PlanReading } from './plan.ts';

export const VERBS = [
  'approve',
  'reject',
  'resume',
  'retry',
  'cancel',
  'resolve',
  'acknowledge',
  'cancel_transaction',
  'reassign',
  'reset_allowances',
] as const;
export type Verb = (typeof VERBS)[number];

/** The node that a command is meant for, as it was shown. */
export interface NodeAsShown {
  readonly node_key: string;
  readonly attempt: number;
  readonly state: NodeState;
}

export interface Choice {
  readonly verb: Verb;
  /** Null for what is about the movement as a whole. */
  readonly node: NodeAsShown | null;
  /** What comes of it, in the service's words where it has any; null where it is not offered. */
  readonly consequence: string | null;
  /** Why it is not offered; null where it is. */
  readonly reason: string | null;
}

/** Another action that the service offers, whose place is another page. */
export interface Elsewhere {
  readonly action: string;
  readonly consequence: string;
  readonly node_key: string | null;
}

export interface Standpoint {
  readonly movement: Movement;
  /** Null while it is not read, or could not be. */
  readonly plan: PlanReading | null;
  /** Of the operator's key, as the service knows it; null while it is not known. */
  readonly role: string | null;
  /** Why what is shown may be old; null while it is not. */
  readonly behind: string | null;
}

/** Every verb once or, where it is about nodes, once for each. */
export function choicesOf(at: Standpoint): readonly Choice[] {
  const stopped = stopOf(at);
  return VERBS.flatMap((verb) => choicesFor(verb, at.movement, at.plan)).map((choice) =>
    stopped === null ? choice : { ...choice, consequence: null, reason: stopped },
  );
}

/** What attention offers and this page has no verb for: enable an executor, rotate a signer. */
export function elsewhereOf({ attention }: Movement): readonly Elsewhere[] {
  return (attention?.actions ?? [])
    .filter(({ action }) => !(VERBS as readonly string[]).includes(action))
    .map(({ action, consequence, node_key }) => ({
      action,
      consequence,
      node_key: node_key ?? attention?.node_key ?? null,
    }));
}

/** Whether two choices are the same decision about the same thing in the same state. */
export function isSame(one: Choice, other: Choice): boolean {
  return (
    one.verb === other.verb &&
    one.node?.node_key === other.node?.node_key &&
    one.node?.attempt === other.node?.attempt &&
    one.node?.state === other.node?.state
  );
}

/** Why nothing at all is offered; null where something may be. */
function stopOf({ plan, role, behind }: Standpoint): string | null {
  if (behind !== null) return behind;
  if (role === null) return 'The service has not said yet who you are.';
  if (!(OPS_ROLES as readonly string[]).includes(role)) return said('forbidden');
  return plan !== null && plan.status !== 'agrees' ? plan.problem : null;
}

function choicesFor(verb: Verb, movement: Movement, plan: PlanReading | null): readonly Choice[] {
  switch (verb) {
    case 'approve':
      return [approveChoice(movement, plan)];
    case 'cancel':
      return [cancelChoice(movement, plan)];
    case 'resume':
    case 'retry':
    case 'reject':
    case 'resolve':
    case 'acknowledge':
      return [byAttention(verb, movement)];
    case 'cancel_transaction':
      return transactionChoices(movement);
    case 'reassign':
      return reassignChoices(movement);
    case 'reset_allowances':
      return [allowancesChoice(movement)];
  }
}

function byAttention(verb: keyof typeof ACTION_STATES, movement: Movement): Choice {
  const { attention, nodes } = movement;
  const offer = attention?.actions.find(({ action }) => action === verb);
  if (offer === undefined) return refused(verb, whyNot(verb, movement));
  const isAboutNode = verb === 'resume' || verb === 'retry' || verb === 'resolve';
  if (!isAboutNode) return offered(verb, null, offer.consequence);
  const node = nodes.find(({ node_key }) => node_key === (offer.node_key ?? attention?.node_key));
  if (node === undefined) return refused(verb, 'The service names a node that it does not show.');
  // As the offer names it, which may be newer than the node beside it.
  const {
    node_key,
    attempt = node.attempt,
    state = node.state,
  } = { ...offer, node_key: node.node_key };
  return offered(verb, { node_key, attempt, state }, offer.consequence);
}

/** What is approved is the plan that was read here: without it there is nothing to approve. */
function approveChoice(movement: Movement, plan: PlanReading | null): Choice {
  const choice = byAttention('approve', movement);
  return choice.reason === null && plan === null
    ? refused('approve', 'The plan is not read yet: what cannot be read cannot be approved.')
    : choice;
}

/** A movement that needs no person has no attention, and may be cancelled all the same. */
function cancelChoice(movement: Movement, plan: PlanReading | null): Choice {
  const choice = byAttention('cancel', movement);
  if (choice.reason === null || movement.attention !== null) return choice;
  if (!isAllowed('cancel', movement)) return choice;
  if (plan?.status !== 'agrees') return refused('cancel', 'The plan is not read yet.');
  const lane = plan.plan.edges.filter(({ edge_type }) => edge_type === 'on_cancel');
  if (lane.length === 0) return refused('cancel', said('no_on_cancel_edge'));
  const then = [...new Set(lane.map(({ to }) => to))].join(', ');
  return offered(
    'cancel',
    null,
    `What has not started never runs; what is in flight is followed to its end; then ${then} may run.`,
  );
}

function transactionChoices(movement: Movement): readonly Choice[] {
  const signed = movement.nodes.filter(
    ({ action_type, state, signer_binding }) =>
      signer_binding !== null &&
      CANCELLABLE.includes(state) &&
      !isPastCancelling(action_type, state),
  );
  if (!isAllowed('cancel_transaction', movement) || signed.length === 0)
    return [refused('cancel_transaction', said('nothing_signed'))];
  return signed.map(({ node_key, attempt, state }) =>
    offered('cancel_transaction', { node_key, attempt, state }, takesNonce(node_key)),
  );
}

function reassignChoices(movement: Movement): readonly Choice[] {
  const paid = movement.nodes.filter(
    ({ node_kind, action_type, state, output }) =>
      node_kind === 'observe' &&
      state === 'COMPLETED' &&
      namesPayments(action_type) &&
      isObject(output) &&
      Array.isArray(output['payments']),
  );
  if (paid.length === 0)
    return [refused('reassign', 'No node of this movement was completed with a payment.')];
  if (!REASSIGNABLE.includes(movement.request_state))
    return [refused('reassign', inState(movement))];
  return paid.map(({ node_key, attempt, state }) =>
    offered('reassign', { node_key, attempt, state }, waitsAgain(node_key)),
  );
}

function allowancesChoice({ open_allowances: open = [] }: Movement): Choice {
  if (open.length === 0)
    return refused('reset_allowances', 'The movement has no open allowances, or has not ended.');
  return offered('reset_allowances', null, setsToZero(open));
}

function whyNot(verb: keyof typeof ACTION_STATES, movement: Movement): string {
  if (!isAllowed(verb, movement)) return inState(movement);
  switch (verb) {
    case 'cancel':
      return said('no_on_cancel_edge');
    case 'retry':
      return said('no_retryable_node');
    default:
      return 'The service does not offer it as things stand.';
  }
}

function isAllowed(verb: keyof typeof ACTION_STATES, { request_state }: Movement): boolean {
  return (ACTION_STATES[verb] as readonly string[]).includes(request_state);
}

function inState({ request_state }: Movement): string {
  return `${said('invalid_state')} It is ${request_state}.`;
}

function said(code: ErrorCode): string {
  return ERROR_TABLE[code].message;
}

function offered(verb: Verb, node: NodeAsShown | null, consequence: string): Choice {
  return { verb, node, consequence, reason: null };
}

function refused(verb: Verb, reason: string): Choice {
  return { verb, node: null, consequence: null, reason };
}
