-- Stored counts of rows by state. Every change of a state inserts a change row in the same
-- transaction, and fold_counts adds these rows up later. Readers add both, so counts are exact at
-- any moment.

-- Counts a movement that was created, changed its state, ended or started again. Only a failed
-- movement starts again, and it has no duration, so the longest duration is never subtracted.
CREATE OR REPLACE FUNCTION count_movement() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    INSERT INTO tally_changes VALUES ('movement', OLD.request_state, -1);
    IF OLD.ended_at IS NOT NULL THEN PERFORM count_end(OLD, -1); END IF;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    INSERT INTO tally_changes VALUES ('movement', NEW.request_state, 1);
    IF NEW.ended_at IS NOT NULL THEN PERFORM count_end(NEW, 1); END IF;
  END IF;
  RETURN NULL;
END $$;

-- Counts the end of a movement for its month and template version. `change`: 1 when the movement
-- ends, -1 when it starts again.
CREATE OR REPLACE FUNCTION count_end(m movements, change integer) RETURNS void
  LANGUAGE plpgsql AS $$
DECLARE
  took numeric := CASE m.request_state WHEN 'COMPLETED'
    THEN extract(epoch FROM greatest(m.ended_at - m.approved_at, interval '0')) END;
BEGIN
  IF m.ended_at IS NULL OR m.request_state NOT IN ('COMPLETED', 'FAILED') THEN RETURN; END IF;
  INSERT INTO route_changes VALUES (
    date_trunc('month', m.ended_at AT TIME ZONE 'UTC'), m.template_id,
    CASE m.request_state WHEN 'COMPLETED' THEN change ELSE 0 END,
    CASE m.request_state WHEN 'FAILED' THEN change ELSE 0 END,
    coalesce(took * change, 0), CASE WHEN change > 0 THEN took END);
END $$;

CREATE OR REPLACE FUNCTION count_transfer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    INSERT INTO tally_changes VALUES ('transfer', OLD.request_state, -1);
  END IF;
  IF TG_OP <> 'DELETE' THEN
    INSERT INTO tally_changes VALUES ('transfer', NEW.request_state, 1);
  END IF;
  RETURN NULL;
END $$;

-- Delivered callbacks are not counted: no reader needs them.
CREATE OR REPLACE FUNCTION count_callback() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' AND OLD.status <> 'delivered' THEN
    INSERT INTO tally_changes VALUES ('callback', OLD.status, -1);
  END IF;
  IF TG_OP <> 'DELETE' AND NEW.status <> 'delivered' THEN
    INSERT INTO tally_changes VALUES ('callback', NEW.status, 1);
  END IF;
  RETURN NULL;
END $$;

-- Adds up to `most` change rows of each kind to the stored counts; returns how many. Only one
-- process at a time: a second one would only wait for the same rows.
CREATE OR REPLACE FUNCTION fold_counts(most integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  folded integer;
  ended integer;
BEGIN
  IF NOT pg_try_advisory_xact_lock(7034967) THEN RETURN 0; END IF;
  WITH gone AS (
    DELETE FROM tally_changes
      WHERE ctid = ANY (ARRAY(SELECT ctid FROM tally_changes LIMIT most))
    RETURNING subject, state, change
  ), added AS (
    INSERT INTO tallies AS t (subject, state, count)
    SELECT subject, state, sum(change) FROM gone GROUP BY subject, state
    ON CONFLICT (subject, state) DO UPDATE SET count = t.count + excluded.count
  )
  SELECT count(*) INTO folded FROM gone;
  WITH gone AS (
    DELETE FROM route_changes
      WHERE ctid = ANY (ARRAY(SELECT ctid FROM route_changes LIMIT most))
    RETURNING *
  ), added AS (
    INSERT INTO route_months AS r (month, template_id, completed, failed, seconds, longest)
    SELECT month, template_id, sum(completed), sum(failed), sum(seconds), max(longest)
    FROM gone GROUP BY month, template_id
    ON CONFLICT (month, template_id) DO UPDATE SET completed = r.completed + excluded.completed,
      failed = r.failed + excluded.failed, seconds = r.seconds + excluded.seconds,
      longest = greatest(r.longest, excluded.longest)
  )
  SELECT count(*) INTO ended FROM gone;
  RETURN folded + ended;
END $$;

-- Returns how many rows are in each state: {"movement": {"COMPLETED": 1}, "transfer": …,
-- "callback": …}.
CREATE OR REPLACE FUNCTION kept_counts() RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT coalesce(jsonb_object_agg(subject, states), '{}'::jsonb) FROM (
    SELECT subject, jsonb_object_agg(state, n) AS states FROM (
      SELECT subject, state, sum(count) AS n FROM (
        SELECT subject, state, count FROM tallies
        UNION ALL SELECT subject, state, change FROM tally_changes) all_of_them
      GROUP BY subject, state HAVING sum(count) <> 0) summed
    GROUP BY subject) by_subject
$$;

-- Returns the same counts from the rows themselves. Reads every row.
CREATE OR REPLACE FUNCTION true_counts() RETURNS TABLE (subject text, state text, count bigint)
  LANGUAGE sql STABLE AS $$
  SELECT 'movement', m.request_state, count(*) FROM movements m GROUP BY 2
  UNION ALL SELECT 'transfer', t.request_state, count(*) FROM capital_transfers t GROUP BY 2
  UNION ALL SELECT 'callback', c.status, count(*) FROM callbacks c
    WHERE c.status IN ('pending', 'dead_letter') GROUP BY 2
$$;

CREATE OR REPLACE FUNCTION true_route_months() RETURNS SETOF route_months
  LANGUAGE sql STABLE AS $$
  SELECT date_trunc('month', ended_at AT TIME ZONE 'UTC')::date, template_id,
    count(*) FILTER (WHERE request_state = 'COMPLETED'),
    count(*) FILTER (WHERE request_state = 'FAILED'),
    coalesce(sum(took) FILTER (WHERE request_state = 'COMPLETED'), 0),
    max(took) FILTER (WHERE request_state = 'COMPLETED')
  FROM (SELECT *, extract(epoch FROM greatest(ended_at - approved_at, interval '0')) AS took
    FROM movements WHERE ended_at IS NOT NULL AND request_state IN ('COMPLETED', 'FAILED')) m
  GROUP BY 1, 2
$$;

-- Returns where the stored counts differ from the rows; an empty list if all are right.
CREATE OR REPLACE FUNCTION count_differences() RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT coalesce(jsonb_agg(d ORDER BY d), '[]'::jsonb) FROM (
    SELECT jsonb_build_object('what', coalesce(k.subject, t.subject) || ' '
      || coalesce(k.state, t.state), 'kept', coalesce(k.n, 0)::text,
      'true', coalesce(t.count, 0)::text) AS d
    FROM (SELECT s.key AS subject, c.key AS state, c.value::numeric AS n
      FROM jsonb_each(kept_counts()) s, jsonb_each_text(s.value) c) k
    FULL JOIN true_counts() t ON t.subject = k.subject AND t.state = k.state
    WHERE coalesce(k.n, 0) <> coalesce(t.count, 0)
    UNION ALL
    SELECT jsonb_build_object('what', 'route ' || coalesce(k.template_id, t.template_id) || ' in '
      || to_char(coalesce(k.month, t.month), 'YYYY-MM'), 'kept', to_jsonb(k), 'true', to_jsonb(t))
    FROM (SELECT month, template_id, sum(completed) AS completed, sum(failed) AS failed,
        sum(seconds) AS seconds, max(longest) AS longest
      FROM (SELECT * FROM route_months UNION ALL SELECT * FROM route_changes) e
      GROUP BY month, template_id HAVING sum(completed) <> 0 OR sum(failed) <> 0) k
    FULL JOIN true_route_months() t ON t.month = k.month AND t.template_id = k.template_id
    WHERE (k.completed, k.failed, k.seconds, k.longest)
      IS DISTINCT FROM (t.completed, t.failed, t.seconds, t.longest)
  ) differing
$$;

-- Rebuilds the stored counts from the rows; writers wait meanwhile. Needs the rights of the owner
-- of the tables.
CREATE OR REPLACE FUNCTION rebuild_counts() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(7034967);
  LOCK TABLE movements, capital_transfers, callbacks IN SHARE MODE;
  DELETE FROM tally_changes;
  DELETE FROM route_changes;
  DELETE FROM tallies;
  DELETE FROM route_months;
  INSERT INTO tallies SELECT * FROM true_counts();
  INSERT INTO route_months SELECT * FROM true_route_months();
END $$;

-- Stores the assets that a new movement can move besides its own, for lists that filter by asset.
CREATE OR REPLACE FUNCTION note_other_assets() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO movement_other_assets (asset, created_at, movement_id)
  SELECT DISTINCT e ->> 'asset', NEW.created_at, NEW.movement_id
  FROM jsonb_array_elements(NEW.outflow) e WHERE e ->> 'asset' <> NEW.asset;
  RETURN NULL;
END $$;
