-- Creates a movement that tops up a strategy at the perps venue (create_movement). Fails with FM014
-- and the amount under way if that amount and the new top-up together exceed `room`. `counted`: the
-- top-ups that were open before the strategy's balance was read; they count even if they have ended
-- since, since the balance may not have shown them. Concurrent top-ups wait for the strategy's row.
CREATE OR REPLACE FUNCTION create_top_up(doc jsonb, strategy text, room numeric, counted jsonb)
  RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  answer jsonb;
  under_way numeric;
BEGIN
  PERFORM 1 FROM perp_bindings WHERE strategy_id = strategy FOR UPDATE;
  answer := create_movement(doc);
  IF room IS NULL OR NOT (answer ->> 'created')::boolean THEN RETURN answer; END IF;
  SELECT sum(amount) INTO under_way FROM movements
  WHERE movement_id IN (SELECT open_top_ups(strategy)
    UNION SELECT value::uuid FROM jsonb_array_elements_text(counted));
  IF under_way > room THEN
    RAISE EXCEPTION 'max_agent_balance_exceeded' USING ERRCODE = 'FM014',
      DETAIL = trim_scale(under_way - (doc -> 'movement' ->> 'amount')::numeric)::text;
  END IF;
  RETURN answer;
END $$;

-- Returns the top-ups of a strategy that have not ended.
CREATE OR REPLACE FUNCTION open_top_ups(strategy text) RETURNS SETOF uuid LANGUAGE sql STABLE AS $$
  SELECT movement_id FROM movements
  WHERE strategy_id = strategy AND ended_at IS NULL
    AND template_key = 'system/agent-wallet-top-up'
$$;
