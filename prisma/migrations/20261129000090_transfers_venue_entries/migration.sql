-- Which accounts the venue keys of a capital transfer meant when it was created: the venues file may
-- call other accounts by them later. Null for transfers of before, and where the provider names none.
-- See docs/decisions/0151-which-account-a-key-means.md.
ALTER TABLE capital_transfers ADD COLUMN venue_entries text;
