-- The nonce of a node's attempt: the one it already claims, else the lane's next. A claim is given
-- up only through released_at, so recovery can never move a node to a fresh nonce by itself.
CREATE OR REPLACE FUNCTION claim_nonce(movement uuid, node text, node_attempt integer, claim jsonb,
  at timestamptz)
RETURNS evm_transactions LANGUAGE plpgsql AS $$
DECLARE
  tx evm_transactions;
  taken bigint;
BEGIN
  INSERT INTO nonce_lanes (chain_id, address, next_nonce)
    VALUES ((claim ->> 'chain_id')::bigint, claim ->> 'address', 0)
  ON CONFLICT DO NOTHING;
  PERFORM 1 FROM nonce_lanes WHERE chain_id = (claim ->> 'chain_id')::bigint
    AND address = claim ->> 'address' FOR UPDATE;
  SELECT * INTO tx FROM evm_transactions
  WHERE movement_id = movement AND node_key = node AND attempt = node_attempt
    AND released_at IS NULL
  ORDER BY created_at DESC LIMIT 1;
  IF FOUND THEN RETURN tx; END IF;
  -- A claim that was never signed and whose node has ended would leave a gap that every later nonce
  -- waits behind. No bytes of it exist or can come to exist, so the next send of the lane takes it
  -- over.
  UPDATE evm_transactions SET released_at = at WHERE transaction_id = (
    SELECT t.transaction_id FROM evm_transactions t
      JOIN movement_nodes n USING (movement_id, node_key)
    WHERE t.chain_id = (claim ->> 'chain_id')::bigint AND t.address = claim ->> 'address'
      AND t.released_at IS NULL
      AND t.raw_tx IS NULL AND t.nonce >= (claim ->> 'chain_nonce')::bigint
      AND (n.attempt > t.attempt OR n.state IN ('FAILED', 'COMPLETED', 'CANCELLED', 'SKIPPED'))
    ORDER BY t.nonce LIMIT 1)
  RETURNING nonce INTO taken;
  IF taken IS NULL THEN
    UPDATE nonce_lanes SET next_nonce = greatest(next_nonce, (claim ->> 'chain_nonce')::bigint) + 1
    WHERE chain_id = (claim ->> 'chain_id')::bigint AND address = claim ->> 'address'
    RETURNING next_nonce - 1 INTO taken;
  END IF;
  INSERT INTO evm_transactions (transaction_id, chain_id, address, nonce, movement_id, node_key,
    attempt, unsigned, created_at)
  VALUES ((claim ->> 'transaction_id')::uuid, (claim ->> 'chain_id')::bigint, claim ->> 'address',
    taken, movement, node, node_attempt,
          claim -> 'unsigned', at)
  RETURNING * INTO tx;
  RETURN tx;
END $$;
