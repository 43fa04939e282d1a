-- The addresses that funds may leave to, how rows of the list change, and how the fence asks for them.

CREATE TABLE allowed_addresses (
  id           uuid PRIMARY KEY,
  chain_family text NOT NULL CHECK (chain_family IN ('evm', 'cex')),
  -- In normal form: two texts of one address are one row.
  address      text NOT NULL CHECK (char_length(address) BETWEEN 1 AND 256),
  -- Null matches every chain of the family.
  chain_id     bigint CHECK (chain_id > 0),
  label        text,
  reason       text NOT NULL,
  active       boolean NOT NULL DEFAULT true,
  -- Nothing is sent there before; null: at once.
  usable_after timestamptz(3),
  created_by   text NOT NULL,
  created_at   timestamptz(3) NOT NULL,
  updated_at   timestamptz(3) NOT NULL,
  revoked_at   timestamptz(3),
  revoked_by   text,
  UNIQUE NULLS NOT DISTINCT (chain_family, address, chain_id),
  CHECK (chain_family <> 'evm' OR address ~ '^0x[0-9a-f]{40}$'),
  CHECK (chain_family = 'evm' OR chain_id IS NULL),
  CHECK (active = (revoked_at IS NULL)),
  CHECK ((revoked_at IS NULL) = (revoked_by IS NULL))
);
CREATE INDEX allowed_addresses_newest ON allowed_addresses (created_at DESC, id DESC);

INSERT INTO service_privileges (table_name, privileges) VALUES ('allowed_addresses', 'SELECT, INSERT, UPDATE');

-- When a row that changes now may be used.
CREATE FUNCTION cooled_after(doc jsonb, at timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$
  SELECT at + make_interval(secs => (doc ->> 'cooling_seconds')::double precision)
$$;

-- A row is always answered as it is afterwards, with what became of it.
CREATE FUNCTION allowed_answer(outcome text, a allowed_addresses) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object('outcome', outcome, 'row', to_jsonb(a))
$$;

CREATE FUNCTION audit_allowed(audit jsonb, action text, a allowed_addresses, extra jsonb, at timestamptz) RETURNS void LANGUAGE sql AS $$
  SELECT write_audit(with_details(audit -> action, jsonb_build_object('chain_family', a.chain_family, 'address', a.address,
    'chain_id', a.chain_id, 'usable_after', a.usable_after) || extra), at)
$$;

-- Puts an address on the list. There already and active: nothing changes; inactive: active again, and it cools anew.
CREATE FUNCTION allow_address(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  a allowed_addresses;
  at timestamptz := svc_now();
BEGIN
  INSERT INTO allowed_addresses (id, chain_family, address, chain_id, label, reason, usable_after, created_by, created_at, updated_at)
  VALUES ((doc ->> 'id')::uuid, doc ->> 'chain_family', doc ->> 'address', (doc ->> 'chain_id')::bigint, doc ->> 'label', doc ->> 'reason',
          cooled_after(doc, at), doc ->> 'by', at, at)
  ON CONFLICT DO NOTHING RETURNING * INTO a;
  IF FOUND THEN
    PERFORM audit_allowed(doc -> 'audit', 'create', a, '{}'::jsonb, at);
    RETURN allowed_answer('created', a);
  END IF;
  SELECT * INTO a FROM allowed_addresses WHERE chain_family = doc ->> 'chain_family' AND address = doc ->> 'address'
    AND chain_id IS NOT DISTINCT FROM (doc ->> 'chain_id')::bigint FOR UPDATE;
  IF a.active THEN RETURN allowed_answer('unchanged', a); END IF;
  -- Somebody made the row after the caller looked for its id, which its audit row has to name.
  IF a.id <> (doc ->> 'id')::uuid THEN RETURN allowed_answer('again', a); END IF;
  at := svc_now();
  UPDATE allowed_addresses SET active = true, usable_after = cooled_after(doc, at), label = coalesce(doc ->> 'label', label),
    reason = doc ->> 'reason', updated_at = at, revoked_at = NULL, revoked_by = NULL
  WHERE id = a.id RETURNING * INTO a;
  PERFORM audit_allowed(doc -> 'audit', 'reactivate', a, '{}'::jsonb, at);
  RETURN allowed_answer('reactivated', a);
END $$;

-- Takes a row out of force, or puts it back (and it cools anew). What is so already stays as it is. Null for an unknown id.
CREATE FUNCTION set_allowed_address(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  a allowed_addresses;
  at timestamptz;
  wanted boolean := (doc ->> 'active')::boolean;
BEGIN
  SELECT * INTO a FROM allowed_addresses WHERE id = (doc ->> 'id')::uuid FOR UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  IF a.active = wanted THEN RETURN allowed_answer('unchanged', a); END IF;
  at := svc_now();
  UPDATE allowed_addresses SET active = wanted, reason = doc ->> 'reason', updated_at = at,
    usable_after = CASE WHEN wanted THEN cooled_after(doc, at) ELSE usable_after END,
    revoked_at = CASE WHEN NOT wanted THEN at END, revoked_by = CASE WHEN NOT wanted THEN doc ->> 'by' END
  WHERE id = a.id RETURNING * INTO a;
  PERFORM audit_allowed(doc -> 'audit', CASE WHEN wanted THEN 'reactivate' ELSE 'revoke' END, a, '{}'::jsonb, at);
  RETURN allowed_answer(CASE WHEN wanted THEN 'reactivated' ELSE 'revoked' END, a);
END $$;

-- Moves a row to another chain, or to all; it cools anew. {"outcome": "taken"} where the list has that row already.
CREATE FUNCTION set_allowed_chain(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  a allowed_addresses;
  before bigint;
  at timestamptz;
BEGIN
  SELECT * INTO a FROM allowed_addresses WHERE id = (doc ->> 'id')::uuid FOR UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  before := a.chain_id;
  IF before IS NOT DISTINCT FROM (doc ->> 'chain_id')::bigint THEN RETURN allowed_answer('unchanged', a); END IF;
  at := svc_now();
  BEGIN
    UPDATE allowed_addresses SET chain_id = (doc ->> 'chain_id')::bigint, usable_after = cooled_after(doc, at), reason = doc ->> 'reason',
      updated_at = at
    WHERE id = a.id RETURNING * INTO a;
  EXCEPTION WHEN unique_violation THEN
    RETURN allowed_answer('taken', a);
  END;
  PERFORM audit_allowed(doc -> 'audit', 'set_chain', a, jsonb_build_object('previous_chain_id', before), at);
  RETURN allowed_answer('moved', a);
END $$;

-- Why an address may not be paid now, or null; see domain/allowlist/match.ts. Its rows are locked against a simultaneous revoke.
CREATE FUNCTION address_problem(asked jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  a allowed_addresses;
  cools boolean := false;
  unchained boolean := false;
BEGIN
  FOR a IN SELECT * FROM allowed_addresses
           WHERE chain_family = asked ->> 'chain_family' AND address = asked ->> 'address' ORDER BY id FOR SHARE LOOP
    CONTINUE WHEN NOT a.active OR (a.chain_id IS NOT NULL AND a.chain_id IS DISTINCT FROM (asked ->> 'chain_id')::bigint);
    IF a.chain_id IS NULL AND coalesce((asked ->> 'strict')::boolean, false) THEN
      unchained := true;
    ELSIF a.usable_after > svc_now() THEN
      cools := true;
    ELSE
      RETURN NULL;
    END IF;
  END LOOP;
  RETURN CASE WHEN cools THEN 'ADDRESS_IN_COOLING_PERIOD' WHEN unchained THEN 'ADDRESS_CHAIN_ID_REQUIRED' ELSE 'ADDRESS_NOT_ALLOWLISTED' END;
END $$;

-- As before, and for {"addresses": [{"chain_family", "address", "chain_id", "strict"}]}: each must be on the list and usable.
CREATE OR REPLACE FUNCTION binding_problems(required jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  listed jsonb := '[]'::jsonb;
  e executors;
  s signers;
  signer jsonb;
  asked jsonb;
  problem text;
BEGIN
  FOR e IN SELECT * FROM executors WHERE executor_key IN (SELECT jsonb_array_elements_text(coalesce(required -> 'executors', '[]'::jsonb)))
           ORDER BY executor_key FOR SHARE LOOP
    IF e.status <> 'active' THEN
      listed := listed || jsonb_build_object('binding', 'executor', 'key', e.executor_key, 'reason', e.status);
    END IF;
  END LOOP;
  FOR signer IN SELECT value FROM jsonb_array_elements(coalesce(required -> 'signers', '[]'::jsonb)) ORDER BY value ->> 'signer_key' LOOP
    SELECT * INTO s FROM signers WHERE signer_key = signer ->> 'signer_key' FOR SHARE;
    CONTINUE WHEN NOT FOUND;
    IF s.status <> 'active' THEN
      listed := listed || jsonb_build_object('binding', 'signer', 'key', s.signer_key, 'reason', s.status);
    ELSIF signer ->> 'address' IS NOT NULL AND s.expected_signer_address IS NOT NULL
          AND lower(s.expected_signer_address) <> lower(signer ->> 'address') THEN
      listed := listed || jsonb_build_object('binding', 'signer', 'key', s.signer_key, 'reason', 'identity_mismatch');
    END IF;
  END LOOP;
  FOR asked IN SELECT value FROM jsonb_array_elements(coalesce(required -> 'addresses', '[]'::jsonb))
               ORDER BY value ->> 'chain_family', value ->> 'address' LOOP
    problem := address_problem(asked);
    IF problem IS NOT NULL THEN
      listed := listed || jsonb_build_object('binding', 'address', 'key', asked ->> 'address', 'reason', problem);
    END IF;
  END LOOP;
  RETURN CASE WHEN jsonb_array_length(listed) = 0 THEN NULL ELSE listed END;
END $$;

-- What a node must have on the list, where its row tells it at a glance: nothing for types that pay nobody
-- and for nodes that name no address at all; the config's destination for a withdrawal that names no other.
-- Null for everything else: then domain/allowlist/destinations.ts looks, on the long way through the fence.
CREATE FUNCTION plain_addresses(action text, config jsonb, movement_intent jsonb, input_params jsonb, prepared jsonb, reported jsonb)
RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  paid text := config ->> 'destination_address';
  also text := prepared ->> 'destination_address';
  hex boolean;
BEGIN
  IF action IN ('noop', 'manual_gate', 'cex_internal_transfer', 'cex_deposit_observe', 'evm_balance_observe', 'bridge_c_observe') THEN
    RETURN '[]';
  END IF;
  IF action <> 'cex_withdrawal' THEN
    RETURN CASE WHEN movement_intent ->> 'destination_address' IS NULL
                     AND concat(config, input_params, prepared, reported) !~* '0x' THEN '[]'::jsonb END;
  END IF;
  hex := paid ~* '^0x[0-9a-f]{40}$';
  IF jsonb_typeof(config -> 'destination_address') IS DISTINCT FROM 'string' OR (NOT hex AND paid !~ '^[!-~]{1,256}$')
     OR (NOT hex AND paid ~* '^0x') THEN RETURN NULL; END IF;
  IF also IS NOT NULL AND (CASE WHEN hex THEN lower(also) <> lower(paid) ELSE also <> paid END) THEN RETURN NULL; END IF;
  IF concat(config - 'destination_address', prepared - 'destination_address', reported)
     ~* '0x|address|destination|recipient|receiver|beneficiary|payee' THEN RETURN NULL; END IF;
  RETURN jsonb_build_array(jsonb_build_object('chain_family', 'cex', 'address', CASE WHEN hex THEN lower(paid) ELSE paid END));
END $$;

-- As before, with the allowlist.
CREATE OR REPLACE FUNCTION try_fence(movement uuid, key text, node_attempt integer, executor text, window_seconds double precision, event_id text)
RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  m record;
  n movement_nodes;
  at timestamptz;
  addresses jsonb;
  passed boolean := false;
BEGIN
  SELECT asset, intent, input_params, plan_head -> 'risk_controls' AS controls INTO m FROM movements WHERE movement_id = movement FOR UPDATE;
  SELECT * INTO n FROM movement_nodes WHERE movement_id = movement AND node_key = key FOR UPDATE;
  at := svc_now();
  addresses := plain_addresses(n.action_type, n.plan -> 'config', m.intent, m.input_params, n.prepared_action, n.output);
  -- That it is READY the transition itself compares.
  IF n.attempt = node_attempt AND n.preflight_passed AND NOT n.recover_first AND addresses IS NOT NULL
     AND n.prepared_action IS NOT NULL AND n.sign_request IS NULL AND n.signer_binding IS NULL AND n.amount IS NOT NULL
     AND n.executor_binding ->> 'executor_key' = executor AND n.started_at IS NOT NULL
     AND at < n.started_at + make_interval(secs => coalesce((n.plan -> 'timeout_policy' ->> 'execution_seconds')::double precision, 1e9))
     AND within_max_amount(n.amount, m.controls, n.plan -> 'risk_patch')
  THEN
    passed := (apply_transition(jsonb_build_object(
      'movement_id', movement,
      'states', CASE WHEN n.on_cancel_target THEN '["CANCELLED", "EXECUTING", "WAITING_MANUAL_ACTION"]'::jsonb
                     ELSE '["EXECUTING", "WAITING_MANUAL_ACTION"]'::jsonb END,
      'require', jsonb_build_object('executors', jsonb_build_array(executor), 'addresses', addresses),
      'nodes', jsonb_build_array(jsonb_build_object('node_key', key, 'states', '["READY"]'::jsonb, 'attempt', n.attempt,
        'epoch', n.submit_epoch, 'set', jsonb_build_object('state', 'SUBMITTING', 'submit_epoch', n.submit_epoch + 1,
          'send_not_after', jsonb_build_object('@after_seconds', window_seconds)))),
      'timeline', jsonb_build_array(jsonb_build_object('event_id', event_id, 'event_type', 'node_submitting', 'message', 'Submitting',
        'actor', '{"type": "system"}'::jsonb, 'node_key', key, 'attempt', n.attempt, 'from_state', 'READY', 'to_state', 'SUBMITTING',
        'data', jsonb_build_object('idempotency_key', movement || ':' || key || ':' || n.attempt, 'amount', trim_scale(n.amount)::text,
          'asset', upper(coalesce(nullif(CASE WHEN jsonb_typeof(n.plan -> 'config' -> 'asset') = 'string'
            THEN n.plan -> 'config' ->> 'asset' END, ''), m.asset)))))
    )) ->> 'ok')::boolean;
  END IF;
  RETURN jsonb_build_object('passed', passed, 'row', read_phase(movement, key));
END $$;
