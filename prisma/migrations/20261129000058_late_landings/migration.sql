-- When an abandoned node is looked for next, and when it was seen to land; both null for every
-- other node. See docs/decisions/0141-an-outcome-that-stays-open.md.
ALTER TABLE movement_nodes ADD COLUMN next_late_look timestamptz,
  ADD COLUMN landed_late_at timestamptz;

UPDATE service_privileges
SET privileges = replace(privileges, ' wait_overdue_at,',
  ' wait_overdue_at, next_late_look, landed_late_at,')
WHERE table_name = 'movement_nodes';
