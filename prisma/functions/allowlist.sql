-- Returns when an address that is added or changed at `at` may be paid: after its cooling period.
CREATE OR REPLACE FUNCTION cooled_after(doc jsonb, at timestamptz) RETURNS timestamptz
  LANGUAGE sql IMMUTABLE AS $$
  SELECT at + make_interval(secs => (doc ->> 'cooling_seconds')::double precision)
$$;

-- Returns the outcome of a change, with the row as it is after the change.
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

-- Revokes an address, or restores it and starts its cooling period again. A repeat changes nothing.
-- Returns null for an unknown id.
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

-- Moves an address to another chain, or to all chains (null), and starts its cooling period again.
-- The outcome is "taken" if the allowlist already has the address for that chain.
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
