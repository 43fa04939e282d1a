/**
 * What a person reads about a movement that needs attention: the reason, the last answer, and the
 * possible commands with their consequences. The SQL function `attention_of` (prisma/functions)
 * decides the reason; lists filter by it too. The possible commands follow from the rules that the
 * commands themselves apply.
 */
import { specOf } from './actions/built-in.ts';
import { acknowledgeable, type Landing } from './commands/acknowledge.ts';
import { claimPlaces } from './claims.ts';
import { cancel, isCancellable } from './commands/cancel.ts';
import { CANCELLABLE, isPastCancelling, takesNonce } from './commands/cancel-transaction.ts';
import { oldest } from './commands/changes.ts';
import type { Requester } from './commands/context.ts';
import { nameOf, type NamedNode } from './commands/named-node.ts';
import { isCausedByPlan } from './commands/plan-cause.ts';
import { reassignable, waitsAgain } from './commands/reassign.ts';
import { openOutcomes, type Outcome } from './commands/resolve.ts';
import { resumableNode, resume } from './commands/resume.ts';
import { retryableNode } from './commands/retry.ts';
import {
  SEND_LANE_TAKEN,
  SEND_UNDER_WAY,
  WITHDRAWAL_FEE_ABOVE_LIMIT,
  type AttentionReason,
} from './attention-reasons.ts';
import { setsToZero, type Allowance } from './open-allowances.ts';
import { mayDecide } from './roles.ts';
import { onCancelTargets } from './graph/edges.ts';
import { legOn } from './plan/legs.ts';
import type { OutflowEntry } from './plan/types.ts';
import { VENUE_ENTRY_CHANGED } from './send/at-venue.ts';
import type { MovementSnapshot } from './snapshot.ts';
import { ACTION_STATES, type MovementAction } from './states/movement.ts';
import { stuckSentence, type StuckRun } from './stuck-runs.ts';

/** What `attention_of` returns for a movement. For an approval: only the reason. */
export interface AttentionFacts {
  readonly reason: AttentionReason;
  /** Only for `approval_compromised`: why it needs a person besides; null: for nothing else. */
  readonly besides?: AttentionReason | null;
  /** A late landing that no person has acknowledged, whatever the reason. */
  readonly landed?: Landing;
  /** A gate that waits or a node that failed, where the reason is about another node. */
  readonly also?: AttentionFacts;
  readonly node_key?: string;
  readonly attempt?: number;
  readonly max_attempts?: number | null;
  readonly errors?: number;
  readonly error_code?: string | null;
  readonly error_message?: string | null;
  readonly executor_key?: string | null;
  readonly executor_status?: string | null;
  readonly executor_health?: string | null;
  /** Timestamp in the text format of Postgres. */
  readonly next_look_at?: string | null;
  /** Timestamp in the text format of Postgres. */
  readonly observed_since?: string | null;
  /** The venue's reference of a send that is observed for longer than usual, or landed late. */
  readonly external_ref?: string | null;
  readonly blocked_by?: LaneBlocker | null;
  readonly stuck_at?: StuckLane | null;
  readonly stuck_run?: StuckRun | null;
}

/** The node that holds an earlier nonce with unknown outcome. */
export interface LaneBlocker {
  readonly movement_id: string;
  readonly node_key: string;
  readonly chain_id: number;
  readonly address: string;
  readonly nonce: number;
}

/** A nonce that must be used up by a zero-value transaction, which cannot be sent now. */
export interface StuckLane {
  readonly chain_id: number;
  readonly address: string;
  readonly nonce: number;
  readonly why: string;
  readonly signer_key: string | null;
}

/** A command that a person may send, with its consequence. */
export interface Offer extends NamedNode {
  readonly action: string;
  /** Only of an acknowledge: the reason that it deals with. */
  readonly attention_reason?: AttentionReason;
  /** Only of a resolve: the outcomes that a person may state now. */
  readonly outcomes?: readonly Outcome[];
  /**
   * Only of a resolve that may be `completed`, of a type that claims: where the request names the
   * claim, in one of these places.
   */
  readonly claim_places?: readonly string[];
  readonly consequence: string;
}

/** The facts about a movement before its approval that decide what is offered. */
export interface Waiting {
  readonly outflow: readonly OutflowEntry[];
  /** True if the plan has an on_cancel edge. */
  readonly cancellable: boolean;
}

/**
 * Returns the facts as they are without a compromised approval, which must not hide what else the
 * movement needs a person for.
 */
export function besidesCompromise(facts: AttentionFacts): AttentionFacts {
  const { reason, besides } = facts;
  return reason === 'approval_compromised' && besides != null
    ? { ...facts, reason: besides, besides: null }
    : facts;
}

/** Returns the reason as a sentence, and a gate, failure or late landing that it would hide. */
export function sentenceOf(facts: AttentionFacts, expiresAt: string): string {
  const { also, landed } = facts;
  const isSaid = landed === undefined || besidesCompromise(facts).reason === 'landed_late';
  return [
    sentenceOfReason(facts, expiresAt),
    ...(also === undefined ? [] : [sentenceOfReason(also, expiresAt)]),
    ...(isSaid ? [] : [landedSentence(landed)]),
  ].join(' ');
}

function landedSentence({
  node_key,
  external_ref,
  said,
}: Pick<AttentionFacts, 'node_key' | 'external_ref'> & Pick<Landing, 'said'>): string {
  if (said != null) return said;
  return `${node_key ?? ''} landed after a person had abandoned it${external_ref == null ? '' : ` (${external_ref})`}. Nothing follows from it by itself: settle what was done in its place.`;
}

function sentenceOfReason(facts: AttentionFacts, expiresAt: string): string {
  const node = facts.node_key ?? '';
  const executor = facts.executor_key ?? 'its executor';
  switch (facts.reason) {
    case 'approval':
      return `The movement waits for an approval until ${expiresAt}.`;
    case 'approval_expires_soon':
      return `The movement waits for an approval, which it needs before ${expiresAt}.`;
    case 'approval_unsatisfiable':
      return 'The movement waits for approvals that an approval rule requires, and too few people are left who may give them: change the groups, or reject it.';
    case 'approval_compromised': {
      const { besides } = facts;
      const also =
        besides == null ? '' : ` ${sentenceOfReason(besidesCompromise(facts), expiresAt)}`;
      return `The movement was approved with a key that is known to be compromised. Look at what it pays: let it go on, or cancel it. What cannot be cancelled stops when its executor is switched off, or with the cutover mode frozen.${also}`;
    }
    case 'manual_gate':
      return `The gate ${node} waits for a person to resume it.`;
    case 'unknown_outcome':
      if (facts.error_code === WITHDRAWAL_FEE_ABOVE_LIMIT)
        return `${node} was paid; its fee was higher than the plan allows: ${facts.error_message ?? ''}. Look at the exchange's record, and resolve ${node} as completed.`;
      if (facts.error_code === SEND_UNDER_WAY)
        return `${node} is under way at its venue, and its end was not observed in time. The service keeps asking its executor, and ends ${node} once the venue does; check what the venue shows for it.`;
      if (facts.error_code === VENUE_ENTRY_CHANGED)
        return `Whether ${node} has moved anything is unknown, and no look can see it: ${facts.error_message ?? 'its venue key means another entry by now'}. Point the entry back; it is looked for by itself then.`;
      return `Whether ${node} has moved anything is unknown; the service keeps asking its executor until there is proof.`;
    case 'landed_late':
      return landedSentence(facts.landed ?? facts);
    case 'failed':
      return facts.error_code === 'CONDITION_ERROR'
        ? `A condition behind ${node} could not be evaluated, so the movement failed.`
        : `${node === '' ? 'The movement' : node} failed${node === '' ? '' : ', so the movement failed'}.${planAdvice(facts)}`;
    case 'lane_blocked': {
      const by = facts.blocked_by;
      if (facts.error_code === SEND_LANE_TAKEN)
        return `${node} is not sent before an earlier send to the same address is explained: ${facts.error_message ?? ''}.`;
      if (by === null || by === undefined)
        return `${node} waits for an earlier transaction of its account.`;
      return `${node} cannot be mined before transaction nonce ${String(by.nonce)} of ${by.address} on chain ${String(by.chain_id)}, which ${by.node_key} of movement ${by.movement_id} holds; the outcome of that transaction is unknown.`;
    }
    case 'lane_stuck': {
      const at = facts.stuck_at;
      if (at === null || at === undefined)
        return `${node} waits for a transaction nonce that cannot be used up.`;
      return `${node} cannot continue before nonce ${String(at.nonce)} of ${at.address} on chain ${String(at.chain_id)} is used up. The zero-value transaction that should use up the nonce cannot be sent: ${at.why}. Send native coins of the chain to the account, raise the caps of its nonce lane (fundctl signers raise-caps), or make its signer available.`;
    }
    case 'clock_difference':
      return `${node} waits before its send: ${facts.error_message ?? 'clocks differ by more than a minute'}. It goes on by itself then; cancel the movement if it must not wait, and its plan allows that.`;
    case 'delivery_late':
      return `${node} waits longer than its bridge path allows: ${facts.error_message ?? 'the funds were not delivered'}. The service keeps checking, since a bridge never returns the funds by itself.`;
    case 'executor_unavailable':
      return `${node} cannot continue: ${whyUnavailable(facts, executor)}.`;
    case 'venue_suspended':
      return `The venue of ${node} does not pay out at present: ${facts.error_message ?? 'the venue is suspended'}. ${WAITS_FOR_VENUE}`;
    case 'withdrawal_quota_exhausted':
      return `The withdrawal quota of the account of ${node} is used up: ${facts.error_message ?? 'the venue takes no more at present'}. ${WAITS_FOR_VENUE}`;
    case 'observed_long':
      return AMOUNTS_DIFFER.includes(facts.error_code ?? '')
        ? `${executor} reports something else for ${node} than was sent: ${facts.error_message ?? 'the amounts differ'}. The service keeps observing ${node}; compare both sides.`
        : `${node} is observed for longer than usual${since(facts)} and has not ended. The service keeps observing ${node}; check what ${executor} shows for it.`;
    case 'run_stuck':
      return stuckSentence(facts.stuck_run ?? null);
  }
}

/** Ends the sentence about a node that waits for its venue. */
const WAITS_FOR_VENUE =
  'Nothing was sent. The service keeps checking, and goes on once the venue takes it: wait, ask the venue, or cancel the movement if its plan allows that.';

function planAdvice({ error_code }: AttentionFacts): string {
  return isCausedByPlan(error_code)
    ? ' A retry of this plan would fail again: create a movement with another plan.'
    : '';
}

/**
 * Error codes after which waiting longer changes nothing. The SQL function `waits_in_vain` has
 * the same list.
 */
export const AMOUNTS_DIFFER: readonly string[] = [
  'DEPOSIT_AMOUNT_MISMATCH',
  'LEDGER_ROW_MISMATCH',
  'ATTESTATION_MISMATCH',
  'ALREADY_CLAIMED',
  'CLAIM_MISSING',
  'PAYMENT_AMBIGUOUS',
];

function since({ observed_since }: AttentionFacts): string {
  return observed_since == null ? '' : ` (since ${new Date(observed_since).toISOString()})`;
}

function whyUnavailable(facts: AttentionFacts, executor: string): string {
  if (facts.executor_status === null || facts.executor_status === undefined)
    return 'its executor is not registered';
  if (facts.executor_status !== 'active') return `${executor} is ${facts.executor_status}`;
  if (facts.executor_health === 'down') return `${executor} is down`;
  // Silence, or an answer that only says to wait, such as for venue entries that were changed.
  const shows = facts.error_message == null ? '' : `; the node shows: ${facts.error_message}`;
  return `${executor} has returned no result for this node for more than a minute${shows}`;
}

/**
 * Returns the commands for a movement that waits for its approval, most useful first. An agent gets
 * none.
 */
export function approvalOffers(
  { outflow, cancellable }: Waiting,
  { caller }: Requester,
): readonly Offer[] {
  if (!mayDecide(caller)) return [];
  const most = outflow
    .map(({ asset, amount }) => `${amount ?? 'an unbounded amount of'} ${asset}`)
    .join(', ');
  const cancels = { action: 'cancel', consequence: 'The movement is CANCELLED; nothing is moved.' };
  return [
    {
      action: 'approve',
      consequence: `The plan runs as it was hashed; it can move ${most === '' ? 'nothing' : `at most ${most}`}.`,
    },
    { action: 'reject', consequence: 'The movement ends as REJECTED, and nothing is moved.' },
    ...(cancellable ? [cancels] : []),
  ];
}

/**
 * Returns the commands that are possible now for an approved movement, most useful first. A command
 * is offered if its own rule accepts this snapshot; exception: a retry that the plan would fail
 * again. Refusals that only the database finds (a budget, a hold) are not predicted. An agent gets
 * none, since it only reads and proposes.
 */
export function offersFor(
  found: AttentionFacts,
  snapshot: MovementSnapshot,
  { requester, open }: { readonly requester: Requester; readonly open: readonly Allowance[] },
): readonly Offer[] {
  if (!mayDecide(requester.caller)) return [];
  const facts = besidesStuckRun(besidesCompromise(found), snapshot);
  return [
    ...executorOffers(facts),
    ...rotateOffers(facts, snapshot),
    ...resumeOffers(snapshot, requester),
    ...retryOffers(snapshot),
    ...resolveOffers(facts, snapshot),
    ...cancelOffers(snapshot, requester),
    ...acknowledgeOffers(found, snapshot),
    ...cancelTransactionOffers(facts, snapshot),
    ...reassignable(snapshot).map((node) => ({
      action: 'reassign',
      ...nameOf(node),
      consequence: waitsAgain(node.node_key),
    })),
    ...resetOffers(snapshot, open),
  ];
}

/**
 * Returns the facts about the node that a person can settle although the run is stuck: commands
 * change the database, and the run's reason must not hide which node they are for.
 */
function besidesStuckRun(facts: AttentionFacts, { nodes }: MovementSnapshot): AttentionFacts {
  if (facts.reason !== 'run_stuck') return facts;
  const unknown = oldest(nodes.filter(({ state }) => state === 'UNKNOWN'));
  const node = unknown ?? oldest(nodes.filter((each) => openOutcomes(each).length > 0));
  if (node === undefined) return facts;
  const { node_key, error_code } = node;
  const reason = unknown === undefined ? 'observed_long' : 'unknown_outcome';
  return { ...facts, reason, node_key, error_code };
}

function allows(action: MovementAction, { state }: MovementSnapshot): boolean {
  return (ACTION_STATES[action] as readonly string[]).includes(state);
}

function executorOffers(facts: AttentionFacts): readonly Offer[] {
  const { executor_key, executor_status } = facts;
  if (facts.reason !== 'executor_unavailable' || executor_status !== 'disabled') return [];
  return [
    {
      action: 'enable_executor',
      consequence: `Every movement can use ${executor_key ?? 'the executor'} again; a node that was refused in the meantime fails and can be retried.`,
    },
  ];
}

/**
 * Offers another signer for a node that waits in a stuck nonce lane: nothing was signed for the
 * node yet.
 */
function rotateOffers(
  { reason, stuck_at, node_key }: AttentionFacts,
  { nodes }: MovementSnapshot,
): readonly Offer[] {
  const node = nodes.find((each) => each.node_key === node_key);
  if (reason !== 'lane_stuck' || node?.state !== 'READY') return [];
  return [
    {
      action: 'rotate_signer',
      consequence: `Another signer signs for ${node.node_key} and for every other node of ${stuck_at?.signer_key ?? 'its signer'} that has signed nothing; nodes that have signed keep waiting.`,
    },
  ];
}

function resumeOffers(snapshot: MovementSnapshot, requester: Requester): readonly Offer[] {
  const change = allows('resume', snapshot) ? resume(snapshot, requester) : null;
  const chosen = resumableNode(snapshot);
  if (change === null || chosen === undefined) return [];
  const { node_key: node } = chosen;
  const unknown = chosen.state === 'UNKNOWN';
  const begins = (change.nodes ?? [])
    .filter(({ moves }) => moves.includes('READY'))
    .map(({ node_key }) => node_key);
  return [
    {
      action: 'resume',
      ...nameOf(chosen),
      consequence: unknown
        ? `${node} is observed again; nothing is sent.`
        : `The gate ${node} is released${begins.length === 0 ? '' : `, and ${begins.join(', ')} begins`}.`,
    },
  ];
}

function retryOffers(snapshot: MovementSnapshot): readonly Offer[] {
  const chosen = allows('retry', snapshot) ? retryableNode(snapshot) : undefined;
  if (chosen === undefined) return [];
  const { node_key: node } = chosen;
  const failed = chosen.state === 'FAILED';
  if (failed && isCausedByPlan(chosen.error_code)) return [];
  return [
    {
      action: 'retry',
      ...nameOf(chosen),
      consequence: failed
        ? `${node} runs again as a new attempt with a new key; the amount that the failed attempt released is reserved again.`
        : `${node} is looked up under its old key first, and is sent again only if it is proven that nothing landed.`,
    },
  ];
}

function resolveOffers(facts: AttentionFacts, snapshot: MovementSnapshot): readonly Offer[] {
  if (!allows('resolve', snapshot)) return [];
  const node = facts.node_key ?? '';
  const named = snapshot.nodes.find(({ node_key }) => node_key === node);
  const outcomes = named === undefined ? [] : openOutcomes(named);
  if (named === undefined || outcomes.length === 0) return [];
  const planned = snapshot.plan.nodes.find(({ node_key }) => node_key === node);
  const isBurnt =
    planned !== undefined &&
    legOn('attested', planned.action_type) === 1 &&
    named.state !== 'UNKNOWN';
  const places = claimPlaces(planned?.action_type ?? '');
  const meanings = outcomes.map((outcome) =>
    outcome === 'completed' && isBurnt
      ? `If the burn of ${node} was minted, name the mint transaction on the destination chain (mint_tx_hashes): the service reads that transaction and completes ${node}. If it was not minted, ${node} waits for the attestation.`
      : outcome === 'completed' && places.length > 0
        ? `Completed: you name what completed ${node} (${places.join(', or ')}); it is read at its source, and the plan continues.`
        : MEANINGS[outcome],
  );
  return [
    {
      action: 'resolve',
      ...nameOf(named),
      outcomes,
      ...(outcomes.includes('completed') && places.length > 0 ? { claim_places: places } : {}),
      consequence: `You state the outcome of ${node}, with evidence. ${meanings.join(' ')} The command is refused while the send may be under way.`,
    },
  ];
}

const MEANINGS: Readonly<Record<Outcome, string>> = {
  completed: 'Completed: its amount counts as sent, and the plan continues.',
  failed: 'Failed: its amount counts as not sent, and a retry pays under a new key.',
  abandoned:
    'Abandoned: it ends FAILED and is never retried, no edge of it fires, and its amount stays counted as sent; if it lands late, the movement needs a person again.',
};

function cancelOffers(snapshot: MovementSnapshot, requester: Requester): readonly Offer[] {
  if (!allows('cancel', snapshot) || !isCancellable(snapshot)) return [];
  const lane = [...onCancelTargets(snapshot.plan.edges)];
  const stopped = (cancel(snapshot, requester).nodes ?? [])
    .filter(({ moves }) => moves.includes('CANCELLED'))
    .map(({ node_key }) => node_key);
  const ends =
    stopped.length === 0 ? 'no node is left to stop' : `${stopped.join(', ')} never runs`;
  return [
    {
      action: 'cancel',
      consequence: `${ends}; nodes in flight are followed to their end; then ${lane.join(', ')} may run.`,
    },
  ];
}

/** Offers to use up the nonce while it is unknown whether the signed transaction is mined. */
function cancelTransactionOffers(
  { reason, node_key, error_code }: AttentionFacts,
  snapshot: MovementSnapshot,
): readonly Offer[] {
  const at = snapshot.nodes.findIndex((each) => each.node_key === node_key);
  const node = snapshot.nodes[at];
  const isOpen =
    reason === 'unknown_outcome' ||
    (reason === 'observed_long' && !AMOUNTS_DIFFER.includes(error_code ?? ''));
  if (node === undefined || !isOpen || !allows('cancel_transaction', snapshot)) return [];
  const actionType = snapshot.plan.nodes[at]?.action_type ?? '';
  if (specOf(actionType).signs !== 'transaction' || !CANCELLABLE.includes(node.state)) return [];
  if (isPastCancelling(actionType, node.state)) return [];
  return [
    { action: 'cancel_transaction', ...nameOf(node), consequence: takesNonce(node.node_key) },
  ];
}

function resetOffers({ state }: MovementSnapshot, open: readonly Allowance[]): readonly Offer[] {
  if (state !== 'FAILED' || open.length === 0) return [];
  return [{ action: 'reset_allowances', consequence: setsToZero(open) }];
}

/** Offers one for each reason that may be acknowledged, with that reason. */
function acknowledgeOffers(facts: AttentionFacts, snapshot: MovementSnapshot): readonly Offer[] {
  return acknowledgeable(snapshot, facts).map(({ landing, ...named }) => ({
    action: 'acknowledge',
    ...named,
    consequence:
      landing === null
        ? 'The movement stays FAILED, and its failure needs no person until it is retried; the reason is kept.'
        : `The movement stays ${snapshot.state}, and what was seen late of ${landing.node_key} needs no person from then on; the reason is kept.`,
  }));
}
