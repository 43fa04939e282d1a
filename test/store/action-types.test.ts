/** What the database reads from an action type by itself, for every built-in one. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { specOf } from '../../domain/actions/built-in.ts';
import { ACTION_NAMES } from '../../domain/actions/spec.ts';
import { claimsOf } from '../../domain/claims.ts';
import type { JsonObject } from '../../domain/json.ts';
import { startStoreBench, type StoreBench } from './support.ts';

let bench: StoreBench;
beforeAll(async () => {
  bench = await startStoreBench();
}, 60_000);
afterAll(() => bench?.close(), 30_000);

test.each(ACTION_NAMES)('%s is the same in SQL as in domain/actions', async (action_type) => {
  const { signerTie, payees } = specOf(action_type);
  const node = JSON.stringify({ action_type, state: 'READY', attempt: 1 });
  const [row] = await bench.sql<{ tie: string | null; plain: unknown }>(
    `SELECT signer_tie(NULL, '{}', jsonb_populate_record(NULL::movement_nodes, $1::jsonb || '{"recover_first": false, "restored": false}'),
         ARRAY[]::text[], false) AS tie,
       plain_addresses($2, '{"destination_address": "bank"}', '{}', '{}', NULL, NULL, '[]') AS plain`,
    node,
    action_type,
  );
  expect(row?.tie).toBe(signerTie);
  // What is left to the long way is judged by the same facts; only this much is decided here.
  const plainly =
    payees === 'nobody'
      ? []
      : payees === 'exchange'
        ? [{ chain_family: 'cex', address: 'bank' }]
        : null;
  expect(row?.plain).toEqual(plainly);
});

/** What any type could be completed with. */
const ALL: JsonObject = {
  ...{ attested_message: `0x${'00'.repeat(44)}`, packet: { guid: '0x01' } },
  payments: [{ source: 'cex:main', reference: 'r1', amount: '5', total: '5' }],
  ...{ ledger_account: '0xaa', ledger_hash: '0x02' },
};

test.each(ACTION_NAMES)(
  'a completion of %s is refused without a claim where it could say one, and nowhere else',
  async (action_type) => {
    const asked = async (output: JsonObject | null) =>
      (
        await bench.sql<{ needs: boolean }>(
          'SELECT needs_claim($1, $2::jsonb) AS needs',
          action_type,
          output === null ? null : JSON.stringify(output),
        )
      )[0]?.needs;
    const { claim } = specOf(action_type);
    const claims = claimsOf({ action_type, output: ALL, matched: ALL, external_ref: 'x' });
    expect(await asked(ALL)).toBe(claims.length > 0);
    for (const nothing of [{}, null])
      expect(await asked(nothing)).toBe(claim?.required === 'always');
  },
);

test('a type that the database has not heard of pays nobody only where it was declared so', async () => {
  const [row] = await bench.sql<{ plain: unknown }>(
    `SELECT plain_addresses('made_up', '{}', '{}', '{}', NULL, NULL, '[]') AS plain`,
  );
  expect(row?.plain).toBeNull();
});
