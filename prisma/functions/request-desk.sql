-- Reserves `cost` of the budget of an API key and returns for how many milliseconds the request has
-- to wait, a stop included. Returns NULL and reserves nothing if that is more than `within_ms`. A
-- single time counts what is used: when the budget will be whole again. A request that costs more
-- than `capacity` waits for a whole budget.
CREATE OR REPLACE FUNCTION take_request_budget(key_hash text, cost double precision,
  capacity double precision, units_per_second double precision, within_ms double precision)
  RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE
  spent interval := make_interval(secs => cost / units_per_second);
  burst interval := make_interval(secs => greatest(capacity, cost) / units_per_second);
  -- Read before this call waits for the row: a time that is too early only makes the wait longer.
  at timestamptz := svc_now();
  from_when timestamptz;
BEGIN
  INSERT INTO request_desks AS d (key, whole_at) VALUES (key_hash, at + spent)
  -- Budget that is reserved during a stop is used after it: otherwise all would be sent at its end.
  ON CONFLICT (key) DO UPDATE SET whole_at = greatest(d.whole_at, d.stopped_until, at) + spent
    WHERE greatest(greatest(d.whole_at, d.stopped_until, at) + spent - burst, d.stopped_until)
      <= at + make_interval(secs => within_ms / 1000)
  RETURNING greatest(d.whole_at - burst, d.stopped_until, at) INTO from_when;
  RETURN ceil(extract(epoch FROM from_when - at) * 1000);
END $$;

-- Returns for how many milliseconds nothing may be sent with the API key.
CREATE OR REPLACE FUNCTION requests_stopped_for(key_hash text) RETURNS double precision
  LANGUAGE sql VOLATILE AS $$
  SELECT coalesce((SELECT greatest(0, extract(epoch FROM d.stopped_until - svc_now()) * 1000)
    FROM request_desks d WHERE d.key = key_hash AND d.stopped_until > svc_now()), 0)
$$;

-- Stops the API key for so many milliseconds. A longer stop stays.
CREATE OR REPLACE FUNCTION stop_requests(key_hash text, milliseconds double precision)
  RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  until timestamptz := svc_now() + make_interval(secs => milliseconds / 1000);
BEGIN
  INSERT INTO request_desks AS d (key, whole_at, stopped_until)
  VALUES (key_hash, svc_now(), until)
  ON CONFLICT (key) DO UPDATE SET stopped_until = greatest(d.stopped_until, until);
END $$;

-- Takes the turn of the API key and returns its nonce; null while another holder has the turn. The
-- nonce grows even if the clock does not.
CREATE OR REPLACE FUNCTION take_request_turn(key_hash text, holder uuid,
  milliseconds double precision) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  taken bigint;
BEGIN
  INSERT INTO request_desks AS d (key, whole_at, nonce, turn_holder, turn_until)
  VALUES (key_hash, svc_now(), floor(extract(epoch FROM svc_now()) * 1000), holder,
    svc_now() + make_interval(secs => milliseconds / 1000))
  ON CONFLICT (key) DO UPDATE SET nonce = greatest(d.nonce + 1, excluded.nonce),
    turn_holder = holder, turn_until = svc_now() + make_interval(secs => milliseconds / 1000)
  WHERE d.turn_until IS NULL OR d.turn_until <= svc_now()
  RETURNING d.nonce INTO taken;
  RETURN taken;
END $$;

-- Ends a turn, unless it was over and another holder has it.
CREATE OR REPLACE FUNCTION release_request_turn(key_hash text, holder uuid) RETURNS void
  LANGUAGE sql AS $$
  UPDATE request_desks SET turn_holder = NULL, turn_until = NULL
  WHERE key = key_hash AND turn_holder = holder
$$;
