/**
 * What an approval is about, read from the plan's own bytes and not from what a list says of it:
 * amounts, terms, destinations, executors and signers. What the service says of them now (their
 * standing, balances, what would fail) is laid beside.
 */
import { destinationsOf } from '../../domain/allowlist/destinations.ts';
import { isBuiltIn } from '../../domain/actions/built-in.ts';
import { amountLimits } from '../../domain/plan/limits.ts';
import { sendTerms } from '../../domain/plan/send-terms.ts';
import type { CompiledNode, CompiledPlan } from '../../domain/plan/types.ts';
import type { Session } from '../command-line/session.ts';
import type { View } from '../command-line/view.ts';
import { failure, fieldOf, isJson, moneyOf, parsedJson } from '../command-line/words.ts';
import { planHash } from '../http/plan.ts';
import type { Movement } from './movement-view.ts';
import { readLabels, sameAddress, type Payee } from './labels.ts';
import {
  limitsText,
  requesterFields,
  sendsText,
  standingText,
  termsOf,
  type PaidView,
  type Review,
  type SendView,
} from './review-view.ts';

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

/** What moves, node by node, with everybody who is paid, and how things stand. */
export async function planText(
  session: Session,
  view: View,
  { plan, hash, movement }: ReadPlan,
): Promise<string> {
  const labels = await readLabels(session);
  const { template, intent } = plan;
  // A plan that does not say it does not say that nothing moves.
  const { outflow = null }: { readonly outflow?: CompiledPlan['outflow'] | null } = plan;
  return [
    view.record([
      ['plan', `${template.template_key}@${String(template.version)}`],
      ['intent', `${intent.amount} ${intent.asset}`],
      ...requesterFields(movement),
      ['moves at most', { text: outflow === null ? 'UNKNOWN' : moneyOf(outflow), tone: 'strong' }],
      ['hash', `${hash} (made here from the plan's bytes)`],
    ]),
    view.heading('Who is paid'),
    sendsText(view, sendsIn(plan, movement), labels),
    givenText(view, plan),
    gatesText(view, plan),
    await limitsText(
      view,
      amountLimits(plan).map((each) => ({ ...each, used: null })),
    ),
    movement.review === undefined ? '' : await standingText(view, movement.review),
    ...('hidden' in labels ? [`\nLabels are not known here: ${labels.hidden}.\n`] : []),
  ].join('');
}

/** Which of its own limits the plan is beyond, as a sentence; null where it is within all. */
export function beyondLimit({ plan }: Pick<ReadPlan, 'plan'>): string | null {
  const beyond = amountLimits(plan).filter(({ ok }) => ok === false);
  if (beyond.length === 0) return null;
  const each = beyond.map(
    ({ control, limit, after }) => `${after ?? ''} is above ${control} of ${limit}`,
  );
  return `The plan is beyond its own limit: ${each.join('; ')}. What is beyond fails before it is sent.`;
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

function sendsIn(plan: CompiledPlan, { review, nodes }: Movement): readonly SendView[] {
  return plan.nodes
    .filter((node) => node.sends)
    .map((node): SendView => {
      const asked =
        review === undefined
          ? undefined
          : (review.sends.find(({ node_key }) => node_key === node.node_key)?.payees ?? []);
      const shown = nodes.find(({ node_key }) => node_key === node.node_key)?.destination ?? null;
      return {
        ...{ node_key: node.node_key, action_type: node.action_type },
        amount: amountOf(node, plan),
        nobody: isBuiltIn(node.action_type)
          ? 'between own accounts'
          : 'nobody that the plan names; its executor decides',
        payees: together(payeesOf(node, plan), asked, shown),
        terms: [
          ...termsOf(sendTerms(node)),
          ['executor', node.executor_binding.executor_key],
          ['signer', signerNow(node, nodes)],
        ],
      };
    });
}

/** Who signs now, where a rotation has put another one in the place of the plan's. */
function signerNow(
  { node_key, signer_binding }: CompiledPlan['nodes'][number],
  nodes: Movement['nodes'],
): string | undefined {
  const planned = signer_binding?.signer_key;
  const bound = nodes.find((each) => each.node_key === node_key)?.signer_binding;
  const now = bound?.signer_key;
  return now === undefined || now === planned
    ? planned
    : `${now} (IN THE PLACE OF ${planned ?? 'NONE'} OF THE PLAN)`;
}

/**
 * Payees by the plan's bytes and by the service. Neither leaves out what the other names: a service
 * that is silent of one hides nothing.
 */
function together(
  own: readonly Payee[],
  asked: Review['sends'][number]['payees'] | undefined,
  shown: string | null,
): readonly PaidView[] {
  const is = (one: Payee) => (other: Payee) =>
    sameAddress(one.address, other.address) && one.chain_id === other.chain_id;
  if (asked === undefined) {
    const missing = shown !== null && !own.some(({ address }) => sameAddress(address, shown));
    const more = missing ? [{ chain_family: 'evm', address: shown, chain_id: null }] : [];
    return [...own, ...more].map((payee) => ({ ...payee, standing: null }));
  }
  return [
    ...own.map((payee) => ({ ...payee, standing: asked.find(is(payee)) ?? ('unseen' as const) })),
    ...asked
      .filter((payee) => !own.some(is(payee)))
      .map((payee) => ({ ...payee, standing: payee })),
  ];
}

/** What a person is to look at, where the plan waits for one. */
function gatesText(view: View, { nodes }: CompiledPlan): string {
  const gates = nodes.flatMap(({ node_key, node_kind, config }) =>
    node_kind === 'manual_gate' && typeof config['description'] === 'string'
      ? [[node_key, config['description']] as const]
      : [],
  );
  return gates.length === 0 ? '' : view.heading('Where it waits for a person') + view.record(gates);
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

function amountOf({ config, asset }: CompiledNode, { intent }: CompiledPlan): string {
  const { amount, amount_ref: reference } = config;
  if (typeof amount === 'string') return `${amount} ${asset}`;
  if (typeof reference === 'string' && reference !== 'intent') return `${reference} (${asset})`;
  return `${intent.amount} ${asset}`;
}
