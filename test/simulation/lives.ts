/** What callers and operators do: each movement has a life of its own, made up by the seed. */
import type { Machine } from './machine/machine.ts';
import { PAYEES, type TransferNode } from './payees.ts';
import { CALLBACK_HOST, type Api, type ApiAnswer } from './service.ts';
import { CHAIN_ID, TOKEN } from './worlds/binding.ts';
import type { Chain } from './worlds/chain.ts';
import type { Desk } from './worlds/desk.ts';

export interface Life {
  readonly number: number;
  readonly template: string;
  /** The nodes of its plan that send on the chain. */
  readonly transfers: readonly string[];
  readonly amount: string;
  movement_id: string | null;
  /** When each command was first sent, in milliseconds since 1970; null: never. */
  readonly sent: Record<Command, number | null>;
  /** Which commands the service has accepted, and when it said so. */
  readonly accepted: Record<Command, number | null>;
  state: string | null;
  isOver: boolean;
}

export type Command = 'approve' | 'reject' | 'cancel' | 'resume';

/** All lives of a world, and what they noticed. */
export interface Lives {
  readonly list: readonly Life[];
  /** When an administrator stopped all new money and let it in again, as the answers said. */
  readonly stops: { readonly from: number; to: number | null }[];
  /** Movements that waited for a person and did not say so. */
  readonly silent: { readonly movement_id: string; readonly state: string }[];
  /** Requests that failed after the storm. */
  readonly failed: { readonly request: string; readonly status: number }[];
}

export interface LivesOptions {
  readonly machine: Machine;
  readonly movements: number;
  readonly desks: readonly Desk[];
  readonly chain: Pick<Chain, 'transferOf'>;
  /** An API that is up; null while none is. */
  readonly api: () => Api | null;
  readonly isCalm: () => boolean;
}

interface Shape {
  readonly name: string;
  readonly nodes: readonly object[];
  readonly edges: readonly object[];
  readonly assurance?: string;
}

/** How long a caller waits for an answer, in milliseconds. */
const PATIENCE_MS = 30_000;
/** Milliseconds within which all movements begin. */
const BEGIN_WITHIN_MS = 240_000;
/** An order is a multiple of this, so that amounts tell movements apart. */
const UNIT = 1_000;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The plans of a world: payments in a row, side by side, behind a gate, in place of others. */
function shapes(desks: readonly Desk[]): readonly Shape[] {
  const [keyed = '', blind = ''] = desks.map(({ descriptor }) => descriptor.executor_key);
  const pay = (node_key: string, executor: string, node_kind = 'action') => {
    const action_type = executor.replace('.', '_');
    return {
      node_key,
      node_kind,
      action_type,
      executor_selector: { action_type },
      has_side_effect: true,
      config: { payee: PAYEES['desk'] },
      retry_policy: { max_attempts: 5, initial_interval_seconds: 1 },
    };
  };
  const send = (node_key: TransferNode, profile: string) => ({
    node_key,
    node_kind: 'action',
    action_type: 'evm_erc20_transfer',
    executor_selector: { action_type: 'evm_erc20_transfer', chain_family: 'evm' },
    signer_selector: { chain_family: 'evm', profile },
    has_side_effect: true,
    config: {
      asset: 'USDC',
      chain_id: CHAIN_ID,
      token_address: TOKEN,
      destination_address: PAYEES[node_key],
    },
    retry_policy: { max_attempts: 5, initial_interval_seconds: 1 },
  });
  const gate = { node_key: 'gate', node_kind: 'manual_gate', action_type: 'manual_gate' };
  const noop = { node_key: 'done', node_kind: 'action', action_type: 'noop' };
  const edge = (from: string, to: string, edge_type = 'on_success') => ({ from, to, edge_type });
  return [
    { name: 'one', nodes: [pay('pay', keyed)], edges: [] },
    { name: 'blind', nodes: [pay('pay', blind)], edges: [] },
    {
      name: 'row',
      nodes: [pay('first', keyed), pay('second', blind), noop],
      edges: [edge('first', 'second'), edge('second', 'done')],
    },
    {
      name: 'side-by-side',
      nodes: [pay('left', keyed), pay('right', blind), noop],
      edges: [edge('left', 'done'), edge('right', 'done')],
    },
    {
      name: 'gated',
      nodes: [pay('before', keyed), gate, pay('after', keyed)],
      edges: [edge('before', 'gate'), edge('gate', 'after')],
    },
    {
      name: 'instead',
      nodes: [pay('try', blind), pay('instead', keyed), noop],
      edges: [edge('try', 'done'), edge('try', 'instead', 'on_failure')],
    },
    {
      name: 'undone',
      nodes: [pay('pay', keyed), pay('more', blind), pay('undo', keyed, 'compensation')],
      edges: [edge('pay', 'more'), edge('pay', 'undo', 'on_cancel')],
    },
    { name: 'chain', nodes: [send('send', 'treasury')], edges: [] },
    {
      name: 'chain-final',
      nodes: [send('final', 'treasury')],
      edges: [],
      assurance: 'destination_finalized',
    },
    {
      name: 'chain-row',
      nodes: [pay('pay', keyed), send('forward', 'operations')],
      edges: [edge('pay', 'forward')],
    },
    {
      name: 'chain-pair',
      nodes: [send('one', 'treasury'), send('two', 'treasury'), noop],
      edges: [edge('one', 'done'), edge('two', 'done')],
    },
    {
      name: 'chain-instead',
      nodes: [send('attempt', 'operations'), pay('instead', keyed), noop],
      edges: [edge('attempt', 'done'), edge('attempt', 'instead', 'on_failure')],
    },
    {
      name: 'chain-undone',
      nodes: [
        send('before-gate', 'operations'),
        gate,
        pay('after', keyed),
        pay('undo', keyed, 'compensation'),
      ],
      edges: [
        edge('before-gate', 'gate'),
        edge('gate', 'after'),
        edge('before-gate', 'undo', 'on_cancel'),
      ],
    },
  ];
}

/** Begins all lives; their `isOver` tells when each has ended. */
export function live(options: LivesOptions): Lives {
  const { machine, movements, desks } = options;
  const plans = shapes(desks);
  const list = Array.from({ length: movements }, (_, number): Life => {
    const plan = machine.dice.pick(plans);
    return {
      number,
      template: `simulation/${plan.name}`,
      transfers: plan.nodes.flatMap((node) =>
        'signer_selector' in node && 'node_key' in node ? [String(node.node_key)] : [],
      ),
      amount: `${String(number + 1)}.${String(UNIT + number).slice(-3)}`,
      movement_id: null,
      sent: { approve: null, reject: null, cancel: null, resume: null },
      accepted: { approve: null, reject: null, cancel: null, resume: null },
      state: null,
      isOver: false,
    };
  });
  const lives: Lives = { list, stops: [], silent: [], failed: [] };
  void begin(options, plans, lives);
  return lives;
}

async function begin(options: LivesOptions, plans: readonly Shape[], lives: Lives): Promise<void> {
  const caller = new Caller(options, lives);
  for (const { name, nodes, edges, assurance = 'provider_completed' } of plans) {
    const body = {
      template_key: `simulation/${name}`,
      version: 1,
      name,
      nodes,
      edges,
      completion_policy: { completion_assurance: assurance },
    };
    // A registration whose answer was lost is there when it is sent again.
    const { status, body: answer } = await caller.insist('POST', '/plan-templates', body, {});
    if (status !== 201 && status !== 409)
      throw new Error(`the plan ${name} was not taken: ${JSON.stringify(answer)}`);
  }
  for (const life of lives.list) void new Operator(options, caller, lives, life).run();
  void administer(options, caller, lives);
}

/** Milliseconds until an administrator stops new money, and until it is let in again. */
const STOPS_AFTER_MS = [20_000, 200_000] as const;
const STOPPED_MS = [40_000, 120_000] as const;
/** How often a world has such a stop. */
const STOPPED = 0.5;

async function administer(
  { machine: { dice }, machine }: LivesOptions,
  caller: Caller,
  { stops }: Lives,
): Promise<void> {
  if (!dice.chance(STOPPED)) return;
  const set = (mode: string): Promise<ApiAnswer> =>
    caller.insist('POST', '/admin/cutover-mode', { mode, reason: 'simulation' }, {});
  await sleep(dice.between(...STOPS_AFTER_MS));
  await set('frozen');
  const stop: Lives['stops'][number] = { from: machine.now, to: null };
  stops.push(stop);
  await sleep(dice.between(...STOPPED_MS));
  stop.to = machine.now;
  await set('normal');
}

class Caller {
  readonly #options: LivesOptions;
  readonly #lives: Lives;
  constructor(options: LivesOptions, lives: Lives) {
    this.#options = options;
    this.#lives = lives;
  }

  /** Status 0: no answer came. */
  async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<ApiAnswer> {
    const { machine } = this.#options;
    const none: ApiAnswer = { status: 0, body: {} };
    const isCalm = this.#options.isCalm();
    const answer = await machine.step(`${method} ${path}`, async () => {
      const api = this.#options.api();
      return { work: api?.call(method, path, body, headers) ?? null };
    });
    if (answer.work === null) {
      await sleep(1_000);
      return none;
    }
    const found = await Promise.race([answer.work, sleep(PATIENCE_MS).then(() => none)]);
    machine.log(`callers ${method} ${path}: ${String(found.status)}`);
    if (isCalm && found.status >= 500)
      this.#lives.failed.push({ request: `${method} ${path}`, status: found.status });
    return found;
  }

  /** Sends until the service has said something about it. */
  async insist(
    method: string,
    path: string,
    body: unknown,
    headers: Readonly<Record<string, string>>,
  ): Promise<ApiAnswer> {
    for (;;) {
      const answer = await this.send(method, path, body, headers);
      if (answer.status !== 0 && answer.status < 500) return answer;
      await sleep(1_000);
    }
  }
}

const NEEDS_A_PERSON = ['WAITING_MANUAL_ACTION', 'MANUAL_INTERVENTION'];

function isRefusal(detail: unknown, code: string): boolean {
  return typeof detail === 'object' && detail !== null && Reflect.get(detail, 'error') === code;
}

interface NodeView {
  readonly node_key: string;
  readonly state: string;
  readonly attempt: number;
  readonly error_message?: string | null;
}

const isSent = ({ state }: NodeView): boolean => state === 'OBSERVING' || state === 'UNKNOWN';

/** Looks after one movement. */
class Operator {
  readonly #options: LivesOptions;
  readonly #caller: Caller;
  readonly #lives: Lives;
  readonly #life: Life;
  #retries = 0;
  readonly #cancelled = new Set<string>();
  /** People who may still click on the movement. */
  #clickers = 0;

  constructor(options: LivesOptions, caller: Caller, lives: Lives, life: Life) {
    this.#options = options;
    this.#caller = caller;
    this.#lives = lives;
    this.#life = life;
  }

  async run(): Promise<void> {
    const { machine, isCalm } = this.#options;
    const { dice } = machine;
    const life = this.#life;
    await sleep(dice.between(1, BEGIN_WITHIN_MS));
    const { status, body } = await this.#create();
    if (status !== 201 && status !== 200)
      throw new Error(`a movement was not taken: ${String(status)} ${JSON.stringify(body)}`);
    const id = String(body['movement_id']);
    life.movement_id = id;
    const decision = dice.pick(['approve', 'reject', 'nothing'] as const, (each) =>
      each === 'approve' ? 18 : 1,
    );
    await sleep(dice.between(0, 20_000));
    if (decision === 'approve') {
      const approval = { compiled_plan_hash: body['compiled_plan_hash'], approver_id: 'operator' };
      // Two people at two screens, now and then.
      if (dice.chance(0.1)) {
        this.#clickers += 1;
        void this.#command('approve', `/movements/${id}/approve`, approval).then(
          () => (this.#clickers -= 1),
        );
      }
      await this.#command('approve', `/movements/${id}/approve`, approval);
      void this.#meddle(id);
    } else if (decision === 'reject') {
      await this.#command('reject', `/movements/${id}/reject`, { approver_id: 'operator' });
    }
    const cancelAt = dice.chance(0.3) ? machine.now + dice.between(0, 60_000) : null;
    let isCancelled = false;
    const mayCancelTransaction = dice.chance(0.15);
    for (;;) {
      await sleep(dice.between(2_000, 10_000));
      if (cancelAt !== null && !isCancelled && machine.now >= cancelAt) {
        isCancelled = true;
        await this.#command('cancel', `/movements/${id}/actions/cancel`);
      }
      const seen = await this.#caller.send('GET', `/movements/${id}`);
      if (seen.status !== 200) continue;
      const state = String(seen.body['request_state']);
      life.state = state;
      if (NEEDS_A_PERSON.includes(state) && seen.body['attention'] == null)
        this.#lives.silent.push({ movement_id: id, state });
      const nodes = seen.body['nodes'] as readonly NodeView[];
      if (mayCancelTransaction && dice.chance(0.5))
        await this.#cancelTransaction(id, nodes, isSent);
      const isOver = await this.#isOver(id, state, nodes);
      if (isOver && this.#clickers === 0) break;
      if (isCalm() && state === 'PENDING_APPROVAL') await sleep(30_000);
    }
    life.isOver = true;
  }

  /** Sends a command until the service has said something about it, and keeps what it said. */
  async #command(command: Command, path: string, body?: unknown): Promise<void> {
    const { machine } = this.#options;
    const { sent, accepted } = this.#life;
    sent[command] ??= machine.now;
    const { status } = await this.#caller.insist('POST', path, body, {});
    if (status === 200) accepted[command] ??= machine.now;
  }

  /** Creates the movement; while an administrator has stopped new money, again and again. */
  async #create(): Promise<ApiAnswer> {
    const { number, template, amount } = this.#life;
    const body = {
      template_key: template,
      template_version: 1,
      intent: { asset: 'USDC', amount },
      strategy_id: 'simulation',
      approval_ttl_seconds: 120,
      callback_url: `https://${CALLBACK_HOST}/`,
    };
    for (;;) {
      const answer = await this.#caller.insist('POST', '/movements', body, {
        'idempotency-key': `life-${String(number)}`,
      });
      if (!Object.values(answer.body).some((each) => isRefusal(each, 'cutover_mode_active')))
        return answer;
      await sleep(15_000);
    }
  }

  /** Somebody clicks on what may not be possible now. */
  async #meddle(id: string): Promise<void> {
    const { dice } = this.#options.machine;
    this.#clickers += 1;
    while (dice.chance(0.3)) {
      await sleep(dice.between(0, 40_000));
      const action = dice.pick(['resume', 'retry', 'acknowledge'] as const);
      if (action === 'resume') this.#life.sent.resume ??= this.#options.machine.now;
      await this.#act(`/movements/${id}/actions/${action}`);
    }
    this.#clickers -= 1;
  }

  async #isOver(id: string, state: string, nodes: readonly NodeView[]): Promise<boolean> {
    const { machine } = this.#options;
    const life = this.#life;
    switch (state) {
      case 'FAILED':
        if (this.#retries >= 2 || !machine.dice.chance(0.5)) return true;
        this.#retries += 1;
        await this.#act(`/movements/${id}/actions/retry`);
        return false;
      case 'WAITING_MANUAL_ACTION':
        life.sent.resume ??= machine.now;
        await this.#act(`/movements/${id}/actions/resume`);
        return false;
      case 'MANUAL_INTERVENTION':
        for (const node of nodes)
          if (node.state !== 'UNKNOWN') continue;
          else if (life.transfers.includes(node.node_key)) await this.#lookAgain(id, node);
          else await this.#resolve(id, node);
        return false;
      case 'CANCELLED':
        for (const node of nodes) if (node.state === 'UNKNOWN') await this.#resolve(id, node);
        return nodes.every(({ state: each }) =>
          ['COMPLETED', 'FAILED', 'SKIPPED', 'CANCELLED'].includes(each),
        );
      default:
        return ['COMPLETED', 'REJECTED', 'EXPIRED'].includes(state);
    }
  }

  /** A chain shows by itself what became of a transaction: no person has to say it. */
  async #lookAgain(id: string, { node_key, attempt, state }: NodeView): Promise<void> {
    const verb = this.#options.machine.dice.pick(['resume', 'retry'] as const);
    await this.#act(`/movements/${id}/actions/${verb}`, { node_key, attempt, state });
  }

  /** A person reads the chain, and says what is sure. */
  async #resolveTransfer(id: string, node_key: string): Promise<void> {
    const { chain } = this.#options;
    const { amount } = this.#life;
    await sleep(40_000);
    const found = chain.transferOf(PAYEES[node_key] ?? '', amount);
    if (found === 'not final') return;
    await this.#act(`/movements/${id}/nodes/${node_key}/actions/resolve`, {
      outcome: found === null ? 'failed' : 'completed',
      reason: 'the chain shows it',
      evidence: { tx_hash: found ?? 'none' },
      ...(found === null ? {} : { output: { submitted_amount: amount, received_amount: amount } }),
    });
  }

  /** A person has another transaction take the place of a payment, once at most for each node. */
  async #cancelTransaction(
    id: string,
    nodes: readonly NodeView[],
    isIt: (node: NodeView) => boolean,
  ): Promise<void> {
    for (const node of nodes) {
      const { node_key, attempt } = node;
      const one = `${node_key} ${String(attempt)}`;
      if (!isIt(node) || !this.#life.transfers.includes(node_key)) continue;
      if (this.#cancelled.has(one)) continue;
      this.#cancelled.add(one);
      await this.#act(`/movements/${id}/nodes/${node_key}/actions/cancel-transaction`, {
        reason: 'the payment is no longer wanted',
      });
    }
  }

  /** A person asks the desk itself, and says what its books say. */
  async #resolve(id: string, { node_key, attempt }: NodeView): Promise<void> {
    const { desks, machine } = this.#options;
    if (this.#life.transfers.includes(node_key)) return this.#resolveTransfer(id, node_key);
    // Sometimes the service is left to find out.
    if (machine.dice.chance(0.3)) return;
    // Whoever answers for the desk does so when nothing is on its way.
    await sleep(40_000);
    const key = `${id}:${node_key}:${String(attempt)}`;
    const order = desks.flatMap((desk) => desk.orderOf(key) ?? [])[0];
    if (order?.state === 'taken') return;
    const isPaid = order?.state === 'paid';
    await this.#act(`/movements/${id}/nodes/${node_key}/actions/resolve`, {
      outcome: isPaid ? 'completed' : 'failed',
      reason: 'the books of the desk say so',
      evidence: { ticket: '1' },
      ...(isPaid
        ? { output: { submitted_amount: order.amount, received_amount: order.amount } }
        : {}),
    });
  }

  async #act(path: string, body?: unknown): Promise<ApiAnswer> {
    return this.#caller.send('POST', path, body);
  }
}
