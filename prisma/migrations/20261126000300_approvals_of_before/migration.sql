-- Movements that were approved before approvals had rows get theirs, marked as such; a new database
-- has none.

ALTER TABLE movement_approvals DROP CONSTRAINT movement_approvals_approved_by_check;

-- squawk-ignore constraint-missing-not-valid
ALTER TABLE movement_approvals ADD CONSTRAINT movement_approvals_approved_by_check
  CHECK (approved_by IN ('key', 'auth_off', 'policy', 'template_cap', 'migration'));

INSERT INTO movement_approvals (movement_id, plan_hash, approved_by, name, at)
SELECT m.movement_id, p.compiled_plan_hash, 'migration', coalesce(m.approved_by,
    CASE WHEN m.auto_approve_result ->> 'outcome' = 'approved'
      THEN coalesce(m.auto_approve_result ->> 'policy_id', m.template_key) END, 'auth_off'),
  coalesce(m.approved_at, m.updated_at)
FROM movements m JOIN movement_plans p USING (movement_id)
WHERE m.approval_status = 'approved'
ON CONFLICT (movement_id) DO NOTHING;
