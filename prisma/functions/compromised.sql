-- Returns whether something was decided with a compromised key: `used_key`, or the passkey
-- `credential`. See compromised_keys.
CREATE OR REPLACE FUNCTION made_with(c compromised_keys, used_key text, credential text,
  made_at timestamptz) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(c.recorded_as = CASE c.kind WHEN 'passkey' THEN credential ELSE used_key END,
      false)
    AND made_at >= c.since AND (c.until IS NULL OR made_at <= c.until)
$$;

-- Returns whether the key or passkey of a decision was compromised when it was made. Cheap while no
-- key is.
CREATE OR REPLACE FUNCTION is_compromised(used_key text, credential text, made_at timestamptz)
  RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM compromised_keys c WHERE made_with(c, used_key, credential, made_at))
$$;

-- Returns whether a compromised key let a movement go: it approved alone or last, or as one of those
-- that a rule needs, or created what a policy or a cap then approved. A decision that no longer
-- counted when the movement was approved does not matter. Nor does one of a person who has approved
-- again since, with another key.
CREATE OR REPLACE FUNCTION approved_by_compromised(m movements) RETURNS boolean
  LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM movement_approvals a JOIN compromised_keys c
        ON made_with(c, a.name, NULL, a.at)
      WHERE a.movement_id = m.movement_id AND a.approved_by = 'key')
    OR EXISTS (SELECT FROM movement_approvals a JOIN movement_plans p USING (movement_id)
      JOIN compromised_keys c ON made_with(c, p.created_by ->> 'key_id', NULL, m.created_at)
      WHERE a.movement_id = m.movement_id AND a.approved_by IN ('policy', 'template_cap'))
    OR EXISTS (SELECT FROM approval_decisions d JOIN movement_plans p
        ON p.movement_id = d.subject_id AND p.compiled_plan_hash = d.hash
      JOIN movement_approvals a ON a.movement_id = d.subject_id
      JOIN compromised_keys c
        ON made_with(c, d.key_id, d.evidence ->> 'credential_id', d.at) AND c.at >= a.at
      WHERE d.subject_id = m.movement_id AND d.decision = 'approve'
        AND NOT EXISTS (SELECT FROM approval_decisions l WHERE l.subject_id = d.subject_id
          AND l.person = d.person AND l.hash = d.hash
          AND (l.at > d.at OR l.at = d.at AND l.decision = 'withdraw')))
$$;

-- Returns how many ids there are, and the first hundred of them.
CREATE OR REPLACE FUNCTION first_hundred(ids uuid[]) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_build_object('count', cardinality(ids), 'ids', to_jsonb(ids[1:100]))
$$;

-- Records, as the owner, that a key is in the wrong hands since a time, and ends the sessions that
-- it opened. The key itself has been ended before. `doc`: {"kind", "key_id", "since"?, "reason"?,
-- "audit"}, as compromised_keys has them; without `since`, since the key was made. A repeat changes
-- nothing, an earlier `since` widens it. Returns what the key has decided since then, and which
-- change requests of its holder are open; NULL for an unknown key.
CREATE OR REPLACE FUNCTION mark_compromised(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  of_file text := CASE doc ->> 'kind' WHEN 'dashboard_key'
    THEN substring(doc ->> 'key_id' FROM '^file:(.+)$') END;
  known compromised_keys;
  c compromised_keys;
  present timestamptz;
  -- A request that was authenticated before the key ended may be stored this much later
  -- (refuse_outlived in audit.sql).
  in_flight interval := interval '1 minute';
  sessions integer;
BEGIN
  -- What is being decided now is decided before it, and is found below.
  PERFORM pg_advisory_xact_lock(hashtextextended('approval_rules', 0));
  present := svc_now();
  SELECT x.* INTO c.recorded_as, c.since, c.until FROM (
    SELECT k.key_id, k.created_at, NULL::timestamptz FROM api_client_keys k
    WHERE doc ->> 'kind' = 'api_key' AND k.key_id = doc ->> 'key_id'
    UNION ALL
    SELECT k.credential_id, k.enrolled_at, NULL FROM passkeys k
    WHERE doc ->> 'kind' = 'passkey' AND k.credential_id = doc ->> 'key_id'
    UNION ALL
    SELECT 'dashboard:' || k.operator, k.created_at, coalesce((
      SELECT min(n.confirmed_at) FROM dashboard_keys n
      WHERE n.operator = k.operator AND n.confirmed_at > k.created_at AND n.key_id <> k.key_id),
      present) + in_flight FROM dashboard_keys k
    WHERE doc ->> 'kind' = 'dashboard_key' AND k.key_id::text = doc ->> 'key_id'
    UNION ALL
    -- A key of the keys file counts until the database has a key in its place.
    SELECT 'dashboard:' || of_file, 'epoch'::timestamptz, coalesce((
      SELECT min(CASE WHEN k.replaces THEN k.created_at ELSE k.filled_at END) FROM dashboard_keys k
      WHERE k.operator = of_file AND (k.replaces OR k.filled_at IS NOT NULL)), present) + in_flight
    WHERE of_file IS NOT NULL) x;
  IF NOT FOUND THEN RETURN NULL; END IF;
  c.kind := doc ->> 'kind';
  c.key_id := doc ->> 'key_id';
  c.since := greatest(c.since, (doc ->> 'since')::timestamptz);
  c.reason := doc ->> 'reason';
  c.at := present;
  SELECT * INTO known FROM compromised_keys k WHERE (k.kind, k.key_id) = (c.kind, c.key_id);
  c.since := least(c.since, known.since);
  -- Only a key of the keys file may have signed since the first mark.
  c.until := CASE WHEN of_file IS NULL THEN coalesce(known.until, c.until)
    ELSE greatest(c.until, known.until) END;
  IF (c.since, c.until) IS DISTINCT FROM (known.since, known.until) THEN
    INSERT INTO compromised_keys SELECT c.*
    ON CONFLICT (kind, key_id) DO UPDATE SET since = excluded.since, until = excluded.until,
      reason = coalesce(excluded.reason, compromised_keys.reason), at = excluded.at;
    PERFORM write_audit(
      with_details(doc -> 'audit', jsonb_build_object('since', c.since)), present);
  END IF;
  UPDATE dashboard_sessions s SET ended_at = present
  WHERE s.ended_at IS NULL AND 'dashboard:' || s.operator = c.recorded_as
    AND (s.key_mark = c.key_id OR of_file IS NOT NULL AND s.key_mark LIKE 'file:%');
  GET DIAGNOSTICS sessions = ROW_COUNT;
  RETURN jsonb_build_object('since', c.since, 'sessions', sessions,
    -- Everything that the key did by the API: also what is no decision, such as an activated policy.
    'actions', (SELECT coalesce(jsonb_object_agg(e.action, e.n), '{}') FROM (
      SELECT action, count(*) AS n FROM audit_events
      WHERE actor_key_id = c.recorded_as AND outcome = 'success' AND occurred_at >= c.since
        AND (c.until IS NULL OR occurred_at <= c.until)
      GROUP BY action) e),
    'waiting', (SELECT count(*) FROM approval_decisions d
      WHERE d.decision = 'approve'
        AND made_with(c, d.key_id, d.evidence ->> 'credential_id', d.at)
        AND (EXISTS (SELECT FROM movements m
            WHERE m.movement_id = d.subject_id AND m.request_state = 'PENDING_APPROVAL')
          OR EXISTS (SELECT FROM change_requests r
            WHERE r.request_id = d.subject_id AND change_is_open(r, present)))),
    'movements', first_hundred(ARRAY(SELECT m.movement_id FROM movements m
      WHERE m.ended_at IS NULL AND m.request_state <> 'PENDING_APPROVAL'
        AND (EXISTS (SELECT FROM movement_approvals a WHERE a.movement_id = m.movement_id
            AND a.approved_by = 'key' AND made_with(c, a.name, NULL, a.at))
          OR EXISTS (SELECT FROM movement_plans p WHERE p.movement_id = m.movement_id
            AND made_with(c, p.created_by ->> 'key_id', NULL, m.created_at))
          OR EXISTS (SELECT FROM approval_decisions d
            WHERE d.subject_id = m.movement_id AND d.decision = 'approve'
              AND made_with(c, d.key_id, d.evidence ->> 'credential_id', d.at)))
        AND approved_by_compromised(m)
      ORDER BY m.created_at, m.movement_id)),
    'changes', first_hundred(ARRAY(SELECT r.request_id FROM change_requests r
      WHERE r.state = 'applied' AND EXISTS (SELECT FROM approval_decisions d
        WHERE d.subject_id = r.request_id AND d.decision = 'approve'
          AND made_with(c, d.key_id, d.evidence ->> 'credential_id', d.at))
      ORDER BY r.created_at, r.request_id)),
    'requests', to_jsonb(ARRAY(SELECT r.request_id FROM change_requests r
      WHERE change_is_open(r, present) AND made_with(c, r.author ->> 'key_id', NULL, r.created_at)
      ORDER BY r.created_at, r.request_id)));
END $$;
