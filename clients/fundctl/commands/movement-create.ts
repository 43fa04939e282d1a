/** The commands `fundctl movements create` and `preview`. */
import { command, type OptionValues } from '../../command-line/command.ts';
import { usageError } from '../../command-line/exit.ts';
import { YES } from '../../command-line/operation.ts';
import { amount, file, flag, many, pairs, text, whole } from '../../command-line/options.ts';
import { defined } from '../../command-line/paging.ts';
import type { Session } from '../../command-line/session.ts';
import { state, type View } from '../../command-line/view.ts';
import {
  failure,
  fieldOf,
  jsonFile,
  jsonPairs,
  moneyOf,
  templateRef,
  type Json,
} from '../../command-line/words.ts';
import type { BodyOf, PreviewOf, ResultOf } from '../../http/operations.ts';
import { limitsText, sendsText, standingText, termsOf, type SendView } from '../review-view.ts';
import { IDEMPOTENCY } from '../shared.ts';
import { templateVersion } from './templates.ts';

const REQUEST = {
  template: text('template', '<key>@<version>, or a key alone for its newest version'),
  asset: text('asset', 'what is moved'),
  amount: amount('how much of it'),
  strategy: text('strategy-id', 'whose movement it is; policies approve by it'),
  destination: text('address', "the intent's payee: one of the plan's, which chooses none"),
  chainId: whole('id', "the intent's chain: one of the plan's"),
  sourceVenue: text('venue', "the intent's source venue: one of the plan's"),
  destinationVenue: text('venue', "the intent's destination venue: one of the plan's"),
  param: many('key=value', 'an input parameter; a value may be JSON'),
  label: many('key=value', 'a label'),
  externalReference: text('reference', 'what your own books name it by'),
  uniqueReference: flag('refuse it where another movement has this reference as unique'),
  metadata: many('key=value', 'a pair that lists can be filtered by'),
  approvalTtl: whole('seconds', 'how long it waits for its approval'),
  callbackUrl: text('url', 'where state changes are sent'),
  file: file('the whole request as JSON, - for standard input; options change what it says'),
};

type RequestOptions = OptionValues<typeof REQUEST>;
type Preview = PreviewOf<'createMovement'>;
type Body = BodyOf<'createMovement'>;

const EXAMPLE =
  'fundctl movements create --template starter/withdraw-to-treasury --asset USDC --amount 25';
const ANSWER = { operation: 'createMovement' } as const;

export const create = command({
  name: 'create',
  about: 'Create a movement, which then waits for its approval',
  details:
    'Where a policy would approve it at once, it shows what would move and asks you first. A repeat with the same idempotency key answers with the first movement.',
  examples: [EXAMPLE, `${EXAMPLE} --dry-run`, 'fundctl movements create --file request.json'],
  options: {
    ...REQUEST,
    ...IDEMPOTENCY,
    dryRun: flag('write nothing and say what would happen, as preview does'),
    ...YES,
  },
  answer: { ...ANSWER, dryRun: true },
  run: async ({ session, options }) => {
    const body = await requestOf(session, options);
    const client = await session.client();
    const foreseen = await client.call('createMovement', { body, dryRun: true });
    if (options.dryRun) {
      await session.print(foreseen, () => previewText(session.view, foreseen));
      requirePassing(foreseen);
      return;
    }
    if (fieldOf(foreseen.auto_approve, 'outcome') === 'approved')
      await session.confirm('A policy approves this at once. Create it?', {
        yes: options.yes,
        what: await previewText(session.aside, foreseen),
      });
    const key = options.idempotencyKey ?? body.idempotency_key;
    const { body: made, replayed } = await session.creating(key, (idempotencyKey) =>
      client.request('createMovement', { body, idempotencyKey }),
    );
    if (replayed) session.note('This is the movement that the first request with this key made.');
    await session.print(made, () => createdText(session, made));
    if (made.request_state === 'PENDING_APPROVAL')
      session.note(`Read it and approve it: fundctl movements approve ${made.movement_id}`);
  },
});

export const preview = command({
  name: 'preview',
  about: 'Say what a create would do, and what stands in its way; nothing is written',
  details:
    'Ends with 1 where nothing would be created, or what is created would be refused at its approval or before it is sent.',
  examples: [EXAMPLE.replace('create', 'preview')],
  options: { ...REQUEST, ...IDEMPOTENCY },
  answer: { ...ANSWER, preview: true },
  run: async ({ session, options }) => {
    const body = await requestOf(session, options);
    const client = await session.client();
    const { idempotencyKey } = options;
    const foreseen = await client.call('createMovement', { body, idempotencyKey, dryRun: true });
    await session.print(foreseen, () => previewText(session.view, foreseen));
    requirePassing(foreseen);
  },
});

/** Throws when the movement would not be created, or would be refused after its creation. */
function requirePassing({ would_create, blocking_reasons, would_fail }: Preview): void {
  const [first] = would_create ? would_fail : blocking_reasons;
  if (!would_create)
    throw failure(
      `The movement would not be created: ${first?.error ?? 'the service gave no reason'}.`,
    );
  if (first !== undefined)
    throw failure(`The movement would be created, but refused later: ${first.error}.`);
}

/** Returns the create request: the request in the file, with the options written over it. */
async function requestOf(session: Session, options: RequestOptions): Promise<Body> {
  const base: Json = options.file === undefined ? {} : await jsonFile(session.io, options.file);
  const own = base['intent'];
  const intent = {
    ...(typeof own === 'object' ? own : {}),
    ...defined({
      asset: options.asset,
      amount: options.amount,
      destination_address: options.destination,
      chain_id: options.chainId,
      source_venue: options.sourceVenue,
      destination_venue: options.destinationVenue,
    }),
  };
  const params = jsonPairs(options.param, '--param');
  const labels = pairs(options.label, '--label');
  const body = {
    ...base,
    ...(options.template === undefined ? {} : await named(session, options.template)),
    ...defined({
      strategy_id: options.strategy,
      approval_ttl_seconds: options.approvalTtl,
      callback_url: options.callbackUrl,
      external_reference: options.externalReference,
      unique_reference: options.uniqueReference || undefined,
    }),
    intent,
    ...merged('input_params', base, params),
    ...merged('labels', base, labels),
    ...merged('metadata', base, pairs(options.metadata, '--metadata')),
  };
  for (const [field, option] of [
    ['template_key', '--template'],
    ['asset', '--asset'],
    ['amount', '--amount'],
  ] as const)
    if (fieldOf(field === 'template_key' ? body : intent, field) === '')
      throw usageError(`${option} is missing: give the option, or the field in --file.`);
  // The cast needs no check here, because the service checks every field.
  return body as Body;
}

function merged(field: string, base: Json, more: Json): Json {
  const own = base[field];
  const all = { ...(typeof own === 'object' ? own : {}), ...more };
  return Object.keys(all).length === 0 ? {} : { [field]: all };
}

async function named(session: Session, reference: string) {
  const { key, version } = templateRef(reference);
  if (version !== undefined) return { template_key: key, template_version: version };
  const newest = await templateVersion(session, reference);
  return { template_key: key, template_version: newest.version };
}

function createdText({ view }: Session, made: ResultOf<'createMovement'>): string {
  return view.fields(made, {
    movement: 'movement_id',
    state: { state: 'request_state' },
    reference: 'external_reference',
    'moves at most': () => moneyOf(made.outflow),
    hash: 'compiled_plan_hash',
    'automatic approval': () => autoApproval(made.auto_approve_result),
    expires: { when: 'expires_at' },
  });
}

function autoApproval(result: unknown): string | null {
  const outcome = fieldOf(result, 'outcome');
  return outcome === '' ? null : `${outcome}: ${fieldOf(result, 'reason')}`;
}

/** Returns what the create would do, and what would prevent the create. */
export async function previewText(view: View, foreseen: Preview): Promise<string> {
  const yesNo = (yes: boolean | null) =>
    yes === null ? '?' : yes ? state('yes') : ({ text: 'no', tone: 'bad' } as const);
  return [
    view.record([
      ['would be created', yesNo(foreseen.would_create)],
      ['moves at most', { text: moneyOf(foreseen.outflow), tone: 'strong' }],
      ['hash', foreseen.compiled_plan_hash],
      ['automatic approval', autoApproval(foreseen.auto_approve)],
      ...foreseen.blocking_reasons.map(
        ({ error, message }) =>
          ['in its way', { text: `${error}: ${message}`, tone: 'bad' }] as const,
      ),
      ...foreseen.would_wait.map(
        ({ node_key, error_code, message }) =>
          [
            'would wait',
            { text: `${node_key}: ${error_code}: ${message}`, tone: 'waiting' },
          ] as const,
      ),
    ]),
    view.heading('Bindings'),
    await view.table(foreseen.bindings, {
      NODE: 'node_key',
      EXECUTOR: 'executor_key',
      SIGNER: 'signer_key',
      AVAILABLE: (row) => yesNo(row.available),
      REASON: 'reason',
    }),
    ...(foreseen.sends.length === 0 ? [] : [view.heading('Who would be paid')]),
    sendsText(view, foreseen.sends.map(sendOf), { hidden: 'they are no part of a preview' }),
    await limitsText(view, foreseen.limits),
    await standingText(view, foreseen),
  ].join('');
}

/** Returns the view of a sending node from a preview, which has no plan bytes to read. */
function sendOf(send: Preview['sends'][number]): SendView {
  const { node_key, action_type, amount, asset, payees } = send;
  return {
    node_key,
    action_type,
    withoutPayee: 'between own accounts, or by its executor',
    amount: `${amount ?? send.amount_ref ?? 'by an output:'} ${asset}`,
    payees: payees.map((payee) => ({ ...payee, standing: payee })),
    terms: termsOf(send),
  };
}
