/**
 * Checks the attestation of a burn: the burn's own message, with the signatures that the
 * destination requires. A completed burn keeps its message nonce forever, so every answer of the
 * attester is checked.
 *
 * Source: `Attestable.sol` of github.com/circlefin/evm-cctp-contracts (4061786): exactly as many
 * signatures of 65 bytes (r, s, v) as the threshold, of enabled attesters, in increasing order of
 * their addresses. `ECDSA.recover` there takes 27 and 28 as v, and the lower half of s.
 */
import { keccak256, recoverAddress, size, slice, type Address, type Hash, type Hex } from 'viem';
import { ExecutorFault, type CallOptions } from '../../domain/executor.ts';
import type { EvmConnection } from '../evm/client.ts';
import type { Attested } from './attester.ts';
import { MESSAGE_TRANSMITTER } from './contracts.ts';
import { differs, readMessage, type BurnMessage } from './message.ts';
import type { BurnPlan, Lane } from './plan.ts';

/** A burn's signed message, decoded and as bytes. */
export interface AttestedBurn {
  readonly message: BurnMessage;
  readonly bytes: Attested;
}

/**
 * Returns the attested message of this burn; null while there is none.
 *
 * @throws ExecutorFault `protocol`, retried and shown to an operator: `ATTESTATION_MISMATCH` if the
 *   attester signed another message, or a fee above what the burn allows; `ATTESTATION_UNSIGNED` if
 *   the destination would refuse the signatures.
 */
export async function attestedBurn(
  { attester, chains }: Lane,
  { source, destination }: BurnPlan,
  transaction: Hash,
  emitted: string,
  call: CallOptions,
): Promise<AttestedBurn | null> {
  const attested = await attester.messagesOf(source.cctp, transaction, call);
  const { own, problem } = attestationsOf(attested, emitted);
  if (own.length === 0) {
    if (problem === null) return null;
    throw new ExecutorFault('protocol', 'ATTESTATION_MISMATCH', problem);
  }
  const connection = await chains.open(destination.chain_id, call);
  let why = '';
  for (const each of own) {
    const unsigned = await whyUnsigned(
      connection,
      destination.cctp.message_transmitter,
      each.bytes,
    );
    if (unsigned === null) return each;
    why ||= unsigned;
  }
  throw new ExecutorFault(
    'protocol',
    'ATTESTATION_UNSIGNED',
    `the attester's signatures are not those that the destination requires: ${why}`,
  );
}

/**
 * Returns, among a transaction's attested messages, those of one burn. If there is none, `problem`
 * says how the first message differs, or is null while no message is attested.
 */
export function attestationsOf(
  attested: readonly Attested[],
  emitted: string,
): { readonly own: readonly AttestedBurn[]; readonly problem: string | null } {
  const burnt = readMessage(emitted);
  if (!burnt.ok) return { own: [], problem: `the burn's own message: ${burnt.problem}` };
  const own: AttestedBurn[] = [];
  let problem: string | null = null;
  for (const bytes of attested) {
    const reading = readMessage(bytes.message);
    const why = reading.ok ? differs(reading.message, burnt.message) : reading.problem;
    if (reading.ok && why === null) own.push({ message: reading.message, bytes });
    else problem ??= `the attester signed a message that is not this burn: ${why ?? ''}`;
  }
  return { own, problem };
}

/**
 * Returns why the transmitter would refuse the signatures of a message; null if it would accept
 * these signatures.
 */
export async function whyUnsigned(
  connection: EvmConnection,
  transmitter: Address,
  { message, attestation }: Attested,
): Promise<string | null> {
  const contract = { address: transmitter, abi: MESSAGE_TRANSMITTER } as const;
  const threshold = await connection.read({ ...contract, functionName: 'signatureThreshold' });
  const bytes = isBytes(attestation) ? size(attestation) : 0;
  if (BigInt(bytes) !== threshold * BigInt(SIGNATURE_BYTES))
    return `the attestation has ${bytes} bytes, and the contract requires ${threshold} signatures`;
  const reading = await signersOf(message, attestation);
  if (!reading.ok) return reading.problem;
  for (const signer of reading.signers) {
    const enabled = await connection.read({
      ...contract,
      functionName: 'isEnabledAttester',
      args: [signer],
    });
    if (!enabled) return `${signer} is not an attester`;
  }
  return null;
}

const SIGNATURE_BYTES = 65;
/** Half the order of the curve: of the two valid values of s only the lower one is accepted. */
const HIGHEST_S = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

type Signers =
  | { readonly ok: true; readonly signers: readonly Address[] }
  | { readonly ok: false; readonly problem: string };

const isBytes = (text: string): boolean => /^0x(?:[0-9a-f]{2})*$/i.test(text);

/**
 * Returns the signers of a message; signatures must be in increasing order of signers, each once.
 */
export async function signersOf(message: Hex, attestation: Hex): Promise<Signers> {
  const bytes = size(attestation);
  const hash = keccak256(message);
  const signers: Address[] = [];
  for (let at = 0; at < bytes; at += SIGNATURE_BYTES) {
    const signer = await signerOf(hash, slice(attestation, at, at + SIGNATURE_BYTES));
    if (signer === null) return { ok: false, problem: 'a signature is invalid' };
    const before = signers.at(-1);
    if (before !== undefined && BigInt(signer) <= BigInt(before))
      return {
        ok: false,
        problem: 'the signatures are not in increasing order of their signers, each once',
      };
    signers.push(signer);
  }
  return { ok: true, signers };
}

async function signerOf(hash: Hash, signature: Hex): Promise<Address | null> {
  const v = Number(slice(signature, 64));
  if ((v !== 27 && v !== 28) || BigInt(slice(signature, 32, 64)) > HIGHEST_S) return null;
  try {
    return await recoverAddress({ hash, signature });
  } catch {
    return null;
  }
}
