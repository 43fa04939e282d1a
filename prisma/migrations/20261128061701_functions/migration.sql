-- Written by `npm run sql:migration` from prisma/functions/; not by hand.
SELECT set_config('check_function_bodies', 'off', true);
-- What functions with the owner's rights read and write is never a caller's temporary table.
SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true);

-- prisma/functions/approval-rules.sql

-- Returns the person to whom an authenticated identity belongs; NULL if it belongs to none.
CREATE OR REPLACE FUNCTION person_of(who text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT person FROM person_identities WHERE identity = who
$$;

-- Returns whether an identity belongs to a person, or did: what it did stays that person's.
CREATE OR REPLACE FUNCTION is_or_was(who text, id text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM person_identities i WHERE i.identity = id AND i.person = who)
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
  SELECT r.name, r.rule FROM approval_rules r WHERE rule_matches(r.rule, m, at)
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

-- Returns what the rules of a movement ask, and who approved: [{name, rule, people: [{person, name,
-- groups, excluded, decided_at, reason, counts}], met, possible}]; NULL if no rule holds for it.
-- `people` are the members of the rule's groups who have an identity, and whoever approved and is
-- none (excluded `not_in_group`); `possible`: all who may approve would be enough. What was sent by
-- an identity that the person has no more, or with a key that is revoked, does not count.
CREATE OR REPLACE FUNCTION approvals_of(m movements, at timestamptz) RETURNS jsonb
  LANGUAGE sql STABLE AS $$
  SELECT jsonb_agg(jsonb_build_object('name', r.name, 'rule', r.rule, 'people', p.people, 'met',
      quorum_met(r.rule -> 'require',
        jsonb_path_query_array(p.people, '$[*] ? (@.counts == true)')),
      'possible', quorum_met(r.rule -> 'require',
        jsonb_path_query_array(p.people, '$[*] ? (@.excluded == null)')))
    ORDER BY r.name, r.rule)
  FROM rules_of(m, at) r
  CROSS JOIN LATERAL (
    SELECT coalesce(jsonb_agg(jsonb_build_object('person', x.person, 'name', x.name,
        'groups', x.groups, 'excluded', x.excluded, 'decided_at', d.at, 'reason', d.reason,
        'counts', d.at IS NOT NULL AND x.excluded IS NULL
          AND (NOT (r.rule -> 'reason_required')::boolean OR d.reason IS NOT NULL)
          AND (NOT r.rule ? 'expires_after_seconds'
            OR d.at > approvals_of.at - make_interval(secs => (r.rule ->> 'expires_after_seconds')::integer)))
      ORDER BY x.person), '[]') AS people
    FROM (
      SELECT g.person, q.name, jsonb_agg(g.group_name ORDER BY g.group_name) AS groups,
        approver_excluded(r.rule, m, g.person) AS excluded
      FROM approver_group_members g JOIN people q USING (person)
      WHERE g.group_name IN (SELECT e.value ->> 'group'
        FROM jsonb_array_elements(r.rule -> 'require') e)
        AND EXISTS (SELECT FROM person_identities i WHERE i.person = g.person)
      GROUP BY g.person, q.name
      UNION ALL
      SELECT DISTINCT a.person, q.name, '[]'::jsonb, 'not_in_group'
      FROM approval_decisions a JOIN people q USING (person)
      WHERE a.subject_id = m.movement_id AND NOT EXISTS (
        SELECT FROM approver_group_members g JOIN person_identities i USING (person)
        WHERE g.person = a.person AND g.group_name IN (SELECT e.value ->> 'group'
          FROM jsonb_array_elements(r.rule -> 'require') e))) x
    -- Decisions about another plan do not count. The latest one says when and why.
    LEFT JOIN LATERAL (
      SELECT a.at, a.reason FROM approval_decisions a JOIN movement_plans l
        ON l.movement_id = a.subject_id
      WHERE a.subject_id = m.movement_id AND a.person = x.person
        AND a.hash = l.compiled_plan_hash
        AND EXISTS (SELECT FROM person_identities i
          WHERE i.identity = a.identity AND i.person = a.person)
        AND NOT EXISTS (SELECT FROM api_client_keys k
          WHERE k.key_id = a.key_id AND k.status = 'revoked')
      ORDER BY a.at DESC LIMIT 1) d ON true) p
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
    WHERE m.movement_id = movement AND rule_matches(r.rule, m, at);
END $$;

-- Refuses every approval, whoever writes it, that has fewer approvers than a rule asks (FM021). Has
-- the owner's rights, since it must read what the service may not change.
CREATE OR REPLACE FUNCTION require_quorum() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  m movements;
BEGIN
  PERFORM hold_approval_rules();
  IF NOT may_need_quorum(NEW.movement_id) THEN RETURN NEW; END IF;
  PERFORM hold_approval_windows();
  SELECT * INTO m FROM movements WHERE movement_id = NEW.movement_id;
  IF NOT quorum_of(approvals_of(m, svc_now())) THEN
    RAISE EXCEPTION 'approvals_missing' USING ERRCODE = 'FM021', DETAIL = m.movement_id::text;
  END IF;
  RETURN NEW;
END $$;

REVOKE ALL ON FUNCTION require_quorum() FROM PUBLIC;

CREATE OR REPLACE TRIGGER movement_approvals_need_quorum BEFORE INSERT ON movement_approvals
  FOR EACH ROW EXECUTE FUNCTION require_quorum();

-- Records a person's approval of a movement under rules, and approves the movement once each rule
-- has enough. `doc`: {"identity", "decision": {"decision_id", "key_id", "reason"}, "approve",
-- "record"}, the last two as apply_transition takes them. Without rules: only `approve`. Returns
-- what apply_transition returns; while approvals are missing with `approvals` (see approvals_of) and
-- the `person`; for somebody who may not decide with {"ok": false, "reason": "approver_excluded", "why"}.
CREATE OR REPLACE FUNCTION decide_approval(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  id uuid := (doc -> 'approve' ->> 'movement_id')::uuid;
  who text;
  m movements;
  before jsonb;
  own jsonb;
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
  -- Under each rule: what it says of this person.
  own := jsonb_path_query_array(before, '$[*].people[*] ? (@.person == $who)',
    jsonb_build_object('who', who));
  IF NOT jsonb_path_exists(own, '$[*] ? (@.excluded == null)') THEN
    RETURN jsonb_build_object('ok', false, 'reason', 'approver_excluded', 'why', CASE
      WHEN who IS NULL THEN 'no_person' ELSE coalesce(own -> 0 ->> 'excluded', 'not_in_group') END);
  END IF;
  IF doc -> 'decision' ->> 'reason' IS NULL AND EXISTS (
    SELECT FROM jsonb_array_elements(before) r WHERE (r.value -> 'rule' -> 'reason_required')::boolean
      AND jsonb_path_exists(r.value, '$.people[*] ? (@.person == $who && @.excluded == null)',
        jsonb_build_object('who', who))) THEN
    RETURN jsonb_build_object('ok', false, 'reason', 'reason_required');
  END IF;
  BEGIN
    -- A repeat of what counts is no further decision; where all is there, it may still complete.
    IF jsonb_path_exists(own, '$[*] ? (@.excluded == null && @.counts == false)') THEN
      INSERT INTO approval_decisions (decision_id, subject_id, person, identity, key_id, hash,
        reason, at)
      VALUES ((doc -> 'decision' ->> 'decision_id')::uuid, id, who, doc ->> 'identity',
        doc -> 'decision' ->> 'key_id', doc -> 'approve' ->> 'plan_hash',
        doc -> 'decision' ->> 'reason', svc_now());
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
  at := svc_now();
  FOR e IN SELECT value FROM jsonb_array_elements(coalesce(doc -> 'people', '[]')) LOOP
    IF (e ->> 'remove')::boolean THEN
      -- The person's row stays, since decisions name it.
      DELETE FROM approver_group_members WHERE person = e ->> 'person';
      INSERT INTO former_identities SELECT identity, i.person FROM person_identities i
        WHERE i.person = e ->> 'person' ON CONFLICT DO NOTHING;
      DELETE FROM person_identities WHERE person = e ->> 'person';
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

-- prisma/functions/approval.sql

-- Creates a movement and approves it in the same transaction. If the approval is refused, only the
-- approval is rolled back: the movement waits for a person, with the reason. FM011 rolls back all.
CREATE OR REPLACE FUNCTION create_and_approve(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  created jsonb := create_movement(doc);
  approval jsonb := doc -> 'approval';
  movement uuid := (created ->> 'movement_id')::uuid;
  answer jsonb;
  refusal text;
  refused jsonb;
  m movements;
BEGIN
  IF NOT (created ->> 'created')::boolean THEN RETURN created; END IF;
  BEGIN
    answer := apply_transition(approval -> 'transition');
    IF (answer ->> 'ok')::boolean THEN
      PERFORM check_approval_guard(movement, approval -> 'guard');
      RETURN created || jsonb_build_object('approved', answer,
        'auto_approve_result', doc -> 'movement' -> 'auto_approve_result');
    END IF;
    refusal := CASE answer ->> 'reason'
      WHEN 'binding' THEN 'binding_unavailable'
      WHEN 'expired' THEN 'approval_expired'
      ELSE 'insufficient_effective_withdrawable' END;
  -- FM021: a rule asks for people, and an automatic approval is none.
  EXCEPTION WHEN SQLSTATE 'FM010' OR SQLSTATE 'FM021' THEN
    refusal := SQLERRM;
  END;
  refused := approval -> 'refused' -> refusal;
  SELECT * INTO m FROM movements WHERE movement_id = movement;
  UPDATE movements SET auto_approve_result = refused -> 'result',
    next_sequence = write_timeline(m, refused -> 'timeline', ARRAY[]::text[], m.created_at)
  WHERE movement_id = movement;
  RETURN created || jsonb_build_object('auto_approve_result', refused -> 'result');
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
    RETURN jsonb_build_object('reason', 'failed', 'error_code', m.error_code,
      'error_message', m.error_message);
  END IF;
  RETURN found;
END $$;

-- prisma/functions/write-path.sql

-- Stores a movement with its plan, nodes, timeline, audit and command; see store/movements.ts for
-- the shape of `doc`. If the idempotency key or the reference is used, returns the movement that
-- used it and writes nothing. Runs with the owner's rights: the service's role may not insert these
-- rows itself.
CREATE OR REPLACE FUNCTION create_movement(doc jsonb) RETURNS jsonb LANGUAGE plpgsql
  SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  d jsonb := doc -> 'movement';
  compiled jsonb := doc -> 'compiled_plan';
  params jsonb := compiled -> 'input_params';
  id uuid := (d ->> 'movement_id')::uuid;
  agent_of text := substring(d ->> 'template_key' FROM '^agent/([^/]+)/');
  mode text := cutover_now();
  at timestamptz := svc_now();
  -- Read from the plan's edges: targets of cancel edges, and nodes with conditions on their
  -- outgoing edges.
  cancels text[] := ARRAY(SELECT e ->> 'to' FROM jsonb_array_elements(compiled -> 'edges') e
    WHERE e ->> 'edge_type' = 'on_cancel');
  conditions text[] := ARRAY(SELECT e ->> 'from' FROM jsonb_array_elements(compiled -> 'edges') e
    WHERE nullif(e -> 'condition_expr', 'null') IS NOT NULL);
  expires timestamptz := at
    + make_interval(secs => (d ->> 'approval_ttl_seconds')::double precision);
  pairs jsonb := coalesce(d -> 'metadata', '{}');
  used jsonb;
  whole boolean;
  retired boolean;
BEGIN
  -- Fields that are stored in the plan and again in the movement must be equal: the hash covers
  -- only the plan.
  IF (d ->> 'template_id', d ->> 'template_key', d ->> 'template_version', d ->> 'asset',
      (d ->> 'amount')::numeric, d -> 'outflow') IS DISTINCT FROM
    (compiled -> 'template' ->> 'template_id', compiled -> 'template' ->> 'template_key',
      compiled -> 'template' ->> 'version', compiled -> 'intent' ->> 'asset',
      (compiled -> 'intent' ->> 'amount')::numeric, compiled -> 'outflow') THEN
    RAISE EXCEPTION 'movement % contradicts its plan: template, asset, amount or outflow differs',
      id;
  END IF;
  -- Reads and locks the present status of the template version until the movement is written, since
  -- a process may remember an older status. Comes before the insert, whose foreign key would lock
  -- the version again.
  SELECT v.status = 'retired' INTO retired FROM plan_template_versions v
    WHERE v.template_id = (d ->> 'template_id')::uuid FOR SHARE;
  -- The number of timeline rows of a create is known, so the counter is set at once.
  INSERT INTO movements (movement_id, template_id, template_key, template_version, strategy_id,
    request_state, approval_status, reservation_status, next_sequence, asset, amount, intent,
    current_frontier, auto_approve_result, callback_url, client_scope, idempotency_key, expires_at,
    created_at, updated_at, outflow, limit_amount, pooled, agent, external_reference,
    unique_reference, metadata)
  VALUES (id, (d ->> 'template_id')::uuid, d ->> 'template_key',
    (d ->> 'template_version')::integer, d ->> 'strategy_id', 'PENDING_APPROVAL', 'pending', 'none',
    1 + jsonb_array_length(doc -> 'timeline'), d ->> 'asset', (d ->> 'amount')::numeric,
    compiled -> 'intent', ARRAY(SELECT jsonb_array_elements_text(d -> 'current_frontier')),
    nullif(d -> 'auto_approve_result', 'null'), d ->> 'callback_url', d ->> 'client_scope',
    d ->> 'idempotency_key', expires, at, at, d -> 'outflow', (d ->> 'limit_amount')::numeric,
    (d ->> 'pooled')::boolean, agent_of, d ->> 'external_reference',
    coalesce((d ->> 'unique_reference')::boolean, false), pairs)
  ON CONFLICT DO NOTHING;
  -- The idempotency key or the reference is used. A repeat of the same key is answered before a
  -- used reference is refused.
  IF NOT FOUND THEN
    SELECT jsonb_build_object('created', false, 'movement_id', m.movement_id,
        'request', joined_request(p.own_request, p.input_params, p.labels)) INTO used
      FROM movements m JOIN movement_plans p USING (movement_id)
      WHERE m.client_scope = d ->> 'client_scope'
        AND m.idempotency_key = d ->> 'idempotency_key';
    IF used IS NULL THEN
      SELECT jsonb_build_object('created', false, 'movement_id', m.movement_id,
          'holder', m.template_key) INTO STRICT used
        FROM movements m
        WHERE m.unique_reference AND m.client_scope = d ->> 'client_scope'
          AND m.external_reference = d ->> 'external_reference';
    END IF;
    RETURN used;
  END IF;
  -- A repeat was answered above, in every cutover mode; only a new movement is refused.
  IF mode <> 'normal' THEN
    RAISE EXCEPTION 'cutover_mode_active' USING ERRCODE = 'FM013', DETAIL = mode;
  END IF;
  IF retired THEN
    RAISE EXCEPTION 'template_version_retired' USING ERRCODE = 'FM019',
      DETAIL = jsonb_build_object('template_key', d ->> 'template_key', 'template_version',
        (d ->> 'template_version')::integer, 'latest_active_version',
        latest_active_version(d ->> 'template_key'))::text;
  END IF;
  -- The count includes the new movement; creates of one authority wait for each other.
  IF d ->> 'most_open' IS NOT NULL AND agent_of IS NOT NULL THEN
    PERFORM lock_authority(agent_of);
    IF (d ->> 'most_open')::integer < open_movements_of(agent_of) THEN
      RAISE EXCEPTION 'open_movements_exceeded' USING ERRCODE = 'FM016', DETAIL = agent_of;
    END IF;
  END IF;
  IF pairs <> '{}' THEN
    INSERT INTO movement_metadata (key, value, created_at, movement_id)
      SELECT key, value, at, id FROM jsonb_each_text(pairs);
  END IF;
  WITH plan AS (
    INSERT INTO movement_plans (movement_id, compiled_plan_hash, plan_frame, plan_head,
      input_params, draw_terms, labels, own_request, created_by, payees)
    VALUES (id, d ->> 'compiled_plan_hash', plan_frame(compiled), plan_head(compiled), params,
      d -> 'draw_terms', d -> 'labels', own_request(d -> 'request', params, d -> 'labels'),
      d -> 'created_by', nullif(d -> 'payees', 'null'))
    RETURNING plan_frame, input_params
  ), nodes AS (
    INSERT INTO movement_nodes (movement_id, node_key, position, node_kind, action_type, state,
      executor_binding, signer_binding, own_plan, on_cancel_target, brings,
      conditional, usual_seconds, flow, pays, claims_when, sent_field, tied_by, may_send, updated_at)
    SELECT id, n.value ->> 'node_key', n.nr - 1, n.value ->> 'node_kind',
      n.value ->> 'action_type', 'BLOCKED', nullif(n.value -> 'executor_binding', 'null'),
      nullif(n.value -> 'signer_binding', 'null'), own_plan(n.value, params),
      n.value ->> 'node_key' = ANY (cancels), f ->> 'brings',
      n.value ->> 'node_key' = ANY (conditions),
      (f ->> 'usual_seconds')::double precision, f -> 'flow', f ->> 'pays', f ->> 'claims_when',
      f ->> 'sent_field', f ->> 'tied_by', (f ->> 'may_send')::boolean
        AND n.value ->> 'node_kind' NOT IN ('observe', 'manual_gate'), at
    FROM jsonb_array_elements(compiled -> 'nodes') WITH ORDINALITY AS n (value, nr)
    CROSS JOIN LATERAL (SELECT doc -> 'nodes' -> (n.nr - 1)::integer OFFSET 0) AS x (f)
    RETURNING position, own_plan
  ), events AS (
    INSERT INTO timeline_events (event_id, movement_id, sequence, event_type, node_key, attempt,
      from_state, to_state, actor, message, data, occurred_at)
    SELECT (e.value ->> 'event_id')::uuid, id, e.nr, e.value ->> 'event_type',
      e.value ->> 'node_key', (e.value ->> 'attempt')::integer, e.value ->> 'from_state',
      e.value ->> 'to_state', e.value -> 'actor', e.value ->> 'message',
      coalesce(e.value -> 'data', '{}'), at
    FROM jsonb_array_elements(doc -> 'timeline') WITH ORDINALITY AS e (value, nr)
  ), command AS (
    INSERT INTO commands (command_id, movement_id, kind, created_at, claimed_until)
    VALUES ((doc ->> 'command_id')::uuid, id, 'create', at, at + interval '2 seconds')
  )
  SELECT joined_plan(p.plan_frame, compiled -> 'intent', p.input_params, (
      SELECT jsonb_agg(node_plan(n.own_plan, p.input_params) ORDER BY n.position) FROM nodes n))
    IS NOT DISTINCT FROM compiled INTO whole FROM plan p;
  IF NOT whole THEN
    RAISE EXCEPTION 'the plan of movement % cannot be stored: it would be read back as another one', id;
  END IF;
  IF (doc ->> 'signed')::boolean THEN PERFORM follow_at_create(id); END IF;
  PERFORM keep_rules_of(id, at);
  PERFORM write_audit(doc -> 'audit', at);
  RETURN jsonb_build_object('created', true, 'movement_id', id, 'created_at', at,
    'expires_at', expires);
END $$;

REVOKE ALL ON FUNCTION create_movement(jsonb) FROM PUBLIC;
