-- Returns whether a node must claim a payment to complete: always, never, or only if its output has
-- the field that `claims_when` names. `claimsOf` of domain/claims.ts decides what it claims.
CREATE OR REPLACE FUNCTION needs_claim(claims_when text, output jsonb) RETURNS boolean
  LANGUAGE sql IMMUTABLE AS $$
  SELECT claims_when = 'always'
    OR coalesce(output ? substring(claims_when FROM '^output\.(.+)$'), false)
$$;

-- Returns the node that already holds a payment which this node wants to claim; null if this node
-- may claim all. Locks the payments, after movement and nodes, until the transaction ends.
CREATE OR REPLACE FUNCTION claim_holder(movement uuid, node text, claims jsonb, at timestamptz)
  RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  c record;
  held numeric;
BEGIN
  FOR c IN SELECT source, reference, amount, total, since, until FROM jsonb_to_recordset(claims)
      AS x (source text, reference text, amount numeric, total numeric, since numeric,
        until numeric)
    ORDER BY source, reference
  LOOP
    INSERT INTO payments (source, reference, amount, created_at)
    VALUES (c.source, c.reference, CASE WHEN c.until IS NULL THEN c.total END, at)
    ON CONFLICT DO NOTHING;
    -- A statement of its own, which sees what concurrent transactions wrote while the insert waited
    -- for them.
    PERFORM FROM payments p WHERE p.source = c.source AND p.reference = c.reference FOR UPDATE;
    SELECT coalesce(sum(o.amount), 0) INTO held FROM payment_claims o
    WHERE o.source = c.source AND o.reference = c.reference
      AND (o.movement_id, o.node_key) <> (movement, node)
      AND (c.since IS NULL OR o.until_block IS NULL OR o.until_block > c.since);
    -- If two claims report different totals of one payment, the smaller total counts.
    IF held + c.amount > (SELECT least(p.amount, c.total) FROM payments p
        WHERE p.source = c.source AND p.reference = c.reference) THEN
      RETURN jsonb_build_object('source', c.source, 'reference', c.reference) || coalesce((
        SELECT jsonb_build_object('movement_id', o.movement_id, 'node_key', o.node_key)
        FROM payment_claims o
        WHERE o.source = c.source AND o.reference = c.reference
          AND (o.movement_id, o.node_key) <> (movement, node)
        ORDER BY o.created_at, o.movement_id, o.node_key LIMIT 1), '{}');
    END IF;
  END LOOP;
  RETURN NULL;
END $$;

-- Stores the claims of a node after claim_holder has found no other holder. Claims that the node
-- already has stay as they are.
CREATE OR REPLACE FUNCTION write_claims(movement uuid, node text, claims jsonb, at timestamptz)
  RETURNS void LANGUAGE sql AS $$
  WITH new AS (
    INSERT INTO payment_claims (source, reference, movement_id, node_key, amount, until_block,
      created_at)
    SELECT x.source, x.reference, movement, node, x.amount, x.until, at
    FROM jsonb_to_recordset(claims)
      AS x (source text, reference text, amount numeric, until numeric)
    ON CONFLICT DO NOTHING RETURNING source, reference, amount)
  UPDATE payments p SET claimed = p.claimed + new.amount FROM new
  WHERE p.source = new.source AND p.reference = new.reference
$$;

-- Returns whether the node has any claims, and locks the claimed payments until the transaction
-- ends.
CREATE OR REPLACE FUNCTION lock_claims(movement uuid, node text) RETURNS boolean
  LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM payments p WHERE EXISTS (SELECT FROM payment_claims c
    WHERE c.source = p.source AND c.reference = p.reference
      AND c.movement_id = movement AND c.node_key = node)
  ORDER BY p.source, p.reference FOR UPDATE;
  RETURN FOUND;
END $$;

-- Moves a node's claims to another node, so the claimed sum of each payment stays the same. Only a
-- completed node holds claims; the same transaction has moved the former holder out of COMPLETED.
CREATE OR REPLACE FUNCTION move_claims(holder jsonb, movement uuid, node text) RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM movement_nodes WHERE movement_id = (holder ->> 'movement_id')::uuid
      AND node_key = holder ->> 'node_key' AND state = 'COMPLETED') THEN
    RAISE EXCEPTION 'a completed node keeps its claims' USING ERRCODE = 'insufficient_privilege';
  END IF;
  UPDATE payment_claims c SET movement_id = movement, node_key = node
  WHERE c.movement_id = (holder ->> 'movement_id')::uuid AND c.node_key = holder ->> 'node_key';
END $$;

-- Takes the claims of one node away (`released`, a transition of its movement) and completes
-- another node with them (`taken`). Applies both, or neither and returns why. Locks both movements
-- first, ordered by id.
CREATE OR REPLACE FUNCTION reassign_claims(released jsonb, taken jsonb) RETURNS jsonb
  LANGUAGE plpgsql AS $$
DECLARE
  first jsonb;
  second jsonb;
  before jsonb;
BEGIN
  PERFORM hold_approval_rules();
  PERFORM FROM movements WHERE movement_id
    IN ((released ->> 'movement_id')::uuid, (taken ->> 'movement_id')::uuid)
  ORDER BY movement_id FOR UPDATE;
  before := action_before(jsonb_build_array(released, taken));
  BEGIN
    -- Asks once for both movements, below.
    first := apply_transition(released || '{"together": true}');
    IF (first ->> 'ok')::boolean THEN
      second := apply_transition(taken || '{"together": true}');
    END IF;
    IF NOT coalesce((second ->> 'ok')::boolean, false) THEN
      RAISE EXCEPTION 'the claims were not reassigned: a transition was refused'
        USING ERRCODE = 'FM018';
    END IF;
  EXCEPTION WHEN SQLSTATE 'FM018' THEN
    RETURN jsonb_build_object('ok', false, 'refused', coalesce(second, first));
  END;
  IF NOT second ? 'repeated' THEN
    PERFORM ask_action(jsonb_build_array(released, taken), before);
  END IF;
  RETURN jsonb_build_object('ok', true, 'released', first, 'taken', second);
END $$;
