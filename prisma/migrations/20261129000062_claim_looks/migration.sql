-- A look may also be at the record of a venue that a person names as a node's claim; `question` says
-- which. See docs/decisions/0142-a-claim-is-read.md. NOT VALID, since every row from before has an
-- earlier kind, and none lives longer than a minute.
ALTER TABLE requested_looks ADD COLUMN question jsonb;

ALTER TABLE requested_looks DROP CONSTRAINT requested_looks_kind_check,
  ADD CONSTRAINT requested_looks_kind_check
    CHECK (kind IN ('signer_identity', 'balances', 'claim')) NOT VALID;
