-- online

-- Another transaction than ours was mined with its nonce.
CREATE INDEX CONCURRENTLY IF NOT EXISTS evm_transactions_by_mined_hash
  ON evm_transactions (mined_hash) WHERE mined_hash IS DISTINCT FROM tx_hash;
