/** The life of one movement as its caller leads it, and what the caller knows afterwards. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ENDED_STATES } from '../../domain/states/movement.ts';
import type { PlanModel } from '../support/movement-model.ts';
import { errorCode, type Caller } from './caller.ts';
import type { Script } from './scripts.ts';

export type Act = 'approve' | 'reject' | 'resume' | 'retry' | 'cancel';

/** An action that the service said, or let be known, to have accepted. */
export interface Accepted {
  readonly action: Act;
  /**
   * Tries before it whose outcome never became known: the action may have been applied once more
   * for each.
   */
  readonly doubts: number;
}

export interface Life {
  readonly script: Script;
  readonly idempotency_key: string;
  movement_id: string | null;
  readonly accepted: Accepted[];
  /** Answers that contradict earlier answers. */
  readonly complaints: string[];
}

export interface Surroundings {
  readonly caller: Caller;
  readonly signal: AbortSignal;
  readonly seed: number;
  readonly callbackUrl: string;
}

/** Its policy approves every plan of the mix, within a budget that no run fills. */
export const POLICY_STRATEGY = 'fault-run-policy';

/** The requested plans, by idempotency key. */
export function plansOf(lives: readonly Life[]): ReadonlyMap<string, PlanModel> {
  return new Map(lives.map(({ idempotency_key, script }) => [idempotency_key, script.plan]));
}

/** Begins a life; {@link live} leads it. */
export function newLife(script: Script, seed: number): Life {
  return {
    script,
    idempotency_key: `fault-run-${seed}-${script.serial}`,
    movement_id: null,
    accepted: [],
    complaints: [],
  };
}

/** Creates the movement and does with it what its script says. */
export async function live(life: Life, around: Surroundings): Promise<void> {
  const { script } = life;
  const hash = await create(life, around);
  if (script.repeats_create) await create(life, around);
  if (script.decision === 'expire') return;
  await sleep(script.decide_ms, undefined, { signal: around.signal });
  if (script.decision === 'reject')
    return void (await act(life, around, 'reject', { reason: 'fault run' }));
  if (script.decision === 'approve')
    await act(life, around, 'approve', { compiled_plan_hash: hash, approver_id: 'fault-run' });
  if (
    script.cancel_ms !== null &&
    (script.cancel_at === 'once' || (await reaches(life, around, CANCELLED_AT[script.cancel_at])))
  ) {
    await sleep(script.cancel_ms, undefined, { signal: around.signal });
    await act(life, around, 'cancel');
  }
  if (script.resume_ms !== null && (await reaches(life, around, atGate))) {
    await sleep(script.resume_ms, undefined, { signal: around.signal });
    await act(life, around, 'resume');
  }
  if (script.retries && (await reaches(life, around, hasFailed))) await act(life, around, 'retry');
}

async function create(life: Life, { caller, callbackUrl }: Surroundings): Promise<string> {
  const { script } = life;
  const answer = await caller.call('POST', '/movements', {
    headers: { 'idempotency-key': life.idempotency_key },
    body: {
      template_key: script.template,
      template_version: 1,
      intent: { asset: 'USDC', amount: script.amount },
      input_params: {
        route: script.route,
        ...(script.node_config === null ? {} : { node_config: script.node_config }),
      },
      strategy_id: script.decision === 'policy' ? POLICY_STRATEGY : 'fault-run',
      callback_url: callbackUrl,
      // Long enough that the decision of any other movement comes in time, however long a call is
      // repeated.
      ...(script.decision === 'expire' ? { approval_ttl_seconds: 5 } : {}),
    },
  });
  const { movement_id: id, compiled_plan_hash: hash } = answer.body;
  const repeated = life.movement_id !== null;
  if (
    (answer.status !== 201 && answer.status !== 200) ||
    typeof id !== 'string' ||
    typeof hash !== 'string'
  ) {
    throw new Error(
      `create ${script.serial} answered ${answer.status}: ${JSON.stringify(answer.body)}`,
    );
  }
  if (repeated && id !== life.movement_id)
    life.complaints.push(`the repeated create answered ${id}, the first one ${life.movement_id}`);
  if (answer.status === 201 && repeated) life.complaints.push('the repeated create answered 201');
  if (answer.status === 200 && !repeated && answer.doubts === 0)
    life.complaints.push('the first create answered 200');
  if (script.decision === 'policy' && answer.body['approval_status'] !== 'approved') {
    life.complaints.push(
      `no policy approved it: ${JSON.stringify(answer.body['auto_approve_result'])}`,
    );
  }
  life.movement_id = id;
  return hash;
}

/**
 * Sends an action and notes whether it was accepted. A refusal after a doubt means that an earlier
 * try was.
 */
export async function act(
  life: Life,
  { caller }: Pick<Surroundings, 'caller'>,
  action: Act,
  body?: object,
): Promise<boolean> {
  const path = action === 'approve' || action === 'reject' ? action : `actions/${action}`;
  const answer = await caller.call(
    'POST',
    `/movements/${life.movement_id}/${path}`,
    body === undefined ? {} : { body },
  );
  const refused = answer.status === 409 ? errorCode(answer.body) : undefined;
  // Only this caller decides about this movement, so a conflict comes from its own earlier try.
  const decided =
    (action === 'approve' || action === 'reject') &&
    refused === 'invalid_state' &&
    answer.doubts > 0;
  if (answer.status === 200 || decided) {
    life.accepted.push({ action, doubts: decided ? answer.doubts - 1 : answer.doubts });
    return true;
  }
  const late =
    action !== 'approve' &&
    action !== 'reject' &&
    (refused === 'invalid_state' || refused === 'no_retryable_node');
  if (!late)
    life.complaints.push(`${action} answered ${answer.status} ${JSON.stringify(answer.body)}`);
  return false;
}

type View = Readonly<Record<string, unknown>>;
const stateOf = (view: View): string => String(view['request_state']);
const nodeStates = ({ nodes }: View): readonly string[] =>
  Array.isArray(nodes)
    ? nodes.map((node: Readonly<Record<string, unknown>>) => String(node['state']))
    : [];
const atGate = (view: View): boolean => stateOf(view) === 'WAITING_MANUAL_ACTION';
const hasFailed = (view: View): boolean =>
  ['FAILED', 'MANUAL_INTERVENTION'].includes(stateOf(view));
/** A send is under way, or its outcome is unknown. */
const inDoubt = (view: View): boolean =>
  nodeStates(view).some((state) => ['SUBMITTING', 'SUBMITTED', 'UNKNOWN'].includes(state));
const CANCELLED_AT = { gate: atGate, send: inDoubt } as const;

/** Waits until the movement is so; false when it ends or needs somebody first. */
async function reaches(
  { movement_id }: Life,
  { caller, signal }: Surroundings,
  wanted: (view: View) => boolean,
): Promise<boolean> {
  for (;;) {
    const { body } = await caller.call('GET', `/movements/${movement_id}`);
    if (wanted(body)) return true;
    const state = stateOf(body);
    if (WAITS.includes(state) || ENDED_STATES.some((each) => each === state)) return false;
    await sleep(wanted === inDoubt ? 150 : 750, undefined, { signal });
  }
}

/** Nothing goes on until somebody acts. */
const WAITS = ['WAITING_MANUAL_ACTION', 'MANUAL_INTERVENTION'];
