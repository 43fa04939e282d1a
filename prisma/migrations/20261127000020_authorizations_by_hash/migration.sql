-- online

CREATE INDEX CONCURRENTLY IF NOT EXISTS authorizations_by_hash
  ON authorizations (mined_hash) WHERE mined_hash IS NOT NULL;
