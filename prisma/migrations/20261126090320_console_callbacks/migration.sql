CREATE TRIGGER callbacks_made_noted AFTER INSERT ON callbacks
  FOR EACH ROW EXECUTE FUNCTION note_for_consoles('callback');

CREATE TRIGGER callbacks_changed_noted AFTER UPDATE OF status, attempts ON callbacks
  FOR EACH ROW WHEN (OLD.status <> NEW.status OR OLD.attempts <> NEW.attempts)
  EXECUTE FUNCTION note_for_consoles('callback');
