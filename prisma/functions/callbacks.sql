-- Returns the host of a URL in its normal form, or null for a URL in any other form.
CREATE OR REPLACE FUNCTION callback_host(url text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT substring(url FROM '^https?://([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[0-9]+)?(?:[/?#]|$)')
$$;

-- Returns whether a callback to this URL is a dead letter from the start, because the connection's
-- setting does not list its host. Without the setting, or for a URL in another form, the delivery
-- decides: it checks every host again.
CREATE OR REPLACE FUNCTION callback_refused(url text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT coalesce(NOT callback_host(url)
    = ANY (string_to_array(current_setting('svc.callback_allowed_hosts', true), ',')), false)
$$;

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

-- Stores the outcome of one delivery attempt; see store/callbacks.ts for the shape of `doc`. A
-- delivered or dead callback of a movement also gets a timeline row, under the movement's lock;
-- this changes nothing that a run or the sweeper reads. Returns false if another process has
-- settled the callback since the lease.
CREATE OR REPLACE FUNCTION settle_callback(doc jsonb) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  m movements;
  at timestamptz;
  next_status text := doc ->> 'status';
BEGIN
  IF next_status <> 'pending' THEN
    SELECT * INTO m FROM movements
      WHERE movement_id = (doc ->> 'movement_id')::uuid FOR NO KEY UPDATE;
  END IF;
  at := svc_now();
  -- A late success counts even if there were other attempts meanwhile; a late failure does not.
  UPDATE callbacks SET status = next_status, attempts = (doc ->> 'attempts')::integer,
    claimed_until = NULL, updated_at = at,
    last_error = doc ->> 'last_error',
    next_attempt_at = CASE WHEN next_status = 'pending'
      THEN at + make_interval(secs => (doc ->> 'delay_seconds')::double precision)
                           ELSE next_attempt_at END
  WHERE event_id = (doc ->> 'event_id')::uuid AND status = 'pending'
    AND (next_status = 'delivered' OR attempts = (doc ->> 'seen_attempts')::integer);
  IF NOT FOUND THEN RETURN false; END IF;
  IF m.movement_id IS NOT NULL THEN
    m.next_sequence := write_timeline(m, doc -> 'timeline', ARRAY[]::text[], at);
    UPDATE movements SET next_sequence = m.next_sequence WHERE movement_id = m.movement_id;
  END IF;
  RETURN true;
END $$;

-- Queues a dead letter again with zero attempts. Returns NULL for an unknown callback.
CREATE OR REPLACE FUNCTION redeliver_callback(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  c callbacks;
  at timestamptz := svc_now();
  before jsonb;
BEGIN
  SELECT * INTO c FROM callbacks WHERE event_id = (doc ->> 'event_id')::uuid FOR UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  before := jsonb_build_object('previous_status', c.status, 'previous_attempts', c.attempts,
    'last_error', c.last_error);
  IF NOT (doc -> 'states') ? c.status THEN
    RETURN jsonb_build_object('ok', false, 'status', c.status);
  END IF;
  UPDATE callbacks SET status = 'pending', attempts = 0, next_attempt_at = at,
    claimed_until = NULL, last_error = NULL, updated_at = at
  WHERE event_id = c.event_id RETURNING * INTO c;
  PERFORM write_audit(with_details(doc -> 'audit', before), at);
  RETURN jsonb_build_object('ok', true, 'row', to_jsonb(c));
END $$;
