CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;

-- Refuses what a request does whose key was revoked since it was found active, or was checked more
-- than a minute ago: the process may have stood still, or waited for a lock. Every write of a
-- request has audit rows, and what raises here takes back the whole transaction. Rows without
-- `checked_at` are of no signed request. See compromised_keys for the minute.
CREATE OR REPLACE FUNCTION refuse_outlived(events jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  e record;
BEGIN
  FOR e IN SELECT DISTINCT value ->> 'actor_key_id' AS key_id,
      (value ->> 'checked_at')::timestamptz AS checked_at
    FROM jsonb_array_elements(coalesce(events, '[]'))
    WHERE value ? 'checked_at' AND value ->> 'outcome' = 'success'
  LOOP
    IF EXISTS (SELECT FROM api_client_keys k JOIN api_clients c USING (client_id)
        WHERE k.key_id = e.key_id AND (k.status <> 'active' OR c.status <> 'active')) THEN
      RAISE EXCEPTION 'the key % was revoked while its request was handled', e.key_id
        USING ERRCODE = 'FM024';
    END IF;
    IF e.checked_at < svc_now() - interval '1 minute' THEN
      RAISE EXCEPTION 'the request of key % was checked at %, more than a minute ago', e.key_id,
        e.checked_at USING ERRCODE = 'FM025';
    END IF;
  END LOOP;
END $$;

-- create_movement (write-path.sql) inserts the same columns by itself, without a call of this: a
-- column that is added here has to be added there.
CREATE OR REPLACE FUNCTION write_audit(events jsonb, at timestamptz) RETURNS void LANGUAGE sql AS $$
  SELECT refuse_outlived(events);
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

-- Adds seals after the head that the caller read. If another process is sealing, or has sealed
-- since, writes nothing and returns false; the caller then reads the head again.
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

-- Refuses a seal that does not take the next position in the chain. A seal far ahead would become
-- the head and block every later seal. Has a search path of its own, else it would read a temporary
-- table of the same name.
CREATE OR REPLACE FUNCTION guard_seal() RETURNS trigger LANGUAGE plpgsql
  SET search_path FROM CURRENT AS $$
DECLARE
  next bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('audit_seals', 0));
  SELECT coalesce(max(position), 0) + 1 INTO next FROM audit_seals;
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
