-- Since when looks for the send of an abandoned node have failed: they get no answer, or one that
-- proves no landing. Null while they do not. See docs/decisions/0141-an-outcome-that-stays-open.md.
ALTER TABLE movement_nodes ADD COLUMN late_fault_since timestamptz;

UPDATE service_privileges
SET privileges = replace(privileges, ' next_late_look,', ' next_late_look, late_fault_since,')
WHERE table_name = 'movement_nodes';
