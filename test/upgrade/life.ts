/**
 * What a fund's database holds on some day: movements in every state, with all that belongs to
 * them. Made through the doors that callers, operators and admins use, and cut off in the middle.
 */
import { randomUUID } from 'node:crypto';
import { secretsKeyFile } from '../../dev/stack/keys.ts';
import { fundadmin } from '../../tools/command-line.ts';
import { CALLBACK_SECRET, type FaultyReceiver } from '../support/callback-receiver.ts';
import { ledgerOf, transfersOnChain } from '../support/evidence.ts';
import {
  eventually,
  startOwnStack,
  WITHDRAW_TO_TREASURY,
  type Created,
  type OwnStack,
} from '../support/own-stack.ts';
import {
  compensation,
  edge,
  gate,
  noop,
  storeTemplate,
  transfer,
  withdrawal,
} from '../support/plans.ts';

/** How a movement that is open goes on after the upgrade, and what must have left by its end. */
export interface LeftMovement {
  readonly movement_id: string;
  readonly compiled_plan_hash: string;
  readonly amount: string;
  /** Its state when everything was cut off. */
  readonly state: string;
  /** What a caller does to it then; null where it goes on by itself, or has ended. */
  readonly then: 'approve' | 'resume' | null;
  readonly ends: string;
  /** Effects at the venue, and transfers on the chain. */
  readonly paid: { readonly venue: number; readonly chain: number };
}

export interface Left {
  readonly movements: Readonly<Record<string, LeftMovement>>;
  /** A transfer between accounts that its provider has not confirmed. */
  readonly pending_transfer: string;
  /** A callback whose attempts are used up. */
  readonly dead_letter: string;
  /** Where the receiver of callbacks listens. */
  readonly receiver_port: number;
}

/** Outside the ports of stacks, so that it is free when the callbacks are delivered later. */
export const RECEIVER_PORT = 14_871;
const SECRETS_KEY = Buffer.alloc(32, 7).toString('base64');

/** What the service is set to, before an upgrade and after it. */
export const SETTINGS = {
  SVC_SECRETS_KEY: SECRETS_KEY,
  SVC_CALLBACK_ALLOWED_HOSTS_CSV: '127.0.0.1',
  SVC_CALLBACK_HMAC_SECRET: CALLBACK_SECRET,
  SVC_AUTO_APPROVE_ENABLED: 'true',
  // Nodes without an answer need a person after one second.
  SVC_NODE_UNANSWERED_TIMEOUT_SECONDS: '1',
};

/** From nothing, or where a restored state stands, without processes of the service. */
export function startLife(from?: string): Promise<OwnStack> {
  const there = from === undefined ? {} : { from, service: false };
  return startOwnStack({ split: true, env: SETTINGS, ...there });
}

/** The longest that a movement may wait for its approval. */
const WEEK = 604_800;
const SILENT = { lose_answer_rate: 1, phases: ['submit', 'recover'] };

/** Lives through it. At the end the worker was killed in the middle of a send. */
export async function live(own: OwnStack, receiver: FaultyReceiver): Promise<Left> {
  const movements: Record<string, LeftMovement> = {};
  const { chain } = own.stack;
  let serial = 10;
  const create = async (
    template: string,
    more: {
      readonly strategy_id?: string;
      readonly callback?: string;
      readonly ttl?: number;
      readonly whole?: number;
    } = {},
  ): Promise<Created & { readonly amount: string }> => {
    serial += 1;
    const amount = `${String(more.whole ?? 17)}.${String(serial)}03`;
    const body = {
      template_key: template,
      template_version: 1,
      strategy_id: more.strategy_id ?? 'core',
      intent: { asset: 'USDC', amount },
      approval_ttl_seconds: more.ttl ?? WEEK,
      idempotency_key: randomUUID(),
      ...(more.callback === undefined ? {} : { callback_url: more.callback }),
    };
    const created = (await own.api.expect(201, 'POST', '/movements', body)) as unknown as Created;
    return { ...created, amount };
  };
  const leave = (
    name: string,
    { movement_id, compiled_plan_hash, amount }: Created & { readonly amount: string },
    left: Omit<LeftMovement, 'movement_id' | 'compiled_plan_hash' | 'amount'>,
  ): void => {
    movements[name] = { movement_id, compiled_plan_hash, amount, ...left };
  };
  const ended = async (
    name: string,
    movement: Created & { readonly amount: string },
    state: string,
    paid: LeftMovement['paid'] = { venue: 0, chain: 0 },
  ): Promise<void> => {
    await own.api.reaches(movement.movement_id, state);
    leave(name, movement, { state, then: null, ends: state, paid });
  };

  const config = { destination_address: chain.accounts.treasury.address };
  const fund = await storeTemplate(own.api, [withdrawal(chain, 'pay')]);
  const once = await storeTemplate(own.api, [
    withdrawal(chain, 'pay', { config, more: { retry_policy: { max_attempts: 1 } } }),
  ]);
  const gated = await storeTemplate(
    own.api,
    [gate('check'), withdrawal(chain, 'pay', { config }), compensation('undo')],
    { edges: [edge('check', 'pay'), edge('check', 'undo', 'on_cancel')] },
  );
  const forked = await storeTemplate(
    own.api,
    [withdrawal(chain, 'pay', { config }), noop('then'), noop('instead')],
    { edges: [edge('pay', 'then'), edge('pay', 'instead', 'on_failure')] },
  );
  const onChain = await storeTemplate(own.api, [transfer(chain, 'pay')]);
  await own.api.expect(201, 'POST', '/plan-templates', {
    template_key: once,
    version: 2,
    name: 'The next version of a template',
    nodes: [withdrawal(chain, 'pay', { config })],
    completion_policy: { completion_assurance: 'destination_credited' },
  });

  // What has ended.
  const funded = await create(fund, { whole: 400 });
  await own.api.approve(funded);
  await ended('funded', funded, 'COMPLETED', { venue: 1, chain: 1 });
  const whole = await create(WITHDRAW_TO_TREASURY, { callback: receiver.url });
  await own.api.approve(whole);
  await ended('completed', whole, 'COMPLETED', { venue: 1, chain: 2 });
  await own.venueFaults({ error_rate: 1, phases: ['preflight'] });
  const failing = await create(once);
  await own.api.approve(failing);
  await ended('failed', failing, 'FAILED');
  await own.venueFaults(null);
  const rejected = await create(WITHDRAW_TO_TREASURY);
  await own.api.expect(200, 'POST', `/movements/${rejected.movement_id}/reject`, {
    approver_id: 'tester',
    reason: 'not this week',
  });
  await ended('rejected', rejected, 'REJECTED');
  const cancelled = await create(gated);
  await own.api.approve(cancelled);
  await own.api.reaches(cancelled.movement_id, 'WAITING_MANUAL_ACTION');
  await own.api.act('cancel', cancelled.movement_id);
  await ended('cancelled', cancelled, 'CANCELLED');
  await ended('expired', await create(WITHDRAW_TO_TREASURY, { ttl: 1 }), 'EXPIRED');

  // Who may call, what may be paid, what is approved by itself.
  await keys(own);
  const { client_id } = await own.api.expect(200, 'GET', '/whoami');
  await own.api.expect(201, 'POST', '/auto-approve-policies', {
    client_id,
    strategy_id: 'auto',
    allowed_assets: ['USDC'],
    allowed_templates: [{ template_key: gated }],
    max_amount_per_window: '500',
    window_hours: 720,
    max_count_per_window: 50,
  });

  // What waits for a person.
  const later = { then: 'resume', ends: 'COMPLETED', paid: { venue: 1, chain: 1 } } as const;
  const auto = await create(gated, { strategy_id: 'auto' });
  await own.api.reaches(auto.movement_id, 'WAITING_MANUAL_ACTION');
  leave('approved by a policy, at its gate', auto, { state: 'WAITING_MANUAL_ACTION', ...later });
  const held = await create(gated, { callback: receiver.url });
  await own.api.approve(held);
  await own.api.reaches(held.movement_id, 'WAITING_MANUAL_ACTION');
  leave('at its gate', held, { state: 'WAITING_MANUAL_ACTION', ...later });
  const lostCallback = await create(gated, { callback: 'https://elsewhere.example/hook' });
  await own.api.approve(lostCallback);
  await own.api.reaches(lostCallback.movement_id, 'WAITING_MANUAL_ACTION');
  const deadLetter = await deadLetterOf(own, lostCallback.movement_id);
  await own.api.act('cancel', lostCallback.movement_id);
  await ended('with a dead letter', lostCallback, 'CANCELLED');
  await own.venueFaults(SILENT);
  const unknown = await create(forked);
  await own.api.approve(unknown);
  await own.api.reaches(unknown.movement_id, 'MANUAL_INTERVENTION');
  // Its venue answers again after the restart, and the service polls it by itself.
  leave('unknown', unknown, { state: 'MANUAL_INTERVENTION', ...later, then: null });

  // What is under way: sent and not mined, sent and not confirmed, in the middle of a send.
  await own.venueFaults({ transfer_outcome: 'pending', phases: ['transfer_submit'] });
  const pending = await pendingTransfer(own);
  await own.venueFaults(null);
  await own.chainFaults({ mining: 'paused' });
  const alone = { then: null, ends: 'COMPLETED' } as const;
  const observed = await create(WITHDRAW_TO_TREASURY);
  await own.api.approve(observed);
  await own.api.nodeReaches(observed.movement_id, 'withdraw', ['OBSERVING']);
  leave('sent and not mined', observed, {
    state: 'EXECUTING',
    ...alone,
    paid: { venue: 1, chain: 2 },
  });
  const signed = await create(onChain);
  await own.api.approve(signed);
  await own.api.nodeReaches(signed.movement_id, 'pay', ['OBSERVING']);
  leave('signed, with an open nonce', signed, {
    state: 'EXECUTING',
    ...alone,
    paid: { venue: 0, chain: 1 },
  });
  leave('waiting for its approval', await create(WITHDRAW_TO_TREASURY), {
    state: 'PENDING_APPROVAL',
    then: 'approve',
    ends: 'COMPLETED',
    paid: { venue: 1, chain: 2 },
  });
  await settled(own);
  receiver.fault = () => 503;
  const flying = await create(fund, { callback: receiver.url });
  await own.venueFaults({ hold_ms: 4_000, phases: ['submit'] });
  await own.api.approve(flying);
  await own.api.nodeReaches(flying.movement_id, 'pay', ['SUBMITTING']);
  await own.stack.kill('worker');
  leave('in the middle of its send', flying, {
    state: 'EXECUTING',
    ...alone,
    paid: { venue: 1, chain: 1 },
  });
  const ready = await create(fund);
  await own.api.approve(ready);
  leave('approved, not started', ready, {
    state: 'APPROVED',
    ...alone,
    paid: { venue: 1, chain: 1 },
  });
  await eventually(
    async () =>
      (await ledgerOf(own.stack.paperVenueUrl, flying.movement_id)).length === 1 ? true : null,
    { what: () => 'the venue to book an order after its caller is gone' },
  );
  const states = Object.entries(movements).map(async ([name, { movement_id, state }]) => {
    const { request_state: now } = await own.api.movement(movement_id);
    if (now !== state) throw new Error(`${name} is ${now}, not ${state}`);
  });
  await Promise.all(states);
  return {
    movements,
    pending_transfer: pending,
    dead_letter: deadLetter,
    receiver_port: RECEIVER_PORT,
  };
}

/** A key that is in use beside the stack's own, and one that was revoked. */
async function keys(own: OwnStack): Promise<void> {
  const env = {
    SVC_DATABASE_URL: own.stack.databaseUrl,
    SVC_SECRETS_KEY_FILE: secretsKeyFile(own.stack.dataDir),
  };
  for (const words of [
    'keys issue --client-name desk --key-id desk-1 --role operator',
    'keys issue --client-name desk --key-id desk-2 --role operator',
    'keys revoke --key-id desk-1 --reason replaced',
  ]) {
    let err = '';
    const io = { env, out: () => undefined, err: (text: string) => (err += text) };
    if ((await fundadmin(words.split(' '), io)) !== 0) throw new Error(`${words}: ${err}`);
  }
}

async function deadLetterOf(own: OwnStack, movementId: string): Promise<string> {
  return eventually(
    async () => {
      const { callbacks } = (await own.api.expect(200, 'GET', '/callbacks?status=dead_letter')) as {
        readonly callbacks: readonly { readonly event_id: string; readonly movement_id: string }[];
      };
      return callbacks.find((each) => each.movement_id === movementId)?.event_id ?? null;
    },
    { what: () => 'a dead letter' },
  );
}

async function pendingTransfer(own: OwnStack): Promise<string> {
  const { transfer_id: id } = await own.api.expect(201, 'POST', '/capital-transfers', {
    source_venue: 'paper-main',
    destination_venue: 'paper-sub-a',
    asset: 'USDT',
    amount: '10',
    reason: 'a test',
    idempotency_key: randomUUID(),
  });
  const path = `/capital-transfers/${String(id)}`;
  await eventually(
    async () => {
      const { request_state: now } = await own.api.expect(200, 'GET', path);
      return now === 'PENDING_PROVIDER_CONFIRMATION' ? true : null;
    },
    { what: () => 'the transfer to wait for its provider' },
  );
  return String(id);
}

/** Callbacks are delivered and the audit trail is sealed: their loops have nothing more to do. */
async function settled(own: OwnStack): Promise<void> {
  await eventually(
    async () => {
      const [left] = await own.query<{ count: number }>(
        `SELECT (SELECT count(*) FROM callbacks WHERE status = 'pending')::int
           + (SELECT count(*) FROM audit_events LEFT JOIN audit_seals s USING (event_id)
              WHERE s.event_id IS NULL)::int AS count`,
      );
      return left?.count === 0 ? true : null;
    },
    { what: () => 'callbacks to be delivered and audit rows to be sealed' },
  );
}

/** How often a movement was paid, by those who did. */
export async function paid(own: OwnStack, of: LeftMovement): Promise<LeftMovement['paid']> {
  const [entries, transfers] = await Promise.all([
    ledgerOf(own.stack.paperVenueUrl, of.movement_id),
    transfersOnChain(own.stack.chain),
  ]);
  return {
    venue: entries.reduce((sum, { effects }) => sum + effects, 0),
    chain: transfers.filter(({ amount }) => amount === of.amount).length,
  };
}
