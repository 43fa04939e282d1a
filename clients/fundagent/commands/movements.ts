/** `movements` and `wait`: all of them in the agent's namespace, by the service's word. */
import { readFileSync } from 'node:fs';
import { MOVEMENT_STATES } from '../../agent/states.ts';
import { usageError } from '../../command-line/exit.ts';
import {
  amount,
  choice,
  file,
  flag,
  many,
  required,
  text,
  whole,
} from '../../command-line/options.ts';
import { pairs } from '../../command-line/words.ts';
import { printableJson } from '../../command-line/printable.ts';
import { isObject } from '../../http/answer.ts';
import { waitForMovement, type Movement } from '../../http/wait.ts';
import { agentCommand } from '../command.ts';
import type { Json, Session } from '../session.ts';
import { outflowOf, rowsOf, wordOf } from '../words.ts';

const create = {
  templateKey: required(text('key', 'the template')),
  templateVersion: required(whole('n', 'its version')),
  asset: required(text('code', 'what is to move')),
  amount: required(amount('how much')),
  destinationAddress: text('address', 'where to, where the template leaves it open'),
  chainId: whole('id', 'on which chain, where the template leaves it open'),
  sourceVenue: text('key', 'where from'),
  destinationVenue: text('key', 'where to'),
  strategyId: text('id', 'a strategy'),
  inputParams: file('a JSON object, - for standard input'),
  approvalTtlSeconds: whole('seconds', 'how long it waits for its approval'),
  callbackUrl: text('url', 'where its state changes are sent'),
  label: many('name=value', 'a label'),
};
type Values<O> = { [K in keyof O]: O[K] extends { read: (raw: unknown) => infer T } ? T : never };

async function bodyOf(given: Values<typeof create>, session: Session): Promise<Json> {
  return {
    template_key: given.templateKey,
    template_version: given.templateVersion,
    intent: {
      asset: given.asset,
      amount: given.amount,
      chain_id: given.chainId,
      destination_address: given.destinationAddress,
      source_venue: given.sourceVenue,
      destination_venue: given.destinationVenue,
    },
    strategy_id: given.strategyId,
    input_params: await paramsIn(given.inputParams, session),
    approval_ttl_seconds: given.approvalTtlSeconds,
    callback_url: given.callbackUrl,
    labels: Object.fromEntries(given.label.map(labelOf)),
  };
}

async function paramsIn(path: string | undefined, { io }: Session): Promise<Json | undefined> {
  if (path === undefined) return undefined;
  try {
    const read: unknown = JSON.parse(path === '-' ? await io.read() : readFileSync(path, 'utf8'));
    if (isObject(read)) return read;
  } catch (error) {
    throw usageError(`--input-params cannot be read as JSON: ${path}`, { cause: error });
  }
  throw usageError('--input-params must be a JSON object.');
}

function labelOf(text: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw usageError('A label is written name=value.');
  return [text.slice(0, at), text.slice(at + 1)];
}

function shown(session: Session, movement: unknown): string {
  return session.record([
    ['movement', wordOf(movement, 'movement_id')],
    ['state', wordOf(movement, 'request_state')],
    ['template', wordOf(movement, 'template', 'template_key')],
    ['version', wordOf(movement, 'template', 'version')],
    ['moves at most', outflowOf(movement)],
    ['plan hash', wordOf(movement, 'compiled_plan_hash')],
    ['waits for', wordOf(movement, 'attention', 'message')],
    ['error', wordOf(movement, 'error_code')],
    ['expires', wordOf(movement, 'expires_at')],
  ]);
}

const byId = (movement_id: string) => ({ params: { movement_id } });

export const movementCommands = [
  agentCommand({
    words: ['movements', 'list'],
    about: 'List movements, newest first',
    options: {
      state: choice(MOVEMENT_STATES, 'in one state'),
      asset: text('code', 'of one asset'),
      templateKey: text('key', 'of one template'),
      strategyId: text('id', 'of one strategy'),
      reference: text('reference', 'only those that their creates named so'),
      metadata: many('key=value', 'only those with this pair in their metadata'),
      createdFrom: text('time', 'only those of this time (ISO 8601) or later'),
      createdTo: text('time', 'only those of before this time'),
      needsAttention: flag('only those that wait for a person'),
      limit: whole('n', 'how many (50)'),
      cursor: text('cursor', 'next_cursor of the page before'),
    },
    run: async (session, { templateKey, strategyId, needsAttention, ...options }) => {
      const { reference, metadata, createdFrom, createdTo, ...rest } = options;
      const query = {
        ...rest,
        template_key: templateKey,
        strategy_id: strategyId,
        external_reference: reference,
        metadata: pairs(metadata, '--metadata'),
        created_from: createdFrom,
        created_to: createdTo,
        needs_attention: needsAttention ? 'true' : undefined,
      };
      const page = await session.call('listMovements', { query });
      await session.print(page, async () => {
        const next = wordOf(page, 'next_cursor');
        if (next !== '') session.note(`There are more: repeat it with --cursor ${next}`);
        return session.table(rowsOf(page, 'movements'), [
          { title: 'MOVEMENT', of: (row) => wordOf(row, 'movement_id') },
          { title: 'STATE', of: (row) => wordOf(row, 'request_state') },
          { title: 'TEMPLATE', of: (row) => wordOf(row, 'template_key') },
          { title: 'AT MOST', of: outflowOf },
          { title: 'WAITS', of: (row) => wordOf(row, 'attention_reason') },
        ]);
      });
    },
  }),
  agentCommand({
    words: ['movements', 'show'],
    about: 'Show a movement and its nodes',
    argument: 'movement-id',
    run: async (session, _, id) => {
      const movement = await session.call('getMovement', byId(id));
      await session.print(
        movement,
        async () =>
          `${shown(session, movement)}\n${await session.table(rowsOf(movement, 'nodes'), [
            { title: 'NODE', of: (row) => wordOf(row, 'node_key') },
            { title: 'ACTION', of: (row) => wordOf(row, 'action_type') },
            { title: 'STATE', of: (row) => wordOf(row, 'state') },
            { title: 'AMOUNT', of: (row) => wordOf(row, 'amount'), right: true },
            { title: 'ASSET', of: (row) => wordOf(row, 'asset') },
            { title: 'TO', of: (row) => wordOf(row, 'destination') },
            { title: 'ERROR', of: (row) => wordOf(row, 'error_code') },
          ])}`,
      );
    },
  }),
  agentCommand({
    words: ['movements', 'timeline'],
    about: 'Show what happened to a movement',
    argument: 'movement-id',
    run: async (session, _, id) => {
      const { answer: events } = await session.call('getMovementTimeline', byId(id));
      await session.print(events, () =>
        session.table(rowsOf({ events }, 'events'), [
          { title: 'AT', of: (row) => wordOf(row, 'occurred_at') },
          { title: 'EVENT', of: (row) => wordOf(row, 'event_type') },
          { title: 'NODE', of: (row) => wordOf(row, 'node_key') },
          { title: 'MESSAGE', of: (row) => wordOf(row, 'message') },
        ]),
      );
    },
  }),
  agentCommand({
    words: ['movements', 'plan'],
    about: 'Print the plan, byte for byte the document that is hashed and approved',
    argument: 'movement-id',
    run: async (session, _, id) => {
      const plan = await session.textOf('getMovementPlan', byId(id));
      // On a terminal it must not move the cursor.
      if (session.io.terminal.out) await session.print(JSON.parse(plan), () => indented(plan));
      else session.io.out(plan);
    },
  }),
  agentCommand({
    words: ['movements', 'preview'],
    about: 'Say what a create would do; nothing is written',
    options: create,
    run: async (session, given) => {
      const body = await bodyOf(given, session);
      const preview = await session.call('createMovement', { body, dryRun: true });
      await session.print(preview, () =>
        session.record([
          ['would create', wordOf(preview, 'would_create')],
          ['plan hash', wordOf(preview, 'compiled_plan_hash')],
          ['moves at most', outflowOf(preview)],
          ['blocked by', wordOf(preview, 'blocking_reasons')],
        ]),
      );
    },
  }),
  agentCommand({
    words: ['movements', 'create'],
    about: "Create a movement, which waits for an operator's approval",
    options: { ...create, idempotencyKey: text('key', 'makes a repeat safe') },
    run: async (session, { idempotencyKey, ...given }) => {
      const body = await bodyOf(given, session);
      const made = await session.write('createMovement', { body, idempotencyKey });
      await session.print(made, () => shown(session, made));
    },
  }),
  agentCommand({
    words: ['wait'],
    about: 'Wait until a movement is in a state (COMPLETED); another end is a failure',
    argument: 'movement-id',
    options: {
      until: choice(MOVEMENT_STATES, 'the state'),
      timeout: whole('seconds', 'how long to wait (600)'),
    },
    run: async (session, { until = 'COMPLETED', timeout = 600 }, id) => {
      const movement = await waitForMovement(
        // The service answers what its document says.
        async () => (await session.call('getMovement', byId(id))) as unknown as Movement,
        { id, target: until, timeoutMs: timeout * 1000, signal: session.io.signal },
      );
      await session.print(movement, () => shown(session, movement));
    },
  }),
];

function indented(plan: string): string {
  return `${printableJson(JSON.parse(plan))}\n`;
}
