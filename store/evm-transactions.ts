/**
 * The transactions of a node: nonce and unsigned fields are written at the send fence, bytes and
 * hash after signing.
 */
import type { JournaledTransaction, UnknownNonce } from '../domain/executor.ts';
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';

interface Owner {
  readonly movement_id: string;
  readonly node_key: string;
  readonly attempt: number;
}

/** A transaction as SQL returns it. */
export interface TransactionRow extends Omit<JournaledTransaction, 'tx_hash' | 'raw_tx'> {
  readonly tx_hash: string | null;
  readonly raw_tx: string | null;
}

/** Returns the transaction without the fields that are null. */
export function toTransaction({ tx_hash, raw_tx, ...rest }: TransactionRow): JournaledTransaction {
  return tx_hash === null || raw_tx === null ? rest : { ...rest, tx_hash, raw_tx };
}

/** Returns the transactions whose nonce the attempt still claims, oldest first. */
export async function readTransactions(
  db: Database,
  owner: Owner,
): Promise<readonly JournaledTransaction[]> {
  const rows = await run(
    () => db.sql<{ answer: TransactionRow }>`
      SELECT jsonb_build_object('transaction_id', transaction_id,
        'claim', coalesce(replaces, transaction_id), 'kind', kind, 'chain_id', chain_id,
        'from', address, 'nonce', nonce, 'unsigned', unsigned, 'tx_hash', tx_hash,
        'raw_tx', raw_tx, 'age_seconds', extract(epoch FROM svc_now() - created_at),
        'accepted', accepted_at IS NOT NULL) AS answer
      FROM evm_transactions
      WHERE movement_id = ${owner.movement_id}::uuid AND node_key = ${owner.node_key}
        AND attempt = ${owner.attempt}
        AND released_at IS NULL
      ORDER BY created_at, transaction_id`,
  );
  return rows.map((row) => toTransaction(row.answer));
}

/**
 * Stores signed bytes if none are stored and the epoch is still the caller's; returns the stored
 * bytes. Null means that a recovery took over: the caller must not send anything.
 */
export async function saveSigned(
  db: Database,
  signed: {
    readonly transaction_id: string;
    readonly epoch: number;
    readonly raw_tx: string;
    readonly tx_hash: string;
  },
): Promise<{ readonly raw_tx: string; readonly tx_hash: string } | null> {
  const rows = await run(
    () => db.sql<{ raw_tx: string; tx_hash: string }>`
      UPDATE evm_transactions t SET raw_tx = coalesce(t.raw_tx, ${signed.raw_tx}),
        tx_hash = coalesce(t.tx_hash, ${signed.tx_hash})
      FROM (
        -- The lock orders this write and a recovery that takes over: if the recovery is first,
        -- nothing is stored here; if this write is first, the recovery reads the bytes.
        SELECT own.transaction_id FROM evm_transactions own
          JOIN movement_nodes n USING (movement_id, node_key)
        WHERE own.transaction_id = ${signed.transaction_id}::uuid AND n.attempt = own.attempt
          AND n.submit_epoch = ${signed.epoch} AND n.state = 'SUBMITTING'
        FOR SHARE OF n
      ) fenced
      WHERE t.transaction_id = fenced.transaction_id AND t.released_at IS NULL
      RETURNING t.raw_tx, t.tx_hash`,
  );
  return rows[0] ?? null;
}

/**
 * Ends the claim on a nonce that another, final transaction has used. Returns false when a later
 * version than `transaction` is stored, or when a recovery took over.
 */
export async function releaseNonce(
  db: Database,
  owner: Owner & { readonly epoch: number },
  transaction: JournaledTransaction,
): Promise<boolean> {
  const version = JSON.stringify({
    claim: transaction.claim,
    over: transaction.transaction_id,
  });
  const rows = await run(
    () => db.sql<{ released: boolean }>`
      SELECT release_nonce(${owner.movement_id}::uuid, ${owner.node_key}, ${owner.attempt}::integer,
        ${owner.epoch}::integer, ${version}::jsonb) AS released`,
  );
  return rows[0]?.released ?? false;
}

/** Returns whether another transaction was mined with a nonce that the attempt has signed for. */
export async function wasDisplaced(db: Database, owner: Owner): Promise<boolean> {
  const rows = await run(
    () => db.sql<{ displaced: boolean }>`
      SELECT EXISTS (SELECT FROM evm_transactions
        WHERE movement_id = ${owner.movement_id}::uuid AND node_key = ${owner.node_key}
          AND attempt = ${owner.attempt} AND raw_tx IS NOT NULL
          AND released_at IS NOT NULL) AS displaced`,
  );
  return rows[0]?.displaced ?? false;
}

export interface Account {
  readonly chain_id: number;
  readonly from: string;
}

/**
 * Returns nonces below `count` that this service's own transactions may have used, although this
 * database lost them in a restore; the most likely ones first.
 */
export async function readUnknownNonces(
  db: Database,
  { chain_id, from }: Account,
  count: number,
): Promise<readonly UnknownNonce[]> {
  const rows = await run(
    () =>
      db.sql<{
        answer: readonly UnknownNonce[];
      }>`SELECT unknown_nonces(${chain_id}::bigint, ${from.toLowerCase()},
        ${count}::bigint) AS answer`,
  );
  return rows[0]?.answer ?? [];
}
