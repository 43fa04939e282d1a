CREATE TRIGGER template_proposals_made_noted AFTER INSERT ON template_proposals
  FOR EACH ROW EXECUTE FUNCTION note_for_consoles('proposal');

CREATE TRIGGER template_proposals_changed_noted AFTER UPDATE OF status ON template_proposals
  FOR EACH ROW WHEN (OLD.status <> NEW.status) EXECUTE FUNCTION note_for_consoles('proposal');
