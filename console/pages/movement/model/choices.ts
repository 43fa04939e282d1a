/**
 * The commands that an operator may send for the movement now, and why the others are not offered.
 * Offers come from the movement's `attention`; commands that `attention` does not cover follow the
 * same tables and refusals as the service.
 */
import { mayApproveSentence } from '../../../../domain/approval/why-not.ts';
import { namesPayments } from '../../../../domain/claims.ts';
import {
  CANCELLABLE,
  isPastCancelling,
  takesNonce,
} from '../../../../domain/commands/cancel-transaction.ts';
import { REASSIGNABLE, waitsAgain } from '../../../../domain/commands/reassign.ts';
import type { Outcome } from '../../../../domain/commands/resolve.ts';
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
  'withdraw_approval',
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

/** The node that a command is meant for, with the state that the page showed. */
export interface NodeAsShown {
  readonly node_key: string;
  readonly attempt: number;
  readonly state: NodeState;
}

/** The reason that an acknowledge deals with, as the page showed it. */
export interface ReasonAsShown {
  readonly attention_reason: string;
  readonly node_key?: string;
}

export interface Choice {
  readonly verb: Verb;
  /** Null for a command on the whole movement. */
  readonly node: NodeAsShown | null;
  /** Only of an acknowledge; absent where the service names no reason. */
  readonly about?: ReasonAsShown;
  /** Only of a resolve: the outcomes on offer; absent where the service names none. */
  readonly outcomes?: readonly Outcome[];
  /**
   * Only of a resolve with `outcomes`: where `completed` has to name what completed the node, in
   * one of these places; empty for a type that claims nothing.
   */
  readonly claim_places?: readonly string[];
  /**
   * What the command will do, in the service's words if it has any; null when the command is not
   * offered.
   */
  readonly consequence: string | null;
  /** Why the command is not offered; null when it is. */
  readonly reason: string | null;
}

/** A command that the service offers, but that another page sends. */
export interface Elsewhere {
  readonly action: string;
  readonly consequence: string;
  readonly node_key: string | null;
}

export interface Standpoint {
  readonly movement: Movement;
  /** Null while the plan is not read, or when it could not be read. */
  readonly plan: PlanReading | null;
  /** Role of the operator's key, as the service reports it; null while it is unknown. */
  readonly role: string | null;
  /** Why the shown data may be old; null when it is current. */
  readonly behind: string | null;
}

/** Returns one choice for each verb; verbs about nodes may have one choice for each node. */
export function choicesOf(at: Standpoint): readonly Choice[] {
  const stopped = stopOf(at);
  return VERBS.flatMap((verb) => choicesFor(verb, at.movement, at.plan)).map((choice) =>
    stopped === null ? choice : { ...choice, consequence: null, reason: stopped },
  );
}

/**
 * Returns the offers of `attention` for which this page has no verb, such as enabling an executor
 * or rotating a signer.
 */
export function elsewhereOf({ attention }: Movement): readonly Elsewhere[] {
  return (attention?.actions ?? [])
    .filter(({ action }) => !(VERBS as readonly string[]).includes(action))
    .map(({ action, consequence, node_key }) => ({
      action,
      consequence,
      node_key: node_key ?? attention?.node_key ?? null,
    }));
}

/** Returns whether two choices are the same decision about the same node in the same state. */
export function isSame(one: Choice, other: Choice): boolean {
  return (
    one.verb === other.verb &&
    one.about?.attention_reason === other.about?.attention_reason &&
    one.about?.node_key === other.about?.node_key &&
    one.node?.node_key === other.node?.node_key &&
    one.node?.attempt === other.node?.attempt &&
    one.node?.state === other.node?.state
  );
}

/** Returns why no command is offered at all; null when commands may be offered. */
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
    case 'withdraw_approval':
      return [withdrawChoice(movement)];
    case 'cancel':
      return [cancelChoice(movement, plan)];
    case 'resume':
    case 'retry':
    case 'reject':
      return [byAttention(verb, movement)];
    case 'resolve':
      return [resolveChoice(movement)];
    case 'acknowledge':
      return [acknowledgeChoice(movement)];
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
  // The attempt and state of the offer, which may be newer than those of the node.
  const {
    node_key,
    attempt = node.attempt,
    state = node.state,
  } = { ...offer, node_key: node.node_key };
  return offered(verb, { node_key, attempt, state }, offer.consequence);
}

/** Returns the choice to resolve, with the outcomes that the service offers. */
function resolveChoice(movement: Movement): Choice {
  const choice = byAttention('resolve', movement);
  const offer = movement.attention?.actions.find(({ action }) => action === 'resolve');
  if (choice.reason !== null || offer?.outcomes === undefined) return choice;
  const { outcomes, claim_places = [] } = offer;
  return { ...choice, outcomes, claim_places };
}

/** Returns the choice to acknowledge the first reason that the service offers that for. */
function acknowledgeChoice(movement: Movement): Choice {
  const choice = byAttention('acknowledge', movement);
  const offer = movement.attention?.actions.find(({ action }) => action === 'acknowledge');
  if (choice.reason !== null || offer?.attention_reason === undefined) return choice;
  const { attention_reason, node_key } = offer;
  return {
    ...choice,
    about: { attention_reason, ...(node_key === undefined ? {} : { node_key }) },
  };
}

/**
 * Returns the approve choice. It is refused to whoever may not approve under a rule. An approval
 * covers the plan that this browser read, so without a plan it is refused too.
 */
function approveChoice(movement: Movement, plan: PlanReading | null): Choice {
  const choice = byAttention('approve', movement);
  if (choice.reason !== null) return choice;
  const { you } = movement.approvals ?? {};
  if (you?.may === false) return refused('approve', mayApproveSentence(you.why_not));
  return plan === null
    ? refused('approve', 'The plan is not read yet: what cannot be read cannot be approved.')
    : choice;
}

/** Returns the choice to withdraw an approval of the operator's own, while others are missing. */
function withdrawChoice(movement: Movement): Choice {
  const verb = 'withdraw_approval';
  if (!isAllowed(verb, movement)) return refused(verb, inState(movement));
  return movement.approvals?.you.approved === true
    ? offered(verb, null, 'Your approval is missing again.')
    : refused(verb, said('no_approval'));
}

/** Returns the cancel choice. A movement without `attention` may be cancelled too. */
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
