-- A fetch writes every row of a venue, most of them as they were.
CREATE TRIGGER balance_snapshots_made_noted AFTER INSERT ON balance_snapshots
  REFERENCING NEW TABLE AS made FOR EACH STATEMENT
  EXECUTE FUNCTION note_for_consoles('new_balances');

CREATE TRIGGER balance_snapshots_changed_noted AFTER UPDATE ON balance_snapshots
  REFERENCING OLD TABLE AS former NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION note_for_consoles('balances');
