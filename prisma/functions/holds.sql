-- Adds `change` to the sum of holds on a pool. If `take` ({"venues", "stale_after_seconds"}) lists
-- the pool's venue, an increase must be covered by its balance. The check is a later statement than
-- the one that waited for the pool's lock, so it sees what was written meanwhile.
CREATE OR REPLACE FUNCTION change_pool(pool jsonb, change numeric, take jsonb, at timestamptz)
  RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  total numeric;
BEGIN
  INSERT INTO reservation_pools AS p (venue_key, account_type, asset, held)
  VALUES (pool ->> 'venue_key', pool ->> 'account_type', pool ->> 'asset', greatest(change, 0))
  ON CONFLICT (venue_key, account_type, asset) DO UPDATE SET held = p.held + change
  RETURNING held INTO total;
  IF change > 0 AND coalesce(take -> 'venues', '[]'::jsonb) ? (pool ->> 'venue_key') THEN
    PERFORM check_covered(pool, change, total, (take ->> 'stale_after_seconds')::integer, at);
  END IF;
END $$;

-- Returns what each node of a movement may still draw from a pool, as input of sum_of. After a
-- movement has ended, nodes that have not passed their fence draw nothing.
CREATE OR REPLACE FUNCTION open_draws(m movements, pool jsonb) RETURNS jsonb
  LANGUAGE sql STABLE AS $$
  SELECT coalesce(jsonb_object_agg(n.node_key, jsonb_build_object('s', n.state, 'v', CASE
    WHEN n.flow -> 'pool' || jsonb_build_object('asset', n.flow -> 'asset') IS DISTINCT FROM pool
      OR n.flow ->> 'from' IS NOT NULL
      OR n.state IN ('COMPLETED', 'FAILED', 'SKIPPED', 'CANCELLED')
      OR (m.request_state IN ('FAILED', 'COMPLETED') AND NOT may_have_sent(n)) THEN 0
    ELSE coalesce(moved_amount(n), 0) END)), '{}'::jsonb)
  FROM movement_nodes n WHERE n.movement_id = m.movement_id
$$;

-- Sets a movement's holds to what its nodes may still draw, one hold for each pool. Lock order:
-- movement, nodes, pools by key. With `take`, an increase must be covered.
CREATE OR REPLACE FUNCTION settle_holds(m movements, take jsonb, at timestamptz) RETURNS void
  LANGUAGE plpgsql AS $$
DECLARE
  pool jsonb;
  hold reservations;
  target numeric;
BEGIN
  FOR pool IN
    SELECT each FROM (
      SELECT DISTINCT n.flow -> 'pool' || jsonb_build_object('asset', n.flow -> 'asset') AS each
        FROM movement_nodes n
      WHERE n.movement_id = m.movement_id AND jsonb_typeof(n.flow -> 'pool') = 'object'
        AND n.flow ->> 'from' IS NULL
    ) pools
    ORDER BY each ->> 'venue_key' COLLATE "C", each ->> 'account_type' COLLATE "C",
      each ->> 'asset' COLLATE "C"
  LOOP
    target := CASE WHEN m.approval_status = 'approved'
      THEN sum_of(draw_terms_of(m.movement_id), open_draws(m, pool)) ELSE 0 END;
    SELECT * INTO hold FROM reservations
    WHERE movement_id = m.movement_id AND status = 'held' AND venue_key = pool ->> 'venue_key'
      AND account_type = pool ->> 'account_type' AND asset = pool ->> 'asset';
    CONTINUE WHEN target = coalesce(hold.amount, 0);
    PERFORM change_pool(pool, target - coalesce(hold.amount, 0), take, at);
    IF hold.reservation_id IS NULL THEN
      INSERT INTO reservations (reservation_id, movement_id, venue_key, account_type, asset,
        amount, status, created_at)
      VALUES (svc_new_id(at), m.movement_id, pool ->> 'venue_key', pool ->> 'account_type',
        pool ->> 'asset', target, 'held', at);
    ELSIF target = 0 THEN
      UPDATE reservations SET status = 'released', ended_at = at
        WHERE reservation_id = hold.reservation_id;
    ELSE
      UPDATE reservations SET amount = target WHERE reservation_id = hold.reservation_id;
    END IF;
  END LOOP;
END $$;

-- Stores what nodes have provably sent from pools. It counts as outflow until a balance snapshot
-- shows it.
CREATE OR REPLACE FUNCTION note_sent(movement uuid, keys text[], at timestamptz) RETURNS void
  LANGUAGE sql AS $$
  INSERT INTO reservations (reservation_id, movement_id, node_key, venue_key, account_type, asset,
    amount, status, created_at, ended_at)
  SELECT svc_new_id(at), n.movement_id, n.node_key, p.venue_key, p.account_type, p.asset,
    sent_amount(n), 'consumed', at, at
  FROM movement_nodes n
  JOIN reservation_pools p ON p.venue_key = n.flow -> 'pool' ->> 'venue_key'
    AND p.account_type = n.flow -> 'pool' ->> 'account_type'
    AND p.asset = n.flow ->> 'asset'
  WHERE n.movement_id = movement AND n.node_key = ANY (keys) AND n.flow ->> 'from' IS NULL
    AND sent_amount(n) > 0
$$;

-- Reserves the amount of a capital transfer in its pool.
CREATE OR REPLACE FUNCTION take_transfer_hold(transfer uuid, hold jsonb, take jsonb,
  at timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM change_pool(hold - 'amount' - 'reservation_id', (hold ->> 'amount')::numeric, take, at);
  INSERT INTO reservations (reservation_id, transfer_id, venue_key, account_type, asset, amount,
    status, created_at)
  VALUES ((hold ->> 'reservation_id')::uuid, transfer, hold ->> 'venue_key',
    hold ->> 'account_type', hold ->> 'asset',
          (hold ->> 'amount')::numeric, 'held', at);
END $$;

-- Ends the hold of a capital transfer. The caller has locked the transfer.
CREATE OR REPLACE FUNCTION end_transfer_hold(transfer uuid, new_status text, at timestamptz)
  RETURNS void LANGUAGE plpgsql AS $$
DECLARE hold reservations;
BEGIN
  SELECT * INTO hold FROM reservations WHERE transfer_id = transfer AND status = 'held';
  IF NOT FOUND THEN RETURN; END IF;
  UPDATE reservation_pools SET held = held - hold.amount
  WHERE venue_key = hold.venue_key AND account_type = hold.account_type AND asset = hold.asset;
  UPDATE reservations SET status = new_status, ended_at = at
    WHERE reservation_id = hold.reservation_id;
END $$;

-- Returns what has provably left a pool since `since`; a snapshot of that time may not show it.
CREATE OR REPLACE FUNCTION ended_outflow(venue text, account text, coin text, since timestamptz)
RETURNS TABLE (amount numeric, movements bigint, transfers bigint) LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(r.amount), 0), count(DISTINCT r.movement_id), count(DISTINCT r.transfer_id)
    FROM reservations r
  WHERE r.venue_key = venue AND r.account_type = account AND r.asset = coin
    AND r.status = 'consumed' AND r.ended_at >= since
$$;

-- Returns the outflow that a snapshot may not show yet: open holds, and what has ended since.
CREATE OR REPLACE FUNCTION pending_outflow(venue text, account text, coin text, since timestamptz)
RETURNS TABLE (amount numeric, movements bigint, transfers bigint) LANGUAGE sql STABLE AS $$
  SELECT h.amount + e.amount, h.movements + e.movements, h.transfers + e.transfers
  FROM (SELECT coalesce(sum(r.amount), 0) AS amount, count(r.movement_id) AS movements,
    count(r.transfer_id) AS transfers
        FROM reservations r WHERE r.venue_key = venue AND r.account_type = account
          AND r.asset = coin AND r.status = 'held') h,
       ended_outflow(venue, account, coin, since) e
$$;

-- Fails unless a snapshot younger than `stale_after` seconds covers all holds on the pool (`held`;
-- `change` of it is new) and all that left the pool since the snapshot. The caller has locked the
-- pool, so the sum cannot grow meanwhile.
CREATE OR REPLACE FUNCTION check_covered(pool jsonb, change numeric, held numeric,
  stale_after integer, at timestamptz)
-- apply_transition forces plans for any value; the best plan here depends on the snapshot's age.
RETURNS void LANGUAGE plpgsql SET plan_cache_mode = auto AS $$
DECLARE
  b balance_snapshots;
  hold jsonb := pool || jsonb_build_object('amount', trim_scale(change)::text);
  ended numeric;
BEGIN
  SELECT * INTO b FROM balance_snapshots
  WHERE venue_key = pool ->> 'venue_key' AND account_type = pool ->> 'account_type'
    AND asset = pool ->> 'asset';
  IF NOT FOUND THEN
    -- The venue was fetched and did not name this pool, so the pool is empty.
    SELECT max(fetched_at) INTO b.fetched_at FROM balance_snapshots
      WHERE venue_key = pool ->> 'venue_key';
    b.withdrawable := 0;
  END IF;
  IF b.fetched_at IS NULL OR b.fetched_at < at - make_interval(secs => stale_after) THEN
    RAISE EXCEPTION 'stale_snapshot' USING ERRCODE = 'FM012', DETAIL = hold;
  END IF;
  IF b.withdrawable IS NULL THEN RETURN; END IF;
  SELECT amount INTO ended
    FROM ended_outflow(pool ->> 'venue_key', pool ->> 'account_type', pool ->> 'asset',
    b.fetched_at);
  IF held + ended > b.withdrawable THEN
    RAISE EXCEPTION 'insufficient_effective_withdrawable' USING ERRCODE = 'FM010', DETAIL = hold
      || jsonb_build_object(
        'effective_withdrawable', trim_scale(b.withdrawable - ended - (held - change))::text);
  END IF;
END $$;

-- Stores one complete fetch of a venue's balances; assets that the venue no longer names become 0.
-- A fetch that began before the clock was set back is not stored: it would keep later ones out.
CREATE OR REPLACE FUNCTION store_balances(venue text, began timestamptz, rows jsonb) RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  IF began > svc_now() THEN RETURN; END IF;
  INSERT INTO balance_snapshots AS b (venue_key, account_type, asset, available, withdrawable,
    total, details, fetched_at)
  SELECT venue, r.account_type, r.asset, r.available, r.withdrawable, r.total, r.details, began
  FROM jsonb_to_recordset(rows) AS r (account_type text, asset text, available numeric,
    withdrawable numeric, total numeric, details jsonb)
  ORDER BY r.account_type, r.asset
  ON CONFLICT (venue_key, account_type, asset) DO UPDATE
    SET available = excluded.available, withdrawable = excluded.withdrawable,
    total = excluded.total, details = excluded.details, fetched_at = excluded.fetched_at
  WHERE b.fetched_at <= excluded.fetched_at;
  UPDATE balance_snapshots SET available = 0, withdrawable = 0, total = 0, details = NULL,
    fetched_at = began
  WHERE venue_key = venue AND fetched_at < began;
END $$;

-- Stores what a fetch of a venue showed of its withdrawals. An older fetch never replaces a younger
-- one, nor does one that began before the clock was set back.
CREATE OR REPLACE FUNCTION store_outlook(venue text, began timestamptz, outlook jsonb) RETURNS void
  LANGUAGE sql AS $$
  INSERT INTO venue_outlooks AS o (venue_key, quota_left, quota_unit, closed, read_at)
  SELECT venue, (outlook -> 'quota' ->> 'left')::numeric, outlook -> 'quota' ->> 'unit',
    outlook -> 'closed', began
  WHERE began <= svc_now()
  ON CONFLICT (venue_key) DO UPDATE
    SET quota_left = excluded.quota_left, quota_unit = excluded.quota_unit,
    closed = excluded.closed, read_at = excluded.read_at
  WHERE o.read_at <= excluded.read_at
$$;
