-- Stores a template version with its nodes and edges; see store/templates.ts for the shape of
-- `doc`.
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

-- Returns the version to use instead of a retired one; NULL if there is none.
CREATE OR REPLACE FUNCTION latest_active_version(key text) RETURNS integer LANGUAGE sql STABLE AS $$
  SELECT max(version) FROM plan_template_versions WHERE template_key = key AND status = 'active'
$$;

-- Retires a template version, once. The lock waits for creates and proposals that found the version
-- active, so that none uses it after this returns. Returns NULL for an unknown version.
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

-- Refuses every change of a template version except its retirement, which is written once.
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

-- Changes the admin fields that `patch` names. Returns NULL for an unknown key, and {"ok": false}
-- if automatic approval would be left without a daily cap.
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
