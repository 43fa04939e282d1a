-- Which load of which run was the last one: a load that comes again or late takes no command.
ALTER TABLE movements
  ADD COLUMN run_started_at timestamptz(6),
  ADD COLUMN run_loads integer NOT NULL DEFAULT 0;

UPDATE service_privileges SET privileges = replace(privileges, 'run_id,', 'run_id, run_started_at, run_loads,')
WHERE table_name = 'movements';
