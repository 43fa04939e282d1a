/**
 * The local chain: a JSON-RPC endpoint in front of anvil. The proxy records every raw transaction
 * in a journal before anvil gets it, and rebuilds the chain from that journal at each start.
 * Besides JSON-RPC (POST /) it serves GET /journal, and GET, POST and DELETE /faults.
 *
 * Environment: CHAIN_PORT, CHAIN_NODE_PORT, CHAIN_DIR (folder of the journal); CHAIN_ID (optional,
 * default {@link CHAIN_ID}); CHAIN_BRIDGES=true deploys the contracts of the bridges.
 */
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import { join } from 'node:path';
import { CHAIN_ID, chainInfo } from './accounts.ts';
import { ChainEngine } from './engine.ts';
import { FaultsError, NO_FAULTS, mergeFaults } from './faults.ts';
import { Journal } from './journal.ts';
import { ChainNode } from './node.ts';
import { answerRpc } from './rpc.ts';
import { deployTokens } from './tokens.ts';

const MAX_BODY_BYTES = 4 * 1024 * 1024;
const port = Number(process.env['CHAIN_PORT']);
const dir = process.env['CHAIN_DIR'] ?? '';
const info = chainInfo(port, Number(process.env['CHAIN_ID'] ?? CHAIN_ID));
let faults = NO_FAULTS;

const node = await ChainNode.start({
  dir,
  port: Number(process.env['CHAIN_NODE_PORT']),
  chainId: info.chainId,
  onExit: (how) => leave(1, `anvil ended: ${how}`),
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => leave(0));
// The supervisor is gone, so no other process would stop this one.
process.on('disconnect', () => leave(0));
process.on('uncaughtException', (error) => leave(1, error.stack ?? error.message));

const journal = new Journal(join(dir, 'journal.jsonl'));
const engine = new ChainEngine(node, journal);
engine.onBroken = (error) => leave(1, `the chain no longer answers: ${String(error)}`);
await engine.replay();
await deployTokens(engine, journal, info);
if (process.env['CHAIN_BRIDGES'] === 'true') {
  // Loaded only when needed: the whole stack waits for this chain, mostly without bridges.
  const { deployLanes } = await import('./bridges.ts');
  await deployLanes(engine, journal, {
    chainId: info.chainId,
    holder: info.accounts.signer.address,
  });
}

const server = createServer((request, response) => {
  handle(request, response).catch((error: unknown) => {
    console.error(error);
    response.destroy();
  });
});
server.on('error', (error) => leave(1, error.message));
server.listen(port, '127.0.0.1', () => {
  console.log(JSON.stringify({ ready: true, port }));
});

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await readBody(request);
  if (body === null) return sendJson(response, 413, { error: 'body_too_large' });
  switch (`${request.method} ${request.url?.split('?')[0]}`) {
    case 'POST /': {
      const answer = await answerRpc({ body, node, engine, faults });
      if (answer === null) response.destroy();
      else sendText(response, 200, answer);
      return;
    }
    case 'GET /journal':
      return sendJson(response, 200, { transactions: journal.view() });
    case 'GET /faults':
      return sendJson(response, 200, faults);
    case 'DELETE /faults':
      return setFaults(response, NO_FAULTS);
    case 'POST /faults':
      return setFaults(response, body);
    default:
      return sendJson(response, 404, {
        error: 'not_found',
        message: 'Known: POST /, GET /journal, GET|POST|DELETE /faults.',
      });
  }
}

function setFaults(response: ServerResponse, wish: unknown): void {
  try {
    faults = mergeFaults(faults, typeof wish === 'string' ? JSON.parse(wish) : wish);
  } catch (error) {
    if (!(error instanceof FaultsError) && !(error instanceof SyntaxError)) throw error;
    return sendJson(response, 400, { error: 'invalid_faults', message: error.message });
  }
  engine.setMining(faults.mining === 'automatic');
  sendJson(response, 200, faults);
}

async function readBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  sendText(response, status, JSON.stringify(value));
}

function sendText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(text);
}

function leave(code: number, why?: string): never {
  if (why !== undefined) console.error(why);
  node.kill();
  process.exit(code);
}
