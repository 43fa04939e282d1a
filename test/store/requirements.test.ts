/** What a send needs of a venue: which types need what, and that the database knows each of it. */
import { GUARDS, neededBy } from '../../activities/requirements/list.ts';
import { ACTION_NAMES } from '../../domain/actions/spec.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { storeBench } from './support.ts';

const bench = storeBench();

const guardsOf = (action_type: string, config: object = {}) =>
  neededBy({ node: { action_type, config } } as PhaseRow).map(({ guard }) => guard?.kind ?? null);

const NEEDS: Readonly<Record<string, readonly string[]>> = {
  bridge_c_send: ['bridge_path'],
  bridge_c_observe: ['bridge_path'],
  perp_deposit: ['perp'],
  perp_withdraw: ['perp'],
  agent_wallet_top_up: ['perp'],
};

test.each([...ACTION_NAMES, 'acme_payout'])('what is needed by a node of %s', (type) => {
  expect(guardsOf(type)).toEqual(NEEDS[type] ?? []);
});

test('a burn needs its minter where one account alone may mint it', () => {
  expect(guardsOf('cctp_burn', { destination_caller: '0x1' })).toEqual([null]);
});

test('no two ask for the same kind', () => {
  const kinds = GUARDS.map(({ kind }) => kind);
  expect(new Set(kinds).size).toBe(kinds.length);
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
