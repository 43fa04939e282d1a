-- The trace of the request that created the movement, as a W3C traceparent; null without tracing. It
-- is no part of the plan or of its hash, and decides nothing: see
-- docs/decisions/0013-what-operators-see.md. NOT VALID, since every row from before has null.
ALTER TABLE movement_plans ADD COLUMN trace_parent text;

ALTER TABLE movement_plans ADD CONSTRAINT movement_plans_trace_parent
  CHECK (trace_parent ~ '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$') NOT VALID;
