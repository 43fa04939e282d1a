-- Seconds that the commands no run has seen yet will take to be seen, at twenty a second: a slow
-- machine at work. What waits for its turn is not lost, so leases are no shorter than that.
CREATE OR REPLACE FUNCTION command_backlog() RETURNS double precision LANGUAGE sql AS $$
  SELECT count(*) / 20.0::double precision
  FROM (SELECT FROM commands WHERE applied_at IS NULL LIMIT 10000) open
$$;

-- How long a command is left alone after its n-th wake (0: the first attempt to hand it over). One
-- that Temporal has taken is seen as soon as its run has its turn; it is sent again only because
-- Temporal, too, may have lost it.
CREATE OR REPLACE FUNCTION command_lease(wakes integer, taken boolean, backlog double precision)
  RETURNS interval LANGUAGE sql IMMUTABLE AS $$
  SELECT make_interval(secs => greatest(least(600, backlog),
    CASE WHEN taken THEN least(600, 30 * power(2, least(wakes, 10)))
      ELSE least(60, power(2, least(wakes, 10))) END))
$$;
