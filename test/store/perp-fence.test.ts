/** Before a node of the perps venue is sent: whose it is, what is paused, what is under way. */
import fc from 'fast-check';
import pg from 'pg';
import { passFence, type Fenced } from '../../activities/phases/fence.ts';
import { preflight } from '../../activities/phases/preflight.ts';
import { phaseRow } from '../../activities/phases/row.ts';
import { signFenced } from '../../activities/phases/sign.ts';
import { PERP_BRIDGE } from '../../dev/simulators/perp/settings.ts';
import { takeOver } from '../../store/phases.ts';
import { readPerpTerms } from '../../store/perp-terms.ts';
import { perpProblem } from '../../domain/perps/ready.ts';
import { someone } from '../dev/perp-stack.ts';
import { readPerpAction, savePerpSignature } from '../../store/perp-actions.ts';
import { buildAct } from '../../venues/perp/actions.ts';
import { inActivity } from '../support/activity-environment.ts';
import {
  CHAIN_ID,
  MASTER,
  OTHER,
  PAID,
  SUB,
  TOKEN,
  bindStrategy,
  fenced,
  newNode,
  openMaster,
  pause,
  prepared,
  standing,
  transferTo,
  workerOf,
  type NodeTerms,
  type PerpNode,
} from './perp-desk.ts';
import { waitForLocks, storeBench } from './support.ts';

const bench = storeBench();
beforeAll(async () => {
  await openMaster(bench);
});

let strategies = 0;
/** A strategy that is bound to a sub-account of its own, or to SUB. */
async function bound(sub?: string): Promise<string> {
  strategies += 1;
  const strategy = `strategy-${String(strategies)}`;
  await bindStrategy(bench, strategy, sub === undefined ? {} : { sub });
  return strategy;
}

/** What its preflight comes to before any executor is called: an error code, or null. */
async function checked(
  action: string,
  terms: NodeTerms = {},
  deps = workerOf(bench),
): Promise<string | null> {
  const node = await newNode(bench, action, terms);
  const step = await preflight.begin(deps, node);
  return 'next' in step ? standing(bench, node) : null;
}

test('nothing is sent before there is a master account', async () => {
  await bench.sql('DELETE FROM perp_master');
  for (const action of ['perp_deposit', 'perp_withdraw', 'agent_wallet_top_up'])
    expect(await checked(action)).toBe('MASTER_ACCOUNT_MISSING');
  const [row] = await bench.sql<{ problem: { reason: string } }>(
    `SELECT perp_problem('{"signer": "0x1"}'::jsonb, gen_random_uuid()) AS problem`,
  );
  expect(row?.problem.reason).toBe('MASTER_ACCOUNT_MISSING');
  await openMaster(bench);
});

describe('a strategy', () => {
  test.each(['perp_deposit', 'perp_withdraw'])(
    'that is paused after its preflight stops %s at the fence',
    async (action) => {
      const strategy = await bound();
      const amount = action === 'perp_deposit' ? '31' : '11';
      expect(await checked(action, { strategy, amount })).toBeNull();
      const node = await prepared(bench, action, { strategy, amount });
      await pause(bench, strategy);
      expect(await fenced(bench, node)).toBe('STRATEGY_PAUSED');
      expect(await checked(action, { strategy, amount })).toBe('STRATEGY_PAUSED');
      await pause(bench, strategy, false);
      expect(await fenced(bench, await prepared(bench, action, { strategy, amount }))).toBe(
        'SUBMITTING',
      );
    },
  );

  it('that is paused, a frozen switch, a signer that is off and a person hold what is signed', async () => {
    const strategy = await bound();
    const { movement_id, node_key } = await prepared(bench, 'perp_withdraw', { strategy });
    const held = async (): Promise<string | null> => {
      const [row] = await bench.sql<{ held: string | null }>(
        `SELECT send_stops($1::uuid, $2, jsonb_build_object(
           'requirements', jsonb_build_object('perp',
             jsonb_build_object('signer', (SELECT master_address FROM perp_master))),
           'signers', jsonb_build_array(jsonb_build_object('signer_key',
             (SELECT signer_binding ->> 'signer_key' FROM movement_nodes
              WHERE movement_id = $1::uuid))))) #>> '{0,why}' AS held`,
        movement_id,
        node_key,
      );
      return row?.held ?? null;
    };
    const during = async (change: string, back: string): Promise<string | null> => {
      await bench.sql(change);
      const result = await held();
      await bench.sql(back);
      return result;
    };
    const node = (set: string) =>
      `UPDATE movement_nodes SET ${set} WHERE movement_id = '${movement_id}'`;
    const movement = (state: string) =>
      `UPDATE movements SET request_state = '${state}' WHERE movement_id = '${movement_id}'`;
    expect(await held()).toBeNull();
    await pause(bench, strategy);
    expect(await held()).toContain('STRATEGY_PAUSED');
    await pause(bench, strategy, false);
    const mode = (to: string) => `UPDATE cutover SET mode = '${to}'`;
    expect(await during(mode('frozen'), mode('normal'))).toContain('frozen');
    expect(await during(mode('drain'), mode('normal'))).toBeNull();
    expect(await during(node("state = 'UNKNOWN'"), node("state = 'READY'"))).toContain('retry');
    expect(await during(node('only_look = true'), node('only_look = false'))).toContain('retry');
    expect(await during(movement('CANCELLED'), movement('EXECUTING'))).toContain('cancelled');
    // What a cancel leads to is sent because of it.
    await bench.sql(node('on_cancel_target = true'));
    expect(await during(movement('CANCELLED'), movement('EXECUTING'))).toBeNull();
    await bench.sql(node('on_cancel_target = false'));
    const [signer] = await bench.sql<{ key: string }>(
      `SELECT signer_binding ->> 'signer_key' AS key FROM movement_nodes
       WHERE movement_id = $1::uuid`,
      movement_id,
    );
    await bench.sql(
      `INSERT INTO signers (signer_key, backend, chain_family, status, created_at, updated_at)
       VALUES ($1, 'local', 'evm', 'disabled', now(), now())`,
      signer?.key ?? '',
    );
    expect(await held()).toContain('disabled');
    await bench.sql('DELETE FROM signers WHERE signer_key = $1', signer?.key ?? '');
    expect(await held()).toBeNull();
  });

  it('needs a binding, which a movement without a strategy does not', async () => {
    const strategy = 'is-not-bound';
    expect(await checked('perp_withdraw', { strategy })).toBe('STRATEGY_NOT_BOUND');
    const later = await bound();
    const node = await prepared(bench, 'perp_withdraw', { strategy: later });
    await bench.sql('DELETE FROM perp_bindings WHERE strategy_id = $1', later);
    expect(await fenced(bench, node)).toBe('STRATEGY_NOT_BOUND');
    expect(await fenced(bench, await prepared(bench, 'perp_withdraw'))).toBe('SUBMITTING');
  });

  it('is topped up at its own sub-account alone', async () => {
    const strategy = await bound(SUB);
    const terms = { strategy, config: { sub_account_address: OTHER.address } };
    expect(await checked('agent_wallet_top_up', terms)).toBe('SUB_ACCOUNT_MISMATCH');
    expect(await checked('agent_wallet_top_up')).toBe('SUB_ACCOUNT_MISMATCH');
    expect(await checked('agent_wallet_top_up', { strategy: await bound() })).toBe(
      'SUB_ACCOUNT_MISMATCH',
    );
    const node = await prepared(bench, 'agent_wallet_top_up', { strategy });
    const set = 'UPDATE perp_bindings SET sub_account_address = $2 WHERE strategy_id = $1';
    await bench.sql(set, strategy, OTHER.address.toLowerCase());
    expect(await fenced(bench, node)).toBe('SUB_ACCOUNT_MISMATCH');
    await bench.sql(set, strategy, SUB);
    expect(await fenced(bench, await prepared(bench, 'agent_wallet_top_up', { strategy }))).toBe(
      'SUBMITTING',
    );
  });
});

describe('another signer than the master', () => {
  test.each([
    ['perp_deposit', 'DEPOSITOR_NOT_MASTER'],
    ['perp_withdraw', 'MASTER_SIGNER_MISMATCH'],
    ['agent_wallet_top_up', 'MASTER_SIGNER_MISMATCH'],
  ])('sends no %s', async (action, code) => {
    const stranger = workerOf(bench, { address: OTHER.address });
    const strategy = action === 'agent_wallet_top_up' ? await bound(SUB) : undefined;
    await bench.sql('UPDATE perp_bindings SET sub_account_address = NULL');
    if (strategy !== undefined)
      await bench.sql(
        'UPDATE perp_bindings SET sub_account_address = $2 WHERE strategy_id = $1',
        strategy,
        SUB,
      );
    const terms = { amount: '41', ...(strategy === undefined ? {} : { strategy }) };
    expect(await checked(action, terms, stranger)).toBe(code);
    const node = await prepared(bench, action, terms);
    expect(await fenced(bench, node, stranger)).toBe(code);
  });
});

const ROLES = {
  perp_deposit: 'deposit',
  perp_withdraw: 'withdrawal',
  agent_wallet_top_up: 'top_up',
} as const;

test('the database says what the rule says', async () => {
  const sub = someone('is of a strategy').address.toLowerCase();
  const strategy = await bound(sub);
  const shared = await bound();
  const asks = ['perp_deposit', 'perp_withdraw', 'agent_wallet_top_up'] as const;
  for (const its of [undefined, strategy, 'is-bound-nowhere'])
    for (const paused of [null, strategy, shared])
      for (const signer of [MASTER.address, MASTER.address.toLowerCase(), OTHER.address])
        for (const action_type of asks)
          for (const paid of action_type === 'agent_wallet_top_up' ? [sub, SUB] : [sub]) {
            const { movement_id } = await bench.movement(
              its === undefined ? {} : { strategy_id: its },
            );
            for (const each of [strategy, shared]) await pause(bench, each, each === paused);
            const facts = await readPerpTerms(bench.db, {
              movement_id,
              node_key: 'pay',
              attempt: 1,
              deposit: '81',
            });
            const rule = perpProblem(facts!, {
              role: ROLES[action_type],
              signer,
              ...(action_type === 'agent_wallet_top_up' ? { sub_account: paid } : {}),
            });
            const terms = {
              node_key: 'pay',
              signer,
              ...(action_type === 'perp_deposit' ? { deposit: '81' } : {}),
              ...(action_type === 'agent_wallet_top_up' ? { sub_account: paid } : {}),
            };
            const [row] = await bench.sql<{ problem: object | null }>(
              'SELECT perp_problem($1::jsonb, $2::uuid) AS problem',
              JSON.stringify(terms),
              movement_id,
            );
            const stop = rule?.code === 'STRATEGY_PAUSED' ? 'paused' : 'perp_terms';
            const said = rule === null ? null : { key: rule.key, reason: rule.code, stop };
            expect([terms, its, paused, row?.problem ?? null]).toEqual([
              terms,
              its,
              paused,
              said === null ? null : { binding: 'perp', ...said },
            ]);
          }
  await pause(bench, shared, false);
});

describe('equal deposits', () => {
  test.each([
    ['SUBMITTING', '51'],
    ['SUBMITTED', '52'],
    ['OBSERVING', '53'],
    ['UNKNOWN', '54'],
  ])('wait for one that is %s', async (state, amount) => {
    const first = await prepared(bench, 'perp_deposit', { amount });
    const set = (to: string) =>
      bench.sql(
        'UPDATE movement_nodes SET state = $2 WHERE movement_id = $1::uuid',
        first.movement_id,
        to,
      );
    const second = await prepared(bench, 'perp_deposit', { amount });
    await set(state);
    expect(await fenced(bench, second)).toBe('EQUAL_DEPOSIT_IN_FLIGHT');
    expect(await checked('perp_deposit', { amount })).toBe('EQUAL_DEPOSIT_IN_FLIGHT');
    expect(await fenced(bench, await prepared(bench, 'perp_deposit', { amount: `${amount}.1` })))
      // Another amount does not count.
      .toBe('SUBMITTING');
    await set('COMPLETED');
    expect(await fenced(bench, await prepared(bench, 'perp_deposit', { amount }))).toBe(
      'SUBMITTING',
    );
  });

  it('that ask at once pass one at a time', async () => {
    // It leaves a lane of nonces behind, at which the others are held once they have looked.
    expect(await fenced(bench, await prepared(bench, 'perp_deposit', { amount: '60' }))).toBe(
      'SUBMITTING',
    );
    const nodes: PerpNode[] = [];
    for (let index = 0; index < 10; index += 1)
      nodes.push(await prepared(bench, 'perp_deposit', { amount: '61.000000' }));
    const other = new pg.Client({ connectionString: bench.url });
    await other.connect();
    try {
      await other.query('BEGIN');
      await other.query('SELECT FROM nonce_lanes FOR UPDATE');
      const answers = nodes.map((node) => fenced(bench, node));
      await waitForLocks(bench, nodes.length);
      await other.query('ROLLBACK');
      expect((await Promise.all(answers)).toSorted()).toEqual([
        ...Array.from({ length: 9 }, () => 'EQUAL_DEPOSIT_IN_FLIGHT'),
        'SUBMITTING',
      ]);
    } finally {
      await other.end();
    }
  });

  it('wait for one that a restore may have forgotten to be sent', async () => {
    const amount = '71';
    const first = await prepared(bench, 'perp_deposit', { amount });
    const second = await prepared(bench, 'perp_deposit', { amount });
    await bench.sql(
      'UPDATE movement_nodes SET recover_first = true WHERE movement_id = $1::uuid',
      first.movement_id,
    );
    expect(await fenced(bench, second)).toBe('EQUAL_DEPOSIT_IN_FLIGHT');
  });

  it('wait for a week for one that was abandoned, and for a week after it was seen', async () => {
    const amount = '72';
    const first = await prepared(bench, 'perp_deposit', { amount });
    const abandoned = (ago: string, landed: string | null = null) =>
      bench.sql(
        `UPDATE movement_nodes SET state = 'FAILED', error_code = 'ABANDONED',
          completed_at = now() - $2::interval, landed_late_at = now() - $3::interval
        WHERE movement_id = $1::uuid`,
        first.movement_id,
        ago,
        landed,
      );
    await abandoned('6 days');
    expect(await checked('perp_deposit', { amount })).toBe('EQUAL_DEPOSIT_IN_FLIGHT');
    // Its transfer was seen; its credit comes later.
    await abandoned('9 days', '6 days');
    expect(await checked('perp_deposit', { amount })).toBe('EQUAL_DEPOSIT_IN_FLIGHT');
    await abandoned('9 days', '8 days');
    expect(await checked('perp_deposit', { amount })).not.toBe('EQUAL_DEPOSIT_IN_FLIGHT');
  });
});

describe('what is signed for the venue', () => {
  it('is another signature each time, or this would show nothing', async () => {
    const signer = workerOf(bench).signers.get('master');
    const both = [await signer?.signEvmTypedData(TYPED), await signer?.signEvmTypedData(TYPED)];
    expect(both[0]).not.toEqual(both[1]);
  });
  const { typed_data: TYPED } = buildAct({
    type: 'withdraw3',
    network: 'Testnet',
    destination: PAID,
    amount: '1',
    nonce: 1,
  });

  it('is nothing for an executor of somebody else', async () => {
    const foreign = workerOf(bench, { foreign: true });
    expect(await fenced(bench, await prepared(bench, 'perp_withdraw'), foreign)).toBe(
      'SIGN_REQUEST_MISMATCH',
    );
  });

  it('is nothing but the message of the plan and the nonce of the attempt', async () => {
    const node = await prepared(bench, 'perp_withdraw');
    await bench.sql(
      `UPDATE movement_nodes SET sign_request = jsonb_set(sign_request,
         '{payload,message,amount}', '"10"') WHERE movement_id = $1::uuid`,
      node.movement_id,
    );
    expect(await fenced(bench, node)).toBe('SIGN_REQUEST_MISMATCH');
  });

  it('is not sent first with a nonce of more than an hour ago', async () => {
    const old = async (ms: number): Promise<PerpNode> => {
      const node = await prepared(bench, 'perp_withdraw');
      await bench.sql(
        `WITH a AS (UPDATE perp_actions
           SET nonce = floor(extract(epoch FROM svc_now()) * 1000) - $2::bigint
           WHERE movement_id = $1::uuid RETURNING nonce)
         UPDATE movement_nodes SET sign_request = jsonb_set(sign_request, '{payload,message,time}',
           to_jsonb((SELECT nonce FROM a))) WHERE movement_id = $1::uuid`,
        node.movement_id,
        ms,
      );
      return node;
    };
    expect(await fenced(bench, await old(3_601_000))).toBe('ACTION_NONCE_STALE');
    expect(await fenced(bench, await old(3_500_000))).toBe('SUBMITTING');
  });

  it('is what was stored first, whoever of many signs and whenever', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('sign', 'sign at once'), { minLength: 2, maxLength: 6 }),
        async (steps) => {
          const deps = workerOf(bench);
          const node = await prepared(bench, 'perp_withdraw');
          const row = await phaseRow(deps, node);
          const passed = await inActivity(() => passFence(deps, row));
          if ('unfenced' in passed) throw new Error('the fence was not passed');
          const signatures = await signedBy(passed, steps);
          const stored = (await readPerpAction(bench.db, node))?.signature;
          expect(stored).toMatch(/^0x[0-9a-f]{130}$/);
          expect(signatures).toEqual(steps.map(() => ({ signature: stored })));
          const { taken } = await takeOver(bench.db, node);
          expect(taken).toBe(true);
          expect(await signFenced(deps, passed)).toBe('overtaken');
          expect((await readPerpAction(bench.db, node))?.signature).toBe(stored);
        },
      ),
      { numRuns: 10 },
    );
  });

  /** Steps one after the other, but those `at once`. */
  async function signedBy(passed: Fenced, steps: readonly string[]): Promise<readonly unknown[]> {
    const signatures: Promise<unknown>[] = [];
    for (const step of steps) {
      const one = signFenced(workerOf(bench), passed);
      signatures.push(one);
      if (step === 'sign') await one;
    }
    return Promise.all(signatures);
  }

  it('is not stored once a recovery has taken the send over', async () => {
    const node = await prepared(bench, 'perp_withdraw');
    expect(await fenced(bench, node, workerOf(bench))).toBe('SUBMITTING');
    const row = await phaseRow(workerOf(bench), node);
    const kept = await savePerpSignature(bench.db, { ...node, epoch: row.epoch }, '0xother');
    expect(kept).toBe((await readPerpAction(bench.db, node))?.signature);
    expect(
      await savePerpSignature(bench.db, { ...node, epoch: row.epoch + 1 }, '0xlate'),
    ).toBeNull();
  });

  it('keeps a person from saying that nothing came of it while its nonce may be used', async () => {
    const node = await prepared(bench, 'perp_withdraw');
    await fenced(bench, node);
    const send = JSON.stringify({ node_key: 'pay', settle_seconds: 0, nonces_closed: true });
    const obstacle = async (hours: number) => {
      const [row] = await bench.sql<{
        send: { reason: string; retry_after_seconds: number } | null;
      }>(
        `SELECT unsettled_send($1::uuid, $2::jsonb, svc_now() + make_interval(hours => $3)) AS send`,
        node.movement_id,
        send,
        hours,
      );
      return row?.send ?? null;
    };
    expect(await obstacle(48)).toMatchObject({ reason: 'send_not_over' });
    expect((await obstacle(48))?.retry_after_seconds).toBeLessThanOrEqual(3_600);
    expect(await obstacle(50)).toBeNull();
  });
});

describe('where deposits go to', () => {
  test.each([
    ['perp_withdraw', { destination_address: PERP_BRIDGE.address }],
    ['evm_erc20_transfer', { chain_id: CHAIN_ID, destination_address: PERP_BRIDGE.address }],
    ['evm_native_transfer', { chain_id: CHAIN_ID, destination_address: PERP_BRIDGE.address }],
    ['evm_erc20_approve', { chain_id: CHAIN_ID, spender: PERP_BRIDGE.address }],
    ['cex_withdrawal', { venue: 'v', destination_address: PERP_BRIDGE.address.toLowerCase() }],
    ['cctp_burn', { mint_recipient: PERP_BRIDGE.address, destination_chain_id: CHAIN_ID }],
  ])('is paid nothing by %s', async (action, config) => {
    expect(await checked(action, { config })).toBe('USE_PERP_DEPOSIT');
    expect(await checked(action, { config: { ...config, [payee(config)]: PAID } })).not.toBe(
      'USE_PERP_DEPOSIT',
    );
  });
  const payee = (config: object) =>
    Object.keys(config).find((key) => /address|spender|mint_recipient/.test(key)) ?? '';

  it('is paid nothing by what is signed', async () => {
    const node = await prepared(bench, 'evm_erc20_transfer', {
      config: { chain_id: CHAIN_ID, token_address: TOKEN, destination_address: PAID },
    });
    await bench.sql(
      `UPDATE movement_nodes SET sign_request = jsonb_set(sign_request, '{payload,data}',
         to_jsonb($2::text)) WHERE movement_id = $1::uuid`,
      node.movement_id,
      transferTo(PERP_BRIDGE.address),
    );
    expect(await fenced(bench, node)).toBe('USE_PERP_DEPOSIT');
  });
});
