-- Written by `npm run sql:migration` from prisma/functions/; not by hand.
SELECT set_config('check_function_bodies', 'off', true);
-- What functions with the owner's rights read and write is never a caller's temporary table.
SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true);

-- prisma/functions/console-events.sql

-- What open consoles are to read again; see docs/decisions/0114-the-stream.md. With the owner's
-- rights: the service's role may write no event and remove none by itself.
CREATE OR REPLACE FUNCTION note_for_consoles() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path FROM CURRENT AS $$
BEGIN
  -- Anybody may put a trigger on a temporary table of their own.
  IF TG_TABLE_SCHEMA <> current_schema() THEN
    RAISE EXCEPTION 'events are written by changes of our tables alone'
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  CASE TG_ARGV[0]
    WHEN 'movement' THEN
      INSERT INTO console_events (kind, subject) VALUES ('movement', NEW.movement_id);
    WHEN 'capital_transfer' THEN
      INSERT INTO console_events (kind, subject) VALUES ('capital_transfer', NEW.transfer_id);
    WHEN 'callback' THEN
      INSERT INTO console_events (kind, subject) VALUES ('callback', NEW.event_id);
    WHEN 'proposal' THEN
      INSERT INTO console_events (kind, subject) VALUES ('proposal', NEW.proposal_id);
    WHEN 'cutover' THEN INSERT INTO console_events (kind, subject) VALUES ('cutover', 'cutover');
    -- One for each venue that a statement has changed something of; a fetch that finds the same
    -- again is none.
    WHEN 'new_balances' THEN INSERT INTO console_events (kind, subject)
      SELECT DISTINCT 'balance', venue_key FROM made;
    WHEN 'balances' THEN INSERT INTO console_events (kind, subject)
      SELECT DISTINCT 'balance', n.venue_key
      FROM changed n JOIN former o USING (venue_key, account_type, asset)
      WHERE (n.available, n.withdrawable, n.total)
        IS DISTINCT FROM (o.available, o.withdrawable, o.total);
  END CASE;
  RETURN NULL;
END $$;

REVOKE ALL ON FUNCTION note_for_consoles() FROM PUBLIC;

-- What a console is shown of what an event is about, as it is now: read with the event, and not
-- written with it, since transactions that change one row may be numbered in another order. No
-- amounts and no addresses: it says that something is to be read again.
CREATE OR REPLACE FUNCTION console_event_of(kind text, subject text) RETURNS jsonb
  LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN CASE kind
    WHEN 'movement' THEN (SELECT jsonb_build_object('movement_id', m.movement_id,
        'version', m.version, 'state', m.request_state,
        'attention_reason', attention_of(m, svc_now()) -> 'reason')
      FROM movements m WHERE m.movement_id = subject::uuid)
    WHEN 'capital_transfer' THEN (SELECT jsonb_build_object('transfer_id', t.transfer_id,
        'version', t.version, 'state', t.request_state)
      FROM capital_transfers t WHERE t.transfer_id = subject::uuid)
    WHEN 'callback' THEN (SELECT jsonb_build_object('event_id', c.event_id, 'state', c.status)
      FROM callbacks c WHERE c.event_id = subject::uuid)
    WHEN 'proposal' THEN (SELECT jsonb_build_object('proposal_id', p.proposal_id,
        'state', p.status)
      FROM template_proposals p WHERE p.proposal_id = subject::uuid)
    WHEN 'cutover' THEN (SELECT jsonb_build_object('mode', c.mode) FROM cutover c)
    WHEN 'balance' THEN jsonb_build_object('venue_key', subject)
    END;
END $$;

-- Changes where transactions may be missing that somebody has seen, or number anew: a server that
-- was started again, another server, a database or table that was made anew. What is put back from
-- a backup, and a standby that takes over, is one of these.
CREATE OR REPLACE FUNCTION console_epoch() RETURNS text LANGUAGE sql STABLE AS $$
  SELECT left(md5(concat_ws('/', extract(epoch FROM pg_postmaster_start_time()),
    (SELECT oid FROM pg_database WHERE datname = current_database()),
    'console_events'::regclass::oid)), 12)
$$;

-- Removes up to `most` of the oldest events that are older than so many seconds; answers how many.
-- Those of a transaction that is not begun yet came with a dump from another server.
CREATE OR REPLACE FUNCTION remove_console_events(keep_seconds integer, most integer)
  RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  until timestamptz := svc_now() - make_interval(secs => keep_seconds);
  removed integer;
BEGIN
  WITH oldest AS (
    SELECT xid, id, at FROM console_events ORDER BY xid, id LIMIT most
  ), gone AS (
    DELETE FROM console_events e USING oldest o
    WHERE e.xid = o.xid AND e.id = o.id AND o.at < until RETURNING e.xid, e.id
  ), noted AS (
    UPDATE console_events_removed r SET epoch = console_epoch(), xid = g.xid, id = g.id
    FROM (SELECT xid, id FROM gone ORDER BY xid DESC, id DESC LIMIT 1) g
    WHERE r.epoch <> console_epoch() OR (r.xid, r.id) < (g.xid, g.id)
  )
  SELECT count(*) INTO removed FROM gone;
  DELETE FROM console_events WHERE xid >= pg_snapshot_xmax(pg_current_snapshot());
  RETURN removed;
END $$;

REVOKE ALL ON FUNCTION remove_console_events(integer, integer) FROM PUBLIC;

-- prisma/functions/dashboard-keys.sql

-- Makes the row that an operator's browser fills, and ends what it replaces: the key that counts
-- and the operator's sessions. A link that nobody used in time was never a key. Answers
-- {"ok": true, "row": ...}, or {"ok": false, "state": ...} of the key that is in its way, with nothing
-- written.
CREATE OR REPLACE FUNCTION enrol_dashboard_operator(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  k dashboard_keys;
  before dashboard_keys;
  at timestamptz := svc_now();
  replaced boolean := (doc ->> 'replace')::boolean;
  sessions integer := 0;
BEGIN
  UPDATE dashboard_keys SET state = 'ended', ended_at = at
    WHERE operator = doc ->> 'operator' AND state <> 'ended'
      AND (replaced OR secret IS NULL AND code_until <= at)
    RETURNING * INTO before;
  INSERT INTO dashboard_keys (key_id, operator, role, allowlist, replaces, state, code_hash,
    code_until, created_at, created_by)
  VALUES ((doc ->> 'key_id')::uuid, doc ->> 'operator', doc ->> 'role',
    (doc ->> 'allowlist')::boolean, replaced, 'pending', decode(doc ->> 'code_hash', 'hex'),
    at + make_interval(secs => (doc ->> 'code_seconds')::double precision), at, session_user)
  ON CONFLICT (operator) WHERE state <> 'ended' DO NOTHING RETURNING * INTO k;
  IF NOT FOUND THEN
    IF before.key_id IS NOT NULL THEN
      RAISE EXCEPTION 'the operator is enrolled by somebody else at the same time'
        USING ERRCODE = 'serialization_failure';
    END IF;
    RETURN jsonb_build_object('ok', false, 'state', (SELECT state FROM dashboard_keys
      WHERE operator = doc ->> 'operator' AND state <> 'ended'));
  END IF;
  IF replaced THEN sessions := end_sessions_of(k.operator, at); END IF;
  PERFORM write_audit(with_details(doc -> 'audit', jsonb_build_object('operator', k.operator,
    'role', k.role, 'allowlist', k.allowlist, 'replaced_key_id', before.key_id,
    'ended_sessions', sessions)), at);
  RETURN jsonb_build_object('ok', true, 'row', to_jsonb(k) - 'secret' - 'code_hash');
END $$;

-- Ends the open sessions of an operator, of all without one; answers how many.
CREATE OR REPLACE FUNCTION end_sessions_of(who text, at timestamptz) RETURNS integer
  LANGUAGE plpgsql AS $$
DECLARE
  ended integer;
BEGIN
  UPDATE dashboard_sessions SET ended_at = at
    WHERE ended_at IS NULL AND (who IS NULL OR operator = who);
  GET DIAGNOSTICS ended = ROW_COUNT;
  RETURN ended;
END $$;

-- Stores what a browser hands over, once, in time and for a row that is still open; null where it
-- is none. The service's role has the right to these two columns and to no other.
CREATE OR REPLACE FUNCTION fill_dashboard_key(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  k dashboard_keys;
  at timestamptz := svc_now();
BEGIN
  UPDATE dashboard_keys SET secret = decode(doc ->> 'secret', 'hex'), filled_at = at
    WHERE key_id = (doc ->> 'key_id')::uuid AND state = 'pending' AND secret IS NULL
      AND code_until > at
    RETURNING * INTO k;
  IF NOT FOUND THEN RETURN NULL; END IF;
  PERFORM write_audit(with_details(doc -> 'audit', jsonb_build_object('operator', k.operator)), at);
  RETURN to_jsonb(k) - 'secret' - 'code_hash';
END $$;

-- Lets a key count whose secret is the one that the caller has read; null where it is another one,
-- or the key does not wait any more.
CREATE OR REPLACE FUNCTION confirm_dashboard_key(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  k dashboard_keys;
  at timestamptz := svc_now();
BEGIN
  UPDATE dashboard_keys SET state = 'confirmed', confirmed_at = at
    WHERE key_id = (doc ->> 'key_id')::uuid AND state = 'pending'
      AND secret = decode(doc ->> 'secret', 'hex')
    RETURNING * INTO k;
  IF NOT FOUND THEN RETURN NULL; END IF;
  PERFORM write_audit(with_details(doc -> 'audit', jsonb_build_object('operator', k.operator,
    'role', k.role, 'allowlist', k.allowlist)), at);
  RETURN to_jsonb(k) - 'secret' - 'code_hash';
END $$;

-- Ends an operator's key, or the link for one, with all sessions; null where there is none.
CREATE OR REPLACE FUNCTION end_dashboard_key(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  k dashboard_keys;
  at timestamptz := svc_now();
  sessions integer;
BEGIN
  UPDATE dashboard_keys SET state = 'ended', ended_at = at
    WHERE key_id = (doc ->> 'key_id')::uuid AND state <> 'ended' RETURNING * INTO k;
  IF NOT FOUND THEN RETURN NULL; END IF;
  sessions := end_sessions_of(k.operator, at);
  PERFORM write_audit(with_details(doc -> 'audit', jsonb_build_object('operator', k.operator,
    'ended_sessions', sessions)), at);
  RETURN (to_jsonb(k) - 'secret' - 'code_hash') || jsonb_build_object('ended_sessions', sessions);
END $$;

-- Ends the open sessions of an operator, of all without one; answers how many.
CREATE OR REPLACE FUNCTION end_dashboard_sessions(doc jsonb) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  at timestamptz := svc_now();
  ended integer := end_sessions_of(doc ->> 'operator', at);
BEGIN
  PERFORM write_audit(with_details(doc -> 'audit', jsonb_build_object('ended_sessions', ended)), at);
  RETURN ended;
END $$;

-- Writes a session, its row of the audit with it.
CREATE OR REPLACE FUNCTION open_dashboard_session(doc jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  at timestamptz := svc_now();
BEGIN
  INSERT INTO dashboard_sessions (session_id, token_hash, operator, key_mark, created_at,
    last_used_at)
  VALUES ((doc ->> 'session_id')::uuid, decode(doc ->> 'token_hash', 'hex'), doc ->> 'operator',
    doc ->> 'key_mark', at, at);
  PERFORM write_audit(doc -> 'audit', at);
END $$;

-- Ends one session; false where it is over already.
CREATE OR REPLACE FUNCTION close_dashboard_session(doc jsonb) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  at timestamptz := svc_now();
BEGIN
  UPDATE dashboard_sessions SET ended_at = at
    WHERE session_id = (doc ->> 'session_id')::uuid AND ended_at IS NULL;
  IF NOT FOUND THEN RETURN false; END IF;
  PERFORM write_audit(doc -> 'audit', at);
  RETURN true;
END $$;

-- prisma/functions/write-path.sql

-- Stores a movement with its plan, nodes, timeline, audit and command; see store/movements.ts for
-- the shape of `doc`. A key that was used before is answered with who used it, and nothing is written.
-- With the owner's rights: the service's role may insert none of these rows by itself.
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
  -- Where cancels lead, and what has conditions: as the edges of the plan say it.
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
  -- What stands beside the plan and in it: its hash is of the plan alone.
  IF (d ->> 'template_id', d ->> 'template_key', d ->> 'template_version', d ->> 'asset',
      (d ->> 'amount')::numeric, d -> 'outflow') IS DISTINCT FROM
    (compiled -> 'template' ->> 'template_id', compiled -> 'template' ->> 'template_key',
      compiled -> 'template' ->> 'version', compiled -> 'intent' ->> 'asset',
      (compiled -> 'intent' ->> 'amount')::numeric, compiled -> 'outflow') THEN
    RAISE EXCEPTION 'movement % contradicts its plan', id;
  END IF;
  -- Whatever a process remembers of the version: this is what it is now, until the movement is
  -- there. Before the row, whose foreign key would lock the version once more.
  SELECT v.status = 'retired' INTO retired FROM plan_template_versions v
    WHERE v.template_id = (d ->> 'template_id')::uuid FOR SHARE;
  -- What a create writes of the timeline is known before: the counter is right from the start.
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
  -- A key or a reference that was used: a repeat is answered before a reference is refused.
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
  -- A repeat is answered whatever the switch says; what is new is not let in.
  IF mode <> 'normal' THEN
    RAISE EXCEPTION 'cutover_mode_active' USING ERRCODE = 'FM013', DETAIL = mode;
  END IF;
  IF retired THEN
    RAISE EXCEPTION 'template_version_retired' USING ERRCODE = 'FM019',
      DETAIL = jsonb_build_object('template_key', d ->> 'template_key', 'template_version',
        (d ->> 'template_version')::integer, 'latest_active_version',
        latest_active_version(d ->> 'template_key'))::text;
  END IF;
  -- The row above is among those that are counted, and one authority's creates wait for each other.
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
      input_params, draw_terms, labels, own_request, created_by)
    VALUES (id, d ->> 'compiled_plan_hash', plan_frame(compiled), plan_head(compiled), params,
      d -> 'draw_terms', d -> 'labels', own_request(d -> 'request', params, d -> 'labels'),
      d -> 'created_by')
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
  )
  SELECT joined_plan(p.plan_frame, compiled -> 'intent', p.input_params, (
      SELECT jsonb_agg(node_plan(n.own_plan, p.input_params) ORDER BY n.position) FROM nodes n))
    IS NOT DISTINCT FROM compiled INTO whole FROM plan p;
  IF NOT whole THEN
    RAISE EXCEPTION 'the plan of movement % cannot be stored: it would be read back as another one', id;
  END IF;
  IF (doc ->> 'signed')::boolean THEN PERFORM follow_at_create(id); END IF;
  PERFORM write_audit(doc -> 'audit', at);
  RETURN jsonb_build_object('created', true, 'movement_id', id, 'created_at', at,
    'expires_at', expires);
END $$;

REVOKE ALL ON FUNCTION create_movement(jsonb) FROM PUBLIC;
