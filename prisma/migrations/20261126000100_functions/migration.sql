-- Written by `npm run sql:migration` from prisma/functions/; not by hand.
SELECT set_config('check_function_bodies', 'off', true);
-- What functions with the owner's rights read and write is never a caller's temporary table.
SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true);

-- prisma/functions/allowances.sql

-- The allowances that a movement's completed nodes have set, as the chain has them: of each owner,
-- token and spender the latest, with what the nodes behind it have not pulled (`left_over`), and
-- whether a later transaction of the owner took it back or set another (`later`: 'reset', 'set', or
-- null). Known from stored sends alone.
CREATE OR REPLACE FUNCTION allowances_of(movement uuid)
  RETURNS TABLE (node_key text, chain_id bigint, owner text, signer_key text, token_address text,
    spender text, asset text, left_over numeric, later text)
  LANGUAGE sql STABLE AS $$
  WITH sent AS (
    SELECT n.node_key, n.pays, n.amount, sent_amount(n) AS moved, t.chain_id, t.address,
      t.nonce, t.signer_key, node_plan(n.own_plan, p.input_params) AS plan
    FROM movement_nodes n JOIN movement_plans p USING (movement_id)
      JOIN evm_transactions t ON t.movement_id = n.movement_id AND t.node_key = n.node_key
        AND t.attempt = n.attempt AND t.replaces IS NULL AND t.released_at IS NULL
    WHERE n.movement_id = movement AND n.state = 'COMPLETED'
  ), allowed AS (
    SELECT DISTINCT ON (s.chain_id, s.address, lower(s.plan #>> '{config,token_address}'),
        lower(s.plan #>> '{config,spender}'))
      s.*, s.plan #>> '{config,token_address}' AS token, s.plan #>> '{config,spender}' AS puller
    FROM sent s WHERE s.pays = 'spender'
    ORDER BY s.chain_id, s.address, lower(s.plan #>> '{config,token_address}'),
      lower(s.plan #>> '{config,spender}'), s.nonce DESC
  )
  SELECT a.node_key, a.chain_id, a.address, a.signer_key, a.token, a.puller, a.plan ->> 'asset',
    greatest(0, a.amount - coalesce((
      SELECT sum(s.moved) FROM sent s
      WHERE s.chain_id = a.chain_id AND s.address = a.address AND s.nonce > a.nonce
        AND lower(s.plan ->> 'pulled_by') = lower(a.puller)
        AND lower(coalesce(s.plan ->> 'pulled_token', s.plan #>> '{config,token_address}'))
          = lower(a.token)), 0)),
    later_allowance(a.chain_id, a.address, a.nonce, a.token, a.puller)
  FROM allowed a
$$;

-- What the owner's last `approve` behind this nonce came to: 'reset' to 0, or 'set'. One that no
-- node has completed with does not count.
CREATE OR REPLACE FUNCTION later_allowance(chain bigint, owner text, of_nonce bigint, token text,
  spender text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN substr(t.unsigned ->> 'data', 75, 64) = repeat('0', 64) THEN 'reset'
    ELSE 'set' END
  FROM evm_transactions t
  WHERE t.chain_id = chain AND t.address = owner AND t.nonce > of_nonce
    AND lower(left(t.unsigned ->> 'data', 10)) = '0x095ea7b3'
    AND lower(t.unsigned ->> 'to') = lower(token)
    AND lower(substr(t.unsigned ->> 'data', 35, 40)) = lower(substr(spender, 3))
    AND EXISTS (SELECT FROM node_attempts a WHERE a.outcome = 'COMPLETED'
      AND a.idempotency_key = t.movement_id || ':' || t.node_key || ':' || t.attempt)
  ORDER BY t.nonce DESC LIMIT 1
$$;

-- prisma/functions/allowlist.sql

-- When a row that changes now may be used.
CREATE OR REPLACE FUNCTION cooled_after(doc jsonb, at timestamptz) RETURNS timestamptz
  LANGUAGE sql IMMUTABLE AS $$
  SELECT at + make_interval(secs => (doc ->> 'cooling_seconds')::double precision)
$$;

-- A row is always answered as it is afterwards, with what became of it.
CREATE OR REPLACE FUNCTION allowed_answer(outcome text, a allowed_addresses) RETURNS jsonb
  LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object('outcome', outcome, 'row', to_jsonb(a))
$$;

CREATE OR REPLACE FUNCTION audit_allowed(audit jsonb, action text, a allowed_addresses,
  extra jsonb, at timestamptz) RETURNS void LANGUAGE sql AS $$
  SELECT write_audit(with_details(audit -> action,
    jsonb_build_object('chain_family', a.chain_family, 'address', a.address,
    'chain_id', a.chain_id, 'usable_after', a.usable_after) || extra), at)
$$;

-- Puts an address on the list. There already and active: nothing changes; inactive: active again,
-- and it cools anew.
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
  -- Somebody made the row after the caller looked for its id, which its audit row has to name.
  IF a.id <> (doc ->> 'id')::uuid THEN RETURN allowed_answer('again', a); END IF;
  at := svc_now();
  UPDATE allowed_addresses SET active = true, usable_after = cooled_after(doc, at),
    label = coalesce(doc ->> 'label', label),
    reason = doc ->> 'reason', updated_at = at, revoked_at = NULL, revoked_by = NULL
  WHERE id = a.id RETURNING * INTO a;
  PERFORM audit_allowed(doc -> 'audit', 'reactivate', a, '{}'::jsonb, at);
  RETURN allowed_answer('reactivated', a);
END $$;

-- Takes a row out of force, or puts it back (and it cools anew). What is so already stays as it is.
-- Null for an unknown id.
CREATE OR REPLACE FUNCTION set_allowed_address(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  a allowed_addresses;
  at timestamptz;
  wanted boolean := (doc ->> 'active')::boolean;
BEGIN
  SELECT * INTO a FROM allowed_addresses WHERE id = (doc ->> 'id')::uuid FOR UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  IF a.active = wanted THEN RETURN allowed_answer('unchanged', a); END IF;
  at := svc_now();
  UPDATE allowed_addresses SET active = wanted, reason = doc ->> 'reason', updated_at = at,
    usable_after = CASE WHEN wanted THEN cooled_after(doc, at) ELSE usable_after END,
    revoked_at = CASE WHEN NOT wanted THEN at END, revoked_by = CASE WHEN NOT wanted
      THEN doc ->> 'by' END
  WHERE id = a.id RETURNING * INTO a;
  PERFORM audit_allowed(doc -> 'audit', CASE WHEN wanted THEN 'reactivate'
    ELSE 'revoke' END, a, '{}'::jsonb, at);
  RETURN allowed_answer(CASE WHEN wanted THEN 'reactivated' ELSE 'revoked' END, a);
END $$;

-- Moves a row to another chain, or to all; it cools anew. {"outcome": "taken"} where the list has
-- that row already.
CREATE OR REPLACE FUNCTION set_allowed_chain(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  a allowed_addresses;
  before bigint;
  at timestamptz;
BEGIN
  SELECT * INTO a FROM allowed_addresses WHERE id = (doc ->> 'id')::uuid FOR UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  before := a.chain_id;
  IF before IS NOT DISTINCT FROM (doc ->> 'chain_id')::bigint
    THEN RETURN allowed_answer('unchanged', a); END IF;
  at := svc_now();
  BEGIN
    UPDATE allowed_addresses SET chain_id = (doc ->> 'chain_id')::bigint,
      usable_after = cooled_after(doc, at), reason = doc ->> 'reason',
      updated_at = at
    WHERE id = a.id RETURNING * INTO a;
  EXCEPTION WHEN unique_violation THEN
    RETURN allowed_answer('taken', a);
  END;
  PERFORM audit_allowed(doc -> 'audit', 'set_chain', a,
    jsonb_build_object('previous_chain_id', before), at);
  RETURN allowed_answer('moved', a);
END $$;

-- prisma/functions/approval.sql

-- A policy as the service reads it; amounts as text, so that nobody makes doubles of them.
CREATE OR REPLACE FUNCTION policy_view(p auto_approve_policies) RETURNS jsonb
  LANGUAGE sql STABLE AS $$
  SELECT to_jsonb(p) || jsonb_build_object(
    'max_amount_per_request', trim_scale(p.max_amount_per_request)::text,
    'max_amount_per_window', trim_scale(p.max_amount_per_window)::text)
$$;

-- What of a policy's window is used at a time, beside a movement's own.
CREATE OR REPLACE FUNCTION budget_usage(policy uuid, hours integer, at timestamptz,
  without uuid DEFAULT NULL,
                                        OUT reserved numeric, OUT consumed numeric,
                                          OUT in_window integer)
LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(amount) FILTER (WHERE status = 'reserved'), 0),
    coalesce(sum(amount) FILTER (WHERE status = 'consumed'), 0),
         (count(DISTINCT movement_id) FILTER (WHERE movement_id IS DISTINCT FROM without))::integer
  FROM budget_reservations
  WHERE policy_id = policy AND status <> 'released'
    AND reserved_at > at - make_interval(hours => hours)
$$;

-- Takes an amount for a movement from the budget of its policy. Whoever takes is alone with the
-- policy's row, and what it sums then is what everybody before it has left. Fails with FM010 and
-- the reason when it does not fit and `checked`.
CREATE OR REPLACE FUNCTION take_budget(movement uuid, policy uuid, wanted numeric, new_status text,
  checked boolean)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  p auto_approve_policies;
  used record;
  at timestamptz;
  refusal text;
BEGIN
  SELECT * INTO STRICT p FROM auto_approve_policies WHERE policy_id = policy FOR NO KEY UPDATE;
  at := svc_now();
  SELECT * INTO used FROM budget_usage(p.policy_id, p.window_hours, at, movement);
  refusal := CASE
    WHEN used.reserved + used.consumed + wanted > p.max_amount_per_window
      THEN 'window_amount_exceeded'
    WHEN used.in_window + 1 > p.max_count_per_window THEN 'window_count_exceeded' END;
  IF checked AND refusal IS NOT NULL THEN RAISE EXCEPTION USING ERRCODE = 'FM010',
    MESSAGE = refusal, DETAIL = p.policy_id::text; END IF;
  INSERT INTO budget_reservations (reservation_id, movement_id, policy_id, amount, status,
    reserved_at, ended_at)
  VALUES (svc_new_id(at), movement, policy, wanted, new_status, at, CASE
    WHEN new_status = 'consumed' THEN at END);
END $$;

-- What of its limit an automatically approved movement uses up: all of it, until it has failed or
-- is cancelled; from then on what it drew and is not proven unsent, and what may still be drawn by
-- nodes that a cancel leads to.
CREATE OR REPLACE FUNCTION budget_due(m movements) RETURNS numeric LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN m.request_state NOT IN ('FAILED', 'CANCELLED') THEN m.limit_amount
    ELSE least(m.limit_amount,
    coalesce(sum(sent_amount(n)) FILTER (WHERE draws), 0)
    + sum_of(draw_terms_of(m.movement_id),
      coalesce(jsonb_object_agg(n.node_key, jsonb_build_object('s', n.state, 'v',
        CASE WHEN draws AND m.request_state = 'CANCELLED' AND n.state IN ('BLOCKED', 'READY')
          AND NOT may_have_sent(n)
          THEN coalesce(moved_amount(n), 0) ELSE 0 END)),
            '{}'::jsonb))) END
  FROM movement_nodes n,
    LATERAL (SELECT n.flow ->> 'from' IS NULL AND n.flow ->> 'asset' = m.asset AS draws) d
  WHERE n.movement_id = m.movement_id
$$;

-- Makes a movement's part of its policy's budget what is due. What it took before shrinks, its
-- latest row first, and keeps the time at which it was taken; what is due beyond that is taken
-- anew. The policy comes behind movement, nodes and pools.
CREATE OR REPLACE FUNCTION settle_budget(m movements, checked boolean, at timestamptz) RETURNS void
  LANGUAGE plpgsql AS $$
DECLARE
  row budget_reservations;
  left_over numeric := budget_due(m);
  share numeric;
  new_status text := CASE WHEN m.request_state IN ('COMPLETED', 'FAILED', 'CANCELLED')
    THEN 'consumed' ELSE 'reserved' END;
BEGIN
  FOR row IN SELECT * FROM budget_reservations WHERE movement_id = m.movement_id
    AND status <> 'released' ORDER BY reserved_at, reservation_id LOOP
    share := least(row.amount, left_over);
    left_over := left_over - share;
    CONTINUE WHEN share = row.amount AND row.status = new_status;
    UPDATE budget_reservations SET
      amount = CASE WHEN share > 0 THEN share ELSE amount END,
      status = CASE WHEN share > 0 THEN new_status ELSE 'released' END,
      ended_at = CASE WHEN share > 0 AND new_status = 'reserved' THEN NULL ELSE at END
    WHERE reservation_id = row.reservation_id;
  END LOOP;
  IF left_over > 0 THEN
    PERFORM take_budget(m.movement_id, (m.auto_approve_result ->> 'policy_id')::uuid, left_over,
      new_status, checked);
  END IF;
END $$;

-- What an outflow says of an asset: null where nothing bounds it, 0 where it is not named.
CREATE OR REPLACE FUNCTION outflow_in(outflow jsonb, coin text) RETURNS numeric
  LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN EXISTS (SELECT FROM jsonb_array_elements(outflow) e WHERE e ->> 'asset' = coin)
    THEN (SELECT (e ->> 'amount')::numeric FROM jsonb_array_elements(outflow) e
      WHERE e ->> 'asset' = coin LIMIT 1) ELSE 0 END
$$;

-- What movements of a template that were approved in the last 24 hours could move of one asset at
-- most. A movement is approved within a week of its creation, which bounds what is looked at. One
-- without a bound was approved by a person, and counts as what its intent says.
CREATE OR REPLACE FUNCTION daily_cap_used(key text, cap_asset text, at timestamptz, without uuid)
  RETURNS numeric LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(greatest(outflow_in(m.outflow, cap_asset), CASE WHEN m.asset = cap_asset
    THEN m.amount ELSE 0 END)), 0) FROM movements m
  WHERE m.template_key = key AND m.created_at > at - interval '8 days'
    AND m.approval_status = 'approved'
    AND m.movement_id IS DISTINCT FROM without
    AND m.approved_at > at - interval '24 hours'
$$;

-- Fails with FM011 when what an approval was decided by is no longer so, and with FM010 and the
-- reason when a daily cap is exceeded. The caller's own movement is approved already, and stands
-- last in the lock order.
CREATE OR REPLACE FUNCTION check_approval_guard(movement uuid, guard jsonb) RETURNS void
  LANGUAGE plpgsql AS $$
DECLARE
  t plan_templates;
  wanted numeric;
BEGIN
  IF guard ? 'policy_id' THEN
    -- Locked: the budget was taken from it.
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

-- A create that approves: the same transition as an approve's, in the transaction of the create.
-- What forbids it takes the approval back and leaves the movement waiting, with the reason. FM011
-- takes back everything.
CREATE OR REPLACE FUNCTION create_and_approve(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  created jsonb := create_movement(doc);
  approval jsonb := doc -> 'approval';
  movement uuid := (created ->> 'movement_id')::uuid;
  answer jsonb;
  refusal text;
  refused jsonb;
  m movements;
BEGIN
  IF NOT (created ->> 'created')::boolean THEN RETURN created; END IF;
  BEGIN
    answer := apply_transition(approval -> 'transition');
    IF (answer ->> 'ok')::boolean THEN
      PERFORM check_approval_guard(movement, approval -> 'guard');
      RETURN created || jsonb_build_object('approved', answer,
        'auto_approve_result', doc -> 'movement' -> 'auto_approve_result');
    END IF;
    refusal := CASE answer ->> 'reason'
      WHEN 'binding' THEN 'binding_unavailable'
      WHEN 'expired' THEN 'approval_expired'
      ELSE 'insufficient_effective_withdrawable' END;
  EXCEPTION WHEN SQLSTATE 'FM010' THEN
    refusal := SQLERRM;
  END;
  refused := approval -> 'refused' -> refusal;
  SELECT * INTO m FROM movements WHERE movement_id = movement;
  UPDATE movements SET auto_approve_result = refused -> 'result',
    next_sequence = write_timeline(m, refused -> 'timeline', ARRAY[]::text[], m.created_at)
  WHERE movement_id = movement;
  RETURN created || jsonb_build_object('auto_approve_result', refused -> 'result');
END $$;

-- A new policy, or {"created": false} when the pair of client and strategy has one.
CREATE OR REPLACE FUNCTION create_policy(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  p auto_approve_policies;
  at timestamptz := svc_now();
BEGIN
  p := jsonb_populate_record(NULL::auto_approve_policies, doc -> 'policy');
  p.revision := 1;
  p.created_at := at;
  p.updated_at := at;
  INSERT INTO auto_approve_policies SELECT p.* ON CONFLICT (client_id, strategy_id) DO NOTHING;
  IF NOT FOUND THEN
    SELECT * INTO p FROM auto_approve_policies
    WHERE client_id = (doc -> 'policy' ->> 'client_id')::uuid
      AND strategy_id = doc -> 'policy' ->> 'strategy_id';
    RETURN jsonb_build_object('ok', false, 'policy_id', p.policy_id);
  END IF;
  PERFORM write_audit(doc -> 'audit', at);
  RETURN jsonb_build_object('ok', true, 'policy', policy_view(p));
END $$;

-- Changes the fields that `patch` names. NULL for an unknown id; {"ok": false} when a cap would be
-- left without its window.
CREATE OR REPLACE FUNCTION update_policy(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  p auto_approve_policies;
  at timestamptz;
BEGIN
  SELECT * INTO p FROM auto_approve_policies
    WHERE policy_id = (doc ->> 'policy_id')::uuid FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  at := svc_now();
  p := jsonb_populate_record(p, doc -> 'patch');
  IF p.window_hours IS NULL
    AND (p.max_amount_per_window IS NOT NULL OR p.max_count_per_window IS NOT NULL) THEN
    RETURN jsonb_build_object('ok', false);
  END IF;
  UPDATE auto_approve_policies SET is_active = p.is_active,
    allowed_templates = p.allowed_templates, allowed_assets = p.allowed_assets,
    max_amount_per_request = p.max_amount_per_request, window_hours = p.window_hours,
      max_amount_per_window = p.max_amount_per_window,
    max_count_per_window = p.max_count_per_window, revision = revision + 1, updated_at = at
  WHERE policy_id = p.policy_id RETURNING * INTO p;
  PERFORM write_audit(doc -> 'audit', at);
  RETURN jsonb_build_object('ok', true, 'policy', policy_view(p));
END $$;

-- Whether the plan that the movement has was approved.
CREATE OR REPLACE FUNCTION is_approved(movement uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM movement_approvals a JOIN movement_plans p USING (movement_id)
    WHERE a.movement_id = movement AND a.plan_hash = p.compiled_plan_hash)
$$;

-- A movement is approved once, whichever way, and never approved again: the time follows from the
-- change itself.
CREATE OR REPLACE FUNCTION stamp_approval() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.approved_at := NEW.updated_at; -- the time of the change
  RETURN NEW;
END $$;

-- Refuses to run, ready or send what was not approved, whoever writes it. The tables are named by
-- their schema: temporary ones of the same names would be read in their place.
CREATE OR REPLACE FUNCTION require_approval() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  approved boolean;
BEGIN
  EXECUTE format('SELECT EXISTS (SELECT FROM %1$I.movement_approvals a
    JOIN %1$I.movement_plans p USING (movement_id)
    WHERE a.movement_id = $1 AND a.plan_hash = p.compiled_plan_hash)', TG_TABLE_SCHEMA)
  INTO approved USING NEW.movement_id;
  IF NOT approved THEN
    RAISE EXCEPTION 'movement % has no approval of its plan', NEW.movement_id
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END $$;

-- What was approved, and what follows from it, stays as it was written.
CREATE OR REPLACE FUNCTION refuse_other_plan() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the plan of movement % cannot be changed', OLD.movement_id
    USING ERRCODE = 'insufficient_privilege';
END $$;

-- The nodes of an approved movement are those that it was approved with.
CREATE OR REPLACE FUNCTION refuse_later_node() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  approved boolean;
BEGIN
  EXECUTE format('SELECT EXISTS (SELECT FROM %I.movement_approvals WHERE movement_id = $1)',
    TG_TABLE_SCHEMA) INTO approved USING NEW.movement_id;
  IF approved THEN
    RAISE EXCEPTION 'the plan of movement % cannot be changed', NEW.movement_id
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END $$;

-- prisma/functions/attention.sql

-- Whose transaction keeps a node's own from being mined, or from being signed at all: an earlier
-- nonce of the same account is claimed by a node of which nobody knows what became. NULL where
-- there is none.
CREATE OR REPLACE FUNCTION lane_blocker(n movement_nodes, at timestamptz) RETURNS jsonb
  LANGUAGE plpgsql STABLE AS $$
BEGIN
  -- Asked of every node that is under way, most of which are told here that they wait for nobody.
  IF n.state IN ('SUBMITTED', 'OBSERVING') AND n.submitted_at <= at - interval '1 minute' THEN
    -- It is signed: what is open below it in its lane. In this order (OFFSET), so that a node
    -- without a transaction costs one look and not one for each unknown node.
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
    -- It waits before its fence (lane_problem). From the few nodes that are unknown: an account's
    -- claims are as many as it ever sent.
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

-- What a node waits for in a lane that is stuck: the nonce that is to be used up by a transaction
-- that moves nothing, and why that one cannot be sent. NULL where its lane is not, or it does not
-- wait. A minute has to pass, since an endpoint may refuse once.
CREATE OR REPLACE FUNCTION lane_stuck(n movement_nodes, at timestamptz) RETURNS jsonb
  LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF n.state NOT IN ('READY', 'SUBMITTING', 'SUBMITTED', 'OBSERVING') THEN RETURN NULL; END IF;
  RETURN (
    SELECT jsonb_build_object('chain_id', l.chain_id, 'address', l.address,
      'nonce', l.stuck_nonce, 'why', l.stuck_why, 'signer_key', l.signer_key)
    FROM nonce_lanes l
    WHERE l.stuck_since <= at - interval '1 minute' AND CASE WHEN n.state = 'READY'
      -- It waits before its fence (lane_problem).
      THEN n.error_code = 'LANE_BLOCKED' AND l.signer_key = n.signer_binding ->> 'signer_key'
        AND l.chain_id = (n.sign_request -> 'payload' ->> 'chain_id')::bigint
      ELSE EXISTS (SELECT FROM evm_transactions own
        WHERE own.movement_id = n.movement_id AND own.node_key = n.node_key
          AND own.attempt = n.attempt AND own.released_at IS NULL AND own.final_at IS NULL
          AND own.chain_id = l.chain_id AND own.address = l.address
          AND own.nonce >= l.stuck_nonce) END
    ORDER BY l.stuck_since LIMIT 1);
END $$;

-- From when on a node that is observed has been observed for longer than is usual; NULL for one that
-- is not. The seconds are those of domain/send/usual-time.ts, written with the movement.
CREATE OR REPLACE FUNCTION overdue_at(n movement_nodes) RETURNS timestamptz
  LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN n.state IN ('SUBMITTED', 'OBSERVING')
    THEN n.submitted_at + make_interval(secs => n.usual_seconds) END
$$;

-- Whether time alone will not complete what is observed: what was credited, paid or attested is not
-- what was sent, or it may be another's. AMOUNTS_DIFFER of domain/attention.ts names the same codes.
CREATE OR REPLACE FUNCTION waits_in_vain(error_code text) RETURNS boolean LANGUAGE sql IMMUTABLE
  AS $$
  SELECT coalesce(error_code IN ('DEPOSIT_AMOUNT_MISMATCH', 'LEDGER_ROW_MISMATCH',
    'ATTESTATION_MISMATCH', 'ALREADY_CLAIMED', 'CLAIM_MISSING', 'PAYMENT_AMBIGUOUS'), false)
$$;

-- Whether a person may say what became of a node that is observed: its usual time is over, or time
-- alone will not complete it. Once true of an attempt it stays true while it is observed for too
-- long.
CREATE OR REPLACE FUNCTION may_be_resolved(n movement_nodes, at timestamptz) RETURNS boolean
  LANGUAGE sql IMMUTABLE AS $$
  SELECT n.state = 'UNKNOWN' OR coalesce(overdue_at(n) <= at, false)
    OR n.state IN ('SUBMITTED', 'OBSERVING') AND waits_in_vain(n.error_code)
$$;

-- Why a movement needs a person at a moment, and which of its nodes does; NULL when none is needed.
-- Lists and details both read this. What each reason lets a person do: domain/attention.ts.
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
  -- What ended badly a week ago and was left alone is nobody's work any more. A list that filters
  -- by this looks at no others (listNeeding in store/attention.ts).
  IF m.ended_at IS NOT NULL AND (m.request_state NOT IN ('FAILED', 'CANCELLED')
    OR m.updated_at <= at - interval '7 days') THEN
    RETURN NULL;
  END IF;
  -- Most of the time there is none, and no node is asked about it.
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
    -- Whose failure ended it is said in its message (domain/commands/advance.ts); a condition that
    -- cannot be evaluated is the failure of a node that may have completed. Once cancelled, what a
    -- cancel leads to may still fail.
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

-- Writes that a movement has come to need a person for a reason that no change of its state tells,
-- with the callback `request_attention`: once for each change to a reason. `reasons`: those of which
-- states tell nothing; a cancelled movement stays CANCELLED whatever becomes of its nodes. It
-- touches nothing that a run or the sweeper reads. False where nothing has changed.
CREATE OR REPLACE FUNCTION note_attention(movement uuid, event_id uuid, reasons text[],
  callback_types jsonb) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  m movements;
  at timestamptz;
  facts jsonb;
  why text;
  seq integer;
BEGIN
  SELECT * INTO m FROM movements WHERE movement_id = movement FOR NO KEY UPDATE;
  at := svc_now();
  facts := attention_of(m, at);
  why := CASE WHEN m.request_state = 'CANCELLED' OR facts ->> 'reason' = ANY (reasons)
    THEN facts ->> 'reason' END;
  IF m.movement_id IS NULL OR m.attention_told IS NOT DISTINCT FROM why THEN RETURN false; END IF;
  seq := m.next_sequence;
  IF why IS NOT NULL THEN
    seq := append_timeline(movement, seq, m.callback_url, m.request_state, m.current_frontier,
      m.error_code, jsonb_build_array(jsonb_build_object('event_id', event_id,
        'event_type', 'request_attention', 'node_key', facts -> 'node_key',
        'attempt', facts -> 'attempt', 'actor', '{"type": "system"}'::jsonb,
        'message', 'A person is needed: ' || why, 'data', jsonb_build_object('reason', why))),
      callback_types, at);
  END IF;
  UPDATE movements SET attention_told = why, next_sequence = seq WHERE movement_id = movement;
  RETURN true;
END $$;

-- prisma/functions/audit.sql

CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;

CREATE OR REPLACE FUNCTION write_audit(events jsonb, at timestamptz) RETURNS void LANGUAGE sql AS $$
  INSERT INTO audit_events (event_id, occurred_at, actor_client_id, actor_key_id, actor_role,
    namespace, action,
                            entity_type, entity_key, outcome, request_id, reason, details, mac)
  SELECT event_id, at, actor_client_id, actor_key_id, actor_role, namespace, action, entity_type,
    entity_key, outcome,
         request_id, reason, coalesce(details, '{}'::jsonb), decode(mac, 'hex')
  FROM jsonb_to_recordset(coalesce(events, '[]'::jsonb)) AS e (event_id uuid, actor_client_id text,
    actor_key_id text,
    actor_role text, namespace text, action text, entity_type text, entity_key text, outcome text,
      request_id text, reason text,
    details jsonb, mac text)
$$;

-- Adds seals behind the head that their maker saw. False when another process seals at this moment,
-- or has since: then nothing is written, and the maker looks again.
CREATE OR REPLACE FUNCTION seal_audit(head bigint, seals jsonb) RETURNS boolean LANGUAGE plpgsql
  AS $$
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtextextended('audit_seals', 0)) THEN RETURN false; END IF;
  IF head <> coalesce((SELECT max(position) FROM audit_seals), 0) THEN RETURN false; END IF;
  INSERT INTO audit_seals (position, event_id, event_hash, chain_hash, mac, sealed_at)
  SELECT position, event_id, decode(event_hash, 'hex'), decode(chain_hash, 'hex'),
    decode(mac, 'hex'), svc_now()
  FROM jsonb_to_recordset(seals) AS s (position bigint, event_id uuid, event_hash text,
    chain_hash text, mac text);
  RETURN true;
END $$;

-- The chain grows at its end only. A seal with a position far ahead would be its head, and no seal
-- could follow: whoever may insert takes the next position and no other.
CREATE OR REPLACE FUNCTION guard_seal() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  next bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('audit_seals', 0));
  -- By its schema: a temporary table of the same name would be read in its place.
  EXECUTE format('SELECT coalesce(max(position), 0) + 1 FROM %I.%I', TG_TABLE_SCHEMA,
    TG_TABLE_NAME) INTO next;
  IF NEW.position <> next THEN
    RAISE EXCEPTION 'the next seal is %, not %', next, NEW.position
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END $$;

-- Gives `role` what the service needs in this schema, and takes from it what it had there beyond
-- that. To be called after migrations by the owner of the tables, which `role` must not be.
CREATE OR REPLACE FUNCTION grant_service(role text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  schema_name text := current_schema();
  may record;
BEGIN
  IF pg_has_role(role, (SELECT relowner FROM pg_class WHERE oid = to_regclass('audit_events')),
    'MEMBER') THEN
    RAISE EXCEPTION 'the role % owns the tables, or is a superuser: nothing could be kept from it',
      role
      USING ERRCODE = 'invalid_grant_operation';
  END IF;
  -- Two at once would change the same rows of the catalogue, and one would fail.
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

-- The registry of a bridge: chains, and paths between them (docs/decisions/0073-bridges.md). Every
-- change is one call with its audit row, which keeps the row as it was written: who lost the
-- connection to a call can tell by it what became of that. Chains are locked before paths, each in
-- the order of their names.

-- A path as JSON; its amount as a text, since JSON's numbers are not exact everywhere.
CREATE OR REPLACE FUNCTION bridge_path_view(p bridge_paths) RETURNS jsonb LANGUAGE sql IMMUTABLE
  AS $$
  SELECT to_jsonb(p) || jsonb_build_object('fee_native_budget',
    trim_scale(p.fee_native_budget)::text)
$$;

-- Everything that decides whether a path may be used, as one text: another one when any of it is
-- different.
CREATE OR REPLACE FUNCTION bridge_path_version(s bridge_chains, d bridge_chains, p bridge_paths)
  RETURNS text LANGUAGE sql STABLE AS $$
  SELECT md5(concat_ws('|',
    s.chain, s.endpoint_identity, s.snapshot_version, s.snapshot_stale,
    extract(epoch FROM s.snapshot_at),
    d.chain, d.endpoint_identity, d.snapshot_version, d.snapshot_stale,
    extract(epoch FROM d.snapshot_at),
    p.asset, p.enabled, p.fee_native_budget, extract(epoch FROM p.last_drill_pass_at),
    p.last_drill_contracts))
$$;

-- The same of a path that is known by the identities of its ends, with its rows locked, so that what
-- is changed at the same time comes before or after and not between. Chains before paths.
CREATE OR REPLACE FUNCTION locked_path_version(asked jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  ends text[] := ARRAY[lower(asked ->> 'source'), lower(asked ->> 'destination')];
BEGIN
  PERFORM FROM bridge_chains WHERE lower(endpoint_identity) = ANY (ends) ORDER BY chain FOR SHARE;
  PERFORM FROM bridge_paths p
    WHERE p.src_chain = bridge_chain_of(ends[1]) AND p.dst_chain = bridge_chain_of(ends[2])
      AND p.asset = asked ->> 'asset' FOR SHARE;
  RETURN (SELECT bridge_path_version(s, d, p) FROM (SELECT 1) one
    LEFT JOIN bridge_chains s ON lower(s.endpoint_identity) = ends[1]
    LEFT JOIN bridge_chains d ON lower(d.endpoint_identity) = ends[2]
    LEFT JOIN bridge_paths p ON p.src_chain = s.chain AND p.dst_chain = d.chain
      AND p.asset = asked ->> 'asset');
END $$;

-- Of a send over the bridge: that its path is not as it was looked at, or null. It is
-- {"source", "destination", "asset", "version"}.
CREATE OR REPLACE FUNCTION bridge_path_problem(asked jsonb) RETURNS jsonb LANGUAGE sql AS $$
  SELECT CASE WHEN locked_path_version(asked) IS DISTINCT FROM asked ->> 'version'
    THEN jsonb_build_object('binding', 'bridge_path', 'key', asked ->> 'asset',
      'reason', 'changed', 'stop', 'bridge_path') END
$$;

-- Writes the audit row of a change, with what became of its subject, and answers that.
CREATE OR REPLACE FUNCTION bridge_change(audit jsonb, written jsonb, extra jsonb, at timestamptz)
  RETURNS jsonb LANGUAGE sql AS $$
  SELECT write_audit(with_details(audit, extra || jsonb_build_object('row', written)), at);
  SELECT jsonb_build_object('outcome', 'done', 'row', written, 'at', at)
$$;

-- The chain that has an identity.
CREATE OR REPLACE FUNCTION bridge_chain_of(identity text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT chain FROM bridge_chains WHERE lower(endpoint_identity) = lower(identity)
$$;

CREATE OR REPLACE FUNCTION create_bridge_chain(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  c bridge_chains;
  holder text;
  at timestamptz := svc_now();
BEGIN
  LOOP
    -- Nobody has asked its endpoint yet, so its snapshot is stale.
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
    -- What was in the way is gone since.
  END LOOP;
END $$;

-- Replaces what people write of a chain. Another identity is another endpoint: what the former told
-- says nothing about it, and no drill went through it. NULL for an unknown chain.
CREATE OR REPLACE FUNCTION replace_bridge_chain(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  c bridge_chains;
  at timestamptz;
  moved boolean;
  cleared jsonb;
BEGIN
  SELECT * INTO c FROM bridge_chains WHERE chain = doc ->> 'chain' FOR UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  at := svc_now();
  moved := lower(c.endpoint_identity) <> lower(doc ->> 'endpoint_identity');
  BEGIN
    UPDATE bridge_chains SET endpoint_identity = doc ->> 'endpoint_identity',
      finality_age_seconds = (doc ->> 'finality_age_seconds')::integer,
      operator_label = doc ->> 'operator_label', updated_at = at,
      facts = CASE WHEN NOT moved THEN facts END,
      snapshot_at = CASE WHEN NOT moved THEN snapshot_at END,
      snapshot_stale = snapshot_stale OR moved,
      stale_detected_at = CASE WHEN moved THEN at ELSE stale_detected_at END
    WHERE chain = c.chain RETURNING * INTO c;
  EXCEPTION WHEN unique_violation THEN
    RETURN jsonb_build_object('outcome', 'endpoint_identity_conflict',
      'chain', bridge_chain_of(doc ->> 'endpoint_identity'));
  END;
  IF moved THEN
    PERFORM FROM bridge_paths WHERE c.chain IN (src_chain, dst_chain)
      ORDER BY src_chain, dst_chain, asset FOR UPDATE;
    WITH gone AS (
      UPDATE bridge_paths SET last_drill_pass_at = NULL, last_drill_evidence_path = NULL,
        last_drill_contracts = NULL, updated_at = at
      WHERE c.chain IN (src_chain, dst_chain) AND last_drill_pass_at IS NOT NULL
      RETURNING src_chain, dst_chain, asset)
    SELECT coalesce(jsonb_agg(to_jsonb(gone) ORDER BY src_chain, dst_chain, asset), '[]'::jsonb)
    INTO cleared FROM gone;
  END IF;
  RETURN bridge_change(doc -> 'audit', to_jsonb(c),
    jsonb_build_object('cleared_drill_passes', coalesce(cleared, '[]'::jsonb)), at);
END $$;

-- NULL for an unknown chain.
CREATE OR REPLACE FUNCTION delete_bridge_chain(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  c bridge_chains;
  paths integer;
BEGIN
  SELECT * INTO c FROM bridge_chains WHERE chain = doc ->> 'chain' FOR UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  SELECT count(*) INTO paths FROM bridge_paths WHERE c.chain IN (src_chain, dst_chain);
  IF paths > 0 THEN
    RETURN jsonb_build_object('outcome', 'chain_in_use', 'path_baselines', paths);
  END IF;
  DELETE FROM bridge_chains WHERE chain = c.chain;
  RETURN bridge_change(doc -> 'audit', to_jsonb(c), '{}'::jsonb, svc_now());
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
    WITH ORDINALITY AS asked (name, place)
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

-- Replaces what people write of a path; its drill stays what it was. NULL for an unknown path.
CREATE OR REPLACE FUNCTION replace_bridge_path(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  n bridge_paths := jsonb_populate_record(NULL::bridge_paths, doc -> 'path');
  p bridge_paths;
  at timestamptz;
BEGIN
  PERFORM FROM bridge_paths WHERE (src_chain, dst_chain, asset)
    = (n.src_chain, n.dst_chain, n.asset) FOR UPDATE;
  at := svc_now();
  UPDATE bridge_paths SET expected_latency_seconds = n.expected_latency_seconds,
    detection_latency_budget_seconds = n.detection_latency_budget_seconds,
    fee_native_budget = n.fee_native_budget, enabled = n.enabled,
    disabled_reason = n.disabled_reason, baseline_source = n.baseline_source,
    operator_label = n.operator_label, updated_at = at
  WHERE (src_chain, dst_chain, asset) = (n.src_chain, n.dst_chain, n.asset) RETURNING * INTO p;
  IF NOT FOUND THEN RETURN NULL; END IF;
  RETURN bridge_change(doc -> 'audit', bridge_path_view(p), '{}'::jsonb, at);
END $$;

-- NULL for an unknown path.
CREATE OR REPLACE FUNCTION delete_bridge_path(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  k bridge_paths := jsonb_populate_record(NULL::bridge_paths, doc -> 'path');
  p bridge_paths;
BEGIN
  DELETE FROM bridge_paths WHERE (src_chain, dst_chain, asset)
    = (k.src_chain, k.dst_chain, k.asset) RETURNING * INTO p;
  IF NOT FOUND THEN RETURN NULL; END IF;
  RETURN bridge_change(doc -> 'audit', bridge_path_view(p), '{}'::jsonb, svc_now());
END $$;

-- A drill went through a path, by the contracts that `ends` has for the identities of its chains.
-- Its chains are held: a change of their identities comes before it,
-- or behind it and clears it. NULL for an unknown path.
CREATE OR REPLACE FUNCTION note_bridge_drill(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  k bridge_paths := jsonb_populate_record(NULL::bridge_paths, doc -> 'path');
  p bridge_paths;
  at timestamptz;
BEGIN
  PERFORM FROM bridge_chains WHERE chain IN (k.src_chain, k.dst_chain) ORDER BY chain FOR SHARE;
  at := svc_now();
  UPDATE bridge_paths SET last_drill_pass_at = at,
    last_drill_evidence_path = doc ->> 'evidence_path',
    last_drill_contracts =
      (SELECT doc -> 'ends' ->> lower(endpoint_identity) FROM bridge_chains WHERE chain = k.src_chain)
      || '; ' ||
      (SELECT doc -> 'ends' ->> lower(endpoint_identity) FROM bridge_chains WHERE chain = k.dst_chain),
    updated_at = at
  WHERE (src_chain, dst_chain, asset) = (k.src_chain, k.dst_chain, k.asset) RETURNING * INTO p;
  IF NOT FOUND THEN RETURN NULL; END IF;
  RETURN bridge_change(doc -> 'audit', bridge_path_view(p), '{}'::jsonb, at);
END $$;

-- Keeps what the endpoints told, `told`: [{"chain", "endpoint_identity", "facts"}], with null facts
-- of those that did not answer. All were asked after `asked_at`: a chain that has another identity
-- since, or was read later by somebody else, is left as it is.
CREATE OR REPLACE FUNCTION refresh_bridge_chains(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  told record;
  c bridge_chains;
  changed text[] := '{}';
  asked_at timestamptz := (doc ->> 'asked_at')::timestamptz;
  at timestamptz;
BEGIN
  PERFORM FROM bridge_chains ORDER BY chain FOR UPDATE;
  at := svc_now();
  FOR told IN SELECT * FROM jsonb_to_recordset(doc -> 'told')
    AS t (chain text, endpoint_identity text, facts jsonb) ORDER BY t.chain LOOP
    SELECT * INTO c FROM bridge_chains WHERE chain = told.chain
      AND endpoint_identity = told.endpoint_identity
      AND (snapshot_at IS NULL OR snapshot_at <= asked_at);
    CONTINUE WHEN NOT FOUND;
    IF told.facts IS NULL OR told.facts = 'null'::jsonb THEN
      UPDATE bridge_chains SET snapshot_stale = true, stale_detected_at = at, updated_at = at
      WHERE chain = c.chain AND NOT snapshot_stale;
    ELSE
      UPDATE bridge_chains SET facts = told.facts, snapshot_at = asked_at, snapshot_stale = false,
        stale_detected_at = NULL, updated_at = CASE WHEN c.snapshot_stale
          OR c.facts IS DISTINCT FROM told.facts THEN at ELSE updated_at END,
        snapshot_version = snapshot_version
          + (c.facts IS DISTINCT FROM told.facts)::integer
      WHERE chain = c.chain;
      IF c.facts IS DISTINCT FROM told.facts THEN changed := changed || c.chain; END IF;
    END IF;
  END LOOP;
  PERFORM write_audit(with_details(doc -> 'audit', jsonb_build_object('changed', changed,
    'stale', ARRAY(SELECT chain FROM bridge_chains WHERE snapshot_stale ORDER BY chain))), at);
  RETURN jsonb_build_object('at', at, 'changed', changed, 'chains',
    (SELECT coalesce(jsonb_agg(to_jsonb(b) ORDER BY b.chain), '[]'::jsonb) FROM bridge_chains b));
END $$;

-- prisma/functions/callbacks.sql

-- The host of a URL in its normal form, or null for any other form.
CREATE OR REPLACE FUNCTION callback_host(url text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT substring(url FROM '^https?://([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[0-9]+)?(?:[/?#]|$)')
$$;

-- Whether a callback to this URL is a dead letter from the start. The connection says which hosts
-- are listed; one that does not say, and a URL in another form, leave it to the delivery, which
-- checks again.
CREATE OR REPLACE FUNCTION callback_refused(url text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT coalesce(NOT callback_host(url)
    = ANY (string_to_array(current_setting('svc.callback_allowed_hosts', true), ',')), false)
$$;

-- Leases due callbacks, of each movement the head of its line only: nothing is claimed beside
-- another claim of the same movement, nor before an earlier one that is due. An earlier one that
-- waits for its next attempt lets the later ones pass. A capital transfer has one at most.
CREATE OR REPLACE FUNCTION claim_callbacks(most integer, lease_seconds integer, only_movement uuid)
  RETURNS SETOF callbacks LANGUAGE plpgsql AS $$
DECLARE
  at timestamptz := svc_now();
  ids uuid[];
BEGIN
  -- Two statements for two questions: one for both would be planned for neither.
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

-- What became of one attempt; see store/callbacks.ts for the shape of `doc`. An end is written
-- under the movement's lock with its timeline row, and touches nothing of the movement that a run
-- or the sweeper reads; of a capital transfer the callback alone says it. False when somebody else
-- has settled the callback since it was claimed.
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
  -- A late success counts whoever else tried meanwhile; a late failure says nothing any more.
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

-- Puts a dead letter back into its line with its attempts at nought. NULL for an unknown callback.
CREATE OR REPLACE FUNCTION redeliver_callback(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  c callbacks;
  at timestamptz := svc_now();
  before jsonb;
BEGIN
  SELECT * INTO c FROM callbacks WHERE event_id = (doc ->> 'event_id')::uuid FOR UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  before := jsonb_build_object('previous_status', c.status, 'previous_attempts', c.attempts,
    'last_error', c.last_error);
  IF NOT (doc -> 'states') ? c.status THEN
    RETURN jsonb_build_object('ok', false, 'status', c.status);
  END IF;
  UPDATE callbacks SET status = 'pending', attempts = 0, next_attempt_at = at,
    claimed_until = NULL, last_error = NULL, updated_at = at
  WHERE event_id = c.event_id RETURNING * INTO c;
  PERFORM write_audit(with_details(doc -> 'audit', before), at);
  RETURN jsonb_build_object('ok', true, 'row', to_jsonb(c));
END $$;

-- prisma/functions/capital-transfers.sql

-- A line of a transfer's history. The caller holds its lock and writes the next sequence.
CREATE OR REPLACE FUNCTION write_transfer_event(t capital_transfers, from_state text, event jsonb,
  at timestamptz) RETURNS void LANGUAGE sql AS $$
  INSERT INTO capital_transfer_events (event_id, transfer_id, sequence, event_type, from_state,
    to_state, actor, message, data, occurred_at)
  VALUES ((event ->> 'event_id')::uuid, t.transfer_id, t.next_sequence, event ->> 'event_type',
    from_state, t.request_state,
          event -> 'actor', event ->> 'message', coalesce(event -> 'data', '{}'::jsonb), at)
$$;

-- Calls back that a transfer has come to need a person, in the write that brings it there.
CREATE OR REPLACE FUNCTION call_back_for_person(t capital_transfers, event jsonb, error_code text,
  at timestamptz) RETURNS void LANGUAGE sql AS $$
  INSERT INTO callbacks (event_id, transfer_id, event_type, sequence, url, payload, nonce, status,
    next_attempt_at, last_error, created_at, updated_at)
  SELECT (event ->> 'event_id')::uuid, t.transfer_id, 'request_attention', t.next_sequence,
    t.callback_url, jsonb_build_object('event_id', event ->> 'event_id',
      'event_type', 'request_attention', 'movement_id', NULL, 'transfer_id', t.transfer_id,
      'request_state', t.request_state, 'current_frontier', '[]'::jsonb, 'node_key', NULL,
      'error_code', error_code, 'sequence', t.next_sequence,
      'occurred_at', to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text,
    event ->> 'event_id', CASE WHEN refused THEN 'dead_letter' ELSE 'pending' END, at,
    CASE WHEN refused THEN 'host_not_allowed' END, at, at
  FROM callback_refused(t.callback_url) AS refused WHERE t.callback_url IS NOT NULL
$$;

-- A transfer for whoever works on it.
CREATE OR REPLACE FUNCTION transfer_row(t capital_transfers, at timestamptz) RETURNS jsonb
  LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object('transfer_id', t.transfer_id, 'state', t.request_state,
    'version', t.version,
    'source_venue', t.source_venue, 'source_account_type', t.source_account_type,
    'destination_venue', t.destination_venue,
      'destination_account_type', t.destination_account_type,
    'asset', t.asset, 'amount', trim_scale(t.amount)::text, 'strategy_id', t.strategy_id,
      'provider', t.provider,
    'provider_transfer_id', t.provider_transfer_id, 'acknowledged', t.acknowledged,
      'epoch', t.submit_epoch, 'sends', t.sends,
    'error_code', t.error_code, 'ended', t.ended_at IS NOT NULL,
    'created_at', to_char(t.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'age_ms', floor(extract(epoch FROM at - t.created_at) * 1000),
    'send_left_ms', ceil(extract(epoch FROM t.send_not_after - at) * 1000),
    'pending_left_ms', ceil(extract(epoch FROM t.pending_until - at) * 1000))
$$;

-- Writes a new transfer with its hold, history and audit. A used idempotency key answers with the
-- transfer that used it, selected in a statement after the insert that met it.
CREATE OR REPLACE FUNCTION create_transfer(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  t capital_transfers;
  at timestamptz := svc_now();
  mode text := cutover_now();
BEGIN
  t := jsonb_populate_record(NULL::capital_transfers, doc -> 'transfer');
  INSERT INTO capital_transfers (transfer_id, client_scope, idempotency_key, request,
    request_state, source_venue, source_account_type,
    destination_venue, destination_account_type, asset, amount, reason, strategy_id, provider,
      callback_url, created_by, next_sequence, claimed_until,
    created_at, updated_at)
  VALUES (t.transfer_id, t.client_scope, t.idempotency_key, t.request, t.request_state,
    t.source_venue, t.source_account_type,
    t.destination_venue, t.destination_account_type, t.asset, t.amount, t.reason, t.strategy_id,
      t.provider, t.callback_url, t.created_by, 2,
    at + interval '2 seconds', at, at)
  ON CONFLICT (client_scope, idempotency_key) DO NOTHING;
  IF NOT FOUND THEN
    SELECT * INTO t FROM capital_transfers
    WHERE client_scope = doc -> 'transfer' ->> 'client_scope'
      AND idempotency_key = doc -> 'transfer' ->> 'idempotency_key';
    RETURN jsonb_build_object('created', false, 'transfer_id', t.transfer_id, 'request', t.request);
  END IF;
  IF mode <> 'normal' THEN
    RAISE EXCEPTION 'cutover_mode_active' USING ERRCODE = 'FM013', DETAIL = mode;
  END IF;
  t.next_sequence := 1;
  PERFORM take_transfer_hold(t.transfer_id, doc -> 'hold', doc -> 'take', at);
  PERFORM write_transfer_event(t, NULL, doc -> 'event', at);
  PERFORM write_audit(doc -> 'audit', at);
  RETURN jsonb_build_object('created', true, 'transfer_id', t.transfer_id);
END $$;

-- Applies one step of a transfer; see store/capital-transfer-steps.ts for the shape of `doc`. A step that
-- was applied already is known by the id of its event. State and epoch are compared here; what a
-- step writes of them is domain/send/epoch.ts.
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
    -- How long the provider may take is counted from the first time that it is waited for.
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

-- What a run loads: marks what it has seen in one statement, and reads in a later one.
CREATE OR REPLACE FUNCTION load_transfer(transfer uuid, run text) RETURNS jsonb LANGUAGE plpgsql
  AS $$
DECLARE t capital_transfers;
BEGIN
  UPDATE capital_transfers SET seen_version = version, wakes = 0, run_id = run
  WHERE transfer_id = transfer AND (seen_version < version OR run_id IS DISTINCT FROM run);
  SELECT * INTO t FROM capital_transfers WHERE transfer_id = transfer;
  RETURN CASE WHEN t.transfer_id IS NOT NULL THEN transfer_row(t, svc_now()) END;
END $$;

-- prisma/functions/claims.sql

-- Whether a completion of a node needs a claim: always, never, or once its output has a field
-- (`claims_when`). What it claims says `claimsOf` of domain/claims.ts.
CREATE OR REPLACE FUNCTION needs_claim(claims_when text, output jsonb) RETURNS boolean
  LANGUAGE sql IMMUTABLE AS $$
  SELECT claims_when = 'always'
    OR coalesce(output ? substring(claims_when FROM '^output\.(.+)$'), false)
$$;

-- Who holds what this node claims, or null where it may have it. From here on the payments are
-- locked, behind movement and nodes, until the transaction ends.
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
    -- A second statement: it sees what was waited for.
    PERFORM FROM payments p WHERE p.source = c.source AND p.reference = c.reference FOR UPDATE;
    SELECT coalesce(sum(o.amount), 0) INTO held FROM payment_claims o
    WHERE o.source = c.source AND o.reference = c.reference
      AND (o.movement_id, o.node_key) <> (movement, node)
      AND (c.since IS NULL OR o.until_block IS NULL OR o.until_block > c.since);
    -- Whoever says more of a payment than the first did is not believed, nor one who says less.
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

-- Writes claims that claim_holder has let through. What the node holds already it keeps.
CREATE OR REPLACE FUNCTION write_claims(movement uuid, node text, claims jsonb, at timestamptz)
  RETURNS void LANGUAGE sql AS $$
  WITH new AS (
    INSERT INTO payment_claims (source, reference, movement_id, node_key, amount, until_block,
      created_at)
    SELECT x.source, x.reference, movement, node, x.amount, x.until, at
    FROM jsonb_to_recordset(claims)
      AS x (source text, reference text, amount numeric, until numeric)
    ON CONFLICT DO NOTHING RETURNING source, reference, amount)
  UPDATE payments p SET claimed = p.claimed + new.amount FROM new
  WHERE p.source = new.source AND p.reference = new.reference
$$;

-- Whether the node has claimed anything; what it has is locked until the transaction ends.
CREATE OR REPLACE FUNCTION lock_claims(movement uuid, node text) RETURNS boolean
  LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM payments p WHERE EXISTS (SELECT FROM payment_claims c
    WHERE c.source = p.source AND c.reference = p.reference
      AND c.movement_id = movement AND c.node_key = node)
  ORDER BY p.source, p.reference FOR UPDATE;
  RETURN FOUND;
END $$;

-- Gives another node what this one has claimed. What is claimed of a payment stays the same sum.
-- Only a node that has completed holds a claim, and the one that gives it has been released by the
-- same transaction.
CREATE OR REPLACE FUNCTION move_claims(holder jsonb, movement uuid, node text) RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM movement_nodes WHERE movement_id = (holder ->> 'movement_id')::uuid
      AND node_key = holder ->> 'node_key' AND state = 'COMPLETED') THEN
    RAISE EXCEPTION 'a completed node keeps its claims' USING ERRCODE = 'insufficient_privilege';
  END IF;
  UPDATE payment_claims c SET movement_id = movement, node_key = node
  WHERE c.movement_id = (holder ->> 'movement_id')::uuid AND c.node_key = holder ->> 'node_key';
END $$;

-- Releases the claims of one node (`released`, a transition of its movement) and completes another
-- with them (`taken`): both, or neither and why. Both movements are locked before anything else of
-- either, by id.
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
      RAISE EXCEPTION 'not reassigned' USING ERRCODE = 'FM018';
    END IF;
  EXCEPTION WHEN SQLSTATE 'FM018' THEN
    RETURN jsonb_build_object('ok', false, 'refused', coalesce(second, first));
  END;
  RETURN jsonb_build_object('ok', true, 'released', first, 'taken', second);
END $$;

-- prisma/functions/clock.sql

-- The one clock of every decision, in milliseconds. Tests move it with the setting
-- svc.clock_offset_ms.
CREATE OR REPLACE FUNCTION svc_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
  SELECT date_trunc('milliseconds', clock_timestamp()
    + make_interval(secs => coalesce(nullif(current_setting('svc.clock_offset_ms', true), ''),
      '0')::double precision / 1000))
$$;

-- An id that sorts by its time (UUIDv7), for rows that only the database knows it must write.
CREATE OR REPLACE FUNCTION svc_new_id(at timestamptz) RETURNS uuid LANGUAGE sql VOLATILE AS $$
  SELECT encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
    PLACING substring(int8send(floor(extract(epoch FROM at) * 1000)::bigint) FROM 3) FROM 1 FOR 6),
      52, 1), 53, 1), 'hex')::uuid
$$;

-- The time that a field of a document stands for; see NOW and Stamp in domain/transition.ts.
CREATE OR REPLACE FUNCTION svc_time(value jsonb, at timestamptz) RETURNS timestamptz
  LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE
    WHEN value = '"@now"'::jsonb THEN at
    WHEN jsonb_typeof(value) = 'object'
      THEN at + make_interval(secs => (value ->> '@after_seconds')::double precision)
    ELSE (value #>> '{}')::timestamptz END
$$;

-- prisma/functions/commands.sql

-- Seconds that the commands no run has seen yet will take to be seen, at twenty a second: a slow
-- machine at work. What waits for its turn is not lost, so leases are no shorter than that.
CREATE OR REPLACE FUNCTION command_backlog() RETURNS double precision LANGUAGE sql AS $$
  SELECT count(*) / 20.0::double precision
  FROM (SELECT FROM commands WHERE applied_at IS NULL LIMIT 10000) open
$$;

-- How long a command is left alone after its n-th wake (0: the first attempt to hand it over). One
-- that Temporal has taken is seen as soon as its run has its turn; it is sent again only because
-- Temporal, too, may have lost it.
CREATE OR REPLACE FUNCTION command_lease(wakes integer, taken boolean, backlog double precision)
  RETURNS interval LANGUAGE sql IMMUTABLE AS $$
  SELECT make_interval(secs => greatest(least(600, backlog),
    CASE WHEN taken THEN least(600, 30 * power(2, least(wakes, 10)))
      ELSE least(60, power(2, least(wakes, 10))) END))
$$;

-- prisma/functions/counts.sql

-- Counts that are kept: every change of a state leaves a line in the transaction that makes it, and
-- lines are added up later. What is read is the sum of both, so it is exact at any moment.

-- A movement was made, has changed its state, ended or begun again. Only a failed movement begins
-- again, so the longest duration is never to be taken back.
CREATE OR REPLACE FUNCTION count_movement() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    INSERT INTO tally_changes VALUES ('movement', OLD.request_state, -1);
    IF OLD.ended_at IS NOT NULL THEN PERFORM count_end(OLD, -1); END IF;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    INSERT INTO tally_changes VALUES ('movement', NEW.request_state, 1);
    IF NEW.ended_at IS NOT NULL THEN PERFORM count_end(NEW, 1); END IF;
  END IF;
  RETURN NULL;
END $$;

-- How a movement ended, for what is known of its version; `change` is -1 where that is over.
CREATE OR REPLACE FUNCTION count_end(m movements, change integer) RETURNS void
  LANGUAGE plpgsql AS $$
DECLARE
  took numeric := CASE m.request_state WHEN 'COMPLETED'
    THEN extract(epoch FROM greatest(m.ended_at - m.approved_at, interval '0')) END;
BEGIN
  IF m.ended_at IS NULL OR m.request_state NOT IN ('COMPLETED', 'FAILED') THEN RETURN; END IF;
  INSERT INTO route_changes VALUES (
    date_trunc('month', m.ended_at AT TIME ZONE 'UTC'), m.template_id,
    CASE m.request_state WHEN 'COMPLETED' THEN change ELSE 0 END,
    CASE m.request_state WHEN 'FAILED' THEN change ELSE 0 END,
    coalesce(took * change, 0), CASE WHEN change > 0 THEN took END);
END $$;

CREATE OR REPLACE FUNCTION count_transfer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    INSERT INTO tally_changes VALUES ('transfer', OLD.request_state, -1);
  END IF;
  IF TG_OP <> 'DELETE' THEN
    INSERT INTO tally_changes VALUES ('transfer', NEW.request_state, 1);
  END IF;
  RETURN NULL;
END $$;

-- Nobody asks how many were delivered.
CREATE OR REPLACE FUNCTION count_callback() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' AND OLD.status <> 'delivered' THEN
    INSERT INTO tally_changes VALUES ('callback', OLD.status, -1);
  END IF;
  IF TG_OP <> 'DELETE' AND NEW.status <> 'delivered' THEN
    INSERT INTO tally_changes VALUES ('callback', NEW.status, 1);
  END IF;
  RETURN NULL;
END $$;

-- Adds up to `most` lines of each kind; answers how many. One process at a time: a second one would
-- only wait for the same rows.
CREATE OR REPLACE FUNCTION fold_counts(most integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  folded integer;
  ended integer;
BEGIN
  IF NOT pg_try_advisory_xact_lock(7034967) THEN RETURN 0; END IF;
  WITH gone AS (
    DELETE FROM tally_changes
      WHERE ctid = ANY (ARRAY(SELECT ctid FROM tally_changes LIMIT most))
    RETURNING subject, state, change
  ), added AS (
    INSERT INTO tallies AS t (subject, state, count)
    SELECT subject, state, sum(change) FROM gone GROUP BY subject, state
    ON CONFLICT (subject, state) DO UPDATE SET count = t.count + excluded.count
  )
  SELECT count(*) INTO folded FROM gone;
  WITH gone AS (
    DELETE FROM route_changes
      WHERE ctid = ANY (ARRAY(SELECT ctid FROM route_changes LIMIT most))
    RETURNING *
  ), added AS (
    INSERT INTO route_months AS r (month, template_id, completed, failed, seconds, longest)
    SELECT month, template_id, sum(completed), sum(failed), sum(seconds), max(longest)
    FROM gone GROUP BY month, template_id
    ON CONFLICT (month, template_id) DO UPDATE SET completed = r.completed + excluded.completed,
      failed = r.failed + excluded.failed, seconds = r.seconds + excluded.seconds,
      longest = greatest(r.longest, excluded.longest)
  )
  SELECT count(*) INTO ended FROM gone;
  RETURN folded + ended;
END $$;

-- How many rows are in each state: {"movement": {"COMPLETED": 1}, "transfer": …, "callback": …}.
CREATE OR REPLACE FUNCTION kept_counts() RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT coalesce(jsonb_object_agg(subject, states), '{}'::jsonb) FROM (
    SELECT subject, jsonb_object_agg(state, n) AS states FROM (
      SELECT subject, state, sum(count) AS n FROM (
        SELECT subject, state, count FROM tallies
        UNION ALL SELECT subject, state, change FROM tally_changes) all_of_them
      GROUP BY subject, state HAVING sum(count) <> 0) summed
    GROUP BY subject) by_subject
$$;

-- The same from the rows themselves, which looks at every one of them.
CREATE OR REPLACE FUNCTION true_counts() RETURNS TABLE (subject text, state text, count bigint)
  LANGUAGE sql STABLE AS $$
  SELECT 'movement', m.request_state, count(*) FROM movements m GROUP BY 2
  UNION ALL SELECT 'transfer', t.request_state, count(*) FROM capital_transfers t GROUP BY 2
  UNION ALL SELECT 'callback', c.status, count(*) FROM callbacks c
    WHERE c.status IN ('pending', 'dead_letter') GROUP BY 2
$$;

CREATE OR REPLACE FUNCTION true_route_months() RETURNS SETOF route_months
  LANGUAGE sql STABLE AS $$
  SELECT date_trunc('month', ended_at AT TIME ZONE 'UTC')::date, template_id,
    count(*) FILTER (WHERE request_state = 'COMPLETED'),
    count(*) FILTER (WHERE request_state = 'FAILED'),
    coalesce(sum(took) FILTER (WHERE request_state = 'COMPLETED'), 0),
    max(took) FILTER (WHERE request_state = 'COMPLETED')
  FROM (SELECT *, extract(epoch FROM greatest(ended_at - approved_at, interval '0')) AS took
    FROM movements WHERE ended_at IS NOT NULL AND request_state IN ('COMPLETED', 'FAILED')) m
  GROUP BY 1, 2
$$;

-- Where what is kept is not what the rows say, at one moment; empty while all is in order.
CREATE OR REPLACE FUNCTION count_differences() RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT coalesce(jsonb_agg(d ORDER BY d), '[]'::jsonb) FROM (
    SELECT jsonb_build_object('what', coalesce(k.subject, t.subject) || ' '
      || coalesce(k.state, t.state), 'kept', coalesce(k.n, 0)::text,
      'true', coalesce(t.count, 0)::text) AS d
    FROM (SELECT s.key AS subject, c.key AS state, c.value::numeric AS n
      FROM jsonb_each(kept_counts()) s, jsonb_each_text(s.value) c) k
    FULL JOIN true_counts() t ON t.subject = k.subject AND t.state = k.state
    WHERE coalesce(k.n, 0) <> coalesce(t.count, 0)
    UNION ALL
    SELECT jsonb_build_object('what', 'route ' || coalesce(k.template_id, t.template_id) || ' in '
      || to_char(coalesce(k.month, t.month), 'YYYY-MM'), 'kept', to_jsonb(k), 'true', to_jsonb(t))
    FROM (SELECT month, template_id, sum(completed) AS completed, sum(failed) AS failed,
        sum(seconds) AS seconds, max(longest) AS longest
      FROM (SELECT * FROM route_months UNION ALL SELECT * FROM route_changes) e
      GROUP BY month, template_id HAVING sum(completed) <> 0 OR sum(failed) <> 0) k
    FULL JOIN true_route_months() t ON t.month = k.month AND t.template_id = k.template_id
    WHERE (k.completed, k.failed, k.seconds, k.longest)
      IS DISTINCT FROM (t.completed, t.failed, t.seconds, t.longest)
  ) differing
$$;

-- Makes them anew from the rows; whoever writes waits meanwhile. As the owner of the tables.
CREATE OR REPLACE FUNCTION rebuild_counts() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(7034967);
  LOCK TABLE movements, capital_transfers, callbacks IN SHARE MODE;
  DELETE FROM tally_changes;
  DELETE FROM route_changes;
  DELETE FROM tallies;
  DELETE FROM route_months;
  INSERT INTO tallies SELECT * FROM true_counts();
  INSERT INTO route_months SELECT * FROM true_route_months();
END $$;

-- What a new movement can move beside its own asset, for lists that ask by asset.
CREATE OR REPLACE FUNCTION note_other_assets() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO movement_other_assets (asset, created_at, movement_id)
  SELECT DISTINCT e ->> 'asset', NEW.created_at, NEW.movement_id
  FROM jsonb_array_elements(NEW.outflow) e WHERE e ->> 'asset' <> NEW.asset;
  RETURN NULL;
END $$;

-- prisma/functions/cutover.sql

-- The switch that stops new money, as what a create and a fence read. It is held until their
-- transaction ends, so that a change answers only behind all that was let through before it; and it
-- is taken before any row, since whoever changes it takes rows behind it.
CREATE OR REPLACE FUNCTION cutover_now() RETURNS text LANGUAGE plpgsql AS $$
DECLARE mode text;
BEGIN
  PERFORM pg_advisory_xact_lock_shared(7203118846);
  -- A database without the row lets nothing through.
  SELECT c.mode INTO STRICT mode FROM cutover c;
  RETURN mode;
END $$;

-- Changes the switch. Nodes and transfers that waited at their fence while it was frozen are woken
-- by what is written here, and what they waited does not count into their time.
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
    -- Movements before their nodes, as everybody takes them.
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

-- A node that came to its fence while it was frozen; from now on its time stands still.
CREATE OR REPLACE FUNCTION freeze_node(movement uuid, key text, at timestamptz) RETURNS void
  LANGUAGE sql AS $$
  UPDATE movement_nodes SET frozen_since = at
  WHERE movement_id = movement AND node_key = key AND state = 'READY' AND frozen_since IS NULL
$$;

-- prisma/functions/fence.sql

-- Whether an amount is within every max_amount that the plan and the node's patch give. One that
-- cannot be read allows nothing (`maxAmount` of domain/plan/amount.ts).
CREATE OR REPLACE FUNCTION within_max_amount(amount numeric, controls jsonb, patch jsonb)
  RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT NOT EXISTS (
    SELECT 1 FROM (VALUES (controls -> 'max_amount'), (patch -> 'max_amount')) AS limits (value)
    WHERE value IS NOT NULL AND amount > CASE
      WHEN jsonb_typeof(value) = 'string'
        AND value #>> '{}' ~ '^(0|[1-9][0-9]{0,19})(\.[0-9]{1,18})?$'
      THEN (value #>> '{}')::numeric ELSE 0 END)
$$;

-- The plain cases of domain/allowlist, by whom a node pays; null leaves it to the long way. A node
-- that pays on a chain goes it, which also knows payees without 0x (names of name services); and
-- names are compared as domain/allowlist/payees.ts does, without `_` and `-`. Of a team's own types
-- only those that pay nobody (`declared_none`, as their executor declares now) are plain, and only
-- where nothing looks like an EVM address. Only of a checksum nothing is said: preflight has read it.
CREATE OR REPLACE FUNCTION plain_addresses(pays text, config jsonb, movement_intent jsonb,
  input_params jsonb, prepared jsonb, reported jsonb, declared_none boolean)
RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  paid text := config ->> 'destination_address';
  also text := prepared ->> 'destination_address';
  hex boolean;
BEGIN
  IF pays = 'nobody' THEN RETURN '[]'; END IF;
  IF pays = 'declared' THEN
    RETURN CASE WHEN declared_none AND movement_intent ->> 'destination_address' IS NULL
                     AND concat(config, input_params, prepared, reported) !~* '0x'
                       THEN '[]'::jsonb END;
  END IF;
  IF pays IS DISTINCT FROM 'exchange' THEN RETURN NULL; END IF;
  hex := paid ~* '^0x[0-9a-f]{40}$';
  IF jsonb_typeof(config -> 'destination_address') IS DISTINCT FROM 'string'
    OR (NOT hex AND (paid !~ '^[!-~]+$' OR length(paid) > 256))
     OR (NOT hex AND paid ~* '^0x') THEN RETURN NULL; END IF;
  IF also IS NOT NULL AND (CASE WHEN hex THEN lower(also) <> lower(paid) ELSE also <> paid END)
    THEN RETURN NULL; END IF;
  IF regexp_replace(concat(config - 'destination_address', prepared - 'destination_address',
    reported), '[_-]', '', 'g')
     ~* '0x|addr|wallet|destination|recipient|receiver|beneficiary|payee' THEN RETURN NULL; END IF;
  RETURN jsonb_build_array(
    jsonb_build_object('chain_family', 'cex', 'address', CASE WHEN hex THEN lower(paid)
    ELSE paid END));
END $$;

-- Why an address may not be paid now, or null; see domain/allowlist/match.ts. Its rows are locked
-- against a simultaneous revoke.
CREATE OR REPLACE FUNCTION address_problem(asked jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  a allowed_addresses;
  cools boolean := false;
  unchained boolean := false;
BEGIN
  FOR a IN SELECT * FROM allowed_addresses
           WHERE chain_family = asked ->> 'chain_family' AND address = asked ->> 'address'
             ORDER BY id FOR SHARE LOOP
    CONTINUE WHEN NOT a.active
      OR (a.chain_id IS NOT NULL AND a.chain_id IS DISTINCT FROM (asked ->> 'chain_id')::bigint);
    IF a.chain_id IS NULL AND coalesce((asked ->> 'strict')::boolean, false) THEN
      unchained := true;
    ELSIF a.usable_after > svc_now() THEN
      cools := true;
    ELSE
      RETURN NULL;
    END IF;
  END LOOP;
  RETURN CASE WHEN cools THEN 'ADDRESS_IN_COOLING_PERIOD' WHEN unchained
    THEN 'ADDRESS_CHAIN_ID_REQUIRED' ELSE 'ADDRESS_NOT_ALLOWLISTED' END;
END $$;

-- Why what a send needs is not to be had, as a list, or null: {"executors": [key]} must be active,
-- {"signers": [...]} active and of the identity that they are pinned to, {"addresses":
-- [{"chain_family", "address", "chain_id", "strict"}]} on the list and usable, {"requirements":
-- {kind: {...}}} without a requirement_problem; "flow" is asked elsewhere. A deprecated signer is
-- there for what its rotation left with it. The rows are locked, so that what is refused at the
-- same time comes before or after and not between. The caller holds the movement.
CREATE OR REPLACE FUNCTION binding_problems(required jsonb, movement uuid) RETURNS jsonb
  LANGUAGE plpgsql AS $$
DECLARE
  listed jsonb := '[]'::jsonb;
  e executors;
  s signers;
  signer jsonb;
  asked jsonb;
  problem text;
  kind text;
BEGIN
  -- What this release does not know it cannot ask for, so nothing is sent on it.
  IF required - ARRAY['executors', 'signers', 'addresses', 'flow', 'requirements'] <> '{}' THEN
    RAISE EXCEPTION 'a send requires what is not known here: %', required;
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
  FOR asked IN SELECT value
    FROM jsonb_array_elements(coalesce(required -> 'addresses', '[]'::jsonb))
               ORDER BY value ->> 'chain_family', value ->> 'address' LOOP
    problem := address_problem(asked);
    IF problem IS NOT NULL THEN
      listed := listed || jsonb_build_object('binding', 'address', 'key', asked ->> 'address',
        'reason', problem);
    END IF;
  END LOOP;
  FOR kind, asked IN SELECT * FROM jsonb_each(coalesce(required -> 'requirements', '{}'::jsonb))
    AS r (kind, asked) ORDER BY r.kind LOOP
    listed := listed || coalesce(requirement_problem(kind, asked, movement), '[]'::jsonb);
  END LOOP;
  RETURN CASE WHEN jsonb_array_length(listed) = 0 THEN NULL ELSE listed END;
END $$;

-- The short fence: one statement for a node that needs no signature and pays plain addresses, if
-- any. Epoch and window as `fenced` of domain/send/epoch.ts has them.
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
  -- Before any row; what a frozen one means is said behind.
  PERFORM cutover_now();
  SELECT w.intent, p.input_params, p.plan_head -> 'risk_controls' AS controls INTO m
    FROM movements w JOIN movement_plans p USING (movement_id)
    WHERE movement_id = movement FOR UPDATE OF w;
  SELECT * INTO n FROM movement_nodes WHERE movement_id = movement AND node_key = key FOR UPDATE;
  at := svc_now();
  plan := node_plan(n.own_plan, m.input_params);
  addresses := plain_addresses(n.pays, plan -> 'config', m.intent, m.input_params,
    n.prepared_action, n.output, pays_nobody ? n.action_type);
  -- That it is READY the transition itself compares.
  IF n.attempt = node_attempt AND n.preflight_passed AND NOT n.recover_first
    AND addresses IS NOT NULL
     AND n.prepared_action IS NOT NULL AND n.sign_request IS NULL AND n.signer_binding IS NULL
       AND n.amount IS NOT NULL
     AND n.executor_binding ->> 'executor_key' = executor AND n.started_at IS NOT NULL
     -- A team's node that the plan counts as sending nothing: the long way asks whether its
     -- executor still says so.
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

-- The value of terms; see Term in domain/plan/flow.ts. `nodes` gives each node's state and what it
-- draws ("s", "v"). Ways that the outcome of their node has closed count nothing.
CREATE OR REPLACE FUNCTION sum_of(terms jsonb, nodes jsonb) RETURNS numeric
  LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  term jsonb;
  state text;
  total numeric := 0;
BEGIN
  FOR term IN SELECT jsonb_array_elements(terms) LOOP
    IF jsonb_typeof(term) = 'string' THEN
      total := total + coalesce((nodes -> (term #>> '{}') ->> 'v')::numeric, 0);
    ELSIF term ? 'one' THEN
      total := total + (SELECT max(sum_of(way, nodes))
        FROM jsonb_array_elements(term -> 'one') AS way);
    ELSE
      state := nodes -> (term ->> 'of') ->> 's';
      total := total + greatest(
        CASE WHEN state = 'FAILED' THEN 0 ELSE sum_of(term -> 'success', nodes) END,
        CASE WHEN state = 'COMPLETED' THEN 0
          ELSE greatest(sum_of(term -> 'failure', nodes), sum_of(term -> 'timeout', nodes)) END);
    END IF;
  END LOOP;
  RETURN total;
END $$;

-- A node passed its fence in its present attempt and has not ended: it may have sent. What was
-- accepted once and waits to be sent again, because it cannot be found, may still come to be seen.
CREATE OR REPLACE FUNCTION may_have_sent(n movement_nodes) RETURNS boolean
  LANGUAGE sql IMMUTABLE AS $$
  SELECT n.state IN ('SUBMITTING', 'SUBMITTED', 'OBSERVING', 'UNKNOWN')
    OR (n.state = 'READY' AND (n.recover_first OR n.submitted_at IS NOT NULL))
$$;

-- What a node draws or passes on, as far as it is known. An allowance draws what its plan says,
-- whatever it allows (`exceeding` of domain/plan/flow.ts).
CREATE OR REPLACE FUNCTION moved_amount(n movement_nodes) RETURNS numeric LANGUAGE sql IMMUTABLE
  AS $$
  SELECT CASE WHEN n.pays = 'spender'
    THEN coalesce((n.flow ->> 'amount')::numeric, n.amount)
    ELSE coalesce(n.amount, (n.flow ->> 'amount')::numeric) END
$$;

-- What a node sent, or may have. An executor that moved a part says so in a field of its output; of
-- what brings funds in, that is what arrived. Nothing before the fence, nor where it is proven that nothing
-- landed.
CREATE OR REPLACE FUNCTION sent_amount(n movement_nodes) RETURNS numeric LANGUAGE plpgsql IMMUTABLE
  AS $$
DECLARE
  told jsonb := n.output -> n.sent_field;
BEGIN
  RETURN CASE
    WHEN n.state = 'COMPLETED' THEN least(moved_amount(n), CASE
      -- A number is a float somewhere, and says nothing.
      WHEN jsonb_typeof(told) = 'string'
        AND told #>> '{}' ~ '^(0|[1-9][0-9]{0,19})(\.[0-9]{1,18})?$'
        THEN (told #>> '{}')::numeric END)
    WHEN may_have_sent(n) THEN coalesce(moved_amount(n), 0)
    ELSE 0 END;
END $$;

-- Why a node may not send so much (`flow`: {"node_key", "amount"}), or NULL: what is drawn of an
-- asset stays within the approved outflow, and what is passed on of a node's sending within what
-- that node sent, over all nodes together. Nodes that a restore brought back and that nobody has
-- asked about yet may have been sent in what is lost: they count beside, where they would be too
-- much (RESTORED_NODE_UNASKED, with their keys). The caller holds the movement's lock.
CREATE OR REPLACE FUNCTION flow_problems(movement uuid, flow jsonb) RETURNS jsonb
  LANGUAGE plpgsql STABLE AS $$
DECLARE
  own jsonb;
  asked numeric;
  used numeric;
  most numeric;
  unasked numeric;
  keys jsonb;
BEGIN
  -- Its amount is known by now, and of an allowance it is not what it draws.
  SELECT n.flow, CASE WHEN n.pays = 'spender' THEN (n.flow ->> 'amount')::numeric END
    INTO own, asked FROM movement_nodes n WHERE n.movement_id = movement
    AND n.node_key = flow_problems.flow ->> 'node_key';
  -- What takes an allowance back draws nothing, however much is used up.
  IF asked IS NOT NULL AND (flow_problems.flow ->> 'amount')::numeric = 0 THEN RETURN NULL; END IF;
  asked := coalesce(asked, (flow_problems.flow ->> 'amount')::numeric);
  IF own IS NULL THEN RETURN NULL; END IF;
  SELECT coalesce(sum(sent_amount(n)), 0) INTO used FROM movement_nodes n
  WHERE n.movement_id = movement AND n.node_key <> flow_problems.flow ->> 'node_key'
    AND n.flow ->> 'asset' = own ->> 'asset'
    AND n.flow ->> 'from' IS NOT DISTINCT FROM own ->> 'from';
  IF own ->> 'from' IS NULL THEN
    SELECT outflow_in(m.outflow, own ->> 'asset') INTO most FROM movements m
      WHERE m.movement_id = movement;
    -- A person approved it without a bound.
    IF most IS NULL THEN RETURN NULL; END IF;
  ELSE
    SELECT sent_amount(n) INTO most FROM movement_nodes n
    WHERE n.movement_id = movement AND n.node_key = own ->> 'from' AND n.state = 'COMPLETED';
  END IF;
  used := used + asked;
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
      'used', trim_scale(used - asked)::text)));
END $$;

-- prisma/functions/holds.sql

-- Adds to what a pool holds, and asks whether that is covered where `take` says that the pool's
-- venue is fetched ({"venues", "stale_after_seconds"}). What is summed there is read by a later
-- statement than the one that waited for the pool's lock, so it sees what was written meanwhile.
CREATE OR REPLACE FUNCTION change_pool(pool jsonb, change numeric, take jsonb, at timestamptz)
  RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  total numeric;
BEGIN
  INSERT INTO reservation_pools AS p (venue_key, account_type, asset, held)
  VALUES (pool ->> 'venue_key', pool ->> 'account_type', pool ->> 'asset', greatest(change, 0))
  ON CONFLICT (venue_key, account_type, asset) DO UPDATE SET held = p.held + change
  RETURNING held INTO total;
  IF change > 0 AND coalesce(take -> 'venues', '[]'::jsonb) ? (pool ->> 'venue_key') THEN
    PERFORM check_covered(pool, change, total, (take ->> 'stale_after_seconds')::integer, at);
  END IF;
END $$;

-- What each node of a movement may still draw from a pool, as sum_of takes it. A movement that has
-- ended draws no more with nodes that have not passed their fence.
CREATE OR REPLACE FUNCTION open_draws(m movements, pool jsonb) RETURNS jsonb
  LANGUAGE sql STABLE AS $$
  SELECT coalesce(jsonb_object_agg(n.node_key, jsonb_build_object('s', n.state, 'v', CASE
    WHEN n.flow -> 'pool' || jsonb_build_object('asset', n.flow -> 'asset') IS DISTINCT FROM pool
      OR n.flow ->> 'from' IS NOT NULL
      OR n.state IN ('COMPLETED', 'FAILED', 'SKIPPED', 'CANCELLED')
      OR (m.request_state IN ('FAILED', 'COMPLETED') AND NOT may_have_sent(n)) THEN 0
    ELSE coalesce(moved_amount(n), 0) END)), '{}'::jsonb)
  FROM movement_nodes n WHERE n.movement_id = m.movement_id
$$;

-- Makes a movement's holds what its nodes may still draw: one hold for each pool, whatever it was
-- before. Pools come in key order, behind movement and nodes. `take` asks that what is more than
-- before be covered.
CREATE OR REPLACE FUNCTION settle_holds(m movements, take jsonb, at timestamptz) RETURNS void
  LANGUAGE plpgsql AS $$
DECLARE
  pool jsonb;
  hold reservations;
  target numeric;
BEGIN
  FOR pool IN
    SELECT each FROM (
      SELECT DISTINCT n.flow -> 'pool' || jsonb_build_object('asset', n.flow -> 'asset') AS each
        FROM movement_nodes n
      WHERE n.movement_id = m.movement_id AND jsonb_typeof(n.flow -> 'pool') = 'object'
        AND n.flow ->> 'from' IS NULL
    ) pools
    ORDER BY each ->> 'venue_key' COLLATE "C", each ->> 'account_type' COLLATE "C",
      each ->> 'asset' COLLATE "C"
  LOOP
    target := CASE WHEN m.approval_status = 'approved'
      THEN sum_of(draw_terms_of(m.movement_id), open_draws(m, pool)) ELSE 0 END;
    SELECT * INTO hold FROM reservations
    WHERE movement_id = m.movement_id AND status = 'held' AND venue_key = pool ->> 'venue_key'
      AND account_type = pool ->> 'account_type' AND asset = pool ->> 'asset';
    CONTINUE WHEN target = coalesce(hold.amount, 0);
    PERFORM change_pool(pool, target - coalesce(hold.amount, 0), take, at);
    IF hold.reservation_id IS NULL THEN
      INSERT INTO reservations (reservation_id, movement_id, venue_key, account_type, asset,
        amount, status, created_at)
      VALUES (svc_new_id(at), m.movement_id, pool ->> 'venue_key', pool ->> 'account_type',
        pool ->> 'asset', target, 'held', at);
    ELSIF target = 0 THEN
      UPDATE reservations SET status = 'released', ended_at = at
        WHERE reservation_id = hold.reservation_id;
    ELSE
      UPDATE reservations SET amount = target WHERE reservation_id = hold.reservation_id;
    END IF;
  END LOOP;
END $$;

-- Records what nodes that drew from pools were proven to send: until a snapshot shows it, it counts
-- as outflow.
CREATE OR REPLACE FUNCTION note_sent(movement uuid, keys text[], at timestamptz) RETURNS void
  LANGUAGE sql AS $$
  INSERT INTO reservations (reservation_id, movement_id, node_key, venue_key, account_type, asset,
    amount, status, created_at, ended_at)
  SELECT svc_new_id(at), n.movement_id, n.node_key, p.venue_key, p.account_type, p.asset,
    sent_amount(n), 'consumed', at, at
  FROM movement_nodes n
  JOIN reservation_pools p ON p.venue_key = n.flow -> 'pool' ->> 'venue_key'
    AND p.account_type = n.flow -> 'pool' ->> 'account_type'
    AND p.asset = n.flow ->> 'asset'
  WHERE n.movement_id = movement AND n.node_key = ANY (keys) AND n.flow ->> 'from' IS NULL
    AND sent_amount(n) > 0
$$;

-- Takes the hold of a transfer.
CREATE OR REPLACE FUNCTION take_transfer_hold(transfer uuid, hold jsonb, take jsonb,
  at timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM change_pool(hold - 'amount' - 'reservation_id', (hold ->> 'amount')::numeric, take, at);
  INSERT INTO reservations (reservation_id, transfer_id, venue_key, account_type, asset, amount,
    status, created_at)
  VALUES ((hold ->> 'reservation_id')::uuid, transfer, hold ->> 'venue_key',
    hold ->> 'account_type', hold ->> 'asset',
          (hold ->> 'amount')::numeric, 'held', at);
END $$;

-- Ends the hold of a transfer. The caller holds the transfer's lock.
CREATE OR REPLACE FUNCTION end_transfer_hold(transfer uuid, new_status text, at timestamptz)
  RETURNS void LANGUAGE plpgsql AS $$
DECLARE hold reservations;
BEGIN
  SELECT * INTO hold FROM reservations WHERE transfer_id = transfer AND status = 'held';
  IF NOT FOUND THEN RETURN; END IF;
  UPDATE reservation_pools SET held = held - hold.amount
  WHERE venue_key = hold.venue_key AND account_type = hold.account_type AND asset = hold.asset;
  UPDATE reservations SET status = new_status, ended_at = at
    WHERE reservation_id = hold.reservation_id;
END $$;

-- What was proven to leave a pool not before `since`: a snapshot of that time may not show it.
CREATE OR REPLACE FUNCTION ended_outflow(venue text, account text, coin text, since timestamptz)
RETURNS TABLE (amount numeric, movements bigint, transfers bigint) LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(r.amount), 0), count(DISTINCT r.movement_id), count(DISTINCT r.transfer_id)
    FROM reservations r
  WHERE r.venue_key = venue AND r.account_type = account AND r.asset = coin
    AND r.status = 'consumed' AND r.ended_at >= since
$$;

-- Outflow that a snapshot may not show yet: what is held, and what has ended since.
CREATE OR REPLACE FUNCTION pending_outflow(venue text, account text, coin text, since timestamptz)
RETURNS TABLE (amount numeric, movements bigint, transfers bigint) LANGUAGE sql STABLE AS $$
  SELECT h.amount + e.amount, h.movements + e.movements, h.transfers + e.transfers
  FROM (SELECT coalesce(sum(r.amount), 0) AS amount, count(r.movement_id) AS movements,
    count(r.transfer_id) AS transfers
        FROM reservations r WHERE r.venue_key = venue AND r.account_type = account
          AND r.asset = coin AND r.status = 'held') h,
       ended_outflow(venue, account, coin, since) e
$$;

-- Fails unless a snapshot younger than `stale_after` seconds covers the pool's hold (`held`, of
-- which `change` is new) beside all that left since. The caller holds the pool's lock, so what is
-- summed here cannot grow meanwhile.
CREATE OR REPLACE FUNCTION check_covered(pool jsonb, change numeric, held numeric,
  stale_after integer, at timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  b balance_snapshots;
  told jsonb := pool || jsonb_build_object('amount', trim_scale(change)::text);
  ended numeric;
BEGIN
  SELECT * INTO b FROM balance_snapshots
  WHERE venue_key = pool ->> 'venue_key' AND account_type = pool ->> 'account_type'
    AND asset = pool ->> 'asset';
  IF NOT FOUND THEN
    -- A venue that was asked and did not name this pool has nothing in it.
    SELECT max(fetched_at) INTO b.fetched_at FROM balance_snapshots
      WHERE venue_key = pool ->> 'venue_key';
    b.withdrawable := 0;
  END IF;
  IF b.fetched_at IS NULL OR b.fetched_at < at - make_interval(secs => stale_after) THEN
    RAISE EXCEPTION 'stale_snapshot' USING ERRCODE = 'FM012', DETAIL = told;
  END IF;
  IF b.withdrawable IS NULL THEN RETURN; END IF;
  SELECT amount INTO ended
    FROM ended_outflow(pool ->> 'venue_key', pool ->> 'account_type', pool ->> 'asset',
    b.fetched_at);
  IF held + ended > b.withdrawable THEN
    RAISE EXCEPTION 'insufficient_effective_withdrawable' USING ERRCODE = 'FM010', DETAIL = told
      || jsonb_build_object(
        'effective_withdrawable', trim_scale(b.withdrawable - ended - (held - change))::text);
  END IF;
END $$;

-- Stores one complete fetch of a venue; assets that it no longer names are there with zero.
CREATE OR REPLACE FUNCTION store_balances(venue text, began timestamptz, rows jsonb) RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO balance_snapshots AS b (venue_key, account_type, asset, available, withdrawable,
    total, details, fetched_at)
  SELECT venue, r.account_type, r.asset, r.available, r.withdrawable, r.total, r.details, began
  FROM jsonb_to_recordset(rows) AS r (account_type text, asset text, available numeric,
    withdrawable numeric, total numeric, details jsonb)
  ORDER BY r.account_type, r.asset
  ON CONFLICT (venue_key, account_type, asset) DO UPDATE
    SET available = excluded.available, withdrawable = excluded.withdrawable,
    total = excluded.total, details = excluded.details, fetched_at = excluded.fetched_at
  WHERE b.fetched_at <= excluded.fetched_at;
  UPDATE balance_snapshots SET available = 0, withdrawable = 0, total = 0, details = NULL,
    fetched_at = began
  WHERE venue_key = venue AND fetched_at < began;
END $$;

-- prisma/functions/keys.sql

-- A key is what it was issued as: only its status changes, and never back.
CREATE OR REPLACE FUNCTION guard_key_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' OR OLD.status = 'revoked'
    OR (OLD.key_id, OLD.client_id, OLD.role, OLD.secret, OLD.cert_fingerprint, OLD.authority_key,
    OLD.created_at)
     IS DISTINCT FROM (NEW.key_id, NEW.client_id, NEW.role, NEW.secret, NEW.cert_fingerprint,
       NEW.authority_key, NEW.created_at) THEN
    RAISE EXCEPTION 'an issued key can only be revoked' USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END $$;

-- Issues a key: reuses the active client of that name, else makes one; makes or updates the
-- authority of an agent's key. Answers {"ok": true, ...} or {"ok": false, "reason": ...} with
-- nothing written.
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
    -- What is not given stays as it is.
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

-- Revokes a key for good. Answers null for an unknown key; a repeat changes nothing and writes
-- nothing.
CREATE OR REPLACE FUNCTION revoke_key(key text, audit jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  k api_client_keys;
  at timestamptz := svc_now();
BEGIN
  SELECT * INTO k FROM api_client_keys WHERE key_id = key FOR UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  IF k.status = 'active' THEN
    UPDATE api_client_keys SET status = 'revoked', revoked_at = at WHERE key_id = key;
    PERFORM write_audit(with_details(audit,
      jsonb_build_object('client_id', k.client_id, 'role', k.role)), at);
  END IF;
  RETURN jsonb_build_object('key_id', key, 'client_id', k.client_id, 'role', k.role,
    'was', k.status);
END $$;

-- prisma/functions/lanes.sql

-- Lanes of nonces: what is open in them, which later versions a nonce has, and what settles it.

-- The lowest nonce whose claim was never signed and whose node has ended, or is unknown: nobody can
-- sign for it any more (only a node behind its fence stores bytes), so the next send of the lane
-- takes it over instead of leaving a gap. NULL where there is none.
CREATE OR REPLACE FUNCTION left_claim(claim jsonb) RETURNS evm_transactions
  LANGUAGE sql VOLATILE AS $$
  SELECT t FROM evm_transactions t JOIN movement_nodes n USING (movement_id, node_key)
  WHERE t.chain_id = (claim ->> 'chain_id')::bigint AND t.address = claim ->> 'address'
    AND t.released_at IS NULL AND t.final_at IS NULL
    AND t.raw_tx IS NULL AND t.replaces IS NULL AND t.nonce >= (claim ->> 'chain_nonce')::bigint
    AND (n.attempt > t.attempt
      OR n.state IN ('FAILED', 'COMPLETED', 'CANCELLED', 'SKIPPED', 'UNKNOWN'))
    AND NOT EXISTS (SELECT FROM evm_transactions v WHERE v.replaces = t.transaction_id)
  ORDER BY t.nonce LIMIT 1
$$;

-- Why a lane gives no nonce away now, as a problem of a binding, or null: an earlier nonce was
-- signed for, is in no block, and nobody works on its node. What came behind it would wait for it.
-- `claim` as claim_nonce has it. What lies above the nonce that the attempt has already, or would
-- take over, is no obstacle: it waits for this one itself.
CREATE OR REPLACE FUNCTION lane_problem(movement uuid, node text, node_attempt integer, claim jsonb)
RETURNS jsonb LANGUAGE sql VOLATILE AS $$
  SELECT jsonb_build_array(jsonb_build_object('binding', 'lane', 'key', t.address,
    'reason', 'nonce ' || t.nonce || ' on chain ' || t.chain_id || ' of node ' || t.node_key
      || ' of movement ' || t.movement_id || ' is still open'))
  FROM evm_transactions t JOIN movement_nodes n USING (movement_id, node_key)
  WHERE t.chain_id = (claim ->> 'chain_id')::bigint AND t.address = claim ->> 'address'
    AND t.released_at IS NULL AND t.replaces IS NULL AND t.final_at IS NULL
    AND t.raw_tx IS NOT NULL AND t.nonce >= (claim ->> 'chain_nonce')::bigint
    AND t.nonce < coalesce(
      (SELECT own.nonce FROM evm_transactions own WHERE own.movement_id = movement
        AND own.node_key = node AND own.attempt = node_attempt AND own.replaces IS NULL
        AND own.released_at IS NULL),
      (left_claim(claim)).nonce, 9223372036854775807)
    AND (n.attempt > t.attempt
      OR n.state IN ('FAILED', 'COMPLETED', 'CANCELLED', 'SKIPPED', 'UNKNOWN'))
  ORDER BY t.nonce LIMIT 1
$$;

-- Ends the claim on a nonce that another, finalized transaction has used: only of the attempt and
-- epoch that saw it, and while the newest version is the one that was looked for last. Under the
-- movement's lock, like every later version.
CREATE OR REPLACE FUNCTION release_nonce(movement uuid, key text, of_attempt integer,
  of_epoch integer, version jsonb) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM movements WHERE movement_id = movement FOR UPDATE;
  IF NOT EXISTS (SELECT FROM movement_nodes n WHERE n.movement_id = movement AND n.node_key = key
      AND n.attempt = of_attempt AND n.submit_epoch = of_epoch)
    OR NOT is_newest_version(movement, version) THEN
    RETURN false;
  END IF;
  UPDATE evm_transactions SET released_at = svc_now()
  WHERE transaction_id = (version ->> 'claim')::uuid
    OR replaces = (version ->> 'claim')::uuid;
  RETURN true;
END $$;

-- Whether the newest version of a claim is still the one that another is to take the place of:
-- {"claim", "over"} are ids. `movement` is null for a claim that is no node's.
CREATE OR REPLACE FUNCTION is_newest_version(movement uuid, version jsonb) RETURNS boolean
  LANGUAGE sql VOLATILE AS $$
  SELECT EXISTS (
    SELECT FROM evm_transactions c
    WHERE c.transaction_id = (version ->> 'claim')::uuid AND c.replaces IS NULL
      AND c.movement_id IS NOT DISTINCT FROM movement
      AND c.released_at IS NULL AND c.final_at IS NULL
      AND (version ->> 'over')::uuid = (
        SELECT v.transaction_id FROM evm_transactions v
        WHERE v.transaction_id = c.transaction_id OR v.replaces = c.transaction_id
        ORDER BY v.created_at DESC, v.transaction_id DESC LIMIT 1))
$$;

-- Stores a later version of a claim's nonce, with its bytes. Who calls holds the lock of the
-- movement, or of the lane, and has asked is_newest_version.
CREATE OR REPLACE FUNCTION store_version(version jsonb, at timestamptz) RETURNS void
  LANGUAGE sql VOLATILE AS $$
  INSERT INTO evm_transactions (transaction_id, chain_id, address, nonce, signer_key, movement_id,
    node_key, attempt, kind, replaces, unsigned, raw_tx, tx_hash, created_at)
  SELECT (version ->> 'transaction_id')::uuid, chain_id, address, nonce, signer_key, movement_id,
    node_key, attempt, version ->> 'kind', transaction_id, version -> 'unsigned',
    version ->> 'raw_tx', version ->> 'tx_hash', at
  FROM evm_transactions WHERE transaction_id = (version ->> 'claim')::uuid
$$;

-- A transaction that fills a nonce which nobody claims, or a later version of one that does so
-- ("claim", "over"). False when somebody was quicker.
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
  -- Only what was given away once: the lane gives the others away itself.
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

-- The versions of a claim, oldest first.
CREATE OR REPLACE FUNCTION versions_of(claim evm_transactions) RETURNS jsonb
  LANGUAGE sql VOLATILE AS $$
  SELECT jsonb_agg(jsonb_build_object('transaction_id', v.transaction_id,
    'claim', claim.transaction_id, 'chain_id', v.chain_id, 'from', v.address, 'nonce', v.nonce,
    'kind', v.kind, 'unsigned', v.unsigned, 'tx_hash', v.tx_hash, 'raw_tx', v.raw_tx,
    'age_seconds', extract(epoch FROM svc_now() - v.created_at),
    'accepted', v.accepted_at IS NOT NULL)
    ORDER BY v.created_at, v.transaction_id)
  FROM evm_transactions v
  WHERE v.transaction_id = claim.transaction_id OR v.replaces = claim.transaction_id
$$;

-- Whether a person has answered for what became of a transaction's attempt. A scalar and no EXISTS,
-- which Postgres may answer by reading every artifact there is.
CREATE OR REPLACE FUNCTION was_resolved(t evm_transactions) RETURNS boolean
  LANGUAGE sql STABLE AS $$
  SELECT coalesce((SELECT true FROM artifacts a WHERE a.movement_id = t.movement_id
    AND a.node_key = t.node_key AND a.attempt = t.attempt AND a.kind = 'resolution' LIMIT 1), false)
$$;

-- The lanes that have open claims, or were noted as stuck, and that nobody else looks after just now,
-- each with its lowest claims; they are the caller's for `seconds`. `ended`: the node's run works on it no more.
-- `stuck`: why that run cannot use the nonce up.
-- `proven`: it ended because its own payment was seen in a block.
CREATE OR REPLACE FUNCTION take_lanes(seconds double precision, most integer) RETURNS jsonb
  LANGUAGE plpgsql AS $$
DECLARE
  at timestamptz := svc_now();
  lanes jsonb;
BEGIN
  WITH due AS (
    SELECT l.chain_id, l.address FROM nonce_lanes l
    WHERE coalesce(l.tended_until, '-infinity') <= at
      AND (l.stuck_nonce IS NOT NULL OR EXISTS (
        SELECT FROM evm_transactions t WHERE t.chain_id = l.chain_id AND t.address = l.address
          AND t.released_at IS NULL AND t.replaces IS NULL AND t.final_at IS NULL))
    ORDER BY l.tended_until NULLS FIRST FOR UPDATE SKIP LOCKED
  ), taken AS (
    UPDATE nonce_lanes l SET tended_until = at + make_interval(secs => seconds)
    FROM due WHERE l.chain_id = due.chain_id AND l.address = due.address
    RETURNING l.chain_id, l.address
  )
  SELECT coalesce(jsonb_agg(jsonb_build_object('chain_id', chain_id, 'address', address,
    'claims', (
      SELECT jsonb_agg(jsonb_build_object('transaction_id', t.transaction_id, 'nonce', t.nonce,
        'signer_key', t.signer_key, 'movement_id', t.movement_id, 'node_key', t.node_key,
        'attempt', t.attempt, 'node_state', t.node_state, 'reorged', t.reorged_at IS NOT NULL,
        'stuck', t.stuck, 'ended', t.ended, 'proven', t.proven, 'versions', versions_of(t.claim)) ORDER BY t.nonce)
      FROM (
        SELECT c.*, c AS claim, n.state AS node_state,
          CASE WHEN n.attempt = c.attempt AND n.error_code = 'LANE_STUCK'
            AND n.state NOT IN ('FAILED', 'COMPLETED', 'CANCELLED', 'SKIPPED')
            THEN coalesce(n.error_message, n.error_code) END AS stuck,
          c.movement_id IS NULL OR n.attempt > c.attempt
            OR n.state IN ('FAILED', 'COMPLETED', 'CANCELLED', 'SKIPPED') AS ended,
          coalesce(n.attempt = c.attempt AND n.state = 'COMPLETED'
            AND NOT was_resolved(c), false) AS proven
        FROM evm_transactions c LEFT JOIN movement_nodes n
          ON n.movement_id = c.movement_id AND n.node_key = c.node_key
        WHERE c.chain_id = taken.chain_id AND c.address = taken.address
          AND c.released_at IS NULL AND c.replaces IS NULL AND c.final_at IS NULL
        ORDER BY c.nonce LIMIT most) t))), '[]'::jsonb) INTO lanes
  FROM taken;
  RETURN lanes;
END $$;

-- What the chain was seen to count, the claims that a final block has settled:
-- [{"transaction_id", "mined_hash"}], and the nonce that cannot be used up: {"nonce", "why"} or null.
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
  -- One by one, by key: nobody can tell Postgres how few they are.
  FOR each IN SELECT jsonb_array_elements(doc -> 'settled') LOOP
    UPDATE evm_transactions SET final_at = svc_now(), mined_hash = each ->> 'mined_hash'
    WHERE transaction_id = (each ->> 'transaction_id')::uuid AND final_at IS NULL
      AND released_at IS NULL;
  END LOOP;
END $$;

-- The raise of a lane's caps that holds now; NULL where there is none. What signs reads it here, and
-- so does what shows it.
CREATE OR REPLACE FUNCTION raise_of(l nonce_lanes) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN l.cap_raised_until > svc_now() THEN l.cap_raise || jsonb_build_object('until',
    to_char(l.cap_raised_until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) END
$$;

-- Raises the caps of one lane in place of whatever raise it has; false where there is no such lane.
CREATE OR REPLACE FUNCTION raise_lane_caps(doc jsonb) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  l nonce_lanes;
  at timestamptz;
BEGIN
  SELECT * INTO l FROM nonce_lanes WHERE chain_id = (doc ->> 'chain_id')::bigint
    AND address = doc ->> 'address' FOR UPDATE;
  IF NOT FOUND THEN RETURN false; END IF;
  at := svc_now();
  UPDATE nonce_lanes SET cap_raise = doc -> 'raise' || jsonb_build_object('raised_at',
      to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')),
    cap_raised_until = at + make_interval(secs => (doc ->> 'ttl_seconds')::double precision)
  WHERE chain_id = l.chain_id AND address = l.address;
  PERFORM write_audit(with_details(doc -> 'audit',
    jsonb_build_object('previous_raise', raise_of(l))), at);
  RETURN true;
END $$;

-- Lanes for people: what is claimed and in no block that was seen, since when, and what is mined
-- and not yet final.
CREATE OR REPLACE FUNCTION lane_views() RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT coalesce(jsonb_agg(jsonb_build_object('chain_id', l.chain_id, 'address', l.address,
    'signer_key', l.signer_key, 'next_nonce', l.next_nonce, 'mined_nonce', l.mined_count,
    'final_nonce', l.final_count,
    'seen_at', to_char(l.seen_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'open_nonces', coalesce(o.open, 0),
    'oldest_open_seconds', extract(epoch FROM svc_now() - o.since)::bigint,
    'unfinal_nonces', coalesce(o.unfinal, 0), 'raise', raise_of(l),
    'stuck', CASE WHEN l.stuck_nonce IS NOT NULL THEN jsonb_build_object('nonce', l.stuck_nonce,
      'why', l.stuck_why,
      'since', to_char(l.stuck_since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) END)
    ORDER BY l.chain_id, l.address), '[]'::jsonb)
  FROM nonce_lanes l LEFT JOIN LATERAL (
    SELECT count(*) FILTER (WHERE t.nonce >= coalesce(l.mined_count, 0)) AS open,
      min(t.created_at) FILTER (WHERE t.nonce >= coalesce(l.mined_count, 0)) AS since,
      count(*) FILTER (WHERE t.nonce < coalesce(l.mined_count, 0)) AS unfinal
    FROM evm_transactions t WHERE t.chain_id = l.chain_id AND t.address = l.address
      AND t.released_at IS NULL AND t.replaces IS NULL AND t.final_at IS NULL) o ON true
$$;

-- prisma/functions/perp-actions.sql

-- The nonce of an action for the perps venue: the one that its owner has, else the next of whoever
-- signs. They follow the clock in milliseconds, since the venue takes none that is far from it, and
-- none is given twice. Where the clock was far ahead and is no more, so is the last one, and with
-- the next a payment would be refused now and still be good when its time comes: FM015 until then,
-- with the last. An approval of an agent moves nothing, and may wait for its time.
CREATE OR REPLACE FUNCTION claim_perp_nonce(signer text, movement uuid, node text,
  node_attempt integer, wallet uuid) RETURNS perp_actions LANGUAGE plpgsql AS $$
DECLARE
  found_action perp_actions;
  ms bigint := floor(extract(epoch FROM svc_now()) * 1000);
  given bigint;
BEGIN
  INSERT INTO perp_lanes (address, last_nonce) VALUES (signer, 0) ON CONFLICT DO NOTHING;
  PERFORM 1 FROM perp_lanes WHERE address = signer FOR UPDATE;
  SELECT * INTO found_action FROM perp_actions
  WHERE (movement_id = movement AND node_key = node AND attempt = node_attempt)
    OR wallet_id = wallet;
  IF FOUND THEN RETURN found_action; END IF;
  SELECT greatest(last_nonce + 1, ms) INTO given FROM perp_lanes WHERE address = signer;
  -- Half of the day ahead that the venue takes (docs/perps-venue-facts.md 2).
  IF wallet IS NULL AND given > ms + 12 * 3600 * 1000 THEN
    RAISE EXCEPTION 'nonce_ahead_of_clock' USING ERRCODE = 'FM015', DETAIL = (given - 1)::text;
  END IF;
  UPDATE perp_lanes SET last_nonce = given WHERE address = signer;
  INSERT INTO perp_actions (address, nonce, movement_id, node_key, attempt, wallet_id, created_at)
  VALUES (signer, given, movement, node, node_attempt, wallet, svc_now())
  RETURNING * INTO found_action;
  RETURN found_action;
END $$;

-- The signature that is sent, which is the first one that was stored; null for a node whose send a
-- recovery has taken over since, so that nobody sends it.
CREATE OR REPLACE FUNCTION save_perp_signature(movement uuid, node text, node_attempt integer,
  epoch integer, given text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  stored text;
BEGIN
  PERFORM 1 FROM movement_nodes
  WHERE movement_id = movement AND node_key = node AND attempt = node_attempt
    AND submit_epoch = epoch AND state = 'SUBMITTING'
  FOR SHARE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  UPDATE perp_actions SET signature = coalesce(signature, given)
  WHERE movement_id = movement AND node_key = node AND attempt = node_attempt
  RETURNING signature INTO stored;
  RETURN stored;
END $$;

-- prisma/functions/perp-fence.sql

-- The movement of another deposit of this amount that may still arrive, or null. What a restore
-- brought back may have been sent, and is asked about first.
CREATE OR REPLACE FUNCTION equal_deposit(movement uuid, key text, wanted numeric) RETURNS text
  LANGUAGE sql VOLATILE AS $$
  SELECT movement_id::text FROM movement_nodes
  WHERE action_type = 'perp_deposit'
    AND (state IN ('SUBMITTING', 'SUBMITTED', 'OBSERVING', 'UNKNOWN') OR recover_first)
    AND (amount IS NULL OR amount = wanted) AND NOT (movement_id = movement AND node_key = key)
  ORDER BY movement_id LIMIT 1
$$;

-- What other deposits bring that the account may not have shown when it was asked at this time:
-- what is under way, and what has arrived since.
CREATE OR REPLACE FUNCTION other_deposits(movement uuid, key text, asked_at timestamptz)
  RETURNS numeric LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(amount), 0) FROM (
    SELECT movement_id, node_key, amount FROM movement_nodes
    WHERE action_type = 'perp_deposit'
      AND (state IN ('SUBMITTING', 'SUBMITTED', 'OBSERVING', 'UNKNOWN') OR recover_first)
    UNION
    SELECT movement_id, node_key, amount FROM movement_nodes
    WHERE action_type = 'perp_deposit' AND state = 'COMPLETED' AND completed_at >= asked_at) n
  WHERE NOT (movement_id = movement AND node_key = key)
$$;

-- The first strategy that is paused and has a part in what a movement's nodes of the venue do, or
-- null: its own. Those of a movement without one move what the master's account has, which is also
-- what strategies without a sub-account work with, so any of these stops them.
CREATE OR REPLACE FUNCTION paused_strategy(own text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT strategy_id FROM perp_bindings
  WHERE paused AND (strategy_id = own OR own IS NULL AND sub_account_address IS NULL)
  ORDER BY strategy_id LIMIT 1
$$;

-- Of the strategies that work with the master's own account and may not have any amount there, the
-- one that may have the least. Whatever is deposited, for whomever, counts against it: all of it is
-- credited to that account.
CREATE OR REPLACE FUNCTION least_account_bound() RETURNS perp_bindings LANGUAGE sql STABLE AS $$
  SELECT b FROM perp_bindings b WHERE sub_account_address IS NULL AND max_agent_balance IS NOT NULL
  ORDER BY max_agent_balance, strategy_id LIMIT 1
$$;

-- Why a node may not use the perps venue, as `perpProblem` of domain/perps/ready.ts has it, or
-- null: {"signer", "node_key", "deposit", "account"} of a deposit, whose amount it is, with
-- {"value", "asked_at"} of the account where some strategy may not have any amount there,
-- {"signer", "sub_account"} of a top-up, {"signer"} else. Deposits pass one at a time, so that the
-- second sees the first. The caller holds the movement.
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
  -- They are held first, and read behind that: a pause comes before or after, and not between.
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
    -- A bound that is newer than what was prepared has nothing to be compared with.
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

-- What a phase is told of the perps venue for its node. `wanted`: of a deposit, its amount.
CREATE OR REPLACE FUNCTION perp_terms(movement uuid, key text, node_attempt integer, wanted numeric)
  RETURNS jsonb LANGUAGE sql VOLATILE AS $$
  SELECT jsonb_build_object(
    'master_address', (SELECT master_address FROM perp_master), 'strategy_id', m.strategy_id,
    'paused_strategy', paused_strategy(m.strategy_id),
    'binding', CASE WHEN b.strategy_id IS NOT NULL THEN jsonb_build_object(
      'sub_account_address', b.sub_account_address,
      'max_agent_balance', trim_scale(b.max_agent_balance)::text) END,
    'account_bound', trim_scale((least_account_bound()).max_agent_balance)::text,
    'equal_deposit', CASE WHEN wanted IS NOT NULL THEN equal_deposit(movement, key, wanted) END,
    'action', (SELECT jsonb_build_object('address', a.address, 'nonce', a.nonce,
        'signature', a.signature)
      FROM perp_actions a
      WHERE a.movement_id = movement AND a.node_key = key AND a.attempt = node_attempt))
  FROM movements m LEFT JOIN perp_bindings b ON b.strategy_id = m.strategy_id
  WHERE m.movement_id = movement
$$;

-- prisma/functions/perp-top-up.sql

-- A movement that tops up a strategy at the perps venue, as create_movement writes it, unless what
-- is on its way to the strategy would with it be more than `room`: then FM014, with what is on its
-- way. What was open before the venue was asked what it has is `counted`, also where it has ended
-- since, since the answer may not have held it. Others wait for the row of the strategy.
CREATE OR REPLACE FUNCTION create_top_up(doc jsonb, strategy text, room numeric, counted jsonb)
  RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  answer jsonb;
  under_way numeric;
BEGIN
  PERFORM 1 FROM perp_bindings WHERE strategy_id = strategy FOR UPDATE;
  answer := create_movement(doc);
  IF room IS NULL OR NOT (answer ->> 'created')::boolean THEN RETURN answer; END IF;
  SELECT sum(amount) INTO under_way FROM movements
  WHERE movement_id IN (SELECT open_top_ups(strategy)
    UNION SELECT value::uuid FROM jsonb_array_elements_text(counted));
  IF under_way > room THEN
    RAISE EXCEPTION 'max_agent_balance_exceeded' USING ERRCODE = 'FM014',
      DETAIL = trim_scale(under_way - (doc -> 'movement' ->> 'amount')::numeric)::text;
  END IF;
  RETURN answer;
END $$;

-- The top-ups of a strategy that have not ended.
CREATE OR REPLACE FUNCTION open_top_ups(strategy text) RETURNS SETOF uuid LANGUAGE sql STABLE AS $$
  SELECT movement_id FROM movements
  WHERE strategy_id = strategy AND ended_at IS NULL
    AND template_key = 'system/agent-wallet-top-up'
$$;

-- prisma/functions/perp-venue.sql

-- The perps venue's master, the strategies that are bound to it and their agents
-- (docs/decisions/0074-perps-venue.md). Every change is one call with its audit row, which keeps the
-- row as it was written. What was written before and is asked for again changes nothing and leaves
-- no audit row.

-- Writes the audit row of a change, with what became of its subject, and answers that.
CREATE OR REPLACE FUNCTION perp_written(audit jsonb, outcome text, written jsonb, at timestamptz)
  RETURNS jsonb LANGUAGE sql AS $$
  SELECT write_audit(with_details(audit, jsonb_build_object('row', written)), at);
  SELECT jsonb_build_object('outcome', outcome, 'row', written, 'at', at)
$$;

-- A binding as JSON; its amount as a text, since JSON's numbers are not exact everywhere.
CREATE OR REPLACE FUNCTION perp_binding_view(b perp_bindings) RETURNS jsonb LANGUAGE sql IMMUTABLE
  AS $$
  SELECT to_jsonb(b) || jsonb_build_object('max_agent_balance',
    trim_scale(b.max_agent_balance)::text)
$$;

-- Whether a wallet still has, or is to get, its name on the venue.
CREATE OR REPLACE FUNCTION perp_wallet_is_open(w perp_agent_wallets, at timestamptz)
  RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT w.state IN ('pending', 'active') AND w.valid_until > at
$$;

-- A wallet as JSON. Whose time is over is expired, whether or not anybody has written that yet.
CREATE OR REPLACE FUNCTION perp_wallet_view(w perp_agent_wallets, at timestamptz) RETURNS jsonb
  LANGUAGE sql IMMUTABLE AS $$
  SELECT to_jsonb(w) - 'next_look_at' - 'nonce_used_at' || jsonb_build_object('state',
    CASE WHEN w.state IN ('pending', 'active') AND w.valid_until <= at THEN 'expired'
      ELSE w.state END)
$$;

-- There is one master, which nothing changes any more.
CREATE OR REPLACE FUNCTION create_perp_master(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  asked perp_master := jsonb_populate_record(NULL::perp_master, doc -> 'master');
  m perp_master;
BEGIN
  INSERT INTO perp_master (master_address, signer_key, network, label, created_at)
  VALUES (asked.master_address, asked.signer_key, asked.network, asked.label, svc_now())
  ON CONFLICT DO NOTHING RETURNING * INTO m;
  IF FOUND THEN
    RETURN perp_written(doc -> 'audit', 'created', to_jsonb(m), m.created_at);
  END IF;
  SELECT * INTO m FROM perp_master;
  RETURN jsonb_build_object('row', to_jsonb(m), 'outcome', CASE
    WHEN (m.master_address, m.signer_key, m.network, m.label) IS NOT DISTINCT FROM
      (asked.master_address, asked.signer_key, asked.network, asked.label) THEN 'same'
    ELSE 'master_account_exists' END);
END $$;

CREATE OR REPLACE FUNCTION create_perp_binding(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  asked perp_bindings := jsonb_populate_record(NULL::perp_bindings, doc -> 'binding');
  b perp_bindings;
  at timestamptz := svc_now();
BEGIN
  IF NOT EXISTS (SELECT FROM perp_master) THEN
    RETURN jsonb_build_object('outcome', 'master_account_missing');
  END IF;
  INSERT INTO perp_bindings (strategy_id, sub_account_address, max_agent_balance, created_at,
    updated_at)
  VALUES (asked.strategy_id, asked.sub_account_address, asked.max_agent_balance, at, at)
  ON CONFLICT DO NOTHING RETURNING * INTO b;
  IF FOUND THEN
    RETURN perp_written(doc -> 'audit', 'created', perp_binding_view(b), at);
  END IF;
  SELECT * INTO b FROM perp_bindings WHERE strategy_id = asked.strategy_id;
  IF FOUND THEN
    RETURN jsonb_build_object('row', perp_binding_view(b), 'outcome', CASE
      WHEN (b.sub_account_address, b.max_agent_balance) IS NOT DISTINCT FROM
        (asked.sub_account_address, asked.max_agent_balance) THEN 'same'
      ELSE 'strategy_binding_exists' END);
  END IF;
  SELECT * INTO b FROM perp_bindings WHERE sub_account_address = asked.sub_account_address;
  RETURN jsonb_build_object('outcome', 'sub_account_bound', 'row', perp_binding_view(b));
END $$;

-- NULL for a strategy that is not bound.
CREATE OR REPLACE FUNCTION pause_perp_binding(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  b perp_bindings;
  at timestamptz;
BEGIN
  SELECT * INTO b FROM perp_bindings WHERE strategy_id = doc ->> 'strategy_id' FOR UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  IF (b.paused, b.pause_reason) IS NOT DISTINCT FROM
    ((doc ->> 'paused')::boolean, doc ->> 'reason') THEN
    RETURN jsonb_build_object('outcome', 'same', 'row', perp_binding_view(b));
  END IF;
  at := svc_now();
  UPDATE perp_bindings SET paused = (doc ->> 'paused')::boolean, pause_reason = doc ->> 'reason',
    paused_changed_at = CASE WHEN paused = (doc ->> 'paused')::boolean THEN paused_changed_at
      ELSE at END, updated_at = at
  WHERE strategy_id = b.strategy_id RETURNING * INTO b;
  RETURN perp_written(doc -> 'audit', 'changed', perp_binding_view(b), at);
END $$;

-- Writes down an agent that is to be approved, with the nonce of its approval. NULL for a strategy
-- that is not bound.
CREATE OR REPLACE FUNCTION create_perp_wallet(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  asked perp_agent_wallets := jsonb_populate_record(NULL::perp_agent_wallets, doc -> 'wallet');
  w perp_agent_wallets;
  used perp_agent_wallets;
  master text := (SELECT master_address FROM perp_master);
  at timestamptz;
BEGIN
  PERFORM FROM perp_bindings WHERE strategy_id = asked.strategy_id;
  IF NOT FOUND THEN RETURN NULL; END IF;
  -- They are made one after the other: nobody else takes a name or an address in between.
  INSERT INTO perp_lanes (address, last_nonce) VALUES (master, 0) ON CONFLICT DO NOTHING;
  PERFORM FROM perp_lanes WHERE address = master FOR UPDATE;
  at := svc_now();
  SELECT * INTO used FROM perp_agent_wallets WHERE address = asked.address;
  IF perp_wallet_is_open(used, at)
    AND (used.strategy_id, used.agent_name, used.signer_key)
      = (asked.strategy_id, asked.agent_name, asked.signer_key)
    AND coalesce(asked.valid_until, used.valid_until) = used.valid_until THEN
    RETURN jsonb_build_object('outcome', 'same', 'row', perp_wallet_view(used, at));
  END IF;
  SELECT * INTO w FROM perp_agent_wallets
  WHERE agent_name = asked.agent_name AND strategy_id <> asked.strategy_id
    AND perp_wallet_is_open(perp_agent_wallets, at) LIMIT 1;
  IF FOUND THEN
    RETURN jsonb_build_object('outcome', 'agent_name_taken');
  END IF;
  -- The venue forgets what an address has signed once it is no agent any more.
  IF used.wallet_id IS NOT NULL OR asked.address = master OR EXISTS (
    SELECT FROM perp_bindings WHERE sub_account_address = asked.address) THEN
    RETURN jsonb_build_object('outcome', 'agent_address_reused');
  END IF;
  SELECT * INTO w FROM perp_agent_wallets
  WHERE agent_name = asked.agent_name AND state = 'pending' AND valid_until > at;
  IF FOUND THEN
    RETURN jsonb_build_object('outcome', 'agent_wallet_pending', 'row', perp_wallet_view(w, at));
  END IF;
  IF asked.valid_until <= at OR asked.valid_until > at + make_interval(hours => 180 * 24) THEN
    RETURN jsonb_build_object('outcome', 'valid_until_out_of_range');
  END IF;
  -- It holds the name no more, and has only not been looked at since.
  UPDATE perp_agent_wallets SET state = 'expired', next_look_at = NULL, updated_at = at
  WHERE agent_name = asked.agent_name AND state = 'pending';
  INSERT INTO perp_agent_wallets (wallet_id, strategy_id, agent_name, signer_key, address,
    valid_until, state, next_look_at, created_at, updated_at)
  VALUES (asked.wallet_id, asked.strategy_id, asked.agent_name, asked.signer_key, asked.address,
    -- As long as the venue would give it, and told to it.
    coalesce(asked.valid_until, at + make_interval(hours => 90 * 24)), 'pending', at, at, at)
  RETURNING * INTO w;
  PERFORM claim_perp_nonce(master, NULL, NULL, NULL, w.wallet_id);
  RETURN perp_written(doc -> 'audit', 'created', perp_wallet_view(w, at), at);
END $$;

-- A strategy's wallets, newest first; NULL for one that is not bound.
CREATE OR REPLACE FUNCTION perp_wallets_of(strategy text, most integer) RETURNS jsonb
  LANGUAGE sql STABLE AS $$
  SELECT coalesce((SELECT jsonb_agg(perp_wallet_view(w, svc_now())
      ORDER BY w.created_at DESC, w.wallet_id DESC)
    FROM (SELECT * FROM perp_agent_wallets WHERE strategy_id = strategy
      ORDER BY created_at DESC, wallet_id DESC LIMIT most) w), '[]'::jsonb)
  FROM perp_bindings WHERE strategy_id = strategy
$$;

-- What is known here of a strategy whatever the venue says. `authority`: whose movements are told
-- of, all when it is null. NULL for a strategy that is not bound.
CREATE OR REPLACE FUNCTION perp_strategy_state(strategy text, authority text, most integer)
  RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object('at', svc_now(), 'binding', perp_binding_view(b),
    'account', p.account,
    'agent_wallets', perp_wallets_of(strategy, most),
    'open_movement_count', (SELECT count(*) FROM movements m WHERE m.strategy_id = strategy
      AND m.ended_at IS NULL AND (authority IS NULL OR m.agent = authority)),
    'open_movements', (SELECT coalesce(jsonb_agg(jsonb_build_object('movement_id', m.movement_id,
        'request_state', m.request_state, 'template_key', m.template_key, 'asset', m.asset,
        'amount', trim_scale(m.amount)::text, 'created_at', m.created_at)
        ORDER BY m.created_at DESC, m.movement_id DESC), '[]'::jsonb)
      FROM (SELECT * FROM movements WHERE strategy_id = strategy AND ended_at IS NULL
        AND (authority IS NULL OR agent = authority)
        ORDER BY created_at DESC, movement_id DESC LIMIT most) m),
    'seen', (SELECT jsonb_build_object('withdrawable', trim_scale(a.withdrawable)::text,
        'account_value', trim_scale(a.account_value)::text, 'open_positions', a.open_positions,
        'checked_at', a.checked_at) FROM perp_accounts a WHERE a.address = p.account))
  FROM perp_bindings b
  CROSS JOIN LATERAL (SELECT coalesce(b.sub_account_address,
    (SELECT master_address FROM perp_master)) AS account) p
  WHERE b.strategy_id = strategy
$$;

-- Keeps what the venue told of an account, unless somebody has asked it later since.
CREATE OR REPLACE FUNCTION note_perp_account(doc jsonb) RETURNS void LANGUAGE sql AS $$
  INSERT INTO perp_accounts
  SELECT * FROM jsonb_populate_record(NULL::perp_accounts, doc)
  ON CONFLICT (address) DO UPDATE SET withdrawable = excluded.withdrawable,
    account_value = excluded.account_value, open_positions = excluded.open_positions,
    checked_at = excluded.checked_at
  WHERE perp_accounts.checked_at < excluded.checked_at
$$;

-- The wallets that are to be looked at and that nobody else looks at; they are the caller's for so
-- many seconds. `lease` is what says that they still are.
CREATE OR REPLACE FUNCTION take_perp_wallets(seconds double precision, most integer) RETURNS jsonb
  LANGUAGE sql AS $$
  WITH due AS (
    SELECT wallet_id FROM perp_agent_wallets WHERE next_look_at <= svc_now()
    ORDER BY next_look_at LIMIT most FOR UPDATE SKIP LOCKED),
  taken AS (
    UPDATE perp_agent_wallets w SET next_look_at = svc_now() + make_interval(secs => seconds)
    FROM due WHERE w.wallet_id = due.wallet_id RETURNING w.*)
  SELECT coalesce(jsonb_agg(jsonb_build_object('wallet_id', t.wallet_id,
      'strategy_id', t.strategy_id, 'agent_name', t.agent_name, 'address', t.address,
      'valid_until', t.valid_until, 'state', t.state, 'last_error', t.last_error,
      'nonce_used_at', t.nonce_used_at, 'lease', t.next_look_at, 'nonce', a.nonce, 'signature', a.signature,
      'master_address', m.master_address, 'network', m.network, 'signer_key', s.signer_key,
      'signer_status', coalesce(s.status, 'active'), 'created_at', t.created_at,
      'at', svc_now())
    ORDER BY t.created_at), '[]'::jsonb)
  FROM taken t JOIN perp_actions a USING (wallet_id) CROSS JOIN perp_master m
  CROSS JOIN LATERAL (SELECT k.signer_key, s.status
    FROM (SELECT successor_of(m.signer_key) AS signer_key) k LEFT JOIN signers s USING (signer_key)) s
$$;

-- The signature of an approval that is sent, which is the first one that was stored; null once the
-- wallet is not to be approved any more, so that nobody sends it.
CREATE OR REPLACE FUNCTION save_perp_approval(wallet uuid, given text) RETURNS text
  LANGUAGE plpgsql AS $$
DECLARE
  stored text;
BEGIN
  PERFORM FROM perp_agent_wallets WHERE wallet_id = wallet AND state = 'pending' FOR SHARE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  UPDATE perp_actions SET signature = coalesce(signature, given) WHERE wallet_id = wallet
  RETURNING signature INTO stored;
  RETURN stored;
END $$;

-- What a look at a wallet came to: another state, or only when to look again and what is wrong. A
-- state is proven and counts whoever found it; when to look again is said by who has the lease. False
-- when it was not written.
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
    -- On the venue the same name has taken the other's place.
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

-- A node may name another one whose effect it looks for (config.match_from), a mint its burn: a
-- phase reads what that one recorded, once it has completed.
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
  -- OFFSET: put together once, and not wherever it is looked at. Who signs may have been replaced
  -- since the plan was compiled.
  CROSS JOIN LATERAL (SELECT node_plan(n.own_plan, w.input_params)
    || jsonb_build_object('signer_binding', n.signer_binding) AS plan OFFSET 0) p
  CROSS JOIN LATERAL (SELECT coalesce(n.brings,
    CASE WHEN jsonb_typeof(p.plan -> 'config' -> 'match_from') = 'string'
      THEN p.plan -> 'config' ->> 'match_from' END) AS name) matched
  WHERE m.movement_id = movement AND n.node_key = key
$$;

-- The begin of a recovery, in the statement that reads the node: a new epoch, so that a worker that
-- still lives can write nothing more (`takenOver` of domain/send/epoch.ts). Nothing is written
-- where there is nothing to recover.
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

-- What the conditions that leave a node may look at.
CREATE OR REPLACE FUNCTION read_condition_scope(movement uuid) RETURNS jsonb
  LANGUAGE sql VOLATILE AS $$
  SELECT jsonb_build_object('edges', p.plan_frame -> 'edges', 'intent', m.intent,
    'input_params', p.input_params,
    'nodes', (SELECT jsonb_object_agg(n.node_key,
      jsonb_build_object('state', n.state, 'output', n.output, 'error_code', n.error_code))
              FROM movement_nodes n WHERE n.movement_id = m.movement_id))
  FROM movements m JOIN movement_plans p USING (movement_id) WHERE m.movement_id = movement
$$;

-- prisma/functions/plan.sql

-- A compiled plan is stored once: what stands in columns of the movement and of movement_plans, and
-- each node beside its row. What a request adds to the config of every node
-- (`input_params.node_config`) is kept with the movement alone; see domain/plan/compile.ts. The
-- functions are STABLE, as jsonb_build_object is: so the planner can put them in the place of their
-- calls, of which there are some in every phase.
CREATE OR REPLACE FUNCTION plan_frame(compiled jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT compiled - ARRAY['nodes', 'intent', 'input_params']
$$;

CREATE OR REPLACE FUNCTION shared_config(input_params jsonb) RETURNS jsonb
  LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN jsonb_typeof(input_params -> 'node_config') = 'object'
    THEN input_params -> 'node_config' ELSE '{}'::jsonb END
$$;

-- A node without what all share: its own config, and the shared keys that it does not take.
CREATE OR REPLACE FUNCTION own_plan(node jsonb, input_params jsonb) RETURNS jsonb
  LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN shared_config(input_params) = '{}'
    THEN (node - 'config') || jsonb_build_object('own_config', node -> 'config', 'left_out',
      '[]'::jsonb)
    ELSE own_plan_beside(node, shared_config(input_params)) END
$$;

CREATE OR REPLACE FUNCTION own_plan_beside(node jsonb, shared jsonb) RETURNS jsonb
  LANGUAGE sql STABLE AS $$
  SELECT (node - 'config') || jsonb_build_object(
    'own_config', (SELECT coalesce(jsonb_object_agg(c.key, c.value), '{}'::jsonb)
      FROM jsonb_each(node -> 'config') AS c WHERE shared -> c.key IS DISTINCT FROM c.value),
    'left_out', (SELECT coalesce(jsonb_agg(k), '[]'::jsonb)
      FROM jsonb_object_keys(shared) AS k WHERE NOT node -> 'config' ? k))
$$;

-- The node as it was compiled, hashed and approved.
CREATE OR REPLACE FUNCTION node_plan(own jsonb, input_params jsonb) RETURNS jsonb
  LANGUAGE sql STABLE AS $$
  SELECT (own - ARRAY['own_config', 'left_out']) || jsonb_build_object('config',
    CASE WHEN own -> 'left_out' = '[]' THEN shared_config(input_params)
      ELSE without_keys(shared_config(input_params), own -> 'left_out') END
      || (own -> 'own_config'))
$$;

CREATE OR REPLACE FUNCTION without_keys(object jsonb, keys jsonb) RETURNS jsonb
  LANGUAGE sql IMMUTABLE AS $$
  SELECT object - ARRAY(SELECT jsonb_array_elements_text(keys))
$$;

CREATE OR REPLACE FUNCTION joined_plan(frame jsonb, intent jsonb, input_params jsonb, nodes jsonb)
  RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT frame || jsonb_build_object('intent', intent, 'input_params', input_params,
    'nodes', nodes)
$$;

CREATE OR REPLACE FUNCTION compiled_plan_of(movement uuid) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT joined_plan(p.plan_frame, m.intent, p.input_params, (
    SELECT jsonb_agg(node_plan(n.own_plan, p.input_params) ORDER BY n.position)
    FROM movement_nodes n WHERE n.movement_id = m.movement_id))
  FROM movements m JOIN movement_plans p USING (movement_id) WHERE m.movement_id = movement
$$;

-- What a create was sent, without what is kept beside it: null stands for that.
CREATE OR REPLACE FUNCTION own_request(request jsonb, input_params jsonb, labels jsonb)
  RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT request
    || CASE WHEN request -> 'input_params' = input_params THEN '{"input_params": null}' ELSE '{}'
      END::jsonb
    || CASE WHEN request -> 'labels' = labels THEN '{"labels": null}' ELSE '{}' END::jsonb
$$;

CREATE OR REPLACE FUNCTION joined_request(own jsonb, input_params jsonb, labels jsonb)
  RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT own
    || CASE WHEN own -> 'input_params' = 'null' THEN jsonb_build_object('input_params', input_params)
      ELSE '{}' END
    || CASE WHEN own -> 'labels' = 'null' THEN jsonb_build_object('labels', labels) ELSE '{}' END
$$;

CREATE OR REPLACE FUNCTION draw_terms_of(movement uuid) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT draw_terms FROM movement_plans WHERE movement_id = movement
$$;

CREATE OR REPLACE FUNCTION plan_head(plan jsonb) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object('risk_controls', plan -> 'risk_controls',
    'completion_policy', plan -> 'completion_policy')
$$;

-- prisma/functions/proposals.sql

-- Template proposals of agents. What is decided about an authority is decided one after the other,
-- and with the limits that it has then.
CREATE OR REPLACE FUNCTION lock_authority(authority text) RETURNS void LANGUAGE sql AS $$
  SELECT pg_advisory_xact_lock(hashtextextended('agent_authority ' || authority, 0))
$$;

CREATE OR REPLACE FUNCTION open_movements_of(authority text) RETURNS integer LANGUAGE sql VOLATILE
  AS $$
  SELECT count(*)::integer FROM movements WHERE agent = authority AND ended_at IS NULL
$$;

CREATE OR REPLACE FUNCTION authority_limits(authority text) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object('max_notional', trim_scale(max_notional)::text,
    'allowed_assets', to_jsonb(allowed_assets), 'allowed_chains', to_jsonb(allowed_chains),
    'max_ttl_seconds', max_ttl_seconds)
  FROM agent_authorities WHERE authority_key = authority
$$;

-- A proposal as it is read. Whose movement it came to is told by the key that this was made under.
CREATE OR REPLACE FUNCTION proposal_view(p template_proposals) RETURNS jsonb
  LANGUAGE sql STABLE AS $$
  SELECT to_jsonb(p) || jsonb_build_object('due', p.status = 'submitted'
      AND p.expires_at <= svc_now(),
    'movement_id', (SELECT m.movement_id FROM movements m
      WHERE p.bridge_attempt AND m.client_scope = 'bridge-attempt'
        AND m.idempotency_key = p.proposal_id::text))
$$;

-- Writes a proposal with what was decided about it by `limits`. "outdated": the authority has other
-- limits by now, and nothing was written; "used": its idempotency key was, by the row that is told.
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
  -- Another authority of the same client may have been quicker with the key.
  INSERT INTO template_proposals SELECT p.* ON CONFLICT (client_scope, idempotency_key)
    WHERE idempotency_key IS NOT NULL DO NOTHING;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the idempotency key was used meanwhile'
      USING ERRCODE = 'serialization_failure';
  END IF;
  PERFORM write_audit(with_details(doc -> 'audit', told_of(p)), at);
  RETURN jsonb_build_object('outcome', 'created', 'row', proposal_view(p));
END $$;

-- An administrator's promotion. One that comes too late writes that the time was over.
CREATE OR REPLACE FUNCTION promote_proposal(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  id uuid := (doc ->> 'proposal_id')::uuid;
  p template_proposals;
  at timestamptz;
BEGIN
  PERFORM lock_authority(doc ->> 'authority_key');
  SELECT * INTO p FROM template_proposals WHERE proposal_id = id FOR UPDATE;
  at := svc_now();
  IF p.status = 'submitted' AND p.expires_at <= at THEN
    PERFORM expire_proposals(jsonb_build_array(jsonb_build_object('proposal_id', id,
      'audit', doc -> 'expired_audit')));
    SELECT * INTO p FROM template_proposals WHERE proposal_id = id;
  END IF;
  IF p.status <> 'submitted' THEN
    RETURN jsonb_build_object('outcome', 'not_submitted', 'row', proposal_view(p));
  END IF;
  IF authority_limits(p.authority_key) IS DISTINCT FROM doc -> 'limits' THEN
    RETURN jsonb_build_object('outcome', 'outdated');
  END IF;
  p := jsonb_populate_record(p, doc -> 'promoted');
  p.updated_at := at;
  p := with_version(p, doc -> 'template', NULL);
  UPDATE template_proposals SET status = p.status, promotion_mode = p.promotion_mode,
    reasons = p.reasons, template_key = p.template_key, plan_digest = p.plan_digest,
    max_amount = p.max_amount, template_id = p.template_id, template_version = p.template_version,
    updated_at = at
  WHERE proposal_id = id AND status = 'submitted';
  PERFORM write_audit(with_details(doc -> 'audit', told_of(p)), at);
  RETURN jsonb_build_object('outcome', 'promoted', 'row', proposal_view(p));
END $$;

-- The proposal with the version that it becomes: of the active ones for the same plan, the one whose
-- max_amount covers its own most closely (a static one: is its own), else a new one.
-- Called under the authority's lock, so that equal ones are never two. A new one beyond `most` of
-- the authority's namespace fails with FM017; NULL: an administrator makes it.
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
  -- Administrators register versions of these keys too, whenever they like.
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

-- What an audit row tells of a proposal.
CREATE OR REPLACE FUNCTION told_of(p template_proposals) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object('authority_key', p.authority_key, 'status', p.status,
    'promotion_mode', p.promotion_mode, 'reasons', to_jsonb(p.reasons),
    'template_key', p.template_key, 'template_version', p.template_version,
    'asset', p.asset, 'requested_notional', trim_scale(p.requested_notional)::text)
$$;

-- Of [{proposal_id, audit}] those whose time is over; answers how many were.
CREATE OR REPLACE FUNCTION expire_proposals(wanted jsonb) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  each jsonb;
  p template_proposals;
  at timestamptz := svc_now();
  ended integer := 0;
BEGIN
  FOR each IN SELECT value FROM jsonb_array_elements(wanted) ORDER BY value ->> 'proposal_id' LOOP
    UPDATE template_proposals SET status = 'expired', updated_at = at
    WHERE proposal_id = (each ->> 'proposal_id')::uuid AND status = 'submitted'
      AND expires_at <= at
    RETURNING * INTO p;
    IF FOUND THEN
      ended := ended + 1;
      PERFORM write_audit(with_details(each -> 'audit', told_of(p)), at);
    END IF;
  END LOOP;
  RETURN ended;
END $$;

-- A proposal is what it was made as: only its end is written, once.
CREATE OR REPLACE FUNCTION guard_proposal_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' OR OLD.status <> 'submitted'
    OR (OLD.proposal_id, OLD.authority_key, OLD.proposal_kind, OLD.asset, OLD.requested_notional,
      OLD.request, OLD.bridge_attempt, OLD.client_scope, OLD.idempotency_key, OLD.created_by,
      OLD.expires_at, OLD.created_at)
     IS DISTINCT FROM (NEW.proposal_id, NEW.authority_key, NEW.proposal_kind, NEW.asset,
      NEW.requested_notional, NEW.request, NEW.bridge_attempt, NEW.client_scope,
      NEW.idempotency_key, NEW.created_by, NEW.expires_at, NEW.created_at) THEN
    RAISE EXCEPTION 'a proposal that has ended stays as it is'
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END $$;

-- prisma/functions/registry.sql

-- Audit rows whose details also say what only the locked row could tell.
CREATE OR REPLACE FUNCTION with_details(events jsonb, extra jsonb) RETURNS jsonb
  LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(jsonb_agg(
    value || jsonb_build_object('details', coalesce(value -> 'details', '{}'::jsonb) || extra)),
    '[]'::jsonb)
  FROM jsonb_array_elements(coalesce(events, '[]'::jsonb))
$$;

-- The row of an executor or signer that a process has in memory, made when it is not there yet.
CREATE OR REPLACE FUNCTION declare_executor(declared jsonb, at timestamptz) RETURNS void
  LANGUAGE sql AS $$
  INSERT INTO executors (executor_key, kind, action_types, provider, chain_family, endpoint,
    created_at, updated_at)
  SELECT executor_key, kind, action_types, provider, chain_family, endpoint, at, at
  FROM jsonb_populate_record(NULL::executors, declared) WHERE executor_key IS NOT NULL
  ON CONFLICT (executor_key) DO NOTHING
$$;

CREATE OR REPLACE FUNCTION declare_signer(declared jsonb, at timestamptz) RETURNS void
  LANGUAGE sql AS $$
  INSERT INTO signers (signer_key, backend, chain_family, profile, created_at, updated_at)
  SELECT signer_key, backend, chain_family, profile, at, at
  FROM jsonb_populate_record(NULL::signers, declared) WHERE signer_key IS NOT NULL
  ON CONFLICT (signer_key) DO NOTHING
$$;

-- Switches an executor on or off. NULL when it is neither stored nor declared.
CREATE OR REPLACE FUNCTION set_executor_status(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  e executors;
  at timestamptz := svc_now();
  before text;
BEGIN
  PERFORM declare_executor(doc -> 'declared', at);
  SELECT * INTO e FROM executors WHERE executor_key = doc ->> 'key' FOR UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  before := e.status;
  UPDATE executors SET status = doc ->> 'status', updated_at = at
    WHERE executor_key = e.executor_key RETURNING * INTO e;
  PERFORM write_audit(with_details(doc -> 'audit', jsonb_build_object('previous_status', before)),
    at);
  RETURN jsonb_build_object('ok', true, 'row', to_jsonb(e));
END $$;

-- The same for a signer; one that is on its way out (deprecated, retired) is refused.
CREATE OR REPLACE FUNCTION set_signer_status(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  s signers;
  at timestamptz := svc_now();
  before text;
BEGIN
  PERFORM declare_signer(doc -> 'declared', at);
  SELECT * INTO s FROM signers WHERE signer_key = doc ->> 'key' FOR UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  before := s.status;
  IF before NOT IN ('active', 'disabled') THEN
    RETURN jsonb_build_object('ok', false, 'row', to_jsonb(s));
  END IF;
  UPDATE signers SET status = doc ->> 'status', updated_at = at WHERE signer_key = s.signer_key
    RETURNING * INTO s;
  PERFORM write_audit(with_details(doc -> 'audit', jsonb_build_object('previous_status', before)),
    at);
  RETURN jsonb_build_object('ok', true, 'row', to_jsonb(s));
END $$;

-- Pins a signer's address. `problem` is what the caller already knows to be wrong with the
-- submitted or the live address. When stored, submitted and live address are equal nothing changes,
-- whatever `previous` says. NULL when the signer is neither stored nor declared.
CREATE OR REPLACE FUNCTION set_expected_identity(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  s signers;
  at timestamptz := svc_now();
  expected text := doc ->> 'expected';
  runtime text := doc ->> 'runtime';
  refusal text;
  unchanged boolean;
BEGIN
  PERFORM declare_signer(doc -> 'declared', at);
  SELECT * INTO s FROM signers WHERE signer_key = doc ->> 'key' FOR UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  IF s.chain_family <> 'evm' THEN
    RETURN jsonb_build_object('ok', false, 'reason', 'signer_identity_not_applicable',
      'stored', s.expected_signer_address);
  END IF;
  unchanged := doc ->> 'problem' IS NULL
    AND coalesce(lower(s.expected_signer_address) = lower(expected)
      AND lower(expected) = lower(runtime), false);
  refusal := CASE
    WHEN doc ->> 'problem' IS NOT NULL THEN doc ->> 'problem'
    WHEN unchanged THEN NULL
    WHEN lower(expected) IS DISTINCT FROM lower(runtime) THEN 'signer_identity_mismatch'
    WHEN lower(s.expected_signer_address) IS DISTINCT FROM lower(doc ->> 'previous')
      THEN 'previous_expected_address_mismatch' END;
  IF refusal IS NOT NULL THEN
    RETURN jsonb_build_object('ok', false, 'reason', refusal, 'stored', s.expected_signer_address);
  END IF;
  IF NOT unchanged THEN
    UPDATE signers SET expected_signer_address = expected, updated_at = at
      WHERE signer_key = s.signer_key;
  END IF;
  PERFORM write_audit(with_details(doc -> 'audit', jsonb_build_object(
    'outcome', CASE WHEN unchanged THEN 'noop'
      ELSE 'changed' END, 'stored_expected_address', s.expected_signer_address)), at);
  RETURN jsonb_build_object('ok', true, 'outcome', CASE WHEN unchanged THEN 'noop'
    ELSE 'changed' END, 'stored', s.expected_signer_address);
END $$;

-- What a health refresh found. `updated_at` moves only when the registration itself differs.
CREATE OR REPLACE FUNCTION save_executor_health(declared jsonb, state text) RETURNS void
  LANGUAGE plpgsql AS $$
DECLARE
  d executors := jsonb_populate_record(NULL::executors, declared);
  at timestamptz := svc_now();
BEGIN
  PERFORM declare_executor(declared, at);
  UPDATE executors AS e SET kind = d.kind, action_types = d.action_types, provider = d.provider,
    chain_family = d.chain_family,
    endpoint = d.endpoint, health_state = state, health_checked_at = at,
    updated_at = CASE WHEN (e.kind, e.action_types, e.provider, e.chain_family, e.endpoint)
      IS DISTINCT FROM (d.kind, d.action_types, d.provider, d.chain_family, d.endpoint) THEN at
        ELSE e.updated_at END
  WHERE e.executor_key = d.executor_key;
END $$;

CREATE OR REPLACE FUNCTION save_observed_identity(declared jsonb, address text) RETURNS void
  LANGUAGE plpgsql AS $$
DECLARE
  d signers := jsonb_populate_record(NULL::signers, declared);
  at timestamptz := svc_now();
BEGIN
  PERFORM declare_signer(declared, at);
  UPDATE signers AS s SET backend = d.backend, chain_family = d.chain_family, profile = d.profile,
    observed_signer_address = address,
    observed_at = CASE WHEN address IS NULL THEN NULL ELSE at END,
    updated_at = CASE WHEN (s.backend, s.chain_family, s.profile)
      IS DISTINCT FROM (d.backend, d.chain_family, d.profile)
      THEN at ELSE s.updated_at END
  WHERE s.signer_key = d.signer_key;
END $$;

-- prisma/functions/requirements.sql

-- Why what a send needs of a venue is not to be had, or null: {"binding", "key", "reason", "stop"},
-- with the stop of domain/send/stops.ts that it is. Each branch stands in the file of its venue,
-- with what is asked there, and locks what it reads. A kind that has none raises.
CREATE OR REPLACE FUNCTION requirement_problem(kind text, asked jsonb, movement uuid) RETURNS jsonb
  LANGUAGE plpgsql AS $$
BEGIN
  CASE kind
    WHEN 'bridge_path' THEN RETURN bridge_path_problem(asked);
    WHEN 'perp' THEN RETURN perp_problem(asked, movement);
  END CASE;
END $$;

-- prisma/functions/resolve.sql

-- Why nobody can know yet what became of a node's send, or null: it may still be under way, or what
-- was signed for it may still be mined or, by the perps venue, carried out (`WINDOW_MS` of
-- domain/perps/nonce-window.ts). The caller holds the locks of movement and node. The time
-- is `unsettledSeconds` of domain/send/not-found.ts, stated here since it is asked under the locks;
-- null is no time: no send can be under way.
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
    -- A final block has the payment itself, and no version of it that moves nothing.
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

-- After a restore that may have lost commits: whatever is open is asked about before it may be sent
-- (again). Once for each incident; a repeat answers what was done and changes nothing. `until`: no
-- send of before can be under way after it (LONGEST_WINDOW_SECONDS of domain/send/window.ts).
-- `signed_until`: nor can anybody use what was signed for a team's own executor, other than a
-- transaction (LONGEST_AUTHORIZATION_SECONDS of domain/signing.ts).
CREATE OR REPLACE FUNCTION after_restore(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  at timestamptz := svc_now();
  until timestamptz := at + make_interval(secs => (doc ->> 'send_seconds')::double precision);
  signed_until timestamptz := at
    + make_interval(secs => (doc ->> 'signature_seconds')::double precision);
  done jsonb;
  woken uuid[];
  asked integer;
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

  -- An ended movement that can be retried counts too: its next attempt may have been sent in what
  -- is lost.
  PERFORM FROM movements WHERE request_state NOT IN ('COMPLETED', 'REJECTED', 'EXPIRED')
    ORDER BY movement_id FOR UPDATE;
  -- An approval that is lost is asked for anew: nothing else has such a movement's nodes asked
  -- about, and one that expires is over for good.
  UPDATE movements SET expires_at = greatest(expires_at, at + interval '7 days')
  WHERE request_state = 'PENDING_APPROVAL';
  WITH suspect AS (
    UPDATE movement_nodes n SET
      restored = true,
      recover_first = recover_first OR n.state IN ('BLOCKED', 'READY', 'SKIPPED'),
      -- Further than any lost epoch can be, so that who still works for one can write nothing.
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
  INTO asked, retries FROM suspect;
  WITH open AS (
    UPDATE movements SET version = version + 1 WHERE ended_at IS NULL
      AND request_state NOT IN ('COMPLETED', 'REJECTED', 'EXPIRED')
    RETURNING movement_id
  ) SELECT coalesce(array_agg(movement_id ORDER BY movement_id), '{}') INTO woken FROM open;
  -- A run may remember more than the database does: each is told to look again.
  INSERT INTO commands (command_id, movement_id, kind, created_at, claimed_until)
  SELECT svc_new_id(at), id, 'wake', at, at FROM unnest(woken) AS id;

  -- From the next nonce on, the chain may show what a lost transaction of ours has used. A lane
  -- that was first used after an earlier restore may have lost all of its nonces with that one.
  UPDATE nonce_lanes SET unproven_from = coalesce(unproven_from,
    CASE WHEN EXISTS (SELECT FROM restores WHERE incident <> doc ->> 'incident') THEN 0
      ELSE next_nonce END);
  GET DIAGNOSTICS lanes = ROW_COUNT;

  FOR t IN SELECT * FROM capital_transfers
    WHERE request_state IN ('CREATED', 'SUBMITTING', 'PENDING_PROVIDER_CONFIRMATION')
           ORDER BY transfer_id FOR UPDATE LOOP
    IF NOT (apply_transfer_step(
      jsonb_build_object('transfer_id', t.transfer_id, 'states', jsonb_build_array(t.request_state),
      -- As after a fence: where nothing is found, and a repeat has no second effect, it is sent.
      'to', CASE WHEN t.request_state = 'CREATED' THEN 'SUBMITTING' ELSE t.request_state END,
      'set', jsonb_build_object('epoch', t.submit_epoch + 1000,
        'send_not_after', jsonb_build_object('@after_seconds', doc -> 'send_seconds')),
      'event', jsonb_build_object('event_id', svc_new_id(at), 'event_type', 'transfer_pending',
        'actor', '{"type": "system"}'::jsonb,
        'message', 'The database was restored: the provider is asked what became of it'),
      'wakes', true)) ->> 'ok')::boolean THEN
      RAISE EXCEPTION 'the capital transfer % cannot be marked', t.transfer_id;
    END IF;
    transfers := transfers + 1;
  END LOOP;

  done := jsonb_build_object('incident', doc ->> 'incident',
    'at', to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'nothing_found_counts_from', to_char(until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'movements_woken', cardinality(woken), 'nodes_asked_first', asked,
      'retries_asked_first', retries, 'capital_transfers', transfers, 'nonce_lanes', lanes);
  UPDATE restores SET result = done WHERE incident = doc ->> 'incident';
  PERFORM write_audit(with_details(doc -> 'audit', done), at);
  RETURN done || '{"repeated": false}';
END $$;

-- Nonces below `count` that may belong to transactions which were lost with a restore: no
-- transaction that this database knows is proven to have used them. One that was signed since may
-- have met the lost one in its nonce: a released claim says that it was the other's, and while it
-- is open nobody knows. A lane without a row then has lost all of them.
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
    -- A final block that was seen says it; before that, a node that ended by proof does, and a
    -- person's word about it does not.
    HAVING NOT coalesce(bool_or(t.mined_hash IS NOT NULL OR t.released_at IS NULL
      AND t.final_at IS NULL AND (n.attempt > t.attempt OR n.state IN ('COMPLETED', 'FAILED'))
      AND NOT was_resolved(t)), false)
    ORDER BY 2, 1 LIMIT 10) AS missing
$$;

-- prisma/functions/signer-lifecycle.sql

-- Rotation and retirement of signers (docs/decisions/0064-signer-lifecycle.md). A rotation is alone
-- with the switch of cutover.sql: creates, retries and fences come before it or behind it, and so
-- whatever is bound to a deprecated signer afterwards was left with it on purpose.

-- Who signs in place of a signer: itself, or the end of the rotations that replaced it.
CREATE OR REPLACE FUNCTION successor_of(key text) RETURNS text LANGUAGE sql STABLE AS $$
  WITH RECURSIVE chain AS (
    SELECT signer_key, replaced_by FROM signers WHERE signer_key = key
    UNION SELECT s.signer_key, s.replaced_by FROM chain c JOIN signers s
      ON s.signer_key = c.replaced_by)
  SELECT coalesce((SELECT signer_key FROM chain WHERE replaced_by IS NULL), key)
$$;

-- The pool of what the replacement has on the same chain; see onChainVenueKey in
-- domain/plan/tokens.ts. Pools that belong to no signer stay what they are.
CREATE OR REPLACE FUNCTION pool_of_successor(flow jsonb, old_key text, new_key text) RETURNS jsonb
  LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN split_part(flow -> 'pool' ->> 'venue_key', ':', 2) = old_key
    THEN jsonb_set(flow, '{pool,venue_key}',
      to_jsonb(split_part(flow -> 'pool' ->> 'venue_key', ':', 1) || ':' || new_key))
    ELSE flow END
$$;

-- Why a node stays with a signer that was replaced; NULL: it goes to the replacement. What other
-- nodes decide for it is said by signer_ties.
CREATE OR REPLACE FUNCTION signer_tie(m movements, params jsonb, n movement_nodes,
  addresses text[], without_room boolean) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN EXISTS (SELECT FROM evm_transactions t WHERE t.movement_id = n.movement_id
      AND t.node_key = n.node_key AND t.attempt = n.attempt AND t.released_at IS NULL)
      THEN 'open_nonce'
    WHEN n.state NOT IN ('BLOCKED', 'READY') THEN 'in_flight'
    -- What its account sent is looked for at the account that it had.
    WHEN n.recover_first OR n.restored OR n.submitted_at IS NOT NULL
      OR EXISTS (SELECT FROM node_attempts a WHERE a.movement_id = n.movement_id
        AND a.node_key = n.node_key AND a.attempt = n.attempt) THEN 'passed_fence'
    WHEN n.tied_by <> 'nothing' THEN n.tied_by
    WHEN EXISTS (SELECT FROM movement_nodes o WHERE o.movement_id = m.movement_id
      AND lower(node_plan(o.own_plan, params) -> 'config' ->> 'destination_caller')
        = ANY (addresses)) THEN 'destination_caller'
    -- Funds may come to the old address, to be passed on from there.
    WHEN EXISTS (SELECT FROM unnest(addresses) a
      CROSS JOIN LATERAL (SELECT lower(substr(a, 3)) AS digits) d
      WHERE position(digits IN lower(concat(m.intent, params))) > 0
        OR EXISTS (SELECT FROM movement_nodes o WHERE o.movement_id = m.movement_id
          AND position(digits IN lower(o.own_plan::text)) > 0)) THEN 'old_address'
    WHEN without_room AND n.flow ->> 'from' IS NULL
      AND split_part(n.flow -> 'pool' ->> 'venue_key', ':', 2) = n.signer_binding ->> 'signer_key'
      THEN 'no_room' END
$$;

-- Of each node that is bound to a replaced signer and may still sign: why it stays, or null. What
-- spends what a node of the old address brought there, or uses an allowance that one gave, stays
-- with it; so does an allowance of which a node that stays may make use: given by the replacement it
-- would leave that one without, and stay open itself.
CREATE OR REPLACE FUNCTION signer_ties(m movements, without_room boolean) RETURNS jsonb
  LANGUAGE plpgsql STABLE AS $$
DECLARE
  ties jsonb;
  more jsonb;
BEGIN
  SELECT coalesce(jsonb_object_agg(n.node_key,
    signer_tie(m, p.input_params, n, signer_addresses(s), without_room)), '{}'::jsonb)
  INTO ties FROM movement_nodes n JOIN movement_plans p USING (movement_id)
  JOIN signers s ON s.signer_key = n.signer_binding ->> 'signer_key' AND s.replaced_by IS NOT NULL
  WHERE n.movement_id = m.movement_id
    AND n.state NOT IN ('COMPLETED', 'FAILED', 'SKIPPED', 'CANCELLED');
  LOOP
    SELECT jsonb_object_agg(n.node_key,
      CASE WHEN 'spender' IN (o.pays, n.pays) THEN 'allowance'
        ELSE 'passes_on' END)
    INTO more FROM movement_nodes n
    JOIN movement_nodes o ON o.movement_id = n.movement_id AND o.node_key <> n.node_key
      AND o.signer_binding = n.signer_binding
      AND (o.state = 'COMPLETED' OR ties ->> o.node_key IS NOT NULL)
      AND (o.node_key = n.flow ->> 'from' OR o.pays = 'spender'
        OR (n.pays = 'spender' AND o.flow IS NOT NULL
          AND ties ->> o.node_key IS NOT NULL))
    WHERE n.movement_id = m.movement_id AND ties ? n.node_key AND ties ->> n.node_key IS NULL;
    EXIT WHEN more IS NULL;
    ties := ties || more;
  END LOOP;
  RETURN ties;
END $$;

-- Every address that a signer is or was known by, in lower case.
CREATE OR REPLACE FUNCTION signer_addresses(s signers) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
  SELECT ARRAY(SELECT DISTINCT lower(a) FROM unnest(s.known_addresses
    || s.expected_signer_address || s.observed_signer_address) a WHERE a ~* '^0x[0-9a-f]{40}$')
$$;

-- Binds nodes to the signers that replaced theirs; they are prepared anew, and a worker that still
-- has them as they were can write nothing more. With the owner's rights: the service's role may
-- change no node's signer or flow by itself.
CREATE OR REPLACE FUNCTION rebind_nodes(movement uuid, ties jsonb, at timestamptz) RETURNS void
  LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$
  UPDATE movement_nodes n SET
    signer_binding = jsonb_build_object('signer_key', s.next_key),
    flow = pool_of_successor(n.flow, s.old_key, s.next_key),
    preflight_passed = false, prepared_action = NULL, sign_request = NULL, error_count = 0,
    submit_epoch = n.submit_epoch + 1, updated_at = at
  FROM (SELECT signer_key AS old_key, successor_of(signer_key) AS next_key FROM signers
    WHERE replaced_by IS NOT NULL) s
  WHERE n.movement_id = movement AND n.signer_binding ->> 'signer_key' = s.old_key
    AND ties ? n.node_key AND ties ->> n.node_key IS NULL
$$;

REVOKE ALL ON FUNCTION rebind_nodes(uuid, jsonb, timestamptz) FROM PUBLIC;

-- What a movement holds, after nodes of it were bound to another signer: taken from the pools of the
-- one, given back to those of the other.
CREATE OR REPLACE FUNCTION move_holds(m movements, take jsonb, at timestamptz) RETURNS void
  LANGUAGE plpgsql AS $$
DECLARE hold reservations;
BEGIN
  PERFORM settle_holds(m, take, at);
  FOR hold IN SELECT * FROM reservations r WHERE r.movement_id = m.movement_id
    AND r.status = 'held' AND NOT EXISTS (
      SELECT FROM movement_nodes n WHERE n.movement_id = m.movement_id AND n.flow ->> 'from' IS NULL
        AND n.flow -> 'pool' ->> 'venue_key' = r.venue_key
        AND n.flow -> 'pool' ->> 'account_type' = r.account_type
        AND n.flow ->> 'asset' = r.asset)
    ORDER BY r.venue_key COLLATE "C", r.account_type COLLATE "C", r.asset COLLATE "C" LOOP
    UPDATE reservation_pools SET held = held - hold.amount WHERE venue_key = hold.venue_key
      AND account_type = hold.account_type AND asset = hold.asset;
    UPDATE reservations SET status = 'released', ended_at = at
      WHERE reservation_id = hold.reservation_id;
  END LOOP;
END $$;

-- Binds what a movement may still sign to the signers that replaced its own, as far as nothing ties
-- it to them. Answers why each node stays, null where it went. The caller holds the movement.
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
    -- The funds are where they were, and so is who pays with them.
    ties := signer_ties(m, true);
    PERFORM rebind_nodes(movement, ties, at);
  END;
  UPDATE movements SET updated_at = at, next_sequence = write_timeline(m, (
    SELECT coalesce(jsonb_agg(jsonb_build_object('event_id', svc_new_id(at),
      'event_type', 'signer_remapped', 'node_key', n.node_key, 'attempt', n.attempt,
      'actor', actor, 'message', 'Bound to the signer ' || (n.signer_binding ->> 'signer_key')
        || ', which replaced its own',
      'data', jsonb_build_object('signer_key', n.signer_binding ->> 'signer_key',
        'original_signer_key', n.own_plan -> 'signer_binding' ->> 'signer_key'))
      ORDER BY n.position), '[]'::jsonb)
    FROM movement_nodes n WHERE n.movement_id = movement AND ties ? n.node_key
      AND ties ->> n.node_key IS NULL), ARRAY[]::text[], at)
  WHERE movement_id = movement;
  RETURN ties;
END $$;

-- A plan that was compiled before a rotation and stored behind it.
CREATE OR REPLACE FUNCTION follow_at_create(movement uuid) RETURNS void LANGUAGE sql AS $$
  UPDATE movement_nodes n SET
    signer_binding = jsonb_build_object('signer_key', successor_of(s.signer_key)),
    flow = pool_of_successor(n.flow, s.signer_key, successor_of(s.signer_key))
  FROM signers s
  WHERE n.movement_id = movement AND s.signer_key = n.signer_binding ->> 'signer_key'
    AND s.replaced_by IS NOT NULL
$$;

-- The pools of both signers, in the order in which everybody takes pools.
CREATE OR REPLACE FUNCTION lock_signer_pools(old_key text, new_key text) RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO reservation_pools (venue_key, account_type, asset, held)
  SELECT split_part(venue_key, ':', 1) || ':' || new_key, account_type, asset, 0
  FROM reservation_pools WHERE split_part(venue_key, ':', 2) = old_key
  ORDER BY venue_key COLLATE "C", account_type COLLATE "C", asset COLLATE "C"
  ON CONFLICT DO NOTHING;
  PERFORM FROM reservation_pools WHERE split_part(venue_key, ':', 2) IN (old_key, new_key)
  ORDER BY venue_key COLLATE "C", account_type COLLATE "C", asset COLLATE "C" FOR UPDATE;
END $$;

-- Nodes of movements that have not ended, bound to a signer, that have not ended themselves.
CREATE OR REPLACE FUNCTION open_nodes_of(key text) RETURNS SETOF movement_nodes
  LANGUAGE sql STABLE AS $$
  SELECT n.* FROM movements m JOIN movement_nodes n USING (movement_id)
  WHERE m.ended_at IS NULL AND n.signer_binding ->> 'signer_key' = key
    AND n.state NOT IN ('COMPLETED', 'FAILED', 'SKIPPED', 'CANCELLED')
$$;

-- Deprecates the old signer and binds what it had to the new one; answers what that came to.
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
    -- Whoever decided by the movement as it was decides again.
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

-- One row of what was done about a signer, with its audit rows.
CREATE OR REPLACE FUNCTION write_signer_event(doc jsonb, extra jsonb, at timestamptz) RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  PERFORM write_audit(with_details(doc -> 'audit', extra), at);
  INSERT INTO signer_events (event_id, signer_key, other_key, event_type, reason, data, done_by,
    audit_event_id, occurred_at)
  VALUES ((doc ->> 'event_id')::uuid, doc ->> 'key', doc ->> 'other_key', doc ->> 'event_type',
    doc ->> 'reason', coalesce(doc -> 'data', '{}'::jsonb) || extra, doc -> 'actor',
    (doc -> 'audit' -> 0 ->> 'event_id')::uuid, at);
END $$;

-- Whether a signer has, or had, the address of the perps venue's master account: what is there is that
-- address's own and follows nobody.
CREATE OR REPLACE FUNCTION is_perp_master(s signers) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM perp_master m
    WHERE lower(m.master_address) = ANY (signer_addresses(s)) OR m.signer_key = s.signer_key)
$$;

-- Why two signers cannot change places now, or NULL. What was asked of the new one outside of this
-- transaction counts while its pin is the one that was compared, and nobody has seen another
-- address of it since.
CREATE OR REPLACE FUNCTION rotation_problem(a signers, b signers, asked jsonb) RETURNS jsonb
  LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN a.signer_key = b.signer_key
      THEN '{"error": "validation_failed", "cause": "same_signer"}'::jsonb
    WHEN a.status <> 'active'
      THEN '{"error": "validation_failed", "cause": "old_not_active"}'::jsonb
    WHEN b.status <> 'active'
      THEN '{"error": "validation_failed", "cause": "replacement_not_active"}'::jsonb
    WHEN a.chain_family <> b.chain_family
      THEN '{"error": "validation_failed", "cause": "chain_family_mismatch"}'::jsonb
    WHEN is_perp_master(a) AND lower(b.expected_signer_address)
      IS DISTINCT FROM (SELECT lower(master_address) FROM perp_master)
      THEN '{"error": "validation_failed", "cause": "perp_master_account"}'::jsonb
    WHEN b.expected_signer_address IS DISTINCT FROM asked ->> 'pin'
      OR (b.observed_at IS DISTINCT FROM (asked ->> 'observed_at')::timestamptz
        AND lower(b.observed_signer_address) IS DISTINCT FROM lower(asked ->> 'runtime'))
      THEN '{"error": "signer_runtime_identity_unavailable"}'::jsonb
    WHEN lower(b.expected_signer_address) IS DISTINCT FROM lower(asked ->> 'runtime')
      THEN '{"error": "signer_identity_mismatch"}'::jsonb END
$$;

-- What a rotation begins with: both rows, made where only a process has them in memory, and why they
-- cannot change places whatever their identities.
CREATE OR REPLACE FUNCTION read_rotation(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  a signers;
  b signers;
BEGIN
  PERFORM declare_signer(value, svc_now()) FROM jsonb_array_elements(doc -> 'declared');
  SELECT * INTO a FROM signers WHERE signer_key = doc ->> 'key';
  SELECT * INTO b FROM signers WHERE signer_key = doc ->> 'other_key';
  IF a.signer_key IS NULL OR b.signer_key IS NULL THEN
    RETURN jsonb_build_object('missing', CASE WHEN a.signer_key IS NULL THEN doc -> 'key'
      ELSE doc -> 'other_key' END);
  END IF;
  RETURN jsonb_build_object('pin', b.expected_signer_address, 'observed_at', b.observed_at,
    'known_addresses', signer_addresses(a), 'problem', rotation_problem(a, b, jsonb_build_object(
      'pin', b.expected_signer_address, 'runtime', b.expected_signer_address,
      'observed_at', b.observed_at)));
END $$;

-- Rotates `key` to `other_key`, or plays it through and takes it back (`drill`); see
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
  -- Movements before signers, as everybody takes them.
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
      RAISE EXCEPTION 'a drill' USING ERRCODE = 'FM014', DETAIL = impact::text;
    END IF;
  EXCEPTION WHEN SQLSTATE 'FM014' THEN
    GET STACKED DIAGNOSTICS played = PG_EXCEPTION_DETAIL;
    impact := played::jsonb;
  END;
  PERFORM write_signer_event(doc, jsonb_build_object('impact', impact), at);
  RETURN jsonb_build_object('ok', true, 'impact', impact, 'at', at);
END $$;

-- Evidence of what was looked up of a signer, with its audit rows.
CREATE OR REPLACE FUNCTION record_signer_event(doc jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE at timestamptz := svc_now();
BEGIN
  PERFORM declare_signer(value, at) FROM jsonb_array_elements(doc -> 'declared');
  PERFORM write_signer_event(doc, '{}'::jsonb, at);
END $$;

-- The nonces that were signed for an account and whose use is not final: by the chain, or by a node
-- that has ended with what its plan asks for. `used`: [{"chain_id", "final", "mined"}], how many
-- each chain says are used in final blocks and at all.
CREATE OR REPLACE FUNCTION open_nonces(account text, used jsonb) RETURNS jsonb
  LANGUAGE sql STABLE AS $$
  SELECT coalesce(jsonb_agg(DISTINCT jsonb_build_object('chain', t.chain_id::text,
    'nonce', t.nonce)), '[]'::jsonb)
  FROM evm_transactions t LEFT JOIN movement_nodes n USING (movement_id, node_key)
  LEFT JOIN jsonb_to_recordset(used) AS u (chain_id bigint, final bigint, mined bigint)
    USING (chain_id)
  WHERE t.address = lower(account) AND t.raw_tx IS NOT NULL AND t.released_at IS NULL
    AND t.nonce >= coalesce(u.final, 0) AND NOT (t.nonce < coalesce(u.mined, 0)
      AND coalesce(n.attempt > t.attempt OR n.state IN ('COMPLETED', 'FAILED'), false))
$$;

-- The first gate that a retirement does not pass, or NULL. What stands on chains was looked up
-- before (`seen`); the rest is asked under the signer's lock.
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
  -- What the venue holds for an address is no balance of a chain: somebody has to sign for it on.
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

-- Retires a signer, or answers the gate that it does not pass; either is kept as evidence. NULL for
-- an unknown one.
CREATE OR REPLACE FUNCTION retire_signer(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  s signers;
  at timestamptz;
  denied jsonb;
BEGIN
  -- Alone with retries, creates and fences, as a rotation is.
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

-- The stops of domain/send/stops.ts that are on for what a node has signed: [{"stop", "why"}].
-- `required` as binding_problems has it. What is asked here is held until the statement ends.
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
    found := found || '{"stop": "cancelled", "why": "its movement is cancelled"}'::jsonb;
  END IF;
  IF n.cancel_requested THEN
    found := found
      || '{"stop": "cancel_requested", "why": "a person cancelled its transaction"}'::jsonb;
  END IF;
  IF n.state = 'UNKNOWN' OR n.only_look THEN
    found := found || jsonb_build_object('stop', 'unknown',
      'why', 'its outcome is unknown, and only a retry may send it');
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

-- Notes that something outside has taken these bytes: an endpoint, or the chain shows them. The
-- first time stays.
CREATE OR REPLACE FUNCTION note_accepted(movement uuid, key text, of_attempt integer, hash text)
  RETURNS void LANGUAGE sql AS $$
  UPDATE evm_transactions SET accepted_at = svc_now()
  WHERE movement_id = movement AND node_key = key AND attempt = of_attempt AND tx_hash = hash
    AND accepted_at IS NULL
$$;

-- prisma/functions/templates.sql

-- A template version with its nodes and edges; see store/templates.ts for the shape of `doc`.
CREATE OR REPLACE FUNCTION create_template(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  v plan_template_versions;
  at timestamptz := svc_now();
BEGIN
  v := jsonb_populate_record(NULL::plan_template_versions, doc -> 'version');
  v.created_at := at;
  v.status := 'active';
  INSERT INTO plan_templates (template_key, created_at, updated_at) VALUES (v.template_key, at, at)
    ON CONFLICT DO NOTHING;
  INSERT INTO plan_template_versions SELECT v.* ON CONFLICT (template_key, version) DO NOTHING;
  IF NOT FOUND THEN
    RETURN jsonb_build_object('created', false);
  END IF;
  INSERT INTO plan_nodes SELECT n.*
    FROM jsonb_populate_recordset(NULL::plan_nodes, doc -> 'nodes') AS n;
  INSERT INTO plan_edges SELECT e.*
    FROM jsonb_populate_recordset(NULL::plan_edges, doc -> 'edges') AS e;
  PERFORM write_audit(doc -> 'audit', at);
  RETURN jsonb_build_object('created', true);
END $$;

-- What is to be used instead of a retired version; NULL where there is none.
CREATE OR REPLACE FUNCTION latest_active_version(key text) RETURNS integer LANGUAGE sql STABLE AS $$
  SELECT max(version) FROM plan_template_versions WHERE template_key = key AND status = 'active'
$$;

-- Takes a version out of use, once. The lock waits for the creates and proposals that found it
-- active, so that nothing of it is made behind the answer. NULL for an unknown one.
CREATE OR REPLACE FUNCTION retire_template_version(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  v plan_template_versions;
  at timestamptz;
BEGIN
  SELECT * INTO v FROM plan_template_versions
    WHERE template_id = (doc ->> 'template_id')::uuid FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  IF v.status = 'active' THEN
    at := svc_now();
    UPDATE plan_template_versions SET status = 'retired', retired_at = at,
      retired_by = doc ->> 'by', retired_reason = doc ->> 'reason'
    WHERE template_id = v.template_id RETURNING * INTO v;
    PERFORM write_audit(doc -> 'audit', at);
  END IF;
  RETURN jsonb_build_object('template_id', v.template_id, 'template_key', v.template_key,
    'version', v.version, 'status', v.status, 'retired_at', v.retired_at,
    'retired_by', v.retired_by, 'retired_reason', v.retired_reason,
    'latest_active_version', latest_active_version(v.template_key));
END $$;

-- A version is what it was made as: only its end is written, once.
CREATE OR REPLACE FUNCTION guard_version_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  own text[] := '{status,retired_at,retired_by,retired_reason}';
BEGIN
  IF TG_OP = 'DELETE' OR OLD.status <> 'active'
    OR to_jsonb(OLD) - own IS DISTINCT FROM to_jsonb(NEW) - own THEN
    RAISE EXCEPTION 'a template version stays as it is' USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END $$;

-- Changes the admin fields that `patch` names. NULL for an unknown key.
CREATE OR REPLACE FUNCTION update_template_admin(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  t plan_templates;
  at timestamptz := svc_now();
BEGIN
  SELECT * INTO t FROM plan_templates WHERE template_key = doc ->> 'template_key' FOR UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  t := jsonb_populate_record(t, doc -> 'patch');
  IF t.auto_approve_enabled AND (t.daily_cap_amount IS NULL OR t.daily_cap_asset IS NULL) THEN
    RETURN jsonb_build_object('ok', false);
  END IF;
  UPDATE plan_templates SET auto_approve_enabled = t.auto_approve_enabled,
    daily_cap_amount = t.daily_cap_amount,
    daily_cap_asset = t.daily_cap_asset, updated_at = at
  WHERE template_key = t.template_key;
  PERFORM write_audit(doc -> 'audit', at);
  RETURN jsonb_build_object('ok', true, 'updated_at', at,
    'auto_approve_enabled', t.auto_approve_enabled,
    'daily_cap_amount', trim_scale(t.daily_cap_amount)::text, 'daily_cap_asset', t.daily_cap_asset,
    'latest_version', (SELECT max(version) FROM plan_template_versions
      WHERE template_key = t.template_key));
END $$;

-- prisma/functions/transaction-nonces.sql

-- The nonce of a node's attempt: the one it already claims, else the lane's next. A claim is given
-- up only through released_at, so recovery can never move a node to a fresh nonce by itself.
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
  -- Nobody can sign for it any more, and every later nonce waits behind it.
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

-- Timeline rows with gapless sequence numbers and, where the movement has a URL, their callbacks. A
-- callback whose host is not listed is written as a dead letter, and the timeline says so.
-- The caller holds the movement's lock. Returns the next sequence.
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
              'occurred_at', to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text,
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

-- As append_timeline, for events that call nobody back.
CREATE OR REPLACE FUNCTION write_timeline(m movements, events jsonb, callback_types text[],
  at timestamptz)
RETURNS integer LANGUAGE sql AS $$
  SELECT append_timeline(m.movement_id, m.next_sequence, NULL, m.request_state, m.current_frontier,
    m.error_code, events, '[]'::jsonb, at)
$$;

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
  -- Which of the changes are fences is asked before anything is locked; see cutover_now.
  SELECT array_agg(value ->> 'node_key') INTO fenced FROM jsonb_array_elements(nodes)
    WHERE value -> 'set' ->> 'state' = 'SUBMITTING';
  frozen := fenced IS NOT NULL AND cutover_now() = 'frozen';
  -- What a retry brings back is bound to the signers of now, so no rotation may pass it by.
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

  -- After a cancel, a node that may have been sent before a restore is readied to be looked for; no
  -- fence lets it through.
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
         -- What is prepared is looked at before the fence and sent behind it, so it changes with
         -- attempt or epoch only, and a fence that brings it along is the first to have it.
         OR (n.prepared_action IS NOT NULL AND part -> 'set' ? 'prepared_action'
           AND (NOT part -> 'set' ?| ARRAY['attempt', 'submit_epoch']
             OR part -> 'set' ->> 'state' = 'SUBMITTING'))
         -- What has completed stays so; only an allowance is set anew, which moves nothing, and
         -- whose payment is reassigned waits again.
         OR (n.state = 'COMPLETED' AND part -> 'set' ? 'state'
           AND n.pays <> 'spender' AND NOT part ? 'releases')
         -- No fence lets a node through whose earlier send has not been asked about.
         OR (n.recover_first AND part -> 'set' ->> 'state' = 'SUBMITTING')
         -- A gate has no phases: it is passed over, called off, or let go by a person's resume.
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
      -- What stood there before, for what follows from the change.
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
      -- Alone with the lane: the next send might take an unsigned claim over just now.
      PERFORM 1 FROM nonce_lanes l JOIN evm_transactions c
        ON c.chain_id = l.chain_id AND c.address = l.address
      WHERE c.transaction_id = (part -> 'version' ->> 'claim')::uuid FOR UPDATE OF l;
      IF NOT is_newest_version(m.movement_id, part -> 'version') THEN
        refusal := 'node_state';
      END IF;
    ELSIF (part -> 'set' ->> 'cancel_asked')::integer > 0 THEN
      -- A condition of its own: beside the other it is planned for every node that is written.
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

  -- That the plan has this hash is compared above.
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
      -- What it waited at a frozen fence is no time of its own.
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
      -- What runs again needs a person anew when it fails again.
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
  -- What is held and what is used of a budget follow from where movement and nodes are now, whoever
  -- changed that.
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
    created_at, updated_at, outflow, limit_amount, pooled, agent)
  VALUES (id, (d ->> 'template_id')::uuid, d ->> 'template_key',
    (d ->> 'template_version')::integer, d ->> 'strategy_id', 'PENDING_APPROVAL', 'pending', 'none',
    1 + jsonb_array_length(doc -> 'timeline'), d ->> 'asset', (d ->> 'amount')::numeric,
    compiled -> 'intent', ARRAY(SELECT jsonb_array_elements_text(d -> 'current_frontier')),
    nullif(d -> 'auto_approve_result', 'null'), d ->> 'callback_url', d ->> 'client_scope',
    d ->> 'idempotency_key', expires, at, at, d -> 'outflow', (d ->> 'limit_amount')::numeric,
    (d ->> 'pooled')::boolean, agent_of)
  ON CONFLICT (client_scope, idempotency_key)
    WHERE idempotency_key IS NOT NULL DO NOTHING;
  IF NOT FOUND THEN
    RETURN (SELECT jsonb_build_object('created', false, 'movement_id', m.movement_id,
        'request', joined_request(p.own_request, p.input_params, p.labels))
      FROM movements m JOIN movement_plans p USING (movement_id)
      WHERE m.client_scope = d ->> 'client_scope'
        AND m.idempotency_key = d ->> 'idempotency_key');
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

-- What a run knows of its movement: shape and states; null for an unknown one.
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
        'ended_by_stop', coalesce(n.error_code = 'TRANSACTION_CANCELLED'
          AND n.cancel_asked IS DISTINCT FROM n.attempt, false),
        'recover_first', n.recover_first, 'error_code', n.error_code,
          'executor_key', n.executor_binding ->> 'executor_key',
        'signs', n.signer_binding IS NOT NULL, 'brings', n.brings,
        'settled_order', coalesce(extract(epoch FROM n.completed_at) * 1000, 0))
          ORDER BY n.position)
      FROM movement_nodes n WHERE n.movement_id = m.movement_id))
  FROM movements m JOIN movement_plans p USING (movement_id) WHERE m.movement_id = movement
$$;

CREATE OR REPLACE FUNCTION load_movement(movement uuid, run text) RETURNS jsonb LANGUAGE plpgsql
  AS $$
DECLARE
  at timestamptz := svc_now();
  woken boolean;
  result jsonb;
BEGIN
  WITH applied AS (
    UPDATE commands SET applied_at = at WHERE movement_id = movement AND applied_at IS NULL
    RETURNING kind)
  SELECT bool_or(kind = 'wake') INTO woken FROM applied;
  UPDATE movements SET run_id = run WHERE movement_id = movement AND run_id IS DISTINCT FROM run;
  result := movement_view(movement, at);
  -- Nobody is signalled for a command that a load has seen: what it was to wake is told here.
  RETURN result || CASE WHEN woken THEN '{"woken": true}' ELSE '{}' END::jsonb;
END $$;
