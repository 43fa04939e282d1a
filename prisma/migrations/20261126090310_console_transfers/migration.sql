CREATE TRIGGER capital_transfers_made_noted AFTER INSERT ON capital_transfers
  FOR EACH ROW EXECUTE FUNCTION note_for_consoles('capital_transfer');

CREATE TRIGGER capital_transfers_changed_noted AFTER UPDATE OF request_state, version,
  next_sequence ON capital_transfers
  FOR EACH ROW WHEN (OLD.request_state <> NEW.request_state OR OLD.version <> NEW.version
    OR OLD.next_sequence <> NEW.next_sequence)
  EXECUTE FUNCTION note_for_consoles('capital_transfer');
