/**
 * The acknowledge command: a person has dealt with a failed movement, or with a send that landed
 * after it was abandoned, so that reason no longer needs attention.
 */
import type { AttentionReason } from '../attention-reasons.ts';
import type { MovementSnapshot } from '../snapshot.ts';
import { ACTION_STATES } from '../states/movement.ts';
import type { NodeState } from '../states/node.ts';
import { NOW, type Transition } from '../transition.ts';
import { actorOf, movementAudit, type Requester } from './context.ts';

/** What the sender was shown: a reason, and the node that it is about. */
export interface NamedReason {
  readonly attention_reason?: AttentionReason | undefined;
  readonly node_key?: string | undefined;
}

/**
 * A late landing, or what contradicts the end of a node, that no person has acknowledged; see the
 * SQL function `unseen_landing`.
 */
export interface Landing {
  readonly node_key: string;
  readonly attempt: number;
  readonly external_ref: string | null;
  /** Whether the movement FAILED because this node was abandoned. */
  readonly is_failure: boolean;
  /** How the chain contradicts the end of the node; null for an abandoned one. */
  readonly said?: string | null;
}

/** Why the movement needs a person, as far as an acknowledgement depends on it. */
export interface Needs {
  readonly reason: AttentionReason;
  readonly node_key?: string;
  readonly landed?: Landing;
}

/** What may be acknowledged now; `landing` is null for the failure of the movement. */
export interface Acknowledgeable {
  readonly attention_reason: AttentionReason;
  readonly node_key?: string;
  readonly landing: Landing | null;
}

/**
 * Returns what may be acknowledged, the reason that is shown first. A failure is shown as the first
 * reason of its movement, such as `approval_compromised`; where its own node has landed late, the
 * landing takes its place. `needs` is null if the movement needs no person.
 */
export function acknowledgeable(
  { state, acknowledged }: Pick<MovementSnapshot, 'state' | 'acknowledged'>,
  needs: Needs | null,
): readonly Acknowledgeable[] {
  if (!(ACTION_STATES.acknowledge as readonly string[]).includes(state)) return [];
  const attention_reason = needs?.reason ?? 'failed';
  const node = needs?.node_key === undefined ? {} : { node_key: needs.node_key };
  const open: Acknowledgeable[] = [];
  if (state === 'FAILED' && acknowledged !== true && attention_reason !== 'landed_late')
    open.push({ attention_reason, ...node, landing: null });
  const landing = needs?.landed;
  if (landing !== undefined)
    open.push({ attention_reason: 'landed_late', node_key: landing.node_key, landing });
  return open;
}

/**
 * Returns which of `open` the sender means; undefined if it is none of them. A late landing has to
 * be named: it may have come after the sender looked.
 */
export function namedOf(
  { attention_reason, node_key }: NamedReason,
  open: readonly Acknowledgeable[],
): Acknowledgeable | undefined {
  return open.find(
    (each) =>
      (attention_reason === undefined
        ? each.landing === null
        : each.attention_reason === attention_reason) &&
      (node_key === undefined || each.node_key === node_key),
  );
}

/**
 * Returns the transition after which this reason no longer needs attention. No workflow is woken,
 * since there is nothing to do. When a failed movement runs again, `apply_transition` removes the
 * acknowledgement of its failure; that of a landing stays. `needs`: why the movement needs a
 * person.
 */
export function acknowledge(
  snapshot: MovementSnapshot,
  { attention_reason, landing }: Acknowledgeable,
  { reason, needs }: { readonly reason: string; readonly needs: Needs | null },
  requester: Requester,
): Transition {
  // The failure was shown as this landing, and as nothing else.
  const alsoFailure = landing?.is_failure === true && needs?.reason === 'landed_late';
  return {
    movement_id: snapshot.movement_id,
    from: ACTION_STATES.acknowledge,
    version: snapshot.version,
    bump: true,
    set: landing === null || alsoFailure ? { acknowledged_at: NOW } : {},
    nodes:
      landing === null
        ? []
        : [
            {
              node_key: landing.node_key,
              from: stateOf(snapshot, landing),
              moves: [],
              attempt: landing.attempt,
              set: { landing_seen_at: NOW },
            },
          ],
    timeline: [
      {
        event_type: 'request_acknowledged',
        message:
          landing === null
            ? 'A person has dealt with the failure'
            : landing.said == null
              ? 'A person has dealt with the late landing'
              : 'A person has dealt with what the chain showed late',
        actor: { ...actorOf(requester), type: 'operator' },
        ...(landing === null ? {} : { node_key: landing.node_key, attempt: landing.attempt }),
        data: { reason, attention_reason },
      },
    ],
    ...movementAudit(requester, 'movement.acknowledge', snapshot.movement_id, { reason }),
  };
}

/** The chain contradicts a node that has ended in any state; an abandoned one is FAILED. */
function stateOf({ nodes }: MovementSnapshot, { node_key }: Landing): NodeState {
  return nodes.find((node) => node.node_key === node_key)?.state ?? 'FAILED';
}
