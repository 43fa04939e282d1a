-- When an abandoned node is looked for next, when it was seen to land, and when a person said that
-- they have dealt with that; all null for every other node. See
-- docs/decisions/0141-an-outcome-that-stays-open.md.
ALTER TABLE movement_nodes ADD COLUMN next_late_look timestamptz,
  ADD COLUMN landed_late_at timestamptz, ADD COLUMN landing_seen_at timestamptz;

UPDATE service_privileges
SET privileges = replace(privileges, ' wait_overdue_at,',
  ' wait_overdue_at, next_late_look, landed_late_at, landing_seen_at,')
WHERE table_name = 'movement_nodes';
