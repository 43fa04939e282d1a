-- What people are told of: see note_for_webhooks in prisma/functions/webhooks.sql. A movement may be
-- approved in the transaction that makes it, so the trigger looks at the end of it.
CREATE CONSTRAINT TRIGGER movements_for_webhooks AFTER INSERT ON movements
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note_for_webhooks('movement');

CREATE TRIGGER attention_for_webhooks AFTER INSERT ON timeline_events
  FOR EACH ROW WHEN (NEW.event_type IN ('request_attention', 'request_failed'))
  EXECUTE FUNCTION note_for_webhooks('attention');

CREATE TRIGGER transfers_for_webhooks AFTER INSERT ON capital_transfer_events
  FOR EACH ROW WHEN (NEW.to_state = 'MANUAL_INTERVENTION'
    AND NEW.from_state IS DISTINCT FROM NEW.to_state)
  EXECUTE FUNCTION note_for_webhooks('capital_transfer');

CREATE TRIGGER new_changes_for_webhooks AFTER INSERT ON change_requests
  FOR EACH ROW EXECUTE FUNCTION note_for_webhooks('change_request');

CREATE TRIGGER ended_changes_for_webhooks AFTER UPDATE ON change_requests
  FOR EACH ROW WHEN (OLD.state = 'open' AND NEW.state <> 'open' AND NOT NEW.break_glass)
  EXECUTE FUNCTION note_for_webhooks('ended_change_request');

CREATE TRIGGER proposals_for_webhooks AFTER INSERT ON template_proposals
  FOR EACH ROW WHEN (NEW.status = 'submitted')
  EXECUTE FUNCTION note_for_webhooks('template_proposal');

CREATE TRIGGER new_dead_letters_for_webhooks AFTER INSERT ON callbacks
  FOR EACH ROW WHEN (NEW.status = 'dead_letter' AND NEW.webhook IS NULL)
  EXECUTE FUNCTION note_for_webhooks('dead_letter');

CREATE TRIGGER dead_letters_for_webhooks AFTER UPDATE ON callbacks
  FOR EACH ROW WHEN (NEW.status = 'dead_letter' AND OLD.status <> 'dead_letter'
    AND NEW.webhook IS NULL)
  EXECUTE FUNCTION note_for_webhooks('dead_letter');

CREATE TRIGGER cutover_for_webhooks AFTER UPDATE ON cutover
  FOR EACH ROW WHEN (OLD.mode <> NEW.mode) EXECUTE FUNCTION note_for_webhooks('cutover');
