-- Nodes that completed before completions were claimed (docs/decisions/0084) get their claims, as far
-- as what is stored of them names what arrived (`claimsOf` of domain/claims.ts); a new database has
-- none. Of a token's payment the log was not stored, so such a node gets no claim, and neither does
-- a second node that was completed with the same.

WITH completed AS (
  SELECT n.movement_id, n.node_key, n.action_type, n.external_ref, n.completed_at,
    coalesce(n.output, '{}') AS output, c.config, coalesce(f.output, '{}') AS matched
  FROM movement_nodes n JOIN movement_plans p USING (movement_id)
  CROSS JOIN LATERAL (SELECT node_plan(n.own_plan, p.input_params) -> 'config' AS config OFFSET 0) c
  LEFT JOIN movement_nodes f ON f.movement_id = n.movement_id AND f.state = 'COMPLETED'
    AND f.node_key = CASE n.action_type WHEN 'cctp_mint' THEN c.config ->> 'burn_from'
      WHEN 'bridge_c_observe' THEN c.config ->> 'match_from' END
  WHERE n.state = 'COMPLETED' AND n.action_type IN ('cctp_burn', 'cctp_mint', 'bridge_c_send',
      'bridge_c_observe', 'perp_deposit', 'evm_balance_observe', 'cex_deposit_observe')
    AND NOT EXISTS (SELECT FROM payment_claims held
      WHERE held.movement_id = n.movement_id AND held.node_key = n.node_key)
), told AS (
  SELECT *, substring(CASE action_type WHEN 'cctp_mint' THEN matched ELSE output END
      ->> 'attested_message' FROM '(?i)^0x[0-9a-f]{88}') AS head,
    CASE WHEN output ->> 'received_amount' ~ '^[0-9]{1,20}([.][0-9]{1,18})?$'
      THEN nullif((output ->> 'received_amount')::numeric, 0) END AS received
  FROM completed
), named AS (
  SELECT movement_id, node_key, completed_at, source, lower(reference) AS reference, amount,
    CASE WHEN until_block IS NULL THEN amount END AS total, until_block
  FROM told CROSS JOIN LATERAL (
    SELECT action_type || ':' || ('x' || substr(head, 11, 8))::bit(32)::bigint AS source,
      '0x' || substr(head, 27, 64) AS reference, 1::numeric AS amount, NULL::numeric AS until_block
    WHERE action_type IN ('cctp_burn', 'cctp_mint') AND head IS NOT NULL
    UNION ALL SELECT action_type, output ->> 'message_nonce', 1, NULL
    WHERE action_type = 'cctp_mint' AND head IS NULL
    UNION ALL SELECT action_type, output -> 'packet' ->> 'guid', 1, NULL
    WHERE action_type = 'bridge_c_send'
    UNION ALL SELECT action_type, coalesce(matched -> 'packet' ->> 'guid', output ->> 'guid',
      external_ref), 1, NULL
    WHERE action_type = 'bridge_c_observe'
    UNION ALL SELECT action_type, output ->> 'ledger_hash', 1, NULL
    WHERE action_type = 'perp_deposit'
    -- A team's own executor.
    UNION ALL SELECT action_type, external_ref, 1, NULL WHERE action_type = 'evm_balance_observe'
    -- The chain's own coin: what the balance had grown by.
    UNION ALL SELECT 'evm:' || (config ->> 'chain_id') || ':coin', config ->> 'address', received,
      (output ->> 'block_number')::numeric
    WHERE action_type = 'evm_balance_observe' AND external_ref IS NULL
      AND config ->> 'token_address' IS NULL AND config ->> 'chain_id' ~ '^[0-9]+$'
      AND output ->> 'block_number' ~ '^[0-9]{1,30}$'
    -- One record of the exchange, whose id was its reference.
    UNION ALL SELECT 'cex:' || lower(config ->> 'venue'), external_ref, received, NULL
    WHERE action_type = 'cex_deposit_observe' AND output -> 'deposits' = '1'
  ) each WHERE source IS NOT NULL AND reference <> '' AND amount IS NOT NULL
), chosen AS (
  SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY source, reference
      ORDER BY completed_at, movement_id, node_key) AS turn FROM named) AS ranked
  WHERE turn = 1 OR until_block IS NOT NULL
), paid AS (
  INSERT INTO payments AS p (source, reference, amount, claimed, created_at)
  SELECT source, reference, max(total), sum(amount), min(completed_at) FROM chosen
  GROUP BY source, reference
  ON CONFLICT (source, reference) DO UPDATE SET claimed = p.claimed + excluded.claimed
    WHERE p.amount IS NULL
  RETURNING source, reference
)
INSERT INTO payment_claims (source, reference, movement_id, node_key, amount, until_block,
  created_at)
SELECT source, reference, movement_id, node_key, amount, until_block, completed_at
FROM chosen JOIN paid USING (source, reference);
