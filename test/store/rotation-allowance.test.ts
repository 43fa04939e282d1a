/** What a rotation does with an allowance that waits before what uses it. */
import type { GraphEdge } from '../../domain/graph/types.ts';
import type { TemplateNode } from '../../domain/plan/types.ts';
import { storeBench } from './support.ts';

const bench = storeBench();

const action = (node_key: string, action_type: string): TemplateNode => ({
  node_key,
  node_kind: 'action',
  action_type,
  has_side_effect: true,
  config: action_type === 'cctp_mint' ? { burn_from: 'burn' } : {},
});
const behind = (from: string, to: string): GraphEdge => ({
  from,
  to,
  edge_type: 'on_success',
  priority: 0,
  condition_expr: null,
  join_key: null,
});

/** Rotates `old` away under a movement of these nodes, one behind the other; who signs then. */
async function rotated(
  old: string,
  nodes: readonly TemplateNode[],
): Promise<Readonly<Record<string, string>>> {
  await bench.sql(
    `INSERT INTO signers (signer_key, status, backend, chain_family, created_at, updated_at)
      SELECT key, 'active', 'local', 'evm', now(), now() FROM unnest(ARRAY[$1::text, $1::text || '-next']) key`,
    old,
  );
  const { movement_id } = await bench.movement({
    shape: {
      nodes: [...nodes],
      edges: nodes.slice(1).map(({ node_key }, at) => behind(nodes[at]?.node_key ?? '', node_key)),
    },
  });
  await bench.sql(
    `UPDATE movement_nodes SET signer_binding = jsonb_build_object('signer_key', $2::text)
      WHERE movement_id = $1::uuid`,
    movement_id,
    old,
  );
  await bench.sql(
    `SELECT replace_signer($2::text, $2::text || '-next', '{"known_addresses": [], "take": null, "actor": {"type": "system"}}',
      ARRAY[$1::uuid], svc_now())`,
    movement_id,
    old,
  );
  const rows = await bench.sql<{ node_key: string; signer: string }>(
    `SELECT node_key, signer_binding ->> 'signer_key' AS signer FROM movement_nodes
      WHERE movement_id = $1::uuid`,
    movement_id,
  );
  return Object.fromEntries(rows.map(({ node_key, signer }) => [node_key, signer]));
}

test('an allowance stays with the burn that uses it', async () => {
  const nodes = [
    action('allow', 'evm_erc20_approve'),
    action('burn', 'cctp_burn'),
    action('mint', 'cctp_mint'),
  ];
  expect(await rotated('of-a-burn', nodes)).toEqual({
    allow: 'of-a-burn',
    burn: 'of-a-burn',
    mint: 'of-a-burn',
  });
});

test('an allowance that no node uses, or one that goes too, goes to the replacement', async () => {
  const nodes = [action('allow', 'evm_erc20_approve'), action('pay', 'acme_payout')];
  expect(await rotated('of-a-team', nodes)).toEqual({
    allow: 'of-a-team-next',
    pay: 'of-a-team-next',
  });
});
