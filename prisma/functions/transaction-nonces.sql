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
