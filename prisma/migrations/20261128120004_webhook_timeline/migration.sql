CREATE TRIGGER attention_for_webhooks AFTER INSERT ON timeline_events
  FOR EACH ROW WHEN (NEW.event_type IN ('request_attention', 'request_failed'))
  EXECUTE FUNCTION note_for_webhooks('attention');
