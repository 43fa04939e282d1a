/** Movements through the balancer, by a caller that repeats every call until it is answered. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ENDED_STATES } from '../../domain/states/movement.ts';
import { createCaller, errorCode } from '../../test/chaos/caller.ts';
import type { SigningKey } from '../stack/keys.ts';

/** Templates of `stack/starter-templates.ts` that the checks use. */
export const WITHDRAWAL = 'starter/withdraw-to-treasury';
/** Stops with the amount in the wallet, from which a transfer then pays. */
export const GATED = 'starter/withdraw-with-gate';
export const TRANSFER = 'starter/treasury-transfer';

const POLL_MS = 300;
/** A movement in one of these does not go on by itself. */
const RESTS: readonly string[] = [...ENDED_STATES, 'WAITING_MANUAL_ACTION'];

export interface Mover {
  /** Creates a movement and approves it; returns its id. `more`: further fields of the create. */
  start(template?: string, more?: object): Promise<string>;
  /**
   * Waits until the movement has ended or is at a gate; returns its state, the last one when time
   * is up.
   */
  restOf(movementId: string, timeoutMs: number): Promise<string>;
  /** Switches the cutover mode. */
  cutover(mode: 'normal' | 'drain'): Promise<void>;
}

/** Returns a caller for movements; `base` is the API's URL with its prefix. */
export function createMover(base: string, key: SigningKey, signal: AbortSignal): Mover {
  const { call } = createCaller(base, key, signal);
  const run = Date.now().toString(36);
  let serial = 0;
  return {
    start: async (template = WITHDRAWAL, more = {}) => {
      serial += 1;
      const made = await call('POST', '/movements', {
        headers: { 'idempotency-key': `topology-${run}-${String(serial)}` },
        body: {
          template_key: template,
          template_version: 1,
          // An amount of its own for each movement, by which its payments are recognised.
          intent: { asset: 'USDC', amount: `10.${String(serial).padStart(5, '0')}1` },
          strategy_id: 'topology',
          ...more,
        },
      });
      const { movement_id: id, compiled_plan_hash } = made.body;
      if (typeof id !== 'string')
        throw new Error(`a create answered ${String(made.status)}: ${JSON.stringify(made.body)}`);
      const approved = await call('POST', `/movements/${id}/approve`, {
        body: { compiled_plan_hash, approver_id: 'topology' },
      });
      // After a try without an answer, the conflict is with that try.
      const earlier = approved.doubts > 0 && errorCode(approved.body) === 'invalid_state';
      if (approved.status !== 200 && !earlier)
        throw new Error(`an approval answered ${String(approved.status)}`);
      return id;
    },
    restOf: async (id, timeoutMs) => {
      const deadline = Date.now() + timeoutMs;
      for (;;) {
        const { body } = await call('GET', `/movements/${id}`);
        const state = String(body['request_state']);
        if (RESTS.includes(state) || Date.now() > deadline) return state;
        await sleep(POLL_MS, undefined, { signal });
      }
    },
    cutover: async (mode) => {
      const body = { mode, reason: 'check of the topology' };
      const { status } = await call('POST', '/admin/cutover-mode', { body });
      if (status !== 200) throw new Error(`the cutover mode answered ${String(status)}`);
    },
  };
}
