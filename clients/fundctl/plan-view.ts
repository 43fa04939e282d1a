/**
 * Shows what an approver approves: amounts, terms, destinations, executors and signers, all read
 * from the bytes of the plan. Beside that, shows what the service reports now: the standing of
 * payees, balances, and what would fail.
 */
import { isBuiltIn } from '../../domain/actions/built-in.ts';
import { amountLimits } from '../../domain/plan/limits.ts';
import {
  executorInputs,
  gateTexts,
  plannedSends,
  signerNow,
  withStandings,
  type PlannedSend,
} from '../../domain/send/planned-sends.ts';
import type { CompiledPlan } from '../../domain/plan/types.ts';
import type { Session } from '../command-line/session.ts';
import type { Styled } from '../command-line/table.ts';
import type { View } from '../command-line/view.ts';
import { failure, isJson, moneyOf, parsedJson } from '../command-line/words.ts';
import { planHash } from '../http/plan.ts';
import { approvalsText } from './approvals-view.ts';
import type { Movement } from './movement-view.ts';
import { readLabels, type Labels } from './labels.ts';
import {
  limitsText,
  requesterFields,
  sendsText,
  standingText,
  termsOf,
  type SendView,
} from './review-view.ts';

/** A plan with the hash that this program computed from the plan's bytes. */
export interface ReadPlan {
  readonly text: string;
  readonly hash: string;
  readonly plan: CompiledPlan;
  /** The movement, read at the same time as the plan. */
  readonly movement: Movement;
}

/** Reads a movement's plan; throws if the plan's hash differs from the hash in the movement. */
export async function readPlan(session: Session, movementId: string): Promise<ReadPlan> {
  const client = await session.client();
  const params = { movement_id: movementId };
  const [{ text }, movement] = await Promise.all([
    client.request('getMovementPlan', { params }),
    client.call('getMovement', { params }),
  ]);
  const hash = await planHash(text);
  if (hash !== movement.compiled_plan_hash)
    throw failure(
      `The returned plan has the hash ${hash}, but the movement has ${movement.compiled_plan_hash}: do not trust the plan.`,
    );
  return { text, hash, plan: planOf(text), movement };
}

function planOf(text: string): CompiledPlan {
  const value = parsedJson(text, 'The plan');
  if (!isPlan(value)) throw failure('This version cannot read the plan.');
  return value;
}

/** Returns whether the value has the form of a plan. The hash already proves the content. */
function isPlan(value: unknown): value is CompiledPlan {
  return isJson(value) && Array.isArray(value['nodes']) && isJson(value['intent']);
}

/** Returns the plan as text: what each node moves, every payee, limits and current standing. */
export async function planText(session: Session, view: View, read: ReadPlan): Promise<string> {
  const { plan, hash, movement } = read;
  const labels = await readLabels(session);
  const { template, intent } = plan;
  return [
    view.record([
      ['plan', `${template.template_key}@${String(template.version)}`],
      ['intent', `${intent.amount} ${intent.asset}`],
      ...requesterFields(movement),
      ['moves at most', mostOf(plan)],
      ['hash', hashText(hash)],
    ]),
    paidText(view, read, labels),
    await limitsText(
      view,
      amountLimits(plan).map((each) => ({ ...each, used: null })),
    ),
    movement.review === undefined ? '' : await standingText(view, movement.review),
    movement.approvals === undefined ? '' : await approvalsText(view, movement.approvals),
    hiddenText(labels),
  ].join('');
}

/** Returns what the movements of a request move: of each its most, every payee, terms and gates. */
export async function movedText(
  session: Session,
  view: View,
  reads: readonly ReadPlan[],
): Promise<string> {
  if (reads.length === 0) return '';
  const labels = await readLabels(session);
  return [
    ...reads.flatMap((read) => [
      view.heading(`What movement ${read.movement.movement_id} moves`),
      view.record([
        ['moves at most', mostOf(read.plan)],
        ['hash', hashText(read.hash)],
      ]),
      paidText(view, read, labels),
    ]),
    hiddenText(labels),
  ].join('');
}

function mostOf(plan: CompiledPlan): Styled {
  // A plan without `outflow` has an unknown maximum: do not show it as "nothing".
  const { outflow = null }: { readonly outflow?: CompiledPlan['outflow'] | null } = plan;
  return { text: outflow === null ? 'UNKNOWN' : moneyOf(outflow), tone: 'strong' };
}

function hashText(hash: string): string {
  return `${hash} (made here from the plan's bytes)`;
}

/** Returns each send with its payees and terms, the inputs of teams' executors, and the gates. */
function paidText(view: View, { plan, movement }: ReadPlan, labels: Labels): string {
  return [
    view.heading('Who is paid'),
    sendsText(view, sendsIn(plan, movement), labels),
    executorInputsText(view, plan),
    gatesText(view, plan),
  ].join('');
}

function hiddenText(labels: Labels): string {
  return 'hidden' in labels ? `\nLabels are not known here: ${labels.hidden}.\n` : '';
}

/** Returns a sentence on the limits that the plan exceeds; null when the plan exceeds no limit. */
export function beyondLimit({ plan }: Pick<ReadPlan, 'plan'>): string | null {
  const beyond = amountLimits(plan).filter(({ ok }) => ok === false);
  if (beyond.length === 0) return null;
  const each = beyond.map(
    ({ control, limit, after }) => `${after ?? ''} is above ${control} of ${limit}`,
  );
  return `The plan is beyond its own limit: ${each.join('; ')}. What is beyond fails before it is sent.`;
}

/** Returns all inputs of the teams' own executors; '' where no such executor sends. */
function executorInputsText(view: View, plan: CompiledPlan): string {
  const inputs = executorInputs(plan);
  if (inputs.length === 0) return '';
  return [
    view.heading("Inputs from which these teams' executors decide whom they pay"),
    view.record(inputs.map(([name, input]) => [name, JSON.stringify(input)] as const)),
  ].join('');
}

function sendsIn(plan: CompiledPlan, { review, nodes }: Movement): readonly SendView[] {
  return plannedSends(plan).map((send): SendView => {
    const { node_key, action_type } = send;
    const seen = review?.sends.find((each) => each.node_key === node_key)?.payees;
    const shown = nodes.find((each) => each.node_key === node_key)?.destination ?? null;
    return {
      node_key,
      action_type,
      amount: amountText(send),
      withoutPayee: isBuiltIn(action_type)
        ? 'between own accounts'
        : 'a payee that its executor decides; the plan names none',
      payees: withStandings(send.payees, review === undefined ? undefined : (seen ?? []), shown),
      terms: [
        ...termsOf(send.terms),
        ['pulled by', send.pulled_by],
        ['pulled token', send.pulled_token],
        ['executor', send.executor_key],
        ['signer', signerNow(send, nodes)],
      ],
    };
  });
}

/** Returns the manual gates: each plan node that waits for a person, and what to check there. */
function gatesText(view: View, plan: CompiledPlan): string {
  const gates = gateTexts(plan);
  return gates.length === 0 ? '' : view.heading('Where it waits for a person') + view.record(gates);
}

function amountText({ amount, amount_ref, asset }: PlannedSend): string {
  return amount === null ? `${amount_ref ?? ''} (${asset})` : `${amount} ${asset}`;
}
