-- The perps venue's master account, the strategies that are bound to it and their agent wallets
-- (docs/decisions/0074-perps-venue.md). Every change is one call with its audit row, which keeps
-- the row as it was written. A repeated change writes nothing and leaves no audit row.

-- Writes the audit row of a change with the written row, and returns the outcome.
CREATE OR REPLACE FUNCTION perp_written(audit jsonb, outcome text, written jsonb, at timestamptz)
  RETURNS jsonb LANGUAGE sql AS $$
  SELECT write_audit(with_details(audit, jsonb_build_object('row', written)), at);
  SELECT jsonb_build_object('outcome', outcome, 'row', written, 'at', at)
$$;

-- Returns a binding as JSON. Its amount is text, since JSON numbers are not exact everywhere.
CREATE OR REPLACE FUNCTION perp_binding_view(b perp_bindings) RETURNS jsonb LANGUAGE sql IMMUTABLE
  AS $$
  SELECT to_jsonb(b) || jsonb_build_object('max_agent_balance',
    trim_scale(b.max_agent_balance)::text)
$$;

-- Returns whether a wallet has its agent name on the venue, or waits for it.
CREATE OR REPLACE FUNCTION perp_wallet_is_open(w perp_agent_wallets, at timestamptz)
  RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT w.state IN ('pending', 'active') AND w.valid_until > at
$$;

-- Returns a wallet as JSON. After `valid_until` its state is "expired", even before the row says
-- so.
CREATE OR REPLACE FUNCTION perp_wallet_view(w perp_agent_wallets, at timestamptz) RETURNS jsonb
  LANGUAGE sql IMMUTABLE AS $$
  SELECT to_jsonb(w) - 'next_look_at' - 'nonce_used_at' || jsonb_build_object('state',
    CASE WHEN w.state IN ('pending', 'active') AND w.valid_until <= at THEN 'expired'
      ELSE w.state END)
$$;

-- Creates the master account. There is only one, and it never changes.
CREATE OR REPLACE FUNCTION create_perp_master(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  wanted perp_master := jsonb_populate_record(NULL::perp_master, doc -> 'master');
  m perp_master;
BEGIN
  INSERT INTO perp_master (master_address, signer_key, network, label, created_at)
  VALUES (wanted.master_address, wanted.signer_key, wanted.network, wanted.label, svc_now())
  ON CONFLICT DO NOTHING RETURNING * INTO m;
  IF FOUND THEN
    RETURN perp_written(doc -> 'audit', 'created', to_jsonb(m), m.created_at);
  END IF;
  SELECT * INTO m FROM perp_master;
  RETURN jsonb_build_object('row', to_jsonb(m), 'outcome', CASE
    WHEN (m.master_address, m.signer_key, m.network, m.label) IS NOT DISTINCT FROM
      (wanted.master_address, wanted.signer_key, wanted.network, wanted.label) THEN 'same'
    ELSE 'master_account_exists' END);
END $$;

CREATE OR REPLACE FUNCTION create_perp_binding(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  wanted perp_bindings := jsonb_populate_record(NULL::perp_bindings, doc -> 'binding');
  b perp_bindings;
  at timestamptz := svc_now();
BEGIN
  IF NOT EXISTS (SELECT FROM perp_master) THEN
    RETURN jsonb_build_object('outcome', 'master_account_missing');
  END IF;
  INSERT INTO perp_bindings (strategy_id, sub_account_address, max_agent_balance, created_at,
    updated_at)
  VALUES (wanted.strategy_id, wanted.sub_account_address, wanted.max_agent_balance, at, at)
  ON CONFLICT DO NOTHING RETURNING * INTO b;
  IF FOUND THEN
    RETURN perp_written(doc -> 'audit', 'created', perp_binding_view(b), at);
  END IF;
  SELECT * INTO b FROM perp_bindings WHERE strategy_id = wanted.strategy_id;
  IF FOUND THEN
    RETURN jsonb_build_object('row', perp_binding_view(b), 'outcome', CASE
      WHEN (b.sub_account_address, b.max_agent_balance) IS NOT DISTINCT FROM
        (wanted.sub_account_address, wanted.max_agent_balance) THEN 'same'
      ELSE 'strategy_binding_exists' END);
  END IF;
  SELECT * INTO b FROM perp_bindings WHERE sub_account_address = wanted.sub_account_address;
  RETURN jsonb_build_object('outcome', 'sub_account_bound', 'row', perp_binding_view(b));
END $$;

-- Pauses a strategy or ends its pause. Returns NULL for a strategy that is not bound.
CREATE OR REPLACE FUNCTION pause_perp_binding(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  b perp_bindings;
  at timestamptz;
BEGIN
  SELECT * INTO b FROM perp_bindings WHERE strategy_id = doc ->> 'strategy_id' FOR UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  IF (b.paused, b.pause_reason) IS NOT DISTINCT FROM
    ((doc ->> 'paused')::boolean, doc ->> 'reason') THEN
    RETURN jsonb_build_object('outcome', 'same', 'row', perp_binding_view(b));
  END IF;
  at := svc_now();
  UPDATE perp_bindings SET paused = (doc ->> 'paused')::boolean, pause_reason = doc ->> 'reason',
    paused_changed_at = CASE WHEN paused = (doc ->> 'paused')::boolean THEN paused_changed_at
      ELSE at END, updated_at = at
  WHERE strategy_id = b.strategy_id RETURNING * INTO b;
  RETURN perp_written(doc -> 'audit', 'changed', perp_binding_view(b), at);
END $$;

-- Stores an agent wallet that needs approval, with the nonce of its approval. Returns NULL for a
-- strategy that is not bound.
CREATE OR REPLACE FUNCTION create_perp_wallet(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  wanted perp_agent_wallets := jsonb_populate_record(NULL::perp_agent_wallets, doc -> 'wallet');
  w perp_agent_wallets;
  used perp_agent_wallets;
  master text := (SELECT master_address FROM perp_master);
  at timestamptz;
BEGIN
  PERFORM FROM perp_bindings WHERE strategy_id = wanted.strategy_id;
  IF NOT FOUND THEN RETURN NULL; END IF;
  -- Wallets are created one at a time, so that no other wallet takes the name or the address
  -- meanwhile.
  INSERT INTO perp_lanes (address, last_nonce) VALUES (master, 0) ON CONFLICT DO NOTHING;
  PERFORM FROM perp_lanes WHERE address = master FOR UPDATE;
  at := svc_now();
  SELECT * INTO used FROM perp_agent_wallets WHERE address = wanted.address;
  IF perp_wallet_is_open(used, at)
    AND (used.strategy_id, used.agent_name, used.signer_key)
      = (wanted.strategy_id, wanted.agent_name, wanted.signer_key)
    AND coalesce(wanted.valid_until, used.valid_until) = used.valid_until THEN
    RETURN jsonb_build_object('outcome', 'same', 'row', perp_wallet_view(used, at));
  END IF;
  SELECT * INTO w FROM perp_agent_wallets
  WHERE agent_name = wanted.agent_name AND strategy_id <> wanted.strategy_id
    AND perp_wallet_is_open(perp_agent_wallets, at) LIMIT 1;
  IF FOUND THEN
    RETURN jsonb_build_object('outcome', 'agent_name_taken');
  END IF;
  -- An address is used only once: the venue forgets what an address has signed as an agent when it
  -- is no longer one.
  IF used.wallet_id IS NOT NULL OR wanted.address = master OR EXISTS (
    SELECT FROM perp_bindings WHERE sub_account_address = wanted.address) THEN
    RETURN jsonb_build_object('outcome', 'agent_address_reused');
  END IF;
  SELECT * INTO w FROM perp_agent_wallets
  WHERE agent_name = wanted.agent_name AND state = 'pending' AND valid_until > at;
  IF FOUND THEN
    RETURN jsonb_build_object('outcome', 'agent_wallet_pending', 'row', perp_wallet_view(w, at));
  END IF;
  IF wanted.valid_until <= at OR wanted.valid_until > at + make_interval(hours => 180 * 24) THEN
    RETURN jsonb_build_object('outcome', 'valid_until_out_of_range');
  END IF;
  -- A pending wallet after its `valid_until` no longer holds the name, but its row may still say
  -- so.
  UPDATE perp_agent_wallets SET state = 'expired', next_look_at = NULL, updated_at = at
  WHERE agent_name = wanted.agent_name AND state = 'pending';
  INSERT INTO perp_agent_wallets (wallet_id, strategy_id, agent_name, signer_key, address,
    valid_until, state, next_look_at, created_at, updated_at)
  VALUES (wanted.wallet_id, wanted.strategy_id, wanted.agent_name, wanted.signer_key, wanted.address,
    -- The venue's default is 90 days; the approval states the time.
    coalesce(wanted.valid_until, at + make_interval(hours => 90 * 24)), 'pending', at, at, at)
  RETURNING * INTO w;
  PERFORM claim_perp_nonce(master, NULL, NULL, NULL, w.wallet_id);
  RETURN perp_written(doc -> 'audit', 'created', perp_wallet_view(w, at), at);
END $$;

-- Returns a strategy's wallets, newest first; NULL for a strategy that is not bound.
CREATE OR REPLACE FUNCTION perp_wallets_of(strategy text, most integer) RETURNS jsonb
  LANGUAGE sql STABLE AS $$
  SELECT coalesce((SELECT jsonb_agg(perp_wallet_view(w, svc_now())
      ORDER BY w.created_at DESC, w.wallet_id DESC)
    FROM (SELECT * FROM perp_agent_wallets WHERE strategy_id = strategy
      ORDER BY created_at DESC, wallet_id DESC LIMIT most) w), '[]'::jsonb)
  FROM perp_bindings WHERE strategy_id = strategy
$$;

-- Returns the stored state of a strategy at the perps venue. `authority`: whose movements to
-- include; null: all. Returns NULL for a strategy that is not bound.
CREATE OR REPLACE FUNCTION perp_strategy_state(strategy text, authority text, most integer)
  RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object('at', svc_now(), 'binding', perp_binding_view(b),
    'account', p.account,
    'agent_wallets', perp_wallets_of(strategy, most),
    'open_movement_count', (SELECT count(*) FROM movements m WHERE m.strategy_id = strategy
      AND m.ended_at IS NULL AND (authority IS NULL OR m.agent = authority)),
    'open_movements', (SELECT coalesce(jsonb_agg(jsonb_build_object('movement_id', m.movement_id,
        'request_state', m.request_state, 'template_key', m.template_key, 'asset', m.asset,
        'amount', trim_scale(m.amount)::text, 'created_at', m.created_at)
        ORDER BY m.created_at DESC, m.movement_id DESC), '[]'::jsonb)
      FROM (SELECT * FROM movements WHERE strategy_id = strategy AND ended_at IS NULL
        AND (authority IS NULL OR agent = authority)
        ORDER BY created_at DESC, movement_id DESC LIMIT most) m),
    'seen', (SELECT jsonb_build_object('withdrawable', trim_scale(a.withdrawable)::text,
        'account_value', trim_scale(a.account_value)::text, 'open_positions', a.open_positions,
        'checked_at', a.checked_at) FROM perp_accounts a WHERE a.address = p.account))
  FROM perp_bindings b
  CROSS JOIN LATERAL (SELECT coalesce(b.sub_account_address,
    (SELECT master_address FROM perp_master)) AS account) p
  WHERE b.strategy_id = strategy
$$;

-- Stores the venue's report of an account, unless a later one is stored.
CREATE OR REPLACE FUNCTION note_perp_account(doc jsonb) RETURNS void LANGUAGE sql AS $$
  INSERT INTO perp_accounts
  SELECT * FROM jsonb_populate_record(NULL::perp_accounts, doc)
  ON CONFLICT (address) DO UPDATE SET withdrawable = excluded.withdrawable,
    account_value = excluded.account_value, open_positions = excluded.open_positions,
    checked_at = excluded.checked_at
  WHERE perp_accounts.checked_at < excluded.checked_at
$$;

-- Leases due wallets that no other process has leased to the caller for `seconds`. `lease` later
-- proves that the caller still has the lease.
CREATE OR REPLACE FUNCTION take_perp_wallets(seconds double precision, most integer) RETURNS jsonb
  LANGUAGE sql AS $$
  WITH due AS (
    SELECT wallet_id FROM perp_agent_wallets WHERE next_look_at <= svc_now()
    ORDER BY next_look_at LIMIT most FOR UPDATE SKIP LOCKED),
  taken AS (
    UPDATE perp_agent_wallets w SET next_look_at = svc_now() + make_interval(secs => seconds)
    FROM due WHERE w.wallet_id = due.wallet_id RETURNING w.*)
  SELECT coalesce(jsonb_agg(jsonb_build_object('wallet_id', t.wallet_id,
      'strategy_id', t.strategy_id, 'agent_name', t.agent_name, 'address', t.address,
      'valid_until', t.valid_until, 'state', t.state, 'last_error', t.last_error,
      'nonce_used_at', t.nonce_used_at, 'lease', t.next_look_at, 'nonce', a.nonce, 'signature', a.signature,
      'master_address', m.master_address, 'network', m.network, 'signer_key', s.signer_key,
      'signer_status', coalesce(s.status, 'active'), 'created_at', t.created_at,
      'at', svc_now())
    ORDER BY t.created_at), '[]'::jsonb)
  FROM taken t JOIN perp_actions a USING (wallet_id) CROSS JOIN perp_master m
  CROSS JOIN LATERAL (SELECT k.signer_key, s.status
    FROM (SELECT successor_of(m.signer_key) AS signer_key) k LEFT JOIN signers s USING (signer_key)) s
$$;

-- Stores the signature of an agent's approval and returns the one to send, which is the first that
-- was stored. Returns null, and stores nothing, once the wallet must not be approved, in the mode
-- `frozen`, and while the signer that signs for the master account now may not sign. A change of
-- mode or signer waits until this ends; after such a change nothing is stored or sent.
CREATE OR REPLACE FUNCTION save_perp_approval(wallet uuid, given text) RETURNS text
  LANGUAGE plpgsql AS $$
DECLARE
  stored text;
  signer_status text;
BEGIN
  -- Before any row is locked; see cutover_now.
  IF cutover_now() = 'frozen' THEN RETURN NULL; END IF;
  SELECT status INTO signer_status FROM signers
  WHERE signer_key = (SELECT successor_of(m.signer_key) FROM perp_master m) FOR SHARE;
  -- A signer without a row is active.
  IF coalesce(signer_status, 'active') NOT IN ('active', 'deprecated') THEN RETURN NULL; END IF;
  PERFORM FROM perp_agent_wallets WHERE wallet_id = wallet AND state = 'pending' FOR SHARE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  UPDATE perp_actions SET signature = coalesce(signature, given) WHERE wallet_id = wallet
  RETURNING signature INTO stored;
  RETURN stored;
END $$;

-- Stores the result of a check of a wallet at the venue: a new state, or only the time of the next
-- check and an error. A new state is proven, so any process may write it; only the holder of the
-- lease may write the rest. Returns false if nothing was written.
CREATE OR REPLACE FUNCTION note_perp_wallet(doc jsonb) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  w perp_agent_wallets;
  at timestamptz;
  next_at timestamptz;
  gone uuid[];
BEGIN
  SELECT * INTO w FROM perp_agent_wallets WHERE wallet_id = (doc ->> 'wallet_id')::uuid FOR UPDATE;
  at := svc_now();
  next_at := at + make_interval(secs => (doc ->> 'next_seconds')::double precision);
  IF w.state IS DISTINCT FROM doc ->> 'from' THEN RETURN false; END IF;
  IF doc ->> 'to' IS NULL THEN
    UPDATE perp_agent_wallets SET next_look_at = next_at, last_error = doc ->> 'last_error',
      nonce_used_at = CASE WHEN doc ? 'nonce_used' THEN coalesce(nonce_used_at, at)
        ELSE nonce_used_at END,
      updated_at = CASE WHEN last_error IS DISTINCT FROM doc ->> 'last_error' THEN at
        ELSE updated_at END
    WHERE wallet_id = w.wallet_id AND next_look_at = (doc ->> 'lease')::timestamptz;
    RETURN FOUND;
  END IF;
  IF doc ->> 'to' = 'active' THEN
    -- On the venue, this wallet has replaced the earlier wallet of the same name.
    WITH before AS (
      UPDATE perp_agent_wallets SET next_look_at = NULL, updated_at = at,
        state = CASE WHEN valid_until <= at THEN 'expired' ELSE 'replaced' END
      WHERE agent_name = w.agent_name AND state = 'active' RETURNING wallet_id)
    SELECT array_agg(wallet_id) INTO gone FROM before;
  END IF;
  UPDATE perp_agent_wallets SET state = doc ->> 'to', last_error = doc ->> 'last_error',
    next_look_at = next_at, updated_at = at,
    approved_at = CASE WHEN doc ->> 'to' = 'active' THEN at ELSE approved_at END
  WHERE wallet_id = w.wallet_id;
  PERFORM write_audit(with_details(doc -> 'audit',
    jsonb_strip_nulls(jsonb_build_object('replaced', gone))), at);
  RETURN true;
END $$;
