-- online

CREATE INDEX CONCURRENTLY IF NOT EXISTS movements_by_destination
  ON movements (lower(intent ->> 'destination_address'), created_at DESC, movement_id DESC)
  WHERE intent ->> 'destination_address' IS NOT NULL;
