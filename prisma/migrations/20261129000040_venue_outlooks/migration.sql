-- What each venue last showed of its withdrawals: see
-- docs/decisions/0130-suspended-is-not-failed.md. Each fetch of balances writes a row, so pages
-- keep room.
CREATE TABLE venue_outlooks (
  venue_key  text PRIMARY KEY,
  -- What the account may still withdraw, in `quota_unit`; null: the venue does not show it.
  quota_left numeric(38, 18),
  quota_unit text,
  -- Networks that do not pay out: [{"asset", "network", "opens_at"}].
  closed     jsonb NOT NULL,
  -- When the fetch began.
  read_at    timestamptz NOT NULL,
  CHECK ((quota_left IS NULL) = (quota_unit IS NULL))
) WITH (fillfactor = 50);

INSERT INTO service_privileges (table_name, privileges) VALUES
  ('venue_outlooks', 'SELECT, INSERT, UPDATE');
