-- A hold may ask to be covered ("stale_after_seconds"): by a snapshot that is younger than this, less all that is
-- promised already. The caller holds the pool's lock, so what is summed here cannot grow meanwhile. `held` is the
-- pool's counter with the new hold in it.
CREATE FUNCTION check_covered(hold jsonb, held numeric, at timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  b balance_snapshots;
  oldest timestamptz := at - make_interval(secs => (hold ->> 'stale_after_seconds')::integer);
  ended numeric;
BEGIN
  SELECT * INTO b FROM balance_snapshots
  WHERE venue_key = hold ->> 'venue_key' AND account_type = hold ->> 'account_type' AND asset = hold ->> 'asset';
  IF NOT FOUND THEN
    -- A venue that was asked and did not name this pool has nothing in it.
    SELECT max(fetched_at) INTO b.fetched_at FROM balance_snapshots WHERE venue_key = hold ->> 'venue_key';
    b.withdrawable := 0;
  END IF;
  IF b.fetched_at IS NULL OR b.fetched_at < oldest THEN
    RAISE EXCEPTION 'stale_snapshot' USING ERRCODE = 'FM012', DETAIL = hold - 'reservation_id' - 'stale_after_seconds';
  END IF;
  IF b.withdrawable IS NULL THEN RETURN; END IF;
  SELECT amount INTO ended FROM ended_outflow(hold ->> 'venue_key', hold ->> 'account_type', hold ->> 'asset', b.fetched_at);
  IF held + ended > b.withdrawable THEN
    RAISE EXCEPTION 'insufficient_effective_withdrawable' USING ERRCODE = 'FM010', DETAIL = (hold - 'reservation_id' - 'stale_after_seconds')
      || jsonb_build_object('effective_withdrawable', trim_scale(b.withdrawable - ended - (held - (hold ->> 'amount')::numeric))::text);
  END IF;
END $$;

-- Takes the holds of a movement, pools in key order.
CREATE OR REPLACE FUNCTION take_holds(movement uuid, holds jsonb, at timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  hold jsonb;
  total numeric;
BEGIN
  FOR hold IN SELECT value FROM jsonb_array_elements(coalesce(holds, '[]'::jsonb))
              ORDER BY value ->> 'venue_key', value ->> 'account_type', value ->> 'asset' LOOP
    INSERT INTO reservation_pools AS p (venue_key, account_type, asset, held)
    VALUES (hold ->> 'venue_key', hold ->> 'account_type', hold ->> 'asset', (hold ->> 'amount')::numeric)
    ON CONFLICT (venue_key, account_type, asset) DO UPDATE SET held = p.held + excluded.held
    RETURNING held INTO total;
    -- A later statement than the one that waited for the lock, so it sees what was written meanwhile.
    IF hold ? 'stale_after_seconds' THEN PERFORM check_covered(hold, total, at); END IF;
    INSERT INTO reservations (reservation_id, movement_id, venue_key, account_type, asset, amount, status, created_at)
    VALUES ((hold ->> 'reservation_id')::uuid, movement, hold ->> 'venue_key', hold ->> 'account_type', hold ->> 'asset',
            (hold ->> 'amount')::numeric, 'held', at);
  END LOOP;
END $$;
