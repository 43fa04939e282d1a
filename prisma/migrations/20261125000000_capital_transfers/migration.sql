-- Transfers between accounts of one provider; see docs/decisions/0022-capital-transfers.md.
CREATE TABLE capital_transfers (
  transfer_id              uuid PRIMARY KEY,
  client_scope             text NOT NULL,
  idempotency_key          text NOT NULL,
  -- The request in its normal form: what a repeat is compared with.
  request                  jsonb NOT NULL,
  request_state            text NOT NULL CHECK (request_state IN
    ('CREATED', 'SUBMITTING', 'PENDING_PROVIDER_CONFIRMATION', 'COMPLETED', 'FAILED', 'MANUAL_INTERVENTION')),
  source_venue             text NOT NULL,
  source_account_type      text NOT NULL,
  destination_venue        text NOT NULL,
  destination_account_type text NOT NULL,
  asset                    text NOT NULL,
  amount                   numeric(38, 18) NOT NULL CHECK (amount > 0),
  reason                   text NOT NULL,
  strategy_id              text,
  provider                 text NOT NULL,
  -- The provider's own id of its record.
  provider_transfer_id     text,
  -- The provider has shown a record of it: from then on "not found" does not mean that nothing landed.
  acknowledged             boolean NOT NULL DEFAULT false,
  submit_epoch             integer NOT NULL DEFAULT 0,
  sends                    integer NOT NULL DEFAULT 0,
  send_not_after           timestamptz,
  -- When waiting for the provider becomes a person's matter.
  pending_until            timestamptz,
  error_code               text,
  error_message            text,
  created_by               jsonb NOT NULL,
  -- Grows with every change that a run must see; `seen_version` is the last that one has loaded.
  version                  integer NOT NULL DEFAULT 1,
  seen_version             integer NOT NULL DEFAULT 0,
  next_sequence            integer NOT NULL DEFAULT 1,
  wakes                    integer NOT NULL DEFAULT 0,
  claimed_until            timestamptz NOT NULL,
  run_id                   text,
  created_at               timestamptz NOT NULL,
  updated_at               timestamptz NOT NULL,
  ended_at                 timestamptz,
  CONSTRAINT capital_transfers_ended CHECK ((ended_at IS NOT NULL) = (request_state IN ('COMPLETED', 'FAILED'))),
  UNIQUE (client_scope, idempotency_key)
);
CREATE INDEX capital_transfers_newest ON capital_transfers (created_at DESC, transfer_id DESC);
CREATE INDEX capital_transfers_by_state ON capital_transfers (request_state, created_at DESC);
CREATE INDEX capital_transfers_open ON capital_transfers (claimed_until) WHERE ended_at IS NULL OR seen_version < version;

-- What happened to a transfer, gapless and never changed.
CREATE TABLE capital_transfer_events (
  event_id    uuid PRIMARY KEY,
  transfer_id uuid NOT NULL REFERENCES capital_transfers (transfer_id),
  sequence    integer NOT NULL,
  event_type  text NOT NULL,
  from_state  text,
  to_state    text,
  actor       jsonb NOT NULL,
  message     text NOT NULL,
  data        jsonb NOT NULL,
  occurred_at timestamptz NOT NULL,
  UNIQUE (transfer_id, sequence)
);
INSERT INTO service_privileges (table_name, privileges) VALUES
  ('capital_transfers', 'SELECT, INSERT, UPDATE'),
  ('capital_transfer_events', 'SELECT, INSERT');

-- A hold belongs to a movement or to a transfer.
ALTER TABLE reservations ALTER COLUMN movement_id DROP NOT NULL;
ALTER TABLE reservations ADD COLUMN transfer_id uuid REFERENCES capital_transfers (transfer_id);
ALTER TABLE reservations ADD CONSTRAINT reservations_one_owner CHECK (num_nonnulls(movement_id, transfer_id) = 1);
CREATE UNIQUE INDEX reservations_one_hold_of_transfer ON reservations (transfer_id) WHERE transfer_id IS NOT NULL;

-- Takes the holds of a movement, or of a transfer, pools in key order.
DROP FUNCTION take_holds(uuid, jsonb, timestamptz);
CREATE FUNCTION take_holds(movement uuid, holds jsonb, at timestamptz, transfer uuid DEFAULT NULL) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  hold jsonb;
  total numeric;
BEGIN
  FOR hold IN SELECT value FROM jsonb_array_elements(coalesce(holds, '[]'::jsonb))
              ORDER BY value ->> 'venue_key', value ->> 'account_type', value ->> 'asset' LOOP
    INSERT INTO reservation_pools AS p (venue_key, account_type, asset, held)
    VALUES (hold ->> 'venue_key', hold ->> 'account_type', hold ->> 'asset', (hold ->> 'amount')::numeric)
    ON CONFLICT (venue_key, account_type, asset) DO UPDATE SET held = p.held + excluded.held
    RETURNING held INTO total;
    -- A later statement than the one that waited for the lock, so it sees what was written meanwhile.
    IF hold ? 'stale_after_seconds' THEN PERFORM check_covered(hold, total, at); END IF;
    INSERT INTO reservations (reservation_id, movement_id, transfer_id, venue_key, account_type, asset, amount, status, created_at)
    VALUES ((hold ->> 'reservation_id')::uuid, movement, transfer, hold ->> 'venue_key', hold ->> 'account_type', hold ->> 'asset',
            (hold ->> 'amount')::numeric, 'held', at);
  END LOOP;
END $$;

-- Ends the hold of a transfer. The caller holds the transfer's lock.
CREATE FUNCTION end_transfer_hold(transfer uuid, new_status text, at timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE hold reservations;
BEGIN
  SELECT * INTO hold FROM reservations WHERE transfer_id = transfer AND status = 'held';
  IF NOT FOUND THEN RETURN; END IF;
  UPDATE reservation_pools SET held = held - hold.amount
  WHERE venue_key = hold.venue_key AND account_type = hold.account_type AND asset = hold.asset;
  UPDATE reservations SET status = new_status, ended_at = at WHERE reservation_id = hold.reservation_id;
END $$;

-- Holds of a pool that ended after something had been sent for them, and not before `since`: a snapshot of that time
-- may not show them.
DROP FUNCTION pending_outflow(text, text, text, timestamptz);
DROP FUNCTION ended_outflow(text, text, text, timestamptz);
CREATE FUNCTION ended_outflow(venue text, account text, coin text, since timestamptz)
RETURNS TABLE (amount numeric, movements bigint, transfers bigint) LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(r.amount), 0), count(r.movement_id), count(r.transfer_id) FROM reservations r
  WHERE r.venue_key = venue AND r.account_type = account AND r.asset = coin AND r.status <> 'held' AND r.ended_at >= since
    AND (EXISTS (SELECT FROM movement_nodes n WHERE n.movement_id = r.movement_id AND n.submit_epoch > 0)
      OR EXISTS (SELECT FROM capital_transfers t WHERE t.transfer_id = r.transfer_id AND t.submit_epoch > 0))
$$;

-- Outflow that a snapshot may not show yet: what is held, and what has ended since.
CREATE FUNCTION pending_outflow(venue text, account text, coin text, since timestamptz)
RETURNS TABLE (amount numeric, movements bigint, transfers bigint) LANGUAGE sql STABLE AS $$
  SELECT h.amount + e.amount, h.movements + e.movements, h.transfers + e.transfers
  FROM (SELECT coalesce(sum(r.amount), 0) AS amount, count(r.movement_id) AS movements, count(r.transfer_id) AS transfers
        FROM reservations r WHERE r.venue_key = venue AND r.account_type = account AND r.asset = coin AND r.status = 'held') h,
       ended_outflow(venue, account, coin, since) e
$$;

-- A line of a transfer's history. The caller holds its lock and writes the next sequence.
CREATE FUNCTION write_transfer_event(t capital_transfers, from_state text, event jsonb, at timestamptz) RETURNS void LANGUAGE sql AS $$
  INSERT INTO capital_transfer_events (event_id, transfer_id, sequence, event_type, from_state, to_state, actor, message, data, occurred_at)
  VALUES ((event ->> 'event_id')::uuid, t.transfer_id, t.next_sequence, event ->> 'event_type', from_state, t.request_state,
          event -> 'actor', event ->> 'message', coalesce(event -> 'data', '{}'::jsonb), at)
$$;

-- A transfer for whoever works on it.
CREATE FUNCTION transfer_row(t capital_transfers, at timestamptz) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object('transfer_id', t.transfer_id, 'state', t.request_state, 'version', t.version,
    'source_venue', t.source_venue, 'source_account_type', t.source_account_type,
    'destination_venue', t.destination_venue, 'destination_account_type', t.destination_account_type,
    'asset', t.asset, 'amount', trim_scale(t.amount)::text, 'strategy_id', t.strategy_id, 'provider', t.provider,
    'provider_transfer_id', t.provider_transfer_id, 'acknowledged', t.acknowledged, 'epoch', t.submit_epoch, 'sends', t.sends,
    'error_code', t.error_code, 'ended', t.ended_at IS NOT NULL,
    'created_at', to_char(t.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'age_ms', floor(extract(epoch FROM at - t.created_at) * 1000),
    'send_left_ms', ceil(extract(epoch FROM t.send_not_after - at) * 1000),
    'pending_left_ms', ceil(extract(epoch FROM t.pending_until - at) * 1000))
$$;

-- Writes a new transfer with its hold, history and audit. A used idempotency key answers with the transfer that used it,
-- selected in a statement after the insert that met it.
CREATE FUNCTION create_transfer(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  t capital_transfers;
  at timestamptz := svc_now();
BEGIN
  t := jsonb_populate_record(NULL::capital_transfers, doc -> 'transfer');
  INSERT INTO capital_transfers (transfer_id, client_scope, idempotency_key, request, request_state, source_venue, source_account_type,
    destination_venue, destination_account_type, asset, amount, reason, strategy_id, provider, created_by, next_sequence, claimed_until,
    created_at, updated_at)
  VALUES (t.transfer_id, t.client_scope, t.idempotency_key, t.request, t.request_state, t.source_venue, t.source_account_type,
    t.destination_venue, t.destination_account_type, t.asset, t.amount, t.reason, t.strategy_id, t.provider, t.created_by, 2,
    at + interval '2 seconds', at, at)
  ON CONFLICT (client_scope, idempotency_key) DO NOTHING;
  IF NOT FOUND THEN
    SELECT * INTO t FROM capital_transfers
    WHERE client_scope = doc -> 'transfer' ->> 'client_scope' AND idempotency_key = doc -> 'transfer' ->> 'idempotency_key';
    RETURN jsonb_build_object('created', false, 'transfer_id', t.transfer_id, 'request', t.request);
  END IF;
  t.next_sequence := 1;
  PERFORM take_holds(NULL, jsonb_build_array(doc -> 'hold'), at, t.transfer_id);
  PERFORM write_transfer_event(t, NULL, doc -> 'event', at);
  PERFORM write_audit(doc -> 'audit', at);
  RETURN jsonb_build_object('created', true, 'transfer_id', t.transfer_id);
END $$;

-- Applies one step of a transfer; see store/transfer-steps.ts for the shape of `doc`. A step that was applied already is
-- known by the id of its event.
CREATE FUNCTION apply_transfer_step(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  t capital_transfers;
  before text;
  fields jsonb := doc -> 'set';
  at timestamptz;
BEGIN
  SELECT * INTO t FROM capital_transfers WHERE transfer_id = (doc ->> 'transfer_id')::uuid FOR UPDATE;
  at := svc_now();
  IF t.transfer_id IS NULL THEN
    RETURN jsonb_build_object('ok', false, 'row', NULL);
  END IF;
  IF EXISTS (SELECT FROM capital_transfer_events WHERE event_id = (doc -> 'event' ->> 'event_id')::uuid) THEN
    RETURN jsonb_build_object('ok', true, 'row', transfer_row(t, at));
  END IF;
  IF NOT (doc -> 'states') ? t.request_state OR t.submit_epoch <> coalesce((doc ->> 'epoch')::integer, t.submit_epoch) THEN
    PERFORM write_audit(doc -> 'refused_audit', at);
    RETURN jsonb_build_object('ok', false, 'row', transfer_row(t, at));
  END IF;
  before := t.request_state;
  t.request_state := coalesce(doc ->> 'to', t.request_state);
  IF doc ? 'end_hold' THEN PERFORM end_transfer_hold(t.transfer_id, doc ->> 'end_hold', at); END IF;
  PERFORM write_transfer_event(t, before, doc -> 'event', at);
  UPDATE capital_transfers SET
    request_state = t.request_state,
    submit_epoch = coalesce((fields ->> 'epoch')::integer, submit_epoch),
    sends = coalesce((fields ->> 'sends')::integer, sends),
    acknowledged = coalesce((fields ->> 'acknowledged')::boolean, acknowledged),
    provider_transfer_id = coalesce(fields ->> 'provider_transfer_id', provider_transfer_id),
    send_not_after = CASE WHEN fields ? 'send_not_after' THEN svc_time(fields -> 'send_not_after', at) ELSE send_not_after END,
    -- How long the provider may take is counted from the first time that it is waited for.
    pending_until = CASE WHEN fields ? 'pending_until' THEN coalesce(pending_until, svc_time(fields -> 'pending_until', at)) ELSE pending_until END,
    error_code = CASE WHEN fields ? 'error_code' THEN fields ->> 'error_code' ELSE error_code END,
    error_message = CASE WHEN fields ? 'error_message' THEN fields ->> 'error_message' ELSE error_message END,
    version = version + CASE WHEN (doc ->> 'wakes')::boolean THEN 1 ELSE 0 END,
    claimed_until = CASE WHEN (doc ->> 'wakes')::boolean THEN at + interval '2 seconds' ELSE claimed_until END,
    wakes = CASE WHEN (doc ->> 'wakes')::boolean THEN 0 ELSE capital_transfers.wakes END,
    ended_at = CASE WHEN t.request_state IN ('COMPLETED', 'FAILED') THEN coalesce(ended_at, at) END,
    next_sequence = next_sequence + 1,
    updated_at = at
  WHERE transfer_id = t.transfer_id
  RETURNING * INTO t;
  PERFORM write_audit(doc -> 'audit', at);
  RETURN jsonb_build_object('ok', true, 'row', transfer_row(t, at));
END $$;

-- What a run loads: marks what it has seen in one statement, and reads in a later one.
CREATE FUNCTION load_transfer(transfer uuid, run text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE t capital_transfers;
BEGIN
  UPDATE capital_transfers SET seen_version = version, wakes = 0, run_id = run
  WHERE transfer_id = transfer AND (seen_version < version OR run_id IS DISTINCT FROM run);
  SELECT * INTO t FROM capital_transfers WHERE transfer_id = transfer;
  RETURN CASE WHEN t.transfer_id IS NOT NULL THEN transfer_row(t, svc_now()) END;
END $$;
