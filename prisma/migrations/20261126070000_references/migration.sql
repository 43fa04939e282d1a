-- What callers name their movements by; see docs/decisions/0116-references-lists-and-search.md. It is
-- no part of any plan and decides nothing.

ALTER TABLE movements
  ADD COLUMN external_reference text,
  ADD COLUMN unique_reference   boolean NOT NULL DEFAULT false,
  ADD COLUMN metadata           jsonb NOT NULL DEFAULT '{}';

-- The pairs of `metadata`, for lists that ask by them: of each the newest movements first.
CREATE TABLE movement_metadata (
  key         text NOT NULL CHECK (key ~ '^[a-z0-9_.-]{1,64}$'),
  value       text NOT NULL CHECK (char_length(value) <= 256),
  created_at  timestamptz NOT NULL,
  movement_id uuid NOT NULL REFERENCES movements (movement_id),
  PRIMARY KEY (key, value, created_at, movement_id)
);

INSERT INTO service_privileges (table_name, privileges) VALUES ('movement_metadata', 'SELECT');
