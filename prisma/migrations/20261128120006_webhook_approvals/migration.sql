CREATE TRIGGER approvals_for_webhooks AFTER INSERT ON approval_decisions
  FOR EACH ROW EXECUTE FUNCTION note_for_webhooks('approval');

CREATE TRIGGER new_changes_for_webhooks AFTER INSERT ON change_requests
  FOR EACH ROW WHEN (NOT NEW.break_glass) EXECUTE FUNCTION note_for_webhooks('change_request');

CREATE TRIGGER ended_changes_for_webhooks AFTER UPDATE ON change_requests
  FOR EACH ROW WHEN (OLD.state = 'open' AND NEW.state <> 'open')
  EXECUTE FUNCTION note_for_webhooks('ended_change_request');
