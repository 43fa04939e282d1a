-- Writes timeline rows with gapless sequence numbers and, if the movement has a callback URL, their
-- callbacks. A callback whose host is not listed is stored as a dead letter, with a timeline row
-- that says so. The caller has locked the movement. Returns the next sequence number.
CREATE OR REPLACE FUNCTION append_timeline(movement uuid, next_sequence integer, callback_url text,
  request_state text, frontier text[],
                                error_code text, events jsonb, callback_types jsonb, at timestamptz)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  event jsonb;
  seq integer := next_sequence;
  dead boolean;
BEGIN
  FOR i IN 0 .. coalesce(jsonb_array_length(events), 0) - 1 LOOP
    event := events -> i;
    INSERT INTO timeline_events (event_id, movement_id, sequence, event_type, node_key, attempt,
      from_state, to_state, actor,
                                 message, data, occurred_at)
    VALUES ((event ->> 'event_id')::uuid, movement, seq, event ->> 'event_type',
      event ->> 'node_key',
            (event ->> 'attempt')::integer, event ->> 'from_state', event ->> 'to_state',
              event -> 'actor', event ->> 'message',
            coalesce(event -> 'data', '{}'::jsonb), at);
    seq := seq + 1;
    CONTINUE WHEN callback_url IS NULL
      OR NOT coalesce(callback_types ? (event ->> 'event_type'), false);
    dead := callback_refused(callback_url);
    INSERT INTO callbacks (event_id, movement_id, event_type, sequence, url, payload, nonce,
      status, next_attempt_at, last_error,
                           created_at, updated_at)
    VALUES ((event ->> 'event_id')::uuid, movement, event ->> 'event_type', seq - 1, callback_url,
            jsonb_build_object('event_id', event ->> 'event_id',
              'event_type', event ->> 'event_type', 'movement_id', movement,
              'request_state', request_state, 'current_frontier', to_jsonb(frontier),
                'node_key', event -> 'node_key',
              'error_code', error_code, 'sequence', seq - 1,
              'occurred_at', wire_time(at))::text,
            event ->> 'event_id', CASE WHEN dead THEN 'dead_letter' ELSE 'pending' END, at,
            CASE WHEN dead THEN 'host_not_allowed' END, at, at);
    CONTINUE WHEN NOT dead;
    INSERT INTO timeline_events (event_id, movement_id, sequence, event_type, actor, message, data,
      occurred_at)
    VALUES (svc_new_id(at), movement, seq, 'callback_dead_lettered', '{"type": "system"}'::jsonb,
            'The callback ' || (event ->> 'event_type') || ' is a dead letter: host_not_allowed',
            jsonb_build_object('callback_event_id', event ->> 'event_id',
              'callback_event_type', event ->> 'event_type',
              'attempts', 0, 'reason', 'host_not_allowed'), at);
    seq := seq + 1;
  END LOOP;
  RETURN seq;
END $$;

-- The same as append_timeline, for events without a callback.
CREATE OR REPLACE FUNCTION write_timeline(m movements, events jsonb, callback_types text[],
  at timestamptz)
RETURNS integer LANGUAGE sql AS $$
  SELECT append_timeline(m.movement_id, m.next_sequence, NULL, m.request_state, m.current_frontier,
    m.error_code, events, '[]'::jsonb, at)
$$;

-- Applies one transition; see store/transition.ts for the shape of `doc`.
-- A connection plans each of its statements once, not anew for each of its first six calls.
CREATE OR REPLACE FUNCTION apply_transition(doc jsonb) RETURNS jsonb LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  m record;
  n record;
  completed text[] := '{}';
  settles boolean := false;
  after movements;
  nodes jsonb := coalesce(doc -> 'nodes', '[]'::jsonb);
  part jsonb;
  fields jsonb;
  other jsonb;
  tx evm_transactions;
  at timestamptz;
  refusal text;
  problems jsonb;
  send jsonb;
  seq integer;
  fenced text[];
  frozen boolean := false;
  unclaimed boolean := false;
  seen boolean := false;
  looks_again boolean := coalesce(doc ->> 'command_kind' IN ('resume', 'retry'), false);
  holder jsonb;
  lane text;
BEGIN
  -- A condition with a subquery stands in an IF of its own: PL/pgSQL starts a whole condition as a
  -- query, also where its other parts decide it.
  -- Finds the nodes that pass a fence before any row is locked; see cutover_now.
  IF jsonb_path_exists(nodes, '$[*].set.state ? (@ == "SUBMITTING")') THEN
    SELECT array_agg(value ->> 'node_key') INTO fenced FROM jsonb_array_elements(nodes)
      WHERE value -> 'set' ->> 'state' = 'SUBMITTING';
    frozen := cutover_now() = 'frozen';
  END IF;
  -- These may wait for people; see ask_action.
  IF doc ->> 'command_kind' IN ('resume', 'retry', 'resolve') THEN
    PERFORM hold_approval_rules();
  END IF;
  -- A retry binds nodes to the present signers, so no rotation may run at the same time.
  IF doc ->> 'command_kind' = 'retry' THEN PERFORM cutover_now(); END IF;
  SELECT movement_id, request_state, approval_status, reservation_status, version, next_sequence,
    current_frontier, error_code, callback_url, expires_at, pooled,
           auto_approve_result ->> 'outcome' = 'approved'
           AND auto_approve_result ? 'policy_id' AS budgeted
  INTO m FROM movements WHERE movement_id = (doc ->> 'movement_id')::uuid FOR UPDATE;
  at := svc_now();
  IF m.movement_id IS NULL THEN
    RETURN jsonb_build_object('ok', false, 'reason', 'movement_not_found');
  END IF;

  IF doc ? 'command_id' THEN
    IF EXISTS (SELECT 1 FROM commands WHERE command_id = (doc ->> 'command_id')::uuid) THEN
      RETURN jsonb_build_object('ok', true, 'at', at, 'version', m.version,
        'request_state', m.request_state,
        'approval_status', m.approval_status, 'reservation_status', m.reservation_status,
          'current_frontier', to_jsonb(m.current_frontier),
        'expires_at', m.expires_at, 'repeated', true);
    END IF;
  END IF;

  refusal := CASE
    WHEN doc ? 'version' AND m.version <> (doc ->> 'version')::integer THEN 'version'
    WHEN doc ? 'states' AND NOT (doc -> 'states') ? m.request_state THEN 'movement_state'
    WHEN doc ->> 'expiry' = 'future' AND m.expires_at <= at THEN 'expired'
    WHEN doc ->> 'expiry' = 'past' AND m.expires_at > at THEN 'not_expired' END;
  IF refusal IS NULL AND doc ? 'plan_hash' THEN
    IF doc ->> 'plan_hash' IS DISTINCT FROM (
      SELECT compiled_plan_hash FROM movement_plans WHERE movement_id = m.movement_id) THEN
      refusal := 'plan_hash';
    END IF;
  END IF;

  -- After a cancel, a node that may have been sent before a restore becomes READY, so that recovery
  -- searches for that send; the node passes no fence.
  IF refusal IS NULL AND (fenced IS NOT NULL
      OR doc -> 'set' ->> 'request_state' IN ('APPROVED', 'EXECUTING')
      OR (doc -> 'set' ->> 'request_state' IS DISTINCT FROM 'CANCELLED'
        AND jsonb_path_exists(nodes, '$[*].set.state ? (@ == "READY")')))
    AND NOT (doc ?& ARRAY['approval', 'plan_hash'] OR is_approved(m.movement_id)) THEN
    refusal := 'not_approved';
  END IF;

  -- Whoever sends says which plan's assertions it has verified; a cancelling transaction pays no
  -- one.
  IF refusal IS NULL AND (fenced IS NOT NULL
      OR jsonb_path_exists(nodes, '$[*].version ? (@.kind != "cancel")'))
    AND needs_proof(m.movement_id) THEN
    IF doc ->> 'proven' IS DISTINCT FROM (
      SELECT compiled_plan_hash FROM movement_plans WHERE movement_id = m.movement_id) THEN
      refusal := 'approval_not_proven';
    END IF;
  END IF;

  IF refusal IS NULL THEN
    IF jsonb_array_length(nodes) > 1 THEN
      nodes := (SELECT jsonb_agg(value ORDER BY value ->> 'node_key')
        FROM jsonb_array_elements(nodes));
    END IF;
    FOR i IN 0 .. jsonb_array_length(nodes) - 1 LOOP
      part := nodes -> i;
      SELECT node_key, node_kind, state, attempt, submit_epoch, recover_first, prepared_action,
        pays, claims_when, output, error_code INTO n
      FROM movement_nodes WHERE movement_id = m.movement_id
        AND node_key = part ->> 'node_key' FOR UPDATE;
      IF n.node_key IS NULL OR NOT (part -> 'states') ? n.state
         OR n.attempt <> coalesce((part ->> 'attempt')::integer, n.attempt)
         OR n.submit_epoch <> coalesce((part ->> 'epoch')::integer, n.submit_epoch)
         -- The prepared action is checked before the fence and sent after it. So it changes only
         -- together with attempt or epoch; a fence may set it only if none is stored.
         OR (n.prepared_action IS NOT NULL AND part -> 'set' ? 'prepared_action'
           AND (NOT part -> 'set' ?| ARRAY['attempt', 'submit_epoch']
             OR part -> 'set' ->> 'state' = 'SUBMITTING'))
         -- A completed node stays completed, with two exceptions: an allowance may run again, since
         -- it moves nothing, and a node whose payment is reassigned waits again.
         OR (n.state = 'COMPLETED' AND part -> 'set' ? 'state'
           AND n.pays <> 'spender' AND NOT part ? 'releases')
         -- An abandoned node stays as it is: its send may still land.
         OR (n.state = 'FAILED' AND n.error_code = 'ABANDONED' AND part -> 'set' ? 'state')
         -- A node passes no fence before recovery has searched for its earlier send.
         OR (n.recover_first AND part -> 'set' ->> 'state' = 'SUBMITTING')
         -- A gate has no phases: it is skipped, cancelled, or passed by a person's resume.
         OR (n.node_kind = 'manual_gate'
           AND part -> 'set' ->> 'state' NOT IN ('BLOCKED', 'READY', 'SKIPPED', 'CANCELLED')
           AND part -> 'set' -> 'resumed' IS DISTINCT FROM 'true') THEN
        refusal := 'node_state';
        other := CASE WHEN n.node_key IS NOT NULL
          THEN jsonb_build_object('node_key', n.node_key, 'state', n.state, 'attempt', n.attempt,
            'epoch', n.submit_epoch) END;
        EXIT;
      END IF;
      unclaimed := unclaimed OR part -> 'set' ->> 'state' = 'COMPLETED' AND n.state <> 'COMPLETED'
        AND coalesce(jsonb_array_length(part -> 'claims'), 0) = 0 AND NOT part ? 'takes'
        AND needs_claim(n.claims_when, CASE WHEN part -> 'set' ? 'output'
          THEN part -> 'set' -> 'output' ELSE n.output END);
      -- Keeps the earlier state in `was`: the writes below depend on it.
      nodes := CASE WHEN part -> 'set' ? 'state'
        THEN jsonb_set(nodes, ARRAY[i::text, 'was'], to_jsonb(n.state)) ELSE nodes END;
      -- Whatever way a send takes, it takes the lane of the action that is sent.
      lane := CASE WHEN part -> 'set' ->> 'state' = 'SUBMITTING'
        THEN coalesce(part -> 'set' -> 'prepared_action', n.prepared_action) ->> 'send_lane' END;
      IF lane IS NOT NULL THEN
        nodes := jsonb_set(nodes, ARRAY[i::text, 'send_lane'], to_jsonb(lane));
      END IF;
    END LOOP;
  END IF;
  -- An API process of 0.4.0 takes the failure of an abandoned node for one that fires edges. A node
  -- to which nothing else leads stays BLOCKED. The release after the next one needs this no longer.
  IF refusal IS NULL AND doc ->> 'command_kind' IN ('resume', 'retry', 'resolve') THEN
    IF EXISTS (
      SELECT 1 FROM jsonb_array_elements(nodes) t
      JOIN movement_nodes k
        ON k.movement_id = m.movement_id AND k.node_key = t.value ->> 'node_key'
      JOIN movement_plans p ON p.movement_id = m.movement_id
      CROSS JOIN jsonb_array_elements(p.plan_frame -> 'edges') e
      JOIN movement_nodes s ON s.movement_id = m.movement_id AND s.node_key = e.value ->> 'from'
      LEFT JOIN jsonb_array_elements(nodes) c ON c.value ->> 'node_key' = s.node_key
      WHERE t.value ->> 'was' = 'BLOCKED' AND t.value -> 'set' ->> 'state' = 'READY'
        AND k.brings IS NULL AND e.value ->> 'to' = k.node_key
      GROUP BY k.node_key
      HAVING bool_or(is_abandoned(s) AND e.value ->> 'edge_type' IN ('on_failure', 'on_timeout'))
        AND NOT bool_or(NOT is_abandoned(s)
          AND CASE coalesce(c.value -> 'set' ->> 'state', s.state)
          WHEN 'COMPLETED' THEN e.value ->> 'edge_type' IN ('on_success', 'on_manual_resume')
          WHEN 'FAILED' THEN e.value ->> 'edge_type' IN ('on_failure', 'on_timeout')
          ELSE false END)) THEN
      refusal := 'node_state';
    END IF;
  END IF;
  IF refusal IS NULL AND unclaimed THEN refusal := 'claim_missing'; END IF;
  IF refusal IS NULL AND frozen THEN
    PERFORM freeze_node(m.movement_id, key, at) FROM unnest(fenced) AS key;
    refusal := 'frozen';
  END IF;
  IF refusal IS NULL AND doc ? 'send_over' THEN
    send := unsettled_send(m.movement_id, doc -> 'send_over', at);
    refusal := send ->> 'reason';
  END IF;
  IF refusal IS NULL AND doc ? 'require' THEN
    problems := binding_problems(doc -> 'require', m.movement_id);
    IF problems IS NULL AND doc -> 'require' ? 'flow' THEN
      problems := flow_problems(m.movement_id, doc -> 'require' -> 'flow');
    END IF;
    IF problems IS NOT NULL THEN refusal := 'binding'; END IF;
  END IF;
  FOR i IN 0 .. jsonb_array_length(nodes) - 1 LOOP
    EXIT WHEN refusal IS NOT NULL;
    part := nodes -> i;
    IF part ? 'send_lane' THEN
      problems := send_lane_problem(m.movement_id, part ->> 'node_key', part ->> 'send_lane');
      IF problems IS NOT NULL THEN refusal := 'binding'; END IF;
      CONTINUE WHEN refusal IS NOT NULL;
    END IF;
    IF part ? 'nonce' THEN
      problems := lane_problem(m.movement_id, part ->> 'node_key', (part ->> 'attempt')::integer,
        part -> 'nonce');
      IF problems IS NOT NULL THEN refusal := 'binding'; END IF;
    ELSIF part ? 'version' THEN
      -- Locks the lane, since a concurrent send might take over an unsigned claim.
      PERFORM 1 FROM nonce_lanes l JOIN evm_transactions c
        ON c.chain_id = l.chain_id AND c.address = l.address
      WHERE c.transaction_id = (part -> 'version' ->> 'claim')::uuid FOR UPDATE OF l;
      IF NOT is_newest_version(m.movement_id, part -> 'version') THEN
        refusal := 'node_state';
      END IF;
    ELSIF part ? 'settles' THEN
      PERFORM 1 FROM evm_transactions
      WHERE transaction_id = (part -> 'settles' ->> 'transaction_id')::uuid
        AND final_at IS NULL AND released_at IS NULL FOR UPDATE;
      IF NOT FOUND THEN refusal := 'node_state'; END IF;
    ELSIF (part -> 'set' ->> 'cancel_asked')::integer > 0 THEN
      -- A condition of its own: combined with the one above, Postgres would plan this query for
      -- every written node.
      IF NOT EXISTS (
        SELECT FROM evm_transactions t WHERE t.movement_id = m.movement_id
          AND t.node_key = part ->> 'node_key'
          AND t.attempt = (part -> 'set' ->> 'cancel_asked')::integer
          AND t.raw_tx IS NOT NULL AND t.replaces IS NULL AND t.released_at IS NULL
          AND t.final_at IS NULL) THEN
        refusal := 'nothing_signed';
      END IF;
    ELSIF part ? 'claims' THEN
      holder := claim_holder(m.movement_id, part ->> 'node_key', part -> 'claims', at);
      IF holder IS NOT NULL THEN refusal := 'already_claimed'; END IF;
    ELSIF part ? 'releases' OR part ? 'takes' THEN
      IF NOT lock_claims(coalesce((part -> 'takes' ->> 'movement_id')::uuid, m.movement_id),
        coalesce(part -> 'takes' ->> 'node_key', part ->> 'node_key')) THEN
        refusal := 'claim_missing';
      END IF;
    END IF;
  END LOOP;
  IF refusal IS NOT NULL THEN
    RETURN jsonb_build_object('ok', false, 'reason', refusal, 'problems', problems, 'at', at,
      'version', m.version,
      'request_state', m.request_state, 'approval_status', m.approval_status,
        'reservation_status', m.reservation_status,
      'current_frontier', to_jsonb(m.current_frontier), 'expires_at', m.expires_at,
      'node', other, 'send', send, 'holder', holder);
  END IF;

  IF doc ->> 'command_kind' IN ('resume', 'retry', 'resolve') AND NOT doc ? 'together' THEN
    PERFORM ask_action(jsonb_build_array(doc || jsonb_build_object('nodes', nodes)), NULL);
  END IF;

  -- The plan's hash was compared with this one above.
  IF doc ?& ARRAY['approval', 'plan_hash'] THEN
    INSERT INTO movement_approvals (movement_id, plan_hash, approved_by, name, at)
    VALUES (m.movement_id, doc ->> 'plan_hash', doc -> 'approval' ->> 'by',
      doc -> 'approval' ->> 'name', at);
  END IF;
  FOR i IN 0 .. jsonb_array_length(nodes) - 1 LOOP
    part := nodes -> i;
    fields := part -> 'set';
    UPDATE movement_nodes SET
      state = coalesce(fields ->> 'state', state),
      attempt = coalesce((fields ->> 'attempt')::integer, attempt),
      amount = CASE WHEN fields ? 'amount' THEN (fields ->> 'amount')::numeric ELSE amount END,
      preflight_passed = coalesce((fields ->> 'preflight_passed')::boolean, preflight_passed),
      prepared_action = CASE WHEN fields ? 'prepared_action'
        THEN nullif(fields -> 'prepared_action', 'null') ELSE prepared_action END,
      sign_request = CASE WHEN fields ? 'sign_request'
        THEN nullif(fields -> 'sign_request', 'null') ELSE sign_request END,
      submit_epoch = coalesce((fields ->> 'submit_epoch')::integer, submit_epoch),
      send_not_after = CASE WHEN fields ? 'send_not_after'
        THEN svc_time(fields -> 'send_not_after', at) ELSE send_not_after END,
      recover_first = coalesce((fields ->> 'recover_first')::boolean, recover_first),
      restored = coalesce((fields ->> 'restored')::boolean, restored),
      resumed = coalesce((fields ->> 'resumed')::boolean, resumed),
      only_look = coalesce((fields ->> 'only_look')::boolean, only_look),
      cancel_asked = coalesce((fields ->> 'cancel_asked')::integer, cancel_asked),
      error_count = coalesce((fields ->> 'error_count')::integer, error_count),
      unanswered = coalesce((fields ->> 'unanswered')::integer, unanswered),
      unanswered_since = CASE WHEN fields ? 'unanswered'
        THEN CASE WHEN fields -> 'unanswered' <> '0' THEN coalesce(unanswered_since, at) END
          ELSE unanswered_since END,
      external_ref = CASE WHEN fields ? 'external_ref' THEN fields ->> 'external_ref'
        ELSE external_ref END,
      output = CASE WHEN fields ? 'output' THEN nullif(fields -> 'output', 'null') ELSE output END,
      -- A resume or a retry takes nothing back of what the venue has, also where it was decided before
      -- the look that found it, nor that its looks cannot see the send. What passes its fence in a
      -- lane no longer waits for that lane.
      error_code = CASE WHEN looks_again AND state = 'UNKNOWN'
            AND (is_at_venue(error_code) OR error_code = 'VENUE_ENTRY_CHANGED')
          THEN error_code
        WHEN fields ? 'error_code' THEN fields ->> 'error_code'
        WHEN part ? 'send_lane' THEN NULL ELSE error_code END,
      error_message = CASE WHEN looks_again AND state = 'UNKNOWN'
            AND (is_at_venue(error_code) OR error_code = 'VENUE_ENTRY_CHANGED')
          THEN error_message
        WHEN fields ? 'error_message' THEN fields ->> 'error_message'
        WHEN part ? 'send_lane' THEN NULL ELSE error_message END,
      -- The time that a node waits at its fence in the mode `frozen` does not count towards its
      -- time limit.
      started_at = CASE WHEN fields ? 'started_at' THEN svc_time(fields -> 'started_at', at)
        WHEN fields ? 'state' THEN started_at + coalesce(at - frozen_since, interval '0')
        ELSE started_at END,
      frozen_since = CASE WHEN NOT fields ? 'state' THEN frozen_since END,
      -- Only a READY node waits for its venue, so any other state ends the wait.
      wait_overdue_at = CASE WHEN fields ? 'state' THEN NULL
        WHEN fields ? 'wait_overdue_at' THEN svc_time(fields -> 'wait_overdue_at', at)
        ELSE wait_overdue_at END,
      submitted_at = CASE WHEN fields ? 'submitted_at' THEN svc_time(fields -> 'submitted_at', at)
        ELSE submitted_at END,
      completed_at = CASE WHEN fields ? 'completed_at' THEN svc_time(fields -> 'completed_at', at)
        ELSE completed_at END,
      next_late_look = CASE WHEN fields ? 'next_late_look'
        THEN svc_time(fields -> 'next_late_look', at) ELSE next_late_look END,
      landed_late_at = CASE WHEN fields ? 'landed_late_at'
        THEN svc_time(fields -> 'landed_late_at', at) ELSE landed_late_at END,
      landing_seen_at = CASE WHEN fields ? 'landing_seen_at'
        THEN svc_time(fields -> 'landing_seen_at', at) ELSE landing_seen_at END,
      updated_at = at
    WHERE movement_id = m.movement_id AND node_key = part ->> 'node_key'
    RETURNING node_key, state, attempt, submit_epoch, external_ref, error_code INTO n;
    settles := settles OR part ? 'was' OR fields ?| ARRAY['amount', 'recover_first'];
    seen := seen OR fields ? 'landing_seen_at';
    IF n.state = 'SUBMITTING' AND part ->> 'was' = 'READY' THEN
      INSERT INTO node_attempts (idempotency_key, movement_id, node_key, attempt, started_at,
        send_lane)
      VALUES (m.movement_id || ':' || n.node_key || ':' || n.attempt, m.movement_id, n.node_key,
        n.attempt, at, part ->> 'send_lane')
      ON CONFLICT (idempotency_key) DO NOTHING;
    ELSIF n.state IN ('COMPLETED', 'FAILED') AND part ->> 'was' <> n.state THEN
      UPDATE node_attempts SET outcome = n.state, ended_at = at, external_ref = n.external_ref,
        error_code = n.error_code
      WHERE movement_id = m.movement_id AND node_key = n.node_key AND attempt = n.attempt
        AND ended_at IS NULL;
      -- What an abandoned node may have sent counts as what a completed one has.
      IF n.state = 'COMPLETED' OR n.error_code = 'ABANDONED' THEN
        completed := completed || n.node_key;
      END IF;
    END IF;
    IF jsonb_array_length(part -> 'artifacts') > 0 THEN
      INSERT INTO artifacts (artifact_id, movement_id, node_key, attempt, kind, data, created_at)
      SELECT (a ->> 'artifact_id')::uuid, m.movement_id, n.node_key, n.attempt, a ->> 'kind',
        a -> 'data', at
      FROM jsonb_array_elements(part -> 'artifacts') AS a;
    END IF;
    IF part ? 'nonce' THEN tx := claim_nonce(m.movement_id, n.node_key, n.attempt, part -> 'nonce',
      at); END IF;
    IF part ? 'claims' THEN
      PERFORM write_claims(m.movement_id, n.node_key, part -> 'claims', at);
    END IF;
    IF part ? 'takes' THEN PERFORM move_claims(part -> 'takes', m.movement_id, n.node_key); END IF;
    IF part ? 'version' THEN PERFORM store_version(part -> 'version', at); END IF;
    IF part ? 'reorged' THEN UPDATE evm_transactions SET reorged_at = at
      WHERE transaction_id = (part ->> 'reorged')::uuid; END IF;
    IF part ? 'settles' THEN UPDATE evm_transactions SET final_at = at,
        mined_hash = part -> 'settles' ->> 'mined_hash'
      WHERE transaction_id = (part -> 'settles' ->> 'transaction_id')::uuid; END IF;
  END LOOP;

  fields := coalesce(doc -> 'set', '{}'::jsonb);
  IF fields = '{}'::jsonb AND NOT doc ?| ARRAY['conditions', 'bump'] THEN
    seq := append_timeline(m.movement_id, m.next_sequence, m.callback_url, m.request_state,
      m.current_frontier, m.error_code,
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
    seq := append_timeline(m.movement_id, m.next_sequence, m.callback_url, m.request_state,
      m.current_frontier, m.error_code,
      doc -> 'timeline', doc -> 'callback_types', at);
    UPDATE movements SET
      request_state = m.request_state, approval_status = m.approval_status,
        reservation_status = m.reservation_status,
      version = m.version, next_sequence = seq, current_frontier = m.current_frontier,
        error_code = m.error_code,
      error_message = CASE WHEN fields ? 'error_message' THEN fields ->> 'error_message'
        ELSE error_message END,
      approver_id = coalesce(fields ->> 'approver_id', approver_id),
      approved_by = CASE WHEN fields ? 'approved_by' THEN fields ->> 'approved_by'
        ELSE approved_by END,
      ended_at = CASE WHEN fields ? 'ended_at' THEN svc_time(fields -> 'ended_at', at)
        ELSE ended_at END,
      -- A movement that runs again and fails again needs a person again.
      acknowledged_at = CASE WHEN fields ? 'acknowledged_at'
        THEN svc_time(fields -> 'acknowledged_at', at)
        WHEN m.request_state = 'FAILED' THEN acknowledged_at END,
      -- Once a late landing is dealt with, the next one is called back, too.
      attention_told = CASE WHEN seen THEN nullif(array_to_string(array_remove(
        string_to_array(attention_told, '+'), 'landed_late'), '+'), '') ELSE attention_told END,
      edge_conditions = CASE WHEN doc ? 'conditions'
        THEN jsonb_strip_nulls(edge_conditions || (doc -> 'conditions')) ELSE edge_conditions END,
      updated_at = at
    WHERE movement_id = m.movement_id;
    settles := settles OR fields ?| ARRAY['request_state', 'approval_status'];
  END IF;
  IF settles AND doc ->> 'command_kind' = 'retry' THEN
    PERFORM follow_signers(m.movement_id, doc -> 'take', '{"type": "system"}'::jsonb, at);
  END IF;
  -- Holds and the use of a budget follow from the present states of movement and nodes.
  IF settles AND (m.pooled OR m.budgeted) THEN
    SELECT * INTO after FROM movements WHERE movement_id = m.movement_id;
    IF m.pooled THEN PERFORM settle_holds(after, doc -> 'take', at); END IF;
    IF m.pooled AND completed <> '{}' THEN
      PERFORM note_sent(m.movement_id, completed, at);
    END IF;
    IF m.budgeted AND after.approval_status = 'approved'
      THEN PERFORM settle_budget(after, doc ? 'take', at); END IF;
  END IF;
  IF doc ? 'command_id' THEN
    INSERT INTO commands (command_id, movement_id, kind, created_at, claimed_until)
    VALUES ((doc ->> 'command_id')::uuid, m.movement_id, doc ->> 'command_kind', at,
      at + interval '2 seconds');
  END IF;
  IF jsonb_array_length(doc -> 'audit') > 0 THEN PERFORM write_audit(doc -> 'audit', at); END IF;
  RETURN jsonb_build_object('ok', true, 'at', at, 'version', m.version,
    'request_state', m.request_state,
    'approval_status', m.approval_status, 'reservation_status', m.reservation_status,
      'current_frontier', to_jsonb(m.current_frontier),
    'expires_at', m.expires_at, 'transaction',
    CASE WHEN tx.transaction_id IS NOT NULL
      THEN jsonb_build_object('transaction_id', tx.transaction_id, 'chain_id', tx.chain_id,
      'from', tx.address, 'nonce', tx.nonce, 'unsigned', tx.unsigned, 'raw_tx', tx.raw_tx,
        'tx_hash', tx.tx_hash) END);
END $$;

-- Stores a movement with its plan, nodes, timeline, audit and command; see store/movements.ts for
-- the shape of `doc`. If the idempotency key or the reference is used, returns the movement that
-- used it and writes nothing. Runs with the owner's rights: the service's role may not insert these
-- rows itself.
CREATE OR REPLACE FUNCTION create_movement(doc jsonb) RETURNS jsonb LANGUAGE plpgsql
  SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  d jsonb := doc -> 'movement';
  compiled jsonb := doc -> 'compiled_plan';
  params jsonb := compiled -> 'input_params';
  id uuid := (d ->> 'movement_id')::uuid;
  agent_of text := substring(d ->> 'template_key' FROM '^agent/([^/]+)/');
  mode text := cutover_now();
  at timestamptz := svc_now();
  -- Read from the plan's edges: targets of cancel edges, and nodes with conditions on their
  -- outgoing edges.
  cancels text[] := ARRAY(SELECT e ->> 'to' FROM jsonb_array_elements(compiled -> 'edges') e
    WHERE e ->> 'edge_type' = 'on_cancel');
  conditions text[] := ARRAY(SELECT e ->> 'from' FROM jsonb_array_elements(compiled -> 'edges') e
    WHERE nullif(e -> 'condition_expr', 'null') IS NOT NULL);
  expires timestamptz := at
    + make_interval(secs => (d ->> 'approval_ttl_seconds')::double precision);
  pairs jsonb := coalesce(d -> 'metadata', '{}');
  used jsonb;
  whole boolean;
  retired boolean;
BEGIN
  -- Fields that are stored in the plan and again in the movement must be equal: the hash covers
  -- only the plan.
  IF (d ->> 'template_id', d ->> 'template_key', d ->> 'template_version', d ->> 'asset',
      (d ->> 'amount')::numeric, d -> 'outflow') IS DISTINCT FROM
    (compiled -> 'template' ->> 'template_id', compiled -> 'template' ->> 'template_key',
      compiled -> 'template' ->> 'version', compiled -> 'intent' ->> 'asset',
      (compiled -> 'intent' ->> 'amount')::numeric, compiled -> 'outflow') THEN
    RAISE EXCEPTION 'movement % contradicts its plan: template, asset, amount or outflow differs',
      id;
  END IF;
  -- Reads and locks the present status of the template version until the movement is written, since
  -- a process may remember an older status. Comes before the insert, whose foreign key would lock
  -- the version again.
  SELECT v.status = 'retired' INTO retired FROM plan_template_versions v
    WHERE v.template_id = (d ->> 'template_id')::uuid FOR SHARE;
  -- The number of timeline rows of a create is known, so the counter is set at once.
  INSERT INTO movements (movement_id, template_id, template_key, template_version, strategy_id,
    request_state, approval_status, reservation_status, next_sequence, asset, amount, intent,
    current_frontier, auto_approve_result, callback_url, client_scope, idempotency_key, expires_at,
    created_at, updated_at, outflow, limit_amount, pooled, agent, external_reference,
    unique_reference, metadata)
  VALUES (id, (d ->> 'template_id')::uuid, d ->> 'template_key',
    (d ->> 'template_version')::integer, d ->> 'strategy_id', 'PENDING_APPROVAL', 'pending', 'none',
    1 + jsonb_array_length(doc -> 'timeline'), d ->> 'asset', (d ->> 'amount')::numeric,
    compiled -> 'intent', ARRAY(SELECT jsonb_array_elements_text(d -> 'current_frontier')),
    nullif(d -> 'auto_approve_result', 'null'), d ->> 'callback_url', d ->> 'client_scope',
    d ->> 'idempotency_key', expires, at, at, d -> 'outflow', (d ->> 'limit_amount')::numeric,
    (d ->> 'pooled')::boolean, agent_of, d ->> 'external_reference',
    coalesce((d ->> 'unique_reference')::boolean, false), pairs)
  ON CONFLICT DO NOTHING;
  -- The idempotency key or the reference is used. A repeat of the same key is answered before a
  -- used reference is refused.
  IF NOT FOUND THEN
    SELECT jsonb_build_object('created', false, 'movement_id', m.movement_id,
        'request', joined_request(p.own_request, p.input_params, p.labels)) INTO used
      FROM movements m JOIN movement_plans p USING (movement_id)
      WHERE m.client_scope = d ->> 'client_scope'
        AND m.idempotency_key = d ->> 'idempotency_key';
    IF used IS NULL THEN
      SELECT jsonb_build_object('created', false, 'movement_id', m.movement_id,
          'holder', m.template_key) INTO STRICT used
        FROM movements m
        WHERE m.unique_reference AND m.client_scope = d ->> 'client_scope'
          AND m.external_reference = d ->> 'external_reference';
    END IF;
    RETURN used;
  END IF;
  -- A repeat was answered above, in every cutover mode; only a new movement is refused.
  IF mode <> 'normal' THEN
    RAISE EXCEPTION 'cutover_mode_active' USING ERRCODE = 'FM013', DETAIL = mode;
  END IF;
  IF retired THEN
    RAISE EXCEPTION 'template_version_retired' USING ERRCODE = 'FM019',
      DETAIL = jsonb_build_object('template_key', d ->> 'template_key', 'template_version',
        (d ->> 'template_version')::integer, 'latest_active_version',
        latest_active_version(d ->> 'template_key'))::text;
  END IF;
  -- The count includes the new movement; creates of one authority wait for each other.
  IF d ->> 'most_open' IS NOT NULL AND agent_of IS NOT NULL THEN
    PERFORM lock_authority(agent_of);
    IF (d ->> 'most_open')::integer < open_movements_of(agent_of) THEN
      RAISE EXCEPTION 'open_movements_exceeded' USING ERRCODE = 'FM016', DETAIL = agent_of;
    END IF;
  END IF;
  IF pairs <> '{}' THEN
    INSERT INTO movement_metadata (key, value, created_at, movement_id)
      SELECT key, value, at, id FROM jsonb_each_text(pairs);
  END IF;
  WITH plan AS (
    INSERT INTO movement_plans (movement_id, compiled_plan_hash, plan_frame, plan_head,
      input_params, draw_terms, labels, own_request, created_by, payees, trace_parent)
    VALUES (id, d ->> 'compiled_plan_hash', plan_frame(compiled), plan_head(compiled), params,
      d -> 'draw_terms', d -> 'labels', own_request(d -> 'request', params, d -> 'labels'),
      d -> 'created_by', nullif(d -> 'payees', 'null'), d ->> 'trace_parent')
    RETURNING plan_frame, input_params
  ), nodes AS (
    INSERT INTO movement_nodes (movement_id, node_key, position, node_kind, action_type, state,
      executor_binding, signer_binding, own_plan, on_cancel_target, brings,
      conditional, usual_seconds, flow, pays, claims_when, sent_field, tied_by, may_send, updated_at)
    SELECT id, n.value ->> 'node_key', n.nr - 1, n.value ->> 'node_kind',
      n.value ->> 'action_type', 'BLOCKED', nullif(n.value -> 'executor_binding', 'null'),
      nullif(n.value -> 'signer_binding', 'null'), own_plan(n.value, params),
      n.value ->> 'node_key' = ANY (cancels), f ->> 'brings',
      n.value ->> 'node_key' = ANY (conditions),
      (f ->> 'usual_seconds')::double precision, f -> 'flow', f ->> 'pays', f ->> 'claims_when',
      f ->> 'sent_field', f ->> 'tied_by', (f ->> 'may_send')::boolean
        AND n.value ->> 'node_kind' NOT IN ('observe', 'manual_gate'), at
    FROM jsonb_array_elements(compiled -> 'nodes') WITH ORDINALITY AS n (value, nr)
    CROSS JOIN LATERAL (SELECT doc -> 'nodes' -> (n.nr - 1)::integer OFFSET 0) AS x (f)
    RETURNING position, own_plan
  ), events AS (
    INSERT INTO timeline_events (event_id, movement_id, sequence, event_type, node_key, attempt,
      from_state, to_state, actor, message, data, occurred_at)
    SELECT (e.value ->> 'event_id')::uuid, id, e.nr, e.value ->> 'event_type',
      e.value ->> 'node_key', (e.value ->> 'attempt')::integer, e.value ->> 'from_state',
      e.value ->> 'to_state', e.value -> 'actor', e.value ->> 'message',
      coalesce(e.value -> 'data', '{}'), at
    FROM jsonb_array_elements(doc -> 'timeline') WITH ORDINALITY AS e (value, nr)
  ), command AS (
    INSERT INTO commands (command_id, movement_id, kind, created_at, claimed_until)
    VALUES ((doc ->> 'command_id')::uuid, id, 'create', at, at + interval '2 seconds')
  ), audit AS (
    -- As write_audit writes them, without a call of its own.
    INSERT INTO audit_events (event_id, occurred_at, actor_client_id, actor_key_id, actor_role,
      namespace, action, entity_type, entity_key, outcome, request_id, reason, details, mac)
    SELECT event_id, at, actor_client_id, actor_key_id, actor_role, namespace, action, entity_type,
      entity_key, outcome, request_id, reason, coalesce(details, '{}'), decode(mac, 'hex')
    FROM jsonb_to_recordset(coalesce(doc -> 'audit', '[]')) AS e (event_id uuid,
      actor_client_id text, actor_key_id text, actor_role text, namespace text, action text,
      entity_type text, entity_key text, outcome text, request_id text, reason text, details jsonb,
      mac text)
  )
  SELECT joined_plan(p.plan_frame, compiled -> 'intent', p.input_params, (
      SELECT jsonb_agg(node_plan(n.own_plan, p.input_params) ORDER BY n.position) FROM nodes n))
    IS NOT DISTINCT FROM compiled INTO whole FROM plan p;
  IF NOT whole THEN
    RAISE EXCEPTION 'the plan of movement % cannot be stored: it would be read back as another one', id;
  END IF;
  IF (doc ->> 'signed')::boolean THEN PERFORM follow_at_create(id); END IF;
  PERFORM keep_rules_of(id, at);
  PERFORM refuse_outlived(doc -> 'audit');
  RETURN jsonb_build_object('created', true, 'movement_id', id, 'created_at', at,
    'expires_at', expires);
END $$;

REVOKE ALL ON FUNCTION create_movement(jsonb) FROM PUBLIC;

-- Returns a movement as its run reads it, with graph and states; null for an unknown movement.
CREATE OR REPLACE FUNCTION movement_view(movement uuid, at timestamptz) RETURNS jsonb
  LANGUAGE sql VOLATILE AS $$
  SELECT jsonb_build_object(
    'movement_id', m.movement_id, 'state', m.request_state, 'version', m.version,
      'template_key', m.template_key,
    'template_version', m.template_version, 'strategy_id', m.strategy_id, 'asset', m.asset,
      'ended', m.ended_at IS NOT NULL,
    'error_code', m.error_code, 'frontier', to_jsonb(m.current_frontier),
      'ttl_ms', greatest(0, ceil(extract(epoch FROM m.expires_at - at) * 1000)),
    'edges', p.plan_frame -> 'edges', 'conditions', m.edge_conditions,
      'reservation_status', m.reservation_status,
    'nodes', (SELECT jsonb_agg(jsonb_build_object(
        'node_key', n.node_key, 'node_kind', n.node_kind, 'state', n.state, 'attempt', n.attempt,
          'resumed', n.resumed,
        'ended_by_stop', fires_no_edge(n),
        'recover_first', n.recover_first, 'error_code', n.error_code,
          'executor_key', n.executor_binding ->> 'executor_key',
        'signs', n.signer_binding IS NOT NULL, 'brings', n.brings,
        'settled_order', coalesce(extract(epoch FROM n.completed_at) * 1000, 0))
          ORDER BY n.position)
      FROM movement_nodes n WHERE n.movement_id = m.movement_id))
  FROM movements m JOIN movement_plans p USING (movement_id) WHERE m.movement_id = movement
$$;

-- Returns the view and marks the movement's commands as read, which are not signalled again: the load
-- returns their wake. The answer may reach no run (its worker died, or another one had taken the run
-- over), so the sweeper wakes the movement once more if it stands still after that.
CREATE OR REPLACE FUNCTION load_movement(movement uuid, run text) RETURNS jsonb LANGUAGE plpgsql
  AS $$
DECLARE
  at timestamptz := svc_now();
  woken boolean; -- null: no command was read
BEGIN
  WITH applied AS (
    UPDATE commands SET applied_at = at WHERE movement_id = movement AND applied_at IS NULL
    RETURNING kind)
  SELECT bool_or(kind = 'wake') INTO woken FROM applied;
  UPDATE movements SET run_id = run, swept_at = CASE WHEN woken IS NULL THEN swept_at END
  WHERE movement_id = movement AND (woken IS NOT NULL OR run_id IS DISTINCT FROM run);
  RETURN movement_view(movement, at) || CASE WHEN woken THEN '{"woken": true}' ELSE '{}' END::jsonb;
END $$;
