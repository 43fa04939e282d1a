-- Writes one event of a capital transfer's history. The caller has locked the transfer and stores
-- its next sequence.
CREATE OR REPLACE FUNCTION write_transfer_event(t capital_transfers, from_state text, event jsonb,
  at timestamptz) RETURNS void LANGUAGE sql AS $$
  INSERT INTO capital_transfer_events (event_id, transfer_id, sequence, event_type, from_state,
    to_state, actor, message, data, occurred_at)
  VALUES ((event ->> 'event_id')::uuid, t.transfer_id, t.next_sequence, event ->> 'event_type',
    from_state, t.request_state,
          event -> 'actor', event ->> 'message', coalesce(event -> 'data', '{}'::jsonb), at)
$$;

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

-- Returns the transfer for its run. Marks changes as seen first and reads in a later statement, so
-- that no change is marked as seen without being read.
CREATE OR REPLACE FUNCTION load_transfer(transfer uuid, run text) RETURNS jsonb LANGUAGE plpgsql
  AS $$
DECLARE t capital_transfers;
BEGIN
  UPDATE capital_transfers SET seen_version = version, wakes = 0, run_id = run
  WHERE transfer_id = transfer AND (seen_version < version OR run_id IS DISTINCT FROM run);
  SELECT * INTO t FROM capital_transfers WHERE transfer_id = transfer;
  RETURN CASE WHEN t.transfer_id IS NOT NULL THEN transfer_row(t, svc_now()) END;
END $$;
