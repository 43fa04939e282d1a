-- The lane in which the attempt was sent (send_lane_problem); null for most.
ALTER TABLE node_attempts ADD COLUMN send_lane text;
