-- Changes that let more money go, or to more places, wait for the people whom a rule of their kind
-- names. Triggers on the tables notice such a change at the end of its transaction, whoever makes
-- it, and let it pass only if a change request is decided for exactly this row.

-- Returns a row as people read it and as it is compared: numbers as text, since JSON numbers lose
-- digits, and without what differs at each try.
CREATE OR REPLACE FUNCTION change_row(row_value jsonb, leave_out text[]) RETURNS jsonb
  LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(jsonb_object_agg(key, CASE jsonb_typeof(value)
    WHEN 'number' THEN to_jsonb(value #>> '{}') ELSE value END), '{}')
  FROM jsonb_each(row_value - leave_out)
$$;

-- Returns whether a rule for capital transfers holds for one: all conditions that it names match.
CREATE OR REPLACE FUNCTION transfer_rule_matches(rule jsonb, transfer jsonb) RETURNS boolean
  LANGUAGE sql IMMUTABLE AS $$
  SELECT (NOT w ? 'venues' OR w -> 'venues' ? (transfer ->> 'source_venue')
      OR w -> 'venues' ? (transfer ->> 'destination_venue'))
    AND (NOT w ? 'assets' OR w -> 'assets' ? (transfer ->> 'asset'))
    AND (NOT w ? 'amount_above' OR EXISTS (
      SELECT FROM jsonb_array_elements(w -> 'amount_above') e
      WHERE e.value ->> 'asset' IN ('*', transfer ->> 'asset')
        AND (transfer ->> 'amount')::numeric > (e.value ->> 'amount')::numeric))
  FROM (SELECT rule -> 'when' AS w) r
$$;

-- Returns the rules that hold for a change of these kinds now: [{"name", "rule"}]; NULL if none.
-- For an action on movements, those of the movements. `more`: rules that hold besides.
CREATE OR REPLACE FUNCTION rules_of_change(kinds text[], row_before jsonb, row_after jsonb,
  more jsonb, at timestamptz) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_agg(DISTINCT jsonb_build_object('name', x.name, 'rule', x.rule)) FROM (
    SELECT r.name, r.rule FROM approval_rules r WHERE r.rule ->> 'applies_to' = ANY (kinds)
      AND (r.rule ->> 'applies_to' <> 'capital_transfer'
        OR transfer_rule_matches(r.rule, row_after))
    UNION ALL
    SELECT r.name, r.rule FROM jsonb_array_elements(CASE WHEN 'movement_action' = ANY (kinds)
        THEN row_before -> 'movements' END) a
      JOIN movements m ON m.movement_id = (a.value ->> 'movement_id')::uuid
      CROSS JOIN LATERAL rules_of(m, at) r
    UNION ALL
    SELECT e.value ->> 'name', e.value -> 'rule' FROM jsonb_array_elements(more) e) x
$$;

-- Returns the rules that a change of people, groups and rules makes for such changes: it needs both,
-- the old and the new.
CREATE OR REPLACE FUNCTION new_rules_of_change(subject text, row_after jsonb) RETURNS jsonb
  LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(jsonb_agg(e.value), '[]')
  FROM jsonb_array_elements(CASE WHEN subject = 'approvers' THEN row_after -> 'rules' END) e
  WHERE e.value -> 'rule' ->> 'applies_to' = 'approval_rules'
$$;

-- Returns the standing of a change request; see standing_of.
CREATE OR REPLACE FUNCTION approvals_of_change(c change_requests, at timestamptz) RETURNS jsonb
  LANGUAGE sql STABLE AS $$
  SELECT standing_of(rules_of_change(c.kinds, c.row_before, c.row_after,
      c.rules || new_rules_of_change(c.subject, c.row_after), at),
    c.request_id, c.hash, at)
$$;

-- Returns whether a request can still be decided: it is open, and made less than seven days ago.
CREATE OR REPLACE FUNCTION change_is_open(c change_requests, at timestamptz) RETURNS boolean
  LANGUAGE sql IMMUTABLE AS $$
  SELECT c.state = 'open' AND c.created_at > at - interval '7 days'
$$;

-- Lets a change pass, and ends the request for it, or refuses it with FM023: nothing of its
-- transaction is written then. The detail says what a request for it must name.
CREATE OR REPLACE FUNCTION ask_change(kinds text[], subject text, row_before jsonb, row_after jsonb)
  RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  c change_requests;
BEGIN
  PERFORM hold_approval_rules();
  IF rules_of_change(kinds, row_before, row_after, '[]', svc_now()) IS NULL THEN
    -- What one person changes alone is recorded without a rule, too.
    UPDATE change_requests r SET state = 'applied', ended_at = svc_now(), standing = '[]'
    WHERE r.state = 'open' AND r.break_glass AND r.subject = ask_change.subject
      AND (r.row_before, r.row_after)
        IS NOT DISTINCT FROM (ask_change.row_before, ask_change.row_after);
    RETURN;
  END IF;
  FOR c IN SELECT * FROM change_requests r WHERE r.state = 'open' AND r.subject = ask_change.subject
    AND (r.row_before, r.row_after)
      IS NOT DISTINCT FROM (ask_change.row_before, ask_change.row_after)
    AND r.kinds @> ask_change.kinds ORDER BY r.created_at FOR UPDATE
  LOOP
    CONTINUE WHEN NOT change_is_open(c, svc_now());
    CONTINUE WHEN NOT c.break_glass AND NOT (quorum_of(approvals_of_change(c, svc_now()))
      -- The service could have stored approvals that verify nowhere; fundadmin looks first. These
      -- kinds only fundadmin writes, whoever the request says.
      AND (coalesce(c.author ->> 'client_id', '') NOT LIKE 'fundadmin:%'
          AND NOT c.kinds && '{keys,approval_rules}'
        OR coalesce(c.proven_until > svc_now(), false)
        OR NOT jsonb_path_exists(approvals_of_change(c, svc_now()),
          '$[*].rule ? (@.evidence == "passkey")')));
    UPDATE change_requests SET state = 'applied', ended_at = svc_now(),
      standing = approvals_of_change(c, svc_now())
    WHERE request_id = c.request_id;
    RETURN;
  END LOOP;
  RAISE EXCEPTION 'this change waits for approvals' USING ERRCODE = 'FM023', DETAIL =
    jsonb_build_object('kinds', kinds, 'subject', subject, 'before', row_before,
      'after', row_after)::text;
END $$;

-- Returns what a command on movements finds: state and plan of each, and its nodes that change.
-- `docs`: the transitions as apply_transition takes them.
CREATE OR REPLACE FUNCTION action_before(docs jsonb) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object('movements', jsonb_agg(jsonb_build_object(
      'movement_id', m.movement_id, 'state', m.request_state, 'plan_hash', p.compiled_plan_hash,
      'nodes', (SELECT jsonb_agg(jsonb_build_object('node_key', n.node_key, 'state', n.state,
          'attempt', n.attempt, 'action_type', n.action_type) ORDER BY n.node_key)
        FROM movement_nodes n WHERE n.movement_id = m.movement_id AND jsonb_path_exists(
          d.value, '$.nodes[*].node_key ? (@ == $key)', jsonb_build_object('key', n.node_key))))
      ORDER BY d.nr))
  FROM jsonb_array_elements(docs) WITH ORDINALITY AS d (value, nr)
  JOIN movements m ON m.movement_id = (d.value ->> 'movement_id')::uuid
  JOIN movement_plans p USING (movement_id)
$$;

-- Whether an edge on_manual_resume leaves a node that changes.
CREATE OR REPLACE FUNCTION is_followed_by_hand(docs jsonb) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM jsonb_array_elements(docs) d
    JOIN movement_plans p ON p.movement_id = (d.value ->> 'movement_id')::uuid,
    jsonb_array_elements(p.plan_frame -> 'edges') e
    WHERE e.value ->> 'edge_type' = 'on_manual_resume' AND jsonb_path_exists(d.value,
      '$.nodes[*].node_key ? (@ == $key)', jsonb_build_object('key', e.value ->> 'from')))
$$;

-- Lets a command on movements pass that leads them on, or refuses it; see ask_change. `row_before`:
-- see action_before. The caller has locked the movements. To look at an unknown outcome again moves
-- nothing, so one person may do it, unless something follows the node just because it was resumed.
CREATE OR REPLACE FUNCTION ask_action(docs jsonb, row_before jsonb) RETURNS void
  LANGUAGE plpgsql AS $$
DECLARE
  command text := docs -> 0 ->> 'command_kind';
BEGIN
  IF command IS NULL OR command NOT IN ('resume', 'retry', 'resolve')
    OR command = 'resume' AND jsonb_path_exists(docs, '$[*].nodes[*].set.only_look ? (@ == true)')
      AND NOT is_followed_by_hand(docs)
    OR NOT EXISTS (SELECT FROM jsonb_array_elements(docs) d
      WHERE may_need_quorum((d.value ->> 'movement_id')::uuid)) THEN RETURN; END IF;
  PERFORM hold_approval_windows();
  PERFORM ask_change(ARRAY['movement_action'], 'movements',
    coalesce(row_before, action_before(docs)),
    (SELECT jsonb_build_object('command', command, 'nodes', jsonb_agg(
        jsonb_build_object('node_key', n.value ->> 'node_key', 'set', n.value -> 'set')
        || change_row(n.value, ARRAY['node_key', 'set', 'states', 'attempt', 'epoch', 'artifacts',
          'was']) ORDER BY d.nr, n.value ->> 'node_key'))
      FROM jsonb_array_elements(docs) WITH ORDINALITY AS d (value, nr),
        jsonb_array_elements(d.value -> 'nodes') n));
END $$;

-- Whether the first limit is less than the second; NULL: no limit.
CREATE OR REPLACE FUNCTION is_raised(former numeric, present numeric) RETURNS boolean
  LANGUAGE sql IMMUTABLE AS $$
  SELECT former IS NOT NULL AND (present IS NULL OR present > former)
$$;

-- Whether a policy approves more than before.
CREATE OR REPLACE FUNCTION policy_widens(o auto_approve_policies, n auto_approve_policies)
  RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT n.is_active AND (NOT o.is_active
    OR (n.client_id, n.strategy_id) IS DISTINCT FROM (o.client_id, o.strategy_id)
    OR is_raised(o.max_amount_per_request, n.max_amount_per_request)
    OR is_raised(o.max_amount_per_window, n.max_amount_per_window)
    OR is_raised(o.max_count_per_window, n.max_count_per_window)
    OR o.window_hours > coalesce(n.window_hours, 0)
    OR NOT n.allowed_assets <@ o.allowed_assets
    OR EXISTS (SELECT FROM jsonb_array_elements(n.allowed_templates) t
      WHERE NOT EXISTS (SELECT FROM jsonb_array_elements(o.allowed_templates) s
        WHERE s.value ->> 'template_key' = t.value ->> 'template_key'
          AND coalesce(s.value ->> 'template_version', t.value ->> 'template_version', '')
            = coalesce(t.value ->> 'template_version', ''))))
$$;

-- How much a mode of the cutover switch stops.
CREATE OR REPLACE FUNCTION cutover_stops(mode text) RETURNS integer LANGUAGE sql IMMUTABLE AS $$
  SELECT array_position(ARRAY['normal', 'drain', 'frozen'], mode)
$$;

-- Whether this transaction wrote a row with this xmin. A larger xmin proves nothing: the numbers
-- begin anew after four billion, and rows keep theirs.
CREATE OR REPLACE FUNCTION is_own_write(writer xid) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT writer = pg_current_xact_id()::xid
$$;

-- The trigger of a row that widens. Arguments: the kind, and the columns that differ at each try.
CREATE OR REPLACE FUNCTION require_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path FROM CURRENT AS $$
DECLARE
  leave_out text[] := string_to_array(TG_ARGV[1] || ',created_at,updated_at', ',');
  kinds text[] := ARRAY[TG_ARGV[0]];
  row_before jsonb;
  row_after jsonb := change_row(to_jsonb(NEW), leave_out);
BEGIN
  -- Any role may put this trigger on a temporary table of its own.
  IF TG_TABLE_SCHEMA <> current_schema() THEN
    RAISE EXCEPTION 'only a change of a table of this schema is let pass'
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  -- What belongs to a row that the same transaction writes and asks for is seen with that row.
  IF TG_TABLE_NAME = 'template_proposals' THEN
    IF EXISTS (SELECT FROM plan_template_versions v
      WHERE v.template_id = NEW.template_id AND is_own_write(v.xmin)) THEN RETURN NULL; END IF;
  ELSIF TG_TABLE_NAME = 'agent_authorities' THEN
    IF EXISTS (SELECT FROM api_client_keys k
      WHERE k.authority_key = NEW.authority_key AND is_own_write(k.xmin)) THEN RETURN NULL; END IF;
  END IF;
  IF TG_OP = 'UPDATE' THEN row_before := change_row(to_jsonb(OLD), leave_out); END IF;
  IF TG_TABLE_NAME = 'plan_template_versions' THEN
    row_after := row_after || jsonb_build_object(
      'nodes', (SELECT jsonb_agg(to_jsonb(p) - ARRAY['id', 'template_id'] ORDER BY p.position)
        FROM plan_nodes p WHERE p.template_id = NEW.template_id),
      'edges', (SELECT jsonb_agg(to_jsonb(e) - ARRAY['id', 'template_id'] ORDER BY e.position)
        FROM plan_edges e WHERE e.template_id = NEW.template_id));
    -- A policy may name no version, or this one before it exists.
    IF EXISTS (SELECT FROM auto_approve_policies p, jsonb_array_elements(p.allowed_templates) t
      WHERE p.is_active AND t.value ->> 'template_key' = NEW.template_key
        AND coalesce((t.value ->> 'template_version')::integer, NEW.version) = NEW.version) THEN
      kinds := kinds || 'policies'::text;
    END IF;
    -- Of an agent's versions the next free number says nothing, and proposals wait together.
    IF NEW.template_key LIKE 'agent/%' THEN row_after := row_after - 'version'; END IF;
  ELSIF TG_TABLE_NAME = 'allowed_addresses' THEN
    row_after := row_after || jsonb_build_object(
      'cooling_seconds', extract(epoch FROM NEW.usable_after - NEW.updated_at)::bigint::text);
  ELSIF TG_TABLE_NAME = 'nonce_lanes' THEN
    -- How long it holds from now on, whatever the row says of when it was made.
    row_after := row_after - 'cap_raised_until' || jsonb_build_object(
      'cap_raise', NEW.cap_raise - ARRAY['raised_at', 'raised_by'],
      'ttl_seconds', extract(epoch FROM NEW.cap_raised_until
        - least((NEW.cap_raise ->> 'raised_at')::timestamptz, svc_now()))::bigint::text);
  ELSIF TG_TABLE_NAME = 'api_client_keys' THEN
    row_after := row_after || jsonb_build_object(
      'client_name', (SELECT c.client_name FROM api_clients c WHERE c.client_id = NEW.client_id),
      'authority', (SELECT change_row(to_jsonb(a), leave_out) FROM agent_authorities a
        WHERE a.authority_key = NEW.authority_key));
  END IF;
  PERFORM ask_change(kinds, TG_TABLE_NAME, row_before, row_after);
  RETURN NULL;
END $$;

REVOKE ALL ON FUNCTION require_change() FROM PUBLIC;

-- A request only ends, once; only the owner of the table changes something alone.
CREATE OR REPLACE FUNCTION guard_change_request() RETURNS trigger LANGUAGE plpgsql
  SET search_path FROM CURRENT AS $$
DECLARE
  own text[] := '{state,code,ended_at,ended_by,standing,performed_until,proven_until}';
  is_owner boolean := current_user = (
    SELECT pg_catalog.pg_get_userbyid(relowner) FROM pg_catalog.pg_class WHERE oid = TG_RELID);
BEGIN
  IF TG_OP <> 'DELETE' THEN
    IF NEW.state = 'open' AND NEW.standing IS NOT NULL THEN
      RAISE EXCEPTION 'an open request has no standing of its own'
        USING ERRCODE = 'insufficient_privilege';
    END IF;
  END IF;
  IF TG_OP = 'INSERT' THEN
    -- Its seven days must not begin later. The column has milliseconds.
    IF NEW.state <> 'open' OR NEW.created_at > svc_now() + interval '1 second' THEN
      RAISE EXCEPTION 'a change request is made open' USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF (NEW.break_glass OR NEW.proven_until IS NOT NULL) AND NOT is_owner THEN
      RAISE EXCEPTION 'only the owner of the database breaks the glass'
        USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
  END IF;
  IF TG_OP = 'DELETE' OR OLD.state <> 'open'
    OR NOT is_owner AND NEW.proven_until IS DISTINCT FROM OLD.proven_until
    OR to_jsonb(OLD) - own IS DISTINCT FROM to_jsonb(NEW) - own THEN
    RAISE EXCEPTION 'a change request only ends' USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER change_requests_only_end BEFORE INSERT OR UPDATE OR DELETE
  ON change_requests FOR EACH ROW EXECUTE FUNCTION guard_change_request();

CREATE OR REPLACE TRIGGER change_requests_for_consoles AFTER INSERT OR UPDATE ON change_requests
  FOR EACH ROW EXECUTE FUNCTION note_for_consoles('change_request');

-- Returns a request with its standing.
CREATE OR REPLACE FUNCTION change_view(c change_requests, at timestamptz) RETURNS jsonb
  LANGUAGE sql STABLE AS $$
  SELECT to_jsonb(c) - 'rules' || jsonb_build_object('expires_at', c.created_at + interval '7 days',
    'state', CASE WHEN c.state = 'open' AND NOT change_is_open(c, at) THEN 'expired'
      ELSE c.state END,
    'standing', CASE WHEN c.state = 'open' THEN approvals_of_change(c, at) ELSE c.standing END)
$$;

-- Makes a request for a change that was refused with FM023. The same call of the same author for
-- the same row gets the request that is open. {"ok": false}: no rule holds now.
CREATE OR REPLACE FUNCTION create_change(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  n change_requests := jsonb_populate_record(NULL::change_requests, doc -> 'request');
  c change_requests;
  at timestamptz;
BEGIN
  PERFORM hold_approval_rules();
  at := svc_now();
  n.rules := rules_of_change(n.kinds, n.row_before, n.row_after,
    new_rules_of_change(n.subject, n.row_after), at);
  IF n.rules IS NULL THEN
    -- What somebody changes alone is recorded in any case.
    IF NOT n.break_glass THEN RETURN jsonb_build_object('ok', false); END IF;
    n.rules := '[]';
  END IF;
  -- One author's repeats wait for each other.
  PERFORM pg_advisory_xact_lock(hashtextextended(
    'change_requests ' || coalesce(n.author ->> 'client_id', ''), 0));
  FOR c IN SELECT * FROM change_requests r WHERE r.state = 'open' AND r.subject = n.subject
    AND r.path = n.path ORDER BY r.created_at FOR UPDATE
  LOOP
    CONTINUE WHEN (c.author ->> 'client_id', c.person, c.method, c.body, c.idempotency_key,
        c.break_glass)
      IS DISTINCT FROM (n.author ->> 'client_id', n.person, n.method, n.body, n.idempotency_key,
        n.break_glass);
    IF change_is_open(c, at) AND (c.row_before, c.row_after, c.kinds)
      IS NOT DISTINCT FROM (n.row_before, n.row_after, n.kinds) THEN
      RETURN jsonb_build_object('ok', true, 'repeated', true, 'request', change_view(c, at));
    END IF;
    UPDATE change_requests SET state = CASE WHEN change_is_open(c, at) THEN 'outdated'
      ELSE 'expired' END, ended_at = at WHERE request_id = c.request_id;
  END LOOP;
  n.state := 'open';
  n.created_at := at;
  INSERT INTO change_requests SELECT n.* RETURNING * INTO c;
  PERFORM write_audit(doc -> 'audit', at);
  RETURN jsonb_build_object('ok', true, 'repeated', false, 'request', change_view(c, at));
END $$;

-- Returns whether the row that a request changes is still as it was. For movements the command
-- itself looks; a new row has none.
CREATE OR REPLACE FUNCTION change_is_current(c change_requests) RETURNS boolean
  LANGUAGE plpgsql STABLE AS $$
DECLARE
  found boolean := true;
BEGIN
  IF c.row_before IS NOT NULL AND c.subject NOT IN ('movements', 'approvers') THEN
    EXECUTE format($q$SELECT EXISTS (SELECT FROM %I t
      WHERE change_row(to_jsonb(t), '{}') @> $1)$q$, c.subject) INTO found USING c.row_before;
  END IF;
  -- The call first makes the row of a signer that no process has declared yet.
  IF c.subject = 'signers' AND NOT found THEN
    found := NOT EXISTS (SELECT FROM signers s WHERE s.signer_key = c.row_before ->> 'signer_key');
  END IF;
  RETURN found;
END $$;

-- Lets another approval make the call at once, since the one before has failed.
CREATE OR REPLACE FUNCTION release_change(request uuid) RETURNS void LANGUAGE sql AS $$
  UPDATE change_requests SET performed_until = NULL
  WHERE request_id = request AND state = 'open'
$$;

-- Records a person's approval of a change. `doc`: {"request_id", "hash", "identity",
-- "decision", "audit"}, the decision as record_decision takes it. Returns the request, with "performs" once enough
-- people approved and the caller is to make the call, and "outdated" if that call would not be this
-- change; {"ok": false, "reason", "why"?} if the approval is refused; NULL for an unknown id.
CREATE OR REPLACE FUNCTION decide_change(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  c change_requests;
  at timestamptz;
  before jsonb;
  after jsonb;
  performs boolean;
  who text := person_of(doc ->> 'identity');
  refusal jsonb;
BEGIN
  PERFORM hold_approval_rules();
  SELECT * INTO c FROM change_requests WHERE request_id = (doc ->> 'request_id')::uuid FOR UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  at := svc_now();
  IF c.hash <> doc ->> 'hash' THEN
    RETURN jsonb_build_object('ok', false, 'reason', 'change_hash_mismatch');
  END IF;
  IF NOT change_is_open(c, at) THEN
    RETURN jsonb_build_object('ok', false, 'reason', 'change_request_ended',
      'request', change_view(c, at));
  END IF;
  before := approvals_of_change(c, at);
  refusal := refusal_of_approval(before, who, doc -> 'decision');
  IF refusal IS NOT NULL THEN RETURN refusal; END IF;
  IF approval_is_new(before, who) THEN
    refusal := record_decision(doc -> 'decision', c.request_id, who, doc ->> 'identity', c.hash,
      at);
    IF refusal IS NOT NULL THEN RETURN refusal; END IF;
    PERFORM write_audit(doc -> 'audit', at);
  END IF;
  after := approvals_of_change(c, at);
  -- One of several last approvals makes the call; another may after a while, if that one died.
  performs := quorum_of(after) AND coalesce(c.performed_until <= at, true);
  IF performs THEN
    UPDATE change_requests SET performed_until = at + interval '1 minute'
    WHERE request_id = c.request_id;
  END IF;
  RETURN jsonb_build_object('ok', true, 'request', change_view(c, at), 'performs', performs,
    'outdated', rules_of_change(c.kinds, c.row_before, c.row_after, '[]', at) IS NULL
      OR NOT change_is_current(c));
END $$;

-- Withdraws a person's approval of an open request. `doc`: {"request_id", "hash", "identity",
-- "decision", "audit"}, the decision as record_withdrawal takes it. Returns the request; {"ok":
-- false, "reason"} if it has ended or the person has no approval there; NULL for an unknown id.
CREATE OR REPLACE FUNCTION withdraw_change_approval(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  c change_requests;
  at timestamptz;
  who text;
BEGIN
  PERFORM hold_approval_rules();
  SELECT * INTO c FROM change_requests WHERE request_id = (doc ->> 'request_id')::uuid FOR UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  at := svc_now();
  IF NOT change_is_open(c, at) THEN
    RETURN jsonb_build_object('ok', false, 'reason', 'change_request_ended',
      'request', change_view(c, at));
  END IF;
  who := person_of(doc ->> 'identity');
  IF c.hash <> doc ->> 'hash' OR NOT has_approved(c.request_id, who, c.hash) THEN
    RETURN jsonb_build_object('ok', false, 'reason', 'no_approval');
  END IF;
  PERFORM record_withdrawal(doc -> 'decision', c.request_id, who, doc ->> 'identity', c.hash);
  PERFORM write_audit(doc -> 'audit', at);
  RETURN jsonb_build_object('ok', true, 'request', change_view(c, svc_now()));
END $$;

-- Ends an open request. `doc`: {"request_id", "state", "code"?, "by", "only_author"?, "audit"}. A
-- repeat returns the request as it is. NULL for an unknown id.
CREATE OR REPLACE FUNCTION end_change(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  c change_requests;
  at timestamptz;
BEGIN
  SELECT * INTO c FROM change_requests WHERE request_id = (doc ->> 'request_id')::uuid FOR UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  at := svc_now();
  IF (doc ->> 'only_author')::boolean AND NOT is_author_of_change(c, doc ->> 'by') THEN
    RETURN jsonb_build_object('ok', false, 'reason', 'not_the_author');
  END IF;
  IF NOT change_is_open(c, at) THEN
    RETURN CASE WHEN c.state = doc ->> 'state'
      THEN jsonb_build_object('ok', true, 'request', change_view(c, at))
      ELSE jsonb_build_object('ok', false, 'reason', 'change_request_ended',
        'request', change_view(c, at)) END;
  END IF;
  UPDATE change_requests SET state = doc ->> 'state', code = doc ->> 'code', ended_at = at,
    ended_by = doc ->> 'by', standing = approvals_of_change(c, at)
  WHERE request_id = c.request_id RETURNING * INTO c;
  PERFORM write_audit(doc -> 'audit', at);
  RETURN jsonb_build_object('ok', true, 'request', change_view(c, at));
END $$;

-- Returns whether an identity, or another one of the same person, made the request.
CREATE OR REPLACE FUNCTION is_author_of_change(c change_requests, identity text) RETURNS boolean
  LANGUAGE sql STABLE AS $$
  SELECT c.author ->> 'client_id' IS NOT DISTINCT FROM identity
    OR coalesce(c.person = person_of(identity), false)
    OR is_or_was(person_of(identity), c.author ->> 'client_id')
$$;
