/** Which attestation a mint brings, and the question for another where none is good any more. */
import { ExecutorFault, type CallOptions } from '../../domain/executor.ts';
import type { EvmConnection } from '../evm/client.ts';
import { attestationsOf, whyUnsigned } from './attestation.ts';
import { ASK_EVERY_SECONDS, type Attested } from './attester.ts';
import type { Burnt } from './burnt.ts';
import type { Lane } from './plan.ts';

/** Another attestation is asked for, until which the mint waits: the fault is `not_yet`. */
export async function requestAttestation(
  { attester }: Lane,
  { source, plan }: Burnt,
  options: CallOptions,
  { code, why }: { readonly code: string; readonly why: string },
): Promise<never> {
  await attester.reattest(source.cctp, plan.nonce, options);
  throw new ExecutorFault('not_yet', code, `${why}, and another one is asked for`, {
    retryAfterSeconds: ASK_EVERY_SECONDS,
  });
}

/**
 * The newest attestation of the burn's message that the destination takes: the attester's, where it
 * can be asked, since it may have been renewed; else the one that the burn was completed with.
 *
 * @throws ExecutorFault `not_yet` `ATTESTATION_UNSIGNED` where neither is taken, since the
 *   destination's attesters have changed: another one is asked for.
 */
export async function attestedOf(
  lane: Lane,
  burnt: Burnt,
  connection: EvmConnection,
  call: CallOptions,
): Promise<Attested> {
  const { message_transmitter: transmitter } = burnt.plan.destination.cctp;
  let why: string | null = null;
  for (const each of [...(await toldNow(lane, burnt, call)), burnt.attested]) {
    why = await whyUnsigned(connection, transmitter, each);
    if (why === null) return each;
  }
  return requestAttestation(lane, burnt, call, {
    code: 'ATTESTATION_UNSIGNED',
    why: `the destination does not take the attestation (${why ?? ''})`,
  });
}

/** What the attester tells of the burn by now; nothing where it cannot be asked. */
async function toldNow(
  { attester }: Lane,
  { source, transaction, message, plan }: Burnt,
  call: CallOptions,
): Promise<readonly Attested[]> {
  try {
    const told = await attester.messagesOf(source.cctp, transaction, call);
    return attestationsOf(told, message)
      .own.filter((each) => each.message.nonce === plan.nonce)
      .map(({ bytes }) => bytes);
  } catch (error) {
    if (error instanceof ExecutorFault) return [];
    throw error;
  }
}
