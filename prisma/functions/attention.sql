-- Returns the transaction that keeps a node's own transaction from being mined or signed: an
-- UNKNOWN node claims an earlier nonce of the same account. NULL if there is none.
CREATE OR REPLACE FUNCTION lane_blocker(n movement_nodes, at timestamptz) RETURNS jsonb
  LANGUAGE plpgsql STABLE AS $$
BEGIN
  -- Every open node calls this; most calls return NULL without a query.
  IF n.state IN ('SUBMITTED', 'OBSERVING') AND n.submitted_at <= at - interval '1 minute' THEN
    -- The node has signed: look for open nonces below its own. OFFSET keeps the joins in this
    -- order, so that a node without a transaction costs one look-up, not one for each UNKNOWN node.
    RETURN (
      SELECT jsonb_build_object('movement_id', o.movement_id, 'node_key', o.node_key,
        'chain_id', o.chain_id, 'address', o.address, 'nonce', o.nonce)
      FROM (SELECT * FROM evm_transactions own
        WHERE own.movement_id = n.movement_id AND own.node_key = n.node_key
          AND own.attempt = n.attempt AND own.released_at IS NULL OFFSET 0) t
      CROSS JOIN LATERAL (SELECT * FROM evm_transactions below
        WHERE below.chain_id = t.chain_id AND below.address = t.address AND below.nonce < t.nonce
          AND below.released_at IS NULL AND below.replaces IS NULL AND below.final_at IS NULL
        OFFSET 0) o
      JOIN movement_nodes b ON b.movement_id = o.movement_id AND b.node_key = o.node_key
        AND b.attempt = o.attempt AND b.state = 'UNKNOWN'
      ORDER BY o.nonce LIMIT 1);
  ELSIF n.state = 'READY' AND n.error_code = 'LANE_BLOCKED'
    AND n.updated_at <= at - interval '1 minute' THEN
    -- The node waits before its fence (lane_problem). Start from the few UNKNOWN nodes, since an
    -- account has a claim for each transaction that it ever sent.
    RETURN (
      SELECT jsonb_build_object('movement_id', o.movement_id, 'node_key', o.node_key,
        'chain_id', o.chain_id, 'address', o.address, 'nonce', o.nonce)
      FROM (SELECT movement_id, node_key, attempt FROM movement_nodes
        WHERE state = 'UNKNOWN' OFFSET 0) b
      CROSS JOIN LATERAL (SELECT * FROM evm_transactions own
        WHERE own.movement_id = b.movement_id AND own.node_key = b.node_key
          AND own.attempt = b.attempt AND own.released_at IS NULL OFFSET 0) o
      WHERE o.signer_key = n.signer_binding ->> 'signer_key'
        AND o.chain_id = (n.sign_request -> 'payload' ->> 'chain_id')::bigint
      ORDER BY o.nonce LIMIT 1);
  END IF;
  RETURN NULL;
END $$;

-- Returns what a node waits for in a stuck nonce lane: the nonce that needs a zero-value
-- transaction, and why that transaction cannot be sent. NULL if the lane is not stuck or the node
-- does not wait. A lane counts as stuck after a minute, since an endpoint may refuse once.
CREATE OR REPLACE FUNCTION lane_stuck(n movement_nodes, at timestamptz) RETURNS jsonb
  LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF n.state NOT IN ('READY', 'SUBMITTING', 'SUBMITTED', 'OBSERVING') THEN RETURN NULL; END IF;
  RETURN (
    SELECT jsonb_build_object('chain_id', l.chain_id, 'address', l.address,
      'nonce', l.stuck_nonce, 'why', l.stuck_why, 'signer_key', l.signer_key)
    FROM nonce_lanes l
    WHERE l.stuck_since <= at - interval '1 minute' AND CASE WHEN n.state = 'READY'
      -- The node waits before its fence (lane_problem).
      THEN n.error_code = 'LANE_BLOCKED' AND l.signer_key = n.signer_binding ->> 'signer_key'
        AND l.chain_id = (n.sign_request -> 'payload' ->> 'chain_id')::bigint
      ELSE EXISTS (SELECT FROM evm_transactions own
        WHERE own.movement_id = n.movement_id AND own.node_key = n.node_key
          AND own.attempt = n.attempt AND own.released_at IS NULL AND own.final_at IS NULL
          AND own.chain_id = l.chain_id AND own.address = l.address
          AND own.nonce >= l.stuck_nonce) END
    ORDER BY l.stuck_since LIMIT 1);
END $$;

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

-- Returns whether waiting alone cannot complete an observed node: the credit, payment or
-- attestation that was found differs from the send, or may belong to another node. AMOUNTS_DIFFER
-- of domain/attention.ts has the same codes.
CREATE OR REPLACE FUNCTION waits_in_vain(error_code text) RETURNS boolean LANGUAGE sql IMMUTABLE
  AS $$
  SELECT coalesce(error_code IN ('DEPOSIT_AMOUNT_MISMATCH', 'LEDGER_ROW_MISMATCH',
    'ATTESTATION_MISMATCH', 'ALREADY_CLAIMED', 'CLAIM_MISSING', 'PAYMENT_AMBIGUOUS'), false)
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
