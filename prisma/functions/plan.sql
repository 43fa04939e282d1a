-- A compiled plan is stored once: in columns of the movement and of movement_plans, and each node
-- in its own row. The config that a request adds to every node (`input_params.node_config`) is
-- stored only with the movement; see domain/plan/compile.ts. The functions are STABLE, as
-- jsonb_build_object is, so that the planner can inline them: every phase calls some.
CREATE OR REPLACE FUNCTION plan_frame(compiled jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT compiled - ARRAY['nodes', 'intent', 'input_params']
$$;

CREATE OR REPLACE FUNCTION shared_config(input_params jsonb) RETURNS jsonb
  LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN jsonb_typeof(input_params -> 'node_config') = 'object'
    THEN input_params -> 'node_config' ELSE '{}'::jsonb END
$$;

-- Returns a node as it is stored, without the shared config: its own config, and the list of shared
-- keys that it does not use.
CREATE OR REPLACE FUNCTION own_plan(node jsonb, input_params jsonb) RETURNS jsonb
  LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN shared_config(input_params) = '{}'
    THEN (node - 'config') || jsonb_build_object('own_config', node -> 'config', 'left_out',
      '[]'::jsonb)
    ELSE own_plan_beside(node, shared_config(input_params)) END
$$;

CREATE OR REPLACE FUNCTION own_plan_beside(node jsonb, shared jsonb) RETURNS jsonb
  LANGUAGE sql STABLE AS $$
  SELECT (node - 'config') || jsonb_build_object(
    'own_config', (SELECT coalesce(jsonb_object_agg(c.key, c.value), '{}'::jsonb)
      FROM jsonb_each(node -> 'config') AS c WHERE shared -> c.key IS DISTINCT FROM c.value),
    'left_out', (SELECT coalesce(jsonb_agg(k), '[]'::jsonb)
      FROM jsonb_object_keys(shared) AS k WHERE NOT node -> 'config' ? k))
$$;

-- Returns a node as it was compiled, hashed and approved, from its stored form.
CREATE OR REPLACE FUNCTION node_plan(own jsonb, input_params jsonb) RETURNS jsonb
  LANGUAGE sql STABLE AS $$
  SELECT (own - ARRAY['own_config', 'left_out']) || jsonb_build_object('config',
    CASE WHEN own -> 'left_out' = '[]' THEN shared_config(input_params)
      ELSE without_keys(shared_config(input_params), own -> 'left_out') END
      || (own -> 'own_config'))
$$;

CREATE OR REPLACE FUNCTION without_keys(object jsonb, keys jsonb) RETURNS jsonb
  LANGUAGE sql IMMUTABLE AS $$
  SELECT object - ARRAY(SELECT jsonb_array_elements_text(keys))
$$;

CREATE OR REPLACE FUNCTION joined_plan(frame jsonb, intent jsonb, input_params jsonb, nodes jsonb)
  RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT frame || jsonb_build_object('intent', intent, 'input_params', input_params,
    'nodes', nodes)
$$;

CREATE OR REPLACE FUNCTION compiled_plan_of(movement uuid) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT joined_plan(p.plan_frame, m.intent, p.input_params, (
    SELECT jsonb_agg(node_plan(n.own_plan, p.input_params) ORDER BY n.position)
    FROM movement_nodes n WHERE n.movement_id = m.movement_id))
  FROM movements m JOIN movement_plans p USING (movement_id) WHERE m.movement_id = movement
$$;

-- Returns a create's request as it is stored: null replaces the parts that are stored elsewhere.
CREATE OR REPLACE FUNCTION own_request(request jsonb, input_params jsonb, labels jsonb)
  RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT request
    || CASE WHEN request -> 'input_params' = input_params THEN '{"input_params": null}' ELSE '{}'
      END::jsonb
    || CASE WHEN request -> 'labels' = labels THEN '{"labels": null}' ELSE '{}' END::jsonb
$$;

CREATE OR REPLACE FUNCTION joined_request(own jsonb, input_params jsonb, labels jsonb)
  RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT own
    || CASE WHEN own -> 'input_params' = 'null' THEN jsonb_build_object('input_params', input_params)
      ELSE '{}' END
    || CASE WHEN own -> 'labels' = 'null' THEN jsonb_build_object('labels', labels) ELSE '{}' END
$$;

CREATE OR REPLACE FUNCTION draw_terms_of(movement uuid) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT draw_terms FROM movement_plans WHERE movement_id = movement
$$;

CREATE OR REPLACE FUNCTION plan_head(plan jsonb) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object('risk_controls', plan -> 'risk_controls',
    'completion_policy', plan -> 'completion_policy')
$$;
