-- Returns the deposits that may still arrive. A node that a restore brought back may have sent, so
-- it counts until recovery has checked it. An abandoned one counts for a week, and for a week after
-- it was seen to land: what is seen first is its transfer, and the credit comes later.
CREATE OR REPLACE FUNCTION open_deposits()
  RETURNS TABLE (movement_id uuid, node_key text, amount numeric) LANGUAGE sql VOLATILE AS $$
  -- Each part has its own index.
  SELECT movement_id, node_key, amount FROM movement_nodes
  WHERE action_type = 'perp_deposit'
    AND (state IN ('SUBMITTING', 'SUBMITTED', 'OBSERVING', 'UNKNOWN') OR recover_first)
  UNION ALL
  SELECT movement_id, node_key, amount FROM movement_nodes
  WHERE action_type = 'perp_deposit' AND state = 'FAILED' AND error_code = 'ABANDONED'
    AND greatest(completed_at, landed_late_at) > (SELECT svc_now()) - interval '7 days'
$$;

-- Returns the movement of another deposit of the same amount that may still arrive, or null.
CREATE OR REPLACE FUNCTION equal_deposit(movement uuid, key text, wanted numeric) RETURNS text
  LANGUAGE sql VOLATILE AS $$
  SELECT movement_id::text FROM open_deposits()
  WHERE (amount IS NULL OR amount = wanted) AND NOT (movement_id = movement AND node_key = key)
  ORDER BY movement_id LIMIT 1
$$;

-- Returns the sum of other deposits that the account may not have shown when it was read at
-- `asked_at`: deposits under way, and deposits that arrived since.
CREATE OR REPLACE FUNCTION other_deposits(movement uuid, key text, asked_at timestamptz)
  RETURNS numeric LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(amount), 0) FROM (
    SELECT movement_id, node_key, amount FROM open_deposits()
    UNION
    SELECT movement_id, node_key, amount FROM movement_nodes
    WHERE action_type = 'perp_deposit' AND state = 'COMPLETED' AND completed_at >= asked_at) n
  WHERE NOT (movement_id = movement AND node_key = key)
$$;

-- Returns the first paused strategy that holds back a movement's nodes of the perps venue, or null.
-- A movement with a strategy depends on that strategy. A movement without one moves funds of the
-- master account, which strategies without a sub-account use too, so each of those holds it back.
CREATE OR REPLACE FUNCTION paused_strategy(own text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT strategy_id FROM perp_bindings
  WHERE paused AND (strategy_id = own OR own IS NULL AND sub_account_address IS NULL)
  ORDER BY strategy_id LIMIT 1
$$;

-- Returns the strategy with the lowest balance limit among those that use the master's own account.
-- Every deposit counts against this limit, since all deposits are credited to that account.
CREATE OR REPLACE FUNCTION least_account_bound() RETURNS perp_bindings LANGUAGE sql STABLE AS $$
  SELECT b FROM perp_bindings b WHERE sub_account_address IS NULL AND max_agent_balance IS NOT NULL
  ORDER BY max_agent_balance, strategy_id LIMIT 1
$$;

-- Returns why a node may not use the perps venue, or null; `perpProblem` of domain/perps/ready.ts
-- has the same rules. `asked`, for a deposit: {"signer", "node_key", "deposit", "account"}, with
-- its amount and, if a strategy has a balance limit, the account's {"value", "asked_at"}; for a
-- top-up: {"signer", "sub_account"}; else {"signer"}. Deposits pass one at a time, so that the
-- second sees the first. The caller has locked the movement.
CREATE OR REPLACE FUNCTION perp_problem(asked jsonb, movement uuid) RETURNS jsonb
  LANGUAGE plpgsql AS $$
DECLARE
  master text;
  strategy text;
  bound perp_bindings;
  least perp_bindings;
  stopped text;
  reason text;
  about text := asked ->> 'signer';
BEGIN
  IF asked ? 'deposit' THEN PERFORM 1 FROM perp_master FOR UPDATE; END IF;
  SELECT master_address INTO master FROM perp_master;
  SELECT strategy_id INTO strategy FROM movements WHERE movement_id = movement;
  -- Lock first, then read: a concurrent pause happens before or after.
  PERFORM 1 FROM perp_bindings
  WHERE strategy_id = strategy
    OR sub_account_address IS NULL AND (strategy IS NULL OR asked ? 'deposit')
  ORDER BY strategy_id FOR SHARE;
  SELECT * INTO bound FROM perp_bindings WHERE strategy_id = strategy;
  SELECT paused_strategy(strategy) INTO stopped;
  IF master IS NULL THEN
    reason := 'MASTER_ACCOUNT_MISSING';
  ELSIF lower(master) IS DISTINCT FROM lower(asked ->> 'signer') THEN
    reason := CASE WHEN asked ? 'deposit' THEN 'DEPOSITOR_NOT_MASTER'
      ELSE 'MASTER_SIGNER_MISMATCH' END;
  ELSIF strategy IS NOT NULL AND bound.strategy_id IS NULL THEN
    reason := 'STRATEGY_NOT_BOUND';
    about := strategy;
  ELSIF stopped IS NOT NULL THEN
    reason := 'STRATEGY_PAUSED';
    about := stopped;
  ELSIF asked ? 'sub_account'
    AND lower(bound.sub_account_address) IS DISTINCT FROM lower(asked ->> 'sub_account') THEN
    reason := 'SUB_ACCOUNT_MISMATCH';
    about := asked ->> 'sub_account';
  ELSIF asked ? 'deposit' THEN
    about := equal_deposit(movement, asked ->> 'node_key', (asked ->> 'deposit')::numeric);
    reason := CASE WHEN about IS NOT NULL THEN 'EQUAL_DEPOSIT_IN_FLIGHT' END;
    least := least_account_bound();
    -- If the limit was set after prepare, there is no account value to compare, so the deposit may
    -- not pass.
    IF reason IS NULL AND least.strategy_id IS NOT NULL
      AND ((asked #>> '{account,value}')::numeric + (asked ->> 'deposit')::numeric
        + other_deposits(movement, asked ->> 'node_key',
            (asked #>> '{account,asked_at}')::timestamptz) <= least.max_agent_balance)
        IS NOT TRUE THEN
      reason := 'MAX_AGENT_BALANCE_EXCEEDED';
      about := least.strategy_id;
    END IF;
  END IF;
  RETURN CASE WHEN reason IS NOT NULL
    THEN jsonb_build_object('binding', 'perp', 'key', coalesce(about, ''), 'reason', reason,
      'stop', CASE reason WHEN 'STRATEGY_PAUSED' THEN 'paused' ELSE 'perp_terms' END) END;
END $$;

-- Returns what a phase reads about the perps venue for its node. `wanted`: the amount of a deposit,
-- else null.
CREATE OR REPLACE FUNCTION perp_terms(movement uuid, key text, node_attempt integer, wanted numeric)
  RETURNS jsonb LANGUAGE sql VOLATILE AS $$
  SELECT jsonb_build_object(
    'master_address', (SELECT master_address FROM perp_master), 'strategy_id', m.strategy_id,
    'paused_strategy', paused_strategy(m.strategy_id),
    'binding', CASE WHEN b.strategy_id IS NOT NULL THEN jsonb_build_object(
      'sub_account_address', b.sub_account_address,
      'max_agent_balance', trim_scale(b.max_agent_balance)::text) END,
    'account_bound', trim_scale((least_account_bound()).max_agent_balance)::text,
    'equal_deposit', CASE WHEN wanted IS NOT NULL THEN equal_deposit(movement, key, wanted) END,
    'action', (SELECT jsonb_build_object('address', a.address, 'nonce', a.nonce,
        'signature', a.signature)
      FROM perp_actions a
      WHERE a.movement_id = movement AND a.node_key = key AND a.attempt = node_attempt))
  FROM movements m LEFT JOIN perp_bindings b ON b.strategy_id = m.strategy_id
  WHERE m.movement_id = movement
$$;
