-- A stuck run may also be one that no look sees, while Temporal answers for others. See
-- docs/decisions/0137-runs-that-cannot-go-on.md. NOT VALID, since every row from before has an
-- earlier cause.
ALTER TABLE stuck_runs DROP CONSTRAINT stuck_runs_cause_check,
  ADD CONSTRAINT stuck_runs_cause_check
    CHECK (cause IN ('nondeterminism', 'task_fails', 'no_worker', 'not_seen')) NOT VALID;
