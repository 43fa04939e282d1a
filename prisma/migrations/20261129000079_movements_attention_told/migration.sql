-- online
-- movements_noted_reasons has the same movements, and no release reads them in the order of this.
DROP INDEX CONCURRENTLY IF EXISTS movements_attention_told;
