-- What a reader sees of a movement: what its timeline tells, its version, and why it needs a person.
CREATE TRIGGER movements_made_noted AFTER INSERT ON movements
  FOR EACH ROW EXECUTE FUNCTION note_for_consoles('movement');

CREATE TRIGGER movements_changed_noted AFTER UPDATE OF request_state, version, next_sequence,
  attention_told ON movements
  FOR EACH ROW WHEN (OLD.request_state <> NEW.request_state OR OLD.version <> NEW.version
    OR OLD.next_sequence <> NEW.next_sequence
    OR OLD.attention_told IS DISTINCT FROM NEW.attention_told)
  EXECUTE FUNCTION note_for_consoles('movement');
