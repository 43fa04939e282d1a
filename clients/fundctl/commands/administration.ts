/** The commands `fundctl cutover`, `callbacks` and `keys`. */
import { InvalidArgumentError } from 'commander';
import { CUTOVER_MODES } from '../../../domain/cutover.ts';
import { command, type Group } from '../../command-line/command.ts';
import { operation, YES } from '../../command-line/operation.ts';
import { choice, required, text, type OptionSpec } from '../../command-line/options.ts';
import { defined, listing } from '../../command-line/paging.ts';
import type { Session } from '../../command-line/session.ts';
import type { Columns } from '../../command-line/columns.ts';
import { failure, fieldOf } from '../../command-line/words.ts';
import { ApiError } from '../../http/errors.ts';
import type { ResultOf, RowOf } from '../../http/operations.ts';
import { REASON } from '../shared.ts';

const CONSEQUENCES = {
  normal: 'new movements are taken, and what waits is sent',
  drain: 'no new movements or transfers; what runs goes on',
  frozen: 'moreover nothing is sent; nodes wait before their send',
} as const;

export const cutover: Group = {
  name: 'cutover',
  about: 'The switch that stops new money',
  commands: [
    operation('getCutoverMode', {
      name: 'show',
      about: 'Whether new money is let in',
      show: modeText,
    }),
    operation('setCutoverMode', {
      name: 'set',
      about: 'Stop new money, or let it in again (admin)',
      options: {
        mode: required(choice(CUTOVER_MODES, 'what holds from now on')),
        ...REASON,
      },
      ask: 'Switch?',
      what: ({ session, options: { mode, reason } }) =>
        session.aside.record([
          ['mode', { text: mode, tone: 'strong' }],
          ['means', CONSEQUENCES[mode]],
          ['reason', reason],
        ]),
      input: ({ options }) => ({ body: options }),
      show: modeText,
    }),
  ],
};

function modeText({ view }: Session, body: ResultOf<'getCutoverMode'>): string {
  return view.fields(body, {
    mode: 'mode',
    means: () => CONSEQUENCES[body.mode],
    before: 'previous_mode',
    reason: 'reason',
    since: { when: 'changed_at' },
    by: () => fieldOf(body.changed_by, 'key_id') || null,
  });
}

const CALLBACKS: Columns<RowOf<'listCallbacks'>> = {
  EVENT: 'event_id',
  STATUS: { state: 'status' },
  TYPE: 'event_type',
  OF: (row) => row.movement_id ?? row.transfer_id ?? row.webhook,
  TRIES: { right: 'attempts' },
  'LAST ERROR': 'last_error',
  AGE: { age: 'created_at' },
  URL: 'url',
};

const IDS = { type: 'array', items: { type: 'string' } };
const REDELIVERED = {
  type: 'object',
  required: ['redelivered', 'refused'],
  properties: {
    redelivered: IDS,
    refused: {
      type: 'array',
      items: {
        type: 'object',
        required: ['event_id', 'error'],
        properties: { event_id: { type: 'string' }, error: { type: 'string' } },
      },
    },
  },
};

export const callbacks: Group = {
  name: 'callbacks',
  about: 'Callbacks: what the service sends callers about their movements',
  commands: [
    listing('listCallbacks', {
      name: 'list',
      about: 'List callbacks, newest first',
      options: {
        status: choice(['pending', 'delivered', 'dead_letter'], 'only these'),
        movement: text('movement-id', 'only those of this movement'),
        transfer: text('transfer-id', 'only those of this capital transfer'),
        webhook: text('name', 'only those of this webhook of the service'),
      },
      query: ({ status, movement, transfer, webhook }) => ({
        status,
        movement_id: movement,
        transfer_id: transfer,
        webhook,
      }),
      columns: CALLBACKS,
    }),
    listing('listCallbacks', {
      name: 'dead-letters',
      about: 'List what could not be delivered, and why',
      query: () => ({ status: 'dead_letter' as const }),
      columns: CALLBACKS,
    }),
    operation('redeliverCallback', {
      name: 'redeliver',
      about: 'Send a dead letter again',
      args: { eventId: 'id of the event' },
      input: ({ args }) => ({ params: { event_id: args.eventId } }),
      show: (session, row) => session.table([row], CALLBACKS),
    }),
    command({
      name: 'redeliver-all',
      about: 'Send all dead letters again, or those of a filter; it tells how many, and asks first',
      examples: [
        'fundctl callbacks redeliver-all --since 2026-11-25T10:00:00Z',
        'fundctl callbacks redeliver-all --type request_completed --yes',
      ],
      options: {
        movement: text('movement-id', 'only those of this movement'),
        type: text('event-type', 'only those of this type'),
        webhook: text('name', 'messages of this webhook of the service, which are left out else'),
        since: time('only those made since then'),
        ...YES,
      },
      answer: { schema: REDELIVERED },
      run: async ({ session, options: { movement, type, webhook, since, yes } }) => {
        const dead = await deadLetters(session, movement);
        const chosen = dead.filter(
          (row) =>
            (type === undefined || row.event_type === type) &&
            // Messages of a webhook are old news: they go out again only when they are named.
            (row.webhook ?? null) === (webhook ?? null) &&
            (since === undefined || Date.parse(row.created_at) >= Date.parse(since)),
        );
        if (chosen.length > 0)
          await session.confirm(`Send ${String(chosen.length)} again?`, {
            yes,
            what: await session.aside.table(chosen, CALLBACKS),
          });
        const answer = await redeliverEach(session, chosen);
        const { redelivered, refused } = answer;
        await session.print(answer, () =>
          session.view.record([
            ['sent again', String(redelivered.length)],
            ...refused.map(({ event_id, error }) => ['refused', `${event_id}: ${error}`] as const),
          ]),
        );
        if (refused.length > 0) throw failure(`${String(refused.length)} were not sent again.`);
      },
    }),
  ],
};

type Callback = RowOf<'listCallbacks'>;

/** Reads all dead letters before any redelivery: a list that changes during paging skips rows. */
async function deadLetters(session: Session, movement: string | undefined) {
  const client = await session.client();
  const query = { status: 'dead_letter' as const, ...defined({ movement_id: movement }) };
  const rows: Callback[] = [];
  for await (const row of client.pages('listCallbacks', { query })) rows.push(row);
  return rows;
}

/** Redelivers each callback. A refusal (someone else was faster) does not stop the others. */
async function redeliverEach(session: Session, chosen: readonly Callback[]) {
  const redelivered: string[] = [];
  const refused: { readonly event_id: string; readonly error: string }[] = [];
  for (const { event_id } of chosen) {
    session.stopIfInterrupted();
    try {
      await session.call('redeliverCallback', { params: { event_id } });
      redelivered.push(event_id);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code === null) throw error;
      refused.push({ event_id, error: error.code });
    }
  }
  return { redelivered, refused };
}

/** Returns an option that takes a time with its zone; without a zone the hour is ambiguous. */
function time(about: string): OptionSpec<string | undefined> {
  return {
    ...text('time', `${about}, as in 2026-11-25T10:00:00Z`),
    check: (word) => {
      const [day = ''] = word.split('T');
      // `Date` reads the 31st of February as the 3rd of March.
      if (
        !/^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/.test(word) ||
        Number.isNaN(Date.parse(word)) ||
        new Date(`${day}T00:00:00Z`).toISOString().slice(0, 10) !== day
      )
        throw new InvalidArgumentError('It must be a time with its zone, of a day that exists.');
    },
  };
}

export const keys: Group = {
  name: 'keys',
  about: 'The key that is used',
  commands: [
    operation('whoami', {
      name: 'whoami',
      about: 'Who the service takes you for',
      show: (session, body) =>
        session.view.fields(body, {
          key: 'key_id',
          client: 'client_id',
          role: 'role',
          namespace: 'namespace',
        }),
    }),
  ],
};
