-- Returns why a requirement (`asked`) of a send does not hold, or null: {"binding", "key",
-- "reason", "stop"}, with a stop of domain/send/stops.ts. Each branch is in the file of its venue,
-- which describes `asked`, and locks what it reads. An unknown kind raises an error.
CREATE OR REPLACE FUNCTION requirement_problem(kind text, asked jsonb, movement uuid) RETURNS jsonb
  LANGUAGE plpgsql AS $$
BEGIN
  CASE kind
    WHEN 'bridge_path' THEN RETURN bridge_path_problem(asked);
    WHEN 'perp' THEN RETURN perp_problem(asked, movement);
  END CASE;
END $$;
