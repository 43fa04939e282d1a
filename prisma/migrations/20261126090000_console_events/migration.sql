-- What an open console is to read again; see docs/decisions/0114-the-stream.md. Rows are written by
-- note_for_consoles alone, and live for an hour.
CREATE TABLE console_events (
  -- The transaction that wrote it. Ids alone do not follow the order of commits; a reader passes no
  -- transaction that is still under way.
  xid     xid8 NOT NULL DEFAULT pg_current_xact_id(),
  id      bigint GENERATED ALWAYS AS IDENTITY,
  at      timestamptz NOT NULL DEFAULT svc_now(),
  kind    text NOT NULL CHECK (kind IN ('movement', 'capital_transfer', 'callback', 'proposal',
    'change_request', 'cutover', 'balance')),
  -- Which one: an id, the key of a venue. What it is like is read with the event.
  subject text NOT NULL,
  PRIMARY KEY (xid, id)
);

-- One row: up to where events were removed, so that a reader who has not seen that far is told so.
-- It counts in its epoch alone (console_epoch).
CREATE TABLE console_events_removed (
  one   boolean PRIMARY KEY DEFAULT true CHECK (one),
  epoch text NOT NULL,
  xid   xid8 NOT NULL,
  id    bigint NOT NULL
);

INSERT INTO console_events_removed (epoch, xid, id) VALUES ('', '0', 0);

INSERT INTO service_privileges (table_name, privileges) VALUES
  ('console_events', 'SELECT'),
  ('console_events_removed', 'SELECT');
