-- Returns the stops of domain/send/stops.ts that now forbid to send what a node has signed:
-- [{"stop", "why"}]. `required` is that of binding_problems. All rows that are read here stay
-- locked until the statement ends.
CREATE OR REPLACE FUNCTION send_stops(movement uuid, key text, required jsonb) RETURNS jsonb
  LANGUAGE plpgsql AS $$
DECLARE
  mode text := cutover_now();
  m record;
  n record;
  found jsonb := '[]'::jsonb;
BEGIN
  SELECT request_state INTO STRICT m FROM movements WHERE movement_id = movement;
  SELECT state, only_look, on_cancel_target OR brings IS NOT NULL AS outlives,
    cancel_asked = attempt AS cancel_requested
  INTO STRICT n FROM movement_nodes WHERE movement_id = movement AND node_key = key;
  IF mode = 'frozen' THEN
    found := found || '{"stop": "frozen", "why": "the cutover mode is frozen"}'::jsonb;
  END IF;
  IF m.request_state = 'CANCELLED' AND NOT n.outlives THEN
    found := found || '{"stop": "cancelled", "why": "the movement is cancelled"}'::jsonb;
  END IF;
  IF n.cancel_requested THEN
    found := found
      || '{"stop": "cancel_requested", "why": "a person cancelled the transaction"}'::jsonb;
  END IF;
  IF n.state = 'UNKNOWN' OR n.only_look THEN
    found := found || jsonb_build_object('stop', 'unknown',
      'why', 'the outcome of the send is unknown, and only a retry may send again');
  END IF;
  RETURN found || coalesce((
    SELECT jsonb_agg(jsonb_build_object(
      'stop', CASE p ->> 'binding'
        WHEN 'executor' THEN 'executor_inactive'
        WHEN 'signer' THEN CASE p ->> 'reason' WHEN 'identity_mismatch' THEN 'signer_mismatch'
          WHEN 'retired' THEN 'signer_retired' ELSE 'signer_inactive' END
        WHEN 'address' THEN CASE p ->> 'reason' WHEN 'ADDRESS_NOT_ALLOWLISTED'
          THEN 'payee_revoked' ELSE 'payee_unusable' END
        ELSE p ->> 'stop' END,
      'why', (p ->> 'binding') || ' ' || (p ->> 'key') || ': ' || (p ->> 'reason')))
    FROM jsonb_array_elements(binding_problems(required, movement)) AS p), '[]'::jsonb);
END $$;

-- Stores when an endpoint first accepted these bytes, or the chain first showed them.
CREATE OR REPLACE FUNCTION note_accepted(movement uuid, key text, of_attempt integer, hash text)
  RETURNS void LANGUAGE sql AS $$
  UPDATE evm_transactions SET accepted_at = svc_now()
  WHERE movement_id = movement AND node_key = key AND attempt = of_attempt AND tx_hash = hash
    AND accepted_at IS NULL
$$;
