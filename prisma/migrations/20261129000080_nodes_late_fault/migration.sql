-- online
-- Abandoned nodes whose looks fail: metrics count them, and there are few.
CREATE INDEX CONCURRENTLY IF NOT EXISTS movement_nodes_late_fault ON movement_nodes (late_fault_since)
  WHERE late_fault_since IS NOT NULL;
