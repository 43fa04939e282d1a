-- Seconds until runs have seen all waiting commands, at an assumed twenty a second on a slow
-- machine. A command that waits for its turn is not lost, so leases are no shorter than that.
CREATE OR REPLACE FUNCTION command_backlog() RETURNS double precision LANGUAGE sql AS $$
  SELECT count(*) / 20.0::double precision
  FROM (SELECT FROM commands WHERE applied_at IS NULL LIMIT 10000) open
$$;

-- Pause after a command's n-th wake (0: the first hand-over). Its run sees a command that Temporal
-- has taken in its next turn; it is sent again only since Temporal may have lost it too.
CREATE OR REPLACE FUNCTION command_lease(wakes integer, taken boolean, backlog double precision)
  RETURNS interval LANGUAGE sql IMMUTABLE AS $$
  SELECT make_interval(secs => greatest(least(600, backlog),
    CASE WHEN taken THEN least(600, 30 * power(2, least(wakes, 10)))
      ELSE least(60, power(2, least(wakes, 10))) END))
$$;
