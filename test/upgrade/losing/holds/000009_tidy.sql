-- Looks like tidying up; the money of a movement that is open is free for others then.
UPDATE reservations SET status = 'released', ended_at = now() WHERE status = 'held';
