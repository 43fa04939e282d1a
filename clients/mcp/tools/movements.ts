/** `list_movements` and `get_movement`: read the movements of the agent's namespace. */
import { z } from 'zod';
import { MOVEMENT_STATES } from '../../agent/states.ts';
import {
  assetIn,
  count,
  cut,
  firstOf,
  inText,
  maybeWord,
  nameIn,
  partOf,
  quote,
  untrusted,
  uuidIn,
  word,
} from '../fields.ts';
import { read } from '../read.ts';
import { defineTool, READ_ONLY } from '../tool.ts';

const OUTFLOWS = 10;
const SUMMARY = {
  movement_id: word,
  template_key: word,
  template_version: z.int(),
  request_state: word,
  approval_status: word,
  reservation_status: word,
  outflow: firstOf(z.object({ asset: word, amount: maybeWord }), OUTFLOWS).describe(
    'What it can move at most, by asset; null where nothing bounds it.',
  ),
  current_frontier: firstOf(word, OUTFLOWS).describe('Nodes that run, or can.'),
  error_code: maybeWord,
  attention_reason: maybeWord.describe('Why it waits for a person.'),
  created_at: word,
  updated_at: word,
  expires_at: word,
};
const INTENT = { asset: maybeWord, amount: maybeWord };
/** A text field of an intent; null when the field is no text. */
const said = maybeWord.catch(null);
const movementAnswer = z.object({
  ...SUMMARY,
  intent: z.object({ asset: said, amount: said }),
  strategy_id: quote,
});
type Movement = z.infer<typeof movementAnswer>;

const PAGE = 25;
const timeIn = z.string().min(1).max(64);

export const listMovements = defineTool({
  name: 'list_movements',
  title: "List the namespace's movements",
  description:
    "Movements of this agent's own namespace, newest first, page by page. The tool starts none, and approves none.",
  effects: READ_ONLY,
  power: 'reads',
  input: z.strictObject({
    state: z.enum(MOVEMENT_STATES).optional(),
    asset: assetIn.optional(),
    template_key: z.string().min(1).max(256).optional(),
    strategy_id: nameIn.optional(),
    external_reference: nameIn.optional().describe('As their creates named them.'),
    metadata: z
      .record(z.string().regex(/^[a-z0-9_.-]{1,64}$/), z.string().max(256))
      .optional()
      .describe('Only those with all of these pairs in their metadata.'),
    created_from: timeIn.optional().describe('Of this time (ISO 8601) or later.'),
    created_to: timeIn.optional().describe('Of before this time.'),
    needs_attention: z.literal(true).optional().describe('Only those that wait for a person.'),
    limit: z.int().min(1).max(PAGE).default(10),
    cursor: z.string().min(1).max(512).optional().describe('`next_cursor` of the page before.'),
  }),
  output: z.strictObject({
    movements: z
      .array(
        z.strictObject({ ...SUMMARY, ...INTENT, untrusted: untrusted({ strategy_id: quote }) }),
      )
      .max(PAGE),
    next_cursor: z.string().max(512).nullable(),
    cut,
  }),
  run: async ({ needs_attention, ...wanted }, { api, signal }) => {
    const query = { ...wanted, needs_attention: needs_attention === true ? 'true' : undefined };
    const page = read(
      z.object({ movements: z.array(movementAnswer), next_cursor: z.string().nullable() }),
      await api.call('listMovements', { query, signal }),
    );
    const rows = page.movements.slice(0, PAGE);
    return {
      data: {
        movements: rows.map(({ intent, strategy_id, ...row }) => ({
          ...row,
          ...intent,
          untrusted: { strategy_id },
        })),
        next_cursor: page.next_cursor,
        cut:
          page.next_cursor === null
            ? null
            : {
                shown: rows.length,
                total: null,
                go_on: 'Call list_movements again with cursor set to next_cursor.',
              },
      },
      text: [`${String(rows.length)} movements${page.next_cursor === null ? '' : ', and more'}.`]
        .concat(rows.map(line))
        .join('\n'),
    };
  },
});

const NODES = 25;
const NODE = {
  node_key: word,
  node_kind: word,
  action_type: word,
  state: word,
  attempt: count,
  asset: word,
  amount: maybeWord,
  destination: maybeWord,
  error_code: maybeWord,
};
const BY_OTHERS = { external_ref: quote, error_message: quote };
const WAIT = { reason: word, node_key: maybeWord, next_look_at: maybeWord };
const detailAnswer = movementAnswer.extend({
  compiled_plan_hash: word,
  error_message: quote,
  nodes: z.array(z.object({ ...NODE, ...BY_OTHERS })),
  attention: z.object({ ...WAIT, last_answer: quote }).nullable(),
});

export const getMovement = defineTool({
  name: 'get_movement',
  title: 'Read one movement',
  description:
    "One movement of this agent's namespace: its state, what each node did, and what it waits for. A long plan comes in parts.",
  effects: READ_ONLY,
  power: 'reads',
  input: z.strictObject({
    movement_id: uuidIn,
    node_limit: z.int().min(1).max(NODES).default(15),
    node_offset: z.int().min(0).max(1_000).default(0),
  }),
  output: z.strictObject({
    ...SUMMARY,
    ...INTENT,
    compiled_plan_hash: word.describe('What an operator approves.'),
    waits_for: z.strictObject(WAIT).nullable(),
    nodes: z.array(z.strictObject({ ...NODE, untrusted: untrusted(BY_OTHERS) })).max(NODES),
    total_nodes: count,
    cut,
    untrusted: untrusted({ strategy_id: quote, error_message: quote, last_answer: quote }),
  }),
  run: async ({ movement_id, node_limit, node_offset }, { api, signal }) => {
    const found = read(
      detailAnswer,
      await api.call('getMovement', { params: { movement_id }, signal }),
    );
    const { nodes, attention, intent, strategy_id, error_message, ...movement } = found;
    const part = partOf(nodes, { offset: node_offset, limit: node_limit }, 'get_movement');
    return {
      data: {
        ...movement,
        ...intent,
        waits_for: attention === null ? null : waitOf(attention),
        nodes: part.rows.map(({ external_ref, error_message: message, ...node }) => ({
          ...node,
          untrusted: { external_ref, error_message: message },
        })),
        total_nodes: nodes.length,
        cut: part.cut && { ...part.cut, go_on: part.cut.go_on.replace('offset', 'node_offset') },
        untrusted: { strategy_id, error_message, last_answer: attention?.last_answer ?? null },
      },
      text: [
        line(found),
        ...part.rows.map((node) => `${inText(node.node_key)}: ${inText(node.state)}`),
      ].join('\n'),
    };
  },
});

function waitOf({ reason, node_key, next_look_at }: z.infer<z.ZodObject<typeof WAIT>>) {
  return { reason, node_key, next_look_at };
}

function line({ movement_id, request_state, attention_reason, intent }: Movement): string {
  const what = `${inText(intent.amount)} ${inText(intent.asset)}`;
  const waits = attention_reason === null ? '' : `, waits: ${inText(attention_reason)}`;
  return `${inText(movement_id)}: ${inText(request_state)}, ${what}${waits}`;
}
