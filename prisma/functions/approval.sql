-- Returns a policy as the service reads it. Amounts are text, so that they never become floats.
CREATE OR REPLACE FUNCTION policy_view(p auto_approve_policies) RETURNS jsonb
  LANGUAGE sql STABLE AS $$
  SELECT to_jsonb(p) || jsonb_build_object(
    'max_amount_per_request', trim_scale(p.max_amount_per_request)::text,
    'max_amount_per_window', trim_scale(p.max_amount_per_window)::text)
$$;

-- Returns how much of a policy's budget was used in the last `hours` hours: the reserved and the
-- consumed amount of all movements, and the number of movements other than `without`.
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

-- Takes an amount for a movement from the budget of its policy. Locks the policy's row, so that the
-- sum includes all earlier takes. With `checked`, fails with FM010 and the reason if the amount
-- does not fit.
CREATE OR REPLACE FUNCTION take_budget(movement uuid, policy uuid, wanted numeric, new_status text,
  checked boolean)
-- apply_transition forces plans for any value; the best plan here depends on the window's length.
RETURNS void LANGUAGE plpgsql SET plan_cache_mode = auto AS $$
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

-- Returns how much of its limit an automatically approved movement uses: all of it until the
-- movement fails or is cancelled; then what its nodes sent or may have sent, and what nodes that
-- continue after the cancel may still draw.
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

-- Returns whether a movement that failed or was cancelled still counts in its policy's window: some
-- node sent or may have sent something, in any asset, or may still draw after the cancel.
CREATE OR REPLACE FUNCTION budget_counts(m movements) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT m.request_state IN ('FAILED', 'CANCELLED') AND EXISTS (SELECT FROM movement_nodes n
    WHERE n.movement_id = m.movement_id AND n.flow IS NOT NULL AND n.flow ->> 'from' IS NULL
      AND (sent_amount(n) > 0
        OR (m.request_state = 'CANCELLED' AND n.state IN ('BLOCKED', 'READY'))))
$$;

-- Sets what a movement takes from its policy's budget to budget_due. A smaller amount shrinks the
-- stored takes, the latest first, and they keep their time; a larger amount adds a take. While the
-- movement counts in the window, its first take stays, even with an amount of 0. Lock order:
-- movement, nodes, pools, policy.
CREATE OR REPLACE FUNCTION settle_budget(m movements, checked boolean, at timestamptz) RETURNS void
  LANGUAGE plpgsql AS $$
DECLARE
  row budget_reservations;
  left_over numeric := budget_due(m);
  counts boolean := budget_counts(m);
  share numeric;
  stays boolean;
  new_status text := CASE WHEN m.request_state IN ('COMPLETED', 'FAILED', 'CANCELLED')
    THEN 'consumed' ELSE 'reserved' END;
BEGIN
  FOR row IN SELECT * FROM budget_reservations WHERE movement_id = m.movement_id
    AND status <> 'released' ORDER BY reserved_at, reservation_id LOOP
    share := least(row.amount, left_over);
    left_over := left_over - share;
    stays := share > 0 OR counts;
    counts := false;
    CONTINUE WHEN stays AND share = row.amount AND row.status = new_status;
    UPDATE budget_reservations SET
      amount = CASE WHEN stays THEN share ELSE amount END,
      status = CASE WHEN stays THEN new_status ELSE 'released' END,
      ended_at = CASE WHEN stays AND new_status = 'reserved' THEN NULL ELSE at END
    WHERE reservation_id = row.reservation_id;
  END LOOP;
  IF left_over > 0 OR counts THEN
    PERFORM take_budget(m.movement_id, (m.auto_approve_result ->> 'policy_id')::uuid, left_over,
      new_status, checked);
  END IF;
END $$;

-- Returns the bound of an outflow for an asset: null if the outflow has no bound, 0 if it does not
-- name the asset.
CREATE OR REPLACE FUNCTION outflow_in(outflow jsonb, coin text) RETURNS numeric
  LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN EXISTS (SELECT FROM jsonb_array_elements(outflow) e WHERE e ->> 'asset' = coin)
    THEN (SELECT (e ->> 'amount')::numeric FROM jsonb_array_elements(outflow) e
      WHERE e ->> 'asset' = coin LIMIT 1) ELSE 0 END
$$;

-- Returns the most that movements of a template could move of an asset, if they were approved in
-- the last 24 hours. A movement is approved within a week of its creation, so only rows of the last
-- 8 days are read. A movement without a bound was approved by a person, and counts with the amount
-- of its intent.
CREATE OR REPLACE FUNCTION daily_cap_used(key text, cap_asset text, at timestamptz, without uuid)
  RETURNS numeric LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(greatest(outflow_in(m.outflow, cap_asset), CASE WHEN m.asset = cap_asset
    THEN m.amount ELSE 0 END)), 0) FROM movements m
  WHERE m.template_key = key AND m.created_at > at - interval '8 days'
    AND m.approval_status = 'approved'
    AND m.movement_id IS DISTINCT FROM without
    AND m.approved_at > at - interval '24 hours'
$$;

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

-- Creates a movement and approves it in the same transaction. If the approval is refused, only the
-- approval is rolled back: the movement waits for a person, with the reason. FM011 rolls back all.
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
  -- FM021: a rule asks for people, and an automatic approval is none.
  EXCEPTION WHEN SQLSTATE 'FM010' OR SQLSTATE 'FM021' THEN
    refusal := SQLERRM;
  END;
  refused := approval -> 'refused' -> refusal;
  SELECT * INTO m FROM movements WHERE movement_id = movement;
  UPDATE movements SET auto_approve_result = refused -> 'result',
    next_sequence = write_timeline(m, refused -> 'timeline', ARRAY[]::text[], m.created_at)
  WHERE movement_id = movement;
  RETURN created || jsonb_build_object('auto_approve_result', refused -> 'result');
END $$;

-- Creates a policy. Returns {"ok": false} with the id of the stored policy if the client already
-- has one for the strategy.
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

-- Changes the fields that `patch` names. Returns NULL for an unknown id, and {"ok": false} if a cap
-- per window would be left without `window_hours`.
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

-- Returns whether the movement's present plan was approved.
CREATE OR REPLACE FUNCTION is_approved(movement uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM movement_approvals a JOIN movement_plans p USING (movement_id)
    WHERE a.movement_id = movement AND a.plan_hash = p.compiled_plan_hash)
$$;

-- Sets the time of an approval. A movement is approved at most once, by a person or a policy.
CREATE OR REPLACE FUNCTION stamp_approval() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.approved_at := NEW.updated_at; -- the time of the change
  RETURN NEW;
END $$;

-- Refuses every write that starts a movement, or makes a node of it ready or sent, before its plan
-- is approved. Has a search path of its own, else it would read temporary tables of the same names;
-- a statement in the text is planned once a session, and one in EXECUTE each time.
CREATE OR REPLACE FUNCTION require_approval() RETURNS trigger LANGUAGE plpgsql
  SET search_path FROM CURRENT AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM movement_approvals a JOIN movement_plans p USING (movement_id)
    WHERE a.movement_id = NEW.movement_id AND a.plan_hash = p.compiled_plan_hash) THEN
    RAISE EXCEPTION 'movement % has no approval of its plan', NEW.movement_id
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END $$;

-- Refuses every change of a movement's plan and of the fields that follow from it.
CREATE OR REPLACE FUNCTION refuse_other_plan() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the plan of movement % cannot be changed', OLD.movement_id
    USING ERRCODE = 'insufficient_privilege';
END $$;

-- Refuses a statement that adds a node to an approved movement; `added` has all nodes that it adds.
-- Its search path is as in require_approval.
CREATE OR REPLACE FUNCTION refuse_later_node() RETURNS trigger LANGUAGE plpgsql
  SET search_path FROM CURRENT AS $$
DECLARE
  approved uuid;
BEGIN
  SELECT movement_id INTO approved FROM added JOIN movement_approvals USING (movement_id) LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'the plan of movement % cannot be changed', approved
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NULL;
END $$;
