-- The whole engine: results of conditions on edges, what a phase needs of its node beside the node's
-- own row (so that its cost does not grow with the plan), and two phases that begin with one statement.

ALTER TABLE movements
  -- Results of conditions by the edge's position in the plan: "true", "false" or "error".
  ADD COLUMN edge_conditions jsonb NOT NULL DEFAULT '{}',
  -- The part of the compiled plan that every node looks at.
  ADD COLUMN plan_head jsonb NOT NULL DEFAULT '{}';
ALTER TABLE movement_nodes
  ADD COLUMN plan jsonb NOT NULL DEFAULT '{}',
  -- Some on_cancel edge leads here: the only lane that goes on in CANCELLED.
  ADD COLUMN on_cancel_target boolean NOT NULL DEFAULT false,
  -- Some edge that leaves here has a condition, so settling the node settles that too.
  ADD COLUMN conditional boolean NOT NULL DEFAULT false;

CREATE FUNCTION plan_head(plan jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_build_object('risk_controls', plan -> 'risk_controls', 'completion_policy', plan -> 'completion_policy')
$$;
CREATE FUNCTION is_on_cancel_target(plan jsonb, key text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT EXISTS (SELECT 1 FROM jsonb_array_elements(plan -> 'edges') AS e WHERE e ->> 'to' = key AND e ->> 'edge_type' = 'on_cancel')
$$;
CREATE FUNCTION is_conditional(plan jsonb, key text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT EXISTS (SELECT 1 FROM jsonb_array_elements(plan -> 'edges') AS e WHERE e ->> 'from' = key AND e ->> 'condition_expr' IS NOT NULL)
$$;

UPDATE movements SET plan_head = plan_head(compiled_plan);
UPDATE movement_nodes n SET plan = m.compiled_plan -> 'nodes' -> n.position,
  on_cancel_target = is_on_cancel_target(m.compiled_plan, n.node_key), conditional = is_conditional(m.compiled_plan, n.node_key)
FROM movements m WHERE m.movement_id = n.movement_id;

-- What a phase knows of its node. Outputs of other nodes are read only where the amount may refer to one.
CREATE FUNCTION read_phase(movement uuid, key text) RETURNS jsonb LANGUAGE sql VOLATILE AS $$
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
      WHERE o.movement_id = m.movement_id AND o.state = 'COMPLETED' AND o.output IS NOT NULL), '{}'::jsonb) ELSE '{}'::jsonb END)
  FROM movements m JOIN movement_nodes n ON n.movement_id = m.movement_id
  WHERE m.movement_id = movement AND n.node_key = key
$$;

-- Whether an amount is within every max_amount that the plan and the node's patch give.
CREATE FUNCTION within_max_amount(amount numeric, controls jsonb, patch jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT NOT EXISTS (
    SELECT 1 FROM (VALUES (controls -> 'max_amount'), (patch -> 'max_amount')) AS limits (value)
    WHERE jsonb_typeof(value) = 'string' AND value #>> '{}' ~ '^[0-9]{1,20}(\.[0-9]{1,18})?$' AND amount > (value #>> '{}')::numeric)
$$;

-- The fence of a node that signs nothing, in the statement that reads it: passed only when everything
-- that the long way looks at says yes. Otherwise nothing is written, and the long way decides why.
CREATE FUNCTION try_fence(movement uuid, key text, node_attempt integer, executor text, window_seconds double precision, event_id text)
RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  m record;
  n movement_nodes;
  at timestamptz;
  passed boolean := false;
BEGIN
  SELECT asset, plan_head -> 'risk_controls' AS controls INTO m FROM movements WHERE movement_id = movement FOR UPDATE;
  SELECT * INTO n FROM movement_nodes WHERE movement_id = movement AND node_key = key FOR UPDATE;
  at := svc_now();
  -- That it is READY the transition itself compares.
  IF n.attempt = node_attempt AND n.preflight_passed AND NOT n.recover_first
     AND n.prepared_action IS NOT NULL AND n.sign_request IS NULL AND n.signer_binding IS NULL AND n.amount IS NOT NULL
     AND n.executor_binding ->> 'executor_key' = executor AND n.started_at IS NOT NULL
     AND at < n.started_at + make_interval(secs => coalesce((n.plan -> 'timeout_policy' ->> 'execution_seconds')::double precision, 1e9))
     AND within_max_amount(n.amount, m.controls, n.plan -> 'risk_patch')
  THEN
    passed := (apply_transition(jsonb_build_object(
      'movement_id', movement,
      'states', CASE WHEN n.on_cancel_target THEN '["CANCELLED", "EXECUTING", "WAITING_MANUAL_ACTION"]'::jsonb
                     ELSE '["EXECUTING", "WAITING_MANUAL_ACTION"]'::jsonb END,
      'require', jsonb_build_object('executors', jsonb_build_array(executor)),
      'nodes', jsonb_build_array(jsonb_build_object('node_key', key, 'states', '["READY"]'::jsonb, 'attempt', n.attempt,
        'epoch', n.submit_epoch, 'set', jsonb_build_object('state', 'SUBMITTING', 'submit_epoch', n.submit_epoch + 1,
          'send_not_after', jsonb_build_object('@after_seconds', window_seconds)))),
      'timeline', jsonb_build_array(jsonb_build_object('event_id', event_id, 'event_type', 'node_submitting', 'message', 'Submitting',
        'actor', '{"type": "system"}'::jsonb, 'node_key', key, 'attempt', n.attempt, 'from_state', 'READY', 'to_state', 'SUBMITTING',
        'data', jsonb_build_object('idempotency_key', movement || ':' || key || ':' || n.attempt, 'amount', trim_scale(n.amount)::text,
          'asset', upper(coalesce(nullif(CASE WHEN jsonb_typeof(n.plan -> 'config' -> 'asset') = 'string'
            THEN n.plan -> 'config' ->> 'asset' END, ''), m.asset)))))
    )) ->> 'ok')::boolean;
  END IF;
  RETURN jsonb_build_object('passed', passed, 'row', read_phase(movement, key));
END $$;

-- The begin of a recovery, in the statement that reads the node: a new epoch, so that a worker that
-- still lives can write nothing more. Nothing is written where there is nothing to recover.
CREATE FUNCTION take_over(movement uuid, key text, node_attempt integer, from_observe boolean) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  n movement_nodes;
  taken boolean := false;
BEGIN
  PERFORM 1 FROM movements WHERE movement_id = movement FOR UPDATE;
  SELECT * INTO n FROM movement_nodes WHERE movement_id = movement AND node_key = key FOR UPDATE;
  IF n.attempt = node_attempt AND (n.state = 'SUBMITTING' OR (n.state = 'READY' AND n.recover_first)
                                   OR (from_observe AND n.state IN ('SUBMITTED', 'OBSERVING'))) THEN
    taken := (apply_transition(jsonb_build_object('movement_id', movement, 'timeline', '[]'::jsonb,
      'nodes', jsonb_build_array(jsonb_build_object('node_key', key, 'states', jsonb_build_array(n.state), 'epoch', n.submit_epoch,
        'set', jsonb_build_object('submit_epoch', n.submit_epoch + 1))))) ->> 'ok')::boolean;
  END IF;
  RETURN jsonb_build_object('taken', taken, 'row', read_phase(movement, key));
END $$;

CREATE OR REPLACE FUNCTION create_movement(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  m movements;
  compiled jsonb := doc -> 'movement' -> 'compiled_plan';
  at timestamptz := svc_now();
BEGIN
  m := jsonb_populate_record(NULL::movements, svc_stamped(doc -> 'movement', at));
  m.created_at := at;
  m.updated_at := at;
  m.version := 1;
  m.next_sequence := 1;
  m.edge_conditions := '{}';
  m.plan_head := plan_head(compiled);
  INSERT INTO movements SELECT m.* ON CONFLICT (client_scope, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING;
  IF NOT FOUND THEN
    SELECT * INTO m FROM movements WHERE client_scope = doc -> 'movement' ->> 'client_scope'
      AND idempotency_key = doc -> 'movement' ->> 'idempotency_key';
    RETURN jsonb_build_object('created', false, 'movement_id', m.movement_id, 'request', m.request);
  END IF;
  INSERT INTO movement_nodes (movement_id, node_key, position, node_kind, action_type, state, executor_binding, signer_binding,
                              plan, on_cancel_target, conditional, updated_at)
  SELECT m.movement_id, r.node_key, r.position, r.node_kind, r.action_type, 'BLOCKED', r.executor_binding, r.signer_binding,
         compiled -> 'nodes' -> r.position, is_on_cancel_target(compiled, r.node_key), is_conditional(compiled, r.node_key), at
  FROM jsonb_populate_recordset(NULL::movement_nodes, doc -> 'nodes') AS r;
  UPDATE movements SET next_sequence = write_timeline(m, doc -> 'timeline', ARRAY[]::text[], at) WHERE movement_id = m.movement_id;
  INSERT INTO commands (command_id, movement_id, kind, created_at, claimed_until)
  VALUES ((doc ->> 'command_id')::uuid, m.movement_id, 'create', at, at + interval '2 seconds');
  PERFORM write_audit(doc -> 'audit', at);
  RETURN jsonb_build_object('created', true, 'movement_id', m.movement_id, 'created_at', m.created_at, 'expires_at', m.expires_at);
END $$;

CREATE OR REPLACE FUNCTION load_movement(movement uuid, run text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  at timestamptz := svc_now();
  result jsonb;
BEGIN
  UPDATE commands SET applied_at = at WHERE movement_id = movement AND applied_at IS NULL;
  UPDATE movements SET run_id = run WHERE movement_id = movement AND run_id IS DISTINCT FROM run;
  SELECT jsonb_build_object(
    'movement_id', m.movement_id, 'state', m.request_state, 'version', m.version, 'template_key', m.template_key,
    'template_version', m.template_version, 'strategy_id', m.strategy_id, 'asset', m.asset, 'ended', m.ended_at IS NOT NULL,
    'error_code', m.error_code, 'frontier', to_jsonb(m.current_frontier), 'ttl_ms', greatest(0, ceil(extract(epoch FROM m.expires_at - at) * 1000)),
    'edges', m.compiled_plan -> 'edges', 'conditions', m.edge_conditions, 'reservation_status', m.reservation_status,
    'nodes', (SELECT jsonb_agg(jsonb_build_object(
        'node_key', n.node_key, 'node_kind', n.node_kind, 'state', n.state, 'attempt', n.attempt, 'resumed', n.resumed,
        'recover_first', n.recover_first, 'error_code', n.error_code, 'executor_key', n.executor_binding ->> 'executor_key',
        'settled_order', coalesce(extract(epoch FROM n.completed_at) * 1000, 0)) ORDER BY n.position)
      FROM movement_nodes n WHERE n.movement_id = m.movement_id))
  INTO result FROM movements m WHERE m.movement_id = movement;
  RETURN result;
END $$;

-- What the conditions that leave a node may look at.
CREATE FUNCTION read_condition_scope(movement uuid) RETURNS jsonb LANGUAGE sql VOLATILE AS $$
  SELECT jsonb_build_object('edges', m.compiled_plan -> 'edges', 'intent', m.intent, 'input_params', m.input_params,
    'nodes', (SELECT jsonb_object_agg(n.node_key, jsonb_build_object('state', n.state, 'output', n.output, 'error_code', n.error_code))
              FROM movement_nodes n WHERE n.movement_id = m.movement_id))
  FROM movements m WHERE m.movement_id = movement
$$;
