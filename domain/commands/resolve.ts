/** The resolve command: a person states an outcome that no venue can report. */
import { ABANDONED, SEND_UNDER_WAY } from '../attention-reasons.ts';
import { claimsOf, type Claim } from '../claims.ts';
import type { JsonObject } from '../json.ts';
import { parseAmountSource, resolveAmount } from '../plan/amount.ts';
import { firstLegOf, recordsOf } from '../plan/legs.ts';
import { SYSTEM_ACTOR, type Actor } from '../roles.ts';
import { mayHaveFailed } from '../send/at-venue.ts';
import type { MovementSnapshot, NodeSnapshot } from '../snapshot.ts';
import { NOW, type Transition } from '../transition.ts';
import { changeOf, nodeEvent, settleIn } from './changes.ts';
import { actorOf, movementAudit, type Requester } from './context.ts';

/**
 * What a person states of a send. `abandoned`: its outcome stays open; the movement goes on without
 * it, as domain/attention-reasons.ts says at {@link ABANDONED}.
 */
export const OUTCOMES = ['completed', 'failed', 'abandoned'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export interface Resolution {
  readonly node_key: string;
  readonly outcome: Outcome;
  readonly reason: string;
  readonly evidence: JsonObject;
  /**
   * The node's output, if the person knows it; of a type that claims, with what was read of the
   * claim at its source.
   */
  readonly output?: JsonObject | undefined;
  /**
   * The mint transactions from which the output was read on their chain, if the person named any.
   */
  readonly mint_tx_hashes?: readonly string[] | undefined;
  /** How long after the send its effect may still appear. */
  readonly settle_seconds: number;
  /** How far the database's clock is ahead of this process's. */
  readonly ahead_seconds: number;
}

/**
 * Returns the first missing output field when the first leg of a bridge transfer is resolved as
 * completed; null if no field is missing. Without the field, the second leg can never complete the
 * transfer.
 */
export function missingRecord(
  { plan, nodes }: MovementSnapshot,
  { node_key, outcome, output }: Pick<Resolution, 'node_key' | 'outcome' | 'output'>,
): string | null {
  if (outcome !== 'completed') return null;
  if (!plan.nodes.some((each) => firstLegOf(each) === node_key)) return null;
  const fields = recordsOf(
    plan.nodes.find((each) => each.node_key === node_key)?.action_type ?? '',
  );
  const known = output ?? nodes.find((each) => each.node_key === node_key)?.output ?? {};
  return fields.find((field) => !Object.hasOwn(known, field)) ?? null;
}

/**
 * Returns the transition for an outcome that a person states about the send of an UNKNOWN node, or
 * of a node observed for longer than usual. Null for any other node, and for `completed` of an
 * UNKNOWN one whose send is under way for less than an hour beyond its usual time (the caller
 * returns `invalid_state`).
 */
export function resolve(
  snapshot: MovementSnapshot,
  resolution: Resolution,
  requester: Requester,
): Transition | null {
  const node = snapshot.nodes.find((each) => each.node_key === resolution.node_key);
  if (node === undefined || !isResolvable(node, resolution.outcome)) return null;
  const landed = resolution.outcome === 'completed';
  const abandoned = resolution.outcome === 'abandoned';
  const state = landed ? 'COMPLETED' : 'FAILED';
  const error_code = ERROR_CODES[resolution.outcome];
  const amount = amountOf(snapshot, node);
  const output = landed
    ? (resolution.output ?? { ...node.output, ...countedAsSent(snapshot, node, amount) })
    : node.output;
  const wasUnknown = snapshot.state === 'MANUAL_INTERVENTION' && node.state === 'UNKNOWN';
  const conditions = settleIn(snapshot, {
    ...node,
    state,
    error_code,
    output,
    ended_by_stop: abandoned,
  });
  const { mint_tx_hashes } = resolution;
  const stated = {
    ...(resolution.output === undefined ? {} : { output: resolution.output }),
    ...(mint_tx_hashes === undefined ? {} : { mint_tx_hashes: [...mint_tx_hashes] }),
  };
  const actor: Actor = { ...actorOf(requester), type: 'operator' };
  const { node_key, reason, evidence, settle_seconds, ahead_seconds } = resolution;
  return {
    movement_id: snapshot.movement_id,
    from: [snapshot.state],
    // The movement returns to EXECUTING; its workflow run then finds the right state.
    ...(wasUnknown ? { to: 'EXECUTING' as const } : {}),
    version: snapshot.version,
    bump: true,
    send_over: {
      node_key,
      settle_seconds,
      ahead_seconds,
      nonces_closed: resolution.outcome === 'failed',
    },
    conditions: conditions.results,
    nodes: [
      {
        ...changeOf(node, node.state === 'SUBMITTED' ? ['OBSERVING', state] : [state]),
        set: {
          ...(landed ? { output } : {}),
          // What counts as sent needs an amount.
          ...(resolution.outcome !== 'failed' && node.amount === null && amount !== null
            ? { amount }
            : {}),
          ...(abandoned ? { next_late_look: NOW } : {}),
          error_code,
          error_message: landed ? null : reason.slice(0, 1_000),
          completed_at: NOW,
          recover_first: false,
          restored: false,
          unanswered: 0,
        },
        ...(landed ? { claims: claimsBy(snapshot, node_key, output) } : {}),
        artifacts: [
          {
            kind: 'resolution',
            data: { outcome: resolution.outcome, reason, evidence, ...stated },
          },
        ],
      },
    ],
    timeline: [
      {
        ...nodeEvent(
          landed ? 'node_completed' : 'node_failed',
          node,
          state,
          actor,
          `Resolved as ${resolution.outcome} by a person`,
        ),
        data: { reason, evidence, ...(error_code === null ? {} : { error_code }) },
      },
      ...(wasUnknown
        ? [
            {
              event_type: 'frontier_advanced',
              message: 'An unknown outcome was resolved',
              actor: SYSTEM_ACTOR,
              from_state: 'MANUAL_INTERVENTION',
              to_state: 'EXECUTING',
            } as const,
          ]
        : []),
      ...conditions.timeline,
    ],
    ...movementAudit(requester, 'movement.resolve', snapshot.movement_id, {
      reason: reason.slice(0, 1_000),
      details: { node_key, outcome: resolution.outcome, evidence, ...stated },
    }),
    command: 'resolve',
  };
}

const ERROR_CODES: Readonly<Record<Outcome, string | null>> = {
  completed: null,
  failed: 'RESOLVED_AS_FAILED',
  abandoned: ABANDONED,
};

/**
 * Returns whether a person may state this outcome of the node. The database compares state and
 * attempt again; while both are unchanged, an overdue node stays overdue. It refuses `failed` while
 * the node is observed, its venue has the send, or no look can see it ({@link mayHaveFailed}).
 */
export function isResolvable(
  { state, error_code, resolvable, overdue }: NodeSnapshot,
  outcome: Outcome,
): boolean {
  if (state === 'UNKNOWN')
    return outcome !== 'completed' || error_code !== SEND_UNDER_WAY || resolvable === true;
  if (state !== 'SUBMITTED' && state !== 'OBSERVING') return false;
  return (outcome === 'completed' ? resolvable : overdue) === true;
}

/** Returns the outcomes that a person may state now, as far as the snapshot shows. */
export function openOutcomes(node: NodeSnapshot): readonly Outcome[] {
  return OUTCOMES.filter(
    (outcome) => isResolvable(node, outcome) && (outcome !== 'failed' || mayHaveFailed(node)),
  );
}

/** Returns the claims of a node that a person completes. No other node may hold these claims. */
function claimsBy(
  { plan, nodes }: MovementSnapshot,
  node_key: string,
  output: JsonObject | null,
): readonly Claim[] {
  const planned = plan.nodes.find((each) => each.node_key === node_key);
  if (planned === undefined) return [];
  const first = firstLegOf(planned);
  const matched = nodes.find((each) => each.node_key === first)?.output ?? null;
  return claimsOf({ action_type: planned.action_type, output, matched });
}

/**
 * Returns the node's amount, even if a restored database has lost its preflight; null if the amount
 * is unknown.
 */
export function amountOf({ plan, nodes }: MovementSnapshot, node: NodeSnapshot): string | null {
  const config = plan.nodes.find(({ node_key }) => node_key === node.node_key)?.config ?? {};
  const outputOf = (key: string): JsonObject | null =>
    nodes.find(({ node_key }) => node_key === key)?.output ?? null;
  return node.amount ?? resolveAmount(config, plan.intent.amount, outputOf);
}

/**
 * Fields in which an executor reports how much it has sent so far. A person who resolves a node as
 * completed states that everything was sent.
 */
const SENT_FIELDS: readonly string[] = ['submitted_amount', 'received_amount'];

/**
 * Returns output fields set to the node's full amount: each field from which a later node takes its
 * amount, and each reported field for the sent amount.
 */
function countedAsSent(
  { plan }: MovementSnapshot,
  node: NodeSnapshot,
  amount: string | null,
): JsonObject {
  if (amount === null) return {};
  const named = plan.nodes.flatMap((each) => {
    const source = parseAmountSource(each.config);
    return source.kind === 'node' && source.node_key === node.node_key ? [source.field] : [];
  });
  const reported = SENT_FIELDS.filter((field) => Object.hasOwn(node.output ?? {}, field));
  return Object.fromEntries([...named, ...reported].map((field) => [field, amount]));
}
