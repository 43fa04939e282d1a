-- Returns the largest sum that terms can reach; see Term in domain/plan/flow.ts. `nodes`: the state
-- ("s") and the draw ("v") of each node. A branch that the outcome of its node has closed counts as
-- 0.
CREATE OR REPLACE FUNCTION sum_of(terms jsonb, nodes jsonb) RETURNS numeric
  LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  term jsonb;
  state text;
  total numeric := 0;
BEGIN
  FOR term IN SELECT jsonb_array_elements(terms) LOOP
    IF jsonb_typeof(term) = 'string' THEN
      total := total + coalesce((nodes -> (term #>> '{}') ->> 'v')::numeric, 0);
    ELSIF term ? 'one' THEN
      total := total + (SELECT max(sum_of(way, nodes))
        FROM jsonb_array_elements(term -> 'one') AS way);
    ELSE
      state := nodes -> (term ->> 'of') ->> 's';
      total := total + greatest(
        CASE WHEN state = 'FAILED' THEN 0 ELSE sum_of(term -> 'success', nodes) END,
        CASE WHEN state = 'COMPLETED' THEN 0
          ELSE greatest(sum_of(term -> 'failure', nodes), sum_of(term -> 'timeout', nodes)) END);
    END IF;
  END LOOP;
  RETURN total;
END $$;

-- Returns whether a node may have a send that is not settled: it passed its fence in its present
-- attempt and has not ended. A send that was accepted but cannot be found may still appear, even
-- while the node waits to resend.
CREATE OR REPLACE FUNCTION may_have_sent(n movement_nodes) RETURNS boolean
  LANGUAGE sql IMMUTABLE AS $$
  SELECT n.state IN ('SUBMITTING', 'SUBMITTED', 'OBSERVING', 'UNKNOWN')
    OR (n.state = 'READY' AND (n.recover_first OR n.submitted_at IS NOT NULL))
$$;

-- Returns the amount that a node draws or passes on, if known. An allowance draws the amount of its
-- plan, whatever amount it allows (`exceeding` of domain/plan/flow.ts).
CREATE OR REPLACE FUNCTION moved_amount(n movement_nodes) RETURNS numeric LANGUAGE sql IMMUTABLE
  AS $$
  SELECT CASE WHEN n.pays = 'spender'
    THEN coalesce((n.flow ->> 'amount')::numeric, n.amount)
    ELSE coalesce(n.amount, (n.flow ->> 'amount')::numeric) END
$$;

-- Returns the amount that a node sent or may have sent; 0 before its fence, and if it is proven
-- that nothing landed. The amount of an abandoned node stays counted. An executor that moved only
-- a part reports the part in a field of its output; for incoming funds the field has the amount
-- that arrived.
CREATE OR REPLACE FUNCTION sent_amount(n movement_nodes) RETURNS numeric LANGUAGE plpgsql IMMUTABLE
  AS $$
DECLARE
  reported jsonb := n.output -> n.sent_field;
BEGIN
  RETURN CASE
    WHEN n.state = 'COMPLETED' THEN least(moved_amount(n), CASE
      -- A JSON number may have been a float, so only text counts.
      WHEN jsonb_typeof(reported) = 'string'
        AND reported #>> '{}' ~ '^(0|[1-9][0-9]{0,19})(\.[0-9]{1,18})?$'
        THEN (reported #>> '{}')::numeric END)
    WHEN may_have_sent(n) OR is_abandoned(n) THEN coalesce(moved_amount(n), 0)
    ELSE 0 END;
END $$;

-- Returns why a node may not send this amount (`flow`: {"node_key", "amount"}), or NULL if it may.
-- The draws of an asset by all nodes must stay within the approved outflow, and what nodes pass on
-- from a node within what that node sent. A node that a restore brought back may have been sent
-- after the backup: until recovery has checked it, its amount is added. If only this addition
-- exceeds the limit, the reason is RESTORED_NODE_UNASKED with the keys of these nodes. The caller
-- has locked the movement.
CREATE OR REPLACE FUNCTION flow_problems(movement uuid, flow jsonb) RETURNS jsonb
  LANGUAGE plpgsql STABLE AS $$
DECLARE
  own jsonb;
  drawn numeric;
  used numeric;
  most numeric;
  unasked numeric;
  keys jsonb;
BEGIN
  -- The amount to send is known by now. For an allowance, the spender draws the amount of the plan,
  -- whatever amount the allowance is set to.
  SELECT n.flow, CASE WHEN n.pays = 'spender' THEN (n.flow ->> 'amount')::numeric END
    INTO own, drawn FROM movement_nodes n WHERE n.movement_id = movement
    AND n.node_key = flow_problems.flow ->> 'node_key';
  -- A reset of an allowance draws nothing.
  IF drawn IS NOT NULL AND (flow_problems.flow ->> 'amount')::numeric = 0 THEN RETURN NULL; END IF;
  drawn := coalesce(drawn, (flow_problems.flow ->> 'amount')::numeric);
  IF own IS NULL THEN RETURN NULL; END IF;
  SELECT coalesce(sum(sent_amount(n)), 0) INTO used FROM movement_nodes n
  WHERE n.movement_id = movement AND n.node_key <> flow_problems.flow ->> 'node_key'
    AND n.flow ->> 'asset' = own ->> 'asset'
    AND n.flow ->> 'from' IS NOT DISTINCT FROM own ->> 'from';
  IF own ->> 'from' IS NULL THEN
    SELECT outflow_in(m.outflow, own ->> 'asset') INTO most FROM movements m
      WHERE m.movement_id = movement;
    -- No bound: a person approved this movement without one.
    IF most IS NULL THEN RETURN NULL; END IF;
  ELSE
    SELECT sent_amount(n) INTO most FROM movement_nodes n
    WHERE n.movement_id = movement AND n.node_key = own ->> 'from' AND n.state = 'COMPLETED';
  END IF;
  used := used + drawn;
  IF used <= most THEN
    SELECT sum(coalesce(moved_amount(n), 0)),
      jsonb_agg(n.node_key ORDER BY n.node_key) INTO unasked, keys
    FROM movement_nodes n
    WHERE n.movement_id = movement AND n.node_key <> flow_problems.flow ->> 'node_key'
      AND n.recover_first
      AND n.state IN ('BLOCKED', 'SKIPPED') AND n.flow ->> 'asset' = own ->> 'asset'
        AND n.flow ->> 'from' IS NOT DISTINCT FROM own ->> 'from';
    IF used + coalesce(unasked, 0) <= most THEN RETURN NULL; END IF;
  END IF;
  RETURN jsonb_build_array(
    jsonb_strip_nulls(jsonb_build_object('binding', 'flow', 'key', own ->> 'asset',
    'reason', CASE WHEN keys IS NULL THEN 'APPROVED_OUTFLOW_EXCEEDED'
      ELSE 'RESTORED_NODE_UNASKED' END, 'nodes', keys,
    'limit', trim_scale(coalesce(most, 0))::text,
      'used', trim_scale(used - drawn)::text)));
END $$;
