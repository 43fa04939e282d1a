/** Maps the RPC library's errors to executor faults. */
import {
  AbiDecodingDataSizeTooSmallError,
  BaseError,
  ContractFunctionZeroDataError,
  ExecutionRevertedError,
  HttpRequestError,
  InsufficientFundsError,
  ResponseBodyTooLargeError,
  RpcRequestError,
  TimeoutError,
} from 'viem';
import { ExecutorFault, type CallOptions } from '../../domain/executor.ts';

/** Codes of the faults that {@link toFault} returns. */
export const RPC_FAULTS = {
  aborted: 'EVM_RPC_ABORTED',
  timeout: 'EVM_RPC_TIMEOUT',
  unreachable: 'EVM_RPC_UNREACHABLE',
  refused: 'EVM_RPC_ERROR',
} as const;

/**
 * Returns a fault without secrets. The library's errors contain the endpoint's URL, which may hold
 * an access key, and the request, which may be a signed transaction; so only the endpoint's own
 * short message is kept. Never `rejected`: an endpoint that returns 401 or 429 says nothing about
 * the plan.
 */
export function toFault(error: unknown, call: CallOptions): ExecutorFault {
  if (error instanceof ExecutorFault) return error;
  if (call.signal.aborted)
    return new ExecutorFault(
      'timeout',
      RPC_FAULTS.aborted,
      'the call was aborted before the chain answered',
    );
  if (finds(error, TimeoutError))
    return new ExecutorFault(
      'timeout',
      RPC_FAULTS.timeout,
      'the chain endpoint did not answer in time',
    );
  const http = find(error, HttpRequestError);
  if (http !== null || finds(error, ResponseBodyTooLargeError)) {
    const status = http?.status === undefined ? '' : ` (HTTP ${http.status})`;
    return new ExecutorFault(
      'unreachable',
      RPC_FAULTS.unreachable,
      `the chain endpoint gave no usable answer${status}`,
    );
  }
  return new ExecutorFault(
    'server_error',
    RPC_FAULTS.refused,
    `the chain endpoint refused the call: ${rpcMessage(error)}`,
  );
}

/**
 * Returns whether the endpoint gave no answer, so that another may be tried; a refusal is an
 * answer.
 */
export function isSilence(error: unknown): boolean {
  if (error instanceof ExecutorFault)
    return error.code === RPC_FAULTS.timeout || error.code === RPC_FAULTS.unreachable;
  return (
    finds(error, TimeoutError) ||
    finds(error, HttpRequestError) ||
    finds(error, ResponseBodyTooLargeError)
  );
}

/** Returns the endpoint's message without URLs and long hex strings, at most 200 characters. */
export function rpcMessage(error: unknown): string {
  const rpc = find(error, RpcRequestError);
  const text =
    rpc?.details ??
    (error instanceof BaseError ? error.details || error.shortMessage : 'unexpected answer');
  return text
    .replace(/[a-z]+:\/\/\S+/gi, '[url]')
    .replace(/0x[0-9a-f]{67,}/gi, '0x…')
    .slice(0, 200);
}

/** Returns whether the call was executed and reverted, in contrast to a failed endpoint. */
export function isRevert(error: unknown): boolean {
  const rpc = find(error, RpcRequestError);
  return (
    finds(error, ExecutionRevertedError) ||
    rpc?.code === 3 ||
    /execution reverted/i.test(rpc?.details ?? '')
  );
}

/**
 * Returns whether a contract answered a read with a revert, with nothing, or with bytes that do not
 * fit its ABI.
 */
export function isContractRefusal(error: unknown): boolean {
  return (
    isRevert(error) ||
    finds(error, ContractFunctionZeroDataError) ||
    finds(error, AbiDecodingDataSizeTooSmallError)
  );
}

/** Returns whether the account cannot pay for value and gas. */
export function isInsufficientFunds(error: unknown): boolean {
  return finds(error, InsufficientFundsError) || /insufficient funds/i.test(rpcMessage(error));
}

/** Returns whether the endpoint answered with a refusal. */
export function isRpcAnswer(error: unknown): boolean {
  return finds(error, RpcRequestError);
}

/**
 * Returns whether the endpoint reports that it already has exactly these bytes, by the messages of
 * geth, Erigon, Nethermind, Besu, Reth and anvil. "nonce too low" does not count: another
 * transaction may have used the nonce.
 */
export function isAlreadyKnown(error: unknown): boolean {
  return (
    isRpcAnswer(error) &&
    /already\s?known|known transaction|already imported|existing tx with same hash|already exists/i.test(
      rpcMessage(error),
    )
  );
}

type Constructor<T> = abstract new (...args: never[]) => T;

function find<T>(error: unknown, type: Constructor<T>): T | null {
  if (!(error instanceof BaseError)) return null;
  const found = error.walk((inner) => inner instanceof type);
  return found instanceof type ? found : null;
}

function finds<T>(error: unknown, type: Constructor<T>): boolean {
  return find(error, type) !== null;
}
