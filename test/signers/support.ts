/** The requests that all backends sign. */
import { privateKeyToAccount } from 'viem/accounts';
import type { EvmUnsignedTransaction } from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';

export const KEY = '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a';
export const { address: ADDRESS } = privateKeyToAccount(KEY);
export const OTHER_KEY = `0x${'4'.repeat(64)}` as const;
export const { address: OTHER_ADDRESS } = privateKeyToAccount(OTHER_KEY);

export const UNSIGNED: EvmUnsignedTransaction = {
  chain_id: 31_337,
  to: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  value: '1000000000000000000000',
  data: '0xa9059cbb00',
  gas: '21000',
  max_fee_per_gas: '2000000000',
  max_priority_fee_per_gas: '1000000000',
};

export const TYPED: JsonObject = {
  domain: { name: 'Test', chainId: 31_337 },
  types: { Order: [{ name: 'amount', type: 'uint256' }] },
  primaryType: 'Order',
  message: { amount: '5' },
};
