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

-- Returns the nonces below `count` that a transaction lost with a restore may have used: no
-- transaction in this database is proven to have used them. A transaction that was signed after the
-- restore may share its nonce with a lost one. Once its claim is released, the lost one is proven
-- to have used the nonce; while its claim is open, neither is. For an account without a lane, all
-- nonces may be lost.
CREATE OR REPLACE FUNCTION unknown_nonces(chain bigint, account text, count bigint) RETURNS jsonb
  LANGUAGE sql VOLATILE AS $$
  SELECT coalesce(jsonb_agg(jsonb_build_object('nonce', used, 'open', open) ORDER BY open, used),
    '[]'::jsonb) FROM (
    SELECT used, coalesce(bool_or(t.released_at IS NULL AND t.final_at IS NULL)
      FILTER (WHERE t.transaction_id IS NOT NULL), false) AS open
    FROM generate_series(
      coalesce((SELECT unproven_from FROM nonce_lanes WHERE chain_id = chain
        AND address = account), 0), count - 1) AS used
    LEFT JOIN evm_transactions t ON t.chain_id = chain AND t.address = account AND t.nonce = used
      AND t.raw_tx IS NOT NULL
    LEFT JOIN movement_nodes n ON n.movement_id = t.movement_id AND n.node_key = t.node_key
    GROUP BY used
    -- Proven by a final block; before that by a node that ended by proof, and not because a person
    -- resolved it.
    HAVING NOT coalesce(bool_or(t.mined_hash IS NOT NULL OR t.released_at IS NULL
      AND t.final_at IS NULL AND (n.attempt > t.attempt OR n.state IN ('COMPLETED', 'FAILED'))
      AND NOT was_resolved(t)), false)
    ORDER BY 2, 1 LIMIT 10) AS missing
$$;
