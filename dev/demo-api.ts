/** The few calls of the API that the demo makes. */
import { setTimeout as sleep } from 'node:timers/promises';
import { signedFetch } from '../clients/signed-fetch.ts';
import type { Graph } from '../clients/command-line/graph.ts';
import type { StackBridges } from './stack/bridges.ts';
import type { StackPerp } from './stack/perp.ts';
import type { ChainInfo } from './stack/chain.ts';
import type { DevKeys } from './stack/keys.ts';
import { starterTemplates } from './stack/starter-templates.ts';

export interface Movement {
  movement_id: string;
  request_state: string;
  compiled_plan_hash: string;
  expires_at: string;
  outflow: { asset: string; amount: string | null }[];
  error_code: string | null;
  nodes: {
    node_key: string;
    state: string;
    asset: string | null;
    amount: string | null;
    destination: string | null;
    output: Record<string, unknown> | null;
  }[];
  workflow: { ui_url: string };
}

export interface TimelineEvent {
  sequence: number;
  event_type: string;
  node_key: string | null;
  message: string;
  occurred_at: string;
}

/** Signs every request: templates as admin, everything else as operator. */
export class DemoApi {
  readonly #base: string;
  readonly #keys: DevKeys;
  constructor(base: string, keys: DevKeys) {
    this.#base = base;
    this.#keys = keys;
  }

  /** Registers a template; one that is there already is fine. */
  async createTemplate(body: unknown): Promise<void> {
    await this.#call('POST', '/plan-templates', body, [201, 409], this.#keys.admin);
  }
  createMovement(body: unknown): Promise<Movement> {
    return this.#call('POST', '/movements', body, [201]);
  }
  async approve(id: string, body: unknown): Promise<void> {
    await this.#call('POST', `/movements/${id}/approve`, body, [200]);
  }
  movement(id: string): Promise<Movement> {
    return this.#call('GET', `/movements/${id}`, undefined, [200]);
  }
  /** The document that is hashed, as it is. */
  plan(id: string): Promise<string> {
    return this.#text('GET', `/movements/${id}/plan`, undefined, [200]);
  }
  graph(id: string): Promise<Graph> {
    return this.#call('GET', `/movements/${id}/graph`, undefined, [200]);
  }
  timeline(id: string): Promise<TimelineEvent[]> {
    return this.#call('GET', `/movements/${id}/timeline`, undefined, [200]);
  }

  async #call<T>(
    method: string,
    path: string,
    body: unknown,
    expected: number[],
    key = this.#keys.operator,
  ): Promise<T> {
    return JSON.parse(await this.#text(method, path, body, expected, key)) as T;
  }

  async #text(
    method: string,
    path: string,
    body: unknown,
    expected: number[],
    key = this.#keys.operator,
  ): Promise<string> {
    const init =
      body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    const answer = await signedFetch(key, this.#base + path, { method, ...init });
    const text = await answer.text();
    if (answer.status === 429) {
      // A key has so many requests a minute; the answer says when its next minute begins.
      await sleep(Number(answer.headers.get('retry-after')) * 1000);
      return this.#text(method, path, body, expected, key);
    }
    if (!expected.includes(answer.status))
      throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
    return text;
  }
}

/** Registers the templates to begin with, as far as they are not there yet; answers them. */
export async function loadStarterTemplates(stack: {
  readonly apiUrl: string;
  readonly chain: ChainInfo;
  readonly keys: DevKeys;
  readonly bridges?: StackBridges | null;
  readonly perp?: StackPerp | null;
}): Promise<ReturnType<typeof starterTemplates>> {
  const api = new DemoApi(`${stack.apiUrl}/v3`, stack.keys);
  const templates = starterTemplates(stack.chain, stack.bridges, stack.perp);
  for (const template of templates) await api.createTemplate(template);
  return templates;
}
