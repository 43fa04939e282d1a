/** `movements` and `wait`. The service limits these commands to the agent's namespace. */
import { readFileSync } from 'node:fs';
import { describeLosses } from '../../../domain/json-text.ts';
import { MOVEMENT_STATES } from '../../agent/states.ts';
import type { Group, OptionValues } from '../../command-line/command.ts';
import { usageError } from '../../command-line/exit.ts';
import {
  amount,
  choice,
  file,
  flag,
  many,
  pairs,
  required,
  text,
  whole,
} from '../../command-line/options.ts';
import { printableJson } from '../../command-line/printable.ts';
import { isObject } from '../../http/answer.ts';
import { waitForMovement, type Movement } from '../../http/wait.ts';
import { agentCommand } from '../command.ts';
import type { Json, Session } from '../session.ts';
import { namedForApi, outflowOf, rowsOf, wordOf, wordsAt } from '../words.ts';

const create = {
  templateKey: required(text('key', 'the template')),
  templateVersion: required(whole('n', 'its version')),
  asset: required(text('code', 'what is to move')),
  amount: required(amount('how much')),
  destinationAddress: text('address', 'the payee, as the plan names it: this chooses none'),
  chainId: whole('id', 'the chain, as the plan names it'),
  sourceVenue: text('key', 'where from, as the plan names it'),
  destinationVenue: text('key', 'where to, as the plan names it'),
  strategyId: text('id', 'a strategy'),
  inputParams: file('a JSON object, - for standard input'),
  approvalTtlSeconds: whole('seconds', 'how long it waits for its approval'),
  callbackUrl: text('url', 'where its state changes are sent'),
  label: many('name=value', 'a label'),
};
async function bodyOf(options: OptionValues<typeof create>, session: Session): Promise<Json> {
  const { strategyId, approvalTtlSeconds, callbackUrl, inputParams, label, ...rest } = options;
  const { templateKey, templateVersion, ...intent } = rest;
  return {
    ...namedForApi({ templateKey, templateVersion, strategyId, approvalTtlSeconds, callbackUrl }),
    intent: namedForApi(intent),
    input_params: await paramsIn(inputParams, session),
    labels: pairs(label, '--label'),
  };
}

async function paramsIn(path: string | undefined, { io }: Session): Promise<Json | undefined> {
  if (path === undefined) return undefined;
  let text: string;
  let read: unknown;
  try {
    text = path === '-' ? await io.read() : readFileSync(path, 'utf8');
    read = JSON.parse(text);
  } catch (error) {
    throw usageError(`--input-params cannot be read as JSON: ${path}`, { cause: error });
  }
  const [loss] = describeLosses(text, 'the value');
  if (loss !== undefined) throw usageError(`--input-params: ${loss}.`);
  if (isObject(read)) return read;
  throw usageError('--input-params must be a JSON object.');
}

const MOVEMENT = wordsAt({
  movement: 'movement_id',
  state: 'request_state',
  template: 'template.template_key',
  version: 'template.version',
  'moves at most': outflowOf,
  'plan hash': 'compiled_plan_hash',
  'waits for': 'attention.message',
  error: 'error_code',
  expires: 'expires_at',
});
const ROW = wordsAt({
  MOVEMENT: 'movement_id',
  STATE: 'request_state',
  TEMPLATE: 'template_key',
  'AT MOST': outflowOf,
  WAITS: 'attention_reason',
});
const NODE = wordsAt({
  NODE: 'node_key',
  ACTION: 'action_type',
  STATE: 'state',
  AMOUNT: { right: 'amount' },
  ASSET: 'asset',
  TO: 'destination',
  ERROR: 'error_code',
});
const EVENT = wordsAt({
  AT: 'occurred_at',
  EVENT: 'event_type',
  NODE: 'node_key',
  MESSAGE: 'message',
});
const PREVIEW = wordsAt({
  'would create': 'would_create',
  'plan hash': 'compiled_plan_hash',
  'moves at most': outflowOf,
  'blocked by': 'blocking_reasons',
});

const ID = { movementId: '' };
const byId = (movement_id: string) => ({ params: { movement_id } });

export const movements: Group<Session> = {
  name: 'movements',
  about: "Movements of the agent's namespace.",
  commands: [
    agentCommand({
      name: 'list',
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
      run: async ({ session, options: { reference, metadata, needsAttention, ...options } }) => {
        const query = {
          ...namedForApi(options),
          external_reference: reference,
          metadata: pairs(metadata, '--metadata'),
          needs_attention: needsAttention ? 'true' : undefined,
        };
        const page = await session.call('listMovements', { query });
        await session.print(page, () => {
          const next = wordOf(page, 'next_cursor');
          if (next !== '') session.note(`There are more: repeat it with --cursor ${next}`);
          return session.table(rowsOf(page, 'movements'), ROW);
        });
      },
    }),
    agentCommand({
      name: 'show',
      about: 'Show a movement and its nodes',
      args: ID,
      run: async ({ session, args }) => {
        const movement = await session.call('getMovement', byId(args.movementId));
        await session.print(
          movement,
          async () =>
            `${session.fields(movement, MOVEMENT)}\n${await session.table(rowsOf(movement, 'nodes'), NODE)}`,
        );
      },
    }),
    agentCommand({
      name: 'timeline',
      about: 'Show what happened to a movement',
      args: ID,
      run: async ({ session, args }) => {
        const { answer: events } = await session.call('getMovementTimeline', byId(args.movementId));
        await session.print(events, () => session.table(rowsOf({ events }, 'events'), EVENT));
      },
    }),
    agentCommand({
      name: 'plan',
      about: 'Print the plan, byte for byte the document that is hashed and approved',
      args: ID,
      run: async ({ session, args }) => {
        const plan = await session.textOf('getMovementPlan', byId(args.movementId));
        // The plan's text could control the terminal, so a terminal gets escaped JSON.
        if (session.io.terminal.out) session.io.out(`${printableJson(JSON.parse(plan))}\n`);
        else session.io.out(plan);
      },
    }),
    agentCommand({
      name: 'preview',
      about: 'Say what a create would do; nothing is written',
      options: create,
      run: async ({ session, options }) => {
        const body = await bodyOf(options, session);
        const preview = await session.call('createMovement', { body, dryRun: true });
        await session.print(preview, () => session.fields(preview, PREVIEW));
      },
    }),
    agentCommand({
      name: 'create',
      about: "Create a movement, which waits for an operator's approval",
      options: { ...create, idempotencyKey: text('key', 'makes a repeat safe') },
      run: async ({ session, options: { idempotencyKey, ...options } }) => {
        const body = await bodyOf(options, session);
        const made = await session.write('createMovement', { body, idempotencyKey });
        await session.print(made, () => session.fields(made, MOVEMENT));
      },
    }),
  ],
};

export const wait = agentCommand({
  name: 'wait',
  about: 'Wait until a movement is in a state (COMPLETED); another end is a failure',
  args: ID,
  options: {
    until: choice(MOVEMENT_STATES, 'the state'),
    timeout: whole('seconds', 'how long to wait (600)'),
  },
  run: async ({ session, args, options: { until = 'COMPLETED', timeout = 600 } }) => {
    const movement = await waitForMovement(
      // The cast is safe: the service's answers match the API document.
      async () => (await session.call('getMovement', byId(args.movementId))) as unknown as Movement,
      {
        id: args.movementId,
        target: until,
        timeoutMs: timeout * 1000,
        signal: session.io.signal,
      },
    );
    await session.print(movement, () => session.fields(movement, MOVEMENT));
  },
});
