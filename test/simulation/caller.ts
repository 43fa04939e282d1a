/** How callers and operators reach the service: over a network without patience. */
import type { Machine } from './machine/machine.ts';
import type { Api, ApiAnswer } from './service.ts';

export interface CallerOptions {
  readonly machine: Machine;
  /** An API that is up; null while none is. */
  readonly api: () => Api | null;
  readonly isCalm: () => boolean;
  /** A request failed though nothing befell it. */
  readonly failed: (request: string, status: number) => void;
}

type Headers = Readonly<Record<string, string>>;

/** How long a caller waits for an answer, in milliseconds. */
const PATIENCE_MS = 30_000;
const NONE: ApiAnswer = { status: 0, body: {} };

export const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));

export class Caller {
  readonly #options: CallerOptions;
  constructor(options: CallerOptions) {
    this.#options = options;
  }

  /** Status 0: no answer came. */
  send(method: string, path: string, body?: unknown, headers: Headers = {}): Promise<ApiAnswer> {
    return this.sendTo(`${method} ${path}`, (api) => api.call(method, path, body, headers));
  }

  async sendTo(label: string, call: (api: Api) => Promise<ApiAnswer>): Promise<ApiAnswer> {
    const { machine } = this.#options;
    const isCalm = this.#options.isCalm();
    const answer = await machine.step(label, async () => {
      const api = this.#options.api();
      return { work: api === null ? null : call(api) };
    });
    if (answer.work === null) {
      await sleep(1_000);
      return NONE;
    }
    const found = await Promise.race([answer.work, sleep(PATIENCE_MS).then(() => NONE)]);
    machine.log(`callers ${label}: ${String(found.status)}`);
    if (isCalm && found.status >= 500) this.#options.failed(label, found.status);
    return found;
  }

  /** Sends until the service has said something about it. */
  insist(method: string, path: string, body?: unknown, headers: Headers = {}): Promise<ApiAnswer> {
    return this.insistOn(`${method} ${path}`, (api) => api.call(method, path, body, headers));
  }

  async insistOn(label: string, call: (api: Api) => Promise<ApiAnswer>): Promise<ApiAnswer> {
    for (;;) {
      const answer = await this.sendTo(label, call);
      if (answer.status !== 0 && answer.status < 500) return answer;
      await sleep(1_000);
    }
  }
}

/** The code of a refusal; an empty text for any other answer. */
export function codeOf({ body }: ApiAnswer): string {
  const { detail } = body;
  return typeof detail === 'object' && detail !== null && 'error' in detail
    ? String(detail.error)
    : '';
}
