-- A movement may be approved in the transaction that makes it, so the trigger looks at the end of it.
CREATE CONSTRAINT TRIGGER movements_for_webhooks AFTER INSERT ON movements
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note_for_webhooks('movement');
