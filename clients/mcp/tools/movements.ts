/** `list_movements` and `get_movement`: what became of what was proposed. */
import { z } from 'zod';
import { MOVEMENT_STATES } from '../../agent/states.ts';
import {
  assetIn,
  count,
  cut,
  inText,
  maybeWord,
  named,
  nameIn,
  partOf,
  quote,
  quoted,
  untrusted,
  uuidIn,
  word,
} from '../fields.ts';
import { movement as movementAnswer, movementDetail, read, type Movement } from '../read.ts';
import { defineTool, READ_ONLY } from '../tool.ts';

const OUTFLOWS = 10;
const summaryFields = {
  movement_id: word,
  template_key: word,
  template_version: z.int(),
  request_state: word,
  approval_status: word,
  reservation_status: word,
  asset: maybeWord,
  amount: maybeWord,
  outflow: z
    .array(z.strictObject({ asset: word, amount: maybeWord }))
    .max(OUTFLOWS)
    .describe('What it can move at most, by asset; null where nothing bounds it.'),
  current_frontier: z.array(word).max(OUTFLOWS).describe('Nodes that run, or can.'),
  error_code: maybeWord,
  attention_reason: maybeWord.describe('Why it waits for a person.'),
  created_at: word,
  updated_at: word,
  expires_at: word,
};

function shown(row: Movement) {
  return {
    movement_id: named(row.movement_id) ?? '',
    template_key: named(row.template_key) ?? '',
    template_version: row.template_version,
    request_state: named(row.request_state) ?? '',
    approval_status: named(row.approval_status) ?? '',
    reservation_status: named(row.reservation_status) ?? '',
    asset: textIn(row.intent, 'asset'),
    amount: textIn(row.intent, 'amount'),
    outflow: row.outflow
      .slice(0, OUTFLOWS)
      .map(({ asset, amount }) => ({ asset: named(asset) ?? '', amount: named(amount) })),
    current_frontier: row.current_frontier.slice(0, OUTFLOWS).map((key) => named(key) ?? ''),
    error_code: named(row.error_code),
    attention_reason: named(row.attention_reason),
    created_at: named(row.created_at) ?? '',
    updated_at: named(row.updated_at) ?? '',
    expires_at: named(row.expires_at) ?? '',
  };
}

function textIn(record: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = record[name];
  return typeof value === 'string' ? named(value) : null;
}

const PAGE = 25;
const timeIn = z.string().min(1).max(64);

export const listMovements = defineTool({
  name: 'list_movements',
  title: "List the namespace's movements",
  description:
    "Movements of this agent's own namespace, newest first, page by page. The tool starts none, and approves none.",
  effects: READ_ONLY,
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
      .array(z.strictObject({ ...summaryFields, untrusted: untrusted({ strategy_id: quote }) }))
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
        movements: rows.map((row) => ({
          ...shown(row),
          untrusted: { strategy_id: quoted(row.strategy_id) },
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
const nodeView = z.strictObject({
  node_key: word,
  node_kind: word,
  action_type: word,
  state: word,
  attempt: count,
  asset: word,
  amount: maybeWord,
  destination: maybeWord,
  error_code: maybeWord,
  untrusted: untrusted({ external_ref: quote, error_message: quote }),
});

export const getMovement = defineTool({
  name: 'get_movement',
  title: 'Read one movement',
  description:
    "One movement of this agent's namespace: its state, what each node did, and what it waits for. A long plan comes in parts.",
  effects: READ_ONLY,
  input: z.strictObject({
    movement_id: uuidIn,
    node_limit: z.int().min(1).max(NODES).default(15),
    node_offset: z.int().min(0).max(1_000).default(0),
  }),
  output: z.strictObject({
    ...summaryFields,
    compiled_plan_hash: word.describe('What an operator approves.'),
    waits_for: z
      .strictObject({ reason: word, node_key: maybeWord, next_look_at: maybeWord })
      .nullable(),
    nodes: z.array(nodeView).max(NODES),
    total_nodes: count,
    cut,
    untrusted: untrusted({ strategy_id: quote, error_message: quote, last_answer: quote }),
  }),
  run: async ({ movement_id, node_limit, node_offset }, { api, signal }) => {
    const found = read(
      movementDetail,
      await api.call('getMovement', { params: { movement_id }, signal }),
    );
    const { nodes, attention } = found;
    const part = partOf(nodes, { offset: node_offset, limit: node_limit }, 'get_movement');
    return {
      data: {
        ...shown(found),
        compiled_plan_hash: named(found.compiled_plan_hash) ?? '',
        waits_for: attention === null ? null : waitOf(attention),
        nodes: part.rows.map(nodeOf),
        total_nodes: nodes.length,
        cut: part.cut && { ...part.cut, go_on: part.cut.go_on.replace('offset', 'node_offset') },
        untrusted: {
          strategy_id: quoted(found.strategy_id),
          error_message: quoted(found.error_message),
          last_answer: quoted(attention?.last_answer),
        },
      },
      text: [
        line(found),
        ...part.rows.map((node) => `${inText(node.node_key)}: ${inText(node.state)}`),
      ].join('\n'),
    };
  },
});

type Detail = z.infer<typeof movementDetail>;

function waitOf({ reason, node_key, next_look_at }: NonNullable<Detail['attention']>) {
  return {
    reason: named(reason) ?? '',
    node_key: named(node_key),
    next_look_at: named(next_look_at),
  };
}

function nodeOf(node: Detail['nodes'][number]): z.input<typeof nodeView> {
  return {
    node_key: named(node.node_key) ?? '',
    node_kind: named(node.node_kind) ?? '',
    action_type: named(node.action_type) ?? '',
    state: named(node.state) ?? '',
    attempt: node.attempt,
    asset: named(node.asset) ?? '',
    amount: named(node.amount),
    destination: named(node.destination),
    error_code: named(node.error_code),
    untrusted: {
      external_ref: quoted(node.external_ref),
      error_message: quoted(node.error_message),
    },
  };
}

function line(row: Movement): string {
  const { movement_id, request_state, attention_reason } = row;
  const what = `${inText(textIn(row.intent, 'amount'))} ${inText(textIn(row.intent, 'asset'))}`;
  const waits = attention_reason === null ? '' : `, waits: ${inText(attention_reason)}`;
  return `${inText(movement_id)}: ${inText(request_state)}, ${what}${waits}`;
}
