-- Returns audit rows with added details, which only the locked row shows.
CREATE OR REPLACE FUNCTION with_details(events jsonb, extra jsonb) RETURNS jsonb
  LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(jsonb_agg(
    value || jsonb_build_object('details', coalesce(value -> 'details', '{}'::jsonb) || extra)),
    '[]'::jsonb)
  FROM jsonb_array_elements(coalesce(events, '[]'::jsonb))
$$;

-- Creates the row of an executor or signer that a process declares, if there is none.
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

-- Switches an executor on or off. Returns NULL if it is neither stored nor declared.
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

-- Switches a signer on or off, but refuses for a deprecated or retired signer. Returns NULL if the
-- signer is neither stored nor declared.
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

-- Pins a signer's address. `problem`: what the caller found wrong with the submitted or the live
-- address. If the stored, submitted and live addresses are equal, nothing changes, and `previous`
-- is not compared. Returns NULL if the signer is neither stored nor declared.
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

-- Stores an executor's registration, where it differs, and the result of a health check. `declared`
-- also names the process that checked (`health_by`) and for how long its answer stands
-- (`stands_seconds`). Meanwhile a worse answer of another process changes nothing: that process
-- alone may not reach the executor. Processes of 0.4.0 send neither: their answers always count,
-- and stand against none.
CREATE OR REPLACE FUNCTION save_executor_health(declared jsonb, state text) RETURNS void
  LANGUAGE plpgsql AS $$
DECLARE
  d executors := jsonb_populate_record(NULL::executors, declared);
  stands interval := make_interval(secs => (declared ->> 'stands_seconds')::double precision);
  worst_first text[] := ARRAY['unknown', 'down', 'up'];
  at timestamptz := svc_now();
BEGIN
  PERFORM declare_executor(declared, at);
  UPDATE executors AS e SET kind = d.kind, action_types = d.action_types, provider = d.provider,
    chain_family = d.chain_family, endpoint = d.endpoint, updated_at = at
  WHERE e.executor_key = d.executor_key
    AND (e.kind, e.action_types, e.provider, e.chain_family, e.endpoint)
      IS DISTINCT FROM (d.kind, d.action_types, d.provider, d.chain_family, d.endpoint);
  UPDATE executors AS e SET health_state = state, health_checked_at = at, health_by = d.health_by,
    health_stands_until = at + stands
  WHERE e.executor_key = d.executor_key
    -- A check that is much later than now is of a database whose clock was ahead.
    AND NOT coalesce(e.health_by <> d.health_by AND e.health_stands_until > at
      AND e.health_checked_at <= at + interval '1 minute'
      AND array_position(worst_first, e.health_state) > array_position(worst_first, state), false);
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
