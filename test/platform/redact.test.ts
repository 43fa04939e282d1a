/** Texts of others without secrets, however they are written and however long they are. */
import { hostsOnly, safeText } from '../../platform/redact.ts';

test.each<[string, string, string | undefined]>([
  ['https://user:p4ss@rpc.example/v2/key', 'https://rpc.example/v2/key', 'https://rpc.example/…'],
  ['postgresql://svc:p4ss@db.internal/x', 'postgresql://db.internal/x', undefined],
  ['redis://:p4ss@cache:6379', 'redis://cache:6379', undefined],
  ['https://user:a@p4ss@rpc.example/key', 'https://rpc.example/key', 'https://rpc.example/…'],
  ['https://a:p4ss@one,https://b:p4ss@two', 'https://one,https://two', undefined],
  [`${'x'.repeat(40)}://a:p4ss@one`, `${'x'.repeat(40)}://one`, undefined],
])('%s loses its password', (text, safe, hosts = safe) => {
  expect(safeText(text)).toBe(safe);
  expect(hostsOnly(text)).toBe(hosts);
});

test('what is no password stays', () => {
  for (const text of ['mail desk@example.com', '"https://a","b@c"', 'https://a and b@c'])
    expect([safeText(text), hostsOnly(text)]).toEqual([text, text]);
});

/** The least of several runs: what the machine does beside them only adds. */
function milliseconds(act: () => unknown): number {
  return Math.min(
    ...Array.from({ length: 4 }, () => {
      const start = performance.now();
      act();
      return performance.now() - start;
    }),
  );
}

const [LONG, PIECES] = [65_536, 32];

test.each(['a.', 'a-', '://', 'a://', '://@', 'https://', 'https://a@', 'a@', '0x', 'f', 'wss:'])(
  'a long text of %j costs what its pieces cost',
  (unit) => {
    const piece = `${unit.repeat(LONG / PIECES / unit.length)}!`;
    const long = `${unit.repeat(LONG / unit.length)}!`;
    for (const clean of [safeText, hostsOnly]) {
      const pieces = milliseconds(() => {
        for (let nr = 0; nr < PIECES; nr += 1) clean(piece);
      });
      // Of square growth it would be as many times more as there are pieces.
      expect(milliseconds(() => clean(long))).toBeLessThan(PIECES * 0.4 * Math.max(pieces, 0.5));
    }
  },
);
