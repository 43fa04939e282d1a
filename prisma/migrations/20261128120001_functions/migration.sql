-- Written by `npm run sql:migration` from prisma/functions/; not by hand.
SELECT set_config('check_function_bodies', 'off', true);
-- What functions with the owner's rights read and write is never a caller's temporary table.
SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true);

-- prisma/functions/approval-rules.sql

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

-- Returns every rule that holds for a movement: those that matched when it was created, and those
-- that match now. A rule that was changed holds in both forms.
CREATE OR REPLACE FUNCTION rules_of(m movements, at timestamptz)
  RETURNS TABLE (name text, rule jsonb) LANGUAGE sql STABLE AS $$
  SELECT s.name, s.rule FROM movement_approval_rules s WHERE s.movement_id = m.movement_id
  UNION
  SELECT r.name, r.rule FROM approval_rules r
  WHERE r.rule ->> 'applies_to' = 'movement' AND rule_matches(r.rule, m, at)
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
    'is_persons', is_or_was(d.person, d.identity),
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

-- prisma/functions/attention.sql

-- Returns why a movement needs a person at a moment, and for which node; NULL if it needs none.
-- Lists and details both read this. domain/attention.ts has what a person can do for each reason.
CREATE OR REPLACE FUNCTION attention_of(m movements, at timestamptz) RETURNS jsonb
  LANGUAGE plpgsql STABLE AS $$
DECLARE
  left_over interval := m.expires_at - at;
  stuck boolean;
  found jsonb;
BEGIN
  IF m.request_state = 'PENDING_APPROVAL' THEN
    RETURN CASE
      WHEN left_over <= interval '0' THEN NULL
      WHEN may_need_quorum(m.movement_id)
        AND jsonb_path_exists(approvals_of(m, at), '$[*] ? (@.possible == false)')
        THEN jsonb_build_object('reason', 'approval_unsatisfiable')
      WHEN left_over <= least(interval '15 minutes', (m.expires_at - m.created_at) / 4)
        THEN jsonb_build_object('reason', 'approval_expires_soon')
      ELSE jsonb_build_object('reason', 'approval') END;
  END IF;
  -- A failed or cancelled movement is shown for a week. Lists read only the last week (listNeeding
  -- in store/attention.ts).
  IF m.ended_at IS NOT NULL AND (m.request_state NOT IN ('FAILED', 'CANCELLED')
    OR m.updated_at <= at - interval '7 days') THEN
    RETURN NULL;
  END IF;
  -- Usually no nonce lane is stuck; then no node needs the query of lane_stuck.
  stuck := EXISTS (SELECT FROM nonce_lanes WHERE stuck_since <= at - interval '1 minute');
  SELECT jsonb_build_object('reason', r.why, 'node_key', n.node_key, 'attempt', n.attempt,
    'max_attempts', n.own_plan -> 'retry_policy' -> 'max_attempts',
    'errors', n.error_count + n.unanswered,
    'error_code', CASE WHEN r.why = 'failed' THEN coalesce(n.error_code, m.error_code)
      ELSE n.error_code END,
    'error_message', n.error_message, 'observed_since',
      CASE WHEN r.why = 'observed_long' THEN n.submitted_at END,
    'external_ref', CASE WHEN r.why = 'observed_long' THEN n.external_ref END,
    'executor_key', e.executor_key,
    'executor_status', e.status, 'executor_health', e.health_state,
    'next_look_at', CASE WHEN n.state = 'UNKNOWN' OR n.unanswered > 0 THEN n.next_look_at END,
    'blocked_by', CASE WHEN r.why = 'lane_blocked' THEN lane_blocker(n, at) END,
    'stuck_at', CASE WHEN r.why = 'lane_stuck' THEN lane_stuck(n, at) END)
  INTO found
  FROM movement_nodes n
  LEFT JOIN executors e ON e.executor_key
    = coalesce(n.executor_binding ->> 'executor_key', n.executor_binding #>> '{}')
  CROSS JOIN LATERAL (SELECT CASE
    WHEN n.state = 'UNKNOWN' THEN 'unknown_outcome'
    WHEN n.state = 'READY' AND n.node_kind = 'manual_gate'
      AND m.request_state IN ('WAITING_MANUAL_ACTION', 'MANUAL_INTERVENTION') THEN 'manual_gate'
    -- The movement's message names the node whose failure ended the movement
    -- (domain/commands/advance.ts). That node may be COMPLETED, if a condition on its edges could
    -- not be evaluated. After a cancel, the nodes that continue may still fail.
    WHEN m.request_state = 'FAILED' AND m.acknowledged_at IS NULL
      AND m.error_message = 'node ' || n.node_key || ' failed'
      OR m.request_state = 'CANCELLED' AND n.state = 'FAILED'
        AND (n.on_cancel_target OR n.brings IS NOT NULL) THEN 'failed'
    WHEN stuck AND lane_stuck(n, at) IS NOT NULL THEN 'lane_stuck'
    WHEN lane_blocker(n, at) IS NOT NULL THEN 'lane_blocked'
    WHEN n.state = 'OBSERVING' AND n.error_code = 'BRIDGE_DELIVERY_LATE' THEN 'delivery_late'
    WHEN n.state IN ('READY', 'SUBMITTING', 'SUBMITTED', 'OBSERVING')
      AND waits_in_vain(n.error_code) THEN 'observed_long'
    WHEN n.state IN ('READY', 'SUBMITTING', 'SUBMITTED', 'OBSERVING')
      AND n.node_kind <> 'manual_gate' AND (e.status IS DISTINCT FROM 'active'
        OR e.health_state = 'down' OR n.unanswered_since <= at - interval '1 minute') THEN 'executor_unavailable'
    WHEN overdue_at(n) <= at THEN 'observed_long'
    END AS why) r
  WHERE n.movement_id = m.movement_id AND r.why IS NOT NULL
  ORDER BY array_position(ARRAY['unknown_outcome', 'manual_gate', 'failed', 'lane_stuck',
    'lane_blocked', 'delivery_late', 'executor_unavailable', 'observed_long'], r.why), n.updated_at, n.position
  LIMIT 1;
  IF found IS NULL AND m.request_state = 'FAILED' AND m.acknowledged_at IS NULL THEN
    found := jsonb_build_object('reason', 'failed', 'error_code', m.error_code,
      'error_message', m.error_message);
  END IF;
  -- Before every other reason, which goes on beside it; a failed movement may be retried. Usually no
  -- key is compromised.
  IF (m.ended_at IS NULL OR m.request_state = 'FAILED' AND m.acknowledged_at IS NULL)
    AND EXISTS (SELECT FROM compromised_keys) AND approved_by_compromised(m) THEN
    RETURN coalesce(found, '{}') || jsonb_build_object('reason', 'approval_compromised',
      'besides', found ->> 'reason');
  END IF;
  RETURN found;
END $$;

-- Returns the reasons of `facts` (see attention_of) that are called back, with + between: those in
-- `reasons`, which the movement's state does not show; for a cancelled movement all of them, since it
-- stays CANCELLED when its nodes fail. NULL if there are none.
CREATE OR REPLACE FUNCTION reasons_to_tell(m movements, facts jsonb, reasons text[]) RETURNS text
  LANGUAGE sql IMMUTABLE AS $$
  SELECT string_agg(x.reason, '+' ORDER BY x.nr)
  FROM unnest(ARRAY[facts ->> 'reason', facts ->> 'besides']) WITH ORDINALITY AS x (reason, nr)
  WHERE x.reason = ANY (reasons) OR m.request_state = 'CANCELLED'
$$;

-- Stores why a movement needs a person, and queues the callback `request_attention` for each new
-- reason; see reasons_to_tell. Changes nothing that a run or the sweeper reads. Returns false if the
-- reasons have not changed.
CREATE OR REPLACE FUNCTION note_attention(movement uuid, event_id uuid, reasons text[],
  callback_types jsonb) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  m movements;
  at timestamptz;
  facts jsonb;
  present text;
  why text;
  id uuid := event_id;
  seq integer;
BEGIN
  SELECT * INTO m FROM movements WHERE movement_id = movement FOR NO KEY UPDATE;
  at := svc_now();
  facts := attention_of(m, at);
  present := reasons_to_tell(m, facts, reasons);
  IF m.movement_id IS NULL OR m.attention_told IS NOT DISTINCT FROM present THEN
    RETURN false;
  END IF;
  seq := m.next_sequence;
  FOREACH why IN ARRAY coalesce(string_to_array(present, '+'), '{}') LOOP
    CONTINUE WHEN why = ANY (string_to_array(m.attention_told, '+'));
    seq := append_timeline(movement, seq, m.callback_url, m.request_state, m.current_frontier,
      m.error_code, jsonb_build_array(jsonb_build_object('event_id', id,
        'event_type', 'request_attention', 'node_key', facts -> 'node_key',
        'attempt', facts -> 'attempt', 'actor', '{"type": "system"}'::jsonb,
        'message', 'A person is needed: ' || why, 'data', jsonb_build_object('reason', why))),
      callback_types, at);
    id := svc_new_id(at);
  END LOOP;
  UPDATE movements SET attention_told = present, next_sequence = seq WHERE movement_id = movement;
  RETURN true;
END $$;

-- prisma/functions/callbacks.sql

-- Returns the first message of each webhook, if it is due. The one that is leased is the first one,
-- so a webhook whose receiver hangs takes up one place of all workers.
CREATE OR REPLACE FUNCTION due_webhook_messages(at timestamptz) RETURNS SETOF uuid
  LANGUAGE sql STABLE AS $$
  WITH RECURSIVE names AS (
    SELECT min(webhook) AS webhook FROM callbacks WHERE status = 'pending' AND webhook IS NOT NULL
    UNION ALL
    SELECT (SELECT min(c.webhook) FROM callbacks c
      WHERE c.status = 'pending' AND c.webhook > n.webhook)
    FROM names n WHERE n.webhook IS NOT NULL)
  SELECT first.event_id FROM names n CROSS JOIN LATERAL (
    SELECT c.event_id, c.next_attempt_at FROM callbacks c
    WHERE c.webhook = n.webhook AND c.status = 'pending'
    ORDER BY c.next_attempt_at, c.event_id LIMIT 1) first
  WHERE first.next_attempt_at <= at
$$;

-- Leases due callbacks to the caller, at most one per movement: none while another callback of the
-- movement is leased, and none before an earlier one of the movement that is due. A later callback
-- overtakes one that waits for its next attempt. A capital transfer has at most one callback. Of each
-- webhook one message is leased at a time, after the callbacks.
CREATE OR REPLACE FUNCTION claim_callbacks(most integer, lease_seconds integer, only_movement uuid)
  RETURNS SETOF callbacks LANGUAGE plpgsql AS $$
DECLARE
  at timestamptz := svc_now();
  ids uuid[];
BEGIN
  -- Two statements: the planner finds no good plan for a combined one.
  IF only_movement IS NULL THEN
    ids := ARRAY(
      SELECT c.event_id FROM callbacks c WHERE c.status = 'pending' AND c.next_attempt_at <= at
        AND c.webhook IS NULL AND (c.claimed_until IS NULL OR c.claimed_until <= at)
        AND (SELECT true FROM callbacks o WHERE o.movement_id = c.movement_id
          AND o.status = 'pending' AND o.event_id <> c.event_id AND (o.claimed_until > at
            OR (o.sequence < c.sequence AND o.next_attempt_at <= at)) LIMIT 1) IS NULL
      ORDER BY c.next_attempt_at, c.sequence LIMIT most FOR UPDATE SKIP LOCKED);
    IF cardinality(ids) < most THEN
      ids := ids || ARRAY(
        SELECT c.event_id FROM callbacks c WHERE c.event_id IN (SELECT due_webhook_messages(at))
          AND c.status = 'pending' AND (c.claimed_until IS NULL OR c.claimed_until <= at)
        LIMIT most - cardinality(ids) FOR UPDATE SKIP LOCKED);
    END IF;
  ELSE
    ids := ARRAY(
      SELECT c.event_id FROM callbacks c WHERE c.status = 'pending' AND c.next_attempt_at <= at
        AND (c.claimed_until IS NULL OR c.claimed_until <= at)
        AND (SELECT true FROM callbacks o WHERE o.movement_id = c.movement_id
          AND o.status = 'pending' AND o.event_id <> c.event_id AND (o.claimed_until > at
            OR (o.sequence < c.sequence AND o.next_attempt_at <= at)) LIMIT 1) IS NULL
        AND c.movement_id = only_movement
      ORDER BY c.next_attempt_at, c.sequence LIMIT most FOR UPDATE SKIP LOCKED);
  END IF;
  RETURN QUERY UPDATE callbacks c SET claimed_until = at + make_interval(secs => lease_seconds)
    WHERE c.event_id = ANY (ids)
  RETURNING c.*;
END $$;

-- prisma/functions/capital-transfers.sql

-- Queues the callback `request_attention` of a transfer that needs a person, in the same write that
-- hands the transfer over.
CREATE OR REPLACE FUNCTION call_back_for_person(t capital_transfers, event jsonb, error_code text,
  at timestamptz) RETURNS void LANGUAGE sql AS $$
  INSERT INTO callbacks (event_id, transfer_id, event_type, sequence, url, payload, nonce, status,
    next_attempt_at, last_error, created_at, updated_at)
  SELECT (event ->> 'event_id')::uuid, t.transfer_id, 'request_attention', t.next_sequence,
    t.callback_url, jsonb_build_object('event_id', event ->> 'event_id',
      'event_type', 'request_attention', 'movement_id', NULL, 'transfer_id', t.transfer_id,
      'request_state', t.request_state, 'current_frontier', '[]'::jsonb, 'node_key', NULL,
      'error_code', error_code, 'sequence', t.next_sequence,
      'occurred_at', wire_time(at))::text,
    event ->> 'event_id', CASE WHEN refused THEN 'dead_letter' ELSE 'pending' END, at,
    CASE WHEN refused THEN 'host_not_allowed' END, at, at
  FROM callback_refused(t.callback_url) AS refused WHERE t.callback_url IS NOT NULL
$$;

-- Returns a capital transfer as its activities read it.
CREATE OR REPLACE FUNCTION transfer_row(t capital_transfers, at timestamptz) RETURNS jsonb
  LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object('transfer_id', t.transfer_id, 'state', t.request_state,
    'version', t.version,
    'source_venue', t.source_venue, 'source_account_type', t.source_account_type,
    'destination_venue', t.destination_venue,
      'destination_account_type', t.destination_account_type,
    'asset', t.asset, 'amount', trim_scale(t.amount)::text, 'strategy_id', t.strategy_id,
      'provider', t.provider,
    'provider_transfer_id', t.provider_transfer_id, 'acknowledged', t.acknowledged,
      'epoch', t.submit_epoch, 'sends', t.sends,
    'error_code', t.error_code, 'ended', t.ended_at IS NOT NULL,
    'created_at', wire_time(t.created_at),
    'age_ms', floor(extract(epoch FROM at - t.created_at) * 1000),
    'send_left_ms', ceil(extract(epoch FROM t.send_not_after - at) * 1000),
    'pending_left_ms', ceil(extract(epoch FROM t.pending_until - at) * 1000))
$$;

-- Applies one step of a transfer; see store/capital-transfer-steps.ts for the shape of `doc`. If
-- the id of its event is stored, the step was applied before and changes nothing. State and epoch
-- are compared here; domain/send/epoch.ts decides what a step writes to them.
CREATE OR REPLACE FUNCTION apply_transfer_step(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  t capital_transfers;
  before text;
  fields jsonb := doc -> 'set';
  at timestamptz;
  frozen boolean := CASE WHEN doc ? 'fence' THEN cutover_now() = 'frozen' ELSE false END;
BEGIN
  IF doc ? 'states_outcome' THEN PERFORM hold_approval_rules(); END IF;
  SELECT * INTO t FROM capital_transfers
    WHERE transfer_id = (doc ->> 'transfer_id')::uuid FOR UPDATE;
  at := svc_now();
  IF t.transfer_id IS NULL THEN
    RETURN jsonb_build_object('ok', false, 'row', NULL);
  END IF;
  IF EXISTS (SELECT FROM capital_transfer_events
    WHERE event_id = (doc -> 'event' ->> 'event_id')::uuid) THEN
    RETURN jsonb_build_object('ok', true, 'row', transfer_row(t, at));
  END IF;
  IF NOT (doc -> 'states') ? t.request_state
    OR t.submit_epoch <> coalesce((doc ->> 'epoch')::integer, t.submit_epoch) THEN
    RETURN jsonb_build_object('ok', false, 'row', transfer_row(t, at));
  END IF;
  IF frozen THEN
    RETURN jsonb_build_object('ok', false, 'row', transfer_row(t, at));
  END IF;
  -- The rules that held for its create hold for what a person says of its outcome, too.
  IF doc ? 'states_outcome' THEN
    PERFORM ask_change('{capital_transfer}', 'capital_transfers', NULL,
      change_row(jsonb_build_object('transfer_id', t.transfer_id, 'source_venue', t.source_venue,
        'destination_venue', t.destination_venue, 'asset', t.asset,
        'amount', trim_scale(t.amount)::text, 'state', t.request_state, 'epoch', t.submit_epoch,
        'states_outcome', doc -> 'states_outcome',
        'provider_transfer_id', fields -> 'provider_transfer_id'), '{}'));
  END IF;
  before := t.request_state;
  t.request_state := coalesce(doc ->> 'to', t.request_state);
  IF doc ? 'end_hold' THEN PERFORM end_transfer_hold(t.transfer_id, doc ->> 'end_hold', at); END IF;
  PERFORM write_transfer_event(t, before, doc -> 'event', at);
  IF t.request_state = 'MANUAL_INTERVENTION' AND before <> 'MANUAL_INTERVENTION' THEN
    PERFORM call_back_for_person(t, doc -> 'event',
      CASE WHEN fields ? 'error_code' THEN fields ->> 'error_code' ELSE t.error_code END, at);
  END IF;
  UPDATE capital_transfers SET
    request_state = t.request_state,
    submit_epoch = coalesce((fields ->> 'epoch')::integer, submit_epoch),
    sends = coalesce((fields ->> 'sends')::integer, sends),
    acknowledged = coalesce((fields ->> 'acknowledged')::boolean, acknowledged),
    provider_transfer_id = coalesce(fields ->> 'provider_transfer_id', provider_transfer_id),
    send_not_after = CASE WHEN fields ? 'send_not_after'
      THEN svc_time(fields -> 'send_not_after', at) ELSE send_not_after END,
    -- The provider's time limit starts when the transfer first waits for the provider.
    pending_until = CASE WHEN fields ? 'pending_until'
      THEN coalesce(pending_until, svc_time(fields -> 'pending_until', at)) ELSE pending_until END,
    error_code = CASE WHEN fields ? 'error_code' THEN fields ->> 'error_code' ELSE error_code END,
    error_message = CASE WHEN fields ? 'error_message' THEN fields ->> 'error_message'
      ELSE error_message END,
    version = version + CASE WHEN (doc ->> 'wakes')::boolean THEN 1 ELSE 0 END,
    claimed_until = CASE WHEN (doc ->> 'wakes')::boolean THEN at + interval '2 seconds'
      ELSE claimed_until END,
    wakes = CASE WHEN (doc ->> 'wakes')::boolean THEN 0 ELSE capital_transfers.wakes END,
    ended_at = CASE WHEN t.request_state IN ('COMPLETED', 'FAILED') THEN coalesce(ended_at, at) END,
    next_sequence = next_sequence + 1,
    updated_at = at
  WHERE transfer_id = t.transfer_id
  RETURNING * INTO t;
  PERFORM write_audit(doc -> 'audit', at);
  RETURN jsonb_build_object('ok', true, 'row', transfer_row(t, at));
END $$;

-- prisma/functions/change-requests.sql

-- Returns a row as people read it and as it is compared: numbers as text, since JSON numbers lose
-- digits, and without what differs at each try.
CREATE OR REPLACE FUNCTION change_row(row_value jsonb, leave_out text[]) RETURNS jsonb
  LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(jsonb_object_agg(key, CASE jsonb_typeof(value)
    WHEN 'number' THEN to_jsonb(value #>> '{}') ELSE value END), '{}')
  FROM jsonb_each(row_value - leave_out)
$$;

-- Returns whether a rule for capital transfers holds for one: all conditions that it names match.
CREATE OR REPLACE FUNCTION transfer_rule_matches(rule jsonb, transfer jsonb) RETURNS boolean
  LANGUAGE sql IMMUTABLE AS $$
  SELECT (NOT w ? 'venues' OR w -> 'venues' ? (transfer ->> 'source_venue')
      OR w -> 'venues' ? (transfer ->> 'destination_venue'))
    AND (NOT w ? 'assets' OR w -> 'assets' ? (transfer ->> 'asset'))
    AND (NOT w ? 'amount_above' OR EXISTS (
      SELECT FROM jsonb_array_elements(w -> 'amount_above') e
      WHERE e.value ->> 'asset' IN ('*', transfer ->> 'asset')
        AND (transfer ->> 'amount')::numeric > (e.value ->> 'amount')::numeric))
  FROM (SELECT rule -> 'when' AS w) r
$$;

-- Returns the rules that hold for a change of these kinds now: [{"name", "rule"}]; NULL if none.
-- For an action on movements, those of the movements. `more`: rules that hold besides.
CREATE OR REPLACE FUNCTION rules_of_change(kinds text[], row_before jsonb, row_after jsonb,
  more jsonb, at timestamptz) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_agg(DISTINCT jsonb_build_object('name', x.name, 'rule', x.rule)) FROM (
    SELECT r.name, r.rule FROM approval_rules r WHERE r.rule ->> 'applies_to' = ANY (kinds)
      AND (r.rule ->> 'applies_to' <> 'capital_transfer'
        OR transfer_rule_matches(r.rule, row_after))
    UNION ALL
    SELECT r.name, r.rule FROM jsonb_array_elements(CASE WHEN 'movement_action' = ANY (kinds)
        THEN row_before -> 'movements' END) a
      JOIN movements m ON m.movement_id = (a.value ->> 'movement_id')::uuid
      CROSS JOIN LATERAL rules_of(m, at) r
    UNION ALL
    SELECT e.value ->> 'name', e.value -> 'rule' FROM jsonb_array_elements(more) e) x
$$;

-- Returns the rules that a change of people, groups and rules makes for such changes: it needs both,
-- the old and the new.
CREATE OR REPLACE FUNCTION new_rules_of_change(subject text, row_after jsonb) RETURNS jsonb
  LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(jsonb_agg(e.value), '[]')
  FROM jsonb_array_elements(CASE WHEN subject = 'approvers' THEN row_after -> 'rules' END) e
  WHERE e.value -> 'rule' ->> 'applies_to' = 'approval_rules'
$$;

-- Returns the standing of a change request; see standing_of.
CREATE OR REPLACE FUNCTION approvals_of_change(c change_requests, at timestamptz) RETURNS jsonb
  LANGUAGE sql STABLE AS $$
  SELECT standing_of(rules_of_change(c.kinds, c.row_before, c.row_after,
      c.rules || new_rules_of_change(c.subject, c.row_after), at),
    c.request_id, c.hash, at)
$$;

-- Returns whether a request can still be decided: it is open, and made less than seven days ago.
CREATE OR REPLACE FUNCTION change_is_open(c change_requests, at timestamptz) RETURNS boolean
  LANGUAGE sql IMMUTABLE AS $$
  SELECT c.state = 'open' AND c.created_at > at - interval '7 days'
$$;

-- Lets a change pass, and ends the request for it, or refuses it with FM023: nothing of its
-- transaction is written then. The detail says what a request for it must name.
CREATE OR REPLACE FUNCTION ask_change(kinds text[], subject text, row_before jsonb, row_after jsonb)
  RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  c change_requests;
BEGIN
  PERFORM hold_approval_rules();
  IF rules_of_change(kinds, row_before, row_after, '[]', svc_now()) IS NULL THEN
    -- What one person changes alone is recorded without a rule, too.
    UPDATE change_requests r SET state = 'applied', ended_at = svc_now(), standing = '[]'
    WHERE r.state = 'open' AND r.break_glass AND r.subject = ask_change.subject
      AND (r.row_before, r.row_after)
        IS NOT DISTINCT FROM (ask_change.row_before, ask_change.row_after);
    RETURN;
  END IF;
  FOR c IN SELECT * FROM change_requests r WHERE r.state = 'open' AND r.subject = ask_change.subject
    AND (r.row_before, r.row_after)
      IS NOT DISTINCT FROM (ask_change.row_before, ask_change.row_after)
    AND r.kinds @> ask_change.kinds ORDER BY r.created_at FOR UPDATE
  LOOP
    CONTINUE WHEN NOT change_is_open(c, svc_now());
    CONTINUE WHEN NOT c.break_glass AND NOT (quorum_of(approvals_of_change(c, svc_now()))
      -- The service could have stored approvals that verify nowhere; fundadmin looks first. These
      -- kinds only fundadmin writes, whoever the request says.
      AND (coalesce(c.author ->> 'client_id', '') NOT LIKE 'fundadmin:%'
          AND NOT c.kinds && '{keys,approval_rules}'
        OR coalesce(c.proven_until > svc_now(), false)
        OR NOT jsonb_path_exists(approvals_of_change(c, svc_now()),
          '$[*].rule ? (@.evidence == "passkey")')));
    UPDATE change_requests SET state = 'applied', ended_at = svc_now(),
      standing = approvals_of_change(c, svc_now())
    WHERE request_id = c.request_id;
    RETURN;
  END LOOP;
  RAISE EXCEPTION 'this change waits for approvals' USING ERRCODE = 'FM023', DETAIL =
    jsonb_build_object('kinds', kinds, 'subject', subject, 'before', row_before,
      'after', row_after)::text;
END $$;

-- Returns what a command on movements finds: state and plan of each, and its nodes that change.
-- `docs`: the transitions as apply_transition takes them.
CREATE OR REPLACE FUNCTION action_before(docs jsonb) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object('movements', jsonb_agg(jsonb_build_object(
      'movement_id', m.movement_id, 'state', m.request_state, 'plan_hash', p.compiled_plan_hash,
      'nodes', (SELECT jsonb_agg(jsonb_build_object('node_key', n.node_key, 'state', n.state,
          'attempt', n.attempt, 'action_type', n.action_type) ORDER BY n.node_key)
        FROM movement_nodes n WHERE n.movement_id = m.movement_id AND jsonb_path_exists(
          d.value, '$.nodes[*].node_key ? (@ == $key)', jsonb_build_object('key', n.node_key))))
      ORDER BY d.nr))
  FROM jsonb_array_elements(docs) WITH ORDINALITY AS d (value, nr)
  JOIN movements m ON m.movement_id = (d.value ->> 'movement_id')::uuid
  JOIN movement_plans p USING (movement_id)
$$;

-- Lets a command on movements pass that leads them on, or refuses it; see ask_change. `row_before`:
-- see action_before. The caller has locked the movements. To look at an unknown outcome again moves
-- nothing, so one person may do it.
CREATE OR REPLACE FUNCTION ask_action(docs jsonb, row_before jsonb) RETURNS void
  LANGUAGE plpgsql AS $$
DECLARE
  command text := docs -> 0 ->> 'command_kind';
BEGIN
  IF command IS NULL OR command NOT IN ('resume', 'retry', 'resolve')
    OR command = 'resume' AND jsonb_path_exists(docs, '$[*].nodes[*].set.only_look ? (@ == true)')
    OR NOT EXISTS (SELECT FROM jsonb_array_elements(docs) d
      WHERE may_need_quorum((d.value ->> 'movement_id')::uuid)) THEN RETURN; END IF;
  PERFORM hold_approval_windows();
  PERFORM ask_change(ARRAY['movement_action'], 'movements',
    coalesce(row_before, action_before(docs)),
    (SELECT jsonb_build_object('command', command, 'nodes', jsonb_agg(
        jsonb_build_object('node_key', n.value ->> 'node_key', 'set', n.value -> 'set')
        || change_row(n.value, ARRAY['node_key', 'set', 'states', 'attempt', 'epoch', 'artifacts',
          'was']) ORDER BY d.nr, n.value ->> 'node_key'))
      FROM jsonb_array_elements(docs) WITH ORDINALITY AS d (value, nr),
        jsonb_array_elements(d.value -> 'nodes') n));
END $$;

-- Whether the first limit is less than the second; NULL: no limit.
CREATE OR REPLACE FUNCTION is_raised(former numeric, present numeric) RETURNS boolean
  LANGUAGE sql IMMUTABLE AS $$
  SELECT former IS NOT NULL AND (present IS NULL OR present > former)
$$;

-- Whether a policy approves more than before.
CREATE OR REPLACE FUNCTION policy_widens(o auto_approve_policies, n auto_approve_policies)
  RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT n.is_active AND (NOT o.is_active
    OR (n.client_id, n.strategy_id) IS DISTINCT FROM (o.client_id, o.strategy_id)
    OR is_raised(o.max_amount_per_request, n.max_amount_per_request)
    OR is_raised(o.max_amount_per_window, n.max_amount_per_window)
    OR is_raised(o.max_count_per_window, n.max_count_per_window)
    OR o.window_hours > coalesce(n.window_hours, 0)
    OR NOT n.allowed_assets <@ o.allowed_assets
    OR EXISTS (SELECT FROM jsonb_array_elements(n.allowed_templates) t
      WHERE NOT EXISTS (SELECT FROM jsonb_array_elements(o.allowed_templates) s
        WHERE s.value ->> 'template_key' = t.value ->> 'template_key'
          AND coalesce(s.value ->> 'template_version', t.value ->> 'template_version', '')
            = coalesce(t.value ->> 'template_version', ''))))
$$;

-- How much a mode of the cutover switch stops.
CREATE OR REPLACE FUNCTION cutover_stops(mode text) RETURNS integer LANGUAGE sql IMMUTABLE AS $$
  SELECT array_position(ARRAY['normal', 'drain', 'frozen'], mode)
$$;

-- Whether this transaction, or a part of it, wrote a row with this xmin.
CREATE OR REPLACE FUNCTION is_own_write(writer xid) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT writer::text::bigint >= pg_current_xact_id()::text::bigint % 4294967296
$$;

-- The trigger of a row that widens. Arguments: the kind, and the columns that differ at each try.
CREATE OR REPLACE FUNCTION require_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path FROM CURRENT AS $$
DECLARE
  leave_out text[] := string_to_array(TG_ARGV[1] || ',created_at,updated_at', ',');
  kinds text[] := ARRAY[TG_ARGV[0]];
  row_before jsonb;
  row_after jsonb := change_row(to_jsonb(NEW), leave_out);
BEGIN
  -- Any role may put this trigger on a temporary table of its own.
  IF TG_TABLE_SCHEMA <> current_schema() THEN
    RAISE EXCEPTION 'only a change of a table of this schema is let pass'
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  -- What belongs to a row that the same transaction writes and asks for is seen with that row.
  IF TG_TABLE_NAME = 'template_proposals' THEN
    IF EXISTS (SELECT FROM plan_template_versions v
      WHERE v.template_id = NEW.template_id AND is_own_write(v.xmin)) THEN RETURN NULL; END IF;
  ELSIF TG_TABLE_NAME = 'agent_authorities' THEN
    IF EXISTS (SELECT FROM api_client_keys k
      WHERE k.authority_key = NEW.authority_key AND is_own_write(k.xmin)) THEN RETURN NULL; END IF;
  END IF;
  IF TG_OP = 'UPDATE' THEN row_before := change_row(to_jsonb(OLD), leave_out); END IF;
  IF TG_TABLE_NAME = 'plan_template_versions' THEN
    row_after := row_after || jsonb_build_object(
      'nodes', (SELECT jsonb_agg(to_jsonb(p) - ARRAY['id', 'template_id'] ORDER BY p.position)
        FROM plan_nodes p WHERE p.template_id = NEW.template_id),
      'edges', (SELECT jsonb_agg(to_jsonb(e) - ARRAY['id', 'template_id'] ORDER BY e.position)
        FROM plan_edges e WHERE e.template_id = NEW.template_id));
    -- A policy may name no version, or this one before it exists.
    IF EXISTS (SELECT FROM auto_approve_policies p, jsonb_array_elements(p.allowed_templates) t
      WHERE p.is_active AND t.value ->> 'template_key' = NEW.template_key
        AND coalesce((t.value ->> 'template_version')::integer, NEW.version) = NEW.version) THEN
      kinds := kinds || 'policies'::text;
    END IF;
    -- Of an agent's versions the next free number says nothing, and proposals wait together.
    IF NEW.template_key LIKE 'agent/%' THEN row_after := row_after - 'version'; END IF;
  ELSIF TG_TABLE_NAME = 'allowed_addresses' THEN
    row_after := row_after || jsonb_build_object(
      'cooling_seconds', extract(epoch FROM NEW.usable_after - NEW.updated_at)::bigint::text);
  ELSIF TG_TABLE_NAME = 'api_client_keys' THEN
    row_after := row_after || jsonb_build_object(
      'client_name', (SELECT c.client_name FROM api_clients c WHERE c.client_id = NEW.client_id),
      'authority', (SELECT change_row(to_jsonb(a), leave_out) FROM agent_authorities a
        WHERE a.authority_key = NEW.authority_key));
  END IF;
  PERFORM ask_change(kinds, TG_TABLE_NAME, row_before, row_after);
  RETURN NULL;
END $$;

REVOKE ALL ON FUNCTION require_change() FROM PUBLIC;

-- A request only ends, once; only the owner of the table changes something alone.
CREATE OR REPLACE FUNCTION guard_change_request() RETURNS trigger LANGUAGE plpgsql
  SET search_path FROM CURRENT AS $$
DECLARE
  own text[] := '{state,code,ended_at,ended_by,standing,performed_until,proven_until}';
  is_owner boolean := current_user = (
    SELECT pg_catalog.pg_get_userbyid(relowner) FROM pg_catalog.pg_class WHERE oid = TG_RELID);
BEGIN
  IF TG_OP <> 'DELETE' THEN
    IF NEW.state = 'open' AND NEW.standing IS NOT NULL THEN
      RAISE EXCEPTION 'an open request has no standing of its own'
        USING ERRCODE = 'insufficient_privilege';
    END IF;
  END IF;
  IF TG_OP = 'INSERT' THEN
    -- Its seven days must not begin later. The column has milliseconds.
    IF NEW.state <> 'open' OR NEW.created_at > svc_now() + interval '1 second' THEN
      RAISE EXCEPTION 'a change request is made open' USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF (NEW.break_glass OR NEW.proven_until IS NOT NULL) AND NOT is_owner THEN
      RAISE EXCEPTION 'only the owner of the database breaks the glass'
        USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
  END IF;
  IF TG_OP = 'DELETE' OR OLD.state <> 'open'
    OR NOT is_owner AND NEW.proven_until IS DISTINCT FROM OLD.proven_until
    OR to_jsonb(OLD) - own IS DISTINCT FROM to_jsonb(NEW) - own THEN
    RAISE EXCEPTION 'a change request only ends' USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER change_requests_only_end BEFORE INSERT OR UPDATE OR DELETE
  ON change_requests FOR EACH ROW EXECUTE FUNCTION guard_change_request();

CREATE OR REPLACE TRIGGER change_requests_for_consoles AFTER INSERT OR UPDATE ON change_requests
  FOR EACH ROW EXECUTE FUNCTION note_for_consoles('change_request');

-- Returns a request with its standing.
CREATE OR REPLACE FUNCTION change_view(c change_requests, at timestamptz) RETURNS jsonb
  LANGUAGE sql STABLE AS $$
  SELECT to_jsonb(c) - 'rules' || jsonb_build_object('expires_at', c.created_at + interval '7 days',
    'state', CASE WHEN c.state = 'open' AND NOT change_is_open(c, at) THEN 'expired'
      ELSE c.state END,
    'standing', CASE WHEN c.state = 'open' THEN approvals_of_change(c, at) ELSE c.standing END)
$$;

-- Makes a request for a change that was refused with FM023. The same call of the same author for
-- the same row gets the request that is open. {"ok": false}: no rule holds now.
CREATE OR REPLACE FUNCTION create_change(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  n change_requests := jsonb_populate_record(NULL::change_requests, doc -> 'request');
  c change_requests;
  at timestamptz;
BEGIN
  PERFORM hold_approval_rules();
  at := svc_now();
  n.rules := rules_of_change(n.kinds, n.row_before, n.row_after,
    new_rules_of_change(n.subject, n.row_after), at);
  IF n.rules IS NULL THEN
    -- What somebody changes alone is recorded in any case.
    IF NOT n.break_glass THEN RETURN jsonb_build_object('ok', false); END IF;
    n.rules := '[]';
  END IF;
  -- One author's repeats wait for each other.
  PERFORM pg_advisory_xact_lock(hashtextextended(
    'change_requests ' || coalesce(n.author ->> 'client_id', ''), 0));
  FOR c IN SELECT * FROM change_requests r WHERE r.state = 'open' AND r.subject = n.subject
    AND r.path = n.path ORDER BY r.created_at FOR UPDATE
  LOOP
    CONTINUE WHEN (c.author ->> 'client_id', c.person, c.method, c.body, c.idempotency_key,
        c.break_glass)
      IS DISTINCT FROM (n.author ->> 'client_id', n.person, n.method, n.body, n.idempotency_key,
        n.break_glass);
    IF change_is_open(c, at) AND (c.row_before, c.row_after, c.kinds)
      IS NOT DISTINCT FROM (n.row_before, n.row_after, n.kinds) THEN
      RETURN jsonb_build_object('ok', true, 'repeated', true, 'request', change_view(c, at));
    END IF;
    UPDATE change_requests SET state = CASE WHEN change_is_open(c, at) THEN 'outdated'
      ELSE 'expired' END, ended_at = at WHERE request_id = c.request_id;
  END LOOP;
  n.state := 'open';
  n.created_at := at;
  INSERT INTO change_requests SELECT n.* RETURNING * INTO c;
  PERFORM write_audit(doc -> 'audit', at);
  RETURN jsonb_build_object('ok', true, 'repeated', false, 'request', change_view(c, at));
END $$;

-- Returns whether the row that a request changes is still as it was. For movements the command
-- itself looks; a new row has none.
CREATE OR REPLACE FUNCTION change_is_current(c change_requests) RETURNS boolean
  LANGUAGE plpgsql STABLE AS $$
DECLARE
  found boolean := true;
BEGIN
  IF c.row_before IS NOT NULL AND c.subject NOT IN ('movements', 'approvers') THEN
    EXECUTE format($q$SELECT EXISTS (SELECT FROM %I t
      WHERE change_row(to_jsonb(t), '{}') @> $1)$q$, c.subject) INTO found USING c.row_before;
  END IF;
  -- The call first makes the row of a signer that no process has declared yet.
  IF c.subject = 'signers' AND NOT found THEN
    found := NOT EXISTS (SELECT FROM signers s WHERE s.signer_key = c.row_before ->> 'signer_key');
  END IF;
  RETURN found;
END $$;

-- Lets another approval make the call at once, since the one before has failed.
CREATE OR REPLACE FUNCTION release_change(request uuid) RETURNS void LANGUAGE sql AS $$
  UPDATE change_requests SET performed_until = NULL
  WHERE request_id = request AND state = 'open'
$$;

-- Records a person's approval of a change. `doc`: {"request_id", "hash", "identity",
-- "decision", "audit"}, the decision as record_decision takes it. Returns the request, with "performs" once enough
-- people approved and the caller is to make the call, and "outdated" if that call would not be this
-- change; {"ok": false, "reason", "why"?} if the approval is refused; NULL for an unknown id.
CREATE OR REPLACE FUNCTION decide_change(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  c change_requests;
  at timestamptz;
  before jsonb;
  after jsonb;
  performs boolean;
  who text := person_of(doc ->> 'identity');
  refusal jsonb;
BEGIN
  PERFORM hold_approval_rules();
  SELECT * INTO c FROM change_requests WHERE request_id = (doc ->> 'request_id')::uuid FOR UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  at := svc_now();
  IF c.hash <> doc ->> 'hash' THEN
    RETURN jsonb_build_object('ok', false, 'reason', 'change_hash_mismatch');
  END IF;
  IF NOT change_is_open(c, at) THEN
    RETURN jsonb_build_object('ok', false, 'reason', 'change_request_ended',
      'request', change_view(c, at));
  END IF;
  before := approvals_of_change(c, at);
  refusal := refusal_of_approval(before, who, doc -> 'decision');
  IF refusal IS NOT NULL THEN RETURN refusal; END IF;
  IF approval_is_new(before, who) THEN
    refusal := record_decision(doc -> 'decision', c.request_id, who, doc ->> 'identity', c.hash,
      at);
    IF refusal IS NOT NULL THEN RETURN refusal; END IF;
    PERFORM write_audit(doc -> 'audit', at);
  END IF;
  after := approvals_of_change(c, at);
  -- One of several last approvals makes the call; another may after a while, if that one died.
  performs := quorum_of(after) AND coalesce(c.performed_until <= at, true);
  IF performs THEN
    UPDATE change_requests SET performed_until = at + interval '1 minute'
    WHERE request_id = c.request_id;
  END IF;
  RETURN jsonb_build_object('ok', true, 'request', change_view(c, at), 'performs', performs,
    'outdated', rules_of_change(c.kinds, c.row_before, c.row_after, '[]', at) IS NULL
      OR NOT change_is_current(c));
END $$;

-- Withdraws a person's approval of an open request. `doc`: {"request_id", "hash", "identity",
-- "decision", "audit"}, the decision as record_withdrawal takes it. Returns the request; {"ok":
-- false, "reason"} if it has ended or the person has no approval there; NULL for an unknown id.
CREATE OR REPLACE FUNCTION withdraw_change_approval(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  c change_requests;
  at timestamptz;
  who text;
BEGIN
  PERFORM hold_approval_rules();
  SELECT * INTO c FROM change_requests WHERE request_id = (doc ->> 'request_id')::uuid FOR UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  at := svc_now();
  IF NOT change_is_open(c, at) THEN
    RETURN jsonb_build_object('ok', false, 'reason', 'change_request_ended',
      'request', change_view(c, at));
  END IF;
  who := person_of(doc ->> 'identity');
  IF c.hash <> doc ->> 'hash' OR NOT has_approved(c.request_id, who, c.hash) THEN
    RETURN jsonb_build_object('ok', false, 'reason', 'no_approval');
  END IF;
  PERFORM record_withdrawal(doc -> 'decision', c.request_id, who, doc ->> 'identity', c.hash);
  PERFORM write_audit(doc -> 'audit', at);
  RETURN jsonb_build_object('ok', true, 'request', change_view(c, svc_now()));
END $$;

-- Ends an open request. `doc`: {"request_id", "state", "code"?, "by", "only_author"?, "audit"}. A
-- repeat returns the request as it is. NULL for an unknown id.
CREATE OR REPLACE FUNCTION end_change(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  c change_requests;
  at timestamptz;
BEGIN
  SELECT * INTO c FROM change_requests WHERE request_id = (doc ->> 'request_id')::uuid FOR UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  at := svc_now();
  IF (doc ->> 'only_author')::boolean AND NOT is_author_of_change(c, doc ->> 'by') THEN
    RETURN jsonb_build_object('ok', false, 'reason', 'not_the_author');
  END IF;
  IF NOT change_is_open(c, at) THEN
    RETURN CASE WHEN c.state = doc ->> 'state'
      THEN jsonb_build_object('ok', true, 'request', change_view(c, at))
      ELSE jsonb_build_object('ok', false, 'reason', 'change_request_ended',
        'request', change_view(c, at)) END;
  END IF;
  UPDATE change_requests SET state = doc ->> 'state', code = doc ->> 'code', ended_at = at,
    ended_by = doc ->> 'by', standing = approvals_of_change(c, at)
  WHERE request_id = c.request_id RETURNING * INTO c;
  PERFORM write_audit(doc -> 'audit', at);
  RETURN jsonb_build_object('ok', true, 'request', change_view(c, at));
END $$;

-- Returns whether an identity, or another one of the same person, made the request.
CREATE OR REPLACE FUNCTION is_author_of_change(c change_requests, identity text) RETURNS boolean
  LANGUAGE sql STABLE AS $$
  SELECT c.author ->> 'client_id' IS NOT DISTINCT FROM identity
    OR coalesce(c.person = person_of(identity), false)
    OR is_or_was(person_of(identity), c.author ->> 'client_id')
$$;

-- prisma/functions/claims.sql

-- Takes the claims of one node away (`released`, a transition of its movement) and completes
-- another node with them (`taken`). Applies both, or neither and returns why. Locks both movements
-- first, ordered by id.
CREATE OR REPLACE FUNCTION reassign_claims(released jsonb, taken jsonb) RETURNS jsonb
  LANGUAGE plpgsql AS $$
DECLARE
  first jsonb;
  second jsonb;
  before jsonb;
BEGIN
  PERFORM hold_approval_rules();
  PERFORM FROM movements WHERE movement_id
    IN ((released ->> 'movement_id')::uuid, (taken ->> 'movement_id')::uuid)
  ORDER BY movement_id FOR UPDATE;
  before := action_before(jsonb_build_array(released, taken));
  BEGIN
    -- Asks once for both movements, below.
    first := apply_transition(released || '{"together": true}');
    IF (first ->> 'ok')::boolean THEN
      second := apply_transition(taken || '{"together": true}');
    END IF;
    IF NOT coalesce((second ->> 'ok')::boolean, false) THEN
      RAISE EXCEPTION 'the claims were not reassigned: a transition was refused'
        USING ERRCODE = 'FM018';
    END IF;
  EXCEPTION WHEN SQLSTATE 'FM018' THEN
    RETURN jsonb_build_object('ok', false, 'refused', coalesce(second, first));
  END;
  IF NOT second ? 'repeated' THEN
    PERFORM ask_action(jsonb_build_array(released, taken), before);
  END IF;
  RETURN jsonb_build_object('ok', true, 'released', first, 'taken', second);
END $$;

-- prisma/functions/clock.sql

-- Returns a time as the wire has it: ISO 8601 in UTC, with milliseconds.
CREATE OR REPLACE FUNCTION wire_time(at timestamptz) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

-- prisma/functions/compromised.sql

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
  -- A request that was authenticated before the key ended may be stored this much later.
  in_flight timestamptz;
  sessions integer;
BEGIN
  -- What is being decided now is decided before it, and is found below.
  PERFORM pg_advisory_xact_lock(hashtextextended('approval_rules', 0));
  present := svc_now();
  in_flight := present + interval '1 minute';
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
      in_flight) FROM dashboard_keys k
    WHERE doc ->> 'kind' = 'dashboard_key' AND k.key_id::text = doc ->> 'key_id'
    UNION ALL
    -- A key of the keys file counts until the database has a key in its place.
    SELECT 'dashboard:' || of_file, 'epoch'::timestamptz, coalesce((
      SELECT min(CASE WHEN k.replaces THEN k.created_at ELSE k.filled_at END) FROM dashboard_keys k
      WHERE k.operator = of_file AND (k.replaces OR k.filled_at IS NOT NULL)), in_flight)
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

-- prisma/functions/console-events.sql

-- Writes what open consoles must read again; see docs/decisions/0114-the-stream.md. Runs with the
-- owner's rights: the service's role may not write or remove events itself.
CREATE OR REPLACE FUNCTION note_for_consoles() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path FROM CURRENT AS $$
BEGIN
  -- Any role may put this trigger on a temporary table of its own.
  IF TG_TABLE_SCHEMA <> current_schema() THEN
    RAISE EXCEPTION 'only a change of a table of this schema may write console events'
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  CASE TG_ARGV[0]
    WHEN 'movement' THEN
      INSERT INTO console_events (kind, subject) VALUES ('movement', NEW.movement_id);
    WHEN 'capital_transfer' THEN
      INSERT INTO console_events (kind, subject) VALUES ('capital_transfer', NEW.transfer_id);
    WHEN 'callback' THEN
      INSERT INTO console_events (kind, subject) VALUES ('callback', NEW.event_id);
    WHEN 'proposal' THEN
      INSERT INTO console_events (kind, subject) VALUES ('proposal', NEW.proposal_id);
    WHEN 'change_request' THEN
      INSERT INTO console_events (kind, subject) VALUES ('change_request', NEW.request_id);
    WHEN 'cutover' THEN INSERT INTO console_events (kind, subject) VALUES ('cutover', 'cutover');
    -- One event for each venue whose balances a statement changed; a fetch that finds the same
    -- balances writes none.
    WHEN 'new_balances' THEN INSERT INTO console_events (kind, subject)
      SELECT DISTINCT 'balance', venue_key FROM made;
    WHEN 'balances' THEN INSERT INTO console_events (kind, subject)
      SELECT DISTINCT 'balance', n.venue_key
      FROM changed n JOIN former o USING (venue_key, account_type, asset)
      WHERE (n.available, n.withdrawable, n.total)
        IS DISTINCT FROM (o.available, o.withdrawable, o.total);
  END CASE;
  RETURN NULL;
END $$;

REVOKE ALL ON FUNCTION note_for_consoles() FROM PUBLIC;

-- Returns what a console reads about the subject of an event, in its present state. The state is
-- read with the event and not stored in it, since transactions that change one row may be numbered
-- in another order. It has no amounts and no addresses: it only says what to read again.
CREATE OR REPLACE FUNCTION console_event_of(kind text, subject text) RETURNS jsonb
  LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN CASE kind
    WHEN 'movement' THEN (SELECT jsonb_build_object('movement_id', m.movement_id,
        'version', m.version, 'state', m.request_state,
        'attention_reason', attention_of(m, svc_now()) -> 'reason')
      FROM movements m WHERE m.movement_id = subject::uuid)
    WHEN 'capital_transfer' THEN (SELECT jsonb_build_object('transfer_id', t.transfer_id,
        'version', t.version, 'state', t.request_state)
      FROM capital_transfers t WHERE t.transfer_id = subject::uuid)
    WHEN 'callback' THEN (SELECT jsonb_build_object('event_id', c.event_id, 'state', c.status)
      FROM callbacks c WHERE c.event_id = subject::uuid)
    WHEN 'proposal' THEN (SELECT jsonb_build_object('proposal_id', p.proposal_id,
        'state', p.status)
      FROM template_proposals p WHERE p.proposal_id = subject::uuid)
    WHEN 'change_request' THEN (SELECT jsonb_build_object('change_request_id', r.request_id,
        'state', r.state)
      FROM change_requests r WHERE r.request_id = console_event_of.subject::uuid)
    WHEN 'cutover' THEN (SELECT jsonb_build_object('mode', c.mode) FROM cutover c)
    WHEN 'balance' THEN jsonb_build_object('venue_key', subject)
    END;
END $$;

-- prisma/functions/dashboard-keys.sql

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

-- prisma/functions/lanes.sql

-- Returns a person's raise of a lane's fee caps while it is valid; else NULL. Signing and views
-- both read it here.
CREATE OR REPLACE FUNCTION raise_of(l nonce_lanes) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN l.cap_raised_until > svc_now() THEN l.cap_raise || jsonb_build_object('until',
    wire_time(l.cap_raised_until)) END
$$;

-- Raises the fee caps of one lane and replaces its present raise. Returns false if there is no such
-- lane.
CREATE OR REPLACE FUNCTION raise_lane_caps(doc jsonb) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  l nonce_lanes;
  at timestamptz;
BEGIN
  SELECT * INTO l FROM nonce_lanes WHERE chain_id = (doc ->> 'chain_id')::bigint
    AND address = doc ->> 'address' FOR UPDATE;
  IF NOT FOUND THEN RETURN false; END IF;
  at := svc_now();
  UPDATE nonce_lanes SET cap_raise = doc -> 'raise' || jsonb_build_object('raised_at',
      wire_time(at)),
    cap_raised_until = at + make_interval(secs => (doc ->> 'ttl_seconds')::double precision)
  WHERE chain_id = l.chain_id AND address = l.address;
  PERFORM write_audit(with_details(doc -> 'audit',
    jsonb_build_object('previous_raise', raise_of(l))), at);
  RETURN true;
END $$;

-- Returns the nonce lanes for people: how many nonces are claimed and in no known block, since
-- when, and how many are mined and not yet final.
CREATE OR REPLACE FUNCTION lane_views() RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT coalesce(jsonb_agg(jsonb_build_object('chain_id', l.chain_id, 'address', l.address,
    'signer_key', l.signer_key, 'next_nonce', l.next_nonce, 'mined_nonce', l.mined_count,
    'final_nonce', l.final_count,
    'seen_at', wire_time(l.seen_at),
    'open_nonces', coalesce(o.open, 0),
    'oldest_open_seconds', extract(epoch FROM svc_now() - o.since)::bigint,
    'unfinal_nonces', coalesce(o.unfinal, 0), 'raise', raise_of(l),
    'stuck', CASE WHEN l.stuck_nonce IS NOT NULL THEN jsonb_build_object('nonce', l.stuck_nonce,
      'why', l.stuck_why,
      'since', wire_time(l.stuck_since)) END)
    ORDER BY l.chain_id, l.address), '[]'::jsonb)
  FROM nonce_lanes l LEFT JOIN LATERAL (
    SELECT count(*) FILTER (WHERE t.nonce >= coalesce(l.mined_count, 0)) AS open,
      min(t.created_at) FILTER (WHERE t.nonce >= coalesce(l.mined_count, 0)) AS since,
      count(*) FILTER (WHERE t.nonce < coalesce(l.mined_count, 0)) AS unfinal
    FROM evm_transactions t WHERE t.chain_id = l.chain_id AND t.address = l.address
      AND t.released_at IS NULL AND t.replaces IS NULL AND t.final_at IS NULL) o ON true
$$;

-- prisma/functions/restore.sql

-- Prepares the database after a restore that may have lost commits: recovery must check every open
-- node and transfer before it may be sent (again). Runs once for each incident; a repeat returns
-- the first result and changes nothing. `until`: after it, no earlier send can be under way
-- (LONGEST_WINDOW_SECONDS of domain/send/window.ts). `signed_until`: after it, an authorization
-- that was signed for a team's own executor can no longer be used (LONGEST_AUTHORIZATION_SECONDS of
-- domain/signing.ts).
CREATE OR REPLACE FUNCTION after_restore(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  at timestamptz := svc_now();
  until timestamptz := at + make_interval(secs => (doc ->> 'send_seconds')::double precision);
  signed_until timestamptz := at
    + make_interval(secs => (doc ->> 'signature_seconds')::double precision);
  done jsonb;
  woken uuid[];
  open_nodes integer;
  retries integer;
  lanes integer;
  transfers integer := 0;
  t capital_transfers;
BEGIN
  INSERT INTO restores (incident, at) VALUES (doc ->> 'incident', at) ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN
    SELECT result INTO done FROM restores WHERE incident = doc ->> 'incident';
    RETURN done || '{"repeated": true}';
  END IF;
  -- Approvals of before count no longer while others are missing, nor does what was signed for them.
  INSERT INTO deployments (deployment, since) VALUES (gen_random_uuid(), at)
    ON CONFLICT DO NOTHING;

  -- An ended movement that can be retried counts too: the backup may lack its next attempt, which
  -- may have been sent.
  PERFORM FROM movements WHERE request_state NOT IN ('COMPLETED', 'REJECTED', 'EXPIRED')
    ORDER BY movement_id FOR UPDATE;
  -- The restore may have lost an approval, so people get time to repeat it: recovery checks only
  -- nodes of approved movements, and an expired movement cannot be approved.
  UPDATE movements SET expires_at = greatest(expires_at, at + interval '7 days')
  WHERE request_state = 'PENDING_APPROVAL';
  WITH suspect AS (
    UPDATE movement_nodes n SET
      restored = true,
      recover_first = recover_first OR n.state IN ('BLOCKED', 'READY', 'SKIPPED'),
      -- Higher than any epoch that was lost, so that a worker with a lost epoch can write nothing.
      submit_epoch = submit_epoch + 1000,
      send_not_after = greatest(send_not_after, until,
        CASE WHEN n.signer_binding IS NOT NULL AND EXISTS (SELECT FROM executors e
            WHERE e.executor_key = n.executor_binding ->> 'executor_key' AND e.kind <> 'local')
          THEN signed_until END)
    FROM movements m
    WHERE m.movement_id = n.movement_id
      AND m.request_state NOT IN ('COMPLETED', 'REJECTED', 'EXPIRED')
      AND n.state NOT IN ('COMPLETED', 'CANCELLED')
      AND n.may_send
    RETURNING n.state
  ) SELECT count(*) FILTER (WHERE state NOT IN ('FAILED', 'SKIPPED')), count(*)
    FILTER (WHERE state IN ('FAILED', 'SKIPPED'))
  INTO open_nodes, retries FROM suspect;
  WITH open AS (
    UPDATE movements SET version = version + 1 WHERE ended_at IS NULL
      AND request_state NOT IN ('COMPLETED', 'REJECTED', 'EXPIRED')
    RETURNING movement_id
  ) SELECT coalesce(array_agg(movement_id ORDER BY movement_id), '{}') INTO woken FROM open;
  -- A run may remember changes that the database has lost: wake each run to load again.
  INSERT INTO commands (command_id, movement_id, kind, created_at, claimed_until)
  SELECT svc_new_id(at), id, 'wake', at, at FROM unnest(woken) AS id;

  -- A transaction that was lost may have used any nonce from the lane's next one on. If there was
  -- an earlier restore, the lane may have lost all of its nonces then, so this starts at 0.
  UPDATE nonce_lanes SET unproven_from = coalesce(unproven_from,
    CASE WHEN EXISTS (SELECT FROM restores WHERE incident <> doc ->> 'incident') THEN 0
      ELSE next_nonce END);
  GET DIAGNOSTICS lanes = ROW_COUNT;

  FOR t IN SELECT * FROM capital_transfers
    WHERE request_state IN ('CREATED', 'SUBMITTING', 'PENDING_PROVIDER_CONFIRMATION')
           ORDER BY transfer_id FOR UPDATE LOOP
    IF NOT (apply_transfer_step(
      jsonb_build_object('transfer_id', t.transfer_id, 'states', jsonb_build_array(t.request_state),
      -- SUBMITTING, as after a fence: the transfer is sent if the provider shows nothing and a
      -- repeat has no second effect.
      'to', CASE WHEN t.request_state = 'CREATED' THEN 'SUBMITTING' ELSE t.request_state END,
      'set', jsonb_build_object('epoch', t.submit_epoch + 1000,
        'send_not_after', jsonb_build_object('@after_seconds', doc -> 'send_seconds')),
      'event', jsonb_build_object('event_id', svc_new_id(at), 'event_type', 'transfer_pending',
        'actor', '{"type": "system"}'::jsonb,
        'message', 'The database was restored: the service gets the outcome from the provider'),
      'wakes', true)) ->> 'ok')::boolean THEN
      RAISE EXCEPTION 'capital transfer % cannot be marked for recovery after the restore',
        t.transfer_id;
    END IF;
    transfers := transfers + 1;
  END LOOP;

  done := jsonb_build_object('incident', doc ->> 'incident',
    'at', wire_time(at),
    'nothing_found_counts_from', wire_time(until),
    'movements_woken', cardinality(woken), 'nodes_asked_first', open_nodes,
      'retries_asked_first', retries, 'capital_transfers', transfers, 'nonce_lanes', lanes);
  UPDATE restores SET result = done WHERE incident = doc ->> 'incident';
  PERFORM write_audit(with_details(doc -> 'audit', done), at);
  RETURN done || '{"repeated": false}';
END $$;

-- prisma/functions/webhooks.sql

-- Queues a message to one webhook and returns its id. `facts` name what to look at and hold no
-- amount, address or secret, since the message leaves the service. `path`: the page of the console.
-- The relay checks the host, as for a callback.
CREATE OR REPLACE FUNCTION queue_webhook(w webhooks, kind text, facts jsonb, path text,
  at timestamptz) RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
  id uuid := svc_new_id(at);
BEGIN
  INSERT INTO callbacks (event_id, webhook, event_type, sequence, url, payload, nonce, status,
    next_attempt_at, created_at, updated_at)
  VALUES (id, w.name, kind, 0, w.url,
    jsonb_build_object('type', kind,
      'timestamp', wire_time(at),
      'data', facts || jsonb_build_object('link', w.console_origin || '/console' || path))::text,
    id::text, 'pending', at, at, at);
  RETURN id;
END $$;

-- Queues a message to every webhook that takes its type; see queue_webhook.
CREATE OR REPLACE FUNCTION tell_webhooks(kind text, facts jsonb, path text, at timestamptz)
  RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM queue_webhook(w, kind, facts, path, at)
  FROM webhooks w WHERE w.event_types IS NULL OR kind = ANY (w.event_types);
END $$;

-- Returns a key as a message shows it: whoever named it may have written a sentence for the chat
-- where the message ends.
CREATE OR REPLACE FUNCTION plain_key(key text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT left(regexp_replace(key, '[^A-Za-z0-9._/-]', '?', 'g'), 128)
$$;

-- Tells the webhooks of one change that a person should know of; the types are those of
-- domain/callbacks/webhook.ts. Runs with the owner's rights: the service's role does not read
-- webhooks, whose addresses may hold a token.
CREATE OR REPLACE FUNCTION note_for_webhooks() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path FROM CURRENT AS $$
DECLARE
  at timestamptz;
  m movements;
BEGIN
  -- Any role may put this trigger on a temporary table of its own.
  IF TG_TABLE_SCHEMA <> current_schema() THEN
    RAISE EXCEPTION 'only a change of a table of this schema makes messages of webhooks'
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  IF NOT EXISTS (SELECT FROM webhooks) THEN RETURN NULL; END IF;
  at := svc_now();
  CASE TG_ARGV[0]
    WHEN 'movement' THEN
      SELECT * INTO m FROM movements WHERE movement_id = NEW.movement_id;
      -- An operator who resets allowances has approved that: the approval follows at once.
      IF m.request_state = 'PENDING_APPROVAL' AND m.template_key <> 'system/reset-allowances' THEN
        PERFORM tell_webhooks('movement.approval_needed', jsonb_build_object(
          'movement_id', m.movement_id, 'template_key', plain_key(m.template_key),
          'expires_at', wire_time(m.expires_at)),
          '/movements/' || m.movement_id, at);
      END IF;
    WHEN 'attention' THEN
      SELECT * INTO m FROM movements WHERE movement_id = NEW.movement_id;
      PERFORM tell_webhooks('movement.attention', jsonb_build_object(
        'movement_id', m.movement_id, 'template_key', plain_key(m.template_key),
        'node_key', plain_key(coalesce(NEW.node_key, (SELECT n.node_key FROM movement_nodes n
          WHERE n.movement_id = NEW.movement_id AND CASE NEW.to_state
            WHEN 'WAITING_MANUAL_ACTION' THEN n.state = 'READY' AND n.node_kind = 'manual_gate'
            WHEN 'MANUAL_INTERVENTION' THEN n.state = 'UNKNOWN' END
          ORDER BY n.updated_at DESC, n.position LIMIT 1))),
        -- The reason that the state implies: ATTENTION_OF_STATE of domain/attention-reasons.ts.
        'reason', coalesce(NEW.data ->> 'reason', CASE NEW.to_state WHEN 'FAILED' THEN 'failed'
          WHEN 'WAITING_MANUAL_ACTION' THEN 'manual_gate' ELSE 'unknown_outcome' END)),
        '/movements/' || m.movement_id, at);
    WHEN 'capital_transfer' THEN
      PERFORM tell_webhooks('capital_transfer.attention',
        jsonb_build_object('transfer_id', NEW.transfer_id), '/transfers/' || NEW.transfer_id, at);
    WHEN 'approval' THEN
      PERFORM tell_webhooks('approval.recorded', jsonb_build_object('person', NEW.person,
          'decision', NEW.decision) || CASE
          WHEN EXISTS (SELECT FROM movements o WHERE o.movement_id = NEW.subject_id)
          THEN jsonb_build_object('movement_id', NEW.subject_id, 'change_request_id', NULL)
          ELSE jsonb_build_object('movement_id', NULL, 'change_request_id', NEW.subject_id) END,
        CASE WHEN EXISTS (SELECT FROM movements o WHERE o.movement_id = NEW.subject_id)
          THEN '/movements/' ELSE '/changes/' END || NEW.subject_id, at);
    WHEN 'change_request' THEN
      PERFORM tell_webhooks('change_request.approval_needed',
        jsonb_build_object('change_request_id', NEW.request_id, 'kind', NEW.kinds[1],
          'author', NEW.author -> 'client_id'), '/changes/' || NEW.request_id, at);
    WHEN 'ended_change_request' THEN
      -- Of what the owner makes alone it counts that it was made, not that it was wanted.
      PERFORM tell_webhooks(CASE WHEN NEW.break_glass AND NEW.state = 'applied'
          THEN 'change_request.break_glass' ELSE 'change_request.ended' END,
        jsonb_build_object('change_request_id', NEW.request_id, 'kind', NEW.kinds[1],
          'author', NEW.author -> 'client_id', 'state', NEW.state), '/changes/' || NEW.request_id,
        at);
    WHEN 'template_proposal' THEN
      PERFORM tell_webhooks('template_proposal.decision_needed',
        jsonb_build_object('proposal_id', NEW.proposal_id, 'authority_key', NEW.authority_key,
          'expires_at', wire_time(NEW.expires_at)), '/proposals/' || NEW.proposal_id, at);
    WHEN 'dead_letter' THEN
      PERFORM tell_webhooks('callback.dead_letter',
        jsonb_build_object('event_id', NEW.event_id, 'event_type', NEW.event_type,
          'movement_id', NEW.movement_id, 'transfer_id', NEW.transfer_id,
          'last_error', NEW.last_error), '/callbacks?status=dead_letter', at);
    WHEN 'cutover' THEN
      PERFORM tell_webhooks('cutover.changed',
        jsonb_build_object('mode', NEW.mode, 'previous_mode', OLD.mode), '/', at);
  END CASE;
  RETURN NULL;
END $$;

REVOKE ALL ON FUNCTION note_for_webhooks() FROM PUBLIC;

-- Creates a webhook, or replaces one. `doc`: {"name", "url", "event_types", "console_origin",
-- "audit"}. Messages that are queued already keep their address.
CREATE OR REPLACE FUNCTION set_webhook(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  w webhooks := jsonb_populate_record(NULL::webhooks, doc);
  at timestamptz := svc_now();
BEGIN
  w.created_at := at;
  w.updated_at := at;
  INSERT INTO webhooks SELECT w.*
  ON CONFLICT (name) DO UPDATE SET url = w.url, event_types = w.event_types,
    console_origin = w.console_origin, updated_at = at
  RETURNING * INTO w;
  PERFORM write_audit(doc -> 'audit', at);
  RETURN to_jsonb(w);
END $$;

-- Removes a webhook with what it has not received; false for an unknown name. `doc`: {"name",
-- "audit"}.
CREATE OR REPLACE FUNCTION remove_webhook(doc jsonb) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM webhooks WHERE name = doc ->> 'name';
  IF NOT FOUND THEN RETURN false; END IF;
  DELETE FROM callbacks WHERE webhook = doc ->> 'name' AND status <> 'delivered';
  PERFORM write_audit(doc -> 'audit', svc_now());
  RETURN true;
END $$;

-- Queues the message `webhook.test` to one webhook, whatever types it takes; NULL for an unknown
-- name. `doc`: {"name", "audit"}.
CREATE OR REPLACE FUNCTION test_webhook(doc jsonb) RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
  w webhooks;
  at timestamptz := svc_now();
BEGIN
  SELECT * INTO w FROM webhooks WHERE name = doc ->> 'name';
  IF NOT FOUND THEN RETURN NULL; END IF;
  PERFORM write_audit(doc -> 'audit', at);
  RETURN queue_webhook(w, 'webhook.test', '{}', '/', at);
END $$;

-- prisma/functions/write-path.sql

-- Writes timeline rows with gapless sequence numbers and, if the movement has a callback URL, their
-- callbacks. A callback whose host is not listed is stored as a dead letter, with a timeline row
-- that says so. The caller has locked the movement. Returns the next sequence number.
CREATE OR REPLACE FUNCTION append_timeline(movement uuid, next_sequence integer, callback_url text,
  request_state text, frontier text[],
                                error_code text, events jsonb, callback_types jsonb, at timestamptz)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  event jsonb;
  seq integer := next_sequence;
  dead boolean;
BEGIN
  FOR i IN 0 .. coalesce(jsonb_array_length(events), 0) - 1 LOOP
    event := events -> i;
    INSERT INTO timeline_events (event_id, movement_id, sequence, event_type, node_key, attempt,
      from_state, to_state, actor,
                                 message, data, occurred_at)
    VALUES ((event ->> 'event_id')::uuid, movement, seq, event ->> 'event_type',
      event ->> 'node_key',
            (event ->> 'attempt')::integer, event ->> 'from_state', event ->> 'to_state',
              event -> 'actor', event ->> 'message',
            coalesce(event -> 'data', '{}'::jsonb), at);
    seq := seq + 1;
    CONTINUE WHEN callback_url IS NULL
      OR NOT coalesce(callback_types ? (event ->> 'event_type'), false);
    dead := callback_refused(callback_url);
    INSERT INTO callbacks (event_id, movement_id, event_type, sequence, url, payload, nonce,
      status, next_attempt_at, last_error,
                           created_at, updated_at)
    VALUES ((event ->> 'event_id')::uuid, movement, event ->> 'event_type', seq - 1, callback_url,
            jsonb_build_object('event_id', event ->> 'event_id',
              'event_type', event ->> 'event_type', 'movement_id', movement,
              'request_state', request_state, 'current_frontier', to_jsonb(frontier),
                'node_key', event -> 'node_key',
              'error_code', error_code, 'sequence', seq - 1,
              'occurred_at', wire_time(at))::text,
            event ->> 'event_id', CASE WHEN dead THEN 'dead_letter' ELSE 'pending' END, at,
            CASE WHEN dead THEN 'host_not_allowed' END, at, at);
    CONTINUE WHEN NOT dead;
    INSERT INTO timeline_events (event_id, movement_id, sequence, event_type, actor, message, data,
      occurred_at)
    VALUES (svc_new_id(at), movement, seq, 'callback_dead_lettered', '{"type": "system"}'::jsonb,
            'The callback ' || (event ->> 'event_type') || ' is a dead letter: host_not_allowed',
            jsonb_build_object('callback_event_id', event ->> 'event_id',
              'callback_event_type', event ->> 'event_type',
              'attempts', 0, 'reason', 'host_not_allowed'), at);
    seq := seq + 1;
  END LOOP;
  RETURN seq;
END $$;

-- Applies one transition; see store/transition.ts for the shape of `doc`.
CREATE OR REPLACE FUNCTION apply_transition(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  m record;
  n record;
  completed text[] := '{}';
  settles boolean := false;
  after movements;
  nodes jsonb := coalesce(doc -> 'nodes', '[]'::jsonb);
  part jsonb;
  fields jsonb;
  other jsonb;
  tx evm_transactions;
  at timestamptz;
  refusal text;
  problems jsonb;
  send jsonb;
  seq integer;
  fenced text[];
  frozen boolean;
  unclaimed boolean := false;
  holder jsonb;
BEGIN
  -- Finds the nodes that pass a fence before any row is locked; see cutover_now.
  SELECT array_agg(value ->> 'node_key') INTO fenced FROM jsonb_array_elements(nodes)
    WHERE value -> 'set' ->> 'state' = 'SUBMITTING';
  frozen := fenced IS NOT NULL AND cutover_now() = 'frozen';
  -- These may wait for people; see ask_action.
  IF doc ->> 'command_kind' IN ('resume', 'retry', 'resolve') THEN
    PERFORM hold_approval_rules();
  END IF;
  -- A retry binds nodes to the present signers, so no rotation may run at the same time.
  IF doc ->> 'command_kind' = 'retry' THEN PERFORM cutover_now(); END IF;
  SELECT movement_id, request_state, approval_status, reservation_status, version, next_sequence,
    current_frontier, error_code, callback_url, expires_at, pooled,
           auto_approve_result ->> 'outcome' = 'approved'
           AND auto_approve_result ? 'policy_id' AS budgeted
  INTO m FROM movements WHERE movement_id = (doc ->> 'movement_id')::uuid FOR UPDATE;
  at := svc_now();
  IF m.movement_id IS NULL THEN
    RETURN jsonb_build_object('ok', false, 'reason', 'movement_not_found');
  END IF;

  IF doc ? 'command_id'
    AND EXISTS (SELECT 1 FROM commands WHERE command_id = (doc ->> 'command_id')::uuid) THEN
    RETURN jsonb_build_object('ok', true, 'at', at, 'version', m.version,
      'request_state', m.request_state,
      'approval_status', m.approval_status, 'reservation_status', m.reservation_status,
        'current_frontier', to_jsonb(m.current_frontier),
      'expires_at', m.expires_at, 'repeated', true);
  END IF;

  refusal := CASE
    WHEN doc ? 'version' AND m.version <> (doc ->> 'version')::integer THEN 'version'
    WHEN doc ? 'states' AND NOT (doc -> 'states') ? m.request_state THEN 'movement_state'
    WHEN doc ->> 'expiry' = 'future' AND m.expires_at <= at THEN 'expired'
    WHEN doc ->> 'expiry' = 'past' AND m.expires_at > at THEN 'not_expired'
    WHEN doc ? 'plan_hash' AND doc ->> 'plan_hash' IS DISTINCT FROM (
      SELECT compiled_plan_hash FROM movement_plans WHERE movement_id = m.movement_id)
      THEN 'plan_hash' END;

  -- After a cancel, a node that may have been sent before a restore becomes READY, so that recovery
  -- searches for that send; the node passes no fence.
  IF refusal IS NULL AND (fenced IS NOT NULL
      OR doc -> 'set' ->> 'request_state' IN ('APPROVED', 'EXECUTING')
      OR (doc -> 'set' ->> 'request_state' IS DISTINCT FROM 'CANCELLED'
        AND jsonb_path_exists(nodes, '$[*].set.state ? (@ == "READY")')))
    AND NOT (doc ?& ARRAY['approval', 'plan_hash'] OR is_approved(m.movement_id)) THEN
    refusal := 'not_approved';
  END IF;

  -- Whoever sends says which plan's assertions it has verified; a cancelling transaction pays no
  -- one.
  IF refusal IS NULL AND (fenced IS NOT NULL
      OR jsonb_path_exists(nodes, '$[*].version ? (@.kind != "cancel")'))
    AND needs_proof(m.movement_id) AND doc ->> 'proven' IS DISTINCT FROM (
      SELECT compiled_plan_hash FROM movement_plans WHERE movement_id = m.movement_id) THEN
    refusal := 'approval_not_proven';
  END IF;

  IF refusal IS NULL THEN
    IF jsonb_array_length(nodes) > 1 THEN
      nodes := (SELECT jsonb_agg(value ORDER BY value ->> 'node_key')
        FROM jsonb_array_elements(nodes));
    END IF;
    FOR i IN 0 .. jsonb_array_length(nodes) - 1 LOOP
      part := nodes -> i;
      SELECT node_key, node_kind, state, attempt, submit_epoch, recover_first, prepared_action,
        pays, claims_when, output INTO n
      FROM movement_nodes WHERE movement_id = m.movement_id
        AND node_key = part ->> 'node_key' FOR UPDATE;
      IF n.node_key IS NULL OR NOT (part -> 'states') ? n.state
         OR n.attempt <> coalesce((part ->> 'attempt')::integer, n.attempt)
         OR n.submit_epoch <> coalesce((part ->> 'epoch')::integer, n.submit_epoch)
         -- The prepared action is checked before the fence and sent after it. So it changes only
         -- together with attempt or epoch; a fence may set it only if none is stored.
         OR (n.prepared_action IS NOT NULL AND part -> 'set' ? 'prepared_action'
           AND (NOT part -> 'set' ?| ARRAY['attempt', 'submit_epoch']
             OR part -> 'set' ->> 'state' = 'SUBMITTING'))
         -- A completed node stays completed, with two exceptions: an allowance may run again, since
         -- it moves nothing, and a node whose payment is reassigned waits again.
         OR (n.state = 'COMPLETED' AND part -> 'set' ? 'state'
           AND n.pays <> 'spender' AND NOT part ? 'releases')
         -- A node passes no fence before recovery has searched for its earlier send.
         OR (n.recover_first AND part -> 'set' ->> 'state' = 'SUBMITTING')
         -- A gate has no phases: it is skipped, cancelled, or passed by a person's resume.
         OR (n.node_kind = 'manual_gate'
           AND part -> 'set' ->> 'state' NOT IN ('BLOCKED', 'READY', 'SKIPPED', 'CANCELLED')
           AND part -> 'set' -> 'resumed' IS DISTINCT FROM 'true') THEN
        refusal := 'node_state';
        other := CASE WHEN n.node_key IS NOT NULL
          THEN jsonb_build_object('node_key', n.node_key, 'state', n.state, 'attempt', n.attempt,
            'epoch', n.submit_epoch) END;
        EXIT;
      END IF;
      unclaimed := unclaimed OR part -> 'set' ->> 'state' = 'COMPLETED' AND n.state <> 'COMPLETED'
        AND coalesce(jsonb_array_length(part -> 'claims'), 0) = 0 AND NOT part ? 'takes'
        AND needs_claim(n.claims_when, CASE WHEN part -> 'set' ? 'output'
          THEN part -> 'set' -> 'output' ELSE n.output END);
      -- Keeps the earlier state in `was`: the writes below depend on it.
      nodes := CASE WHEN part -> 'set' ? 'state'
        THEN jsonb_set(nodes, ARRAY[i::text, 'was'], to_jsonb(n.state)) ELSE nodes END;
    END LOOP;
  END IF;
  IF refusal IS NULL AND unclaimed THEN refusal := 'claim_missing'; END IF;
  IF refusal IS NULL AND frozen THEN
    PERFORM freeze_node(m.movement_id, key, at) FROM unnest(fenced) AS key;
    refusal := 'frozen';
  END IF;
  IF refusal IS NULL AND doc ? 'send_over' THEN
    send := unsettled_send(m.movement_id, doc -> 'send_over', at);
    refusal := send ->> 'reason';
  END IF;
  IF refusal IS NULL AND doc ? 'require' THEN
    problems := binding_problems(doc -> 'require', m.movement_id);
    IF problems IS NULL AND doc -> 'require' ? 'flow' THEN
      problems := flow_problems(m.movement_id, doc -> 'require' -> 'flow');
    END IF;
    IF problems IS NOT NULL THEN refusal := 'binding'; END IF;
  END IF;
  FOR part IN SELECT value FROM jsonb_array_elements(nodes) LOOP
    EXIT WHEN refusal IS NOT NULL;
    IF part ? 'nonce' THEN
      problems := lane_problem(m.movement_id, part ->> 'node_key', (part ->> 'attempt')::integer,
        part -> 'nonce');
      IF problems IS NOT NULL THEN refusal := 'binding'; END IF;
    ELSIF part ? 'version' THEN
      -- Locks the lane, since a concurrent send might take over an unsigned claim.
      PERFORM 1 FROM nonce_lanes l JOIN evm_transactions c
        ON c.chain_id = l.chain_id AND c.address = l.address
      WHERE c.transaction_id = (part -> 'version' ->> 'claim')::uuid FOR UPDATE OF l;
      IF NOT is_newest_version(m.movement_id, part -> 'version') THEN
        refusal := 'node_state';
      END IF;
    ELSIF (part -> 'set' ->> 'cancel_asked')::integer > 0 THEN
      -- A condition of its own: combined with the one above, Postgres would plan this query for
      -- every written node.
      IF NOT EXISTS (
        SELECT FROM evm_transactions t WHERE t.movement_id = m.movement_id
          AND t.node_key = part ->> 'node_key'
          AND t.attempt = (part -> 'set' ->> 'cancel_asked')::integer
          AND t.raw_tx IS NOT NULL AND t.replaces IS NULL AND t.released_at IS NULL
          AND t.final_at IS NULL) THEN
        refusal := 'nothing_signed';
      END IF;
    ELSIF part ? 'claims' THEN
      holder := claim_holder(m.movement_id, part ->> 'node_key', part -> 'claims', at);
      IF holder IS NOT NULL THEN refusal := 'already_claimed'; END IF;
    ELSIF part ? 'releases' OR part ? 'takes' THEN
      IF NOT lock_claims(coalesce((part -> 'takes' ->> 'movement_id')::uuid, m.movement_id),
        coalesce(part -> 'takes' ->> 'node_key', part ->> 'node_key')) THEN
        refusal := 'claim_missing';
      END IF;
    END IF;
  END LOOP;
  IF refusal IS NOT NULL THEN
    RETURN jsonb_build_object('ok', false, 'reason', refusal, 'problems', problems, 'at', at,
      'version', m.version,
      'request_state', m.request_state, 'approval_status', m.approval_status,
        'reservation_status', m.reservation_status,
      'current_frontier', to_jsonb(m.current_frontier), 'expires_at', m.expires_at,
      'node', other, 'send', send, 'holder', holder);
  END IF;

  IF doc ->> 'command_kind' IN ('resume', 'retry', 'resolve') AND NOT doc ? 'together' THEN
    PERFORM ask_action(jsonb_build_array(doc || jsonb_build_object('nodes', nodes)), NULL);
  END IF;

  -- The plan's hash was compared with this one above.
  IF doc ?& ARRAY['approval', 'plan_hash'] THEN
    INSERT INTO movement_approvals (movement_id, plan_hash, approved_by, name, at)
    VALUES (m.movement_id, doc ->> 'plan_hash', doc -> 'approval' ->> 'by',
      doc -> 'approval' ->> 'name', at);
  END IF;
  FOR i IN 0 .. jsonb_array_length(nodes) - 1 LOOP
    part := nodes -> i;
    fields := part -> 'set';
    UPDATE movement_nodes SET
      state = coalesce(fields ->> 'state', state),
      attempt = coalesce((fields ->> 'attempt')::integer, attempt),
      amount = CASE WHEN fields ? 'amount' THEN (fields ->> 'amount')::numeric ELSE amount END,
      preflight_passed = coalesce((fields ->> 'preflight_passed')::boolean, preflight_passed),
      prepared_action = CASE WHEN fields ? 'prepared_action'
        THEN nullif(fields -> 'prepared_action', 'null') ELSE prepared_action END,
      sign_request = CASE WHEN fields ? 'sign_request'
        THEN nullif(fields -> 'sign_request', 'null') ELSE sign_request END,
      submit_epoch = coalesce((fields ->> 'submit_epoch')::integer, submit_epoch),
      send_not_after = CASE WHEN fields ? 'send_not_after'
        THEN svc_time(fields -> 'send_not_after', at) ELSE send_not_after END,
      recover_first = coalesce((fields ->> 'recover_first')::boolean, recover_first),
      restored = coalesce((fields ->> 'restored')::boolean, restored),
      resumed = coalesce((fields ->> 'resumed')::boolean, resumed),
      only_look = coalesce((fields ->> 'only_look')::boolean, only_look),
      cancel_asked = coalesce((fields ->> 'cancel_asked')::integer, cancel_asked),
      error_count = coalesce((fields ->> 'error_count')::integer, error_count),
      unanswered = coalesce((fields ->> 'unanswered')::integer, unanswered),
      unanswered_since = CASE WHEN fields ? 'unanswered'
        THEN CASE WHEN fields -> 'unanswered' <> '0' THEN coalesce(unanswered_since, at) END
          ELSE unanswered_since END,
      external_ref = CASE WHEN fields ? 'external_ref' THEN fields ->> 'external_ref'
        ELSE external_ref END,
      output = CASE WHEN fields ? 'output' THEN nullif(fields -> 'output', 'null') ELSE output END,
      error_code = CASE WHEN fields ? 'error_code' THEN fields ->> 'error_code' ELSE error_code END,
      error_message = CASE WHEN fields ? 'error_message' THEN fields ->> 'error_message'
        ELSE error_message END,
      -- The time that a node waits at its fence in the mode `frozen` does not count towards its
      -- time limit.
      started_at = CASE WHEN fields ? 'started_at' THEN svc_time(fields -> 'started_at', at)
        WHEN fields ? 'state' THEN started_at + coalesce(at - frozen_since, interval '0')
        ELSE started_at END,
      frozen_since = CASE WHEN NOT fields ? 'state' THEN frozen_since END,
      submitted_at = CASE WHEN fields ? 'submitted_at' THEN svc_time(fields -> 'submitted_at', at)
        ELSE submitted_at END,
      completed_at = CASE WHEN fields ? 'completed_at' THEN svc_time(fields -> 'completed_at', at)
        ELSE completed_at END,
      updated_at = at
    WHERE movement_id = m.movement_id AND node_key = part ->> 'node_key'
    RETURNING node_key, state, attempt, submit_epoch, external_ref, error_code INTO n;
    settles := settles OR part ? 'was' OR fields ?| ARRAY['amount', 'recover_first'];
    IF n.state = 'SUBMITTING' AND part ->> 'was' = 'READY' THEN
      INSERT INTO node_attempts (idempotency_key, movement_id, node_key, attempt, started_at)
      VALUES (m.movement_id || ':' || n.node_key || ':' || n.attempt, m.movement_id, n.node_key,
        n.attempt, at)
      ON CONFLICT (idempotency_key) DO NOTHING;
    ELSIF n.state IN ('COMPLETED', 'FAILED') AND part ->> 'was' <> n.state THEN
      UPDATE node_attempts SET outcome = n.state, ended_at = at, external_ref = n.external_ref,
        error_code = n.error_code
      WHERE movement_id = m.movement_id AND node_key = n.node_key AND attempt = n.attempt
        AND ended_at IS NULL;
      IF n.state = 'COMPLETED' THEN completed := completed || n.node_key; END IF;
    END IF;
    IF jsonb_array_length(part -> 'artifacts') > 0 THEN
      INSERT INTO artifacts (artifact_id, movement_id, node_key, attempt, kind, data, created_at)
      SELECT (a ->> 'artifact_id')::uuid, m.movement_id, n.node_key, n.attempt, a ->> 'kind',
        a -> 'data', at
      FROM jsonb_array_elements(part -> 'artifacts') AS a;
    END IF;
    IF part ? 'nonce' THEN tx := claim_nonce(m.movement_id, n.node_key, n.attempt, part -> 'nonce',
      at); END IF;
    IF part ? 'claims' THEN
      PERFORM write_claims(m.movement_id, n.node_key, part -> 'claims', at);
    END IF;
    IF part ? 'takes' THEN PERFORM move_claims(part -> 'takes', m.movement_id, n.node_key); END IF;
    IF part ? 'version' THEN PERFORM store_version(part -> 'version', at); END IF;
    IF part ? 'reorged' THEN UPDATE evm_transactions SET reorged_at = at
      WHERE transaction_id = (part ->> 'reorged')::uuid; END IF;
  END LOOP;

  fields := coalesce(doc -> 'set', '{}'::jsonb);
  IF fields = '{}'::jsonb AND NOT doc ?| ARRAY['conditions', 'bump'] THEN
    seq := append_timeline(m.movement_id, m.next_sequence, m.callback_url, m.request_state,
      m.current_frontier, m.error_code,
      doc -> 'timeline', doc -> 'callback_types', at);
    UPDATE movements SET next_sequence = seq, updated_at = at WHERE movement_id = m.movement_id;
  ELSE
    m.request_state := coalesce(fields ->> 'request_state', m.request_state);
    m.approval_status := coalesce(fields ->> 'approval_status', m.approval_status);
    m.reservation_status := coalesce(fields ->> 'reservation_status', m.reservation_status);
    IF fields ? 'current_frontier' THEN
      m.current_frontier := ARRAY(SELECT jsonb_array_elements_text(fields -> 'current_frontier'));
    END IF;
    IF fields ? 'error_code' THEN m.error_code := fields ->> 'error_code'; END IF;
    IF coalesce((doc ->> 'bump')::boolean, false) THEN m.version := m.version + 1; END IF;
    seq := append_timeline(m.movement_id, m.next_sequence, m.callback_url, m.request_state,
      m.current_frontier, m.error_code,
      doc -> 'timeline', doc -> 'callback_types', at);
    UPDATE movements SET
      request_state = m.request_state, approval_status = m.approval_status,
        reservation_status = m.reservation_status,
      version = m.version, next_sequence = seq, current_frontier = m.current_frontier,
        error_code = m.error_code,
      error_message = CASE WHEN fields ? 'error_message' THEN fields ->> 'error_message'
        ELSE error_message END,
      approver_id = coalesce(fields ->> 'approver_id', approver_id),
      approved_by = CASE WHEN fields ? 'approved_by' THEN fields ->> 'approved_by'
        ELSE approved_by END,
      ended_at = CASE WHEN fields ? 'ended_at' THEN svc_time(fields -> 'ended_at', at)
        ELSE ended_at END,
      -- A movement that runs again and fails again needs a person again.
      acknowledged_at = CASE WHEN fields ? 'acknowledged_at'
        THEN svc_time(fields -> 'acknowledged_at', at)
        WHEN m.request_state = 'FAILED' THEN acknowledged_at END,
      edge_conditions = CASE WHEN doc ? 'conditions'
        THEN jsonb_strip_nulls(edge_conditions || (doc -> 'conditions')) ELSE edge_conditions END,
      updated_at = at
    WHERE movement_id = m.movement_id;
    settles := settles OR fields ?| ARRAY['request_state', 'approval_status'];
  END IF;
  IF settles AND doc ->> 'command_kind' = 'retry' THEN
    PERFORM follow_signers(m.movement_id, doc -> 'take', '{"type": "system"}'::jsonb, at);
  END IF;
  -- Holds and the use of a budget follow from the present states of movement and nodes.
  IF settles AND (m.pooled OR m.budgeted) THEN
    SELECT * INTO after FROM movements WHERE movement_id = m.movement_id;
    IF m.pooled THEN PERFORM settle_holds(after, doc -> 'take', at); END IF;
    IF m.pooled THEN PERFORM note_sent(m.movement_id, completed, at); END IF;
    IF m.budgeted AND after.approval_status = 'approved'
      THEN PERFORM settle_budget(after, doc ? 'take', at); END IF;
  END IF;
  IF doc ? 'command_id' THEN
    INSERT INTO commands (command_id, movement_id, kind, created_at, claimed_until)
    VALUES ((doc ->> 'command_id')::uuid, m.movement_id, doc ->> 'command_kind', at,
      at + interval '2 seconds');
  END IF;
  IF jsonb_array_length(doc -> 'audit') > 0 THEN PERFORM write_audit(doc -> 'audit', at); END IF;
  RETURN jsonb_build_object('ok', true, 'at', at, 'version', m.version,
    'request_state', m.request_state,
    'approval_status', m.approval_status, 'reservation_status', m.reservation_status,
      'current_frontier', to_jsonb(m.current_frontier),
    'expires_at', m.expires_at, 'transaction',
    CASE WHEN tx.transaction_id IS NOT NULL
      THEN jsonb_build_object('transaction_id', tx.transaction_id, 'chain_id', tx.chain_id,
      'from', tx.address, 'nonce', tx.nonce, 'unsigned', tx.unsigned, 'raw_tx', tx.raw_tx,
        'tx_hash', tx.tx_hash) END);
END $$;
