/** The session of a running agent command: settings, API client and output. */
import { randomUUID } from 'node:crypto';
import { createAgentApi, type AgentApi, type AgentCall } from '../agent/api.ts';
import { readAgentSettings, SettingsError, type AgentSettings } from '../agent/settings.ts';
import { CommandError, EXIT, Interrupted, usageError } from '../command-line/exit.ts';
import { sendUnder } from '../command-line/faults.ts';
import type { Io } from '../command-line/io.ts';
import { painter } from '../command-line/paint.ts';
import { printable, printableJson } from '../command-line/printable.ts';
import { record, table, type Column } from '../command-line/table.ts';
import { isObject } from '../http/answer.ts';
import { CLI_OPERATIONS, type CliOperation } from './operations.ts';

export type Json = Readonly<Record<string, unknown>>;

export class Session {
  readonly io: Io;
  readonly json: boolean;
  #settings: AgentSettings | null = null;
  #api: AgentApi<CliOperation> | null = null;

  constructor(io: Io, output: string | undefined) {
    this.io = io;
    const form = output ?? io.env['SVC_OUTPUT'] ?? '';
    if (!['', 'table', 'json'].includes(form))
      throw usageError('SVC_OUTPUT must be table or json.');
    this.json = form === 'json';
  }

  /** Calls an operation and returns its answer; Ctrl-C aborts the request. */
  async call(operation: CliOperation, call: AgentCall = {}): Promise<Json> {
    const answer = await this.#during(() => this.#connect().call(operation, this.#with(call)));
    return isObject(answer) ? answer : { answer };
  }

  /** Calls an operation and returns the unchanged text of its answer. */
  async textOf(operation: CliOperation, call: AgentCall): Promise<string> {
    return (await this.#during(() => this.#connect().request(operation, this.#with(call)))).text;
  }

  /** Sends a write with the caller's idempotency key or a new key, the same for all tries. */
  write(
    operation: CliOperation,
    { idempotencyKey, ...call }: AgentCall & { readonly idempotencyKey: string | undefined },
  ): Promise<Json> {
    return sendUnder(
      idempotencyKey ?? `fundagent-${randomUUID()}`,
      (key) => this.call(operation, { ...call, idempotencyKey: key }),
      (text) => this.note(text),
    );
  }

  /** Returns the authority for proposals: from the settings, else the authority of the key. */
  async authority(): Promise<string> {
    const { authorityKey } = this.#read();
    if (authorityKey !== null) return authorityKey;
    const { namespace, role } = await this.call('whoami');
    if (typeof namespace === 'string') return namespace.replace(/^agent\//, '');
    throw new CommandError(EXIT.usage, `This key has the role ${String(role)} and no authority.`);
  }

  /** Prints the answer as JSON, or as the text for people that `view` returns. */
  async print(value: unknown, view: () => string | Promise<string>): Promise<void> {
    this.io.out(this.json ? `${printableJson(value)}\n` : await view());
  }

  /** Prints a line on standard error. */
  note(text: string): void {
    this.io.err(`${printable(text)}\n`);
  }

  /** Returns a table of the rows. Without rows, prints a sentence on standard error. */
  table(rows: readonly object[], columns: readonly Column<unknown>[]): Promise<string> {
    if (rows.length === 0) this.note('There are none.');
    return table(rows, columns, painter(false));
  }

  /** Returns one line for each of these fields of the answer. */
  fields(answer: object, columns: readonly Column<unknown>[]): string {
    return record(
      columns.map(({ title, of }) => [title, of(answer)]),
      painter(false),
    );
  }

  #read(): AgentSettings {
    try {
      this.#settings ??= readAgentSettings(this.io.env);
      return this.#settings;
    } catch (error) {
      if (error instanceof SettingsError) throw usageError(error.message);
      throw error;
    }
  }

  #connect(): AgentApi<CliOperation> {
    const { apiUrl, keyId, secret } = this.#read();
    this.#api ??= createAgentApi(CLI_OPERATIONS, { baseUrl: apiUrl, key: { keyId, secret } });
    return this.#api;
  }

  #with(call: AgentCall): AgentCall {
    return { signal: this.io.signal, ...call };
  }

  async #during<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (this.io.signal.aborted) throw new Interrupted();
      throw error;
    }
  }
}
