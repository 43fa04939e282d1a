-- online
-- Open movements by what note_attention noted of them, one reason or several: metrics count each of
-- these texts by itself.
CREATE INDEX CONCURRENTLY IF NOT EXISTS movements_noted_reasons
  ON movements (attention_told) INCLUDE (request_state)
  WHERE attention_told IS NOT NULL AND ended_at IS NULL;
