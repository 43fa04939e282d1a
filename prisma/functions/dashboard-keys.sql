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

-- Ends the open sessions of an operator, or of all operators if none is named; returns how many.
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

-- Stores the secret that a browser submits: once, in time, and for a key that still waits; else
-- returns null. The service's role may write these two columns and no other.
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

-- Confirms a key if its secret is the one that the caller has read; returns null if the secret
-- differs or the key no longer waits.
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
  -- From now on decisions of the operator are of this key: see mark_compromised.
  UPDATE compromised_keys SET until = k.confirmed_at
  WHERE kind = 'dashboard_key' AND recorded_as = 'dashboard:' || k.operator
    AND until > k.confirmed_at;
  PERFORM write_audit(with_details(doc -> 'audit', jsonb_build_object('operator', k.operator,
    'role', k.role, 'allowlist', k.allowlist)), at);
  RETURN to_jsonb(k) - 'secret' - 'code_hash';
END $$;

-- Ends an operator's key, or the link for one, with all sessions; returns null if there is none.
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

-- Ends the open sessions of an operator, or of all operators if none is named; returns how many.
CREATE OR REPLACE FUNCTION end_dashboard_sessions(doc jsonb) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  at timestamptz := svc_now();
  ended integer := end_sessions_of(doc ->> 'operator', at);
BEGIN
  PERFORM write_audit(with_details(doc -> 'audit', jsonb_build_object('ended_sessions', ended)), at);
  RETURN ended;
END $$;

-- Stores a new session with its audit row.
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

-- Ends one session; returns false if it has ended already.
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
