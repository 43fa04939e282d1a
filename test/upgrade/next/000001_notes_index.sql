-- online
CREATE INDEX CONCURRENTLY IF NOT EXISTS movements_cost_centre ON movements (cost_centre) WHERE cost_centre IS NOT NULL;
