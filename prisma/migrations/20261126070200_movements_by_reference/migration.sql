-- online

CREATE INDEX CONCURRENTLY IF NOT EXISTS movements_by_reference
  ON movements (external_reference, created_at DESC, movement_id DESC)
  WHERE external_reference IS NOT NULL;
