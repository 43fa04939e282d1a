-- What needs both tables and functions.

CREATE TRIGGER audit_events_append_only BEFORE UPDATE
  OR DELETE ON audit_events FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TRIGGER audit_events_no_truncate BEFORE TRUNCATE
  ON audit_events FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER timeline_events_append_only BEFORE UPDATE
  OR DELETE ON timeline_events FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TRIGGER signer_events_append_only BEFORE UPDATE
  OR DELETE ON signer_events FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TRIGGER plan_nodes_immutable BEFORE UPDATE
  OR DELETE ON plan_nodes FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TRIGGER plan_edges_immutable BEFORE UPDATE
  OR DELETE ON plan_edges FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TRIGGER plan_template_versions_immutable BEFORE UPDATE
  OR DELETE ON plan_template_versions FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TRIGGER api_client_keys_guard BEFORE UPDATE
  OR DELETE ON api_client_keys FOR EACH ROW EXECUTE FUNCTION guard_key_change();

CREATE TRIGGER audit_seals_append_only BEFORE UPDATE
  OR DELETE ON audit_seals FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TRIGGER audit_seals_no_truncate BEFORE TRUNCATE
  ON audit_seals FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER movements_approved BEFORE UPDATE OF approval_status ON movements FOR EACH ROW
  WHEN (NEW.approval_status = 'approved'
    AND OLD.approval_status <> 'approved') EXECUTE FUNCTION stamp_approval();

CREATE TRIGGER movements_created_approved BEFORE INSERT ON movements FOR EACH ROW
  WHEN (NEW.approval_status = 'approved') EXECUTE FUNCTION stamp_approval();

-- Movements that ended in the present or the previous calendar month of UTC, by version. The clock
-- is read once, in subqueries: called in each comparison it would keep the index from being used.
-- The upper bound says nothing that is not so, but tells the planner that a range is asked for and
-- not half of the table.
CREATE VIEW route_stats AS
  SELECT template_id,
         count(*) FILTER (WHERE request_state = 'COMPLETED')::integer AS total_completed,
         count(*) FILTER (WHERE request_state = 'FAILED')::integer AS total_failed,
         extract(epoch FROM avg(greatest(ended_at - approved_at, interval '0'))
           FILTER (WHERE request_state = 'COMPLETED')) AS avg_duration_seconds,
         extract(epoch FROM max(greatest(ended_at - approved_at, interval '0'))
           FILTER (WHERE request_state = 'COMPLETED')) AS max_duration_seconds
  FROM movements
  WHERE request_state IN ('COMPLETED', 'FAILED')
    AND ended_at >= (SELECT (
      date_trunc('month', svc_now() AT TIME ZONE 'UTC') - interval '1 month') AT TIME ZONE 'UTC')
    AND ended_at < (SELECT (
      date_trunc('month', svc_now() AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC')
  GROUP BY template_id;
