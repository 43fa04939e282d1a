-- Written by `npm run sql:migration` from prisma/functions/; not by hand.
SELECT set_config('check_function_bodies', 'off', true);
-- What functions with the owner's rights read and write is never a caller's temporary table.
SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true);

-- prisma/functions/console-events.sql

-- What open consoles are to read again; see docs/decisions/0114-the-stream.md. With the owner's
-- rights: the service's role may write no event and remove none by itself.
CREATE OR REPLACE FUNCTION note_for_consoles() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path FROM CURRENT AS $$
BEGIN
  -- Anybody may put a trigger on a temporary table of their own.
  IF TG_TABLE_SCHEMA <> current_schema() THEN
    RAISE EXCEPTION 'events are written by changes of our tables alone'
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  CASE TG_ARGV[0]
    WHEN 'movement' THEN
      INSERT INTO console_events (kind, subject) VALUES ('movement', NEW.movement_id);
    WHEN 'capital_transfer' THEN
      INSERT INTO console_events (kind, subject) VALUES ('capital_transfer', NEW.transfer_id);
    WHEN 'callback' THEN
      INSERT INTO console_events (kind, subject) VALUES ('callback', NEW.event_id);
    WHEN 'proposal' THEN
      INSERT INTO console_events (kind, subject) VALUES ('proposal', NEW.proposal_id);
    WHEN 'cutover' THEN INSERT INTO console_events (kind, subject) VALUES ('cutover', 'cutover');
    -- One for each venue that a statement has changed something of; a fetch that finds the same
    -- again is none.
    WHEN 'new_balances' THEN INSERT INTO console_events (kind, subject)
      SELECT DISTINCT 'balance', venue_key FROM made;
    WHEN 'balances' THEN INSERT INTO console_events (kind, subject)
      SELECT DISTINCT 'balance', n.venue_key
      FROM changed n JOIN former o USING (venue_key, account_type, asset)
      WHERE (n.available, n.withdrawable, n.total)
        IS DISTINCT FROM (o.available, o.withdrawable, o.total);
  END CASE;
  RETURN NULL;
END $$;

-- What a console is shown of what an event is about, as it is now: read with the event, and not
-- written with it, since transactions that change one row may be numbered in another order. No
-- amounts and no addresses: it says that something is to be read again.
CREATE OR REPLACE FUNCTION console_event_of(kind text, subject text) RETURNS jsonb
  LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN CASE kind
    WHEN 'movement' THEN (SELECT jsonb_build_object('movement_id', m.movement_id,
        'version', m.version, 'state', m.request_state,
        'attention_reason', attention_of(m, svc_now()) -> 'reason')
      FROM movements m WHERE m.movement_id = subject::uuid)
    WHEN 'capital_transfer' THEN (SELECT jsonb_build_object('transfer_id', t.transfer_id,
        'version', t.version, 'state', t.request_state)
      FROM capital_transfers t WHERE t.transfer_id = subject::uuid)
    WHEN 'callback' THEN (SELECT jsonb_build_object('event_id', c.event_id, 'state', c.status)
      FROM callbacks c WHERE c.event_id = subject::uuid)
    WHEN 'proposal' THEN (SELECT jsonb_build_object('proposal_id', p.proposal_id,
        'state', p.status)
      FROM template_proposals p WHERE p.proposal_id = subject::uuid)
    WHEN 'cutover' THEN (SELECT jsonb_build_object('mode', c.mode) FROM cutover c)
    WHEN 'balance' THEN jsonb_build_object('venue_key', subject)
    END;
END $$;

-- Changes where transactions may be missing that somebody has seen, or number anew: a server that
-- was started again, another server, a database or table that was made anew. What is put back from
-- a backup, and a standby that takes over, is one of these.
CREATE OR REPLACE FUNCTION console_epoch() RETURNS text LANGUAGE sql STABLE AS $$
  SELECT left(md5(concat_ws('/', extract(epoch FROM pg_postmaster_start_time()),
    (SELECT oid FROM pg_database WHERE datname = current_database()),
    'console_events'::regclass::oid)), 12)
$$;

-- Removes up to `most` of the oldest events that are older than so many seconds; answers how many.
-- Those of a transaction that is not begun yet came with a dump from another server.
CREATE OR REPLACE FUNCTION remove_console_events(keep_seconds integer, most integer)
  RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  until timestamptz := svc_now() - make_interval(secs => keep_seconds);
  removed integer;
BEGIN
  WITH oldest AS (
    SELECT xid, id, at FROM console_events ORDER BY xid, id LIMIT most
  ), gone AS (
    DELETE FROM console_events e USING oldest o
    WHERE e.xid = o.xid AND e.id = o.id AND o.at < until RETURNING e.xid, e.id
  ), noted AS (
    UPDATE console_events_removed r SET epoch = console_epoch(), xid = g.xid, id = g.id
    FROM (SELECT xid, id FROM gone ORDER BY xid DESC, id DESC LIMIT 1) g
    WHERE r.epoch <> console_epoch() OR (r.xid, r.id) < (g.xid, g.id)
  )
  SELECT count(*) INTO removed FROM gone;
  DELETE FROM console_events WHERE xid >= pg_snapshot_xmax(pg_current_snapshot());
  RETURN removed;
END $$;

-- prisma/functions/dashboard-keys.sql

-- Makes the row that an operator's browser fills, and ends what it replaces: the key that counts
-- and the operator's sessions. A link that nobody used in time was never a key. Answers
-- {"ok": true, "row": ...}, or {"ok": false, "state": ...} of the key that is in its way, with nothing
-- written.
CREATE OR REPLACE FUNCTION enrol_dashboard_operator(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  k dashboard_keys;
  before dashboard_keys;
  at timestamptz := svc_now();
  replaced boolean := (doc ->> 'replace')::boolean;
  sessions integer := 0;
BEGIN
  UPDATE dashboard_keys SET state = 'ended', ended_at = at
    WHERE operator = doc ->> 'operator' AND state <> 'ended'
      AND (replaced OR secret IS NULL AND code_until <= at)
    RETURNING * INTO before;
  INSERT INTO dashboard_keys (key_id, operator, role, allowlist, replaces, state, code_hash,
    code_until, created_at, created_by)
  VALUES ((doc ->> 'key_id')::uuid, doc ->> 'operator', doc ->> 'role',
    (doc ->> 'allowlist')::boolean, replaced, 'pending', decode(doc ->> 'code_hash', 'hex'),
    at + make_interval(secs => (doc ->> 'code_seconds')::double precision), at, session_user)
  ON CONFLICT (operator) WHERE state <> 'ended' DO NOTHING RETURNING * INTO k;
  IF NOT FOUND THEN
    IF before.key_id IS NOT NULL THEN
      RAISE EXCEPTION 'the operator is enrolled by somebody else at the same time'
        USING ERRCODE = 'serialization_failure';
    END IF;
    RETURN jsonb_build_object('ok', false, 'state', (SELECT state FROM dashboard_keys
      WHERE operator = doc ->> 'operator' AND state <> 'ended'));
  END IF;
  IF replaced THEN sessions := end_sessions_of(k.operator, at); END IF;
  PERFORM write_audit(with_details(doc -> 'audit', jsonb_build_object('operator', k.operator,
    'role', k.role, 'allowlist', k.allowlist, 'replaced_key_id', before.key_id,
    'ended_sessions', sessions)), at);
  RETURN jsonb_build_object('ok', true, 'row', to_jsonb(k) - 'secret' - 'code_hash');
END $$;

-- Ends the open sessions of an operator, of all without one; answers how many.
CREATE OR REPLACE FUNCTION end_sessions_of(who text, at timestamptz) RETURNS integer
  LANGUAGE plpgsql AS $$
DECLARE
  ended integer;
BEGIN
  UPDATE dashboard_sessions SET ended_at = at
    WHERE ended_at IS NULL AND (who IS NULL OR operator = who);
  GET DIAGNOSTICS ended = ROW_COUNT;
  RETURN ended;
END $$;

-- Stores what a browser hands over, once, in time and for a row that is still open; null where it
-- is none. The service's role has the right to these two columns and to no other.
CREATE OR REPLACE FUNCTION fill_dashboard_key(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  k dashboard_keys;
  at timestamptz := svc_now();
BEGIN
  UPDATE dashboard_keys SET secret = decode(doc ->> 'secret', 'hex'), filled_at = at
    WHERE key_id = (doc ->> 'key_id')::uuid AND state = 'pending' AND secret IS NULL
      AND code_until > at
    RETURNING * INTO k;
  IF NOT FOUND THEN RETURN NULL; END IF;
  PERFORM write_audit(with_details(doc -> 'audit', jsonb_build_object('operator', k.operator)), at);
  RETURN to_jsonb(k) - 'secret' - 'code_hash';
END $$;

-- Lets a key count whose secret is the one that the caller has read; null where it is another one,
-- or the key does not wait any more.
CREATE OR REPLACE FUNCTION confirm_dashboard_key(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  k dashboard_keys;
  at timestamptz := svc_now();
BEGIN
  UPDATE dashboard_keys SET state = 'confirmed', confirmed_at = at
    WHERE key_id = (doc ->> 'key_id')::uuid AND state = 'pending'
      AND secret = decode(doc ->> 'secret', 'hex')
    RETURNING * INTO k;
  IF NOT FOUND THEN RETURN NULL; END IF;
  PERFORM write_audit(with_details(doc -> 'audit', jsonb_build_object('operator', k.operator,
    'role', k.role, 'allowlist', k.allowlist)), at);
  RETURN to_jsonb(k) - 'secret' - 'code_hash';
END $$;

-- Ends an operator's key, or the link for one, with all sessions; null where there is none.
CREATE OR REPLACE FUNCTION end_dashboard_key(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  k dashboard_keys;
  at timestamptz := svc_now();
  sessions integer;
BEGIN
  UPDATE dashboard_keys SET state = 'ended', ended_at = at
    WHERE key_id = (doc ->> 'key_id')::uuid AND state <> 'ended' RETURNING * INTO k;
  IF NOT FOUND THEN RETURN NULL; END IF;
  sessions := end_sessions_of(k.operator, at);
  PERFORM write_audit(with_details(doc -> 'audit', jsonb_build_object('operator', k.operator,
    'ended_sessions', sessions)), at);
  RETURN (to_jsonb(k) - 'secret' - 'code_hash') || jsonb_build_object('ended_sessions', sessions);
END $$;

-- Ends the open sessions of an operator, of all without one; answers how many.
CREATE OR REPLACE FUNCTION end_dashboard_sessions(doc jsonb) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  at timestamptz := svc_now();
  ended integer := end_sessions_of(doc ->> 'operator', at);
BEGIN
  PERFORM write_audit(with_details(doc -> 'audit', jsonb_build_object('ended_sessions', ended)), at);
  RETURN ended;
END $$;

-- Writes a session, its row of the audit with it.
CREATE OR REPLACE FUNCTION open_dashboard_session(doc jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  at timestamptz := svc_now();
BEGIN
  INSERT INTO dashboard_sessions (session_id, token_hash, operator, key_mark, created_at,
    last_used_at)
  VALUES ((doc ->> 'session_id')::uuid, decode(doc ->> 'token_hash', 'hex'), doc ->> 'operator',
    doc ->> 'key_mark', at, at);
  PERFORM write_audit(doc -> 'audit', at);
END $$;

-- Ends one session; false where it is over already.
CREATE OR REPLACE FUNCTION close_dashboard_session(doc jsonb) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  at timestamptz := svc_now();
BEGIN
  UPDATE dashboard_sessions SET ended_at = at
    WHERE session_id = (doc ->> 'session_id')::uuid AND ended_at IS NULL;
  IF NOT FOUND THEN RETURN false; END IF;
  PERFORM write_audit(doc -> 'audit', at);
  RETURN true;
END $$;
