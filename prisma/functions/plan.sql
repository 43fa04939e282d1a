-- A compiled plan is stored once: what stands in columns of the movement, and each node beside its
-- row. What a request adds to the config of every node (`input_params.node_config`) is kept with
-- the movement alone; see domain/plan/compile.ts.
CREATE OR REPLACE FUNCTION plan_frame(compiled jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT compiled - ARRAY['nodes', 'intent', 'input_params']
$$;

CREATE OR REPLACE FUNCTION shared_config(input_params jsonb) RETURNS jsonb
  LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN jsonb_typeof(input_params -> 'node_config') = 'object'
    THEN input_params -> 'node_config' ELSE '{}'::jsonb END
$$;

-- A node without what all share: its own config, and the shared keys that it does not take.
CREATE OR REPLACE FUNCTION own_plan(node jsonb, input_params jsonb) RETURNS jsonb
  LANGUAGE sql IMMUTABLE AS $$
  SELECT (node - 'config') || jsonb_build_object(
    'own_config', (SELECT coalesce(jsonb_object_agg(c.key, c.value), '{}'::jsonb)
      FROM jsonb_each(node -> 'config') AS c
                   WHERE shared_config(input_params) -> c.key IS DISTINCT FROM c.value),
    'left_out', (SELECT coalesce(jsonb_agg(k), '[]'::jsonb)
      FROM jsonb_object_keys(shared_config(input_params)) AS k
                 WHERE NOT node -> 'config' ? k))
$$;

-- The node as it was compiled, hashed and approved.
CREATE OR REPLACE FUNCTION node_plan(own jsonb, input_params jsonb) RETURNS jsonb
  LANGUAGE sql IMMUTABLE AS $$
  SELECT (own - ARRAY['own_config', 'left_out']) || jsonb_build_object('config',
    (shared_config(input_params) - ARRAY(SELECT jsonb_array_elements_text(own -> 'left_out')))
      || (own -> 'own_config'))
$$;

CREATE OR REPLACE FUNCTION compiled_plan_of(m movements) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT m.plan_frame || jsonb_build_object('intent', m.intent, 'input_params', m.input_params,
    'nodes', (
    SELECT jsonb_agg(node_plan(n.own_plan, m.input_params) ORDER BY n.position)
      FROM movement_nodes n
    WHERE n.movement_id = m.movement_id))
$$;

CREATE OR REPLACE FUNCTION plan_head(plan jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_build_object('risk_controls', plan -> 'risk_controls',
    'completion_policy', plan -> 'completion_policy')
$$;

CREATE OR REPLACE FUNCTION is_on_cancel_target(plan jsonb, key text) RETURNS boolean
  LANGUAGE sql IMMUTABLE AS $$
  SELECT EXISTS (SELECT 1 FROM jsonb_array_elements(plan -> 'edges') AS e WHERE e ->> 'to' = key
    AND e ->> 'edge_type' = 'on_cancel')
$$;

CREATE OR REPLACE FUNCTION is_conditional(plan jsonb, key text) RETURNS boolean
  LANGUAGE sql IMMUTABLE AS $$
  SELECT EXISTS (SELECT 1 FROM jsonb_array_elements(plan -> 'edges') AS e WHERE e ->> 'from' = key
    AND e ->> 'condition_expr' IS NOT NULL)
$$;
