-- A node may name another one whose effect it looks for (config.match_from): a phase reads what that one recorded, once
-- it has completed.
CREATE OR REPLACE FUNCTION read_phase(movement uuid, key text) RETURNS jsonb LANGUAGE sql VOLATILE AS $$
  SELECT jsonb_build_object(
    'movement_id', m.movement_id, 'movement_state', m.request_state, 'node_key', n.node_key, 'state', n.state,
    'attempt', n.attempt, 'epoch', n.submit_epoch, 'amount', trim_scale(n.amount)::text, 'preflight_passed', n.preflight_passed,
    'prepared_action', n.prepared_action, 'sign_request', n.sign_request, 'recover_first', n.recover_first, 'resumed', n.resumed,
    'error_count', n.error_count, 'error_code', n.error_code, 'external_ref', n.external_ref, 'output', n.output,
    'now_ms', extract(epoch FROM svc_now()) * 1000, 'started_ms', extract(epoch FROM n.started_at) * 1000,
    'submitted_ms', extract(epoch FROM n.submitted_at) * 1000, 'send_not_after_ms', extract(epoch FROM n.send_not_after) * 1000,
    'plan', m.plan_head || jsonb_build_object('intent', m.intent, 'input_params', m.input_params),
    'node', n.plan, 'on_cancel_target', n.on_cancel_target, 'conditional', n.conditional,
    'conditions', CASE WHEN n.conditional THEN m.edge_conditions END,
    'outputs', CASE WHEN n.amount IS NULL AND n.plan -> 'config' ? 'amount_ref' THEN coalesce((
      SELECT jsonb_object_agg(o.node_key, o.output) FROM movement_nodes o
      WHERE o.movement_id = m.movement_id AND o.state = 'COMPLETED' AND o.output IS NOT NULL), '{}'::jsonb) ELSE '{}'::jsonb END,
    'matched', CASE WHEN jsonb_typeof(n.plan -> 'config' -> 'match_from') = 'string' THEN (
      SELECT jsonb_build_object('node_key', o.node_key, 'external_ref', CASE WHEN o.state = 'COMPLETED' THEN o.external_ref END,
        'output', CASE WHEN o.state = 'COMPLETED' THEN o.output END)
      FROM movement_nodes o WHERE o.movement_id = m.movement_id AND o.node_key = n.plan -> 'config' ->> 'match_from') END)
  FROM movements m JOIN movement_nodes n ON n.movement_id = m.movement_id
  WHERE m.movement_id = movement AND n.node_key = key
$$;
