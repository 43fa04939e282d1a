-- The audit trail as evidence: each row vouched for by the process that wrote it, all rows sealed into a
-- chain, and a database role for the service that can add to both and change neither.
-- See docs/decisions/0012-audit-chain.md.

-- Whole milliseconds, as svc_now() gives them and as the API shows them: what is sealed is all there is.
ALTER TABLE audit_events ALTER COLUMN occurred_at TYPE timestamptz(3);
-- HMAC over what the writing process knew, under a key that the database never sees. Null without a key.
ALTER TABLE audit_events ADD COLUMN mac bytea;

CREATE OR REPLACE FUNCTION write_audit(events jsonb, at timestamptz) RETURNS void LANGUAGE sql AS $$
  INSERT INTO audit_events (event_id, occurred_at, actor_client_id, actor_key_id, actor_role, namespace, action,
                            entity_type, entity_key, outcome, request_id, reason, details, mac)
  SELECT event_id, at, actor_client_id, actor_key_id, actor_role, namespace, action, entity_type, entity_key, outcome,
         request_id, reason, coalesce(details, '{}'::jsonb), decode(mac, 'hex')
  FROM jsonb_to_recordset(coalesce(events, '[]'::jsonb)) AS e (event_id uuid, actor_client_id text, actor_key_id text,
    actor_role text, namespace text, action text, entity_type text, entity_key text, outcome text, request_id text, reason text,
    details jsonb, mac text)
$$;

-- What lists are filtered by. Most rows have no value in the partial ones' columns, or the one that nobody looks for.
CREATE INDEX audit_events_entity ON audit_events (entity_type, entity_key, occurred_at DESC, event_id DESC);
CREATE INDEX audit_events_action ON audit_events (action, occurred_at DESC, event_id DESC);
CREATE INDEX audit_events_request ON audit_events (request_id) WHERE request_id IS NOT NULL;
CREATE INDEX audit_events_client ON audit_events (actor_client_id, occurred_at DESC, event_id DESC) WHERE actor_client_id IS NOT NULL;
CREATE INDEX audit_events_key ON audit_events (actor_key_id, occurred_at DESC, event_id DESC) WHERE actor_key_id IS NOT NULL;
CREATE INDEX audit_events_namespace ON audit_events (namespace, occurred_at DESC, event_id DESC) WHERE namespace IS NOT NULL;
CREATE INDEX audit_events_refused ON audit_events (outcome, occurred_at DESC, event_id DESC) WHERE outcome <> 'success';

-- The chain, in the order of sealing. No foreign key: a row that somebody removed must leave its seal behind.
CREATE TABLE audit_seals (
  position   bigint PRIMARY KEY CHECK (position > 0),
  event_id   uuid NOT NULL UNIQUE,
  event_hash bytea NOT NULL,
  chain_hash bytea NOT NULL,
  mac        bytea,
  sealed_at  timestamptz NOT NULL
);
CREATE TRIGGER audit_seals_append_only BEFORE UPDATE OR DELETE ON audit_seals FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_seals_no_truncate BEFORE TRUNCATE ON audit_seals FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Adds seals behind the head that their maker saw. False when another process seals at this moment, or has
-- since: then nothing is written, and the maker looks again.
CREATE FUNCTION seal_audit(head bigint, seals jsonb) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtextextended('audit_seals', 0)) THEN RETURN false; END IF;
  IF head <> coalesce((SELECT max(position) FROM audit_seals), 0) THEN RETURN false; END IF;
  INSERT INTO audit_seals (position, event_id, event_hash, chain_hash, mac, sealed_at)
  SELECT position, event_id, decode(event_hash, 'hex'), decode(chain_hash, 'hex'), decode(mac, 'hex'), svc_now()
  FROM jsonb_to_recordset(seals) AS s (position bigint, event_id uuid, event_hash text, chain_hash text, mac text);
  RETURN true;
END $$;

-- What the service may do with each table. A migration that adds a table adds its line here; a table
-- without one is closed to the service. Tables that do not exist (yet) are passed over.
CREATE TABLE service_privileges (
  table_name text PRIMARY KEY,
  privileges text NOT NULL CHECK (privileges ~ '^(SELECT|INSERT|UPDATE|DELETE)(, (SELECT|INSERT|UPDATE|DELETE))*$')
);
INSERT INTO service_privileges (table_name, privileges) VALUES
  ('_prisma_migrations', 'SELECT'),
  ('plan_templates', 'SELECT, INSERT, UPDATE'),
  ('plan_template_versions', 'SELECT, INSERT'),
  ('plan_nodes', 'SELECT, INSERT'),
  ('plan_edges', 'SELECT, INSERT'),
  ('movements', 'SELECT, INSERT, UPDATE'),
  ('movement_nodes', 'SELECT, INSERT, UPDATE'),
  ('node_attempts', 'SELECT, INSERT, UPDATE'),
  ('artifacts', 'SELECT, INSERT'),
  ('timeline_events', 'SELECT, INSERT'),
  ('callbacks', 'SELECT, INSERT, UPDATE'),
  ('commands', 'SELECT, INSERT, UPDATE'),
  ('reservation_pools', 'SELECT, INSERT, UPDATE'),
  ('reservations', 'SELECT, INSERT, UPDATE'),
  ('executors', 'SELECT, INSERT, UPDATE'),
  ('signers', 'SELECT, INSERT, UPDATE'),
  ('nonce_lanes', 'SELECT, INSERT, UPDATE'),
  ('evm_transactions', 'SELECT, INSERT, UPDATE'),
  ('audit_events', 'SELECT, INSERT'),
  ('audit_seals', 'SELECT, INSERT'),
  ('api_clients', 'SELECT'),
  ('api_client_keys', 'SELECT'),
  ('agent_authorities', 'SELECT'),
  ('nonce_registry', 'SELECT, INSERT, DELETE');

-- Gives `role` what the service needs in this schema, and takes from it what it had there beyond that. To be
-- called after migrations by the owner of the tables, which `role` must not be.
CREATE FUNCTION grant_service(role text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  schema_name text := current_schema();
  may record;
BEGIN
  IF pg_has_role(role, (SELECT relowner FROM pg_class WHERE oid = to_regclass('audit_events')), 'MEMBER') THEN
    RAISE EXCEPTION 'the role % owns the tables, or is a superuser: nothing could be kept from it', role
      USING ERRCODE = 'invalid_grant_operation';
  END IF;
  -- Two at once would change the same rows of the catalogue, and one would fail.
  PERFORM pg_advisory_xact_lock(hashtextextended('grant_service', 0));
  EXECUTE format('REVOKE ALL ON SCHEMA %I FROM %I', schema_name, role);
  EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA %I FROM %I', schema_name, role);
  EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', schema_name, role);
  FOR may IN SELECT table_name, privileges FROM service_privileges WHERE to_regclass(quote_ident(table_name)) IS NOT NULL LOOP
    EXECUTE format('GRANT %s ON %I.%I TO %I', may.privileges, schema_name, may.table_name, role);
  END LOOP;
  EXECUTE format('GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA %I TO %I', schema_name, role);
END $$;
