import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PayingChain } from '../../dev/simulators/paper-venue/chain.ts';
import { openLedger, type Ledger } from '../../dev/simulators/paper-venue/ledger.ts';
import { createSender, type Sender } from '../../dev/simulators/paper-venue/sender.ts';
import { PAYEE, tempFolder } from './paper-venue-stack.ts';

const debit = { account: 'paper-main', account_type: 'SPOT', asset: 'USDC', delta: '-5' };
let folder: ReturnType<typeof tempFolder>;
let ledger: Ledger;
let chain: ReturnType<typeof fakeChain>;
let sender: Sender;

beforeEach(() => {
  folder = tempFolder();
  ledger = openLedger(folder.path, { identity: 'test', postings: [{ ...debit, delta: '100' }] });
  chain = fakeChain();
  sender = createSender(ledger, chain);
});
afterEach(async () => {
  await sender.stop();
  ledger.close();
  folder.remove();
});

/**
 * A chain that mines every transaction at once and keeps all of them; a test can make it stop
 * mining or revert.
 */
function fakeChain() {
  const mined = new Map<string, boolean>();
  const state = {
    sent: [] as string[],
    mines: true,
    succeeds: true,
    onSign: () => {},
    onSend: () => {},
  };
  const calls: PayingChain = {
    minedCount: async () => mined.size,
    baseFee: async () => 1n,
    sign: async (_transfer, nonce) => {
      state.onSign();
      return { raw_tx: `0xaa${nonce}`, tx_hash: `0xbb${nonce}` };
    },
    broadcast: async (raw) => {
      state.onSend();
      state.sent.push(raw);
      if (state.mines) mined.set(raw.replace('0xaa', '0xbb'), state.succeeds);
    },
    receipt: async (hash) => {
      const succeeded = mined.get(hash);
      return succeeded === undefined ? null : { block: 1n, succeeded };
    },
    finalizedBlock: async () => 1n,
  };
  return Object.assign(state, calls);
}

function accept(id: string): void {
  ledger.record({
    type: 'accepted',
    order_id: id,
    idempotency_key: id,
    movement_id: 'm',
    node_key: 'n',
    action_type: 'cex_withdrawal',
    fingerprint: id,
    terms: {},
    postings: [debit],
    transfer: { asset: 'USDC', to: PAYEE, units: '5' },
    not_before: 0,
  });
}
const held = () => ledger.book.balance('paper-main', 'SPOT', 'USDC');

test('the signed bytes are on disk before they leave', async () => {
  let onDisk = '';
  chain.onSend = () => (onDisk = readFileSync(join(folder.path, 'ledger.jsonl'), 'utf8'));
  accept('a');
  await sender.wake();
  expect(onDisk).toContain('"raw_tx":"0xaa0"');
  expect(ledger.book.order('a')?.state).toBe('mined');
});

test('what a killed process signed goes out with the same bytes and is never signed again', async () => {
  chain.mines = false;
  accept('a');
  await sender.wake();
  await sender.stop();
  ledger.close();
  ledger = openLedger(folder.path, { identity: 'test', postings: [] });
  chain.mines = true;
  chain.onSign = () => {
    throw new Error('signed twice');
  };
  sender = createSender(ledger, chain);
  await sender.wake();
  expect(chain.sent).toEqual(['0xaa0', '0xaa0']);
  expect(ledger.book.order('a')?.state).toBe('mined');
});

test('many wakes at once send each order once, with a nonce of its own', async () => {
  for (const id of ['a', 'b', 'c']) accept(id);
  const wakes = [sender.wake(), sender.wake()];
  accept('d');
  await Promise.all([...wakes, sender.wake(), sender.wake()]);
  expect(chain.sent).toEqual(['0xaa0', '0xaa1', '0xaa2', '0xaa3']);
});

test('an order cancelled while its signature is made is not sent, and its nonce goes to the next', async () => {
  accept('a');
  chain.onSign = () => {
    chain.onSign = () => {};
    ledger.record({
      type: 'cancelled',
      idempotency_key: 'a',
      movement_id: 'm',
      node_key: 'n',
      order_id: 'a',
    });
  };
  await sender.wake();
  expect(chain.sent).toEqual([]);
  expect(held()).toBe(100n);
  accept('b');
  await sender.wake();
  expect(chain.sent).toEqual(['0xaa0']);
  expect(ledger.book.order('b')?.signed?.nonce).toBe(0);
});

test('a reverted transfer gives the money back', async () => {
  chain.succeeds = false;
  accept('a');
  expect(held()).toBe(95n);
  await sender.wake();
  expect(ledger.book.order('a')?.state).toBe('reverted');
  expect(held()).toBe(100n);
});
