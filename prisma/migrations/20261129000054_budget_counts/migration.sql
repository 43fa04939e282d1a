-- A movement that has sent something in another asset than its intent's uses nothing of its policy's
-- amount, and still counts in the window: see docs/decisions/0025-what-is-approved.md.
ALTER TABLE budget_reservations DROP CONSTRAINT budget_reservations_amount_check,
  ADD CONSTRAINT budget_reservations_amount_check CHECK (amount >= 0) NOT VALID;
