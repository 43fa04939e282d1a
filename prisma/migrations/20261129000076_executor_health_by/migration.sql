-- Which process made the health check whose answer stands, and until when a worse answer of another
-- process does not replace it: see docs/decisions/0103-several-processes.md.
ALTER TABLE executors ADD COLUMN health_by text, ADD COLUMN health_stands_until timestamptz;

-- A change request leaves both out, as it does the rest of a health check.
-- allowed: drop-in-use, because the next statement of this transaction makes it again
DROP TRIGGER executor_needs_people ON executors;
CREATE CONSTRAINT TRIGGER executor_needs_people AFTER UPDATE ON executors
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW.status = 'active' AND OLD.status <> 'active')
  EXECUTE FUNCTION require_change('executors',
    'health_state,health_checked_at,health_by,health_stands_until');
