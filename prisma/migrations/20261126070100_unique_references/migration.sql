-- online

CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS movements_unique_reference
  ON movements (client_scope, external_reference) WHERE unique_reference;
