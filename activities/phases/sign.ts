/** Signing behind the fence, outside any transaction; only stored bytes are ever sent. */
import type { EvmUnsignedTransaction } from '../../domain/executor.ts';
import { saveSigned } from '../../store/evm-transactions.ts';
import type { PhaseDependencies } from './context.ts';
import type { Fenced } from './fence.ts';

/**
 * The `sign_result` for submit, null where nothing is signed. `overtaken` means a recovery bumped
 * the epoch while this worker signed: its bytes were not stored and must not be sent.
 */
export async function signFenced(
  deps: PhaseDependencies,
  fenced: Fenced,
): Promise<Readonly<Record<string, string>> | null | 'overtaken'> {
  const { row, transaction } = fenced;
  const request = row.sign_request;
  if (request === null) return null;
  const signer = deps.signers.get(row.node.signer_binding?.signer_key ?? '');
  if (signer === undefined) throw new Error('the bound signer is not registered in this worker');
  if (request.kind === 'evm_typed_data') return signer.signEvmTypedData(request.payload);
  if (transaction === null) throw new Error('a transaction is signed only with a claimed nonce');
  if (transaction.raw_tx !== null && transaction.tx_hash !== null)
    return { raw_tx: transaction.raw_tx, tx_hash: transaction.tx_hash };
  // The claim keeps the fields it was made with: a second fence of the attempt signs the same
  // transaction.
  const unsigned: EvmUnsignedTransaction = transaction.unsigned;
  const signed = await signer.signEvmTransaction(unsigned, transaction.nonce);
  const stored = await saveSigned(deps.db, {
    transaction_id: transaction.transaction_id,
    epoch: row.epoch,
    ...signed,
  });
  return stored === null ? 'overtaken' : { raw_tx: stored.raw_tx, tx_hash: stored.tx_hash };
}
