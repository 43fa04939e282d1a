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
