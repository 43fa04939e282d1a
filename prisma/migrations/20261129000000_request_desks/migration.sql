-- What all processes know of the requests of an API key: see
-- docs/decisions/0131-request-budgets.md. A row is written with each request, so pages keep room.
CREATE TABLE request_desks (
  -- SHA-256 of the API key, as hex digits.
  key           text PRIMARY KEY CHECK (key ~ '^[0-9a-f]{64}$'),
  -- When the budget is whole again.
  whole_at      timestamptz NOT NULL,
  -- Until when the exchange lets no request through.
  stopped_until timestamptz NOT NULL DEFAULT '-infinity',
  nonce         bigint NOT NULL DEFAULT 0,
  -- Who may send now, where requests go one at a time; null: free.
  turn_holder   uuid,
  turn_until    timestamptz
) WITH (fillfactor = 50);

INSERT INTO service_privileges (table_name, privileges) VALUES
  ('request_desks', 'SELECT, INSERT, UPDATE');
