/**
 * What is outside of the service in one scenario: a desk that answers as the scenario says, and the
 * points at which calls and activities are held. It is the same object for both runtimes.
 */
import {
  ExecutorFault,
  type ExecutionContext,
  type ExecutionResult,
  type Executor,
  type ExecutorDescriptor,
} from '../../../domain/executor.ts';
import type { Temporal } from '../../../platform/temporal.ts';
import type { Activities } from '../service.ts';

export type DeskPhase = 'preflight' | 'submit' | 'observe' | 'recover' | 'cancel';

/** How the desk answers one call; a call for which the scenario has no answer is `sound`. */
export type Answer =
  | 'sound' // it does what it should
  | 'refuses' // it does nothing, now or ever
  | 'fails' // it has an error of its own, and does nothing
  | 'never arrives' // the caller gives up, and nothing has happened
  | 'answer is lost' // the caller gives up, and it has happened
  | 'pending' // it knows no end yet
  | 'cannot tell';

/** A call of the desk, as it crosses the boundary between processes. */
export interface DeskCall {
  readonly phase: DeskPhase;
  readonly movement_id: string;
  readonly node_key: string;
  readonly attempt: number;
  readonly key: string;
  readonly amount: string;
  readonly payee: string;
  /** Whether the node pays; one that does not waits for what comes by itself. */
  readonly pays: boolean;
}
export type DeskReply =
  | { readonly result: ExecutionResult | null }
  | { readonly fault: { readonly kind: ExecutorFault['kind']; readonly code: string } };

export interface Order {
  readonly node_key: string;
  readonly attempt: number;
  readonly amount: string;
  readonly payee: string;
  state: 'paid' | 'refused';
}

/** Answers by `phase of node`, in the order of the calls. */
export type Answers = Readonly<Record<string, readonly Answer[]>>;

export class Play {
  /** Calls in the order in which they arrived at the desk, or were to arrive. */
  readonly calls: string[] = [];
  readonly orders: Order[] = [];
  /** Whether the API's signals get lost. */
  isUnsignalled = false;
  readonly #answers: Map<string, Answer[]>;
  readonly #counts = new Map<string, number>();
  readonly #armed = new Set<string>();
  readonly #held = new Map<string, () => void>();

  constructor(answers: Answers) {
    this.#answers = new Map(Object.entries(answers).map(([of, list]) => [of, [...list]]));
  }

  /** The next time that this point is reached, whoever reaches it is held there. */
  arm(point: string): void {
    this.#armed.add(point);
  }

  isHeld(point: string): boolean {
    return this.#held.has(point);
  }

  release(point: string): void {
    const goOn = this.#held.get(point);
    if (goOn === undefined) throw new Error(`nothing is held at "${point}"`);
    this.#held.delete(point);
    goOn();
  }

  /** The worker has died: no answer reaches what was held in it. */
  drop(): void {
    this.#held.clear();
  }

  at(point: string): Promise<void> {
    if (!this.#armed.delete(point)) return Promise.resolve();
    return new Promise((resolve) => this.#held.set(point, resolve));
  }

  async call(call: DeskCall): Promise<DeskReply> {
    const of = `${call.phase} of ${call.node_key}`;
    const answer = this.#answers.get(of)?.shift() ?? 'sound';
    const count = (this.#counts.get(of) ?? 0) + 1;
    this.#counts.set(of, count);
    await this.at(`${of} arrives`);
    await this.at(`${of} arrives, call ${String(count)}`);
    this.calls.push(`${of}, attempt ${String(call.attempt)}: ${answer}`);
    const reply = this.#reply(call, answer);
    await this.at(`${of} is answered`);
    await this.at(`${of} is answered, call ${String(count)}`);
    return reply;
  }

  #reply(call: DeskCall, answer: Answer): DeskReply {
    switch (answer) {
      case 'sound':
        return { result: this.#do(call) };
      case 'refuses':
        if (call.phase === 'preflight' || call.phase === 'submit')
          return { fault: { kind: 'rejected', code: 'DESK_REFUSED' } };
        return { result: { next_state: 'FAILED', error_code: 'ORDER_REFUSED' } };
      case 'fails':
        return { fault: { kind: 'server_error', code: 'DESK_CLOSED' } };
      case 'answer is lost':
        this.#do(call);
        return { fault: { kind: 'timeout', code: 'EXECUTOR_TIMEOUT' } };
      case 'never arrives':
        return { fault: { kind: 'timeout', code: 'EXECUTOR_TIMEOUT' } };
      case 'pending':
        return {
          result: { next_state: 'OBSERVING', external_ref: call.key, retry_after_seconds: 2 },
        };
      case 'cannot tell':
        return { result: { next_state: 'UNKNOWN', error_message: 'the desk cannot tell' } };
    }
  }

  #do({ phase, node_key, attempt, key, amount, payee, pays }: DeskCall): ExecutionResult | null {
    const order = this.orders.find(
      (each) => each.node_key === node_key && each.attempt === attempt,
    );
    const external_ref = key;
    switch (phase) {
      case 'preflight':
        return null;
      case 'submit':
        if (order === undefined)
          this.orders.push({ node_key, attempt, amount, payee, state: 'paid' });
        return { next_state: 'SUBMITTED', external_ref };
      case 'observe':
      case 'recover':
      case 'cancel':
        if (!pays) return { next_state: 'COMPLETED' };
        if (order === undefined)
          return phase === 'recover' ? { next_state: 'READY' } : { next_state: 'OBSERVING' };
        return {
          next_state: 'COMPLETED',
          external_ref,
          output: { submitted_amount: order.amount, received_amount: order.amount },
        };
    }
  }
}

/** How a worker reaches what is outside of it. */
export interface Reach {
  call(call: DeskCall): Promise<DeskReply>;
  at(movementId: string, point: string): Promise<void>;
}

/** Whom the desks may pay. */
export const PAYEE = `0x${'ab'.repeat(20)}`;

/**
 * The desks: one takes each key once, one does not know keys, one is a module of the worker, which
 * goes on with the next node in the same activity, and one moves no money.
 */
export function desks(reach: Reach): readonly Executor[] {
  return [
    desk('keyed.desk', {}, reach),
    desk('blind.desk', { same_key_safe: false }, reach),
    desk('near.desk', { in_process: true }, reach),
    desk('watch.desk', { sends: false, payees: [] }, reach),
  ];
}

function desk(executor_key: string, differs: Partial<ExecutorDescriptor>, reach: Reach): Executor {
  const descriptor: ExecutorDescriptor = {
    executor_key,
    kind: 'local',
    action_types: [executor_key.replace('.', '_')],
    same_key_safe: true,
    settle_seconds: 3,
    timeout_seconds: 10,
    in_process: false,
    sends: true,
    payees: [{ field: 'payee', family: 'evm' }],
    not_payees: [],
    completion_assurances: ['provider_completed'],
    ...differs,
  };
  const ask = async (phase: DeskPhase, context: ExecutionContext) => {
    const { movement_id, node_key, attempt, idempotency_key: key, amount, config } = context;
    const call = { phase, movement_id, node_key, attempt, key, amount, pays: descriptor.sends };
    const reply = await reach.call({ ...call, payee: String(config['payee']) });
    if ('fault' in reply)
      throw new ExecutorFault(reply.fault.kind, reply.fault.code, `the desk did not ${phase}`);
    return reply.result;
  };
  const found = async (phase: DeskPhase, context: ExecutionContext): Promise<ExecutionResult> => {
    const result = await ask(phase, context);
    if (result === null) throw new Error(`the desk has no result of ${phase}`);
    return result;
  };
  return {
    descriptor,
    preflight: async (context) => {
      await ask('preflight', context);
      return null;
    },
    prepare: async ({ amount, asset, config }) => ({
      next_state: 'SUBMITTING',
      prepared_action: { amount, asset, payee: config['payee'] ?? null },
    }),
    submit: ({ context }) => found('submit', context),
    observe: (context) => found('observe', context),
    recover: (context) => found('recover', context),
    cancel: (context) => found('cancel', context),
    health: async () => ({ state: 'up' }),
  };
}

/** The API's wakes, which get lost when the play says so. */
export function wakes(
  { wake }: Pick<Temporal, 'wake'>,
  plays: ReadonlyMap<string, Play>,
): Pick<Temporal, 'wake'> {
  return {
    wake: async (of) => {
      const isLost = 'movementId' in of && plays.get(of.movementId)?.isUnsignalled === true;
      if (!isLost) await wake(of);
    },
  };
}

/** The activities with the points before and behind each of them. */
export function withPoints(activities: Activities, reach: Reach): Activities {
  return Object.fromEntries(
    Object.entries(activities).map(([name, run]) => [
      name,
      async (args: { readonly movement_id: string }) => {
        await reach.at(args.movement_id, `start of ${name}`);
        const result = await (run as (input: unknown) => Promise<unknown>)(args);
        await reach.at(args.movement_id, `end of ${name}`);
        return result;
      },
    ]),
  ) as unknown as Activities;
}
