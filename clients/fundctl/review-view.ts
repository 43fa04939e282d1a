/** Shows what an approver approves: a block for each sending node, then limits and balances. */
import type { SendTerms } from '../../domain/plan/send-terms.ts';
import type { Cell, Styled } from '../command-line/table.ts';
import { state, type View } from '../command-line/view.ts';
import { when } from '../command-line/words.ts';
import type { PreviewOf, ResultOf } from '../http/operations.ts';
import { labelFor, labelOf, type Labels } from './labels.ts';
import type { Movement } from './movement-view.ts';

export type Review = NonNullable<ResultOf<'getMovement'>['review']>;
type Limit = PreviewOf<'createMovement'>['limits'][number];

/** A payee, with what the service reports about the payee. */
export interface PaidView {
  readonly chain_family: string;
  readonly address: string;
  readonly chain_id: number | null;
  /** `unseen`: the payee is in the plan but not in the service's review. Null: no review exists. */
  readonly standing: Pick<Payee, 'code' | 'usable_after' | 'problem'> | 'unseen' | null;
}
type Payee = Review['sends'][number]['payees'][number];

/** A plan node that sends funds. */
export interface SendView {
  readonly node_key: string;
  readonly action_type: string;
  readonly amount: string;
  /** Text for a node without a payee. */
  readonly withoutPayee: string;
  readonly payees: readonly PaidView[];
  /** Other terms to show, each with its name. */
  readonly terms: readonly (readonly [string, Cell])[];
}

/** Returns a block for each sending node. No columns: a narrow column would cut addresses. */
export function sendsText(view: View, sends: readonly SendView[], labels: Labels): string {
  return sends
    .map((send) =>
      view.record([
        [send.node_key, { text: `${send.action_type}  ${send.amount}`, tone: 'strong' }],
        ...(send.payees.length === 0 ? [['  pays', send.withoutPayee] as const] : []),
        ...send.payees.flatMap((payee): readonly (readonly [string, Cell])[] => [
          [
            '  pays',
            payee.address === '' ? { text: 'NO PAYEE IS NAMED', tone: 'bad' } : placeOf(payee),
          ],
          // Without a review of the service, the allowlist itself shows the standing of the payee.
          ['  label', payee.standing === null ? labelOf(labels, payee) : labelFor(labels, payee)],
          ['  allowlist', standingOf(payee)],
        ]),
        ...send.terms.map(([name, value]) => [`  ${name}`, value] as const),
      ]),
    )
    .join('\n');
}

/** Returns a node's terms with their names, in display order. */
export function termsOf(terms: SendTerms): readonly (readonly [string, Cell])[] {
  const { max_fee, finality, destination_caller } = terms;
  const burns = finality !== null || destination_caller !== null;
  const accounts = {
    from: together(terms.venue, terms.account_type),
    to: together(terms.destination_venue, terms.destination_account_type),
  };
  return [
    [accounts.to === null ? 'venue' : 'from', accounts.from],
    ['to', accounts.to],
    ['to sub-account', terms.sub_account_address],
    ['on chain', terms.chain_id],
    ['to chain', terms.destination_chain_id],
    ['token', terms.token_address],
    ['amount by', terms.amount_ref],
    ['burnt by', terms.burn_from],
    ['network', terms.network],
    ['tag', terms.tag],
    ['fee at most', max_fee],
    ['finality', finality],
    ['minted by', burns ? (destination_caller ?? 'anybody') : null],
  ];
}

/** Returns an account's venue and kind as one text; null when both are null. */
function together(venue: string | null, kind: string | null): string | null {
  const named = [venue, kind].filter((each) => each !== null);
  return named.length === 0 ? null : named.join(' ');
}

function placeOf({ address, chain_id }: PaidView): string {
  return chain_id === null ? address : `${address} on chain ${String(chain_id)}`;
}

function standingOf({ standing }: PaidView): Styled | null {
  if (standing === null) return null;
  if (standing === 'unseen') return { text: 'NOT LOOKED AT BY THE SERVICE', tone: 'bad' };
  const { code, usable_after, problem } = standing;
  if (code === null) return { text: 'may be paid' };
  if (code === 'ADDRESS_IN_COOLING_PERIOD')
    return { text: `cooling until ${when(usable_after)}`, tone: 'waiting' };
  return { text: problem === null ? code : `${code}: ${problem}`, tone: 'bad' };
}

/** Returns who requested the movement, and for an agent what its authority does not cover. */
export function requesterFields({
  created_by,
  agent_authority: authority,
}: Movement): readonly (readonly [string, Cell])[] {
  const of = (name: string): string | null => {
    const value = created_by[name];
    return typeof value === 'string' ? value : null;
  };
  const who = [
    of('client_id') ?? 'somebody without a key (authentication is off)',
    of('key_id') === null ? null : `key ${of('key_id') ?? ''}`,
    of('role'),
  ];
  const requester = ['requested by', who.filter((each) => each !== null).join(', ')] as const;
  if (authority === undefined) return [requester];
  const { uncovered } = authority;
  return [
    requester,
    ['agent', authority.authority_key],
    [
      'not covered',
      uncovered.length === 0
        ? 'nothing: its authority covers all of it'
        : { text: uncovered.join(', '), tone: 'bad' },
    ],
  ];
}

/** Returns a table of limits with their use; empty without limits. */
export async function limitsText(view: View, limits: readonly Limit[]): Promise<string> {
  if (limits.length === 0) return '';
  return [
    view.heading('Limits'),
    await view.table(limits, {
      LIMIT: 'control',
      'AT MOST': { right: 'limit' },
      USED: { right: 'used' },
      AFTER: { right: 'after' },
      WITHIN: ({ ok }) =>
        ok === null ? '?' : ok ? state('yes') : ({ text: 'NO', tone: 'bad' } as const),
    }),
  ].join('');
}

/** Returns the balances from which the funds are taken, and what would fail now. */
export async function standingText(
  view: View,
  { balances, would_fail: failing }: Pick<Review, 'balances' | 'would_fail'>,
): Promise<string> {
  return [
    ...(balances.length === 0 ? [] : [view.heading('Where it is taken from')]),
    await view.table(balances, {
      VENUE: 'venue_key',
      ACCOUNT: 'account_type',
      TAKES: { right: (row) => `${row.draws ?? 'UNBOUNDED'} ${row.asset}` },
      FREE: { right: (row) => row.effective_withdrawable ?? '?' },
      SEEN: (row) => `${when(row.fetched_at)}${row.stale === true ? ' (too old)' : ''}`,
    }),
    ...(failing.length === 0 ? [] : [view.heading('What would fail now')]),
    view.record(
      failing.map(
        ({ at, node_key, error, message }) =>
          [
            node_key ?? (at === 'approve' ? 'approval' : 'plan'),
            { text: `${error}: ${message}`, tone: 'bad' },
          ] as const,
      ),
    ),
  ].join('');
}
