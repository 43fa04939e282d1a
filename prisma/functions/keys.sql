-- Refuses every change of an API key except its revocation, which is final.
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

-- Revokes an API key for good. Returns null for an unknown key; a repeat writes nothing.
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
