/** Shared code of the commands on movements: load, decide, apply, and explain a refusal. */
import type { Requester } from '../../domain/commands/context.ts';
import { expire } from '../../domain/commands/approval.ts';
import { ServiceError } from '../../domain/errors.ts';
import { differs, nameOf, type NamedNode } from '../../domain/commands/named-node.ts';
import type { MovementSnapshot, NodeSnapshot } from '../../domain/snapshot.ts';
import {
  ACTION_STATES,
  type MovementAction,
  type MovementState,
} from '../../domain/states/movement.ts';
import type { Transition, TransitionOutcome } from '../../domain/transition.ts';
import { readSnapshot } from '../../store/movements.ts';
import type { DecisionOutcome } from '../../store/approvals.ts';
import { applyTransition } from '../../store/transition.ts';
import type { Database } from '../../prisma/client.ts';
import { approvalsOf } from '../approvals/view.ts';
import { auditedRefusal } from '../audit/refused.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { Reply } from '../http/route.ts';
import { refreshBefore, takeAt, uncoveredError } from '../balances/cover.ts';
import type { ActionResponse } from './responses.ts';

type Refused = Extract<TransitionOutcome, { ok: false }>;

/** The commands that may take more of a balance or a budget than before. */
const TAKING: readonly MovementAction[] = ['approve', 'resume', 'retry'];

/**
 * Returns whether the command needs funds. An approval after a restore that may have forgotten an
 * earlier approval first looks up earlier sends: those may have been paid from the balance, which
 * may no longer cover the movement.
 */
function takes(action: MovementAction, { nodes }: MovementSnapshot): boolean {
  const asks = action === 'approve' && nodes.some(({ recover_first }) => recover_first);
  return TAKING.includes(action) && !asks;
}

/** How often a decision is made again after another change came first. */
export const TRIES = 5;

interface Action {
  readonly action: MovementAction;
  readonly movementId: string;
  readonly requester: Requester;
  /** Builds the transition for the movement as loaded, or throws why no transition is possible. */
  readonly decide: (snapshot: MovementSnapshot) => Transition | Promise<Transition>;
  /** Writes the transition. */
  readonly apply: Applier;
}

type Applier = (transition: Transition, db: Database) => Promise<DecisionOutcome>;
const applyPlainly: Applier = (transition, db) => applyTransition(db, transition);

interface MovementParams {
  readonly movement_id: string;
}
interface Request<Body, Params> {
  readonly params: Params;
  readonly body: Body;
  readonly requester: Requester;
}

/**
 * Returns the handler of a command. `decider` runs once for a request and returns the decision
 * function. That function gets the movement as just loaded, and runs again when another command
 * came first.
 */
export function verb<Body, Params extends MovementParams = MovementParams>(
  action: MovementAction,
  decider: (
    request: Request<Body, Params>,
    deps: ApiDependencies,
  ) => Action['decide'] | Promise<Action['decide']>,
  applier: (request: Request<Body, Params>, deps: ApiDependencies) => Applier = () => applyPlainly,
) {
  return async (
    request: Request<Body, Params>,
    deps: ApiDependencies,
  ): Promise<Reply<ActionResponse>> => {
    const { params, requester } = request;
    const decide = await decider(request, deps);
    const apply = applier(request, deps);
    return act({ action, movementId: params.movement_id, requester, decide, apply }, deps);
  };
}

/** Applies an operator's command to the movement's current state. */
async function act(request: Action, deps: ApiDependencies): Promise<Reply<ActionResponse>> {
  const { action, movementId, requester } = request;
  const subject = {
    action: `movement.${action}`,
    entity_type: 'movement',
    entity_key: movementId,
  } as const;
  const outcome = await auditedRefusal(deps, requester, subject, () => applied(request, deps));
  const { approvals } = outcome;
  // An acknowledgement leaves the movement's run nothing to do, nor does an approval of several,
  // nor its withdrawal.
  if (action !== 'acknowledge' && action !== 'withdraw_approval' && approvals === undefined)
    deps.handOver(movementId, {
      kind: action,
      command_id: outcome.command_id,
      plan: outcome.plan,
      strategy_id: outcome.strategy_id,
    });
  const { request_state, current_frontier, reservation_status } = outcome.head;
  const { caller } = requester;
  const view =
    approvals === undefined
      ? null
      : approvalsOf(approvals, { caller, waits: request_state === 'PENDING_APPROVAL' });
  return {
    status: 200,
    body: {
      movement_id: movementId,
      request_state,
      current_frontier,
      reservation_status,
      ...(view === null ? {} : { approvals: view }),
    },
  };
}

/** What a run of the movement is started with. */
export type RunStart = Required<Pick<MovementSnapshot, 'plan' | 'strategy_id'>>;
type Applied = Extract<DecisionOutcome, { ok: true }> & RunStart;

async function applied(request: Action, deps: ApiDependencies): Promise<Applied> {
  const { action, movementId, decide } = request;
  const since = performance.now();
  let refreshed = false;
  for (let attempt = 1; ; attempt += 1) {
    const snapshot = await readSnapshot(deps.db, movementId);
    if (!isAllowed(action, snapshot.state)) throw notAllowed(action, movementId, snapshot.state);
    const transition = await decide(snapshot);
    const outcome = await request.apply(
      takes(action, snapshot) ? { ...transition, take: takeAt(deps) } : transition,
      deps.db,
    );
    if (outcome.ok) return { ...outcome, ...runOf(snapshot) };
    if (!refreshed && (await refreshBefore(outcome.uncovered, since, deps))) {
      refreshed = true;
      continue;
    }
    if (attempt < TRIES && mayChange(action, outcome)) continue;
    if (outcome.reason === 'expired') await expireNow(snapshot, deps);
    throw refusalError(action, movementId, outcome);
  }
}

export function isAllowed(action: MovementAction, state: MovementState): boolean {
  const allowed: readonly MovementState[] = ACTION_STATES[action];
  return allowed.includes(state);
}

/** Returns whether the movement only advanced during the decision; then a new try may succeed. */
export function mayChange(action: MovementAction, outcome: Refused): boolean {
  if (outcome.reason === 'version' || outcome.reason === 'node_state') return true;
  return (
    outcome.reason === 'movement_state' &&
    outcome.head !== null &&
    isAllowed(action, outcome.head.request_state)
  );
}

/** Expires the movement once its approval time is over, without waiting for its run. */
async function expireNow(snapshot: MovementSnapshot, deps: ApiDependencies): Promise<void> {
  const { movement_id } = snapshot;
  const outcome = await applyTransition(deps.db, expire(movement_id));
  if (outcome.ok)
    deps.handOver(movement_id, { kind: 'wake', command_id: null, ...runOf(snapshot) });
}

/** Returns what a run of the movement is started with. */
export function runOf({ plan, strategy_id = null }: MovementSnapshot): RunStart {
  return { plan, strategy_id };
}

/**
 * Returns the refusal. The caller gets `approval_expired` whether the run or this request noticed
 * first that the approval time was over.
 */
function notAllowed(
  action: MovementAction,
  movementId: string,
  state: MovementState,
): ServiceError {
  if (action === 'approve' && state === 'EXPIRED')
    return new ServiceError('approval_expired', { context: { movement_id: movementId } });
  return invalidState(action, state);
}

/**
 * Throws `node_differs` when the caller named a plan node other than the next to run, or another
 * attempt or state of that node. Checked at each decision, so that changes made meanwhile count.
 */
export function refuseOther(named: NamedNode, chosen: NodeSnapshot | undefined): void {
  if (chosen !== undefined && differs(named, chosen))
    throw new ServiceError('node_differs', { context: { ...nameOf(chosen) } });
}

/** Returns the refusal of a command that the movement's state does not allow. */
export function invalidState(action: MovementAction, state: MovementState): ServiceError {
  return new ServiceError('invalid_state', {
    message: `A movement in ${state} does not accept the command ${action}.`,
    context: { current_state: state, allowed_states: ACTION_STATES[action] },
  });
}

export function refusalError(
  action: MovementAction,
  movementId: string,
  outcome: Refused,
): ServiceError {
  switch (outcome.reason) {
    case 'expired':
      return new ServiceError('approval_expired', { context: { movement_id: movementId } });
    case 'plan_hash':
      return new ServiceError('compiled_plan_hash_mismatch', {
        context: { movement_id: movementId },
      });
    case 'approver_excluded':
      return new ServiceError('approver_excluded', {
        context: { movement_id: movementId, why: outcome.why ?? null },
      });
    case 'reason_required':
    case 'passkey_required':
      return new ServiceError(outcome.reason, { context: { movement_id: movementId } });
    case 'no_approval':
      return new ServiceError('no_approval', { context: { movement_id: movementId } });
    case 'assertion_refused':
      return new ServiceError('assertion_refused', {
        context: { movement_id: movementId, why: outcome.why ?? null },
      });
    case 'binding':
      return new ServiceError('binding_unavailable', { context: { bindings: outcome.problems } });
    case 'send_not_over':
    case 'payment_mined':
    case 'send_still_open':
    case 'venue_entry_changed':
    case 'nonce_open': {
      const { reason, ...context } = outcome.send ?? { reason: outcome.reason };
      return new ServiceError(reason, { context: { movement_id: movementId, ...context } });
    }
    case 'already_claimed':
      return new ServiceError('already_claimed', {
        context: { movement_id: movementId, claimed_by: outcome.holder ?? null },
      });
    case 'claim_missing':
      return new ServiceError('claim_missing', {
        message:
          'The record of the payment that completed the node is missing. Retry the node, which reads the record from the chain, or send the record in output (for a deposit at the perps venue output.ledger_hash: the hash of the deposit).',
        context: { movement_id: movementId },
      });
    case 'nothing_signed':
      return new ServiceError('nothing_signed', { context: { movement_id: movementId } });
    case 'withdrawable':
      return uncoveredError(outcome.uncovered);
    case 'budget':
      return new ServiceError('budget_exceeded', { context: { ...outcome.budget } });
    default:
      return outcome.head === null
        ? new ServiceError('movement_not_found', { context: { movement_id: movementId } })
        : notAllowed(action, movementId, outcome.head.request_state);
  }
}
