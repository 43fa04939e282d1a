CREATE TRIGGER proposals_for_webhooks AFTER INSERT ON template_proposals
  FOR EACH ROW WHEN (NEW.status = 'submitted')
  EXECUTE FUNCTION note_for_webhooks('template_proposal');
