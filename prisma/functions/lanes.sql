-- Nonce lanes: open claims on nonces, later versions of a nonce's transaction, and what proves that
-- a nonce is used.

-- Returns the lowest claim of a nonce lane that was never signed and whose node has ended or is
-- UNKNOWN; NULL if there is none. Nothing can sign it later, since only a node that passed its
-- fence stores bytes. So the next send of the lane takes its nonce over and leaves no gap.
CREATE OR REPLACE FUNCTION left_claim(claim jsonb) RETURNS evm_transactions
  LANGUAGE sql VOLATILE AS $$
  SELECT t FROM evm_transactions t JOIN movement_nodes n USING (movement_id, node_key)
  WHERE t.chain_id = (claim ->> 'chain_id')::bigint AND t.address = claim ->> 'address'
    AND t.released_at IS NULL AND t.final_at IS NULL
    AND t.raw_tx IS NULL AND t.replaces IS NULL AND t.nonce >= (claim ->> 'chain_nonce')::bigint
    AND (n.attempt > t.attempt
      OR n.state IN ('FAILED', 'COMPLETED', 'CANCELLED', 'SKIPPED', 'UNKNOWN'))
    AND NOT EXISTS (SELECT FROM evm_transactions v WHERE v.replaces = t.transaction_id)
  ORDER BY t.nonce LIMIT 1
$$;

-- Returns why no nonce of a lane may be claimed now, as a problem of a binding, or null. The reason
-- is an earlier nonce that is signed and in no block, and whose node no longer runs: a later nonce
-- would wait for it. `claim` is that of claim_nonce. Only nonces below the one that this attempt
-- has, or would take over, count.
CREATE OR REPLACE FUNCTION lane_problem(movement uuid, node text, node_attempt integer, claim jsonb)
RETURNS jsonb LANGUAGE sql VOLATILE AS $$
  SELECT jsonb_build_array(jsonb_build_object('binding', 'lane', 'key', t.address,
    'reason', 'nonce ' || t.nonce || ' on chain ' || t.chain_id || ' of node ' || t.node_key
      || ' of movement ' || t.movement_id || ' is still open'))
  FROM evm_transactions t JOIN movement_nodes n USING (movement_id, node_key)
  WHERE t.chain_id = (claim ->> 'chain_id')::bigint AND t.address = claim ->> 'address'
    AND t.released_at IS NULL AND t.replaces IS NULL AND t.final_at IS NULL
    AND t.raw_tx IS NOT NULL AND t.nonce >= (claim ->> 'chain_nonce')::bigint
    AND t.nonce < coalesce(
      (SELECT own.nonce FROM evm_transactions own WHERE own.movement_id = movement
        AND own.node_key = node AND own.attempt = node_attempt AND own.replaces IS NULL
        AND own.released_at IS NULL),
      (left_claim(claim)).nonce, 9223372036854775807)
    AND (n.attempt > t.attempt
      OR n.state IN ('FAILED', 'COMPLETED', 'CANCELLED', 'SKIPPED', 'UNKNOWN'))
  ORDER BY t.nonce LIMIT 1
$$;

-- Ends the claim on a nonce that another, final transaction has used. Does so only for the attempt
-- and epoch that saw this, and only if no newer version was stored since. Locks the movement, as
-- every write of a later version does.
CREATE OR REPLACE FUNCTION release_nonce(movement uuid, key text, of_attempt integer,
  of_epoch integer, version jsonb) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM movements WHERE movement_id = movement FOR UPDATE;
  IF NOT EXISTS (SELECT FROM movement_nodes n WHERE n.movement_id = movement AND n.node_key = key
      AND n.attempt = of_attempt AND n.submit_epoch = of_epoch)
    OR NOT is_newest_version(movement, version) THEN
    RETURN false;
  END IF;
  UPDATE evm_transactions SET released_at = svc_now()
  WHERE transaction_id = (version ->> 'claim')::uuid
    OR replaces = (version ->> 'claim')::uuid;
  RETURN true;
END $$;

-- Returns whether the version to be replaced is still the newest of its claim. `version`: {"claim",
-- "over"}, the ids of the claim and of the version to be replaced. `movement` is null for a claim
-- without a node.
CREATE OR REPLACE FUNCTION is_newest_version(movement uuid, version jsonb) RETURNS boolean
  LANGUAGE sql VOLATILE AS $$
  SELECT EXISTS (
    SELECT FROM evm_transactions c
    WHERE c.transaction_id = (version ->> 'claim')::uuid AND c.replaces IS NULL
      AND c.movement_id IS NOT DISTINCT FROM movement
      AND c.released_at IS NULL AND c.final_at IS NULL
      AND (version ->> 'over')::uuid = (
        SELECT v.transaction_id FROM evm_transactions v
        WHERE v.transaction_id = c.transaction_id OR v.replaces = c.transaction_id
        ORDER BY v.created_at DESC, v.transaction_id DESC LIMIT 1))
$$;

-- Stores a later version of a claim's transaction: the same nonce with other bytes. The caller has
-- locked the movement, or the lane, and has checked is_newest_version.
CREATE OR REPLACE FUNCTION store_version(version jsonb, at timestamptz) RETURNS void
  LANGUAGE sql VOLATILE AS $$
  INSERT INTO evm_transactions (transaction_id, chain_id, address, nonce, signer_key, movement_id,
    node_key, attempt, kind, replaces, unsigned, raw_tx, tx_hash, created_at)
  SELECT (version ->> 'transaction_id')::uuid, chain_id, address, nonce, signer_key, movement_id,
    node_key, attempt, version ->> 'kind', transaction_id, version -> 'unsigned',
    version ->> 'raw_tx', version ->> 'tx_hash', at
  FROM evm_transactions WHERE transaction_id = (version ->> 'claim')::uuid
$$;

-- Stores a transaction that fills an unclaimed nonce, or a later version of such a transaction
-- ("claim", "over"). Returns false if another process was faster.
CREATE OR REPLACE FUNCTION fill_nonce(doc jsonb) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  at timestamptz;
BEGIN
  PERFORM 1 FROM nonce_lanes WHERE chain_id = (doc ->> 'chain_id')::bigint
    AND address = doc ->> 'address' FOR UPDATE;
  at := svc_now();
  IF doc ? 'claim' THEN
    IF NOT is_newest_version(NULL, doc) THEN RETURN false; END IF;
    PERFORM store_version(doc, at);
    RETURN true;
  END IF;
  -- Only a nonce below next_nonce is filled; claims take the others.
  IF (doc ->> 'nonce')::bigint >= (SELECT next_nonce FROM nonce_lanes
    WHERE chain_id = (doc ->> 'chain_id')::bigint AND address = doc ->> 'address') THEN
    RETURN false;
  END IF;
  INSERT INTO evm_transactions (transaction_id, chain_id, address, nonce, signer_key, kind,
    unsigned, raw_tx, tx_hash, created_at)
  VALUES ((doc ->> 'transaction_id')::uuid, (doc ->> 'chain_id')::bigint, doc ->> 'address',
    (doc ->> 'nonce')::bigint, doc ->> 'signer_key', 'cancel', doc -> 'unsigned', doc ->> 'raw_tx',
    doc ->> 'tx_hash', at)
  ON CONFLICT DO NOTHING;
  RETURN FOUND;
END $$;

-- Returns the versions of a claim, oldest first.
CREATE OR REPLACE FUNCTION versions_of(claim evm_transactions) RETURNS jsonb
  LANGUAGE sql VOLATILE AS $$
  SELECT jsonb_agg(jsonb_build_object('transaction_id', v.transaction_id,
    'claim', claim.transaction_id, 'chain_id', v.chain_id, 'from', v.address, 'nonce', v.nonce,
    'kind', v.kind, 'unsigned', v.unsigned, 'tx_hash', v.tx_hash, 'raw_tx', v.raw_tx,
    'age_seconds', extract(epoch FROM svc_now() - v.created_at),
    'accepted', v.accepted_at IS NOT NULL)
    ORDER BY v.created_at, v.transaction_id)
  FROM evm_transactions v
  WHERE v.transaction_id = claim.transaction_id OR v.replaces = claim.transaction_id
$$;

-- Returns whether a person has resolved the attempt of a transaction. A scalar sub-select, since
-- Postgres may run an EXISTS by reading all artifacts.
CREATE OR REPLACE FUNCTION was_resolved(t evm_transactions) RETURNS boolean
  LANGUAGE sql STABLE AS $$
  SELECT coalesce((SELECT true FROM artifacts a WHERE a.movement_id = t.movement_id
    AND a.node_key = t.node_key AND a.attempt = t.attempt AND a.kind = 'resolution' LIMIT 1), false)
$$;

-- Leases nonce lanes to the caller for `seconds`: those that have open claims or are marked as
-- stuck, and that no other process has leased. Returns each lane with its lowest claims. Of a
-- claim, `ended`: the node's run no longer works on it; `stuck`: why that run cannot use the nonce
-- up; `proven`: the node ended because its own payment was seen in a block; `abandoned`: a person
-- abandoned the node, and it was not seen to land; `completed_by`: the transaction that completed
-- the attempt, as a person named it, or before the node ran again.
CREATE OR REPLACE FUNCTION take_lanes(seconds double precision, most integer) RETURNS jsonb
  LANGUAGE plpgsql AS $$
DECLARE
  at timestamptz := svc_now();
  lanes jsonb;
BEGIN
  WITH due AS (
    SELECT l.chain_id, l.address FROM nonce_lanes l
    WHERE coalesce(l.tended_until, '-infinity') <= at
      AND (l.stuck_nonce IS NOT NULL OR EXISTS (
        SELECT FROM evm_transactions t WHERE t.chain_id = l.chain_id AND t.address = l.address
          AND t.released_at IS NULL AND t.replaces IS NULL AND t.final_at IS NULL))
    ORDER BY l.tended_until NULLS FIRST FOR UPDATE SKIP LOCKED
  ), taken AS (
    UPDATE nonce_lanes l SET tended_until = at + make_interval(secs => seconds)
    FROM due WHERE l.chain_id = due.chain_id AND l.address = due.address
    RETURNING l.chain_id, l.address
  )
  SELECT coalesce(jsonb_agg(jsonb_build_object('chain_id', chain_id, 'address', address,
    'claims', (
      SELECT jsonb_agg(jsonb_build_object('transaction_id', t.transaction_id, 'nonce', t.nonce,
        'signer_key', t.signer_key, 'movement_id', t.movement_id, 'node_key', t.node_key,
        'abandoned', t.abandoned,
        'attempt', t.attempt, 'node_state', t.node_state, 'reorged', t.reorged_at IS NOT NULL,
        'stuck', t.stuck, 'ended', t.ended, 'proven', t.proven, 'node_ref', t.node_ref,
        'completed_by', t.completed_by,
        'versions', versions_of(t.claim)) ORDER BY t.nonce)
      FROM (
        SELECT c.*, c AS claim, n.state AS node_state, n.external_ref AS node_ref,
          CASE WHEN n.attempt = c.attempt AND n.error_code = 'LANE_STUCK'
            AND n.state NOT IN ('FAILED', 'COMPLETED', 'CANCELLED', 'SKIPPED')
            THEN coalesce(n.error_message, n.error_code) END AS stuck,
          c.movement_id IS NULL OR n.attempt > c.attempt
            OR n.state IN ('FAILED', 'COMPLETED', 'CANCELLED', 'SKIPPED') AS ended,
          coalesce(n.attempt = c.attempt AND n.state = 'COMPLETED'
            AND NOT was_resolved(c), false) AS proven,
          coalesce(n.attempt = c.attempt AND n.next_late_look IS NOT NULL AND is_abandoned(n), false)
            AS abandoned,
          lower(CASE WHEN n.attempt > c.attempt THEN (
              SELECT a.external_ref FROM node_attempts a WHERE a.movement_id = c.movement_id
                AND a.node_key = c.node_key AND a.attempt = c.attempt AND a.outcome = 'COMPLETED')
            ELSE n.output ->> 'tx_hash' END) AS completed_by
        FROM evm_transactions c LEFT JOIN movement_nodes n
          ON n.movement_id = c.movement_id AND n.node_key = c.node_key
        WHERE c.chain_id = taken.chain_id AND c.address = taken.address
          AND c.released_at IS NULL AND c.replaces IS NULL AND c.final_at IS NULL
        ORDER BY c.nonce LIMIT most) t))), '[]'::jsonb) INTO lanes
  FROM taken;
  RETURN lanes;
END $$;

-- Stores what a worker has read about a lane: the chain's counts of used nonces, the claims that a
-- final block has settled ([{"transaction_id", "mined_hash"}]), and the nonce that cannot be used
-- up ({"nonce", "why"} or null).
CREATE OR REPLACE FUNCTION note_lane(doc jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  each jsonb;
BEGIN
  UPDATE nonce_lanes SET mined_count = (doc ->> 'mined')::bigint,
    final_count = (doc ->> 'final')::bigint, seen_at = svc_now(),
    stuck_nonce = (doc -> 'stuck' ->> 'nonce')::bigint, stuck_why = doc -> 'stuck' ->> 'why',
    stuck_since = CASE WHEN doc -> 'stuck' ->> 'nonce' IS NULL THEN NULL
      WHEN stuck_nonce = (doc -> 'stuck' ->> 'nonce')::bigint THEN stuck_since
      ELSE svc_now() END
  WHERE chain_id = (doc ->> 'chain_id')::bigint AND address = doc ->> 'address';
  -- One row at a time, by key: for a list, the planner expects many rows and may read the whole
  -- table.
  FOR each IN SELECT jsonb_array_elements(doc -> 'settled') LOOP
    UPDATE evm_transactions SET final_at = svc_now(), mined_hash = each ->> 'mined_hash'
    WHERE transaction_id = (each ->> 'transaction_id')::uuid AND final_at IS NULL
      AND released_at IS NULL;
  END LOOP;
END $$;

-- Returns a person's raise of a lane's fee caps while it is valid; else NULL. Signing and views
-- both read it here.
CREATE OR REPLACE FUNCTION raise_of(l nonce_lanes) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN l.cap_raised_until > svc_now() THEN l.cap_raise || jsonb_build_object('until',
    wire_time(l.cap_raised_until)) END
$$;

-- Raises the fee caps of one lane and replaces its present raise. Returns false if there is no such
-- lane.
CREATE OR REPLACE FUNCTION raise_lane_caps(doc jsonb) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  l nonce_lanes;
  at timestamptz;
BEGIN
  SELECT * INTO l FROM nonce_lanes WHERE chain_id = (doc ->> 'chain_id')::bigint
    AND address = doc ->> 'address' FOR UPDATE;
  IF NOT FOUND THEN RETURN false; END IF;
  at := svc_now();
  UPDATE nonce_lanes SET cap_raise = doc -> 'raise' || jsonb_build_object('raised_at',
      wire_time(at)),
    cap_raised_until = at + make_interval(secs => (doc ->> 'ttl_seconds')::double precision)
  WHERE chain_id = l.chain_id AND address = l.address;
  PERFORM write_audit(with_details(doc -> 'audit',
    jsonb_build_object('previous_raise', raise_of(l))), at);
  RETURN true;
END $$;

-- Returns the nonce lanes for people: how many nonces are claimed and in no known block, since
-- when, and how many are mined and not yet final.
CREATE OR REPLACE FUNCTION lane_views() RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT coalesce(jsonb_agg(jsonb_build_object('chain_id', l.chain_id, 'address', l.address,
    'signer_key', l.signer_key, 'next_nonce', l.next_nonce, 'mined_nonce', l.mined_count,
    'final_nonce', l.final_count,
    'seen_at', wire_time(l.seen_at),
    'open_nonces', coalesce(o.open, 0),
    'oldest_open_seconds', extract(epoch FROM svc_now() - o.since)::bigint,
    'unfinal_nonces', coalesce(o.unfinal, 0), 'raise', raise_of(l),
    'stuck', CASE WHEN l.stuck_nonce IS NOT NULL THEN jsonb_build_object('nonce', l.stuck_nonce,
      'why', l.stuck_why,
      'since', wire_time(l.stuck_since)) END)
    ORDER BY l.chain_id, l.address), '[]'::jsonb)
  FROM nonce_lanes l LEFT JOIN LATERAL (
    SELECT count(*) FILTER (WHERE t.nonce >= coalesce(l.mined_count, 0)) AS open,
      min(t.created_at) FILTER (WHERE t.nonce >= coalesce(l.mined_count, 0)) AS since,
      count(*) FILTER (WHERE t.nonce < coalesce(l.mined_count, 0)) AS unfinal
    FROM evm_transactions t WHERE t.chain_id = l.chain_id AND t.address = l.address
      AND t.released_at IS NULL AND t.replaces IS NULL AND t.final_at IS NULL) o ON true
$$;

-- Returns why a send may not use its send lane now, as problems of a binding, or null. In a send
-- lane, which an executor names in its prepared action, one send at a time is open: the venue has
-- no id of ours, so two open sends could not be assigned to two new records. A send is open until
-- its reference is known or it has ended. Call this under the movement's lock; a later statement
-- of the caller sees what was open before it had the lane's.
CREATE OR REPLACE FUNCTION send_lane_problem(movement uuid, key text, lane text) RETURNS jsonb
  LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('send_lane ' || lane, 0));
  RETURN (
    SELECT jsonb_build_array(jsonb_build_object('binding', 'send_lane', 'key', lane,
      'reason', 'the send of node ' || n.node_key || ' of movement ' || n.movement_id
        || ' is still open'))
    FROM node_attempts a JOIN movement_nodes n USING (movement_id, node_key)
    WHERE a.send_lane = lane AND a.attempt = n.attempt AND n.external_ref IS NULL
      AND NOT (n.movement_id = movement AND n.node_key = key)
      AND (n.recover_first OR n.state IN ('SUBMITTING', 'SUBMITTED', 'OBSERVING', 'UNKNOWN'))
    ORDER BY a.started_at, n.movement_id, n.node_key LIMIT 1);
END $$;

-- Returns what is known of the other sends in the lane of an attempt: {"since", when this attempt
-- passed its fence, "references", of the others, "unexplained", how many of them from a day before
-- it have no reference although they may have left}; null if the attempt has no lane.
CREATE OR REPLACE FUNCTION send_lane_terms(movement uuid, key text, node_attempt integer)
  RETURNS jsonb LANGUAGE sql STABLE AS $$
  WITH own AS (
    SELECT idempotency_key, send_lane, started_at FROM node_attempts
    WHERE movement_id = movement AND node_key = key AND attempt = node_attempt
      AND send_lane IS NOT NULL
  ), others AS (
    SELECT a.started_at, a.outcome, a.error_code, coalesce(a.external_ref,
      CASE WHEN a.attempt = n.attempt THEN n.external_ref END) AS reference
    FROM own JOIN node_attempts a
      ON a.send_lane = own.send_lane AND a.idempotency_key <> own.idempotency_key
    JOIN movement_nodes n ON n.movement_id = a.movement_id AND n.node_key = a.node_key
  )
  SELECT jsonb_build_object('since', wire_time(own.started_at),
    'references', coalesce((SELECT jsonb_agg(DISTINCT reference) FROM others
      WHERE reference IS NOT NULL), '[]'::jsonb),
    'unexplained', (SELECT count(*) FROM others WHERE reference IS NULL
      AND others.started_at > own.started_at - interval '1 day'
      AND (outcome IS DISTINCT FROM 'FAILED'
        OR error_code IN ('RESOLVED_AS_FAILED', 'ABANDONED')))
      -- A restored database may have forgotten sends.
      + (SELECT count(*) FROM movement_nodes n WHERE n.movement_id = movement
          AND n.node_key = key AND n.restored))
  FROM own
$$;
