-- Returns the nonce of an action for the perps venue: the one that this node or wallet already has,
-- else the signer's next. A nonce is the clock's time in milliseconds, since the venue accepts only
-- nonces near its own clock, and each is claimed once. If the clock was once far ahead, so is the
-- last nonce. The venue would refuse a payment with the next nonce now but accept it later, so this
-- fails with FM015 and the last nonce until the clock is near. An approval of an agent moves
-- nothing and may wait.
CREATE OR REPLACE FUNCTION claim_perp_nonce(signer text, movement uuid, node text,
  node_attempt integer, wallet uuid) RETURNS perp_actions LANGUAGE plpgsql AS $$
DECLARE
  found_action perp_actions;
  ms bigint := floor(extract(epoch FROM svc_now()) * 1000);
  next bigint;
BEGIN
  INSERT INTO perp_lanes (address, last_nonce) VALUES (signer, 0) ON CONFLICT DO NOTHING;
  PERFORM 1 FROM perp_lanes WHERE address = signer FOR UPDATE;
  SELECT * INTO found_action FROM perp_actions
  WHERE (movement_id = movement AND node_key = node AND attempt = node_attempt)
    OR wallet_id = wallet;
  IF FOUND THEN RETURN found_action; END IF;
  SELECT greatest(last_nonce + 1, ms) INTO next FROM perp_lanes WHERE address = signer;
  -- 12 hours: half of the day ahead that the venue accepts (docs/perps-venue-facts.md 2).
  IF wallet IS NULL AND next > ms + 12 * 3600 * 1000 THEN
    RAISE EXCEPTION 'nonce_ahead_of_clock' USING ERRCODE = 'FM015', DETAIL = (next - 1)::text;
  END IF;
  UPDATE perp_lanes SET last_nonce = next WHERE address = signer;
  INSERT INTO perp_actions (address, nonce, movement_id, node_key, attempt, wallet_id, created_at)
  VALUES (signer, next, movement, node, node_attempt, wallet, svc_now())
  RETURNING * INTO found_action;
  RETURN found_action;
END $$;

-- Stores a node's signature and returns the one to send, which is the first that was stored.
-- Returns null if a recovery has taken over the node's send, so that nothing is sent.
CREATE OR REPLACE FUNCTION save_perp_signature(movement uuid, node text, node_attempt integer,
  epoch integer, given text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  stored text;
BEGIN
  PERFORM 1 FROM movement_nodes
  WHERE movement_id = movement AND node_key = node AND attempt = node_attempt
    AND submit_epoch = epoch AND state = 'SUBMITTING'
  FOR SHARE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  UPDATE perp_actions SET signature = coalesce(signature, given)
  WHERE movement_id = movement AND node_key = node AND attempt = node_attempt
  RETURNING signature INTO stored;
  RETURN stored;
END $$;
