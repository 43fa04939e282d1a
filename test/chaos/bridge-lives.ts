/** What a caller does with movements across the bridges, as far as the run needs one. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Expect } from '../support/bridge-registry.ts';
import type { Caller } from './caller.ts';
import { assetOf, templateOf, type BridgeLife } from './ways.ts';

/** Creates and approves one; what becomes of it is seen at the end. */
export async function cross(
  life: BridgeLife,
  { caller, signal }: { readonly caller: Caller; readonly signal: AbortSignal },
): Promise<void> {
  const { amount, key } = life;
  const of = { template: templateOf(life), asset: assetOf(life), amount, key };
  const { movement_id, hash } = await create(caller, of);
  life.movement_id = movement_id;
  await sleep(life.approve_ms, undefined, { signal });
  const complaint = await approve(caller, movement_id, hash);
  if (complaint !== null) life.complaints.push(complaint);
}

export async function create(
  caller: Caller,
  of: {
    readonly template: string;
    readonly asset: string;
    readonly amount: string;
    readonly key: string;
  },
): Promise<{ readonly movement_id: string; readonly hash: string }> {
  const { status, body } = await caller.call('POST', '/movements', {
    headers: { 'idempotency-key': of.key },
    body: {
      template_key: of.template,
      template_version: 1,
      strategy_id: 'bridge-run',
      intent: { asset: of.asset, amount: of.amount },
    },
  });
  if (status !== 201 && status !== 200)
    throw new Error(`create ${of.key} answered ${status}: ${JSON.stringify(body)}`);
  return { movement_id: String(body['movement_id']), hash: String(body['compiled_plan_hash']) };
}

/** Null, or what the service should not have answered. */
export async function approve(
  caller: Caller,
  movementId: string,
  hash: string,
): Promise<string | null> {
  const { status, body, doubts } = await caller.call('POST', `/movements/${movementId}/approve`, {
    body: { compiled_plan_hash: hash, approver_id: 'bridge-run' },
  });
  // Refused after a try whose answer was lost: that one was accepted.
  const before = status === 409 && doubts > 0;
  return status === 200 || before ? null : `approve answered ${status} ${JSON.stringify(body)}`;
}

/** Fails unless the run's caller is answered as expected. */
export function expecting(caller: Caller): Expect {
  return async (wanted, method, path, sent) => {
    const call = sent === undefined ? {} : { body: sent as object };
    const { status, body } = await caller.call(method, path, call);
    if (status === wanted) return body;
    throw new Error(`${method} ${path} answered ${status}: ${JSON.stringify(body)}`);
  };
}
