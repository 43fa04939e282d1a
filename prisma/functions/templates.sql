-- A template version with its nodes and edges; see store/templates.ts for the shape of `doc`.
CREATE OR REPLACE FUNCTION create_template(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  v plan_template_versions;
  at timestamptz := svc_now();
BEGIN
  v := jsonb_populate_record(NULL::plan_template_versions, doc -> 'version');
  v.created_at := at;
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

-- Changes the admin fields that `patch` names. NULL for an unknown key.
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
