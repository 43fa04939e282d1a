-- A function of the next release, and the text of one that this release calls, said otherwise.
CREATE OR REPLACE FUNCTION note_of(movement uuid) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT string_agg(text, ' ') FROM treasury_notes WHERE movement_id = movement
$$;
REVOKE ALL ON FUNCTION note_of(uuid) FROM PUBLIC;
CREATE OR REPLACE FUNCTION svc_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
  SELECT date_trunc('milliseconds', clock_timestamp()) + make_interval(secs =>
    coalesce(nullif(current_setting('svc.clock_offset_ms', true), ''), '0')::double precision / 1000)
$$;
