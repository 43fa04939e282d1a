/**
 * The fence: the last look at everything that could forbid a send, in the same transaction that
 * declares it. Behind it stand a new epoch, the idempotency key, the nonce and `send_not_after`.
 */
import { LANE_BLOCKED } from '../../domain/attention-reasons.ts';
import { ExecutorFault, type ExecutionContext } from '../../domain/executor.ts';
import type { PhaseResult } from '../../domain/messages.ts';
import { isSending } from '../../domain/actions/built-in.ts';
import { nodeWindow } from '../../domain/send/node.ts';
import { deadlineOf } from '../../domain/send/window.ts';
import {
  AUTHORIZATION_SETTLE_SECONDS,
  authorizationOf,
  usableUntil,
} from '../../domain/signing.ts';
import type { ClaimedTransaction, TransitionOutcome } from '../../domain/transition.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { claimAuthorization } from '../../store/authorizations.ts';
import { applyTransition } from '../../store/transition.ts';
import { callOptions } from '../call.ts';
import { requiredFor } from '../requirements/list.ts';
import { askedBy } from './allowlist.ts';
import { amountToSend } from './amount.ts';
import { preSendFault } from './before-send.ts';
import { descriptorOf } from './bound-executor.ts';
import { contextOf, ownerOf, type PhaseDependencies } from './context.ts';
import { refusedFence } from './fence-refused.ts';
import { fenceWrite } from './fence-write.ts';
import { isFollowed, signedNode } from './followed.ts';
import { nonceClaim } from './nonce-claim.ts';
import { clockStops, waitForClock } from './clock-wait.ts';
import { alreadyBeyond, result } from './results.ts';
import { phaseRow } from './row.ts';
import { waitBeforeFence } from './wait-before-fence.ts';
import type { NodeWrite } from './write.ts';

/** A node behind its fence: `row` as the fence left it. */
export interface Fenced {
  readonly row: PhaseRow;
  readonly context: ExecutionContext;
  readonly transaction: ClaimedTransaction | null;
  /**
   * On this process's monotonic clock: nothing is sent after it. Not later than `send_not_after`.
   */
  readonly deadline: number;
}

/**
 * Seconds after the fence until nobody has to reckon any more with what is signed, however soon it
 * has to be sent.
 */
function usableSeconds({ sign_request, now_ms }: PhaseRow): number {
  const until = sign_request === null ? null : usableUntil(sign_request);
  return until === null ? 0 : Math.ceil((until - now_ms) / 1000) + AUTHORIZATION_SETTLE_SECONDS;
}

/** An authorization that another node or attempt was given would pay for both of them once. */
async function mustBeOurs(deps: PhaseDependencies, row: PhaseRow): Promise<void> {
  const id = row.sign_request === null ? null : authorizationOf(row.sign_request);
  if (id === null || (await claimAuthorization(deps.db, id, ownerOf(row)))) return;
  const message = 'the nonce of the authorization is that of another node or attempt';
  throw new ExecutorFault('rejected', 'SIGN_REQUEST_MISMATCH', message);
}

function perpOf({ perp }: ExecutionContext): Pick<ExecutionContext, 'perp'> {
  return perp === undefined ? {} : { perp };
}

/** What a fence came to that no executor's fault kept from being asked. */
type Asked = { readonly fenced: Fenced } | { readonly refused: TransitionOutcome & { ok: false } };

/**
 * Asks the fence of a node that may need more than the database knows.
 *
 * @throws ExecutorFault where the node may not be sent as it was prepared, or cannot be asked for.
 */
async function askFence(
  deps: PhaseDependencies,
  row: PhaseRow,
  found: readonly NodeWrite[],
): Promise<Asked> {
  const amount = amountToSend(row, deps.chains);
  if (!amount.ok) throw new ExecutorFault('rejected', amount.code, amount.message);
  const by = await askedBy(deps, row);
  if (!by.ok) throw new ExecutorFault('rejected', by.code, by.message);
  const descriptor = descriptorOf(deps, row);
  // The plan was compiled when the executor's entry said `sends: false`: whatever the node moves
  // now, nobody has approved.
  if (row.node.sends === false && isSending(row.node, descriptor.sends)) {
    const message =
      'its executor is declared to move funds now, and the approved plan says that this node moves none';
    throw new ExecutorFault('rejected', 'APPROVED_OUTFLOW_EXCEEDED', message);
  }
  const context = await contextOf(deps, row, amount.amount, 'send');
  const { requirements, stops } = await requiredFor(deps, row, {
    ...{ way: 'send', first: context },
    ...{ signer: context.signer?.address ?? '', signs: row.sign_request?.payload ?? null },
  });
  if (stops[0] !== undefined) throw stops[0].fault;
  const difference =
    row.sign_request === null
      ? null
      : await deps.signing.check(
          { ...signedNode(deps, row, amount.amount), ...perpOf(context) },
          {
            request: row.sign_request,
            from: context.signer?.address ?? '',
            foreign: isFollowed(deps, row),
            now_ms: row.now_ms,
          },
          callOptions(),
        );
  if (difference !== null) throw new ExecutorFault('rejected', 'SIGN_REQUEST_MISMATCH', difference);
  await mustBeOurs(deps, row);
  const claim = await nonceClaim(deps, row, context);
  const window = nodeWindow(descriptor);
  const deadline = deadlineOf(performance.now(), window);
  const { write, behind } = fenceWrite(row, {
    context,
    window: Math.max(window, usableSeconds(row)),
    claim,
    addresses: by.asked,
    requirements,
    found,
  });
  const outcome = await applyTransition(deps.db, write);
  return outcome.ok
    ? { fenced: { row: behind, context, transaction: outcome.transaction, deadline } }
    : { refused: outcome };
}

/** Passes the fence of a node that is prepared, or says what the node does instead. */
export async function passFence(
  deps: PhaseDependencies,
  row: PhaseRow,
): Promise<Fenced | PhaseResult> {
  const apart = clockStops(deps, row);
  if (apart !== null) return waitForClock(deps, row, apart);
  try {
    const asked = await askFence(deps, row, []);
    if ('fenced' in asked) return asked.fenced;
    const { refused } = asked;
    const [lane] = refused.problems.filter(({ binding }) => binding === 'lane');
    if (lane !== undefined)
      return await waitBeforeFence(deps, row, { code: LANE_BLOCKED, why: lane.reason });
    // Somebody else passed the fence or began a recovery meanwhile: the run follows what they
    // wrote, and waits for nobody.
    return (
      refusedFence(row, refused) ??
      alreadyBeyond(await phaseRow(deps, row), row) ??
      result('READY', 'submit')
    );
  } catch (error) {
    if (error instanceof ExecutorFault) return preSendFault(deps, row, error);
    throw error;
  }
}

/**
 * The same for a node whose phases before have just said what there is to send (`found`, upon which
 * `row` is as they leave it): recorded by the fence's own write, or by none. Null where it was not
 * passed, whatever the reason; what was found is then for the caller to record.
 */
export async function passFenceAtOnce(
  deps: PhaseDependencies,
  row: PhaseRow,
  found: readonly NodeWrite[],
): Promise<Fenced | null> {
  if (clockStops(deps, row) !== null) return null;
  try {
    const asked = await askFence(deps, row, found);
    return 'fenced' in asked ? asked.fenced : null;
  } catch (error) {
    if (error instanceof ExecutorFault) return null;
    throw error;
  }
}
