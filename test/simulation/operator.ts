/** Whoever looks after one movement: a caller that creates it, and the people who decide. */
import type { PlannedStop } from './administrator.ts';
import { codeOf, sleep, type Caller } from './caller.ts';
import type { Click, Command, Life, Lives, LivesOptions } from './life.ts';
import { PAYEES } from './payees.ts';
import { CALLBACK_HOST, type ApiAnswer } from './service.ts';
import type { AtExchange } from './worlds/at-exchange.ts';
import { receivedOf } from './worlds/desk.ts';
import { ARRIVES_WITHIN_MS, leftWith } from './worlds/exchange.ts';

/** Milliseconds within which all movements begin. */
const BEGIN_WITHIN_MS = 240_000;
/** So many begin within the minute before the long freeze. */
const BEGINS_BEFORE_FREEZE = 0.5;
const BEFORE_FREEZE_MS = 60_000;
/**
 * An approval waits at most that long for a stop, and comes at most that long before it is
 * requested: from an approval to its first fence it takes 10 to 120 ms.
 */
const WAITS_FOR_STOP_MS = 60_000;
const BEFORE_STOP_MS = 200;
/** A cancel comes at most so many milliseconds after the approval. */
const CANCELS_WITHIN_MS = [150, 4_000, 60_000] as const;
/** Longer than the long freeze, so that few movements expire before somebody may approve them. */
const APPROVAL_TTL_SECONDS = 300;
/** Milliseconds between two looks of a person. */
const LOOKS_AFTER_MS = [4_000, 16_000] as const;
/** So often a person who is needed has the movement cancelled. */
const CALLS_OFF = 0.1;
/** How long a person who hears of a refusal goes on to click, in milliseconds. */
const IMPATIENT_MS = 700;

const NEEDS_A_PERSON = ['WAITING_MANUAL_ACTION', 'MANUAL_INTERVENTION'];
/** What a person can do about each state; one of them must be offered. */
const LEADS_ON: Readonly<Record<string, readonly string[]>> = {
  WAITING_MANUAL_ACTION: ['resume'],
  MANUAL_INTERVENTION: ['resume', 'retry', 'resolve'],
};
/** Refusals of a create or an approval that end by themselves. */
const FOR_NOW = [
  'cutover_mode_active',
  'address_not_allowlisted',
  'binding_unresolved',
  'binding_unavailable',
];

interface NodeView {
  readonly node_key: string;
  readonly node_kind: string;
  readonly state: string;
  readonly attempt: number;
  readonly error_code: string | null;
  readonly error_message: string | null;
}

interface Offer {
  readonly action: string;
  readonly node_key?: string;
  readonly attempt?: number;
  readonly state?: string;
}

const canCancel = (offers: readonly Offer[], { node_key }: NodeView): boolean =>
  offers.some((each) => each.action === 'cancel_transaction' && each.node_key === node_key);
const isSent = ({ state }: NodeView): boolean => state === 'OBSERVING' || state === 'UNKNOWN';

function isWaiting({ body }: ApiAnswer): boolean {
  return ['FAILED', ...NEEDS_A_PERSON].includes(String(body['request_state']));
}

/** Whether only a person, or an answer about what was sent, leads on. */
function waitsForAPerson({ node_kind, state }: NodeView): boolean {
  return state === 'UNKNOWN' || (state === 'READY' && node_kind === 'manual_gate');
}

/** Whether it does not say why its outcome is unknown. */
function isUnexplained({ state, error_code, error_message }: NodeView): boolean {
  return state === 'UNKNOWN' && (error_code === null || error_message === null);
}

function offersOf({ body }: ApiAnswer): readonly Offer[] {
  const { attention } = body;
  return typeof attention === 'object' && attention !== null && 'actions' in attention
    ? (attention.actions as readonly Offer[])
    : [];
}

const weightOf = ({ stopped }: PlannedStop): number => (stopped.what === 'mode' ? 3 : 1);

export class Operator {
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
    await sleep(this.#beginsIn());
    const { status, body } = await this.#create();
    if (status !== 201 && status !== 200)
      throw new Error(`a movement was not taken: ${String(status)} ${JSON.stringify(body)}`);
    const id = String(body['movement_id']);
    life.movement_id = id;
    if (dice.chance(0.2)) await this.#createAgain(id);
    const decision = dice.pick(['approve', 'reject', 'nothing'] as const, (each) =>
      each === 'approve' ? 30 : 1,
    );
    if (dice.chance(0.06)) this.#besides(() => this.#cancel(id, dice.between(0, 20_000)));
    await sleep(this.#decidesIn());
    if (decision === 'approve') {
      const approval = { compiled_plan_hash: body['compiled_plan_hash'], approver_id: 'operator' };
      // Two people at two screens, now and then.
      if (dice.chance(0.1)) this.#besides(() => this.#approve(id, approval));
      if (dice.chance(0.15)) this.#besides(() => this.#cancel(id, dice.between(0, 250)));
      await this.#approve(id, approval);
      this.#besides(() => this.#meddle(id));
      if (dice.chance(0.3)) this.#besides(() => this.#actLate(id));
    } else if (decision === 'reject') {
      await this.#command('reject', `/movements/${id}/reject`, { approver_id: 'operator' });
    }
    const within = dice.pick(CANCELS_WITHIN_MS);
    if (dice.chance(0.4)) this.#besides(() => this.#cancel(id, dice.between(0, within)));
    const mayCancelTransaction = dice.chance(0.15);
    for (;;) {
      await sleep(dice.between(...LOOKS_AFTER_MS));
      const seen = await this.#caller.send('GET', `/movements/${id}`);
      if (seen.status !== 200) continue;
      const state = String(seen.body['request_state']);
      life.state = state;
      const offers = offersOf(seen);
      const leads = LEADS_ON[state];
      const nodes = seen.body['nodes'] as readonly NodeView[];
      // Of a node whose outcome is known, the run has still to hear: liveness.ts has that.
      if (leads !== undefined && nodes.some(waitsForAPerson))
        if (!offers.some(({ action }) => leads.includes(action)))
          this.#lives.silent.push({ movement_id: id, state });
      if (nodes.some(isUnexplained)) this.#lives.silent.push({ movement_id: id, state });
      if (mayCancelTransaction && dice.chance(0.5))
        await this.#cancelTransaction(id, nodes, isSent);
      const isOver = await this.#isOver(id, state, nodes, offers);
      if (isOver && this.#clickers === 0) break;
      if (isCalm() && state === 'PENDING_APPROVAL') await sleep(30_000);
    }
    life.isOver = true;
  }

  /**
   * The desk says that it has refused a payment, to the service and to a person, who retries again
   * and again while the service decides what follows.
   */
  hearOfRefusal(node_key: string, key: string): void {
    const { machine } = this.#options;
    const id = this.#life.movement_id;
    if (id === null || !machine.dice.chance(0.7)) return;
    const attempt = Number(key.split(':')[2]);
    const until = machine.now + IMPATIENT_MS;
    this.#besides(async () => {
      while (machine.now < until) {
        await sleep(machine.dice.between(1, 15));
        const { status } = await this.#click(id, 'retry', { node_key, attempt, state: 'FAILED' });
        if (status === 200) return;
      }
    });
  }

  #beginsIn(): number {
    const { dice, now } = this.#options.machine;
    const { exchange, movements } = this.#options;
    if (exchange !== null) return dice.between(1, exchange.everyMs * movements);
    const freeze = this.#lives.stops.find(
      ({ stopped, lasts }) => stopped.what === 'mode' && lasts > BEFORE_FREEZE_MS,
    );
    return freeze === undefined || !dice.chance(BEGINS_BEFORE_FREEZE)
      ? dice.between(1, BEGIN_WITHIN_MS)
      : Math.max(1, freeze.at - now - dice.between(0, BEFORE_FREEZE_MS));
  }

  /** Many people decide right before something is stopped. */
  #decidesIn(): number {
    const { dice, now } = this.#options.machine;
    const near = this.#lives.stops.filter(({ at }) => at > now && at < now + WAITS_FOR_STOP_MS);
    return near.length === 0 || dice.chance(0.3)
      ? dice.between(0, 20_000)
      : Math.max(0, dice.pick(near, weightOf).at - now - dice.between(0, BEFORE_STOP_MS));
  }

  /** Somebody else acts; the life goes on until all have ended. */
  #besides(act: () => Promise<void>): void {
    this.#clickers += 1;
    void act().then(() => (this.#clickers -= 1));
  }

  /** Sends a command until the service has said something about it, and keeps what it said. */
  async #command(command: Command, path: string, body?: unknown): Promise<ApiAnswer> {
    const { machine } = this.#options;
    const { sent, accepted } = this.#life;
    sent[command] ??= machine.now;
    const answer = await this.#caller.insist('POST', path, body);
    if (answer.status === 200) accepted[command] ??= machine.now;
    return answer;
  }

  /** Approves; again and again while what the plan needs is switched off. */
  async #approve(id: string, approval: object): Promise<void> {
    for (;;) {
      const answer = await this.#command('approve', `/movements/${id}/approve`, approval);
      if (!FOR_NOW.includes(codeOf(answer))) return;
      await sleep(3_000);
    }
  }

  async #cancel(id: string, after: number): Promise<void> {
    await sleep(after);
    await this.#command('cancel', `/movements/${id}/actions/cancel`);
  }

  get #request(): Readonly<Record<string, unknown>> {
    const { template, asset, amount } = this.#life;
    return {
      template_key: template,
      template_version: 1,
      intent: { asset, amount },
      strategy_id: 'simulation',
      approval_ttl_seconds: APPROVAL_TTL_SECONDS,
      callback_url: `https://${CALLBACK_HOST}/`,
    };
  }

  #create(body = this.#request): Promise<ApiAnswer> {
    const headers = { 'idempotency-key': `life-${String(this.#life.number)}` };
    const send = (): Promise<ApiAnswer> =>
      this.#caller.insist('POST', '/movements', body, headers).then(async (answer) => {
        if (!FOR_NOW.includes(codeOf(answer))) return answer;
        await sleep(10_000);
        return send();
      });
    return send();
  }

  /** A caller repeats its create, or sends another one under the same key. */
  async #createAgain(id: string): Promise<void> {
    const isChanged = this.#options.machine.dice.chance(0.5);
    const intent = { asset: this.#life.asset, amount: '1000000.000001' };
    const answer = await this.#create(isChanged ? { ...this.#request, intent } : this.#request);
    const isRight = isChanged
      ? answer.status === 409 && codeOf(answer) === 'idempotency_conflict'
      : answer.status === 200 && answer.body['movement_id'] === id;
    if (isRight) return;
    const which = isChanged ? 'changed' : 'repeated';
    const found = `its ${which} create answers ${String(answer.status)} ${codeOf(answer)}`;
    this.#lives.wrong.push({ movement_id: id, found });
  }

  /** Somebody clicks on what may not be possible now. */
  async #meddle(id: string): Promise<void> {
    const { dice } = this.#options.machine;
    while (dice.chance(0.4)) {
      await sleep(dice.between(0, 40_000));
      const action = dice.pick(['resume', 'retry', 'acknowledge'] as const);
      if (action === 'acknowledge') await this.#acknowledge(id);
      else if (!this.#life.isNaming) await this.#click(id, action, null);
      else await this.#clickOn(id);
    }
  }

  /** Somebody reads, is called away, and then acts on what was read. */
  async #actLate(id: string): Promise<void> {
    const { dice } = this.#options.machine;
    for (let times = dice.between(1, 3); times > 0; times -= 1) {
      await sleep(dice.between(0, 40_000));
      const seen = await this.#caller.send('GET', `/movements/${id}`);
      const offer = offersOf(seen).find(({ action }) => action === 'resume' || action === 'retry');
      if (offer === undefined) continue;
      await sleep(dice.between(0, 15_000));
      await this.#take(id, offer);
    }
  }

  /** Names any node as it was a moment ago, with the command that its movement seems to need. */
  async #clickOn(id: string): Promise<void> {
    const { dice } = this.#options.machine;
    const look = (): Promise<ApiAnswer> => this.#caller.send('GET', `/movements/${id}`);
    let seen = await look();
    // Whoever meddles does so while something waits for a person.
    for (let looks = 4; looks > 0 && !isWaiting(seen); looks -= 1) {
      await sleep(dice.between(2_000, 10_000));
      seen = await look();
    }
    if (seen.status !== 200) return;
    const { node_key, attempt, state } = dice.pick(seen.body['nodes'] as readonly NodeView[]);
    await sleep(dice.between(0, 3_000));
    const verb = seen.body['request_state'] === 'WAITING_MANUAL_ACTION' ? 'resume' : 'retry';
    await this.#click(id, verb, { node_key, attempt, state });
  }

  /** Does what was offered; now and then with two clicks, the second one late. */
  async #take(id: string, { action, node_key, attempt, state }: Offer): Promise<void> {
    const { dice } = this.#options.machine;
    const verb = action === 'resume' ? 'resume' : 'retry';
    if (node_key === undefined || attempt === undefined || state === undefined) return;
    const named = { node_key, attempt, state };
    await this.#click(id, verb, named);
    if (!dice.chance(0.6)) return;
    this.#besides(async () => {
      await sleep(dice.between(0, 30_000));
      await this.#click(id, verb, named);
    });
  }

  #click(id: string, verb: Click['verb'], named: Click['named']): Promise<ApiAnswer> {
    this.#lives.clicks.push({ movement_id: id, verb, named, at: this.#options.machine.now });
    return this.#act(`/movements/${id}/actions/${verb}`, named ?? undefined);
  }

  async #acknowledge(id: string): Promise<void> {
    await this.#act(`/movements/${id}/actions/acknowledge`, { reason: 'seen' });
  }

  async #isOver(
    id: string,
    state: string,
    nodes: readonly NodeView[],
    offers: readonly Offer[],
  ): Promise<boolean> {
    const { dice } = this.#options.machine;
    const life = this.#life;
    const offered = (verb: Click['verb']): Offer | undefined =>
      offers.find(({ action }) => action === verb);
    const follow = async (verb: Click['verb']): Promise<void> => {
      const offer = offered(verb);
      if (life.isNaming && offer !== undefined) await this.#take(id, offer);
      else if (!life.isNaming) await this.#click(id, verb, null);
    };
    switch (state) {
      case 'FAILED':
        if (dice.chance(0.2)) await this.#acknowledge(id);
        if (this.#retries >= 2 || !dice.chance(0.6)) return true;
        this.#retries += 1;
        if (offered('retry') === undefined) return true;
        await follow('retry');
        return false;
      case 'WAITING_MANUAL_ACTION':
        // A person is not at the gate all the time.
        await sleep(dice.between(0, 15_000));
        if (dice.chance(CALLS_OFF)) await this.#cancel(id, 0);
        await follow('resume');
        return false;
      case 'MANUAL_INTERVENTION':
        if (dice.chance(CALLS_OFF)) await this.#cancel(id, 0);
        for (const node of nodes)
          if (node.state !== 'UNKNOWN') continue;
          else if (life.transfers.includes(node.node_key) || dice.chance(0.3))
            await follow(dice.pick(['resume', 'retry'] as const));
          else await this.#resolve(id, node);
        return false;
      case 'CANCELLED':
        for (const node of nodes)
          if (node.state === 'UNKNOWN')
            if (canCancel(offers, node)) await this.#freeNonce(id, node);
            else await this.#resolve(id, node);
          else if (node.state === 'FAILED' && this.#retries < 2 && dice.chance(0.5)) {
            this.#retries += 1;
            await follow('retry');
            return false;
          }
        return nodes.every(({ state: each }) =>
          ['COMPLETED', 'FAILED', 'SKIPPED', 'CANCELLED'].includes(each),
        );
      default:
        return ['COMPLETED', 'REJECTED', 'EXPIRED'].includes(state);
    }
  }

  /** A person reads the chain, and says what is sure. */
  async #resolveTransfer(
    id: string,
    { node_key, attempt }: Pick<NodeView, 'node_key' | 'attempt'>,
  ): Promise<void> {
    const { chain } = this.#options;
    const { amount } = this.#life;
    await sleep(40_000);
    const found = chain.transferOf(PAYEES[node_key] ?? '', amount);
    if (found === 'not final') return;
    await this.#act(`/movements/${id}/nodes/${node_key}/actions/resolve`, {
      attempt,
      outcome: found === null ? 'failed' : 'completed',
      reason: 'the chain shows it',
      evidence: { tx_hash: found ?? 'none' },
      ...(found === null ? {} : { output: { submitted_amount: amount, received_amount: amount } }),
    });
  }

  async #freeNonce(id: string, { node_key }: NodeView): Promise<void> {
    await this.#act(`/movements/${id}/nodes/${node_key}/actions/cancel-transaction`, {
      reason: 'the payment is no longer wanted',
    });
  }

  /** Some people have another transaction take the place of a payment, once for each attempt. */
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
      await this.#freeNonce(id, node);
    }
  }

  /** A person asks the desk itself, and says what its books say. */
  async #resolve(id: string, { node_key, attempt }: NodeView): Promise<void> {
    const { desks, exchange, machine } = this.#options;
    if (this.#life.transfers.includes(node_key))
      return this.#resolveTransfer(id, { node_key, attempt });
    // Sometimes the service is left to find out.
    if (machine.dice.chance(0.3)) return;
    if (exchange !== null) return this.#resolveWithdrawal(id, { node_key, attempt }, exchange);
    // Whoever answers for the desk does so when nothing is on its way, and is not always quick.
    await sleep(40_000 + (machine.dice.chance(0.3) ? machine.dice.between(0, 150_000) : 0));
    const key = `${id}:${node_key}:${String(attempt)}`;
    const order = desks.flatMap((desk) => desk.orderOf(key) ?? [])[0];
    if (order?.state === 'taken') return;
    const isPaid = order?.state === 'paid';
    await this.#act(`/movements/${id}/nodes/${node_key}/actions/resolve`, {
      attempt,
      outcome: isPaid ? 'completed' : 'failed',
      reason: 'the books of the desk say so',
      evidence: { ticket: '1' },
      ...(isPaid
        ? { output: { submitted_amount: order.amount, received_amount: receivedOf(order) } }
        : {}),
    });
  }

  /** A person reads the books of the exchange when nothing is on its way, and says what is sure. */
  async #resolveWithdrawal(
    id: string,
    { node_key, attempt }: Pick<NodeView, 'node_key' | 'attempt'>,
    { exchange }: AtExchange,
  ): Promise<void> {
    await sleep(ARRIVES_WITHIN_MS);
    const found = exchange.openOf(id);
    if (found?.status === 'pending') return;
    await this.#act(`/movements/${id}/nodes/${node_key}/actions/resolve`, {
      attempt,
      outcome: found === null ? 'failed' : 'completed',
      reason: 'the books of the exchange say so',
      evidence: { withdrawal: found?.id ?? 'none' },
      ...(found === null
        ? {}
        : { output: { submitted_amount: leftWith(found), received_amount: found.net_amount } }),
    });
  }

  #act(path: string, body?: unknown): Promise<ApiAnswer> {
    return this.#caller.send('POST', path, body);
  }
}
