/**
 * Shows change requests: the call that is wanted, each field that it changes, what the movements
 * that it acts on move, and who approved. For an approval all of that is read from the bytes of the
 * document whose hash is approved, and from those of the plans whose hashes it names.
 */
import { wantedOf, type WantedChange } from '../../domain/approval/change-document.ts';
import { namedMovements } from '../../domain/approval/named-movements.ts';
import { CommandError } from '../command-line/exit.ts';
import type { Tone } from '../command-line/paint.ts';
import { printable } from '../command-line/printable.ts';
import type { Session } from '../command-line/session.ts';
import type { Styled } from '../command-line/table.ts';
import type { View } from '../command-line/view.ts';
import { failure, isJson, parsedJson, when } from '../command-line/words.ts';
import { ApiError, UnreachableError } from '../http/errors.ts';
import type { ResultOf } from '../http/operations.ts';
import { planHash } from '../http/plan.ts';
import { approvalsText } from './approvals-view.ts';
import type { ReadPlan } from './plan-view.ts';

export type Change = ResultOf<'getChangeRequest'>;

/** A change request with its document, and the hash that this program made of the document. */
export interface ReadChange {
  readonly change: Change;
  readonly hash: string;
  readonly wanted: WantedChange;
  /** The plans of the movements that it acts on. */
  readonly plans: readonly ReadPlan[];
}

const TONES: Readonly<Record<Change['state'], Tone | undefined>> = {
  open: 'waiting',
  applied: 'good',
  rejected: 'dim',
  withdrawn: 'dim',
  failed: 'bad',
  outdated: 'dim',
  expired: 'dim',
};
export const CHANGE_STATES = Object.keys(TONES) as (keyof typeof TONES)[];

/** Returns the state of a request as a cell. */
export function changeState({ state }: Pick<Change, 'state'>): Styled {
  return { text: state, tone: TONES[state] };
}

/** Returns how many approvals the rules lack together. */
export function missingIn({ approvals }: Pick<Change, 'approvals'>): number {
  return approvals.required.reduce((sum, { missing }) => sum + missing, 0);
}

/**
 * Reads a request, its document and the plans that it names; throws if the document's hash is not
 * that of the request, or a plan's hash not that of the document.
 */
export async function readChange(session: Session, id: string): Promise<ReadChange> {
  const client = await session.client();
  const params = { change_request_id: id };
  const [{ text }, change] = await Promise.all([
    client.request('getChangeRequestDocument', { params }),
    client.call('getChangeRequest', { params }),
  ]);
  const hash = await planHash(text);
  if (hash !== change.hash)
    throw failure(
      `The returned document has the hash ${hash}, but the change request has ${change.hash}: do not trust the document.`,
    );
  const wanted = wantedOf(parsedJson(text, 'The document'));
  if (wanted === null) throw failure('This version cannot read the document.');
  return { change, hash, wanted, plans: await readPlans(session, wanted) };
}

/** Reads the plan of each movement that a request acts on; throws if one is another plan. */
async function readPlans(
  session: Session,
  { subject, before }: Pick<WantedChange, 'subject' | 'before'>,
): Promise<readonly ReadPlan[]> {
  const named = namedMovements(subject, before);
  if (named === null)
    throw failure('This version cannot read which movements the change request acts on.');
  if (named.length === 0) return [];
  const { readPlan } = await import('./plan-view.ts');
  return Promise.all(
    named.map(async ({ movement_id, plan_hash }) => {
      const read = await readPlan(session, movement_id);
      if (read.hash !== plan_hash)
        throw failure(
          `The plan of movement ${movement_id} has the hash ${read.hash}, but the change request names ${plan_hash}: approve nothing, and report it.`,
        );
      return read;
    }),
  );
}

/** Returns what the movements that a request acts on move; '' where it acts on none. */
async function movesText(
  session: Session,
  view: View,
  read: () => Promise<readonly ReadPlan[]>,
): Promise<string> {
  try {
    const plans = await read();
    if (plans.length === 0) return '';
    const { movedText } = await import('./plan-view.ts');
    return await movedText(session, view, plans);
  } catch (error) {
    // Also a request whose plans cannot be read is shown, and can be rejected.
    if (
      error instanceof CommandError ||
      error instanceof ApiError ||
      error instanceof UnreachableError
    )
      return [
        view.heading('What moves'),
        view.record([['NOT KNOWN', { text: error.message, tone: 'bad' }]]),
      ].join('');
    throw error;
  }
}

/** Returns a request as text; with its document, what is wanted is shown from the document. */
export async function changeText(
  session: Session,
  view: View,
  change: Change,
  document?: Pick<ReadChange, 'hash' | 'wanted' | 'plans'>,
): Promise<string> {
  const wanted: WantedChange = document?.wanted ?? change;
  return [
    view.record([
      ['change request', change.change_request_id],
      ['kind', wanted.kind],
      ['state', changeState(change)],
      ['author', wanted.author],
      ['call', { text: `${wanted.method} ${wanted.path}`, tone: 'strong' }],
      [
        'hash',
        document === undefined ? change.hash : `${document.hash} (made here from the document)`,
      ],
      ['reason', change.reason],
      ['code', change.code === null ? null : { text: change.code, tone: 'bad' }],
      ['break glass', change.break_glass ? 'the owner of the database made it alone' : null],
      ['created', when(change.created_at)],
      ['expires', change.state === 'open' ? when(change.expires_at) : null],
      ['ended', change.ended_at === null ? null : when(change.ended_at)],
      ['ended by', change.ended_by],
    ]),
    fieldsText(view, 'What the call sends', fieldsOf(wanted.body)),
    await differenceText(view, wanted),
    await movesText(session, view, async () => document?.plans ?? readPlans(session, wanted)),
    await approvalsText(view, change.approvals),
    `\n${printable(standingOf(change))}\n`,
  ].join('');
}

/** Returns a request after a decision: its state, and what is missing while it waits. */
export async function decidedText({ view }: Session, change: Change): Promise<string> {
  const waits = change.state === 'open' && missingIn(change) > 0;
  return [
    view.record([
      ['change request', change.change_request_id],
      ['state', changeState(change)],
    ]),
    waits ? await approvalsText(view, change.approvals) : '',
    `\n${printable(standingOf(change))}\n`,
  ].join('');
}

/** Returns a sentence that says what has become of a request, and what it waits for. */
export function standingOf(change: Change): string {
  switch (change.state) {
    case 'open':
      return openSentence(change);
    case 'applied':
      return 'It is applied: the change was made.';
    case 'failed':
      return `It failed (${change.code ?? 'without a code'}): the call was refused when it was made, so nothing was changed.`;
    case 'outdated':
      return 'It is outdated: what it names has changed meanwhile. Make the change again for a new request.';
    default:
      return `It is ${change.state}: nothing was changed.`;
  }
}

function openSentence(change: Change): string {
  const missing = missingIn(change);
  if (missing > 0)
    return missing === 1 ? '1 approval is missing.' : `${String(missing)} approvals are missing.`;
  return change.author?.startsWith('fundadmin:') === true
    ? 'Nothing is missing: the same fundadmin command makes the change when it is run again.'
    : 'Nothing is missing, but the change was not made: approve it again to make it.';
}

/** Every value of a row by its path, such as `nodes[0].config.venue`. */
type FieldValues = ReadonlyMap<string, unknown>;

async function differenceText(
  view: View,
  { subject, before, after }: WantedChange,
): Promise<string> {
  const [was, becomes] = [fieldsOf(before), fieldsOf(after)];
  if (before === null) return fieldsText(view, `What is added to ${subject}`, becomes);
  const fields = [...new Set([...was.keys(), ...becomes.keys()])].map((name) => {
    const [former, present] = [was.get(name), becomes.get(name)];
    return { name, former, present, same: JSON.stringify(former) === JSON.stringify(present) };
  });
  const same = fields.filter((each) => each.same);
  return [
    view.heading(`What changes in ${subject}`),
    await view.table(
      fields.filter((each) => !each.same),
      {
        FIELD: 'name',
        BEFORE: ({ former }) => valueText(former),
        AFTER: ({ present }): Styled => ({ text: valueText(present), tone: 'strong' }),
      },
    ),
    fieldsText(
      view,
      'What stays as it is',
      new Map(same.map((each) => [each.name, each.former] as const)),
    ),
  ].join('');
}

function fieldsText(view: View, heading: string, fields: FieldValues): string {
  if (fields.size === 0) return '';
  const rows = [...fields].map(([name, value]) => [name, valueText(value)] as const);
  return view.heading(heading) + view.record(rows);
}

function fieldsOf(value: unknown): FieldValues {
  return new Map(value === null ? [] : valuesIn(value, ''));
}

function valuesIn(value: unknown, path: string): readonly (readonly [string, unknown])[] {
  if (Array.isArray(value) && value.length > 0)
    return value.flatMap((each: unknown, index) => valuesIn(each, `${path}[${String(index)}]`));
  if (isJson(value) && Object.keys(value).length > 0)
    return Object.entries(value).flatMap(([name, each]) =>
      valuesIn(each, path === '' ? nameText(name) : `${path}.${nameText(name)}`),
    );
  return [[path, value]];
}

/** Returns a field's name; quoted where it could be read as a path, or hides something. */
function nameText(name: string): string {
  return /^[\w-]+$/.test(name) ? name : printable(JSON.stringify(name));
}

/** Returns a value as text; '' for a field that is not there. */
function valueText(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' && value !== '' ? value : JSON.stringify(value);
}
