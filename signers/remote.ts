/**
 * A signer behind HTTP, which holds the key: `GET /identity` returns its address, `POST /sign`
 * signs. Its signatures are used only after the bytes themselves are verified.
 */
import { randomUUID } from 'node:crypto';
import { Agent } from 'undici';
import { z } from 'zod';
import type { JsonObject } from '../domain/json.ts';
import {
  IdentityFault,
  SignerFault,
  type Signer,
  type SignerDescriptor,
  type SignerFaultCode,
} from '../domain/signer.ts';
import {
  CallError,
  callOnce,
  type OutgoingAnswer,
  type OutgoingCall,
} from '../platform/outgoing/call.ts';
import { readIdentity } from './identity.ts';
import { cachedIdentity } from './recent.ts';
import { verifiedTransaction, verifiedTypedData } from './verify.ts';

/** Largest answer that is read: enough for the largest sign request in hex. */
export const SIGNER_ANSWER_LIMIT_BYTES = 512 * 1024;

export interface RemoteSignerSettings {
  readonly url: string;
  readonly auth_token_file: string;
  readonly timeout_seconds: number;
}

/** The body of `POST /sign`, without its request_id. */
export type SignCall =
  | { readonly kind: 'evm_transaction'; readonly payload: unknown; readonly nonce: number }
  | { readonly kind: 'evm_typed_data'; readonly payload: JsonObject };

const identityAnswer = z.object({ address: z.string().max(128) });
const transactionAnswer = z.object({ raw_tx: z.string() });
const typedDataAnswer = z.object({ signature: z.string() });

/**
 * Makes a signer of the backend `remote`. Each call is made once, with its own `request_id`. A lost
 * call has no effect here, since only verified bytes are used.
 */
export function createRemoteSigner(
  identity: Omit<SignerDescriptor, 'backend'>,
  { url, auth_token_file, timeout_seconds }: RemoteSignerSettings,
): Signer {
  const dispatcher = new Agent({ connect: { timeout: 10_000 }, keepAliveTimeout: 4_000 });
  const ask = async <T>(
    answer: z.ZodType<T>,
    call: Pick<OutgoingCall, 'method' | 'body'> & { readonly path: string; readonly id: string },
  ): Promise<T> =>
    readAnswer(
      answer,
      await called({
        method: call.method,
        url: url.replace(/\/+$/, '') + call.path,
        headers: { 'x-request-id': call.id },
        body: call.body,
        authTokenFile: auth_token_file,
        timeoutMs: timeout_seconds * 1000,
        limitBytes: SIGNER_ANSWER_LIMIT_BYTES,
        dispatcher,
      }),
    );
  const addresses = cachedIdentity(async () => {
    const { address } = await ask(identityAnswer, {
      method: 'GET',
      path: '/identity',
      id: randomUUID(),
    });
    const reading = readIdentity(address);
    if (reading.ok) return reading.address;
    throw new IdentityFault('the remote signer returned an identity that is no address');
  });
  const sign = <T>(answer: z.ZodType<T>, call: SignCall): Promise<T> => {
    const id = randomUUID();
    const body = JSON.stringify({ ...call, request_id: id });
    return ask(answer, { method: 'POST', path: '/sign', body, id });
  };
  const by = async (address: string | undefined): Promise<string> =>
    address ?? (await addresses.identity()) ?? '';
  return Object.freeze({
    descriptor: Object.freeze({ ...identity, backend: 'remote' as const }),
    ...addresses,
    signEvmTransaction: async (unsigned, nonce, address) => {
      const request = { unsigned, nonce, address: await by(address) };
      const call = { kind: 'evm_transaction', payload: unsigned, nonce } as const;
      return verifiedTransaction(request, (await sign(transactionAnswer, call)).raw_tx);
    },
    signEvmTypedData: async (payload, address) => {
      const request = { payload, address: await by(address) };
      const call = { kind: 'evm_typed_data', payload } as const;
      return verifiedTypedData(request, (await sign(typedDataAnswer, call)).signature);
    },
    close: () => dispatcher.destroy(),
  } satisfies Signer);
}

async function called(call: OutgoingCall): Promise<OutgoingAnswer> {
  try {
    return await callOnce(call);
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    throw error.problem === 'too_long'
      ? fault('SIGNER_ANSWER_INVALID', `returned too much: ${error.message}`)
      : fault('SIGNER_UNREACHABLE', `returned no complete answer (${error.message})`);
  }
}

/**
 * Returns the parsed answer, or throws by its status. The body of an error is not read, since it
 * may contain anything.
 */
function readAnswer<T>(schema: z.ZodType<T>, { status, body }: OutgoingAnswer): T {
  if (status < 200 || status > 299) throw statusFault(status);
  const parsed = schema.safeParse(jsonOf(body));
  if (parsed.success) return parsed.data;
  throw fault('SIGNER_ANSWER_INVALID', 'returned an answer that does not fit the protocol');
}

function statusFault(status: number): SignerFault {
  if (status >= 500 || status === 408 || status === 429)
    return fault('SIGNER_UNREACHABLE', `answered ${String(status)}`);
  return status >= 400
    ? fault('SIGNER_REFUSED', `answered ${String(status)}`)
    : fault('SIGNER_ANSWER_INVALID', `answered ${String(status)}, which is not in the protocol`);
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}

function fault(code: SignerFaultCode, what: string): SignerFault {
  return new SignerFault(code, `the remote signer ${what}`);
}
