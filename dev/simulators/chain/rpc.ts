import type { ChainEngine } from './engine.ts';
import type { ChainFaults } from './faults.ts';
import type { Hex } from '../kit/hex.ts';
import { type ChainNode, RpcError } from './node.ts';

interface RpcRequest {
  jsonrpc?: string;
  id?: unknown;
  method?: unknown;
  params?: unknown;
}

interface Context {
  node: ChainNode;
  engine: ChainEngine;
  faults: ChainFaults;
}

/** Result of a call whose response a fault drops. */
const DROPPED = Symbol('dropped');
/** Methods that change the chain without the journal; a restart would lose their effect. */
const UNJOURNALED =
  /^(anvil|hardhat|evm|miner|personal|tenderly|eth_sendTransaction$|eth_sendUnsignedTransaction$)/;
const INVALID_REQUEST = -32_600;
const METHOD_NOT_FOUND = -32_601;
const INVALID_PARAMS = -32_602;

/**
 * Handles a JSON-RPC body, single or batch, and returns the response; null when the connection must
 * be cut instead.
 */
export async function answerRpc(context: Context & { body: string }): Promise<string | null> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(context.body);
  } catch {
    return JSON.stringify(failure(null, new RpcError(-32_700, 'The body is not JSON.')));
  }
  if (!Array.isArray(parsed)) {
    const answer = await answerOne(parsed as RpcRequest, context);
    return answer === DROPPED ? null : JSON.stringify(answer);
  }
  const answers: unknown[] = [];
  let dropped = false;
  for (const request of parsed as RpcRequest[]) {
    const answer = await answerOne(request, context);
    if (answer === DROPPED) dropped = true;
    else answers.push(answer);
  }
  return dropped ? null : JSON.stringify(answers);
}

async function answerOne(request: RpcRequest, context: Context): Promise<unknown> {
  const id = request?.id ?? null;
  try {
    if (typeof request?.method !== 'string')
      throw new RpcError(INVALID_REQUEST, 'A request needs a method.');
    const params = Array.isArray(request.params) ? (request.params as unknown[]) : [];
    const result = await dispatch(request.method, params, context);
    return result === DROPPED ? DROPPED : { jsonrpc: '2.0', id, result };
  } catch (error) {
    if (error instanceof RpcError) return failure(id, error);
    throw error;
  }
}

async function dispatch(method: string, params: unknown[], context: Context): Promise<unknown> {
  if (method === 'eth_sendRawTransaction') return sendRaw(params[0], context);
  if (method === 'evm_mine' || method === 'anvil_mine') {
    const count = Number(method === 'anvil_mine' ? (params[0] ?? 1) : 1);
    if (!Number.isInteger(count) || count < 1 || count > 1_000) {
      throw new RpcError(INVALID_PARAMS, 'The number of blocks must be from 1 to 1000.');
    }
    await context.engine.mine(count);
    return null;
  }
  if (method === 'anvil_rollback') {
    const depth = Number(params[0] ?? 1);
    if (!Number.isInteger(depth) || depth < 1 || depth > 64)
      throw new RpcError(INVALID_PARAMS, 'The number of blocks must be from 1 to 64.');
    await context.engine.rollback(depth);
    return null;
  }
  if (UNJOURNALED.test(method)) {
    throw new RpcError(
      METHOD_NOT_FOUND,
      `${method} is not offered here: send signed raw transactions instead.`,
    );
  }
  return read(method, params, context);
}

/** Returns the result of a read, which faults may drop or falsify. The chain id is always true. */
async function read(
  method: string,
  params: unknown[],
  { node, faults }: Context,
): Promise<unknown> {
  const answer = await node.call<unknown>(method, params);
  if (method === 'eth_chainId') return answer;
  if (Math.random() < faults.drop_read_rate) return DROPPED;
  if (method === 'eth_getBlockByNumber' && faults.base_fee_gwei > 0 && answer !== null)
    return {
      ...(answer as object),
      baseFeePerGas: `0x${(faults.base_fee_gwei * 1e9).toString(16)}`,
    };
  if (Math.random() >= faults.wrong_read_rate) return answer;
  if (method === 'eth_getTransactionReceipt') return null;
  if (method !== 'eth_getTransactionCount') return answer;
  const wrong = Number(answer) + (Math.random() < 0.5 ? 1 : -1);
  return `0x${Math.max(0, wrong).toString(16)}`;
}

async function sendRaw(raw: unknown, { engine, faults }: Context): Promise<unknown> {
  if (typeof raw !== 'string' || !/^0x([0-9a-fA-F]{2})+$/.test(raw)) {
    throw new RpcError(INVALID_PARAMS, 'A raw transaction in hexadecimal is needed.');
  }
  if (faults.latency_ms > 0) await new Promise((resolve) => setTimeout(resolve, faults.latency_ms));
  if (Math.random() < faults.reject_rate)
    throw new RpcError(-32_000, 'refused by a fault on demand');
  const hash = await engine.send(raw.toLowerCase() as Hex);
  return Math.random() < faults.drop_answer_rate ? DROPPED : hash;
}

function failure(id: unknown, error: RpcError): unknown {
  return {
    jsonrpc: '2.0',
    id,
    error: {
      code: error.code,
      message: error.message,
      ...(error.data === undefined ? {} : { data: error.data }),
    },
  };
}
