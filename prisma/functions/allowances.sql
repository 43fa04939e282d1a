-- Returns the token allowances that nodes of a movement have set on chains: the latest of each
-- owner, token and spender, of nodes that completed, or were abandoned and landed late. `later`:
-- 'reset' if a later transaction of the owner set it to 0, 'set' if to another amount, else null.
-- `left_over`: the part that later nodes have not spent. The part of an abandoned node that is not
-- known to have landed counts as not spent while the allowance stands, since it may stay open, and
-- as spent once `later` is set, so that a retry does not allow it again. Reads stored sends only,
-- no chain.
CREATE OR REPLACE FUNCTION allowances_of(movement uuid)
  RETURNS TABLE (node_key text, chain_id bigint, owner text, signer_key text, token_address text,
    spender text, asset text, left_over numeric, later text)
  LANGUAGE sql STABLE AS $$
  WITH sent AS (
    SELECT n.node_key, n.pays, n.amount, sent_amount(n) AS moved, t.chain_id, t.address,
      t.nonce, t.signer_key, node_plan(n.own_plan, p.input_params) AS plan,
      -- While an abandoned node is looked for, a landing is of an attempt before.
      n.state = 'COMPLETED' OR n.landed_late_at IS NOT NULL AND n.next_late_look IS NULL AS landed
    FROM movement_nodes n JOIN movement_plans p USING (movement_id)
      JOIN evm_transactions t ON t.movement_id = n.movement_id AND t.node_key = n.node_key
        AND t.attempt = n.attempt AND t.replaces IS NULL AND t.released_at IS NULL
    WHERE n.movement_id = movement AND (n.state = 'COMPLETED' OR is_abandoned(n))
  ), allowed AS (
    SELECT DISTINCT ON (s.chain_id, s.address, lower(s.plan #>> '{config,token_address}'),
        lower(s.plan #>> '{config,spender}'))
      s.*, s.plan #>> '{config,token_address}' AS token, s.plan #>> '{config,spender}' AS puller
    FROM sent s WHERE s.pays = 'spender' AND s.landed
    ORDER BY s.chain_id, s.address, lower(s.plan #>> '{config,token_address}'),
      lower(s.plan #>> '{config,spender}'), s.nonce DESC
  )
  SELECT a.node_key, a.chain_id, a.address, a.signer_key, a.token, a.puller, a.plan ->> 'asset',
    greatest(0, a.amount - coalesce((
      SELECT sum(s.moved) FROM sent s
      WHERE s.chain_id = a.chain_id AND s.address = a.address AND s.nonce > a.nonce
        AND (s.landed OR l.later IS NOT NULL)
        AND lower(s.plan ->> 'pulled_by') = lower(a.puller)
        AND lower(coalesce(s.plan ->> 'pulled_token', s.plan #>> '{config,token_address}'))
          = lower(a.token)), 0)),
    l.later
  FROM allowed a
    CROSS JOIN later_allowance(a.chain_id, a.address, a.nonce, a.token, a.puller) AS l(later)
$$;

-- Returns what the owner's last ERC-20 `approve` (selector 0x095ea7b3) after this nonce did:
-- 'reset' (to 0), 'set' (another amount), or null where there is none. Only an `approve` counts
-- whose node completed, or was abandoned and landed late.
CREATE OR REPLACE FUNCTION later_allowance(chain bigint, owner text, of_nonce bigint, token text,
  spender text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN substr(t.unsigned ->> 'data', 75, 64) = repeat('0', 64) THEN 'reset'
    ELSE 'set' END
  FROM evm_transactions t
  WHERE t.chain_id = chain AND t.address = owner AND t.nonce > of_nonce
    AND lower(left(t.unsigned ->> 'data', 10)) = '0x095ea7b3'
    AND lower(t.unsigned ->> 'to') = lower(token)
    AND lower(substr(t.unsigned ->> 'data', 35, 40)) = lower(substr(spender, 3))
    AND (EXISTS (SELECT FROM node_attempts a WHERE a.outcome = 'COMPLETED'
        AND a.idempotency_key = t.movement_id || ':' || t.node_key || ':' || t.attempt)
      OR EXISTS (SELECT FROM movement_nodes n WHERE n.movement_id = t.movement_id
        AND n.node_key = t.node_key AND n.attempt = t.attempt AND is_abandoned(n)
        AND n.landed_late_at IS NOT NULL AND n.next_late_look IS NULL))
  ORDER BY t.nonce DESC LIMIT 1
$$;
