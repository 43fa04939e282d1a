-- The registry of a bridge: chains, and paths between them (docs/decisions/0073-bridges.md). Every
-- change is one call with its audit row, which keeps the row as it was written: who lost the
-- connection to a call can tell by it what became of that. Chains are locked before paths, each in
-- the order of their names.

-- A path as JSON; its amount as a text, since JSON's numbers are not exact everywhere.
CREATE OR REPLACE FUNCTION bridge_path_view(p bridge_paths) RETURNS jsonb LANGUAGE sql IMMUTABLE
  AS $$
  SELECT to_jsonb(p) || jsonb_build_object('fee_native_budget',
    trim_scale(p.fee_native_budget)::text)
$$;

-- Everything that decides whether a path may be used, as one text: another one when any of it is
-- different.
CREATE OR REPLACE FUNCTION bridge_path_version(s bridge_chains, d bridge_chains, p bridge_paths)
  RETURNS text LANGUAGE sql STABLE AS $$
  SELECT md5(concat_ws('|',
    s.chain, s.endpoint_identity, s.snapshot_version, s.snapshot_stale,
    extract(epoch FROM s.snapshot_at),
    d.chain, d.endpoint_identity, d.snapshot_version, d.snapshot_stale,
    extract(epoch FROM d.snapshot_at),
    p.asset, p.enabled, p.fee_native_budget, extract(epoch FROM p.last_drill_pass_at),
    p.last_drill_contracts))
$$;

-- The same of a path that is known by the identities of its ends, with its rows locked, so that what
-- is changed at the same time comes before or after and not between. Chains before paths.
CREATE OR REPLACE FUNCTION locked_path_version(asked jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  ends text[] := ARRAY[lower(asked ->> 'source'), lower(asked ->> 'destination')];
BEGIN
  PERFORM FROM bridge_chains WHERE lower(endpoint_identity) = ANY (ends) ORDER BY chain FOR SHARE;
  PERFORM FROM bridge_paths p
    WHERE p.src_chain = bridge_chain_of(ends[1]) AND p.dst_chain = bridge_chain_of(ends[2])
      AND p.asset = asked ->> 'asset' FOR SHARE;
  RETURN (SELECT bridge_path_version(s, d, p) FROM (SELECT 1) one
    LEFT JOIN bridge_chains s ON lower(s.endpoint_identity) = ends[1]
    LEFT JOIN bridge_chains d ON lower(d.endpoint_identity) = ends[2]
    LEFT JOIN bridge_paths p ON p.src_chain = s.chain AND p.dst_chain = d.chain
      AND p.asset = asked ->> 'asset');
END $$;

-- Of a send over the bridge: that its path is not as it was looked at, or null. It is
-- {"source", "destination", "asset", "version"}.
CREATE OR REPLACE FUNCTION bridge_path_problem(asked jsonb) RETURNS jsonb LANGUAGE sql AS $$
  SELECT CASE WHEN locked_path_version(asked) IS DISTINCT FROM asked ->> 'version'
    THEN jsonb_build_object('binding', 'bridge_path', 'key', asked ->> 'asset',
      'reason', 'changed', 'stop', 'bridge_path') END
$$;

-- Writes the audit row of a change, with what became of its subject, and answers that.
CREATE OR REPLACE FUNCTION bridge_change(audit jsonb, written jsonb, extra jsonb, at timestamptz)
  RETURNS jsonb LANGUAGE sql AS $$
  SELECT write_audit(with_details(audit, extra || jsonb_build_object('row', written)), at);
  SELECT jsonb_build_object('outcome', 'done', 'row', written, 'at', at)
$$;

-- The chain that has an identity.
CREATE OR REPLACE FUNCTION bridge_chain_of(identity text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT chain FROM bridge_chains WHERE lower(endpoint_identity) = lower(identity)
$$;

CREATE OR REPLACE FUNCTION create_bridge_chain(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  c bridge_chains;
  holder text;
  at timestamptz := svc_now();
BEGIN
  LOOP
    -- Nobody has asked its endpoint yet, so its snapshot is stale.
    INSERT INTO bridge_chains (chain, endpoint_identity, finality_age_seconds, snapshot_stale,
      stale_detected_at, operator_label, created_at, updated_at)
    VALUES (doc ->> 'chain', doc ->> 'endpoint_identity', (doc ->> 'finality_age_seconds')::integer,
      true, at, doc ->> 'operator_label', at, at)
    ON CONFLICT DO NOTHING RETURNING * INTO c;
    IF FOUND THEN
      RETURN bridge_change(doc -> 'audit', to_jsonb(c), '{}'::jsonb, at);
    END IF;
    IF EXISTS (SELECT FROM bridge_chains WHERE chain = doc ->> 'chain') THEN
      RETURN jsonb_build_object('outcome', 'chain_exists');
    END IF;
    holder := bridge_chain_of(doc ->> 'endpoint_identity');
    IF holder IS NOT NULL THEN
      RETURN jsonb_build_object('outcome', 'endpoint_identity_conflict', 'chain', holder);
    END IF;
    -- What was in the way is gone since.
  END LOOP;
END $$;

-- Replaces what people write of a chain. Another identity is another endpoint: what the former told
-- says nothing about it, and no drill went through it. NULL for an unknown chain.
CREATE OR REPLACE FUNCTION replace_bridge_chain(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  c bridge_chains;
  at timestamptz;
  moved boolean;
  cleared jsonb;
BEGIN
  SELECT * INTO c FROM bridge_chains WHERE chain = doc ->> 'chain' FOR UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  at := svc_now();
  moved := lower(c.endpoint_identity) <> lower(doc ->> 'endpoint_identity');
  BEGIN
    UPDATE bridge_chains SET endpoint_identity = doc ->> 'endpoint_identity',
      finality_age_seconds = (doc ->> 'finality_age_seconds')::integer,
      operator_label = doc ->> 'operator_label', updated_at = at,
      facts = CASE WHEN NOT moved THEN facts END,
      snapshot_at = CASE WHEN NOT moved THEN snapshot_at END,
      snapshot_stale = snapshot_stale OR moved,
      stale_detected_at = CASE WHEN moved THEN at ELSE stale_detected_at END
    WHERE chain = c.chain RETURNING * INTO c;
  EXCEPTION WHEN unique_violation THEN
    RETURN jsonb_build_object('outcome', 'endpoint_identity_conflict',
      'chain', bridge_chain_of(doc ->> 'endpoint_identity'));
  END;
  IF moved THEN
    PERFORM FROM bridge_paths WHERE c.chain IN (src_chain, dst_chain)
      ORDER BY src_chain, dst_chain, asset FOR UPDATE;
    WITH gone AS (
      UPDATE bridge_paths SET last_drill_pass_at = NULL, last_drill_evidence_path = NULL,
        last_drill_contracts = NULL, updated_at = at
      WHERE c.chain IN (src_chain, dst_chain) AND last_drill_pass_at IS NOT NULL
      RETURNING src_chain, dst_chain, asset)
    SELECT coalesce(jsonb_agg(to_jsonb(gone) ORDER BY src_chain, dst_chain, asset), '[]'::jsonb)
    INTO cleared FROM gone;
  END IF;
  RETURN bridge_change(doc -> 'audit', to_jsonb(c),
    jsonb_build_object('cleared_drill_passes', coalesce(cleared, '[]'::jsonb)), at);
END $$;

-- NULL for an unknown chain.
CREATE OR REPLACE FUNCTION delete_bridge_chain(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  c bridge_chains;
  paths integer;
BEGIN
  SELECT * INTO c FROM bridge_chains WHERE chain = doc ->> 'chain' FOR UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  SELECT count(*) INTO paths FROM bridge_paths WHERE c.chain IN (src_chain, dst_chain);
  IF paths > 0 THEN
    RETURN jsonb_build_object('outcome', 'chain_in_use', 'path_baselines', paths);
  END IF;
  DELETE FROM bridge_chains WHERE chain = c.chain;
  RETURN bridge_change(doc -> 'audit', to_jsonb(c), '{}'::jsonb, svc_now());
END $$;

CREATE OR REPLACE FUNCTION create_bridge_path(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  p bridge_paths := jsonb_populate_record(NULL::bridge_paths, doc -> 'path');
  missing text;
  at timestamptz;
BEGIN
  PERFORM FROM bridge_chains WHERE chain IN (p.src_chain, p.dst_chain)
    ORDER BY chain FOR KEY SHARE;
  SELECT name INTO missing FROM unnest(ARRAY[p.src_chain, p.dst_chain])
    WITH ORDINALITY AS asked (name, place)
  WHERE NOT EXISTS (SELECT FROM bridge_chains WHERE chain = name) ORDER BY place LIMIT 1;
  IF FOUND THEN
    RETURN jsonb_build_object('outcome', 'chain_not_found', 'chain', missing);
  END IF;
  at := svc_now();
  p.created_at := at;
  p.updated_at := at;
  INSERT INTO bridge_paths SELECT p.* ON CONFLICT DO NOTHING RETURNING * INTO p;
  IF NOT FOUND THEN RETURN jsonb_build_object('outcome', 'path_baseline_exists'); END IF;
  RETURN bridge_change(doc -> 'audit', bridge_path_view(p), '{}'::jsonb, at);
END $$;

-- Replaces what people write of a path; its drill stays what it was. NULL for an unknown path.
CREATE OR REPLACE FUNCTION replace_bridge_path(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  n bridge_paths := jsonb_populate_record(NULL::bridge_paths, doc -> 'path');
  p bridge_paths;
  at timestamptz;
BEGIN
  PERFORM FROM bridge_paths WHERE (src_chain, dst_chain, asset)
    = (n.src_chain, n.dst_chain, n.asset) FOR UPDATE;
  at := svc_now();
  UPDATE bridge_paths SET expected_latency_seconds = n.expected_latency_seconds,
    detection_latency_budget_seconds = n.detection_latency_budget_seconds,
    fee_native_budget = n.fee_native_budget, enabled = n.enabled,
    disabled_reason = n.disabled_reason, baseline_source = n.baseline_source,
    operator_label = n.operator_label, updated_at = at
  WHERE (src_chain, dst_chain, asset) = (n.src_chain, n.dst_chain, n.asset) RETURNING * INTO p;
  IF NOT FOUND THEN RETURN NULL; END IF;
  RETURN bridge_change(doc -> 'audit', bridge_path_view(p), '{}'::jsonb, at);
END $$;

-- NULL for an unknown path.
CREATE OR REPLACE FUNCTION delete_bridge_path(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  k bridge_paths := jsonb_populate_record(NULL::bridge_paths, doc -> 'path');
  p bridge_paths;
BEGIN
  DELETE FROM bridge_paths WHERE (src_chain, dst_chain, asset)
    = (k.src_chain, k.dst_chain, k.asset) RETURNING * INTO p;
  IF NOT FOUND THEN RETURN NULL; END IF;
  RETURN bridge_change(doc -> 'audit', bridge_path_view(p), '{}'::jsonb, svc_now());
END $$;

-- A drill went through a path, by the contracts that `ends` has for the identities of its chains.
-- Its chains are held: a change of their identities comes before it,
-- or behind it and clears it. NULL for an unknown path.
CREATE OR REPLACE FUNCTION note_bridge_drill(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  k bridge_paths := jsonb_populate_record(NULL::bridge_paths, doc -> 'path');
  p bridge_paths;
  at timestamptz;
BEGIN
  PERFORM FROM bridge_chains WHERE chain IN (k.src_chain, k.dst_chain) ORDER BY chain FOR SHARE;
  at := svc_now();
  UPDATE bridge_paths SET last_drill_pass_at = at,
    last_drill_evidence_path = doc ->> 'evidence_path',
    last_drill_contracts =
      (SELECT doc -> 'ends' ->> lower(endpoint_identity) FROM bridge_chains WHERE chain = k.src_chain)
      || '; ' ||
      (SELECT doc -> 'ends' ->> lower(endpoint_identity) FROM bridge_chains WHERE chain = k.dst_chain),
    updated_at = at
  WHERE (src_chain, dst_chain, asset) = (k.src_chain, k.dst_chain, k.asset) RETURNING * INTO p;
  IF NOT FOUND THEN RETURN NULL; END IF;
  RETURN bridge_change(doc -> 'audit', bridge_path_view(p), '{}'::jsonb, at);
END $$;

-- Keeps what the endpoints told, `told`: [{"chain", "endpoint_identity", "facts"}], with null facts
-- of those that did not answer. All were asked after `asked_at`: a chain that has another identity
-- since, or was read later by somebody else, is left as it is.
CREATE OR REPLACE FUNCTION refresh_bridge_chains(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  told record;
  c bridge_chains;
  changed text[] := '{}';
  asked_at timestamptz := (doc ->> 'asked_at')::timestamptz;
  at timestamptz;
BEGIN
  PERFORM FROM bridge_chains ORDER BY chain FOR UPDATE;
  at := svc_now();
  FOR told IN SELECT * FROM jsonb_to_recordset(doc -> 'told')
    AS t (chain text, endpoint_identity text, facts jsonb) ORDER BY t.chain LOOP
    SELECT * INTO c FROM bridge_chains WHERE chain = told.chain
      AND endpoint_identity = told.endpoint_identity
      AND (snapshot_at IS NULL OR snapshot_at <= asked_at);
    CONTINUE WHEN NOT FOUND;
    IF told.facts IS NULL OR told.facts = 'null'::jsonb THEN
      UPDATE bridge_chains SET snapshot_stale = true, stale_detected_at = at, updated_at = at
      WHERE chain = c.chain AND NOT snapshot_stale;
    ELSE
      UPDATE bridge_chains SET facts = told.facts, snapshot_at = asked_at, snapshot_stale = false,
        stale_detected_at = NULL, updated_at = CASE WHEN c.snapshot_stale
          OR c.facts IS DISTINCT FROM told.facts THEN at ELSE updated_at END,
        snapshot_version = snapshot_version
          + (c.facts IS DISTINCT FROM told.facts)::integer
      WHERE chain = c.chain;
      IF c.facts IS DISTINCT FROM told.facts THEN changed := changed || c.chain; END IF;
    END IF;
  END LOOP;
  PERFORM write_audit(with_details(doc -> 'audit', jsonb_build_object('changed', changed,
    'stale', ARRAY(SELECT chain FROM bridge_chains WHERE snapshot_stale ORDER BY chain))), at);
  RETURN jsonb_build_object('at', at, 'changed', changed, 'chains',
    (SELECT coalesce(jsonb_agg(to_jsonb(b) ORDER BY b.chain), '[]'::jsonb) FROM bridge_chains b));
END $$;
