/** Commands that read movements. */
import { MOVEMENT_STATES } from '../../../domain/states/movement.ts';
import { answerOf, command } from '../../command-line/command.ts';
import { drawGraph } from '../../command-line/graph.ts';
import { operation, type With } from '../../command-line/operation.ts';
import { choice, flag, many, pairs, text } from '../../command-line/options.ts';
import { listing } from '../../command-line/paging.ts';
import { printable, printableLines } from '../../command-line/printable.ts';
import { approvalsText, approversText } from '../approvals-view.ts';
import { MOVEMENT_COLUMNS, movementText, unknownText } from '../movement-view.ts';
import { MOVEMENT_OR_BEGINNING, wholeId } from '../short-ids.ts';

export const list = listing('listMovements', {
  name: 'list',
  about: 'List movements, newest first',
  examples: [
    'fundctl movements list --needs-attention',
    'fundctl movements list --state EXECUTING',
  ],
  options: {
    state: choice(MOVEMENT_STATES, 'only those in this state'),
    strategy: text('strategy-id', 'only those of this strategy'),
    template: text('template-key', 'only those of this template'),
    asset: text('asset', 'only those that are for it, or can move it'),
    reference: text('reference', 'only those that their creates named so'),
    metadata: many('key=value', 'only those with this pair in their metadata'),
    createdFrom: text('time', 'only those of this time (ISO 8601) or later'),
    createdTo: text('time', 'only those of before this time'),
    needsAttention: flag('only those that need a person'),
  },
  query: (options) => ({
    state: options.state,
    strategy_id: options.strategy,
    template_key: options.template,
    asset: options.asset,
    external_reference: options.reference,
    metadata: pairs(options.metadata, '--metadata'),
    created_from: options.createdFrom,
    created_to: options.createdTo,
    needs_attention: options.needsAttention ? ('true' as const) : undefined,
  }),
  columns: MOVEMENT_COLUMNS,
});

async function ofMovement({ session, args }: With<{ readonly movementId: string }>) {
  return { params: { movement_id: await wholeId(session, args.movementId) } };
}

export const show = operation('getMovement', {
  name: 'show',
  about: 'Show a movement with its nodes, and what a person can do',
  args: MOVEMENT_OR_BEGINNING,
  input: ofMovement,
  show: movementText,
});

export const approvers = operation('listMovementApprovers', {
  name: 'approvers',
  about: 'List who may approve a movement, and what is missing',
  args: MOVEMENT_OR_BEGINNING,
  input: ofMovement,
  show: async ({ view }, { approvals, approvers: members }) =>
    approvals === null
      ? 'No approval rule holds for it: one approval is enough.\n'
      : [
          await approvalsText(view, approvals),
          ...(members.length === 0 ? [] : [view.heading('Members of the groups')]),
          await approversText(view, members),
        ].join(''),
});

export const plan = command({
  name: 'plan',
  about: 'Read what would be approved: the plan, whom it pays, and its hash made here',
  details:
    'With --raw the bytes as they came, of which sha256sum is the hash. With --output json the plan itself.',
  args: MOVEMENT_OR_BEGINNING,
  options: { raw: flag('the bytes as the service answered them, without a line end') },
  answer: answerOf('getMovementPlan'),
  run: async ({ session, args, options }) => {
    const { planText, readPlan } = await import('../plan-view.ts');
    const read = await readPlan(session, await wholeId(session, args.movementId));
    if (options.raw) {
      // The plan's text could control the terminal, so a terminal gets escaped text.
      session.io.out(session.io.terminal.out ? `${printable(read.text)}\n` : read.text);
      return;
    }
    await session.print(read.plan, () => planText(session, session.view, read));
  },
});

export const graph = command({
  name: 'graph',
  about: 'Draw a movement: its nodes, their states, and which edges have fired',
  args: MOVEMENT_OR_BEGINNING,
  options: { format: choice(['text', 'mermaid'], 'how it is drawn: text, or a Mermaid flowchart') },
  answer: answerOf('getMovementGraph'),
  run: async ({ session, args, options }) => {
    const client = await session.client();
    const { params } = await ofMovement({ session, args });
    if (options.format === 'mermaid' && !session.json) {
      const query = { format: 'mermaid' } as const;
      session.io.out(printableLines(await client.call('getMovementGraph', { params, query })));
      return;
    }
    const body = await client.call('getMovementGraph', { params });
    await session.print(body, () => session.graph(drawGraph(body)));
  },
});

export const timeline = operation('getMovementTimeline', {
  name: 'timeline',
  about: 'Tell what happened to a movement, oldest first',
  args: MOVEMENT_OR_BEGINNING,
  input: ofMovement,
  show: async (session, events, { params }) =>
    (await session.table(events, {
      '#': { right: 'sequence' },
      TIME: { when: 'occurred_at' },
      EVENT: 'event_type',
      NODE: 'node_key',
      BY: ({ actor }) => actor.label ?? actor.key_id ?? actor.type,
      WHAT: 'message',
    })) + unknownText(session.view, params.movement_id, events),
});
