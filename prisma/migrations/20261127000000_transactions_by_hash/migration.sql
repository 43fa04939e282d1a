-- online

-- What the search finds a transaction by, as all indexes of today's migrations.
CREATE INDEX CONCURRENTLY IF NOT EXISTS evm_transactions_by_hash
  ON evm_transactions (tx_hash) WHERE tx_hash IS NOT NULL;
