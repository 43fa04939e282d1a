/** The shared stack as its callers see it: requests, templates of every kind, and waiting. */
import { randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import pg from 'pg';
import { signedFetch } from './signed-fetch.ts';
import { signatureHeaders } from '../../clients/http/index.ts';
import type { SigningKey } from '../../dev/stack/keys.ts';
import type { LedgerEntry } from '../../dev/simulators/paper-venue/views.ts';
import { untilNextLook } from './eventually.ts';
import { PATIENCE_MS } from './patience.mjs';
import type { TimelineView } from './evidence.ts';
import { SHARED_STACK, TEST_SIGNER, type SharedStack } from './shared-stack-facts.ts';

export const shared = readShared();
export const API = `${shared.apiUrl}/v3`;

function readShared(): SharedStack {
  const text = process.env[SHARED_STACK];
  if (text === undefined)
    throw new Error('these tests need the shared stack: run them with --selectProjects stack');
  return JSON.parse(text) as SharedStack;
}

export interface Issue {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

export interface ErrorBody {
  readonly detail: {
    readonly error: string;
    readonly message: string;
    readonly issues?: readonly Issue[];
  } & Readonly<Record<string, unknown>>;
}

export interface Answer<T = unknown> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
}

/** Sends JSON as the admin of the stack; see {@link sendAs}. */
export function send<T = unknown>(
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer<T>> {
  return sendAs<T>(shared.keys.admin, method, path, body, headers);
}

/**
 * Sends JSON (a string or bytes as they are) to a path under the prefix, signed, and reads the JSON
 * answer.
 */
export async function sendAs<T = unknown>(
  key: SigningKey,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer<T>> {
  const raw = typeof body === 'string' || body instanceof Uint8Array;
  const init =
    body === undefined
      ? { headers }
      : {
          body: raw ? body : JSON.stringify(body),
          headers: { 'content-type': 'application/json', ...headers },
        };
  const url = path.startsWith('http') ? path : API + path;
  const response = await signedFetch(key, url, {
    method,
    ...init,
    signal: AbortSignal.timeout(20_000),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as T };
}

export const get = <T = unknown>(path: string): Promise<Answer<T>> => send<T>('GET', path);
export const post = <T = unknown>(
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
): Promise<Answer<T>> => send<T>('POST', path, body, headers);
export const patch = <T = unknown>(path: string, body: unknown): Promise<Answer<T>> =>
  send<T>('PATCH', path, body);

/** The answer's body; fails unless the status is as expected. */
export async function must<T>(status: number, answer: Promise<Answer<T>>): Promise<T> {
  const { status: actual, body } = await answer;
  if (actual !== status)
    throw new Error(`answered ${actual}, not ${status}: ${JSON.stringify(body)}`);
  return body;
}

/** Expects a refusal: status, code, a sentence, and exactly this context beside them. */
export function expectRefusal(
  answer: Answer,
  status: number,
  error: string,
  context: Readonly<Record<string, unknown>> = {},
): void {
  expect(answer.body).toEqual({
    detail: { error, message: expect.stringMatching(/\w{2}/), ...context },
  });
  expect(answer.status).toBe(status);
}

/** Expects `invalid_request` with issues at exactly these places. */
export function expectInvalid(answer: Answer, ...paths: readonly string[]): void {
  const { detail } = answer.body as ErrorBody;
  expect([answer.status, detail.error]).toEqual([422, 'invalid_request']);
  expect(detail.issues?.map((issue) => issue.path)).toEqual(paths);
  for (const issue of detail.issues ?? [])
    expect(issue).toEqual({
      path: issue.path,
      code: expect.any(String),
      message: expect.any(String),
    });
}

/** Sends what `fetch` would not, as a body with GET or a header of several values. */
export async function sendRaw(options: {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Uint8Array;
}): Promise<{ readonly status: number; readonly body: unknown }> {
  const { method, path, headers = {}, body } = options;
  const url = shared.apiUrl + path;
  const signed = await signatureHeaders(shared.keys.admin, { method, url, body });
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, { method, headers: { ...headers, ...signed } }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) as unknown }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Asks until the answer is neither null, undefined nor false. */
export async function waitFor<T>(
  condition: () => Promise<T | null | undefined | false>,
  options: { readonly timeoutMs?: number; readonly what?: () => string } = {},
): Promise<T> {
  const { timeoutMs = PATIENCE_MS, what = () => 'a condition' } = options;
  const start = Date.now();
  for (; Date.now() < start + timeoutMs; await sleep(untilNextLook(Date.now() - start))) {
    const answer = await condition();
    if (answer !== null && answer !== undefined && answer !== false) return answer;
  }
  throw new Error(`waited ${timeoutMs} ms in vain for ${what()}`);
}

/**
 * Has the tests of a file wait until no other file says the same: they compare balances from before
 * and after, which others would change.
 */
export function alone(what: string): void {
  const client = new pg.Client({ connectionString: shared.databaseUrl });
  beforeAll(async () => {
    await client.connect();
    await client.query('SELECT pg_advisory_lock(hashtext($1))', [what]);
  }, 300_000);
  afterAll(() => client.end());
}

/** Rows of one statement on the service's database. */
export async function sql<R extends pg.QueryResultRow = Record<string, unknown>>(
  text: string,
  values: readonly unknown[] = [],
): Promise<R[]> {
  const client = new pg.Client({ connectionString: shared.databaseUrl });
  await client.connect();
  try {
    return (await client.query<R>(text, [...values])).rows;
  } finally {
    await client.end();
  }
}

export interface AuditRow {
  readonly action: string;
  readonly entity_type: string;
  readonly entity_key: string;
  readonly outcome: string;
  readonly reason: string | null;
  readonly request_id: string | null;
  readonly details: Record<string, unknown>;
}

/** The audit rows of one request, oldest first. */
export function auditOfRequest(requestId: string): Promise<AuditRow[]> {
  return sql<AuditRow & pg.QueryResultRow>(
    'SELECT action, entity_type, entity_key, outcome, reason, request_id, details FROM audit_events WHERE request_id = $1 ORDER BY occurred_at, event_id',
    [requestId],
  );
}

/**
 * A client of the stack's Temporal server for as long as `work` takes. Few files need one, so the
 * SDK is loaded here.
 */
export async function withTemporal<T>(work: (client: Client) => Promise<T>): Promise<T> {
  const { Client, Connection } = await import('@temporalio/client');
  const connection = await Connection.connect({ address: shared.temporalAddress });
  try {
    return await work(new Client({ connection }));
  } finally {
    await connection.close();
  }
}

/** Every submit for a movement that reached the paper venue. */
export async function ledgerOf(movementId: string): Promise<readonly LedgerEntry[]> {
  const { entries } = (await (await fetch(`${shared.paperVenueUrl}/ledger`)).json()) as {
    entries: readonly LedgerEntry[];
  };
  return entries.filter((entry) => entry.movement_id === movementId);
}

// Templates.

export interface NodeBody {
  readonly node_key: string;
  readonly node_kind: string;
  readonly action_type: string;
  readonly [field: string]: unknown;
}

export interface EdgeBody {
  readonly from: string;
  readonly to: string;
  readonly edge_type: string;
  readonly [field: string]: unknown;
}

export interface TemplateBody {
  readonly template_key: string;
  readonly name: string;
  readonly version: number;
  readonly nodes: readonly NodeBody[];
  readonly edges: readonly EdgeBody[];
  readonly completion_policy: { readonly completion_assurance: string };
  readonly [field: string]: unknown;
}

/** A key of its own. */
export function uniqueKey(name = 'template'): string {
  return `test/${name}-${randomUUID()}`;
}

export function noop(node_key: string, more: Readonly<Record<string, unknown>> = {}): NodeBody {
  return { node_key, node_kind: 'action', action_type: 'noop', ...more };
}

export function gate(node_key: string, more: Readonly<Record<string, unknown>> = {}): NodeBody {
  return { node_key, node_kind: 'manual_gate', action_type: 'manual_gate', ...more };
}

/** A withdrawal of USDC from the paper venue, to the test signer's wallet. */
export function withdrawal(
  node_key: string,
  more: Readonly<Record<string, unknown>> = {},
): NodeBody {
  return {
    node_key,
    node_kind: 'action',
    action_type: 'cex_withdrawal',
    executor_selector: { action_type: 'cex_withdrawal', provider: 'paper' },
    has_side_effect: true,
    config: {
      venue: 'paper-sub-a',
      asset: 'USDC',
      network: 'local',
      destination_address: shared.wallet,
    },
    ...more,
  };
}

/** A transfer of USDC on the local chain, from the test signer's wallet to the treasury. */
export function transfer(node_key: string, more: Readonly<Record<string, unknown>> = {}): NodeBody {
  const { chainId, tokens, accounts } = shared.chain;
  return {
    node_key,
    node_kind: 'action',
    action_type: 'evm_erc20_transfer',
    executor_selector: { action_type: 'evm_erc20_transfer', chain_family: 'evm' },
    signer_selector: { chain_family: 'evm', profile: TEST_SIGNER.profile },
    has_side_effect: true,
    config: {
      asset: 'USDC',
      chain_id: chainId,
      token_address: tokens.USDC.address,
      destination_address: accounts.treasury.address,
    },
    ...more,
  };
}

export function edge(
  from: string,
  to: string,
  edge_type = 'on_success',
  more: Readonly<Record<string, unknown>> = {},
): EdgeBody {
  return { from, to, edge_type, ...more };
}

/** The body of a template; one node after the other without `edges`. */
export function template(
  nodes: readonly NodeBody[],
  more: Readonly<Record<string, unknown>> = {},
): TemplateBody {
  return {
    template_key: uniqueKey(),
    name: 'A template of the tests',
    version: 1,
    nodes,
    edges: nodes.slice(1).map((node, index) => edge(nodes[index]?.node_key ?? '', node.node_key)),
    completion_policy: { completion_assurance: 'provider_completed' },
    ...more,
  };
}

export interface TemplateView {
  readonly template_id: string;
  readonly template_key: string;
  readonly version: number;
  readonly graph_shape: string;
  readonly requires_graph_runtime: boolean;
  readonly executable_in_v3_0: boolean;
  readonly non_executable_reasons: readonly string[];
  readonly [field: string]: unknown;
}

export async function register(body: TemplateBody): Promise<TemplateView> {
  return must(201, post<TemplateView>('/plan-templates', body));
}

/** Registers a template of these nodes. */
export const registered = (
  nodes: readonly NodeBody[],
  more?: Readonly<Record<string, unknown>>,
): Promise<TemplateView> => register(template(nodes, more));

/** `do`, and `undo` that only a cancel leads to. */
export const cancellable = (): Promise<TemplateView> =>
  registered([noop('do'), { ...noop('undo'), node_kind: 'compensation' }], {
    edges: [edge('do', 'undo', 'on_cancel')],
  });

/** `before`, a gate, `after`. */
export const gated = (): Promise<TemplateView> =>
  registered([noop('before'), gate('check'), noop('after')]);

// Movements.

export interface CreatedView {
  readonly movement_id: string;
  readonly request_state: string;
  readonly compiled_plan_hash: string;
  readonly current_frontier: readonly string[];
  readonly created_at: string;
  readonly expires_at: string;
  readonly [field: string]: unknown;
}

export interface NodeView {
  readonly node_key: string;
  readonly state: string;
  readonly attempt: number;
  readonly error_code: string | null;
  readonly completed_at: string | null;
  readonly output: Readonly<Record<string, unknown>> | null;
  readonly [field: string]: unknown;
}

export interface DetailView extends CreatedView {
  readonly error_code: string | null;
  readonly reservation_status: string;
  readonly approval_status: string;
  readonly nodes: readonly NodeView[];
  readonly workflow: {
    readonly namespace: string;
    readonly workflow_id: string;
    readonly run_id: string | null;
    readonly ui_url: string;
  };
}

export interface EventView extends TimelineView {
  readonly actor: Readonly<Record<string, unknown>>;
  readonly message: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface ActionView {
  readonly movement_id: string;
  readonly request_state: string;
  readonly current_frontier: readonly string[];
  readonly reservation_status: string;
}

/** A create body for a template version. */
export function movementBody(
  of: { readonly template_key: string; readonly version: number },
  more: Readonly<Record<string, unknown>> = {},
) {
  return {
    template_key: of.template_key,
    template_version: of.version,
    intent: { asset: 'USDC', amount: '10' },
    ...more,
  };
}

export const create = (
  of: { readonly template_key: string; readonly version: number },
  more?: Readonly<Record<string, unknown>>,
): Promise<CreatedView> => must(201, post<CreatedView>('/movements', movementBody(of, more)));

export type Verb = 'approve' | 'reject' | 'resume' | 'retry' | 'cancel' | 'acknowledge';

/** Sends an operator's action; an approve needs its body. */
export function act<T = ActionView>(
  movementId: string,
  verb: Verb,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
): Promise<Answer<T>> {
  const path = verb === 'approve' || verb === 'reject' ? verb : `actions/${verb}`;
  return post<T>(`/movements/${movementId}/${path}`, body, headers);
}

export const approval = (movement: { readonly compiled_plan_hash: string }) => ({
  compiled_plan_hash: movement.compiled_plan_hash,
  approver_id: 'tester',
});

export const approve = (movement: CreatedView): Promise<ActionView> =>
  must(200, act(movement.movement_id, 'approve', approval(movement)));

export const detail = (movementId: string): Promise<DetailView> =>
  must(200, get<DetailView>(`/movements/${movementId}`));
export const timeline = (movementId: string): Promise<readonly EventView[]> =>
  must(200, get<readonly EventView[]>(`/movements/${movementId}/timeline`));

/** Waits until the movement is in this state. */
export function reaches(
  movementId: string,
  state: string,
  timeoutMs = PATIENCE_MS,
): Promise<DetailView> {
  let last = '';
  return waitFor(
    async () => {
      const movement = await detail(movementId);
      last = `${movement.request_state} ${movement.error_code ?? ''} (${movement.nodes.map((node) => `${node.node_key} ${node.state}`).join(', ')})`;
      return movement.request_state === state && movement;
    },
    { timeoutMs, what: () => `${state}; the movement is ${last}` },
  );
}

/** Creates, approves and waits. */
export async function run(
  of: { readonly template_key: string; readonly version: number },
  state: string,
  more?: Readonly<Record<string, unknown>>,
): Promise<DetailView> {
  const movement = await create(of, more);
  await approve(movement);
  return reaches(movement.movement_id, state);
}
