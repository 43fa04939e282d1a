-- The write path. One call is one transaction: it takes its locks in the one order (movement, nodes by
-- key, pools by key, nonce lane), compares what the caller saw with what is there, and then writes
-- state, timeline, audit, callbacks and command together, or refuses and writes only the refusal's
-- audit rows. Each statement of a function takes its own snapshot, so what is read after a lock was
-- waited for is what the other transaction left behind.

-- The one clock of every decision, in milliseconds. Tests move it with the setting svc.clock_offset_ms.
CREATE FUNCTION svc_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
  SELECT date_trunc('milliseconds', clock_timestamp()
    + make_interval(secs => coalesce(nullif(current_setting('svc.clock_offset_ms', true), ''), '0')::double precision / 1000))
$$;

-- Replaces "@now" and {"@after_seconds": n} by times, so that callers never bring a clock of their own.
CREATE FUNCTION svc_stamped(fields jsonb, at timestamptz) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(jsonb_object_agg(key, CASE
    WHEN value = '"@now"'::jsonb THEN to_jsonb(at)
    WHEN jsonb_typeof(value) = 'object' AND value ? '@after_seconds'
      THEN to_jsonb(at + make_interval(secs => (value ->> '@after_seconds')::double precision))
    ELSE value END), '{}'::jsonb)
  FROM jsonb_each(coalesce(fields, '{}'::jsonb))
$$;

CREATE FUNCTION write_audit(events jsonb, at timestamptz) RETURNS void LANGUAGE sql AS $$
  INSERT INTO audit_events (event_id, occurred_at, actor_client_id, actor_key_id, actor_role, namespace, action,
                            entity_type, entity_key, outcome, request_id, reason, details)
  SELECT event_id, at, actor_client_id, actor_key_id, actor_role, namespace, action, entity_type, entity_key, outcome,
         request_id, reason, coalesce(details, '{}'::jsonb)
  FROM jsonb_populate_recordset(NULL::audit_events, coalesce(events, '[]'::jsonb))
$$;

-- Timeline rows with gapless sequence numbers and, where the movement has a URL, their callbacks.
-- The caller holds the movement's lock. Returns the next sequence.
CREATE FUNCTION write_timeline(m movements, events jsonb, callback_types text[], at timestamptz)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  event jsonb;
  seq integer := m.next_sequence;
BEGIN
  FOR event IN SELECT value FROM jsonb_array_elements(coalesce(events, '[]'::jsonb)) LOOP
    INSERT INTO timeline_events (event_id, movement_id, sequence, event_type, node_key, attempt, from_state, to_state, actor,
                                 message, data, occurred_at)
    VALUES ((event ->> 'event_id')::uuid, m.movement_id, seq, event ->> 'event_type', event ->> 'node_key',
            (event ->> 'attempt')::integer, event ->> 'from_state', event ->> 'to_state', event -> 'actor', event ->> 'message',
            coalesce(event -> 'data', '{}'::jsonb), at);
    IF m.callback_url IS NOT NULL AND event ->> 'event_type' = ANY (callback_types) THEN
      INSERT INTO callbacks (event_id, movement_id, event_type, sequence, url, payload, nonce, status, next_attempt_at, created_at, updated_at)
      VALUES ((event ->> 'event_id')::uuid, m.movement_id, event ->> 'event_type', seq, m.callback_url,
              jsonb_build_object('event_id', event ->> 'event_id', 'event_type', event ->> 'event_type', 'movement_id', m.movement_id,
                'request_state', m.request_state, 'current_frontier', to_jsonb(m.current_frontier), 'node_key', event -> 'node_key',
                'error_code', m.error_code, 'sequence', seq,
                'occurred_at', to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text,
              event ->> 'event_id', 'pending', at, at, at);
    END IF;
    seq := seq + 1;
  END LOOP;
  RETURN seq;
END $$;

-- Takes the holds of a movement, pools in key order.
CREATE FUNCTION take_holds(movement uuid, holds jsonb, at timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE hold jsonb;
BEGIN
  FOR hold IN SELECT value FROM jsonb_array_elements(coalesce(holds, '[]'::jsonb))
              ORDER BY value ->> 'venue_key', value ->> 'account_type', value ->> 'asset' LOOP
    INSERT INTO reservation_pools AS p (venue_key, account_type, asset, held)
    VALUES (hold ->> 'venue_key', hold ->> 'account_type', hold ->> 'asset', (hold ->> 'amount')::numeric)
    ON CONFLICT (venue_key, account_type, asset) DO UPDATE SET held = p.held + excluded.held;
    INSERT INTO reservations (reservation_id, movement_id, venue_key, account_type, asset, amount, status, created_at)
    VALUES ((hold ->> 'reservation_id')::uuid, movement, hold ->> 'venue_key', hold ->> 'account_type', hold ->> 'asset',
            (hold ->> 'amount')::numeric, 'held', at);
  END LOOP;
END $$;

-- Ends every hold of a movement as released or consumed, pools in key order.
CREATE FUNCTION end_holds(movement uuid, new_status text, at timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE hold reservations;
BEGIN
  FOR hold IN SELECT * FROM reservations WHERE movement_id = movement AND status = 'held'
              ORDER BY venue_key, account_type, asset LOOP
    UPDATE reservation_pools SET held = held - hold.amount
    WHERE venue_key = hold.venue_key AND account_type = hold.account_type AND asset = hold.asset;
    UPDATE reservations SET status = new_status, ended_at = at WHERE reservation_id = hold.reservation_id;
  END LOOP;
END $$;

-- Registry rows that must be active, by key: {"executors": [...], "signers": [{"signer_key", "address"}]}.
-- Rows that do not exist are active: nobody ever switched them off. The rows are locked against a
-- simultaneous switch. Returns what is wrong, or null.
CREATE FUNCTION binding_problems(required jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  listed jsonb := '[]'::jsonb;
  e executors;
  s signers;
  signer jsonb;
BEGIN
  FOR e IN SELECT * FROM executors WHERE executor_key IN (SELECT jsonb_array_elements_text(coalesce(required -> 'executors', '[]'::jsonb)))
           ORDER BY executor_key FOR SHARE LOOP
    IF e.status <> 'active' THEN
      listed := listed || jsonb_build_object('binding', 'executor', 'key', e.executor_key, 'reason', e.status);
    END IF;
  END LOOP;
  FOR signer IN SELECT value FROM jsonb_array_elements(coalesce(required -> 'signers', '[]'::jsonb)) ORDER BY value ->> 'signer_key' LOOP
    SELECT * INTO s FROM signers WHERE signer_key = signer ->> 'signer_key' FOR SHARE;
    CONTINUE WHEN NOT FOUND;
    IF s.status <> 'active' THEN
      listed := listed || jsonb_build_object('binding', 'signer', 'key', s.signer_key, 'reason', s.status);
    ELSIF signer ->> 'address' IS NOT NULL AND s.expected_signer_address IS NOT NULL
          AND lower(s.expected_signer_address) <> lower(signer ->> 'address') THEN
      listed := listed || jsonb_build_object('binding', 'signer', 'key', s.signer_key, 'reason', 'identity_mismatch');
    END IF;
  END LOOP;
  RETURN CASE WHEN jsonb_array_length(listed) = 0 THEN NULL ELSE listed END;
END $$;

-- The nonce of a node's attempt: the one it already claims, else the lane's next. A claim is given up
-- only through released_at, so recovery can never move a node to a fresh nonce by itself.
CREATE FUNCTION claim_nonce(movement uuid, node text, node_attempt integer, claim jsonb, at timestamptz)
RETURNS evm_transactions LANGUAGE plpgsql AS $$
DECLARE
  tx evm_transactions;
  taken bigint;
BEGIN
  INSERT INTO nonce_lanes (chain_id, address, next_nonce) VALUES ((claim ->> 'chain_id')::bigint, claim ->> 'address', 0)
  ON CONFLICT DO NOTHING;
  PERFORM 1 FROM nonce_lanes WHERE chain_id = (claim ->> 'chain_id')::bigint AND address = claim ->> 'address' FOR UPDATE;
  SELECT * INTO tx FROM evm_transactions
  WHERE movement_id = movement AND node_key = node AND attempt = node_attempt AND released_at IS NULL
  ORDER BY created_at DESC LIMIT 1;
  IF FOUND THEN RETURN tx; END IF;
  -- A claim that was never signed and whose node has ended would leave a gap that every later nonce
  -- waits behind. No bytes of it exist or can come to exist, so the next send of the lane takes it over.
  UPDATE evm_transactions SET released_at = at WHERE transaction_id = (
    SELECT t.transaction_id FROM evm_transactions t JOIN movement_nodes n USING (movement_id, node_key)
    WHERE t.chain_id = (claim ->> 'chain_id')::bigint AND t.address = claim ->> 'address' AND t.released_at IS NULL
      AND t.raw_tx IS NULL AND t.nonce >= (claim ->> 'chain_nonce')::bigint
      AND (n.attempt > t.attempt OR n.state IN ('FAILED', 'COMPLETED', 'CANCELLED', 'SKIPPED'))
    ORDER BY t.nonce LIMIT 1)
  RETURNING nonce INTO taken;
  IF taken IS NULL THEN
    UPDATE nonce_lanes SET next_nonce = greatest(next_nonce, (claim ->> 'chain_nonce')::bigint) + 1
    WHERE chain_id = (claim ->> 'chain_id')::bigint AND address = claim ->> 'address'
    RETURNING next_nonce - 1 INTO taken;
  END IF;
  INSERT INTO evm_transactions (transaction_id, chain_id, address, nonce, movement_id, node_key, attempt, unsigned, created_at)
  VALUES ((claim ->> 'transaction_id')::uuid, (claim ->> 'chain_id')::bigint, claim ->> 'address', taken, movement, node, node_attempt,
          claim -> 'unsigned', at)
  RETURNING * INTO tx;
  RETURN tx;
END $$;

-- Applies one transition; see store/transition.ts for the shape of `doc`.
CREATE FUNCTION apply_transition(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  m movements;
  n movement_nodes;
  part jsonb;
  tx evm_transactions;
  at timestamptz;
  refusal text;
  problems jsonb;
  old_state text;
BEGIN
  SELECT * INTO m FROM movements WHERE movement_id = (doc ->> 'movement_id')::uuid FOR UPDATE;
  at := svc_now();
  IF m.movement_id IS NULL THEN
    PERFORM write_audit(doc -> 'refused_audit', at);
    RETURN jsonb_build_object('ok', false, 'reason', 'movement_not_found');
  END IF;

  IF doc ? 'command_id' AND EXISTS (SELECT 1 FROM commands WHERE command_id = (doc ->> 'command_id')::uuid) THEN
    RETURN transition_result(m, at) || jsonb_build_object('repeated', true);
  END IF;

  refusal := CASE
    WHEN doc ? 'version' AND m.version <> (doc ->> 'version')::integer THEN 'version'
    WHEN doc ? 'states' AND NOT (doc -> 'states') ? m.request_state THEN 'movement_state'
    WHEN doc ->> 'expiry' = 'future' AND m.expires_at <= at THEN 'expired'
    WHEN doc ->> 'expiry' = 'past' AND m.expires_at > at THEN 'not_expired'
    WHEN doc ? 'plan_hash' AND m.compiled_plan_hash <> doc ->> 'plan_hash' THEN 'plan_hash' END;

  IF refusal IS NULL THEN
    FOR part IN SELECT value FROM jsonb_array_elements(coalesce(doc -> 'nodes', '[]'::jsonb)) ORDER BY value ->> 'node_key' LOOP
      SELECT * INTO n FROM movement_nodes WHERE movement_id = m.movement_id AND node_key = part ->> 'node_key' FOR UPDATE;
      IF n.node_key IS NULL OR NOT (part -> 'states') ? n.state
         OR n.attempt <> coalesce((part ->> 'attempt')::integer, n.attempt)
         OR n.submit_epoch <> coalesce((part ->> 'epoch')::integer, n.submit_epoch) THEN
        refusal := 'node_state';
        EXIT;
      END IF;
    END LOOP;
  END IF;
  IF refusal IS NULL AND doc ? 'require' THEN
    problems := binding_problems(doc -> 'require');
    IF problems IS NOT NULL THEN refusal := 'binding'; END IF;
  END IF;
  IF refusal IS NOT NULL THEN
    PERFORM write_audit(doc -> 'refused_audit', at);
    RETURN transition_result(m, at) || jsonb_build_object('ok', false, 'reason', refusal, 'problems', problems,
      'node', CASE WHEN refusal = 'node_state' AND n.node_key IS NOT NULL
        THEN jsonb_build_object('node_key', n.node_key, 'state', n.state, 'attempt', n.attempt, 'epoch', n.submit_epoch) END);
  END IF;

  FOR part IN SELECT value FROM jsonb_array_elements(coalesce(doc -> 'nodes', '[]'::jsonb)) ORDER BY value ->> 'node_key' LOOP
    SELECT * INTO n FROM movement_nodes WHERE movement_id = m.movement_id AND node_key = part ->> 'node_key';
    old_state := n.state;
    n := jsonb_populate_record(n, svc_stamped(part -> 'set', at));
    UPDATE movement_nodes SET
      state = n.state, attempt = n.attempt, amount = n.amount, preflight_passed = n.preflight_passed,
      prepared_action = n.prepared_action, sign_request = n.sign_request, submit_epoch = n.submit_epoch,
      send_not_after = n.send_not_after, recover_first = n.recover_first, resumed = n.resumed, error_count = n.error_count,
      external_ref = n.external_ref, output = n.output, error_code = n.error_code, error_message = n.error_message,
      started_at = n.started_at, submitted_at = n.submitted_at, completed_at = n.completed_at, updated_at = at
    WHERE movement_id = n.movement_id AND node_key = n.node_key;
    IF n.state = 'SUBMITTING' AND old_state = 'READY' THEN
      INSERT INTO node_attempts (idempotency_key, movement_id, node_key, attempt, started_at)
      VALUES (n.movement_id || ':' || n.node_key || ':' || n.attempt, n.movement_id, n.node_key, n.attempt, at)
      ON CONFLICT (idempotency_key) DO NOTHING;
    ELSIF n.state IN ('COMPLETED', 'FAILED') AND old_state <> n.state THEN
      UPDATE node_attempts SET outcome = n.state, ended_at = at, external_ref = n.external_ref, error_code = n.error_code
      WHERE movement_id = n.movement_id AND node_key = n.node_key AND attempt = n.attempt AND ended_at IS NULL;
    END IF;
    INSERT INTO artifacts (artifact_id, movement_id, node_key, attempt, kind, data, created_at)
    SELECT (a ->> 'artifact_id')::uuid, n.movement_id, n.node_key, n.attempt, a ->> 'kind', a -> 'data', at
    FROM jsonb_array_elements(coalesce(part -> 'artifacts', '[]'::jsonb)) AS a;
    IF part ? 'nonce' THEN tx := claim_nonce(n.movement_id, n.node_key, n.attempt, part -> 'nonce', at); END IF;
  END LOOP;

  m := jsonb_populate_record(m, svc_stamped(doc -> 'set', at));
  IF doc ? 'holds' THEN PERFORM take_holds(m.movement_id, doc -> 'holds', at); END IF;
  IF doc ? 'end_holds' THEN PERFORM end_holds(m.movement_id, doc ->> 'end_holds', at); END IF;
  IF coalesce((doc ->> 'bump')::boolean, false) THEN m.version := m.version + 1; END IF;
  m.next_sequence := write_timeline(m, doc -> 'timeline',
    ARRAY(SELECT jsonb_array_elements_text(coalesce(doc -> 'callback_types', '[]'::jsonb))), at);
  UPDATE movements SET
    request_state = m.request_state, approval_status = m.approval_status, reservation_status = m.reservation_status,
    version = m.version, next_sequence = m.next_sequence, current_frontier = m.current_frontier,
    auto_approve_result = m.auto_approve_result, error_code = m.error_code, error_message = m.error_message,
    approver_id = m.approver_id, approved_by = m.approved_by, ended_at = m.ended_at, updated_at = at
  WHERE movement_id = m.movement_id;
  IF doc ? 'command_id' THEN
    INSERT INTO commands (command_id, movement_id, kind, created_at, claimed_until)
    VALUES ((doc ->> 'command_id')::uuid, m.movement_id, doc ->> 'command_kind', at, at + interval '2 seconds');
  END IF;
  PERFORM write_audit(doc -> 'audit', at);
  RETURN transition_result(m, at) || jsonb_build_object('transaction',
    CASE WHEN tx.transaction_id IS NOT NULL THEN jsonb_build_object('transaction_id', tx.transaction_id, 'chain_id', tx.chain_id,
      'from', tx.address, 'nonce', tx.nonce, 'unsigned', tx.unsigned, 'raw_tx', tx.raw_tx, 'tx_hash', tx.tx_hash) END);
END $$;

CREATE FUNCTION transition_result(m movements, at timestamptz) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_build_object('ok', true, 'at', at, 'version', m.version, 'request_state', m.request_state,
    'approval_status', m.approval_status, 'reservation_status', m.reservation_status,
    'current_frontier', to_jsonb(m.current_frontier), 'expires_at', m.expires_at)
$$;

-- Writes a new movement with its nodes, timeline, audit and command. A used idempotency key answers
-- with the movement that used it, selected in a statement after the insert that met it.
CREATE FUNCTION create_movement(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  m movements;
  at timestamptz := svc_now();
BEGIN
  m := jsonb_populate_record(NULL::movements, svc_stamped(doc -> 'movement', at));
  m.created_at := at;
  m.updated_at := at;
  m.version := 1;
  m.next_sequence := 1;
  INSERT INTO movements SELECT m.* ON CONFLICT (client_scope, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING;
  IF NOT FOUND THEN
    SELECT * INTO m FROM movements WHERE client_scope = doc -> 'movement' ->> 'client_scope'
      AND idempotency_key = doc -> 'movement' ->> 'idempotency_key';
    RETURN jsonb_build_object('created', false, 'movement_id', m.movement_id, 'request', m.request);
  END IF;
  INSERT INTO movement_nodes (movement_id, node_key, position, node_kind, action_type, state, executor_binding, signer_binding, updated_at)
  SELECT m.movement_id, r.node_key, r.position, r.node_kind, r.action_type, 'BLOCKED', r.executor_binding, r.signer_binding, at
  FROM jsonb_populate_recordset(NULL::movement_nodes, doc -> 'nodes') AS r;
  UPDATE movements SET next_sequence = write_timeline(m, doc -> 'timeline', ARRAY[]::text[], at) WHERE movement_id = m.movement_id;
  INSERT INTO commands (command_id, movement_id, kind, created_at, claimed_until)
  VALUES ((doc ->> 'command_id')::uuid, m.movement_id, 'create', at, at + interval '2 seconds');
  PERFORM write_audit(doc -> 'audit', at);
  RETURN jsonb_build_object('created', true, 'movement_id', m.movement_id, 'created_at', m.created_at, 'expires_at', m.expires_at);
END $$;

-- What a run reads: first it marks the movement's commands as seen, in a statement of its own, so that
-- the state it reads afterwards is at least as new as every command it marked.
CREATE FUNCTION load_movement(movement uuid, run text) RETURNS jsonb LANGUAGE plpgsql AS $$
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
    'edges', m.compiled_plan -> 'edges', 'reservation_status', m.reservation_status,
    'nodes', (SELECT jsonb_agg(jsonb_build_object(
        'node_key', n.node_key, 'node_kind', n.node_kind, 'state', n.state, 'attempt', n.attempt, 'resumed', n.resumed,
        'recover_first', n.recover_first, 'error_code', n.error_code, 'executor_key', n.executor_binding ->> 'executor_key',
        'settled_order', coalesce(extract(epoch FROM n.completed_at) * 1000, 0),
        'timeout_policy', m.compiled_plan -> 'nodes' -> n.position -> 'timeout_policy',
        'retry_policy', m.compiled_plan -> 'nodes' -> n.position -> 'retry_policy') ORDER BY n.position)
      FROM movement_nodes n WHERE n.movement_id = m.movement_id))
  INTO result FROM movements m WHERE m.movement_id = movement;
  RETURN result;
END $$;
