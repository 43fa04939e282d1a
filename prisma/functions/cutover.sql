-- Returns the mode of the cutover switch, which stops new money. Creates and fences call this, and
-- keep a shared lock on the switch until their transaction ends, so a change of the switch waits
-- for them. Call it before any row is locked, since a change of the switch locks rows after the
-- switch.
CREATE OR REPLACE FUNCTION cutover_now() RETURNS text LANGUAGE plpgsql AS $$
DECLARE mode text;
BEGIN
  PERFORM pg_advisory_xact_lock_shared(7203118846);
  -- STRICT: a database without the row lets nothing through.
  SELECT c.mode INTO STRICT mode FROM cutover c;
  RETURN mode;
END $$;

-- Changes the cutover mode. At the end of `frozen`, wakes the nodes and transfers that waited at
-- their fence; that wait does not count towards their time limits.
CREATE OR REPLACE FUNCTION set_cutover_mode(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  c cutover;
  before text;
  at timestamptz;
BEGIN
  PERFORM pg_advisory_xact_lock(7203118846);
  at := svc_now();
  SELECT mode INTO STRICT before FROM cutover;
  UPDATE cutover SET mode = doc ->> 'mode', previous_mode = before, reason = doc ->> 'reason',
    changed_at = at, changed_by = doc -> 'changed_by' RETURNING * INTO c;
  IF before = 'frozen' AND c.mode <> 'frozen' THEN
    -- Every function locks movements before their nodes.
    PERFORM FROM movements WHERE movement_id IN (
      SELECT movement_id FROM movement_nodes WHERE frozen_since IS NOT NULL)
    ORDER BY movement_id FOR UPDATE;
    WITH thawed AS (
      UPDATE movement_nodes SET started_at = started_at + (at - frozen_since), frozen_since = NULL
      WHERE frozen_since IS NOT NULL RETURNING movement_id)
    INSERT INTO commands (command_id, movement_id, kind, created_at, claimed_until)
    SELECT svc_new_id(at), movement_id, 'wake', at, at
    FROM (SELECT DISTINCT movement_id FROM thawed) t;
    UPDATE capital_transfers SET version = version + 1, claimed_until = at, wakes = 0
    WHERE request_state = 'CREATED';
  END IF;
  PERFORM write_audit(with_details(doc -> 'audit', jsonb_build_object('previous_mode', before)),
    at);
  RETURN to_jsonb(c);
END $$;

-- Marks a node that reached its fence in the mode `frozen`; from now on its time limit stands
-- still.
CREATE OR REPLACE FUNCTION freeze_node(movement uuid, key text, at timestamptz) RETURNS void
  LANGUAGE sql AS $$
  UPDATE movement_nodes SET frozen_since = at
  WHERE movement_id = movement AND node_key = key AND state = 'READY' AND frozen_since IS NULL
$$;
