-- Written by `npm run sql:migration` from prisma/functions/; not by hand.
SELECT set_config('check_function_bodies', 'off', true);
-- What functions with the owner's rights read and write is never a caller's temporary table.
SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true);

-- prisma/functions/allowances.sql

-- Returns the token allowances that nodes of a movement have set on chains: the latest of each
-- owner, token and spender, of nodes that completed, or were abandoned and landed late. `later`:
-- 'reset' if a later transaction of the owner set it to 0, 'set' if to another amount, else null.
-- `left_over`: the part that later nodes have not spent. The part of an abandoned node that is not
-- known to have landed counts as not spent while the allowance stands, since it may stay open, and
-- as spent once `later` is set, so that a retry does not allow it again. Reads stored sends only,
-- no chain.
CREATE OR REPLACE FUNCTION allowances_of(movement uuid)
  RETURNS TABLE (node_key text, chain_id bigint, owner text, signer_key text, token_address text,
    spender text, asset text, left_over numeric, later text)
  LANGUAGE sql STABLE AS $$
  WITH sent AS (
    SELECT n.node_key, n.pays, n.amount, sent_amount(n) AS moved, t.chain_id, t.address,
      t.nonce, t.signer_key, node_plan(n.own_plan, p.input_params) AS plan,
      -- While an abandoned node is looked for, a landing is of an attempt before.
      n.state = 'COMPLETED' OR n.landed_late_at IS NOT NULL AND n.next_late_look IS NULL AS landed
    FROM movement_nodes n JOIN movement_plans p USING (movement_id)
      JOIN evm_transactions t ON t.movement_id = n.movement_id AND t.node_key = n.node_key
        AND t.attempt = n.attempt AND t.replaces IS NULL AND t.released_at IS NULL
    WHERE n.movement_id = movement AND (n.state = 'COMPLETED' OR is_abandoned(n))
  ), allowed AS (
    SELECT DISTINCT ON (s.chain_id, s.address, lower(s.plan #>> '{config,token_address}'),
        lower(s.plan #>> '{config,spender}'))
      s.*, s.plan #>> '{config,token_address}' AS token, s.plan #>> '{config,spender}' AS puller
    FROM sent s WHERE s.pays = 'spender' AND s.landed
    ORDER BY s.chain_id, s.address, lower(s.plan #>> '{config,token_address}'),
      lower(s.plan #>> '{config,spender}'), s.nonce DESC
  )
  SELECT a.node_key, a.chain_id, a.address, a.signer_key, a.token, a.puller, a.plan ->> 'asset',
    greatest(0, a.amount - coalesce((
      SELECT sum(s.moved) FROM sent s
      WHERE s.chain_id = a.chain_id AND s.address = a.address AND s.nonce > a.nonce
        AND (s.landed OR l.later IS NOT NULL)
        AND lower(s.plan ->> 'pulled_by') = lower(a.puller)
        AND lower(coalesce(s.plan ->> 'pulled_token', s.plan #>> '{config,token_address}'))
          = lower(a.token)), 0)),
    l.later
  FROM allowed a
    CROSS JOIN later_allowance(a.chain_id, a.address, a.nonce, a.token, a.puller) AS l(later)
$$;

-- Returns what the owner's last ERC-20 `approve` (selector 0x095ea7b3) after this nonce did:
-- 'reset' (to 0), 'set' (another amount), or null where there is none. Only an `approve` counts
-- whose node completed, or was abandoned and landed late.
CREATE OR REPLACE FUNCTION later_allowance(chain bigint, owner text, of_nonce bigint, token text,
  spender text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN substr(t.unsigned ->> 'data', 75, 64) = repeat('0', 64) THEN 'reset'
    ELSE 'set' END
  FROM evm_transactions t
  WHERE t.chain_id = chain AND t.address = owner AND t.nonce > of_nonce
    AND lower(left(t.unsigned ->> 'data', 10)) = '0x095ea7b3'
    AND lower(t.unsigned ->> 'to') = lower(token)
    AND lower(substr(t.unsigned ->> 'data', 35, 40)) = lower(substr(spender, 3))
    AND (EXISTS (SELECT FROM node_attempts a WHERE a.outcome = 'COMPLETED'
        AND a.idempotency_key = t.movement_id || ':' || t.node_key || ':' || t.attempt)
      OR EXISTS (SELECT FROM movement_nodes n WHERE n.movement_id = t.movement_id
        AND n.node_key = t.node_key AND n.attempt = t.attempt AND is_abandoned(n)
        AND n.landed_late_at IS NOT NULL AND n.next_late_look IS NULL))
  ORDER BY t.nonce DESC LIMIT 1
$$;

-- prisma/functions/approval-rules.sql

-- Returns whether an identity belongs to a person, or did: what it did stays that person's. So does
-- what the person did with fundadmin --as. Never NULL, also where one of them is.
CREATE OR REPLACE FUNCTION is_or_was(who text, id text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT coalesce(id = 'fundadmin:' || who, false)
    OR EXISTS (SELECT FROM person_identities i WHERE i.identity = id AND i.person = who)
    OR EXISTS (SELECT FROM former_identities f WHERE f.identity = id AND f.person = who)
$$;

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

-- prisma/functions/approval.sql

-- Takes an amount for a movement from the budget of its policy. Locks the policy's row, so that the
-- sum includes all earlier takes. With `checked`, fails with FM010 and the reason if the amount
-- does not fit.
CREATE OR REPLACE FUNCTION take_budget(movement uuid, policy uuid, wanted numeric, new_status text,
  checked boolean)
-- apply_transition forces plans for any value; the best plan here depends on the window's length.
RETURNS void LANGUAGE plpgsql SET plan_cache_mode = auto AS $$
DECLARE
  p auto_approve_policies;
  used record;
  at timestamptz;
  refusal text;
BEGIN
  SELECT * INTO STRICT p FROM auto_approve_policies WHERE policy_id = policy FOR NO KEY UPDATE;
  at := svc_now();
  SELECT * INTO used FROM budget_usage(p.policy_id, p.window_hours, at, movement);
  refusal := CASE
    WHEN used.reserved + used.consumed + wanted > p.max_amount_per_window
      THEN 'window_amount_exceeded'
    WHEN used.in_window + 1 > p.max_count_per_window THEN 'window_count_exceeded' END;
  IF checked AND refusal IS NOT NULL THEN RAISE EXCEPTION USING ERRCODE = 'FM010',
    MESSAGE = refusal, DETAIL = p.policy_id::text; END IF;
  INSERT INTO budget_reservations (reservation_id, movement_id, policy_id, amount, status,
    reserved_at, ended_at)
  VALUES (svc_new_id(at), movement, policy, wanted, new_status, at, CASE
    WHEN new_status = 'consumed' THEN at END);
END $$;

-- Returns whether a movement that failed or was cancelled still counts in its policy's window: some
-- node sent or may have sent something, in any asset, or may still draw after the cancel.
CREATE OR REPLACE FUNCTION budget_counts(m movements) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT m.request_state IN ('FAILED', 'CANCELLED') AND EXISTS (SELECT FROM movement_nodes n
    WHERE n.movement_id = m.movement_id AND n.flow IS NOT NULL AND n.flow ->> 'from' IS NULL
      AND (sent_amount(n) > 0
        OR (m.request_state = 'CANCELLED' AND n.state IN ('BLOCKED', 'READY'))))
$$;

-- Sets what a movement takes from its policy's budget to budget_due. A smaller amount shrinks the
-- stored takes, the latest first, and they keep their time; a larger amount adds a take. While the
-- movement counts in the window, its first take stays, even with an amount of 0. Lock order:
-- movement, nodes, pools, policy.
CREATE OR REPLACE FUNCTION settle_budget(m movements, checked boolean, at timestamptz) RETURNS void
  LANGUAGE plpgsql AS $$
DECLARE
  row budget_reservations;
  left_over numeric := budget_due(m);
  counts boolean := budget_counts(m);
  share numeric;
  stays boolean;
  new_status text := CASE WHEN m.request_state IN ('COMPLETED', 'FAILED', 'CANCELLED')
    THEN 'consumed' ELSE 'reserved' END;
BEGIN
  FOR row IN SELECT * FROM budget_reservations WHERE movement_id = m.movement_id
    AND status <> 'released' ORDER BY reserved_at, reservation_id LOOP
    share := least(row.amount, left_over);
    left_over := left_over - share;
    stays := share > 0 OR counts;
    counts := false;
    CONTINUE WHEN stays AND share = row.amount AND row.status = new_status;
    UPDATE budget_reservations SET
      amount = CASE WHEN stays THEN share ELSE amount END,
      status = CASE WHEN stays THEN new_status ELSE 'released' END,
      ended_at = CASE WHEN stays AND new_status = 'reserved' THEN NULL ELSE at END
    WHERE reservation_id = row.reservation_id;
  END LOOP;
  IF left_over > 0 OR counts THEN
    PERFORM take_budget(m.movement_id, (m.auto_approve_result ->> 'policy_id')::uuid, left_over,
      new_status, checked);
  END IF;
END $$;

-- Refuses every write that starts a movement, or makes a node of it ready or sent, before its plan
-- is approved. Has a search path of its own, else it would read temporary tables of the same names;
-- a statement in the text is planned once a session, and one in EXECUTE each time.
CREATE OR REPLACE FUNCTION require_approval() RETURNS trigger LANGUAGE plpgsql
  SET search_path FROM CURRENT AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM movement_approvals a JOIN movement_plans p USING (movement_id)
    WHERE a.movement_id = NEW.movement_id AND a.plan_hash = p.compiled_plan_hash) THEN
    RAISE EXCEPTION 'movement % has no approval of its plan', NEW.movement_id
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END $$;

-- Refuses a statement that adds a node to an approved movement; `added` has all nodes that it adds.
-- Its search path is as in require_approval.
CREATE OR REPLACE FUNCTION refuse_later_node() RETURNS trigger LANGUAGE plpgsql
  SET search_path FROM CURRENT AS $$
DECLARE
  approved uuid;
BEGIN
  SELECT movement_id INTO approved FROM added JOIN movement_approvals USING (movement_id) LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'the plan of movement % cannot be changed', approved
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NULL;
END $$;

-- prisma/functions/attention.sql

-- Returns the time from which an observed node, or an UNKNOWN one whose send is under way, takes
-- longer than usual; NULL for any other node. `usual_seconds` comes from domain/send/usual-time.ts
-- and was stored with the movement. A send that was found after a lost answer may have no time of
-- its own.
CREATE OR REPLACE FUNCTION overdue_at(n movement_nodes) RETURNS timestamptz
  LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN n.state IN ('SUBMITTED', 'OBSERVING')
    THEN n.submitted_at + make_interval(secs => n.usual_seconds)
    WHEN n.state = 'UNKNOWN' AND n.error_code = 'SEND_UNDER_WAY'
    THEN coalesce(n.submitted_at, n.started_at, '-infinity')
      + make_interval(secs => n.usual_seconds) END
$$;

-- Returns whether a node takes longer than usual (see overdue_at). This stays true while the
-- attempt is observed.
CREATE OR REPLACE FUNCTION is_overdue(n movement_nodes, at timestamptz) RETURNS boolean
  LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(overdue_at(n) <= at, false)
$$;

-- Returns whether a person may resolve a node as completed: its outcome is unknown, its usual time
-- has been over for an hour, or waiting alone cannot complete it. An UNKNOWN node whose send is
-- under way waits as an observed one does.
CREATE OR REPLACE FUNCTION may_be_resolved(n movement_nodes, at timestamptz) RETURNS boolean
  LANGUAGE sql IMMUTABLE AS $$
  SELECT n.state = 'UNKNOWN' AND n.error_code IS DISTINCT FROM 'SEND_UNDER_WAY'
    OR is_overdue(n, at - interval '1 hour')
    OR n.state IN ('SUBMITTED', 'OBSERVING') AND waits_in_vain(n.error_code)
$$;

-- Returns the facts of attention_of about an open movement whose run cannot go on; NULL if no look
-- of the last hour has found that. Workers of the release before look at none, so their rows would
-- hide every other reason for good.
CREATE OR REPLACE FUNCTION stuck_run(m movements) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF m.ended_at IS NOT NULL THEN RETURN NULL; END IF;
  RETURN (
    SELECT jsonb_build_object('reason', 'run_stuck', 'error_message', s.message,
      'stuck_run', jsonb_build_object('cause', s.cause, 'since', s.since))
    FROM stuck_runs s
    WHERE s.entity_id = m.movement_id AND s.last_seen > svc_now() - interval '1 hour');
END $$;

-- Returns the first late landing of the movement that no person has acknowledged; NULL if there is
-- none. `is_failure`: the movement FAILED because the node was abandoned. `said`: how the chain
-- contradicts the end of the node (domain/lanes/contradiction.ts); null for an abandoned one.
CREATE OR REPLACE FUNCTION unseen_landing(m movements) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object('node_key', n.node_key, 'attempt', n.attempt,
    'external_ref', n.external_ref,
    'is_failure', m.request_state = 'FAILED' AND is_abandoned(n)
      AND m.error_message IS NOT DISTINCT FROM 'node ' || n.node_key || ' failed',
    'said', (SELECT e.message FROM timeline_events e
      WHERE e.movement_id = n.movement_id AND e.node_key = n.node_key
        AND e.occurred_at = n.landed_late_at
        AND e.event_type IN ('transaction_mined_late', 'transaction_displaced') LIMIT 1))
  FROM movement_nodes n
  WHERE n.movement_id = m.movement_id AND n.landed_late_at IS NOT NULL
    AND n.landing_seen_at IS NULL
  ORDER BY n.landed_late_at, n.position LIMIT 1
$$;

-- Returns why a movement needs a person at a moment, and for which node; NULL if it needs none.
-- `landed`: a late landing (unseen_landing), whatever the reason. `also`: the same facts about a
-- gate that waits or a node that failed, where another node comes first. Lists and details both
-- read this. domain/attention.ts has what a person can do for each reason.
CREATE OR REPLACE FUNCTION attention_of(m movements, at timestamptz) RETURNS jsonb
  LANGUAGE plpgsql STABLE AS $$
DECLARE
  left_over interval := m.expires_at - at;
  stuck boolean;
  of_nodes jsonb;
  found jsonb;
  also jsonb;
  landed jsonb;
BEGIN
  IF m.request_state = 'PENDING_APPROVAL' THEN
    RETURN CASE
      -- Its run ends it now, unless that run is stuck.
      WHEN left_over <= interval '0' THEN stuck_run(m)
      WHEN may_need_quorum(m.movement_id)
        AND jsonb_path_exists(approvals_of(m, at), '$[*] ? (@.possible == false)')
        THEN jsonb_build_object('reason', 'approval_unsatisfiable')
      WHEN left_over <= least(interval '15 minutes', (m.expires_at - m.created_at) / 4)
        THEN jsonb_build_object('reason', 'approval_expires_soon')
      ELSE jsonb_build_object('reason', 'approval') END;
  END IF;
  -- A failed or cancelled movement is shown for a week. Lists read only the last week (listNeeding
  -- in store/attention.ts). A completed one needs a person only for a late landing.
  IF m.ended_at IS NOT NULL AND (m.request_state NOT IN ('FAILED', 'CANCELLED', 'COMPLETED')
    OR m.updated_at <= at - interval '7 days') THEN
    RETURN NULL;
  END IF;
  IF m.request_state = 'COMPLETED' THEN
    IF unseen_landing(m) IS NULL THEN RETURN NULL; END IF;
  END IF;
  -- Usually no nonce lane is stuck; then no node needs the query of lane_stuck.
  stuck := EXISTS (SELECT FROM nonce_lanes WHERE stuck_since <= at - interval '1 minute');
  SELECT jsonb_agg(jsonb_build_object('reason', r.why, 'node_key', n.node_key, 'attempt', n.attempt,
    'max_attempts', n.own_plan -> 'retry_policy' -> 'max_attempts',
    'errors', n.error_count + n.unanswered,
    'error_code', CASE WHEN r.why = 'failed' THEN coalesce(n.error_code, m.error_code)
      ELSE n.error_code END,
    'error_message', n.error_message, 'observed_since',
      CASE WHEN r.why = 'observed_long' THEN n.submitted_at END,
    'external_ref', CASE WHEN r.why IN ('observed_long', 'landed_late') THEN n.external_ref END,
    'executor_key', e.executor_key,
    'executor_status', e.status, 'executor_health', e.health_state,
    'next_look_at', CASE WHEN n.state = 'UNKNOWN' OR n.unanswered > 0 THEN n.next_look_at END,
    'blocked_by', CASE WHEN r.why = 'lane_blocked' THEN lane_blocker(n, at) END,
    'stuck_at', CASE WHEN r.why = 'lane_stuck' THEN lane_stuck(n, at) END)
    -- A landing is of an attempt that has ended, and stays until its movement has ended, too: it
    -- hides no other node. A gate may wait for days and a failed compensation for as long as others
    -- run, so they hide no node that goes on, which figures and callbacks would then miss.
    ORDER BY array_position(ARRAY['unknown_outcome', 'lane_stuck', 'clock_difference',
      'lane_blocked', 'delivery_late', 'executor_unavailable', 'venue_suspended',
      'withdrawal_quota_exhausted', 'observed_long',
      'manual_gate', 'failed', 'landed_late'], r.why),
      coalesce(n.landed_late_at, n.updated_at), n.position)
  INTO of_nodes
  FROM movement_nodes n
  LEFT JOIN executors e ON e.executor_key
    = coalesce(n.executor_binding ->> 'executor_key', n.executor_binding #>> '{}')
  CROSS JOIN LATERAL (
    SELECT n.landed_late_at IS NOT NULL AND n.landing_seen_at IS NULL AS unseen) l
  CROSS JOIN LATERAL (SELECT CASE
    WHEN n.state = 'UNKNOWN' THEN 'unknown_outcome'
    WHEN l.unseen AND (is_abandoned(n) OR n.state IN ('COMPLETED', 'CANCELLED', 'SKIPPED'))
      THEN 'landed_late'
    WHEN n.state = 'READY' AND n.node_kind = 'manual_gate'
      AND m.request_state IN ('WAITING_MANUAL_ACTION', 'MANUAL_INTERVENTION') THEN 'manual_gate'
    -- The movement's message names the node whose failure ended the movement
    -- (domain/commands/advance.ts). That node may be COMPLETED, if a condition on its edges could
    -- not be evaluated. After a cancel, the nodes that continue may still fail.
    WHEN m.request_state = 'FAILED' AND m.acknowledged_at IS NULL
      AND m.error_message = 'node ' || n.node_key || ' failed'
      -- A landing that a person has seen mends the failure of an abandoned node.
      OR m.request_state = 'CANCELLED' AND n.state = 'FAILED' AND NOT (is_abandoned(n)
        AND n.next_late_look IS NULL AND n.landing_seen_at IS NOT NULL)
        AND (n.on_cancel_target OR n.brings IS NOT NULL) THEN 'failed'
    WHEN stuck AND lane_stuck(n, at) IS NOT NULL THEN 'lane_stuck'
    WHEN lane_blocker(n, at) IS NOT NULL THEN 'lane_blocked'
    -- The node waits before its fence (send_lane_problem); an answer that got lost is looked for
    -- within that time.
    WHEN n.state = 'READY' AND n.error_code = 'SEND_LANE_TAKEN'
      AND n.updated_at <= at - interval '10 minutes' THEN 'lane_blocked'
    WHEN n.state = 'OBSERVING' AND n.error_code = 'BRIDGE_DELIVERY_LATE' THEN 'delivery_late'
    WHEN n.state IN ('READY', 'SUBMITTING', 'SUBMITTED', 'OBSERVING')
      AND waits_in_vain(n.error_code)
      -- Looks without an answer leave the code, and say nothing about it.
      AND (n.unanswered_since > at - interval '1 minute') IS NOT FALSE THEN 'observed_long'
    WHEN n.state IN ('READY', 'SUBMITTING', 'SUBMITTED', 'OBSERVING')
      AND n.node_kind <> 'manual_gate' AND (e.status IS DISTINCT FROM 'active'
        -- An executor is down as soon as one of its chains or accounts is, maybe not this node's:
        -- once a node is sent, the looks at it show whether it can be followed.
        OR e.health_state = 'down' AND (n.state = 'READY' OR n.unanswered_since IS NOT NULL)
        OR n.unanswered_since <= at - interval '1 minute') THEN 'executor_unavailable'
    -- From its first turn (waitForClock): each other difference is written and moves updated_at.
    WHEN n.state = 'READY' AND n.error_code = 'CLOCK_DIFFERENCE'
      AND n.frozen_since <= at - interval '10 minutes' THEN 'clock_difference'
    -- VENUE_WAIT_CODES of domain/venue-waits.ts: the reason is the code in lower case.
    WHEN n.state = 'READY' AND n.wait_overdue_at <= at
      AND n.error_code IN ('VENUE_SUSPENDED', 'WITHDRAWAL_QUOTA_EXHAUSTED') THEN lower(n.error_code)
    WHEN overdue_at(n) <= at THEN 'observed_long'
    -- Of an earlier attempt of a node that goes on or has failed.
    WHEN l.unseen THEN 'landed_late'
    END AS why
    -- Once for each node: without OFFSET, it is evaluated wherever r.why stands.
    OFFSET 0) r
  WHERE n.movement_id = m.movement_id AND r.why IS NOT NULL;
  found := of_nodes -> 0;
  IF found ->> 'reason' NOT IN ('manual_gate', 'failed') THEN
    also := jsonb_path_query_first(of_nodes,
      '$[*] ? (@.reason == "manual_gate" || @.reason == "failed")');
    IF also IS NOT NULL THEN found := found || jsonb_build_object('also', also); END IF;
  END IF;
  -- Nothing of the movement goes on, whatever else it needs a person for.
  found := coalesce(stuck_run(m), found);
  IF found IS NULL AND m.request_state = 'FAILED' AND m.acknowledged_at IS NULL THEN
    found := jsonb_build_object('reason', 'failed', 'error_code', m.error_code,
      'error_message', m.error_message);
  END IF;
  IF found IS NOT NULL THEN
    landed := unseen_landing(m);
    IF landed IS NOT NULL THEN found := found || jsonb_build_object('landed', landed); END IF;
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
-- stays CANCELLED when its nodes fail. A late landing and what stands in `also` are among them,
-- whatever comes first. NULL if there are none.
CREATE OR REPLACE FUNCTION reasons_to_tell(m movements, facts jsonb, reasons text[]) RETURNS text
  LANGUAGE sql IMMUTABLE AS $$
  SELECT string_agg(x.reason, '+' ORDER BY x.nr)
  FROM unnest(ARRAY[facts ->> 'reason', facts ->> 'besides', facts #>> '{also,reason}',
    CASE WHEN facts ? 'landed' AND 'landed_late' NOT IN (facts ->> 'reason',
      coalesce(facts ->> 'besides', '')) THEN 'landed_late' END])
    WITH ORDINALITY AS x (reason, nr)
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
  about jsonb;
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
    about := CASE why WHEN 'landed_late' THEN facts -> 'landed'
      WHEN facts #>> '{also,reason}' THEN facts -> 'also' ELSE facts END;
    seq := append_timeline(movement, seq, m.callback_url, m.request_state, m.current_frontier,
      m.error_code, jsonb_build_array(jsonb_build_object('event_id', id,
        'event_type', 'request_attention', 'node_key', about -> 'node_key',
        'attempt', about -> 'attempt', 'actor', '{"type": "system"}'::jsonb,
        'message', 'A person is needed: ' || why, 'data', jsonb_build_object('reason', why))),
      callback_types, at);
    id := svc_new_id(at);
  END LOOP;
  UPDATE movements SET attention_told = present, next_sequence = seq WHERE movement_id = movement;
  RETURN true;
END $$;

-- prisma/functions/audit.sql

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

-- prisma/functions/capital-transfers.sql

-- Returns a capital transfer as its activities read it.
CREATE OR REPLACE FUNCTION transfer_row(t capital_transfers, at timestamptz) RETURNS jsonb
  LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object('transfer_id', t.transfer_id, 'state', t.request_state,
    'version', t.version,
    'source_venue', t.source_venue, 'source_account_type', t.source_account_type,
    'destination_venue', t.destination_venue,
      'destination_account_type', t.destination_account_type,
    'asset', t.asset, 'amount', trim_scale(t.amount)::text, 'strategy_id', t.strategy_id,
      'provider', t.provider, 'venue_entries', t.venue_entries,
    'provider_transfer_id', t.provider_transfer_id, 'acknowledged', t.acknowledged,
      'pending_at_provider', t.pending_at_provider, 'epoch', t.submit_epoch, 'sends', t.sends,
    'error_code', t.error_code, 'error_message', t.error_message,
      'ended', t.ended_at IS NOT NULL,
    'created_at', wire_time(t.created_at),
    'age_ms', floor(extract(epoch FROM at - t.created_at) * 1000),
    'send_left_ms', ceil(extract(epoch FROM t.send_not_after - at) * 1000),
    'pending_left_ms', ceil(extract(epoch FROM t.pending_until - at) * 1000))
$$;

-- Writes a new transfer with its hold, history and audit. For a used idempotency key, returns the
-- transfer that used it; that is read in a later statement than the insert, which waited for the
-- other create.
CREATE OR REPLACE FUNCTION create_transfer(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  t capital_transfers;
  at timestamptz := svc_now();
  mode text := cutover_now();
BEGIN
  t := jsonb_populate_record(NULL::capital_transfers, doc -> 'transfer');
  INSERT INTO capital_transfers (transfer_id, client_scope, idempotency_key, request,
    request_state, source_venue, source_account_type,
    destination_venue, destination_account_type, asset, amount, reason, strategy_id, provider,
      venue_entries, callback_url, created_by, next_sequence, claimed_until,
    created_at, updated_at)
  VALUES (t.transfer_id, t.client_scope, t.idempotency_key, t.request, t.request_state,
    t.source_venue, t.source_account_type,
    t.destination_venue, t.destination_account_type, t.asset, t.amount, t.reason, t.strategy_id,
      t.provider, t.venue_entries, t.callback_url, t.created_by, 2,
    at + interval '2 seconds', at, at)
  ON CONFLICT (client_scope, idempotency_key) DO NOTHING;
  IF NOT FOUND THEN
    SELECT * INTO t FROM capital_transfers
    WHERE client_scope = doc -> 'transfer' ->> 'client_scope'
      AND idempotency_key = doc -> 'transfer' ->> 'idempotency_key';
    RETURN jsonb_build_object('created', false, 'transfer_id', t.transfer_id, 'request', t.request);
  END IF;
  IF mode <> 'normal' THEN
    RAISE EXCEPTION 'cutover_mode_active' USING ERRCODE = 'FM013', DETAIL = mode;
  END IF;
  t.next_sequence := 1;
  PERFORM take_transfer_hold(t.transfer_id, doc -> 'hold', doc -> 'take', at);
  PERFORM write_transfer_event(t, NULL, doc -> 'event', at);
  PERFORM write_audit(doc -> 'audit', at);
  RETURN jsonb_build_object('created', true, 'transfer_id', t.transfer_id);
END $$;

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
  -- The order may be useless by now. Whoever sends may have stood still since they read its age.
  -- One created while the clock was ahead (MOST_APART_MS of domain/send/clocks.ts) has an age that
  -- is not known.
  IF at > t.created_at + make_interval(secs => (doc ->> 'within_age_seconds')::double precision)
    OR doc ->> 'within_age_seconds' IS NOT NULL AND t.created_at > at + interval '1 minute'
  THEN
    RETURN jsonb_build_object('ok', false, 'row', transfer_row(t, at));
  END IF;
  -- What its provider shows as pending, or otherwise than ordered, may still move or has moved.
  IF doc ->> 'states_outcome' = 'failed' AND t.pending_at_provider THEN
    RETURN jsonb_build_object('ok', false, 'row', transfer_row(t, at));
  END IF;
  -- No look can see a transfer whose venue keys mean other accounts by now.
  IF doc ->> 'states_outcome' = 'failed' AND t.error_code = 'VENUE_ENTRY_CHANGED' THEN
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
  -- Whatever comes next, it waits for no clock now.
  DELETE FROM transfer_clock_waits w WHERE w.transfer_id = t.transfer_id;
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
    pending_at_provider = coalesce((fields ->> 'pending_at_provider')::boolean,
      pending_at_provider),
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

-- Whether an edge on_manual_resume leaves a node that changes.
CREATE OR REPLACE FUNCTION is_followed_by_hand(docs jsonb) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM jsonb_array_elements(docs) d
    JOIN movement_plans p ON p.movement_id = (d.value ->> 'movement_id')::uuid,
    jsonb_array_elements(p.plan_frame -> 'edges') e
    WHERE e.value ->> 'edge_type' = 'on_manual_resume' AND jsonb_path_exists(d.value,
      '$.nodes[*].node_key ? (@ == $key)', jsonb_build_object('key', e.value ->> 'from')))
$$;

-- Lets a command on movements pass that leads them on, or refuses it; see ask_change. `row_before`:
-- see action_before. The caller has locked the movements. To look at an unknown outcome again moves
-- nothing, so one person may do it, unless something follows the node just because it was resumed.
CREATE OR REPLACE FUNCTION ask_action(docs jsonb, row_before jsonb) RETURNS void
  LANGUAGE plpgsql AS $$
DECLARE
  command text := docs -> 0 ->> 'command_kind';
BEGIN
  IF command IS NULL OR command NOT IN ('resume', 'retry', 'resolve')
    OR command = 'resume' AND jsonb_path_exists(docs, '$[*].nodes[*].set.only_look ? (@ == true)')
      AND NOT is_followed_by_hand(docs)
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

-- Whether this transaction wrote a row with this xmin. A larger xmin proves nothing: the numbers
-- begin anew after four billion, and rows keep theirs.
CREATE OR REPLACE FUNCTION is_own_write(writer xid) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT writer = pg_current_xact_id()::xid
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
  ELSIF TG_TABLE_NAME = 'nonce_lanes' THEN
    -- How long it holds from now on, whatever the row says of when it was made.
    row_after := row_after - 'cap_raised_until' || jsonb_build_object(
      'cap_raise', NEW.cap_raise - ARRAY['raised_at', 'raised_by'],
      'ttl_seconds', extract(epoch FROM NEW.cap_raised_until
        - least((NEW.cap_raise ->> 'raised_at')::timestamptz, svc_now()))::bigint::text);
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

-- prisma/functions/clock-set-back.sql

-- Returns the times that are no facts: rests, claims and leases, which say "not before", and times
-- of readings that keep an earlier one out. `longest`: how far ahead of now a right clock sets
-- them; a value beyond it may be changed to now, since what comes early does no harm. `of_rows`:
-- which rows count. Every timestamptz column is either here or among the facts of
-- test/store/clock-set-back.test.ts; docs/decisions/0148-a-clock-that-was-set-back.md has the
-- reasons. Tables in the order of locks.
CREATE OR REPLACE FUNCTION clock_rests()
  RETURNS TABLE (of_table text, of_column text, longest interval, of_rows text)
  LANGUAGE sql IMMUTABLE AS $$
  VALUES ('movements', 'swept_at', interval '0', 'ended_at IS NULL'),
    -- The looks at an old node may be further apart: one of them comes early, once.
    ('movement_nodes', 'next_late_look', interval '1 hour', 'next_late_look IS NOT NULL'),
    ('capital_transfers', 'claimed_until', interval '1 minute',
      'ended_at IS NULL OR seen_version < version'),
    ('commands', 'claimed_until', interval '10 minutes', 'applied_at IS NULL AND wakes >= 0'),
    ('callbacks', 'next_attempt_at', interval '2 minutes', 'status = ''pending'''),
    ('callbacks', 'claimed_until', interval '1 minute', 'status = ''pending'''),
    ('balance_snapshots', 'fetched_at', interval '0', 'true'),
    ('venue_outlooks', 'read_at', interval '0', 'true'),
    ('perp_accounts', 'checked_at', interval '0', 'true'),
    ('nonce_lanes', 'tended_until', interval '1 minute', 'true'),
    ('perp_agent_wallets', 'next_look_at', interval '5 minutes', 'next_look_at IS NOT NULL'),
    ('stuck_runs', 'last_seen', interval '0', 'true'),
    ('transfer_clock_waits', 'last_seen', interval '0', 'true'),
    ('turns', 'due_at', interval '1 hour', 'true'),
    ('leases', 'ends_at', interval '1 minute', 'true'),
    ('rate_windows', 'ends_at', interval '1 minute', 'true'),
    ('request_desks', 'whole_at', interval '2 minutes', 'true'),
    ('request_desks', 'turn_until', interval '2 minutes', 'true')
$$;

-- Notes the highest time of the database's clock. If the clock has been set back by more than ten
-- seconds since then, changes each time of clock_rests that lies too far ahead to now: otherwise
-- whatever was stamped before would rest until the clock is there again. Returns {"back_seconds",
-- "cut": {"<table>.<column>": rows}}; NULL if the clock has gone on, or another process has cut.
CREATE OR REPLACE FUNCTION note_clock() RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  before timestamptz;
  at timestamptz;
  rest record;
  changed bigint;
  cut jsonb := '{}';
BEGIN
  SELECT highest INTO before FROM clock_mark;
  -- Read after the mark, so that it is later than every mark of a clock that goes on.
  at := svc_now();
  IF at >= before - interval '10 seconds' THEN
    UPDATE clock_mark SET highest = at WHERE highest < at;
    RETURN NULL;
  END IF;
  UPDATE clock_mark SET highest = at WHERE highest = before;
  IF NOT FOUND THEN RETURN NULL; END IF;
  FOR rest IN SELECT * FROM clock_rests() LOOP
    EXECUTE format('UPDATE %1$I SET %2$I = $1 WHERE %2$I > $1 + $2 AND (%3$s)', rest.of_table,
      rest.of_column, rest.of_rows) USING at, rest.longest;
    GET DIAGNOSTICS changed = ROW_COUNT;
    IF changed > 0 THEN
      cut := cut || jsonb_build_object(rest.of_table || '.' || rest.of_column, changed);
    END IF;
  END LOOP;
  -- Such a snapshot may lack what was paid since its reading, so it counts as too old: the longest
  -- time for which one counts is a day.
  UPDATE balance_snapshots SET fetched_at = at - interval '25 hours' WHERE fetched_at = at;
  RETURN jsonb_build_object('back_seconds', extract(epoch FROM before - at), 'cut', cut);
END $$;

-- prisma/functions/compromised.sql

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

-- prisma/functions/flow.sql

-- Returns the amount that a node sent or may have sent; 0 before its fence, and if it is proven
-- that nothing landed. The amount of an abandoned node stays counted. An executor that moved only
-- a part reports the part in a field of its output; for incoming funds the field has the amount
-- that arrived.
CREATE OR REPLACE FUNCTION sent_amount(n movement_nodes) RETURNS numeric LANGUAGE plpgsql IMMUTABLE
  AS $$
DECLARE
  reported jsonb := n.output -> n.sent_field;
BEGIN
  RETURN CASE
    WHEN n.state = 'COMPLETED' THEN least(moved_amount(n), CASE
      -- A JSON number may have been a float, so only text counts.
      WHEN jsonb_typeof(reported) = 'string'
        AND reported #>> '{}' ~ '^(0|[1-9][0-9]{0,19})(\.[0-9]{1,18})?$'
        THEN (reported #>> '{}')::numeric END)
    WHEN may_have_sent(n) OR is_abandoned(n) THEN coalesce(moved_amount(n), 0)
    ELSE 0 END;
END $$;

-- prisma/functions/holds.sql

-- Fails unless a snapshot younger than `stale_after` seconds covers all holds on the pool (`held`;
-- `change` of it is new) and all that left the pool since the snapshot. The caller has locked the
-- pool, so the sum cannot grow meanwhile.
CREATE OR REPLACE FUNCTION check_covered(pool jsonb, change numeric, held numeric,
  stale_after integer, at timestamptz)
-- apply_transition forces plans for any value; the best plan here depends on the snapshot's age.
RETURNS void LANGUAGE plpgsql SET plan_cache_mode = auto AS $$
DECLARE
  b balance_snapshots;
  hold jsonb := pool || jsonb_build_object('amount', trim_scale(change)::text);
  ended numeric;
BEGIN
  SELECT * INTO b FROM balance_snapshots
  WHERE venue_key = pool ->> 'venue_key' AND account_type = pool ->> 'account_type'
    AND asset = pool ->> 'asset';
  IF NOT FOUND THEN
    -- The venue was fetched and did not name this pool, so the pool is empty.
    SELECT max(fetched_at) INTO b.fetched_at FROM balance_snapshots
      WHERE venue_key = pool ->> 'venue_key';
    b.withdrawable := 0;
  END IF;
  IF b.fetched_at IS NULL OR b.fetched_at < at - make_interval(secs => stale_after) THEN
    RAISE EXCEPTION 'stale_snapshot' USING ERRCODE = 'FM012', DETAIL = hold;
  END IF;
  IF b.withdrawable IS NULL THEN RETURN; END IF;
  SELECT amount INTO ended
    FROM ended_outflow(pool ->> 'venue_key', pool ->> 'account_type', pool ->> 'asset',
    b.fetched_at);
  IF held + ended > b.withdrawable THEN
    RAISE EXCEPTION 'insufficient_effective_withdrawable' USING ERRCODE = 'FM010', DETAIL = hold
      || jsonb_build_object(
        'effective_withdrawable', trim_scale(b.withdrawable - ended - (held - change))::text);
  END IF;
END $$;

-- Stores one complete fetch of a venue's balances; assets that the venue no longer names become 0.
-- A fetch that began before the clock was set back is not stored: it would keep later ones out.
CREATE OR REPLACE FUNCTION store_balances(venue text, began timestamptz, rows jsonb) RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  IF began > svc_now() THEN RETURN; END IF;
  INSERT INTO balance_snapshots AS b (venue_key, account_type, asset, available, withdrawable,
    total, details, fetched_at)
  SELECT venue, r.account_type, r.asset, r.available, r.withdrawable, r.total, r.details, began
  FROM jsonb_to_recordset(rows) AS r (account_type text, asset text, available numeric,
    withdrawable numeric, total numeric, details jsonb)
  ORDER BY r.account_type, r.asset
  ON CONFLICT (venue_key, account_type, asset) DO UPDATE
    SET available = excluded.available, withdrawable = excluded.withdrawable,
    total = excluded.total, details = excluded.details, fetched_at = excluded.fetched_at
  WHERE b.fetched_at <= excluded.fetched_at;
  UPDATE balance_snapshots SET available = 0, withdrawable = 0, total = 0, details = NULL,
    fetched_at = began
  WHERE venue_key = venue AND fetched_at < began;
END $$;

-- Stores what a fetch of a venue showed of its withdrawals. An older fetch never replaces a younger
-- one, nor does one that began before the clock was set back.
CREATE OR REPLACE FUNCTION store_outlook(venue text, began timestamptz, outlook jsonb) RETURNS void
  LANGUAGE sql AS $$
  INSERT INTO venue_outlooks AS o (venue_key, quota_left, quota_unit, closed, read_at)
  SELECT venue, (outlook -> 'quota' ->> 'left')::numeric, outlook -> 'quota' ->> 'unit',
    outlook -> 'closed', began
  WHERE began <= svc_now()
  ON CONFLICT (venue_key) DO UPDATE
    SET quota_left = excluded.quota_left, quota_unit = excluded.quota_unit,
    closed = excluded.closed, read_at = excluded.read_at
  WHERE o.read_at <= excluded.read_at
$$;

-- prisma/functions/lanes.sql

-- Leases nonce lanes to the caller for `seconds`: those that have open claims or are marked as
-- stuck, and that no other process has leased. Returns each lane with its lowest claims. Of a
-- claim, `ended`: the node's run no longer works on it; `stuck`: why that run cannot use the nonce
-- up; `proven`: the node ended because its own payment was seen in a block; `abandoned`: a person
-- abandoned the node, and it was not seen to land; `completed_by`: the transaction that completed
-- the attempt, as a person named it, or before the node ran again.
CREATE OR REPLACE FUNCTION take_lanes(seconds double precision, most integer) RETURNS jsonb
  LANGUAGE plpgsql AS $$
DECLARE
  at timestamptz := svc_now();
  lanes jsonb;
BEGIN
  WITH due AS (
    SELECT l.chain_id, l.address FROM nonce_lanes l
    WHERE coalesce(l.tended_until, '-infinity') <= at
      AND (l.stuck_nonce IS NOT NULL OR EXISTS (
        SELECT FROM evm_transactions t WHERE t.chain_id = l.chain_id AND t.address = l.address
          AND t.released_at IS NULL AND t.replaces IS NULL AND t.final_at IS NULL))
    ORDER BY l.tended_until NULLS FIRST FOR UPDATE SKIP LOCKED
  ), taken AS (
    UPDATE nonce_lanes l SET tended_until = at + make_interval(secs => seconds)
    FROM due WHERE l.chain_id = due.chain_id AND l.address = due.address
    RETURNING l.chain_id, l.address
  )
  SELECT coalesce(jsonb_agg(jsonb_build_object('chain_id', chain_id, 'address', address,
    'claims', (
      SELECT jsonb_agg(jsonb_build_object('transaction_id', t.transaction_id, 'nonce', t.nonce,
        'signer_key', t.signer_key, 'movement_id', t.movement_id, 'node_key', t.node_key,
        'abandoned', t.abandoned,
        'attempt', t.attempt, 'node_state', t.node_state, 'reorged', t.reorged_at IS NOT NULL,
        'stuck', t.stuck, 'ended', t.ended, 'proven', t.proven, 'node_ref', t.node_ref,
        'completed_by', t.completed_by,
        'versions', versions_of(t.claim)) ORDER BY t.nonce)
      FROM (
        SELECT c.*, c AS claim, n.state AS node_state, n.external_ref AS node_ref,
          CASE WHEN n.attempt = c.attempt AND n.error_code = 'LANE_STUCK'
            AND n.state NOT IN ('FAILED', 'COMPLETED', 'CANCELLED', 'SKIPPED')
            THEN coalesce(n.error_message, n.error_code) END AS stuck,
          c.movement_id IS NULL OR n.attempt > c.attempt
            OR n.state IN ('FAILED', 'COMPLETED', 'CANCELLED', 'SKIPPED') AS ended,
          coalesce(n.attempt = c.attempt AND n.state = 'COMPLETED'
            AND NOT was_resolved(c), false) AS proven,
          coalesce(n.attempt = c.attempt AND n.next_late_look IS NOT NULL AND is_abandoned(n), false)
            AS abandoned,
          lower(CASE WHEN n.attempt > c.attempt THEN (
              SELECT a.external_ref FROM node_attempts a WHERE a.movement_id = c.movement_id
                AND a.node_key = c.node_key AND a.attempt = c.attempt AND a.outcome = 'COMPLETED')
            ELSE n.output ->> 'tx_hash' END) AS completed_by
        FROM evm_transactions c LEFT JOIN movement_nodes n
          ON n.movement_id = c.movement_id AND n.node_key = c.node_key
        WHERE c.chain_id = taken.chain_id AND c.address = taken.address
          AND c.released_at IS NULL AND c.replaces IS NULL AND c.final_at IS NULL
        ORDER BY c.nonce LIMIT most) t))), '[]'::jsonb) INTO lanes
  FROM taken;
  RETURN lanes;
END $$;

-- Returns why a send may not use its send lane now, as problems of a binding, or null. In a send
-- lane, which an executor names in its prepared action, one send at a time is open: the venue has
-- no id of ours, so two open sends could not be assigned to two new records. A send is open until
-- its reference is known or it has ended. Call this under the movement's lock; a later statement
-- of the caller sees what was open before it had the lane's.
CREATE OR REPLACE FUNCTION send_lane_problem(movement uuid, key text, lane text) RETURNS jsonb
  LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('send_lane ' || lane, 0));
  RETURN (
    SELECT jsonb_build_array(jsonb_build_object('binding', 'send_lane', 'key', lane,
      'reason', 'the send of node ' || n.node_key || ' of movement ' || n.movement_id
        || ' is still open'))
    FROM node_attempts a JOIN movement_nodes n USING (movement_id, node_key)
    WHERE a.send_lane = lane AND a.attempt = n.attempt AND n.external_ref IS NULL
      AND NOT (n.movement_id = movement AND n.node_key = key)
      AND (n.recover_first OR n.state IN ('SUBMITTING', 'SUBMITTED', 'OBSERVING', 'UNKNOWN'))
    ORDER BY a.started_at, n.movement_id, n.node_key LIMIT 1);
END $$;

-- Returns what is known of the other sends in the lane of an attempt: {"since", when this attempt
-- passed its fence, "references", of the others, "unexplained", how many of them from a day before
-- it have no reference although they may have left}; null if the attempt has no lane.
CREATE OR REPLACE FUNCTION send_lane_terms(movement uuid, key text, node_attempt integer)
  RETURNS jsonb LANGUAGE sql STABLE AS $$
  WITH own AS (
    SELECT idempotency_key, send_lane, started_at FROM node_attempts
    WHERE movement_id = movement AND node_key = key AND attempt = node_attempt
      AND send_lane IS NOT NULL
  ), others AS (
    SELECT a.started_at, a.outcome, a.error_code, coalesce(a.external_ref,
      CASE WHEN a.attempt = n.attempt THEN n.external_ref END) AS reference
    FROM own JOIN node_attempts a
      ON a.send_lane = own.send_lane AND a.idempotency_key <> own.idempotency_key
    JOIN movement_nodes n ON n.movement_id = a.movement_id AND n.node_key = a.node_key
  )
  SELECT jsonb_build_object('since', wire_time(own.started_at),
    'references', coalesce((SELECT jsonb_agg(DISTINCT reference) FROM others
      WHERE reference IS NOT NULL), '[]'::jsonb),
    'unexplained', (SELECT count(*) FROM others WHERE reference IS NULL
      AND others.started_at > own.started_at - interval '1 day'
      AND (outcome IS DISTINCT FROM 'FAILED'
        OR error_code IN ('RESOLVED_AS_FAILED', 'ABANDONED')))
      -- A restored database may have forgotten sends.
      + (SELECT count(*) FROM movement_nodes n WHERE n.movement_id = movement
          AND n.node_key = key AND n.restored))
  FROM own
$$;

-- prisma/functions/perp-fence.sql

-- Returns the deposits that may still arrive. A node that a restore brought back may have sent, so
-- it counts until recovery has checked it. An abandoned one counts for a week, and for a week after
-- it was seen to land: what is seen first is its transfer, and the credit comes later.
CREATE OR REPLACE FUNCTION open_deposits()
  RETURNS TABLE (movement_id uuid, node_key text, amount numeric) LANGUAGE sql VOLATILE AS $$
  -- Each part has its own index.
  SELECT movement_id, node_key, amount FROM movement_nodes
  WHERE action_type = 'perp_deposit'
    AND (state IN ('SUBMITTING', 'SUBMITTED', 'OBSERVING', 'UNKNOWN') OR recover_first)
  UNION ALL
  SELECT movement_id, node_key, amount FROM movement_nodes
  WHERE action_type = 'perp_deposit' AND state = 'FAILED' AND error_code = 'ABANDONED'
    AND greatest(completed_at, landed_late_at) > (SELECT svc_now()) - interval '7 days'
$$;

-- Returns the movement of another deposit of the same amount that may still arrive, or null.
CREATE OR REPLACE FUNCTION equal_deposit(movement uuid, key text, wanted numeric) RETURNS text
  LANGUAGE sql VOLATILE AS $$
  SELECT movement_id::text FROM open_deposits()
  WHERE (amount IS NULL OR amount = wanted) AND NOT (movement_id = movement AND node_key = key)
  ORDER BY movement_id LIMIT 1
$$;

-- Returns the sum of other deposits that the account may not have shown when it was read at
-- `asked_at`: deposits under way, and deposits that arrived since.
CREATE OR REPLACE FUNCTION other_deposits(movement uuid, key text, asked_at timestamptz)
  RETURNS numeric LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(amount), 0) FROM (
    SELECT movement_id, node_key, amount FROM open_deposits()
    UNION
    SELECT movement_id, node_key, amount FROM movement_nodes
    WHERE action_type = 'perp_deposit' AND state = 'COMPLETED' AND completed_at >= asked_at) n
  WHERE NOT (movement_id = movement AND node_key = key)
$$;

-- prisma/functions/perp-venue.sql

-- Stores the signature of an agent's approval and returns the one to send, which is the first that
-- was stored. Returns null, and stores nothing, once the wallet must not be approved, in the mode
-- `frozen`, and while the signer that signs for the master account now may not sign. A change of
-- mode or signer waits until this ends; after such a change nothing is stored or sent.
CREATE OR REPLACE FUNCTION save_perp_approval(wallet uuid, given text) RETURNS text
  LANGUAGE plpgsql AS $$
DECLARE
  stored text;
  signer_status text;
BEGIN
  -- Before any row is locked; see cutover_now.
  IF cutover_now() = 'frozen' THEN RETURN NULL; END IF;
  SELECT status INTO signer_status FROM signers
  WHERE signer_key = (SELECT successor_of(m.signer_key) FROM perp_master m) FOR SHARE;
  -- A signer without a row is active.
  IF coalesce(signer_status, 'active') NOT IN ('active', 'deprecated') THEN RETURN NULL; END IF;
  PERFORM FROM perp_agent_wallets WHERE wallet_id = wallet AND state = 'pending' FOR SHARE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  UPDATE perp_actions SET signature = coalesce(signature, given) WHERE wallet_id = wallet
  RETURNING signature INTO stored;
  RETURN stored;
END $$;

-- prisma/functions/phases.sql

-- Returns what a phase reads about a node and its movement. A node may name another node whose
-- effect it searches for (config.match_from), as a mint names its burn: `matched` has what that
-- node recorded when it completed.
CREATE OR REPLACE FUNCTION read_phase(movement uuid, key text) RETURNS jsonb
  LANGUAGE sql VOLATILE AS $$
  SELECT jsonb_build_object(
    'movement_id', m.movement_id, 'movement_state', m.request_state, 'node_key', n.node_key,
      'state', n.state,
    'attempt', n.attempt, 'epoch', n.submit_epoch, 'amount', trim_scale(n.amount)::text,
      'preflight_passed', n.preflight_passed,
    'prepared_action', n.prepared_action, 'sign_request', n.sign_request,
      'recover_first', n.recover_first, 'restored', n.restored,
    'resumed', n.resumed, 'cancel_asked', coalesce(n.cancel_asked = n.attempt, false),
    'error_count', n.error_count, 'unanswered', n.unanswered,
    'unanswered_ms', extract(epoch FROM n.unanswered_since) * 1000,
      'updated_ms', extract(epoch FROM n.updated_at) * 1000,
    'wait_overdue_ms', extract(epoch FROM n.wait_overdue_at) * 1000,
    'error_code', n.error_code, 'error_message', n.error_message, 'external_ref', n.external_ref,
      'output', n.output,
    'now_ms', extract(epoch FROM svc_now()) * 1000,
      'started_ms', extract(epoch FROM n.started_at
        + coalesce(svc_now() - n.frozen_since, interval '0')) * 1000,
    'submitted_ms', extract(epoch FROM n.submitted_at) * 1000,
      'send_not_after_ms', extract(epoch FROM n.send_not_after) * 1000,
    'plan', w.plan_head || jsonb_build_object('intent', m.intent, 'input_params', w.input_params),
    'node', p.plan, 'outlives_cancel',
      n.on_cancel_target OR n.brings IS NOT NULL, 'conditional', n.conditional,
    'conditions', CASE WHEN n.conditional THEN m.edge_conditions END,
    'outputs', CASE WHEN n.amount IS NULL AND p.plan -> 'config' ? 'amount_ref' THEN coalesce((
      SELECT jsonb_object_agg(o.node_key, o.output) FROM movement_nodes o
      WHERE o.movement_id = m.movement_id AND o.state = 'COMPLETED' AND o.output IS NOT NULL),
        '{}'::jsonb) ELSE '{}'::jsonb END,
    'matched', CASE WHEN matched.name IS NOT NULL THEN (
      SELECT jsonb_build_object('node_key', o.node_key, 'external_ref', CASE
        WHEN o.state = 'COMPLETED' THEN o.external_ref END,
        'output', CASE WHEN o.state = 'COMPLETED' THEN o.output END)
      FROM movement_nodes o WHERE o.movement_id = m.movement_id
        AND o.node_key = matched.name) END)
  FROM movements m JOIN movement_nodes n ON n.movement_id = m.movement_id
  JOIN movement_plans w ON w.movement_id = m.movement_id
  -- OFFSET makes Postgres build the plan once, not at every use. The signer is read from the row,
  -- since it may have been replaced after the plan was compiled.
  CROSS JOIN LATERAL (SELECT node_plan(n.own_plan, w.input_params)
    || jsonb_build_object('signer_binding', n.signer_binding) AS plan OFFSET 0) p
  CROSS JOIN LATERAL (SELECT coalesce(n.brings,
    CASE WHEN jsonb_typeof(p.plan -> 'config' -> 'match_from') = 'string'
      THEN p.plan -> 'config' ->> 'match_from' END) AS name) matched
  WHERE m.movement_id = movement AND n.node_key = key
$$;

-- prisma/functions/registry.sql

-- Stores an executor's registration, where it differs, and the result of a health check. `declared`
-- also names the process that checked (`health_by`) and for how long its answer stands
-- (`stands_seconds`). Meanwhile a worse answer of another process changes nothing: that process
-- alone may not reach the executor. Processes of 0.4.0 send neither: their answers always count,
-- and stand against none.
CREATE OR REPLACE FUNCTION save_executor_health(declared jsonb, state text) RETURNS void
  LANGUAGE plpgsql AS $$
DECLARE
  d executors := jsonb_populate_record(NULL::executors, declared);
  stands interval := make_interval(secs => (declared ->> 'stands_seconds')::double precision);
  worst_first text[] := ARRAY['unknown', 'down', 'up'];
  at timestamptz := svc_now();
BEGIN
  PERFORM declare_executor(declared, at);
  UPDATE executors AS e SET kind = d.kind, action_types = d.action_types, provider = d.provider,
    chain_family = d.chain_family, endpoint = d.endpoint, updated_at = at
  WHERE e.executor_key = d.executor_key
    AND (e.kind, e.action_types, e.provider, e.chain_family, e.endpoint)
      IS DISTINCT FROM (d.kind, d.action_types, d.provider, d.chain_family, d.endpoint);
  UPDATE executors AS e SET health_state = state, health_checked_at = at, health_by = d.health_by,
    health_stands_until = at + stands
  WHERE e.executor_key = d.executor_key
    -- A check that is much later than now is of a database whose clock was ahead.
    AND NOT coalesce(e.health_by <> d.health_by AND e.health_stands_until > at
      AND e.health_checked_at <= at + interval '1 minute'
      AND array_position(worst_first, e.health_state) > array_position(worst_first, state), false);
END $$;

-- prisma/functions/request-desk.sql

-- Reserves `cost` of the budget of an API key and returns for how many milliseconds the request has
-- to wait, a stop included. Returns NULL and reserves nothing if that is more than `within_ms`. A
-- single time counts what is used: when the budget will be whole again. A request that costs more
-- than `capacity` waits for a whole budget.
CREATE OR REPLACE FUNCTION take_request_budget(key_hash text, cost double precision,
  capacity double precision, units_per_second double precision, within_ms double precision)
  RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE
  spent interval := make_interval(secs => cost / units_per_second);
  burst interval := make_interval(secs => greatest(capacity, cost) / units_per_second);
  -- Read before this call waits for the row: a time that is too early only makes the wait longer.
  at timestamptz := svc_now();
  from_when timestamptz;
BEGIN
  INSERT INTO request_desks AS d (key, whole_at) VALUES (key_hash, at + spent)
  -- Budget that is reserved during a stop is used after it: otherwise all would be sent at its end.
  ON CONFLICT (key) DO UPDATE SET whole_at = greatest(d.whole_at, d.stopped_until, at) + spent
    WHERE greatest(greatest(d.whole_at, d.stopped_until, at) + spent - burst, d.stopped_until)
      <= at + make_interval(secs => within_ms / 1000)
  RETURNING greatest(d.whole_at - burst, d.stopped_until, at) INTO from_when;
  RETURN ceil(extract(epoch FROM from_when - at) * 1000);
END $$;

-- Returns for how many milliseconds nothing may be sent with the API key.
CREATE OR REPLACE FUNCTION requests_stopped_for(key_hash text) RETURNS double precision
  LANGUAGE sql VOLATILE AS $$
  SELECT coalesce((SELECT greatest(0, extract(epoch FROM d.stopped_until - svc_now()) * 1000)
    FROM request_desks d WHERE d.key = key_hash AND d.stopped_until > svc_now()), 0)
$$;

-- Stops the API key for so many milliseconds. A longer stop stays.
CREATE OR REPLACE FUNCTION stop_requests(key_hash text, milliseconds double precision)
  RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  until timestamptz := svc_now() + make_interval(secs => milliseconds / 1000);
BEGIN
  INSERT INTO request_desks AS d (key, whole_at, stopped_until)
  VALUES (key_hash, svc_now(), until)
  ON CONFLICT (key) DO UPDATE SET stopped_until = greatest(d.stopped_until, until);
END $$;

-- Takes the turn of the API key and returns its nonce; null while another holder has the turn. The
-- nonce grows even if the clock does not.
CREATE OR REPLACE FUNCTION take_request_turn(key_hash text, holder uuid,
  milliseconds double precision) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  taken bigint;
BEGIN
  INSERT INTO request_desks AS d (key, whole_at, nonce, turn_holder, turn_until)
  VALUES (key_hash, svc_now(), floor(extract(epoch FROM svc_now()) * 1000), holder,
    svc_now() + make_interval(secs => milliseconds / 1000))
  ON CONFLICT (key) DO UPDATE SET nonce = greatest(d.nonce + 1, excluded.nonce),
    turn_holder = holder, turn_until = svc_now() + make_interval(secs => milliseconds / 1000)
  WHERE d.turn_until IS NULL OR d.turn_until <= svc_now()
  RETURNING d.nonce INTO taken;
  RETURN taken;
END $$;

-- Ends a turn, unless it was over and another holder has it.
CREATE OR REPLACE FUNCTION release_request_turn(key_hash text, holder uuid) RETURNS void
  LANGUAGE sql AS $$
  UPDATE request_desks SET turn_holder = NULL, turn_until = NULL
  WHERE key = key_hash AND turn_holder = holder
$$;

-- prisma/functions/resolve.sql

-- Returns whether a person has abandoned a node (`ABANDONED` of domain/attention-reasons.ts): its
-- send may still land.
CREATE OR REPLACE FUNCTION is_abandoned(n movement_nodes) RETURNS boolean LANGUAGE sql IMMUTABLE
  AS $$
  SELECT coalesce(n.state = 'FAILED' AND n.error_code = 'ABANDONED', false)
$$;

-- Returns whether no edge follows from the failure of a node: a stop ended its send, or a person
-- abandoned it.
CREATE OR REPLACE FUNCTION fires_no_edge(n movement_nodes) RETURNS boolean LANGUAGE sql IMMUTABLE
  AS $$
  SELECT is_abandoned(n) OR coalesce(n.error_code = 'TRANSACTION_CANCELLED'
    AND n.cancel_asked IS DISTINCT FROM n.attempt, false)
$$;

-- Returns whether the code of an UNKNOWN node says that the venue has its send, or has paid it.
-- AT_VENUE_CODES of domain/send/at-venue.ts has the same codes.
CREATE OR REPLACE FUNCTION is_at_venue(error_code text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(error_code IN ('SEND_UNDER_WAY', 'WITHDRAWAL_FEE_ABOVE_LIMIT',
    'WITHDRAWAL_MISMATCH', 'TRANSFER_MISMATCH', 'WITHDRAWAL_DUPLICATED', 'TRANSFER_DUPLICATED',
    'ATTESTATION_MISMATCH', 'ALREADY_CLAIMED', 'CLAIM_MISSING', 'LEDGER_ROW_MISMATCH',
    'DEPOSIT_AMOUNT_MISMATCH'), false)
$$;

-- Returns why the outcome of a node's send cannot be known yet, or null if it can: the send may
-- still be under way, its signed transaction may still be mined, the perps venue may still
-- execute its signed action (`WINDOW_MS` of domain/perps/nonce-window.ts), or the venue has it: the
-- node's run observes it all the time, and would have ended the node if the venue had ended the
-- send, or it is UNKNOWN and the last answer says that the venue has or has paid it, or the last
-- look could not see it (VENUE_ENTRY_CHANGED of domain/send/at-venue.ts). The
-- caller has locked movement and node. The remaining time follows `unsettledSeconds` in
-- domain/send/not-found.ts, and is computed here too since it must be checked under these locks; if
-- it is null, no send can be under way. `asked`: {"node_key", "settle_seconds", "nonces_closed",
-- "ahead_seconds": how far this clock is ahead of the caller's}.
CREATE OR REPLACE FUNCTION unsettled_send(movement uuid, asked jsonb, at timestamptz) RETURNS jsonb
  LANGUAGE plpgsql AS $$
DECLARE
  n record;
  seconds double precision;
  ahead double precision := coalesce((asked ->> 'ahead_seconds')::double precision, 0);
BEGIN
  SELECT state, attempt, error_code, send_not_after, signer_binding ->> 'signer_key' AS signer
  INTO n FROM movement_nodes WHERE movement_id = movement AND node_key = asked ->> 'node_key';
  seconds := extract(epoch
    FROM n.send_not_after - at) + (asked ->> 'settle_seconds')::double precision + ahead;
  IF seconds > 0 THEN
    RETURN jsonb_build_object('reason', 'send_not_over',
      'retry_after_seconds', ceil(seconds)::bigint);
  END IF;
  IF NOT (asked ->> 'nonces_closed')::boolean THEN RETURN NULL; END IF;
  SELECT extract(epoch FROM to_timestamp(a.nonce / 1000.0) + interval '49 hours' - at) + ahead
  INTO seconds
  FROM perp_actions a
  WHERE a.movement_id = movement AND a.node_key = asked ->> 'node_key' AND a.attempt = n.attempt
    AND a.signature IS NOT NULL;
  IF seconds > 0 THEN
    RETURN jsonb_build_object('reason', 'send_not_over',
      'retry_after_seconds', ceil(seconds)::bigint);
  END IF;
  RETURN coalesce((
    SELECT jsonb_build_object('reason', 'payment_mined', 'chain', a.chain_id,
      'tx_hash', a.mined_hash)
    FROM authorizations a
    WHERE a.movement_id = movement AND a.node_key = asked ->> 'node_key' AND a.attempt = n.attempt
      AND a.mined_hash IS NOT NULL LIMIT 1), (
    -- A final block has the payment itself, not its zero-value replacement.
    SELECT jsonb_build_object('reason', 'payment_mined', 'chain', p.chain_id, 'tx_hash', p.tx_hash)
    FROM evm_transactions t
    JOIN evm_transactions p ON p.kind = 'payment' AND p.tx_hash = t.mined_hash
      AND t.transaction_id IN (p.transaction_id, p.replaces)
    WHERE t.movement_id = movement AND t.node_key = asked ->> 'node_key' AND t.attempt = n.attempt
      AND t.final_at IS NOT NULL AND t.released_at IS NULL LIMIT 1), (
    SELECT jsonb_build_object('reason', 'nonce_open', 'signer', n.signer, 'address', t.address,
      'chain', t.chain_id, 'nonce', t.nonce,
      'hashes', jsonb_agg(t.tx_hash ORDER BY t.created_at, t.transaction_id))
    FROM evm_transactions t
    WHERE t.movement_id = movement AND t.node_key = asked ->> 'node_key' AND t.attempt = n.attempt
      AND t.raw_tx IS NOT NULL AND t.released_at IS NULL
    GROUP BY t.chain_id, t.address, t.nonce ORDER BY t.chain_id, t.nonce LIMIT 1),
    CASE WHEN n.state IN ('SUBMITTED', 'OBSERVING')
      OR n.state = 'UNKNOWN' AND is_at_venue(n.error_code)
      THEN jsonb_build_object('reason', 'send_still_open')
      WHEN n.state = 'UNKNOWN' AND n.error_code = 'VENUE_ENTRY_CHANGED'
      THEN jsonb_build_object('reason', 'venue_entry_changed') END);
END $$;

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
  changes integer;
  mode text;
BEGIN
  -- Before any row is locked; see cutover_now.
  PERFORM pg_advisory_xact_lock(7203118846);
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
  -- The backup may still have keys, payees and people that were removed since. So nothing new is
  -- taken, and no change that was requested is made, before somebody has compared them.
  UPDATE change_requests c SET state = 'outdated', ended_at = at, standing = '[]'
  WHERE change_is_open(c, at);
  GET DIAGNOSTICS changes = ROW_COUNT;
  SELECT c.mode INTO STRICT mode FROM cutover c;
  IF mode = 'normal' THEN mode := set_cutover_mode(doc -> 'drain') ->> 'mode'; END IF;
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

  -- A transaction that was lost may have used any nonce from the lane's next one on, and any that is
  -- claimed and has no bytes here: they were lost, or another node has taken the claim over since.
  -- If there was an earlier restore, the lane may have lost all of its nonces then, so this starts
  -- at 0.
  UPDATE nonce_lanes l SET unproven_from = least(coalesce(unproven_from,
    CASE WHEN EXISTS (SELECT FROM restores WHERE incident <> doc ->> 'incident') THEN 0
      ELSE next_nonce END),
    (SELECT min(c.nonce) FROM evm_transactions c
      WHERE c.chain_id = l.chain_id AND c.address = l.address AND c.raw_tx IS NULL
        AND c.replaces IS NULL AND c.released_at IS NULL AND c.final_at IS NULL));
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
      'retries_asked_first', retries, 'capital_transfers', transfers, 'nonce_lanes', lanes,
    'cutover_mode', mode, 'change_requests_ended', changes);
  UPDATE restores SET result = done WHERE incident = doc ->> 'incident';
  PERFORM write_audit(with_details(doc -> 'audit', done), at);
  RETURN done || '{"repeated": false}';
END $$;

-- prisma/functions/transaction-nonces.sql

-- Returns the nonce of a node's attempt: the one that the attempt already claims, else the lane's
-- next. A claim ends only through `released_at`, so recovery can never move a node to a new nonce
-- by itself.
CREATE OR REPLACE FUNCTION claim_nonce(movement uuid, node text, node_attempt integer, claim jsonb,
  at timestamptz)
RETURNS evm_transactions LANGUAGE plpgsql AS $$
DECLARE
  tx evm_transactions;
  abandoned uuid;
  taken bigint;
BEGIN
  INSERT INTO nonce_lanes (chain_id, address, next_nonce)
    VALUES ((claim ->> 'chain_id')::bigint, claim ->> 'address', 0)
  ON CONFLICT DO NOTHING;
  PERFORM 1 FROM nonce_lanes WHERE chain_id = (claim ->> 'chain_id')::bigint
    AND address = claim ->> 'address' FOR UPDATE;
  SELECT * INTO tx FROM evm_transactions
  WHERE movement_id = movement AND node_key = node AND attempt = node_attempt
    AND released_at IS NULL AND replaces IS NULL
  ORDER BY created_at DESC LIMIT 1;
  IF FOUND THEN RETURN tx; END IF;
  -- Takes over a claim that can no longer be signed, since every later nonce would wait for it. It
  -- is read before the update: as a condition it would be asked again for each row, and would name
  -- the next one as soon as the first is released.
  SELECT transaction_id INTO abandoned FROM left_claim(claim);
  UPDATE evm_transactions SET released_at = at WHERE transaction_id = abandoned
  RETURNING nonce INTO taken;
  IF taken IS NULL THEN
    UPDATE nonce_lanes SET next_nonce = greatest(next_nonce, (claim ->> 'chain_nonce')::bigint) + 1,
      signer_key = claim ->> 'signer_key'
    WHERE chain_id = (claim ->> 'chain_id')::bigint AND address = claim ->> 'address'
    RETURNING next_nonce - 1 INTO taken;
  END IF;
  INSERT INTO evm_transactions (transaction_id, chain_id, address, nonce, signer_key, movement_id,
    node_key, attempt, unsigned, created_at)
  VALUES ((claim ->> 'transaction_id')::uuid, (claim ->> 'chain_id')::bigint, claim ->> 'address',
    taken, claim ->> 'signer_key', movement, node, node_attempt, claim -> 'unsigned', at)
  RETURNING * INTO tx;
  RETURN tx;
END $$;

-- prisma/functions/write-path.sql

-- Applies one transition; see store/transition.ts for the shape of `doc`.
-- A connection plans each of its statements once, not anew for each of its first six calls.
CREATE OR REPLACE FUNCTION apply_transition(doc jsonb) RETURNS jsonb LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan AS $$
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
  frozen boolean := false;
  unclaimed boolean := false;
  seen boolean := false;
  looks_again boolean := coalesce(doc ->> 'command_kind' IN ('resume', 'retry'), false);
  holder jsonb;
  lane text;
BEGIN
  -- A condition with a subquery stands in an IF of its own: PL/pgSQL starts a whole condition as a
  -- query, also where its other parts decide it.
  -- Finds the nodes that pass a fence before any row is locked; see cutover_now.
  IF jsonb_path_exists(nodes, '$[*].set.state ? (@ == "SUBMITTING")') THEN
    SELECT array_agg(value ->> 'node_key') INTO fenced FROM jsonb_array_elements(nodes)
      WHERE value -> 'set' ->> 'state' = 'SUBMITTING';
    frozen := cutover_now() = 'frozen';
  END IF;
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

  IF doc ? 'command_id' THEN
    IF EXISTS (SELECT 1 FROM commands WHERE command_id = (doc ->> 'command_id')::uuid) THEN
      RETURN jsonb_build_object('ok', true, 'at', at, 'version', m.version,
        'request_state', m.request_state,
        'approval_status', m.approval_status, 'reservation_status', m.reservation_status,
          'current_frontier', to_jsonb(m.current_frontier),
        'expires_at', m.expires_at, 'repeated', true);
    END IF;
  END IF;

  refusal := CASE
    WHEN doc ? 'version' AND m.version <> (doc ->> 'version')::integer THEN 'version'
    WHEN doc ? 'states' AND NOT (doc -> 'states') ? m.request_state THEN 'movement_state'
    WHEN doc ->> 'expiry' = 'future' AND m.expires_at <= at THEN 'expired'
    WHEN doc ->> 'expiry' = 'past' AND m.expires_at > at THEN 'not_expired' END;
  IF refusal IS NULL AND doc ? 'plan_hash' THEN
    IF doc ->> 'plan_hash' IS DISTINCT FROM (
      SELECT compiled_plan_hash FROM movement_plans WHERE movement_id = m.movement_id) THEN
      refusal := 'plan_hash';
    END IF;
  END IF;

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
    AND needs_proof(m.movement_id) THEN
    IF doc ->> 'proven' IS DISTINCT FROM (
      SELECT compiled_plan_hash FROM movement_plans WHERE movement_id = m.movement_id) THEN
      refusal := 'approval_not_proven';
    END IF;
  END IF;

  IF refusal IS NULL THEN
    IF jsonb_array_length(nodes) > 1 THEN
      nodes := (SELECT jsonb_agg(value ORDER BY value ->> 'node_key')
        FROM jsonb_array_elements(nodes));
    END IF;
    FOR i IN 0 .. jsonb_array_length(nodes) - 1 LOOP
      part := nodes -> i;
      SELECT node_key, node_kind, state, attempt, submit_epoch, recover_first, prepared_action,
        pays, claims_when, output, error_code INTO n
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
         -- An abandoned node stays as it is: its send may still land.
         OR (n.state = 'FAILED' AND n.error_code = 'ABANDONED' AND part -> 'set' ? 'state')
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
      -- Whatever way a send takes, it takes the lane of the action that is sent.
      lane := CASE WHEN part -> 'set' ->> 'state' = 'SUBMITTING'
        THEN coalesce(part -> 'set' -> 'prepared_action', n.prepared_action) ->> 'send_lane' END;
      IF lane IS NOT NULL THEN
        nodes := jsonb_set(nodes, ARRAY[i::text, 'send_lane'], to_jsonb(lane));
      END IF;
    END LOOP;
  END IF;
  -- An API process of 0.4.0 takes the failure of an abandoned node for one that fires edges. A node
  -- to which nothing else leads stays BLOCKED. The release after the next one needs this no longer.
  IF refusal IS NULL AND doc ->> 'command_kind' IN ('resume', 'retry', 'resolve') THEN
    IF EXISTS (
      SELECT 1 FROM jsonb_array_elements(nodes) t
      JOIN movement_nodes k
        ON k.movement_id = m.movement_id AND k.node_key = t.value ->> 'node_key'
      JOIN movement_plans p ON p.movement_id = m.movement_id
      CROSS JOIN jsonb_array_elements(p.plan_frame -> 'edges') e
      JOIN movement_nodes s ON s.movement_id = m.movement_id AND s.node_key = e.value ->> 'from'
      LEFT JOIN jsonb_array_elements(nodes) c ON c.value ->> 'node_key' = s.node_key
      WHERE t.value ->> 'was' = 'BLOCKED' AND t.value -> 'set' ->> 'state' = 'READY'
        AND k.brings IS NULL AND e.value ->> 'to' = k.node_key
      GROUP BY k.node_key
      HAVING bool_or(is_abandoned(s) AND e.value ->> 'edge_type' IN ('on_failure', 'on_timeout'))
        AND NOT bool_or(NOT is_abandoned(s)
          AND CASE coalesce(c.value -> 'set' ->> 'state', s.state)
          WHEN 'COMPLETED' THEN e.value ->> 'edge_type' IN ('on_success', 'on_manual_resume')
          WHEN 'FAILED' THEN e.value ->> 'edge_type' IN ('on_failure', 'on_timeout')
          ELSE false END)) THEN
      refusal := 'node_state';
    END IF;
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
  FOR i IN 0 .. jsonb_array_length(nodes) - 1 LOOP
    EXIT WHEN refusal IS NOT NULL;
    part := nodes -> i;
    IF part ? 'send_lane' THEN
      problems := send_lane_problem(m.movement_id, part ->> 'node_key', part ->> 'send_lane');
      IF problems IS NOT NULL THEN refusal := 'binding'; END IF;
      CONTINUE WHEN refusal IS NOT NULL;
    END IF;
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
    ELSIF part ? 'settles' THEN
      PERFORM 1 FROM evm_transactions
      WHERE transaction_id = (part -> 'settles' ->> 'transaction_id')::uuid
        AND final_at IS NULL AND released_at IS NULL FOR UPDATE;
      IF NOT FOUND THEN refusal := 'node_state'; END IF;
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
      -- A resume or a retry takes nothing back of what the venue has, also where it was decided before
      -- the look that found it, nor that its looks cannot see the send. What passes its fence in a
      -- lane no longer waits for that lane.
      error_code = CASE WHEN looks_again AND state = 'UNKNOWN'
            AND (is_at_venue(error_code) OR error_code = 'VENUE_ENTRY_CHANGED')
          THEN error_code
        WHEN fields ? 'error_code' THEN fields ->> 'error_code'
        WHEN part ? 'send_lane' THEN NULL ELSE error_code END,
      error_message = CASE WHEN looks_again AND state = 'UNKNOWN'
            AND (is_at_venue(error_code) OR error_code = 'VENUE_ENTRY_CHANGED')
          THEN error_message
        WHEN fields ? 'error_message' THEN fields ->> 'error_message'
        WHEN part ? 'send_lane' THEN NULL ELSE error_message END,
      -- The time that a node waits at its fence in the mode `frozen` does not count towards its
      -- time limit.
      started_at = CASE WHEN fields ? 'started_at' THEN svc_time(fields -> 'started_at', at)
        WHEN fields ? 'state' THEN started_at + coalesce(at - frozen_since, interval '0')
        ELSE started_at END,
      frozen_since = CASE WHEN NOT fields ? 'state' THEN frozen_since END,
      -- Only a READY node waits for its venue, so any other state ends the wait.
      wait_overdue_at = CASE WHEN fields ? 'state' THEN NULL
        WHEN fields ? 'wait_overdue_at' THEN svc_time(fields -> 'wait_overdue_at', at)
        ELSE wait_overdue_at END,
      submitted_at = CASE WHEN fields ? 'submitted_at' THEN svc_time(fields -> 'submitted_at', at)
        ELSE submitted_at END,
      completed_at = CASE WHEN fields ? 'completed_at' THEN svc_time(fields -> 'completed_at', at)
        ELSE completed_at END,
      next_late_look = CASE WHEN fields ? 'next_late_look'
        THEN svc_time(fields -> 'next_late_look', at) ELSE next_late_look END,
      landed_late_at = CASE WHEN fields ? 'landed_late_at'
        THEN svc_time(fields -> 'landed_late_at', at) ELSE landed_late_at END,
      landing_seen_at = CASE WHEN fields ? 'landing_seen_at'
        THEN svc_time(fields -> 'landing_seen_at', at) ELSE landing_seen_at END,
      updated_at = at
    WHERE movement_id = m.movement_id AND node_key = part ->> 'node_key'
    RETURNING node_key, state, attempt, submit_epoch, external_ref, error_code INTO n;
    settles := settles OR part ? 'was' OR fields ?| ARRAY['amount', 'recover_first'];
    seen := seen OR fields ? 'landing_seen_at';
    IF n.state = 'SUBMITTING' AND part ->> 'was' = 'READY' THEN
      INSERT INTO node_attempts (idempotency_key, movement_id, node_key, attempt, started_at,
        send_lane)
      VALUES (m.movement_id || ':' || n.node_key || ':' || n.attempt, m.movement_id, n.node_key,
        n.attempt, at, part ->> 'send_lane')
      ON CONFLICT (idempotency_key) DO NOTHING;
    ELSIF n.state IN ('COMPLETED', 'FAILED') AND part ->> 'was' <> n.state THEN
      UPDATE node_attempts SET outcome = n.state, ended_at = at, external_ref = n.external_ref,
        error_code = n.error_code
      WHERE movement_id = m.movement_id AND node_key = n.node_key AND attempt = n.attempt
        AND ended_at IS NULL;
      -- What an abandoned node may have sent counts as what a completed one has.
      IF n.state = 'COMPLETED' OR n.error_code = 'ABANDONED' THEN
        completed := completed || n.node_key;
      END IF;
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
    IF part ? 'settles' THEN UPDATE evm_transactions SET final_at = at,
        mined_hash = part -> 'settles' ->> 'mined_hash'
      WHERE transaction_id = (part -> 'settles' ->> 'transaction_id')::uuid; END IF;
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
      -- Once a late landing is dealt with, the next one is called back, too.
      attention_told = CASE WHEN seen THEN nullif(array_to_string(array_remove(
        string_to_array(attention_told, '+'), 'landed_late'), '+'), '') ELSE attention_told END,
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
    IF m.pooled AND completed <> '{}' THEN
      PERFORM note_sent(m.movement_id, completed, at);
    END IF;
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
      input_params, draw_terms, labels, own_request, created_by, payees, trace_parent)
    VALUES (id, d ->> 'compiled_plan_hash', plan_frame(compiled), plan_head(compiled), params,
      d -> 'draw_terms', d -> 'labels', own_request(d -> 'request', params, d -> 'labels'),
      d -> 'created_by', nullif(d -> 'payees', 'null'), d ->> 'trace_parent')
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
  ), audit AS (
    -- As write_audit writes them, without a call of its own.
    INSERT INTO audit_events (event_id, occurred_at, actor_client_id, actor_key_id, actor_role,
      namespace, action, entity_type, entity_key, outcome, request_id, reason, details, mac)
    SELECT event_id, at, actor_client_id, actor_key_id, actor_role, namespace, action, entity_type,
      entity_key, outcome, request_id, reason, coalesce(details, '{}'), decode(mac, 'hex')
    FROM jsonb_to_recordset(coalesce(doc -> 'audit', '[]')) AS e (event_id uuid,
      actor_client_id text, actor_key_id text, actor_role text, namespace text, action text,
      entity_type text, entity_key text, outcome text, request_id text, reason text, details jsonb,
      mac text)
  )
  SELECT joined_plan(p.plan_frame, compiled -> 'intent', p.input_params, (
      SELECT jsonb_agg(node_plan(n.own_plan, p.input_params) ORDER BY n.position) FROM nodes n))
    IS NOT DISTINCT FROM compiled INTO whole FROM plan p;
  IF NOT whole THEN
    RAISE EXCEPTION 'the plan of movement % cannot be stored: it would be read back as another one', id;
  END IF;
  IF (doc ->> 'signed')::boolean THEN PERFORM follow_at_create(id); END IF;
  PERFORM keep_rules_of(id, at);
  PERFORM refuse_outlived(doc -> 'audit');
  RETURN jsonb_build_object('created', true, 'movement_id', id, 'created_at', at,
    'expires_at', expires);
END $$;

REVOKE ALL ON FUNCTION create_movement(jsonb) FROM PUBLIC;

-- Returns a movement as its run reads it, with graph and states; null for an unknown movement.
CREATE OR REPLACE FUNCTION movement_view(movement uuid, at timestamptz) RETURNS jsonb
  LANGUAGE sql VOLATILE AS $$
  SELECT jsonb_build_object(
    'movement_id', m.movement_id, 'state', m.request_state, 'version', m.version,
      'template_key', m.template_key,
    'template_version', m.template_version, 'strategy_id', m.strategy_id, 'asset', m.asset,
      'ended', m.ended_at IS NOT NULL,
    'error_code', m.error_code, 'frontier', to_jsonb(m.current_frontier),
      'ttl_ms', greatest(0, ceil(extract(epoch FROM m.expires_at - at) * 1000)),
    'edges', p.plan_frame -> 'edges', 'conditions', m.edge_conditions,
      'reservation_status', m.reservation_status,
    'nodes', (SELECT jsonb_agg(jsonb_build_object(
        'node_key', n.node_key, 'node_kind', n.node_kind, 'state', n.state, 'attempt', n.attempt,
          'resumed', n.resumed,
        'ended_by_stop', fires_no_edge(n),
        'recover_first', n.recover_first, 'error_code', n.error_code,
          'executor_key', n.executor_binding ->> 'executor_key',
        'signs', n.signer_binding IS NOT NULL, 'brings', n.brings,
        'settled_order', coalesce(extract(epoch FROM n.completed_at) * 1000, 0))
          ORDER BY n.position)
      FROM movement_nodes n WHERE n.movement_id = m.movement_id))
  FROM movements m JOIN movement_plans p USING (movement_id) WHERE m.movement_id = movement
$$;
