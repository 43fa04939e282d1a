/** The life of one movement as its caller leads it, and what the caller knows afterwards. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ENDED_STATES } from '../../domain/states/movement.ts';
import { errorCode, type Caller } from './caller.ts';
import type { Script } from './scripts.ts';

export type Act = 'approve' | 'reject' | 'resume' | 'retry' | 'cancel';

/** An action that the service said, or let be known, to have accepted. */
export interface Accepted {
  readonly action: Act;
  /** Tries before it whose outcome never became known: the action may have been applied once more for each. */
  readonly doubts: number;
}

export interface Life {
  readonly script: Script;
  readonly idempotency_key: string;
  movement_id: string | null;
  readonly accepted: Accepted[];
  /** Answers that contradict what the caller had been told before. */
  readonly complaints: string[];
}

export interface Surroundings {
  readonly caller: Caller;
  readonly signal: AbortSignal;
  readonly seed: number;
  readonly callbackUrl: string;
}

/** Begins a life; {@link live} leads it. */
export function newLife(script: Script, seed: number): Life {
  return { script, idempotency_key: `fault-run-${seed}-${script.serial}`, movement_id: null, accepted: [], complaints: [] };
}

/** Creates the movement and does with it what its script says. */
export async function live(life: Life, around: Surroundings): Promise<void> {
  const { script } = life;
  const hash = await create(life, around);
  if (script.repeats_create) await create(life, around);
  if (script.decision === 'expire') return;
  await sleep(script.decide_ms, undefined, { signal: around.signal });
  const body = script.decision === 'approve' ? { compiled_plan_hash: hash, approver_id: 'fault-run' } : { reason: 'fault run' };
  await act(life, around, script.decision, body);
  if (script.decision === 'reject') return;
  if (script.cancel_ms !== null) {
    await sleep(script.cancel_ms, undefined, { signal: around.signal });
    await act(life, around, 'cancel');
  }
  if (script.resume_ms !== null && (await reachesGate(life, around))) {
    await sleep(script.resume_ms, undefined, { signal: around.signal });
    await act(life, around, 'resume');
  }
}

async function create(life: Life, { caller, callbackUrl }: Surroundings): Promise<string> {
  const { script } = life;
  const answer = await caller.call('POST', '/movements', {
    headers: { 'idempotency-key': life.idempotency_key },
    body: {
      template_key: script.template,
      template_version: 1,
      intent: { asset: 'USDC', amount: script.amount },
      input_params: { route: script.route },
      strategy_id: 'fault-run',
      callback_url: callbackUrl,
      // Long enough that the decision of any other movement comes in time, however long a call is repeated.
      ...(script.decision === 'expire' ? { approval_ttl_seconds: 5 } : {}),
    },
  });
  const { movement_id: id, compiled_plan_hash: hash } = answer.body;
  const repeated = life.movement_id !== null;
  if ((answer.status !== 201 && answer.status !== 200) || typeof id !== 'string' || typeof hash !== 'string') {
    throw new Error(`create ${script.serial} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  }
  if (repeated && id !== life.movement_id) life.complaints.push(`the repeated create answered ${id}, the first one ${life.movement_id}`);
  if (answer.status === 201 && repeated) life.complaints.push('the repeated create answered 201');
  if (answer.status === 200 && !repeated && answer.doubts === 0) life.complaints.push('the first create answered 200');
  life.movement_id = id;
  return hash;
}

/** Sends an action and notes whether it was accepted. A refusal after a doubt means that an earlier try was. */
export async function act(life: Life, { caller }: Pick<Surroundings, 'caller'>, action: Act, body?: object): Promise<boolean> {
  const path = action === 'approve' || action === 'reject' ? action : `actions/${action}`;
  const answer = await caller.call('POST', `/movements/${life.movement_id}/${path}`, body === undefined ? {} : { body });
  const refused = answer.status === 409 ? errorCode(answer.body) : undefined;
  // Nobody else decides about this movement, so the state can only be in the way because of our own earlier try.
  const decided = (action === 'approve' || action === 'reject') && refused === 'invalid_state' && answer.doubts > 0;
  if (answer.status === 200 || decided) {
    life.accepted.push({ action, doubts: decided ? answer.doubts - 1 : answer.doubts });
    return true;
  }
  const late = action !== 'approve' && action !== 'reject' && (refused === 'invalid_state' || refused === 'no_retryable_node');
  if (!late) life.complaints.push(`${action} answered ${answer.status} ${JSON.stringify(answer.body)}`);
  return false;
}

/** Waits until the movement waits at its gate; false when it ends or needs somebody else first. */
async function reachesGate({ movement_id }: Life, { caller, signal }: Surroundings): Promise<boolean> {
  for (;;) {
    const { body } = await caller.call('GET', `/movements/${movement_id}`);
    const state = String(body['request_state']);
    if (state === 'WAITING_MANUAL_ACTION') return true;
    if (state === 'MANUAL_INTERVENTION' || ENDED_STATES.some((each) => each === state)) return false;
    await sleep(750, undefined, { signal });
  }
}
