/**
 * Kraken's states (docs/kraken-facts.md, 6): a `status` and perhaps a `status-prop`. What is not
 * listed is pending: no source shows that it is final.
 */
import type { DepositRecord, RecordStatus } from '../../dialect.ts';

type State<Status> = readonly [status: Status, text: string];

interface Reported {
  readonly status: string;
  readonly 'status-prop': string | null;
}

const WITHDRAWALS: Readonly<Record<string, RecordStatus>> = {
  Success: 'completed',
  // The cancel came too late.
  'Success, cancel-denied': 'completed',
  Failure: 'failed',
  'Failure, canceled': 'failed',
};

/** `Settled` still needs confirmations. The word for a hold has two spellings (17). */
const DEPOSITS: Readonly<Record<string, DepositRecord['status']>> = {
  Success: 'completed',
  'Success, onhold': 'credited',
  'Success, on-hold': 'credited',
  Failure: 'failed',
};

export function withdrawalState(reported: Reported): State<RecordStatus> {
  return stateIn(WITHDRAWALS, reported);
}

export function depositState(reported: Reported): State<DepositRecord['status']> {
  return stateIn(DEPOSITS, reported);
}

function stateIn<Status>(
  states: Readonly<Record<string, Status>>,
  { status, 'status-prop': property }: Reported,
): State<Status | 'pending'> {
  const text = property === null ? status : `${status}, ${property}`;
  const found = Object.hasOwn(states, text) ? states[text] : undefined;
  return [found ?? 'pending', text];
}
