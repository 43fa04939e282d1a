-- A pool's counter adds up amounts that may each have all digits of the contract, so it has room for any sum of them:
-- a hold that is too large is refused for the balance that it exceeds, and pools without a balance have no such end.
ALTER TABLE reservation_pools ALTER COLUMN held TYPE numeric;
