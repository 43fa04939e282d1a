/** The tool server as a host has it: a process, and the official client over its streams. */
import { spawn } from 'node:child_process';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client, type CallToolResult, type Tool } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { SigningKey } from '../../dev/stack/keys.ts';
import { built } from '../../dev/bootstrap/programs.mjs';

export type Env = Readonly<Record<string, string>>;

/** Everything that the server takes from its environment. */
export const toolEnv = (key: SigningKey, apiUrl: string, namespace: string): Env => ({
  SVC_KEY_ID: key.keyId,
  SVC_HMAC_SECRET: key.secret,
  SVC_API_URL: apiUrl,
  SVC_AGENT_NAMESPACE: namespace,
});

/** Revisions of the protocol by the client that asks for them. */
export const ERAS = { old: 'legacy', new: { pin: '2026-07-28' } } as const;

export interface Host {
  readonly client: Client;
  readonly tools: readonly Tool[];
  /** All of standard error so far. */
  err(): string;
  call(name: string, args?: object, signal?: AbortSignal): Promise<CallToolResult>;
  close(): Promise<void>;
}

/** Starts the server and connects; {@link Host.call} holds each answer to its tool's schema. */
export async function host(env: Env, era: keyof typeof ERAS = 'old'): Promise<Host> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [built('fund-mcp')],
    env: { ...env },
    stderr: 'pipe',
  });
  let err = '';
  transport.stderr?.on('data', (chunk: Buffer) => (err += chunk.toString('utf8')));
  const client = new Client(
    { name: 'tests', version: '1' },
    { versionNegotiation: { mode: ERAS[era] } },
  );
  await client.connect(transport).catch((error: unknown) => {
    throw new Error(`the tool server did not come up: ${err}`, { cause: error });
  });
  const { tools } = await client.listTools();
  const schemas = new Ajv2020({ strict: false, validateFormats: false });
  return {
    client,
    tools,
    err: () => err,
    call: async (name, args = {}, signal) => {
      const result = await client.callTool(
        { name, arguments: { ...args } },
        signal === undefined ? {} : { signal },
      );
      const schema = tools.find((tool) => tool.name === name)?.outputSchema;
      if (
        result.structuredContent !== undefined &&
        !schemas.validate(schema as object, result.structuredContent)
      )
        throw new Error(`${name}: ${schemas.errorsText()}`);
      return result;
    },
    close: () => client.close(),
  };
}

/** The text of an answer. */
export const textOf = ({ content }: CallToolResult): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');

export const dataOf = <T>({ structuredContent }: CallToolResult): T => structuredContent as T;

export interface Ended {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs a program of dist/ with this input, to its end. */
export function ended(
  program: string,
  { env, input = '', args = [] }: { env: Env; input?: string; args?: readonly string[] },
): Promise<Ended> {
  const child = spawn(process.execPath, [built(program), ...args], { env: { ...env } });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString('utf8')));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString('utf8')));
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  return new Promise((resolve) => child.on('close', (status) => resolve({ status, out, err })));
}

export interface Between {
  readonly url: string;
  /** Requests that were seen, in their order. */
  readonly seen: readonly IncomingMessage[];
  /** The bodies of those, each as far as it has come. */
  readonly bodies: readonly string[];
  /** Reports the next request to this path, then holds it or cuts its answer off. */
  next(path: string, does: 'hold' | 'lose'): Promise<{ readonly gone: Promise<void> }>;
  close(): Promise<void>;
}

/** Stands between a client and the API, and passes on everything but what a test spoils. */
export async function between(apiUrl: string): Promise<Between> {
  const target = new URL(apiUrl);
  const seen: IncomingMessage[] = [];
  const bodies: string[] = [];
  const spoiled = new Map<
    string,
    { does: 'hold' | 'lose'; arrived: (gone: Promise<void>) => void }
  >();
  const server = createServer((request, response) => {
    const at = seen.push(request) - 1;
    bodies[at] = '';
    request.on('data', (chunk: Buffer) => (bodies[at] += chunk.toString('utf8')));
    const path = (request.url ?? '').split('?')[0] ?? '';
    const spoil = spoiled.get(path);
    spoiled.delete(path);
    const gone = new Promise<void>((resolve) => response.on('close', () => resolve()));
    spoil?.arrived(gone);
    if (spoil?.does === 'hold') return;
    const { method, headers } = request;
    const on = httpRequest(
      { host: target.hostname, port: target.port, path: request.url, method, headers },
      (answer) => {
        if (spoil?.does === 'lose') {
          answer.resume().on('end', () => request.socket.destroy());
          return;
        }
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    on.on('error', () => response.destroy());
    request.pipe(on);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${String(port)}`,
    seen,
    bodies,
    next: (path, does) =>
      new Promise((resolve) => {
        spoiled.set(path, { does, arrived: (gone) => resolve({ gone }) });
      }),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
