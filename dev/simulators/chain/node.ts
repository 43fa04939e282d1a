import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type ProcessIdentity, endProcess, identify } from '../../bootstrap/identity.mjs';
import { findOnPath } from '../../bootstrap/temporal-build.mjs';
import { MNEMONIC } from './accounts.ts';

/** Time of the first block, in seconds since 1970. Fixed, so that every replay starts the same. */
const GENESIS_TIME = 1_700_000_000;

/** Anvil cannot be used; the message says why. */
export class ChainNodeError extends Error {
  override name = 'ChainNodeError';
}

/** A JSON-RPC error that the chain returned. */
export class RpcError extends Error {
  override name = 'RpcError';
  readonly code: number;
  /** Extra data of the error, such as the revert data of a failed call. */
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** One anvil process, on a port that only the proxy uses. */
export class ChainNode {
  readonly url: string;
  private readonly process: ChildProcess;
  private readonly record: string;

  private constructor(child: ChildProcess, url: string, record: string) {
    this.process = child;
    this.url = url;
    this.record = record;
  }

  /** Starts a fresh chain that makes blocks only on request. */
  static async start(options: {
    dir: string;
    port: number;
    chainId: number;
    onExit: (how: string) => void;
  }): Promise<ChainNode> {
    const { dir, port, chainId, onExit } = options;
    mkdirSync(dir, { recursive: true });
    const record = join(dir, 'anvil.json');
    await endForgotten(record);
    rmSync(join(dir, '.foundry'), { recursive: true, force: true });
    const args = [
      ...['--host', '127.0.0.1', '--port', String(port), '--quiet'],
      ...[
        '--chain-id',
        String(chainId),
        '--mnemonic',
        MNEMONIC,
        '--timestamp',
        String(GENESIS_TIME),
      ],
      // Eleven accounts instead of the default ten: the last is for the bridge of the perps venue.
      ...['--accounts', '11'],
      // With one slot in an epoch, `finalized` is two blocks behind the head; the default is 64.
      ...['--no-mining', '--order', 'fifo', '--slots-in-an-epoch', '1'],
      // Keeps all state in memory: the journal rebuilds it, and state files would grow to
      // gigabytes.
      ...['--max-persisted-states', '0'],
    ];
    // Anvil still creates folders in the home folder, and a killed anvil leaves them there.
    const env = { ...process.env, HOME: dir };
    const child = spawn(anvilBinary(), args, { env, stdio: ['ignore', 'inherit', 'inherit'] });
    const identity = child.pid === undefined ? null : identify(child.pid);
    if (identity !== null) writeFileSync(record, JSON.stringify(identity));
    let ended: string | null = null;
    child.once('error', (error) => (ended = error.message));
    child.once('exit', (code, signal) => {
      ended = signal === null ? `exit status ${code ?? '?'}` : `killed by ${signal}`;
      rmSync(record, { force: true });
      onExit(ended);
    });
    const node = new ChainNode(child, `http://127.0.0.1:${port}`, record);
    const deadline = Date.now() + 20_000;
    while (!(await node.isUp())) {
      if (ended !== null || Date.now() > deadline) {
        node.kill();
        throw new ChainNodeError(`anvil did not start (${ended ?? 'no answer for 20 s'}).`);
      }
      await new Promise((resolve) => setTimeout(resolve, 15));
    }
    return node;
  }

  /** Sends one JSON-RPC call; rejects with an RpcError when the chain refuses it. */
  async call<T>(method: string, params: unknown[] = []): Promise<T> {
    const answer = await fetch(this.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const body = (await answer.json()) as {
      result?: T;
      error?: { code: number; message: string; data?: unknown };
    };
    if (body.error !== undefined)
      throw new RpcError(body.error.code, body.error.message, body.error.data);
    return body.result as T;
  }

  kill(): void {
    this.process.kill('SIGKILL');
    rmSync(this.record, { force: true });
  }

  private async isUp(): Promise<boolean> {
    return this.call('eth_chainId').then(
      () => true,
      () => false,
    );
  }
}

/** Ends the anvil process of a proxy that was killed alone. */
async function endForgotten(record: string): Promise<void> {
  if (!existsSync(record)) return;
  try {
    await endProcess(JSON.parse(readFileSync(record, 'utf8')) as ProcessIdentity, {
      signal: 'SIGKILL',
    });
  } catch {
    // the record was half written by a killed process, so no anvil depends on it
  }
  rmSync(record, { force: true });
}

function anvilBinary(): string {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  const name = `@foundry-rs/anvil-${process.platform}-${arch}`;
  try {
    const folder = dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
    return join(folder, 'bin', 'anvil');
  } catch {
    const own = findOnPath('anvil');
    if (own !== null) return own;
    throw new ChainNodeError(
      `The package ${name} is missing, which holds the local chain for this machine, and no \`anvil\` is on PATH. ` +
        'Remove node_modules and start again, or install Foundry.',
    );
  }
}
