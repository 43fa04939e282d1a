-- Returns the person to whom an authenticated identity belongs; NULL if it belongs to none.
CREATE OR REPLACE FUNCTION person_of(who text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT person FROM person_identities WHERE identity = who
$$;

-- Returns whether an identity belongs to a person, or did: what it did stays that person's. So does
-- what the person did with fundadmin --as. Never NULL, also where one of them is.
CREATE OR REPLACE FUNCTION is_or_was(who text, id text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT coalesce(id = 'fundadmin:' || who, false)
    OR EXISTS (SELECT FROM person_identities i WHERE i.identity = id AND i.person = who)
    OR EXISTS (SELECT FROM former_identities f WHERE f.identity = id AND f.person = who)
$$;

-- Keeps people, groups and rules from changing until the end of the transaction. change_approvers
-- takes the same lock exclusively.
CREATE OR REPLACE FUNCTION hold_approval_rules() RETURNS void LANGUAGE sql AS $$
  SELECT pg_advisory_xact_lock_shared(hashtextextended('approval_rules', 0))
$$;

-- Lets approvals wait for each other while rules have limits over a time: of two that are approved
-- at once, the later must see the earlier one.
CREATE OR REPLACE FUNCTION hold_approval_windows() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM approval_rules r
    WHERE jsonb_path_exists(r.rule, '$.when.outflow_above[*].within_seconds')) THEN
    PERFORM pg_advisory_xact_lock(hashtextextended('approval_windows', 0));
  END IF;
END $$;

-- Returns whether a movement has sent nothing and never will. One that FAILED may be retried.
CREATE OR REPLACE FUNCTION moved_nothing(m movements) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT m.request_state IN ('REJECTED', 'EXPIRED')
    OR m.request_state = 'CANCELLED' AND NOT EXISTS (
      SELECT FROM movement_nodes n WHERE n.movement_id = m.movement_id
        AND (n.state NOT IN ('CANCELLED', 'SKIPPED') OR may_have_sent(n)))
$$;

-- Returns the most that a movement may move of each asset: of its intent, or of its outflow if that
-- is more. `amount` is NULL without a bound.
CREATE OR REPLACE FUNCTION may_move(m movements)
  RETURNS TABLE (asset text, amount numeric) LANGUAGE sql IMMUTABLE AS $$
  SELECT x.asset, CASE WHEN bool_and(x.amount IS NOT NULL) THEN max(x.amount) END FROM (
    SELECT e.value ->> 'asset' AS asset, (e.value ->> 'amount')::numeric AS amount
    FROM jsonb_array_elements(m.outflow) e
    UNION ALL SELECT m.asset, m.amount) x
  GROUP BY x.asset
$$;

-- Returns whether a movement moves more than a limit of a rule: {"asset" ("*": any), "amount",
-- "within_seconds"?}. With `within_seconds`, everything counts together that was created or approved
-- in that time and was created by the same person, or pays the same payee. An amount without a bound
-- is above every limit. An approval comes at most a week after the create.
CREATE OR REPLACE FUNCTION moves_more(wanted jsonb, m movements, at timestamptz) RETURNS boolean
  LANGUAGE sql STABLE AS $$
  WITH own AS MATERIALIZED (
    SELECT p.payees, p.created_by ->> 'client_id' AS client,
      ARRAY(SELECT q.person FROM people q WHERE is_or_was(q.person, p.created_by ->> 'client_id'))
        AS people,
      at - make_interval(secs => (wanted ->> 'within_seconds')::integer) AS since
    FROM movement_plans p WHERE p.movement_id = m.movement_id
  ), moved AS (
    SELECT e.asset, e.amount FROM may_move(m) e
    UNION ALL
    SELECT e.asset, e.amount FROM own, movements o JOIN movement_plans p USING (movement_id)
    CROSS JOIN LATERAL may_move(o) e
    WHERE wanted ? 'within_seconds' AND o.movement_id <> m.movement_id
      AND o.created_at > own.since - interval '8 days'
      AND (o.created_at > own.since OR o.approved_at > own.since)
      -- Of a time that is over (try_rule) what came later does not count; of now, all does.
      AND (o.created_at <= at OR at > svc_now() - interval '1 minute')
      AND (wanted ->> 'asset' IN ('*', o.asset)
        OR o.outflow @> jsonb_build_array(jsonb_build_object('asset', wanted ->> 'asset')))
      AND (p.created_by ->> 'client_id' = own.client
        OR EXISTS (SELECT FROM unnest(own.people) q
          WHERE is_or_was(q, p.created_by ->> 'client_id'))
        OR EXISTS (SELECT FROM jsonb_array_elements(p.payees) a
          JOIN jsonb_array_elements(own.payees) b ON a.value ->> 'address' = b.value ->> 'address'
            AND a.value ->> 'chain_family' = b.value ->> 'chain_family'))
      AND NOT moved_nothing(o)
  )
  SELECT EXISTS (
    SELECT FROM moved WHERE wanted ->> 'asset' IN ('*', moved.asset) GROUP BY moved.asset
    HAVING bool_or(moved.amount IS NULL) OR sum(moved.amount) > (wanted ->> 'amount')::numeric)
$$;

-- Returns whether a movement pays an address that the allowlist has had for less than `seconds`, or
-- has not at all. A change of the row makes it new again.
CREATE OR REPLACE FUNCTION pays_new_payee(m movements, seconds integer, at timestamptz)
  RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT p.payees IS NULL OR EXISTS (
    SELECT FROM jsonb_array_elements(p.payees) e WHERE NOT EXISTS (
      SELECT FROM allowed_addresses a
      WHERE a.chain_family = e.value ->> 'chain_family' AND a.address = e.value ->> 'address'
        AND (a.chain_id = (e.value ->> 'chain_id')::bigint
          OR a.chain_id IS NULL AND NOT coalesce((e.value ->> 'strict')::boolean, false))
        AND a.active AND a.updated_at <= at - make_interval(secs => seconds)))
  FROM movement_plans p WHERE p.movement_id = m.movement_id
$$;

-- Returns whether a rule applies to a movement: all conditions that it names hold. See
-- domain/approval/rule.ts.
CREATE OR REPLACE FUNCTION rule_matches(rule jsonb, m movements, at timestamptz) RETURNS boolean
  LANGUAGE sql STABLE AS $$
  SELECT (NOT w ? 'template_keys' OR w -> 'template_keys' ? m.template_key)
    AND (NOT w ? 'strategy_ids' OR coalesce(w -> 'strategy_ids' ? m.strategy_id, false))
    AND (NOT w ? 'origins' OR w -> 'origins' ? (SELECT CASE
        WHEN p.created_by ->> 'role' = 'agent' THEN 'agent'
        WHEN p.created_by ->> 'client_id' LIKE 'dashboard:%' THEN 'dashboard'
        WHEN p.created_by ->> 'client_id' IS NULL THEN 'service' ELSE 'api' END
      FROM movement_plans p WHERE p.movement_id = m.movement_id))
    AND (NOT w ? 'assets' OR w -> 'assets' ? m.asset OR EXISTS (
      SELECT FROM jsonb_array_elements(m.outflow) e WHERE w -> 'assets' ? (e.value ->> 'asset')))
    AND (NOT w ? 'outflow_above' OR EXISTS (
      SELECT FROM jsonb_array_elements(w -> 'outflow_above') e WHERE moves_more(e.value, m, at)))
    AND (NOT w ? 'new_payee_within_seconds'
      OR pays_new_payee(m, (w ->> 'new_payee_within_seconds')::integer, at))
  FROM (SELECT rule -> 'when' AS w) r
$$;

-- Returns every rule that holds for a movement: those that matched when it was created, and those
-- that match now. A rule that was changed holds in both forms.
CREATE OR REPLACE FUNCTION rules_of(m movements, at timestamptz)
  RETURNS TABLE (name text, rule jsonb) LANGUAGE sql STABLE AS $$
  SELECT s.name, s.rule FROM movement_approval_rules s WHERE s.movement_id = m.movement_id
  UNION
  SELECT r.name, r.rule FROM approval_rules r
  WHERE r.rule ->> 'applies_to' = 'movement' AND rule_matches(r.rule, m, at)
$$;

-- Returns why a person's approval does not count under a rule: `initiator`, `payee_author` or
-- `template_author`; NULL if it counts. What people did stands in the audit, by what they did it to.
-- The service itself writes the templates under system/.
CREATE OR REPLACE FUNCTION approver_excluded(rule jsonb, m movements, who text) RETURNS text
  LANGUAGE sql STABLE AS $$
  WITH own AS MATERIALIZED (
    SELECT p.payees, p.created_by ->> 'client_id' AS client FROM movement_plans p
    WHERE p.movement_id = m.movement_id
  )
  SELECT CASE
    WHEN NOT (rule -> 'initiator_may_approve')::boolean AND (
      EXISTS (SELECT FROM own WHERE is_or_was(who, own.client))
      OR EXISTS (SELECT FROM template_proposals t JOIN audit_events e
          ON e.entity_type = 'template_proposal' AND e.entity_key = t.proposal_id::text
        WHERE t.template_id = m.template_id AND e.action = 'template_proposal.promote'
          AND e.outcome = 'success' AND is_or_was(who, e.actor_client_id)))
      THEN 'initiator'
    WHEN NOT (rule -> 'payee_author_may_approve')::boolean AND EXISTS (
      SELECT FROM own JOIN audit_events e ON e.entity_type = 'allowed_address'
          AND (own.payees IS NULL OR e.entity_key IN (
            SELECT a.id::text FROM jsonb_array_elements(own.payees) x JOIN allowed_addresses a
              ON a.chain_family = x.value ->> 'chain_family' AND a.address = x.value ->> 'address'))
        WHERE e.action IN ('allowed_address.create', 'allowed_address.reactivate',
            'allowed_address.set_chain')
          AND e.outcome = 'success' AND is_or_was(who, e.actor_client_id))
      THEN 'payee_author'
    WHEN NOT (rule -> 'template_author_may_approve')::boolean
      AND m.template_key NOT LIKE 'system/%' AND (
      EXISTS (SELECT FROM plan_template_versions v WHERE v.template_id = m.template_id
        AND is_or_was(who, v.created_by))
      OR EXISTS (SELECT FROM audit_events e WHERE e.entity_type = 'plan_template'
        AND e.entity_key IN (m.template_key, m.template_id::text)
        AND e.action IN ('plan_template.create', 'plan_template.update_admin_fields')
        AND e.outcome = 'success' AND is_or_was(who, e.actor_client_id)))
      THEN 'template_author' END
$$;

-- Returns whether enough persons approved: each group needs as many of them as its threshold, and a
-- person counts for one group. By Hall's theorem that is possible if, for each set of groups, at
-- least as many persons are in one of them as these groups need together. Compare `isMet` in
-- domain/approval/quorum.ts.
CREATE OR REPLACE FUNCTION quorum_met(wanted jsonb, approved jsonb) RETURNS boolean
  LANGUAGE sql IMMUTABLE AS $$
  SELECT NOT EXISTS (
    SELECT FROM generate_series(1, (1 << jsonb_array_length(wanted)) - 1) AS chosen
    CROSS JOIN LATERAL (
      SELECT sum((g.value ->> 'threshold')::integer) AS needed,
        array_agg(g.value ->> 'group') AS names
      FROM jsonb_array_elements(wanted) WITH ORDINALITY AS g (value, nr)
      WHERE chosen & (1 << (g.nr::integer - 1)) <> 0) s
    WHERE s.needed > (SELECT count(*) FROM jsonb_array_elements(approved) p
      WHERE p.value -> 'groups' ?| s.names))
$$;

-- Returns why a person's approval of a movement or a change request does not count under a rule;
-- see approver_excluded. Who wants a change is its initiator; for an action on movements, authors of
-- these do not count either.
CREATE OR REPLACE FUNCTION excluded_of(rule jsonb, about uuid, who text) RETURNS text
  LANGUAGE sql STABLE AS $$
  SELECT approver_excluded(rule, m, who) FROM movements m WHERE m.movement_id = about
  UNION ALL
  SELECT CASE WHEN NOT (rule -> 'initiator_may_approve')::boolean
      AND (coalesce(c.person = who, false) OR is_or_was(who, c.author ->> 'client_id'))
      THEN 'initiator'
    WHEN 'movement_action' = ANY (c.kinds) THEN (
      SELECT min(approver_excluded(rule, m, who)) FROM movements m WHERE m.movement_id IN (
        SELECT (a.value ->> 'movement_id')::uuid
        FROM jsonb_array_elements(c.row_before -> 'movements') a)) END
  FROM change_requests c WHERE c.request_id = about
$$;

-- Returns whether a rule counts only approvals that were signed with a passkey.
CREATE OR REPLACE FUNCTION asks_passkey(rule jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(rule ->> 'evidence' = 'passkey', false)
$$;

-- Returns what rules ask, and who approved: [{name, rule, people: [{person, name, groups, excluded,
-- decided_at, reason, evidence, decision_id, counts}], met, possible}]; NULL without rules.
-- `rules`: [{"name", "rule"}]; `about`: the movement or change request; `wanted`: the hash that counts. `people` are the
-- members of the rule's groups who have an identity, and whoever approved and is none (excluded
-- `not_in_group`); `possible`: all who may approve would be enough. What was sent by an identity
-- that the person has no more, or with a key that is revoked or compromised, or before the last
-- restore, does not count, nor does what the person has withdrawn; under a rule with the evidence
-- `passkey` nor does an approval without an assertion of a passkey that is in force.
CREATE OR REPLACE FUNCTION standing_of(rules jsonb, about uuid, wanted text, at timestamptz)
  RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_agg(jsonb_build_object('name', r.name, 'rule', r.rule, 'people', p.people, 'met',
      quorum_met(r.rule -> 'require',
        jsonb_path_query_array(p.people, '$[*] ? (@.counts == true)')),
      'possible', quorum_met(r.rule -> 'require',
        jsonb_path_query_array(p.people, '$[*] ? (@.excluded == null)')))
    ORDER BY r.name, r.rule)
  FROM jsonb_to_recordset(rules) AS r (name text, rule jsonb)
  CROSS JOIN LATERAL (
    SELECT coalesce(jsonb_agg(jsonb_build_object('person', x.person, 'name', x.name,
        'groups', x.groups, 'excluded', x.excluded, 'decided_at', d.at, 'reason', d.reason,
        'evidence', CASE WHEN d.at IS NOT NULL THEN
          CASE WHEN d.evidence IS NULL THEN 'shared_secret' ELSE 'passkey' END END,
        'decision_id', d.decision_id, 'counts', d.at IS NOT NULL AND x.excluded IS NULL
          AND (NOT (r.rule -> 'reason_required')::boolean OR d.reason IS NOT NULL)
          AND (NOT r.rule ? 'expires_after_seconds'
            OR d.at > standing_of.at
              - make_interval(secs => (r.rule ->> 'expires_after_seconds')::integer)))
      ORDER BY x.person), '[]') AS people
    FROM (
      SELECT g.person, q.name, jsonb_agg(g.group_name ORDER BY g.group_name) AS groups,
        coalesce(excluded_of(r.rule, about, g.person), CASE WHEN asks_passkey(r.rule)
          AND NOT EXISTS (SELECT FROM passkeys k WHERE k.person = g.person
            AND k.revoked_at IS NULL) THEN 'no_passkey' END) AS excluded
      FROM approver_group_members g JOIN people q USING (person)
      WHERE g.group_name IN (SELECT e.value ->> 'group'
        FROM jsonb_array_elements(r.rule -> 'require') e)
        AND EXISTS (SELECT FROM person_identities i WHERE i.person = g.person)
      GROUP BY g.person, q.name
      UNION ALL
      SELECT DISTINCT a.person, q.name, '[]'::jsonb, 'not_in_group'
      FROM approval_decisions a JOIN people q USING (person)
      WHERE a.subject_id = about AND NOT EXISTS (
        SELECT FROM approver_group_members g JOIN person_identities i USING (person)
        WHERE g.person = a.person AND g.group_name IN (SELECT e.value ->> 'group'
          FROM jsonb_array_elements(r.rule -> 'require') e))) x
    -- Decisions about something else do not count. The latest one says when and why.
    LEFT JOIN LATERAL (
      SELECT a.decision_id, a.at, a.reason, a.evidence FROM approval_decisions a
      WHERE a.subject_id = about AND a.person = x.person AND a.hash = wanted
        AND a.decision = 'approve' AND NOT EXISTS (SELECT FROM approval_decisions w
          WHERE w.subject_id = about AND w.person = a.person AND w.hash = wanted
            AND w.decision = 'withdraw' AND w.at >= a.at
            AND NOT is_compromised(w.key_id, NULL, w.at))
        AND a.at > (SELECT max(since) FROM deployments) AND a.at <= standing_of.at
        AND (NOT asks_passkey(r.rule) OR EXISTS (SELECT FROM passkeys k
          WHERE k.credential_id = a.evidence ->> 'credential_id' AND k.person = a.person
            AND k.revoked_at IS NULL))
        AND EXISTS (SELECT FROM person_identities i
          WHERE i.identity = a.identity AND i.person = a.person)
        AND NOT EXISTS (SELECT FROM api_client_keys k
          WHERE k.key_id = a.key_id AND k.status = 'revoked')
        AND NOT is_compromised(a.key_id, a.evidence ->> 'credential_id', a.at)
      ORDER BY a.at DESC LIMIT 1) d ON true) p
$$;

-- Returns the standing of a movement's present plan; see standing_of. NULL if no rule holds for it.
CREATE OR REPLACE FUNCTION approvals_of(m movements, at timestamptz) RETURNS jsonb
  LANGUAGE sql STABLE AS $$
  SELECT standing_of((SELECT jsonb_agg(jsonb_build_object('name', r.name, 'rule', r.rule))
      FROM rules_of(m, at) r), m.movement_id,
    (SELECT p.compiled_plan_hash FROM movement_plans p WHERE p.movement_id = m.movement_id), at)
$$;

-- Returns whether no rule keeps a movement from being approved.
CREATE OR REPLACE FUNCTION quorum_of(approvals jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT approvals IS NULL OR NOT jsonb_path_exists(approvals, '$[*] ? (@.met == false)')
$$;

-- Returns whether a rule may hold for a movement. Cheap while there are no rules.
CREATE OR REPLACE FUNCTION may_need_quorum(movement uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM approval_rules)
    OR EXISTS (SELECT FROM movement_approval_rules s WHERE s.movement_id = movement)
$$;

-- Stores the rules that a new movement matches.
CREATE OR REPLACE FUNCTION keep_rules_of(movement uuid, at timestamptz) RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM approval_rules) THEN RETURN; END IF;
  INSERT INTO movement_approval_rules (movement_id, name, rule)
    SELECT m.movement_id, r.name, r.rule FROM movements m, approval_rules r
    WHERE m.movement_id = movement AND r.rule ->> 'applies_to' = 'movement'
      AND rule_matches(r.rule, m, at);
END $$;

-- Refuses every approval, whoever writes it, that has fewer approvers than a rule asks (FM021). Has
-- the owner's rights, since it must read what the service may not change.
CREATE OR REPLACE FUNCTION require_quorum() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  m movements;
  counted jsonb;
BEGIN
  -- Any role may put this trigger on a temporary table of its own.
  IF TG_TABLE_SCHEMA <> current_schema() OR TG_TABLE_NAME <> 'movement_approvals' THEN
    RAISE EXCEPTION 'only an approval of this schema is counted'
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  PERFORM hold_approval_rules();
  IF NOT may_need_quorum(NEW.movement_id) THEN RETURN NEW; END IF;
  PERFORM hold_approval_windows();
  SELECT * INTO m FROM movements WHERE movement_id = NEW.movement_id;
  counted := approvals_of(m, svc_now());
  IF NOT quorum_of(counted) THEN
    RAISE EXCEPTION 'approvals_missing' USING ERRCODE = 'FM021', DETAIL = m.movement_id::text;
  END IF;
  -- The fence looks at it again: see needs_proof.
  IF jsonb_path_exists(counted, '$[*].rule ? (@.evidence == "passkey")') THEN
    INSERT INTO movement_approval_standings (movement_id, standing, at)
    VALUES (m.movement_id, counted, svc_now());
  END IF;
  RETURN NEW;
END $$;

REVOKE ALL ON FUNCTION require_quorum() FROM PUBLIC;

CREATE OR REPLACE TRIGGER movement_approvals_need_quorum BEFORE INSERT ON movement_approvals
  FOR EACH ROW EXECUTE FUNCTION require_quorum();

-- Returns why a person's approval is refused under all rules of a standing: {"ok": false, "reason":
-- "approver_excluded", "reason_required" or "passkey_required", "why"?}; NULL if it is not.
CREATE OR REPLACE FUNCTION refusal_of_approval(standing jsonb, who text, decision jsonb)
  RETURNS jsonb
  LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE
    WHEN NOT jsonb_path_exists(o.own, '$[*].people ? (@.excluded == null)') THEN
      jsonb_build_object('ok', false, 'reason', 'approver_excluded', 'why', CASE
        WHEN who IS NULL THEN 'no_person'
        ELSE coalesce(o.own -> 0 -> 'people' ->> 'excluded', 'not_in_group') END)
    WHEN decision ->> 'reason' IS NULL AND jsonb_path_exists(o.own,
        '$[*] ? (@.reason_required == true && @.people.excluded == null)') THEN
      '{"ok": false, "reason": "reason_required"}'::jsonb
    WHEN decision ->> 'evidence' IS NULL AND jsonb_path_exists(o.own,
        '$[*] ? (@.asks_passkey == true && @.people.excluded == null)') THEN
      '{"ok": false, "reason": "passkey_required"}'::jsonb END
  -- Under each rule: what it says of this person.
  FROM (SELECT coalesce(jsonb_agg(jsonb_build_object('people', p.value,
      'reason_required', r.value -> 'rule' -> 'reason_required',
      'asks_passkey', asks_passkey(r.value -> 'rule'))), '[]') AS own
    FROM jsonb_array_elements(standing) r, jsonb_array_elements(r.value -> 'people') p
    WHERE p.value ->> 'person' = who) o
$$;

-- Returns whether a person's approval counts under some rule, and does not yet. A repeat of what
-- counts is no further decision.
CREATE OR REPLACE FUNCTION approval_is_new(standing jsonb, who text) RETURNS boolean
  LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_path_exists(standing,
    '$[*].people[*] ? (@.person == $who && @.excluded == null && @.counts == false)',
    jsonb_build_object('who', who))
$$;

-- Stores a person's decision and the audit's row of it. `decision`: {"decision_id", "key_id",
-- "reason", "evidence", "audit"}. Returns why its passkey does not count, {"ok": false, "reason":
-- "assertion_refused", "why"}; else NULL. What the assertion says was verified before.
CREATE OR REPLACE FUNCTION record_decision(decision jsonb, about uuid, who text, identity text,
  wanted text, at timestamptz) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  shown jsonb := nullif(decision -> 'evidence', 'null');
  said_at timestamptz := split_part(shown ->> 'statement', E'\n', 9)::timestamptz;
  passkey passkeys;
  problem text;
BEGIN
  IF shown IS NOT NULL THEN
    -- One passkey's assertions wait for each other, so that each counter is seen.
    PERFORM pg_advisory_xact_lock(hashtextextended('passkey ' || (shown ->> 'credential_id'), 0));
    SELECT * INTO passkey FROM passkeys WHERE credential_id = shown ->> 'credential_id';
    problem := CASE
      WHEN passkey.person IS DISTINCT FROM who OR passkey.revoked_at IS NOT NULL
        THEN 'unknown_credential'
      -- By the time that is stored, with which it is verified again later. Line 9 is the time.
      WHEN at NOT BETWEEN said_at AND said_at + interval '5 minutes' THEN 'statement_expired'
      WHEN EXISTS (SELECT FROM approval_decisions d WHERE d.evidence ->> 'nonce' = shown ->> 'nonce')
        THEN 'replayed'
      WHEN (shown ->> 'counter')::bigint <= greatest(passkey.counter, (
          SELECT max((d.evidence ->> 'counter')::bigint) FROM approval_decisions d
          WHERE d.evidence ->> 'credential_id' = passkey.credential_id))
        -- Many passkeys do not count: then it is 0 each time.
        AND NOT ((shown ->> 'counter')::bigint = 0 AND passkey.counter = 0 AND NOT EXISTS (
          SELECT FROM approval_decisions d
          WHERE d.evidence ->> 'credential_id' = passkey.credential_id
            AND (d.evidence ->> 'counter')::bigint > 0))
        THEN 'counter_went_back' END;
    IF problem IS NOT NULL THEN
      RETURN jsonb_build_object('ok', false, 'reason', 'assertion_refused', 'why', problem);
    END IF;
  END IF;
  INSERT INTO approval_decisions (decision_id, subject_id, person, identity, key_id, hash, reason,
    at, evidence)
  VALUES ((decision ->> 'decision_id')::uuid, about, who, identity, decision ->> 'key_id', wanted,
    decision ->> 'reason', at, shown);
  PERFORM write_audit(decision -> 'audit', at);
  RETURN NULL;
END $$;

-- Returns whether a person has approved this and has not withdrawn it since.
CREATE OR REPLACE FUNCTION has_approved(about uuid, who text, wanted text) RETURNS boolean
  LANGUAGE sql STABLE AS $$
  SELECT coalesce((SELECT a.decision = 'approve' FROM approval_decisions a
    WHERE a.subject_id = about AND a.person = who AND a.hash = wanted
      AND NOT is_compromised(a.key_id, a.evidence ->> 'credential_id', a.at)
    ORDER BY a.at DESC, a.decision DESC LIMIT 1), false)
$$;

-- Stores that a person withdraws an approval, and the audit's row of it. `decision`:
-- {"decision_id", "key_id", "audit"}.
CREATE OR REPLACE FUNCTION record_withdrawal(decision jsonb, about uuid, who text, identity text,
  wanted text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  -- Not before the approval, whatever the clock says.
  made_at timestamptz := greatest(svc_now(), (SELECT max(a.at) FROM approval_decisions a
    WHERE a.subject_id = about AND a.person = who AND a.hash = wanted));
BEGIN
  INSERT INTO approval_decisions (decision_id, subject_id, person, identity, key_id, hash, decision,
    at)
  VALUES ((decision ->> 'decision_id')::uuid, about, who, identity, decision ->> 'key_id', wanted,
    'withdraw', made_at);
  PERFORM write_audit(decision -> 'audit', made_at);
END $$;

-- Returns a decision with what is needed to verify it again: see store/decisions.ts.
CREATE OR REPLACE FUNCTION signed_decision(d approval_decisions) RETURNS jsonb
  LANGUAGE sql STABLE AS $$
  SELECT to_jsonb(d) || jsonb_build_object(
    'kind', CASE WHEN EXISTS (SELECT FROM movements m WHERE m.movement_id = d.subject_id)
      THEN 'movement' WHEN EXISTS (SELECT FROM change_requests c
        WHERE c.request_id = d.subject_id) THEN 'change_request' END,
    'passkey', (SELECT to_jsonb(k) FROM passkeys k
      WHERE k.credential_id = d.evidence ->> 'credential_id'),
    'deployment', (SELECT p.deployment FROM deployments p WHERE p.since < d.at
      ORDER BY p.since DESC LIMIT 1),
    -- With fundadmin nothing is approved.
    'is_persons', is_or_was(d.person, d.identity) AND d.identity NOT LIKE 'fundadmin:%',
    'compromised', is_compromised(d.key_id, d.evidence ->> 'credential_id', d.at),
    'audited', (SELECT jsonb_build_object('rows', count(*),
        'hash', min(e.details ->> 'decision_sha256'),
        'same_time', bool_and(e.occurred_at::timestamptz(3) = d.at)) FROM audit_events e
      WHERE e.entity_type = 'approval_decision' AND e.entity_key = d.decision_id::text
        AND e.action = 'approval_decision.record' AND e.outcome = 'success'))
$$;

-- Records a person's approval of a movement under rules, and approves the movement once each rule
-- has enough. `doc`: {"identity", "decision", "approve", "record"}: the decision as record_decision
-- takes it, the last two as apply_transition takes them. Without rules: only `approve`. Returns
-- what apply_transition returns; while approvals are missing with `approvals` (see approvals_of) and
-- the `person`; for somebody who may not decide with {"ok": false, "reason": "approver_excluded", "why"}.
CREATE OR REPLACE FUNCTION decide_approval(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  id uuid := (doc -> 'approve' ->> 'movement_id')::uuid;
  who text;
  m movements;
  before jsonb;
  refusal jsonb;
  answer jsonb;
  after jsonb;
BEGIN
  PERFORM hold_approval_rules();
  IF NOT may_need_quorum(id) THEN RETURN apply_transition(doc -> 'approve'); END IF;
  SELECT * INTO m FROM movements WHERE movement_id = id FOR UPDATE;
  PERFORM hold_approval_windows();
  before := approvals_of(m, svc_now());
  IF before IS NULL OR m.request_state <> 'PENDING_APPROVAL'
    THEN RETURN apply_transition(doc -> 'approve'); END IF;
  who := person_of(doc ->> 'identity');
  refusal := refusal_of_approval(before, who, doc -> 'decision');
  IF refusal IS NOT NULL THEN RETURN refusal; END IF;
  BEGIN
    -- Where all is there, a repeat may still complete.
    IF approval_is_new(before, who) THEN
      refusal := record_decision(doc -> 'decision', id, who, doc ->> 'identity',
        doc -> 'approve' ->> 'plan_hash', svc_now());
      IF refusal IS NOT NULL THEN RETURN refusal; END IF;
      answer := NULL;
    ELSE
      answer := jsonb_build_object('ok', true, 'repeated', true);
    END IF;
    after := approvals_of(m, svc_now());
    IF quorum_of(after) THEN
      answer := apply_transition(doc -> 'approve');
    ELSE
      -- The same checks of plan, state and time as the approval's own.
      answer := apply_transition(CASE WHEN answer IS NULL THEN doc -> 'record'
        ELSE doc -> 'record' || '{"timeline": [], "audit": []}' END)
        || jsonb_build_object('approvals', after, 'person', who);
    END IF;
    IF NOT (answer ->> 'ok')::boolean THEN
      RAISE EXCEPTION 'not decided' USING ERRCODE = 'FM020';
    END IF;
  EXCEPTION WHEN SQLSTATE 'FM020' THEN
    -- What was refused leaves no decision.
    answer := answer - ARRAY['approvals', 'person'];
  END;
  RETURN answer;
END $$;

-- Withdraws a person's approval of a movement that waits. `doc`: {"identity", "decision",
-- "record"}: the decision as record_withdrawal takes it, the last as apply_transition takes it, with
-- the hash of the plan. Returns what apply_transition returns, with `approvals` (see approvals_of)
-- and the `person` where rules hold; {"ok": false, "reason": "no_approval"} without an approval.
CREATE OR REPLACE FUNCTION withdraw_approval(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  id uuid := (doc -> 'record' ->> 'movement_id')::uuid;
  wanted text := doc -> 'record' ->> 'plan_hash';
  who text;
  m movements;
  answer jsonb;
  after jsonb;
BEGIN
  PERFORM hold_approval_rules();
  SELECT * INTO m FROM movements WHERE movement_id = id FOR UPDATE;
  who := person_of(doc ->> 'identity');
  IF m.request_state = 'PENDING_APPROVAL' AND NOT has_approved(id, who, wanted) THEN
    RETURN '{"ok": false, "reason": "no_approval"}'::jsonb;
  END IF;
  -- The same checks of plan, state and time as an approval's.
  answer := apply_transition(doc -> 'record');
  IF NOT (answer ->> 'ok')::boolean THEN RETURN answer; END IF;
  PERFORM record_withdrawal(doc -> 'decision', id, who, doc ->> 'identity', wanted);
  after := approvals_of(m, svc_now());
  RETURN CASE WHEN after IS NULL THEN answer
    ELSE answer || jsonb_build_object('approvals', after, 'person', who) END;
END $$;

-- Returns whether a movement was approved under a rule that asks passkeys, so that a worker verifies
-- the assertions before it sends: see store/decisions.ts.
CREATE OR REPLACE FUNCTION needs_proof(movement uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM movement_approval_standings s WHERE s.movement_id = movement)
$$;

-- A passkey only ends, once.
CREATE OR REPLACE FUNCTION guard_passkey() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' OR OLD.revoked_at IS NOT NULL
    OR to_jsonb(OLD) - 'revoked_at' IS DISTINCT FROM to_jsonb(NEW) - 'revoked_at' THEN
    RAISE EXCEPTION 'a passkey only ends' USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER passkeys_only_end BEFORE UPDATE OR DELETE ON passkeys
  FOR EACH ROW EXECUTE FUNCTION guard_passkey();

-- Stores a credential that a browser made. `doc`: {"passkey", "audit"}. Returns when it was stored,
-- also for a repeat; NULL if one of that id was made by somebody else or with another key.
CREATE OR REPLACE FUNCTION offer_passkey(doc jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  c passkey_candidates := jsonb_populate_record(NULL::passkey_candidates, doc -> 'passkey');
  found_at timestamptz;
BEGIN
  c.created_at := svc_now();
  INSERT INTO passkey_candidates SELECT c.* ON CONFLICT DO NOTHING;
  IF FOUND THEN PERFORM write_audit(doc -> 'audit', c.created_at); END IF;
  SELECT o.created_at INTO found_at FROM passkey_candidates o
  WHERE (o.credential_id, o.person, o.identity, o.public_key, o.origin, o.counter)
    = (c.credential_id, c.person, c.identity, c.public_key, c.origin, c.counter);
  RETURN to_json(found_at) #>> '{}';
END $$;

-- Lets a passkey count that a browser made for a person in the last seven days, as the owner. `doc`:
-- {"credential_id", "audit"}. Returns it; NULL if there is no such candidate, or the identity that
-- made it is not this person's now.
CREATE OR REPLACE FUNCTION confirm_passkey(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  at timestamptz := svc_now();
  k passkeys;
BEGIN
  INSERT INTO passkeys (credential_id, person, public_key, counter, origin, enrolled_at)
  SELECT c.credential_id, c.person, c.public_key, c.counter, c.origin, at FROM passkey_candidates c
  WHERE c.credential_id = doc ->> 'credential_id' AND c.created_at > at - interval '7 days'
    AND person_of(c.identity) = c.person
  ON CONFLICT DO NOTHING RETURNING * INTO k;
  IF NOT FOUND THEN RETURN NULL; END IF;
  PERFORM write_audit(doc -> 'audit', at);
  RETURN to_jsonb(k);
END $$;

-- Ends a passkey, as the owner. `doc`: {"credential_id", "audit"}. Returns it; NULL if there is none
-- in force.
CREATE OR REPLACE FUNCTION revoke_passkey(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  at timestamptz;
  k passkeys;
BEGIN
  -- A decision that is being stored is before or after it.
  PERFORM pg_advisory_xact_lock(hashtextextended('passkey ' || (doc ->> 'credential_id'), 0));
  at := svc_now();
  UPDATE passkeys SET revoked_at = at
  WHERE credential_id = doc ->> 'credential_id' AND revoked_at IS NULL RETURNING * INTO k;
  IF NOT FOUND THEN RETURN NULL; END IF;
  PERFORM write_audit(doc -> 'audit', at);
  RETURN to_jsonb(k);
END $$;

-- Returns every movement created in a time that a rule would have held for, in force or not, with
-- the people who approved it as the rule wants it (reason, passkey) and whether they would have been
-- enough. Changes nothing. Groups, and the ages of payees, are those of now.
CREATE OR REPLACE FUNCTION try_rule(rule jsonb, since timestamptz, before timestamptz)
  RETURNS TABLE (movement_id uuid, template_key text, asset text, amount numeric,
    created_at timestamptz, state text, approved_by text, people text[], enough boolean)
  LANGUAGE sql STABLE AS $$
  SELECT m.movement_id, m.template_key, m.asset, m.amount, m.created_at, m.request_state,
    a.approved_by, w.people, quorum_met(try_rule.rule -> 'require', (
      SELECT coalesce(jsonb_agg(jsonb_build_object('groups', (
        SELECT coalesce(jsonb_agg(g.group_name), '[]') FROM approver_group_members g
        WHERE g.person = p.person))), '[]')
      FROM unnest(w.people) AS p (person)
      WHERE approver_excluded(try_rule.rule, m, p.person) IS NULL))
  FROM movements m LEFT JOIN movement_approvals a ON a.movement_id = m.movement_id
  CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(DISTINCT x.person ORDER BY x.person), '{}') AS people FROM (
      SELECT person_of(e.actor_client_id) AS person FROM audit_events e
      WHERE e.entity_type = 'movement' AND e.entity_key = m.movement_id::text
        AND e.action IN ('movement.approve', 'movement.record_approval')
        AND e.outcome = 'success'
        AND (NOT (try_rule.rule -> 'reason_required')::boolean OR e.reason IS NOT NULL)
        AND NOT EXISTS (SELECT FROM audit_events w
          WHERE w.entity_type = 'movement' AND w.entity_key = m.movement_id::text
            AND w.action = 'movement.withdraw_approval' AND w.outcome = 'success'
            AND w.occurred_at >= e.occurred_at
            AND person_of(w.actor_client_id) = person_of(e.actor_client_id))
      ) x WHERE x.person IS NOT NULL AND (NOT asks_passkey(try_rule.rule) OR EXISTS (
        SELECT FROM approval_decisions d WHERE d.subject_id = m.movement_id
          AND d.person = x.person AND d.evidence IS NOT NULL))) w
  WHERE m.created_at >= since AND m.created_at < try_rule.before
    AND rule_matches(try_rule.rule, m, m.created_at)
  ORDER BY m.created_at, m.movement_id
$$;

-- Returns a sum over people, groups and rules, which differs after any change of them.
CREATE OR REPLACE FUNCTION approvers_mark() RETURNS text LANGUAGE sql STABLE AS $$
  SELECT md5(jsonb_build_array(
    (SELECT jsonb_agg(p ORDER BY p.person) FROM people p),
    (SELECT jsonb_agg(i ORDER BY i.identity) FROM person_identities i),
    (SELECT jsonb_agg(g ORDER BY g.name) FROM approver_groups g),
    (SELECT jsonb_agg(m ORDER BY m.group_name, m.person) FROM approver_group_members m),
    (SELECT jsonb_agg(r ORDER BY r.name) FROM approval_rules r))::text)
$$;

-- Changes people, groups and rules as the owner, while no decision is under way. `doc`: the new
-- state of what it names: {"people": [...], "groups": [...], "rules": [...], "audit": [...]}; an
-- entry with "remove" true goes. With "mark", fails with FM022 unless approvers_mark is still that.
CREATE OR REPLACE FUNCTION change_approvers(doc jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  e jsonb;
  at timestamptz;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('approval_rules', 0));
  IF doc ->> 'mark' <> approvers_mark() THEN
    RAISE EXCEPTION 'people, groups or rules have changed meanwhile' USING ERRCODE = 'FM022';
  END IF;
  -- Whoever decides sees what changes; anything else that changes meanwhile makes it outdated.
  PERFORM ask_change(ARRAY['approval_rules'], 'approvers',
    jsonb_build_object('mark', approvers_mark()), doc - ARRAY['mark', 'audit']);
  at := svc_now();
  FOR e IN SELECT value FROM jsonb_array_elements(coalesce(doc -> 'people', '[]')) LOOP
    IF (e ->> 'remove')::boolean THEN
      -- The person's row stays, since decisions name it.
      DELETE FROM approver_group_members WHERE person = e ->> 'person';
      INSERT INTO former_identities SELECT identity, i.person FROM person_identities i
        WHERE i.person = e ->> 'person' ON CONFLICT DO NOTHING;
      DELETE FROM person_identities WHERE person = e ->> 'person';
      -- Whoever comes under this name later has other authenticators.
      UPDATE passkeys k SET revoked_at = at
        WHERE k.person = e ->> 'person' AND k.revoked_at IS NULL;
      CONTINUE;
    END IF;
    INSERT INTO people (person, name, created_at) VALUES (e ->> 'person', e ->> 'name', at)
    ON CONFLICT (person) DO UPDATE SET name = excluded.name;
    INSERT INTO former_identities SELECT identity, i.person FROM person_identities i
      WHERE i.person = e ->> 'person' AND NOT e -> 'identities' ? identity ON CONFLICT DO NOTHING;
    DELETE FROM person_identities WHERE person = e ->> 'person';
    INSERT INTO person_identities (identity, person, assigned_at)
      SELECT value, e ->> 'person', at FROM jsonb_array_elements_text(e -> 'identities');
  END LOOP;
  FOR e IN SELECT value FROM jsonb_array_elements(coalesce(doc -> 'groups', '[]')) LOOP
    DELETE FROM approver_groups WHERE name = e ->> 'name' AND (e ->> 'remove')::boolean;
    CONTINUE WHEN (e ->> 'remove')::boolean;
    INSERT INTO approver_groups (name, created_at) VALUES (e ->> 'name', at)
    ON CONFLICT (name) DO NOTHING;
    DELETE FROM approver_group_members WHERE group_name = e ->> 'name';
    INSERT INTO approver_group_members (group_name, person)
      SELECT e ->> 'name', value FROM jsonb_array_elements_text(e -> 'members');
  END LOOP;
  FOR e IN SELECT value FROM jsonb_array_elements(coalesce(doc -> 'rules', '[]')) LOOP
    DELETE FROM approval_rules WHERE name = e ->> 'name' AND (e ->> 'remove')::boolean;
    CONTINUE WHEN (e ->> 'remove')::boolean;
    INSERT INTO approval_rules (name, rule, revision, created_at, updated_at)
    VALUES (e ->> 'name', e -> 'rule', 1, at, at)
    ON CONFLICT (name) DO UPDATE SET rule = excluded.rule,
      revision = approval_rules.revision + 1, updated_at = at;
  END LOOP;
  PERFORM write_audit(doc -> 'audit', at);
END $$;
