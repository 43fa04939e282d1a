/** Finds the attestation that a mint uses, and requests a new one if none is valid. */
import { ExecutorFault, type CallOptions } from '../../domain/executor.ts';
import type { EvmConnection } from '../evm/client.ts';
import { attestationsOf, whyUnsigned } from './attestation.ts';
import { ASK_EVERY_SECONDS, type Attested } from './attester.ts';
import type { Burnt } from './burnt.ts';
import type { Lane } from './plan.ts';

/** Requests a new attestation, then throws `not_yet`: the mint waits for the attestation. */
export async function requestAttestation(
  { attester }: Lane,
  { source, plan }: Burnt,
  options: CallOptions,
  { code, why }: { readonly code: string; readonly why: string },
): Promise<never> {
  await attester.reattest(source.cctp, plan.nonce, options);
  throw new ExecutorFault('not_yet', code, `${why}, and a new attestation is requested`, {
    retryAfterSeconds: ASK_EVERY_SECONDS,
  });
}

/**
 * Returns the newest attestation of the burn's message that the destination accepts: the attester's
 * current one, else the one that completed the burn.
 *
 * @throws ExecutorFault `not_yet` `ATTESTATION_UNSIGNED` if neither is accepted, since the
 *   destination's attesters have changed; a new attestation is requested.
 */
export async function attestedOf(
  lane: Lane,
  burnt: Burnt,
  connection: EvmConnection,
  call: CallOptions,
): Promise<Attested> {
  const { message_transmitter: transmitter } = burnt.plan.destination.cctp;
  let why: string | null = null;
  for (const each of [...(await currentAttestations(lane, burnt, call)), burnt.attested]) {
    why = await whyUnsigned(connection, transmitter, each);
    if (why === null) return each;
  }
  return requestAttestation(lane, burnt, call, {
    code: 'ATTESTATION_UNSIGNED',
    why: `the destination refuses the attestation (${why ?? ''})`,
  });
}

/**
 * Returns the burn's attestations that the attester has now; empty if the attester does not answer.
 */
async function currentAttestations(
  { attester }: Lane,
  { source, transaction, message, plan }: Burnt,
  call: CallOptions,
): Promise<readonly Attested[]> {
  try {
    const attested = await attester.messagesOf(source.cctp, transaction, call);
    return attestationsOf(attested, message)
      .own.filter((each) => each.message.nonce === plan.nonce)
      .map(({ bytes }) => bytes);
  } catch (error) {
    if (error instanceof ExecutorFault) return [];
    throw error;
  }
}
