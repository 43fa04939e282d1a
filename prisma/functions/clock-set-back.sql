-- Returns the times that are no facts: rests, claims and leases, which say "not before", and times
-- of readings that keep an earlier one out. `longest`: how far ahead of now a right clock sets
-- them; a value beyond it may be changed to now, since what comes early does no harm. `of_rows`:
-- which rows count. Every timestamptz column is either here or among the facts of
-- test/store/clock-set-back.test.ts; docs/decisions/0148-a-clock-that-was-set-back.md has the
-- reasons. Tables in the order of locks.
CREATE OR REPLACE FUNCTION clock_rests()
  RETURNS TABLE (of_table text, of_column text, longest interval, of_rows text)
  LANGUAGE sql IMMUTABLE AS $$
  VALUES ('movements', 'swept_at', interval '0', 'ended_at IS NULL'),
    -- The looks at an old node may be further apart: one of them comes early, once.
    ('movement_nodes', 'next_late_look', interval '1 hour', 'next_late_look IS NOT NULL'),
    ('capital_transfers', 'claimed_until', interval '1 minute',
      'ended_at IS NULL OR seen_version < version'),
    ('commands', 'claimed_until', interval '10 minutes', 'applied_at IS NULL AND wakes >= 0'),
    ('callbacks', 'next_attempt_at', interval '2 minutes', 'status = ''pending'''),
    ('callbacks', 'claimed_until', interval '1 minute', 'status = ''pending'''),
    ('balance_snapshots', 'fetched_at', interval '0', 'true'),
    ('venue_outlooks', 'read_at', interval '0', 'true'),
    ('perp_accounts', 'checked_at', interval '0', 'true'),
    ('nonce_lanes', 'tended_until', interval '1 minute', 'true'),
    ('perp_agent_wallets', 'next_look_at', interval '5 minutes', 'next_look_at IS NOT NULL'),
    ('stuck_runs', 'last_seen', interval '0', 'true'),
    ('transfer_clock_waits', 'last_seen', interval '0', 'true'),
    ('turns', 'due_at', interval '1 hour', 'true'),
    ('leases', 'ends_at', interval '1 minute', 'true'),
    ('rate_windows', 'ends_at', interval '1 minute', 'true'),
    ('request_desks', 'whole_at', interval '2 minutes', 'true'),
    ('request_desks', 'turn_until', interval '2 minutes', 'true')
$$;

-- Notes the highest time of the database's clock. If the clock has been set back by more than ten
-- seconds since then, changes each time of clock_rests that lies too far ahead to now: otherwise
-- whatever was stamped before would rest until the clock is there again. Returns {"back_seconds",
-- "cut": {"<table>.<column>": rows}}; NULL if the clock has gone on, or another process has cut.
CREATE OR REPLACE FUNCTION note_clock() RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  before timestamptz;
  at timestamptz;
  rest record;
  changed bigint;
  cut jsonb := '{}';
BEGIN
  SELECT highest INTO before FROM clock_mark;
  -- Read after the mark, so that it is later than every mark of a clock that goes on.
  at := svc_now();
  IF at >= before - interval '10 seconds' THEN
    UPDATE clock_mark SET highest = at WHERE highest < at;
    RETURN NULL;
  END IF;
  UPDATE clock_mark SET highest = at WHERE highest = before;
  IF NOT FOUND THEN RETURN NULL; END IF;
  FOR rest IN SELECT * FROM clock_rests() LOOP
    EXECUTE format('UPDATE %1$I SET %2$I = $1 WHERE %2$I > $1 + $2 AND (%3$s)', rest.of_table,
      rest.of_column, rest.of_rows) USING at, rest.longest;
    GET DIAGNOSTICS changed = ROW_COUNT;
    IF changed > 0 THEN
      cut := cut || jsonb_build_object(rest.of_table || '.' || rest.of_column, changed);
    END IF;
  END LOOP;
  -- Such a snapshot may lack what was paid since its reading, so it counts as too old: the longest
  -- time for which one counts is a day.
  UPDATE balance_snapshots SET fetched_at = at - interval '25 hours' WHERE fetched_at = at;
  RETURN jsonb_build_object('back_seconds', extract(epoch FROM before - at), 'cut', cut);
END $$;
