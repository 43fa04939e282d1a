-- Nodes of an approved movement are refused once a statement, not once a row. The function is that
-- of prisma/functions/approval.sql: it changes in one transaction with its trigger, so that no node
-- gets past them in between. Its search path is as in the migrations of functions.
SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true);

CREATE OR REPLACE FUNCTION refuse_later_node() RETURNS trigger LANGUAGE plpgsql
  SET search_path FROM CURRENT AS $$
DECLARE
  approved uuid;
BEGIN
  SELECT movement_id INTO approved FROM added JOIN movement_approvals USING (movement_id) LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'the plan of movement % cannot be changed', approved
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER movement_nodes_none_later AFTER INSERT ON movement_nodes
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION refuse_later_node();
