/**
 * What an approval is about, read from the plan's own bytes and not from what a list says of it:
 * amounts, destinations with their labels, executors and signers.
 */
import { destinationsOf } from '../../domain/allowlist/destinations.ts';
import { isBuiltIn } from '../../domain/plan/actions.ts';
import type { CompiledNode, CompiledPlan } from '../../domain/plan/types.ts';
import type { Session } from '../command-line/session.ts';
import type { Cell } from '../command-line/table.ts';
import type { View } from '../command-line/view.ts';
import { failure, fieldOf, isJson, moneyOf, parsedJson } from '../command-line/words.ts';
import { planHash } from '../http/plan.ts';
import type { Movement } from './movement-view.ts';
import { labelOf, readLabels, type Labels, type Payee } from './labels.ts';

/** A plan whose hash was made here from the bytes that were answered. */
export interface ReadPlan {
  readonly text: string;
  readonly hash: string;
  readonly plan: CompiledPlan;
  /** The movement as it was then. */
  readonly movement: Movement;
}

/** Reads the plan of a movement, and holds it to the hash that the movement says it has. */
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
      `The plan that was answered has the hash ${hash}, and the movement says ${movement.compiled_plan_hash}: nothing of it is to be believed.`,
    );
  return { text, hash, plan: planOf(text), movement };
}

function planOf(text: string): CompiledPlan {
  const value = parsedJson(text, 'The plan');
  if (!isPlan(value)) throw failure('The plan is none that this version can read.');
  return value;
}

/** What has the right hash was compiled by the service: this tells it from something else. */
function isPlan(value: unknown): value is CompiledPlan {
  return isJson(value) && Array.isArray(value['nodes']) && isJson(value['intent']);
}

/** What moves, node by node, with everybody who is paid. */
export async function planText(
  session: Session,
  view: View,
  { plan, hash }: ReadPlan,
): Promise<string> {
  const labels = await readLabels(session);
  const { template, intent } = plan;
  // A plan that does not say it does not say that nothing moves.
  const { outflow = null }: { readonly outflow?: CompiledPlan['outflow'] | null } = plan;
  return [
    view.record([
      ['plan', `${template.template_key}@${String(template.version)}`],
      ['intent', `${intent.amount} ${intent.asset}`],
      ['moves at most', { text: outflow === null ? 'UNKNOWN' : moneyOf(outflow), tone: 'strong' }],
      ['hash', `${hash} (made here from the plan's bytes)`],
    ]),
    view.heading('Who is paid'),
    await view.table(paidIn(plan, labels), [
      { title: 'NODE', of: (row) => row.node },
      { title: 'ACTION', of: (row) => row.action },
      { title: 'AMOUNT', of: (row) => row.amount, right: true },
      { title: 'DESTINATION', of: (row) => row.destination },
      { title: 'LABEL', of: (row) => row.label },
      { title: 'EXECUTOR', of: (row) => row.executor },
      { title: 'SIGNER', of: (row) => row.signer },
    ]),
    givenText(view, plan),
    ...('hidden' in labels ? [`Labels are not known here: ${labels.hidden}.\n`] : []),
  ].join('');
}

/**
 * A team's own executor may read whom it pays from anywhere: all that it is given stands there, so
 * that nobody approves by the one field that looks like a payee.
 */
function givenText(view: View, plan: CompiledPlan): string {
  const own = plan.nodes.filter((node) => node.sends && !isBuiltIn(node.action_type));
  if (own.length === 0) return '';
  return [
    view.heading('What these executors of teams are given to decide whom they pay'),
    view.record([
      ['intent', JSON.stringify(plan.intent)],
      ['parameters', JSON.stringify(plan.input_params)],
      ...own.map((node) => [node.node_key, JSON.stringify(node.config)] as const),
    ]),
  ].join('');
}

interface PaidRow {
  readonly node: string;
  readonly action: string;
  readonly amount: string;
  readonly destination: string;
  readonly label: Cell;
  readonly executor: string;
  readonly signer: string;
}

function paidIn(plan: CompiledPlan, labels: Labels): readonly PaidRow[] {
  return plan.nodes
    .filter((node) => node.sends)
    .flatMap((node): readonly PaidRow[] => {
      const payees = payeesOf(node, plan);
      const shared = {
        node: node.node_key,
        action: node.action_type,
        amount: amountOf(node, plan),
        executor: node.executor_binding.executor_key,
        signer: node.signer_binding?.signer_key ?? '',
      };
      if (payees.length === 0)
        return [{ ...shared, destination: 'between own accounts, or by its executor', label: '' }];
      return payees.map((payee) => ({
        ...shared,
        destination: placeOf(payee),
        label: labelOf(labels, payee),
      }));
    });
}

/** By the rules by which the service asks its allowlist. */
function payeesOf(node: CompiledNode, { intent, input_params }: CompiledPlan): readonly Payee[] {
  const all = destinationsOf({ node, executor: undefined, intent, input_params });
  const known = all.filter(({ address }) => address !== '');
  if (known.length > 0 || all.length === 0) return known;
  const named = ['destination_address', 'destination', 'recipient', 'to'].map((field) =>
    fieldOf(node.config, field),
  );
  const address = named.find((each) => each !== '');
  return address === undefined ? [] : [{ chain_family: 'evm', address, chain_id: null }];
}

function placeOf({ address, chain_id }: Payee): string {
  return chain_id === null ? address : `${address} on chain ${String(chain_id)}`;
}

function amountOf({ config, asset }: CompiledNode, { intent }: CompiledPlan): string {
  const { amount, amount_ref: reference } = config;
  if (typeof amount === 'string') return `${amount} ${asset}`;
  if (typeof reference === 'string' && reference !== 'intent') return `${reference} (${asset})`;
  return `${intent.amount} ${asset}`;
}
