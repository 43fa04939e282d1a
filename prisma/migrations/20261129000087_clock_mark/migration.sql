-- The highest time that a worker has noted of the database's clock, in the only row: see
-- docs/decisions/0148-a-clock-that-was-set-back.md.
CREATE TABLE clock_mark (
  one     boolean PRIMARY KEY DEFAULT true CHECK (one),
  highest timestamptz NOT NULL
) WITH (fillfactor = 50);

INSERT INTO clock_mark (highest) VALUES ('-infinity');

INSERT INTO service_privileges (table_name, privileges) VALUES
  ('clock_mark', 'SELECT, UPDATE');
