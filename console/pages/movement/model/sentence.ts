/** A movement in one sentence: what it does, and why it waits. */
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
 * What happens by the plan, then why it waits by the service's own words (`attention.message`),
 * else by its state. `outflow` and `payees` are those of the plan; null where none can be read.
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

/** A name of others, with nothing in it that could reorder or hide the rest of the sentence. */
function name(text: string): string {
  const shown = visibleText(text);
  return shown.length > LONGEST_NAME ? `${shown.slice(0, LONGEST_NAME)}…` : shown;
}

/** Codes and node keys keep their letters. */
function lowerFirst(text: string): string {
  return /^(It|The|A|What|Whether)\b/.test(text)
    ? text.charAt(0).toLowerCase() + text.slice(1)
    : text;
}
