-- Capital transfers that are not sent because clocks differ: see
-- docs/decisions/0083-clocks-and-silence.md. A row goes with the next step of its transfer, and
-- counts no longer once no worker has seen the wait for five minutes.
CREATE TABLE transfer_clock_waits (
  transfer_id uuid PRIMARY KEY,
  -- Which clock differs, and by how much.
  why         text NOT NULL CHECK (length(why) <= 1000),
  since       timestamptz NOT NULL,
  last_seen   timestamptz NOT NULL
) WITH (fillfactor = 50);

INSERT INTO service_privileges (table_name, privileges) VALUES
  ('transfer_clock_waits', 'SELECT, INSERT, UPDATE, DELETE');
