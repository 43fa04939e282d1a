/** Records as tests put them into the books of a local exchange. */
import type { Deposit, Transfer, Withdrawal } from './books.ts';

/** A completed withdrawal of 100 USDC by the master, now, over the network `ETH`. */
export const madeWithdrawal = (changes: Partial<Withdrawal> = {}): Withdrawal => ({
  id: 'w-1',
  account: null,
  client_id: null,
  asset: 'USDC',
  network: 'ETH',
  address: `0x${'1'.repeat(40)}`,
  tag: null,
  net_amount: '99.75',
  fee: '0.25',
  time: Date.now(),
  status: 'completed',
  exchange_status: null,
  within: false,
  tx: `0x${'ab'.repeat(32)}`,
  label: null,
  visible_from: 0,
  ...changes,
});

/** A withdrawable deposit of 100.25 USDC to the master, now, over the network `ETH`. */
export const madeDeposit = (changes: Partial<Deposit> = {}): Deposit => ({
  id: '700000',
  account: null,
  asset: 'USDC',
  network: 'ETH',
  address: '0x1',
  tag: null,
  amount: '100.25',
  time: Date.now(),
  status: 'completed',
  exchange_status: null,
  tx: `0x${'c4'.repeat(32)}`,
  ...changes,
});

/** A completed transfer of 12.5 USDC within the master, now. */
export const madeTransfer = (changes: Partial<Transfer> = {}): Transfer => ({
  id: '1',
  client_id: null,
  source: { account: null, pool: 'SPOT' },
  destination: { account: null, pool: 'SPOT' },
  asset: 'USDC',
  amount: '12.5',
  time: Date.now(),
  status: 'completed',
  exchange_status: null,
  visible_from: 0,
  ...changes,
});
