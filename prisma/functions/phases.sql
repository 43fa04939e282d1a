-- Returns what a phase reads about a node and its movement. A node may name another node whose
-- effect it searches for (config.match_from), as a mint names its burn: `matched` has what that
-- node recorded when it completed.
CREATE OR REPLACE FUNCTION read_phase(movement uuid, key text) RETURNS jsonb
  LANGUAGE sql VOLATILE AS $$
  SELECT jsonb_build_object(
    'movement_id', m.movement_id, 'movement_state', m.request_state, 'node_key', n.node_key,
      'state', n.state,
    'attempt', n.attempt, 'epoch', n.submit_epoch, 'amount', trim_scale(n.amount)::text,
      'preflight_passed', n.preflight_passed,
    'prepared_action', n.prepared_action, 'sign_request', n.sign_request,
      'recover_first', n.recover_first, 'restored', n.restored,
    'resumed', n.resumed, 'cancel_asked', coalesce(n.cancel_asked = n.attempt, false),
    'error_count', n.error_count, 'unanswered', n.unanswered,
    'unanswered_ms', extract(epoch FROM n.unanswered_since) * 1000,
      'updated_ms', extract(epoch FROM n.updated_at) * 1000,
    'wait_overdue_ms', extract(epoch FROM n.wait_overdue_at) * 1000,
    'error_code', n.error_code, 'error_message', n.error_message, 'external_ref', n.external_ref,
      'output', n.output,
    'now_ms', extract(epoch FROM svc_now()) * 1000,
      'started_ms', extract(epoch FROM n.started_at
        + coalesce(svc_now() - n.frozen_since, interval '0')) * 1000,
    'submitted_ms', extract(epoch FROM n.submitted_at) * 1000,
      'send_not_after_ms', extract(epoch FROM n.send_not_after) * 1000,
    'plan', w.plan_head || jsonb_build_object('intent', m.intent, 'input_params', w.input_params),
    'node', p.plan, 'outlives_cancel',
      n.on_cancel_target OR n.brings IS NOT NULL, 'conditional', n.conditional,
    'conditions', CASE WHEN n.conditional THEN m.edge_conditions END,
    'outputs', CASE WHEN n.amount IS NULL AND p.plan -> 'config' ? 'amount_ref' THEN coalesce((
      SELECT jsonb_object_agg(o.node_key, o.output) FROM movement_nodes o
      WHERE o.movement_id = m.movement_id AND o.state = 'COMPLETED' AND o.output IS NOT NULL),
        '{}'::jsonb) ELSE '{}'::jsonb END,
    'matched', CASE WHEN matched.name IS NOT NULL THEN (
      SELECT jsonb_build_object('node_key', o.node_key, 'external_ref', CASE
        WHEN o.state = 'COMPLETED' THEN o.external_ref END,
        'output', CASE WHEN o.state = 'COMPLETED' THEN o.output END)
      FROM movement_nodes o WHERE o.movement_id = m.movement_id
        AND o.node_key = matched.name) END)
  FROM movements m JOIN movement_nodes n ON n.movement_id = m.movement_id
  JOIN movement_plans w ON w.movement_id = m.movement_id
  -- OFFSET makes Postgres build the plan once, not at every use. The signer is read from the row,
  -- since it may have been replaced after the plan was compiled.
  CROSS JOIN LATERAL (SELECT node_plan(n.own_plan, w.input_params)
    || jsonb_build_object('signer_binding', n.signer_binding) AS plan OFFSET 0) p
  CROSS JOIN LATERAL (SELECT coalesce(n.brings,
    CASE WHEN jsonb_typeof(p.plan -> 'config' -> 'match_from') = 'string'
      THEN p.plan -> 'config' ->> 'match_from' END) AS name) matched
  WHERE m.movement_id = movement AND n.node_key = key
$$;

-- Starts the recovery of a node, in the same statement that reads it. Raises the epoch, so that the
-- worker that sent can no longer write (`takenOver` of domain/send/epoch.ts). Writes nothing if
-- there is nothing to recover.
CREATE OR REPLACE FUNCTION take_over(movement uuid, key text, node_attempt integer,
  from_observe boolean) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  n movement_nodes;
  taken boolean := false;
BEGIN
  PERFORM 1 FROM movements WHERE movement_id = movement FOR UPDATE;
  SELECT * INTO n FROM movement_nodes WHERE movement_id = movement AND node_key = key FOR UPDATE;
  IF n.attempt = node_attempt AND (n.state = 'SUBMITTING' OR (n.state = 'READY' AND n.recover_first)
                                   OR (from_observe AND n.state IN ('SUBMITTED', 'OBSERVING'))) THEN
    taken := (apply_transition(jsonb_build_object('movement_id', movement, 'timeline', '[]'::jsonb,
      'nodes', jsonb_build_array(
        jsonb_build_object('node_key', key, 'states', jsonb_build_array(n.state),
        'epoch', n.submit_epoch,
        'set', jsonb_build_object('submit_epoch', n.submit_epoch + 1))))) ->> 'ok')::boolean;
  END IF;
  RETURN jsonb_build_object('taken', taken, 'row', read_phase(movement, key));
END $$;

-- Returns what the conditions on a node's outgoing edges may read.
CREATE OR REPLACE FUNCTION read_condition_scope(movement uuid) RETURNS jsonb
  LANGUAGE sql VOLATILE AS $$
  SELECT jsonb_build_object('edges', p.plan_frame -> 'edges', 'intent', m.intent,
    'input_params', p.input_params,
    'nodes', (SELECT jsonb_object_agg(n.node_key,
      jsonb_build_object('state', n.state, 'output', n.output, 'error_code', n.error_code))
              FROM movement_nodes n WHERE n.movement_id = m.movement_id))
  FROM movements m JOIN movement_plans p USING (movement_id) WHERE m.movement_id = movement
$$;
