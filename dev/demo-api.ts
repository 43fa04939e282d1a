/** The few calls of the API that the demo makes. */
export interface Movement {
  movement_id: string;
  request_state: string;
  compiled_plan_hash: string;
  expires_at: string;
  error_code: string | null;
  nodes: { node_key: string; state: string; output: Record<string, unknown> | null }[];
  workflow: { ui_url: string };
}

export interface TimelineEvent {
  sequence: number;
  event_type: string;
  node_key: string | null;
  message: string;
  occurred_at: string;
}

export class DemoApi {
  readonly #base: string;
  constructor(base: string) {
    this.#base = base;
  }

  /** Registers a template; one that is there already is fine. */
  async createTemplate(body: unknown): Promise<void> {
    await this.#call('POST', '/plan-templates', body, [201, 409]);
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
  timeline(id: string): Promise<TimelineEvent[]> {
    return this.#call('GET', `/movements/${id}/timeline`, undefined, [200]);
  }

  async #call<T>(method: string, path: string, body: unknown, expected: number[]): Promise<T> {
    const answer = await fetch(this.#base + path, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    const text = await answer.text();
    if (!expected.includes(answer.status)) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
    return JSON.parse(text) as T;
  }
}
