-- Writes what open consoles must read again; see docs/decisions/0114-the-stream.md. Runs with the
-- owner's rights: the service's role may not write or remove events itself.
CREATE OR REPLACE FUNCTION note_for_consoles() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path FROM CURRENT AS $$
BEGIN
  -- Any role may put this trigger on a temporary table of its own.
  IF TG_TABLE_SCHEMA <> current_schema() THEN
    RAISE EXCEPTION 'only a change of a table of this schema may write console events'
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
    WHEN 'change_request' THEN
      INSERT INTO console_events (kind, subject) VALUES ('change_request', NEW.request_id);
    WHEN 'cutover' THEN INSERT INTO console_events (kind, subject) VALUES ('cutover', 'cutover');
    -- One event for each venue whose balances a statement changed; a fetch that finds the same
    -- balances writes none.
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

REVOKE ALL ON FUNCTION note_for_consoles() FROM PUBLIC;

-- Returns what a console reads about the subject of an event, in its present state. The state is
-- read with the event and not stored in it, since transactions that change one row may be numbered
-- in another order. It has no amounts and no addresses: it only says what to read again.
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
    WHEN 'change_request' THEN (SELECT jsonb_build_object('change_request_id', r.request_id,
        'state', r.state)
      FROM change_requests r WHERE r.request_id = console_event_of.subject::uuid)
    WHEN 'cutover' THEN (SELECT jsonb_build_object('mode', c.mode) FROM cutover c)
    WHEN 'balance' THEN jsonb_build_object('venue_key', subject)
    END;
END $$;

-- Returns a text that changes when transactions that were read may be missing, or when numbers
-- start again: after a restart of the server, on another server, or for a recreated database or
-- table. So it changes after a restore from a backup and after a failover to a standby.
CREATE OR REPLACE FUNCTION console_epoch() RETURNS text LANGUAGE sql STABLE AS $$
  SELECT left(md5(concat_ws('/', extract(epoch FROM pg_postmaster_start_time()),
    (SELECT oid FROM pg_database WHERE datname = current_database()),
    'console_events'::regclass::oid)), 12)
$$;

-- Removes up to `most` of the oldest events, if they are older than `keep_seconds`; returns how
-- many. Also removes events of transactions that this server has not started yet: a dump from
-- another server brought them.
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

REVOKE ALL ON FUNCTION remove_console_events(integer, integer) FROM PUBLIC;
