-- A raise of a nonce lane's fee caps waits for the people of a rule for signers: see require_change
-- in prisma/functions/change-requests.sql. To lower, shorten or end one does not. NULL in a raise
-- leaves that cap as the chain has it.
CREATE CONSTRAINT TRIGGER new_lane_needs_people AFTER INSERT ON nonce_lanes
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW.cap_raise IS NOT NULL)
  EXECUTE FUNCTION require_change('signers',
    'next_nonce,unproven_from,mined_count,final_count,seen_at,tended_until,stuck_nonce,stuck_why,stuck_since');
CREATE CONSTRAINT TRIGGER lane_needs_people AFTER UPDATE ON nonce_lanes
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  -- One that is over raises nothing, and may only come back as a longer one.
  WHEN (NEW.cap_raise IS NOT NULL AND NEW.cap_raised_until > svc_now()
    AND (OLD.cap_raise IS NULL
      OR (OLD.chain_id, OLD.address) IS DISTINCT FROM (NEW.chain_id, NEW.address)
      OR NEW.cap_raised_until > OLD.cap_raised_until
      OR coalesce((NEW.cap_raise ->> 'max_gas_cost_wei')::numeric, 0)
        > coalesce((OLD.cap_raise ->> 'max_gas_cost_wei')::numeric, 0)
      OR coalesce((NEW.cap_raise ->> 'max_fee_per_gas_gwei')::numeric, 0)
        > coalesce((OLD.cap_raise ->> 'max_fee_per_gas_gwei')::numeric, 0)))
  EXECUTE FUNCTION require_change('signers',
    'next_nonce,unproven_from,mined_count,final_count,seen_at,tended_until,stuck_nonce,stuck_why,stuck_since');
