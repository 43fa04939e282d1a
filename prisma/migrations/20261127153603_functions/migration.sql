-- Written by `npm run sql:migration` from prisma/functions/; not by hand.
SELECT set_config('check_function_bodies', 'off', true);
-- What functions with the owner's rights read and write is never a caller's temporary table.
SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true);

-- prisma/functions/allowlist.sql

-- Puts an address on the allowlist. An active row does not change; an inactive row becomes active,
-- and its cooling period starts again.
CREATE OR REPLACE FUNCTION allow_address(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  a allowed_addresses;
  at timestamptz := svc_now();
BEGIN
  INSERT INTO allowed_addresses (id, chain_family, address, chain_id, label, reason, usable_after,
    created_by, created_at, updated_at)
  VALUES ((doc ->> 'id')::uuid, doc ->> 'chain_family', doc ->> 'address',
    (doc ->> 'chain_id')::bigint, doc ->> 'label', doc ->> 'reason',
          cooled_after(doc, at), doc ->> 'by', at, at)
  ON CONFLICT DO NOTHING RETURNING * INTO a;
  IF FOUND THEN
    PERFORM audit_allowed(doc -> 'audit', 'create', a, '{}'::jsonb, at);
    RETURN allowed_answer('created', a);
  END IF;
  SELECT * INTO a FROM allowed_addresses WHERE chain_family = doc ->> 'chain_family'
    AND address = doc ->> 'address'
    AND chain_id IS NOT DISTINCT FROM (doc ->> 'chain_id')::bigint FOR UPDATE;
  IF a.active THEN RETURN allowed_answer('unchanged', a); END IF;
  -- Another process inserted this row after the caller looked up the id. The caller must look it up
  -- again, since its audit row names the id.
  IF a.id <> (doc ->> 'id')::uuid THEN RETURN allowed_answer('again', a); END IF;
  at := svc_now();
  UPDATE allowed_addresses SET active = true, usable_after = cooled_after(doc, at),
    label = coalesce(doc ->> 'label', label),
    reason = doc ->> 'reason', updated_at = at, revoked_at = NULL, revoked_by = NULL
  WHERE id = a.id RETURNING * INTO a;
  PERFORM audit_allowed(doc -> 'audit', 'reactivate', a, '{}'::jsonb, at);
  RETURN allowed_answer('reactivated', a);
END $$;

-- prisma/functions/approval.sql

-- Fails with FM011 if the policy or template has changed since the decision to approve, and with
-- FM010 and the reason if a daily cap is exceeded. The caller has already approved the movement;
-- this check is the last in the lock order.
CREATE OR REPLACE FUNCTION check_approval_guard(movement uuid, guard jsonb) RETURNS void
  LANGUAGE plpgsql AS $$
DECLARE
  t plan_templates;
  wanted numeric;
BEGIN
  IF guard ? 'policy_id' THEN
    -- take_budget has locked this row.
    PERFORM 1 FROM auto_approve_policies
    WHERE policy_id = (guard ->> 'policy_id')::uuid AND revision = (guard ->> 'revision')::integer;
    IF NOT FOUND THEN RAISE EXCEPTION 'the policy changed' USING ERRCODE = 'FM011'; END IF;
    RETURN;
  END IF;
  SELECT * INTO t FROM plan_templates
    WHERE template_key = guard ->> 'template_key' FOR NO KEY UPDATE;
  IF NOT t.auto_approve_enabled OR t.daily_cap_amount <> (guard ->> 'daily_cap_amount')::numeric
     OR t.daily_cap_asset <> guard ->> 'daily_cap_asset' THEN
    RAISE EXCEPTION 'the template changed' USING ERRCODE = 'FM011';
  END IF;
  SELECT limit_amount INTO wanted FROM movements WHERE movement_id = movement;
  IF wanted IS NULL OR daily_cap_used(t.template_key, t.daily_cap_asset, svc_now(),
    movement) + wanted > t.daily_cap_amount THEN
    RAISE EXCEPTION 'daily_cap_exceeded' USING ERRCODE = 'FM010';
  END IF;
END $$;

-- prisma/functions/attention.sql

-- Returns the transaction that keeps a node's own transaction from being mined or signed: an
-- UNKNOWN node claims an earlier nonce of the same account. NULL if there is none.
CREATE OR REPLACE FUNCTION lane_blocker(n movement_nodes, at timestamptz) RETURNS jsonb
  LANGUAGE plpgsql STABLE AS $$
BEGIN
  -- Every open node calls this; most calls return NULL without a query.
  IF n.state IN ('SUBMITTED', 'OBSERVING') AND n.submitted_at <= at - interval '1 minute' THEN
    -- The node has signed: look for open nonces below its own. OFFSET keeps the joins in this
    -- order, so that a node without a transaction costs one look-up, not one for each UNKNOWN node.
    RETURN (
      SELECT jsonb_build_object('movement_id', o.movement_id, 'node_key', o.node_key,
        'chain_id', o.chain_id, 'address', o.address, 'nonce', o.nonce)
      FROM (SELECT * FROM evm_transactions own
        WHERE own.movement_id = n.movement_id AND own.node_key = n.node_key
          AND own.attempt = n.attempt AND own.released_at IS NULL OFFSET 0) t
      CROSS JOIN LATERAL (SELECT * FROM evm_transactions below
        WHERE below.chain_id = t.chain_id AND below.address = t.address AND below.nonce < t.nonce
          AND below.released_at IS NULL AND below.replaces IS NULL AND below.final_at IS NULL
        OFFSET 0) o
      JOIN movement_nodes b ON b.movement_id = o.movement_id AND b.node_key = o.node_key
        AND b.attempt = o.attempt AND b.state = 'UNKNOWN'
      ORDER BY o.nonce LIMIT 1);
  ELSIF n.state = 'READY' AND n.error_code = 'LANE_BLOCKED'
    AND n.updated_at <= at - interval '1 minute' THEN
    -- The node waits before its fence (lane_problem). Start from the few UNKNOWN nodes, since an
    -- account has a claim for each transaction that it ever sent.
    RETURN (
      SELECT jsonb_build_object('movement_id', o.movement_id, 'node_key', o.node_key,
        'chain_id', o.chain_id, 'address', o.address, 'nonce', o.nonce)
      FROM (SELECT movement_id, node_key, attempt FROM movement_nodes
        WHERE state = 'UNKNOWN' OFFSET 0) b
      CROSS JOIN LATERAL (SELECT * FROM evm_transactions own
        WHERE own.movement_id = b.movement_id AND own.node_key = b.node_key
          AND own.attempt = b.attempt AND own.released_at IS NULL OFFSET 0) o
      WHERE o.signer_key = n.signer_binding ->> 'signer_key'
        AND o.chain_id = (n.sign_request -> 'payload' ->> 'chain_id')::bigint
      ORDER BY o.nonce LIMIT 1);
  END IF;
  RETURN NULL;
END $$;

-- Returns what a node waits for in a stuck nonce lane: the nonce that needs a zero-value
-- transaction, and why that transaction cannot be sent. NULL if the lane is not stuck or the node
-- does not wait. A lane counts as stuck after a minute, since an endpoint may refuse once.
CREATE OR REPLACE FUNCTION lane_stuck(n movement_nodes, at timestamptz) RETURNS jsonb
  LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF n.state NOT IN ('READY', 'SUBMITTING', 'SUBMITTED', 'OBSERVING') THEN RETURN NULL; END IF;
  RETURN (
    SELECT jsonb_build_object('chain_id', l.chain_id, 'address', l.address,
      'nonce', l.stuck_nonce, 'why', l.stuck_why, 'signer_key', l.signer_key)
    FROM nonce_lanes l
    WHERE l.stuck_since <= at - interval '1 minute' AND CASE WHEN n.state = 'READY'
      -- The node waits before its fence (lane_problem).
      THEN n.error_code = 'LANE_BLOCKED' AND l.signer_key = n.signer_binding ->> 'signer_key'
        AND l.chain_id = (n.sign_request -> 'payload' ->> 'chain_id')::bigint
      ELSE EXISTS (SELECT FROM evm_transactions own
        WHERE own.movement_id = n.movement_id AND own.node_key = n.node_key
          AND own.attempt = n.attempt AND own.released_at IS NULL AND own.final_at IS NULL
          AND own.chain_id = l.chain_id AND own.address = l.address
          AND own.nonce >= l.stuck_nonce) END
    ORDER BY l.stuck_since LIMIT 1);
END $$;

-- Returns why a movement needs a person at a moment, and for which node; NULL if it needs none.
-- Lists and details both read this. domain/attention.ts has what a person can do for each reason.
CREATE OR REPLACE FUNCTION attention_of(m movements, at timestamptz) RETURNS jsonb
  LANGUAGE plpgsql STABLE AS $$
DECLARE
  left_over interval := m.expires_at - at;
  stuck boolean;
  found jsonb;
BEGIN
  IF m.request_state = 'PENDING_APPROVAL' THEN
    RETURN CASE
      WHEN left_over <= interval '0' THEN NULL
      WHEN left_over <= least(interval '15 minutes', (m.expires_at - m.created_at) / 4)
        THEN jsonb_build_object('reason', 'approval_expires_soon')
      ELSE jsonb_build_object('reason', 'approval') END;
  END IF;
  -- A failed or cancelled movement is shown for a week. Lists read only the last week (listNeeding
  -- in store/attention.ts).
  IF m.ended_at IS NOT NULL AND (m.request_state NOT IN ('FAILED', 'CANCELLED')
    OR m.updated_at <= at - interval '7 days') THEN
    RETURN NULL;
  END IF;
  -- Usually no nonce lane is stuck; then no node needs the query of lane_stuck.
  stuck := EXISTS (SELECT FROM nonce_lanes WHERE stuck_since <= at - interval '1 minute');
  SELECT jsonb_build_object('reason', r.why, 'node_key', n.node_key, 'attempt', n.attempt,
    'max_attempts', n.own_plan -> 'retry_policy' -> 'max_attempts',
    'errors', n.error_count + n.unanswered,
    'error_code', CASE WHEN r.why = 'failed' THEN coalesce(n.error_code, m.error_code)
      ELSE n.error_code END,
    'error_message', n.error_message, 'observed_since',
      CASE WHEN r.why = 'observed_long' THEN n.submitted_at END,
    'external_ref', CASE WHEN r.why = 'observed_long' THEN n.external_ref END,
    'executor_key', e.executor_key,
    'executor_status', e.status, 'executor_health', e.health_state,
    'next_look_at', CASE WHEN n.state = 'UNKNOWN' OR n.unanswered > 0 THEN n.next_look_at END,
    'blocked_by', CASE WHEN r.why = 'lane_blocked' THEN lane_blocker(n, at) END,
    'stuck_at', CASE WHEN r.why = 'lane_stuck' THEN lane_stuck(n, at) END)
  INTO found
  FROM movement_nodes n
  LEFT JOIN executors e ON e.executor_key
    = coalesce(n.executor_binding ->> 'executor_key', n.executor_binding #>> '{}')
  CROSS JOIN LATERAL (SELECT CASE
    WHEN n.state = 'UNKNOWN' THEN 'unknown_outcome'
    WHEN n.state = 'READY' AND n.node_kind = 'manual_gate'
      AND m.request_state IN ('WAITING_MANUAL_ACTION', 'MANUAL_INTERVENTION') THEN 'manual_gate'
    -- The movement's message names the node whose failure ended the movement
    -- (domain/commands/advance.ts). That node may be COMPLETED, if a condition on its edges could
    -- not be evaluated. After a cancel, the nodes that continue may still fail.
    WHEN m.request_state = 'FAILED' AND m.acknowledged_at IS NULL
      AND m.error_message = 'node ' || n.node_key || ' failed'
      OR m.request_state = 'CANCELLED' AND n.state = 'FAILED'
        AND (n.on_cancel_target OR n.brings IS NOT NULL) THEN 'failed'
    WHEN stuck AND lane_stuck(n, at) IS NOT NULL THEN 'lane_stuck'
    WHEN lane_blocker(n, at) IS NOT NULL THEN 'lane_blocked'
    WHEN n.state = 'OBSERVING' AND n.error_code = 'BRIDGE_DELIVERY_LATE' THEN 'delivery_late'
    WHEN n.state IN ('READY', 'SUBMITTING', 'SUBMITTED', 'OBSERVING')
      AND waits_in_vain(n.error_code) THEN 'observed_long'
    WHEN n.state IN ('READY', 'SUBMITTING', 'SUBMITTED', 'OBSERVING')
      AND n.node_kind <> 'manual_gate' AND (e.status IS DISTINCT FROM 'active'
        OR e.health_state = 'down' OR n.unanswered_since <= at - interval '1 minute') THEN 'executor_unavailable'
    WHEN overdue_at(n) <= at THEN 'observed_long'
    END AS why) r
  WHERE n.movement_id = m.movement_id AND r.why IS NOT NULL
  ORDER BY array_position(ARRAY['unknown_outcome', 'manual_gate', 'failed', 'lane_stuck',
    'lane_blocked', 'delivery_late', 'executor_unavailable', 'observed_long'], r.why), n.updated_at, n.position
  LIMIT 1;
  IF found IS NULL AND m.request_state = 'FAILED' AND m.acknowledged_at IS NULL THEN
    RETURN jsonb_build_object('reason', 'failed', 'error_code', m.error_code,
      'error_message', m.error_message);
  END IF;
  RETURN found;
END $$;

-- prisma/functions/audit.sql

-- Refuses a seal that does not take the next position in the chain. A seal far ahead would become
-- the head and block every later seal.
CREATE OR REPLACE FUNCTION guard_seal() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  next bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('audit_seals', 0));
  -- Names the schema, else a temporary table of the same name would be read.
  EXECUTE format('SELECT coalesce(max(position), 0) + 1 FROM %I.%I', TG_TABLE_SCHEMA,
    TG_TABLE_NAME) INTO next;
  IF NEW.position <> next THEN
    RAISE EXCEPTION 'the next seal is at position %, not %', next, NEW.position
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END $$;

-- Grants `role` what the service needs in this schema, and revokes all else. The owner of the
-- tables calls this after migrations; `role` must not be the owner.
CREATE OR REPLACE FUNCTION grant_service(role text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  schema_name text := current_schema();
  may record;
BEGIN
  IF pg_has_role(role, (SELECT relowner FROM pg_class WHERE oid = to_regclass('audit_events')),
    'MEMBER') THEN
    RAISE EXCEPTION
      'the role % owns the tables or is a superuser, so it has all rights: use another role', role
      USING ERRCODE = 'invalid_grant_operation';
  END IF;
  -- One at a time: concurrent calls would change the same rows of the catalogue, and one would
  -- fail.
  PERFORM pg_advisory_xact_lock(hashtextextended('grant_service', 0));
  EXECUTE format('REVOKE ALL ON SCHEMA %I FROM %I', schema_name, role);
  EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA %I FROM %I', schema_name, role);
  EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', schema_name, role);
  FOR may IN SELECT table_name, privileges FROM service_privileges
    WHERE to_regclass(quote_ident(table_name)) IS NOT NULL LOOP
    EXECUTE format('GRANT %s ON %I.%I TO %I', may.privileges, schema_name, may.table_name, role);
  END LOOP;
  EXECUTE format('GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA %I TO %I', schema_name, role);
END $$;

-- prisma/functions/bridge-registry.sql

CREATE OR REPLACE FUNCTION create_bridge_chain(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  c bridge_chains;
  holder text;
  at timestamptz := svc_now();
BEGIN
  LOOP
    -- The endpoint of a new chain was not read yet, so the snapshot is stale.
    INSERT INTO bridge_chains (chain, endpoint_identity, finality_age_seconds, snapshot_stale,
      stale_detected_at, operator_label, created_at, updated_at)
    VALUES (doc ->> 'chain', doc ->> 'endpoint_identity', (doc ->> 'finality_age_seconds')::integer,
      true, at, doc ->> 'operator_label', at, at)
    ON CONFLICT DO NOTHING RETURNING * INTO c;
    IF FOUND THEN
      RETURN bridge_change(doc -> 'audit', to_jsonb(c), '{}'::jsonb, at);
    END IF;
    IF EXISTS (SELECT FROM bridge_chains WHERE chain = doc ->> 'chain') THEN
      RETURN jsonb_build_object('outcome', 'chain_exists');
    END IF;
    holder := bridge_chain_of(doc ->> 'endpoint_identity');
    IF holder IS NOT NULL THEN
      RETURN jsonb_build_object('outcome', 'endpoint_identity_conflict', 'chain', holder);
    END IF;
    -- The conflicting row was deleted meanwhile: insert again.
  END LOOP;
END $$;

CREATE OR REPLACE FUNCTION create_bridge_path(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  p bridge_paths := jsonb_populate_record(NULL::bridge_paths, doc -> 'path');
  missing text;
  at timestamptz;
BEGIN
  PERFORM FROM bridge_chains WHERE chain IN (p.src_chain, p.dst_chain)
    ORDER BY chain FOR KEY SHARE;
  SELECT name INTO missing FROM unnest(ARRAY[p.src_chain, p.dst_chain])
    WITH ORDINALITY AS ends (name, place)
  WHERE NOT EXISTS (SELECT FROM bridge_chains WHERE chain = name) ORDER BY place LIMIT 1;
  IF FOUND THEN
    RETURN jsonb_build_object('outcome', 'chain_not_found', 'chain', missing);
  END IF;
  at := svc_now();
  p.created_at := at;
  p.updated_at := at;
  INSERT INTO bridge_paths SELECT p.* ON CONFLICT DO NOTHING RETURNING * INTO p;
  IF NOT FOUND THEN RETURN jsonb_build_object('outcome', 'path_baseline_exists'); END IF;
  RETURN bridge_change(doc -> 'audit', bridge_path_view(p), '{}'::jsonb, at);
END $$;

-- Stores what the endpoints reported, `told`: [{"chain", "endpoint_identity", "facts"}], with null
-- facts for an endpoint that did not answer. All calls started after `asked_at`: a chain does not
-- change if it has another identity or a later snapshot since then.
CREATE OR REPLACE FUNCTION refresh_bridge_chains(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  reported record;
  c bridge_chains;
  changed text[] := '{}';
  started_at timestamptz := (doc ->> 'asked_at')::timestamptz;
  at timestamptz;
BEGIN
  PERFORM FROM bridge_chains ORDER BY chain FOR UPDATE;
  at := svc_now();
  FOR reported IN SELECT * FROM jsonb_to_recordset(doc -> 'told')
    AS t (chain text, endpoint_identity text, facts jsonb) ORDER BY t.chain LOOP
    SELECT * INTO c FROM bridge_chains WHERE chain = reported.chain
      AND endpoint_identity = reported.endpoint_identity
      AND (snapshot_at IS NULL OR snapshot_at <= started_at);
    CONTINUE WHEN NOT FOUND;
    IF reported.facts IS NULL OR reported.facts = 'null'::jsonb THEN
      UPDATE bridge_chains SET snapshot_stale = true, stale_detected_at = at, updated_at = at
      WHERE chain = c.chain AND NOT snapshot_stale;
    ELSE
      UPDATE bridge_chains SET facts = reported.facts, snapshot_at = started_at,
        snapshot_stale = false, stale_detected_at = NULL, updated_at = CASE WHEN c.snapshot_stale
          OR c.facts IS DISTINCT FROM reported.facts THEN at ELSE updated_at END,
        snapshot_version = snapshot_version
          + (c.facts IS DISTINCT FROM reported.facts)::integer
      WHERE chain = c.chain;
      IF c.facts IS DISTINCT FROM reported.facts THEN changed := changed || c.chain; END IF;
    END IF;
  END LOOP;
  PERFORM write_audit(with_details(doc -> 'audit', jsonb_build_object('changed', changed,
    'stale', ARRAY(SELECT chain FROM bridge_chains WHERE snapshot_stale ORDER BY chain))), at);
  RETURN jsonb_build_object('at', at, 'changed', changed, 'chains',
    (SELECT coalesce(jsonb_agg(to_jsonb(b) ORDER BY b.chain), '[]'::jsonb) FROM bridge_chains b));
END $$;

-- prisma/functions/callbacks.sql

-- Leases due callbacks to the caller, at most one per movement: none while another callback of the
-- movement is leased, and none before an earlier one of the movement that is due. A later callback
-- overtakes one that waits for its next attempt. A capital transfer has at most one callback.
CREATE OR REPLACE FUNCTION claim_callbacks(most integer, lease_seconds integer, only_movement uuid)
  RETURNS SETOF callbacks LANGUAGE plpgsql AS $$
DECLARE
  at timestamptz := svc_now();
  ids uuid[];
BEGIN
  -- Two statements: the planner finds no good plan for a combined one.
  IF only_movement IS NULL THEN
    ids := ARRAY(
      SELECT c.event_id FROM callbacks c WHERE c.status = 'pending' AND c.next_attempt_at <= at
        AND (c.claimed_until IS NULL OR c.claimed_until <= at)
        AND (SELECT true FROM callbacks o WHERE o.movement_id = c.movement_id
          AND o.status = 'pending' AND o.event_id <> c.event_id AND (o.claimed_until > at
            OR (o.sequence < c.sequence AND o.next_attempt_at <= at)) LIMIT 1) IS NULL
      ORDER BY c.next_attempt_at, c.sequence LIMIT most FOR UPDATE SKIP LOCKED);
  ELSE
    ids := ARRAY(
      SELECT c.event_id FROM callbacks c WHERE c.status = 'pending' AND c.next_attempt_at <= at
        AND (c.claimed_until IS NULL OR c.claimed_until <= at)
        AND (SELECT true FROM callbacks o WHERE o.movement_id = c.movement_id
          AND o.status = 'pending' AND o.event_id <> c.event_id AND (o.claimed_until > at
            OR (o.sequence < c.sequence AND o.next_attempt_at <= at)) LIMIT 1) IS NULL
        AND c.movement_id = only_movement
      ORDER BY c.next_attempt_at, c.sequence LIMIT most FOR UPDATE SKIP LOCKED);
  END IF;
  RETURN QUERY UPDATE callbacks c SET claimed_until = at + make_interval(secs => lease_seconds)
    WHERE c.event_id = ANY (ids)
  RETURNING c.*;
END $$;

-- Stores the outcome of one delivery attempt; see store/callbacks.ts for the shape of `doc`. A
-- delivered or dead callback of a movement also gets a timeline row, under the movement's lock;
-- this changes nothing that a run or the sweeper reads. Returns false if another process has
-- settled the callback since the lease.
CREATE OR REPLACE FUNCTION settle_callback(doc jsonb) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  m movements;
  at timestamptz;
  next_status text := doc ->> 'status';
BEGIN
  IF next_status <> 'pending' THEN
    SELECT * INTO m FROM movements
      WHERE movement_id = (doc ->> 'movement_id')::uuid FOR NO KEY UPDATE;
  END IF;
  at := svc_now();
  -- A late success counts even if there were other attempts meanwhile; a late failure does not.
  UPDATE callbacks SET status = next_status, attempts = (doc ->> 'attempts')::integer,
    claimed_until = NULL, updated_at = at,
    last_error = doc ->> 'last_error',
    next_attempt_at = CASE WHEN next_status = 'pending'
      THEN at + make_interval(secs => (doc ->> 'delay_seconds')::double precision)
                           ELSE next_attempt_at END
  WHERE event_id = (doc ->> 'event_id')::uuid AND status = 'pending'
    AND (next_status = 'delivered' OR attempts = (doc ->> 'seen_attempts')::integer);
  IF NOT FOUND THEN RETURN false; END IF;
  IF m.movement_id IS NOT NULL THEN
    m.next_sequence := write_timeline(m, doc -> 'timeline', ARRAY[]::text[], at);
    UPDATE movements SET next_sequence = m.next_sequence WHERE movement_id = m.movement_id;
  END IF;
  RETURN true;
END $$;

-- prisma/functions/capital-transfers.sql

-- Applies one step of a transfer; see store/capital-transfer-steps.ts for the shape of `doc`. If
-- the id of its event is stored, the step was applied before and changes nothing. State and epoch
-- are compared here; domain/send/epoch.ts decides what a step writes to them.
CREATE OR REPLACE FUNCTION apply_transfer_step(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  t capital_transfers;
  before text;
  fields jsonb := doc -> 'set';
  at timestamptz;
  frozen boolean := CASE WHEN doc ? 'fence' THEN cutover_now() = 'frozen' ELSE false END;
BEGIN
  SELECT * INTO t FROM capital_transfers
    WHERE transfer_id = (doc ->> 'transfer_id')::uuid FOR UPDATE;
  at := svc_now();
  IF t.transfer_id IS NULL THEN
    RETURN jsonb_build_object('ok', false, 'row', NULL);
  END IF;
  IF EXISTS (SELECT FROM capital_transfer_events
    WHERE event_id = (doc -> 'event' ->> 'event_id')::uuid) THEN
    RETURN jsonb_build_object('ok', true, 'row', transfer_row(t, at));
  END IF;
  IF NOT (doc -> 'states') ? t.request_state
    OR t.submit_epoch <> coalesce((doc ->> 'epoch')::integer, t.submit_epoch) THEN
    RETURN jsonb_build_object('ok', false, 'row', transfer_row(t, at));
  END IF;
  IF frozen THEN
    RETURN jsonb_build_object('ok', false, 'row', transfer_row(t, at));
  END IF;
  before := t.request_state;
  t.request_state := coalesce(doc ->> 'to', t.request_state);
  IF doc ? 'end_hold' THEN PERFORM end_transfer_hold(t.transfer_id, doc ->> 'end_hold', at); END IF;
  PERFORM write_transfer_event(t, before, doc -> 'event', at);
  IF t.request_state = 'MANUAL_INTERVENTION' AND before <> 'MANUAL_INTERVENTION' THEN
    PERFORM call_back_for_person(t, doc -> 'event',
      CASE WHEN fields ? 'error_code' THEN fields ->> 'error_code' ELSE t.error_code END, at);
  END IF;
  UPDATE capital_transfers SET
    request_state = t.request_state,
    submit_epoch = coalesce((fields ->> 'epoch')::integer, submit_epoch),
    sends = coalesce((fields ->> 'sends')::integer, sends),
    acknowledged = coalesce((fields ->> 'acknowledged')::boolean, acknowledged),
    provider_transfer_id = coalesce(fields ->> 'provider_transfer_id', provider_transfer_id),
    send_not_after = CASE WHEN fields ? 'send_not_after'
      THEN svc_time(fields -> 'send_not_after', at) ELSE send_not_after END,
    -- The provider's time limit starts when the transfer first waits for the provider.
    pending_until = CASE WHEN fields ? 'pending_until'
      THEN coalesce(pending_until, svc_time(fields -> 'pending_until', at)) ELSE pending_until END,
    error_code = CASE WHEN fields ? 'error_code' THEN fields ->> 'error_code' ELSE error_code END,
    error_message = CASE WHEN fields ? 'error_message' THEN fields ->> 'error_message'
      ELSE error_message END,
    version = version + CASE WHEN (doc ->> 'wakes')::boolean THEN 1 ELSE 0 END,
    claimed_until = CASE WHEN (doc ->> 'wakes')::boolean THEN at + interval '2 seconds'
      ELSE claimed_until END,
    wakes = CASE WHEN (doc ->> 'wakes')::boolean THEN 0 ELSE capital_transfers.wakes END,
    ended_at = CASE WHEN t.request_state IN ('COMPLETED', 'FAILED') THEN coalesce(ended_at, at) END,
    next_sequence = next_sequence + 1,
    updated_at = at
  WHERE transfer_id = t.transfer_id
  RETURNING * INTO t;
  PERFORM write_audit(doc -> 'audit', at);
  RETURN jsonb_build_object('ok', true, 'row', transfer_row(t, at));
END $$;

-- prisma/functions/claims.sql

-- Returns the node that already holds a payment which this node wants to claim; null if this node
-- may claim all. Locks the payments, after movement and nodes, until the transaction ends.
CREATE OR REPLACE FUNCTION claim_holder(movement uuid, node text, claims jsonb, at timestamptz)
  RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  c record;
  held numeric;
BEGIN
  FOR c IN SELECT source, reference, amount, total, since, until FROM jsonb_to_recordset(claims)
      AS x (source text, reference text, amount numeric, total numeric, since numeric,
        until numeric)
    ORDER BY source, reference
  LOOP
    INSERT INTO payments (source, reference, amount, created_at)
    VALUES (c.source, c.reference, CASE WHEN c.until IS NULL THEN c.total END, at)
    ON CONFLICT DO NOTHING;
    -- A statement of its own, which sees what concurrent transactions wrote while the insert waited
    -- for them.
    PERFORM FROM payments p WHERE p.source = c.source AND p.reference = c.reference FOR UPDATE;
    SELECT coalesce(sum(o.amount), 0) INTO held FROM payment_claims o
    WHERE o.source = c.source AND o.reference = c.reference
      AND (o.movement_id, o.node_key) <> (movement, node)
      AND (c.since IS NULL OR o.until_block IS NULL OR o.until_block > c.since);
    -- If two claims report different totals of one payment, the smaller total counts.
    IF held + c.amount > (SELECT least(p.amount, c.total) FROM payments p
        WHERE p.source = c.source AND p.reference = c.reference) THEN
      RETURN jsonb_build_object('source', c.source, 'reference', c.reference) || coalesce((
        SELECT jsonb_build_object('movement_id', o.movement_id, 'node_key', o.node_key)
        FROM payment_claims o
        WHERE o.source = c.source AND o.reference = c.reference
          AND (o.movement_id, o.node_key) <> (movement, node)
        ORDER BY o.created_at, o.movement_id, o.node_key LIMIT 1), '{}');
    END IF;
  END LOOP;
  RETURN NULL;
END $$;

-- Takes the claims of one node away (`released`, a transition of its movement) and completes
-- another node with them (`taken`). Applies both, or neither and returns why. Locks both movements
-- first, ordered by id.
CREATE OR REPLACE FUNCTION reassign_claims(released jsonb, taken jsonb) RETURNS jsonb
  LANGUAGE plpgsql AS $$
DECLARE
  first jsonb;
  second jsonb;
BEGIN
  PERFORM FROM movements WHERE movement_id
    IN ((released ->> 'movement_id')::uuid, (taken ->> 'movement_id')::uuid)
  ORDER BY movement_id FOR UPDATE;
  BEGIN
    first := apply_transition(released);
    IF (first ->> 'ok')::boolean THEN second := apply_transition(taken); END IF;
    IF NOT coalesce((second ->> 'ok')::boolean, false) THEN
      RAISE EXCEPTION 'the claims were not reassigned: a transition was refused'
        USING ERRCODE = 'FM018';
    END IF;
  EXCEPTION WHEN SQLSTATE 'FM018' THEN
    RETURN jsonb_build_object('ok', false, 'refused', coalesce(second, first));
  END;
  RETURN jsonb_build_object('ok', true, 'released', first, 'taken', second);
END $$;

-- prisma/functions/console-events.sql

-- Writes what open consoles must read again; see docs/decisions/0114-the-stream.md. Runs with the
-- owner's rights: the service's role may not write or remove events itself.
CREATE OR REPLACE FUNCTION note_for_consoles() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path FROM CURRENT AS $$
BEGIN
  -- Any role may put this trigger on a temporary table of its own.
  IF TG_TABLE_SCHEMA <> current_schema() THEN
    RAISE EXCEPTION 'only a change of a table of this schema may write console events'
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
    -- One event for each venue whose balances a statement changed; a fetch that finds the same
    -- balances writes none.
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

-- prisma/functions/cutover.sql

-- Returns the mode of the cutover switch, which stops new money. Creates and fences call this, and
-- keep a shared lock on the switch until their transaction ends, so a change of the switch waits
-- for them. Call it before any row is locked, since a change of the switch locks rows after the
-- switch.
CREATE OR REPLACE FUNCTION cutover_now() RETURNS text LANGUAGE plpgsql AS $$
DECLARE mode text;
BEGIN
  PERFORM pg_advisory_xact_lock_shared(7203118846);
  -- STRICT: a database without the row lets nothing through.
  SELECT c.mode INTO STRICT mode FROM cutover c;
  RETURN mode;
END $$;

-- Changes the cutover mode. At the end of `frozen`, wakes the nodes and transfers that waited at
-- their fence; that wait does not count towards their time limits.
CREATE OR REPLACE FUNCTION set_cutover_mode(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  c cutover;
  before text;
  at timestamptz;
BEGIN
  PERFORM pg_advisory_xact_lock(7203118846);
  at := svc_now();
  SELECT mode INTO STRICT before FROM cutover;
  UPDATE cutover SET mode = doc ->> 'mode', previous_mode = before, reason = doc ->> 'reason',
    changed_at = at, changed_by = doc -> 'changed_by' RETURNING * INTO c;
  IF before = 'frozen' AND c.mode <> 'frozen' THEN
    -- Every function locks movements before their nodes.
    PERFORM FROM movements WHERE movement_id IN (
      SELECT movement_id FROM movement_nodes WHERE frozen_since IS NOT NULL)
    ORDER BY movement_id FOR UPDATE;
    WITH thawed AS (
      UPDATE movement_nodes SET started_at = started_at + (at - frozen_since), frozen_since = NULL
      WHERE frozen_since IS NOT NULL RETURNING movement_id)
    INSERT INTO commands (command_id, movement_id, kind, created_at, claimed_until)
    SELECT svc_new_id(at), movement_id, 'wake', at, at
    FROM (SELECT DISTINCT movement_id FROM thawed) t;
    UPDATE capital_transfers SET version = version + 1, claimed_until = at, wakes = 0
    WHERE request_state = 'CREATED';
  END IF;
  PERFORM write_audit(with_details(doc -> 'audit', jsonb_build_object('previous_mode', before)),
    at);
  RETURN to_jsonb(c);
END $$;

-- prisma/functions/dashboard-keys.sql

-- Creates an empty key for a dashboard operator; the operator's browser fills it. With `replace`,
-- ends the operator's present key and sessions. A link that was not used in time was never a key,
-- so it is always ended. Returns {"ok": true, "row": ...}; or writes nothing and returns {"ok":
-- false, "state": ...} with the state of the conflicting key.
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
      RAISE EXCEPTION 'another process enrols this operator at the same time: try again'
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

-- prisma/functions/fence.sql

-- Returns the list of requirements of a send that do not hold, or null if all hold. {"executors":
-- [key]} must be active, {"signers": [...]} active and with the address that they are pinned to,
-- {"addresses": [{"chain_family", "address", "chain_id", "strict"}]} on the allowlist and usable,
-- {"requirements": {kind: {...}}} without a requirement_problem; "flow" is checked elsewhere. A
-- deprecated signer may still sign for nodes that its rotation left with it. Locks the rows, so
-- that a concurrent change happens before or after. The caller has locked the movement.
CREATE OR REPLACE FUNCTION binding_problems(required jsonb, movement uuid) RETURNS jsonb
  LANGUAGE plpgsql AS $$
DECLARE
  listed jsonb := '[]'::jsonb;
  e executors;
  s signers;
  signer jsonb;
  needed jsonb;
  problem text;
  kind text;
BEGIN
  -- This release cannot check a requirement that it does not know, so nothing is sent.
  IF required - ARRAY['executors', 'signers', 'addresses', 'flow', 'requirements'] <> '{}' THEN
    RAISE EXCEPTION 'the send has a requirement that is not known here, so nothing is sent: %',
      required;
  END IF;
  FOR e IN SELECT * FROM executors
    WHERE executor_key IN (
    SELECT jsonb_array_elements_text(coalesce(required -> 'executors', '[]'::jsonb)))
           ORDER BY executor_key FOR SHARE LOOP
    IF e.status <> 'active' THEN
      listed := listed || jsonb_build_object('binding', 'executor', 'key', e.executor_key,
        'reason', e.status);
    END IF;
  END LOOP;
  FOR signer IN SELECT value
    FROM jsonb_array_elements(coalesce(required -> 'signers', '[]'::jsonb))
    ORDER BY value ->> 'signer_key' LOOP
    SELECT * INTO s FROM signers WHERE signer_key = signer ->> 'signer_key' FOR SHARE;
    CONTINUE WHEN NOT FOUND;
    IF s.status <> 'active' AND NOT (s.status = 'deprecated' AND EXISTS (
      SELECT FROM movement_nodes n WHERE n.movement_id = binding_problems.movement
        AND n.signer_binding ->> 'signer_key' = s.signer_key
        AND n.state NOT IN ('COMPLETED', 'FAILED', 'SKIPPED', 'CANCELLED'))) THEN
      listed := listed || jsonb_build_object('binding', 'signer', 'key', s.signer_key,
        'reason', s.status);
    ELSIF signer ->> 'address' IS NOT NULL AND s.expected_signer_address IS NOT NULL
          AND lower(s.expected_signer_address) <> lower(signer ->> 'address') THEN
      listed := listed || jsonb_build_object('binding', 'signer', 'key', s.signer_key, 'reason',
        'identity_mismatch');
    END IF;
  END LOOP;
  FOR needed IN SELECT value
    FROM jsonb_array_elements(coalesce(required -> 'addresses', '[]'::jsonb))
               ORDER BY value ->> 'chain_family', value ->> 'address' LOOP
    problem := address_problem(needed);
    IF problem IS NOT NULL THEN
      listed := listed || jsonb_build_object('binding', 'address', 'key', needed ->> 'address',
        'reason', problem);
    END IF;
  END LOOP;
  FOR kind, needed IN SELECT * FROM jsonb_each(coalesce(required -> 'requirements', '{}'::jsonb))
    AS r (kind, needed) ORDER BY r.kind LOOP
    listed := listed || coalesce(requirement_problem(kind, needed, movement), '[]'::jsonb);
  END LOOP;
  RETURN CASE WHEN jsonb_array_length(listed) = 0 THEN NULL ELSE listed END;
END $$;

-- The short fence: checks a send and passes its fence in one statement, for a node that needs no
-- signature and pays only plain addresses (plain_addresses) or none. `pays_nobody`: the executor's
-- own action types without a payee that a plan can choose. Epoch and window are those of `fenced`
-- in domain/send/epoch.ts.
CREATE OR REPLACE FUNCTION try_fence(movement uuid, key text, node_attempt integer, executor text,
  window_seconds double precision, event_id text,
                                     pays_nobody jsonb)
RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  m record;
  n movement_nodes;
  at timestamptz;
  plan jsonb;
  addresses jsonb;
  passed boolean := false;
BEGIN
  -- Locks the cutover switch before any row. apply_transition refuses in the mode `frozen`.
  PERFORM cutover_now();
  SELECT w.intent, p.input_params, p.plan_head -> 'risk_controls' AS controls INTO m
    FROM movements w JOIN movement_plans p USING (movement_id)
    WHERE movement_id = movement FOR UPDATE OF w;
  SELECT * INTO n FROM movement_nodes WHERE movement_id = movement AND node_key = key FOR UPDATE;
  at := svc_now();
  plan := node_plan(n.own_plan, m.input_params);
  addresses := plain_addresses(n.pays, plan -> 'config', m.intent, m.input_params,
    n.prepared_action, n.output, pays_nobody ? n.action_type);
  -- apply_transition checks that the node is READY.
  IF n.attempt = node_attempt AND n.preflight_passed AND NOT n.recover_first
    AND addresses IS NOT NULL
     AND n.prepared_action IS NOT NULL AND n.sign_request IS NULL AND n.signer_binding IS NULL
       AND n.amount IS NOT NULL
     AND n.executor_binding ->> 'executor_key' = executor AND n.started_at IS NOT NULL
     -- By its plan, a team's node without a flow sends nothing. The long fence checks whether its
     -- executor still declares that.
     AND (n.flow IS NOT NULL OR NOT pays_nobody ? n.action_type)
     AND at < n.started_at + coalesce(at - n.frozen_since, interval '0') + make_interval(
       secs => coalesce((plan -> 'timeout_policy' ->> 'execution_seconds')::double precision, 1e9))
     AND within_max_amount(n.amount, m.controls, plan -> 'risk_patch')
  THEN
    passed := (apply_transition(jsonb_build_object(
      'movement_id', movement,
      'states', CASE WHEN n.on_cancel_target OR n.brings IS NOT NULL
        THEN '["CANCELLED", "EXECUTING", "WAITING_MANUAL_ACTION"]'::jsonb
                     ELSE '["EXECUTING", "WAITING_MANUAL_ACTION"]'::jsonb END,
      'require', jsonb_build_object('executors', jsonb_build_array(executor),
        'addresses', addresses,
        'flow', jsonb_build_object('node_key', key, 'amount', n.amount)),
      'nodes', jsonb_build_array(
        jsonb_build_object('node_key', key, 'states', '["READY"]'::jsonb, 'attempt', n.attempt,
        'epoch', n.submit_epoch,
          'set', jsonb_build_object('state', 'SUBMITTING', 'submit_epoch', n.submit_epoch + 1,
          'send_not_after', jsonb_build_object('@after_seconds', window_seconds)))),
      'timeline', jsonb_build_array(
        jsonb_build_object('event_id', event_id, 'event_type', 'node_submitting',
        'message', CASE WHEN n.error_count > 0 THEN 'Submitting again under the same key'
          ELSE 'Submitting' END,
        'actor', '{"type": "system"}'::jsonb, 'node_key', key, 'attempt', n.attempt, 'from_state',
          'READY', 'to_state', 'SUBMITTING',
        'data', jsonb_build_object('idempotency_key', movement || ':' || key || ':' || n.attempt,
          'amount', trim_scale(n.amount)::text,
          'asset', plan -> 'asset')))
    )) ->> 'ok')::boolean;
  END IF;
  RETURN jsonb_build_object('passed', passed, 'row', read_phase(movement, key));
END $$;

-- prisma/functions/flow.sql

-- Returns the amount that a node sent or may have sent; 0 before its fence, and if it is proven
-- that nothing landed. An executor that moved only a part reports the part in a field of its
-- output; for incoming funds the field has the amount that arrived.
CREATE OR REPLACE FUNCTION sent_amount(n movement_nodes) RETURNS numeric LANGUAGE plpgsql IMMUTABLE
  AS $$
DECLARE
  reported jsonb := n.output -> n.sent_field;
BEGIN
  RETURN CASE
    WHEN n.state = 'COMPLETED' THEN least(moved_amount(n), CASE
      -- A JSON number may have been a float, so only text counts.
      WHEN jsonb_typeof(reported) = 'string'
        AND reported #>> '{}' ~ '^(0|[1-9][0-9]{0,19})(\.[0-9]{1,18})?$'
        THEN (reported #>> '{}')::numeric END)
    WHEN may_have_sent(n) THEN coalesce(moved_amount(n), 0)
    ELSE 0 END;
END $$;

-- Returns why a node may not send this amount (`flow`: {"node_key", "amount"}), or NULL if it may.
-- The draws of an asset by all nodes must stay within the approved outflow, and what nodes pass on
-- from a node within what that node sent. A node that a restore brought back may have been sent
-- after the backup: until recovery has checked it, its amount is added. If only this addition
-- exceeds the limit, the reason is RESTORED_NODE_UNASKED with the keys of these nodes. The caller
-- has locked the movement.
CREATE OR REPLACE FUNCTION flow_problems(movement uuid, flow jsonb) RETURNS jsonb
  LANGUAGE plpgsql STABLE AS $$
DECLARE
  own jsonb;
  drawn numeric;
  used numeric;
  most numeric;
  unasked numeric;
  keys jsonb;
BEGIN
  -- The amount to send is known by now. For an allowance, the spender draws the amount of the plan,
  -- whatever amount the allowance is set to.
  SELECT n.flow, CASE WHEN n.pays = 'spender' THEN (n.flow ->> 'amount')::numeric END
    INTO own, drawn FROM movement_nodes n WHERE n.movement_id = movement
    AND n.node_key = flow_problems.flow ->> 'node_key';
  -- A reset of an allowance draws nothing.
  IF drawn IS NOT NULL AND (flow_problems.flow ->> 'amount')::numeric = 0 THEN RETURN NULL; END IF;
  drawn := coalesce(drawn, (flow_problems.flow ->> 'amount')::numeric);
  IF own IS NULL THEN RETURN NULL; END IF;
  SELECT coalesce(sum(sent_amount(n)), 0) INTO used FROM movement_nodes n
  WHERE n.movement_id = movement AND n.node_key <> flow_problems.flow ->> 'node_key'
    AND n.flow ->> 'asset' = own ->> 'asset'
    AND n.flow ->> 'from' IS NOT DISTINCT FROM own ->> 'from';
  IF own ->> 'from' IS NULL THEN
    SELECT outflow_in(m.outflow, own ->> 'asset') INTO most FROM movements m
      WHERE m.movement_id = movement;
    -- No bound: a person approved this movement without one.
    IF most IS NULL THEN RETURN NULL; END IF;
  ELSE
    SELECT sent_amount(n) INTO most FROM movement_nodes n
    WHERE n.movement_id = movement AND n.node_key = own ->> 'from' AND n.state = 'COMPLETED';
  END IF;
  used := used + drawn;
  IF used <= most THEN
    SELECT sum(coalesce(moved_amount(n), 0)),
      jsonb_agg(n.node_key ORDER BY n.node_key) INTO unasked, keys
    FROM movement_nodes n
    WHERE n.movement_id = movement AND n.node_key <> flow_problems.flow ->> 'node_key'
      AND n.recover_first
      AND n.state IN ('BLOCKED', 'SKIPPED') AND n.flow ->> 'asset' = own ->> 'asset'
        AND n.flow ->> 'from' IS NOT DISTINCT FROM own ->> 'from';
    IF used + coalesce(unasked, 0) <= most THEN RETURN NULL; END IF;
  END IF;
  RETURN jsonb_build_array(
    jsonb_strip_nulls(jsonb_build_object('binding', 'flow', 'key', own ->> 'asset',
    'reason', CASE WHEN keys IS NULL THEN 'APPROVED_OUTFLOW_EXCEEDED'
      ELSE 'RESTORED_NODE_UNASKED' END, 'nodes', keys,
    'limit', trim_scale(coalesce(most, 0))::text,
      'used', trim_scale(used - drawn)::text)));
END $$;

-- prisma/functions/holds.sql

-- Fails unless a snapshot younger than `stale_after` seconds covers all holds on the pool (`held`;
-- `change` of it is new) and all that left the pool since the snapshot. The caller has locked the
-- pool, so the sum cannot grow meanwhile.
CREATE OR REPLACE FUNCTION check_covered(pool jsonb, change numeric, held numeric,
  stale_after integer, at timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  b balance_snapshots;
  hold jsonb := pool || jsonb_build_object('amount', trim_scale(change)::text);
  ended numeric;
BEGIN
  SELECT * INTO b FROM balance_snapshots
  WHERE venue_key = pool ->> 'venue_key' AND account_type = pool ->> 'account_type'
    AND asset = pool ->> 'asset';
  IF NOT FOUND THEN
    -- The venue was fetched and did not name this pool, so the pool is empty.
    SELECT max(fetched_at) INTO b.fetched_at FROM balance_snapshots
      WHERE venue_key = pool ->> 'venue_key';
    b.withdrawable := 0;
  END IF;
  IF b.fetched_at IS NULL OR b.fetched_at < at - make_interval(secs => stale_after) THEN
    RAISE EXCEPTION 'stale_snapshot' USING ERRCODE = 'FM012', DETAIL = hold;
  END IF;
  IF b.withdrawable IS NULL THEN RETURN; END IF;
  SELECT amount INTO ended
    FROM ended_outflow(pool ->> 'venue_key', pool ->> 'account_type', pool ->> 'asset',
    b.fetched_at);
  IF held + ended > b.withdrawable THEN
    RAISE EXCEPTION 'insufficient_effective_withdrawable' USING ERRCODE = 'FM010', DETAIL = hold
      || jsonb_build_object(
        'effective_withdrawable', trim_scale(b.withdrawable - ended - (held - change))::text);
  END IF;
END $$;

-- prisma/functions/keys.sql

-- Issues an API key. Uses the active client of that name, or creates it; creates or updates the
-- authority of an agent's key. Fails with FM001 if the key id exists, and with FM002 if the
-- authority has another active key and `replace` is not set.
CREATE OR REPLACE FUNCTION issue_key(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  at timestamptz := svc_now();
  client api_clients;
  made boolean := false;
  authority jsonb := nullif(doc -> 'authority', 'null');
  bound text;
  before jsonb;
BEGIN
  INSERT INTO api_clients (client_id, client_name, created_at)
    VALUES ((doc ->> 'client_id')::uuid, doc ->> 'client_name', at)
  ON CONFLICT (client_name) WHERE status = 'active' DO NOTHING;
  made := FOUND;
  SELECT * INTO client FROM api_clients WHERE client_name = doc ->> 'client_name'
    AND status = 'active' FOR UPDATE;
  IF EXISTS (SELECT 1 FROM api_client_keys WHERE key_id = doc ->> 'key_id') THEN
    RAISE EXCEPTION 'key_exists' USING ERRCODE = 'FM001';
  END IF;
  IF authority IS NOT NULL THEN
    PERFORM lock_authority(authority ->> 'authority_key');
    before := authority_limits(authority ->> 'authority_key');
    INSERT INTO agent_authorities AS a (authority_key, max_notional, allowed_assets,
      allowed_chains, max_ttl_seconds, created_at, updated_at)
    VALUES (authority ->> 'authority_key', (authority ->> 'max_notional')::numeric,
            ARRAY(SELECT jsonb_array_elements_text(
              coalesce(nullif(authority -> 'allowed_assets', 'null'), '[]'))),
            ARRAY(SELECT jsonb_array_elements_text(
              coalesce(nullif(authority -> 'allowed_chains', 'null'), '[]'))),
            (authority ->> 'max_ttl_seconds')::integer, at, at)
    -- An absent field keeps its value.
    ON CONFLICT ON CONSTRAINT agent_authorities_pkey DO UPDATE SET
      max_notional = coalesce(excluded.max_notional, a.max_notional),
      allowed_assets = CASE WHEN authority -> 'allowed_assets' = 'null' THEN a.allowed_assets
        ELSE excluded.allowed_assets END,
      allowed_chains = CASE WHEN authority -> 'allowed_chains' = 'null' THEN a.allowed_chains
        ELSE excluded.allowed_chains END,
      max_ttl_seconds = coalesce(excluded.max_ttl_seconds, a.max_ttl_seconds), updated_at = at;
    IF before IS DISTINCT FROM authority_limits(authority ->> 'authority_key') THEN
      PERFORM write_audit(with_details(doc -> 'authority_audit'
          -> CASE WHEN before IS NULL THEN 'create' ELSE 'update' END,
        jsonb_build_object('before', before,
          'after', authority_limits(authority ->> 'authority_key'))), at);
    END IF;
    SELECT key_id INTO bound FROM api_client_keys
      WHERE authority_key = authority ->> 'authority_key' AND status = 'active' FOR UPDATE;
    IF bound IS NOT NULL THEN
      IF NOT coalesce((doc ->> 'replace')::boolean, false)
        THEN RAISE EXCEPTION 'authority_bound %', bound USING ERRCODE = 'FM002'; END IF;
      UPDATE api_client_keys SET status = 'revoked', revoked_at = at WHERE key_id = bound;
    END IF;
  END IF;
  INSERT INTO api_client_keys (key_id, client_id, role, secret, cert_fingerprint, authority_key,
    created_at)
  VALUES (doc ->> 'key_id', client.client_id, doc ->> 'role', decode(doc ->> 'secret', 'hex'),
    doc ->> 'cert_fingerprint',
          authority ->> 'authority_key', at);
  PERFORM write_audit(with_details(doc -> 'audit',
    jsonb_build_object('client_id', client.client_id, 'client_name', client.client_name,
    'role', doc ->> 'role', 'new_client', made, 'replaced_key_id', bound)), at);
  RETURN jsonb_build_object('client_id', client.client_id, 'created_at', at,
    'replaced_key_id', bound);
END $$;

-- prisma/functions/lanes.sql

-- Stores a transaction that fills an unclaimed nonce, or a later version of such a transaction
-- ("claim", "over"). Returns false if another process was faster.
CREATE OR REPLACE FUNCTION fill_nonce(doc jsonb) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  at timestamptz;
BEGIN
  PERFORM 1 FROM nonce_lanes WHERE chain_id = (doc ->> 'chain_id')::bigint
    AND address = doc ->> 'address' FOR UPDATE;
  at := svc_now();
  IF doc ? 'claim' THEN
    IF NOT is_newest_version(NULL, doc) THEN RETURN false; END IF;
    PERFORM store_version(doc, at);
    RETURN true;
  END IF;
  -- Only a nonce below next_nonce is filled; claims take the others.
  IF (doc ->> 'nonce')::bigint >= (SELECT next_nonce FROM nonce_lanes
    WHERE chain_id = (doc ->> 'chain_id')::bigint AND address = doc ->> 'address') THEN
    RETURN false;
  END IF;
  INSERT INTO evm_transactions (transaction_id, chain_id, address, nonce, signer_key, kind,
    unsigned, raw_tx, tx_hash, created_at)
  VALUES ((doc ->> 'transaction_id')::uuid, (doc ->> 'chain_id')::bigint, doc ->> 'address',
    (doc ->> 'nonce')::bigint, doc ->> 'signer_key', 'cancel', doc -> 'unsigned', doc ->> 'raw_tx',
    doc ->> 'tx_hash', at)
  ON CONFLICT DO NOTHING;
  RETURN FOUND;
END $$;

-- Stores what a worker has read about a lane: the chain's counts of used nonces, the claims that a
-- final block has settled ([{"transaction_id", "mined_hash"}]), and the nonce that cannot be used
-- up ({"nonce", "why"} or null).
CREATE OR REPLACE FUNCTION note_lane(doc jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  each jsonb;
BEGIN
  UPDATE nonce_lanes SET mined_count = (doc ->> 'mined')::bigint,
    final_count = (doc ->> 'final')::bigint, seen_at = svc_now(),
    stuck_nonce = (doc -> 'stuck' ->> 'nonce')::bigint, stuck_why = doc -> 'stuck' ->> 'why',
    stuck_since = CASE WHEN doc -> 'stuck' ->> 'nonce' IS NULL THEN NULL
      WHEN stuck_nonce = (doc -> 'stuck' ->> 'nonce')::bigint THEN stuck_since
      ELSE svc_now() END
  WHERE chain_id = (doc ->> 'chain_id')::bigint AND address = doc ->> 'address';
  -- One row at a time, by key: for a list, the planner expects many rows and may read the whole
  -- table.
  FOR each IN SELECT jsonb_array_elements(doc -> 'settled') LOOP
    UPDATE evm_transactions SET final_at = svc_now(), mined_hash = each ->> 'mined_hash'
    WHERE transaction_id = (each ->> 'transaction_id')::uuid AND final_at IS NULL
      AND released_at IS NULL;
  END LOOP;
END $$;

-- prisma/functions/perp-actions.sql

-- Returns the nonce of an action for the perps venue: the one that this node or wallet already has,
-- else the signer's next. A nonce is the clock's time in milliseconds, since the venue accepts only
-- nonces near its own clock, and each is claimed once. If the clock was once far ahead, so is the
-- last nonce. The venue would refuse a payment with the next nonce now but accept it later, so this
-- fails with FM015 and the last nonce until the clock is near. An approval of an agent moves
-- nothing and may wait.
CREATE OR REPLACE FUNCTION claim_perp_nonce(signer text, movement uuid, node text,
  node_attempt integer, wallet uuid) RETURNS perp_actions LANGUAGE plpgsql AS $$
DECLARE
  found_action perp_actions;
  ms bigint := floor(extract(epoch FROM svc_now()) * 1000);
  next bigint;
BEGIN
  INSERT INTO perp_lanes (address, last_nonce) VALUES (signer, 0) ON CONFLICT DO NOTHING;
  PERFORM 1 FROM perp_lanes WHERE address = signer FOR UPDATE;
  SELECT * INTO found_action FROM perp_actions
  WHERE (movement_id = movement AND node_key = node AND attempt = node_attempt)
    OR wallet_id = wallet;
  IF FOUND THEN RETURN found_action; END IF;
  SELECT greatest(last_nonce + 1, ms) INTO next FROM perp_lanes WHERE address = signer;
  -- 12 hours: half of the day ahead that the venue accepts (docs/perps-venue-facts.md 2).
  IF wallet IS NULL AND next > ms + 12 * 3600 * 1000 THEN
    RAISE EXCEPTION 'nonce_ahead_of_clock' USING ERRCODE = 'FM015', DETAIL = (next - 1)::text;
  END IF;
  UPDATE perp_lanes SET last_nonce = next WHERE address = signer;
  INSERT INTO perp_actions (address, nonce, movement_id, node_key, attempt, wallet_id, created_at)
  VALUES (signer, next, movement, node, node_attempt, wallet, svc_now())
  RETURNING * INTO found_action;
  RETURN found_action;
END $$;

-- prisma/functions/perp-fence.sql

-- Returns why a node may not use the perps venue, or null; `perpProblem` of domain/perps/ready.ts
-- has the same rules. `asked`, for a deposit: {"signer", "node_key", "deposit", "account"}, with
-- its amount and, if a strategy has a balance limit, the account's {"value", "asked_at"}; for a
-- top-up: {"signer", "sub_account"}; else {"signer"}. Deposits pass one at a time, so that the
-- second sees the first. The caller has locked the movement.
CREATE OR REPLACE FUNCTION perp_problem(asked jsonb, movement uuid) RETURNS jsonb
  LANGUAGE plpgsql AS $$
DECLARE
  master text;
  strategy text;
  bound perp_bindings;
  least perp_bindings;
  stopped text;
  reason text;
  about text := asked ->> 'signer';
BEGIN
  IF asked ? 'deposit' THEN PERFORM 1 FROM perp_master FOR UPDATE; END IF;
  SELECT master_address INTO master FROM perp_master;
  SELECT strategy_id INTO strategy FROM movements WHERE movement_id = movement;
  -- Lock first, then read: a concurrent pause happens before or after.
  PERFORM 1 FROM perp_bindings
  WHERE strategy_id = strategy
    OR sub_account_address IS NULL AND (strategy IS NULL OR asked ? 'deposit')
  ORDER BY strategy_id FOR SHARE;
  SELECT * INTO bound FROM perp_bindings WHERE strategy_id = strategy;
  SELECT paused_strategy(strategy) INTO stopped;
  IF master IS NULL THEN
    reason := 'MASTER_ACCOUNT_MISSING';
  ELSIF lower(master) IS DISTINCT FROM lower(asked ->> 'signer') THEN
    reason := CASE WHEN asked ? 'deposit' THEN 'DEPOSITOR_NOT_MASTER'
      ELSE 'MASTER_SIGNER_MISMATCH' END;
  ELSIF strategy IS NOT NULL AND bound.strategy_id IS NULL THEN
    reason := 'STRATEGY_NOT_BOUND';
    about := strategy;
  ELSIF stopped IS NOT NULL THEN
    reason := 'STRATEGY_PAUSED';
    about := stopped;
  ELSIF asked ? 'sub_account'
    AND lower(bound.sub_account_address) IS DISTINCT FROM lower(asked ->> 'sub_account') THEN
    reason := 'SUB_ACCOUNT_MISMATCH';
    about := asked ->> 'sub_account';
  ELSIF asked ? 'deposit' THEN
    about := equal_deposit(movement, asked ->> 'node_key', (asked ->> 'deposit')::numeric);
    reason := CASE WHEN about IS NOT NULL THEN 'EQUAL_DEPOSIT_IN_FLIGHT' END;
    least := least_account_bound();
    -- If the limit was set after prepare, there is no account value to compare, so the deposit may
    -- not pass.
    IF reason IS NULL AND least.strategy_id IS NOT NULL
      AND ((asked #>> '{account,value}')::numeric + (asked ->> 'deposit')::numeric
        + other_deposits(movement, asked ->> 'node_key',
            (asked #>> '{account,asked_at}')::timestamptz) <= least.max_agent_balance)
        IS NOT TRUE THEN
      reason := 'MAX_AGENT_BALANCE_EXCEEDED';
      about := least.strategy_id;
    END IF;
  END IF;
  RETURN CASE WHEN reason IS NOT NULL
    THEN jsonb_build_object('binding', 'perp', 'key', coalesce(about, ''), 'reason', reason,
      'stop', CASE reason WHEN 'STRATEGY_PAUSED' THEN 'paused' ELSE 'perp_terms' END) END;
END $$;

-- prisma/functions/perp-venue.sql

-- Creates the master account. There is only one, and it never changes.
CREATE OR REPLACE FUNCTION create_perp_master(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  wanted perp_master := jsonb_populate_record(NULL::perp_master, doc -> 'master');
  m perp_master;
BEGIN
  INSERT INTO perp_master (master_address, signer_key, network, label, created_at)
  VALUES (wanted.master_address, wanted.signer_key, wanted.network, wanted.label, svc_now())
  ON CONFLICT DO NOTHING RETURNING * INTO m;
  IF FOUND THEN
    RETURN perp_written(doc -> 'audit', 'created', to_jsonb(m), m.created_at);
  END IF;
  SELECT * INTO m FROM perp_master;
  RETURN jsonb_build_object('row', to_jsonb(m), 'outcome', CASE
    WHEN (m.master_address, m.signer_key, m.network, m.label) IS NOT DISTINCT FROM
      (wanted.master_address, wanted.signer_key, wanted.network, wanted.label) THEN 'same'
    ELSE 'master_account_exists' END);
END $$;

CREATE OR REPLACE FUNCTION create_perp_binding(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  wanted perp_bindings := jsonb_populate_record(NULL::perp_bindings, doc -> 'binding');
  b perp_bindings;
  at timestamptz := svc_now();
BEGIN
  IF NOT EXISTS (SELECT FROM perp_master) THEN
    RETURN jsonb_build_object('outcome', 'master_account_missing');
  END IF;
  INSERT INTO perp_bindings (strategy_id, sub_account_address, max_agent_balance, created_at,
    updated_at)
  VALUES (wanted.strategy_id, wanted.sub_account_address, wanted.max_agent_balance, at, at)
  ON CONFLICT DO NOTHING RETURNING * INTO b;
  IF FOUND THEN
    RETURN perp_written(doc -> 'audit', 'created', perp_binding_view(b), at);
  END IF;
  SELECT * INTO b FROM perp_bindings WHERE strategy_id = wanted.strategy_id;
  IF FOUND THEN
    RETURN jsonb_build_object('row', perp_binding_view(b), 'outcome', CASE
      WHEN (b.sub_account_address, b.max_agent_balance) IS NOT DISTINCT FROM
        (wanted.sub_account_address, wanted.max_agent_balance) THEN 'same'
      ELSE 'strategy_binding_exists' END);
  END IF;
  SELECT * INTO b FROM perp_bindings WHERE sub_account_address = wanted.sub_account_address;
  RETURN jsonb_build_object('outcome', 'sub_account_bound', 'row', perp_binding_view(b));
END $$;

-- Stores an agent wallet that needs approval, with the nonce of its approval. Returns NULL for a
-- strategy that is not bound.
CREATE OR REPLACE FUNCTION create_perp_wallet(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  wanted perp_agent_wallets := jsonb_populate_record(NULL::perp_agent_wallets, doc -> 'wallet');
  w perp_agent_wallets;
  used perp_agent_wallets;
  master text := (SELECT master_address FROM perp_master);
  at timestamptz;
BEGIN
  PERFORM FROM perp_bindings WHERE strategy_id = wanted.strategy_id;
  IF NOT FOUND THEN RETURN NULL; END IF;
  -- Wallets are created one at a time, so that no other wallet takes the name or the address
  -- meanwhile.
  INSERT INTO perp_lanes (address, last_nonce) VALUES (master, 0) ON CONFLICT DO NOTHING;
  PERFORM FROM perp_lanes WHERE address = master FOR UPDATE;
  at := svc_now();
  SELECT * INTO used FROM perp_agent_wallets WHERE address = wanted.address;
  IF perp_wallet_is_open(used, at)
    AND (used.strategy_id, used.agent_name, used.signer_key)
      = (wanted.strategy_id, wanted.agent_name, wanted.signer_key)
    AND coalesce(wanted.valid_until, used.valid_until) = used.valid_until THEN
    RETURN jsonb_build_object('outcome', 'same', 'row', perp_wallet_view(used, at));
  END IF;
  SELECT * INTO w FROM perp_agent_wallets
  WHERE agent_name = wanted.agent_name AND strategy_id <> wanted.strategy_id
    AND perp_wallet_is_open(perp_agent_wallets, at) LIMIT 1;
  IF FOUND THEN
    RETURN jsonb_build_object('outcome', 'agent_name_taken');
  END IF;
  -- An address is used only once: the venue forgets what an address has signed as an agent when it
  -- is no longer one.
  IF used.wallet_id IS NOT NULL OR wanted.address = master OR EXISTS (
    SELECT FROM perp_bindings WHERE sub_account_address = wanted.address) THEN
    RETURN jsonb_build_object('outcome', 'agent_address_reused');
  END IF;
  SELECT * INTO w FROM perp_agent_wallets
  WHERE agent_name = wanted.agent_name AND state = 'pending' AND valid_until > at;
  IF FOUND THEN
    RETURN jsonb_build_object('outcome', 'agent_wallet_pending', 'row', perp_wallet_view(w, at));
  END IF;
  IF wanted.valid_until <= at OR wanted.valid_until > at + make_interval(hours => 180 * 24) THEN
    RETURN jsonb_build_object('outcome', 'valid_until_out_of_range');
  END IF;
  -- A pending wallet after its `valid_until` no longer holds the name, but its row may still say
  -- so.
  UPDATE perp_agent_wallets SET state = 'expired', next_look_at = NULL, updated_at = at
  WHERE agent_name = wanted.agent_name AND state = 'pending';
  INSERT INTO perp_agent_wallets (wallet_id, strategy_id, agent_name, signer_key, address,
    valid_until, state, next_look_at, created_at, updated_at)
  VALUES (wanted.wallet_id, wanted.strategy_id, wanted.agent_name, wanted.signer_key, wanted.address,
    -- The venue's default is 90 days; the approval states the time.
    coalesce(wanted.valid_until, at + make_interval(hours => 90 * 24)), 'pending', at, at, at)
  RETURNING * INTO w;
  PERFORM claim_perp_nonce(master, NULL, NULL, NULL, w.wallet_id);
  RETURN perp_written(doc -> 'audit', 'created', perp_wallet_view(w, at), at);
END $$;

-- Stores the result of a check of a wallet at the venue: a new state, or only the time of the next
-- check and an error. A new state is proven, so any process may write it; only the holder of the
-- lease may write the rest. Returns false if nothing was written.
CREATE OR REPLACE FUNCTION note_perp_wallet(doc jsonb) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  w perp_agent_wallets;
  at timestamptz;
  next_at timestamptz;
  gone uuid[];
BEGIN
  SELECT * INTO w FROM perp_agent_wallets WHERE wallet_id = (doc ->> 'wallet_id')::uuid FOR UPDATE;
  at := svc_now();
  next_at := at + make_interval(secs => (doc ->> 'next_seconds')::double precision);
  IF w.state IS DISTINCT FROM doc ->> 'from' THEN RETURN false; END IF;
  IF doc ->> 'to' IS NULL THEN
    UPDATE perp_agent_wallets SET next_look_at = next_at, last_error = doc ->> 'last_error',
      nonce_used_at = CASE WHEN doc ? 'nonce_used' THEN coalesce(nonce_used_at, at)
        ELSE nonce_used_at END,
      updated_at = CASE WHEN last_error IS DISTINCT FROM doc ->> 'last_error' THEN at
        ELSE updated_at END
    WHERE wallet_id = w.wallet_id AND next_look_at = (doc ->> 'lease')::timestamptz;
    RETURN FOUND;
  END IF;
  IF doc ->> 'to' = 'active' THEN
    -- On the venue, this wallet has replaced the earlier wallet of the same name.
    WITH before AS (
      UPDATE perp_agent_wallets SET next_look_at = NULL, updated_at = at,
        state = CASE WHEN valid_until <= at THEN 'expired' ELSE 'replaced' END
      WHERE agent_name = w.agent_name AND state = 'active' RETURNING wallet_id)
    SELECT array_agg(wallet_id) INTO gone FROM before;
  END IF;
  UPDATE perp_agent_wallets SET state = doc ->> 'to', last_error = doc ->> 'last_error',
    next_look_at = next_at, updated_at = at,
    approved_at = CASE WHEN doc ->> 'to' = 'active' THEN at ELSE approved_at END
  WHERE wallet_id = w.wallet_id;
  PERFORM write_audit(with_details(doc -> 'audit',
    jsonb_strip_nulls(jsonb_build_object('replaced', gone))), at);
  RETURN true;
END $$;

-- prisma/functions/phases.sql

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

-- prisma/functions/proposals.sql

-- Stores a proposal with the decision that was made from `limits`. Outcome "outdated": the
-- authority has other limits now, and nothing was written. Outcome "used": the returned row has the
-- idempotency key.
CREATE OR REPLACE FUNCTION create_proposal(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  p template_proposals := jsonb_populate_record(NULL::template_proposals, doc -> 'proposal');
  first template_proposals;
  at timestamptz;
BEGIN
  PERFORM lock_authority(p.authority_key);
  IF p.idempotency_key IS NOT NULL THEN
    SELECT * INTO first FROM template_proposals
      WHERE client_scope = p.client_scope AND idempotency_key = p.idempotency_key;
    IF FOUND THEN
      RETURN jsonb_build_object('outcome', 'used', 'row', proposal_view(first));
    END IF;
  END IF;
  IF authority_limits(p.authority_key) IS DISTINCT FROM doc -> 'limits' THEN
    RETURN jsonb_build_object('outcome', 'outdated');
  END IF;
  at := svc_now();
  p.created_at := at;
  p.updated_at := at;
  p.expires_at := at + make_interval(secs => (doc ->> 'ttl_seconds')::double precision);
  IF p.status = 'auto_promoted' THEN
    p := with_version(p, doc -> 'template', (doc ->> 'most_versions')::integer);
  END IF;
  -- Another authority of the same client may have used the idempotency key meanwhile.
  INSERT INTO template_proposals SELECT p.* ON CONFLICT (client_scope, idempotency_key)
    WHERE idempotency_key IS NOT NULL DO NOTHING;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'another request used the idempotency key meanwhile: try again'
      USING ERRCODE = 'serialization_failure';
  END IF;
  PERFORM write_audit(with_details(doc -> 'audit', told_of(p)), at);
  RETURN jsonb_build_object('outcome', 'created', 'row', proposal_view(p));
END $$;

-- Returns the proposal with its template version: of the active versions for the same plan, the one
-- with the smallest max_amount that covers the proposal's (for a static proposal: that equals it),
-- else a new version. Called under the authority's lock, so that no two versions are equal. Fails
-- with FM017 if a new version is needed and the authority's namespace already has `most`; NULL
-- means no limit, for an administrator.
CREATE OR REPLACE FUNCTION with_version(p template_proposals, template jsonb, most integer)
  RETURNS template_proposals LANGUAGE plpgsql AS $$
DECLARE
  known template_proposals;
  next integer;
BEGIN
  SELECT k.* INTO known FROM plan_template_versions v
    JOIN template_proposals k USING (template_id)
  WHERE v.status = 'active' AND k.status = 'auto_promoted' AND k.template_key = p.template_key
    AND k.plan_digest = p.plan_digest AND k.proposal_kind = p.proposal_kind
    AND k.max_amount >= p.max_amount
    AND (p.proposal_kind = 'ephemeral' OR k.max_amount = p.max_amount)
  ORDER BY k.max_amount, k.template_version LIMIT 1 FOR SHARE OF v;
  IF FOUND THEN
    p.template_id := known.template_id;
    p.template_version := known.template_version;
    p.max_amount := known.max_amount;
    RETURN p;
  END IF;
  IF most <= (SELECT count(*) FROM plan_template_versions
    WHERE status = 'active' AND starts_with(template_key, 'agent/' || p.authority_key || '/')) THEN
    RAISE EXCEPTION 'template_versions_exceeded' USING ERRCODE = 'FM017',
      DETAIL = p.authority_key;
  END IF;
  -- Administrators may register a version of this key at the same time; then the next number is
  -- tried.
  LOOP
    SELECT coalesce(max(version), 0) + 1 INTO next FROM plan_template_versions
      WHERE template_key = p.template_key;
    EXIT WHEN (create_template(jsonb_set(jsonb_set(template, '{version,version}', to_jsonb(next)),
      '{audit}', with_details(template -> 'audit', jsonb_build_object('version', next,
        'proposal_id', p.proposal_id)))) ->> 'created')::boolean;
  END LOOP;
  p.template_id := (template #>> '{version,template_id}')::uuid;
  p.template_version := next;
  RETURN p;
END $$;

-- prisma/functions/resolve.sql

-- Returns why the outcome of a node's send cannot be known yet, or null if it can: the send may
-- still be under way, its signed transaction may still be mined, or the perps venue may still
-- execute its signed action (`WINDOW_MS` of domain/perps/nonce-window.ts). The caller has locked
-- movement and node. The remaining time follows `unsettledSeconds` in domain/send/not-found.ts, and
-- is computed here too since it must be checked under these locks; if it is null, no send can be
-- under way. `asked`: {"node_key", "settle_seconds", "nonces_closed"}.
CREATE OR REPLACE FUNCTION unsettled_send(movement uuid, asked jsonb, at timestamptz) RETURNS jsonb
  LANGUAGE plpgsql AS $$
DECLARE
  n record;
  seconds double precision;
BEGIN
  SELECT attempt, send_not_after, signer_binding ->> 'signer_key' AS signer INTO n
  FROM movement_nodes WHERE movement_id = movement AND node_key = asked ->> 'node_key';
  seconds := extract(epoch
    FROM n.send_not_after - at) + (asked ->> 'settle_seconds')::double precision;
  IF seconds > 0 THEN
    RETURN jsonb_build_object('reason', 'send_not_over',
      'retry_after_seconds', ceil(seconds)::bigint);
  END IF;
  IF NOT (asked ->> 'nonces_closed')::boolean THEN RETURN NULL; END IF;
  SELECT extract(epoch FROM to_timestamp(a.nonce / 1000.0) + interval '49 hours' - at) INTO seconds
  FROM perp_actions a
  WHERE a.movement_id = movement AND a.node_key = asked ->> 'node_key' AND a.attempt = n.attempt
    AND a.signature IS NOT NULL;
  IF seconds > 0 THEN
    RETURN jsonb_build_object('reason', 'send_not_over',
      'retry_after_seconds', ceil(seconds)::bigint);
  END IF;
  RETURN coalesce((
    SELECT jsonb_build_object('reason', 'payment_mined', 'chain', a.chain_id,
      'tx_hash', a.mined_hash)
    FROM authorizations a
    WHERE a.movement_id = movement AND a.node_key = asked ->> 'node_key' AND a.attempt = n.attempt
      AND a.mined_hash IS NOT NULL LIMIT 1), (
    -- A final block has the payment itself, not its zero-value replacement.
    SELECT jsonb_build_object('reason', 'payment_mined', 'chain', p.chain_id, 'tx_hash', p.tx_hash)
    FROM evm_transactions t
    JOIN evm_transactions p ON p.kind = 'payment' AND p.tx_hash = t.mined_hash
      AND t.transaction_id IN (p.transaction_id, p.replaces)
    WHERE t.movement_id = movement AND t.node_key = asked ->> 'node_key' AND t.attempt = n.attempt
      AND t.final_at IS NOT NULL AND t.released_at IS NULL LIMIT 1), (
    SELECT jsonb_build_object('reason', 'nonce_open', 'signer', n.signer, 'address', t.address,
      'chain', t.chain_id, 'nonce', t.nonce,
      'hashes', jsonb_agg(t.tx_hash ORDER BY t.created_at, t.transaction_id))
    FROM evm_transactions t
    WHERE t.movement_id = movement AND t.node_key = asked ->> 'node_key' AND t.attempt = n.attempt
      AND t.raw_tx IS NOT NULL AND t.released_at IS NULL
    GROUP BY t.chain_id, t.address, t.nonce ORDER BY t.chain_id, t.nonce LIMIT 1));
END $$;

-- prisma/functions/restore.sql

-- Prepares the database after a restore that may have lost commits: recovery must check every open
-- node and transfer before it may be sent (again). Runs once for each incident; a repeat returns
-- the first result and changes nothing. `until`: after it, no earlier send can be under way
-- (LONGEST_WINDOW_SECONDS of domain/send/window.ts). `signed_until`: after it, an authorization
-- that was signed for a team's own executor can no longer be used (LONGEST_AUTHORIZATION_SECONDS of
-- domain/signing.ts).
CREATE OR REPLACE FUNCTION after_restore(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  at timestamptz := svc_now();
  until timestamptz := at + make_interval(secs => (doc ->> 'send_seconds')::double precision);
  signed_until timestamptz := at
    + make_interval(secs => (doc ->> 'signature_seconds')::double precision);
  done jsonb;
  woken uuid[];
  open_nodes integer;
  retries integer;
  lanes integer;
  transfers integer := 0;
  t capital_transfers;
BEGIN
  INSERT INTO restores (incident, at) VALUES (doc ->> 'incident', at) ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN
    SELECT result INTO done FROM restores WHERE incident = doc ->> 'incident';
    RETURN done || '{"repeated": true}';
  END IF;

  -- An ended movement that can be retried counts too: the backup may lack its next attempt, which
  -- may have been sent.
  PERFORM FROM movements WHERE request_state NOT IN ('COMPLETED', 'REJECTED', 'EXPIRED')
    ORDER BY movement_id FOR UPDATE;
  -- The restore may have lost an approval, so people get time to repeat it: recovery checks only
  -- nodes of approved movements, and an expired movement cannot be approved.
  UPDATE movements SET expires_at = greatest(expires_at, at + interval '7 days')
  WHERE request_state = 'PENDING_APPROVAL';
  WITH suspect AS (
    UPDATE movement_nodes n SET
      restored = true,
      recover_first = recover_first OR n.state IN ('BLOCKED', 'READY', 'SKIPPED'),
      -- Higher than any epoch that was lost, so that a worker with a lost epoch can write nothing.
      submit_epoch = submit_epoch + 1000,
      send_not_after = greatest(send_not_after, until,
        CASE WHEN n.signer_binding IS NOT NULL AND EXISTS (SELECT FROM executors e
            WHERE e.executor_key = n.executor_binding ->> 'executor_key' AND e.kind <> 'local')
          THEN signed_until END)
    FROM movements m
    WHERE m.movement_id = n.movement_id
      AND m.request_state NOT IN ('COMPLETED', 'REJECTED', 'EXPIRED')
      AND n.state NOT IN ('COMPLETED', 'CANCELLED')
      AND n.may_send
    RETURNING n.state
  ) SELECT count(*) FILTER (WHERE state NOT IN ('FAILED', 'SKIPPED')), count(*)
    FILTER (WHERE state IN ('FAILED', 'SKIPPED'))
  INTO open_nodes, retries FROM suspect;
  WITH open AS (
    UPDATE movements SET version = version + 1 WHERE ended_at IS NULL
      AND request_state NOT IN ('COMPLETED', 'REJECTED', 'EXPIRED')
    RETURNING movement_id
  ) SELECT coalesce(array_agg(movement_id ORDER BY movement_id), '{}') INTO woken FROM open;
  -- A run may remember changes that the database has lost: wake each run to load again.
  INSERT INTO commands (command_id, movement_id, kind, created_at, claimed_until)
  SELECT svc_new_id(at), id, 'wake', at, at FROM unnest(woken) AS id;

  -- A transaction that was lost may have used any nonce from the lane's next one on. If there was
  -- an earlier restore, the lane may have lost all of its nonces then, so this starts at 0.
  UPDATE nonce_lanes SET unproven_from = coalesce(unproven_from,
    CASE WHEN EXISTS (SELECT FROM restores WHERE incident <> doc ->> 'incident') THEN 0
      ELSE next_nonce END);
  GET DIAGNOSTICS lanes = ROW_COUNT;

  FOR t IN SELECT * FROM capital_transfers
    WHERE request_state IN ('CREATED', 'SUBMITTING', 'PENDING_PROVIDER_CONFIRMATION')
           ORDER BY transfer_id FOR UPDATE LOOP
    IF NOT (apply_transfer_step(
      jsonb_build_object('transfer_id', t.transfer_id, 'states', jsonb_build_array(t.request_state),
      -- SUBMITTING, as after a fence: the transfer is sent if the provider shows nothing and a
      -- repeat has no second effect.
      'to', CASE WHEN t.request_state = 'CREATED' THEN 'SUBMITTING' ELSE t.request_state END,
      'set', jsonb_build_object('epoch', t.submit_epoch + 1000,
        'send_not_after', jsonb_build_object('@after_seconds', doc -> 'send_seconds')),
      'event', jsonb_build_object('event_id', svc_new_id(at), 'event_type', 'transfer_pending',
        'actor', '{"type": "system"}'::jsonb,
        'message', 'The database was restored: the service gets the outcome from the provider'),
      'wakes', true)) ->> 'ok')::boolean THEN
      RAISE EXCEPTION 'capital transfer % cannot be marked for recovery after the restore',
        t.transfer_id;
    END IF;
    transfers := transfers + 1;
  END LOOP;

  done := jsonb_build_object('incident', doc ->> 'incident',
    'at', to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'nothing_found_counts_from', to_char(until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'movements_woken', cardinality(woken), 'nodes_asked_first', open_nodes,
      'retries_asked_first', retries, 'capital_transfers', transfers, 'nonce_lanes', lanes);
  UPDATE restores SET result = done WHERE incident = doc ->> 'incident';
  PERFORM write_audit(with_details(doc -> 'audit', done), at);
  RETURN done || '{"repeated": false}';
END $$;

-- Returns the nonces below `count` that a transaction lost with a restore may have used: no
-- transaction in this database is proven to have used them. A transaction that was signed after the
-- restore may share its nonce with a lost one. Once its claim is released, the lost one is proven
-- to have used the nonce; while its claim is open, neither is. For an account without a lane, all
-- nonces may be lost.
CREATE OR REPLACE FUNCTION unknown_nonces(chain bigint, account text, count bigint) RETURNS jsonb
  LANGUAGE sql VOLATILE AS $$
  SELECT coalesce(jsonb_agg(jsonb_build_object('nonce', used, 'open', open) ORDER BY open, used),
    '[]'::jsonb) FROM (
    SELECT used, coalesce(bool_or(t.released_at IS NULL AND t.final_at IS NULL)
      FILTER (WHERE t.transaction_id IS NOT NULL), false) AS open
    FROM generate_series(
      coalesce((SELECT unproven_from FROM nonce_lanes WHERE chain_id = chain
        AND address = account), 0), count - 1) AS used
    LEFT JOIN evm_transactions t ON t.chain_id = chain AND t.address = account AND t.nonce = used
      AND t.raw_tx IS NOT NULL
    LEFT JOIN movement_nodes n ON n.movement_id = t.movement_id AND n.node_key = t.node_key
    GROUP BY used
    -- Proven by a final block; before that by a node that ended by proof, and not because a person
    -- resolved it.
    HAVING NOT coalesce(bool_or(t.mined_hash IS NOT NULL OR t.released_at IS NULL
      AND t.final_at IS NULL AND (n.attempt > t.attempt OR n.state IN ('COMPLETED', 'FAILED'))
      AND NOT was_resolved(t)), false)
    ORDER BY 2, 1 LIMIT 10) AS missing
$$;

-- prisma/functions/signer-lifecycle.sql

-- Returns why a node stays with a signer that was replaced; NULL if it moves to the replacement.
-- signer_ties adds the reasons that come from other nodes.
CREATE OR REPLACE FUNCTION signer_tie(m movements, params jsonb, n movement_nodes,
  addresses text[], without_room boolean) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN EXISTS (SELECT FROM evm_transactions t WHERE t.movement_id = n.movement_id
      AND t.node_key = n.node_key AND t.attempt = n.attempt AND t.released_at IS NULL)
      THEN 'open_nonce'
    WHEN n.state NOT IN ('BLOCKED', 'READY') THEN 'in_flight'
    -- Recovery searches for a send at the account that may have sent it, so the node keeps that
    -- account.
    WHEN n.recover_first OR n.restored OR n.submitted_at IS NOT NULL
      OR EXISTS (SELECT FROM node_attempts a WHERE a.movement_id = n.movement_id
        AND a.node_key = n.node_key AND a.attempt = n.attempt) THEN 'passed_fence'
    WHEN n.tied_by <> 'nothing' THEN n.tied_by
    WHEN EXISTS (SELECT FROM movement_nodes o WHERE o.movement_id = m.movement_id
      AND lower(node_plan(o.own_plan, params) -> 'config' ->> 'destination_caller')
        = ANY (addresses)) THEN 'destination_caller'
    -- Funds may arrive at the old address, and only the old signer can pass them on.
    WHEN EXISTS (SELECT FROM unnest(addresses) a
      CROSS JOIN LATERAL (SELECT lower(substr(a, 3)) AS digits) d
      WHERE position(digits IN lower(concat(m.intent, params))) > 0
        OR EXISTS (SELECT FROM movement_nodes o WHERE o.movement_id = m.movement_id
          AND position(digits IN lower(o.own_plan::text)) > 0)) THEN 'old_address'
    WHEN without_room AND n.flow ->> 'from' IS NULL
      AND split_part(n.flow -> 'pool' ->> 'venue_key', ':', 2) = n.signer_binding ->> 'signer_key'
      THEN 'no_room' END
$$;

-- Binds the nodes of a movement that may still sign to the signers that replaced theirs, unless
-- something ties a node to the old one. Returns why each node stays, null if it moved. The caller
-- has locked the movement.
CREATE OR REPLACE FUNCTION follow_signers(movement uuid, take jsonb, actor jsonb, at timestamptz)
  RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  m movements;
  ties jsonb;
BEGIN
  SELECT * INTO STRICT m FROM movements WHERE movement_id = movement;
  ties := signer_ties(m, false);
  IF NOT EXISTS (SELECT FROM jsonb_each(ties) WHERE value = 'null') THEN RETURN ties; END IF;
  BEGIN
    PERFORM rebind_nodes(movement, ties, at);
    IF m.pooled THEN PERFORM move_holds(m, take, at); END IF;
  EXCEPTION WHEN SQLSTATE 'FM010' OR SQLSTATE 'FM012' THEN
    -- The replacement's pools cannot cover the holds: nodes that draw from the old signer's pools
    -- stay with the old signer.
    ties := signer_ties(m, true);
    PERFORM rebind_nodes(movement, ties, at);
  END;
  UPDATE movements SET updated_at = at, next_sequence = write_timeline(m, (
    SELECT coalesce(jsonb_agg(jsonb_build_object('event_id', svc_new_id(at),
      'event_type', 'signer_remapped', 'node_key', n.node_key, 'attempt', n.attempt,
      'actor', actor, 'message', 'Bound to the signer ' || (n.signer_binding ->> 'signer_key')
        || ', the replacement of its former signer',
      'data', jsonb_build_object('signer_key', n.signer_binding ->> 'signer_key',
        'original_signer_key', n.own_plan -> 'signer_binding' ->> 'signer_key'))
      ORDER BY n.position), '[]'::jsonb)
    FROM movement_nodes n WHERE n.movement_id = movement AND ties ? n.node_key
      AND ties ->> n.node_key IS NULL), ARRAY[]::text[], at)
  WHERE movement_id = movement;
  RETURN ties;
END $$;

-- Deprecates the old signer and binds its open nodes to the new one. Returns how many nodes moved,
-- and which stay and why.
CREATE OR REPLACE FUNCTION replace_signer(old_key text, new_key text, doc jsonb,
  movement_ids uuid[], at timestamptz) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  movement uuid;
  ties jsonb;
  remapped integer := 0;
  kept jsonb := '[]';
BEGIN
  UPDATE signers SET status = 'deprecated', replaced_by = new_key, updated_at = at,
    known_addresses = ARRAY(SELECT jsonb_array_elements_text(doc -> 'known_addresses'))
  WHERE signer_key = old_key;
  PERFORM lock_signer_pools(old_key, new_key);
  FOREACH movement IN ARRAY movement_ids LOOP
    ties := follow_signers(movement, doc -> 'take', doc -> 'actor', at);
    SELECT remapped + count(*) FILTER (WHERE value = 'null'),
      kept || coalesce(jsonb_agg(jsonb_build_object('movement_id', movement, 'node_key', key,
        'reason', value) ORDER BY key) FILTER (WHERE value <> 'null'), '[]'::jsonb)
    INTO remapped, kept FROM jsonb_each(ties);
    CONTINUE WHEN NOT EXISTS (SELECT FROM jsonb_each(ties) WHERE value = 'null');
    -- The new version makes callers that decided on the former state decide again.
    UPDATE movements SET version = version + 1 WHERE movement_id = movement;
    INSERT INTO commands (command_id, movement_id, kind, created_at, claimed_until)
    SELECT svc_new_id(at), movement, 'wake', at, at
    WHERE EXISTS (SELECT FROM movement_nodes n WHERE n.movement_id = movement
      AND n.state = 'READY' AND ties ? n.node_key AND ties ->> n.node_key IS NULL);
  END LOOP;
  RETURN jsonb_build_object('remapped', remapped, 'kept', kept,
    'open_nonces', (SELECT count(*) FROM open_nodes_of(old_key) n
      JOIN evm_transactions t USING (movement_id, node_key, attempt)
      WHERE t.released_at IS NULL AND t.replaces IS NULL AND t.final_at IS NULL),
    'pending_approval', (SELECT count(*) FROM movements m
      WHERE m.movement_id = ANY (movement_ids) AND m.request_state = 'PENDING_APPROVAL'));
END $$;

-- Rotates `key` to `other_key`; a drill (`drill`) then rolls the rotation back. See
-- store/signer-lifecycle.ts for the shape of `doc`.
CREATE OR REPLACE FUNCTION rotate_signer(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  a signers;
  b signers;
  movement_ids uuid[];
  problem jsonb;
  impact jsonb;
  played text;
  at timestamptz;
BEGIN
  PERFORM pg_advisory_xact_lock(7203118846);
  at := svc_now();
  PERFORM declare_signer(value, at) FROM jsonb_array_elements(doc -> 'declared');
  -- Every function locks movements before signers.
  movement_ids := ARRAY(SELECT m.movement_id FROM movements m
    WHERE m.movement_id IN (SELECT n.movement_id FROM open_nodes_of(doc ->> 'key') n)
    ORDER BY m.movement_id FOR UPDATE);
  PERFORM FROM movement_nodes WHERE movement_id = ANY (movement_ids)
    AND signer_binding ->> 'signer_key' = doc ->> 'key' ORDER BY movement_id, node_key FOR UPDATE;
  PERFORM FROM signers WHERE signer_key IN (doc ->> 'key', doc ->> 'other_key')
    ORDER BY signer_key FOR UPDATE;
  SELECT * INTO STRICT a FROM signers WHERE signer_key = doc ->> 'key';
  SELECT * INTO STRICT b FROM signers WHERE signer_key = doc ->> 'other_key';
  problem := rotation_problem(a, b, doc -> 'asked');
  IF problem IS NOT NULL THEN RETURN jsonb_build_object('ok', false) || problem; END IF;
  BEGIN
    impact := replace_signer(a.signer_key, b.signer_key, doc, movement_ids, at);
    IF (doc ->> 'drill')::boolean THEN
      RAISE EXCEPTION 'the rotation is a drill and is rolled back'
        USING ERRCODE = 'FM014', DETAIL = impact::text;
    END IF;
  EXCEPTION WHEN SQLSTATE 'FM014' THEN
    GET STACKED DIAGNOSTICS played = PG_EXCEPTION_DETAIL;
    impact := played::jsonb;
  END;
  PERFORM write_signer_event(doc, jsonb_build_object('impact', impact), at);
  RETURN jsonb_build_object('ok', true, 'impact', impact, 'at', at);
END $$;

-- Returns the first condition (gate) that a retirement does not meet, or NULL. The chains were read
-- before (`seen`); the rest is read under the signer's lock.
CREATE OR REPLACE FUNCTION failed_gate(s signers, seen jsonb, acknowledged boolean) RETURNS jsonb
  LANGUAGE plpgsql STABLE AS $$
DECLARE
  nodes jsonb;
  nonces jsonb;
BEGIN
  IF s.status <> 'deprecated' THEN
    RETURN jsonb_build_object('failed_gate', 'signer_not_deprecated', 'status', s.status);
  END IF;
  IF seen ->> 'unavailable' IS NOT NULL THEN
    RETURN jsonb_build_object('failed_gate', 'inventory_unavailable',
      'reason', seen ->> 'unavailable', 'problems', seen -> 'problems');
  END IF;
  IF jsonb_array_length(seen -> 'above_dust') > 0 THEN
    RETURN jsonb_build_object('failed_gate', 'balance_above_dust',
      'balances', seen -> 'above_dust');
  END IF;
  -- Funds at the perps venue are no balance on a chain: another active signer must be able to sign
  -- for the master account.
  IF is_perp_master(s) AND NOT EXISTS (SELECT FROM signers o JOIN perp_master m
    ON lower(o.expected_signer_address) = lower(m.master_address)
    WHERE o.signer_key <> s.signer_key AND o.status = 'active') THEN
    RETURN '{"failed_gate": "perp_master_account"}'::jsonb;
  END IF;
  SELECT jsonb_agg(jsonb_build_object('movement_id', n.movement_id, 'node_key', n.node_key,
    'state', n.state) ORDER BY n.movement_id, n.position) INTO nodes
  FROM open_nodes_of(s.signer_key) n;
  IF nodes IS NOT NULL THEN
    RETURN jsonb_build_object('failed_gate', 'non_terminal_nodes', 'non_terminal_nodes', nodes);
  END IF;
  SELECT jsonb_agg(nonce) INTO nonces FROM jsonb_array_elements(seen -> 'accounts') account,
    jsonb_array_elements(open_nonces(account ->> 'address', account -> 'used_nonces')) nonce;
  IF nonces IS NOT NULL THEN
    RETURN jsonb_build_object('failed_gate', 'open_nonces', 'open_nonces', nonces);
  END IF;
  IF NOT acknowledged AND (jsonb_array_length(seen -> 'allowances') > 0
    OR (seen ->> 'unsupported_spender_not_checked')::boolean) THEN
    RETURN jsonb_build_object('failed_gate', 'allowances_not_acknowledged',
      'allowances', seen -> 'allowances',
      'unsupported_spender_not_checked', seen -> 'unsupported_spender_not_checked');
  END IF;
  RETURN NULL;
END $$;

-- Retires a signer, or returns the gate that it does not pass; either is stored as evidence.
-- Returns NULL for an unknown signer.
CREATE OR REPLACE FUNCTION retire_signer(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  s signers;
  at timestamptz;
  denied jsonb;
BEGIN
  -- Creates, retries and fences run before or after this, as with a rotation.
  PERFORM pg_advisory_xact_lock(7203118846);
  at := svc_now();
  PERFORM declare_signer(value, at) FROM jsonb_array_elements(doc -> 'declared');
  SELECT * INTO s FROM signers WHERE signer_key = doc ->> 'key' FOR UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  denied := failed_gate(s, doc -> 'seen', (doc ->> 'acknowledged')::boolean);
  IF denied IS NOT NULL THEN
    PERFORM write_signer_event(doc || '{"event_type": "retirement_denied", "audit": []}', denied,
      at);
    RETURN jsonb_build_object('ok', false, 'denied', denied);
  END IF;
  UPDATE signers SET status = 'retired', updated_at = at WHERE signer_key = s.signer_key;
  PERFORM write_signer_event(doc, '{}'::jsonb, at);
  RETURN jsonb_build_object('ok', true, 'at', at);
END $$;

-- prisma/functions/stops.sql

-- Returns the stops of domain/send/stops.ts that now forbid to send what a node has signed:
-- [{"stop", "why"}]. `required` is that of binding_problems. All rows that are read here stay
-- locked until the statement ends.
CREATE OR REPLACE FUNCTION send_stops(movement uuid, key text, required jsonb) RETURNS jsonb
  LANGUAGE plpgsql AS $$
DECLARE
  mode text := cutover_now();
  m record;
  n record;
  found jsonb := '[]'::jsonb;
BEGIN
  SELECT request_state INTO STRICT m FROM movements WHERE movement_id = movement;
  SELECT state, only_look, on_cancel_target OR brings IS NOT NULL AS outlives,
    cancel_asked = attempt AS cancel_requested
  INTO STRICT n FROM movement_nodes WHERE movement_id = movement AND node_key = key;
  IF mode = 'frozen' THEN
    found := found || '{"stop": "frozen", "why": "the cutover mode is frozen"}'::jsonb;
  END IF;
  IF m.request_state = 'CANCELLED' AND NOT n.outlives THEN
    found := found || '{"stop": "cancelled", "why": "the movement is cancelled"}'::jsonb;
  END IF;
  IF n.cancel_requested THEN
    found := found
      || '{"stop": "cancel_requested", "why": "a person cancelled the transaction"}'::jsonb;
  END IF;
  IF n.state = 'UNKNOWN' OR n.only_look THEN
    found := found || jsonb_build_object('stop', 'unknown',
      'why', 'the outcome of the send is unknown, and only a retry may send again');
  END IF;
  RETURN found || coalesce((
    SELECT jsonb_agg(jsonb_build_object(
      'stop', CASE p ->> 'binding'
        WHEN 'executor' THEN 'executor_inactive'
        WHEN 'signer' THEN CASE p ->> 'reason' WHEN 'identity_mismatch' THEN 'signer_mismatch'
          WHEN 'retired' THEN 'signer_retired' ELSE 'signer_inactive' END
        WHEN 'address' THEN CASE p ->> 'reason' WHEN 'ADDRESS_NOT_ALLOWLISTED'
          THEN 'payee_revoked' ELSE 'payee_unusable' END
        ELSE p ->> 'stop' END,
      'why', (p ->> 'binding') || ' ' || (p ->> 'key') || ': ' || (p ->> 'reason')))
    FROM jsonb_array_elements(binding_problems(required, movement)) AS p), '[]'::jsonb);
END $$;

-- prisma/functions/transaction-nonces.sql

-- Returns the nonce of a node's attempt: the one that the attempt already claims, else the lane's
-- next. A claim ends only through `released_at`, so recovery can never move a node to a new nonce
-- by itself.
CREATE OR REPLACE FUNCTION claim_nonce(movement uuid, node text, node_attempt integer, claim jsonb,
  at timestamptz)
RETURNS evm_transactions LANGUAGE plpgsql AS $$
DECLARE
  tx evm_transactions;
  taken bigint;
BEGIN
  INSERT INTO nonce_lanes (chain_id, address, next_nonce)
    VALUES ((claim ->> 'chain_id')::bigint, claim ->> 'address', 0)
  ON CONFLICT DO NOTHING;
  PERFORM 1 FROM nonce_lanes WHERE chain_id = (claim ->> 'chain_id')::bigint
    AND address = claim ->> 'address' FOR UPDATE;
  SELECT * INTO tx FROM evm_transactions
  WHERE movement_id = movement AND node_key = node AND attempt = node_attempt
    AND released_at IS NULL AND replaces IS NULL
  ORDER BY created_at DESC LIMIT 1;
  IF FOUND THEN RETURN tx; END IF;
  -- Takes over a claim that can no longer be signed, since every later nonce would wait for it.
  UPDATE evm_transactions SET released_at = at
  WHERE transaction_id = (left_claim(claim)).transaction_id
  RETURNING nonce INTO taken;
  IF taken IS NULL THEN
    UPDATE nonce_lanes SET next_nonce = greatest(next_nonce, (claim ->> 'chain_nonce')::bigint) + 1,
      signer_key = claim ->> 'signer_key'
    WHERE chain_id = (claim ->> 'chain_id')::bigint AND address = claim ->> 'address'
    RETURNING next_nonce - 1 INTO taken;
  END IF;
  INSERT INTO evm_transactions (transaction_id, chain_id, address, nonce, signer_key, movement_id,
    node_key, attempt, unsigned, created_at)
  VALUES ((claim ->> 'transaction_id')::uuid, (claim ->> 'chain_id')::bigint, claim ->> 'address',
    taken, claim ->> 'signer_key', movement, node, node_attempt, claim -> 'unsigned', at)
  RETURNING * INTO tx;
  RETURN tx;
END $$;

-- prisma/functions/write-path.sql

-- Applies one transition; see store/transition.ts for the shape of `doc`.
CREATE OR REPLACE FUNCTION apply_transition(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
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
  frozen boolean;
  unclaimed boolean := false;
  holder jsonb;
BEGIN
  -- Finds the nodes that pass a fence before any row is locked; see cutover_now.
  SELECT array_agg(value ->> 'node_key') INTO fenced FROM jsonb_array_elements(nodes)
    WHERE value -> 'set' ->> 'state' = 'SUBMITTING';
  frozen := fenced IS NOT NULL AND cutover_now() = 'frozen';
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

  IF doc ? 'command_id'
    AND EXISTS (SELECT 1 FROM commands WHERE command_id = (doc ->> 'command_id')::uuid) THEN
    RETURN jsonb_build_object('ok', true, 'at', at, 'version', m.version,
      'request_state', m.request_state,
      'approval_status', m.approval_status, 'reservation_status', m.reservation_status,
        'current_frontier', to_jsonb(m.current_frontier),
      'expires_at', m.expires_at, 'repeated', true);
  END IF;

  refusal := CASE
    WHEN doc ? 'version' AND m.version <> (doc ->> 'version')::integer THEN 'version'
    WHEN doc ? 'states' AND NOT (doc -> 'states') ? m.request_state THEN 'movement_state'
    WHEN doc ->> 'expiry' = 'future' AND m.expires_at <= at THEN 'expired'
    WHEN doc ->> 'expiry' = 'past' AND m.expires_at > at THEN 'not_expired'
    WHEN doc ? 'plan_hash' AND doc ->> 'plan_hash' IS DISTINCT FROM (
      SELECT compiled_plan_hash FROM movement_plans WHERE movement_id = m.movement_id)
      THEN 'plan_hash' END;

  -- After a cancel, a node that may have been sent before a restore becomes READY, so that recovery
  -- searches for that send; the node passes no fence.
  IF refusal IS NULL AND (fenced IS NOT NULL
      OR doc -> 'set' ->> 'request_state' IN ('APPROVED', 'EXECUTING')
      OR (doc -> 'set' ->> 'request_state' IS DISTINCT FROM 'CANCELLED'
        AND jsonb_path_exists(nodes, '$[*].set.state ? (@ == "READY")')))
    AND NOT (doc ?& ARRAY['approval', 'plan_hash'] OR is_approved(m.movement_id)) THEN
    refusal := 'not_approved';
  END IF;

  IF refusal IS NULL THEN
    IF jsonb_array_length(nodes) > 1 THEN
      nodes := (SELECT jsonb_agg(value ORDER BY value ->> 'node_key')
        FROM jsonb_array_elements(nodes));
    END IF;
    FOR i IN 0 .. jsonb_array_length(nodes) - 1 LOOP
      part := nodes -> i;
      SELECT node_key, node_kind, state, attempt, submit_epoch, recover_first, prepared_action,
        pays, claims_when, output INTO n
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
    END LOOP;
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
  FOR part IN SELECT value FROM jsonb_array_elements(nodes) LOOP
    EXIT WHEN refusal IS NOT NULL;
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
      error_code = CASE WHEN fields ? 'error_code' THEN fields ->> 'error_code' ELSE error_code END,
      error_message = CASE WHEN fields ? 'error_message' THEN fields ->> 'error_message'
        ELSE error_message END,
      -- The time that a node waits at its fence in the mode `frozen` does not count towards its
      -- time limit.
      started_at = CASE WHEN fields ? 'started_at' THEN svc_time(fields -> 'started_at', at)
        WHEN fields ? 'state' THEN started_at + coalesce(at - frozen_since, interval '0')
        ELSE started_at END,
      frozen_since = CASE WHEN NOT fields ? 'state' THEN frozen_since END,
      submitted_at = CASE WHEN fields ? 'submitted_at' THEN svc_time(fields -> 'submitted_at', at)
        ELSE submitted_at END,
      completed_at = CASE WHEN fields ? 'completed_at' THEN svc_time(fields -> 'completed_at', at)
        ELSE completed_at END,
      updated_at = at
    WHERE movement_id = m.movement_id AND node_key = part ->> 'node_key'
    RETURNING node_key, state, attempt, submit_epoch, external_ref, error_code INTO n;
    settles := settles OR part ? 'was' OR fields ?| ARRAY['amount', 'recover_first'];
    IF n.state = 'SUBMITTING' AND part ->> 'was' = 'READY' THEN
      INSERT INTO node_attempts (idempotency_key, movement_id, node_key, attempt, started_at)
      VALUES (m.movement_id || ':' || n.node_key || ':' || n.attempt, m.movement_id, n.node_key,
        n.attempt, at)
      ON CONFLICT (idempotency_key) DO NOTHING;
    ELSIF n.state IN ('COMPLETED', 'FAILED') AND part ->> 'was' <> n.state THEN
      UPDATE node_attempts SET outcome = n.state, ended_at = at, external_ref = n.external_ref,
        error_code = n.error_code
      WHERE movement_id = m.movement_id AND node_key = n.node_key AND attempt = n.attempt
        AND ended_at IS NULL;
      IF n.state = 'COMPLETED' THEN completed := completed || n.node_key; END IF;
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
    IF m.pooled THEN PERFORM note_sent(m.movement_id, completed, at); END IF;
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
