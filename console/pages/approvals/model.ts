/** Whether a movement may be decided together with others, and which states show the outcome. */
import type { ResultOf } from '../../../clients/http/operations.ts';
import { isBuiltIn } from '../../../domain/actions/built-in.ts';
import { mayApproveSentence } from '../../../domain/approval/why-not.ts';
import type { PlannedSend } from '../../../domain/send/planned-sends.ts';
import type { AssetAmount } from '../movement/model/outflow.ts';
import type { PayeeView } from '../movement/model/payees.ts';

export type Detail = ResultOf<'getMovement'>;

export type Verb = 'approve' | 'reject';

export interface About {
  /** Outflow from the plan's bytes; null when the plan does not say. */
  readonly outflow: readonly AssetAmount[] | null;
  readonly payees: readonly Pick<PayeeView, 'warnings'>[];
  readonly sends: readonly Pick<PlannedSend, 'node_key' | 'action_type'>[];
  /** Whether the allowlist was read: without it, an absent warning means nothing. */
  readonly isListed: boolean;
}

/** Returns why a movement must be decided separately; null when it may be decided with others. */
export function refusalOf(
  verb: Verb,
  detail: Detail,
  { outflow, payees, sends, isListed }: About,
): string | null {
  if (detail.request_state !== 'PENDING_APPROVAL')
    return `It was decided meanwhile: it is ${detail.request_state}.`;
  if (verb === 'reject') return null;
  const { you } = detail.approvals ?? {};
  if (you?.may === false) return mayApproveSentence(you.why_not);
  // Each touch is for one decision, which its own page shows.
  if (you?.evidence === 'passkey')
    return 'A rule requires your passkey: approve it on its own page.';
  if (!isListed) return 'The allowlist could not be read, so the payees cannot be checked.';
  if (outflow === null || outflow.some(({ amount }) => amount === null))
    return 'Its outflow is not bounded: decide the movement on its own page.';
  const own = sends.find(({ action_type }) => !isBuiltIn(action_type));
  // It may read its payee from any of its inputs, which take a while to read.
  if (own !== undefined)
    return `The executor of a team decides whom ${own.node_key} pays: decide the movement on its own page.`;
  const over = detail.review?.limits.filter(({ ok }) => ok === false) ?? [];
  if (over.length > 0)
    return `It is over ${over.map(({ control }) => control).join(', ')}: decide it on its own page.`;
  const [warning] = payees.flatMap(({ warnings }) => warnings);
  if (warning !== undefined)
    return `A payee has a warning (${warning.text}): decide it on its own page.`;
  const failing = detail.review?.would_fail.find(({ at }) => at === 'approve');
  return failing === undefined
    ? null
    : `Its approval would be refused now (${failing.message}): decide it on its own page.`;
}

/** Returns whether a state shows that the decision did not take effect. */
export const IS_NOT_SO: Readonly<Record<Verb, (state: Detail['request_state']) => boolean>> = {
  approve: (state) => ['PENDING_APPROVAL', 'REJECTED', 'EXPIRED', 'CANCELLED'].includes(state),
  reject: (state) => state !== 'REJECTED',
};
