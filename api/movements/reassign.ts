/** POST /movements/{movement_id}/nodes/{node_key}/actions/reassign */
import type { Requester } from '../../domain/commands/context.ts';
import { AWAITING, reassign as reassignment } from '../../domain/commands/reassign.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { MovementSnapshot } from '../../domain/snapshot.ts';
import type { NodeState } from '../../domain/states/node.ts';
import type { MovementHead, NodeRef } from '../../domain/transition.ts';
import { readHeldClaims } from '../../store/claims.ts';
import { readSnapshot } from '../../store/movements.ts';
import { applyReassignment } from '../../store/transition.ts';
import { auditedRefusal } from '../audit/refused.ts';
import { refreshBefore, takeAt } from '../balances/cover.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { Reply } from '../http/route.ts';
import { invalidState, isAllowed, mayChange, refusalError, runOf, TRIES } from './act.ts';
import { wrongNode } from './resolve.ts';
import type { ActionResponse, ReassignResponse } from './responses.ts';
import type { ReassignBody } from './schema.ts';

interface Request {
  readonly holder: NodeRef;
  readonly body: ReassignBody;
  readonly requester: Requester;
}

/** Moves a payment from the node that it completed to the node that it was made for. */
export async function reassign(
  input: {
    readonly params: NodeRef;
    readonly body: ReassignBody;
    readonly requester: Requester;
  },
  deps: ApiDependencies,
): Promise<Reply<ReassignResponse>> {
  const { params: holder, body, requester } = input;
  const subject = {
    action: 'movement.reassign',
    entity_type: 'movement',
    entity_key: holder.movement_id,
    details: { node_key: holder.node_key, to: { ...targetOf(body) } },
  } as const;
  return auditedRefusal(deps, requester, subject, () => applied({ holder, body, requester }, deps));
}

const targetOf = ({ to_movement_id, to_node_key }: ReassignBody): NodeRef => ({
  movement_id: to_movement_id,
  node_key: to_node_key,
});

async function applied(request: Request, deps: ApiDependencies): Promise<Reply<ReassignResponse>> {
  const { holder, body, requester } = request;
  const target = targetOf(body);
  const since = performance.now();
  let refreshed = false;
  for (let attempt = 1; ; attempt += 1) {
    const holding = await readSnapshot(deps.db, holder.movement_id);
    const waiting =
      target.movement_id === holder.movement_id
        ? holding
        : await readSnapshot(deps.db, target.movement_id);
    const claims = await readHeldClaims(deps.db, holder);
    askState(holding, holder.node_key, ['COMPLETED']);
    if (!isAllowed('resolve', waiting.state)) throw invalidState('resolve', waiting.state);
    askState(waiting, target.node_key, AWAITING);
    const { reason, evidence } = body;
    const word = { holder, target, reason, evidence };
    const decided = reassignment(holding, waiting, claims, word, requester);
    if ('refused' in decided) throw notReassignable(decided, request);
    const outcome = await applyReassignment(deps.db, {
      // Skipped nodes draw funds again, which other movements may have taken meanwhile.
      released: { ...decided.released, take: takeAt(deps) },
      taken: decided.taken,
    });
    if (outcome.ok) {
      const { released, taken } = outcome;
      wake(deps, holding, released.command_id);
      wake(deps, waiting, taken.command_id);
      return {
        status: 200,
        body: {
          ...headOf(holder.movement_id, released.head),
          to: headOf(target.movement_id, taken.head),
          payments: claims.map(({ source, reference, amount }) => ({ source, reference, amount })),
        },
      };
    }
    if (!refreshed && (await refreshBefore(outcome.uncovered, since, deps))) {
      refreshed = true;
      continue;
    }
    if (attempt < TRIES && (mayChange('resolve', outcome) || outcome.reason === 'claim_missing'))
      continue;
    if (outcome.reason === 'claim_missing')
      throw notReassignable({ refused: 'no_payment' }, request);
    throw refusalError('resolve', holder.movement_id, outcome);
  }
}

function wake(deps: ApiDependencies, snapshot: MovementSnapshot, command_id: string | null): void {
  deps.handOver(snapshot.movement_id, { kind: 'resolve', command_id, ...runOf(snapshot) });
}

const headOf = (
  movement_id: string,
  { request_state, current_frontier, reservation_status }: MovementHead,
): ActionResponse => ({ movement_id, request_state, current_frontier, reservation_status });

function askState(
  snapshot: MovementSnapshot,
  node_key: string,
  allowed: readonly NodeState[],
): void {
  const node = snapshot.nodes.find((each) => each.node_key === node_key);
  if (node === undefined || !allowed.includes(node.state))
    wrongNode(snapshot, { node_key, action: 'reassign', allowed });
}

function notReassignable(
  { refused, nodes }: Extract<ReturnType<typeof reassignment>, { refused: string }>,
  { holder, body }: Request,
): ServiceError {
  const [from, to] = [holder.node_key, body.to_node_key];
  const message = {
    movement_over: `the movement of ${from} is over and is not opened again. Resolve ${to} with another payment, or settle the difference outside.`,
    no_payment: `${from} has no payment that can be reassigned: only a payment with an amount that completed an evm_balance_observe or cex_deposit_observe node can be.`,
    passed_on: `${(nodes ?? []).join(', ')} started after ${from} was completed, and may have passed its payment on.`,
    another_place: `${to} does not wait where the payment of ${from} arrived.`,
  }[refused];
  return new ServiceError('not_reassignable', {
    message,
    context: { ...holder, reason: refused, ...(nodes === undefined ? {} : { nodes }) },
  });
}
