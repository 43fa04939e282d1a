-- Template proposals of agents. Takes the lock under which decisions about an authority are made:
-- one at a time, with its present limits.
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

-- Returns a proposal as callers read it. The movement of a bridge attempt has the proposal's id as
-- its idempotency key.
CREATE OR REPLACE FUNCTION proposal_view(p template_proposals) RETURNS jsonb
  LANGUAGE sql STABLE AS $$
  SELECT to_jsonb(p) || jsonb_build_object('due', p.status = 'submitted'
      AND p.expires_at <= svc_now(),
    'movement_id', (SELECT m.movement_id FROM movements m
      WHERE p.bridge_attempt AND m.client_scope = 'bridge-attempt'
        AND m.idempotency_key = p.proposal_id::text))
$$;

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

-- Promotes a proposal for an administrator. A promotion that comes too late stores that the
-- proposal has expired.
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

-- Returns the fields of a proposal for its audit row.
CREATE OR REPLACE FUNCTION told_of(p template_proposals) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object('authority_key', p.authority_key, 'status', p.status,
    'promotion_mode', p.promotion_mode, 'reasons', to_jsonb(p.reasons),
    'template_key', p.template_key, 'template_version', p.template_version,
    'asset', p.asset, 'requested_notional', trim_scale(p.requested_notional)::text)
$$;

-- Ends the expired proposals of a list [{proposal_id, audit}]; returns how many.
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

-- Refuses every change of a proposal except its end, which is written once.
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
