-- What a release after this one may bring: a table, columns, a constraint that is checked later.
CREATE TABLE treasury_notes (
  note_id     uuid PRIMARY KEY,
  movement_id uuid NOT NULL,
  text        text NOT NULL
);
INSERT INTO service_privileges (table_name, privileges) VALUES ('treasury_notes', 'SELECT, INSERT');
ALTER TABLE movements ADD COLUMN cost_centre text;
ALTER TABLE movement_nodes ADD COLUMN notes integer NOT NULL DEFAULT 0;
ALTER TABLE callbacks ADD CONSTRAINT callbacks_attempts CHECK (attempts >= 0) NOT VALID;
