/** `fundctl cutover`, `callbacks` and `keys`. */
import { CUTOVER_MODES } from '../../../domain/cutover.ts';
import { answerOf, command, type Group } from '../../command-line/command.ts';
import { choice, required, text } from '../../command-line/options.ts';
import { defined, PAGE, printList } from '../../command-line/paging.ts';
import type { Session } from '../../command-line/session.ts';
import type { Column } from '../../command-line/table.ts';
import { state } from '../../command-line/view.ts';
import { age, fieldOf, when } from '../../command-line/words.ts';
import type { ResultOf, RowOf } from '../../http/operations.ts';
import { REASON, YES } from '../shared.ts';

const CONSEQUENCES = {
  normal: 'new movements are taken, and what waits is sent',
  drain: 'no new movements or transfers; what runs goes on',
  frozen: 'moreover nothing is sent; nodes wait before their send',
} as const;

export const cutover: Group = {
  name: 'cutover',
  about: 'The switch that stops new money',
  commands: [
    command({
      name: 'show',
      about: 'Whether new money is let in',
      answer: answerOf('getCutoverMode'),
      run: async ({ session }) => {
        const client = await session.client();
        await printMode(session, await client.call('getCutoverMode'));
      },
    }),
    command({
      name: 'set',
      about: 'Stop new money, or let it in again (admin)',
      options: {
        mode: required(choice(CUTOVER_MODES, 'what holds from now on')),
        ...REASON,
        ...YES,
      },
      answer: answerOf('setCutoverMode'),
      run: async ({ session, options: { mode, reason, yes } }) => {
        await session.confirm('Switch?', {
          yes,
          what: session.aside.record([
            ['mode', { text: mode, tone: 'strong' }],
            ['means', CONSEQUENCES[mode]],
            ['reason', reason],
          ]),
        });
        const client = await session.client();
        await printMode(session, await client.call('setCutoverMode', { body: { mode, reason } }));
      },
    }),
  ],
};

function printMode(session: Session, body: ResultOf<'getCutoverMode'>): Promise<void> {
  return session.print(body, () =>
    session.view.record([
      ['mode', body.mode],
      ['means', CONSEQUENCES[body.mode]],
      ['before', body.previous_mode],
      ['reason', body.reason],
      ['since', body.changed_at === null ? null : when(body.changed_at)],
      ['by', fieldOf(body.changed_by, 'key_id') || null],
    ]),
  );
}

const CALLBACKS: readonly Column<RowOf<'listCallbacks'>>[] = [
  { title: 'EVENT', of: (row) => row.event_id },
  { title: 'STATUS', of: (row) => state(row.status) },
  { title: 'TYPE', of: (row) => row.event_type },
  { title: 'MOVEMENT', of: (row) => row.movement_id },
  { title: 'TRIES', of: (row) => row.attempts, right: true },
  { title: 'LAST ERROR', of: (row) => row.last_error },
  { title: 'AGE', of: (row) => age(row.created_at) },
  { title: 'URL', of: (row) => row.url },
];

export const callbacks: Group = {
  name: 'callbacks',
  about: 'What callers are told of their movements',
  commands: [
    command({
      name: 'list',
      about: 'List callbacks, newest first',
      options: {
        status: choice(['pending', 'delivered', 'dead_letter'], 'only these'),
        movement: text('movement-id', 'only those of this movement'),
        ...PAGE,
      },
      answer: answerOf('listCallbacks'),
      run: ({ session, options: { status, movement, ...page } }) =>
        printList(session, 'listCallbacks', {
          query: defined({ status, movement_id: movement }),
          page,
          columns: CALLBACKS,
        }),
    }),
    command({
      name: 'dead-letters',
      about: 'List what could not be delivered, and why',
      options: PAGE,
      answer: answerOf('listCallbacks'),
      run: ({ session, options }) =>
        printList(session, 'listCallbacks', {
          query: { status: 'dead_letter' },
          page: options,
          columns: CALLBACKS,
        }),
    }),
    command({
      name: 'redeliver',
      about: 'Send a dead letter again',
      args: { eventId: 'id of the event' },
      answer: answerOf('redeliverCallback'),
      run: async ({ session, args }) => {
        const client = await session.client();
        const params = { event_id: args.eventId };
        const row = await client.call('redeliverCallback', { params });
        await session.print(row, () => session.table([row], CALLBACKS));
      },
    }),
  ],
};

export const keys: Group = {
  name: 'keys',
  about: 'The key that is used',
  commands: [
    command({
      name: 'whoami',
      about: 'Who the service takes you for',
      answer: answerOf('whoami'),
      run: async ({ session }) => {
        const client = await session.client();
        const body = await client.call('whoami');
        await session.print(body, () =>
          session.view.record([
            ['key', body.key_id],
            ['client', body.client_id],
            ['role', body.role],
            ['namespace', body.namespace],
          ]),
        );
      },
    }),
  ],
};
