/** Shows movements to people. */
import { printable } from '../command-line/printable.ts';
import type { Session } from '../command-line/session.ts';
import type { Columns } from '../command-line/columns.ts';
import type { Styled } from '../command-line/table.ts';
import { state, type View } from '../command-line/view.ts';
import { fieldOf, moneyOf, when } from '../command-line/words.ts';
import { legOn } from '../../domain/plan/legs.ts';
import { sendKey } from '../../domain/send/key.ts';
import type { ResultOf, RowOf } from '../http/operations.ts';
import { approvalsText } from './approvals-view.ts';

export type Movement = ResultOf<'getMovement'>;

export const MOVEMENT_COLUMNS: Columns<RowOf<'listMovements'>> = {
  ID: 'movement_id',
  STATE: { state: 'request_state' },
  TEMPLATE: (row) => `${row.template_key}@${String(row.template_version)}`,
  AMOUNT: { right: (row) => intentOf(row) },
  OUTFLOW: { right: (row) => moneyOf(row.outflow) },
  STRATEGY: 'strategy_id',
  NEEDS: (row): Styled => ({ text: row.attention_reason ?? '', tone: 'waiting' }),
  ERROR: 'error_code',
  AGE: { age: 'created_at' },
};

function intentOf({ intent }: { readonly intent: unknown }): string {
  return `${fieldOf(intent, 'amount')} ${fieldOf(intent, 'asset')}`;
}

/** Returns one movement as text, with the possible commands when a person is needed. */
export async function movementText(session: Session, movement: Movement): Promise<string> {
  const { view } = session;
  return [
    movementRecord(view, movement),
    view.heading('Nodes'),
    await nodesText(view, movement),
    movement.approvals === undefined ? '' : await approvalsText(view, movement.approvals),
    ...(await allowancesText(view, movement)),
    ...(movement.attention === null ? [] : [attentionText(view, movement)]),
  ].join('');
}

function movementRecord(view: View, movement: Movement): string {
  const { dead_letter, pending, delivered } = movement.callbacks;
  const callbacks = `${String(delivered)} delivered, ${String(pending)} pending, ${String(dead_letter)} dead letters`;
  return view.record([
    ['movement', movement.movement_id],
    ['state', state(movement.request_state)],
    ['template', `${movement.template_key}@${String(movement.template_version)}`],
    ['intent', intentOf(movement)],
    ['moves at most', moneyOf(movement.outflow)],
    ['strategy', movement.strategy_id],
    ['labels', pairsText(movement.labels)],
    ['reference', movement.external_reference],
    ['metadata', pairsText(movement.metadata)],
    ['hash', movement.compiled_plan_hash],
    ['approval', state(movement.approval_status)],
    ['approved by', approver(movement)],
    ['reservation', movement.reservation_status],
    ['error', errorOf(movement)],
    ['callbacks', delivered + pending + dead_letter === 0 ? null : callbacks],
    ['created', when(movement.created_at)],
    ['expires', movement.approval_status === 'pending' ? when(movement.expires_at) : null],
    ['updated', when(movement.updated_at)],
    ['run', movement.workflow.ui_url],
  ]);
}

function pairsText(pairs: Movement['labels']): string | null {
  const texts = Object.entries(pairs).map(([key, value]) => `${key}=${String(value)}`);
  return texts.length === 0 ? null : texts.join(', ');
}

function approver({ approved_by, approver_id }: Movement): string | null {
  if (approved_by === null) return approver_id;
  return approver_id === null ? approved_by : `${approver_id} (key ${approved_by})`;
}

function errorOf(movement: Movement): Styled | null {
  if (movement.error_code === null) return null;
  const message = movement.error_message === null ? '' : `: ${movement.error_message}`;
  return { text: `${movement.error_code}${message}`, tone: 'bad' };
}

function nodesText(view: View, { nodes }: Movement): Promise<string> {
  return view.table(nodes, {
    NODE: 'node_key',
    STATE: { state: 'state' },
    ACTION: 'action_type',
    AMOUNT: { right: (node) => amountOf(node) },
    DESTINATION: 'destination',
    EXECUTOR: (node) => node.executor_binding.executor_key,
    SIGNER: (node) => node.signer_binding?.signer_key,
    TRY: 'attempt',
    REFERENCE: 'external_ref',
    ERROR: (node) => [node.error_code, node.error_message].filter(Boolean).join(': '),
  });
}

/** Returns the open token allowances, which others may still use, and the command to reset them. */
async function allowancesText(
  view: View,
  { movement_id, open_allowances: open = [] }: Movement,
): Promise<readonly string[]> {
  if (open.length === 0) return [];
  return [
    view.heading('Allowances that are open'),
    await view.table(open, {
      NODE: 'node_key',
      AMOUNT: { right: (each) => `${each.amount} ${each.asset}` },
      SPENDER: 'spender',
      OWNER: 'owner',
      CHAIN: (each) => String(each.chain_id),
      TOKEN: 'token_address',
    }),
    commandText(view, `fundctl movements reset-allowances ${movement_id}`),
  ];
}

function amountOf({ amount, asset }: { readonly amount: string | null; readonly asset: string }) {
  return amount === null ? '' : `${amount} ${asset}`;
}

/** Returns why a person is needed, and the commands that let the movement continue. */
export function attentionText(view: View, movement: Movement): string {
  const { attention } = movement;
  if (attention === null) return '';
  return [
    view.heading('A person is needed'),
    view.fields(attention, {
      reason: () => ({ text: attention.reason, tone: 'waiting' }),
      node: 'node_key',
      'what is the matter': 'message',
      'what to look at': 'description',
      'idempotency key': 'idempotency_key',
      'last answer': 'last_answer',
      'next look': () => (attention.next_look_at === null ? null : when(attention.next_look_at)),
    }),
    ...attention.actions.map((offer) =>
      offerText(view, commandOf(offer, movement), offer.consequence),
    ),
  ].join('');
}

/** Returns a command that may be run now, and its consequence. */
export function offerText(view: View, command: string, consequence: string): string {
  return `${commandText(view, command)}      ${printable(consequence)}\n`;
}

function commandText(view: View, command: string): string {
  return `  ${view.paint('strong', printable(command))}\n`;
}

/** Returns, for each plan node that ends UNKNOWN in the timeline: key, last message, what to do. */
export function unknownText(
  view: View,
  movementId: string,
  events: ResultOf<'getMovementTimeline'>,
): string {
  const last = new Map(
    events.flatMap((event) =>
      event.node_key !== null && event.to_state !== null ? [[event.node_key, event] as const] : [],
    ),
  );
  const unknown = [...last.values()].filter(({ to_state }) => to_state === 'UNKNOWN');
  return unknown
    .map(({ node_key, attempt, message }) => {
      const key = node_key ?? '';
      const send = { node_key: key, attempt: attempt ?? 1 };
      return [
        view.heading(`The outcome of ${key} is unknown`),
        view.record([
          ['idempotency key', sendKey(movementId, send)],
          ['last words', message],
          ['answer for it', resolveCommand(movementId, send)],
        ]),
      ].join('');
    })
    .join('');
}

type Offer = NonNullable<Movement['attention']>['actions'][number];

/** Returns the command for an action of the API; the user must replace each `…` with a value. */
function commandOf(
  { action, node_key, attention_reason, outcomes }: Offer,
  { movement_id: id, attention, nodes }: Movement,
): string {
  const key = node_key ?? attention?.node_key ?? '<node>';
  switch (action) {
    case 'resolve': {
      const node = nodes.find((each) => each.node_key === key);
      return node !== undefined &&
        legOn('attested', node.action_type) === 1 &&
        node.state !== 'UNKNOWN' &&
        outcomes?.includes('completed') !== false
        ? `fundctl movements resolve ${id} ${quoted(key)} --outcome completed${attemptOption(node.attempt)} --mint-tx 0x… --reason "…" --evidence reference=…`
        : resolveCommand(id, { node_key: key, attempt: node?.attempt ?? 1 }, outcomes);
    }
    case 'enable_executor': {
      const node = nodes.find((each) => each.node_key === key);
      return `fundctl executors enable ${quoted(node?.executor_binding.executor_key ?? '<executor>')}`;
    }
    case 'rotate_signer': {
      const node = nodes.find((each) => each.node_key === key);
      return `fundctl signers rotate ${quoted(node?.signer_binding?.signer_key ?? '<signer>')} <replacement> --reason "…"`;
    }
    case 'resume':
    case 'retry':
      return `fundctl movements ${action} ${id} --node ${quoted(key)}`;
    case 'cancel_transaction':
      return `fundctl movements cancel-transaction ${id} ${quoted(key)} --reason "…"`;
    case 'reassign':
      return `fundctl movements reassign ${id} ${quoted(key)} --to-movement … --to-node … --reason "…" --evidence reference=…`;
    case 'acknowledge':
      return `fundctl movements acknowledge ${id}${attention_reason === undefined ? '' : ` --about ${attention_reason}`} --reason "…"`;
    default:
      return `fundctl movements ${action.replace(/_/g, '-')} ${id}`;
  }
}

/**
 * Returns the command that sets the outcome of a plan node when no venue can report it. `outcomes`:
 * those on offer; all where the service names none.
 */
export function resolveCommand(
  movementId: string,
  { node_key, attempt }: { readonly node_key: string; readonly attempt: number },
  outcomes: readonly string[] = ['completed', 'failed', 'abandoned'],
): string {
  return `fundctl movements resolve ${movementId} ${quoted(node_key)} --outcome ${outcomes.join('|')}${attemptOption(attempt)} --reason "…" --evidence reference=…`;
}

/** Returns the option that names the attempt; empty for the first, which the API assumes. */
function attemptOption(attempt: number): string {
  return attempt === 1 ? '' : ` --attempt ${String(attempt)}`;
}

/** Quotes a word for a shell: a template's author may put any character into a node key. */
function quoted(word: string): string {
  return /^[\w.:@<>-]+$/.test(word) ? word : `'${word.replace(/'/g, `'\\''`)}'`;
}
