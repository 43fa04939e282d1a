/** Submits signed bytes: decodes and checks them, then broadcasts them once. */
import {
  ExecutorFault,
  type CallOptions,
  type ExecutionResult,
  type SubmitInput,
} from '../../domain/executor.ts';
import type { ActOn } from './act.ts';
import { broadcast } from './broadcast.ts';
import type { EvmChains } from './client.ts';
import { readSigner } from './plan.ts';
import { readSigned } from './signed-bytes.ts';

/**
 * Returns SUBMITTED with the hash as reference. Every other outcome is a fault that recover must
 * settle: even after a refusal, an earlier interrupted call may have sent the same bytes.
 */
export async function sendSigned(
  chains: EvmChains,
  { chain_id, act }: { readonly chain_id: number; readonly act: ActOn },
  input: SubmitInput,
  call: CallOptions,
): Promise<ExecutionResult> {
  const { raw_tx, tx_hash } = input.sign_result ?? {};
  if (typeof raw_tx !== 'string' || typeof tx_hash !== 'string') {
    throw new ExecutorFault(
      'protocol',
      'SIGN_RESULT_MISSING',
      'the sign result lacks raw_tx or tx_hash, so there is nothing to submit',
    );
  }
  const connection = await chains.open(chain_id, call);
  const bytes = { raw_tx, tx_hash, from: readSigner(input.context) };
  const reading = await readSigned(bytes, await act(connection));
  if (!reading.ok) throw new ExecutorFault('protocol', 'SIGNED_BYTES_MISMATCH', reading.problem);
  // The check before signing (the fence) has just checked for a freeze, a pause and other stops.
  // They are read again only before a second endpoint.
  let endpoints = 0;
  const outcome = await broadcast(connection, reading.signed, async () =>
    endpoints++ === 0 ? null : input.journal.held({ address: bytes.from, accepted: false }),
  );
  if (outcome.kind === 'held')
    throw new ExecutorFault('unreachable', 'SEND_HELD', outcome.held.why);
  if (outcome.kind === 'refused')
    throw new ExecutorFault('server_error', 'BROADCAST_REFUSED', outcome.message);
  await input.journal.accepted(reading.signed.tx_hash);
  return { next_state: 'SUBMITTED', external_ref: reading.signed.tx_hash };
}

/**
 * Returns the result of a cancel: a sent transaction cannot be recalled, so the transaction is
 * observed to its end.
 */
export function stillUnderWay(externalRef: string | undefined): ExecutionResult {
  return externalRef === undefined
    ? { next_state: 'SUBMITTING' }
    : { next_state: 'OBSERVING', external_ref: externalRef };
}
