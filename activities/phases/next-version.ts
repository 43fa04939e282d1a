/**
 * Signs another version of a pending transaction with the same nonce, so that only one version can
 * ever be mined. The version is signed, stored by a write that fails if another version came first,
 * and only then sent.
 */
import type { NextVersion, StoredTransaction, VersionOutcome } from '../../domain/executor.ts';
import { SYSTEM_ACTOR } from '../../domain/roles.ts';
import { SignerFault, type SignedTransaction, type Signer } from '../../domain/signer.ts';
import type { TimelineEntry, Transition } from '../../domain/transition.ts';
import { newId } from '../../platform/ids.ts';
import { verifiedTransaction } from '../../signers/verify.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { applyTransition } from '../../store/transition.ts';
import type { PhaseDependencies } from './context.ts';
import { mayReplace } from './replacement.ts';

/** Returns a refusal with its reason. */
const no = (why: string): VersionOutcome => ({ ok: false, why });

/**
 * Signs and stores the version. A new payment requires that the signer may sign and the payee may
 * be paid; a cancellation pays no one and requires neither.
 */
export async function nextVersion(
  deps: PhaseDependencies,
  row: PhaseRow,
  version: NextVersion,
): Promise<VersionOutcome> {
  const { over, kind, unsigned } = version;
  const signerKey = row.node.signer_binding?.signer_key ?? '';
  const signer = deps.signers.get(signerKey);
  if (signer === undefined) return no(`signer ${signerKey} is not registered in this worker`);
  const required = await requirements(deps, row, version);
  if ('why' in required) return required;
  const signed = await signedBy(signer, version);
  if ('why' in signed) return signed;
  const transaction_id = newId();
  const outcome = await applyTransition(deps.db, {
    movement_id: row.movement_id,
    ...required,
    nodes: [
      {
        node_key: row.node_key,
        from: row.state,
        moves: [],
        attempt: row.attempt,
        epoch: row.epoch,
        version: {
          transaction_id,
          claim: over.claim,
          over: over.transaction_id,
          kind,
          unsigned,
          ...signed,
        },
      },
    ],
    timeline: [eventOf(row, over, { kind, tx_hash: signed.tx_hash })],
  });
  if (outcome.ok) return { ok: true, stored: storedVersion(version, transaction_id, signed) };
  if (outcome.reason === 'approval_not_proven')
    return no('the assertions of the approval do not verify now, or are too few');
  if (outcome.reason !== 'binding') return no('the node has changed meanwhile');
  const [
    { binding, key, reason } = { binding: 'signer', key: signerKey, reason: 'not available' },
  ] = outcome.problems;
  return no(`${binding} ${key}: ${reason}`);
}

/** Signs with the nonce claim's account, also after a key rotation, and verifies the bytes. */
async function signedBy(
  signer: Signer,
  { over, unsigned }: NextVersion,
): Promise<SignedTransaction | (VersionOutcome & { readonly ok: false })> {
  const { nonce, from: address } = over;
  try {
    const answer = await signer.signEvmTransaction(unsigned, nonce, address);
    return await verifiedTransaction({ unsigned, nonce, address }, answer.raw_tx);
  } catch (error) {
    if (error instanceof SignerFault) return { ok: false, why: error.message };
    throw error;
  }
}

async function requirements(
  deps: PhaseDependencies,
  row: PhaseRow,
  { over, kind, unsigned }: NextVersion,
): Promise<Pick<Transition, 'require'> | (VersionOutcome & { readonly ok: false })> {
  if (kind === 'cancel') return {};
  const may = await mayReplace(deps, row, {
    accepted: over.accepted === true,
    address: over.from,
    value: unsigned.value,
  });
  return 'why' in may ? { ok: false, why: may.why } : may;
}

function storedVersion(
  { over, kind, unsigned }: NextVersion,
  transaction_id: string,
  signed: { readonly raw_tx: string; readonly tx_hash: string },
): StoredTransaction {
  return { ...over, transaction_id, kind, unsigned, age_seconds: 0, accepted: false, ...signed };
}

function eventOf(
  row: PhaseRow,
  { nonce }: StoredTransaction,
  version: { readonly kind: NextVersion['kind']; readonly tx_hash: string },
): TimelineEntry {
  const cancels = version.kind === 'cancel';
  return {
    event_type: cancels ? 'transaction_cancelling' : 'transaction_replaced',
    message: cancels
      ? 'A zero-value transaction was signed with the same nonce'
      : 'Not mined so far: signed again with the same nonce and higher fees',
    actor: SYSTEM_ACTOR,
    node_key: row.node_key,
    attempt: row.attempt,
    data: { nonce, tx_hash: version.tx_hash },
  };
}
