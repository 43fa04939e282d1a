-- The registry of a bridge: chains, and paths between them (docs/decisions/0073-bridges.md). Every
-- change is one call with its audit row. The audit row holds the written row, so a caller that lost
-- the connection can read the result there. Locks: chains before paths, each ordered by name.

-- Returns a path as JSON. Its amount is text, since JSON numbers are not exact everywhere.
CREATE OR REPLACE FUNCTION bridge_path_view(p bridge_paths) RETURNS jsonb LANGUAGE sql IMMUTABLE
  AS $$
  SELECT to_jsonb(p) || jsonb_build_object('fee_native_budget',
    trim_scale(p.fee_native_budget)::text)
$$;

-- Returns a digest of all facts that decide whether a path may be used.
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

-- Returns bridge_path_version of the path between two endpoint identities (`asked`), and locks its
-- rows, so that a concurrent change happens before or after. Locks chains before paths.
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

-- Returns a problem if the path of a send has changed since it was read; else null. `asked`: the
-- path as it was read, {"source", "destination", "asset", "version"}.
CREATE OR REPLACE FUNCTION bridge_path_problem(asked jsonb) RETURNS jsonb LANGUAGE sql AS $$
  SELECT CASE WHEN locked_path_version(asked) IS DISTINCT FROM asked ->> 'version'
    THEN jsonb_build_object('binding', 'bridge_path', 'key', asked ->> 'asset',
      'reason', 'changed', 'stop', 'bridge_path') END
$$;

-- Writes the audit row of a change with the written row, and returns the outcome.
CREATE OR REPLACE FUNCTION bridge_change(audit jsonb, written jsonb, extra jsonb, at timestamptz)
  RETURNS jsonb LANGUAGE sql AS $$
  SELECT write_audit(with_details(audit, extra || jsonb_build_object('row', written)), at);
  SELECT jsonb_build_object('outcome', 'done', 'row', written, 'at', at)
$$;

-- Returns the name of the chain with this endpoint identity.
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
    -- The endpoint of a new chain was not read yet, so the snapshot is stale.
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
    -- The conflicting row was deleted meanwhile: insert again.
  END LOOP;
END $$;

-- Replaces the fields of a chain that people set. A new identity is another endpoint, so the facts
-- and drills of the former endpoint are cleared. Returns NULL for an unknown chain.
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

-- Returns NULL for an unknown chain.
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
    WITH ORDINALITY AS ends (name, place)
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

-- Replaces the fields of a path that people set; its last drill stays. Returns NULL for an unknown
-- path.
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

-- Returns NULL for an unknown path.
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

-- Stores that a path has passed a drill, with the contracts that `ends` names for the identities of
-- its two chains. Locks the chains: a concurrent change of an identity happens before, or happens
-- later and clears the drill. Returns NULL for an unknown path.
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

-- Stores what the endpoints reported, `told`: [{"chain", "endpoint_identity", "facts"}], with null
-- facts for an endpoint that did not answer. All calls started after `asked_at`: a chain does not
-- change if it has another identity or a later snapshot since then.
CREATE OR REPLACE FUNCTION refresh_bridge_chains(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  reported record;
  c bridge_chains;
  changed text[] := '{}';
  started_at timestamptz := (doc ->> 'asked_at')::timestamptz;
  at timestamptz;
BEGIN
  PERFORM FROM bridge_chains ORDER BY chain FOR UPDATE;
  at := svc_now();
  FOR reported IN SELECT * FROM jsonb_to_recordset(doc -> 'told')
    AS t (chain text, endpoint_identity text, facts jsonb) ORDER BY t.chain LOOP
    SELECT * INTO c FROM bridge_chains WHERE chain = reported.chain
      AND endpoint_identity = reported.endpoint_identity
      AND (snapshot_at IS NULL OR snapshot_at <= started_at);
    CONTINUE WHEN NOT FOUND;
    IF reported.facts IS NULL OR reported.facts = 'null'::jsonb THEN
      UPDATE bridge_chains SET snapshot_stale = true, stale_detected_at = at, updated_at = at
      WHERE chain = c.chain AND NOT snapshot_stale;
    ELSE
      UPDATE bridge_chains SET facts = reported.facts, snapshot_at = started_at,
        snapshot_stale = false, stale_detected_at = NULL, updated_at = CASE WHEN c.snapshot_stale
          OR c.facts IS DISTINCT FROM reported.facts THEN at ELSE updated_at END,
        snapshot_version = snapshot_version
          + (c.facts IS DISTINCT FROM reported.facts)::integer
      WHERE chain = c.chain;
      IF c.facts IS DISTINCT FROM reported.facts THEN changed := changed || c.chain; END IF;
    END IF;
  END LOOP;
  PERFORM write_audit(with_details(doc -> 'audit', jsonb_build_object('changed', changed,
    'stale', ARRAY(SELECT chain FROM bridge_chains WHERE snapshot_stale ORDER BY chain))), at);
  RETURN jsonb_build_object('at', at, 'changed', changed, 'chains',
    (SELECT coalesce(jsonb_agg(to_jsonb(b) ORDER BY b.chain), '[]'::jsonb) FROM bridge_chains b));
END $$;
