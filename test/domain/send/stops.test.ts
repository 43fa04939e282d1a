/** Which stops hold back which way of sending, and that the page for operators says the same. */
import { readFileSync } from 'node:fs';
import { EFFECTS, heldBy, STOPS, WAYS, type Stop } from '../../../domain/send/stops.ts';

const on = (...stops: readonly Stop[]) => stops.map((stop) => ({ stop, why: stop }));

describe('what is stopped', () => {
  test.each(STOPS)('by %s is sent in no way before it was accepted', (stop) => {
    for (const way of ['send', 'repeat_unaccepted', 'replace_unaccepted'] as const)
      expect(heldBy(way, on(stop))).not.toBeNull();
    for (const way of ['resume', 'resolve'] as const) expect(heldBy(way, on(stop))).not.toBeNull();
  });

  test('ends by a cancel, a revoked payee and a retired signer, and else waits', () => {
    const ends = STOPS.filter((stop) => heldBy('repeat_unaccepted', on(stop))?.ends === true);
    expect(ends).toEqual(['cancelled', 'cancel_requested', 'payee_revoked', 'signer_retired']);
    expect(heldBy('repeat_unaccepted', on('frozen', 'payee_revoked'))).toMatchObject({
      ends: true,
      why: 'payee_revoked',
    });
  });

  test('and was taken is repeated, unless it is unknown or a person cancels it', () => {
    const held = STOPS.filter((stop) => heldBy('repeat_accepted', on(stop)) !== null);
    expect(held).toEqual(['cancel_requested', 'unknown']);
  });

  test('is signed anew, once it was taken, only while all but freeze, cancel and clocks are clear', () => {
    const free = STOPS.filter((stop) => heldBy('replace_accepted', on(stop)) === null);
    expect(free).toEqual(['frozen', 'cancelled', 'clock']);
  });

  test('goes where nothing stops it', () => {
    for (const way of WAYS) expect(heldBy(way, [])).toBeNull();
    for (const way of WAYS) expect(heldBy(way, on('of a newer release' as Stop))).not.toBeNull();
    for (const stop of STOPS) expect(heldBy('cancel_transaction', on(stop))).toBeNull();
  });

  test('waits for a retry only where it is unknown', () => {
    expect(heldBy('repeat_unaccepted', on('frozen'))?.needs_retry).toBe(false);
    expect(heldBy('repeat_unaccepted', on('frozen', 'unknown'))?.needs_retry).toBe(true);
  });
});

test('the page for operators has the same table', () => {
  const page = readFileSync('docs/operations.md', 'utf8');
  for (const stop of STOPS) {
    const cells = WAYS.map((way) => EFFECTS[way][stop]);
    expect(page).toContain(`| \`${stop}\` | ${cells.join(' | ')} |`);
  }
});
