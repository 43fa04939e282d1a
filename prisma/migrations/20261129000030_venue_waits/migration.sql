-- From when a person must know that a READY node waits for its venue; null while it does not wait.
-- Set with the first such answer of the executor: see docs/decisions/0130-suspended-is-not-failed.md.
ALTER TABLE movement_nodes ADD COLUMN wait_overdue_at timestamptz;

UPDATE service_privileges
SET privileges = replace(privileges, ' frozen_since,', ' frozen_since, wait_overdue_at,')
WHERE table_name = 'movement_nodes';
