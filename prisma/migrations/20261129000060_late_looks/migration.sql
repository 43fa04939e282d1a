-- online

CREATE INDEX CONCURRENTLY IF NOT EXISTS movement_nodes_late_looks
  ON movement_nodes (next_late_look) WHERE next_late_look IS NOT NULL;
