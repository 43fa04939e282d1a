-- online

CREATE INDEX CONCURRENTLY IF NOT EXISTS node_attempts_by_lane
  ON node_attempts (send_lane, started_at) WHERE send_lane IS NOT NULL;
