/** What a send needs of a venue: which types need what, and that the database knows each of it. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { GUARDS, neededBy } from '../../activities/requirements/list.ts';
import { BUILT_IN_ACTIONS, factsOf } from '../../domain/plan/actions.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { startStoreBench, type StoreBench } from './support.ts';

let bench: StoreBench;
beforeAll(async () => {
  bench = await startStoreBench();
}, 60_000);
afterAll(() => bench?.close(), 30_000);

const guardsOf = (action_type: string, config: object = {}) =>
  neededBy({ node: { action_type, config } } as PhaseRow).map(({ guard }) => guard?.kind ?? null);

test.each([...Object.keys(BUILT_IN_ACTIONS), 'acme_payout'])(
  'a node needs what the facts of its type say: %s',
  (type) => {
    const facts = factsOf(type);
    expect(guardsOf(type)).toEqual([
      ...(facts?.crossing?.lane === 'bridge_c' ? ['bridge_path'] : []),
      ...(facts?.transport === 'perp' ? ['perp'] : []),
    ]);
  },
);

test('a burn needs its minter where one account alone may mint it', () => {
  expect(guardsOf('cctp_burn', { destination_caller: '0x1' })).toEqual([null]);
});

const problems = (required: object): Promise<unknown> =>
  bench.sql('SELECT binding_problems($1::jsonb, gen_random_uuid())', JSON.stringify(required));

test.each(GUARDS.map(({ kind }) => kind))('the database asks for %s', async (kind) => {
  const [row] = await bench.sql<{ problem: object }>(
    `SELECT requirement_problem($1, '{"version": "v", "signer": "0x1"}', gen_random_uuid())
       AS problem`,
    kind,
  );
  expect(row?.problem).toMatchObject({ binding: kind, stop: expect.any(String) });
});

test('what the database does not know is required by no send', async () => {
  await expect(problems({ requirements: { other: {} } })).rejects.toThrow('case not found');
  await expect(problems({ perp: { signer: '0x1' } })).rejects.toThrow('not known here');
  await problems({ executors: [], signers: [], addresses: [], flow: {}, requirements: {} });
});
