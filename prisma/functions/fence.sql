-- Returns whether an amount is within each `max_amount` of the plan and of the node's patch. A
-- `max_amount` that cannot be read allows nothing (`maxAmount` of domain/plan/amount.ts).
CREATE OR REPLACE FUNCTION within_max_amount(amount numeric, controls jsonb, patch jsonb)
  RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT NOT EXISTS (
    SELECT 1 FROM (VALUES (controls -> 'max_amount'), (patch -> 'max_amount')) AS limits (value)
    WHERE value IS NOT NULL AND amount > CASE
      WHEN jsonb_typeof(value) = 'string'
        AND value #>> '{}' ~ '^(0|[1-9][0-9]{0,19})(\.[0-9]{1,18})?$'
      THEN (value #>> '{}')::numeric ELSE 0 END)
$$;

-- Returns the addresses that a node pays, in the plain cases of domain/allowlist; null for all
-- other cases, which the long fence decides. A node that pays on a chain is never plain, since its
-- payee may have no 0x (a name of a name service). Names of fields are compared without `_` and
-- `-`, as in domain/allowlist/payees.ts. A team's own action type is plain only if its executor
-- declares now that it has no payee (`declared_none`), and if no text looks like an EVM address.
-- Preflight has checked the checksums.
CREATE OR REPLACE FUNCTION plain_addresses(pays text, config jsonb, movement_intent jsonb,
  input_params jsonb, prepared jsonb, reported jsonb, declared_none boolean)
RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  paid text := config ->> 'destination_address';
  also text := prepared ->> 'destination_address';
  hex boolean;
BEGIN
  IF pays = 'nobody' THEN RETURN '[]'; END IF;
  IF pays = 'declared' THEN
    RETURN CASE WHEN declared_none AND movement_intent ->> 'destination_address' IS NULL
                     AND concat(config, input_params, prepared, reported) !~* '0x'
                       THEN '[]'::jsonb END;
  END IF;
  IF pays IS DISTINCT FROM 'exchange' THEN RETURN NULL; END IF;
  hex := paid ~* '^0x[0-9a-f]{40}$';
  IF jsonb_typeof(config -> 'destination_address') IS DISTINCT FROM 'string'
    OR (NOT hex AND (paid !~ '^[!-~]+$' OR length(paid) > 256))
     OR (NOT hex AND paid ~* '^0x') THEN RETURN NULL; END IF;
  IF also IS NOT NULL AND (CASE WHEN hex THEN lower(also) <> lower(paid) ELSE also <> paid END)
    THEN RETURN NULL; END IF;
  IF regexp_replace(concat(config - 'destination_address', prepared - 'destination_address',
    reported), '[_-]', '', 'g')
     ~* '0x|addr|wallet|destination|recipient|receiver|beneficiary|payee' THEN RETURN NULL; END IF;
  RETURN jsonb_build_array(
    jsonb_build_object('chain_family', 'cex', 'address', CASE WHEN hex THEN lower(paid)
    ELSE paid END));
END $$;

-- Returns why an address (`asked`) may not be paid now, or null if it may; see
-- domain/allowlist/match.ts. Locks the address's rows against a concurrent revoke.
CREATE OR REPLACE FUNCTION address_problem(asked jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  a allowed_addresses;
  cools boolean := false;
  unchained boolean := false;
BEGIN
  FOR a IN SELECT * FROM allowed_addresses
           WHERE chain_family = asked ->> 'chain_family' AND address = asked ->> 'address'
             ORDER BY id FOR SHARE LOOP
    CONTINUE WHEN NOT a.active
      OR (a.chain_id IS NOT NULL AND a.chain_id IS DISTINCT FROM (asked ->> 'chain_id')::bigint);
    IF a.chain_id IS NULL AND coalesce((asked ->> 'strict')::boolean, false) THEN
      unchained := true;
    ELSIF a.usable_after > svc_now() THEN
      cools := true;
    ELSE
      RETURN NULL;
    END IF;
  END LOOP;
  RETURN CASE WHEN cools THEN 'ADDRESS_IN_COOLING_PERIOD' WHEN unchained
    THEN 'ADDRESS_CHAIN_ID_REQUIRED' ELSE 'ADDRESS_NOT_ALLOWLISTED' END;
END $$;

-- Returns the list of requirements of a send that do not hold, or null if all hold. {"executors":
-- [key]} must be active, {"signers": [...]} active and with the address that they are pinned to,
-- {"addresses": [{"chain_family", "address", "chain_id", "strict"}]} on the allowlist and usable,
-- {"requirements": {kind: {...}}} without a requirement_problem; "flow" is checked elsewhere. A
-- deprecated signer may still sign for nodes that its rotation left with it. Locks the rows, so
-- that a concurrent change happens before or after. The caller has locked the movement.
CREATE OR REPLACE FUNCTION binding_problems(required jsonb, movement uuid) RETURNS jsonb
  LANGUAGE plpgsql AS $$
DECLARE
  listed jsonb := '[]'::jsonb;
  e executors;
  s signers;
  signer jsonb;
  needed jsonb;
  problem text;
  kind text;
BEGIN
  -- This release cannot check a requirement that it does not know, so nothing is sent.
  IF required - ARRAY['executors', 'signers', 'addresses', 'flow', 'requirements'] <> '{}' THEN
    RAISE EXCEPTION 'the send has a requirement that is not known here, so nothing is sent: %',
      required;
  END IF;
  FOR e IN SELECT * FROM executors
    WHERE executor_key IN (
    SELECT jsonb_array_elements_text(coalesce(required -> 'executors', '[]'::jsonb)))
           ORDER BY executor_key FOR SHARE LOOP
    IF e.status <> 'active' THEN
      listed := listed || jsonb_build_object('binding', 'executor', 'key', e.executor_key,
        'reason', e.status);
    END IF;
  END LOOP;
  FOR signer IN SELECT value
    FROM jsonb_array_elements(coalesce(required -> 'signers', '[]'::jsonb))
    ORDER BY value ->> 'signer_key' LOOP
    SELECT * INTO s FROM signers WHERE signer_key = signer ->> 'signer_key' FOR SHARE;
    CONTINUE WHEN NOT FOUND;
    IF s.status <> 'active' AND NOT (s.status = 'deprecated' AND EXISTS (
      SELECT FROM movement_nodes n WHERE n.movement_id = binding_problems.movement
        AND n.signer_binding ->> 'signer_key' = s.signer_key
        AND n.state NOT IN ('COMPLETED', 'FAILED', 'SKIPPED', 'CANCELLED'))) THEN
      listed := listed || jsonb_build_object('binding', 'signer', 'key', s.signer_key,
        'reason', s.status);
    ELSIF signer ->> 'address' IS NOT NULL AND s.expected_signer_address IS NOT NULL
          AND lower(s.expected_signer_address) <> lower(signer ->> 'address') THEN
      listed := listed || jsonb_build_object('binding', 'signer', 'key', s.signer_key, 'reason',
        'identity_mismatch');
    END IF;
  END LOOP;
  FOR needed IN SELECT value
    FROM jsonb_array_elements(coalesce(required -> 'addresses', '[]'::jsonb))
               ORDER BY value ->> 'chain_family', value ->> 'address' LOOP
    problem := address_problem(needed);
    IF problem IS NOT NULL THEN
      listed := listed || jsonb_build_object('binding', 'address', 'key', needed ->> 'address',
        'reason', problem);
    END IF;
  END LOOP;
  FOR kind, needed IN SELECT * FROM jsonb_each(coalesce(required -> 'requirements', '{}'::jsonb))
    AS r (kind, needed) ORDER BY r.kind LOOP
    listed := listed || coalesce(requirement_problem(kind, needed, movement), '[]'::jsonb);
  END LOOP;
  RETURN CASE WHEN jsonb_array_length(listed) = 0 THEN NULL ELSE listed END;
END $$;

-- The short fence: checks a send and passes its fence in one statement, for a node that needs no
-- signature and pays only plain addresses (plain_addresses) or none. `pays_nobody`: the executor's
-- own action types without a payee that a plan can choose. Epoch and window are those of `fenced`
-- in domain/send/epoch.ts.
CREATE OR REPLACE FUNCTION try_fence(movement uuid, key text, node_attempt integer, executor text,
  window_seconds double precision, event_id text,
                                     pays_nobody jsonb)
RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  m record;
  n movement_nodes;
  at timestamptz;
  plan jsonb;
  addresses jsonb;
  passed boolean := false;
BEGIN
  -- Locks the cutover switch before any row. apply_transition refuses in the mode `frozen`.
  PERFORM cutover_now();
  SELECT w.intent, p.input_params, p.plan_head -> 'risk_controls' AS controls INTO m
    FROM movements w JOIN movement_plans p USING (movement_id)
    WHERE movement_id = movement FOR UPDATE OF w;
  SELECT * INTO n FROM movement_nodes WHERE movement_id = movement AND node_key = key FOR UPDATE;
  at := svc_now();
  plan := node_plan(n.own_plan, m.input_params);
  addresses := plain_addresses(n.pays, plan -> 'config', m.intent, m.input_params,
    n.prepared_action, n.output, pays_nobody ? n.action_type);
  -- apply_transition checks that the node is READY.
  IF n.attempt = node_attempt AND n.preflight_passed AND NOT n.recover_first
    AND addresses IS NOT NULL
     AND n.prepared_action IS NOT NULL AND n.sign_request IS NULL AND n.signer_binding IS NULL
       AND n.amount IS NOT NULL
     AND n.executor_binding ->> 'executor_key' = executor AND n.started_at IS NOT NULL
     -- By its plan, a team's node without a flow sends nothing. The long fence checks whether its
     -- executor still declares that.
     AND (n.flow IS NOT NULL OR NOT pays_nobody ? n.action_type)
     AND at < n.started_at + coalesce(at - n.frozen_since, interval '0') + make_interval(
       secs => coalesce((plan -> 'timeout_policy' ->> 'execution_seconds')::double precision, 1e9))
     AND within_max_amount(n.amount, m.controls, plan -> 'risk_patch')
  THEN
    passed := (apply_transition(jsonb_build_object(
      'movement_id', movement,
      'states', CASE WHEN n.on_cancel_target OR n.brings IS NOT NULL
        THEN '["CANCELLED", "EXECUTING", "WAITING_MANUAL_ACTION"]'::jsonb
                     ELSE '["EXECUTING", "WAITING_MANUAL_ACTION"]'::jsonb END,
      'require', jsonb_build_object('executors', jsonb_build_array(executor),
        'addresses', addresses,
        'flow', jsonb_build_object('node_key', key, 'amount', n.amount)),
      'nodes', jsonb_build_array(
        jsonb_build_object('node_key', key, 'states', '["READY"]'::jsonb, 'attempt', n.attempt,
        'epoch', n.submit_epoch,
          'set', jsonb_build_object('state', 'SUBMITTING', 'submit_epoch', n.submit_epoch + 1,
          'send_not_after', jsonb_build_object('@after_seconds', window_seconds)))),
      'timeline', jsonb_build_array(
        jsonb_build_object('event_id', event_id, 'event_type', 'node_submitting',
        'message', CASE WHEN n.error_count > 0 THEN 'Submitting again under the same key'
          ELSE 'Submitting' END,
        'actor', '{"type": "system"}'::jsonb, 'node_key', key, 'attempt', n.attempt, 'from_state',
          'READY', 'to_state', 'SUBMITTING',
        'data', jsonb_build_object('idempotency_key', movement || ':' || key || ':' || n.attempt,
          'amount', trim_scale(n.amount)::text,
          'asset', plan -> 'asset')))
    )) ->> 'ok')::boolean;
  END IF;
  RETURN jsonb_build_object('passed', passed, 'row', read_phase(movement, key));
END $$;
