/** Starts the tool server: checks its environment and its key first, then serves. */
import type { Readable, Writable } from 'node:stream';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import { createAgentApi, type AgentApi } from '../agent/api.ts';
import { plain } from '../agent/plain.ts';
import { refusalOf } from '../agent/refusals.ts';
import { readNamespaceSettings, SettingsError, type NamespaceSettings } from '../agent/settings.ts';
import { createLog, type Log } from './log.ts';
import { TOOL_OPERATIONS, type ToolOperation } from './operations.ts';
import { read } from './read.ts';
import { createToolServer } from './server.ts';

export interface ServerIo {
  readonly env: NodeJS.ProcessEnv;
  readonly input: Readable;
  readonly output: Writable;
  /** Writes to standard error. */
  readonly err: (text: string) => void;
}

/** Maximum size of a message; no valid call of these tools is so long. */
const MAX_MESSAGE_BYTES = 1024 * 1024;

/**
 * Serves until the input ends, then returns the exit status 0. Returns 2 when the environment is
 * incomplete or wrong, and 1 for any other error, such as a key without the required role.
 */
export async function serveTools(io: ServerIo, version: string): Promise<number> {
  const log = createLog(io.err);
  try {
    const settings = readNamespaceSettings(io.env);
    const api = connect(settings);
    await assertAgent(api, settings);
    log(`serving ${settings.namespace} of ${settings.apiUrl} over standard input and output`);
    await served({ api, authorityKey: settings.authorityKey, version, log }, io);
    return 0;
  } catch (error) {
    io.err(`fund-mcp: ${plain(wordsOf(error), 600)}\n`);
    return error instanceof SettingsError ? 2 : 1;
  }
}

function connect({ apiUrl, keyId, secret }: NamespaceSettings): AgentApi<ToolOperation> {
  return createAgentApi(TOOL_OPERATIONS, { baseUrl: apiUrl, key: { keyId, secret } });
}

class WrongKey extends Error {
  override readonly name = 'WrongKey';
}

const callerAnswer = z.object({ role: z.string(), namespace: z.string().optional() });

/** @throws WrongKey unless the key has the role agent and belongs to the namespace. */
async function assertAgent(
  api: AgentApi<ToolOperation>,
  { namespace }: NamespaceSettings,
): Promise<void> {
  const caller = read(callerAnswer, await api.call('whoami'));
  if (caller.role !== 'agent')
    throw new WrongKey(
      `this key has the role ${caller.role}, and the tool server takes keys of the role agent alone`,
    );
  if (caller.namespace !== namespace)
    throw new WrongKey(
      `this key is of the namespace ${caller.namespace ?? '(none)'}, and SVC_AGENT_NAMESPACE is ${namespace}`,
    );
}

/** Serves the tools; resolves when the input has ended, or the reader of the output is gone. */
async function served(
  parts: Parameters<typeof createToolServer>[0],
  { input, output }: ServerIo,
): Promise<void> {
  const transport = new StdioServerTransport(input, output, { maxBufferSize: MAX_MESSAGE_BYTES });
  const report = reporter(parts.log);
  const handle = serveStdio(() => createToolServer(parts), { transport, onerror: report });
  await new Promise<void>((resolve) => {
    const close = transport.onclose;
    transport.onclose = () => {
      close?.();
      resolve();
    };
  });
  await handle.close();
}

/** Returns a function that logs only the name of an error: the message may quote client input. */
function reporter(log: Log): (error: Error) => void {
  return (error) => log(`a message could not be served: ${error.name}`);
}

function wordsOf(error: unknown): string {
  if (error instanceof SettingsError || error instanceof WrongKey) return error.message;
  const refusal = refusalOf(error);
  if (refusal !== null) return `${refusal.rule}: ${refusal.why}`;
  return error instanceof Error ? `it failed: ${error.name}` : 'it failed';
}
