/**
 * The payees: read from the plan's bytes, with what the service and the allowlist report about
 * each.
 */
import { looksLike, sameAddress } from '../../../../domain/allowlist/address.ts';
import { isLabelOf } from '../../../../domain/allowlist/match.ts';
import {
  withStandings,
  type PlannedPayee,
  type PlannedSend,
  type Standing,
} from '../../../../domain/send/planned-sends.ts';
import type { ListedRow, Movement, Review } from './answers.ts';

export type Warning =
  'no_payee' | 'not_listed' | 'cooling' | 'chain_required' | 'problem' | 'unseen' | 'look_alike';

export interface PayeeView extends PlannedPayee {
  /** The network on which an exchange pays; null when the plan names none. */
  readonly network: string | null;
  /** At an address that many payees share, the tag selects the payee; null without one. */
  readonly tag: string | null;
  /**
   * Payments to this payee. `amount` is in units of the asset; null when `amount_ref` decides it.
   */
  readonly paid: readonly Pick<
    PlannedSend,
    'node_key' | 'action_type' | 'asset' | 'amount' | 'amount_ref'
  >[];
  readonly label: string | null;
  /**
   * Who added the payee to the allowlist; null without an allowlist row, or when the rows cannot be
   * read.
   */
  readonly listed_by: string | null;
  readonly listed_at: string | null;
  /** End of the payee's cooling period; null without one. */
  readonly usable_after: string | null;
  readonly warnings: readonly { readonly warning: Warning; readonly text: string }[];
  /** Another known address with the same first and last characters; null when there is none. */
  readonly look_alike: string | null;
}

export interface Reviewed {
  readonly sends: readonly PlannedSend[];
  readonly movement: Pick<Movement, 'review' | 'nodes'>;
  /** Null when the allowlist cannot be read: then labels are unknown. */
  readonly rows: readonly ListedRow[] | null;
  /** Present time in milliseconds since 1970, by the service's clock if it is known. */
  readonly now: number;
}

type Seen = Review['sends'][number]['payees'][number];
type Paid = Standing<Seen> & { readonly send: PlannedSend };

/** Returns each payee once, in the plan's order, with all payments to it. */
export function payeesOf({ sends, movement, rows, now }: Reviewed): readonly PayeeView[] {
  const all = sends.flatMap((send) =>
    paidBy(send, movement).map((payee): Paid => ({ ...payee, send })),
  );
  const known = [...all, ...(rows ?? []).filter(({ active }) => active)].map(
    ({ address }) => address,
  );
  return grouped(all).map((same) => viewOf(same, { rows, now, known }));
}

function paidBy(
  send: PlannedSend,
  { review, nodes }: Reviewed['movement'],
): readonly Standing<Seen>[] {
  const seen = review?.sends.find(({ node_key }) => node_key === send.node_key)?.payees;
  const shown = nodes.find(({ node_key }) => node_key === send.node_key)?.destination ?? null;
  return withStandings(send.payees, review === undefined ? undefined : (seen ?? []), shown);
}

function grouped(all: readonly Paid[]): readonly (readonly [Paid, ...Paid[]])[] {
  const groups: [Paid, ...Paid[]][] = [];
  for (const payee of all) {
    const group = groups.find(
      ([first]) =>
        first.chain_family === payee.chain_family &&
        first.chain_id === payee.chain_id &&
        first.send.terms.network === payee.send.terms.network &&
        first.send.terms.tag === payee.send.terms.tag &&
        sameAddress(first.address, payee.address),
    );
    if (group === undefined) groups.push([payee]);
    else group.push(payee);
  }
  return groups;
}

function viewOf(
  same: readonly [Paid, ...Paid[]],
  { rows, now, known }: Pick<Reviewed, 'rows' | 'now'> & { readonly known: readonly string[] },
): PayeeView {
  const [{ chain_family, address, chain_id, send }] = same;
  const { network, tag } = send.terms;
  const listed = (rows ?? []).filter((row) => isLabelOf(row, { chain_family, address, chain_id }));
  const isCooling = ({ usable_after: after }: ListedRow) =>
    after !== null && Date.parse(after) > now;
  // One allowlist row outside its cooling period is enough for a payment.
  const row = listed.find((each) => !isCooling(each)) ?? listed[0];
  const look_alike =
    address === ''
      ? null
      : (known.find((other) => !sameAddress(other, address) && looksLike(other, address)) ?? null);
  const warnings = [
    ...new Map(
      same
        .flatMap(({ standing }) => standingWarnings(standing, { address, rows, row, isCooling }))
        .map((each) => [each.text, each]),
    ).values(),
  ];
  return {
    chain_family,
    address,
    chain_id,
    network,
    tag,
    look_alike,
    paid: same.map(({ send: { node_key, action_type, asset, amount, amount_ref } }) => ({
      node_key,
      action_type,
      asset,
      amount,
      amount_ref,
    })),
    label: row?.label ?? null,
    listed_by: row?.created_by ?? null,
    listed_at: row?.created_at ?? null,
    usable_after: row?.usable_after ?? null,
    warnings:
      look_alike === null
        ? warnings
        : [
            ...warnings,
            {
              warning: 'look_alike',
              text: `Begins and ends like ${look_alike}, and is another address: compare every character.`,
            },
          ],
  };
}

type Warned = PayeeView['warnings'][number];

function standingWarnings(
  standing: Paid['standing'],
  about: {
    readonly address: string;
    readonly rows: readonly ListedRow[] | null;
    readonly row: ListedRow | undefined;
    readonly isCooling: (row: ListedRow) => boolean;
  },
): readonly Warned[] {
  const { address, rows, row, isCooling } = about;
  if (address === '') return [{ warning: 'no_payee', text: 'The plan names no payee.' }];
  if (standing === 'unseen')
    return [{ warning: 'unseen', text: 'The plan pays it, and the service does not name it.' }];
  if (standing === null) {
    // The service did not report a standing, so the allowlist's rows decide.
    if (rows === null) return [];
    if (row === undefined) return [NOT_LISTED];
    return isCooling(row) ? [cooling(row.usable_after)] : [];
  }
  const { code, problem, usable_after } = standing;
  const more: readonly Warned[] = problem === null ? [] : [{ warning: 'problem', text: problem }];
  switch (code) {
    case null:
      return more;
    case 'ADDRESS_NOT_ALLOWLISTED':
      return [NOT_LISTED, ...more];
    case 'ADDRESS_CHAIN_ID_REQUIRED':
      return [
        { warning: 'chain_required', text: 'Its row of the allowlist has to name this chain.' },
        ...more,
      ];
    case 'ADDRESS_IN_COOLING_PERIOD':
      return [cooling(usable_after), ...more];
  }
}

const NOT_LISTED: Warned = { warning: 'not_listed', text: 'Not on the allowlist.' };

function cooling(until: string | null): Warned {
  return {
    warning: 'cooling',
    text: `Cooling: may be paid from ${until ?? 'a time that is not known'}.`,
  };
}
