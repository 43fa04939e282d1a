/**
 * OKX's states (docs/okx-facts.md, 8). A state that is not listed is pending: none of them is known
 * to be final.
 */
import type { DepositRecord, RecordStatus } from '../../dialect.ts';

type State<Status> = readonly [status: Status, text: string];

const REVIEW: State<RecordStatus> = ['pending', 'waits for a manual review'];

const WITHDRAWAL_STATES: Readonly<Record<string, State<RecordStatus>>> = {
  '-3': ['pending', 'is being cancelled'],
  '-2': ['failed', 'cancelled'],
  '-1': ['failed', 'failed'],
  '0': ['pending', 'waits'],
  '1': ['pending', 'is being broadcast'],
  '2': ['completed', 'success'],
  '4': REVIEW,
  '5': REVIEW,
  '6': REVIEW,
  '7': ['pending', 'approved'],
  '8': REVIEW,
  '9': REVIEW,
  '10': ['pending', 'waits for a transfer'],
  '12': REVIEW,
  '15': ['pending', 'the transaction is being validated'],
  '16': ['pending', 'may take 24 hours by local law'],
  '17': ['pending', 'waits for the Travel Rule vendor'],
  '19': ['pending', 'the hot wallet has too little'],
};

/** The states in which OKX accepts a cancel request. */
export const CANCELLABLE_STATES: readonly string[] = ['0', '17', '19'];

/** No state is documented as the final failure of a deposit: what is held may be released. */
const DEPOSIT_STATES: Readonly<Record<string, State<DepositRecord['status']>>> = {
  '0': ['pending', 'waits for confirmations'],
  '1': ['credited', 'credited, cannot be withdrawn yet'],
  '2': ['completed', 'success'],
  '8': ['pending', 'deposits of the currency are suspended'],
  '11': ['pending', 'held: the address is on a blacklist'],
  '12': ['pending', 'held: the account or the deposit is frozen'],
  '13': ['pending', 'held: intercepted at the sub-account'],
  '14': ['pending', "held: limit of the owner's verification"],
  '17': ['pending', 'waits for the Travel Rule vendor'],
};

const TRANSFER_STATES: Readonly<Record<string, RecordStatus>> = {
  success: 'completed',
  pending: 'pending',
  failed: 'failed',
};

export function withdrawalState(state: string): State<RecordStatus> {
  return stateIn(WITHDRAWAL_STATES, state);
}

export function depositState(state: string): State<DepositRecord['status']> {
  return stateIn(DEPOSIT_STATES, state);
}

export function transferStatus(state: string): RecordStatus {
  return Object.hasOwn(TRANSFER_STATES, state) ? (TRANSFER_STATES[state] ?? 'pending') : 'pending';
}

function stateIn<Status>(
  states: Readonly<Record<string, State<Status>>>,
  state: string,
): State<Status | 'pending'> {
  const found = Object.hasOwn(states, state) ? states[state] : undefined;
  return found ?? ['pending', `state ${state}`];
}
