CREATE TRIGGER cutover_changed_noted AFTER UPDATE ON cutover
  FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION note_for_consoles('cutover');
