/**
 * A desk that pays out: an outside world with books of its own. It is called over a network that
 * loses, delays and repeats requests and answers. One desk knows the keys of its callers and pays
 * each key once; another one does not, and pays whatever arrives.
 */
import {
  ExecutorFault,
  type ExecutionContext,
  type ExecutionResult,
  type Executor,
  type ExecutorDescriptor,
} from '../../../domain/executor.ts';
import { subtract } from '../../support/amounts.ts';
import { inProcess, type Machine } from '../machine/machine.ts';

export interface Order {
  readonly key: string;
  readonly movement_id: string;
  readonly node_key: string;
  readonly asset: string;
  readonly amount: string;
  readonly payee: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  state: 'taken' | 'paid' | 'refused' | 'withdrawn';
  /** The payer's own id; absent: it has none. */
  readonly id?: string;
  /** Milliseconds after its fence in which it arrives; absent: as at a desk. */
  readonly arrives_within_ms?: number;
}

/** What befalls a request on its way. */
export type NetworkFault =
  | 'lost request' // it never arrives
  | 'lost answer' // it arrives, and the caller does not hear of it
  | 'late' // it arrives after the caller's time-out
  | 'broken'; // the desk answers with an error of its own, and has done nothing

export interface DeskOptions {
  readonly machine: Machine;
  readonly executor_key: string;
  /** Whether it pays a key that it has seen once only. */
  readonly knowsKeys: boolean;
  /** Whether a plan says whom it pays; else it pays its caller's own account. */
  readonly hasPayees: boolean;
  /** How often it refuses an order for good. */
  readonly refuses: number;
  readonly fault: (request: string) => NetworkFault | null;
}

/** Seconds after a send within which whatever was on its way has arrived. */
export const SETTLE_SECONDS = 20;
export const TIMEOUT_SECONDS = 10;
/** Whom a desk without payees pays. */
export const OWN_ACCOUNT = 'its own account';
/** Of a node with this key a desk takes a fee, so that less is received than was sent. */
export const CHARGED = 'charged';
const FEE = '0.000000000000000009';
/** Milliseconds that a payment takes. */
const PAYS_WITHIN_MS = 8_000;

/** What arrives of an order, as the desk's books have it. */
export function receivedOf({ node_key, amount }: Pick<Order, 'node_key' | 'amount'>): string {
  return node_key === CHARGED ? subtract(amount, FEE) : amount;
}

export class Desk {
  readonly orders: Order[] = [];
  /** Requests that are on their way and have not arrived. */
  onTheWay = 0;
  /** Called when an order arrives, and whenever the desk answers that it has refused one. */
  onOrder: (() => void) | null = null;
  onRefusal: ((order: Order) => void) | null = null;
  readonly #options: DeskOptions;

  constructor(options: DeskOptions) {
    this.#options = options;
  }

  get descriptor(): ExecutorDescriptor {
    const { executor_key, knowsKeys, hasPayees } = this.#options;
    return {
      executor_key,
      kind: 'local',
      action_types: [executor_key.replace('.', '_')],
      same_key_safe: knowsKeys,
      settle_seconds: SETTLE_SECONDS,
      timeout_seconds: TIMEOUT_SECONDS,
      in_process: false,
      sends: true,
      payees: hasPayees ? [{ field: 'payee', family: 'evm' }] : [],
      not_payees: [],
      completion_assurances: ['provider_completed'],
    };
  }

  executor(): Executor {
    const { machine, hasPayees } = this.#options;
    const request = <T>(
      what: string,
      key: string,
      work: () => T,
      signal?: AbortSignal,
    ): Promise<T> => this.#request(`${this.#options.executor_key} ${what} ${key}`, work, signal);
    return {
      descriptor: this.descriptor,
      preflight: ({ idempotency_key }) => request('checks', idempotency_key, () => null),
      prepare: async ({ amount, asset, config }) => ({
        next_state: 'SUBMITTING',
        prepared_action: {
          amount,
          asset,
          ...(hasPayees ? { payee: config['payee'] ?? null } : {}),
        },
      }),
      submit: ({ context, prepared_action }, { signal }) =>
        request('pays', context.idempotency_key, () => this.#pay(context, prepared_action), signal),
      observe: ({ idempotency_key }) =>
        request('looks up', idempotency_key, () => this.#look(idempotency_key)),
      recover: ({ idempotency_key }) =>
        request('is searched for', idempotency_key, () => {
          const order = this.orderOf(idempotency_key);
          if (order === undefined) return { next_state: 'READY' };
          return this.#look(idempotency_key);
        }),
      cancel: ({ idempotency_key }) =>
        request('withdraws', idempotency_key, () => {
          const order = this.orderOf(idempotency_key);
          if (order?.state === 'taken' && machine.dice.chance(0.5)) order.state = 'withdrawn';
          return this.#look(idempotency_key);
        }),
      health: async () => ({ state: 'up' }),
    };
  }

  /** What the books say of a key; the first order of it. */
  orderOf(key: string): Order | undefined {
    return this.orders.find((order) => order.key === key);
  }

  #pay(context: ExecutionContext, prepared: Readonly<Record<string, unknown>>): ExecutionResult {
    const { machine, knowsKeys, refuses } = this.#options;
    const { idempotency_key: key, movement_id, node_key } = context;
    if (!knowsKeys || this.orderOf(key) === undefined) {
      const order: Order = {
        key,
        movement_id,
        node_key,
        asset: String(prepared['asset']),
        amount: String(prepared['amount']),
        payee: String(prepared['payee'] ?? OWN_ACCOUNT),
        at: machine.now,
        state: 'taken',
      };
      this.orders.push(order);
      this.onOrder?.();
      const isRefused = machine.dice.chance(refuses);
      machine.timer({
        process: null,
        at: machine.now + machine.dice.between(0, PAYS_WITHIN_MS),
        label: 'pays',
        go: () => {
          if (order.state === 'taken') order.state = isRefused ? 'refused' : 'paid';
          machine.log(`${this.#options.executor_key}: ${key} is ${order.state}`);
        },
      });
    }
    return { next_state: 'SUBMITTED', external_ref: key };
  }

  #look(key: string): ExecutionResult {
    const order = this.orderOf(key);
    const external_ref = key;
    if (order === undefined || order.state === 'taken')
      return { next_state: 'OBSERVING', external_ref, retry_after_seconds: 2 };
    if (order.state === 'paid')
      return {
        next_state: 'COMPLETED',
        external_ref,
        output: { submitted_amount: order.amount, received_amount: receivedOf(order) },
      };
    if (order.state === 'refused') this.onRefusal?.(order);
    return { next_state: 'FAILED', external_ref, error_code: `ORDER_${order.state.toUpperCase()}` };
  }

  async #request<T>(label: string, work: () => T, signal?: AbortSignal): Promise<T> {
    const { machine, fault } = this.#options;
    const suffered = await machine.step(label, async () => {
      // Its process was frozen: nothing has left, and its time is over.
      if (signal?.aborted === true) return 'lost request';
      const found = fault(label);
      if (found === 'late') this.#arriveLater(work);
      return found;
    });
    if (suffered === 'broken')
      throw new ExecutorFault('server_error', 'DESK_CLOSED', 'the desk is closed for a moment');
    if (suffered === 'lost request' || suffered === 'late') return this.#noAnswer(label);
    // The request arrives at its own time, whatever becomes of its caller.
    const answer = await this.#arrive(label, work);
    if (suffered === 'lost answer') return this.#noAnswer(label);
    return machine.step(`answer: ${label}`, () => Promise.resolve(answer));
  }

  #arrive<T>(label: string, work: () => T): Promise<T> {
    const { machine } = this.#options;
    this.onTheWay += 1;
    return inProcess.exit(
      () =>
        new Promise<T>((resolve) =>
          machine.post({
            process: null,
            label: `arrives: ${label}`,
            go: async () => {
              this.onTheWay -= 1;
              resolve(work());
            },
          }),
        ),
    );
  }

  #arriveLater(work: () => unknown): void {
    const { machine } = this.#options;
    this.onTheWay += 1;
    machine.timer({
      process: null,
      at: machine.now + machine.dice.between(1, (SETTLE_SECONDS - 1) * 1_000),
      label: 'arrives late',
      go: () => {
        this.onTheWay -= 1;
        machine.log(`${this.#options.executor_key}: a request arrives late`);
        work();
      },
    });
  }

  /** The caller hears nothing until its own time is over. */
  async #noAnswer(label: string): Promise<never> {
    await new Promise<void>((resolve) => setTimeout(resolve, TIMEOUT_SECONDS * 1_000));
    throw new ExecutorFault('timeout', 'EXECUTOR_TIMEOUT', `no answer: ${label}`);
  }
}
