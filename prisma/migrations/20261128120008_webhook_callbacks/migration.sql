CREATE TRIGGER new_dead_letters_for_webhooks AFTER INSERT ON callbacks
  FOR EACH ROW WHEN (NEW.status = 'dead_letter' AND NEW.webhook IS NULL)
  EXECUTE FUNCTION note_for_webhooks('dead_letter');

CREATE TRIGGER dead_letters_for_webhooks AFTER UPDATE ON callbacks
  FOR EACH ROW WHEN (NEW.status = 'dead_letter' AND OLD.status <> 'dead_letter'
    AND NEW.webhook IS NULL)
  EXECUTE FUNCTION note_for_webhooks('dead_letter');

-- A message of a webhook is owed no longer once the webhook is gone.
CREATE OR REPLACE TRIGGER callbacks_owed BEFORE DELETE ON callbacks FOR EACH ROW
  WHEN (OLD.status <> 'delivered' AND OLD.webhook IS NULL) EXECUTE FUNCTION refuse_change();
