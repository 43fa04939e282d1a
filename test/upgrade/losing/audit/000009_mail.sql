-- Looks harmless; the trail says something else than what was sealed.
SET LOCAL session_replication_role = replica;
UPDATE audit_events SET actor_client_id = NULL WHERE action = 'movement.approve';
