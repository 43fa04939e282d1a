/**
 * Bybit's states (docs/bybit-facts.md, 8). A state that is not listed as final is pending: no
 * source shows that it is.
 */
import type { DepositRecord, RecordStatus } from '../../dialect.ts';

type State<Status> = readonly [status: Status, text: string];

/** `BlockchainConfirmed` is not among them: sources differ on whether it is final (17). */
const WITHDRAWALS: Readonly<Record<string, RecordStatus>> = {
  success: 'completed',
  CancelByUser: 'failed',
  Reject: 'failed',
  Fail: 'failed',
};

const DEPOSITS: Readonly<Record<string, State<DepositRecord['status']>>> = {
  '0': ['pending', 'unknown'],
  '1': ['pending', 'to be confirmed'],
  '2': ['pending', 'processing'],
  '3': ['completed', 'success'],
  '4': ['failed', 'deposit failed'],
  '7': ['pending', 'rollback in process'],
  '10011': ['pending', 'to be credited to a funding pool'],
  '10012': ['pending', 'credited to a funding pool'],
  '70011': ['failed', 'rolled back; the credited funds were deducted'],
  '70012': ['completed', 'success after a review'],
  '70013': ['pending', 'rollback under manual review'],
};

/** `0` normal, `10` above the daily limit, `20` held for a while; `50` is blocked. */
const CREDITED_TYPES: readonly string[] = ['0', '10', '20'];

const INTERNAL_DEPOSITS: Readonly<Record<string, State<DepositRecord['status']>>> = {
  '1': ['pending', 'processing'],
  '2': ['completed', 'success'],
  '3': ['failed', 'failed'],
};

const TRANSFERS: Readonly<Record<string, RecordStatus>> = {
  SUCCESS: 'completed',
  FAILED: 'failed',
};

export function withdrawalState(status: string): State<RecordStatus> {
  return [own(WITHDRAWALS, status) ?? 'pending', status];
}

/** `depositType` is null in older records, which are normal ones. */
export function depositState({
  status,
  depositType,
}: {
  readonly status: string;
  readonly depositType: string | null;
}): State<DepositRecord['status']> {
  const [state, text] = own(DEPOSITS, status) ?? ['pending', `status ${status}`];
  const isCredited = depositType === null || CREDITED_TYPES.includes(depositType);
  if (state !== 'completed' || isCredited) return [state, text];
  return ['pending', `${text}, but held as deposit type ${depositType}`];
}

/** `complianceStatus` 1 waits for information from a person. */
export function internalDepositState({
  status,
  complianceStatus,
}: {
  readonly status: string;
  readonly complianceStatus: string | null;
}): State<DepositRecord['status']> {
  const [state, text] = own(INTERNAL_DEPOSITS, status) ?? ['pending', `status ${status}`];
  if (state !== 'completed' || complianceStatus !== '1') return [state, text];
  return ['pending', `${text}, but waits for information on the website`];
}

export function transferStatus(status: string): RecordStatus {
  return own(TRANSFERS, status) ?? 'pending';
}

function own<T>(states: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(states, name) ? states[name] : undefined;
}
