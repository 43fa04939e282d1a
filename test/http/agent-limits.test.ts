/** A thousand proposals at once at the edge of an authority, and movements beyond it. */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { compare } from '../support/amounts.ts';
import { agent, propose, proposal, type Agent } from '../support/agents.ts';
import {
  must,
  noop,
  register,
  sendAs,
  sql,
  template,
  transfer,
  withdrawal,
} from '../support/http.ts';
import { runs } from '../support/runs.ts';

const AT_ONCE = 50;

/** So many calls, some of them under way at a time. */
async function all<T>(calls: readonly (() => Promise<T>)[]): Promise<T[]> {
  const answers: T[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < calls.length; at = next++) {
      const call = calls[at];
      if (call !== undefined) answers[at] = await call();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return answers;
}

test('of 1,000 at once none goes beyond the limits of its moment, and versions are as few as the rule says', async () => {
  const of = await agent({ most: '100' });
  const amounts = Array.from({ length: 1_000 }, (_, n) =>
    n % 4 === 0 ? '100' : n % 4 === 1 ? '100.000000000000000001' : n % 4 === 2 ? '99.5' : '7',
  );
  const answers = await all(
    amounts.map((requested_notional) => () => propose(of, { requested_notional })),
  );
  for (const [index, { status, body }] of answers.entries()) {
    const over = compare(amounts[index] ?? '', '100') > 0;
    expect([status, body.status, body.reasons]).toEqual([
      200,
      ...(over ? ['submitted', ['notional_exceeded']] : ['auto_promoted', []]),
    ]);
  }
  const rows = await sql<{ version: number; most: string; used: string }>(
    `SELECT v.version, v.risk_controls ->> 'max_amount' AS most,
       (SELECT trim_scale(max(requested_notional))::text FROM template_proposals p
        WHERE p.template_id = v.template_id) AS used
     FROM plan_template_versions v WHERE template_key LIKE $1 ORDER BY version`,
    [`${of.namespace}/%`],
  );
  // A version is made only where none covers, so each covers more than those before it.
  const most = rows.map((row) => row.most);
  expect(most).toEqual([...new Set(most)].sort(compare));
  expect(rows.every(({ most: covers, used }) => covers === used)).toBe(true);
  expect(most.at(-1)).toBe('100');
  expect(rows.length).toBeLessThanOrEqual(3);
  const [kept] = await sql<{ proposals: number; audited: number }>(
    `SELECT count(*)::integer AS proposals, (SELECT count(*)::integer FROM audit_events
       WHERE actor_key_id = $2 AND action = 'template_proposal.promote') AS audited
     FROM template_proposals WHERE authority_key = $1`,
    [of.authority, of.keyId],
  );
  expect(kept).toEqual({ proposals: 1_000, audited: 1_000 });
});

describe('a movement of an agent', () => {
  let of: Agent;
  const keys: string[] = [];
  beforeAll(async () => {
    of = await agent({ most: '10', assets: 'USDC,USDT', chains: 'local-chain,local' });
    const open = (node: ReturnType<typeof noop>, ...fields: string[]) => {
      const config = { ...(node['config'] as Record<string, unknown>) };
      for (const field of fields) delete config[field];
      return { ...node, config };
    };
    const plans = [
      [withdrawal('a')],
      [open(withdrawal('a'), 'asset')],
      [transfer('a')],
      [open(transfer('a'), 'asset', 'token_address')],
      [withdrawal('a'), open(withdrawal('b'), 'asset')],
      [noop('a', { action_type: 'example_payment', config: {} })],
      [noop('a', { action_type: 'example_payment', config: { amount: '6' } }), withdrawal('b')],
      [
        withdrawal('a'),
        transfer('b', {
          config: {
            ...(transfer('b')['config'] as object),
            amount_ref: 'nodes.a.output.received_amount',
          },
        }),
      ],
    ];
    for (const nodes of plans) {
      const template_key = `${of.namespace}/attacked-${randomUUID()}`;
      await register(template(nodes, { template_key }));
      keys.push(template_key);
    }
    const made = await must(200, propose(of, proposal({ requested_notional: '9' })));
    keys.push(made.template_key ?? '');
  });

  const amounts = fc.constantFrom('1', '5', '9.99', '10', '10.000000000000000001', '11', '1000000');
  const node_config = fc.record(
    {
      amount: fc.oneof(amounts, fc.constantFrom(5, null, '-1', '1e9', ' 3')),
      asset: fc.constantFrom('USDC', 'USDT', 'ETH', 'usdt', ''),
      token_address: fc.constantFrom('0x1', null),
      max_amount: fc.constant('1000000'),
      sends: fc.constant(false),
      outflow: fc.constant([]),
    },
    { requiredKeys: [] },
  );

  test('never moves more than the authority says in any asset, whatever it writes', async () => {
    let created = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.nat(8),
        amounts,
        fc.constantFrom('USDC', 'USDT'),
        node_config,
        fc.option(fc.record({ risk_controls: fc.constant({}), max_notional: fc.constant('1') })),
        async (which, amount, asset, config, more) => {
          const answer = await sendAs<{
            movement_id: string;
            detail: { error: string };
          }>(of, 'POST', '/movements', {
            template_key: keys[which],
            template_version: 1,
            intent: { asset, amount },
            input_params: { ...more, node_config: config },
          });
          if (answer.status !== 201) {
            expect([403, 409, 422]).toContain(answer.status);
            return;
          }
          created += 1;
          const { movement_id } = answer.body;
          const plan = await must(
            200,
            sendAs<{ outflow: { asset: string; amount: string | null }[]; nodes: PlanNode[] }>(
              ...([of, 'GET', `/movements/${movement_id}/plan`] as const),
            ),
          );
          for (const [each, sum] of drawnBy(plan.nodes, amount)) {
            expect(['USDC', 'USDT']).toContain(each);
            expect(compare(sum, '10')).toBeLessThanOrEqual(0);
            expect(plan.outflow.find((entry) => entry.asset === each)?.amount).toBe(sum);
          }
        },
      ),
      { numRuns: runs(80, 250) },
    );
    // Not everything is refused.
    expect(created).toBeGreaterThan(runs(1, 10));
    const [beyond] = await sql<{ count: number }>(
      `SELECT count(*)::integer AS count FROM movements m, jsonb_array_elements(m.outflow) o
       WHERE m.agent = $1 AND (o ->> 'amount' IS NULL OR (o ->> 'amount')::numeric > 10)`,
      [of.authority],
    );
    expect(beyond?.count).toBe(0);
    const [decided] = await sql<{ count: number }>(
      `SELECT count(*)::integer AS count FROM movements WHERE agent = $1
         AND (request_state <> 'PENDING_APPROVAL'
           OR auto_approve_result ->> 'reason' IS DISTINCT FROM 'agent_auto_approve_skipped')`,
      [of.authority],
    );
    expect(decided?.count).toBe(0);
  });
});

interface PlanNode {
  readonly node_key: string;
  readonly sends: boolean;
  readonly asset: string;
  readonly config: Readonly<Record<string, unknown>>;
}

/** By asset what the nodes draw: all but those that pass on what one before them has sent. */
function drawnBy(nodes: readonly PlanNode[], intent: string): ReadonlyMap<string, string> {
  const sums = new Map<string, bigint>();
  for (const { sends, asset, config } of nodes) {
    const ref = config['amount_ref'];
    if (!sends || (ref !== undefined && ref !== 'intent')) continue;
    const amount = config['amount'] === undefined ? intent : String(config['amount']);
    sums.set(asset, (sums.get(asset) ?? 0n) + unitsOf(amount));
  }
  return new Map([...sums].map(([asset, units]) => [asset, textOf(units)]));
}

function unitsOf(amount: string): bigint {
  const [whole = '', part = ''] = amount.split('.');
  return BigInt(whole + part.padEnd(18, '0'));
}

function textOf(units: bigint): string {
  const digits = units.toString().padStart(19, '0');
  return `${digits.slice(0, -18)}.${digits.slice(-18)}`.replace(/\.?0+$/, '');
}
