/** The claims of nodes that completed before completions were claimed. */
import { randomBytes } from 'node:crypto';
import { claimsOf } from '../../domain/claims.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { TemplateNode } from '../../domain/plan/types.ts';
import { applyMigrations } from '../../prisma/migrate.ts';
import { storeBench } from './support.ts';

const MIGRATION = '20261126000400_claims_of_before';
const bench = storeBench();

const node = (node_key: string, action_type: string, config: JsonObject = {}): TemplateNode => ({
  node_key,
  node_kind: 'action',
  action_type,
  has_side_effect: true,
  config,
});
const hex = (bytes: number): string => randomBytes(bytes).toString('hex');
const attested = (): JsonObject => ({
  attested_message: `0x00000001${hex(4)}${hex(4)}${hex(32).toUpperCase()}${hex(100)}`,
});

let minutes = 0;

/** A movement whose nodes have completed so. */
async function completed(
  ...of: readonly (readonly [TemplateNode, JsonObject | null, string?])[]
): Promise<string> {
  const { movement_id } = await bench.movement({
    shape: {
      nodes: of.map(([each]) => each),
      edges: of.slice(1).map(([to], before) => ({
        from: of[before]?.[0].node_key ?? '',
        to: to.node_key,
        edge_type: 'on_success',
        priority: 0,
        join_key: null,
        condition_expr: null,
      })),
    },
  });
  for (const [{ node_key }, output, external_ref = null] of of) {
    minutes += 1;
    await bench.sql(
      `UPDATE movement_nodes SET state = 'COMPLETED', output = $3::jsonb, external_ref = $4,
          completed_at = '2026-01-01'::timestamptz + make_interval(mins => $5)
        WHERE movement_id = $1::uuid AND node_key = $2`,
      movement_id,
      node_key,
      output === null ? null : JSON.stringify(output),
      external_ref,
      minutes,
    );
  }
  return movement_id;
}

const migrate = async (): Promise<void> => {
  await bench.sql('DELETE FROM _prisma_migrations WHERE migration_name = $1', MIGRATION);
  expect(await applyMigrations(bench.url)).toEqual([MIGRATION]);
};

const claimsIn = (movement_id: string) =>
  bench.sql<JsonObject>(
    `SELECT node_key, c.source, c.reference, trim_scale(c.amount)::text AS amount,
        trim_scale(p.amount)::text AS total, trim_scale(p.claimed)::text AS claimed,
        c.until_block::text AS until
      FROM payment_claims c JOIN payments p USING (source, reference)
      WHERE movement_id = $1::uuid ORDER BY node_key, c.source`,
    movement_id,
  );

test('a node that completed before has the claim that it would have made', async () => {
  const burnt = attested();
  const sent = { packet: { guid: `0x${hex(32).toUpperCase()}` } };
  const ledger = { ledger_hash: `0x${hex(32)}` };
  const of: readonly (readonly [TemplateNode, JsonObject | null, string?])[] = [
    [node('burn', 'cctp_burn'), burnt],
    [node('mint', 'cctp_mint', { burn_from: 'burn' }), { received_amount: '3' }],
    [node('send', 'bridge_c_send'), sent],
    [node('arrive', 'bridge_c_observe', { match_from: 'send' }), {}],
    [node('deposit', 'perp_deposit'), ledger],
    [node('team', 'evm_balance_observe'), {}, 'ACME-1'],
    [node('unmatched', 'cctp_mint', { burn_from: 'gone' }), { message_nonce: `0x${hex(32)}` }],
    [node('seen', 'bridge_c_observe', { match_from: 'gone' }), null, `0x${hex(32)}`],
  ];
  const id = await completed(...of);
  const matched: Readonly<Record<string, JsonObject>> = { mint: burnt, arrive: sent };
  await migrate();
  const expected = of.flatMap(([{ node_key, action_type }, output, external_ref]) =>
    claimsOf({
      action_type,
      output,
      external_ref: external_ref ?? null,
      matched: matched[node_key] ?? null,
    }).map(({ source, reference }) => ({
      node_key,
      source,
      reference,
      amount: '1',
      total: '1',
      claimed: '1',
      until: null,
    })),
  );
  expect(expected).toHaveLength(of.length);
  const sorted = expected.sort((a, b) => (a.node_key < b.node_key ? -1 : 1));
  expect(await claimsIn(id)).toEqual(sorted);
  // Once more it finds nothing to do.
  await migrate();
  expect(await claimsIn(id)).toEqual(sorted);
});

test('one deposit at an exchange, and what came of a coin, are claimed with their amounts', async () => {
  const account = { venue: 'Main', match_from: 'out' };
  const at = (address: string) => ({ chain_id: 5, address });
  const grown = (received_amount: string, block_number: string): JsonObject => ({
    baseline_block: '1',
    baseline_amount: '0',
    received_amount,
    block_number,
  });
  const id = await completed(
    [node('one', 'cex_deposit_observe', account), { received_amount: '7.5', deposits: 1 }, 'R-1'],
    [node('two', 'cex_deposit_observe', account), { received_amount: '9', deposits: 2 }, 'R-2'],
    [node('coin', 'evm_balance_observe', at('0xAB')), grown('2', '90')],
    [node('later', 'evm_balance_observe', at('0xab')), grown('3', '120')],
    // The log that paid it is not known.
    [
      node('token', 'evm_balance_observe', { ...at('0xAB'), token_address: '0x01' }),
      { ...grown('2', '90'), tx_hash: `0x${hex(32)}` },
    ],
  );
  await migrate();
  const coin = { source: 'evm:5:coin', reference: '0xab', total: null, claimed: '5' };
  expect(await claimsIn(id)).toEqual([
    { node_key: 'coin', ...coin, amount: '2', until: '90' },
    { node_key: 'later', ...coin, amount: '3', until: '120' },
    {
      node_key: 'one',
      source: 'cex:main',
      reference: 'r-1',
      until: null,
      amount: '7.5',
      total: '7.5',
      claimed: '7.5',
    },
  ]);
});

test('of two that completed with the same the first has it; what is claimed since stays', async () => {
  const message = attested();
  const first = await completed([node('burn', 'cctp_burn'), message]);
  const second = await completed([node('burn', 'cctp_burn'), message]);
  const since = `0x${hex(32)}`;
  const older = await completed([node('deposit', 'perp_deposit'), { ledger_hash: since }]);
  const newer = await completed([node('deposit', 'perp_deposit'), { ledger_hash: since }]);
  await bench.sql(
    `WITH paid AS (INSERT INTO payments (source, reference, amount, claimed, created_at)
        VALUES ('perp_deposit', $2, 1, 1, now()))
      INSERT INTO payment_claims (source, reference, movement_id, node_key, amount, created_at)
      VALUES ('perp_deposit', $2, $1::uuid, 'deposit', 1, now())`,
    newer,
    since,
  );
  await migrate();
  const counts = await Promise.all([first, second, older, newer].map((id) => claimsIn(id)));
  expect(counts.map((claims) => claims.length)).toEqual([1, 0, 0, 1]);
});
