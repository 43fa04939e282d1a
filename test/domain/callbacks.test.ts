/** Callbacks: when one is tried again, where it may go, and what is recorded of an attempt. */
import { afterFailure, backoffSeconds } from '../../domain/callbacks/backoff.ts';
import { settle, type ClaimedCallback } from '../../domain/callbacks/settlement.ts';
import { CALLBACK_TABLE, REDELIVERABLE } from '../../domain/callbacks/status.ts';
import { checkTarget, normalHost } from '../../domain/callbacks/target.ts';

const claimed = (attempts: number): ClaimedCallback => ({
  event_id: 'e',
  transfer_id: null,
  webhook: null,
  movement_id: 'm',
  event_type: 'request_approved',
  url: 'https://hooks.example/',
  payload: '{}',
  nonce: 'n',
  attempts,
  trace_parent: null,
});

describe('a failed attempt', () => {
  test('is followed by a pause of two to the power of the attempts, at most of six', () => {
    expect([0, 1, 2, 3, 4, 5, 6, 7, 20, 1_000].map(backoffSeconds)).toEqual([
      1, 2, 4, 8, 16, 32, 64, 64, 64, 64,
    ]);
  });

  test('is tried again until as many as allowed have failed', () => {
    expect([0, 1, 18].map((before) => afterFailure(before, 20))).toEqual([
      { status: 'pending', delay_seconds: 2 },
      { status: 'pending', delay_seconds: 4 },
      { status: 'pending', delay_seconds: 64 },
    ]);
    expect([19, 20].map((before) => afterFailure(before, 20).status)).toEqual([
      'dead_letter',
      'dead_letter',
    ]);
    expect(afterFailure(0, 1)).toEqual({ status: 'dead_letter' });
  });
});

describe('what becomes of an attempt', () => {
  test.each([200, 201, 204, 299])(
    'an answer of %d is a delivery and stands on the timeline',
    (status) => {
      expect(settle(claimed(2), { kind: 'answered', status }, 20)).toMatchObject({
        status: 'delivered',
        seen_attempts: 2,
        attempts: 3,
        last_error: null,
        timeline: [
          { event_type: 'callback_delivered', data: { callback_event_id: 'e', attempts: 3 } },
        ],
      });
    },
  );

  test.each([199, 300, 302, 308, 400, 404, 410, 429, 500, 503])(
    'an answer of %d is tried again, without a word on the timeline',
    (status) => {
      const settled = settle(claimed(2), { kind: 'answered', status }, 20);
      expect(settled).toMatchObject({
        status: 'pending',
        attempts: 3,
        delay_seconds: 8,
        last_error: `http_${status}`,
        timeline: [],
      });
    },
  );

  test('the last allowed failure makes it a dead letter, with the reason on the timeline', () => {
    expect(settle(claimed(19), { kind: 'failed', reason: 'timeout' }, 20)).toMatchObject({
      status: 'dead_letter',
      attempts: 20,
      last_error: 'timeout',
      timeline: [
        { event_type: 'callback_dead_lettered', data: { attempts: 20, reason: 'timeout' } },
      ],
    });
  });

  test('what may never be called is a dead letter at once, and no attempt is counted', () => {
    const settled = settle(claimed(0), { kind: 'refused', reason: 'host_not_allowed' }, 20);
    expect(settled).toMatchObject({
      status: 'dead_letter',
      attempts: 0,
      last_error: 'host_not_allowed',
    });
  });

  test('only a dead letter can be sent again, and what was delivered stays delivered', () => {
    expect(REDELIVERABLE).toEqual(['dead_letter']);
    expect(CALLBACK_TABLE.moves.delivered).toEqual([]);
  });
});

describe('where a callback may go', () => {
  const listed = new Set([
    'hooks.example',
    '127.0.0.1',
    'localhost',
    '[::1]',
    '10.0.0.5',
    'xn--exmple-cua.com',
  ]);
  const verdict = (url: string): string => {
    const check = checkTarget(url, listed);
    return check.ok ? check.url.hostname : check.reason;
  };

  test.each([
    ['https://hooks.example/a?b=c', 'hooks.example'],
    ['https://HOOKS.example:8443/', 'hooks.example'],
    ['https://exämple.com/', 'xn--exmple-cua.com'],
    ['https://10.0.0.5/', '10.0.0.5'],
    ['http://127.0.0.1:9000/', '127.0.0.1'],
    ['http://0x7f000001:9000/', '127.0.0.1'],
    ['http://localhost/', 'localhost'],
    ['http://[0:0:0:0:0:0:0:1]/', '[::1]'],
  ])('%s is allowed', (url, host) => {
    expect(verdict(url)).toBe(host);
  });

  test.each([
    ['https://other.example/', 'host_not_allowed'],
    ['https://hooks.example.evil.example/', 'host_not_allowed'],
    ['https://evil-hooks.example/', 'host_not_allowed'],
    ['https://a.hooks.example/', 'host_not_allowed'],
    ['https://hooks.example./', 'host_not_allowed'],
    ['https://127.0.0.2/', 'host_not_allowed'],
    ['http://127.0.0.2/', 'host_not_allowed'],
    ['http://hooks.example/', 'scheme_not_allowed'],
    ['http://10.0.0.5/', 'scheme_not_allowed'],
    ['ftp://hooks.example/', 'scheme_not_allowed'],
    ['file:///etc/passwd', 'scheme_not_allowed'],
    ['https://user@hooks.example/', 'malformed_url'],
    ['https://user:pass@hooks.example/', 'malformed_url'],
    ['hooks.example', 'malformed_url'],
    ['https://', 'malformed_url'],
    ['', 'malformed_url'],
  ])('%s is refused: %s', (url, reason) => {
    expect(verdict(url)).toBe(reason);
  });

  test.each([
    ['Hooks.Example', 'hooks.example'],
    [' hooks.example ', 'hooks.example'],
    ['exämple.com', 'xn--exmple-cua.com'],
    ['127.0.0.1', '127.0.0.1'],
    ['0x7f.1', '127.0.0.1'],
    ['::1', '[::1]'],
    ['[::1]', '[::1]'],
    ['FD00::0:1', '[fd00::1]'],
  ])('the setting takes %s as %s', (text, host) => {
    expect(normalHost(text)).toBe(host);
  });

  test.each([
    'https://hooks.example',
    'hooks.example/',
    'hooks.example:443',
    'hooks.example:8443',
    '[::1]:443',
    '[::1]:',
    '*.hooks.example',
    '*',
    'a b',
    'a\\b',
    'user@hooks.example',
    'hooks%2eexample',
    '',
    ':',
    '1.2.3.4.5',
    '[fe80::1%25eth0]',
  ])('the setting refuses %j', (text) => {
    expect(normalHost(text)).toBeNull();
  });
});
