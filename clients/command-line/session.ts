/** The session of a running command: settings, API client, output and confirmation questions. */
import type { FundClient } from '../http/client.ts';
import type {
  AnyInput,
  Input,
  InputArgs,
  OperationId,
  PagedId,
  ResultOf,
} from '../http/operations.ts';
import { printable, printableJson } from './printable.ts';
import { EXIT, CommandError, Interrupted, usageError } from './exit.ts';
import { sendUnder } from './faults.ts';
import type { Io } from './io.ts';
import { painter, wantsColour } from './paint.ts';
import type { Globals } from './options.ts';
import { exposedAddress, readSettings, type SecretSource, type Settings } from './settings.ts';
import type { Columns } from './columns.ts';
import { View } from './view.ts';

/** The same fields, but an optional field may be `undefined`; such a field is not sent. */
export type Sparse<T> = { [K in keyof T]: T[K] | (T extends Record<K, T[K]> ? never : undefined) };

/** Input of an operation, as a command passes it. */
export type Sent<Id extends OperationId> = {
  [K in keyof Input<Id>]: K extends 'query' | 'body' ? Sparse<Input<Id>[K]> : Input<Id>[K];
};

/** The service's default, so that most commands need no request for the prefix. */
const LIKELY_PREFIX = '/v3';
/** A shorter wait before a retry gets no message: the user could not read it in time. */
const WORTH_A_WORD_MS = 1_000;

export class Session {
  /** Name of the program. */
  readonly program: string;
  readonly io: Io;
  /** Draws for standard output. */
  readonly view: View;
  /** Draws for standard error: everything except the answer. */
  readonly aside: View;
  readonly #globals: Globals;
  #settings: Settings | null = null;
  #client: Promise<FundClient> | null = null;

  constructor(program: string, io: Io, globals: Globals) {
    this.program = program;
    this.io = io;
    this.#globals = globals;
    const viewFor = (isTerminal: boolean) =>
      new View(painter(wantsColour(isTerminal, io.env)), isTerminal ? io.columns : undefined);
    this.view = viewFor(io.terminal.out);
    this.aside = viewFor(io.terminal.err);
  }

  get settings(): Settings {
    const { profile, output } = this.#globals;
    if (this.#settings !== null) return this.#settings;
    this.#settings = readSettings(this.io.env, { program: this.program, profile, output });
    const exposed = exposedAddress(this.#settings);
    if (exposed !== null)
      this.warn(
        `${exposed} is plain http to another machine: anyone on the network path can read the requests and change the answers. Use https.`,
      );
    return this.#settings;
  }

  get json(): boolean {
    return this.settings.output.value === 'json';
  }

  /** Returns the API client, made on the first call. Throws when key or secret is not set. */
  client(): Promise<FundClient> {
    this.#client ??= this.#connect();
    return this.#client;
  }

  /** Calls an operation of the API and returns its answer. */
  async call<Id extends OperationId>(
    id: Id,
    ...[input]: Partial<Input<Id>> extends Input<Id> ? [input?: Sent<Id>] : [input: Sent<Id>]
  ): Promise<ResultOf<Id>> {
    const client = await this.client();
    return client.call(id, ...([input] as unknown as InputArgs<Id>));
  }

  async #connect(): Promise<FundClient> {
    const { apiUrl, keyId, secret } = this.settings;
    if (keyId === null || secret === null) throw missingKey(this.program, keyId?.from);
    const [{ createClient }, { nodeFetch }, { NODE_HASHING }] = await Promise.all([
      import('../http/client.ts'),
      import('./node-fetch.ts'),
      import('./node-hashing.ts'),
    ]);
    const client = createClient({
      baseUrl: apiUrl.value,
      key: { keyId: keyId.value, secret: secret.read() },
      likelyPrefix: LIKELY_PREFIX,
      fetch: nodeFetch,
      hashing: NODE_HASHING,
      // Fewer retries than the library's default: a person waits for the answer.
      retries: 2,
      // 70 s: longer than the window of the service's rate limit.
      retryForMs: 70_000,
      onRetry: ({ waitMs, error }) => {
        if (waitMs >= WORTH_A_WORD_MS)
          this.note(`${error.message} Asking again in ${String(waitMs)} ms …`);
      },
    });
    return interruptible(client, this.io.signal);
  }

  /** Prints the answer as JSON, or as the text for people that `view` returns. */
  async print(value: unknown, view: () => string | Promise<string>): Promise<void> {
    this.io.out(this.json ? `${printableJson(value)}\n` : await view());
  }

  /** Prints one of several answers: as one line of JSON, or as the text that `view` returns. */
  async printLine(value: unknown, view: () => string | Promise<string>): Promise<void> {
    this.io.out(this.json ? `${printableJson(value, 0)}\n` : await view());
  }

  /** Returns a table of the rows. Without rows, prints the sentence `none` on standard error. */
  async table<Row>(
    rows: readonly Row[],
    columns: Columns<Row>,
    none = 'There are none.',
  ): Promise<string> {
    if (rows.length === 0) this.note(none);
    return this.view.table(rows, columns);
  }

  /** Returns the lines of a graph with each state in its colour. */
  graph(lines: readonly string[]): string {
    return this.view.graph(lines);
  }

  /** Prints a line for people on standard error, unless `--quiet` is set. */
  note(text: string): void {
    if (!this.#globals.quiet) this.warn(printable(text));
  }

  /** Prints a line on standard error even with `--quiet`. */
  warn(text: string): void {
    this.io.err(`${text}\n`);
  }

  /**
   * Shows what will be done (`what`) and asks the user to confirm. With `yes`, only shows it.
   * Throws when the user declines, or when there is no terminal to ask on.
   */
  async confirm(question: string, { yes, what }: { yes: boolean; what: string }): Promise<void> {
    if (yes) {
      if (!this.#globals.quiet) this.io.err(what);
      return;
    }
    if (!this.io.terminal.in || !this.io.terminal.err)
      throw usageError(
        'This needs a confirmation, and there is no terminal to ask on: look with --dry-run, preview or plan, then repeat with --yes.',
      );
    this.io.err(what);
    const { confirm } = await import('@inquirer/prompts');
    const agreed = await confirm(
      { message: question, default: false },
      { output: process.stderr, signal: this.io.signal },
    );
    if (!agreed) throw new CommandError(EXIT.failure, 'Nothing was changed.');
  }

  /** Runs `work` and shows a spinner on standard error if that is a terminal. */
  async during<T>(text: string, work: (say: (text: string) => void) => Promise<T>): Promise<T> {
    if (!this.io.terminal.err || this.#globals.quiet) return work(() => undefined);
    const { default: spinner } = await import('yocto-spinner');
    // With `handleSignals` the spinner would handle Ctrl-C instead of this program.
    const shown = spinner({ text, stream: process.stderr, handleSignals: false }).start();
    try {
      return await work((next) => {
        shown.text = printable(next);
      });
    } finally {
      shown.stop();
    }
  }

  /** Sends a create request with the caller's idempotency key, or prints and uses a new key. */
  async creating<T>(own: string | undefined, send: (key: string) => Promise<T>): Promise<T> {
    const key = own ?? `${this.program}-${crypto.randomUUID()}`;
    // Printed before the request is sent: a user who stops the program can still repeat it safely.
    if (own === undefined) this.note(`The idempotency key of the request is ${key}`);
    return sendUnder(key, send, (text) => this.warn(text));
  }

  /** Throws when the user has pressed Ctrl-C. */
  stopIfInterrupted(): void {
    if (this.io.signal.aborted) throw new Interrupted();
  }

  /** Returns the dashboard operator and secret, which sign changes of the allowlist. */
  dashboardKey(): { readonly operator: string; readonly secret: SecretSource } {
    const { dashboardOperator, dashboardSecret } = this.settings;
    if (dashboardOperator === null || dashboardSecret === null)
      throw usageError(
        "Changing the allowlist takes an operator's key of the dashboard: set SVC_DASHBOARD_OPERATOR and SVC_DASHBOARD_SECRET_FILE, or dashboard_operator and dashboard_secret_file of a profile.",
      );
    return { operator: dashboardOperator.value, secret: dashboardSecret };
  }
}

function missingKey(program: string, keyFrom: string | undefined): CommandError {
  const what = keyFrom === undefined ? 'No key is set' : `${keyFrom} is set without its secret`;
  return usageError(
    `${what}: set SVC_KEY_ID and SVC_HMAC_SECRET_FILE, or write a profile (${program} config check tells what is used).`,
  );
}

/** Returns the client with every request aborted on Ctrl-C. */
function interruptible(client: FundClient, signal: AbortSignal): FundClient {
  const plain: Untyped = client;
  const own: Untyped = {
    call: (id, input) => plain.call(id, { signal, ...input }),
    request: (id, input) => plain.request(id, { signal, ...input }),
    pages: (id, input) => plain.pages(id, { signal, ...input }),
  };
  // The cast is safe: the wrapped functions take and return the same as the client's own.
  return { ...client, ...own } as FundClient;
}

interface Untyped {
  call(id: OperationId, input?: AnyInput): Promise<unknown>;
  request(id: OperationId, input?: AnyInput): Promise<unknown>;
  pages(id: PagedId, input?: AnyInput): AsyncIterable<unknown>;
}
