-- Whether the provider's last answer about a capital transfer shows it as pending. Then a person
-- cannot call it failed. See docs/decisions/0141-an-outcome-that-stays-open.md.
ALTER TABLE capital_transfers ADD COLUMN pending_at_provider boolean NOT NULL DEFAULT false;
