-- What needs both tables and functions.

CREATE TRIGGER audit_events_append_only BEFORE UPDATE
  OR DELETE ON audit_events FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TRIGGER audit_events_no_truncate BEFORE TRUNCATE
  ON audit_events FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER timeline_events_append_only BEFORE UPDATE
  OR DELETE ON timeline_events FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TRIGGER signer_events_append_only BEFORE UPDATE
  OR DELETE ON signer_events FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- What somebody still has to be told, or a run has to see, is never removed, whoever tries.
CREATE TRIGGER callbacks_owed BEFORE DELETE ON callbacks FOR EACH ROW
  WHEN (OLD.status <> 'delivered') EXECUTE FUNCTION refuse_change();

CREATE TRIGGER commands_owed BEFORE DELETE ON commands FOR EACH ROW
  WHEN (OLD.applied_at IS NULL) EXECUTE FUNCTION refuse_change();

CREATE TRIGGER plan_nodes_immutable BEFORE UPDATE
  OR DELETE ON plan_nodes FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TRIGGER plan_edges_immutable BEFORE UPDATE
  OR DELETE ON plan_edges FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TRIGGER plan_template_versions_guard BEFORE UPDATE
  OR DELETE ON plan_template_versions FOR EACH ROW EXECUTE FUNCTION guard_version_change();

CREATE TRIGGER movement_plans_immutable BEFORE UPDATE
  OR DELETE ON movement_plans FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TRIGGER movement_approvals_append_only BEFORE UPDATE
  OR DELETE ON movement_approvals FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TRIGGER api_client_keys_guard BEFORE UPDATE
  OR DELETE ON api_client_keys FOR EACH ROW EXECUTE FUNCTION guard_key_change();

CREATE TRIGGER template_proposals_guard BEFORE UPDATE
  OR DELETE ON template_proposals FOR EACH ROW EXECUTE FUNCTION guard_proposal_change();

CREATE TRIGGER audit_seals_append_only BEFORE UPDATE
  OR DELETE ON audit_seals FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TRIGGER audit_seals_next BEFORE INSERT
  ON audit_seals FOR EACH ROW EXECUTE FUNCTION guard_seal();

CREATE TRIGGER audit_seals_no_truncate BEFORE TRUNCATE
  ON audit_seals FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER movements_approved BEFORE UPDATE OF approval_status ON movements FOR EACH ROW
  WHEN (NEW.approval_status = 'approved'
    AND OLD.approval_status <> 'approved') EXECUTE FUNCTION stamp_approval();

CREATE TRIGGER movements_created_approved BEFORE INSERT ON movements FOR EACH ROW
  WHEN (NEW.approval_status = 'approved') EXECUTE FUNCTION stamp_approval();

-- A state in which a movement runs, or a node may be sent, is left for another such one without being
-- asked again: approvals are never taken back.
CREATE TRIGGER movements_need_approval BEFORE UPDATE OF request_state, approval_status ON movements
  FOR EACH ROW WHEN (NEW.approval_status = 'approved' AND OLD.approval_status <> 'approved'
    OR NEW.request_state IN ('APPROVED', 'EXECUTING', 'WAITING_MANUAL_ACTION',
      'MANUAL_INTERVENTION')
    AND OLD.request_state NOT IN ('APPROVED', 'EXECUTING', 'WAITING_MANUAL_ACTION',
      'MANUAL_INTERVENTION')) EXECUTE FUNCTION require_approval();

CREATE TRIGGER movements_begin_unapproved BEFORE INSERT ON movements FOR EACH ROW
  WHEN (NEW.request_state IN ('APPROVED', 'EXECUTING', 'WAITING_MANUAL_ACTION',
    'MANUAL_INTERVENTION')) EXECUTE FUNCTION require_approval();

-- After a restore that has forgotten the approval, a node may be readied to be looked for; its send
-- is refused.
CREATE TRIGGER movement_nodes_need_approval BEFORE UPDATE OF state ON movement_nodes
  FOR EACH ROW WHEN (NEW.state = 'SUBMITTING' AND OLD.state <> 'SUBMITTING'
    OR NEW.state NOT IN ('BLOCKED', 'SKIPPED', 'CANCELLED')
    AND OLD.state IN ('BLOCKED', 'SKIPPED', 'CANCELLED')
    AND NOT (NEW.state = 'READY' AND NEW.recover_first)) EXECUTE FUNCTION require_approval();

CREATE TRIGGER movement_nodes_begin_unapproved BEFORE INSERT ON movement_nodes FOR EACH ROW
  WHEN (NEW.state <> 'BLOCKED') EXECUTE FUNCTION require_approval();

CREATE TRIGGER movement_nodes_none_later BEFORE INSERT ON movement_nodes FOR EACH ROW
  EXECUTE FUNCTION refuse_later_node();

CREATE TRIGGER movements_plan_immutable BEFORE UPDATE OF movement_id, template_id, template_key,
  template_version, strategy_id, asset, amount, intent, outflow, limit_amount, pooled, agent
  ON movements FOR EACH ROW EXECUTE FUNCTION refuse_other_plan();

-- Not its signer: a rotation binds what is not sent yet to the successor, and its pool with it.
CREATE TRIGGER movement_nodes_plan_immutable BEFORE UPDATE OF movement_id, node_key, position,
  node_kind, action_type, executor_binding, own_plan, on_cancel_target, brings, pays, claims_when,
  sent_field, tied_by, may_send
  ON movement_nodes FOR EACH ROW EXECUTE FUNCTION refuse_other_plan();

CREATE TRIGGER movement_nodes_flow_immutable BEFORE UPDATE OF flow ON movement_nodes FOR EACH ROW
  WHEN (OLD.flow IS DISTINCT FROM NEW.flow AND OLD.flow - 'pool' IS DISTINCT FROM NEW.flow - 'pool')
  EXECUTE FUNCTION refuse_other_plan();

CREATE TRIGGER movements_made_counted AFTER INSERT OR DELETE ON movements
  FOR EACH ROW EXECUTE FUNCTION count_movement();

CREATE TRIGGER movements_changed_counted AFTER UPDATE OF request_state, ended_at ON movements
  FOR EACH ROW WHEN (OLD.request_state <> NEW.request_state
    OR OLD.ended_at IS DISTINCT FROM NEW.ended_at) EXECUTE FUNCTION count_movement();

CREATE TRIGGER capital_transfers_made_counted AFTER INSERT OR DELETE ON capital_transfers
  FOR EACH ROW EXECUTE FUNCTION count_transfer();

CREATE TRIGGER capital_transfers_changed_counted AFTER UPDATE OF request_state ON capital_transfers
  FOR EACH ROW WHEN (OLD.request_state <> NEW.request_state) EXECUTE FUNCTION count_transfer();

CREATE TRIGGER callbacks_made_counted AFTER INSERT OR DELETE ON callbacks
  FOR EACH ROW EXECUTE FUNCTION count_callback();

CREATE TRIGGER callbacks_changed_counted AFTER UPDATE OF status ON callbacks
  FOR EACH ROW WHEN (OLD.status <> NEW.status) EXECUTE FUNCTION count_callback();

CREATE TRIGGER movements_other_assets AFTER INSERT ON movements
  FOR EACH ROW WHEN (NEW.outflow <> '[]' AND (jsonb_array_length(NEW.outflow) > 1
    OR NEW.outflow -> 0 ->> 'asset' <> NEW.asset)) EXECUTE FUNCTION note_other_assets();

-- Movements that ended in the present or the previous calendar month of UTC, by version: what is
-- added up and what is still to be. The clock is read once, in a subquery: called in each comparison
-- it would keep the index from being used.
CREATE VIEW route_stats AS
  SELECT template_id, sum(completed)::integer AS total_completed,
         sum(failed)::integer AS total_failed,
         sum(seconds) / nullif(sum(completed), 0) AS avg_duration_seconds,
         CASE WHEN sum(completed) > 0 THEN max(longest) END AS max_duration_seconds
  FROM (
    SELECT * FROM route_months UNION ALL SELECT * FROM route_changes
  ) ended
  WHERE month IN (SELECT generate_series(this - interval '1 month', this, '1 month')::date
    FROM (SELECT date_trunc('month', svc_now() AT TIME ZONE 'UTC') AS this) clock)
  GROUP BY template_id HAVING sum(completed) + sum(failed) > 0;
