-- The write path in its present form. What every phase writes (a field or two of one node, a line of
-- the timeline) touches as few rows, columns and statements as it can: it is most of what the database
-- does for a movement.

-- The time that a field of a document stands for; see NOW and Stamp in domain/transition.ts.
CREATE FUNCTION svc_time(value jsonb, at timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE
    WHEN value = '"@now"'::jsonb THEN at
    WHEN jsonb_typeof(value) = 'object' THEN at + make_interval(secs => (value ->> '@after_seconds')::double precision)
    ELSE (value #>> '{}')::timestamptz END
$$;

-- Timeline rows with gapless sequence numbers and, where the movement has a URL, their callbacks. A
-- callback whose host is not listed is written as a dead letter, and the timeline says so.
-- The caller holds the movement's lock. Returns the next sequence.
CREATE FUNCTION append_timeline(movement uuid, next_sequence integer, callback_url text, request_state text, frontier text[],
                                error_code text, events jsonb, callback_types jsonb, at timestamptz)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  event jsonb;
  seq integer := next_sequence;
  dead boolean;
BEGIN
  FOR i IN 0 .. coalesce(jsonb_array_length(events), 0) - 1 LOOP
    event := events -> i;
    INSERT INTO timeline_events (event_id, movement_id, sequence, event_type, node_key, attempt, from_state, to_state, actor,
                                 message, data, occurred_at)
    VALUES ((event ->> 'event_id')::uuid, movement, seq, event ->> 'event_type', event ->> 'node_key',
            (event ->> 'attempt')::integer, event ->> 'from_state', event ->> 'to_state', event -> 'actor', event ->> 'message',
            coalesce(event -> 'data', '{}'::jsonb), at);
    seq := seq + 1;
    CONTINUE WHEN callback_url IS NULL OR NOT coalesce(callback_types ? (event ->> 'event_type'), false);
    dead := callback_refused(callback_url);
    INSERT INTO callbacks (event_id, movement_id, event_type, sequence, url, payload, nonce, status, next_attempt_at, last_error,
                           created_at, updated_at)
    VALUES ((event ->> 'event_id')::uuid, movement, event ->> 'event_type', seq - 1, callback_url,
            jsonb_build_object('event_id', event ->> 'event_id', 'event_type', event ->> 'event_type', 'movement_id', movement,
              'request_state', request_state, 'current_frontier', to_jsonb(frontier), 'node_key', event -> 'node_key',
              'error_code', error_code, 'sequence', seq - 1,
              'occurred_at', to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text,
            event ->> 'event_id', CASE WHEN dead THEN 'dead_letter' ELSE 'pending' END, at,
            CASE WHEN dead THEN 'host_not_allowed' END, at, at);
    CONTINUE WHEN NOT dead;
    INSERT INTO timeline_events (event_id, movement_id, sequence, event_type, actor, message, data, occurred_at)
    VALUES (svc_new_id(at), movement, seq, 'callback_dead_lettered', '{"type": "system"}'::jsonb,
            'The callback ' || (event ->> 'event_type') || ' is a dead letter: host_not_allowed',
            jsonb_build_object('callback_event_id', event ->> 'event_id', 'callback_event_type', event ->> 'event_type',
              'attempts', 0, 'reason', 'host_not_allowed'), at);
    seq := seq + 1;
  END LOOP;
  RETURN seq;
END $$;

-- As append_timeline, for events that call nobody back.
CREATE OR REPLACE FUNCTION write_timeline(m movements, events jsonb, callback_types text[], at timestamptz)
RETURNS integer LANGUAGE sql AS $$
  SELECT append_timeline(m.movement_id, m.next_sequence, NULL, m.request_state, m.current_frontier, m.error_code, events, '[]'::jsonb, at)
$$;

-- Applies one transition; see store/transition.ts for the shape of `doc`.
CREATE OR REPLACE FUNCTION apply_transition(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  m record;
  n record;
  nodes jsonb := coalesce(doc -> 'nodes', '[]'::jsonb);
  part jsonb;
  fields jsonb;
  other jsonb;
  tx evm_transactions;
  at timestamptz;
  refusal text;
  problems jsonb;
  seq integer;
BEGIN
  SELECT movement_id, request_state, approval_status, reservation_status, version, next_sequence, compiled_plan_hash, current_frontier,
         error_code, callback_url, expires_at
  INTO m FROM movements WHERE movement_id = (doc ->> 'movement_id')::uuid FOR UPDATE;
  at := svc_now();
  IF m.movement_id IS NULL THEN
    PERFORM write_audit(doc -> 'refused_audit', at);
    RETURN jsonb_build_object('ok', false, 'reason', 'movement_not_found');
  END IF;

  IF doc ? 'command_id' AND EXISTS (SELECT 1 FROM commands WHERE command_id = (doc ->> 'command_id')::uuid) THEN
    RETURN jsonb_build_object('ok', true, 'at', at, 'version', m.version, 'request_state', m.request_state,
      'approval_status', m.approval_status, 'reservation_status', m.reservation_status, 'current_frontier', to_jsonb(m.current_frontier),
      'expires_at', m.expires_at, 'repeated', true);
  END IF;

  refusal := CASE
    WHEN doc ? 'version' AND m.version <> (doc ->> 'version')::integer THEN 'version'
    WHEN doc ? 'states' AND NOT (doc -> 'states') ? m.request_state THEN 'movement_state'
    WHEN doc ->> 'expiry' = 'future' AND m.expires_at <= at THEN 'expired'
    WHEN doc ->> 'expiry' = 'past' AND m.expires_at > at THEN 'not_expired'
    WHEN doc ? 'plan_hash' AND m.compiled_plan_hash <> doc ->> 'plan_hash' THEN 'plan_hash' END;

  IF refusal IS NULL THEN
    IF jsonb_array_length(nodes) > 1 THEN
      nodes := (SELECT jsonb_agg(value ORDER BY value ->> 'node_key') FROM jsonb_array_elements(nodes));
    END IF;
    FOR i IN 0 .. jsonb_array_length(nodes) - 1 LOOP
      part := nodes -> i;
      SELECT node_key, state, attempt, submit_epoch INTO n
      FROM movement_nodes WHERE movement_id = m.movement_id AND node_key = part ->> 'node_key' FOR UPDATE;
      IF n.node_key IS NULL OR NOT (part -> 'states') ? n.state
         OR n.attempt <> coalesce((part ->> 'attempt')::integer, n.attempt)
         OR n.submit_epoch <> coalesce((part ->> 'epoch')::integer, n.submit_epoch) THEN
        refusal := 'node_state';
        other := CASE WHEN n.node_key IS NOT NULL
          THEN jsonb_build_object('node_key', n.node_key, 'state', n.state, 'attempt', n.attempt, 'epoch', n.submit_epoch) END;
        EXIT;
      END IF;
      -- What stood there before, for what follows from the change.
      nodes := CASE WHEN part -> 'set' ? 'state' THEN jsonb_set(nodes, ARRAY[i::text, 'was'], to_jsonb(n.state)) ELSE nodes END;
    END LOOP;
  END IF;
  IF refusal IS NULL AND doc ? 'require' THEN
    problems := binding_problems(doc -> 'require');
    IF problems IS NOT NULL THEN refusal := 'binding'; END IF;
  END IF;
  IF refusal IS NOT NULL THEN
    PERFORM write_audit(doc -> 'refused_audit', at);
    RETURN jsonb_build_object('ok', false, 'reason', refusal, 'problems', problems, 'at', at, 'version', m.version,
      'request_state', m.request_state, 'approval_status', m.approval_status, 'reservation_status', m.reservation_status,
      'current_frontier', to_jsonb(m.current_frontier), 'expires_at', m.expires_at,
      'node', other);
  END IF;

  FOR i IN 0 .. jsonb_array_length(nodes) - 1 LOOP
    part := nodes -> i;
    fields := part -> 'set';
    UPDATE movement_nodes SET
      state = coalesce(fields ->> 'state', state),
      attempt = coalesce((fields ->> 'attempt')::integer, attempt),
      amount = CASE WHEN fields ? 'amount' THEN (fields ->> 'amount')::numeric ELSE amount END,
      preflight_passed = coalesce((fields ->> 'preflight_passed')::boolean, preflight_passed),
      prepared_action = CASE WHEN fields ? 'prepared_action' THEN nullif(fields -> 'prepared_action', 'null') ELSE prepared_action END,
      sign_request = CASE WHEN fields ? 'sign_request' THEN nullif(fields -> 'sign_request', 'null') ELSE sign_request END,
      submit_epoch = coalesce((fields ->> 'submit_epoch')::integer, submit_epoch),
      send_not_after = CASE WHEN fields ? 'send_not_after' THEN svc_time(fields -> 'send_not_after', at) ELSE send_not_after END,
      recover_first = coalesce((fields ->> 'recover_first')::boolean, recover_first),
      resumed = coalesce((fields ->> 'resumed')::boolean, resumed),
      error_count = coalesce((fields ->> 'error_count')::integer, error_count),
      external_ref = CASE WHEN fields ? 'external_ref' THEN fields ->> 'external_ref' ELSE external_ref END,
      output = CASE WHEN fields ? 'output' THEN nullif(fields -> 'output', 'null') ELSE output END,
      error_code = CASE WHEN fields ? 'error_code' THEN fields ->> 'error_code' ELSE error_code END,
      error_message = CASE WHEN fields ? 'error_message' THEN fields ->> 'error_message' ELSE error_message END,
      started_at = CASE WHEN fields ? 'started_at' THEN svc_time(fields -> 'started_at', at) ELSE started_at END,
      submitted_at = CASE WHEN fields ? 'submitted_at' THEN svc_time(fields -> 'submitted_at', at) ELSE submitted_at END,
      completed_at = CASE WHEN fields ? 'completed_at' THEN svc_time(fields -> 'completed_at', at) ELSE completed_at END,
      updated_at = at
    WHERE movement_id = m.movement_id AND node_key = part ->> 'node_key'
    RETURNING node_key, state, attempt, submit_epoch, external_ref, error_code INTO n;
    IF n.state = 'SUBMITTING' AND part ->> 'was' = 'READY' THEN
      INSERT INTO node_attempts (idempotency_key, movement_id, node_key, attempt, started_at)
      VALUES (m.movement_id || ':' || n.node_key || ':' || n.attempt, m.movement_id, n.node_key, n.attempt, at)
      ON CONFLICT (idempotency_key) DO NOTHING;
    ELSIF n.state IN ('COMPLETED', 'FAILED') AND part ->> 'was' <> n.state THEN
      UPDATE node_attempts SET outcome = n.state, ended_at = at, external_ref = n.external_ref, error_code = n.error_code
      WHERE movement_id = m.movement_id AND node_key = n.node_key AND attempt = n.attempt AND ended_at IS NULL;
    END IF;
    IF jsonb_array_length(part -> 'artifacts') > 0 THEN
      INSERT INTO artifacts (artifact_id, movement_id, node_key, attempt, kind, data, created_at)
      SELECT (a ->> 'artifact_id')::uuid, m.movement_id, n.node_key, n.attempt, a ->> 'kind', a -> 'data', at
      FROM jsonb_array_elements(part -> 'artifacts') AS a;
    END IF;
    IF part ? 'nonce' THEN tx := claim_nonce(m.movement_id, n.node_key, n.attempt, part -> 'nonce', at); END IF;
  END LOOP;

  IF doc ? 'holds' THEN PERFORM take_holds(m.movement_id, doc -> 'holds', at); END IF;
  IF doc ? 'end_holds' THEN PERFORM end_holds(m.movement_id, doc ->> 'end_holds', at); END IF;

  fields := coalesce(doc -> 'set', '{}'::jsonb);
  IF fields = '{}'::jsonb AND NOT doc ?| ARRAY['conditions', 'bump'] THEN
    seq := append_timeline(m.movement_id, m.next_sequence, m.callback_url, m.request_state, m.current_frontier, m.error_code,
      doc -> 'timeline', doc -> 'callback_types', at);
    UPDATE movements SET next_sequence = seq, updated_at = at WHERE movement_id = m.movement_id;
  ELSE
    m.request_state := coalesce(fields ->> 'request_state', m.request_state);
    m.approval_status := coalesce(fields ->> 'approval_status', m.approval_status);
    m.reservation_status := coalesce(fields ->> 'reservation_status', m.reservation_status);
    IF fields ? 'current_frontier' THEN
      m.current_frontier := ARRAY(SELECT jsonb_array_elements_text(fields -> 'current_frontier'));
    END IF;
    IF fields ? 'error_code' THEN m.error_code := fields ->> 'error_code'; END IF;
    IF coalesce((doc ->> 'bump')::boolean, false) THEN m.version := m.version + 1; END IF;
    seq := append_timeline(m.movement_id, m.next_sequence, m.callback_url, m.request_state, m.current_frontier, m.error_code,
      doc -> 'timeline', doc -> 'callback_types', at);
    UPDATE movements SET
      request_state = m.request_state, approval_status = m.approval_status, reservation_status = m.reservation_status,
      version = m.version, next_sequence = seq, current_frontier = m.current_frontier, error_code = m.error_code,
      error_message = CASE WHEN fields ? 'error_message' THEN fields ->> 'error_message' ELSE error_message END,
      approver_id = coalesce(fields ->> 'approver_id', approver_id),
      approved_by = CASE WHEN fields ? 'approved_by' THEN fields ->> 'approved_by' ELSE approved_by END,
      ended_at = CASE WHEN fields ? 'ended_at' THEN svc_time(fields -> 'ended_at', at) ELSE ended_at END,
      edge_conditions = CASE WHEN doc ? 'conditions' THEN jsonb_strip_nulls(edge_conditions || (doc -> 'conditions')) ELSE edge_conditions END,
      updated_at = at
    WHERE movement_id = m.movement_id;
  END IF;
  IF doc ? 'command_id' THEN
    INSERT INTO commands (command_id, movement_id, kind, created_at, claimed_until)
    VALUES ((doc ->> 'command_id')::uuid, m.movement_id, doc ->> 'command_kind', at, at + interval '2 seconds');
  END IF;
  IF jsonb_array_length(doc -> 'audit') > 0 THEN PERFORM write_audit(doc -> 'audit', at); END IF;
  RETURN jsonb_build_object('ok', true, 'at', at, 'version', m.version, 'request_state', m.request_state,
    'approval_status', m.approval_status, 'reservation_status', m.reservation_status, 'current_frontier', to_jsonb(m.current_frontier),
    'expires_at', m.expires_at, 'transaction',
    CASE WHEN tx.transaction_id IS NOT NULL THEN jsonb_build_object('transaction_id', tx.transaction_id, 'chain_id', tx.chain_id,
      'from', tx.address, 'nonce', tx.nonce, 'unsigned', tx.unsigned, 'raw_tx', tx.raw_tx, 'tx_hash', tx.tx_hash) END);
END $$;
DROP FUNCTION transition_result(movements, timestamptz);
