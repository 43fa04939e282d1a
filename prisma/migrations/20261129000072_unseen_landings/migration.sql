-- online

-- Late landings that no person has acknowledged: lists, metrics and callbacks read them whatever has
-- become of their movement. See docs/decisions/0141-an-outcome-that-stays-open.md.
CREATE INDEX CONCURRENTLY IF NOT EXISTS movement_nodes_unseen_landings
  ON movement_nodes (movement_id)
  WHERE landed_late_at IS NOT NULL AND landing_seen_at IS NULL;
