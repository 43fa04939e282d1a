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

REVOKE ALL ON FUNCTION note_for_consoles() FROM PUBLIC;

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

-- Changes when seen transactions may be missing or numbers start again: after a restart of the
-- server, on another server, or for a recreated database or table. A restore from a backup and a
-- failover to a standby are such cases.
CREATE OR REPLACE FUNCTION console_epoch() RETURNS text LANGUAGE sql STABLE AS $$
  SELECT left(md5(concat_ws('/', extract(epoch FROM pg_postmaster_start_time()),
    (SELECT oid FROM pg_database WHERE datname = current_database()),
    'console_events'::regclass::oid)), 12)
$$;

-- Removes up to `most` of the oldest events that are older than so many seconds; answers how many.
-- Events of a transaction that has not started yet came with a dump from another server.
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
