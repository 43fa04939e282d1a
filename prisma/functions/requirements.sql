-- Why what a send needs of a venue is not to be had, or null: {"binding", "key", "reason", "stop"},
-- with the stop of domain/send/stops.ts that it is. Each branch stands in the file of its venue,
-- with what is asked there, and locks what it reads. A kind that has none raises.
CREATE OR REPLACE FUNCTION requirement_problem(kind text, asked jsonb, movement uuid) RETURNS jsonb
  LANGUAGE plpgsql AS $$
BEGIN
  CASE kind
    WHEN 'bridge_path' THEN RETURN bridge_path_problem(asked);
    WHEN 'perp' THEN RETURN perp_problem(asked, movement);
  END CASE;
END $$;
