CREATE TRIGGER transfers_for_webhooks AFTER INSERT ON capital_transfer_events
  FOR EACH ROW WHEN (NEW.to_state = 'MANUAL_INTERVENTION'
    AND NEW.from_state IS DISTINCT FROM NEW.to_state)
  EXECUTE FUNCTION note_for_webhooks('capital_transfer');
