/** A process that stops declares no send of any kind, and calls nothing before it decides. */
import { submitting } from '../../domain/capital-transfers/step.ts';
import type { NodeChange } from '../../domain/transition.ts';
import type { Database } from '../../prisma/client.ts';
import { applyTransferStep } from '../../store/capital-transfer-steps.ts';
import { fillNonce } from '../../store/lanes.ts';
import { applyTransition, tryFence } from '../../store/transition.ts';

const ID = '01a216d3-6ceb-7220-bba2-0b1dc61b37e3';
const ADDRESS = `0x${'1'.repeat(40)}`;
const UNSIGNED = {
  chain_id: 1,
  to: ADDRESS,
  value: '0',
  data: '0x',
  gas: '21000',
  max_fee_per_gas: '1',
  max_priority_fee_per_gas: '1',
};
const SIGNED = { unsigned: UNSIGNED, raw_tx: '0x02', tx_hash: '0x03' };
const VERSION = { transaction_id: ID, claim: ID, over: ID, kind: 'payment', ...SIGNED } as const;

/** A database that must not be called. */
const db = (mayBegin: boolean): Database =>
  ({
    mayBegin: () => mayBegin,
    auditMac: () => null,
    sql: () => Promise.reject(new Error('called')),
  }) as unknown as Database;

const change = (nodes: NodeChange) => (on: Database) =>
  applyTransition(on, { movement_id: ID, nodes: [nodes], timeline: [] });
const row = { transfer_id: ID, state: 'CREATED', epoch: 1, provider: 'paper', sends: 0 } as const;

const WAYS: readonly [string, (on: Database) => Promise<unknown>, unknown][] = [
  [
    'the fence',
    change({ node_key: 'pay', from: 'READY', moves: ['SUBMITTING'] }),
    { ok: false, reason: 'leaving' },
  ],
  [
    'the short fence',
    (on) =>
      tryFence(on, {
        movement_id: ID,
        node_key: 'pay',
        attempt: 1,
        executor_key: 'x',
        window_seconds: 5,
        pays_nobody: [],
        event_id: ID,
      }),
    { passed: false },
  ],
  [
    'new bytes in the nonce of a payment',
    change({ node_key: 'pay', from: 'SUBMITTED', moves: [], version: VERSION }),
    { ok: false, reason: 'leaving' },
  ],
  [
    'what fills a nonce',
    (on) =>
      fillNonce(on, { chain_id: 1, address: ADDRESS, nonce: 1, signer_key: 's', ...SIGNED }).then(
        (stored) => ({ stored }),
      ),
    { stored: false },
  ],
  ['a capital transfer', (on) => applyTransferStep(on, submitting(row, 5, 900)), { ok: false }],
];

test.each(WAYS)('no more: %s', async (_way, declare, refused) => {
  await expect(declare(db(true))).rejects.toThrow();
  await expect(declare(db(false))).resolves.toMatchObject(refused as object);
});

test('what became of a send is still recorded', async () => {
  const record = change({ node_key: 'pay', from: 'SUBMITTING', moves: ['SUBMITTED'] });
  await expect(record(db(false))).rejects.toThrow('called');
});
