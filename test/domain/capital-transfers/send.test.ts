/** The last question before a transfer passes its fence, and when a person may call it failed. */
import {
  maySendTransfer,
  undecidableSeconds,
  type TransferSend,
} from '../../../domain/capital-transfers/send.ts';

const PROVIDER = { same_key_safe: true, settle_seconds: 5 };
const UNSENT: TransferSend = {
  state: 'CREATED',
  epoch: 3,
  acknowledged: false,
  sends: 0,
  send_left_ms: null,
  pending_left_ms: null,
};
const LOST: TransferSend = {
  ...UNSENT,
  state: 'PENDING_PROVIDER_CONFIRMATION',
  sends: 1,
  send_left_ms: -5_000,
  pending_left_ms: 60_000,
};

describe('a transfer may be sent', () => {
  test.each<[string, TransferSend]>([
    ['that never was', UNSENT],
    ['of which nothing was found once nothing could land', LOST],
  ])('%s', (_what, row) => expect(maySendTransfer(row, PROVIDER, 3)).toBe(true));
});

describe('a transfer may not be sent', () => {
  test.each<[string, TransferSend]>([
    ['that another process has taken over', { ...LOST, epoch: 4 }],
    ['that never was, and another process has passed the fence', { ...UNSENT, epoch: 4 }],
    ['that its provider has shown since', { ...LOST, acknowledged: true }],
    ['whose time is over since', { ...LOST, pending_left_ms: 0 }],
    ['whose last send may still come to be seen', { ...LOST, send_left_ms: -4_999 }],
    ['that a person decides about', { ...LOST, state: 'MANUAL_INTERVENTION' }],
    ['that is being sent', { ...LOST, state: 'SUBMITTING' }],
    ['that has been sent often enough', { ...LOST, sends: 5 }],
    ['that has ended', { ...LOST, state: 'COMPLETED' }],
  ])('%s', (_what, row) => expect(maySendTransfer(row, PROVIDER, 3)).toBe(false));

  test('again where a repeat may have a second effect', () => {
    expect(maySendTransfer(LOST, { ...PROVIDER, same_key_safe: false }, 3)).toBe(false);
  });
});

test.each<[string, TransferSend, number]>([
  ['was never sent', UNSENT, 0],
  ['may still come to be seen', { ...LOST, send_left_ms: -4_000 }, 1],
  ['was accepted, and may be seen again', { ...LOST, acknowledged: true, send_left_ms: 2_000 }, 7],
  ['can no longer be seen', LOST, 0],
])('a person may call a transfer failed that %s after so many seconds', (_what, row, seconds) => {
  expect(undecidableSeconds(row, 5)).toBe(seconds);
});
