-- The last balance of each pool that a fetch told; a row is replaced as a whole and never by an older fetch.
CREATE TABLE balance_snapshots (
  venue_key    text NOT NULL,
  account_type text NOT NULL,
  asset        text NOT NULL,
  available    numeric(38, 18),
  withdrawable numeric(38, 18),
  total        numeric(38, 18),
  details      jsonb,
  -- When the fetch began: what the venue did after that may not be in it.
  fetched_at   timestamptz NOT NULL,
  PRIMARY KEY (venue_key, account_type, asset)
);
INSERT INTO service_privileges (table_name, privileges) VALUES ('balance_snapshots', 'SELECT, INSERT, UPDATE');

-- Holds of a pool that ended after their movement had sent something, and not before `since`: a snapshot of that time
-- may not show them.
CREATE INDEX reservations_by_pool_ended ON reservations (venue_key, account_type, asset, ended_at) WHERE status <> 'held';
CREATE FUNCTION ended_outflow(venue text, account text, coin text, since timestamptz)
RETURNS TABLE (amount numeric, movements bigint) LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(r.amount), 0), count(*) FROM reservations r
  WHERE r.venue_key = venue AND r.account_type = account AND r.asset = coin AND r.status <> 'held' AND r.ended_at >= since
    AND EXISTS (SELECT FROM movement_nodes n WHERE n.movement_id = r.movement_id AND n.submit_epoch > 0)
$$;

-- Outflow that a snapshot may not show yet: what is held, and what has ended since.
CREATE FUNCTION pending_outflow(venue text, account text, coin text, since timestamptz)
RETURNS TABLE (amount numeric, movements bigint) LANGUAGE sql STABLE AS $$
  SELECT h.amount + e.amount, h.movements + e.movements
  FROM (SELECT coalesce(sum(r.amount), 0) AS amount, count(*) AS movements FROM reservations r
        WHERE r.venue_key = venue AND r.account_type = account AND r.asset = coin AND r.status = 'held') h,
       ended_outflow(venue, account, coin, since) e
$$;

-- Stores one complete fetch of a venue; assets that it no longer names are there with zero.
CREATE FUNCTION store_balances(venue text, began timestamptz, rows jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO balance_snapshots AS b (venue_key, account_type, asset, available, withdrawable, total, details, fetched_at)
  SELECT venue, r.account_type, r.asset, r.available, r.withdrawable, r.total, r.details, began
  FROM jsonb_to_recordset(rows) AS r (account_type text, asset text, available numeric, withdrawable numeric, total numeric, details jsonb)
  ORDER BY r.account_type, r.asset
  ON CONFLICT (venue_key, account_type, asset) DO UPDATE SET available = excluded.available, withdrawable = excluded.withdrawable,
    total = excluded.total, details = excluded.details, fetched_at = excluded.fetched_at
  WHERE b.fetched_at <= excluded.fetched_at;
  UPDATE balance_snapshots SET available = 0, withdrawable = 0, total = 0, details = NULL, fetched_at = began
  WHERE venue_key = venue AND fetched_at < began;
END $$;
