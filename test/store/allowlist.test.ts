/**
 * The allowlist in the database: it says what the pure rule says, and the fence in one statement
 * lets nothing past it.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { problemOf, type PayeeAddress } from '../../domain/allowlist/match.ts';
import type { JsonObject } from '../../domain/json.ts';
import { nodeFacts } from '../../domain/plan/node-facts.ts';
import {
  allowAddress,
  readListed,
  setAllowedAddress,
  type AllowlistChange,
} from '../../store/allowlist.ts';
import { tryFence } from '../../store/transition.ts';
import { runs } from '../support/runs.ts';
import { storeBench } from './support.ts';

const A = `0x${'a1'.repeat(20)}`;
const B = `0x${'b2'.repeat(20)}`;
const bench = storeBench();

const anyRow = fc.record({
  chain_family: fc.constantFrom('evm' as const, 'cex' as const),
  address: fc.constantFrom(A, B),
  chain_id: fc.constantFrom(1, 2, null),
  active: fc.boolean(),
  cools: fc.constantFrom(null, -60, 60),
});
const anyPayee = fc.record<PayeeAddress>({
  chain_family: fc.constantFrom('evm', 'cex'),
  address: fc.constantFrom(A, B),
  chain_id: fc.constantFrom(1, 2, null),
  strict: fc.boolean(),
});

test('an address is judged by the fence as by the rule', async () => {
  const { db } = bench;
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyRow, { maxLength: 6 }),
      fc.array(anyPayee, { minLength: 1, maxLength: 4 }),
      async (rows, payees) => {
        await db.sql`DELETE FROM allowed_addresses`;
        for (const { cools, chain_family, address, active, chain_id } of rows) {
          await db.sql`
          INSERT INTO allowed_addresses (id, chain_family, address, chain_id, reason, active,
            usable_after, created_by, created_at, updated_at,
                                         revoked_at, revoked_by)
          VALUES (${randomUUID()}::uuid, ${chain_family}, ${address},
            ${chain_family === 'evm' ? chain_id : null}::bigint, 'x', ${active},
                  svc_now() + make_interval(secs => ${cools}::double precision), 'x', svc_now(),
                    svc_now(),
                  CASE WHEN NOT ${active} THEN svc_now() END, CASE WHEN NOT ${active} THEN 'x' END)
          ON CONFLICT DO NOTHING`;
        }
        const { now, rows: listed } = await readListed(db, payees);
        for (const of of payees) {
          const [fence] = await db.sql<{
            code: string | null;
          }>`SELECT address_problem(${JSON.stringify(of)}::jsonb) AS code`;
          expect(fence?.code).toBe(problemOf(listed, of, now));
        }
      },
    ),
    { numRuns: runs(50, 150), endOnFailure: true },
  );
});

describe('the fence in one statement', () => {
  const change: AllowlistChange = {
    by: 'test',
    reason: 'test',
    cooling_seconds: null,
    audit: (action, id) => ({
      action,
      entity_type: 'allowed_address',
      entity_key: id,
      outcome: 'success',
    }),
  };
  let row = '';
  beforeEach(async () => {
    await bench.db.sql`DELETE FROM allowed_addresses`;
    const { row: made } = await allowAddress(
      bench.db,
      { chain_family: 'cex', address: A, chain_id: null, label: null },
      change,
    );
    row = made.id;
  });

  interface Node {
    readonly action_type?: string;
    readonly config?: JsonObject;
    readonly prepared?: JsonObject;
    readonly intent?: JsonObject;
    readonly input_params?: JsonObject;
    /** The action types that its executor declares to have no payee. */
    readonly pays_nobody?: readonly string[];
  }

  /** Tries the fence for a node that is ready for it in everything but the allowlist. */
  async function fence({
    action_type = 'cex_withdrawal',
    config = { destination_address: A },
    prepared = {},
    intent = {},
    input_params = {},
    pays_nobody = ['bank'],
  }: Node = {}) {
    const { pays } = nodeFacts({ node_kind: 'action', action_type });
    const { movement_id } = await bench.movement({ input_params });
    await bench.approve(movement_id);
    await bench.db.sql`
      UPDATE movements SET request_state = 'EXECUTING',
        intent = intent || ${JSON.stringify(intent)}::jsonb
          WHERE movement_id = ${movement_id}::uuid`;
    await bench.db.sql`
      UPDATE movement_nodes SET state = 'READY', action_type = ${action_type}, pays = ${pays},
        preflight_passed = true, started_at = svc_now(), amount = 1,
        prepared_action = ${JSON.stringify(prepared)}::jsonb,
          own_plan = own_plan || ${JSON.stringify({ own_config: config, action_type })}::jsonb
      WHERE movement_id = ${movement_id}::uuid`;
    const args = {
      movement_id,
      node_key: 'pay',
      attempt: 1,
      executor_key: 'acme.payouts',
      event_id: randomUUID(),
      window_seconds: 5,
      pays_nobody,
    };
    const { passed, row: after } = await tryFence(bench.db, args);
    expect(after?.state).toBe(passed ? 'SUBMITTING' : 'READY');
    return passed;
  }

  test.each<[string, boolean, Node]>([
    ['a withdrawal to an address on the list', true, {}],
    [
      'one that is written in another case',
      true,
      { config: { destination_address: `0x${A.slice(2).toUpperCase()}` } },
    ],
    [
      'one that was prepared as planned',
      true,
      { prepared: { destination_address: A, amount: '1' } },
    ],
    ['one to an address on no list', false, { config: { destination_address: B } }],
    ['one that was prepared otherwise', false, { prepared: { destination_address: B } }],
    ['one that was prepared with a second payee', false, { prepared: { payee: B } }],
    [
      'one whose config has a second payee',
      false,
      { config: { destination_address: A, deep: [{ payee: 'bc1q' }] } },
    ],
    [
      'one that was prepared with a payee under a name of its own',
      false,
      { prepared: { 'to_addr-ess': 'bc1q' } },
    ],
    [
      'a transfer on a chain that was prepared for a name',
      false,
      { action_type: 'evm_native_transfer', config: {}, prepared: { payee_address: 'evil.eth' } },
    ],
    [
      'one whose executor declares that it has no payee',
      false,
      {
        action_type: 'evm_native_transfer',
        config: {},
        prepared: { payee_address: 'evil.eth' },
        pays_nobody: ['evm_native_transfer'],
      },
    ],
    ['one whose destination is no text', false, { config: { destination_address: [A] } }],
    ['one that names no payee', false, { config: {}, intent: { destination_address: A } }],
    [
      'a node without a payee',
      true,
      { action_type: 'noop', config: {}, intent: { destination_address: B } },
    ],
    ['an own type that names no payee', true, { action_type: 'bank', config: { account: '12' } }],
    [
      'an own type whose executor names its payees',
      false,
      { action_type: 'bank', config: { account: '12' }, pays_nobody: [] },
    ],
    [
      'one whose executor says so for another',
      false,
      { action_type: 'bank', config: {}, pays_nobody: ['bank_too'] },
    ],
    [
      'an own type that was prepared with an address',
      false,
      { action_type: 'bank', config: {}, prepared: { x: [{ y: B }] } },
    ],
    ['an own type with an address', false, { action_type: 'bank', config: { payee: A } }],
    [
      'an own type with one in its parameters',
      false,
      { action_type: 'bank', config: {}, input_params: { x: ['0X12'] } },
    ],
    [
      'an own type with one in the intent',
      false,
      { action_type: 'bank', config: {}, intent: { destination_address: A } },
    ],
  ])('%s: passes %s', async (_name, passes, node) => {
    expect(await fence(node)).toBe(passes);
  });

  test('refuses what is revoked or cools', async () => {
    await bench.db.sql`UPDATE allowed_addresses SET usable_after = svc_now() + interval '1 hour'`;
    expect(await fence()).toBe(false);
    await bench.db.sql`UPDATE allowed_addresses SET usable_after = svc_now()`;
    expect(await fence()).toBe(true);
    await setAllowedAddress(bench.db, row, false, change);
    expect(await fence()).toBe(false);
  });

  test('waits for a revoke that is under way, and then refuses', async () => {
    let trying: Promise<boolean> = Promise.resolve(true);
    await bench.db.$transaction(async (tx) => {
      await tx.$executeRawUnsafe(
        `UPDATE allowed_addresses SET active = false, revoked_at = svc_now(), revoked_by = 'x'
          WHERE id = '${row}'`,
      );
      trying = fence();
      await sleep(300);
    });
    expect(await trying).toBe(false);
  });
});
