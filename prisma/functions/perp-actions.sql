-- The nonce of an action for the perps venue: the one that its owner has, else the next of whoever
-- signs. They follow the clock in milliseconds, since the venue takes none that is far from it, and
-- none is given twice. Where the clock was far ahead and is no more, so is the last one, and with
-- the next a payment would be refused now and still be good when its time comes: FM015 until then,
-- with the last. An approval of an agent moves nothing, and may wait for its time.
CREATE OR REPLACE FUNCTION claim_perp_nonce(signer text, movement uuid, node text,
  node_attempt integer, wallet uuid) RETURNS perp_actions LANGUAGE plpgsql AS $$
DECLARE
  found_action perp_actions;
  ms bigint := floor(extract(epoch FROM svc_now()) * 1000);
  given bigint;
BEGIN
  INSERT INTO perp_lanes (address, last_nonce) VALUES (signer, 0) ON CONFLICT DO NOTHING;
  PERFORM 1 FROM perp_lanes WHERE address = signer FOR UPDATE;
  SELECT * INTO found_action FROM perp_actions
  WHERE (movement_id = movement AND node_key = node AND attempt = node_attempt)
    OR wallet_id = wallet;
  IF FOUND THEN RETURN found_action; END IF;
  SELECT greatest(last_nonce + 1, ms) INTO given FROM perp_lanes WHERE address = signer;
  -- Half of the day ahead that the venue takes (docs/perps-venue-facts.md 2).
  IF wallet IS NULL AND given > ms + 12 * 3600 * 1000 THEN
    RAISE EXCEPTION 'nonce_ahead_of_clock' USING ERRCODE = 'FM015', DETAIL = (given - 1)::text;
  END IF;
  UPDATE perp_lanes SET last_nonce = given WHERE address = signer;
  INSERT INTO perp_actions (address, nonce, movement_id, node_key, attempt, wallet_id, created_at)
  VALUES (signer, given, movement, node, node_attempt, wallet, svc_now())
  RETURNING * INTO found_action;
  RETURN found_action;
END $$;

-- The signature that is sent, which is the first one that was stored; null for a node whose send a
-- recovery has taken over since, so that nobody sends it.
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
