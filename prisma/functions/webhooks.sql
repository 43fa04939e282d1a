-- Queues a message to one webhook and returns its id. `facts` name what to look at and hold no
-- amount, address or secret, since the message leaves the service. `path`: the page of the console.
-- The relay checks the host, as for a callback.
CREATE OR REPLACE FUNCTION queue_webhook(w webhooks, kind text, facts jsonb, path text,
  at timestamptz) RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
  id uuid := svc_new_id(at);
BEGIN
  INSERT INTO callbacks (event_id, webhook, event_type, sequence, url, payload, nonce, status,
    next_attempt_at, created_at, updated_at)
  VALUES (id, w.name, kind, 0, w.url,
    jsonb_build_object('type', kind,
      'timestamp', wire_time(at),
      'data', facts || jsonb_build_object('link', w.console_origin || '/console' || path))::text,
    id::text, 'pending', at, at, at);
  RETURN id;
END $$;

-- Queues a message to every webhook that takes its type; see queue_webhook.
CREATE OR REPLACE FUNCTION tell_webhooks(kind text, facts jsonb, path text, at timestamptz)
  RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM queue_webhook(w, kind, facts, path, at)
  FROM webhooks w WHERE w.event_types IS NULL OR kind = ANY (w.event_types);
END $$;

-- Returns a key as a message shows it: whoever named it may have written a sentence for the chat
-- where the message ends.
CREATE OR REPLACE FUNCTION plain_key(key text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT left(regexp_replace(key, '[^A-Za-z0-9._/-]', '?', 'g'), 128)
$$;

-- Tells the webhooks of one change that a person should know of; the types are those of
-- domain/callbacks/webhook.ts. Runs with the owner's rights: the service's role does not read
-- webhooks, whose addresses may hold a token.
CREATE OR REPLACE FUNCTION note_for_webhooks() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path FROM CURRENT AS $$
DECLARE
  at timestamptz;
  m movements;
BEGIN
  -- Any role may put this trigger on a temporary table of its own.
  IF TG_TABLE_SCHEMA <> current_schema() THEN
    RAISE EXCEPTION 'only a change of a table of this schema makes messages of webhooks'
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  IF NOT EXISTS (SELECT FROM webhooks) THEN RETURN NULL; END IF;
  at := svc_now();
  CASE TG_ARGV[0]
    WHEN 'movement' THEN
      SELECT * INTO m FROM movements WHERE movement_id = NEW.movement_id;
      -- An operator who resets allowances has approved that: the approval follows at once.
      IF m.request_state = 'PENDING_APPROVAL' AND m.template_key <> 'system/reset-allowances' THEN
        PERFORM tell_webhooks('movement.approval_needed', jsonb_build_object(
          'movement_id', m.movement_id, 'template_key', plain_key(m.template_key),
          'expires_at', wire_time(m.expires_at)),
          '/movements/' || m.movement_id, at);
      END IF;
    WHEN 'attention' THEN
      SELECT * INTO m FROM movements WHERE movement_id = NEW.movement_id;
      PERFORM tell_webhooks('movement.attention', jsonb_build_object(
        'movement_id', m.movement_id, 'template_key', plain_key(m.template_key),
        'node_key', plain_key(coalesce(NEW.node_key, (SELECT n.node_key FROM movement_nodes n
          WHERE n.movement_id = NEW.movement_id AND CASE NEW.to_state
            WHEN 'WAITING_MANUAL_ACTION' THEN n.state = 'READY' AND n.node_kind = 'manual_gate'
            WHEN 'MANUAL_INTERVENTION' THEN n.state = 'UNKNOWN' END
          ORDER BY n.updated_at DESC, n.position LIMIT 1))),
        -- The reason that the state implies: ATTENTION_OF_STATE of domain/attention-reasons.ts.
        'reason', coalesce(NEW.data ->> 'reason', CASE NEW.to_state WHEN 'FAILED' THEN 'failed'
          WHEN 'WAITING_MANUAL_ACTION' THEN 'manual_gate' ELSE 'unknown_outcome' END)),
        '/movements/' || m.movement_id, at);
    WHEN 'capital_transfer' THEN
      PERFORM tell_webhooks('capital_transfer.attention',
        jsonb_build_object('transfer_id', NEW.transfer_id), '/transfers/' || NEW.transfer_id, at);
    WHEN 'approval' THEN
      PERFORM tell_webhooks('approval.recorded', jsonb_build_object('person', NEW.person,
          'decision', NEW.decision) || CASE
          WHEN EXISTS (SELECT FROM movements o WHERE o.movement_id = NEW.subject_id)
          THEN jsonb_build_object('movement_id', NEW.subject_id, 'change_request_id', NULL)
          ELSE jsonb_build_object('movement_id', NULL, 'change_request_id', NEW.subject_id) END,
        CASE WHEN EXISTS (SELECT FROM movements o WHERE o.movement_id = NEW.subject_id)
          THEN '/movements/' ELSE '/changes/' END || NEW.subject_id, at);
    WHEN 'change_request' THEN
      PERFORM tell_webhooks('change_request.approval_needed',
        jsonb_build_object('change_request_id', NEW.request_id, 'kind', NEW.kinds[1],
          'author', NEW.author -> 'client_id'), '/changes/' || NEW.request_id, at);
    WHEN 'ended_change_request' THEN
      -- Of what the owner makes alone it counts that it was made, not that it was wanted.
      PERFORM tell_webhooks(CASE WHEN NEW.break_glass AND NEW.state = 'applied'
          THEN 'change_request.break_glass' ELSE 'change_request.ended' END,
        jsonb_build_object('change_request_id', NEW.request_id, 'kind', NEW.kinds[1],
          'author', NEW.author -> 'client_id', 'state', NEW.state), '/changes/' || NEW.request_id,
        at);
    WHEN 'template_proposal' THEN
      PERFORM tell_webhooks('template_proposal.decision_needed',
        jsonb_build_object('proposal_id', NEW.proposal_id, 'authority_key', NEW.authority_key,
          'expires_at', wire_time(NEW.expires_at)), '/proposals/' || NEW.proposal_id, at);
    WHEN 'dead_letter' THEN
      PERFORM tell_webhooks('callback.dead_letter',
        jsonb_build_object('event_id', NEW.event_id, 'event_type', NEW.event_type,
          'movement_id', NEW.movement_id, 'transfer_id', NEW.transfer_id,
          'last_error', NEW.last_error), '/callbacks?status=dead_letter', at);
    WHEN 'cutover' THEN
      PERFORM tell_webhooks('cutover.changed',
        jsonb_build_object('mode', NEW.mode, 'previous_mode', OLD.mode), '/', at);
  END CASE;
  RETURN NULL;
END $$;

REVOKE ALL ON FUNCTION note_for_webhooks() FROM PUBLIC;

-- Creates a webhook, or replaces one. `doc`: {"name", "url", "event_types", "console_origin",
-- "audit"}. Messages that are queued already keep their address.
CREATE OR REPLACE FUNCTION set_webhook(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  w webhooks := jsonb_populate_record(NULL::webhooks, doc);
  at timestamptz := svc_now();
BEGIN
  w.created_at := at;
  w.updated_at := at;
  INSERT INTO webhooks SELECT w.*
  ON CONFLICT (name) DO UPDATE SET url = w.url, event_types = w.event_types,
    console_origin = w.console_origin, updated_at = at
  RETURNING * INTO w;
  PERFORM write_audit(doc -> 'audit', at);
  RETURN to_jsonb(w);
END $$;

-- Removes a webhook with what it has not received; false for an unknown name. `doc`: {"name",
-- "audit"}.
CREATE OR REPLACE FUNCTION remove_webhook(doc jsonb) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM webhooks WHERE name = doc ->> 'name';
  IF NOT FOUND THEN RETURN false; END IF;
  DELETE FROM callbacks WHERE webhook = doc ->> 'name' AND status <> 'delivered';
  PERFORM write_audit(doc -> 'audit', svc_now());
  RETURN true;
END $$;

-- Queues the message `webhook.test` to one webhook, whatever types it takes; NULL for an unknown
-- name. `doc`: {"name", "audit"}.
CREATE OR REPLACE FUNCTION test_webhook(doc jsonb) RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
  w webhooks;
  at timestamptz := svc_now();
BEGIN
  SELECT * INTO w FROM webhooks WHERE name = doc ->> 'name';
  IF NOT FOUND THEN RETURN NULL; END IF;
  PERFORM write_audit(doc -> 'audit', at);
  RETURN queue_webhook(w, 'webhook.test', '{}', '/', at);
END $$;
