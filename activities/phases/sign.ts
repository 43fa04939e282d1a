/**
 * Signs after the fence, outside any database transaction. Only verified bytes are stored, and only
 * stored bytes are ever sent.
 */
import { sameEvmAddress } from '../../platform/evm-address.ts';
import { verifiedTransaction, verifiedTypedData } from '../../signers/verify.ts';
import { saveSigned } from '../../store/evm-transactions.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { keeperOf } from '../requirements/list.ts';
import type { PhaseDependencies } from './context.ts';
import type { Fenced } from './fence.ts';

/**
 * Returns the `sign_result` for submit; null when nothing is signed. `overtaken`: a recovery raised
 * the epoch while this worker signed, so the bytes were not stored and must not be sent.
 */
export async function signFenced(
  deps: PhaseDependencies,
  fenced: Fenced,
): Promise<Readonly<Record<string, string>> | null | 'overtaken'> {
  const { row, context, transaction } = fenced;
  const request = row.sign_request;
  if (request === null) return null;
  const signer = deps.signers.get(row.node.signer_binding?.signer_key ?? '');
  if (signer === undefined) throw new Error('the bound signer is not registered in this worker');
  const address = context.signer?.address ?? '';
  if (request.kind === 'evm_typed_data') {
    const { payload } = request;
    const answer = await signer.signEvmTypedData(payload, address);
    const verified = await verifiedTypedData({ payload, address }, answer.signature);
    return keptFirst(deps, row, verified, address);
  }
  if (transaction === null) throw new Error('a transaction is signed only with a claimed nonce');
  if (transaction.raw_tx !== null && transaction.tx_hash !== null)
    return { raw_tx: transaction.raw_tx, tx_hash: transaction.tx_hash };
  // The nonce claim stores the account and the transaction's fields. So a second fence of the
  // attempt signs the same transaction, or fails when the signer has another key by then.
  const { unsigned, nonce } = transaction;
  if (!sameEvmAddress(transaction.from, address))
    throw new Error('the nonce was claimed for an address that the signer no longer has');
  const answer = await signer.signEvmTransaction(unsigned, nonce, address);
  // Every signer's bytes are verified here, even if the signer also checks them.
  const signed = await verifiedTransaction({ unsigned, nonce, address }, answer.raw_tx);
  const stored = await saveSigned(deps.db, {
    transaction_id: transaction.transaction_id,
    epoch: row.epoch,
    ...signed,
  });
  return stored === null ? 'overtaken' : { raw_tx: stored.raw_tx, tx_hash: stored.tx_hash };
}

/**
 * Stores the signature before the send, if a requirement of the node stores signatures. Returns the
 * first signature that was stored, since only that one may be sent.
 */
async function keptFirst(
  deps: PhaseDependencies,
  row: PhaseRow,
  { signature }: { readonly signature: string },
  address: string,
): Promise<Readonly<Record<string, string>> | 'overtaken'> {
  const keep = keeperOf(row);
  if (keep === undefined) return { signature };
  const kept = await keep(deps, row, signature);
  if (kept === null) return 'overtaken';
  if (kept === signature) return { signature };
  return verifiedTypedData({ payload: row.sign_request?.payload ?? {}, address }, kept);
}
