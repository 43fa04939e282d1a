-- Returns the seconds until runs have read all waiting commands, at an assumed 20 a second on a
-- slow machine. A command that waits its turn is not lost, so leases are at least that long.
CREATE OR REPLACE FUNCTION command_backlog() RETURNS double precision LANGUAGE sql AS $$
  SELECT count(*) / 20.0::double precision
  FROM (SELECT FROM commands WHERE applied_at IS NULL LIMIT 10000) open
$$;

-- Returns the pause after a command's n-th wake (0: the first hand-over). If Temporal has taken the
-- command (`taken`), its run reads it in the next turn; it is sent again only in case Temporal has
-- lost it.
CREATE OR REPLACE FUNCTION command_lease(wakes integer, taken boolean, backlog double precision)
  RETURNS interval LANGUAGE sql IMMUTABLE AS $$
  SELECT make_interval(secs => greatest(least(600, backlog),
    CASE WHEN taken THEN least(600, 30 * power(2, least(wakes, 10)))
      ELSE least(60, power(2, least(wakes, 10))) END))
$$;
