-- Rotation and retirement of signers (docs/decisions/0064-signer-lifecycle.md). A rotation locks
-- the switch of cutover.sql exclusively, so creates, retries and fences run before it or after it.
-- What is bound to a deprecated signer afterwards was left with it on purpose.

-- Returns who signs in place of a signer: the last signer in the chain of its rotations, or the
-- signer itself.
CREATE OR REPLACE FUNCTION successor_of(key text) RETURNS text LANGUAGE sql STABLE AS $$
  WITH RECURSIVE chain AS (
    SELECT signer_key, replaced_by FROM signers WHERE signer_key = key
    UNION SELECT s.signer_key, s.replaced_by FROM chain c JOIN signers s
      ON s.signer_key = c.replaced_by)
  SELECT coalesce((SELECT signer_key FROM chain WHERE replaced_by IS NULL), key)
$$;

-- Returns a node's flow with the replacement's pool on the same chain instead of the old signer's;
-- see onChainVenueKey in domain/plan/tokens.ts. A pool that belongs to no signer stays.
CREATE OR REPLACE FUNCTION pool_of_successor(flow jsonb, old_key text, new_key text) RETURNS jsonb
  LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN split_part(flow -> 'pool' ->> 'venue_key', ':', 2) = old_key
    THEN jsonb_set(flow, '{pool,venue_key}',
      to_jsonb(split_part(flow -> 'pool' ->> 'venue_key', ':', 1) || ':' || new_key))
    ELSE flow END
$$;

-- Returns why a node stays with a signer that was replaced; NULL if it moves to the replacement.
-- signer_ties adds the reasons that come from other nodes.
CREATE OR REPLACE FUNCTION signer_tie(m movements, params jsonb, n movement_nodes,
  addresses text[], without_room boolean) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN EXISTS (SELECT FROM evm_transactions t WHERE t.movement_id = n.movement_id
      AND t.node_key = n.node_key AND t.attempt = n.attempt AND t.released_at IS NULL)
      THEN 'open_nonce'
    WHEN n.state NOT IN ('BLOCKED', 'READY') THEN 'in_flight'
    -- Recovery searches for a send at the account that may have sent it, so the node keeps that
    -- account.
    WHEN n.recover_first OR n.restored OR n.submitted_at IS NOT NULL
      OR EXISTS (SELECT FROM node_attempts a WHERE a.movement_id = n.movement_id
        AND a.node_key = n.node_key AND a.attempt = n.attempt) THEN 'passed_fence'
    WHEN n.tied_by <> 'nothing' THEN n.tied_by
    WHEN EXISTS (SELECT FROM movement_nodes o WHERE o.movement_id = m.movement_id
      AND lower(node_plan(o.own_plan, params) -> 'config' ->> 'destination_caller')
        = ANY (addresses)) THEN 'destination_caller'
    -- Funds may arrive at the old address, and only the old signer can pass them on.
    WHEN EXISTS (SELECT FROM unnest(addresses) a
      CROSS JOIN LATERAL (SELECT lower(substr(a, 3)) AS digits) d
      WHERE position(digits IN lower(concat(m.intent, params))) > 0
        OR EXISTS (SELECT FROM movement_nodes o WHERE o.movement_id = m.movement_id
          AND position(digits IN lower(o.own_plan::text)) > 0)) THEN 'old_address'
    WHEN without_room AND n.flow ->> 'from' IS NULL
      AND split_part(n.flow -> 'pool' ->> 'venue_key', ':', 2) = n.signer_binding ->> 'signer_key'
      THEN 'no_room' END
$$;

-- Returns, for each node that is bound to a replaced signer and may still sign, why it stays with
-- that signer, or null. A node stays if it spends funds that a node of the old address brought
-- there, or if it uses an allowance that such a node set. A node that sets an allowance stays if a
-- staying node may use it: that node could not use the replacement's allowance, which would stay
-- open.
CREATE OR REPLACE FUNCTION signer_ties(m movements, without_room boolean) RETURNS jsonb
  LANGUAGE plpgsql STABLE AS $$
DECLARE
  ties jsonb;
  more jsonb;
BEGIN
  SELECT coalesce(jsonb_object_agg(n.node_key,
    signer_tie(m, p.input_params, n, signer_addresses(s), without_room)), '{}'::jsonb)
  INTO ties FROM movement_nodes n JOIN movement_plans p USING (movement_id)
  JOIN signers s ON s.signer_key = n.signer_binding ->> 'signer_key' AND s.replaced_by IS NOT NULL
  WHERE n.movement_id = m.movement_id
    AND n.state NOT IN ('COMPLETED', 'FAILED', 'SKIPPED', 'CANCELLED');
  LOOP
    SELECT jsonb_object_agg(n.node_key,
      CASE WHEN 'spender' IN (o.pays, n.pays) THEN 'allowance'
        ELSE 'passes_on' END)
    INTO more FROM movement_nodes n
    JOIN movement_nodes o ON o.movement_id = n.movement_id AND o.node_key <> n.node_key
      AND o.signer_binding = n.signer_binding
      AND (o.state = 'COMPLETED' OR ties ->> o.node_key IS NOT NULL)
      AND (o.node_key = n.flow ->> 'from' OR o.pays = 'spender'
        OR (n.pays = 'spender' AND o.flow IS NOT NULL
          AND ties ->> o.node_key IS NOT NULL))
    WHERE n.movement_id = m.movement_id AND ties ? n.node_key AND ties ->> n.node_key IS NULL;
    EXIT WHEN more IS NULL;
    ties := ties || more;
  END LOOP;
  RETURN ties;
END $$;

-- Returns every present and former address of a signer, in lower case.
CREATE OR REPLACE FUNCTION signer_addresses(s signers) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
  SELECT ARRAY(SELECT DISTINCT lower(a) FROM unnest(s.known_addresses
    || s.expected_signer_address || s.observed_signer_address) a WHERE a ~* '^0x[0-9a-f]{40}$')
$$;

-- Binds nodes to the signers that replaced theirs. The nodes are prepared again under a new epoch,
-- so a worker with the old binding can no longer write. Runs with the owner's rights: the service's
-- role may not change a node's signer or flow itself.
CREATE OR REPLACE FUNCTION rebind_nodes(movement uuid, ties jsonb, at timestamptz) RETURNS void
  LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$
  UPDATE movement_nodes n SET
    signer_binding = jsonb_build_object('signer_key', s.next_key),
    flow = pool_of_successor(n.flow, s.old_key, s.next_key),
    preflight_passed = false, prepared_action = NULL, sign_request = NULL, error_count = 0,
    submit_epoch = n.submit_epoch + 1, updated_at = at
  FROM (SELECT signer_key AS old_key, successor_of(signer_key) AS next_key FROM signers
    WHERE replaced_by IS NOT NULL) s
  WHERE n.movement_id = movement AND n.signer_binding ->> 'signer_key' = s.old_key
    AND ties ? n.node_key AND ties ->> n.node_key IS NULL
$$;

REVOKE ALL ON FUNCTION rebind_nodes(uuid, jsonb, timestamptz) FROM PUBLIC;

-- Moves a movement's holds after its nodes were bound to another signer: takes them from the new
-- signer's pools and releases those of the old one.
CREATE OR REPLACE FUNCTION move_holds(m movements, take jsonb, at timestamptz) RETURNS void
  LANGUAGE plpgsql AS $$
DECLARE hold reservations;
BEGIN
  PERFORM settle_holds(m, take, at);
  FOR hold IN SELECT * FROM reservations r WHERE r.movement_id = m.movement_id
    AND r.status = 'held' AND NOT EXISTS (
      SELECT FROM movement_nodes n WHERE n.movement_id = m.movement_id AND n.flow ->> 'from' IS NULL
        AND n.flow -> 'pool' ->> 'venue_key' = r.venue_key
        AND n.flow -> 'pool' ->> 'account_type' = r.account_type
        AND n.flow ->> 'asset' = r.asset)
    ORDER BY r.venue_key COLLATE "C", r.account_type COLLATE "C", r.asset COLLATE "C" LOOP
    UPDATE reservation_pools SET held = held - hold.amount WHERE venue_key = hold.venue_key
      AND account_type = hold.account_type AND asset = hold.asset;
    UPDATE reservations SET status = 'released', ended_at = at
      WHERE reservation_id = hold.reservation_id;
  END LOOP;
END $$;

-- Binds the nodes of a movement that may still sign to the signers that replaced theirs, unless
-- something ties a node to the old one. Returns why each node stays, null if it moved. The caller
-- has locked the movement.
CREATE OR REPLACE FUNCTION follow_signers(movement uuid, take jsonb, actor jsonb, at timestamptz)
  RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  m movements;
  ties jsonb;
BEGIN
  SELECT * INTO STRICT m FROM movements WHERE movement_id = movement;
  ties := signer_ties(m, false);
  IF NOT EXISTS (SELECT FROM jsonb_each(ties) WHERE value = 'null') THEN RETURN ties; END IF;
  BEGIN
    PERFORM rebind_nodes(movement, ties, at);
    IF m.pooled THEN PERFORM move_holds(m, take, at); END IF;
  EXCEPTION WHEN SQLSTATE 'FM010' OR SQLSTATE 'FM012' THEN
    -- The replacement's pools cannot cover the holds: nodes that draw from the old signer's pools
    -- stay with the old signer.
    ties := signer_ties(m, true);
    PERFORM rebind_nodes(movement, ties, at);
  END;
  UPDATE movements SET updated_at = at, next_sequence = write_timeline(m, (
    SELECT coalesce(jsonb_agg(jsonb_build_object('event_id', svc_new_id(at),
      'event_type', 'signer_remapped', 'node_key', n.node_key, 'attempt', n.attempt,
      'actor', actor, 'message', 'Bound to the signer ' || (n.signer_binding ->> 'signer_key')
        || ', the replacement of its former signer',
      'data', jsonb_build_object('signer_key', n.signer_binding ->> 'signer_key',
        'original_signer_key', n.own_plan -> 'signer_binding' ->> 'signer_key'))
      ORDER BY n.position), '[]'::jsonb)
    FROM movement_nodes n WHERE n.movement_id = movement AND ties ? n.node_key
      AND ties ->> n.node_key IS NULL), ARRAY[]::text[], at)
  WHERE movement_id = movement;
  RETURN ties;
END $$;

-- Binds the nodes of a new movement to replacement signers: its plan may have been compiled before
-- a rotation and is stored after it.
CREATE OR REPLACE FUNCTION follow_at_create(movement uuid) RETURNS void LANGUAGE sql AS $$
  UPDATE movement_nodes n SET
    signer_binding = jsonb_build_object('signer_key', successor_of(s.signer_key)),
    flow = pool_of_successor(n.flow, s.signer_key, successor_of(s.signer_key))
  FROM signers s
  WHERE n.movement_id = movement AND s.signer_key = n.signer_binding ->> 'signer_key'
    AND s.replaced_by IS NOT NULL
$$;

-- Locks the pools of both signers in the order that every function uses, and creates the missing
-- pools of the new signer first.
CREATE OR REPLACE FUNCTION lock_signer_pools(old_key text, new_key text) RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO reservation_pools (venue_key, account_type, asset, held)
  SELECT split_part(venue_key, ':', 1) || ':' || new_key, account_type, asset, 0
  FROM reservation_pools WHERE split_part(venue_key, ':', 2) = old_key
  ORDER BY venue_key COLLATE "C", account_type COLLATE "C", asset COLLATE "C"
  ON CONFLICT DO NOTHING;
  PERFORM FROM reservation_pools WHERE split_part(venue_key, ':', 2) IN (old_key, new_key)
  ORDER BY venue_key COLLATE "C", account_type COLLATE "C", asset COLLATE "C" FOR UPDATE;
END $$;

-- Returns the nodes that are bound to a signer and have not ended, of movements that have not
-- ended.
CREATE OR REPLACE FUNCTION open_nodes_of(key text) RETURNS SETOF movement_nodes
  LANGUAGE sql STABLE AS $$
  SELECT n.* FROM movements m JOIN movement_nodes n USING (movement_id)
  WHERE m.ended_at IS NULL AND n.signer_binding ->> 'signer_key' = key
    AND n.state NOT IN ('COMPLETED', 'FAILED', 'SKIPPED', 'CANCELLED')
$$;

-- Deprecates the old signer and binds its open nodes to the new one. Returns how many nodes moved,
-- and which stay and why.
CREATE OR REPLACE FUNCTION replace_signer(old_key text, new_key text, doc jsonb,
  movement_ids uuid[], at timestamptz) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  movement uuid;
  ties jsonb;
  remapped integer := 0;
  kept jsonb := '[]';
BEGIN
  UPDATE signers SET status = 'deprecated', replaced_by = new_key, updated_at = at,
    known_addresses = ARRAY(SELECT jsonb_array_elements_text(doc -> 'known_addresses'))
  WHERE signer_key = old_key;
  PERFORM lock_signer_pools(old_key, new_key);
  FOREACH movement IN ARRAY movement_ids LOOP
    ties := follow_signers(movement, doc -> 'take', doc -> 'actor', at);
    SELECT remapped + count(*) FILTER (WHERE value = 'null'),
      kept || coalesce(jsonb_agg(jsonb_build_object('movement_id', movement, 'node_key', key,
        'reason', value) ORDER BY key) FILTER (WHERE value <> 'null'), '[]'::jsonb)
    INTO remapped, kept FROM jsonb_each(ties);
    CONTINUE WHEN NOT EXISTS (SELECT FROM jsonb_each(ties) WHERE value = 'null');
    -- The new version makes callers that decided on the former state decide again.
    UPDATE movements SET version = version + 1 WHERE movement_id = movement;
    INSERT INTO commands (command_id, movement_id, kind, created_at, claimed_until)
    SELECT svc_new_id(at), movement, 'wake', at, at
    WHERE EXISTS (SELECT FROM movement_nodes n WHERE n.movement_id = movement
      AND n.state = 'READY' AND ties ? n.node_key AND ties ->> n.node_key IS NULL);
  END LOOP;
  RETURN jsonb_build_object('remapped', remapped, 'kept', kept,
    'open_nonces', (SELECT count(*) FROM open_nodes_of(old_key) n
      JOIN evm_transactions t USING (movement_id, node_key, attempt)
      WHERE t.released_at IS NULL AND t.replaces IS NULL AND t.final_at IS NULL),
    'pending_approval', (SELECT count(*) FROM movements m
      WHERE m.movement_id = ANY (movement_ids) AND m.request_state = 'PENDING_APPROVAL'));
END $$;

-- Writes one event of a signer, with its audit rows.
CREATE OR REPLACE FUNCTION write_signer_event(doc jsonb, extra jsonb, at timestamptz) RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  PERFORM write_audit(with_details(doc -> 'audit', extra), at);
  INSERT INTO signer_events (event_id, signer_key, other_key, event_type, reason, data, done_by,
    audit_event_id, occurred_at)
  VALUES ((doc ->> 'event_id')::uuid, doc ->> 'key', doc ->> 'other_key', doc ->> 'event_type',
    doc ->> 'reason', coalesce(doc -> 'data', '{}'::jsonb) || extra, doc -> 'actor',
    (doc -> 'audit' -> 0 ->> 'event_id')::uuid, at);
END $$;

-- Returns whether a signer has, or had, the address of the perps venue's master account: funds
-- there belong to that address and cannot move to a replacement.
CREATE OR REPLACE FUNCTION is_perp_master(s signers) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM perp_master m
    WHERE lower(m.master_address) = ANY (signer_addresses(s)) OR m.signer_key = s.signer_key)
$$;

-- Returns why signer `b` cannot replace `a` now, or NULL. `asked`: the address that `b` reported
-- outside of this transaction. It counts only if the pin of `b` has not changed since then, and no
-- other address of `b` was observed.
CREATE OR REPLACE FUNCTION rotation_problem(a signers, b signers, asked jsonb) RETURNS jsonb
  LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN a.signer_key = b.signer_key
      THEN '{"error": "validation_failed", "cause": "same_signer"}'::jsonb
    WHEN a.status <> 'active'
      THEN '{"error": "validation_failed", "cause": "old_not_active"}'::jsonb
    WHEN b.status <> 'active'
      THEN '{"error": "validation_failed", "cause": "replacement_not_active"}'::jsonb
    WHEN a.chain_family <> b.chain_family
      THEN '{"error": "validation_failed", "cause": "chain_family_mismatch"}'::jsonb
    WHEN is_perp_master(a) AND lower(b.expected_signer_address)
      IS DISTINCT FROM (SELECT lower(master_address) FROM perp_master)
      THEN '{"error": "validation_failed", "cause": "perp_master_account"}'::jsonb
    WHEN b.expected_signer_address IS DISTINCT FROM asked ->> 'pin'
      OR (b.observed_at IS DISTINCT FROM (asked ->> 'observed_at')::timestamptz
        AND lower(b.observed_signer_address) IS DISTINCT FROM lower(asked ->> 'runtime'))
      THEN '{"error": "signer_runtime_identity_unavailable"}'::jsonb
    WHEN lower(b.expected_signer_address) IS DISTINCT FROM lower(asked ->> 'runtime')
      THEN '{"error": "signer_identity_mismatch"}'::jsonb END
$$;

-- Reads both signers of a rotation, and creates the rows of those that only a process declares.
-- `problem`: why one cannot replace the other, even if the replacement reports the address of its
-- pin.
CREATE OR REPLACE FUNCTION read_rotation(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  a signers;
  b signers;
BEGIN
  PERFORM declare_signer(value, svc_now()) FROM jsonb_array_elements(doc -> 'declared');
  SELECT * INTO a FROM signers WHERE signer_key = doc ->> 'key';
  SELECT * INTO b FROM signers WHERE signer_key = doc ->> 'other_key';
  IF a.signer_key IS NULL OR b.signer_key IS NULL THEN
    RETURN jsonb_build_object('missing', CASE WHEN a.signer_key IS NULL THEN doc -> 'key'
      ELSE doc -> 'other_key' END);
  END IF;
  RETURN jsonb_build_object('pin', b.expected_signer_address, 'observed_at', b.observed_at,
    'known_addresses', signer_addresses(a), 'problem', rotation_problem(a, b, jsonb_build_object(
      'pin', b.expected_signer_address, 'runtime', b.expected_signer_address,
      'observed_at', b.observed_at)));
END $$;

-- Rotates `key` to `other_key`; a drill (`drill`) then rolls the rotation back. See
-- store/signer-lifecycle.ts for the shape of `doc`.
CREATE OR REPLACE FUNCTION rotate_signer(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  a signers;
  b signers;
  movement_ids uuid[];
  problem jsonb;
  impact jsonb;
  played text;
  at timestamptz;
BEGIN
  PERFORM pg_advisory_xact_lock(7203118846);
  at := svc_now();
  PERFORM declare_signer(value, at) FROM jsonb_array_elements(doc -> 'declared');
  -- Every function locks movements before signers.
  movement_ids := ARRAY(SELECT m.movement_id FROM movements m
    WHERE m.movement_id IN (SELECT n.movement_id FROM open_nodes_of(doc ->> 'key') n)
    ORDER BY m.movement_id FOR UPDATE);
  PERFORM FROM movement_nodes WHERE movement_id = ANY (movement_ids)
    AND signer_binding ->> 'signer_key' = doc ->> 'key' ORDER BY movement_id, node_key FOR UPDATE;
  PERFORM FROM signers WHERE signer_key IN (doc ->> 'key', doc ->> 'other_key')
    ORDER BY signer_key FOR UPDATE;
  SELECT * INTO STRICT a FROM signers WHERE signer_key = doc ->> 'key';
  SELECT * INTO STRICT b FROM signers WHERE signer_key = doc ->> 'other_key';
  problem := rotation_problem(a, b, doc -> 'asked');
  IF problem IS NOT NULL THEN RETURN jsonb_build_object('ok', false) || problem; END IF;
  BEGIN
    impact := replace_signer(a.signer_key, b.signer_key, doc, movement_ids, at);
    IF (doc ->> 'drill')::boolean THEN
      RAISE EXCEPTION 'the rotation is a drill and is rolled back'
        USING ERRCODE = 'FM014', DETAIL = impact::text;
    END IF;
  EXCEPTION WHEN SQLSTATE 'FM014' THEN
    GET STACKED DIAGNOSTICS played = PG_EXCEPTION_DETAIL;
    impact := played::jsonb;
  END;
  PERFORM write_signer_event(doc, jsonb_build_object('impact', impact), at);
  RETURN jsonb_build_object('ok', true, 'impact', impact, 'at', at);
END $$;

-- Stores evidence about a signer, with its audit rows.
CREATE OR REPLACE FUNCTION record_signer_event(doc jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE at timestamptz := svc_now();
BEGIN
  PERFORM declare_signer(value, at) FROM jsonb_array_elements(doc -> 'declared');
  PERFORM write_signer_event(doc, '{}'::jsonb, at);
END $$;

-- Returns the nonces that an account has signed and whose use is not settled. A nonce is settled if
-- a final block has used it, or if any block has used it and its node has ended with what the plan
-- requires. `used`: [{"chain_id", "final", "mined"}], how many nonces each chain reports as used in
-- final blocks and in all blocks.
CREATE OR REPLACE FUNCTION open_nonces(account text, used jsonb) RETURNS jsonb
  LANGUAGE sql STABLE AS $$
  SELECT coalesce(jsonb_agg(DISTINCT jsonb_build_object('chain', t.chain_id::text,
    'nonce', t.nonce)), '[]'::jsonb)
  FROM evm_transactions t LEFT JOIN movement_nodes n USING (movement_id, node_key)
  LEFT JOIN jsonb_to_recordset(used) AS u (chain_id bigint, final bigint, mined bigint)
    USING (chain_id)
  WHERE t.address = lower(account) AND t.raw_tx IS NOT NULL AND t.released_at IS NULL
    AND t.nonce >= coalesce(u.final, 0) AND NOT (t.nonce < coalesce(u.mined, 0)
      AND coalesce(n.attempt > t.attempt OR n.state IN ('COMPLETED', 'FAILED'), false))
$$;

-- Returns the first condition (gate) that a retirement does not meet, or NULL. The chains were read
-- before (`seen`); the rest is read under the signer's lock.
CREATE OR REPLACE FUNCTION failed_gate(s signers, seen jsonb, acknowledged boolean) RETURNS jsonb
  LANGUAGE plpgsql STABLE AS $$
DECLARE
  nodes jsonb;
  nonces jsonb;
BEGIN
  IF s.status <> 'deprecated' THEN
    RETURN jsonb_build_object('failed_gate', 'signer_not_deprecated', 'status', s.status);
  END IF;
  IF seen ->> 'unavailable' IS NOT NULL THEN
    RETURN jsonb_build_object('failed_gate', 'inventory_unavailable',
      'reason', seen ->> 'unavailable', 'problems', seen -> 'problems');
  END IF;
  IF jsonb_array_length(seen -> 'above_dust') > 0 THEN
    RETURN jsonb_build_object('failed_gate', 'balance_above_dust',
      'balances', seen -> 'above_dust');
  END IF;
  -- Funds at the perps venue are no balance on a chain: another active signer must be able to sign
  -- for the master account.
  IF is_perp_master(s) AND NOT EXISTS (SELECT FROM signers o JOIN perp_master m
    ON lower(o.expected_signer_address) = lower(m.master_address)
    WHERE o.signer_key <> s.signer_key AND o.status = 'active') THEN
    RETURN '{"failed_gate": "perp_master_account"}'::jsonb;
  END IF;
  SELECT jsonb_agg(jsonb_build_object('movement_id', n.movement_id, 'node_key', n.node_key,
    'state', n.state) ORDER BY n.movement_id, n.position) INTO nodes
  FROM open_nodes_of(s.signer_key) n;
  IF nodes IS NOT NULL THEN
    RETURN jsonb_build_object('failed_gate', 'non_terminal_nodes', 'non_terminal_nodes', nodes);
  END IF;
  SELECT jsonb_agg(nonce) INTO nonces FROM jsonb_array_elements(seen -> 'accounts') account,
    jsonb_array_elements(open_nonces(account ->> 'address', account -> 'used_nonces')) nonce;
  IF nonces IS NOT NULL THEN
    RETURN jsonb_build_object('failed_gate', 'open_nonces', 'open_nonces', nonces);
  END IF;
  IF NOT acknowledged AND (jsonb_array_length(seen -> 'allowances') > 0
    OR (seen ->> 'unsupported_spender_not_checked')::boolean) THEN
    RETURN jsonb_build_object('failed_gate', 'allowances_not_acknowledged',
      'allowances', seen -> 'allowances',
      'unsupported_spender_not_checked', seen -> 'unsupported_spender_not_checked');
  END IF;
  RETURN NULL;
END $$;

-- Retires a signer, or returns the gate that it does not pass; either is stored as evidence.
-- Returns NULL for an unknown signer.
CREATE OR REPLACE FUNCTION retire_signer(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  s signers;
  at timestamptz;
  denied jsonb;
BEGIN
  -- Creates, retries and fences run before or after this, as with a rotation.
  PERFORM pg_advisory_xact_lock(7203118846);
  at := svc_now();
  PERFORM declare_signer(value, at) FROM jsonb_array_elements(doc -> 'declared');
  SELECT * INTO s FROM signers WHERE signer_key = doc ->> 'key' FOR UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  denied := failed_gate(s, doc -> 'seen', (doc ->> 'acknowledged')::boolean);
  IF denied IS NOT NULL THEN
    PERFORM write_signer_event(doc || '{"event_type": "retirement_denied", "audit": []}', denied,
      at);
    RETURN jsonb_build_object('ok', false, 'denied', denied);
  END IF;
  UPDATE signers SET status = 'retired', updated_at = at WHERE signer_key = s.signer_key;
  PERFORM write_signer_event(doc, '{}'::jsonb, at);
  RETURN jsonb_build_object('ok', true, 'at', at);
END $$;
