-- online
-- Abandoned nodes by when a person abandoned them or when they were seen to land late: see
-- docs/decisions/0141-an-outcome-that-stays-open.md. The predicate is `is_abandoned`.
CREATE INDEX CONCURRENTLY IF NOT EXISTS movement_nodes_abandoned
  ON movement_nodes ((greatest(completed_at, landed_late_at)))
  WHERE state = 'FAILED' AND error_code = 'ABANDONED';
