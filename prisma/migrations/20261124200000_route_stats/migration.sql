-- What became of the movements of each template version lately, for the route catalog.

-- When a movement was approved: what its duration is counted from.
ALTER TABLE movements ADD COLUMN approved_at timestamptz;
UPDATE movements m SET approved_at = (
  SELECT min(e.occurred_at) FROM timeline_events e WHERE e.movement_id = m.movement_id AND e.event_type = 'request_approved')
WHERE m.approval_status = 'approved';

-- A movement is approved once, whichever way, and never approved again: the time follows from the change itself.
CREATE FUNCTION stamp_approval() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.approved_at := NEW.updated_at; -- the time of the change
  RETURN NEW;
END $$;
CREATE TRIGGER movements_approved BEFORE UPDATE OF approval_status ON movements FOR EACH ROW
  WHEN (NEW.approval_status = 'approved' AND OLD.approval_status <> 'approved') EXECUTE FUNCTION stamp_approval();
CREATE TRIGGER movements_created_approved BEFORE INSERT ON movements FOR EACH ROW
  WHEN (NEW.approval_status = 'approved') EXECUTE FUNCTION stamp_approval();

-- Holds all that the view below reads, so that neither the rows of movements nor those of earlier months are looked at.
CREATE INDEX movements_route_stats ON movements (ended_at) INCLUDE (template_id, request_state, approved_at)
  WHERE request_state IN ('COMPLETED', 'FAILED');

-- Movements that ended in the present or the previous calendar month of UTC, by version. The clock is read once, in
-- subqueries: called in each comparison it would keep the index from being used. The upper bound says nothing that
-- is not so, but tells the planner that a range is asked for and not half of the table.
CREATE VIEW route_stats AS
  SELECT template_id,
         count(*) FILTER (WHERE request_state = 'COMPLETED')::integer AS total_completed,
         count(*) FILTER (WHERE request_state = 'FAILED')::integer AS total_failed,
         extract(epoch FROM avg(greatest(ended_at - approved_at, interval '0')) FILTER (WHERE request_state = 'COMPLETED')) AS avg_duration_seconds,
         extract(epoch FROM max(greatest(ended_at - approved_at, interval '0')) FILTER (WHERE request_state = 'COMPLETED')) AS max_duration_seconds
  FROM movements
  WHERE request_state IN ('COMPLETED', 'FAILED')
    AND ended_at >= (SELECT (date_trunc('month', svc_now() AT TIME ZONE 'UTC') - interval '1 month') AT TIME ZONE 'UTC')
    AND ended_at < (SELECT (date_trunc('month', svc_now() AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC')
  GROUP BY template_id;

INSERT INTO service_privileges (table_name, privileges) VALUES ('route_stats', 'SELECT');
