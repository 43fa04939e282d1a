/**
 * Rules that stand in TypeScript and in SQL, since the database asks them under its locks: both say
 * the same. Sums are compared in flow.test.ts, addresses in allowlist.test.ts, facts and claims of
 * action types in action-types.test.ts, the perps venue in perp-fence.test.ts.
 */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ACTION_NAMES } from '../../domain/actions/spec.ts';
import { questionOf } from '../../domain/allowlist/ask.ts';
import { destinationsOf } from '../../domain/allowlist/destinations.ts';
import { AMOUNTS_DIFFER } from '../../domain/attention.ts';
import { NODE_KINDS } from '../../domain/graph/types.ts';
import type { JsonObject } from '../../domain/json.ts';
import { WINDOW_MS } from '../../domain/perps/nonce-window.ts';
import { exceedsMax, maxAmount } from '../../domain/plan/amount.ts';
import { nodeFacts } from '../../domain/plan/node-facts.ts';
import { onChainVenueKey } from '../../domain/plan/tokens.ts';
import { AT_VENUE_CODES } from '../../domain/send/at-venue.ts';
import { fenced, takenOver } from '../../domain/send/epoch.ts';
import { unsettledSeconds } from '../../domain/send/not-found.ts';
import { STOPS } from '../../domain/send/stops.ts';
import { KEPT_REASONS } from '../../domain/signer-lifecycle.ts';
import { TRANSFER_STATES } from '../../domain/states/capital-transfer.ts';
import { MOVEMENT_STATES } from '../../domain/states/movement.ts';
import { NODE_STATES } from '../../domain/states/node.ts';
import { readEvmAddress } from '../../platform/evm-address.ts';
import { functionBodies } from '../../prisma/functions-migration.ts';
import { takeOver } from '../../store/phases.ts';
import { findFence, tryFence } from '../../store/transition.ts';
import { ROOT } from '../../dev/stack/ports.ts';
import { absentStandby } from '../support/absent-standby.ts';
import { runs } from '../support/runs.ts';
import { storeBench } from './support.ts';

const bench = storeBench();

const firstOf = async <T>(text: string, ...values: unknown[]): Promise<T | undefined> =>
  (await bench.sql<{ answer: T }>(`SELECT ${text} AS answer`, ...values))[0]?.answer;

test('an amount is within a plan’s limits', async () => {
  const readable = fc.constantFrom(
    undefined,
    '0',
    '1',
    '1.000000000000000001',
    '2.5',
    '99999999999999999999',
  );
  const unreadable = fc.constantFrom(
    '01',
    '1.',
    '',
    'none',
    '1e3',
    '-1',
    '100000000000000000000',
    1,
    null,
    ['1'],
    {},
  );
  const limit = fc.oneof(
    { weight: 8, arbitrary: readable },
    { weight: 1, arbitrary: unreadable as fc.Arbitrary<unknown> },
  );
  const limits = limit.map((value) => (value === undefined ? {} : { max_amount: value }));
  const seen = { within: 0, beyond: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('0.000000000000000001', '1', '1.000000000000000001', '2.5', '3', '50'),
      limits,
      limits,
      async (amount, controls, patch) => {
        const beyond = exceedsMax(amount, maxAmount(controls as JsonObject, patch as JsonObject));
        expect(
          await firstOf(
            'within_max_amount($1::numeric, $2::jsonb, $3::jsonb)',
            amount,
            JSON.stringify(controls),
            JSON.stringify(patch),
          ),
        ).toBe(!beyond);
        seen[beyond ? 'beyond' : 'within'] += 1;
      },
    ),
    { numRuns: 300, endOnFailure: true },
  );
  expect(Math.min(seen.within, seen.beyond)).toBeGreaterThan(30);
});

/** With its checksum, which only the long fence reads again. */
const HEX = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045';
const WORDS = ['bank', 'Bank', 'a b', '', HEX, HEX.toLowerCase(), '0x12', 'evil.eth'];
/** What people and executors write, some of which names a payee. */
const written = fc.dictionary(
  fc.constantFrom(
    'destination_address',
    'destination_address',
    'memo',
    'to_addr-ess',
    'recipient',
    'tag',
    'payee',
    'amount',
    'wallet',
    'account',
    'network',
  ),
  fc.oneof(
    fc.constantFrom(...WORDS, 'bank', 'x'),
    fc.constantFrom(null, 7, [HEX], { address: HEX }, { payee: 'evil.eth' }),
  ),
  { maxKeys: 3 },
) as fc.Arbitrary<JsonObject>;
const little = fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, written);

test('whom the short fence finds is whom the long one finds', async () => {
  const seen = { none: 0, some: 0, left: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(fc.constantFrom('cex_withdrawal', 'acme'), fc.constantFrom(...ACTION_NAMES)),
      fc
        .tuple(little, fc.constantFrom('bank', HEX, HEX.toLowerCase()))
        .map(([config, paid]) => ({ destination_address: paid, ...config })),
      fc.tuple(little, little, little),
      fc.constantFrom({}, {}, { destination_address: 'bank' }, { destination_address: HEX }),
      fc.boolean(),
      async (action_type, config, [input_params, prepared_action, output], named, declared) => {
        const { pays } = nodeFacts({ node_kind: 'action', action_type });
        const intent = { asset: 'USDC', amount: '1', ...named };
        const plain = await firstOf<readonly object[] | null>(
          'plain_addresses($1, $2::jsonb, $3::jsonb, $4::jsonb, $5::jsonb, $6::jsonb, $7)',
          pays,
          ...[config, intent, input_params, prepared_action, output].map((each) =>
            JSON.stringify(each),
          ),
          declared,
        );
        if (plain === null || plain === undefined) {
          seen.left += 1;
          return;
        }
        const found = destinationsOf({
          node: { node_key: 'n', node_kind: 'action', action_type, config },
          // The short fence is not tried where an entry declares fields.
          executor: { action_types: ['acme'], sends: true, payees: [], not_payees: [] },
          intent,
          input_params,
          prepared_action,
          output,
        }).map((each) => questionOf(each, readEvmAddress));
        const questions = new Set(
          found.map((each) =>
            JSON.stringify(
              'payee' in each
                ? { chain_family: each.payee.chain_family, address: each.payee.address }
                : each,
            ),
          ),
        );
        expect([action_type, config, [...questions]]).toEqual([
          action_type,
          config,
          plain.map((each) => JSON.stringify(each, ['chain_family', 'address'])),
        ]);
        seen[plain.length === 0 ? 'none' : 'some'] += 1;
      },
    ),
    { numRuns: runs(600, 1_500), endOnFailure: true },
  );
  expect(Math.min(seen.none, seen.some, seen.left)).toBeGreaterThan(runs(10, 50));
}, 120_000);

test('a pool belongs to the successor of its signer', async () => {
  const key = fc.stringMatching(/^[a-z0-9][a-z0-9._-]{0,8}$/);
  await fc.assert(
    fc.asyncProperty(key, key, key, key, async (venue, old, other, next) => {
      const moved = (venue_key: string) =>
        firstOf(
          `pool_of_successor(jsonb_build_object('pool', jsonb_build_object('venue_key', $1::text)), $2, $3) #>> '{pool,venue_key}'`,
          venue_key,
          old,
          next,
        );
      expect(await moved(onChainVenueKey(venue, old))).toBe(onChainVenueKey(venue, next));
      expect(await moved(venue)).toBe(venue);
      if (other !== old)
        expect(await moved(onChainVenueKey(venue, other))).toBe(onChainVenueKey(venue, other));
    }),
    { numRuns: 60, endOnFailure: true },
  );
});

test('a send may still land for so long', async () => {
  const { movement_id } = await bench.movement();
  const AT = Date.parse('2026-03-01T00:00:00Z');
  await fc.assert(
    fc.asyncProperty(
      fc.option(fc.integer({ min: -100_000, max: 100_000 })),
      fc.integer({ min: 0, max: 60 }),
      async (send_left_ms, settle_seconds) => {
        await bench.sql(
          'UPDATE movement_nodes SET send_not_after = $2::timestamptz WHERE movement_id = $1::uuid',
          movement_id,
          send_left_ms === null ? null : new Date(AT + send_left_ms),
        );
        const answer = await firstOf(
          'unsettled_send($1::uuid, $2::jsonb, $3::timestamptz)',
          movement_id,
          JSON.stringify({ node_key: 'pay', settle_seconds, nonces_closed: false }),
          new Date(AT),
        );
        const seconds = unsettledSeconds({ send_left_ms, settle_seconds });
        expect(answer).toEqual(
          seconds > 0 ? { reason: 'send_not_over', retry_after_seconds: Math.ceil(seconds) } : null,
        );
      },
    ),
    { numRuns: 150, endOnFailure: true },
  );
});

test('who sends, and who takes over from a sender, raises the epoch', async () => {
  const { movement_id } = await bench.movement();
  await bench.approve(movement_id);
  await bench.sql(
    "UPDATE movements SET request_state = 'EXECUTING' WHERE movement_id = $1::uuid",
    movement_id,
  );
  const node = async () =>
    (
      await bench.sql<{ epoch: number; send_not_after: Date; now: Date }>(
        `SELECT submit_epoch AS epoch, send_not_after, svc_now() AS now FROM movement_nodes
         WHERE movement_id = $1::uuid`,
        movement_id,
      )
    )[0];
  for (const epoch of [0, 3, 1_000]) {
    await bench.sql(
      `UPDATE movement_nodes SET state = 'READY', submit_epoch = $2, preflight_passed = true,
        started_at = svc_now(), amount = 1, prepared_action = '{}', send_not_after = NULL
       WHERE movement_id = $1::uuid`,
      movement_id,
      epoch,
    );
    const about = { movement_id, node_key: 'pay', attempt: 1 };
    const event_id = randomUUID();
    const { passed } = await tryFence(bench.db, {
      ...about,
      executor_key: 'acme.payouts',
      window_seconds: 90,
      event_id,
      pays_nobody: ['acme_payout'],
    });
    expect(passed).toBe(true);
    // Whose answer was lost finds it again, until somebody has taken over.
    expect(await findFence(bench.db, event_id)).toMatchObject({
      node_key: 'pay',
      epoch: epoch + 1,
    });
    const sending = await node();
    const rule = fenced(epoch, 90);
    expect(sending?.epoch).toBe(rule.epoch);
    const left = Number(sending?.send_not_after) - Number(sending?.now);
    expect(Math.abs(left / 1000 - 90)).toBeLessThan(30);
    const { taken } = await takeOver(bench.db, about);
    expect(taken).toBe(true);
    expect(await findFence(bench.db, event_id)).toBeNull();
    const after = await node();
    const over = takenOver(rule.epoch, { is_over: false });
    expect([after?.epoch, after?.send_not_after]).toEqual([over.epoch, sending?.send_not_after]);
    expect(over.send_not_after).toBeUndefined();
  }
});

test('a fence whose answer was lost counts once the standby has it, too', async () => {
  const { movement_id } = await bench.movement();
  await bench.approve(movement_id);
  await bench.sql(
    "UPDATE movements SET request_state = 'EXECUTING' WHERE movement_id = $1::uuid",
    movement_id,
  );
  await bench.sql(
    `UPDATE movement_nodes SET state = 'READY', preflight_passed = true, started_at = svc_now(),
      amount = 1, prepared_action = '{}' WHERE movement_id = $1::uuid`,
    movement_id,
  );
  const event_id = randomUUID();
  const { passed } = await tryFence(bench.db, {
    movement_id,
    node_key: 'pay',
    attempt: 1,
    executor_key: 'acme.payouts',
    window_seconds: 90,
    event_id,
    pays_nobody: ['acme_payout'],
  });
  expect(passed).toBe(true);
  const standby = await absentStandby(bench.url);
  try {
    await standby.goAway();
    const looked = findFence(bench.db, event_id);
    await standby.waiting();
    await standby.comeBack();
    expect(await looked).toMatchObject({ node_key: 'pay' });
  } finally {
    await standby.comeBack();
    await standby.close();
  }
});

/** The codes for which a function of the database is true, of all that stand in the program. */
async function codesOf(name: string): Promise<readonly string[]> {
  const sources = ['activities', 'domain', 'venues', 'executors'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => readFileSync(join(ROOT, folder, name), 'utf8')),
  );
  const codes = new Set(sources.flatMap((text) => text.match(/(?<=')[A-Z][A-Z_]{5,}(?=')/g) ?? []));
  expect(codes.size).toBeGreaterThan(100);
  const rows = await bench.sql<{ code: string }>(
    `SELECT code FROM unnest($1::text[]) AS code WHERE ${name}(code)`,
    [...codes],
  );
  return rows.map(({ code }) => code).sort();
}

test('a code means that waiting changes nothing', async () => {
  expect(await codesOf('waits_in_vain')).toEqual([...AMOUNTS_DIFFER].sort());
});

test('a code means that the venue has the send', async () => {
  expect(await codesOf('is_at_venue')).toEqual([...AT_VENUE_CODES].sort());
});

/** The texts that a function of the database may answer with, by how it says them. */
const wordsOf = (name: string, said: RegExp): readonly string[] => {
  const bodies = functionBodies().filter((each) => each.name === name);
  expect([name, bodies.length]).toEqual([name, 1]);
  return [...(bodies[0]?.body ?? '').matchAll(said)].map(([, word = '']) => word);
};

test('the database uses the words of the rules', () => {
  const stops = [
    ...wordsOf('send_stops', /(?:"stop": "|'stop', '|THEN '|ELSE ')([a-z_]+)/g),
    // A venue says by itself which stop its problem is.
    ...wordsOf('bridge_path_problem', /'stop', '([a-z_]+)'/g),
    ...wordsOf('perp_problem', /(?:THEN|ELSE) '([a-z_]+)'/g),
    // A worker measures clocks by itself; the database has no word for them.
    'clock',
  ];
  expect([...new Set(stops)].sort()).toEqual([...STOPS].sort());
  const ties = [
    ...wordsOf('signer_tie', /THEN '([a-z_]+)'/g),
    ...wordsOf('signer_ties', /(?:THEN|ELSE) '([a-z_]+)'/g),
    ...ACTION_NAMES.map(
      (action_type) => nodeFacts({ node_kind: 'action', action_type }).tied_by,
    ).filter((tie) => tie !== 'nothing'),
  ];
  expect([...new Set(ties)].sort()).toEqual([...KEPT_REASONS].sort());
  const [hours] = wordsOf('unsettled_send', /interval '(\d+) hours'/g);
  expect(Number(hours) * 3_600_000).toBe(WINDOW_MS);
});

test('a column takes the words of its list and no others', async () => {
  const columns: Readonly<Record<string, readonly string[]>> = {
    'movements.request_state': MOVEMENT_STATES,
    'movement_nodes.state': NODE_STATES,
    'plan_nodes.node_kind': NODE_KINDS,
    'capital_transfers.request_state': TRANSFER_STATES,
  };
  for (const [name, words] of Object.entries(columns)) {
    const [table, column = ''] = name.split('.');
    const [row] = await bench.sql<{ text: string }>(
      `SELECT pg_get_constraintdef(oid) AS text FROM pg_constraint
       WHERE conrelid = $1::regclass AND contype = 'c' AND conname = $1 || '_' || $2 || '_check'`,
      table,
      column,
    );
    const known = [...(row?.text ?? '').matchAll(/'([^']+)'::text/g)].map(([, word]) => word);
    expect([name, known.sort()]).toEqual([name, [...words].sort()]);
  }
});
