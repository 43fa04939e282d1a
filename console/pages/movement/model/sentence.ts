/** Describes a movement in one sentence: what it does, and why it waits. */
import type { MovementState } from '../../../../domain/states/movement.ts';
import { shortAddress } from '../../../parts/format.ts';
import { visibleText } from '../../../parts/visible.ts';
import type { Movement } from './answers.ts';
import { amountsInWords, type AssetAmount } from './outflow.ts';
import type { PayeeView } from './payees.ts';

const LONGEST_NAME = 60;

const WHAT_ITS_STATE_SAYS: Readonly<Record<MovementState, string>> = {
  PENDING_APPROVAL: 'it waits for an approval',
  APPROVED: 'it is approved and about to run',
  EXECUTING: 'it is running',
  COMPLETED: 'it is completed',
  FAILED: 'it failed',
  WAITING_MANUAL_ACTION: 'it waits for a person at a gate',
  MANUAL_INTERVENTION: 'it waits for proof of what became of a send',
  REJECTED: 'it was rejected, and nothing was moved',
  EXPIRED: 'its approval time passed, and nothing was moved',
  CANCELLED: 'it was cancelled',
};

/**
 * Returns what the plan does, then why the movement waits: `attention.message` if there is one,
 * else a phrase for its state. `outflow` and `payees` are those of the plan. `outflow` is null when
 * no plan can be read.
 */
export function sentenceOf(
  { request_state, attention, template_key, template_version }: Movement,
  outflow: readonly AssetAmount[] | null,
  payees: readonly PayeeView[],
): string {
  const what =
    outflow === null
      ? `A run of ${name(template_key)}@${String(template_version)}`
      : `Moves ${outflow.length === 0 ? 'nothing' : `at most ${visibleText(amountsInWords(outflow))}`}${to(payees)}`;
  const why = attention?.message ?? `${WHAT_ITS_STATE_SAYS[request_state]}.`;
  return `${what}: ${lowerFirst(visibleText(why))}`;
}

function to(payees: readonly PayeeView[]): string {
  const named = payees.filter(({ address }) => address !== '');
  const [first, ...others] = named;
  if (first === undefined) return '';
  const who =
    first.label === null
      ? name(shortAddress(first.address))
      : `${name(first.label)} (${name(shortAddress(first.address))})`;
  return ` to ${who}${others.length === 0 ? '' : ` and ${String(others.length)} more`}`;
}

/**
 * Returns an untrusted name, shortened and without characters that could reorder or hide the rest
 * of the sentence.
 */
function name(text: string): string {
  const shown = visibleText(text);
  return shown.length > LONGEST_NAME ? `${shown.slice(0, LONGEST_NAME)}…` : shown;
}

/** Makes the first letter lower case, except when the text starts with a code or a node key. */
function lowerFirst(text: string): string {
  return /^(It|The|A|What|Whether)\b/.test(text)
    ? text.charAt(0).toLowerCase() + text.slice(1)
    : text;
}
