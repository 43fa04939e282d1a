/** Looks that API processes request: who takes them. */
import {
  answerLooks,
  readLookAnswer,
  requestLook,
  takeLooks,
} from '../../store/requested-looks.ts';
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
