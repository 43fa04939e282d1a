-- Returns the time that every decision uses, cut to milliseconds. Tests shift it with the setting
-- svc.clock_offset_ms.
CREATE OR REPLACE FUNCTION svc_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
  SELECT date_trunc('milliseconds', clock_timestamp()
    + make_interval(secs => coalesce(nullif(current_setting('svc.clock_offset_ms', true), ''),
      '0')::double precision / 1000))
$$;

-- Returns a time as the wire has it: ISO 8601 in UTC, with milliseconds.
CREATE OR REPLACE FUNCTION wire_time(at timestamptz) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

-- Returns an id that sorts by its time (UUIDv7), for rows that the database itself adds.
CREATE OR REPLACE FUNCTION svc_new_id(at timestamptz) RETURNS uuid LANGUAGE sql VOLATILE AS $$
  SELECT encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
    PLACING substring(int8send(floor(extract(epoch FROM at) * 1000)::bigint) FROM 3) FROM 1 FOR 6),
      52, 1), 53, 1), 'hex')::uuid
$$;

-- Returns the time that a field of a document stands for: "@now", {"@after_seconds"} or a
-- timestamp; see NOW and Stamp in domain/transition.ts.
CREATE OR REPLACE FUNCTION svc_time(value jsonb, at timestamptz) RETURNS timestamptz
  LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE
    WHEN value = '"@now"'::jsonb THEN at
    WHEN jsonb_typeof(value) = 'object'
      THEN at + make_interval(secs => (value ->> '@after_seconds')::double precision)
    ELSE (value #>> '{}')::timestamptz END
$$;
