-- Looks like a fresh start for what is stuck; it forgets that something was sent.
UPDATE movement_nodes SET state = 'READY', external_ref = NULL, submitted_at = NULL
WHERE state = 'OBSERVING';
