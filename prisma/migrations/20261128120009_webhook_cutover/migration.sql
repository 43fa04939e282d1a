CREATE TRIGGER cutover_for_webhooks AFTER UPDATE ON cutover
  FOR EACH ROW WHEN (OLD.mode <> NEW.mode) EXECUTE FUNCTION note_for_webhooks('cutover');
