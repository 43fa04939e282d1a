-- Automatic approval: policies, the budgets that their windows bound, and a create that approves in its own
-- transaction. See docs/decisions/0018-automatic-approval.md.

CREATE TABLE auto_approve_policies (
  policy_id              uuid PRIMARY KEY,
  client_id              uuid NOT NULL,
  strategy_id            text NOT NULL,
  is_active              boolean NOT NULL,
  -- [{"template_key", "template_version"}], a null version standing for every one. Empty allows nothing.
  allowed_templates      jsonb NOT NULL,
  allowed_assets         text[] NOT NULL,
  max_amount_per_request numeric(38, 18) CHECK (max_amount_per_request >= 0),
  window_hours           integer CHECK (window_hours BETWEEN 1 AND 720),
  max_amount_per_window  numeric(38, 18) CHECK (max_amount_per_window >= 0),
  max_count_per_window   integer CHECK (max_count_per_window >= 0),
  -- Grows with every change: what was decided by an older one is decided again.
  revision               integer NOT NULL,
  created_by             text,
  created_at             timestamptz NOT NULL,
  updated_at             timestamptz NOT NULL,
  CONSTRAINT auto_approve_policies_once UNIQUE (client_id, strategy_id),
  CONSTRAINT auto_approve_policies_window_complete CHECK (
    window_hours IS NOT NULL OR (max_amount_per_window IS NULL AND max_count_per_window IS NULL)
  )
);
CREATE INDEX auto_approve_policies_strategy ON auto_approve_policies (strategy_id);

-- What movements that a policy approved take of its budget. A retry that holds again adds a row of its own.
CREATE TABLE budget_reservations (
  reservation_id uuid PRIMARY KEY,
  movement_id    uuid NOT NULL REFERENCES movements (movement_id),
  policy_id      uuid NOT NULL REFERENCES auto_approve_policies (policy_id),
  amount         numeric(38, 18) NOT NULL CHECK (amount > 0),
  status         text NOT NULL CHECK (status IN ('reserved', 'consumed', 'released')),
  -- Windows count by this time, whatever becomes of the reservation.
  reserved_at    timestamptz NOT NULL,
  ended_at       timestamptz
);
CREATE UNIQUE INDEX budget_reservations_one_open ON budget_reservations (movement_id) WHERE status = 'reserved';
CREATE INDEX budget_reservations_window ON budget_reservations (policy_id, reserved_at) INCLUDE (amount, status) WHERE status <> 'released';

INSERT INTO service_privileges (table_name, privileges) VALUES
  ('auto_approve_policies', 'SELECT, INSERT, UPDATE'),
  ('budget_reservations', 'SELECT, INSERT, UPDATE');

-- A policy as the service reads it; amounts as text, so that nobody makes doubles of them.
CREATE FUNCTION policy_view(p auto_approve_policies) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT to_jsonb(p) || jsonb_build_object('max_amount_per_request', trim_scale(p.max_amount_per_request)::text,
    'max_amount_per_window', trim_scale(p.max_amount_per_window)::text)
$$;

-- What of a policy's window is used at a time.
CREATE FUNCTION budget_usage(policy uuid, hours integer, at timestamptz, OUT reserved numeric, OUT consumed numeric, OUT in_window integer)
LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(amount) FILTER (WHERE status = 'reserved'), 0), coalesce(sum(amount) FILTER (WHERE status = 'consumed'), 0),
         count(*)::integer
  FROM budget_reservations
  WHERE policy_id = policy AND status <> 'released' AND reserved_at > at - make_interval(hours => hours)
$$;

-- Takes a movement's amount from the budget of its policy. Whoever takes is alone with the policy's row, and
-- what it sums then is what everybody before it has left. Fails with FM010 and the reason when it does not fit.
CREATE FUNCTION take_budget(movement uuid, policy uuid, wanted numeric) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  p auto_approve_policies;
  used record;
  at timestamptz;
  refusal text;
BEGIN
  SELECT * INTO STRICT p FROM auto_approve_policies WHERE policy_id = policy FOR NO KEY UPDATE;
  at := svc_now();
  SELECT * INTO used FROM budget_usage(p.policy_id, p.window_hours, at);
  refusal := CASE
    WHEN used.reserved + used.consumed + wanted > p.max_amount_per_window THEN 'window_amount_exceeded'
    WHEN used.in_window + 1 > p.max_count_per_window THEN 'window_count_exceeded' END;
  IF refusal IS NOT NULL THEN RAISE EXCEPTION USING ERRCODE = 'FM010', MESSAGE = refusal, DETAIL = p.policy_id::text; END IF;
  INSERT INTO budget_reservations (reservation_id, movement_id, policy_id, amount, status, reserved_at)
  VALUES (svc_new_id(at), movement, policy, wanted, 'reserved', at);
END $$;

-- The budget follows the movement's reservation, whoever changes that: taken when it is held, also when a
-- retry holds it again, and ended as it ends. The policy comes behind movement, nodes and pools.
CREATE FUNCTION budget_follows_reservation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.reservation_status = 'held' THEN
    PERFORM take_budget(NEW.movement_id, (NEW.auto_approve_result ->> 'policy_id')::uuid, NEW.amount);
  ELSE
    UPDATE budget_reservations SET status = NEW.reservation_status, ended_at = NEW.updated_at
    WHERE movement_id = NEW.movement_id AND status = 'reserved';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER movements_budget AFTER UPDATE OF reservation_status ON movements FOR EACH ROW
  WHEN (OLD.reservation_status IS DISTINCT FROM NEW.reservation_status AND NEW.auto_approve_result ->> 'outcome' = 'approved'
        AND NEW.auto_approve_result ->> 'policy_id' IS NOT NULL)
  EXECUTE FUNCTION budget_follows_reservation();

-- What movements of a template that were approved in the last 24 hours add up to, in one asset. A movement is
-- approved within a week of its creation, which bounds what is looked at.
CREATE FUNCTION daily_cap_used(key text, cap_asset text, at timestamptz, without uuid) RETURNS numeric LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(m.amount), 0) FROM movements m
  WHERE m.template_key = key AND m.created_at > at - interval '8 days' AND m.approval_status = 'approved' AND m.asset = cap_asset
    AND m.movement_id IS DISTINCT FROM without
    AND EXISTS (SELECT 1 FROM timeline_events e WHERE e.movement_id = m.movement_id AND e.event_type = 'request_approved'
                AND e.occurred_at > at - interval '24 hours')
$$;

-- Fails with FM011 when what an approval was decided by is no longer so, and with FM010 and the reason when a
-- daily cap is exceeded. The caller's own movement is approved already, and stands last in the lock order.
CREATE FUNCTION check_approval_guard(movement uuid, guard jsonb) RETURNS void LANGUAGE plpgsql AS $$
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
  SELECT * INTO t FROM plan_templates WHERE template_key = guard ->> 'template_key' FOR NO KEY UPDATE;
  IF NOT t.auto_approve_enabled OR t.daily_cap_amount <> (guard ->> 'daily_cap_amount')::numeric
     OR t.daily_cap_asset <> guard ->> 'daily_cap_asset' THEN
    RAISE EXCEPTION 'the template changed' USING ERRCODE = 'FM011';
  END IF;
  SELECT amount INTO wanted FROM movements WHERE movement_id = movement;
  IF daily_cap_used(t.template_key, t.daily_cap_asset, svc_now(), movement) + wanted > t.daily_cap_amount THEN
    RAISE EXCEPTION 'daily_cap_exceeded' USING ERRCODE = 'FM010';
  END IF;
END $$;

-- A create that approves: the same transition as an approve's, in the transaction of the create. What forbids it
-- takes the approval back and leaves the movement waiting, with the reason. FM011 takes back everything.
CREATE FUNCTION create_and_approve(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
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
      RETURN created || jsonb_build_object('approved', answer, 'auto_approve_result', doc -> 'movement' -> 'auto_approve_result');
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
CREATE FUNCTION create_policy(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
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
    PERFORM write_audit(doc -> 'refused_audit', at);
    SELECT * INTO p FROM auto_approve_policies
    WHERE client_id = (doc -> 'policy' ->> 'client_id')::uuid AND strategy_id = doc -> 'policy' ->> 'strategy_id';
    RETURN jsonb_build_object('ok', false, 'policy_id', p.policy_id);
  END IF;
  PERFORM write_audit(doc -> 'audit', at);
  RETURN jsonb_build_object('ok', true, 'policy', policy_view(p));
END $$;

-- Changes the fields that `patch` names. NULL for an unknown id; {"ok": false} when a cap would be left without its window.
CREATE FUNCTION update_policy(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  p auto_approve_policies;
  at timestamptz;
BEGIN
  SELECT * INTO p FROM auto_approve_policies WHERE policy_id = (doc ->> 'policy_id')::uuid FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  at := svc_now();
  p := jsonb_populate_record(p, doc -> 'patch');
  IF p.window_hours IS NULL AND (p.max_amount_per_window IS NOT NULL OR p.max_count_per_window IS NOT NULL) THEN
    PERFORM write_audit(doc -> 'refused_audit', at);
    RETURN jsonb_build_object('ok', false);
  END IF;
  UPDATE auto_approve_policies SET is_active = p.is_active, allowed_templates = p.allowed_templates, allowed_assets = p.allowed_assets,
    max_amount_per_request = p.max_amount_per_request, window_hours = p.window_hours, max_amount_per_window = p.max_amount_per_window,
    max_count_per_window = p.max_count_per_window, revision = revision + 1, updated_at = at
  WHERE policy_id = p.policy_id RETURNING * INTO p;
  PERFORM write_audit(doc -> 'audit', at);
  RETURN jsonb_build_object('ok', true, 'policy', policy_view(p));
END $$;
