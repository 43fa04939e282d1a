/** The wire contract of graphs: the plan of a template or of a movement, to be drawn. */
import { z } from 'zod';
import { EDGE_TYPES, GRAPH_SHAPES, NODE_KINDS } from '../../domain/graph/types.ts';
import { MOVEMENT_STATES } from '../../domain/states/movement.ts';
import { NODE_STATES } from '../../domain/states/node.ts';
import { listOf, oneOf, uuid } from '../http/schemas.ts';

export const graphQuery = z.strictObject({
  format: z.enum(['json', 'mermaid']).default('json').meta({
    description:
      '`mermaid` answers `text/plain`: a flowchart to paste into anything that draws Mermaid.',
  }),
});

export const MERMAID_TEXT =
  'With `format=mermaid`: a Mermaid flowchart. All names in it are escaped.';

const nodeFields = { node_key: z.string(), node_kind: z.enum(NODE_KINDS), action_type: z.string() };

const edgeFields = {
  from: z.string(),
  to: z.string(),
  edge_type: z.enum(EDGE_TYPES),
  condition_expr: z.string().nullable(),
  priority: z.int(),
  join_key: z.string().nullable(),
};

const selector = z.object({
  action_type: z.string(),
  provider: z.string().optional(),
  chain_family: z.string().optional(),
});
const signerSelector = z.object({ chain_family: z.string(), profile: z.string().optional() });

const templateNode = z
  .object({
    ...nodeFields,
    executor_selector: selector
      .nullable()
      .meta({ description: "Null selects by the node's own action type." }),
    signer_selector: signerSelector.nullable(),
  })
  .meta({ id: 'TemplateGraphNode' });

const templateEdge = z.object(edgeFields).meta({ id: 'TemplateGraphEdge' });

export const templateGraph = z
  .object({
    template_id: uuid,
    template_key: z.string(),
    version: z.int(),
    graph_shape: oneOf(GRAPH_SHAPES),
    nodes: listOf(templateNode),
    edges: listOf(templateEdge),
  })
  .meta({ id: 'PlanTemplateGraph' });
export type TemplateGraph = z.input<typeof templateGraph>;

const movementNode = z
  .object({
    ...nodeFields,
    state: z.enum(NODE_STATES),
    attempt: z.int(),
    error_code: z.string().nullable(),
    executor_key: z.string(),
    signer_key: z.string().nullable(),
  })
  .meta({ id: 'MovementGraphNode' });

const movementEdge = z
  .object({
    ...edgeFields,
    status: z
      .enum(['pending', 'fired', 'dead'])
      .nullable()
      .meta({
        description:
          '`dead` will not fire as things stand; a retry may change that. Null only after a cancel, for another edge into a node ' +
          'that the cancel may have started.',
      }),
  })
  .meta({ id: 'MovementGraphEdge' });

export const movementGraph = z
  .object({
    movement_id: uuid,
    request_state: z.enum(MOVEMENT_STATES),
    template_key: z.string(),
    template_version: z.int(),
    nodes: listOf(movementNode),
    edges: listOf(movementEdge),
  })
  .meta({ id: 'MovementGraph' });
export type MovementGraph = z.input<typeof movementGraph>;
