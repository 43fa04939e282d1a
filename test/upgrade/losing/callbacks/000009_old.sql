-- Looks like making room; somebody still has to be told.
DELETE FROM callbacks WHERE status = 'dead_letter';
