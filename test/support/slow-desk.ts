/**
 * A desk that pays slowly and is not safe to ask twice: a remote executor with books of its own. It
 * pays when a submit arrives, answers when its time is over, and cannot find a payment by its key.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';

/** A line of the desk's books: a submit, and whether its caller waited for the answer. */
export interface Payment {
  readonly key: string;
  readonly movement_id: string;
  readonly node_key: string;
  readonly amount: string;
  answered: boolean;
}

export interface SlowDesk {
  readonly url: string;
  /** Every submit that arrived. */
  readonly payments: Payment[];
  /** How long the desk takes for a submit and for an observe, in milliseconds; may be changed. */
  readonly takes: { submit: number; observe: number };
  /** Observes that arrived. */
  observed(): number;
  close(): Promise<void>;
}

/** Whoever closes the desk waits for nothing that it works on. */
const sleep = (ms: number) => setTimeout(ms, undefined, { ref: false });

interface Context {
  readonly idempotency_key: string;
  readonly movement_id: string;
  readonly node_key: string;
  readonly amount: string;
}

export async function openSlowDesk(submitMs: number): Promise<SlowDesk> {
  const payments: Payment[] = [];
  const takes = { submit: submitMs, observe: 0 };
  let observed = 0;
  const answerTo: Readonly<Record<string, (body: unknown) => Promise<object | null>>> = {
    preflight: async () => null,
    prepare: async () => ({ next_state: 'SUBMITTING', prepared_action: {} }),
    submit: async (body) => {
      const { context } = body as { context: Context };
      const { idempotency_key: key, movement_id, node_key, amount } = context;
      const payment: Payment = { key, movement_id, node_key, amount, answered: false };
      payments.push(payment);
      await sleep(takes.submit);
      return { next_state: 'SUBMITTED', external_ref: key };
    },
    observe: async () => {
      observed += 1;
      await sleep(takes.observe);
      return { next_state: 'COMPLETED', output: {} };
    },
    recover: async () => ({ next_state: 'UNKNOWN', error_message: 'the desk cannot look it up' }),
    cancel: async () => ({ next_state: 'SUBMITTED' }),
    health: async () => ({ state: 'up' }),
  };
  const server = createServer((request, response) => {
    const phase = request.url?.split('/').at(-1) ?? '';
    void readBody(request).then(async (body) => {
      const answer = await answerTo[phase]?.(body);
      const payment = payments.find(({ key }) => phase === 'submit' && key === keyOf(body));
      if (payment !== undefined) payment.answered = response.socket?.destroyed === false;
      send(response, answer);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    payments,
    takes,
    observed: () => observed,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The action type that the desk carries out. */
export const DESK_PAYMENT = 'desk_payment';

/** The desk's entry of the registry file. */
export function deskEntry(url: string, timeoutSeconds: number): object {
  return {
    executor_key: 'test.slow-desk',
    kind: 'remote',
    url,
    timeout_seconds: timeoutSeconds,
    same_key_safe: false,
    settle_seconds: 0,
    action_types: [DESK_PAYMENT],
    payees: [],
    completion_assurances: ['provider_completed'],
  };
}

/** One payment by the desk; what is not known is shown to a person at once. */
export function deskNode(node_key = 'pay'): {
  readonly node_key: string;
  readonly [field: string]: unknown;
} {
  return {
    node_key,
    node_kind: 'action',
    action_type: DESK_PAYMENT,
    has_side_effect: true,
    retry_policy: { max_attempts: 1 },
  };
}

function keyOf(body: unknown): string {
  return (body as { context: Context }).context.idempotency_key;
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const part of request) text += String(part);
  return text === '' ? null : JSON.parse(text);
}

function send(response: ServerResponse, answer: object | null | undefined): void {
  if (answer === undefined) response.writeHead(404).end();
  else if (answer === null) response.writeHead(204).end();
  else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
}
