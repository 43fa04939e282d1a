/** Looks that API processes request: who takes them, and what an unwritten answer leads to. */
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { startLooks } from '../../activities/relays/looks.ts';
import type { NamedClaim } from '../../domain/claim-reader.ts';
import { NO_BALANCES } from '../../platform/balance-desk.ts';
import {
  answerLooks,
  readLookAnswer,
  requestLook,
  takeLooks,
  type Known,
} from '../../store/requested-looks.ts';
import { eventually } from '../support/eventually.ts';
import { failingOf, failuresOf } from '../support/loop-figures.ts';
import { storeBench } from './support.ts';

const bench = storeBench();

test('a worker of another registry leaves what it does not know to those that do', async () => {
  const { db } = bench;
  const signer = await requestLook(db, { kind: 'signer_identity', subject: 'treasury' });
  const venue = await requestLook(db, { kind: 'balances', subject: 'exchange-main' });
  const take = (signers: readonly string[], venues: readonly string[]) =>
    takeLooks(db, { known: { signers, venues }, atMost: 10, seconds: 15 });
  // A venue of a signer's name is no signer.
  expect(await take(['other', 'exchange-main'], ['treasury'])).toEqual([]);
  expect(await take([], [])).toEqual([]);
  expect(await take(['treasury'], [])).toMatchObject([{ look_id: signer, subject: 'treasury' }]);
  expect(await take(['treasury'], ['exchange-main'])).toMatchObject([{ look_id: venue }]);
  await answerLooks(db, [signer], { ok: true, address: null });
  expect(await readLookAnswer(db, signer)).toEqual({ ok: true, address: null });
  expect(await readLookAnswer(db, venue)).toBeNull();
});

test('a claim is read by a worker that has the keys of its venue, and comes as it was named', async () => {
  const { db } = bench;
  const question: NamedClaim = {
    movement_id: 'm',
    action_type: 'cex_deposit_observe',
    config: { venue: 'exchange-main' },
    asset: 'USDC',
    amount: '5',
    output: { payments: [] },
    external_ref: null,
    prepared_action: {},
    recorded: {},
    matched: null,
    from: null,
  };
  const look = await requestLook(db, { kind: 'claim', subject: 'exchange-main', question });
  const take = (known: Omit<Known, 'signers'>) =>
    takeLooks(db, { known: { signers: [], ...known }, atMost: 10, seconds: 15 });
  // A worker that reads its balances alone does not read its records.
  expect(await take({ venues: ['exchange-main'] })).not.toContainEqual(
    expect.objectContaining({ look_id: look }),
  );
  expect(await take({ venues: [], claims: ['exchange-main'] })).toEqual([
    { look_id: look, kind: 'claim', subject: 'exchange-main', question },
  ]);
  const claim = { ok: true, output: { received_amount: '5' } } as const;
  await answerLooks(db, [look], { ok: true, address: null, claim });
  expect(await readLookAnswer(db, look)).toEqual({ ok: true, address: null, claim });
});

test('a look whose answer cannot be written fails a turn, and keeps no other from its answer', async () => {
  const { db } = bench;
  const request = (subject: string) => requestLook(db, { kind: 'signer_identity', subject });
  const counts = (failures: number) =>
    eventually(async () => ((await failuresOf('requested looks')) === failures ? true : null));
  await bench.sql(`CREATE FUNCTION refuse_answer() RETURNS trigger LANGUAGE plpgsql
    AS 'BEGIN RAISE EXCEPTION ''a missing right''; END'`);
  await bench.sql(`CREATE TRIGGER refuse_answer BEFORE UPDATE ON requested_looks FOR EACH ROW
    WHEN (NEW.answer IS NOT NULL AND NEW.subject = 'refused') EXECUTE FUNCTION refuse_answer()`);
  const [refused, sound] = [await request('refused'), await request('sound')];
  const looked: string[] = [];
  const loop = startLooks({
    ...{ db, log: pino({ level: 'silent' }), pauseMs: 20, desk: NO_BALANCES, claims: [] },
    signers: {
      list: () => [{ signer_key: 'refused' }, { signer_key: 'sound' }],
      get: (key) => ({ identity: async () => void looked.push(key) }) as never,
    },
  });
  try {
    expect(await eventually(() => readLookAnswer(db, sound))).toMatchObject({ ok: true });
    await counts(1);
    // Turns that find no look neither take the failure back nor repeat the look.
    await sleep(200);
    expect([...looked].sort()).toEqual(['refused', 'sound']);
    await request('refused');
    await counts(2);
    expect(await failingOf('requested looks')).toBeGreaterThan(0);
    expect(await readLookAnswer(db, refused)).toBeNull();
    await request('sound');
    await eventually(async () => ((await failingOf('requested looks')) === 0 ? true : null));
  } finally {
    await loop.stop();
    await bench.sql('DROP FUNCTION refuse_answer() CASCADE');
  }
});
