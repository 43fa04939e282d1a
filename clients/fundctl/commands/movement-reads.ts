/** Looking at movements. */
import { MOVEMENT_STATES } from '../../../domain/states/movement.ts';
import { answerOf, command } from '../../command-line/command.ts';
import { drawGraph } from '../../command-line/graph.ts';
import { choice, flag, many, text } from '../../command-line/options.ts';
import { defined, PAGE, printList } from '../../command-line/paging.ts';
import { printable, printableLines } from '../../command-line/printable.ts';
import { pairs } from '../../command-line/words.ts';
import { MOVEMENT_COLUMNS, movementText, unknownText } from '../movement-view.ts';
import { MOVEMENT_OR_BEGINNING, wholeId } from '../short-ids.ts';

export const list = command({
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
    ...PAGE,
  },
  answer: answerOf('listMovements'),
  run: ({ session, options }) => {
    const { state, strategy, template, asset, needsAttention, ...more } = options;
    const { reference, metadata, createdFrom, createdTo, ...page } = more;
    return printList(session, 'listMovements', {
      query: defined({
        state,
        strategy_id: strategy,
        template_key: template,
        asset,
        external_reference: reference,
        metadata: pairs(metadata, '--metadata'),
        created_from: createdFrom,
        created_to: createdTo,
        needs_attention: needsAttention ? ('true' as const) : undefined,
      }),
      page,
      columns: MOVEMENT_COLUMNS,
    });
  },
});

export const show = command({
  name: 'show',
  about: 'Show a movement with its nodes, and what a person can do',
  args: MOVEMENT_OR_BEGINNING,
  answer: answerOf('getMovement'),
  run: async ({ session, args }) => {
    const params = { movement_id: await wholeId(session, args.movementId) };
    const body = await session.call('getMovement', { params });
    await session.print(body, () => movementText(session, body));
  },
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
      // A terminal is not given what others wrote as it stands.
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
    const params = { movement_id: await wholeId(session, args.movementId) };
    if (options.format === 'mermaid' && !session.json) {
      const query = { format: 'mermaid' } as const;
      session.io.out(printableLines(await client.call('getMovementGraph', { params, query })));
      return;
    }
    const body = await client.call('getMovementGraph', { params });
    await session.print(body, () => session.graph(drawGraph(body)));
  },
});

export const timeline = command({
  name: 'timeline',
  about: 'Tell what happened to a movement, oldest first',
  args: MOVEMENT_OR_BEGINNING,
  answer: answerOf('getMovementTimeline'),
  run: async ({ session, args }) => {
    const params = { movement_id: await wholeId(session, args.movementId) };
    const body = await session.call('getMovementTimeline', { params });
    await session.print(body, async () => {
      const events = await session.table(body, {
        '#': { right: 'sequence' },
        TIME: { when: 'occurred_at' },
        EVENT: 'event_type',
        NODE: 'node_key',
        BY: ({ actor }) => actor.label ?? actor.key_id ?? actor.type,
        WHAT: 'message',
      });
      return events + unknownText(session.view, params.movement_id, body);
    });
  },
});
