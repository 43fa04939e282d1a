/**
 * The largest amounts that the contract takes: pools add them up, and what does not fit a balance
 * is refused as such.
 */
import { randomUUID } from 'node:crypto';
import { verifyReservations } from '../../tools/reservations/verify.ts';
import { storeBench } from './support.ts';
import { transferDesk } from './capital-transfer-desk.ts';

const bench = storeBench();

const LARGEST = `${'9'.repeat(20)}.${'9'.repeat(18)}`;

test('a pool holds several of the largest amounts, to the last digit', async () => {
  const source = `s-${randomUUID()}`;
  const desk = transferDesk(bench, {});
  for (const amount of [LARGEST, '0.000000000000000001', LARGEST])
    await desk.made({ source, amount });
  expect(
    await bench.sql('SELECT held::text FROM reservation_pools WHERE venue_key = $1', source),
  ).toEqual([{ held: '199999999999999999999.999999999999999999' }]);
  expect(await verifyReservations(bench.db)).toMatchObject({ ok: true });
});

test('the largest amount beside another hold is refused for the balance, not for its size', async () => {
  const source = `s-${randomUUID()}`;
  const rows = JSON.stringify([{ account_type: 'SPOT', asset: 'USDC', withdrawable: '10' }]);
  await bench.sql(
    'SELECT 1 FROM (SELECT store_balances($1, svc_now(), $2::jsonb)) AS stored',
    source,
    rows,
  );
  const desk = transferDesk(bench, {});
  await desk.made({ source, amount: '1', covered: true });
  expect(await desk.create({ source, amount: LARGEST, covered: true })).toMatchObject({
    created: null,
    uncovered: { effective_withdrawable: '9', amount: LARGEST },
  });
});
