-- Open movements and capital transfers whose run at Temporal cannot go on: see
-- docs/decisions/0137-runs-that-cannot-go-on.md. A row goes once its run has gone on.
CREATE TABLE stuck_runs (
  -- The id of the movement or of the capital transfer.
  entity_id uuid PRIMARY KEY,
  kind      text NOT NULL CHECK (kind IN ('movement', 'capital_transfer')),
  run_id    text NOT NULL,
  cause     text NOT NULL CHECK (cause IN ('nondeterminism', 'task_fails', 'no_worker')),
  -- What the last failed workflow task reported, redacted; null: it reported nothing.
  message   text CHECK (length(message) <= 500),
  -- When a look first found this run stuck, and when the last look that did began.
  since     timestamptz NOT NULL,
  last_seen timestamptz NOT NULL
) WITH (fillfactor = 50);

INSERT INTO service_privileges (table_name, privileges) VALUES
  ('stuck_runs', 'SELECT, INSERT, UPDATE, DELETE');
